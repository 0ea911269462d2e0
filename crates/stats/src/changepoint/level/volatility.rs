//! Noise whose spread changes with time.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use super::scan::scan_p_value;
use crate::describe::{mean, squares_around};
use crate::number::as_f64;
use crate::ranks::rank::mid_ranks;

/// The lags at which spreads are compared: differences of neighbours next to each other share a value.
const LAGS: std::ops::RangeInclusive<usize> = 2..=6;
/// Shorter series have no estimate.
const SHORTEST: usize = 12;

/// Returns how alike the spreads of near values are: the mean autocorrelation of the ranks of absolute differences of
/// neighbours at lags of two to six, in standard deviations of what it is without volatility clusters. 0 for fewer than
/// twelve values, or if all differences are equal.
pub(super) fn volatility(values: &[f64]) -> f64 {
    if values.len() < SHORTEST {
        return 0.0;
    }
    let differences = values.windows(2).map(|pair| (pair[1] - pair[0]).abs());
    let ranks = mid_ranks(&differences.collect::<Vec<f64>>()).ranks;
    let centre = as_f64(ranks.len() + 1) / 2.0;
    let squares = squares_around(&ranks, centre);
    if squares <= 0.0 {
        return 0.0;
    }
    let product = |lag: usize| -> f64 {
        let pairs = ranks.windows(lag + 1);
        pairs.map(|it| (it[0] - centre) * (it[lag] - centre)).sum()
    };
    let lags = as_f64(LAGS.end() - LAGS.start() + 1);
    let products: f64 = LAGS.map(product).sum();
    products / squares * (as_f64(ranks.len()) / lags).sqrt()
}

/// Returns the probability that the two parts of values differ so much, at any split, by Welch's test: each part has
/// a spread of its own, and n (1 − ρ) / (1 + ρ) independent values.
///
/// The p-value of this split becomes that of a standardised difference as rare, and this one that of the largest over
/// all splits.
pub(super) fn p_value_with_own_spreads(values: &[f64], split: usize, autocorrelation: f64) -> f64 {
    let inflation = (1.0 + autocorrelation) / (1.0 - autocorrelation);
    let parts = [&values[..split], &values[split..]];
    let moments = parts.map(|part| {
        let level = mean(part).unwrap_or(0.0);
        let freedom = (as_f64(part.len()) - 1.0).max(1.0);
        let error = squares_around(part, level) / freedom / as_f64(part.len().max(1));
        (level, error * inflation, freedom / inflation)
    });
    let [(before, one, _), (after, other, _)] = moments;
    let of_part = moments.map(|(_, error, freedom)| error * error / freedom);
    let sum = one + other;
    if sum <= 0.0 {
        return 0.0;
    }
    let freedom = sum * sum / (of_part[0] + of_part[1]);
    let Ok(student) = StudentsT::new(0.0, 1.0, freedom) else {
        return 1.0;
    };
    let tail = student.sf((after - before).abs() / sum.sqrt());
    let bound = -Normal::standard().inverse_cdf(tail.clamp(f64::MIN_POSITIVE, 0.5));
    scan_p_value(bound, values.len(), &(1..=values.len() - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::changepoint::level::testing::{Noise, series};

    #[test]
    fn clusters_are_seen_and_other_noise_has_none() {
        let share = |noise: Noise, length: usize| {
            let seen = (0..200).filter(|seed| volatility(&series(noise, length, *seed)) > 2.5);
            seen.count()
        };
        for noise in [
            Noise::Normal,
            Noise::Lognormal,
            Noise::Autocorrelated(0.6),
            Noise::Spikes,
            Noise::Bimodal,
        ] {
            for length in [30, 100, 365] {
                assert!(share(noise, length) <= 12, "{noise:?} {length}");
            }
        }
        assert!(share(Noise::Clusters, 100) >= 120);
        assert!(share(Noise::Clusters, 365) >= 195);
    }

    #[test]
    fn steps_are_no_volatility() {
        let seen = (0..200).filter(|seed| {
            let mut values = series(Noise::Normal, 100, *seed);
            for value in &mut values[60..] {
                *value += 20.0;
            }
            volatility(&values) > 2.5
        });
        assert!(seen.count() <= 12);
    }
}
