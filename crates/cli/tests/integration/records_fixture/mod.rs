//! Records that a test writes down, and a store of them.

use std::fs;

use serde_json::json;

use crate::program::run;

pub mod lines;

use lines::Lines;

/// Records of version 1, written down one after another.
#[derive(Default)]
pub struct Records(pub Lines);

impl Records {
    /// Begins a session of one run and returns the run.
    pub fn run(&mut self, day: u32, version: &str) -> String {
        let (session, run) = (self.0.id(), self.0.id());
        let started = format!("2026-11-{day:02}T10:00:00Z");
        self.0.line(
            "session",
            json!({"id": session, "suite": "joins", "started": started, "tool": "test 1.0"}),
        );
        self.0.line(
            "run",
            json!({"id": run, "session": session, "version": {"name": version}, "metrics": {
                "wall_time": {"unit": "s", "better": "lower"},
                "rate": {"unit": "1/s", "better": "higher"},
            }}),
        );
        run
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
        let instance = self.0.id();
        self.0.line(
            "instance",
            json!({"id": instance, "run": run, "benchmark": {"id": id}, "position": position, "host": host}),
        );
        for (index, value) in values.iter().enumerate() {
            let mut line = json!({"instance": instance, "index": index, "burn_in": index == 0});
            if value.is_nan() {
                line["outcome"] = json!("failed");
                line["message"] = json!("exit code 1");
            } else {
                line["metrics"] = json!({metric: value});
            }
            self.0.line("iteration", line);
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
