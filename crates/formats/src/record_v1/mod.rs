//! Record v1: what Lapwing and its plugins write themselves (`docs/record-format.md`).

use std::iter::empty;

use crate::shared::detect::{first_line, has_own_key};
use crate::shared::reading::lines::{Line, Lines};
use crate::shared::reading::spot::Spot;
use crate::shared::reason::reason;
use crate::shared::sink::Sink;
use crate::{BadLine, Format, ImportError, Source};
use lapwing_model::{Metric, Outcome, Record};
use lapwing_record::{LineError, parse_line};
use lapwing_trace::SpanReader;

pub(super) const FORMAT: Format = Format::new("record", "record v1, JSON Lines", looks_like, read);

fn looks_like(head: &[u8]) -> Option<&'static str> {
    let line = first_line(head);
    (line.starts_with(b"{") && has_own_key(line, "v") && has_own_key(line, "kind"))
        .then_some("its first line has `v` and `kind`")
}

/// Returns whether records are a trace: the spans of one iteration, or of none that ended.
pub(crate) fn is_trace(source: &Source) -> Result<bool, ImportError> {
    let mut lines = Lines::of(source)?;
    let (mut iterations, mut instances, mut has_spans) = (0, 0, false);
    while let Some((_, line)) = lines.next()? {
        let Line::Text(text) = line else { continue };
        match kind(text) {
            "span" => has_spans = true,
            "iteration" => iterations += 1,
            "instance" => instances += 1,
            _other => {}
        }
        if iterations > 1 || instances > 1 {
            return Ok(false);
        }
    }
    Ok(has_spans)
}

/// Returns the kind of a record as it is written; empty without one.
fn kind(line: &str) -> &str {
    let kind = line.split_once("\"kind\"");
    kind.and_then(|(_, rest)| rest.split('"').nth(1))
        .unwrap_or_default()
}

/// Returns the metrics of records that are a trace; empty of others.
fn trace_metrics(source: &Source) -> Result<Vec<(String, Metric, f64)>, ImportError> {
    if !is_trace(source)? {
        return Ok(Vec::new());
    }
    let mut reader = SpanReader::default();
    let mut lines = Lines::of(source)?;
    while let Some((_, line)) = lines.next()? {
        if let Line::Text(text) = line
            && let Ok(Record::Span(span)) = parse_line(text.as_bytes())
        {
            reader.add(&span);
        }
    }
    Ok(lapwing_trace::metrics(&reader.finish()))
}

/// Adds the metrics of a trace to its run and its iteration, where these do not have them.
fn add_metrics(record: &mut Record, metrics: &[(String, Metric, f64)]) {
    for (name, metric, value) in metrics {
        match &mut *record {
            Record::Run(run) => {
                run.metrics
                    .entry(name.as_str().into())
                    .or_insert_with(|| metric.clone());
            }
            Record::Iteration(iteration) if iteration.outcome == Outcome::Ok => {
                iteration
                    .metrics
                    .entry(name.as_str().into())
                    .or_insert(*value);
            }
            Record::Session(_)
            | Record::Instance(_)
            | Record::Iteration(_)
            | Record::Span(_)
            | Record::InstanceEnd(_)
            | Record::Summary(_)
            | Record::Annotation(_) => {}
        }
    }
}

fn read(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let metrics = trace_metrics(source)?;
    let mut lines = Lines::of(source)?;
    while let Some((number, line)) = lines.next()? {
        let record = match line {
            Line::Bad(why) => Err(why),
            Line::Text(text) => parse_line(text.as_bytes()).map_err(|error| match error {
                LineError::Json(error) => reason(text, &error),
                error @ (LineError::NoVersion
                | LineError::Newer { .. }
                | LineError::Kind { .. }
                | LineError::Refused { .. }) => error.to_string(),
            }),
        };
        match record {
            Ok(mut record) => {
                add_metrics(&mut record, &metrics);
                let records = [record];
                let good = sink.line(Spot::from(number), &records, empty(), None)?;
                if let ([Record::Instance(instance)], true) = (&records, good) {
                    sink.found().result(&instance.benchmark.id);
                }
            }
            Err(why) => sink.bad(BadLine::new(number, why)),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
