//! Reads what a suite says about judging single benchmarks and metrics: `[benchmark.NAME.judge]` and
//! `[judge.metric.NAME]`.

use std::collections::BTreeMap;

use super::super::node::{Located, Node, Table};
use super::judging::share;
use lapwing_model::{GateCondition, JudgeLimits, MetricLimits, MetricName};

/// Returns what the `judge` table of a benchmark says.
pub(in crate::suite) fn read_limits(node: &Node, place: String) -> Result<MetricLimits, Located> {
    let mut keys = node.table(place.clone(), "judge")?;
    let limits = MetricLimits {
        all: read_common(&mut keys)?,
        metrics: keys
            .read("metric", |node, key| read_metrics(node, key, &place))?
            .unwrap_or_default(),
    };
    keys.finish()?;
    Ok(limits)
}

/// Returns what the `metric` table of a `judge` table says.
pub(in crate::suite) fn read_metrics(
    node: &Node,
    key: &str,
    place: &str,
) -> Result<BTreeMap<MetricName, JudgeLimits>, Located> {
    node.each(key, |node, name| {
        let place = format!("{}.metric.{name}]", place.trim_end_matches(']'));
        let mut keys = node.table(place, name)?;
        let limits = read_common(&mut keys)?;
        keys.finish()?;
        Ok(limits)
    })
}

fn read_common(keys: &mut Table) -> Result<JudgeLimits, Located> {
    // The older name of `mute`, in reverse.
    let is_detected = keys.read("detect", Node::bool)?;
    Ok(JudgeLimits {
        smallest_effect: keys.read("smallest_effect", share)?,
        better: keys.read("better", |it, key| {
            it.choice(key, "is \"lower\" or \"higher\"")
        })?,
        mute: keys.read("mute", Node::bool)?.or(is_detected.map(|it| !it)),
        fail_on: keys.read("fail_on", conditions)?,
    })
}

/// What can fail a gate.
const CONDITIONS: &str = "lists what fails a gate: regression, improvement, change, equivalent, inconclusive, not-measured, \
                          failures, worse-in-runs, suspected, drift";

fn conditions(node: &Node, key: &str) -> Result<Vec<GateCondition>, Located> {
    let listed = node.list(key)?.iter();
    listed.map(|it| it.choice(key, CONDITIONS)).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::suite::Suite;
    use lapwing_model::JudgeSettings;

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
        metric.peak_memory.mute = true
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
            (limits.smallest_effect, limits.mute)
        };
        assert_eq!(of("gzip", "wall_time"), (Some(0.02), None));
        assert_eq!(of("gzip[level=1]", "wall_time"), (Some(0.02), None));
        assert_eq!(of("gzip", "peak_memory"), (Some(0.02), Some(true)));
        assert_eq!(of("gzip2", "wall_time"), (Some(0.05), None));
        assert_eq!(of("gzip2", "peak_memory"), (Some(0.1), None));
        assert_eq!(of("bench/a.py::test", "wall_time"), (Some(0.2), None));
        assert_eq!(of("bench2/a.py::test", "wall_time"), (Some(0.05), None));
        assert_eq!(
            of("bench/io.py::test[1]", "wall_time"),
            (Some(0.2), Some(true))
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
            "[benchmark.a.judge]\nbetter = \"more\"",
            "[benchmark.a.judge]\nfail_on = [\"regressions\"]",
            "[benchmark.a.judge]\nmuted = true",
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
        lapwing.toml:2: `better` is "lower" or "higher", not "more"
        lapwing.toml:2: `fail_on` lists what fails a gate: regression, improvement, change, equivalent, inconclusive, not-measured, failures, worse-in-runs, suspected, drift, not "regressions"
        lapwing.toml:2: unknown key `muted` in [benchmark.a.judge]
        lapwing.toml:2: unknown key `min_runs` in [benchmark.a.judge.metric.time]
        lapwing.toml:2: unknown key `min_runs` in [judge.metric.time]
        lapwing.toml:1: `a` has no `command`
        "#);
    }
}
