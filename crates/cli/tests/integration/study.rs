//! `lapwing study`: the analyses of a synthetic study, by the real program.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::program::run;
use crate::study_fixture::{cost, effects, imported, json, number, runs_csv, studied};

fn close(one: f64, other: f64, tolerance: f64) {
    assert!(
        (one - other).abs() <= tolerance * other.abs().max(1e-12),
        "{one} is not {other}"
    );
}

fn named<'v>(rows: &'v Value, key: &str, name: &str) -> &'v Value {
    let mut rows = rows.as_array().unwrap().iter();
    rows.find(|row| row[key] == name)
        .unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn the_model_of_pairs_gives_back_the_coefficients_of_the_article() {
    let folder = studied(2, 0.0);
    let csv = runs_csv(2, 0.0);
    // Without affinity the costs are exactly those of two factors and their pair.
    let told = json(
        folder.path(),
        &[
            "fit",
            "--scale",
            "time",
            "--model",
            "pairs",
            "--without",
            "affinity",
        ],
    );
    let of = |name: &str| number(&named(&told["columns"], "column", name)["estimate"]);
    close(of("(Intercept)"), 1182e-6, 1e-9);
    close(of("cfg_no_init_logging"), -577.1e-6, 1e-9);
    close(of("src_submit_biglogs_remove"), -490.7e-6, 1e-9);
    close(
        of("cfg_no_init_logging:src_submit_biglogs_remove"),
        358e-6,
        1e-9,
    );
    assert_eq!(csv.lines().count(), 33);
}

#[test]
fn paths_add_up_and_shapley_values_are_the_main_effect_and_half_of_the_pair() {
    let folder = studied(1, 0.0);
    let to = "cfg_no_init_logging=1,src_submit_biglogs_remove=1";
    for scale in ["time", "rate", "log"] {
        let told = effects(folder.path(), "paths", &["--to", to, "--scale", scale]);
        let steps = told["steps"].as_array().unwrap();
        let sum = |key: &str| -> f64 { steps.iter().map(|step| number(&step[key])).sum() };
        let value = |cost: f64| match scale {
            "time" => cost,
            "rate" => cost.recip(),
            _ => cost.ln(),
        };
        let [start, end] =
            [cost(false, false, false), cost(true, true, false)].map(|it| value(it * 1e-6));
        close(sum("change"), end - start, 1e-9);
        close(sum("shapley"), end - start, 1e-9);
        assert_eq!(
            (told["is_complete"].clone(), told["shapley_from"].clone()),
            (true.into(), "measured".into())
        );
        if scale == "time" {
            assert_eq!(steps[0]["treatment"], "cfg_no_init_logging");
            close(number(&steps[0]["shapley"]), (-577.1 + 179.0) * 1e-6, 1e-9);
            close(number(&steps[1]["shapley"]), (-490.7 + 179.0) * 1e-6, 1e-9);
        }
        if scale == "rate" {
            close(number(&steps[0]["before"]), 1e6 / 1182.0, 1e-12);
        }
    }
    let given = effects(
        folder.path(),
        "paths",
        &[
            "--to",
            to,
            "--order",
            "src_submit_biglogs_remove,cfg_no_init_logging",
        ],
    );
    close(number(&given["steps"][0]["change"]), -490.7e-6, 1e-9);
}

#[test]
fn the_mean_delta_of_a_full_factorial_is_the_main_effect_on_every_scale() {
    let folder = studied(3, 0.02);
    let rows: Vec<(u32, f64)> = (runs_csv(3, 0.02).lines().skip(1))
        .map(|line| {
            let fields: Vec<&str> = line.split(';').collect();
            let set = (0..4).map(|bit| u32::from(fields[bit] == "1") << bit).sum();
            (set, fields[5].parse::<f64>().unwrap() * 1e-6)
        })
        .collect();
    for scale in ["time", "rate", "log"] {
        let told = effects(folder.path(), "means", &["--scale", scale]);
        let names = [
            "cfg_no_init_logging",
            "src_submit_biglogs_remove",
            "affinity",
            "app_big",
        ];
        for (bit, name) in names.iter().enumerate() {
            let side = |present: u32| {
                let own = rows.iter().filter(|(set, _)| set >> bit & 1 == present);
                let values: Vec<f64> = own
                    .map(|(_, cost)| match scale {
                        "time" => *cost,
                        "rate" => cost.recip(),
                        _ => cost.ln(),
                    })
                    .collect();
                lapwing_stats::mean(&values).unwrap()
            };
            let mean = number(&named(&told["means"], "treatment", name)["mean"]);
            assert!(
                (mean - (side(1) - side(0))).abs() < 1e-9 * side(0).abs(),
                "{name} {scale}"
            );
        }
    }
}

#[test]
fn findings_name_the_shared_cost_and_the_factor_whose_sign_depends_on_another() {
    let folder = studied(4, 0.01);
    let told = json(folder.path(), &["findings", "--plot", "page.html"]);
    let texts: Vec<&str> = told["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["text"].as_str().unwrap())
        .collect();
    let has = |part: &str| {
        assert!(
            texts.iter().any(|text| text.contains(part)),
            "{part}: {texts:#?}"
        )
    };
    has("`cfg_no_init_logging` helps: −");
    has("Either-or: `src_submit_biglogs_remove` (−4");
    has("`affinity` helps (");
    has("and hurts (");
    has("`app_big`: ");
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(page.contains("Strongest factors") && page.contains("const charts=["));
    // Nothing is fetched: the page is whole.
    assert!(!page.contains("src=\"http") && !page.contains("href=\"http"));
}

#[test]
fn a_scatter_is_split_by_the_strongest_modifier_and_other_charts_are_drawn() {
    let folder = studied(2, 0.01);
    let told = run(
        folder.path(),
        &[
            "study",
            "effects",
            "--show",
            "scatter",
            "--factor",
            "cfg_no_init_logging",
            "--plot",
            "s.svg",
        ],
    );
    assert!(told.contains("without src_submit_biglogs_remove"), "{told}");
    let drawn = fs::read_to_string(folder.path().join("s.svg")).unwrap();
    assert!(drawn.contains("with src_submit_biglogs_remove") && drawn.contains("no effect"));
    for (arguments, part) in [
        (&["effects", "--show", "colour"][..], "time per task before"),
        (&["effects", "--without", "affinity"], "without affinity"),
        (&["fit", "--plot-kind", "tiles"], "Interactions of pairs"),
        (&["fit", "--plot-kind", "predicted"], "predicted"),
        (
            &["fit", "--plot-kind", "residuals"],
            "standardised residual",
        ),
        (
            &["effects", "--show", "paths", "--scale", "rate"],
            "time per task (1/",
        ),
        (
            &["effects", "--show", "paths", "--plot-kind", "treemap"],
            "what is left",
        ),
        (
            &["effects", "--show", "pca", "--plot-kind", "biplot"],
            "component 1",
        ),
        (
            &["effects", "--show", "pca", "--plot-kind", "scree"],
            "share of variance",
        ),
    ] {
        let arguments = [&["study"], arguments, &["--plot", "c.svg"]].concat();
        let told = run(folder.path(), &arguments);
        assert!(told.ends_with("exit 0"), "{told}");
        let drawn = fs::read_to_string(folder.path().join("c.svg")).unwrap();
        assert!(drawn.contains(part), "{arguments:?} has no `{part}`");
    }
}

#[test]
fn predictions_have_intervals_and_say_what_cannot_be_known() {
    let folder = studied(3, 0.01);
    let told = json(
        folder.path(),
        &[
            "fit",
            "--model",
            "pairs",
            "--predict",
            "affinity=1",
            "--predict",
            "{}",
        ],
    );
    let own = &told["predictions"][0];
    let [value, lower, upper, run_lower] =
        ["value", "lower", "upper", "run_lower"].map(|key| number(&own[key]));
    assert!(run_lower < lower && lower < value && value < upper);
    let told = run(folder.path(), &["study", "fit", "--predict", "affinity=3"]);
    assert!(
        told.contains("error: `3` is no setting of `affinity`: false, true"),
        "{told}"
    );
}

#[test]
fn runs_survive_a_round_trip_and_deltas_are_every_pair_of_runs() {
    let folder = studied(2, 0.05);
    let csv = runs_csv(2, 0.05);
    let exported = run(
        folder.path(),
        &["export", "--to", "runs", "--separator", ";"],
    );
    let fields =
        |line: &str| -> Vec<f64> { line.split(';').map(|it| it.parse().unwrap()).collect() };
    assert_eq!(exported.lines().next(), csv.lines().next());
    for (one, other) in exported.lines().skip(1).zip(csv.lines().skip(1)) {
        for (one, other) in fields(one).into_iter().zip(fields(other)) {
            close(one, other, 1e-11);
        }
    }
    let again = imported(folder.path(), &csv);
    assert!(
        again.contains("nothing new, everything is already in the store"),
        "{again}"
    );
    let deltas = run(folder.path(), &["export", "--to", "deltas"]);
    let rows: Vec<Vec<&str>> = deltas
        .lines()
        .filter(|it| it.contains(','))
        .map(|it| it.split(',').collect())
        .collect();
    // 4 factors × 8 pairs of settings × 2 × 2 runs.
    assert_eq!(rows.len(), 1 + 128);
    let names = [
        "cfg_no_init_logging",
        "src_submit_biglogs_remove",
        "affinity",
        "app_big",
    ];
    assert_eq!(
        rows[0],
        [&["treatment", "before", "after", "delta"][..], &names].concat()
    );
    let treatments: BTreeSet<&str> = rows[1..].iter().map(|row| row[0]).collect();
    assert_eq!(treatments, names.into_iter().collect());
    for row in &rows[1..] {
        let number = |at: usize| row[at].parse::<f64>().unwrap();
        assert!((number(3) - (number(2) - number(1))).abs() < 1e-8);
        let own = names.iter().position(|name| *name == row[0]).unwrap();
        assert_eq!(row[4 + own], "0");
    }
}

#[test]
fn errors_name_what_could_be_meant() {
    let folder = studied(1, 0.0);
    let of = |arguments: &[&str]| run(folder.path(), &[&["study"], arguments].concat());
    assert_eq!(
        of(&["effects", "--show", "scatter", "--factor", "logging"]),
        "error: there is no factor `logging`: cfg_no_init_logging, src_submit_biglogs_remove, affinity, app_big\nexit 2"
    );
    let plot = of(&["effects", "--plot", "m.png", "--plot-kind", "pie"]);
    assert_eq!(plot, "error: there is no chart `pie` here: `means`\nexit 2");
    imported(folder.path(), &runs_csv(1, 0.1));
    fs::write(folder.path().join("other.csv"), "a,cost\n1,2\n0,3\n").unwrap();
    run(folder.path(), &["import", "--from", "runs", "other.csv"]);
    let several = of(&["effects"]);
    assert!(several.starts_with("error: a study is about one benchmark, and several pass the filters: `other`, `perf`\n  hint: name one"), "{several}");
    let few = of(&["effects", "--show", "pca", "-b", "other"]);
    assert!(
        few.contains("no two sequences of measured settings start at {}")
            && few.ends_with("exit 3"),
        "{few}"
    );
}

#[test]
fn a_table_whose_columns_are_unclear_is_imported_by_the_command_of_the_hint() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let tables = [
        (
            "first.csv",
            "usec_per_task,log,aff\n9.3,0,0\n7.1,1,0\n8.2,0,1\n",
            "--columns value=usec_per_task",
        ),
        (
            "rownames.csv",
            "\"\",\"log\",\"usec\"\n\"1\",0,9.3\n\"2\",1,7.1\n",
            "--columns 'attribute=#1'",
        ),
        (
            "dates.csv",
            "date,log,usec\n01/11/2024,0,9.3\n02/11/2024,1,7.1\n",
            "--columns date_dmy=date",
        ),
    ];
    for (name, table, columns) in tables {
        fs::write(path.join(name), table).unwrap();
        let command = format!("--store of.db study import {name} {columns}");
        let refused = run(path, &["--store", "of.db", "study", "import", name]);
        assert!(
            refused.contains(&format!("`lapwing {command}`")),
            "{refused}"
        );
        let words: Vec<String> = command
            .split(' ')
            .map(|word| word.replace('\'', ""))
            .collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let told = run(path, &words);
        assert!(
            told.contains("imported") && told.ends_with("exit 0"),
            "{told}"
        );
        // It is what `import` does.
        let again = run(
            path,
            &[
                "--store",
                "of.db",
                "import",
                "--from",
                "runs",
                name,
                "--columns",
                words[6],
            ],
        );
        assert!(again.contains("nothing new"), "{again}");
    }
}

#[test]
fn levels_numbers_and_factors_that_came_later_are_understood() {
    let folder = tempfile::tempdir().unwrap();
    let mut csv = "prefetch,python,ms\n".to_owned();
    for prefetch in [0, 10, 100] {
        for (python, slower) in [("3.11", 0.0), ("3.13", -2.0), ("3.14", -3.0)] {
            csv.push_str(&format!(
                "{prefetch},{python},{}\n",
                20.0 + slower - 0.05 * f64::from(prefetch)
            ));
        }
    }
    fs::write(folder.path().join("levels.csv"), csv).unwrap();
    let told = run(
        folder.path(),
        &[
            "import",
            "--from",
            "runs",
            "levels.csv",
            "--as",
            "benchmark=perf",
        ],
    );
    assert!(told.ends_with("exit 0"), "{told}");
    let fit = json(
        folder.path(),
        &["fit", "--scale", "time", "--model", "main"],
    );
    close(
        number(&named(&fit["columns"], "column", "prefetch")["estimate"]),
        -0.05e-3,
        1e-9,
    );
    let means = effects(folder.path(), "means", &[]);
    close(
        number(&named(&means["means"], "treatment", "prefetch=100")["mean"]),
        -5e-3,
        1e-9,
    );
    // Old runs of the same benchmark without the factors.
    fs::write(folder.path().join("old.csv"), "early,ms\n0,20\n1,30\n").unwrap();
    run(
        folder.path(),
        &[
            "import",
            "--from",
            "runs",
            "old.csv",
            "--as",
            "benchmark=perf",
        ],
    );
    let told = effects(folder.path(), "means", &[]);
    close(
        number(&named(&told["means"], "treatment", "early")["mean"]),
        10e-3,
        1e-9,
    );
    let notes = told["notes"].to_string();
    assert!(notes.contains("some runs do not record"), "{notes}");
}

#[test]
fn a_number_may_have_its_best_level_in_the_middle() {
    let folder = tempfile::tempdir().unwrap();
    let mut csv = "workers;fast;cost\n".to_owned();
    for replicate in 0..4_u32 {
        for workers in 1..=5_u32 {
            for fast in 0..2_u32 {
                let noise = f64::from((workers * 31 + fast * 17 + replicate * 7) % 11) / 11.0 - 0.5;
                let curve = 0.1 * (f64::from(workers) - 3.0).powi(2);
                let log = curve - 0.2 * f64::from(fast) + 0.01 * noise;
                csv.push_str(&format!("{workers};{fast};{}\n", 10.0 * log.exp()));
            }
        }
    }
    imported(folder.path(), &csv);
    let told = json(folder.path(), &["fit", "--model", "pairs"]);
    let row = |name: &str| named(&told["columns"], "column", name).clone();
    // From the base, one worker: 0.1 · (w − 1)² − 0.4 · (w − 1) + 0.4.
    close(number(&row("workers²")["estimate"]), 0.1, 0.02);
    close(number(&row("workers")["estimate"]), -0.4, 0.02);
    close(number(&row("fast")["estimate"]), -0.2, 0.05);
    let told = json(folder.path(), &["effects", "--show", "curves"]);
    let curve = told["curves"].as_array().unwrap();
    let expected: Vec<f64> = curve.iter().map(|point| number(&point["value"])).collect();
    assert_eq!(expected.len(), 5);
    for (workers, value) in (1..).zip(expected) {
        let log = 0.1 * (f64::from(workers) - 3.0_f64).powi(2) - 0.1;
        close(value, 10.0 * log.exp(), 0.01);
    }
    let page = folder.path().join("all.html");
    run(folder.path(), &["study", "findings", "--plot", "all.html"]);
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("Expected value along workers"));
}

#[test]
fn runs_are_not_counted_twice_and_an_exported_study_is_the_same_study() {
    let folder = studied(2, 0.02);
    let again = ["import", "--from", "runs", "runs.csv"];
    assert!(run(folder.path(), &again).contains("nothing new"));
    let other = run(
        folder.path(),
        &[&again[..], &["--as", "benchmark=copy"]].concat(),
    );
    assert!(
        other.contains("imported with benchmark `perf` and not benchmark `copy`")
            && other.ends_with("exit 2"),
        "{other}"
    );
    let exported = run(folder.path(), &["export", "--to", "runs", "-o", "out.csv"]);
    assert_eq!(exported, "wrote out.csv (32 rows)\nexit 0");
    // Its first line has all signs.
    let read = run(
        folder.path(),
        &["import", "out.csv", "--as", "benchmark=copy"],
    );
    assert!(
        read.contains("32 instances, 32 iterations imported"),
        "{read}"
    );
    let [one, two] = ["perf", "copy"].map(|name| {
        let told = json(folder.path(), &["fit", "-b", name]);
        number(&told["columns"][0]["estimate"])
    });
    close(one, two, 1e-9);
}

#[test]
fn bases_units_and_directions_survive_a_round_trip() {
    let folder = tempfile::tempdir().unwrap();
    let texts = [
        "workers (base 4),python,unix_time,\"score (points, higher is better)\"\n2,3.14t,1730000000,10\n4,3.13,1730000060,17.5\n",
        "quiet,unix_time,rate (1/s)\n0,1730000000,10\n1,1730000060.5,17.5\n",
        "quiet,unix_time,wall_time (s)\n0,1730000000,0.125\n1,1730000060,0.25\n",
        "quiet,unix_time,usec_per_task\n0,1730000000,1182\n1,1730000060,604.9\n",
    ];
    for (at, text) in texts.into_iter().enumerate() {
        let name = format!("{at}.csv");
        fs::write(folder.path().join(&name), text).unwrap();
        let read = run(folder.path(), &["import", &name]);
        assert!(read.ends_with("exit 0"), "{read}");
        let at = at.to_string();
        let exported = run(
            folder.path(),
            &[
                "export",
                "--to",
                "runs",
                "--where",
                &format!("session={at}"),
            ],
        );
        assert_eq!(exported, format!("{text}exit 0"));
    }
}

#[test]
fn an_option_of_another_view_is_refused() {
    let folder = studied(1, 0.0);
    let refused = |arguments: &[&str]| {
        run(
            folder.path(),
            &[&["study", "effects", "--show"], arguments].concat(),
        )
    };
    let all = [
        refused(&["colour", "--scale", "log"]),
        refused(&["means", "--by", "affinity"]),
        refused(&["scatter", "--seed", "3"]),
        refused(&["paths", "--order", "affinity,logging"]),
        refused(&["path"]),
    ];
    insta::assert_snapshot!(all.join("\n"), @"
    error: --scale does not apply to --show colour
      hint: it is for --show means, scatter, curves, deltas, pca, paths, stability
    exit 2
    error: --by does not apply to --show means
      hint: it is for --show scatter
    exit 2
    error: --seed does not apply to --show scatter
      hint: it is for --show pca, stability
    exit 2
    error: there is no factor `logging`: cfg_no_init_logging, src_submit_biglogs_remove, affinity, app_big
    exit 2
    error: invalid value 'path' for '--show <VIEW>'
      [possible values: means, scatter, colour, curves, deltas, pca, paths, stability]

      tip: a similar value exists: 'paths'

    For more information, try '--help'.
    exit 2
    ");
}

#[test]
fn a_report_has_a_page_of_each_study_and_a_list_of_them() {
    let folder = studied(2, 0.01);
    let told = run(folder.path(), &["report", "-o", "site"]);
    assert!(told.ends_with("exit 0"), "{told}");
    let site = folder.path().join("site");
    let list = fs::read_to_string(site.join("studies.html")).unwrap();
    let pages: Vec<String> = fs::read_dir(site.join("study"))
        .unwrap()
        .map(|page| page.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(pages.len(), 1, "{pages:?}");
    assert!(list.contains(&format!("study/{}", pages[0])), "{list}");
    let page = fs::read_to_string(site.join("study").join(&pages[0])).unwrap();
    let findings = json(folder.path(), &["findings"]);
    for finding in findings["findings"].as_array().unwrap() {
        let text = finding["text"].as_str().unwrap().replace('`', "");
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        assert!(page.contains(&text), "{text}");
    }
    assert!(page.contains("../studies.html"), "{page}");
}
