//! Where a change is, and how well that is known.

use std::ops::RangeInclusive;

use super::noise::{NORMAL_DEVIATION, median_absolute};
use super::size::drawn_in;
use crate::describe::mean;
use crate::number::as_f64;

/// The probability that the range holds the change. It is more than 95 %, since the levels and the noise are estimates.
const CONFIDENCE: f64 = 0.97;
/// Values farther from a level than so many standard deviations of the noise count in proportion to their distance.
const BEND: f64 = 1.5;
/// A side with fewer values borrows the noise of the other.
const OWN_NOISE: usize = 20;
/// A place is looked for at most so many times, each with the levels around the last one.
const ROUNDS: usize = 4;
/// Levels count as nearer to each other by one standard error and by this over the square of the change in standard
/// errors: a change that is found looks larger than it is, the more the weaker it is.
const WEAKER: f64 = 35.0;
/// But by no more than this share of the change on each side.
const NEAREST: f64 = 0.45;

/// The place of a change between its neighbours.
pub(super) struct Place {
    /// The number of values before it.
    pub(super) split: usize,
    /// The numbers that are possible.
    pub(super) range: RangeInclusive<usize>,
}

/// Returns the best of the splits of values with one change near `split`, and those that are possible with 95 %
/// confidence.
///
/// A value speaks for the level after by g = h(x − before) − h(x − after), with Huber's h of the distance in terms of
/// the noise; a split has the sum of g after it, G. Splits with a G of at least the largest less c are possible. Were
/// the change at t, the largest G would exceed that at t by what the noise before t and the noise after it bring: c
/// is a quantile of this over all places where the noise of each side could be cut. So neither a distribution nor
/// independence of the noise is assumed.
///
/// Sources: Huber, *Annals of Mathematical Statistics* 1964; confidence sets from the likelihood ratio, Siegmund,
/// *Annals of Statistics* 1988.
pub(super) fn place(
    values: &[f64],
    split: usize,
    splits: &RangeInclusive<usize>,
    autocorrelation: f64,
) -> Place {
    let (mut split, mut range) = (split, split..=split);
    for _ in 0..ROUNDS {
        let Some(sides) = Sides::of(values, split, autocorrelation) else {
            break;
        };
        let sums = sides.sums(values, splits);
        let best = sums.iter().map(|(_, sum)| *sum);
        let best = best.fold(f64::NEG_INFINITY, f64::max);
        let excess = sides.largest_excess();
        let least = best - excess - 1e-9 * (best.abs() + excess);
        let possible = || sums.iter().filter(|(_, sum)| *sum >= least);
        let first = possible().next().map_or(split, |(at, _)| *at);
        let last = possible().next_back().map_or(split, |(at, _)| *at);
        range = first..=last;
        // Of equal ones the nearest, so that the search ends.
        let equal = sums.iter().filter(|(_, sum)| *sum >= best);
        let nearest = equal.map(|(at, _)| *at).min_by_key(|at| at.abs_diff(split));
        match nearest {
            Some(other) if other != split => split = other,
            _ => break,
        }
    }
    let range = split.min(*range.start())..=split.max(*range.end());
    Place { split, range }
}

/// The levels and the noise on both sides of a split.
struct Sides {
    before: f64,
    after: f64,
    deviation: f64,
    /// How much more the mean of autocorrelated values varies than that of others, as a factor of its variance.
    inflation: f64,
    /// The values less their level.
    noise: [Vec<f64>; 2],
}

impl Sides {
    /// Returns `None` if one side is empty.
    fn of(values: &[f64], split: usize, autocorrelation: f64) -> Option<Self> {
        let parts = [&values[..split], &values[split..]];
        let [first, second] = drawn_in(parts)?;
        let levels = [mean(&first)?, mean(&second)?];
        let around = |side: usize| {
            let values = parts[side].iter();
            values.map(|value| value - levels[side]).collect()
        };
        let noise: [Vec<f64>; 2] = [around(0), around(1)];
        let deviation = NORMAL_DEVIATION * median_absolute(&noise.concat());
        Some(Self {
            before: levels[0],
            after: levels[1],
            // Where most values are equal, any distance is far.
            deviation: deviation.max(f64::MIN_POSITIVE),
            inflation: (1.0 + autocorrelation) / (1.0 - autocorrelation),
            noise,
        })
    }

    /// Returns how much more a value speaks for the level after than for the one before.
    fn gain(&self, value: f64) -> f64 {
        let bend = BEND * self.deviation;
        // Huber's function in terms of the bend times the deviation.
        let far = |distance: f64| {
            let distance = distance.abs();
            if distance < bend {
                distance / bend * distance / 2.0
            } else {
                distance - bend / 2.0
            }
        };
        far(value - self.before) - far(value - self.after)
    }

    /// Returns each split and the sum of the gains after it, but for a constant.
    fn sums(&self, values: &[f64], splits: &RangeInclusive<usize>) -> Vec<(usize, f64)> {
        let mut sum = 0.0;
        let after = splits.clone().map(|at| {
            let here = sum;
            sum -= self.gain(values[at]);
            (at, here)
        });
        after.collect()
    }

    /// Returns by how much each level counts as nearer to the other one.
    fn nearer(&self) -> [f64; 2] {
        let squares = [0, 1].map(|side| {
            let number = as_f64(self.noise[side].len());
            self.deviation * self.deviation * self.inflation / number
        });
        let change = self.after - self.before;
        let errors = 1.0 + WEAKER * (squares[0] + squares[1]) / (change * change);
        squares.map(|square| {
            let nearer = (errors * square.sqrt()).min(NEAREST * change.abs());
            nearer * change.signum()
        })
    }

    /// Returns the quantile of what the largest sum exceeds that of the true split by.
    fn largest_excess(&self) -> f64 {
        let all = self.noise.concat();
        let of = |side: usize| {
            let own = &self.noise[side];
            if own.len() < OWN_NOISE { &all } else { own }
        };
        let [up, down] = self.nearer();
        let early = of(0).iter();
        let early = early.map(|noise| self.gain(self.before + up + noise));
        let late = of(1).iter().rev();
        let late = late.map(|noise| -self.gain(self.after - down + noise));
        let sides = [
            excesses(&early.collect::<Vec<_>>()),
            excesses(&late.collect::<Vec<_>>()),
        ];
        let share_below = |side: usize, bound: f64| {
            let sorted = &sides[side];
            as_f64(sorted.partition_point(|it| *it <= bound)) / as_f64(sorted.len())
        };
        let mut bounds = sides.concat();
        bounds.sort_by(f64::total_cmp);
        let holds = |bound: f64| share_below(0, bound) * share_below(1, bound) >= CONFIDENCE;
        let first = bounds.partition_point(|bound| !holds(*bound));
        bounds.get(first).copied().unwrap_or(0.0)
    }
}

/// Returns, in order of size, the largest sum of consecutive gains that end at each value; none is 0. What is before the
/// first value is at the end.
fn excesses(gains: &[f64]) -> Vec<f64> {
    let mut excess = 0.0;
    let mut next = |gain: &f64| {
        excess = f64::max(0.0, excess + gain);
        excess
    };
    for gain in gains {
        next(gain);
    }
    let mut found: Vec<f64> = gains.iter().map(next).collect();
    found.sort_by(f64::total_cmp);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::changepoint::level::testing::{Noise, series};

    fn stepped(noise: Noise, length: usize, seed: u64, at: usize, step: f64) -> Vec<f64> {
        let mut values = series(noise, length, seed);
        for value in &mut values[at..] {
            *value += step;
        }
        values
    }

    #[test]
    fn a_step_far_above_the_noise_is_at_one_place() {
        for noise in [Noise::Normal, Noise::Bimodal, Noise::Autocorrelated(0.6)] {
            for (seed, at) in (0..30).flat_map(|seed| [(seed, 3), (seed, 15), (seed, 27)]) {
                let values = stepped(noise, 30, seed, at, 100.0);
                let found = place(&values, at, &(3..=27), 0.0);
                assert_eq!(
                    (found.split, found.range),
                    (at, at..=at),
                    "{noise:?} {seed}"
                );
            }
        }
    }

    #[test]
    fn ranges_hold_the_place_in_any_noise_and_are_narrow() {
        let noises = [
            (Noise::Normal, 2.0, 6.0),
            (Noise::Lognormal, 3.0, 5.0),
            (Noise::Autocorrelated(0.3), 2.0, 9.0),
            (Noise::Spikes, 2.0, 6.0),
            (Noise::Bimodal, 2.0, 6.0),
        ];
        for (noise, step, widest) in noises {
            let (mut held, mut width) = (0, 0.0);
            for seed in 0..300 {
                let values = stepped(noise, 100, seed, 50, step);
                let found = place(&values, 50, &(3..=97), 0.0);
                held += usize::from(found.range.contains(&50));
                width += as_f64(found.range.end() - found.range.start() + 1) / 300.0;
            }
            assert!(
                held >= 280 && width <= widest,
                "{noise:?}: {held} of 300, {width}"
            );
        }
    }
}
