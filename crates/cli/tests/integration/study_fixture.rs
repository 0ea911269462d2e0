//! A synthetic study, labelled as such: the costs of the model that the article on Parsl's performance prints.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::program::{output, run};

/// Costs in µs without noise: 1182 at the base, −577.1 and −490.7 for the two log factors, +358.0 for both; affinity
/// helps without and hurts with the first; the fourth does nothing.
pub fn cost(log: bool, biglogs: bool, affinity: bool) -> f64 {
    let mut cost = 1182.0;
    if log {
        cost -= 577.1;
    }
    if biglogs {
        cost -= 490.7;
    }
    if log && biglogs {
        cost += 358.0;
    }
    if affinity {
        cost += if log { 40.0 } else { -120.0 };
    }
    cost
}

/// Returns a full factorial of four factors as CSV, each setting `replicates` times with relative noise of this size.
pub fn runs_csv(replicates: u32, noise: f64) -> String {
    csv_of(replicates, noise, cost)
}

/// Returns the same with other costs.
pub fn csv_of(replicates: u32, noise: f64, cost: impl Fn(bool, bool, bool) -> f64) -> String {
    let mut csv =
        "cfg_no_init_logging;src_submit_biglogs_remove;affinity;app_big;unix_time;usec_per_task\n"
            .to_owned();
    let mut number = 0_u32;
    for replicate in 0..replicates {
        for set in 0..16_u32 {
            let has = |bit: u32| set >> bit & 1 == 1;
            // Deterministic, and without a pattern among sets.
            let error = f64::from((number * 7919 + set * 104_729 + replicate * 1_299_709) % 1009)
                / 1009.0
                - 0.5;
            let own = cost(has(0), has(1), has(2)) * (1.0 + 2.0 * noise * error);
            let levels: Vec<String> = (0..4).map(|bit| u32::from(has(bit)).to_string()).collect();
            csv.push_str(&format!(
                "{};{};{own}\n",
                levels.join(";"),
                1_730_000_000 + 60 * number
            ));
            number += 1;
        }
    }
    csv
}

/// Returns a folder with a store of that study.
pub fn studied(replicates: u32, noise: f64) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    imported(folder.path(), &runs_csv(replicates, noise));
    folder
}

/// Imports runs into the store of a folder.
pub fn imported(folder: &Path, csv: &str) -> String {
    fs::write(folder.join("runs.csv"), csv).unwrap();
    run(
        folder,
        &["study", "import", "runs.csv", "--as", "benchmark=perf"],
    )
}

/// Returns a view of the effects as JSON.
pub fn effects(folder: &Path, view: &str, arguments: &[&str]) -> Value {
    json(folder, &[&["effects", "--show", view], arguments].concat())
}

/// Returns the answer of a command of `lapwing study` as JSON.
pub fn json(folder: &Path, arguments: &[&str]) -> Value {
    let arguments = [&["study"], arguments, &["--format", "json"]].concat();
    let output = output(folder, &arguments);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {told}"))
}

/// Returns a number of an answer; NaN if it is none.
pub fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}
