//! How much the level changes.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::autocorrelation::{LARGEST, SHORTEST};
use super::noise::NORMAL_DEVIATION;
use super::scan::scan_p_value;
use crate::describe::{mean, median, quantile, squares_around};
use crate::interval::{Confidence, Interval};
use crate::number::as_f64;

/// Values farther from the median than so many robust standard deviations count as if they were there.
const FARTHEST: f64 = 3.0;
/// But not more than a tenth of all values, so that a second mode is no outlier.
const NOT_FAR: f64 = 0.9;
/// The variance of each side is averaged with that of both, which counts as much as so many values.
const PRIOR: f64 = 4.0;

/// Autocorrelation leaves so many degrees of freedom at least.
const LEAST_FREEDOM: f64 = 3.0;

/// The levels before and after a change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelDifference {
    /// The level before, on the scale of the values.
    pub before: f64,
    /// The level after.
    pub after: f64,
    /// The interval of the second less the first.
    pub interval: Interval,
}

/// Returns the levels of two parts of a series, each of which is not empty, and the interval of their difference; none
/// with fewer than three values in all.
///
/// A level is the mean after far values are drawn in to three robust standard deviations from the median of their part
/// (Huber 1964), or to where nine tenths of all values are within. With two modes it moves as the modes and their
/// shares do. The interval is that of Welch's test, with the variance of each part moderated by that of both, and
/// widened by √((1 + ρ) / (1 − ρ)) for the autocorrelation ρ.
///
/// A change that was found because its p-value was at most `selected_at` looks larger than it is. Its interval then
/// reaches down to the smallest difference with which one as large, among those that would have been found, has a
/// probability of 2.5 %, and at most to 0 (truncated t distribution; Zhong & Prentice, *Biostatistics* 2008).
pub fn level_difference(
    before: &[f64],
    after: &[f64],
    autocorrelation: f64,
    selected_at: Option<f64>,
    confidence: Confidence,
) -> Option<LevelDifference> {
    let parts = drawn_in([before, after])?;
    let [first, second] = &parts;
    let levels = [mean(first)?, mean(second)?];
    let squares = [
        squares_around(first, levels[0]),
        squares_around(second, levels[1]),
    ];
    let own = [as_f64(first.len()) - 1.0, as_f64(second.len()) - 1.0];
    let freedom = own[0] + own[1];
    if freedom < 1.0 {
        return None;
    }
    let pooled = (squares[0] + squares[1]) / freedom;
    let prior = PRIOR.min(freedom);
    let error = |side: usize| {
        let moderated = (squares[side] + prior * pooled) / (own[side] + prior);
        moderated.max(pooled) / (own[side] + 1.0)
    };
    let errors = [error(0), error(1)];
    let sum = errors[0] + errors[1];
    let of_side = |side: usize| errors[side].powi(2) / (own[side] + prior);
    let welch = if sum > 0.0 {
        sum * sum / (of_side(0) + of_side(1))
    } else {
        freedom
    };
    let autocorrelation = autocorrelation.max(neighbours_alike(&parts, levels));
    let inflation = (1.0 + autocorrelation) / (1.0 - autocorrelation);
    let freedom = (welch.min(freedom) / inflation).max(freedom.min(LEAST_FREEDOM));
    let reach = confidence.t_quantile(freedom)?;
    let deviation = (sum * inflation).sqrt();
    let difference = levels[1] - levels[0];
    let mut interval = Interval::around(difference, reach * deviation);
    if let Some(selected_at) = selected_at.filter(|_| deviation > 0.0) {
        let values = before.len() + after.len();
        let border = border(values, selected_at);
        let least = least_difference(difference.abs() / deviation, border, freedom, confidence);
        let least = (least * deviation)
            .min(difference.abs() - reach * deviation)
            .max(0.0);
        if difference > 0.0 {
            interval.lower = least;
        } else {
            interval.upper = -least;
        }
    }
    Some(LevelDifference {
        before: levels[0],
        after: levels[1],
        interval,
    })
}

/// Returns the autocorrelation of values around their levels, r + (2 + 4 r) / n for the bias of r, and 0 or more; 0 for
/// fewer than twelve values.
fn neighbours_alike(parts: &[Vec<f64>; 2], levels: [f64; 2]) -> f64 {
    let (mut products, mut squares, mut number) = (0.0, 0.0, 0.0);
    for (part, level) in parts.iter().zip(levels) {
        let pairs = part.windows(2);
        products += pairs
            .map(|pair| (pair[0] - level) * (pair[1] - level))
            .sum::<f64>();
        squares += squares_around(part, level);
        number += as_f64(part.len());
    }
    if squares <= 0.0 || number < as_f64(SHORTEST) {
        return 0.0;
    }
    let found = products / squares;
    (found + (2.0 + 4.0 * found) / number).clamp(0.0, LARGEST)
}

/// Returns the standardised difference that is just found at this level in so many values.
fn border(values: usize, level: f64) -> f64 {
    let splits = 3..=values.saturating_sub(3);
    let (mut low, mut high) = (1.0, 40.0);
    for _ in 0..40 {
        let middle = f64::midpoint(low, high);
        if scan_p_value(middle, values, &splits) > level {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// Returns the standardised difference below which one of `found` or more is rarer than one side of the confidence
/// allows among those above the border, 0 or more.
fn least_difference(found: f64, border: f64, freedom: f64, confidence: Confidence) -> f64 {
    let Some(student) = StudentsT::new(0.0, 1.0, freedom)
        .ok()
        .filter(|_| found > border)
    else {
        return 0.0;
    };
    let side = (1.0 - confidence.level()) / 2.0;
    let (mut low, mut high) = (0.0, found);
    for _ in 0..40 {
        let middle = f64::midpoint(low, high);
        if student.sf(found - middle) < side * student.sf(border - middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// Returns the values of two parts with far ones drawn in; none if a part is empty.
pub(super) fn drawn_in(parts: [&[f64]; 2]) -> Option<[Vec<f64>; 2]> {
    let centres = [median(parts[0])?, median(parts[1])?];
    let of = |side: usize| {
        parts[side]
            .iter()
            .map(move |value| (value - centres[side]).abs())
    };
    let mut deviations: Vec<f64> = of(0).chain(of(1)).collect();
    deviations.sort_by(f64::total_cmp);
    let robust = FARTHEST * NORMAL_DEVIATION * median(&deviations)?;
    let limit = robust.max(quantile(&deviations, NOT_FAR)?);
    // If nearly all values are equal, nothing is known of the spread of the others.
    let limit = if limit > 0.0 { limit } else { f64::INFINITY };
    let drawn = |side: usize| {
        let range = Interval::around(centres[side], limit);
        let values = parts[side].iter();
        values
            .map(|value| value.clamp(range.lower, range.upper))
            .collect()
    };
    Some([drawn(0), drawn(1)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::changepoint::level::testing::{Noise, series};

    #[test]
    fn without_far_values_it_is_the_interval_of_the_t_test() {
        // scipy 1.17.1: ttest_ind([2, 3, 4], [1, 2, 3]).confidence_interval(0.95)
        let parts: [[f64; 3]; 2] = [[1.0, 2.0, 3.0], [2.0, 3.0, 4.0]];
        let found = level_difference(&parts[0], &parts[1], 0.0, None, Confidence::P95);
        let found = found.unwrap();
        assert!((found.before - 2.0).abs() < 1e-12 && (found.after - 3.0).abs() < 1e-12);
        assert!(
            (found.interval.lower + 1.266_957_935_527_519_2).abs() < 1e-9,
            "{found:?}"
        );
    }

    #[test]
    fn an_outlier_hardly_moves_a_level() {
        let mut before = series(Noise::Normal, 50, 1);
        let after = series(Noise::Normal, 50, 2);
        let clean = level_difference(&before, &after, 0.0, None, Confidence::P95).unwrap();
        before[7] = 1000.0;
        let spiked = level_difference(&before, &after, 0.0, None, Confidence::P95).unwrap();
        assert!((clean.before - spiked.before).abs() < 0.2);
        assert!(spiked.interval.upper - spiked.interval.lower < 1.2);
    }

    #[test]
    fn intervals_keep_their_level_in_any_noise() {
        let noises = [
            Noise::Normal,
            Noise::Lognormal,
            Noise::Autocorrelated(0.3),
            Noise::Autocorrelated(0.6),
            Noise::Spikes,
            Noise::Bimodal,
        ];
        for noise in noises {
            for at in [40, 70] {
                let held = (0..400).filter(|seed| {
                    let values = series(noise, 80, *seed);
                    let [before, after] = [&values[..at], &values[at..]];
                    let found = level_difference(before, after, 0.0, None, Confidence::P95);
                    found.unwrap().interval.contains(0.0)
                });
                let held = held.count();
                assert!((365..=399).contains(&held), "{noise:?} {at}: {held} of 400");
            }
        }
    }

    #[test]
    fn intervals_of_what_was_selected_keep_their_level() {
        // One in ten is above the border.
        let (mut found, mut held) = (0, 0);
        for seed in 0..2000 {
            let mut values = series(Noise::Normal, 60, seed);
            for value in &mut values[30..] {
                *value += 0.5;
            }
            let size = |selected_at| {
                let [before, after] = [&values[..30], &values[30..]];
                level_difference(before, after, 0.0, selected_at, Confidence::P95).unwrap()
            };
            let raw = size(None);
            let error = raw.interval.width() / 4.0;
            if (raw.after - raw.before) / error > border(60, 0.05) {
                found += 1;
                held += usize::from(size(Some(0.05)).interval.contains(0.5));
                assert!(!raw.interval.contains(0.5) || size(Some(0.05)).interval.contains(0.5));
            }
        }
        assert!(
            found >= 150 && held * 100 >= 93 * found,
            "{held} of {found}"
        );
    }
}
