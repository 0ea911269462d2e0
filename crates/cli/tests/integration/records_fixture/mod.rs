//! Records that a test writes down, and a store of them.

use std::fs;

use lapwing_testing::RecordLines;
use serde_json::json;

use crate::program::run;

/// Records of version 1, written down one after another.
#[derive(Default)]
pub struct Records(pub RecordLines);

impl Records {
    /// Begins a session of one run and returns the run.
    pub fn run(&mut self, day: u32, version: &str) -> String {
        let started = format!("2026-11-{day:02}T10:00:00Z");
        let session = self
            .0
            .session(&started, json!({"suite": "joins", "tool": "test 1.0"}));
        let metrics = json!({
            "wall_time": {"unit": "s", "better": "lower"},
            "rate": {"unit": "1/s", "better": "higher"},
        });
        self.0.run(
            &session,
            json!({"version": {"name": version}, "metrics": metrics}),
        )
    }

    /// Writes an instance and its iterations: the first is burn-in, those without value failed.
    pub fn instance(
        &mut self,
        run: &str,
        id: &str,
        position: u32,
        host: &str,
        metric: &str,
        values: &[f64],
    ) {
        let more = json!({"position": position, "host": host});
        let instance = self.0.instance(run, id, more);
        for (index, value) in values.iter().enumerate() {
            let mut more = json!({"burn_in": index == 0});
            if value.is_nan() {
                more["outcome"] = json!("failed");
                more["message"] = json!("exit code 1");
            } else {
                more["metrics"] = json!({metric: value});
            }
            self.0.iteration(&instance, index, more);
        }
    }
}

/// Returns a folder with a store of these records.
pub fn holding(records: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("all.jsonl"), records).unwrap();
    let imported = run(folder.path(), &["import", "all.jsonl"]);
    assert!(imported.ends_with("exit 0"), "{imported}");
    folder
}
