//! `lapwing run --duet`, by the real program, and what `lapwing compare` makes of duets.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use lapwing_measure::local::duet_cores;
use lapwing_testing::{RecordLines, absent};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::run;

const SUITE: &str = "[benchmark.nap]\ncommand = ['sleep', '0.01']\n\
                     [variant.calm]\n[variant.same]\n";

/// Returns whether two sides can be measured at the same time here.
fn has_two_cores() -> bool {
    let has = duet_cores(Path::new("/"), None).is_ok();
    if !has {
        absent("two physical cores");
    }
    has
}

fn exported(folder: &Path) -> Vec<Value> {
    let text = run(folder, &["export", "--to", "record"]);
    let lines = text.lines().filter(|line| line.starts_with('{'));
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn two_variants_are_measured_at_the_same_time_and_judged_by_the_pair() {
    if !has_two_cores() {
        return;
    }
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("lapwing.toml"), SUITE).unwrap();
    let done = run(
        folder.path(),
        &["run", "--duet", "-n", "4", "-i", "2", "--seed", "7"],
    );
    assert!(done.ends_with("exit 0"), "{done}");
    assert!(done.contains("two at a time"), "{done}");
    let instances: Vec<Value> = exported(folder.path())
        .into_iter()
        .filter(|it| it["kind"] == "instance")
        .collect();
    assert_eq!(instances.len(), 8);
    let by_id: BTreeMap<&str, &Value> = instances
        .iter()
        .map(|it| (it["id"].as_str().unwrap(), it))
        .collect();
    let mut sets: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for instance in &instances {
        let duet = &instance["attributes"]["duet"];
        let partner = by_id[duet["partner"].as_str().unwrap()];
        assert_eq!(partner["block"], instance["block"]);
        assert_ne!(partner["run"], instance["run"]);
        assert_ne!(partner["attributes"]["duet"]["cpus"], duet["cpus"]);
        let sets = sets.entry(instance["run"].as_str().unwrap()).or_default();
        sets.push(duet["cores"].as_str().unwrap());
    }
    for sets in sets.values_mut() {
        sets.sort_unstable();
        assert_eq!(*sets, ["first", "first", "second", "second"]);
    }
    let compared = run(
        folder.path(),
        &[
            "compare",
            "variant:calm",
            "variant:same",
            "--metric",
            "wall_time",
            "--format",
            "json",
        ],
    );
    assert!(compared.contains("\"replication\": \"pair\""), "{compared}");
}

#[test]
fn two_commands_are_measured_at_the_same_time() {
    if !has_two_cores() {
        return;
    }
    let folder = TempDir::new().unwrap();
    let command = [
        "run",
        "--duet",
        "-n",
        "4",
        "-i",
        "1",
        "--command",
        "true",
        "--command",
        "true",
    ];
    let done = run(folder.path(), &command);
    assert!(
        done.ends_with("exit 0") && done.contains("true #2"),
        "{done}"
    );
}

#[test]
fn a_duet_needs_two_sides_two_cores_and_commands() {
    let folder = TempDir::new().unwrap();
    let refused = |arguments: &[&str]| {
        let all = [&["run", "--duet"], arguments].concat();
        run(folder.path(), &all)
    };
    assert_snapshot!(refused(&["--command", "true"]), @"
    error: --duet measures two sides at the same time, got 1 command
      hint: give two: `lapwing run --duet --command 'A' --command 'B'`
    exit 2
    ");
    assert_snapshot!(refused(&["--cpus", "0", "-c", "true", "-c", "true"]), @"
    error: a duet needs two physical cores, and only one can be used here (CPU 0)
      hint: measure without --duet: the sides are interleaved
    exit 2
    ");
    fs::write(
        folder.path().join("lapwing.toml"),
        format!("{SUITE}[variant.third]\n"),
    )
    .unwrap();
    assert_snapshot!(refused(&[]), @"
    error: --duet measures two sides at the same time, got 3 variants
      hint: choose two variants: `lapwing run --duet --variant A --variant B`
    exit 2
    ");
}

/// Records of pairs whose halves have a disturbance in common, by block.
fn disturbed_pairs() -> RecordLines {
    let mut lines = RecordLines::default();
    let session = lines.session("2026-11-20T10:00:00Z", json!({"name": "nightly"}));
    let runs = ["before", "after"].map(|it| lines.run(&session, json!({"variant": it})));
    for block in 0..4_u32 {
        let ids = [lines.id(), lines.id()];
        for (which, run) in runs.iter().enumerate() {
            let more = json!({
                "id": ids[which],
                "block": block,
                "position": 2 * block + u32::try_from(which).unwrap(),
                "attributes": {"duet": {"partner": ids[1 - which], "cores": "first", "cpus": "0"}},
            });
            lines.instance(run, "join", more);
            for index in 0..3_u32 {
                let burst = 1.0 + 0.3 * f64::from((block * 5 + index * 3) % 7);
                let own = 1.0 + 0.001 * f64::from((block * 31 + index * 17 + 5) * 7_919 % 23);
                let ratio = if which == 1 { 1.1 * own } else { 1.0 };
                let failed = (block, index, which) == (2, 1, 0);
                let more = if failed {
                    json!({"outcome": "failed", "message": "it broke"})
                } else {
                    json!({"metrics": {"wall_time": burst * ratio}})
                };
                lines.iteration(&ids[which], index as usize, more);
            }
            lines.instance_end(&ids[which]);
        }
    }
    lines
}

#[test]
fn what_disturbs_both_halves_of_a_pair_cancels() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("in.jsonl"), disturbed_pairs().text).unwrap();
    let done = run(folder.path(), &["import", "in.jsonl"]);
    assert!(done.ends_with("exit 0"), "{done}");
    assert_snapshot!(run(folder.path(), &["compare", "variant:before", "variant:after"]), @"
    after against before: 1 regression   (1 comparison, FDR 5 %, no change: within 3 %)

     benchmark   ratio  interval        verdict       baseline  candidate  instances
     join       1.113×  [1.107, 1.119]  ✗ regression    1.70 s     1.89 s      4 / 4

    note: join: one side is above the other in every pair; with so few pairs, noise
    that jumps between two levels can do this by chance: measure five or more pairs
    note: the unit of replication is the pair: 4 pairs

    excluded from 24 iterations: 1 failed (`--audit` shows which)
    exit 0
    ");
}
