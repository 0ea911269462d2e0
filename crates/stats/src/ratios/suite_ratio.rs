//! One number for a whole suite: the geometric mean of its ratios.

use std::collections::BTreeMap;

use crate::describe::logarithms;
use crate::number::as_f64;
use crate::{Confidence, Interval, mean, standard_deviation};

/// The geometric mean of the ratios of several benchmarks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SuiteRatio {
    /// Candidate / baseline, every benchmark weighing the same.
    pub ratio: f64,
    /// Its interval; `None` below two instances on a side of one of the benchmarks.
    pub interval: Option<Interval>,
    /// How many benchmarks.
    pub benchmarks: usize,
}

/// Returns the geometric mean of the ratios of *K* benchmarks, from one mean per instance and side.
///
/// With dₖ the difference of the means of the logarithms of benchmark *k* and seₖ² = s_b²/n_b + s_c²/n_c its squared
/// error, the ratio is exp(d̄), and the interval exp(d̄ ± t √(Σ seₖ²) / K) with the degrees of freedom of
/// Satterthwaite over all 2K sides. It is about *these* benchmarks: what others would have done is not in
/// it, and neither is what moves all instances of a side alike, such as another machine.
///
/// Values are positive and finite; `None` without benchmarks, or when a side is empty or has a value
/// that is not positive.
///
/// Source: Fleming & Wallace, *Communications of the ACM* 1986, for the mean; Satterthwaite,
/// *Biometrics Bulletin* 1946, for its degrees of freedom.
///
/// ```
/// use lapwing_stats::{Confidence, geometric_mean_of_ratios};
/// let suite: [[&[f64]; 2]; 2] = [
///     [&[1.0, 1.0, 1.0], &[2.0, 2.0, 2.0]],
///     [&[4.0, 4.0, 4.0], &[2.0, 2.0, 2.0]],
/// ];
/// let ratio = geometric_mean_of_ratios(&suite, Confidence::P95).expect("two benchmarks");
/// assert!((ratio.ratio - 1.0).abs() < 1e-12);
/// ```
pub fn geometric_mean_of_ratios(
    benchmarks: &[[&[f64]; 2]],
    confidence: Confidence,
) -> Option<SuiteRatio> {
    let mut differences = Vec::with_capacity(benchmarks.len());
    let mut errors = Some((0.0, 0.0));
    for sides in benchmarks {
        let mut centres = [0.0; 2];
        for (centre, side) in centres.iter_mut().zip(sides) {
            let logs = logarithms(side)?;
            *centre = mean(&logs)?;
            let error = standard_deviation(&logs).map(|it| it.powi(2) / as_f64(logs.len()));
            errors = errors.zip(error).map(|((sum, squares), error)| {
                let share = error.powi(2) / (as_f64(logs.len()) - 1.0);
                (sum + error, squares + share)
            });
        }
        differences.push(centres[1] - centres[0]);
    }
    let centre = mean(&differences)?;
    let half = errors.and_then(|(sum, squares)| {
        if sum == 0.0 {
            return Some(0.0);
        }
        Some(confidence.t_quantile(sum.powi(2) / squares)? * sum.sqrt() / as_f64(differences.len()))
    });
    Some(SuiteRatio {
        ratio: centre.exp(),
        interval: half.map(|half| Interval::around(centre, half).map(f64::exp)),
        benchmarks: differences.len(),
    })
}

/// The replicates of one benchmark of a suite: the logarithm of each instance's mean with the cluster that it
/// belongs to, of the baseline and of the candidate.
pub type ClusteredSides = [Vec<(f64, usize)>; 2];

/// Returns the geometric mean of the ratios of *K* benchmarks whose instances share their weather: what disturbs a
/// block or session disturbs all of its benchmarks.
///
/// `differences` are the logarithms of the ratios. With rₖᵢ the logarithm of instance *i* less the mean of its
/// benchmark and side, and the weight wₖᵢ = ±1/(K nₖ) (+ for the candidate), each cluster *g* has u_g = Σ wₖᵢ rₖᵢ.
/// Clusters with instances of the baseline alone, of the candidate alone and of both are strata; the squared error of
/// the mean is Σ over strata of G/(G − 1) Σ (u_g − ū)², with Satterthwaite's degrees of freedom. What both sides of a
/// cluster have in common cancels. With one benchmark and a cluster for each instance this is Welch's interval; with
/// pairs of one instance per side and cluster the paired one.
///
/// `None` without benchmarks, or when a stratum has only one cluster.
///
/// Source: Liang & Zeger, *Biometrika* 1986, for errors by clusters; Satterthwaite, *Biometrics Bulletin* 1946.
pub fn suite_ratio_by_cluster(
    differences: &[f64],
    benchmarks: &[ClusteredSides],
    confidence: Confidence,
) -> Option<SuiteRatio> {
    let centre = mean(differences)?;
    let weights = cluster_sums(benchmarks)?;
    let mut strata: [Vec<f64>; 3] = Default::default();
    for (sum, of_sides) in weights.into_values() {
        let stratum = match of_sides {
            [true, true] => 2,
            [false, true] => 1,
            [true, false] | [false, false] => 0,
        };
        strata[stratum].push(sum);
    }
    let (mut variance, mut squares) = (0.0, 0.0);
    for stratum in strata.iter().filter(|stratum| !stratum.is_empty()) {
        let clusters = as_f64(stratum.len());
        let of_stratum = standard_deviation(stratum)?.powi(2) * clusters;
        variance += of_stratum;
        squares += of_stratum.powi(2) / (clusters - 1.0);
    }
    let half = if variance == 0.0 {
        0.0
    } else {
        confidence.t_quantile(variance.powi(2) / squares)? * variance.sqrt()
    };
    Some(SuiteRatio {
        ratio: centre.exp(),
        interval: Some(Interval::around(centre, half).map(f64::exp)),
        benchmarks: differences.len(),
    })
}

/// Returns of each cluster the sum of its weighted residuals, and whether it has instances of the baseline and of the
/// candidate.
fn cluster_sums(benchmarks: &[ClusteredSides]) -> Option<BTreeMap<usize, (f64, [bool; 2])>> {
    let mut clusters: BTreeMap<usize, (f64, [bool; 2])> = BTreeMap::new();
    for sides in benchmarks {
        for (which, side) in sides.iter().enumerate() {
            let logs: Vec<f64> = side.iter().map(|(log, _)| *log).collect();
            let centre = mean(&logs)?;
            let sign = if which == 1 { 1.0 } else { -1.0 };
            let weight = sign / (as_f64(benchmarks.len()) * as_f64(side.len()));
            for (log, cluster) in side {
                let (sum, of_sides) = clusters.entry(*cluster).or_default();
                *sum += weight * (log - centre);
                of_sides[which] = true;
            }
        }
    }
    Some(clusters)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ratio_of_means;

    #[test]
    fn several_benchmarks_have_a_narrower_interval_than_one() {
        let pair: [&[f64]; 2] = [&[1.0, 1.1, 0.9, 1.05], &[1.2, 1.3, 1.1, 1.25]];
        let of = |count: usize| {
            let all = vec![pair; count];
            geometric_mean_of_ratios(&all, Confidence::P95).expect("positive")
        };
        let (one, four) = (of(1), of(4));
        let width = |it: SuiteRatio| it.interval.map(|it| (it.upper / it.lower).ln());
        assert!((one.ratio / four.ratio - 1.0).abs() < 1e-12);
        // Half as wide by the number, and narrower still for the degrees of freedom.
        assert!(width(four) < width(one).map(|it| it / 2.0));
    }

    #[test]
    fn a_value_that_is_not_positive_has_no_ratio() {
        let zero: [&[f64]; 2] = [&[1.0, 0.0], &[1.0, 1.0]];
        assert_eq!(geometric_mean_of_ratios(&[zero], Confidence::P95), None);
        assert_eq!(geometric_mean_of_ratios(&[], Confidence::P95), None);
    }

    #[test]
    fn the_weather_of_shared_blocks_cancels_and_that_of_sides_does_not() {
        let weather = [0.3, -0.2, 0.0, 0.1, -0.4, 0.2];
        let suite = |shift: usize| -> Vec<ClusteredSides> {
            (0..8)
                .map(|_| {
                    let side = |from: usize| {
                        let logs = weather.iter().enumerate();
                        logs.map(|(block, log)| (*log, from + block)).collect()
                    };
                    [side(0), side(shift)]
                })
                .collect()
        };
        let width = |suite: &[ClusteredSides]| {
            let ratio = suite_ratio_by_cluster(&[0.1; 8], suite, Confidence::P95);
            let interval = ratio.expect("clusters").interval.expect("clusters");
            (interval.upper / interval.lower).ln()
        };
        assert!(width(&suite(0)).abs() < 1e-12);
        // Eight benchmarks in the same weather tell no more than one.
        let apart = suite(weather.len());
        let one = suite_ratio_by_cluster(&[0.1], &apart[..1], Confidence::P95);
        let one = one.expect("clusters").interval.expect("clusters");
        assert!((width(&apart) - (one.upper / one.lower).ln()).abs() < 1e-12);
    }

    #[test]
    fn one_cluster_of_a_side_has_no_interval() {
        let sides = [vec![(0.0, 0), (0.1, 0)], vec![(0.0, 1), (0.1, 2)]];
        assert_eq!(
            suite_ratio_by_cluster(&[0.1], &[sides], Confidence::P95),
            None
        );
    }

    proptest! {
        #[test]
        fn one_benchmark_with_a_cluster_for_each_instance_is_welch(
            baseline in prop::collection::vec(0.5..2.0_f64, 3..9),
            candidate in prop::collection::vec(0.5..2.0_f64, 3..9),
        ) {
            let welch = ratio_of_means(&baseline, &candidate, Confidence::P95).expect("positive");
            let clustered = |side: &[f64], from: usize| {
                side.iter().enumerate().map(|(at, mean)| (mean.ln(), from + at)).collect()
            };
            let sides = [clustered(&baseline, 0), clustered(&candidate, 100)];
            let suite = suite_ratio_by_cluster(&[welch.ratio.ln()], &[sides], Confidence::P95);
            let interval = suite.expect("clusters").interval.expect("clusters");
            prop_assert!((interval.lower / welch.interval.lower - 1.0).abs() < 1e-9);
            prop_assert!((interval.upper / welch.interval.upper - 1.0).abs() < 1e-9);
        }

        #[test]
        fn one_benchmark_is_welch(
            baseline in prop::collection::vec(0.5..2.0_f64, 3..9),
            candidate in prop::collection::vec(0.5..2.0_f64, 3..9),
        ) {
            let sides: [&[f64]; 2] = [&baseline, &candidate];
            let suite = geometric_mean_of_ratios(&[sides], Confidence::P95).expect("positive");
            let welch = ratio_of_means(&baseline, &candidate, Confidence::P95).expect("positive");
            let interval = suite.interval.expect("several instances");
            prop_assert!((suite.ratio / welch.ratio - 1.0).abs() < 1e-9);
            prop_assert!((interval.lower / welch.interval.lower - 1.0).abs() < 1e-9);
            prop_assert!((interval.upper / welch.interval.upper - 1.0).abs() < 1e-9);
        }
    }
}
