//! A value as asv prints it: `4.74±0.05μs`, `28.1M`, `failed`.

use std::sync::LazyLock;

use lapwing_model::InstanceOutcome;
use regex::Regex;

use crate::shared::intake::{InstanceDraft, SummaryDraft};
use crate::shared::keys::put;
use crate::shared::units::Unit;

static NUMBER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^(-?[\d.]+(?:e[-+]?\d+)?)(?:±([\d.]+(?:e[-+]?\d+)?))?([a-zA-Zμµ]*)$").ok()
});

/// The text in place of a value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum AsvValue {
    /// The value, its error and the end of its unit.
    Number(f64, Option<f64>, String),
    Failed,
    Skipped,
    /// The values are in the table below.
    Table,
}

impl AsvValue {
    /// Returns the value in a text.
    pub(super) fn of(text: &str) -> Option<Self> {
        match text {
            "failed" => return Some(Self::Failed),
            "n/a" => return Some(Self::Skipped),
            "ok" => return Some(Self::Table),
            some if some.ends_with(" failed") => return Some(Self::Table),
            _number => {}
        }
        let found = NUMBER.as_ref()?.captures(text)?;
        let error = found
            .get(2)
            .map(|it| it.as_str().parse())
            .transpose()
            .ok()?;
        Some(Self::Number(
            found[1].parse().ok()?,
            error,
            found[3].to_owned(),
        ))
    }

    /// Returns the result of a benchmark; nothing if the unit is none of asv's.
    pub(super) fn draft(&self, name: &str) -> Option<InstanceDraft> {
        let mut draft = InstanceDraft::of(name);
        match self {
            Self::Number(value, error, suffix) => {
                let (metric, unit, factor) = metric(name, suffix)?;
                let base = |value: f64| unit.base(value * factor);
                let mut summary = SummaryDraft::of(metric, base(*value), "median");
                put(&mut summary.extra, "error", error.map(base));
                draft.summarise(&unit, summary);
            }
            Self::Failed => draft.outcome = InstanceOutcome::Failed,
            Self::Skipped => draft.outcome = InstanceOutcome::Skipped,
            Self::Table => return None,
        }
        Some(draft)
    }
}

/// Returns the metric of a benchmark, by its name as asv does it, its unit, and how many of these a number is.
fn metric(name: &str, suffix: &str) -> Option<(&'static str, Unit, f64)> {
    let name = name.split('(').next().unwrap_or(name);
    let function = name.rsplit('.').next().unwrap_or(name);
    let size = match suffix {
        "" => 1.0,
        "k" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        _time => f64::NAN,
    };
    let time = match suffix {
        "ns" | "us" | "μs" | "µs" | "ms" | "s" => Some((suffix, 1.0)),
        "m" => Some(("s", 60.0)),
        "h" => Some(("s", 3600.0)),
        "d" => Some(("s", 86_400.0)),
        _size => None,
    };
    let is_of = |kind: &str| function.starts_with(kind);
    if let Some((unit, factor)) = time {
        let metric = if is_of("track") { "value" } else { "wall_time" };
        let better = metric == "wall_time";
        let unit = Unit::named(unit);
        let unit = if better { unit } else { unit.with_better(None) };
        return Some((metric, unit, factor));
    }
    if size.is_nan() {
        return None;
    }
    Some(match (is_of("mem"), is_of("peakmem")) {
        (true, _) => ("memory", Unit::named("B"), size),
        (_, true) => ("peak_memory", Unit::named("B"), size),
        // Zero and infinite times have no unit.
        (false, false) if is_of("time") => ("wall_time", Unit::named("s"), size),
        (false, false) => ("value", Unit::named(""), size),
    })
}
