//! Tests that failed as SARIF, which code scanning shows.

use serde_json::{Value, json};

use super::{GateTest, GateTests};

/// The file of benchmarks that are of no test file.
const SUITE_FILE: &str = "lapwing.toml";

impl GateTests {
    /// Returns the failures as SARIF 2.1.0: a result each, at the file of a pytest benchmark or else at the suite file.
    pub fn sarif(&self) -> String {
        let mut rules: Vec<&str> = Vec::new();
        let mut results: Vec<Value> = Vec::new();
        for test in &self.suites {
            for failure in &test.failures {
                if !rules.contains(&failure.kind) {
                    rules.push(failure.kind);
                }
                results.push(json!({
                    "ruleId": failure.kind,
                    "level": "error",
                    "message": {"text": format!("{}: {}", test.name, failure.message)},
                    "locations": [{
                        "physicalLocation": {
                            "artifactLocation": {"uri": file_of(test)},
                            "region": {"startLine": 1},
                        },
                    }],
                    "partialFingerprints": {
                        "benchmark/v1": format!("{}/{}", test.suite, test.name),
                    },
                }));
            }
        }
        let rules: Vec<Value> = rules.into_iter().map(|id| json!({"id": id})).collect();
        let document = json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": {"driver": {
                    "name": self.name,
                    "version": env!("CARGO_PKG_VERSION"),
                    "rules": rules,
                }},
                "results": results,
            }],
        });
        format!("{document:#}\n")
    }
}

/// Returns the file of a benchmark: that of `bench/test_io.py::test_read`, if it is one of pytest.
fn file_of(test: &GateTest) -> &str {
    match test
        .benchmark
        .split_once("::")
        .filter(|(file, _)| file.ends_with(".py"))
    {
        Some((file, _)) if !file.is_empty() && !file.starts_with('/') => file,
        _ => SUITE_FILE,
    }
}
