//! Change points by energy statistics, as MongoDB finds them.

mod segment;

use std::ops::ControlFlow;

use rand_xoshiro::rand_core::Rng;

use crate::Seed;
use segment::{EnergySegment, QComparison};

/// The options of E-divisive, with the defaults of MongoDB's package.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EDivisive {
    /// The largest p-value of a change point (`pvalue`): 0.05.
    pub p_value: f64,
    /// The number of permutations of each test (`permutations`): 100.
    pub permutations: u32,
}

impl Default for EDivisive {
    fn default() -> Self {
        Self {
            p_value: 0.05,
            permutations: 100,
        }
    }
}

/// A change point and the statistic by which it was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EDivisivePoint {
    /// The index of the first value of the new segment.
    pub index: usize,
    /// The energy statistic of the split of the segment that it was found in, in the unit of
    /// the values.
    pub q: f64,
}

/// Returns the change points that E-divisive finds in a series of finite values, in their order.
///
/// Repeatedly, of all splits of all segments so far, the one with the largest [energy
/// statistic](energy_statistics) q. Its p-value is #(q* ≥ q) / (R + 1), where q* is the largest statistic of all
/// segments after the values of each were permuted, in R = `permutations` permutations; the
/// search ends with the first p-value above `p_value`.
///
/// This is `e_divisive` of MongoDB's signal-processing-algorithms 2.1.6: different from Matteson & James in that
/// segments are split in two and not searched for a second end, means of distances include those of a
/// value from itself, and 1 is not added to the numerator of p. Random numbers are not numpy's, so
/// that the results agree in distribution.
///
/// A test ends as soon as its outcome is certain, and a permutation as soon as a statistic reaches q.
/// O(R n log n) for each change point, where the package needs O(R n²), and its memory n². In a short segment many
/// permutations have exactly the observed statistic, and rounding decides which of them count: such ties are
/// computed again in the package's order of summation. For an outlier at the end of a segment this can decide
/// about the change point.
///
/// Source: Matteson & James, "A nonparametric approach for multiple change point analysis of
/// multivariate data", *JASA* 2014; Daly et al., *ICPE* 2020.
///
/// ```
/// use lapwing_stats::Seed;
/// use lapwing_stats::changepoint::{EDivisive, e_divisive};
/// let values = [1.0, 1.1, 0.9, 1.0, 1.2, 5.0, 5.1, 4.9, 5.0, 5.2];
/// let points = e_divisive(&values, &EDivisive::default(), Seed(7));
/// assert_eq!(points.len(), 1);
/// assert_eq!(points[0].index, 5);
/// ```
pub fn e_divisive(values: &[f64], options: &EDivisive, seed: Seed) -> Vec<EDivisivePoint> {
    let mut segments = vec![EnergySegment::new(values)];
    let mut points: Vec<EDivisivePoint> = Vec::new();
    let mut round = 0;
    loop {
        let (mut start, mut largest): (usize, Option<(usize, EDivisivePoint)>) = (0, None);
        for (at, segment) in segments.iter().enumerate() {
            if let Some(EDivisivePoint { index, q }) = segment.split
                && largest.is_none_or(|(_, best)| q > best.q)
            {
                largest = Some((
                    at,
                    EDivisivePoint {
                        index: start + index,
                        q,
                    },
                ));
            }
            start += segment.order.len();
        }
        let Some((at, point)) = largest else { break };
        if !is_significant(&mut segments, at, options, &mut seed.block(round)) {
            break;
        }
        let size = segments[at].order.len();
        let start = point.index - segments[at].split.map_or(0, |split| split.index);
        let (before, after) = values[start..start + size].split_at(point.index - start);
        let halves = [EnergySegment::new(before), EnergySegment::new(after)];
        segments.splice(at..=at, halves);
        points.push(point);
        round += 1;
    }
    points.sort_by_key(|point| point.index);
    points
}

/// Returns the energy statistic of every split of a series of finite values, in their unit: that at index n of
/// the first n values (X) and the m others (Y).
///
/// q = nm/(n + m) · [2/(nm) ΣΣ|Xᵢ − Yⱼ| − 1/n² ΣΣ|Xᵢ − Xₖ| − 1/m² ΣΣ|Yᵢ − Yₖ|], a V-statistic: at least 0, and 0 at
/// index 0. O(n log n).
///
/// Source: Székely & Rizzo, *Journal of Statistical Planning and Inference* 2013.
///
/// ```
/// use lapwing_stats::changepoint::energy_statistics;
/// assert_eq!(energy_statistics(&[1.0, 1.0, 3.0, 3.0])[..3], [0.0, 4.0 / 3.0, 4.0]);
/// ```
pub fn energy_statistics(values: &[f64]) -> Vec<f64> {
    let mut all = Vec::with_capacity(values.len());
    let _ = EnergySegment::unsplit(values).visit(|_, q| {
        all.push(q);
        ControlFlow::Continue(())
    });
    all
}

/// Permutes until it is certain whether the p-value of the split of the segment `at` is small enough.
fn is_significant(
    segments: &mut [EnergySegment],
    at: usize,
    options: &EDivisive,
    random: &mut impl Rng,
) -> bool {
    let Some(split) = segments[at].split else {
        return false;
    };
    let all = options.permutations;
    let fits = |count: u32| f64::from(count) / (f64::from(all) + 1.0) <= options.p_value;
    let mut exact = None;
    let mut reached = 0;
    for done in 0..all {
        if fits(reached + (all - done)) {
            return true;
        }
        for other in 0..segments.len() {
            segments[other].permute(random);
            let is_reached = match segments[other].compare(split.q) {
                QComparison::Below => false,
                QComparison::Above => true,
                QComparison::Tied(splits) => {
                    let observed = &segments[at];
                    let q =
                        *exact.get_or_insert_with(|| observed.plain(&observed.order, split.index));
                    let tied = &segments[other];
                    splits.iter().any(|n| tied.plain(&tied.permuted, *n) >= q)
                }
            };
            if is_reached {
                reached += 1;
                break;
            }
        }
        if !fits(reached) {
            return false;
        }
    }
    fits(reached)
}
