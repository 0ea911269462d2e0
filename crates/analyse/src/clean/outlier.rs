//! The rule for values far from those of their instance.

use super::IterationState;
use lapwing_record::InstanceData;

/// Excludes values that are a multiple, or a fraction, of their instance's median.
///
/// It is meant for stalls of the machine, not for a distribution's tail: at the factor 10 of Hail's benchmarks no
/// value is excluded that the benchmark itself could plausibly cause.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OutlierRule {
    /// A value is excluded if it is at least this many times the median, or the median this many times the value.
    pub factor: f64,
    /// An instance with fewer values has no outliers: its median is unreliable.
    pub fewest_values: usize,
    /// The metrics that it applies to.
    pub metrics: OutlierMetrics,
}

/// The metrics that the rule for outliers applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutlierMetrics {
    /// Times only: a memory peak of ten times the usual is a finding, not a stall of the machine.
    Times,
    /// All metrics.
    All,
}

impl Default for OutlierRule {
    fn default() -> Self {
        Self {
            factor: 10.0,
            fewest_values: 5,
            metrics: OutlierMetrics::Times,
        }
    }
}

impl OutlierRule {
    /// Returns whether the rule applies to that metric of an instance.
    pub(super) fn applies_to(&self, instance: &InstanceData, metric: &str) -> bool {
        match self.metrics {
            OutlierMetrics::All => true,
            OutlierMetrics::Times => match instance.run.metrics.get(metric) {
                Some(metric) => metric.unit == "s",
                None => metric == "wall_time",
            },
        }
    }
}

/// Marks the remaining iterations with values too far from their median.
///
/// As in Hail, iterations without a value remain if others have one, and are excluded if none has.
pub(super) fn mark_outliers(
    states: &mut [IterationState],
    value: impl Fn(usize) -> f64,
    rule: OutlierRule,
) {
    let counts = |states: &[IterationState], at: usize| states[at] == IterationState::Steady;
    let defined: Vec<f64> = (0..states.len())
        .filter(|&at| counts(states, at))
        .map(&value)
        .filter(|value| !value.is_nan())
        .collect();
    if defined.len() < rule.fewest_values {
        return;
    }
    let median = lapwing_stats::median(&defined);
    for at in 0..states.len() {
        if !counts(states, at) {
            continue;
        }
        let is_near = median.is_some_and(|median| is_near(value(at), median, rule.factor));
        if !is_near {
            states[at] = IterationState::Outlier;
        }
    }
}

fn is_near(value: f64, median: f64, factor: f64) -> bool {
    // Zero divided by zero is NaN, which Hail excludes.
    value.is_nan() || value.max(median) / value.min(median) < factor
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(values: &[f64], rule: OutlierRule) -> Vec<usize> {
        let mut states = vec![IterationState::Steady; values.len()];
        mark_outliers(&mut states, |at| values[at], rule);
        (0..values.len())
            .filter(|&at| states[at] == IterationState::Outlier)
            .collect()
    }

    #[test]
    fn ten_times_the_median_is_out_on_both_sides() {
        let values = [1.0, 10.0, 9.99, 0.1, 0.11, 1.0, 1.0, f64::NAN];
        assert_eq!(marked(&values, OutlierRule::default()), [1, 3]);
    }

    #[test]
    fn zero_is_out_where_the_median_is_not_and_where_it_is() {
        let rule = OutlierRule::default();
        assert_eq!(marked(&[0.0, 1.0, 1.0, 1.0, 1.0], rule), [0]);
        assert_eq!(marked(&[0.0, 0.0, 0.0, 0.0, 1.0], rule).len(), 5);
    }

    #[test]
    fn few_values_have_no_outliers() {
        assert!(marked(&[1.0, 1.0, 1.0, 50.0], OutlierRule::default()).is_empty());
    }

    #[test]
    fn without_any_value_nothing_counts_where_the_rule_takes_few() {
        let rule = OutlierRule {
            fewest_values: 0,
            ..OutlierRule::default()
        };
        assert_eq!(marked(&[f64::NAN; 3], rule), [0, 1, 2]);
    }
}
