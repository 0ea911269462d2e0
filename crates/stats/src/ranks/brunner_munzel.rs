//! The test of Brunner and Munzel: ranks, with sides that may vary differently.

use crate::Seed;
use crate::interval::t_p_value;
use crate::number::{as_f64, choices};
use crate::ranks::rank::pooled_ranks;
use crate::subset::{draw_subset, each_subset};

/// With fewer values on a side than this, the p-value comes from permutations.
const PERMUTED_BELOW: usize = 10;

/// Up to so many permutations (9 and 9 values have 48,620) all are computed …
const ALL_PERMUTATIONS: f64 = 50_000.0;

/// … and of more, so many are drawn.
const DRAWN_PERMUTATIONS: u32 = 10_000;

/// The result of the test of Brunner and Munzel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BrunnerMunzel {
    /// The sides overlap, and this is the test.
    Overlapping(BrunnerMunzelTest),
    /// Every value of one side is larger than every value of the other: the statistic would be
    /// infinite.
    Separated {
        /// The two-sided p-value of the exact permutation test: 2 / C(N, n_b).
        p_value: f64,
    },
    /// All values of both sides are equal.
    AllEqual,
}

/// The numbers of the test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BrunnerMunzelTest {
    /// W, positive when the candidate tends to be larger.
    pub statistic: f64,
    /// Degrees of freedom of Student's t, which W follows approximately.
    pub freedom: f64,
    /// Two-sided p-value of "the probability of superiority is ½".
    pub p_value: f64,
}

/// Returns the Brunner–Munzel test of candidate against baseline.
///
/// With R̄ the means of the pooled mid-ranks and S² the sample variances of (rank in the pool −
/// rank in the own side), W = n_b n_c (R̄_c − R̄_b) / (N √(n_b S_b² + n_c S_c²)), and its degrees of freedom
/// are those of Satterthwaite. With fewer than ten values on a side, p is twice the smaller tail of W over the
/// permutations of all values: over all of them up to 50,000, else over 10,000 drawn by the seed, where a tail is
/// (1 + #) / (10,000 + 1).
///
/// The values are in one unit and finite; `None` if a side has fewer than two or one that
/// is not finite.
///
/// Source: Brunner & Munzel, *Biometrical Journal* 2000; permuted: Neubert & Brunner, *Computational
/// Statistics & Data Analysis* 2007.
///
/// ```
/// use lapwing_stats::{BrunnerMunzel, Seed, brunner_munzel};
/// let test = brunner_munzel(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0], Seed(7));
/// assert_eq!(test, Some(BrunnerMunzel::Separated { p_value: 0.1 }));
/// ```
pub fn brunner_munzel(baseline: &[f64], candidate: &[f64], seed: Seed) -> Option<BrunnerMunzel> {
    let fits = |side: &[f64]| side.len() >= 2 && side.iter().all(|value| value.is_finite());
    if !fits(baseline) || !fits(candidate) {
        return None;
    }
    let pool = PooledValues::new(baseline, candidate);
    let own: Vec<usize> = (0..baseline.len()).collect();
    let placed = pool.place(&own);
    let (before, after) = (as_f64(baseline.len()), as_f64(candidate.len()));
    let spread = before * placed.baseline_variance + after * placed.candidate_variance;
    if spread <= 0.0 {
        return Some(if placed.lead == 0.0 {
            BrunnerMunzel::AllEqual
        } else {
            let ways = choices(baseline.len() + candidate.len(), baseline.len());
            BrunnerMunzel::Separated {
                p_value: (2.0 / ways).min(1.0),
            }
        });
    }
    let freedom = spread.powi(2)
        / ((before * placed.baseline_variance).powi(2) / (before - 1.0)
            + (after * placed.candidate_variance).powi(2) / (after - 1.0));
    let statistic = placed.statistic(before, after);
    let p_value = if baseline.len().min(candidate.len()) < PERMUTED_BELOW {
        pool.permuted_p_value(statistic, seed)
    } else {
        t_p_value(statistic, freedom)?
    };
    Some(BrunnerMunzel::Overlapping(BrunnerMunzelTest {
        statistic,
        freedom,
        p_value,
    }))
}

/// The values of both sides in order, in groups of equal ones.
struct PooledValues {
    /// The group of each value, the baseline's values first.
    group: Vec<usize>,
    groups: usize,
    baseline: usize,
}

/// Where the values of one side stand among those of the other.
struct PlacedValues {
    /// p̂ − ½.
    lead: f64,
    /// Variance of the number of the candidate's values below each of the baseline's.
    baseline_variance: f64,
    candidate_variance: f64,
}

impl PlacedValues {
    /// Returns W; infinite when the sides are separated, 0 when all is equal.
    fn statistic(&self, before: f64, after: f64) -> f64 {
        if self.lead == 0.0 {
            return 0.0;
        }
        let spread = before * self.baseline_variance + after * self.candidate_variance;
        before * after * self.lead / spread.sqrt()
    }
}

impl PooledValues {
    fn new(baseline: &[f64], candidate: &[f64]) -> Self {
        let ranks = pooled_ranks(baseline, candidate).ranks;
        let mut order: Vec<f64> = ranks.clone();
        order.sort_by(f64::total_cmp);
        order.dedup();
        let group = ranks
            .iter()
            .map(|rank| order.partition_point(|other| other < rank))
            .collect();
        Self {
            group,
            groups: order.len(),
            baseline: baseline.len(),
        }
    }

    /// Computes the placements when the values at these positions are the baseline's.
    ///
    /// The rank of a value in the pool less its rank in its own side is the number of the other
    /// side's values below it, equal ones counting one half. In halves all are whole numbers,
    /// so that their sums are exact.
    fn place(&self, chosen: &[usize]) -> PlacedValues {
        let mut counts = vec![[0_u64; 2]; self.groups];
        for group in &self.group {
            counts[*group][1] += 1;
        }
        for position in chosen {
            let count = &mut counts[self.group[*position]];
            count[0] += 1;
            count[1] -= 1;
        }
        let mut seen = [0_u64; 2];
        let mut sums = [0_u64; 2];
        let mut squares = [0_u128; 2];
        for count in &counts {
            for side in [0, 1] {
                let halves = 2 * seen[1 - side] + count[1 - side];
                sums[side] += count[side] * halves;
                squares[side] += u128::from(count[side]) * u128::from(halves).pow(2);
            }
            seen = [seen[0] + count[0], seen[1] + count[1]];
        }
        let [before, after] = seen;
        // Twice the number of pairs in which the candidate is ahead, less the number of pairs.
        let ahead = as_f64(sums[1]) - as_f64(before * after);
        let pairs = as_f64(before * after);
        PlacedValues {
            lead: ahead / (2.0 * pairs),
            baseline_variance: variance(before, sums[0], squares[0]),
            candidate_variance: variance(after, sums[1], squares[1]),
        }
    }

    fn permuted_p_value(&self, observed: f64, seed: Seed) -> f64 {
        let all = self.group.len();
        let (before, after) = (as_f64(self.baseline), as_f64(all - self.baseline));
        let tolerance = 1e-9 * observed.abs();
        let (mut lower, mut upper, mut permutations) = (0.0, 0.0, 0.0);
        let mut visit = |chosen: &[usize]| {
            let statistic = self.place(chosen).statistic(before, after);
            lower += f64::from(u8::from(statistic <= observed + tolerance));
            upper += f64::from(u8::from(statistic >= observed - tolerance));
            permutations += 1.0;
        };
        if choices(all, self.baseline) <= ALL_PERMUTATIONS {
            each_subset(all, self.baseline, visit);
            return (2.0 * f64::min(lower, upper) / permutations).min(1.0);
        }
        let mut random = seed.block(0);
        let mut positions: Vec<usize> = (0..all).collect();
        for _ in 0..DRAWN_PERMUTATIONS {
            draw_subset(&mut positions, self.baseline, &mut random);
            visit(&positions[..self.baseline]);
        }
        (2.0 * (1.0 + f64::min(lower, upper)) / (1.0 + permutations)).min(1.0)
    }
}

/// Returns the sample variance of numbers from their sum and sum of squares in halves.
fn variance(count: u64, sum: u64, squares: u128) -> f64 {
    let scaled = u128::from(count) * squares - u128::from(sum).pow(2);
    as_f64(scaled) / (4.0 * as_f64(count) * as_f64(count - 1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::golden::{BRUNNER_MUNZEL, GOLDEN_SIDES, assert_relative};

    fn test(baseline: &[f64], candidate: &[f64]) -> BrunnerMunzel {
        brunner_munzel(baseline, candidate, Seed(7)).expect("two a side")
    }

    #[test]
    fn values_are_those_of_scipy() {
        for ((name, baseline, candidate), expected) in GOLDEN_SIDES.iter().zip(BRUNNER_MUNZEL) {
            let actual = test(baseline, candidate);
            let Some([statistic, freedom, p_value]) = expected else {
                assert!(matches!(actual, BrunnerMunzel::Separated { .. }), "{name}");
                continue;
            };
            let BrunnerMunzel::Overlapping(actual) = actual else {
                unreachable!("{name} overlaps")
            };
            assert_relative(name, actual.statistic, statistic, 1e-8);
            assert_relative(name, actual.freedom, freedom, 1e-8);
            assert_relative(name, actual.p_value, p_value, 1e-8);
        }
    }

    #[test]
    fn sides_without_overlap_and_without_difference_are_told_apart() {
        let separated = BrunnerMunzel::Separated {
            p_value: 2.0 / 20.0,
        };
        assert_eq!(test(&[4.0, 5.0, 6.0], &[1.0, 2.0, 2.0]), separated);
        assert_eq!(test(&[1.0; 3], &[1.0; 4]), BrunnerMunzel::AllEqual);
        assert_eq!(brunner_munzel(&[1.0], &[1.0, 2.0], Seed(7)), None);
    }

    #[test]
    fn drawn_permutations_come_near_all_of_them() {
        let baseline = [3.1, 2.9, 3.4, 3.0, 3.3, 2.8, 3.2, 3.05, 3.15];
        let candidate = [3.2, 3.5, 3.0, 3.6, 3.4, 3.45, 2.95, 3.7, 3.55];
        let pool = PooledValues::new(&baseline, &candidate);
        let statistic = pool.place(&[0, 1, 2, 3, 4, 5, 6, 7, 8]).statistic(9.0, 9.0);
        let all = pool.permuted_p_value(statistic, Seed(7));
        let many = PooledValues::new(&baseline, &[candidate, candidate].concat());
        let chosen: Vec<usize> = (0..9).collect();
        let statistic = many.place(&chosen).statistic(9.0, 18.0);
        let drawn = many.permuted_p_value(statistic, Seed(7));
        assert_eq!(drawn, many.permuted_p_value(statistic, Seed(7)));
        assert!(drawn < all, "{drawn} {all}");
    }

    proptest! {
        #[test]
        fn swapping_sides_mirrors_everything(
            one in prop::collection::vec(0..9_u8, 2..9),
            other in prop::collection::vec(0..9_u8, 2..9),
        ) {
            let numbers = |side: &[u8]| side.iter().map(|v| f64::from(*v)).collect::<Vec<_>>();
            let (one, other) = (numbers(&one), numbers(&other));
            match (test(&one, &other), test(&other, &one)) {
                (BrunnerMunzel::Overlapping(ahead), BrunnerMunzel::Overlapping(back)) => {
                    prop_assert!((ahead.statistic + back.statistic).abs() < 1e-12);
                    prop_assert!((ahead.p_value - back.p_value).abs() < 1e-12);
                }
                (ahead, back) => prop_assert_eq!(ahead, back),
            }
        }
    }
}
