//! What gates judge, as tests that pass, fail or are skipped, for CI systems.

mod compared;
mod detected;
mod junit;
mod sarif;

use std::collections::BTreeMap;

/// What a command judged, as tests.
#[derive(Debug, Clone, PartialEq)]
pub struct GateTests {
    /// The command: `lapwing compare`.
    name: &'static str,
    /// The tests, by suite.
    suites: Vec<GateTest>,
    /// Number of regressions of each suite, where a test may have several.
    regressions: BTreeMap<String, usize>,
}

/// A benchmark and metric, as a test.
#[derive(Debug, Clone, PartialEq)]
struct GateTest {
    suite: String,
    /// The id of its benchmark; empty for several.
    benchmark: String,
    name: String,
    failures: Vec<GateFailure>,
    /// Why it was not judged.
    skipped: Option<String>,
}

/// Why a test failed.
#[derive(Debug, Clone, PartialEq)]
struct GateFailure {
    /// `regression`.
    kind: &'static str,
    /// In one line.
    message: String,
    /// What else is known.
    text: String,
}

impl GateTests {
    fn named(name: &'static str) -> Self {
        Self {
            name,
            suites: Vec::new(),
            regressions: BTreeMap::new(),
        }
    }
}
