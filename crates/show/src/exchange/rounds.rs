//! The figures that pytest-benchmark and hyperfine write beside the samples.

/// Figures of at least one value, as pytest-benchmark 5.3 defines them.
pub(super) struct RoundFigures {
    pub(super) min: f64,
    pub(super) max: f64,
    pub(super) mean: f64,
    pub(super) median: f64,
    /// Zero for a single value.
    pub(super) stddev: f64,
    pub(super) q1: f64,
    pub(super) q3: f64,
    /// Values outside 1.5 interquartile ranges around the quartiles.
    pub(super) iqr_outliers: usize,
    /// Values outside one standard deviation around the mean.
    pub(super) stddev_outliers: usize,
    /// The lowest value within 1.5 interquartile ranges.
    pub(super) ld15iqr: f64,
    /// The highest value within 1.5 interquartile ranges (before 5.3 pytest-benchmark took
    /// the one above, by mistake).
    pub(super) hd15iqr: f64,
    pub(super) total: f64,
}

impl RoundFigures {
    /// Returns the figures; `None` without values.
    pub(super) fn of(values: &[f64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let (&min, &max) = (sorted.first()?, sorted.last()?);
        let mean = lapwing_stats::mean(&sorted)?;
        let stddev = lapwing_stats::standard_deviation(&sorted).unwrap_or(0.0);
        let (q1, q3) = quartiles(&sorted);
        let reach = 1.5 * (q3 - q1);
        let outside = |below: f64, above: f64| {
            let outliers = values.iter().filter(|it| **it < below || **it > above);
            outliers.count()
        };
        let first_within = sorted.partition_point(|&value| value < q1 - reach);
        let first_above = sorted.partition_point(|&value| value <= q3 + reach);
        Some(Self {
            min,
            max,
            mean,
            median: lapwing_stats::median(&sorted)?,
            stddev,
            q1,
            q3,
            iqr_outliers: outside(q1 - reach, q3 + reach),
            stddev_outliers: outside(mean - stddev, mean + stddev),
            ld15iqr: sorted.get(first_within).copied().unwrap_or(min),
            hd15iqr: sorted[..first_above].last().copied().unwrap_or(max),
            total: values.iter().sum(),
        })
    }
}

/// Returns the quartiles of sorted values: medians of the halves where the number is even,
/// else weighted neighbours (method 3 of Wikipedia's "Quartile", as pytest-benchmark does).
fn quartiles(sorted: &[f64]) -> (f64, f64) {
    let rounds = sorted.len();
    if rounds == 1 {
        return (sorted[0], sorted[0]);
    }
    if rounds.is_multiple_of(2) {
        let (low, high) = sorted.split_at(rounds / 2);
        let median = |half| lapwing_stats::median(half).unwrap_or(f64::NAN);
        return (median(low), median(high));
    }
    let n = rounds / 4;
    if rounds % 4 == 1 {
        (
            0.25 * sorted[n - 1] + 0.75 * sorted[n],
            0.75 * sorted[3 * n] + 0.25 * sorted[3 * n + 1],
        )
    } else {
        (
            0.75 * sorted[n] + 0.25 * sorted[n + 1],
            0.25 * sorted[3 * n + 1] + 0.75 * sorted[3 * n + 2],
        )
    }
}
