//! What a suite says about judging single benchmarks and metrics: `[benchmark.NAME.judge]` and `[judge.metric.NAME]`.

use std::collections::BTreeMap;

use super::judging::share;
use super::node::{Located, Node};
use crate::model::MetricName;

/// What a suite says about judging a benchmark or metric.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct JudgeLimits {
    /// The smallest change that matters, as a share.
    pub smallest_effect: Option<f64>,
    /// Whether changes of its history are detected; `false` mutes it.
    pub detect: Option<bool>,
}

/// What a suite says about judging all metrics of something, and single ones.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MetricLimits {
    /// Those of all metrics.
    pub all: JudgeLimits,
    /// Those of single metrics, which come before the others.
    pub metrics: BTreeMap<MetricName, JudgeLimits>,
}

/// The `judge` table of the benchmarks of a table of the suite.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchmarkLimits {
    /// The name of the table: an id, an id without its parameters, or a pattern with `*` and `?`.
    pub name: String,
    /// The paths of a table of pytest's tests.
    pub paths: Vec<String>,
    /// What it says.
    pub limits: MetricLimits,
}

impl JudgeLimits {
    /// Returns these limits with the gaps filled from `other`.
    pub(super) fn or(self, other: Self) -> Self {
        Self {
            smallest_effect: self.smallest_effect.or(other.smallest_effect),
            detect: self.detect.or(other.detect),
        }
    }
}

impl MetricLimits {
    /// Returns the limits of a metric.
    pub fn of(&self, metric: &str) -> JudgeLimits {
        let own = self.metrics.get(metric).copied().unwrap_or_default();
        own.or(self.all)
    }
}

impl BenchmarkLimits {
    /// Returns whether a benchmark is meant.
    pub fn is_about(&self, id: &str) -> bool {
        let starts_with = |start: &str, ends: &[&str]| {
            let rest = id.strip_prefix(start);
            rest.is_some_and(|rest| rest.is_empty() || ends.iter().any(|end| rest.starts_with(end)))
        };
        let of_path = |path: &String| match path.trim_start_matches("./").trim_end_matches('/') {
            "" | "." => id.contains("::"),
            path => starts_with(path, &["/", "::", "["]),
        };
        if self.paths.is_empty() {
            starts_with(&self.name, &["["]) || has_pattern(id.as_bytes(), self.name.as_bytes())
        } else {
            self.paths.iter().any(of_path)
        }
    }
}

/// Returns whether a text has a pattern, in which `*` is any text and `?` any byte.
fn has_pattern(text: &[u8], pattern: &[u8]) -> bool {
    match (text, pattern) {
        ([], []) => true,
        (_, [b'*', rest @ ..]) => {
            has_pattern(text, rest) || (!text.is_empty() && has_pattern(&text[1..], pattern))
        }
        ([_, text @ ..], [b'?', pattern @ ..]) => has_pattern(text, pattern),
        ([first, text @ ..], [wanted, pattern @ ..]) if first == wanted => {
            has_pattern(text, pattern)
        }
        _ => false,
    }
}

/// Returns what the `judge` table of a benchmark says.
pub(super) fn read_limits(node: &Node, place: String) -> Result<MetricLimits, Located> {
    let mut keys = node.table(place.clone(), "judge")?;
    let limits = MetricLimits {
        all: JudgeLimits {
            smallest_effect: keys.read("smallest_effect", share)?,
            detect: keys.read("detect", Node::bool)?,
        },
        metrics: keys
            .read("metric", |node, key| read_metrics(node, key, &place))?
            .unwrap_or_default(),
    };
    keys.finish()?;
    Ok(limits)
}

/// Returns what the `metric` table of a `judge` table says.
pub(super) fn read_metrics(
    node: &Node,
    key: &str,
    place: &str,
) -> Result<BTreeMap<MetricName, JudgeLimits>, Located> {
    node.each(key, |node, name| {
        let place = format!("{}.metric.{name}]", place.trim_end_matches(']'));
        let mut keys = node.table(place, name)?;
        let limits = JudgeLimits {
            smallest_effect: keys.read("smallest_effect", share)?,
            detect: keys.read("detect", Node::bool)?,
        };
        keys.finish()?;
        Ok(limits)
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::suite::{JudgeSettings, Suite};

    fn read(text: &str) -> Result<JudgeSettings, String> {
        Suite::parse_judging(Path::new("lapwing.toml"), text, Path::new("/bench"))
            .map_err(|error| error.to_string())
    }

    const SUITE: &str = r#"
        [judge]
        smallest_effect = "5%"
        metric.peak_memory = { smallest_effect = "10%" }
        [benchmark.gzip]
        command = "gzip"
        [benchmark.gzip.judge]
        smallest_effect = "2%"
        metric.peak_memory.detect = false
        [benchmark.tests]
        pytest = "bench/"
        judge.smallest_effect = "20%"
        [benchmark."bench/io.py::*".judge]
        detect = false
    "#;

    #[test]
    fn a_metric_of_a_benchmark_comes_before_the_benchmark_and_both_before_the_suite() {
        let judge = read(SUITE).expect("a suite");
        let of = |id: &str, metric: &str| {
            let limits = judge.limits_of(id, metric);
            (limits.smallest_effect, limits.detect)
        };
        assert_eq!(of("gzip", "wall_time"), (Some(0.02), None));
        assert_eq!(of("gzip[level=1]", "wall_time"), (Some(0.02), None));
        assert_eq!(of("gzip", "peak_memory"), (Some(0.02), Some(false)));
        assert_eq!(of("gzip2", "wall_time"), (Some(0.05), None));
        assert_eq!(of("gzip2", "peak_memory"), (Some(0.1), None));
        assert_eq!(of("bench/a.py::test", "wall_time"), (Some(0.2), None));
        assert_eq!(of("bench2/a.py::test", "wall_time"), (Some(0.05), None));
        assert_eq!(
            of("bench/io.py::test[1]", "wall_time"),
            (Some(0.2), Some(false))
        );
    }

    #[test]
    fn a_table_that_only_judges_is_no_benchmark() {
        let text = "[benchmark.old.judge]\ndetect = false\n";
        assert_eq!(read(text).map(|it| it.benchmarks.len()), Ok(1));
        let suite = Suite::parse(Path::new("lapwing.toml"), text, Path::new("/bench"));
        assert!(suite.is_err());
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let wrong = [
            "[benchmark.a.judge]\nsmallest_effect = 3",
            "[benchmark.a.judge]\ndetect = \"no\"",
            "[benchmark.a.judge]\nmute = true",
            "[benchmark.a.judge.metric.time]\nmin_runs = 3",
            "[judge.metric.time]\nmin_runs = 3",
            "[benchmark.a]\njudge.detect = false\ntags = []",
        ];
        let errors: Vec<String> = wrong
            .iter()
            .map(|it| read(it).expect_err("wrong"))
            .collect();
        insta::assert_snapshot!(errors.join("\n"), @r#"
        lapwing.toml:2: `smallest_effect` must lie between 0 % and 100 %: write a percentage such as "3%" or a share such as 0.03
        lapwing.toml:2: `detect` must be true or false, not a text
        lapwing.toml:2: unknown key `mute` in [benchmark.a.judge]
        lapwing.toml:2: unknown key `min_runs` in [benchmark.a.judge.metric.time]
        lapwing.toml:2: unknown key `min_runs` in [judge.metric.time]
        lapwing.toml:1: `a` has no `command`
        "#);
    }
}
