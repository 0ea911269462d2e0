use crate::runs::level::levels;
use crate::shared::reading::notation::DecimalMark;
use crate::shared::testing::{
    fixture, imported, options, read_as, read_text, refusal, refusal_of, shown,
};
use crate::{BadLines, ColumnChoices, ImportError, ImportOptions, Source, format_named, read};
use lapwing_model::{Id, InstanceOutcome, Level, Record};
use lapwing_stats::as_f64;
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeSet;

#[test]
fn a_setting_is_a_run_and_a_row_is_an_instance() {
    insta::assert_snapshot!(shown(&imported("runs/parsl.csv")), @r##"
    runs because its first line has `unix_time`, and its last column a unit
    {"v":1,"kind":"session","id":"#0","suite":"runs","started":"2024-10-27T03:33:20Z","tool":"runs of a study (CSV)","name":"parsl","attributes":{"source":{"columns":"cost `usec_per_task` (in µs); time `unix_time`; treatments cfg_no_init_logging, cfg_prefetch_100, cfg_encrypted","file":"parsl.csv","format":"runs","sha256":"…"},"study":{"factors":[{"name":"cfg_no_init_logging"},{"name":"cfg_prefetch_100"},{"name":"cfg_encrypted"}]}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","factors":{"cfg_encrypted":false,"cfg_no_init_logging":false,"cfg_prefetch_100":false},"metrics":{"time_per_task":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"parsl"},"block":0,"position":0,"attempt":0,"started":"2024-10-27T03:33:20Z"}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"outcome":"ok","metrics":{"time_per_task":0.001182}}
    {"v":1,"kind":"run","id":"#3","session":"#0","variant":"default","factors":{"cfg_encrypted":false,"cfg_no_init_logging":true,"cfg_prefetch_100":false},"metrics":{"time_per_task":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#4","run":"#3","benchmark":{"id":"parsl"},"block":0,"position":1,"attempt":0,"started":"2024-10-27T03:34:20.5Z"}
    {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#4","index":0,"burn_in":false,"outcome":"ok","metrics":{"time_per_task":0.0006049}}
    {"v":1,"kind":"run","id":"#5","session":"#0","variant":"default","factors":{"cfg_encrypted":false,"cfg_no_init_logging":false,"cfg_prefetch_100":true},"metrics":{"time_per_task":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#6","run":"#5","benchmark":{"id":"parsl"},"block":0,"position":2,"attempt":0,"started":"2024-10-27T03:35:21Z"}
    {"v":1,"kind":"instance_end","instance":"#6","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#6","index":0,"burn_in":false,"outcome":"ok","metrics":{"time_per_task":0.00106125}}
    {"v":1,"kind":"run","id":"#7","session":"#0","variant":"default","factors":{"cfg_encrypted":true,"cfg_no_init_logging":true,"cfg_prefetch_100":true},"metrics":{"time_per_task":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#8","run":"#7","benchmark":{"id":"parsl"},"block":0,"position":3,"attempt":0,"started":"2024-10-27T03:36:22Z"}
    {"v":1,"kind":"instance_end","instance":"#8","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#8","index":0,"burn_in":false,"outcome":"ok","metrics":{"time_per_task":0.000563}}
    {"v":1,"kind":"instance","id":"#9","run":"#3","benchmark":{"id":"parsl"},"block":0,"position":4,"attempt":0,"started":"2024-10-27T03:37:22.750000128Z"}
    {"v":1,"kind":"instance_end","instance":"#9","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#9","index":0,"burn_in":false,"outcome":"ok","metrics":{"time_per_task":0.00061}}
    "##);
}

#[test]
fn levels_bases_units_and_directions_are_kept() {
    insta::assert_snapshot!(shown(&imported("runs/levels.csv")), @r##"
    runs because its first line has `unix_time`, and its last column a unit
    {"v":1,"kind":"session","id":"#0","suite":"runs","started":"2024-10-27T03:33:20Z","tool":"runs of a study (CSV)","name":"levels","attributes":{"source":{"columns":"cost `score (points, higher is better)` (in points); time `unix_time`; treatments affinity; settings workers, python","file":"levels.csv","format":"runs","sha256":"…"},"study":{"factors":[{"levels":[4],"name":"workers"},{"name":"python"},{"name":"affinity"}]}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","factors":{"affinity":false,"python":"3.14t","workers":2},"metrics":{"score":{"unit":"points","better":"higher"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"levels"},"block":0,"position":0,"attempt":0,"started":"2024-10-27T03:33:20Z"}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"outcome":"ok","metrics":{"score":10.0}}
    {"v":1,"kind":"run","id":"#3","session":"#0","variant":"default","factors":{"affinity":false,"python":"3.13","workers":4},"metrics":{"score":{"unit":"points","better":"higher"}}}
    {"v":1,"kind":"instance","id":"#4","run":"#3","benchmark":{"id":"levels"},"block":0,"position":1,"attempt":0,"started":"2024-10-27T03:34:20Z"}
    {"v":1,"kind":"instance_end","instance":"#4","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#4","index":0,"burn_in":false,"outcome":"ok","metrics":{"score":17.5}}
    {"v":1,"kind":"run","id":"#5","session":"#0","variant":"default","factors":{"affinity":true,"python":"3.13","workers":8},"metrics":{"score":{"unit":"points","better":"higher"}}}
    {"v":1,"kind":"instance","id":"#6","run":"#5","benchmark":{"id":"levels"},"block":0,"position":2,"attempt":0,"started":"2024-10-27T03:35:20Z"}
    {"v":1,"kind":"instance_end","instance":"#6","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#6","index":0,"burn_in":false,"outcome":"ok","metrics":{"score":21.0}}
    "##);
}

#[test]
fn a_broken_table_is_refused_with_line_and_column() {
    let broken = [
        refusal("runs/truncated.csv"),
        refusal("runs/wrong.csv"),
        refusal_of("runs", "a;unix_time;cost\n1;soon;3\n"),
        refusal_of("runs", "a;cost\n"),
        refusal_of("runs", "unix_time;cost\n1;2\n"),
        refusal_of("runs", "a;a;cost\n1;0;3\n"),
        refusal_of("runs", "a;;cost\n1;0;3\n"),
        refusal_of("runs", "a;usec\n1;-3\n"),
    ];
    insta::assert_snapshot!(broken.join("\n"), @"
    truncated.csv:6: the row has 4 columns where the first line has 5
    wrong.csv:3: `usec_per_task` is the cost, and `fast` is no number
    made-up:2: `unix_time` is neither a Unix time stamp nor a date: `soon`
    made-up holds no results
    made-up:1: the first line needs a column per factor, and the cost as the last column beside the time
    made-up:1: there are two columns `a`
    made-up: column 2 has no name
    made-up:2: `time` of `made-up` is negative: -0.000003
    ");
}

#[test]
fn a_table_without_signs_has_to_be_named() {
    let texts = [
        "a,b,cost\n1,0,3\n",
        "a,unix_time,cost\n1,0,3\n",
        "a,timestamp,ms\n1,0,3\n",
    ];
    for text in texts {
        let source = Source::from_bytes("r.csv", text.into()).expect("bytes");
        let refused = read(&source, &options(BadLines::Refuse)).expect_err("not detected");
        assert!(
            refused.to_string().contains("none of the formats"),
            "{refused}"
        );
        assert_eq!(read_text("runs", text).sessions.len(), 1);
    }
}

#[test]
fn benchmark_and_variant_are_those_that_were_named() {
    let source = Source::from_bytes("r.csv", b"a;ms\n1;3\n".to_vec()).expect("bytes");
    let mut options = options(BadLines::Refuse);
    options.format = format_named("runs");
    options.trace.benchmark = Some("perf".to_owned());
    options.trace.variant = Some("laptop".to_owned());
    let imported = read(&source, &options).expect("good");
    let named = imported.records.iter().filter_map(|record| match record {
        Record::Run(run) => Some(run.variant.as_str()),
        Record::Instance(instance) => Some(instance.benchmark.id.as_str()),
        _other => None,
    });
    assert_eq!(named.collect::<Vec<&str>>(), ["laptop", "perf"]);
}

/// Returns what the columns of a table were taken for, or the doubts with the choices that settle them.
fn taken(text: &str) -> String {
    taken_with(text, "")
}

fn taken_with(text: &str, columns: &str) -> String {
    let source = Source::from_bytes("r.csv", text.into()).expect("bytes");
    let options = ImportOptions {
        format: format_named("runs"),
        columns: ColumnChoices::parse(columns).expect("choices"),
        ..options(BadLines::Refuse)
    };
    match read(&source, &options) {
        Ok(imported) => imported.columns.expect("runs have columns").text,
        Err(ImportError::UnclearColumns {
            doubts, choices, ..
        }) => {
            format!("{} -> {choices}", doubts.join("; "))
        }
        Err(other) => other.to_string(),
    }
}

/// Returns a table with these columns of a study of two treatments and workers, each with a number of its row.
fn study_with(title: &str, cell: impl Fn(usize) -> String) -> String {
    let rows = (0..16).map(|at: usize| {
        let (quiet, lazy, workers) = (at % 2, at / 2 % 2, [2, 4][at / 4 % 2]);
        let cost = 100.0 - 10.0 * as_f64(quiet) + 0.37 * as_f64(at);
        format!("{},{quiet},{lazy},{workers},{cost:.2}\n", cell(at))
    });
    format!(
        "{title},quiet,lazy,workers,ms\n{}",
        rows.collect::<String>()
    )
}

#[test]
fn what_was_taken_for_what_is_told_in_one_line() {
    let told = [
        taken(&study_with("unix_time", |at| {
            (1_730_000_000 + at).to_string()
        })),
        taken(&study_with("date", |at| {
            format!("2024-11-{:02}T08:00:00Z", at + 1)
        })),
        taken(&study_with("hostname", |at| ["a", "b"][at % 2].to_owned())),
        taken(&study_with("mode", |_| "fast".to_owned())),
        taken(&study_with("codec", |at| {
            ["none", "zlib"][at / 8].to_owned()
        })),
        taken(&study_with("rep", |at| (at / 8).to_string())),
        taken("a;b;cost (EUR)\n0;1;1.012,5\nTRUE;0,5;12,25\n"),
    ];
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn columns_that_may_mean_this_or_that_are_asked_for() {
    let asked = [
        taken(&study_with("id", |at| (at + 1).to_string())),
        taken(&study_with("commit", |at| format!("{:07x}", at * 7919))),
        taken(&study_with("config", |at| format!("c{}", at % 8))),
        taken(&study_with("", |at| (at + 1).to_string())),
        taken(&study_with("Unnamed: 0", |at| at.to_string())),
        taken(&study_with("ts", |at| (1_730_000_000 + at).to_string())),
        taken(&study_with("built", |at| {
            format!("2024-11-{:02}", at % 4 + 1)
        })),
        taken(&study_with("date", |at| {
            format!("{:02}/11/2024", at % 4 + 1)
        })),
        taken(&study_with("memory", |at| {
            format!("{:.2}", 1.5 + as_f64(at).sqrt())
        })),
        taken("ms,quiet,lazy\n1.5,0,1\n2.5,1,0\n"),
        taken("passed,quiet,lazy\n1,0,1\n0,1,0\n"),
        taken("ms,quiet,codec\n1.5,0,zlib\n2.5,1,none\n"),
    ];
    insta::assert_snapshot!(asked.join("\n"));
}

#[test]
fn each_doubt_is_settled_by_the_choices_that_it_offers() {
    let texts = [
        study_with("id", |at| (at + 1).to_string()),
        study_with("", |at| (at + 1).to_string()),
        study_with("ts", |at| (1_730_000_000 + at).to_string()),
        study_with("date", |at| format!("{:02}/11/2024", at % 4 + 1)),
        study_with("memory", |at| format!("{:.2}", 1.5 + as_f64(at).sqrt())),
        "ms,quiet,lazy\n1.5,0,1\n2.5,1,0\n".to_owned(),
    ];
    let settled = texts.map(|text| {
        let asked = taken(&text);
        let (_, choices) = asked.split_once(" -> ").expect("a doubt");
        taken_with(&text, choices)
    });
    insta::assert_snapshot!(settled.join("\n"));
    let kept = taken_with(&study_with("id", |at| (at + 1).to_string()), "factor=id");
    assert!(kept.contains("settings id, workers"), "{kept}");
}

#[test]
fn small_and_plain_tables_are_not_asked_about() {
    for text in [
        "workers,ms\n1,4\n2,3\n4,2\n8,1\n16,1\n32,1\n64,1\n128,1\n256,1\n",
        "load,ms\n0.1,4\n0.2,3\n0.3,2\n0.4,1\n0.5,1\n0.6,1\n0.7,1\n0.8,1\n0.9,1\n",
        "a,b,score\n0,1,3\n1,0,4\n1,1,4\n",
        "a,timeout (s),score\n0,10,3\n1,20,4\n1,10,4\n",
        "a,b,ms\n0,1,3\n",
    ] {
        let taken = taken(text);
        assert!(taken.starts_with("cost `"), "{taken}");
    }
}

#[test]
fn a_run_without_a_cost_has_failed() {
    let text = "a,b,ms\n0,0,3\n0,1,NA\n1,0,\n1,1,timeout\n1,0,NaN\n";
    assert_eq!(
        taken(text),
        "cost `ms` (in ms); no time; treatments a, b; 5 rows, of which 4 have no cost and count as failed (line 3, 4, 5, 6)"
    );
    let imported = read_text("runs", text);
    let outcomes = imported.records.iter().filter_map(|record| match record {
        Record::InstanceEnd(end) => Some((end.outcome, end.message.as_deref())),
        _other => None,
    });
    use InstanceOutcome::{Failed, Ok, TimedOut};
    assert_eq!(
        outcomes.collect::<Vec<_>>(),
        [
            (Ok, None),
            (Failed, Some("no cost: `NA`")),
            (Failed, Some("no cost")),
            (TimedOut, Some("no cost: `timeout`")),
            (Failed, Some("no cost: `NaN`")),
        ]
    );
    let iterations = imported.records.iter();
    let iterations = iterations.filter(|it| matches!(it, Record::Iteration(_)));
    assert_eq!(iterations.count(), 1);
}

#[test]
fn a_level_that_is_not_known_is_refused_and_an_empty_one_is_none() {
    insta::assert_snapshot!(refusal_of("runs", "a,n,ms\nNA,1,3\n"), @"made-up:2: the level of `a` is not known: `NA`");
    let imported = read_text("runs", "n,c,ms\n2,x,3\n,y,4\n");
    let factors = imported.records.iter().filter_map(|record| match record {
        Record::Run(run) => Some(json!(run.factors).to_string()),
        _other => None,
    });
    assert_eq!(
        factors.collect::<Vec<String>>(),
        [r#"{"c":"x","n":2}"#, r#"{"c":"y"}"#]
    );
}

#[test]
fn of_a_file_that_has_grown_only_the_new_rows_are_added() {
    let ids = |text: &str| {
        let imported = read_text("runs", text);
        let ids = imported.records.iter().filter_map(|record| match record {
            Record::Instance(instance) => Some(instance.id),
            _other => None,
        });
        ids.collect::<Vec<Id>>()
    };
    let before = ids("a,b,ms\n0,1,3\n1,0,4\n1,0,4\n");
    // A new row between the others, a repetition with the same values, and one at the end.
    let after = ids("a,b,ms\n0,1,3\n1,1,5\n1,0,4\n1,0,4\n1,0,4\n0,0,2\n");
    assert_eq!(before, [after[0], after[2], after[3]]);
    let all: BTreeSet<&Id> = after.iter().collect();
    assert_eq!(all.len(), 6);
    let other = ids("a,b,ms\n0,1,3.5\n1,0,4\n");
    assert!(other.iter().all(|id| !all.contains(id)));
}

#[test]
fn tables_of_r_and_pandas_are_read_as_they_write_them() {
    let text = |file| std::fs::read_to_string(fixture(file)).expect("a fixture");
    let read = ["runs/r-csv2.csv", "runs/r-table.tsv"].map(|file| {
        let imported = read_as("runs", &text(file));
        imported.columns.expect("columns").text
    });
    let expected = "cost `usec_per_task` (in µs); no time; treatments enc, log; settings workers; 8 rows, of which 1 has no cost and counts as failed (line 8)";
    assert_eq!(read, [expected, expected]);
    let row_names = "made-up: the first column has no name, like the row names of R and the index of pandas, which are no factor";
    for file in ["runs/r-csv.csv", "runs/pandas-index.csv"] {
        assert_eq!(refusal_of("runs", &text(file)), row_names);
    }
}

#[test]
fn columns_are_treatments_numbers_or_texts() {
    let of = |texts: &[&str], mark| levels(texts, mark);
    let (point, comma) = (DecimalMark::Point, DecimalMark::Comma);
    for texts in [
        ["1", "", "true"],
        ["yes", "no", "YES"],
        ["T", "F", "TRUE"],
        ["on", "off", "on"],
    ] {
        let present = [true, false, true].map(|it| Some(Level::Bool(it)));
        assert_eq!(of(&texts, point), present, "{texts:?}");
    }
    let (whole, real) = (Level::Integer, Level::Number);
    assert_eq!(
        of(&["0", "10", "2.5"], point),
        [whole(0), whole(10), real(2.5)].map(Some)
    );
    assert_eq!(
        of(&["0,5", "", "1.000,5"], comma),
        [Some(real(0.5)), None, Some(real(1000.5))]
    );
    assert_eq!(
        of(&["3", "3.14t"], point),
        ["3", "3.14t"].map(|it| Some(Level::Text(it.to_owned())))
    );
}

proptest! {
    #[test]
    fn the_separator_makes_no_difference(rows in proptest::collection::vec((0..2_u8, 1..8_i32, -1e9..1e9_f64), 1..20)) {
        let values = |separator: &str| {
            let head = ["a", "workers", "unix_time", "price (EUR)"].join(separator);
            let rows = rows.iter().enumerate().map(|(at, (a, workers, cost))| {
                [a.to_string(), workers.to_string(), at.to_string(), cost.to_string()].join(separator)
            });
            let text: Vec<String> = std::iter::once(head).chain(rows).collect();
            let read = read_text("runs", &text.join("\n"));
            let costs = read.records.into_iter().filter_map(|record| match record {
                Record::Iteration(it) => it.metrics.get("price").copied(),
                _other => None,
            });
            costs.collect::<Vec<f64>>()
        };
        let costs: Vec<f64> = rows.iter().map(|(_, _, cost)| *cost).collect();
        for separator in [";", ",", "\t"] {
            prop_assert_eq!(values(separator), costs.clone());
        }
    }
}
