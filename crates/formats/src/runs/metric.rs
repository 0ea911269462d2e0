//! The metric that the name of a column states.

use lapwing_model::Better;

use crate::shared::units::Unit;

/// Units at the beginning of a column's name, as in `usec_per_task`.
const PREFIXES: [(&str, &str); 9] = [
    ("usec", "us"),
    ("msec", "ms"),
    ("nsec", "ns"),
    ("seconds", "s"),
    ("sec", "s"),
    ("µs", "us"),
    ("us", "us"),
    ("ms", "ms"),
    ("ns", "ns"),
];

/// Units at the end of a column's name, as in `duration_ms`.
const SUFFIXES: [(&str, &str); 9] = [
    ("_usec", "us"),
    ("_msec", "ms"),
    ("_seconds", "s"),
    ("_secs", "s"),
    ("_sec", "s"),
    ("_us", "us"),
    ("_ms", "ms"),
    ("_ns", "ns"),
    ("_s", "s"),
];

/// A metric as the name of its column states it.
#[derive(Debug)]
pub(super) struct StatedMetric {
    pub(super) name: String,
    pub(super) unit: Unit,
    /// The unit as it is written.
    pub(super) written: String,
    /// Whether the column states its unit.
    pub(super) states_unit: bool,
}

impl StatedMetric {
    /// Returns the metric of a column such as `usec_per_task`, `duration_ms`, `wall_time (ms)`, `score (1, higher is better)` or `cost`.
    pub(super) fn of(title: &str) -> Self {
        let stated = title.strip_suffix(')');
        if let Some((name, marks)) = stated.and_then(|rest| rest.rsplit_once(" (")) {
            let (unit, better) = match marks.split_once(',') {
                Some((unit, words)) => (unit, direction(words)),
                None if direction(marks).is_some() => ("", direction(marks)),
                None => (marks, None),
            };
            return Self::new(name, unit, better, true);
        }
        let prefixed = PREFIXES.into_iter().find_map(|(prefix, unit)| {
            let rest = title.to_lowercase().strip_prefix(prefix)?.to_owned();
            match rest.strip_prefix("_per_") {
                Some(what) => Some((format!("time_per_{what}"), unit)),
                None => rest.is_empty().then(|| ("time".to_owned(), unit)),
            }
        });
        let suffixed = || {
            SUFFIXES.into_iter().find_map(|(suffix, unit)| {
                let name = title.strip_suffix(suffix).filter(|name| !name.is_empty())?;
                Some((name.to_owned(), unit))
            })
        };
        match prefixed.or_else(suffixed) {
            Some((name, unit)) => Self::new(&name, unit, None, true),
            None => Self::new(title, "", None, false),
        }
    }

    /// Returns a metric of which less is better, but for rates and where another direction is stated.
    fn new(name: &str, written: &str, better: Option<Better>, states_unit: bool) -> Self {
        let unit = Unit::named(written.trim());
        let usual = if unit.metric.unit.ends_with("/s") {
            Better::Higher
        } else {
            Better::Lower
        };
        Self {
            name: name.to_owned(),
            unit: unit.with_better(better.or(Some(usual))),
            written: written.trim().to_owned(),
            states_unit,
        }
    }
}

fn direction(words: &str) -> Option<Better> {
    match words.trim() {
        "higher is better" => Some(Better::Higher),
        "lower is better" => Some(Better::Lower),
        _ => None,
    }
}
