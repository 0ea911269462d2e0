//! Answers about studies, traces and stacks.

use std::fs;

use tempfile::TempDir;

use super::Asked;
use crate::program::run;
use crate::{advise, study_fixture, trace};

fn studied() -> TempDir {
    let folder = study_fixture::studied(5, 0.02);
    let suite = "suite = 's'\n[benchmark.b]\ncommand = 'true'\n[factor.a]\nlevels = [1, 2]\napply.arguments = ['{level}']\n\
                 [factor.c]\nlevels = [1, 2]\napply.env = { C = '{level}' }\n";
    fs::write(folder.path().join("lapwing.toml"), suite).unwrap();
    folder
}

/// A study in two workloads, one of which is another with the opposite sign of a factor.
fn studied_twice() -> TempDir {
    let folder = study_fixture::studied(3, 0.02);
    let csv = study_fixture::csv_of(4, 0.03, |log, biglogs, affinity| {
        let harm = if affinity { 200.0 } else { 0.0 };
        study_fixture::cost(log, biglogs, false) + harm
    });
    fs::write(folder.path().join("other.csv"), csv).unwrap();
    let as_other = [
        "import",
        "--from",
        "runs",
        "other.csv",
        "--as",
        "benchmark=elsewhere",
    ];
    let told = run(folder.path(), &as_other);
    assert!(told.ends_with("exit 0"), "{told}");
    folder
}

/// A study of two numeric factors, of which one changes nothing.
fn studied_numbers() -> TempDir {
    let folder = TempDir::new().unwrap();
    let mut csv = "workers (base 4),delay,quiet,usec_per_task\n".to_owned();
    for number in 0..4 * 3 * 2 * 3_u32 {
        let (workers, delay, quiet) = (1 << (number % 4), number / 4 % 3, number / 12 % 2);
        let noise = f64::from(number * 7919 % 1009) / 1009.0 - 0.5;
        let cost = 100.0 + 300.0 / f64::from(workers) - 20.0 * f64::from(quiet);
        csv += &format!(
            "{workers},{delay},{quiet},{:.2}\n",
            cost * (1.0 + 0.05 * noise)
        );
    }
    let told = study_fixture::imported(folder.path(), &csv);
    assert!(told.ends_with("exit 0"), "{told}");
    folder
}

/// A study whose settings were measured once, not all of them.
fn studied_little() -> TempDir {
    let folder = TempDir::new().unwrap();
    let csv = study_fixture::runs_csv(1, 0.02);
    let few: Vec<&str> = csv.lines().take(7).collect();
    let told = study_fixture::imported(folder.path(), &few.join("\n"));
    assert!(told.ends_with("exit 0"), "{told}");
    folder
}

/// A program whose cost depends on three factors, one of which breaks it, with noise from its number of runs.
const PROGRAM: &str = r#"#!/bin/sh
test "${C:-0}" = 1 && exit 3
echo >> count
n=$((10000 - 3000 * ${A:-0} + 1000 * ${B:-0}))
echo "{\"cost\": $((n + n * ($(wc -l < count) % 7 - 3) / 1000))}"
"#;

/// A search that has ended.
fn searched() -> TempDir {
    let folder = TempDir::new().unwrap();
    let suite = "suite = 's'\n[benchmark.one]\ncommand = ['sh', './program']\nmetrics = 'json'\niterations = 1\nburn_in = 0\n\
                 metric.cost = { unit = 'B', better = 'lower' }\n[factor.a]\napply.env.A = '1'\n\
                 [factor.b]\napply.env.B = '1'\n[factor.c]\napply.env.C = '1'\n";
    fs::write(folder.path().join("lapwing.toml"), suite).unwrap();
    fs::write(folder.path().join("program"), PROGRAM).unwrap();
    let told = run(folder.path(), &["study", "optimise", "--metric", "cost"]);
    assert!(told.ends_with("exit 0"), "{told}");
    folder
}

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/");

/// A folder with traces: logs without a graph, spans of tasks that share a lock, and a log with defects and a graph.
fn traced() -> TempDir {
    let folder = TempDir::new().unwrap();
    for (from, to) in [
        ("earthkit-0.19/trace_2x1.log", "run.log"),
        ("dask-trace-2026.8/threads.jsonl", "threads.jsonl"),
        ("dask-trace-2026.8/processes.jsonl", "processes.jsonl"),
    ] {
        fs::copy(format!("{FIXTURES}{from}"), folder.path().join(to)).unwrap();
    }
    fs::write(folder.path().join("defect.log"), trace::TRACE).unwrap();
    folder
}

pub const ASKED: &[Asked] = &[
    Asked {
        folder: studied,
        commands: &[
            ("study_findings", "study findings"),
            ("study_findings_time", "study findings --scale time"),
            ("study_effects", "study effects"),
            ("study_means", "study effects --show means --scale log"),
            (
                "study_means_without",
                "study effects --without src_submit_biglogs_remove",
            ),
            ("study_deltas", "study effects --show deltas"),
            (
                "study_deltas_full",
                "study effects --show deltas --scale log --full",
            ),
            ("study_paths", "study effects --show paths"),
            ("study_paths_log", "study effects --show paths --scale log"),
            ("study_pca", "study effects --show pca"),
            ("study_scatter", "study effects --show scatter"),
            (
                "study_scatter_log",
                "study effects --show scatter --scale log --factor affinity",
            ),
            ("study_no_curves", "study effects --show curves"),
            ("study_colour", "study effects --show colour"),
            ("study_stability", "study effects --show stability"),
            (
                "study_not_stable",
                "study effects --show stability --within 0.1% --scale time",
            ),
            (
                "study_fit",
                "study fit --predict cfg_no_init_logging=1,affinity=1",
            ),
            ("study_fit_main", "study fit --model main --scale time"),
            ("study_none", "study findings -b nothing"),
            ("study_design", "study design --noise 2%"),
            ("study_design_covering", "study design --kind covering"),
        ],
    },
    Asked {
        folder: studied_numbers,
        commands: &[
            ("study_curves", "study effects --show curves"),
            (
                "study_curves_time",
                "study effects --show curves --scale time",
            ),
        ],
    },
    Asked {
        folder: studied_twice,
        commands: &[
            (
                "study_compare",
                "study compare benchmark:perf benchmark:elsewhere",
            ),
            (
                "study_compare_full",
                "study compare benchmark:perf benchmark:elsewhere --full --scale time",
            ),
        ],
    },
    Asked {
        folder: studied_little,
        commands: &[
            ("study_little_findings", "study findings"),
            (
                "study_little_fit",
                "study fit --predict affinity=1,app_big=1",
            ),
            ("study_little_paths", "study effects --show paths"),
            ("study_little_stability", "study effects --show stability"),
        ],
    },
    Asked {
        folder: searched,
        commands: &[
            ("study_optimise", "study optimise --metric cost"),
            (
                "study_optimise_none",
                "study optimise --metric cost --where since=2100-01-01 --runs 2 --budget 0s",
            ),
        ],
    },
    Asked {
        folder: traced,
        commands: &[
            ("trace", "trace findings run.log"),
            ("trace_full", "trace findings run.log --full"),
            ("trace_lock", "trace findings threads.jsonl"),
            ("trace_defects", "trace findings defect.log"),
            ("trace_tasks", "trace tasks run.log"),
            ("trace_each_task", "trace tasks --by task run.log"),
            ("trace_transfers", "trace transfers run.log"),
            ("trace_controller", "trace controller run.log"),
            ("trace_profile", "trace profile run.log"),
            ("trace_lint", "trace lint run.log"),
            ("trace_lint_defects", "trace lint defect.log"),
            ("trace_none", "trace findings lapwing.log"),
            ("trace_compare", "trace compare run.log run.log"),
            (
                "trace_compare_lock",
                "trace compare threads.jsonl processes.jsonl --top 3",
            ),
            (
                "trace_compare_three",
                "trace compare threads.jsonl processes.jsonl run.log --show sums",
            ),
            (
                "trace_compare_tasks",
                "trace compare threads.jsonl processes.jsonl --show tasks --top 4",
            ),
            ("trace_what_if", "trace what-if threads.jsonl"),
            (
                "trace_what_if_faster",
                "trace what-if threads.jsonl --workers 1,2 --faster count=2",
            ),
        ],
    },
    Asked {
        folder: advise::measured,
        commands: &[
            ("advise", "advise --goal elapsed"),
            ("advise_full", "advise --goal rate --type stable --full"),
            ("advise_weights", "advise --goal elapsed=2,rate=1"),
            ("advise_several", "advise"),
            (
                "advise_explore",
                "advise --goal elapsed --explore --count 4",
            ),
            (
                "advise_explore_old",
                "advise numpy scipy --goal elapsed --explore --hardware 1000",
            ),
        ],
    },
];
