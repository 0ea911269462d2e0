//! How well the place of a change is known.

use std::ops::RangeInclusive;

use super::prefix::ScoreSums;
use crate::describe::median;
use crate::number::as_f64;

/// The probability that the range holds the change.
const CONFIDENCE: f64 = 0.95;

/// A split is moved by so many values at most.
const FARTHEST: usize = 3;

/// Returns that of the splits near this one for which the absolute distances of the values from the medians before
/// and after have the smallest sum.
pub(super) fn nearest_split(values: &[f64], split: usize, splits: &RangeInclusive<usize>) -> usize {
    let levels = [&values[..split], &values[split..]].map(median);
    let [Some(before), Some(after)] = levels else {
        return split;
    };
    let first = split.saturating_sub(FARTHEST).max(*splits.start());
    let last = (split + FARTHEST).min(*splits.end());
    // What the value at an index adds if it is before the split, less what it adds after.
    let adds = |at: usize| (values[at] - before).abs() - (values[at] - after).abs();
    let cost = |candidate: usize| -> f64 {
        if candidate >= split {
            (split..candidate).map(adds).sum()
        } else {
            -(candidate..split).map(adds).sum::<f64>()
        }
    };
    let candidates =
        (first..=last).map(|candidate| (cost(candidate), candidate.abs_diff(split), candidate));
    let best = candidates.min_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
    best.map_or(split, |(_, _, candidate)| candidate)
}

/// Returns the smallest range of indices that holds the most likely places of the one change of `start..end` with
/// a probability of 95 % together.
///
/// The likelihood of a split is exp(B / 2 s²), with the sum of squares B between the two parts and the
/// variance s² within them; every split is equally likely beforehand. Source: Smith, *Biometrika* 1975.
pub(super) fn location_range(
    sums: &ScoreSums,
    start: usize,
    end: usize,
    splits: &RangeInclusive<usize>,
) -> RangeInclusive<usize> {
    let mut explained: Vec<(usize, f64)> = sums.between(start, end, splits).collect();
    explained.sort_by(|one, other| other.1.total_cmp(&one.1));
    let length = as_f64(end - start);
    let best = explained.first().map_or(0.0, |(_, best)| *best);
    let within = (sums.variance(start, end) * length - best) / (length - 2.0).max(1.0);
    let within = within.max(1e-9);
    let likelihood = |explained: f64| ((explained - best) / (2.0 * within)).exp();
    let total: f64 = explained
        .iter()
        .map(|(_, explained)| likelihood(*explained))
        .sum();
    let (mut covered, mut first, mut last) = (0.0, usize::MAX, 0);
    for (split, explained) in explained {
        covered += likelihood(explained) / total;
        first = first.min(start + split);
        last = last.max(start + split);
        if covered >= CONFIDENCE {
            break;
        }
    }
    first..=last
}
