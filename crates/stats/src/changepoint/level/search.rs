//! The search for the changes of a series.

use std::cell::RefCell;
use std::f64::consts::SQRT_2;
use std::ops::RangeInclusive;

use statrs::distribution::{ContinuousCDF, Normal};

use super::autocorrelation::{autocorrelation, innovations, removable_autocorrelation};
use super::location::{Place, place};
use super::noise::without_large_steps;
use super::permutation::upper_tail;
use super::prefix::{ScoreSplit, ScoreSums};
use super::scan::scan_p_value;
use super::volatility::volatility;
use super::wander::needed;
use crate::number::as_f64;
use crate::ranks::rank::mid_ranks;

/// The share of the level that goes to the split of a whole segment, to a split near its end, and
/// to splits of all intervals inside.
const WHOLE: f64 = 0.5;
const RECENT: f64 = 0.25;
const INSIDE: f64 = 0.25;
/// A change is recent if there are at most so many values after it.
const RECENT_VALUES: usize = 12;
/// No interval inside a segment is shorter: the rarest split of fewer values is no evidence.
const SHORTEST_INTERVAL: f64 = 16.0;
/// From so many values on the smaller side, the tail of a sum of scores is normal.
const NORMAL_FROM: usize = 30;

/// The tail of a sum of scores is rarely lighter than a normal one at a difference larger by 1 / 0.8.
const LIGHTEST: f64 = 0.8;
/// With more autocorrelation than this a series may wander: its steps have to describe it better than that alone.
pub(super) const WANDERING: f64 = 0.5;

/// With more of it a single series is volatile, in standard deviations.
const VOLATILE: f64 = 2.5;
/// Up to so many values two changes may be as near as three values by default.
const SHORT_SERIES: f64 = 150.0;
/// The fewest values before the first change and after the last one by default, and between two in short series.
const FEWEST: usize = 3;

/// What counts as a change of the level.
#[derive(Debug, Clone, Copy)]
pub struct LevelOptions {
    /// The probability that a series without a change has any finding, such as 0.05.
    pub false_alarms: f64,
    /// The smallest number of values between two changes and at both ends, 1 or more. By default 3, and in series of
    /// n > 150 values 3 √(n / 150) between two changes.
    pub minimum_segment: Option<usize>,
    /// The noise estimated from other series.
    pub noise: LevelNoise,
}

/// How values depend on those before them without a change.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LevelNoise {
    /// The autocorrelation of neighbours.
    pub autocorrelation: f64,
    /// How alike the spreads of near values are, in standard deviations of what it is if they are independent.
    pub volatility: f64,
}

impl Default for LevelOptions {
    fn default() -> Self {
        Self {
            false_alarms: 0.05,
            minimum_segment: None,
            noise: LevelNoise::default(),
        }
    }
}

/// A change of the level.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelChange {
    /// The index of the first value at the new level.
    pub index: usize,
    /// The indices that the first value at the new level has with 95 % confidence.
    pub range: RangeInclusive<usize>,
    /// The probability that noise alone has a change as clear as this anywhere in the segment in which it was found.
    pub p_value: f64,
}

/// The changes of a series, from the first to the last.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelChanges {
    /// The changes.
    pub changes: Vec<LevelChange>,
    /// The autocorrelation that was removed; 0 if none was.
    pub autocorrelation: f64,
    /// The estimates from this series alone, for others that are alike.
    pub noise: LevelNoise,
}

/// Returns the changes of the level of finite values in the order of time.
///
/// The values, less their autocorrelation, become normal scores. A segment is split where a split of the whole, one
/// near its end, or one of seeded intervals inside is significant at its share of the level of false alarms; the
/// parts are segments in turn. At last each change moves to the best split between its neighbours, and one that is
/// not significant there is dropped. So are those that merely follow a series which wanders, and in a volatile one
/// those that are not significant with the spread of each side.
pub fn level_changes(values: &[f64], options: &LevelOptions) -> LevelChanges {
    let scores = normal_scores(values);
    let mut found = Search::new(&scores, options).found();
    // Steps that stand out would look like autocorrelation.
    let borders: Vec<usize> = found.iter().map(|split| split.index).collect();
    let stepless = without_large_steps(values, &borders);
    let noise = LevelNoise {
        autocorrelation: autocorrelation(&stepless),
        volatility: volatility(values),
    };
    let removed = removable_autocorrelation(&stepless).max(options.noise.autocorrelation);
    let whitened;
    let mut search = Search::new(&scores, options);
    if removed > 0.0 {
        whitened = normal_scores(&innovations(values, removed));
        search = Search::new(&whitened, options);
        found = search.found();
    }
    search.settle(&mut found);
    if removable_autocorrelation(&scores) > WANDERING {
        let steps: Vec<usize> = found.iter().map(|split| split.index).collect();
        let needed = needed(&scores, &steps);
        found.retain(|split| needed.contains(&split.index));
    }
    if noise.volatility.max(options.noise.volatility) > VOLATILE {
        search.keep_with_own_spreads(values, removed, &mut found);
    }
    LevelChanges {
        changes: places(values, &search, removed, &mut found),
        autocorrelation: removed,
        noise,
    }
}

/// Moves each change to its place between its neighbours by the values themselves: ranks alone may leave it some runs
/// off.
pub(super) fn places(
    values: &[f64],
    search: &Search,
    autocorrelation: f64,
    found: &mut [FoundSplit],
) -> Vec<LevelChange> {
    let mut changes = Vec::with_capacity(found.len());
    for at in 0..found.len() {
        let (start, end) = search.neighbours(found, at);
        let splits = search.splits(start, end);
        let near = found[at].index - start;
        let Place { split, range } = place(&values[start..end], near, &splits, autocorrelation);
        found[at].index = start + split;
        changes.push(LevelChange {
            index: start + split,
            range: start + range.start()..=start + range.end(),
            p_value: found[at].p_value,
        });
    }
    changes
}

/// Returns the normal scores of finite values: the quantile of the normal distribution at each value's mid-rank
/// divided by n + 1.
pub(super) fn normal_scores(values: &[f64]) -> Vec<f64> {
    let normal = Normal::standard();
    let length = as_f64(values.len() + 1);
    let ranks = mid_ranks(values).ranks;
    QUANTILES.with_borrow_mut(|quantiles| {
        // Many series are as long as the one before.
        if quantiles.len() != 2 * values.len() + 1 {
            *quantiles = vec![f64::NAN; 2 * values.len() + 1];
        }
        let score = |rank: &f64| {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "ranks are halves"
            )]
            let known = &mut quantiles[(2.0 * rank) as usize];
            if known.is_nan() {
                *known = normal.inverse_cdf(rank / length);
            }
            *known
        };
        ranks.iter().map(score).collect()
    })
}

thread_local! {
    /// The quantiles of the normal distribution at 0, 1/2, 1, … n, each divided by n + 1; NaN of those not needed yet.
    static QUANTILES: RefCell<Vec<f64>> = const { RefCell::new(Vec::new()) };
}

pub(super) struct Search<'a> {
    pub(super) sums: ScoreSums,
    pub(super) scores: &'a [f64],
    pub(super) options: &'a LevelOptions,
    /// The smallest numbers of values between two changes, and before the first and after the last.
    minimum: [usize; 2],
}

/// A split and its p-value, divided by the share of the level that its test has.
#[derive(Debug, Clone, Copy)]
pub(super) struct FoundSplit {
    pub(super) index: usize,
    pub(super) p_value: f64,
}

/// A split of an interval that may be significant.
struct Candidate {
    start: usize,
    end: usize,
    splits: RangeInclusive<usize>,
    share: f64,
    split: ScoreSplit,
    /// Its p-value if all splits were normal and independent, times a constant.
    approximate: f64,
}

impl<'a> Search<'a> {
    pub(super) fn new(scores: &'a [f64], options: &'a LevelOptions) -> Self {
        let usual = || {
            let times = as_f64(scores.len()) / SHORT_SERIES;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "rounded"
            )]
            let between = (as_f64(FEWEST) * times.sqrt()).round() as usize;
            [between.max(FEWEST), FEWEST]
        };
        let minimum = options.minimum_segment;
        Self {
            minimum: minimum.map_or_else(usual, |minimum| [minimum.max(1); 2]),
            sums: ScoreSums::of(scores),
            scores,
            options,
        }
    }

    /// Returns the splits in order.
    pub(super) fn found(&self) -> Vec<FoundSplit> {
        let mut found = Vec::new();
        self.split_segment(0, self.scores.len(), 0.0, &mut found);
        found.sort_by_key(|split| split.index);
        found
    }

    /// Splits a segment, and its parts, as long as there is something to find. A part's p-value is not below that of
    /// the split that made it: its border was chosen by the same values.
    fn split_segment(&self, start: usize, end: usize, least: f64, found: &mut Vec<FoundSplit>) {
        let Some(mut split) = self.strongest(start, end) else {
            return;
        };
        split.p_value = split.p_value.max(least);
        found.push(split);
        self.split_segment(start, split.index, split.p_value, found);
        self.split_segment(split.index, end, split.p_value, found);
    }

    /// Returns the clearest split of a segment that is significant: of the whole, near its end, or of an interval
    /// inside.
    ///
    /// The clearest is that with the smallest p-value if all splits were normal and independent; whether it is
    /// significant is decided by the tail of the scores, which takes longer.
    fn strongest(&self, start: usize, end: usize) -> Option<FoundSplit> {
        let all = self.splits(start, end);
        let first_recent = all.end().saturating_sub(RECENT_VALUES).max(*all.start());
        let recent = first_recent..=*all.end();
        let mut candidates = Vec::new();
        for (splits, share) in [(all, WHOLE), (recent, RECENT)] {
            candidates.extend(self.candidate(start, end, splits, share, self.least(share)));
        }
        self.add_inside(start, end, &mut candidates);
        candidates.sort_by(|one, other| one.approximate.total_cmp(&other.approximate));
        candidates.iter().find_map(|candidate| {
            let (start, end, split) = (candidate.start, candidate.end, candidate.split);
            let splits = &candidate.splits;
            let at_best = scan_p_value(split.z.abs() / LIGHTEST, end - start, splits);
            if at_best > self.options.false_alarms * candidate.share {
                return None;
            }
            let p_value = self.p_value(start, end, splits, split) / candidate.share;
            let index = split.index;
            (p_value <= self.options.false_alarms).then_some(FoundSplit { index, p_value })
        })
    }

    /// Adds the splits of the seeded intervals of a segment, whose lengths fall by √2 and which overlap by half. Each
    /// length has the same share of the level.
    fn add_inside(&self, start: usize, end: usize, candidates: &mut Vec<Candidate>) {
        let shrink = |length: &f64| Some(length / SQRT_2);
        let longest = as_f64(end - start) / SQRT_2;
        let lengths: Vec<f64> = std::iter::successors(Some(longest), shrink)
            .take_while(|length| *length >= SHORTEST_INTERVAL)
            .collect();
        for length in &lengths {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "rounded down"
            )]
            let length = *length as usize;
            let shift = length / 2;
            let intervals = (end - start - length) / shift + 1;
            let share = INSIDE / as_f64(lengths.len()) / as_f64(intervals);
            let least = self.least(share);
            for interval in 0..intervals {
                let from = start + interval * shift;
                let splits = self.splits(from, from + length);
                candidates.extend(self.candidate(from, from + length, splits, share, least));
            }
        }
    }

    /// Returns the splits of an interval that leave enough values on both sides.
    pub(super) fn splits(&self, start: usize, end: usize) -> RangeInclusive<usize> {
        let [between, outside] = self.minimum;
        let of = |is_outside: bool| if is_outside { outside } else { between };
        let last = (end - start).saturating_sub(of(end == self.scores.len()));
        of(start == 0)..=last
    }

    /// Returns the best of the splits if it may be significant at `share` of the level, whose `least` difference is given.
    fn candidate(
        &self,
        start: usize,
        end: usize,
        splits: RangeInclusive<usize>,
        share: f64,
        least: f64,
    ) -> Option<Candidate> {
        let split = self.sums.largest_split(start, end, &splits)?;
        (split.z.abs() >= least).then(|| Candidate {
            start,
            end,
            approximate: Normal::standard().sf(split.z.abs()) * as_f64(end - start) / share,
            splits,
            share,
            split,
        })
    }

    /// Returns a difference below which no split is significant at `share` of the level: its p-value is above that of
    /// one split.
    fn least(&self, share: f64) -> f64 {
        let one_split = (self.options.false_alarms * share / 2.0).max(f64::MIN_POSITIVE);
        LIGHTEST * -Normal::standard().inverse_cdf(one_split)
    }

    pub(super) fn p_value(
        &self,
        start: usize,
        end: usize,
        splits: &RangeInclusive<usize>,
        split: ScoreSplit,
    ) -> f64 {
        let (before, after) = (split.index - start, end - split.index);
        if before.min(after) >= NORMAL_FROM {
            return scan_p_value(split.z.abs(), end - start, splits);
        }
        // The smaller part is what is drawn from all; its sum is far above or, with turned signs, far below.
        let (part, z) = if before <= after {
            (&self.scores[start..split.index], split.z)
        } else {
            (&self.scores[split.index..end], -split.z)
        };
        let sign = z.signum();
        let all = self.scores[start..end].iter().map(|score| sign * score);
        let all: Vec<f64> = all.collect();
        let tail = upper_tail(&all, part.len(), sign * part.iter().sum::<f64>());
        let bound = -Normal::standard().inverse_cdf(tail.clamp(f64::MIN_POSITIVE, 0.5));
        scan_p_value(bound, end - start, splits)
    }
}
