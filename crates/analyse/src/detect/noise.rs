//! The noise of a metric, estimated from all of its histories together.

use std::collections::BTreeMap;

use lapwing_stats::changepoint::{LevelNoise, LevelOptions};
use lapwing_stats::{as_f64, mean, standard_deviation};
use rayon::prelude::*;

use super::searched::SearchedSeries;
use super::series::Histories;
use super::shared::{MEMBERS, SharedChange};

/// A mean over histories counts from so many standard errors on.
const CLEAR: f64 = 2.0;
/// Less autocorrelation makes no difference: it widens the distribution of a mean by 2 %.
const NEGLIGIBLE: f64 = 0.02;
/// No more autocorrelation is removed.
const LARGEST: f64 = 0.95;
/// Histories whose volatility is on average so many standard deviations large are volatile.
const VOLATILE: f64 = 0.5;

/// Searches all series, which the shared changes split.
///
/// Few runs hardly show their autocorrelation, or whether their spread changes with time, but the histories of a
/// suite do so together. What they show is taken into account in a second search.
pub(super) fn search_all(
    histories: &Histories,
    shared: &[&[SharedChange]],
    options: &LevelOptions,
) -> Vec<SearchedSeries> {
    let series = histories.series.par_iter().zip(shared);
    let mut searched: Vec<SearchedSeries> = series
        .map(|(series, shared)| SearchedSeries::of(series, shared, options))
        .collect();
    let mut families: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    for (at, series) in histories.series.iter().enumerate() {
        if searched[at].is_tested {
            let subject = &series.subject;
            let key = (subject.suite.as_str(), subject.metric.as_str());
            families.entry(key).or_default().push(at);
        }
    }
    for members in families.into_values() {
        let of_members = members.iter().map(|at| searched[*at].noise);
        let noise = in_common(&of_members.collect::<Vec<_>>());
        if noise == LevelNoise::default() {
            continue;
        }
        let options = LevelOptions { noise, ..*options };
        let again = members.into_par_iter().map(|at| {
            let again = SearchedSeries::of(&histories.series[at], shared[at], &options);
            (at, again)
        });
        for (at, again) in again.collect::<Vec<_>>() {
            searched[at] = again;
        }
    }
    searched
}

/// Returns what most series of a suite have in common: the mean of their estimates, where it is clear.
fn in_common(noises: &[LevelNoise]) -> LevelNoise {
    if noises.len() < MEMBERS {
        return LevelNoise::default();
    }
    let clear_mean = |of: fn(&LevelNoise) -> f64| {
        let values: Vec<f64> = noises.iter().map(of).collect();
        let error = standard_deviation(&values)? / as_f64(values.len()).sqrt();
        mean(&values).filter(|mean| *mean > CLEAR * error)
    };
    let autocorrelation = clear_mean(|noise| noise.autocorrelation);
    let autocorrelation = autocorrelation.filter(|mean| *mean > NEGLIGIBLE);
    let volatility = clear_mean(|noise| noise.volatility);
    let volatility = volatility.filter(|mean| *mean > VOLATILE);
    LevelNoise {
        autocorrelation: autocorrelation.map_or(0.0, |it| it.min(LARGEST)),
        // The mean of many is clearer than that of one.
        volatility: volatility.map_or(0.0, |it| it * as_f64(noises.len()).sqrt()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noises(autocorrelation: f64, volatility: f64) -> Vec<LevelNoise> {
        let around = |at: u32| LevelNoise {
            autocorrelation: autocorrelation + 0.1 * (f64::from(at % 5) - 2.0),
            volatility: volatility + f64::from(at % 7) - 3.0,
        };
        (0..35).map(around).collect()
    }

    #[test]
    fn what_is_clear_in_many_histories_holds_for_all_of_them() {
        assert_eq!(in_common(&noises(0.0, 0.0)), LevelNoise::default());
        let clear = in_common(&noises(0.4, 1.5));
        assert!((clear.autocorrelation - 0.4).abs() < 1e-9, "{clear:?}");
        assert!(clear.volatility > 5.0, "{clear:?}");
        assert_eq!(in_common(&noises(0.4, 1.5)[..4]), LevelNoise::default());
    }
}
