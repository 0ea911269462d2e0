//! The noise of a metric, estimated from all of its histories together.

use std::collections::BTreeMap;

use lapwing_stats::changepoint::{LevelNoise, LevelOptions};
use lapwing_stats::{as_f64, mean, standard_deviation};

use super::searched::{SearchedSeries, is_testable};
use super::searcher::{SeriesSearch, SeriesSearcher};
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
pub(super) fn search_all<S: SeriesSearcher>(
    histories: &Histories,
    shared: &[&[SharedChange]],
    options: &LevelOptions,
    searcher: &mut S,
) -> Result<Vec<SearchedSeries>, S::Error> {
    let mut searched = vec![SearchedSeries::default(); histories.series.len()];
    let mut search = |places: &[(usize, LevelOptions)], searched: &mut [SearchedSeries]| {
        let of_place = |(at, options): &(usize, LevelOptions)| {
            SeriesSearch::new(&histories.series[*at].points, shared[*at], *options)
        };
        let searches: Vec<SeriesSearch<'_>> = places.iter().map(of_place).collect();
        if !searches.is_empty() {
            let found = searcher.search(&searches)?;
            for ((at, _), found) in places.iter().zip(found) {
                searched[*at] = found;
            }
        }
        Ok(())
    };
    let series = histories.series.iter().enumerate();
    let testable = series.filter(|(_, series)| is_testable(series));
    let first: Vec<(usize, LevelOptions)> = testable.map(|(at, _)| (at, *options)).collect();
    search(&first, &mut searched)?;
    let mut families: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    for (at, _) in &first {
        let subject = &histories.series[*at].subject;
        let key = (subject.suite.as_str(), subject.metric.as_str());
        families.entry(key).or_default().push(*at);
    }
    let mut again = Vec::new();
    for members in families.into_values() {
        let of_members = members.iter().map(|at| searched[*at].noise);
        let noise = in_common(&of_members.collect::<Vec<_>>());
        if noise != LevelNoise::default() {
            let options = LevelOptions { noise, ..*options };
            again.extend(members.into_iter().map(|at| (at, options)));
        }
    }
    search(&again, &mut searched)?;
    Ok(searched)
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
