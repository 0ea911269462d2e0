//! The plan that Hail published, run by the real program.
//!
//! Each of its lines is one configuration.

use crate::program;

use std::collections::BTreeSet;

use lapwing_testing::reference_data;

fn published() -> Option<String> {
    let file = reference_data("hail/published_plan.csv")?;
    Some(std::fs::read_to_string(file).unwrap())
}

/// Returns the plan as it was published, and the benchmarks that it names.
fn plan(table: &str) -> (String, BTreeSet<String>) {
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let mut text = String::new();
    for (at, row) in rows.iter().enumerate() {
        let [item, burn_in, mean, cv, slowdown, instances, iterations] =
            std::array::from_fn(|column| &row[column]);
        let number = |row: &csv::StringRecord| row[4].parse::<f64>().unwrap();
        // Slowdowns ascend, so that a smaller one begins the second entry of an item.
        let goes_on = at > 0 && rows[at - 1][0] == *item && number(&rows[at - 1]) <= number(row);
        if !goes_on {
            text.push_str(&format!(
                "- item: {item}\n  burn-in-iterations: {burn_in}\n  mean: {mean}\n  cv: {cv}\n  config:\n"
            ));
        }
        text.push_str(&format!(
            "  - slowdown: {slowdown}\n    instances: {instances}\n    iterations: {iterations}\n"
        ));
    }
    (text, rows.iter().map(|row| row[0].to_owned()).collect())
}

/// Counted in Python from the same table: 2,795 jobs, 58,630 iterations, 515.2 hours.
#[test]
fn the_plan_that_hail_published_is_read_and_comes_to_its_jobs() {
    let Some(table) = published() else { return };
    let place = tempfile::tempdir().unwrap();
    let (plan, benchmarks) = plan(&table);
    let suite: String = benchmarks
        .iter()
        .map(|id| format!("[benchmark.'{id}']\ncommand = ['true']\n"))
        .collect();
    std::fs::write(place.path().join("plan.yaml"), plan).unwrap();
    std::fs::write(place.path().join("lapwing.toml"), suite).unwrap();
    let arguments = ["run", "--plan", "plan.yaml", "--dry-run", "--seed", "1"];
    let said = program::run(place.path(), &arguments);
    let first = said.lines().next().unwrap();
    insta::assert_snapshot!(first, @"2,795 instances, at least 58,630 iterations, seed 1; about 21.5 d");
    let notes: Vec<&str> = said.lines().filter(|it| it.starts_with("note")).collect();
    insta::assert_snapshot!(notes.join("\n"), @"
    note: the order of the 2,795 instances is not listed: `--full`
    note: plan.yaml: `benchmark/hail/benchmark_table.py::test_table_key_by_shuffle` stands 2 times, in lines 1273, 1284: the last one counts
    ");
    assert!(said.ends_with("exit 0"));
}
