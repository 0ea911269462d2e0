//! Made-up histories of one instance a night, in a store.

use std::fs;
use std::path::Path;

use lapwing_testing::RecordLines;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::{output, run};

/// What a benchmark does in each night: a factor, or nothing if it was not measured.
pub type Nights = fn(u32) -> Option<f64>;

pub const QUIET: Nights = |_| Some(1.0);

/// Returns a number from 0 to 1 that looks random, the same every time (Steele et al., *SplitMix*, OOPSLA 2014).
fn noise(night: u32, place: u32) -> f64 {
    let place = u64::from(place % 256) | u64::from(place / 256) << 40;
    let mut state = (u64::from(night) << 8 | place).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    state = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ state >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    f64::from((state >> 32) as u32) / f64::from(u32::MAX)
}

/// The host and the branch of a night.
pub type Surroundings = fn(u32) -> [&'static str; 2];

/// Records of these nights, of which each is a version `v0`, `v1`, ….
pub fn nights(nights: std::ops::Range<u32>, benchmarks: &[(&str, Nights)]) -> String {
    nights_in(nights, benchmarks, |_| ["node1", "main"])
}

/// The same in these surroundings.
pub fn nights_in(
    nights: std::ops::Range<u32>,
    benchmarks: &[(&str, Nights)],
    surroundings: Surroundings,
) -> String {
    let mut lines = RecordLines::after(nights.start * 1000);
    for night in nights {
        let at = format!("2026-{:02}-{:02}T02:00:00Z", 1 + night / 28, 1 + night % 28);
        let name = format!("night-{night}");
        let session = lines.session(&at, json!({"suite": "nightly", "name": name}));
        let [host, branch] = surroundings(night);
        let version = json!({"name": format!("v{night}"), "date": at, "branch": branch});
        let run = lines.run(&session, json!({"version": version}));
        for (place, (benchmark, factor)) in (0_u32..).zip(benchmarks) {
            let Some(factor) = factor(night) else {
                continue;
            };
            let instance = lines.instance(&run, benchmark, json!({"host": host}));
            let value = factor * (0.995 + 0.01 * noise(night, place));
            let more = if value < 0.0 {
                json!({"outcome": "failed", "message": "it broke"})
            } else {
                json!({"metrics": {"wall_time": value}})
            };
            lines.iteration(&instance, 0, more);
            lines.instance_end(&instance);
        }
    }
    lines.text
}

pub fn import(folder: &Path, text: &str) {
    fs::write(folder.join("in.jsonl"), text).unwrap();
    let done = run(folder, &["import", "in.jsonl"]);
    assert!(done.ends_with("exit 0"), "{done}");
}

pub fn history(number: u32, benchmarks: &[(&str, Nights)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    import(folder.path(), &nights(0..number, benchmarks));
    folder
}

pub fn ids(folder: &Path, more: &[&str]) -> Vec<String> {
    let words = [&["detect", "--format", "json"], more].concat();
    let answer: Value = serde_json::from_slice(&output(folder, &words).stdout).unwrap();
    let findings = findings(&answer).into_iter();
    findings
        .map(|finding| finding["id"].as_str().unwrap().to_owned())
        .collect()
}

/// Returns the findings of all changes of an answer.
pub fn findings(answer: &Value) -> Vec<&Value> {
    let changes = answer["changes"].as_array().unwrap().iter();
    changes
        .flat_map(|change| change["findings"].as_array().unwrap())
        .collect()
}

pub fn gate(folder: &Path, what: &str) -> i32 {
    let words = ["detect", "--fail-on", what];
    output(folder, &words).status.code().unwrap()
}

pub const STEP: Nights = |night| Some(if night < 20 { 1.0 } else { 1.2 });
