//! A small store of benchmarks that are noisy in different ways.

use std::fs;

use serde_json::{Value, json};

use crate::program::run;

/// Records of version 1, written down one after another.
#[derive(Default)]
pub struct Records {
    pub lines: String,
    ids: u32,
}

impl Records {
    fn id(&mut self) -> String {
        self.ids += 1;
        format!("01930000-0000-7000-8000-{:012}", self.ids)
    }

    fn line(&mut self, kind: &str, mut content: Value) {
        content["v"] = json!(1);
        content["kind"] = json!(kind);
        self.lines.push_str(&content.to_string());
        self.lines.push('\n');
    }

    /// Begins a session of one run and returns the run.
    pub fn run(&mut self, day: u32, version: &str) -> String {
        let (session, run) = (self.id(), self.id());
        let started = format!("2026-11-{day:02}T10:00:00Z");
        self.line(
            "session",
            json!({"id": session, "suite": "joins", "started": started, "tool": "test 1.0"}),
        );
        self.line(
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
        let instance = self.id();
        self.line(
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
            self.line("iteration", line);
        }
    }
}

/// Values around a centre with some noise, the first twice as large.
pub fn around(centre: f64, seed: u32) -> Vec<f64> {
    let noise = |k: u32| f64::from((seed * 7 + k * 13) % 11) / 11.0 - 0.5;
    let value = |k| centre * (1.0 + 0.01 * noise(k)) * if k == 0 { 2.0 } else { 1.0 };
    // As few digits as people would write.
    (0..5).map(|k| (value(k) * 1e4).round() / 1e4).collect()
}

/// A benchmark that is slower on one of three hosts, one that is quiet, one that always fails, and
/// one that reports a rate.
fn records() -> String {
    let mut all = Records::default();
    let old = all.run(1, "1.0");
    for position in 0..4 {
        all.instance(
            &old,
            "join",
            position,
            "node3",
            "wall_time",
            &around(3.0, position),
        );
    }
    let new = all.run(2, "1.1");
    for position in 0..12 {
        let host = ["node3", "node7", "node4"][position as usize % 3];
        let join = if host == "node7" { 1.3 } else { 1.0 };
        all.instance(
            &new,
            "join",
            position,
            host,
            "wall_time",
            &around(join, position),
        );
        all.instance(
            &new,
            "sort",
            position,
            host,
            "wall_time",
            &around(0.25, position),
        );
    }
    for position in 0..3 {
        all.instance(
            &new,
            "broken",
            position,
            "node3",
            "wall_time",
            &[f64::NAN; 2],
        );
        all.instance(
            &new,
            "throughput",
            position,
            "node3",
            "rate",
            &around(5e4, position),
        );
    }
    all.lines
}

/// Returns a folder with a store of [`records`].
pub fn filled() -> tempfile::TempDir {
    holding(&records())
}

/// Returns a folder with a store of these records.
pub fn holding(records: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("all.jsonl"), records).unwrap();
    let imported = run(folder.path(), &["import", "all.jsonl"]);
    assert!(imported.ends_with("exit 0"), "{imported}");
    folder
}
