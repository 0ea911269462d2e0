//! How much the level changes.

use super::noise::{NORMAL_DEVIATION, median_absolute};
use crate::describe::{mean, median, squares_around};
use crate::interval::{Confidence, Interval};
use crate::number::as_f64;

/// Values farther from the median than so many robust standard deviations count as if they were there.
const FARTHEST: f64 = 3.0;

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
/// A level is the mean after far values are drawn in to three robust standard deviations from the median (Huber 1964).
/// The interval is Student's, from the spread within both parts, widened by √((1 + ρ) / (1 − ρ)) for the
/// autocorrelation ρ. The change was looked for, so weak changes look larger than they are.
pub fn level_difference(
    before: &[f64],
    after: &[f64],
    autocorrelation: f64,
    confidence: Confidence,
) -> Option<LevelDifference> {
    let [first, second] = [drawn_in(before)?, drawn_in(after)?];
    let levels = [mean(&first)?, mean(&second)?];
    let freedom = as_f64((first.len() + second.len()).checked_sub(2)?);
    let quantile = confidence.t_quantile(freedom)?;
    let squares = squares_around(&first, levels[0]) + squares_around(&second, levels[1]);
    let variance = squares / freedom;
    let inflation = (1.0 + autocorrelation) / (1.0 - autocorrelation);
    let counts = as_f64(first.len()).recip() + as_f64(second.len()).recip();
    let reach = quantile * (variance * counts * inflation).sqrt();
    let difference = levels[1] - levels[0];
    Some(LevelDifference {
        before: levels[0],
        after: levels[1],
        interval: Interval::around(difference, reach),
    })
}

/// Returns the values with far ones drawn in; none if there are no values.
fn drawn_in(values: &[f64]) -> Option<Vec<f64>> {
    let centre = median(values)?;
    let deviations: Vec<f64> = values.iter().map(|value| value - centre).collect();
    let reach = FARTHEST * NORMAL_DEVIATION * median_absolute(&deviations);
    // If more than half of the values are equal, nothing is known of the spread of the others.
    let limit = if reach > 0.0 { reach } else { f64::INFINITY };
    let range = Interval::around(centre, limit);
    let drawn = values
        .iter()
        .map(|value| value.clamp(range.lower, range.upper));
    Some(drawn.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::changepoint::level::testing::{Noise, series};

    #[test]
    fn without_far_values_it_is_the_interval_of_the_t_test() {
        // scipy 1.17.1: ttest_ind([2, 3, 4, 5], [1, 2, 3]).confidence_interval(0.95)
        let found = level_difference(
            &[1.0, 2.0, 3.0],
            &[2.0, 3.0, 4.0, 5.0],
            0.0,
            Confidence::P95,
        );
        let found = found.unwrap();
        assert!((found.before - 2.0).abs() < 1e-12 && (found.after - 3.5).abs() < 1e-12);
        assert!(
            (found.interval.lower + 0.823_024_815_879_305_2).abs() < 1e-9,
            "{found:?}"
        );
    }

    #[test]
    fn an_outlier_hardly_moves_a_level() {
        let mut before = series(Noise::Normal, 50, 1);
        let after = series(Noise::Normal, 50, 2);
        let clean = level_difference(&before, &after, 0.0, Confidence::P95).unwrap();
        before[7] = 1000.0;
        let spiked = level_difference(&before, &after, 0.0, Confidence::P95).unwrap();
        assert!((clean.before - spiked.before).abs() < 0.2);
        assert!(spiked.interval.upper - spiked.interval.lower < 1.2);
    }

    #[test]
    fn intervals_keep_their_level_also_with_autocorrelation() {
        for share in [0.0, 0.3] {
            let held = (0..400).filter(|seed| {
                let values = series(Noise::Autocorrelated(share), 80, *seed);
                let found = level_difference(&values[..40], &values[40..], share, Confidence::P95);
                found.unwrap().interval.contains(0.0)
            });
            let held = held.count();
            assert!((365..=395).contains(&held), "{share}: {held} of 400");
        }
    }
}
