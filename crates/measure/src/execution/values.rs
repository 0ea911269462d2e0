//! From what one execution left behind to the values of its iterations.

use std::collections::BTreeMap;

use lapwing_stats::as_f64;
use regex::Regex;
use serde_json::Value as Json;

use super::execute::{ExecutionResult, ResourceUsage};
use crate::suite::{Case, MatchChoice, MetricPattern, OutputMetrics};
use lapwing_model::document::{add_document, last_object, loops};
use lapwing_model::indicator::ReadIndicator;
use lapwing_model::{
    DEEPEST, Metric, MetricName, NEVER_NEGATIVE, Object, impossible, is_deep, local_metrics,
    rate_name, rate_unit, time_name, unit_of_work,
};

/// The values of one execution: usually one iteration, several when it printed arrays.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ExecutionValues {
    /// One map for each iteration. What the operating system counted for the whole
    /// execution stands with the first.
    pub(crate) iterations: Vec<BTreeMap<MetricName, f64>>,
    /// What the program said of its parameters.
    pub(crate) parameters: Object,
    /// The document of an indicator.
    pub(crate) document: Object,
    /// How many executions each value is the mean of; `None` if the program does not say.
    pub(crate) loops: Option<u64>,
}

/// Returns the metrics that every local run has, with units and directions, and those
/// that a case declares.
pub fn declared_metrics<'a>(
    cases: impl IntoIterator<Item = &'a Case>,
) -> BTreeMap<MetricName, Metric> {
    let mut metrics = local_metrics();
    for case in cases {
        for name in case.work.keys() {
            metrics.insert(rate_name(name), Metric::higher(&rate_unit(name)));
            let per_work = format!("s/{}", unit_of_work(name));
            metrics.insert(time_name(name), Metric::lower(&per_work));
        }
        metrics.extend(case.metrics.clone());
    }
    metrics
}

/// Returns the values of an execution that went well; `metrics_file` is the text of the
/// file that `$LAPWING_METRICS` named, if the program wrote one.
///
/// # Errors
/// With a sentence for people when a number that was asked for is not there.
pub(crate) fn values(
    case: &Case,
    patterns: &BTreeMap<MetricName, Regex>,
    executed: &ExecutionResult,
    metrics_file: Option<&str>,
) -> Result<ExecutionValues, String> {
    let usage = executed.usage.as_ref();
    let mut first = usage.map(counter_values).unwrap_or_default();
    let seconds = executed.wall.as_secs_f64();
    first.insert("wall_time".to_owned(), seconds);
    for (name, amount) in &case.work {
        first.insert(rate_name(name), amount / seconds);
        first.insert(time_name(name), seconds / amount);
    }
    for (name, regex) in patterns {
        let pattern = &case.patterns[name];
        first.insert(name.clone(), find(name, pattern, regex, executed)?);
    }
    let mut values = ExecutionValues {
        iterations: vec![first],
        ..ExecutionValues::default()
    };
    match case.output {
        OutputMetrics::None => {}
        OutputMetrics::Json => {
            let document = document(executed, metrics_file)?;
            values.loops = loops(&document)?;
            if values.loops.is_some() {
                // What was counted for the whole process is not that of one of many executions in it.
                for name in usage.map(counter_values).unwrap_or_default().keys() {
                    values.iterations[0].remove(name);
                }
            }
            add_document(&document, &mut values.iterations)?;
            if let Some(Json::Object(parameters)) = document.get("@parameters") {
                values.parameters = parameters.clone();
            }
        }
        OutputMetrics::Indicator => {
            let document = indicator_document(case, executed)?;
            add_document(&document, &mut values.iterations)?;
            values.document = document;
        }
    }
    // A record holds finite numbers only: one `inf` would end the whole session.
    let mut all = values.iterations.iter().flatten();
    if let Some((name, value)) = all.find(|(_, value)| !value.is_finite()) {
        return Err(format!(
            "metric `{name}` is {value}, which is not a finite number"
        ));
    }
    let mut all = values.iterations.iter().flatten();
    let negative = |name: &str, value: f64| value < 0.0 && NEVER_NEGATIVE.contains(&name);
    if let Some((name, value)) = all.find(|(name, value)| negative(name, **value)) {
        return Err(impossible(name, *value));
    }
    if is_deep(&values.parameters) || is_deep(&values.document) {
        return Err(format!(
            "`@parameters` is nested deeper than {DEEPEST} levels"
        ));
    }
    Ok(values)
}

pub(crate) fn counter_values(usage: &ResourceUsage) -> BTreeMap<MetricName, f64> {
    let counted = [
        ("user_time", Some(usage.user.as_secs_f64())),
        ("system_time", Some(usage.system.as_secs_f64())),
        ("peak_memory", Some(as_f64(usage.peak_memory))),
        ("minor_faults", Some(as_f64(usage.minor_faults))),
        ("major_faults", Some(as_f64(usage.major_faults))),
        ("voluntary_switches", Some(as_f64(usage.voluntary_switches))),
        (
            "involuntary_switches",
            Some(as_f64(usage.involuntary_switches)),
        ),
        ("block_input", Some(as_f64(usage.block_input))),
        ("block_output", Some(as_f64(usage.block_output))),
        ("cgroup_peak_memory", usage.cgroup_peak_memory.map(as_f64)),
        ("instructions", usage.instructions.map(as_f64)),
        ("cycles", usage.cycles.map(as_f64)),
    ];
    let counted = counted.into_iter();
    counted
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect()
}

fn find(
    name: &str,
    pattern: &MetricPattern,
    regex: &Regex,
    executed: &ExecutionResult,
) -> Result<f64, String> {
    let mut numbers = Vec::new();
    for tail in [&executed.stdout, &executed.stderr] {
        let text = tail.text();
        for captures in regex.captures_iter(&text) {
            let found = captures.get(1).or_else(|| captures.get(0));
            let text = found.map_or("", |found| found.as_str());
            let number = text.trim().parse::<f64>();
            numbers.push(number.map_err(|_no_number| {
                format!("metric `{name}` matched `{text}`, which is not a number")
            })?);
        }
        if !numbers.is_empty() {
            break;
        }
    }
    let chosen = match pattern.take {
        MatchChoice::First => numbers.first().copied(),
        MatchChoice::Last => numbers.last().copied(),
        MatchChoice::Min => numbers.iter().copied().min_by(f64::total_cmp),
        MatchChoice::Max => numbers.iter().copied().max_by(f64::total_cmp),
        MatchChoice::Sum => (!numbers.is_empty()).then(|| numbers.iter().sum()),
        MatchChoice::Mean => lapwing_stats::mean(&numbers),
    };
    chosen
        .ok_or_else(|| format!("metric `{name}` was not found: nothing printed matches `{regex}`"))
}

/// Returns the document of an indicator, which must keep to the contract and describe this benchmark.
fn indicator_document(case: &Case, executed: &ExecutionResult) -> Result<Object, String> {
    let kept = executed.stdout.bytes.len() as u64;
    if executed.stdout.total > kept {
        return Err(format!("standard output is longer than {kept} bytes"));
    }
    let read = ReadIndicator::of_output(&executed.stdout.text());
    if let Some(breach) = read.breach() {
        return Err(breach.to_string());
    }
    let document = read.document.unwrap_or_default();
    let id = document.benchmark_id();
    if id != case.benchmark.id {
        return Err(format!(
            "the script reports the results of {id}: name, framework and parameters must not change between executions"
        ));
    }
    Ok(document.whole)
}

fn document(executed: &ExecutionResult, metrics_file: Option<&str>) -> Result<Object, String> {
    if let Some(text) = metrics_file {
        return last_object(text)?
            .ok_or_else(|| "the file $LAPWING_METRICS holds no JSON object".to_owned());
    }
    last_object(&executed.stdout.text())?.ok_or_else(|| {
        let kept = executed.stdout.bytes.len() as u64;
        if executed.stdout.total > kept {
            format!(
                "no JSON object in the last {kept} of {} bytes of standard output",
                executed.stdout.total
            )
        } else {
            "no JSON object on standard output".to_owned()
        }
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use super::*;
    use crate::suite::{Settings, Suite};
    use crate::{ExecutionEnd, OutputTail};

    fn case(text: &str) -> Case {
        let text = format!("[benchmark.x]\ncommand = 'x'\n{text}");
        let suite = Suite::parse(Path::new("x"), &text, Path::new("/")).expect("a suite");
        suite.plan(&Settings::default(), 1).cases.remove(0)
    }

    fn read(case: &Case, stdout: &str, file: Option<&str>) -> Result<ExecutionValues, String> {
        let executed = ExecutionResult {
            end: ExecutionEnd::Exited(0),
            wall: Duration::from_millis(500),
            usage: None,
            stdout: OutputTail {
                bytes: stdout.as_bytes().to_vec(),
                total: stdout.len() as u64,
            },
            stderr: OutputTail::default(),
            left_behind: 0,
        };
        let patterns = case
            .patterns
            .iter()
            .map(|(name, it)| (name.clone(), Regex::new(&it.regex).expect("checked")))
            .collect();
        values(case, &patterns, &executed, file)
    }

    fn map(entries: &[(&str, f64)]) -> BTreeMap<MetricName, f64> {
        entries
            .iter()
            .map(|(name, value)| ((*name).to_owned(), *value))
            .collect()
    }

    #[test]
    fn every_number_of_the_last_object_becomes_a_metric() {
        let text = "warming {up}\n{\"a\": 1}\n{\n \"a\": 2, \"b\": {\"c\": 3.5, \"ok\": true},\n \"s\": \"{4}\"}\nbye }";
        let values = read(&case("metrics = 'json'"), text, None).expect("an object");
        assert_eq!(
            values.iterations,
            [map(&[("wall_time", 0.5), ("a", 2.0), ("b.c", 3.5)])]
        );
    }

    #[test]
    fn a_program_says_how_many_executions_its_values_are_means_of() {
        let case = case("metrics = 'json'");
        let told = read(&case, r#"{"@loops": 20, "wall_time": [0.1, 0.2]}"#, None);
        let told = told.expect("values");
        assert_eq!(told.loops, Some(20));
        assert_eq!(
            told.iterations,
            [map(&[("wall_time", 0.1)]), map(&[("wall_time", 0.2)])]
        );
        for wrong in ["0", "1.5", "\"9\""] {
            assert_eq!(
                read(&case, &format!(r#"{{"@loops": {wrong}, "a": 1}}"#), None),
                Err(format!(
                    "`@loops` must be a whole number above 0, not {wrong}"
                ))
            );
        }
    }

    #[test]
    fn a_negative_time_fails_the_iteration_and_other_metrics_may_be_negative() {
        let case =
            case("metric.wall_time = { regex = 'v=(.+)' }\nmetric.gain = { regex = 'g=(.+)' }");
        assert_eq!(
            read(&case, "v=-1\ng=-2", None),
            Err("metric `wall_time` is negative: -1".to_owned())
        );
        let read = read(&case, "v=1\ng=-2", None).expect("values");
        assert_eq!(
            read.iterations,
            [map(&[("wall_time", 1.0), ("gain", -2.0)])]
        );
    }

    #[test]
    fn a_number_that_is_not_finite_fails_the_iteration() {
        let case = case("metric.v = { regex = 'v=(.+)' }");
        for (text, value) in [("v=inf", "inf"), ("v=NaN", "NaN"), ("v=-1e400", "-inf")] {
            assert_eq!(
                read(&case, text, None),
                Err(format!(
                    "metric `v` is {value}, which is not a finite number"
                ))
            );
        }
    }

    #[test]
    fn what_lies_within_a_broken_object_is_no_object_of_its_own() {
        let broken = [
            r#"{"a": NaN, "b": {"c": 1}}"#,
            r#"{"x": 1} {"a": {"b": 1}, "#,
            r#"{"a": "}", "b": [{"c": 1}, nan]}"#,
        ];
        for text in broken {
            let message = read(&case("metrics = 'json'"), text, None).expect_err("broken");
            assert!(
                message.starts_with("the JSON object printed is not valid: "),
                "{text}: {message}"
            );
        }
        let mended = format!("{}\n{{\"ok\": {{\"c\": 2}}}}", broken[0]);
        assert_eq!(
            read(&case("metrics = 'json'"), &mended, None).map(|it| it.iterations),
            Ok(vec![map(&[("wall_time", 0.5), ("ok.c", 2.0)])])
        );
    }

    #[test]
    fn arrays_are_iterations_and_the_execution_stands_with_the_first() {
        let text = r#"{"time": [1, 2, 3], "rows": 7}"#;
        let values = read(&case("metrics = 'json'"), text, None).expect("an object");
        assert_eq!(
            values.iterations,
            [
                map(&[("wall_time", 0.5), ("time", 1.0), ("rows", 7.0)]),
                map(&[("time", 2.0)]),
                map(&[("time", 3.0)]),
            ]
        );
        let uneven = r#"{"a": [1, 2], "b": [1]}"#;
        assert_eq!(
            read(&case("metrics = 'json'"), uneven, None),
            Err("the arrays of the JSON output differ in length: `b` has 1".to_owned())
        );
    }

    #[test]
    fn an_indicator_document_gives_its_results_and_keeps_its_parameters() {
        let text = r#"{"name": "Pi", "@parameters": {"size": 512}, "@result": {"rate": 21.5, "elapsed": 12},
            "demo_buildinfo": {"version": 3}, "overall_score": 9}"#;
        let values = read(&case("metrics = 'json'"), text, None).expect("an object");
        assert_eq!(
            values.iterations,
            [map(&[
                ("wall_time", 0.5),
                ("rate", 21.5),
                ("elapsed", 12.0),
                ("overall_score", 9.0)
            ])]
        );
        assert_eq!(
            serde_json::json!(values.parameters),
            serde_json::json!({"size": 512})
        );
    }

    #[test]
    fn the_metrics_file_comes_before_standard_output() {
        let values = read(&case("metrics = 'json'"), "{\"a\": 1}", Some("{\"a\": 2}"));
        let metrics = &values.expect("an object").iterations[0];
        assert_eq!(metrics, &map(&[("wall_time", 0.5), ("a", 2.0)]));
    }

    #[test]
    fn work_gives_throughput_and_time_per_unit() {
        let values = read(&case("work = { bytes = 100, rows = 10 }"), "", None).expect("work");
        assert_eq!(
            values.iterations,
            [map(&[
                ("wall_time", 0.5),
                ("bytes_per_second", 200.0),
                ("seconds_per_byte", 0.005),
                ("rows_per_second", 20.0),
                ("seconds_per_row", 0.05),
            ])]
        );
    }

    #[test]
    fn a_pattern_takes_the_match_that_it_is_told_to() {
        let text = "rate: 3\nrate: 9\nrate: 6\n";
        for (take, expected) in [
            ("first", 3.0),
            ("last", 6.0),
            ("min", 3.0),
            ("max", 9.0),
            ("sum", 18.0),
            ("mean", 6.0),
        ] {
            let case = case(&format!(
                "metric.rate = {{ regex = 'rate: (\\d+)', take = '{take}' }}"
            ));
            let values = read(&case, text, None).expect("a match");
            let both = map(&[("wall_time", 0.5), ("rate", expected)]);
            assert_eq!(values.iterations, [both], "{take}");
        }
    }

    #[test]
    fn what_is_not_there_is_said_in_a_sentence() {
        let json = case("metrics = 'json'");
        let pattern = case("metric.rate.regex = 'rate: (\\w+)'");
        assert_eq!(
            [
                read(&json, "[1, 2]", None),
                read(&json, "{}", Some("nothing")),
                read(&pattern, "speed: 3", None),
                read(&pattern, "rate: fast", None),
            ]
            .map(|result| result.expect_err("nothing to find")),
            [
                "no JSON object on standard output",
                "the file $LAPWING_METRICS holds no JSON object",
                "metric `rate` was not found: nothing printed matches `rate: (\\w+)`",
                "metric `rate` matched `fast`, which is not a number",
            ]
        );
    }
}
