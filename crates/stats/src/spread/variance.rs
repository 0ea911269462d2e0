//! Variance components: between instances, and within them.

use statrs::distribution::{ChiSquared, ContinuousCDF, FisherSnedecor};

use crate::describe::squares_around;
use crate::number::as_f64;
use crate::{Confidence, Interval, mean};

/// The variance of values, split into the parts between instances and within instances.
///
/// Of values the components have the unit of the values squared; of logarithms they have none,
/// and their square roots are relative: 0.03 for 3 %.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VarianceComponents {
    /// σ_B², the variance between instances; 0 where the estimate would be negative.
    pub between: f64,
    /// The interval of σ_B²; `None` if neither instances nor iterations vary.
    pub between_interval: Option<Interval>,
    /// σ_W², the variance between iterations of one instance.
    pub within: f64,
    /// The interval of σ_W²; `None` if no iterations vary.
    pub within_interval: Option<Interval>,
    /// σ_B² / (σ_B² + σ_W²), the intraclass correlation; `None` if nothing varies.
    pub share_between: Option<f64>,
    /// The interval of the share; `None` if no iterations vary.
    pub share_interval: Option<Interval>,
}

/// Sums of squares of a one-way layout.
struct OneWayLayout {
    instances: f64,
    values: f64,
    /// n₀: the size that instances of equal size would have.
    size: f64,
    /// The harmonic mean of the sizes.
    harmonic: f64,
    between_mean_square: f64,
    /// The harmonic mean size times the plain variance of the instance means.
    unweighted_mean_square: f64,
    within_mean_square: f64,
}

/// Returns the variance components of the values of several instances.
///
/// One-way analysis of variance with unequal sizes: n₀ = (N − Σ Jᵢ² / N) / (I − 1), σ_W² = MS_W, σ_B² = max(0, (MS_B
/// − MS_W) / n₀). Intervals, for normal values: σ_W² by χ²; σ_B² by the modified large-sample method and the share by
/// F, both with the harmonic mean of the sizes and the plain variance of the instance means in place of MS_B, which
/// are exact (the share) or nearly so with equal sizes. Ends below 0 are 0. That of σ_W² reaches at least as far as
/// the one by the jackknife over instances, MS_W e^(±t s), with s the jackknife's standard error of ln MS_W and t
/// with I − 1 degrees of freedom: χ² is far too narrow if values have spikes or heavy tails, or if instances differ
/// in their noise.
///
/// `None` below two instances with values, when no instance has two values, or with a value that is not finite. An
/// empty instance is passed over. Slow starts and drifts count as variance within.
///
/// Source: Searle, Casella & McCulloch, *Variance Components* 1992; Burdick & Graybill, *Confidence
/// Intervals on Variance Components* 1992, §3.3 and §4.3; Thomas & Hultquist, *Annals of Statistics* 1978.
///
/// ```
/// use lapwing_stats::{Confidence, variance_components};
/// let instances: [&[f64]; 3] = [&[1.0, 2.0, 3.0], &[2.0, 3.0, 4.0], &[6.0, 7.0, 8.0]];
/// let components = variance_components(&instances, Confidence::P95).expect("three instances");
/// assert!((components.within - 1.0).abs() < 1e-12);
/// assert!((components.between - 20.0 / 3.0).abs() < 1e-12);
/// ```
pub fn variance_components(
    instances: &[&[f64]],
    confidence: Confidence,
) -> Option<VarianceComponents> {
    let layout = OneWayLayout::new(instances)?;
    let between = ((layout.between_mean_square - layout.within_mean_square) / layout.size).max(0.0);
    let within = layout.within_mean_square;
    let total = between + within;
    Some(VarianceComponents {
        between,
        between_interval: layout.between_interval(confidence),
        within,
        within_interval: wider(
            layout.within_interval(confidence),
            layout.jackknife_within(instances, confidence),
        ),
        share_between: (total > 0.0).then(|| between / total),
        share_interval: layout.share_interval(confidence),
    })
}

impl OneWayLayout {
    fn new(instances: &[&[f64]]) -> Option<Self> {
        let mut all = instances.iter().copied().flatten();
        if !all.all(|value| value.is_finite()) {
            return None;
        }
        let rows = instances.iter().filter_map(|row| InstanceSpread::of(row));
        let rows: Vec<InstanceSpread> = rows.collect();
        let count = as_f64(rows.len());
        let values: f64 = rows.iter().map(|row| row.size).sum();
        if rows.len() < 2 || values <= count {
            return None;
        }
        let grand: f64 = rows.iter().map(|row| row.size * row.mean).sum::<f64>() / values;
        let plain = mean(&rows.iter().map(|row| row.mean).collect::<Vec<_>>())?;
        let sum = |of: &dyn Fn(&InstanceSpread) -> f64| -> f64 { rows.iter().map(of).sum() };
        let harmonic = count / sum(&|row| 1.0 / row.size);
        Some(Self {
            instances: count,
            values,
            size: (values - sum(&|row| row.size.powi(2)) / values) / (count - 1.0),
            harmonic,
            between_mean_square: sum(&|row| row.size * (row.mean - grand).powi(2)) / (count - 1.0),
            unweighted_mean_square: harmonic * sum(&|row| (row.mean - plain).powi(2))
                / (count - 1.0),
            within_mean_square: sum(&|row| row.squares) / (values - count),
        })
    }

    fn freedom(&self) -> (f64, f64) {
        (self.instances - 1.0, self.values - self.instances)
    }

    fn within_interval(&self, confidence: Confidence) -> Option<Interval> {
        let (_, freedom) = self.freedom();
        let squares = self.within_mean_square * freedom;
        let tail = confidence.tail();
        let chi = ChiSquared::new(freedom).ok()?;
        (squares > 0.0).then(|| Interval {
            lower: squares / chi.inverse_cdf(1.0 - tail),
            upper: squares / chi.inverse_cdf(tail),
        })
    }

    /// Returns the interval by the jackknife over instances.
    fn jackknife_within(&self, instances: &[&[f64]], confidence: Confidence) -> Option<Interval> {
        let (_, freedom) = self.freedom();
        let squares = self.within_mean_square * freedom;
        let without =
            |row: InstanceSpread| ((squares - row.squares) / (freedom - row.size + 1.0)).ln();
        let rows = instances.iter().filter_map(|row| InstanceSpread::of(row));
        let reach = reach(&rows.map(without).collect::<Vec<_>>(), confidence)?;
        Some(Interval {
            lower: self.within_mean_square / reach,
            upper: self.within_mean_square * reach,
        })
    }

    fn share_interval(&self, confidence: Confidence) -> Option<Interval> {
        if self.within_mean_square <= 0.0 {
            return None;
        }
        let (above, below) = self.freedom();
        let tail = confidence.tail();
        let f = FisherSnedecor::new(above, below).ok()?;
        let observed = self.unweighted_mean_square / self.within_mean_square;
        let end = |quantile: f64| {
            let excess = observed / quantile - 1.0;
            (excess / (excess + self.harmonic)).max(0.0)
        };
        Some(Interval {
            lower: end(f.inverse_cdf(1.0 - tail)),
            upper: end(f.inverse_cdf(tail)),
        })
    }

    fn between_interval(&self, confidence: Confidence) -> Option<Interval> {
        let (one, other) = (self.unweighted_mean_square, self.within_mean_square);
        if one <= 0.0 && other <= 0.0 {
            return None;
        }
        let (above, below) = self.freedom();
        let tail = confidence.tail();
        let f = FisherSnedecor::new(above, below).ok()?;
        let (first, second) = (ChiSquared::new(above).ok()?, ChiSquared::new(below).ok()?);
        let estimate = (one - other) / self.harmonic;
        // The squared distance of an end: exact where a component is 0, and fitted to be so.
        let distance = |own: f64, others: f64, f: f64| {
            let cross = ((f - 1.0).powi(2) - (own * f).powi(2) - others.powi(2)) / f;
            let square = (own * one).powi(2) + (others * other).powi(2) + cross * one * other;
            square.max(0.0).sqrt() / self.harmonic
        };
        let below_it = distance(
            1.0 - above / first.inverse_cdf(1.0 - tail),
            below / second.inverse_cdf(tail) - 1.0,
            f.inverse_cdf(1.0 - tail),
        );
        let above_it = distance(
            above / first.inverse_cdf(tail) - 1.0,
            1.0 - below / second.inverse_cdf(1.0 - tail),
            f.inverse_cdf(tail),
        );
        Some(Interval {
            lower: (estimate - below_it).max(0.0),
            upper: (estimate + above_it).max(0.0),
        })
    }
}

/// Returns the factor by which the interval of a mean square reaches to both sides; `None` with fewer than three
/// instances, or with a mean square of 0. The logarithms are those of the mean squares with each instance left out in
/// turn.
fn reach(logs: &[f64], confidence: Confidence) -> Option<f64> {
    let count = as_f64(logs.len());
    let centre = mean(logs).filter(|it| it.is_finite() && logs.len() > 2)?;
    let error = (squares_around(logs, centre) * (count - 1.0) / count).sqrt();
    let reach = (confidence.t_quantile(count - 1.0)? * error).exp();
    reach.is_finite().then_some(reach)
}

/// Returns the interval from the smaller lower to the larger upper end.
fn wider(one: Option<Interval>, other: Option<Interval>) -> Option<Interval> {
    match (one, other) {
        (Some(one), Some(other)) => Some(Interval {
            lower: one.lower.min(other.lower),
            upper: one.upper.max(other.upper),
        }),
        (one, _) => one,
    }
}

/// An instance with values.
struct InstanceSpread {
    size: f64,
    mean: f64,
    /// The sum of squares around the mean.
    squares: f64,
}

impl InstanceSpread {
    fn of(values: &[f64]) -> Option<Self> {
        let mean = mean(values)?;
        Some(Self {
            size: as_f64(values.len()),
            mean,
            squares: squares_around(values, mean),
        })
    }
}

/// Returns how many times as large as the standard deviation of so few normal values the true one may be.
///
/// √((n − 1) / q), with q the χ² quantile with n − 1 degrees of freedom at half of what the confidence leaves. `None`
/// below two values.
///
/// Source: Burdick & Graybill, *Confidence Intervals on Variance Components* 1992.
///
/// ```
/// use lapwing_stats::{Confidence, deviation_reach};
/// let reach = deviation_reach(5, Confidence::P95).expect("five");
/// assert!((reach - 2.8736).abs() < 1e-4);
/// ```
pub fn deviation_reach(count: usize, confidence: Confidence) -> Option<f64> {
    let freedom = as_f64(count.checked_sub(1)?);
    let chi = ChiSquared::new(freedom).ok()?;
    Some((freedom / chi.inverse_cdf(confidence.tail())).sqrt())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::golden::assert_relative;

    const ROWS: [[f64; 5]; 8] = [
        [10.151, 9.864, 9.556, 9.774, 9.505],
        [10.73, 9.814, 9.75, 10.305, 10.239],
        [9.64, 10.091, 10.453, 9.433, 9.877],
        [7.454, 7.178, 7.981, 7.465, 8.234],
        [10.063, 8.898, 9.887, 10.133, 10.213],
        [8.231, 7.981, 8.065, 9.0, 8.066],
        [10.41, 9.676, 9.912, 10.023, 9.999],
        [8.813, 9.454, 8.001, 9.205, 8.835],
    ];

    fn components(rows: &[&[f64]]) -> VarianceComponents {
        variance_components(rows, Confidence::P95).expect("enough")
    }

    #[test]
    fn balanced_values_are_those_of_r_and_scipy() {
        let rows: Vec<&[f64]> = ROWS.iter().map(<[f64; 5]>::as_slice).collect();
        let actual = components(&rows);
        // R 4.2.2: ms <- anova(lm(y ~ g))$`Mean Sq`; (ms[1] - ms[2]) / 5; ms[2]. statsmodels 0.15.0,
        // MixedLM(y, 1, groups=g).fit(reml=True): 0.82974, 0.17635.
        assert_relative("between", actual.between, 0.8297561960714285, 1e-10);
        assert_relative("within", actual.within, 0.1763493875, 1e-10);
        // scipy 1.17.1: 32 * msw / stats.chi2.ppf([.975, .025], 32); with F = msb / msw /
        // stats.f.ppf([.975, .025], 7, 32): (F - 1) / (F + 4); and the formulas of Burdick & Graybill
        // (3.3.1) with stats.chi2.ppf and stats.f.ppf.
        let between = actual.between_interval.expect("varies");
        let within = actual.within_interval.expect("varies");
        let share = actual.share_interval.expect("varies");
        assert_relative("between lower", between.lower, 0.3416513513480637, 1e-8);
        assert_relative("between upper", between.upper, 3.5466697756509014, 1e-8);
        assert_relative("within lower", within.lower, 0.11404871616766507, 1e-8);
        assert_relative("within upper", within.upper, 0.308526211375282, 1e-8);
        assert_relative("share lower", share.lower, 0.6163769322689795, 1e-8);
        assert_relative("share upper", share.upper, 0.9548188783977457, 1e-8);
    }

    #[test]
    fn unbalanced_values_are_those_of_r() {
        let sizes = [5, 4, 2, 5, 3, 1, 5, 4];
        let rows: Vec<&[f64]> = ROWS.iter().zip(sizes).map(|(row, n)| &row[..n]).collect();
        let actual = components(&rows);
        // R 4.2.2: ms as above; n0 <- (N - sum(J^2) / N) / 7; (ms[1] - ms[2]) / n0; ms[2]
        assert_relative("between", actual.between, 0.8602731142592599, 1e-10);
        assert_relative("within", actual.within, 0.19200243809523837, 1e-10);
    }

    #[test]
    fn what_does_not_vary_has_no_share() {
        let constant = components(&[&[1.0, 1.0], &[1.0, 1.0]]);
        assert_eq!((constant.between, constant.within), (0.0, 0.0));
        assert_eq!(
            (constant.share_between, constant.share_interval),
            (None, None)
        );
        assert_eq!(constant.between_interval, None);
        let levels = components(&[&[1.0, 1.0], &[2.0, 2.0]]);
        assert_eq!((levels.between, levels.share_between), (0.5, Some(1.0)));
        assert_eq!(levels.within_interval, None);
    }

    #[test]
    fn iterations_that_differ_more_than_instances_leave_nothing_between() {
        let actual = components(&[&[1.0, 3.0], &[3.0, 1.0], &[1.0, 3.0]]);
        assert_eq!((actual.between, actual.share_between), (0.0, Some(0.0)));
        assert_eq!(
            actual.share_interval.map(|interval| interval.lower),
            Some(0.0)
        );
    }

    #[test]
    fn too_little_gives_nothing() {
        let of = |rows: &[&[f64]]| variance_components(rows, Confidence::P95);
        assert_eq!(of(&[&[1.0, 2.0]]), None);
        assert_eq!(of(&[&[1.0], &[2.0]]), None);
        assert_eq!(of(&[&[1.0, 2.0], &[]]), None);
        assert_eq!(of(&[&[1.0, 2.0], &[f64::NAN]]), None);
    }

    proptest! {
        #[test]
        fn components_scale_and_do_not_shift(
            values in prop::collection::vec(prop::collection::vec(0.5..2.0_f64, 2..6), 2..6),
            scale in 0.01..100.0_f64,
        ) {
            let moved: Vec<Vec<f64>> = values
                .iter()
                .map(|row| row.iter().map(|value| scale * value + 3.0).collect())
                .collect();
            let slices = |rows: &[Vec<f64>]| components(&rows.iter().map(Vec::as_slice).collect::<Vec<_>>());
            let (one, other) = (slices(&values), slices(&moved));
            let square = scale.powi(2);
            prop_assert!((one.within * square - other.within).abs() <= 1e-6 * other.within);
            prop_assert!((one.between * square - other.between).abs() <= 1e-6 * (other.between + other.within));
            let interval = one.share_interval.expect("varies");
            prop_assert!(0.0 <= interval.lower && interval.lower <= interval.upper && interval.upper <= 1.0);
        }
    }
}
