//! The pages about all benchmarks hold what cleaning, burn-in and variability say.

use std::fs;
use std::path::Path;

use lapwing_analyse::clean::CleaningRules;
use lapwing_analyse::explain::{NoiseMetrics, noise};
use lapwing_analyse::sample::{BenchmarkData, SettingChoice};
use lapwing_model::JudgedFrom;
use lapwing_show::report::{self, DetectionTarget, ReportOptions};
use lapwing_stats::Seed;
use lapwing_testing::{report_data, report_entry};
use serde_json::{Value, json};

use crate::synthetic::{Recipe, Sessions, Source, measure};

fn write(directory: &Path, benchmarks: Vec<BenchmarkData>, rules: CleaningRules) {
    let options = ReportOptions {
        title: "Report".to_owned(),
        made: "for a test".to_owned(),
        rules,
        metrics: Vec::new(),
        detect: DetectionTarget::default(),
        raw: true,
    };
    report::write(benchmarks, directory, options).expect("it writes");
}

fn column(directory: &Path, file: &str, name: &str) -> Value {
    report_entry(directory, file)[name].clone()
}

fn page(directory: &Path, name: &str) -> String {
    fs::read_to_string(directory.join(name)).expect("a page")
}

/// Two sessions of five instances of 1 + 6 iterations each.
fn recipe(id: &str) -> Recipe {
    Recipe {
        id: id.to_owned(),
        sessions: 2,
        ..Recipe::default()
    }
}

/// Returns measurements that get slower and slower.
fn drifting() -> BenchmarkData {
    let recipe = Recipe {
        iterations: 40,
        burn_in: 0,
        warm_up: 0.0,
        ..recipe("drifting")
    };
    let mut data = measure(&recipe, &mut Sessions::default());
    for instance in &mut data.instances {
        let values = instance.iterations.values.get_mut("wall_time");
        for (value, step) in values.expect("a column").iter_mut().zip(0_u32..) {
            *value *= 1.0 + 0.05 * f64::from(step);
        }
    }
    data
}

#[test]
fn every_page_goes_by_the_rules_that_were_asked_for() {
    let directory = tempfile::tempdir().expect("a directory");
    let summaries = Recipe {
        source: Source::Summaries("asv", 2),
        ..recipe("summaries")
    };
    let mut sessions = Sessions::default();
    let benchmarks = [recipe("steady"), summaries]
        .iter()
        .map(|recipe| measure(recipe, &mut sessions))
        .collect();
    let rules = CleaningRules {
        burn_in: JudgedFrom::Index(3).into(),
        min_instances: 4,
        ..CleaningRules::default()
    };
    write(directory.path(), benchmarks, rules);
    let cleaning = |name: &str| column(directory.path(), "cleaning.m0", name);
    assert_eq!(cleaning("recorded"), json!([70, 0]));
    assert_eq!(cleaning("left"), json!([40, 0]));
    assert_eq!(cleaning("left_out"), json!(["30 burn-in", ""]));
    assert_eq!(
        cleaning("start")[0],
        json!("from iteration 3 on (given for all)")
    );
    assert_eq!(cleaning("reason"), json!(["", "no iteration was recorded"]));
    let sizes = column(directory.path(), "index.m0", "size");
    assert_eq!(sizes[0], json!("5 × 4"));
    let burn_in = |name: &str| column(directory.path(), "burn-in", name);
    assert_eq!(
        [burn_in("start"), burn_in("source"), burn_in("planned")],
        [json!(["3"]), json!(["given for all"]), json!(["1"])]
    );
    let text = page(directory.path(), "cleaning.html");
    assert!(text.contains("40 of 70 iterations count (57 %)"), "{text}");
}

#[test]
fn a_benchmark_that_never_gets_steady_is_a_candidate_to_retire() {
    let directory = tempfile::tempdir().expect("a directory");
    let steady = measure(&recipe("steady"), &mut Sessions::default());
    let rules = CleaningRules {
        burn_in: JudgedFrom::Auto.into(),
        ..CleaningRules::default()
    };
    write(directory.path(), vec![steady, drifting()], rules);
    let burn_in = |name: &str| column(directory.path(), "burn-in", name);
    assert_eq!(burn_in("class"), json!(["warm-up", "no steady state"]));
    assert_eq!(burn_in("found")[1], json!("never"));
    assert_eq!(burn_in("never"), json!([0, 10]));
    let reasons = column(directory.path(), "cleaning.m0", "reason");
    assert_eq!(reasons, json!(["", "never reaches a steady state"]));
    let said = "Benchmarks that mostly or never become steady should be fixed or retired.";
    assert!(page(directory.path(), "burn-in.html").contains(said));
    let data = report_data(directory.path());
    let charts = data.keys().filter(|it| it.ends_with(".burn-in"));
    assert_eq!(charts.count(), 2, "a chart for each");
}

#[test]
fn noise_is_that_of_the_command_and_the_noisiest_stands_first() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut sessions = Sessions::default();
    let noisy = Recipe {
        noise: (0.2, 0.05),
        ..recipe("noisy")
    };
    let benchmarks: Vec<BenchmarkData> = [recipe("steady"), noisy]
        .iter()
        .map(|recipe| measure(recipe, &mut sessions))
        .collect();
    let expected: Vec<Value> = benchmarks
        .iter()
        .rev()
        .flat_map(|data| {
            let metrics = NoiseMetrics::Named(vec!["wall_time".to_owned()]);
            let rules = CleaningRules::default();
            noise(data, &rules, SettingChoice::Latest, &metrics, Seed(7)).rows
        })
        .map(|row| {
            json!([
                row.benchmark,
                row.variability.cv_total,
                row.between.map(|it| it.value)
            ])
        })
        .collect();
    write(directory.path(), benchmarks, CleaningRules::default());
    let column = |name: &str| column(directory.path(), "variability.m0", name);
    let shown: Vec<Value> = (0..2)
        .map(|at| {
            json!([
                column("id")[at],
                column("cv_total")[at],
                column("cv_between")[at]
            ])
        })
        .collect();
    assert_eq!(shown, expected);
    let text = page(directory.path(), "variability.html");
    let said = "1 of 2 benchmarks varies by more than 5 % between instances";
    assert!(text.contains(said), "{text}");
}
