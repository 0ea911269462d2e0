//! `lapwing study effects --show stability` and `compare`, on the synthetic study.

use std::fs;

use crate::program::run;
use crate::study_fixture::{cost, csv_of, effects, imported, json, number, studied};

#[test]
fn effects_are_stable_long_before_the_last_run_and_the_chart_shows_it() {
    let folder = studied(20, 0.02);
    let told = effects(folder.path(), "stability", &[]);
    let [since, all] = [&told["stable_since"], &told["study"]["instances"]].map(number);
    assert!(since < 0.5 * all, "{since} of {all}");
    assert_eq!(told["more_instances"], 0.0);
    assert_eq!(
        told["ranking"][0], "cfg_no_init_logging",
        "{}",
        told["ranking"]
    );
    // The last check has all runs: its effects are the mean effects of a full factorial, in logarithms.
    let rows = told["checks"].as_array().unwrap();
    let last = rows
        .iter()
        .find(|row| row["treatment"] == "cfg_no_init_logging")
        .unwrap();
    let means = effects(folder.path(), "means", &["--scale", "log"]);
    let mean = (means["means"].as_array().unwrap().iter())
        .find(|row| row["treatment"] == "cfg_no_init_logging")
        .unwrap();
    assert!((number(&last["effect"]) - number(&mean["mean"])).abs() < 1e-9);
    assert!(last["lower"].as_f64() < last["effect"].as_f64());
    let text = run(
        folder.path(),
        &["study", "effects", "--show", "stability", "--plot", "s.svg"],
    );
    assert!(
        text.starts_with(&format!("stable since {since:.0} of 320 instances")),
        "{text}"
    );
    let drawn = fs::read_to_string(folder.path().join("s.svg")).unwrap();
    assert!(drawn.contains("Stable since") && drawn.contains("cfg_no_init_logging"));
}

#[test]
fn what_is_not_stable_says_how_many_more_runs_it_needs_and_that_is_about_right() {
    let few = studied(2, 0.3);
    let told = effects(few.path(), "stability", &["--within", "10%"]);
    assert_eq!(told["is_stable"], false);
    let more = number(&told["more_instances"]);
    let text = run(
        few.path(),
        &["study", "effects", "--show", "stability", "--within", "10%"],
    );
    assert!(
        text.starts_with("not yet stable after 32 instances: the effect of "),
        "{text}"
    );
    // Measured with that many instances and a quarter more, all intervals are narrow enough.
    let replicates = ((32.0 + more) * 1.25 / 16.0).ceil();
    let enough = studied(format!("{replicates:.0}").parse().unwrap(), 0.3);
    let told = effects(enough.path(), "stability", &["--within", "10%", "--full"]);
    assert_eq!(told["more_instances"], 0.0, "{more}");
    // In random order the end is the same, and the way there another one.
    let shuffled = effects(
        enough.path(),
        "stability",
        &["--within", "10%", "--seed", "3", "--full"],
    );
    let [ends, starts] = [0, 1].map(|at| {
        [&told, &shuffled].map(|it| {
            let checks = it["checks"].as_array().unwrap();
            let row = checks[at * (checks.len() - 1)].clone();
            number(&row["effect"])
        })
    });
    assert!((ends[0] - ends[1]).abs() < 1e-9);
    assert!((starts[0] - starts[1]).abs() > 1e-9);
}

/// The other environment: half as fast, affinity hurts always, the logs cost nothing.
fn elsewhere(log: bool, biglogs: bool, affinity: bool) -> f64 {
    let plain = 2.0 * cost(false, biglogs, false);
    plain * if affinity { 1.15 } else { 1.0 } * if log { 0.999 } else { 1.0 }
}

#[test]
fn effects_of_another_environment_carry_over_differ_or_stay_undetermined() {
    let folder = studied(6, 0.01);
    let here = folder.path();
    // The same content would be the same runs in both stores.
    for (noise, store) in [
        (0.01, &["--as", "benchmark=elsewhere"][..]),
        (0.011, &["--store", "other.db", "--as", "benchmark=perf"]),
    ] {
        fs::write(here.join("other.csv"), csv_of(6, noise, elsewhere)).unwrap();
        let said = run(
            here,
            &[&["import", "--from", "runs", "other.csv"], store].concat(),
        );
        assert!(said.ends_with("exit 0"), "{said}");
    }
    let of_benchmarks = json(here, &["compare", "benchmark:perf", "benchmark:elsewhere"]);
    let verdict = |name: &str| {
        let rows = of_benchmarks["effects"].as_array().unwrap();
        let row = rows.iter().find(|row| row["effect"] == name).unwrap();
        row["verdict"].as_str().unwrap().to_owned()
    };
    assert_eq!(verdict("cfg_no_init_logging"), "differs");
    assert_eq!(verdict("affinity"), "reverses");
    assert_eq!(verdict("app_big"), "negligible on both sides");
    assert_eq!(
        verdict("cfg_no_init_logging:src_submit_biglogs_remove"),
        "differs"
    );
    let there = &of_benchmarks["first_predicts_second"];
    assert_eq!(there["settings"], 16);
    assert!(number(&there["rank_correlation"]) < 0.9);
    assert_eq!(there["regret"], 0.0);
    // The same comparison with the other store.
    let of_files = json(here, &["compare", "benchmark:perf", "benchmark:elsewhere"]);
    assert_eq!(of_files["effects"], of_benchmarks["effects"]);
    let stored = json(
        here,
        &[
            "compare",
            "-b",
            "perf",
            "file:.lapwing/lapwing.db",
            "file:other.db",
        ],
    );
    let verdicts = |told: &serde_json::Value| -> Vec<String> {
        let rows = told["effects"].as_array().unwrap().iter();
        rows.map(|row| format!("{} {}", row["effect"], row["verdict"]))
            .collect()
    };
    assert_eq!(verdicts(&stored), verdicts(&of_benchmarks));
    let text = run(
        here,
        &[
            "study",
            "compare",
            "benchmark:perf",
            "benchmark:elsewhere",
            "--plot",
            "c.svg",
        ],
    );
    assert!(
        text.contains("perf → elsewhere: of 4 treatments 1 reverses"),
        "{text}"
    );
    assert!(
        text.contains("the model of perf predicts 16 settings of elsewhere"),
        "{text}"
    );
    let drawn = fs::read_to_string(here.join("c.svg")).unwrap();
    assert!(drawn.contains("effect in elsewhere") && drawn.contains("reverses"));
    let mixed = run(
        here,
        &["study", "compare", "benchmark:perf", "file:other.db"],
    );
    assert!(
        mixed.contains("one side is a benchmark and the other one is not"),
        "{mixed}"
    );
    let same = run(
        here,
        &["study", "compare", "benchmark:perf", "benchmark:perf"],
    );
    assert!(same.contains("both sides are benchmark `perf`"), "{same}");
}

#[test]
fn a_study_compared_with_its_repetition_has_no_difference_and_is_predicted() {
    let folder = studied(8, 0.02);
    let here = folder.path();
    // The same costs with the noise of other runs.
    let other = csv_of(9, 0.02, cost);
    let later: Vec<&str> = other.lines().skip(1 + 16).collect();
    let head = other.lines().next().unwrap();
    fs::write(
        here.join("again.csv"),
        format!("{head}\n{}\n", later.join("\n")),
    )
    .unwrap();
    run(
        here,
        &[
            "import",
            "--from",
            "runs",
            "again.csv",
            "--as",
            "benchmark=again",
        ],
    );
    let sides = ["benchmark:perf", "benchmark:again"];
    let told = json(here, &["compare", sides[0], sides[1], "--full"]);
    let rows = told["effects"].as_array().unwrap();
    assert_eq!(rows.len(), 4 + 6);
    assert!(
        rows.iter()
            .all(|row| row["verdict"] != "differs" && row["verdict"] != "reverses"),
        "{rows:#?}"
    );
    assert!(number(&told["first_predicts_second"]["r_squared"]) > 0.99);
    assert!(imported(here, &csv_of(8, 0.02, cost)).contains("nothing new"));
}
