//! Reads what the plugin wrote of one instance.

use std::collections::BTreeMap;

use crate::model::{Instance, InstanceEnd, Iteration, Metric, MetricName, Record, parse_line};

/// What one process of pytest recorded of one test.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Recorded {
    /// The instance, once it was begun.
    pub(super) instance: Option<Instance>,
    /// Its iterations, in order.
    pub(super) iterations: Vec<Iteration>,
    /// Its end, if it came so far.
    pub(super) end: Option<InstanceEnd>,
    /// The metrics that its run declares.
    pub(super) metrics: BTreeMap<MetricName, Metric>,
    /// The first line that is no record, with what is wrong with it.
    pub(super) unreadable: Option<String>,
}

/// Returns what the lines say of the benchmark of that id. A last line that was cut off is left out.
pub(super) fn read(text: &str, benchmark: &str) -> Recorded {
    let mut found = Recorded::default();
    let mut declared = BTreeMap::new();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    for (number, line) in whole.lines().enumerate() {
        let is_own = |id| found.instance.as_ref().is_some_and(|own| own.id == id);
        match parse_line(line.as_bytes()) {
            Ok(Record::Run(run)) => {
                declared.insert(run.id, run.metrics);
            }
            Ok(Record::Instance(it))
                if it.benchmark.id == benchmark && found.instance.is_none() =>
            {
                found.metrics = declared.get(&it.run).cloned().unwrap_or_default();
                found.instance = Some(it);
            }
            Ok(Record::Iteration(it)) if is_own(it.instance) => found.iterations.push(it),
            Ok(Record::InstanceEnd(it)) if is_own(it.instance) => found.end = Some(it),
            Ok(
                Record::Session(_)
                | Record::Instance(_)
                | Record::Iteration(_)
                | Record::InstanceEnd(_)
                | Record::Span(_)
                | Record::Summary(_)
                | Record::Annotation(_),
            ) => {}
            Err(error) => {
                found.unreadable = Some(format!("line {}: {error}", number + 1));
                break;
            }
        }
    }
    found
}
