//! The newest runs of many histories: whether one stands apart by its size.

use std::collections::BTreeMap;

use super::null::PooledNull;
use super::{TAIL_INDEX, moderated_statistic, prior_of, weight};
use crate::PValue;
use crate::interval::t_p_value;
use crate::number::as_f64;
use crate::spread::moderation::VariancePrior;
use crate::spread::replicates::Contrast;
use crate::student_tail::same_quantile;

/// The most runs that [`newest_p_values`] tests as the newest ones. They are in no part of the noise, also where
/// fewer are tested, unless too few runs are left before them.
pub const NEWEST_RUNS: usize = 3;
/// The fewest runs before them that show the noise of a history.
const LEAST_EARLIER: usize = 10;
/// Of more runs before them only the latest count: the noise of last year says little.
const MOST_EARLIER: usize = 60;

/// Returns the p-values of "the newest runs of this history are at the level of those before", in the order given,
/// before correction for the number of histories; `None` without a test: fewer than ten runs before the newest ones,
/// or values that are all equal.
///
/// `histories` have one value per run, oldest first, since their last change; `newest` of them, one to three, are
/// tested against up to 60 before the newest three, or before the tested ones where these would be fewer than ten. The
/// p-value is the larger one of two, as in
/// [`crate::family_tests`]:
///
/// - the moderated t of the newest runs against the earlier ones. The prior is that of the variances of the earlier
///   runs;
/// - the pooled one: how often as many consecutive earlier runs stand apart as much from the other earlier runs, over
///   all histories. As they are consecutive, autocorrelation is in it. Beyond the largest of these it is continued by
///   a Pareto tail with the index k + 1 for k runs, at most 4.
///
/// It is 1 if one of the newest runs is not even half as far from the earlier ones as their mean: a single outlier
/// among them is no level.
///
/// A p-value above `level` may be too small: only those up to it need the exact one, and take time.
///
/// The result depends neither on the order of the histories nor on the scale of all values.
///
/// Source: ours; the parts are those of [`crate::family_tests`], calibrated in `docs/calibration.md`.
///
/// ```
/// use lapwing_stats::newest_p_values;
/// let quiet: Vec<f64> = (0..33).map(|run| f64::from(run * 7 % 11) / 100.0).collect();
/// let mut slower = quiet.clone();
/// slower[30..].iter_mut().for_each(|value| *value += 0.7);
/// let p_values = newest_p_values(&[&quiet, &slower], 3, 0.05);
/// assert!(p_values[0].is_some_and(|it| it.value() > 0.1));
/// assert!(p_values[1].is_some_and(|it| it.value() < 0.001));
/// ```
pub fn newest_p_values(histories: &[&[f64]], newest: usize, level: f64) -> Vec<Option<PValue>> {
    let (places, tested): (Vec<usize>, Vec<TestedHistory>) = histories
        .iter()
        .enumerate()
        .filter_map(|(at, values)| Some((at, TestedHistory::of(values, newest)?)))
        .unzip();
    let variances: Vec<(f64, f64)> = tested.iter().map(TestedHistory::earlier_variance).collect();
    let prior = prior_of(&variances);
    let mut p_values: Vec<f64> = tested.iter().map(|it| it.moderated(&prior)).collect();
    let mut candidates: Vec<NewestCandidate> = tested
        .iter()
        .zip(&mut p_values)
        .filter(|(_, p_value)| **p_value <= level)
        .map(|(history, p_value)| NewestCandidate::new(history, p_value, &prior))
        .collect();
    let null = null(&tested, &prior, &candidates);
    for candidate in &mut candidates {
        let one_more = weight(tested.len(), candidate.windows);
        let tail_index = TAIL_INDEX.min(as_f64(newest + 1));
        let pooled = null.p_value(candidate.statistic, candidate.freedom, one_more, tail_index);
        *candidate.p_value = candidate.p_value.max(pooled);
    }
    let mut results = vec![None; histories.len()];
    for (at, p_value) in places.into_iter().zip(p_values) {
        results[at] = PValue::new(p_value).ok();
    }
    results
}

/// A history whose moderated t is significant.
struct NewestCandidate<'p> {
    statistic: f64,
    freedom: f64,
    windows: usize,
    p_value: &'p mut f64,
}

impl<'p> NewestCandidate<'p> {
    fn new(history: &TestedHistory, p_value: &'p mut f64, prior: &VariancePrior) -> Self {
        let contrast = history.newest_contrast();
        Self {
            statistic: moderated_statistic(&contrast, prior),
            freedom: prior.moderated_freedom(contrast.freedom),
            windows: history.windows(),
            p_value,
        }
    }
}

/// Returns the statistics of consecutive earlier runs of all histories, each of which counts as much as another. Of
/// those that are smaller than any candidate only the largest ones are kept.
fn null(
    tested: &[TestedHistory],
    prior: &VariancePrior,
    candidates: &[NewestCandidate],
) -> PooledNull {
    let mut by_length: BTreeMap<usize, Vec<&TestedHistory>> = BTreeMap::new();
    if !candidates.is_empty() {
        for history in tested {
            by_length.entry(history.earlier).or_default().push(history);
        }
    }
    let mut statistics = Vec::new();
    for histories in by_length.values() {
        let freedom = prior.moderated_freedom(as_f64(histories[0].earlier - 2));
        let weight = weight(tested.len(), histories[0].windows());
        let same = candidates.iter();
        let same = same.map(|it| same_quantile(it.statistic, it.freedom, freedom));
        let least = 0.999 * same.fold(f64::INFINITY, f64::min);
        let mut below = 0.0_f64;
        for history in histories {
            let earlier = &history.values[..history.earlier];
            for contrast in contrasts(earlier, history.newest) {
                let statistic = moderated_statistic(&contrast, prior);
                if statistic < least {
                    below = below.max(statistic);
                } else {
                    statistics.push((freedom, statistic, weight));
                }
            }
        }
        statistics.push((freedom, below, weight));
    }
    PooledNull::new(statistics)
}

/// The runs of a history that count: some earlier ones, and the newest.
struct TestedHistory {
    values: Vec<f64>,
    earlier: usize,
    newest: usize,
}

impl TestedHistory {
    fn of(values: &[f64], newest: usize) -> Option<Self> {
        let end = values.len().checked_sub(newest.min(NEWEST_RUNS))?;
        let usual = values.len().saturating_sub(NEWEST_RUNS);
        let end = if usual < LEAST_EARLIER { end } else { usual };
        let earlier = &values[end.saturating_sub(MOST_EARLIER)..end];
        let tested = &values[values.len() - newest.min(NEWEST_RUNS)..];
        let values: Vec<f64> = earlier.iter().chain(tested).copied().collect();
        let varies = values
            .windows(2)
            .any(|pair| pair[0].total_cmp(&pair[1]).is_ne());
        (earlier.len() >= LEAST_EARLIER && varies).then_some(Self {
            earlier: earlier.len(),
            newest: tested.len(),
            values,
        })
    }

    /// The number of ways to choose consecutive earlier runs.
    fn windows(&self) -> usize {
        self.earlier + 1 - self.newest
    }

    fn earlier_variance(&self) -> (f64, f64) {
        let earlier = &self.values[..self.earlier];
        let deviation = crate::standard_deviation(earlier).unwrap_or(0.0);
        (deviation * deviation, as_f64(self.earlier - 1))
    }

    fn newest_contrast(&self) -> Contrast {
        let sums = RunSums::of(&self.values);
        sums.contrast(self.earlier, self.newest)
    }

    /// Returns the p-value of the moderated t; 1 if the newest runs do not stand apart together.
    fn moderated(&self, prior: &VariancePrior) -> f64 {
        let contrast = self.newest_contrast();
        let (earlier, newest) = self.values.split_at(self.earlier);
        let level = crate::mean(earlier).unwrap_or(0.0);
        let share = |value: &f64| (value - level) / contrast.difference;
        if contrast.difference == 0.0 || newest.iter().any(|value| share(value) < 0.5) {
            return 1.0;
        }
        let freedom = prior.moderated_freedom(contrast.freedom);
        t_p_value(moderated_statistic(&contrast, prior), freedom).unwrap_or(1.0)
    }
}

/// Returns the contrasts of each `length` consecutive values with all others.
fn contrasts(values: &[f64], length: usize) -> impl Iterator<Item = Contrast> {
    let sums = RunSums::of(values);
    let starts = 0..=values.len() - length;
    starts.map(move |start| sums.contrast(start, length))
}

/// Sums of the values less the first one, so that equal values have no variance at all.
struct RunSums {
    sums: Vec<f64>,
    squares: f64,
}

impl RunSums {
    fn of(values: &[f64]) -> Self {
        let (mut sum, mut squares) = (0.0, 0.0);
        let mut sums = vec![0.0];
        for value in values {
            let value = value - values[0];
            sum += value;
            squares += value * value;
            sums.push(sum);
        }
        Self { sums, squares }
    }

    fn contrast(&self, start: usize, length: usize) -> Contrast {
        let all = self.sums.len() - 1;
        let [inside_number, outside_number] = [length, all - length].map(as_f64);
        let inside = self.sums[start + length] - self.sums[start];
        let outside = self.sums[all] - inside;
        let within =
            self.squares - inside * inside / inside_number - outside * outside / outside_number;
        let freedom = as_f64(all - 2);
        Contrast {
            difference: inside / inside_number - outside / outside_number,
            variance: within.max(0.0) / freedom,
            freedom,
            scale: inside_number.recip() + outside_number.recip(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn p_values(histories: &[Vec<f64>], newest: usize) -> Vec<Option<f64>> {
        let histories: Vec<&[f64]> = histories.iter().map(Vec::as_slice).collect();
        let found = newest_p_values(&histories, newest, 1.0);
        found.iter().map(|it| it.map(PValue::value)).collect()
    }

    /// Values that are not all equal, with a larger difference in the newest ones.
    fn history(length: usize, shift: f64) -> Vec<f64> {
        let values = (0..length).map(|run| {
            let level = if run + NEWEST_RUNS >= length {
                shift
            } else {
                0.0
            };
            level + as_f64(run * 7 % 11) / 100.0
        });
        values.collect()
    }

    #[test]
    fn short_and_constant_histories_are_not_tested() {
        let found = p_values(&[vec![1.0; 40], history(12, 0.5), history(13, 0.5)], 3);
        assert_eq!(found[..2], [None, None]);
        assert!(found[2].is_some());
        assert_eq!(p_values(&[], 3), []);
    }

    #[test]
    fn the_newest_run_is_tested_as_soon_as_ten_are_before_it() {
        let mut values: Vec<f64> = (0_usize..10).map(|run| as_f64(100 + run % 3)).collect();
        values.push(180.0);
        assert!(p_values(&[values.clone()], 1)[0].is_some_and(|it| it < 0.005));
        assert_eq!(p_values(&[values.clone()], 2), [None]);
        assert_eq!(p_values(&[values[1..].to_vec()], 1), [None]);
        values[10] = 101.0;
        assert!(p_values(&[values], 1)[0].is_some_and(|it| it > 0.1));
    }

    #[test]
    fn without_any_noise_before_a_change_is_certain() {
        let mut counts = vec![100.0; 30];
        counts.extend([101.0; 3]);
        assert!(p_values(&[counts], 3)[0].is_some_and(|p_value| p_value < 1e-9));
    }

    #[test]
    fn an_outlier_among_the_newest_runs_is_no_level() {
        for at in 30..33 {
            let mut values = history(33, 0.0);
            values[at] += 10.0;
            assert_eq!(p_values(&[values.clone()], 3), [Some(1.0)]);
            let alone = p_values(&[values], 1)[0];
            assert_eq!(alone.is_some_and(|p_value| p_value < 0.005), at == 32);
        }
    }

    #[test]
    fn what_is_older_than_sixty_runs_does_not_matter() {
        let recent = history(63, 0.3);
        let mut longer = vec![50.0; 40];
        longer.extend(&recent);
        assert_eq!(p_values(&[longer], 3), p_values(&[recent], 3));
    }

    proptest! {
        #[test]
        fn neither_scale_nor_order_matter(
            histories in prop::collection::vec(prop::collection::vec(-1.0..1.0_f64, 8..40), 1..6),
            scale in 0.01..100.0_f64,
            newest in 1_usize..4,
        ) {
            let found = p_values(&histories, newest);
            let scaled: Vec<Vec<f64>> = histories
                .iter()
                .rev()
                .map(|values| values.iter().map(|value| scale * value + 3.0).collect())
                .collect();
            for (one, other) in found.iter().zip(p_values(&scaled, newest).iter().rev()) {
                match (one, other) {
                    (Some(one), Some(other)) => prop_assert!((one / other - 1.0).abs() < 1e-5),
                    (one, other) => prop_assert_eq!(one, other),
                }
            }
        }
    }
}
