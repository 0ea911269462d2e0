//! Group-sequential tests: looking at results several times without more false alarms.

use statrs::distribution::{ContinuousCDF, Normal};

use crate::number::as_f64;

/// Number of points of a look's density; odd, for Simpson's rule.
const POINTS: usize = 601;
/// Bounds beyond this many standard errors are never crossed.
const FARTHEST: f64 = 9.0;

/// The fewest instances per side at which results are looked at first.
const FIRST_LOOK: usize = 5;
/// Each look has this many times as many instances as the one before.
const LOOK_STEP: f64 = 1.4;

/// Returns the numbers of instances per side at which an experiment of at most `most` is looked at: 5, 7, 10, 14, 20
/// and so on, and all of them.
///
/// ```
/// assert_eq!(lapwing_stats::look_sizes(30), [5, 7, 10, 14, 20, 28, 30]);
/// assert_eq!(lapwing_stats::look_sizes(3), [3]);
/// ```
#[must_use]
pub fn look_sizes(most: usize) -> Vec<usize> {
    let mut sizes = vec![FIRST_LOOK.min(most)];
    while let Some(last) = sizes.last().copied().filter(|last| *last < most) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a small number"
        )]
        let next = (as_f64(last) * LOOK_STEP).ceil() as usize;
        sizes.push(next.min(most));
    }
    sizes
}

/// Returns for each look the two-sided p-value that suffices there, so that some look is passed without any effect with
/// probability `alpha` in all, which is spent about evenly over the looks, like Pocock: α ln(1 + (e − 1) t) up to the
/// share t (Lan and DeMets, Biometrika 70, 1983).
///
/// `shares` are the shares of all planned measurements at each look, rising to 1. The bounds follow from the joint
/// normal distribution of the looks by recursive integration (Armitage, McPherson and Rowe, JRSS A 132, 1969).
/// Applied to p-values of a t-test, the rate holds approximately.
///
/// ```
/// let levels = lapwing_stats::sequential_levels(&[0.5, 1.0], 0.05);
/// assert!((levels[0] - 0.03101).abs() < 2e-5); // 2.157 standard errors
/// ```
///
/// # Panics
/// When shares do not rise, or `alpha` is no probability between 0 and 1.
#[must_use]
pub fn sequential_levels(shares: &[f64], alpha: f64) -> Vec<f64> {
    assert!(0.0 < alpha && alpha < 1.0, "an error rate");
    let spent = |share: &f64| alpha * (share.clamp(0.0, 1.0) * (std::f64::consts::E - 1.0)).ln_1p();
    levels_that_spend(shares, &shares.iter().map(spent).collect::<Vec<_>>())
}

/// Returns the levels of looks by which so much of the error rate is spent at each.
fn levels_that_spend(shares: &[f64], all_spent: &[f64]) -> Vec<f64> {
    let normal = Normal::standard();
    let mut levels = Vec::with_capacity(shares.len());
    // The density of the sum of what was measured, where no look was passed yet: at 0, all of it.
    let mut density: Option<Density> = None;
    let (mut before, mut spent) = (0.0, 0.0);
    for (share, target) in shares.iter().zip(all_spent) {
        let (share, target) = (*share, *target);
        assert!(share > before, "shares of measurements that rise");
        let step = (share - before).sqrt();
        let budget = target - spent;
        let passes = |bound: f64| match &density {
            None => 2.0 * normal.sf(bound / step),
            Some(density) => density.integral(|sum| {
                normal.sf((bound - sum) / step) + normal.cdf((-bound - sum) / step)
            }),
        };
        let (mut low, mut high) = (0.0, FARTHEST * share.sqrt());
        for _halving in 0..60 {
            let middle = f64::midpoint(low, high);
            if passes(middle) > budget {
                low = middle;
            } else {
                high = middle;
            }
        }
        levels.push(2.0 * normal.sf(high / share.sqrt()));
        density = Some(match &density {
            None => Density::of(high, |sum| gaussian(sum, step)),
            Some(before) => Density::of(high, |sum| {
                before.integral(|earlier| gaussian(sum - earlier, step))
            }),
        });
        (before, spent) = (share, target);
    }
    levels
}

/// With few degrees of freedom the t-tests of several looks have less in common than normal ones, which would raise the
/// error rate by up to a tenth (`docs/calibration.md`).
const FOR_FEW: f64 = 0.92;

/// Returns the two-sided p-value that suffices at each look of a t-test with so many instances per side, of `most` in
/// all, so that the error rate over all looks is at most `alpha`. One look at everything is the plain test.
///
/// The error rate is spent evenly ([`sequential_levels`]) and a little less than `alpha` of it. If the number of looks
/// is not planned (`most` is 0), the first spends half of it, the second a quarter and so on, so that it holds
/// however many follow.
///
/// ```
/// use lapwing_stats::look_levels;
/// assert_eq!(look_levels(&[20], 20, 0.05), [0.05]);
/// assert!(look_levels(&[5, 20], 20, 0.05).iter().all(|it| *it < 0.05));
/// ```
///
/// # Panics
/// When the sizes do not rise, or `alpha` is no probability between 0 and 1.
#[must_use]
pub fn look_levels(sizes: &[usize], most: usize, alpha: f64) -> Vec<f64> {
    let last = sizes.last().copied().unwrap_or(0);
    let is_planned = most > 0;
    let most = last.max(most);
    if sizes.len() < 2 && last == most {
        return vec![alpha; sizes.len()];
    }
    let share = |size: &usize| as_f64(*size) / as_f64(most);
    let shares: Vec<f64> = sizes.iter().map(share).collect();
    if is_planned {
        return sequential_levels(&shares, FOR_FEW * alpha);
    }
    let spent: Vec<f64> = (1..)
        .zip(sizes)
        .map(|(number, _)| FOR_FEW * alpha * (1.0 - 0.5_f64.powi(number)))
        .collect();
    levels_that_spend(&shares, &spent)
}

/// A look at a comparison that is still being measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ComparisonLook {
    /// The number of replicates per side that are measured by then.
    pub replicates: usize,
    /// The two-sided p-value that suffices.
    pub level: f64,
}

/// Returns the looks at a comparison of two sides that are measured together, up to a number of replicates per side
/// ([`look_sizes`]); the error rate `alpha` is spent evenly. If the baseline was measured before, its number of
/// replicates is given, and only the candidate grows.
///
/// ```
/// let looks = lapwing_stats::comparison_looks(30, None, 0.05);
/// let replicates: Vec<usize> = looks.iter().map(|it| it.replicates).collect();
/// assert_eq!(replicates, [5, 7, 10, 14, 20, 28, 30]);
/// ```
///
/// # Panics
/// When `alpha` is no probability between 0 and 1.
#[must_use]
pub fn comparison_looks(most: usize, baseline: Option<usize>, alpha: f64) -> Vec<ComparisonLook> {
    let replicates = look_sizes(most);
    // What is known of the difference is the inverse of its variance.
    let information = |candidate: usize| {
        let baseline = baseline.unwrap_or(candidate);
        (as_f64(baseline).recip() + as_f64(candidate).recip()).recip()
    };
    let shares: Vec<f64> = (replicates.iter())
        .map(|it| information(*it) / information(most))
        .collect();
    let levels = sequential_levels(&shares, alpha);
    let looks = replicates.into_iter().zip(levels);
    looks
        .map(|(replicates, level)| ComparisonLook { replicates, level })
        .collect()
}

fn gaussian(value: f64, deviation: f64) -> f64 {
    let standard = value / deviation;
    (-0.5 * standard * standard).exp() / (deviation * (2.0 * std::f64::consts::PI).sqrt())
}

/// A density between −bound and bound.
struct Density {
    bound: f64,
    values: Vec<f64>,
}

impl Density {
    fn of(bound: f64, density: impl Fn(f64) -> f64) -> Self {
        let values = (0..POINTS).map(|at| density(place(at, bound)));
        Self {
            bound,
            values: values.collect(),
        }
    }

    /// Integrates what a function returns over the density, by Simpson's rule.
    fn integral(&self, of: impl Fn(f64) -> f64) -> f64 {
        let width = 2.0 * self.bound / as_f64(POINTS - 1);
        let sum: f64 = (self.values.iter().enumerate())
            .map(|(at, density)| {
                let weight = match at {
                    0 => 1.0,
                    at if at == POINTS - 1 => 1.0,
                    at if at % 2 == 1 => 4.0,
                    _ => 2.0,
                };
                weight * density * of(place(at, self.bound))
            })
            .sum();
        sum * width / 3.0
    }
}

fn place(at: usize, bound: f64) -> f64 {
    bound * (2.0 * as_f64(at) / as_f64(POINTS - 1) - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bounds in standard errors for five looks at equal distances and 5 %, as published for the program `ldbounds`.
    /// That they spend 5 % in all was checked by `scipy.stats.multivariate_normal.cdf` of scipy 1.17 with
    /// correlations √(tᵢ/tⱼ).
    #[test]
    fn bounds_are_the_published_ones() {
        let shares = [0.2, 0.4, 0.6, 0.8, 1.0];
        let normal = Normal::standard();
        // Nearly all of it at the end, like O'Brien and Fleming: 2 − 2Φ(z₁₋α/₄ / √t) on each side.
        let late =
            |share: f64| 4.0 * normal.sf(normal.inverse_cdf(1.0 - 0.05 / 4.0) / share.sqrt());
        for (levels, expected) in [
            (
                levels_that_spend(&shares, &shares.map(late)),
                [4.8769, 3.3569, 2.6803, 2.2898, 2.0310],
            ),
            (
                sequential_levels(&shares, 0.05),
                [2.4380, 2.4268, 2.4101, 2.3966, 2.3859],
            ),
        ] {
            for (level, expected) in levels.into_iter().zip(expected) {
                let bound = normal.inverse_cdf(1.0 - level / 2.0);
                assert!((bound - expected).abs() < 2e-3, "{bound} {expected}");
            }
        }
    }

    #[test]
    fn one_look_is_the_plain_test() {
        assert!((sequential_levels(&[1.0], 0.05)[0] - 0.05).abs() < 1e-9);
    }
}
