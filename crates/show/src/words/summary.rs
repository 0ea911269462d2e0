//! Summaries of runs whose source kept no samples, in words.
//!
//! A summary is a number that another program computed. It is shown with that program's own
//! statistic and spread, without an interval, and never among means of samples.

use std::collections::BTreeMap;

use super::super::quantity::{UnitScale, decimals, quantity};
use lapwing_model::Summary;
use lapwing_model::text::grouped;

/// The summary of one metric of a run whose source kept no samples.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSummary {
    /// The centre; for several instances the mean of their centres.
    pub value: f64,
    /// The spread, if the source states it and there is one instance.
    pub spread: Option<f64>,
    /// The number of samples behind each of the summaries, if it is the same for all.
    pub n: Option<u64>,
    /// The names of centre and spread, such as `median/iqr`.
    pub statistic: String,
    /// The number of instances with such a summary.
    pub instances: usize,
}

impl RunSummary {
    /// Returns what these summaries of one metric say together, one of each instance, by
    /// their statistic that comes first in `preferred`; `None` if there is none.
    ///
    /// Summaries by another statistic are not mixed in: a mean and a median have no mean.
    pub(crate) fn of<'a>(
        summaries: impl IntoIterator<Item = &'a Summary>,
        preferred: &[String],
    ) -> Option<Self> {
        let mut by_statistic: BTreeMap<&str, Vec<&Summary>> = BTreeMap::new();
        for summary in summaries {
            by_statistic
                .entry(&summary.statistic)
                .or_default()
                .push(summary);
        }
        let statistic = preferred
            .iter()
            .find(|statistic| by_statistic.contains_key(statistic.as_str()))?;
        let chosen = by_statistic.get(statistic.as_str())?;
        let first = chosen.first()?;
        let centres: Vec<f64> = chosen.iter().map(|summary| summary.centre).collect();
        let alike = chosen.iter().all(|summary| summary.n == first.n);
        Some(Self {
            value: lapwing_stats::mean(&centres)?,
            spread: first.spread.filter(|_| chosen.len() == 1),
            n: first.n.filter(|_| alike),
            statistic: statistic.clone(),
            instances: chosen.len(),
        })
    }

    /// Returns the value with its unit: `1.10 ms`.
    pub fn value_text(&self, unit: &str) -> String {
        quantity(self.value, unit)
    }

    /// Returns the spread and which one it is, on the scale of the value: `± 0.05 (iqr)`.
    pub fn spread_text(&self, unit: &str) -> Option<String> {
        let spread = self.spread.filter(|spread| spread.is_finite())?;
        let scale = UnitScale::of(self.value, unit);
        let shown = decimals(self.value / scale.factor, 3);
        let own = decimals(spread / scale.factor, 1);
        let number = if own > shown + 3 {
            // Far below the last digit of the value it is read more easily in its own unit.
            quantity(spread, unit)
        } else {
            scale.number_with(spread, own.max(shown))
        };
        Some(match parts(&self.statistic).1 {
            Some(name) => format!("± {number} ({name})"),
            None => format!("± {number}"),
        })
    }

    /// Returns the description of the number: `median of 30, spread iqr`.
    pub fn what(&self) -> String {
        let (centre, spread) = parts(&self.statistic);
        let mut text = centre.to_owned();
        if let Some(n) = self.n {
            let n = usize::try_from(n).map_or_else(|_too_many| n.to_string(), grouped);
            text.push_str(&format!(" of {n}"));
        }
        if self.instances > 1 {
            let instances = self.instances;
            text = format!("mean over {instances} instances of their {text}");
        }
        match spread {
            Some(spread) if self.spread.is_some() => format!("{text}, spread {spread}"),
            Some(_) | None => text,
        }
    }

    /// Returns everything in a line: `1.10 ms ± 0.05 (iqr), summary: median of 30`.
    pub fn text(&self, unit: &str) -> String {
        let mut text = self.value_text(unit);
        if let Some(spread) = self.spread_text(unit) {
            text.push(' ');
            text.push_str(&spread);
        }
        let what = Self {
            spread: None,
            ..self.clone()
        };
        format!("{text}, summary: {}", what.what())
    }
}

/// Returns the source's names of centre and spread: `median/iqr` has both.
fn parts(statistic: &str) -> (&str, Option<&str>) {
    match statistic.split_once('/') {
        Some((centre, spread)) => (centre, Some(spread).filter(|it| !it.is_empty())),
        None if statistic == "unstated" => ("statistic not stated", None),
        None => (statistic, None),
    }
}

/// Returns the statistics of these summaries, that which most have first: a history of one
/// statistic can be read, one that jumps between means and medians cannot.
pub(crate) fn by_frequency<'a>(summaries: impl IntoIterator<Item = &'a Summary>) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for summary in summaries {
        *counts.entry(&summary.statistic).or_default() += 1;
    }
    let mut names: Vec<(&str, usize)> = counts.into_iter().collect();
    // Of equally many a median first: one slow sample does not move it.
    names.sort_by_key(|(name, count)| (usize::MAX - count, !name.starts_with("median"), *name));
    names.into_iter().map(|(name, _)| name.to_owned()).collect()
}

/// Returns the further figures of a summary: `max 1.40 ms, min 1.00 ms`.
pub(crate) fn figures(summary: &Summary, unit: &str) -> String {
    let mut parts = Vec::new();
    for (key, value) in &summary.extra {
        collect_figures(key, value, unit, &mut parts);
    }
    parts.join(", ")
}

fn collect_figures(key: &str, value: &serde_json::Value, unit: &str, parts: &mut Vec<String>) {
    use serde_json::Value;
    match value {
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or(f64::NAN);
            parts.push(format!("{key} {}", quantity(number, unit)));
        }
        Value::String(text) => parts.push(format!("{key} {text}")),
        Value::Object(object) => {
            for (name, value) in object {
                collect_figures(&format!("{key} {name}"), value, unit, parts);
            }
        }
        Value::Array(_) | Value::Bool(_) | Value::Null => parts.push(format!("{key} {value}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lapwing_model::{Id, Object};

    fn summary(statistic: &str, n: Option<u64>, centre: f64, spread: Option<f64>) -> Summary {
        Summary {
            instance: Id::derived(&[b"test"]),
            metric: "wall_time".to_owned(),
            n,
            centre,
            spread,
            statistic: statistic.to_owned(),
            extra: Object::new(),
        }
    }

    fn of(summaries: &[Summary]) -> RunSummary {
        RunSummary::of(summaries, &by_frequency(summaries)).expect("there is one")
    }

    #[test]
    fn a_summary_says_what_its_source_computed() {
        let median = of(&[summary("median/iqr", Some(30), 0.0011, Some(0.000_05))]);
        assert_eq!(median.value_text("s"), "1.10 ms");
        assert_eq!(median.spread_text("s").as_deref(), Some("± 0.05 (iqr)"));
        assert_eq!(median.what(), "median of 30, spread iqr");
        assert_eq!(
            median.text("s"),
            "1.10 ms ± 0.05 (iqr), summary: median of 30"
        );
        let narrow = of(&[summary("median/iqr", None, 1.0, Some(2e-8))]);
        assert_eq!(narrow.spread_text("s").as_deref(), Some("± 20.0 ns (iqr)"));
        let mean = of(&[summary("mean", None, 2.0, None)]);
        assert_eq!(mean.text("s"), "2.00 s, summary: mean");
        let unstated = of(&[summary("unstated", Some(3_000), 2.0, Some(0.000_4))]);
        assert_eq!(
            unstated.text("s"),
            "2.00 s ± 0.0004, summary: statistic not stated of 3,000"
        );
    }

    #[test]
    fn several_instances_are_averaged_and_lose_their_spread() {
        let several = of(&[
            summary("max", Some(5), 1.0, Some(0.1)),
            summary("max", Some(5), 3.0, Some(0.1)),
        ]);
        assert_eq!(
            several.text("s"),
            "2.00 s, summary: mean over 2 instances of their max of 5"
        );
    }

    #[test]
    fn statistics_are_never_mixed() {
        let mixed = [
            summary("mean/sd", Some(5), 100.0, None),
            summary("median/iqr", Some(5), 1.0, None),
            summary("median/iqr", Some(5), 2.0, None),
        ];
        assert_eq!(by_frequency(&mixed), ["median/iqr", "mean/sd"]);
        assert_eq!(of(&mixed).value.to_bits(), 1.5_f64.to_bits());
        assert_eq!(by_frequency(&mixed[..2]), ["median/iqr", "mean/sd"]);
        assert_eq!(RunSummary::of(&[], &[]), None);
    }

    #[test]
    fn further_figures_are_told_in_the_unit_of_the_metric() {
        let mut summary = summary("mean", None, 1.0, None);
        summary.extra = serde_json::json!({"max": 1.5, "percentiles": {"50": 1.0, "99": 1.4}})
            .as_object()
            .cloned()
            .expect("an object");
        assert_eq!(
            figures(&summary, "s"),
            "max 1.50 s, percentiles 50 1.00 s, percentiles 99 1.40 s"
        );
    }
}
