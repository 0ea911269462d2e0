//! What a record may say: the one rule that every writer keeps and every reader applies.

use std::borrow::Cow;
use std::io::{self, Write};

use serde_json::Value;

use crate::text::grouped;

use super::{Iteration, Object, Outcome, Record, write_line};

/// The deepest nesting that is kept.
///
/// A line of record v1 is read down to serde's 128 levels. What an importer keeps without
/// understanding it is some levels deeper in its record than in its source, so that
/// there has to be a limit before that.
pub const DEEPEST: usize = 100;

/// The longest line of record v1, in bytes, its end included.
pub const LONGEST_LINE: usize = 64 << 20;

/// The metrics of which no value can be below zero. Others may be negative.
pub const NEVER_NEGATIVE: [&str; 4] = ["wall_time", "user_time", "system_time", "peak_memory"];

/// The most metrics that a benchmark can have: columns of more are large and empty.
pub const MOST_METRICS: usize = 1_000;

/// Bytes of a record that need not be counted exactly.
const SURELY_SHORT: usize = LONGEST_LINE / 16;

/// Returns why a record cannot be kept, if it cannot: no reader of record v1 takes it.
pub fn refusal(record: &Record) -> Option<String> {
    let is_long = || !is_surely_short(record) && line_length(record) > LONGEST_LINE;
    impossible_content(record).or_else(|| is_long().then(too_long))
}

/// Returns why a record that was read from a line of that length cannot be kept, if it cannot.
pub(super) fn refusal_of_line(record: &Record, length: usize) -> Option<String> {
    if length < SURELY_SHORT {
        impossible_content(record)
    } else {
        refusal(record)
    }
}

fn impossible_content(record: &Record) -> Option<String> {
    if let Some(metric) = infinite(record) {
        return Some(format!("`{metric}` is not a finite number"));
    }
    if let Record::Instance(it) = record
        && it.benchmark.id.is_empty()
    {
        return Some("the benchmark has no name".to_owned());
    }
    if let Record::Iteration(it) = record
        && it.metrics.len() > MOST_METRICS
    {
        return Some(too_many_metrics());
    }
    has_object(record, is_deep).then(|| format!("nested deeper than {DEEPEST} levels"))
}

/// Returns the sentence about a line that is too long.
pub fn too_long() -> String {
    format!("the line is longer than {} MiB", LONGEST_LINE >> 20)
}

/// Returns the sentence about a benchmark with too many metrics.
pub fn too_many_metrics() -> String {
    format!(
        "the benchmark has more than {} metrics; is a number part of their names?",
        grouped(MOST_METRICS)
    )
}

/// Returns whether an object of a record is nested deeper than [`DEEPEST`].
pub fn is_deep(object: &Object) -> bool {
    object.values().any(|value| exceeds(value, DEEPEST))
}

/// Returns a record as it is kept: an iteration with a time or size below zero is a failure.
pub fn settled(record: &Record) -> Cow<'_, Record> {
    match record {
        Record::Iteration(it) if it.has_impossible_value() => {
            Cow::Owned(Record::Iteration(it.clone().without_impossible_values()))
        }
        other => Cow::Borrowed(other),
    }
}

impl Iteration {
    fn has_impossible_value(&self) -> bool {
        let mut values = NEVER_NEGATIVE.iter().filter_map(|it| self.metrics.get(*it));
        values.any(|value| *value < 0.0)
    }

    /// Makes an iteration with a time or size below zero a failure: such a value is none, and the
    /// message names it.
    #[must_use]
    pub fn without_impossible_values(mut self) -> Self {
        for metric in NEVER_NEGATIVE {
            if let Some(value) = self.metrics.get(metric).copied().filter(|it| *it < 0.0) {
                self.metrics.remove(metric);
                fail(&mut self.outcome, &mut self.message, metric, value);
            }
        }
        self
    }
}

/// Returns the reason why an iteration with that value failed.
pub fn impossible(metric: &str, value: f64) -> String {
    format!("metric `{metric}` is negative: {value}")
}

/// Marks an iteration as failed by an impossible value; a reason that it has stays.
pub fn fail(outcome: &mut Outcome, message: &mut Option<String>, metric: &str, value: f64) {
    if *outcome == Outcome::Ok {
        *outcome = Outcome::Failed;
    }
    message.get_or_insert_with(|| impossible(metric, value));
}

fn infinite(record: &Record) -> Option<&str> {
    match record {
        Record::Iteration(it) => {
            let offset = it.offset.filter(|offset| !offset.is_finite());
            let mut metrics = it.metrics.iter();
            let value = metrics.find(|(_, value)| !value.is_finite());
            value.map(|it| it.0.as_str()).or(offset.map(|_| "offset"))
        }
        Record::Summary(it) => (!it.centre.is_finite()
            || it.spread.is_some_and(|spread| !spread.is_finite()))
        .then_some(it.metric.as_str()),
        Record::Session(_)
        | Record::Run(_)
        | Record::Instance(_)
        | Record::Span(_)
        | Record::InstanceEnd(_)
        | Record::Annotation(_) => None,
    }
}

/// Returns whether the test holds for any of the objects of a record.
fn has_object(record: &Record, test: impl Fn(&Object) -> bool) -> bool {
    let any = |objects: &[&Object]| objects.iter().any(|object| test(object));
    match record {
        Record::Session(it) => any(&[&it.attributes, &it.artifacts, &it.extra]),
        Record::Run(it) => any(&[
            &it.environment,
            &it.attributes,
            &it.artifacts,
            &it.extra,
            &it.version.extra,
        ]),
        Record::Instance(it) => any(&[
            &it.environment,
            &it.job,
            &it.attributes,
            &it.artifacts,
            &it.extra,
            &it.benchmark.params,
            &it.benchmark.extra,
        ]),
        Record::Iteration(it) => any(&[&it.attributes, &it.artifacts, &it.extra]),
        Record::Span(it) => any(&[&it.attributes, &it.extra]),
        Record::InstanceEnd(it) => any(&[&it.observed, &it.extra]),
        Record::Summary(it) => any(&[&it.extra]),
        Record::Annotation(it) => any(&[&it.target, &it.extra]),
    }
}

fn exceeds(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(list) => levels == 0 || list.iter().any(|it| exceeds(it, levels - 1)),
        Value::Object(object) => levels == 0 || object.values().any(|it| exceeds(it, levels - 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Returns whether a record is so plain that its line need not be written to know that it is
/// short: nearly all iterations and instances are, and they are the most.
fn is_surely_short(record: &Record) -> bool {
    let length = match record {
        Record::Iteration(it) => {
            let names: usize = it.metrics.keys().map(|name| 40 + name.len()).sum();
            names + it.message.as_ref().map_or(0, String::len)
        }
        Record::Instance(it) => {
            let benchmark = &it.benchmark;
            let texts = benchmark.tags.iter().chain(&benchmark.fingerprint);
            let texts = texts.chain(&it.host).chain([&benchmark.id]);
            texts.map(|text| 4 + text.len()).sum()
        }
        Record::InstanceEnd(it) => it.message.as_ref().map_or(0, String::len),
        Record::Span(it) => {
            let texts = [&it.category, &it.name].into_iter();
            let texts = texts.chain(&it.lane).chain(&it.clock);
            let texts = texts
                .chain(it.inputs.iter().flatten())
                .chain(it.events.keys());
            let texts: usize = texts.map(|text| 24 + text.len()).sum();
            let mut attributes = it.attributes.iter();
            let attributes = attributes.try_fold(0, |sum, (key, value)| match value {
                Value::String(text) => Some(sum + 8 + key.len() + text.len()),
                Value::Null | Value::Bool(_) | Value::Number(_) => Some(sum + 40 + key.len()),
                Value::Array(_) | Value::Object(_) => None,
            });
            let is_short = |attributes: usize| texts + attributes < SURELY_SHORT;
            return it.extra.is_empty() && attributes.is_some_and(is_short);
        }
        Record::Session(_) | Record::Run(_) | Record::Summary(_) | Record::Annotation(_) => {
            return false;
        }
    };
    length < SURELY_SHORT && !has_object(record, |object| !object.is_empty())
}

fn line_length(record: &Record) -> usize {
    let mut length = LineLength(0);
    // Counting cannot fail.
    let _counted: io::Result<()> = write_line(&mut length, record);
    length.0
}

/// Counts what is written.
struct LineLength(usize);

impl Write for LineLength {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::parse_line;

    const ITERATION: &str =
        r#"{"v":1,"kind":"iteration","instance":"01930000-0000-7000-8000-000000000003","index":0,"#;

    fn iteration(rest: &str) -> Iteration {
        match parse_line(format!("{ITERATION}{rest}}}").as_bytes()) {
            Ok(Record::Iteration(iteration)) => iteration,
            other => unreachable!("{other:?}"),
        }
    }

    #[test]
    fn nesting_is_counted_in_levels() {
        let mut value = json!(1);
        for _ in 0..DEEPEST {
            value = json!([value]);
        }
        let object = |value: Value| Object::from_iter([("a".to_owned(), value)]);
        assert!(!is_deep(&object(value.clone())));
        assert!(is_deep(&object(json!([value]))));
    }

    #[test]
    fn a_negative_time_is_a_failure_with_its_reason_and_other_metrics_may_be_negative() {
        let read = iteration(r#""metrics":{"wall_time":-1.5,"user_time":2.0,"balance":-3.0}"#);
        assert_eq!(read.outcome, Outcome::Failed);
        assert_eq!(
            read.message.as_deref(),
            Some("metric `wall_time` is negative: -1.5")
        );
        assert_eq!(
            read.metrics
                .iter()
                .map(|(name, value)| (name.as_str(), *value))
                .collect::<Vec<_>>(),
            [("balance", -3.0), ("user_time", 2.0)]
        );
        let timed_out =
            iteration(r#""outcome":"timed_out","message":"late","metrics":{"peak_memory":-1}"#);
        assert_eq!(timed_out.outcome, Outcome::TimedOut);
        assert_eq!(timed_out.message.as_deref(), Some("late"));
    }

    #[test]
    fn a_line_that_no_reader_takes_is_refused() {
        let mut long = iteration(r#""metrics":{"wall_time":1}"#);
        long.message = Some("x".repeat(LONGEST_LINE - 200));
        assert_eq!(refusal(&Record::Iteration(long.clone())), None);
        long.message = Some("x".repeat(LONGEST_LINE));
        let refused = Some("the line is longer than 64 MiB".to_owned());
        assert_eq!(refusal(&Record::Iteration(long)), refused);
    }
}
