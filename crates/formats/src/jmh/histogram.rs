//! JMH's sample mode: how often each time came.

use lapwing_stats::as_f64;
use serde_json::json;

use crate::jmh::wire::JmhMetric;
use crate::shared::intake::{InstanceDraft, SummaryDraft};
use crate::shared::units::Unit;
use lapwing_model::Object;

/// Percentiles that tell how a distribution looks, in per cent.
const PERCENTILES: [(&str, f64); 8] = [
    ("0", 0.0),
    ("50", 0.5),
    ("90", 0.9),
    ("95", 0.95),
    ("99", 0.99),
    ("99.9", 0.999),
    ("99.99", 0.9999),
    ("100", 1.0),
];

/// In sample mode JMH keeps how often each time came, and not in which order: that is a
/// distribution, not a series of iterations. It stays among the attributes as it is.
pub(super) fn histogram(
    name: &str,
    unit: &Unit,
    metric: &JmhMetric,
    fork: usize,
    draft: &mut InstanceDraft,
) {
    let Some(iterations) = metric.raw_data_histogram.get(fork) else {
        return;
    };
    let as_written: Vec<Vec<(Option<f64>, u64)>> = iterations
        .iter()
        .map(|pairs| {
            let pairs = pairs.iter();
            pairs
                .map(|&(value, count)| (value.known(), count))
                .collect()
        })
        .collect();
    let kept = json!({"unit": metric.score_unit, "iterations": as_written});
    draft
        .attributes
        .insert(format!("histogram of {name}"), kept);
    let mut pairs: Vec<(f64, u64)> = as_written
        .iter()
        .flatten()
        .filter_map(|&(value, count)| Some((unit.base(value?), count)))
        .filter(|&(_, count)| count > 0)
        .collect();
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let n = pairs
        .iter()
        .fold(0_u64, |sum, &(_, count)| sum.saturating_add(count));
    if n == 0 {
        return;
    }
    let (mean, sd) = mean_and_sd(&pairs, n);
    let percentiles: Object = PERCENTILES
        .iter()
        .map(|&(label, share)| (label.to_owned(), json!(percentile(&pairs, n, share))))
        .collect();
    draft.summaries.push(SummaryDraft {
        n: Some(n),
        extra: Object::from_iter([("percentiles".to_owned(), percentiles.into())]),
        ..SummaryDraft::of(name, mean, "mean").with_spread(sd, "sd")
    });
}

/// Returns the mean, and the standard deviation where there is more than one value.
fn mean_and_sd(pairs: &[(f64, u64)], n: u64) -> (f64, Option<f64>) {
    let size = as_f64(n);
    let sum: f64 = pairs
        .iter()
        .map(|&(value, count)| value * as_f64(count))
        .sum();
    let mean = sum / size;
    let squares: f64 = pairs
        .iter()
        .map(|&(value, count)| (value - mean).powi(2) * as_f64(count))
        .sum();
    let sd = (n > 1).then(|| (squares / (size - 1.0)).sqrt());
    (mean, sd)
}

/// Returns the smallest value that so large a share of all is not above.
fn percentile(pairs: &[(f64, u64)], n: u64, share: f64) -> f64 {
    let wanted = share * as_f64(n);
    let mut seen = 0.0;
    for &(value, count) in pairs {
        seen += as_f64(count);
        if seen >= wanted {
            return value;
        }
    }
    pairs.last().map_or(f64::NAN, |&(value, _)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_is_summarised_as_its_values_would_be() {
        let pairs = [(1.0, 3), (2.0, 1), (6.0, 1)];
        let (mean, sd) = mean_and_sd(&pairs, 5);
        assert!((mean - 2.2).abs() < 1e-15);
        assert!((sd.expect("five values") - 2.167_948_338_867_88).abs() < 1e-14);
        let found =
            [0.0, 0.6, 0.61, 0.9, 1.0].map(|share| percentile(&pairs, 5, share).to_string());
        assert_eq!(found, ["1", "1", "2", "6", "6"]);
    }
}
