//! The tail of the sum of scores that are drawn without replacement.

use statrs::distribution::{ContinuousCDF, Normal};

use crate::number::{as_f64, choices};

/// Newton's method gives up after so many steps.
const STEPS: usize = 60;

/// Returns the probability that `number` of the scores, drawn at random without replacement,
/// sum to `sum` or more: by the double saddlepoint approximation, which is right to some per
/// cent far out in the tail, and exactly at the largest possible sum.
///
/// Source: Robinson, *JRSS B* 1982; Booth & Butler, *Biometrika* 1990.
pub(super) fn upper_tail(scores: &[f64], number: usize, sum: f64) -> f64 {
    let mut sorted = scores.to_vec();
    sorted.sort_by(|one, other| other.total_cmp(one));
    let largest: f64 = sorted[..number].iter().sum();
    let rounding = 1e-9 * (1.0 + largest.abs());
    if sum >= largest - rounding {
        let border = sorted[number - 1];
        let is_tied = |score: &&f64| score.total_cmp(&border).is_eq();
        let tied = |part: &[f64]| part.iter().filter(is_tied).count();
        return choices(tied(&sorted), tied(&sorted[..number])) / choices(scores.len(), number);
    }
    // Sums of few different scores lie apart: half a step less, as for any lattice.
    let steps = sorted.windows(2).map(|pair| pair[0] - pair[1]);
    let positive = steps.filter(|step| *step > 0.0);
    let step = positive.fold(f64::INFINITY, f64::min);
    let draw = Draw::new(scores, number);
    let excess = sum - step / 2.0 - as_f64(number) * draw.mean;
    let normal_tail = Normal::standard().sf(excess / draw.deviation());
    if excess < 0.5 * draw.deviation() {
        return normal_tail;
    }
    draw.saddlepoint_tail(excess).unwrap_or(normal_tail)
}

/// Some of the scores, drawn without replacement: each is in with probability 1/2 by itself,
/// given that their number is right.
struct Draw {
    /// The scores less their mean.
    scores: Vec<f64>,
    mean: f64,
    number: f64,
}

/// The sums over all scores of p, p x, v, v x and v x², where p is the probability that a
/// score is in, tilted, v = p (1 − p), and x the score.
#[derive(Default)]
struct TiltedSums {
    number: f64,
    sum: f64,
    variance_of_number: f64,
    covariance: f64,
    variance_of_sum: f64,
}

impl Draw {
    fn new(scores: &[f64], number: usize) -> Self {
        let mean = scores.iter().sum::<f64>() / as_f64(scores.len());
        Self {
            scores: scores.iter().map(|score| score - mean).collect(),
            mean,
            number: as_f64(number),
        }
    }

    fn deviation(&self) -> f64 {
        let all = as_f64(self.scores.len());
        let squares: f64 = self.scores.iter().map(|score| score * score).sum();
        (squares / all * self.number * (all - self.number) / (all - 1.0)).sqrt()
    }

    /// Returns the tail from Barndorff-Nielsen's r* = r + ln(q / r) / r, where r is the signed root of twice the
    /// difference of the log-likelihoods and q the slope in standard deviations; none where
    /// the saddlepoint is not found.
    fn saddlepoint_tail(&self, excess: f64) -> Option<f64> {
        let all = as_f64(self.scores.len());
        let untilted = (self.number / (all - self.number)).ln();
        // Near the middle the slope is that of a normal sum.
        let variance = self.deviation() * self.deviation();
        let (mut slope, mut offset) = ((excess / variance).min(1.0), untilted);
        for _ in 0..STEPS {
            let tilted = self.tilted(slope, offset);
            let (sum_off, number_off) = (excess - tilted.sum, self.number - tilted.number);
            let determinant = tilted.variance_of_sum * tilted.variance_of_number
                - tilted.covariance * tilted.covariance;
            if determinant.is_nan() || determinant <= f64::MIN_POSITIVE {
                return None;
            }
            if sum_off.abs() < 1e-7 * excess && number_off.abs() < 1e-7 {
                let gain = slope * excess + (offset - untilted) * self.number
                    - self.log_total(slope, offset)
                    + all * untilted.exp().ln_1p();
                let root = (2.0 * gain).max(0.0).sqrt();
                let share = self.number / all;
                let wald = slope * (determinant / (all * share * (1.0 - share))).sqrt();
                let far_enough = root > 1e-3 && wald > 0.0;
                let tail = || Normal::standard().sf(root + (wald / root).ln() / root);
                return far_enough.then(tail);
            }
            let slope_step = (sum_off * tilted.variance_of_number - number_off * tilted.covariance)
                / determinant;
            let offset_step =
                (number_off * tilted.variance_of_sum - sum_off * tilted.covariance) / determinant;
            let damping = (2.0 / slope_step.abs().max(offset_step.abs())).min(1.0);
            slope += damping * slope_step;
            offset += damping * offset_step;
        }
        None
    }

    fn tilted(&self, slope: f64, offset: f64) -> TiltedSums {
        let mut sums = TiltedSums::default();
        for score in &self.scores {
            let within = 1.0 / (1.0 + (-slope * score - offset).exp());
            let variance = within * (1.0 - within);
            sums.number += within;
            sums.sum += within * score;
            sums.variance_of_number += variance;
            sums.covariance += variance * score;
            sums.variance_of_sum += variance * score * score;
        }
        sums
    }

    /// The logarithm of the tilted total, Σ ln(1 + exp(slope x + offset)).
    fn log_total(&self, slope: f64, offset: f64) -> f64 {
        let terms = self.scores.iter().map(|score| {
            let exponent = slope * score + offset;
            exponent.max(0.0) + (-exponent.abs()).exp().ln_1p()
        });
        terms.sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::changepoint::level::normal_scores;
    use crate::subset::each_subset;

    #[test]
    fn tails_are_close_to_the_share_of_all_draws() {
        let distinct: Vec<f64> = (0_u8..22).map(f64::from).collect();
        let tied: Vec<f64> = (0_u8..22).map(|value| f64::from(value / 4)).collect();
        for (values, size) in [(&distinct, 3), (&distinct, 8), (&tied, 5)] {
            let scores = normal_scores(values);
            let mut sums = Vec::new();
            each_subset(22, size, |chosen| {
                sums.push(chosen.iter().map(|at| scores[*at]).sum::<f64>());
            });
            sums.sort_by(|one, other| other.total_cmp(one));
            for one_of in [10, 100, 1000] {
                let sum = sums[sums.len() / one_of];
                let reached = sums.partition_point(|other| *other >= sum - 1e-9);
                let exact = as_f64(reached) / as_f64(sums.len());
                let tail = upper_tail(&scores, size, sum);
                assert!(
                    (tail / exact).ln().abs() < 0.4,
                    "{size}, one of {one_of}: {tail}, {exact}"
                );
            }
            assert_eq!(
                upper_tail(&scores, size, sums[0]),
                as_f64(sums.partition_point(|sum| *sum >= sums[0] - 1e-9)) / as_f64(sums.len())
            );
        }
    }
}
