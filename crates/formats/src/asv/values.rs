//! What asv measured of one combination of parameters: samples, statistics or a lone value.

use std::collections::BTreeMap;

use serde_json::json;

use crate::asv::wire::{About, AsvMeasured, AsvRow};
use crate::shared::intake::{InstanceDraft, SummaryDraft, iterations_of};
use crate::shared::keys::put_number;
use crate::shared::notes::{FOLLOWS, Notes};
use crate::shared::units::Unit;
use lapwing_model::{InstanceOutcome, Object};
use lapwing_record::IterationColumns;

/// The meaning of the values of a benchmark.
pub(super) struct AsvKind {
    pub(super) metric: String,
    pub(super) unit: Unit,
    /// Whether a lone value is a centre of many, and not the one thing measured.
    is_summary: bool,
}

/// The type decides; without it the name, by asv's own rules for names.
pub(super) fn kind_of(name: &str, about: Option<&About>) -> AsvKind {
    let unit = |default: &str| {
        let unit = about.and_then(|about| about.unit.as_deref());
        Unit::named(unit.unwrap_or(default))
    };
    let kind = about.and_then(|about| about.kind.as_deref());
    let of = |metric: &str, unit: Unit, is_summary: bool| AsvKind {
        metric: metric.to_owned(),
        unit,
        is_summary,
    };
    match kind.unwrap_or_else(|| type_by_name(name)) {
        "time" => of("wall_time", unit("seconds"), true),
        "memory" => of("memory", unit("bytes"), false),
        "peakmemory" => of("peak_memory", unit("bytes"), false),
        _track => {
            // Every benchmark may track something else: without a name of its own, it is
            // told apart by its unit. `unit` is asv's word for none.
            let name = about.and_then(|about| about.unit.as_deref());
            match name.filter(|name| !matches!(*name, "" | "unit")) {
                Some(name) => of(&format!("value ({name})"), Unit::named(name), false),
                None => of("value", Unit::named("1"), false),
            }
        }
    }
}

fn type_by_name(name: &str) -> &'static str {
    let last = name.rsplit('.').next().unwrap_or(name);
    let is = |small: &str, large: &str| last.starts_with(small) || last.starts_with(large);
    if is("time", "Time") {
        "time"
    } else if is("mem_", "Mem") {
        "memory"
    } else if is("peakmem_", "PeakMem") {
        "peakmemory"
    } else {
        "track"
    }
}

/// Puts what was measured into the instance.
pub(super) fn put_measured(
    draft: &mut InstanceDraft,
    (measured, samples): (AsvMeasured, Vec<f64>),
    place: usize,
    row: &AsvRow,
    kind: &AsvKind,
    notes: &mut Notes,
) {
    let value = match measured {
        AsvMeasured::Failed => {
            draft.outcome = InstanceOutcome::Failed;
            draft.message = Some("asv has no result for it (null)".to_owned());
            return;
        }
        AsvMeasured::Skipped => {
            draft.outcome = InstanceOutcome::Skipped;
            draft.message = Some("asv skipped it, or it gave no number (NaN)".to_owned());
            return;
        }
        AsvMeasured::Value(value) => value,
    };
    let figure = |statistic: &str| *row.stats.get(statistic)?.get(place)?;
    let number = figure("number").and_then(whole);
    if !samples.is_empty() {
        for name in ["result"]
            .into_iter()
            .chain(row.stats.keys().map(String::as_str))
        {
            if name != "number" {
                notes.left(name, FOLLOWS);
            }
        }
        draft.iterations = columns(kind, samples, number.unwrap_or(1));
    } else if row.has_statistics(place) {
        draft.summaries = summaries(kind, value, &row.stats, place);
        if let Some(number) = number.filter(|number| *number > 1) {
            draft.attributes.insert("number".to_owned(), json!(number));
        }
    } else if kind.is_summary {
        let centre = kind.unit.base(value);
        let summary = SummaryDraft::of(&kind.metric, centre, "unstated");
        draft.summaries.push(summary);
    } else {
        draft.iterations = columns(kind, vec![value], 1);
    }
}

fn columns(kind: &AsvKind, mut values: Vec<f64>, loops: u64) -> IterationColumns {
    kind.unit.base_column(&mut values);
    let count = if loops > 1 { values.len() } else { 0 };
    IterationColumns {
        loops: vec![loops; count],
        ..iterations_of(&kind.metric, values)
    }
}

/// The result is the median; version 1 of the format has the mean as well.
fn summaries(
    kind: &AsvKind,
    median: f64,
    stats: &BTreeMap<String, Vec<Option<f64>>>,
    place: usize,
) -> Vec<SummaryDraft> {
    let figure = |statistic: &str| {
        let value = *stats.get(statistic)?.get(place)?;
        value.map(|value| kind.unit.base(value))
    };
    let n = stats
        .get("repeat")
        .and_then(|column| *column.get(place)?)
        .and_then(whole);
    let extra = |names: &[&str]| {
        let mut extra = Object::new();
        for name in names {
            put_number(&mut extra, name, figure(name));
        }
        extra
    };
    let iqr = figure("q_25")
        .zip(figure("q_75"))
        .map(|(low, high)| high - low);
    let median = SummaryDraft {
        n,
        extra: extra(&["q_25", "q_75", "ci_99_a", "ci_99_b"]),
        ..SummaryDraft::of(&kind.metric, kind.unit.base(median), "median")
    };
    let mean = figure("mean").map(|mean| SummaryDraft {
        n,
        extra: extra(&["min", "max"]),
        ..SummaryDraft::of(&kind.metric, mean, "mean").with_spread(figure("std"), "sd")
    });
    [median.with_spread(iqr, "iqr")]
        .into_iter()
        .chain(mean)
        .collect()
}

fn whole(number: f64) -> Option<u64> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is a whole number of that range"
    )]
    ((0.0..9e15).contains(&number) && number.fract() == 0.0).then_some(number as u64)
}
