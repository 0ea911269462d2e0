//! The search: ends, commits between them, and the found commit with its parent.

use std::collections::{BTreeMap, BTreeSet};

use super::filter::ChangeFilter;
use super::pairs::{CommitPairs, PairDifference};
use super::speed::SpeedGrid;
use crate::bisection::{LARGEST_STEP, OVERSHOOT, information};
use crate::describe::median;
use crate::number::as_f64;

/// Standard deviations of the difference of the ends from none, at which they differ; with the most pairs, fewer do.
const APART: f64 = 4.5;
const APART_AT_LAST: f64 = 3.3;
/// Ends whose difference is nearer to none after so many pairs are alike.
const ALIKE: (usize, f64) = (20, 0.7);
/// Pairs before the first look at the ends, and at a commit and its parent.
const FIRST_LOOK: usize = 5;
const FIRST_PARENT_LOOK: usize = 4;
/// From so many pairs of the ends on, every second one is looked at.
const MANY_PAIRS: usize = 10;
/// Number of sizes of the change, and how far they reach around the ends' difference in its standard deviations.
const SIZES: usize = 7;
const SIZES_REACH: f64 = 2.4;
/// The change has at least this share of the ends' difference.
const LEAST_SHARE: f64 = 0.25;
/// The machine's speed is within this of its first, as a logarithm.
const REACH: f64 = 0.22;
/// Standard deviations of a commit's difference from its parent from none, at which it is certain to be the whole change.
const CERTAIN: f64 = 3.5;
/// The same of a share of it in the direction of the ends, and in the other.
const CERTAIN_SHARE: f64 = 4.5;
const CERTAIN_OTHER_WAY: f64 = 6.0;
/// Standard deviations between the differences of ends and parent that are compatible.
const COMPATIBLE: f64 = 2.5;
/// The probability of the commit after the comparison with its parent.
const ACCEPTED: f64 = 0.98;
/// The most commits that are compared with their parents.
const TRIES: usize = 5;
/// Commits with a probability to be after the change between these are undecided.
const UNDECIDED: (f64, f64) = (0.002, 0.998);
/// The same of those whose side is certain enough for an anchor.
const ANCHORS: (f64, f64) = (0.003, 0.997);
/// The most anchors in a row.
const ANCHORS_IN_A_ROW: usize = 2;
/// The noise is taken anew when its estimate leaves these multiples of what it was taken for.
const SCALE: (f64, f64) = (0.7, 1.45);
/// The numbers of instances in a row whose gain is weighed against the cost of a new commit.
const AT_ONCE: [i32; 4] = [1, 2, 4, 8];

/// The next measurement that a search asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextMeasurement {
    /// One instance of both, in this order.
    Pair([usize; 2]),
    /// One instance.
    One(usize),
}

/// The end of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SearchEnd {
    /// The ends do not differ.
    Alike,
    /// A change was found.
    Found(FoundChange),
    /// No commit could be told to be the one: that is the likeliest.
    NotFound(FoundChange),
}

/// A commit that changed the metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FoundChange {
    /// The first commit that may be the one, if those before `last` cannot be measured.
    pub first: usize,
    /// The commit.
    pub last: usize,
    /// The probability that it is the one, if there is one change.
    pub probability: f64,
    /// The difference of the logarithms from its parent, and its standard deviation; `None` if they were not compared.
    pub difference: Option<[f64; 2]>,
    /// Whether it is all of the ends' difference.
    pub is_whole: bool,
}

/// The part of the search that is under way.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Stage {
    Ends,
    Between,
    /// Of these suspects.
    Parent([usize; 2]),
    Ended(SearchEnd),
}

/// A search of the commit that changed a metric, which asks for one measurement after the other.
///
/// Values are logarithms of means of fresh instances. The ends are compared first; then the posterior says which commit
/// to measure; a commit that is likely enough is compared with its parent, and accepted if the difference is that of the
/// ends and it is still likely with all that was measured.
#[derive(Debug, Clone)]
pub struct DriftingSearch {
    commits: usize,
    confidence: f64,
    /// The most pairs in a comparison, and the most instances in all.
    most_pairs: usize,
    most: usize,
    stage: Stage,
    ends: CommitPairs,
    known: Option<PairDifference>,
    filter: Option<ChangeFilter>,
    parents: BTreeMap<usize, CommitPairs>,
    /// The values of the comparison under way that the filter lacks.
    fresh: Vec<(usize, f64)>,
    tries: usize,
    anchors: usize,
    broken: BTreeSet<usize>,
    count: usize,
}

impl DriftingSearch {
    /// Returns a search over so many commits that names one with this probability, with at most so many pairs in a
    /// comparison and so many instances in all.
    ///
    /// # Panics
    /// When there are fewer than two commits.
    #[must_use]
    pub fn new(commits: usize, confidence: f64, most_pairs: usize, most: usize) -> Self {
        assert!(commits >= 2, "two ends");
        Self {
            commits,
            confidence,
            most_pairs,
            most,
            stage: Stage::Ends,
            ends: CommitPairs::default(),
            known: None,
            filter: None,
            parents: BTreeMap::new(),
            fresh: Vec::new(),
            tries: 0,
            anchors: 0,
            broken: BTreeSet::new(),
            count: 0,
        }
    }

    /// Returns how the search ended; `None` if it goes on.
    #[must_use]
    pub fn end(&self) -> Option<SearchEnd> {
        match self.stage {
            Stage::Ended(end) => Some(end),
            _ => None,
        }
    }

    /// Returns the number of instances.
    #[must_use]
    pub fn measurements(&self) -> usize {
        self.count
    }

    /// Returns what to measure next, where going to a commit costs so many instances; `None` at the end.
    pub fn next_measurement(&mut self, cost: impl Fn(usize) -> f64) -> Option<NextMeasurement> {
        match self.stage {
            Stage::Ended(_) => None,
            Stage::Ends => Some(pair([0, self.commits - 1], self.ends.pairs())),
            Stage::Parent(suspects) => {
                let sides = [suspects[0] - 1, suspects[1]];
                let pairs = self.parents.get(&suspects[1]).map_or(0, CommitPairs::pairs);
                Some(pair(sides, pairs))
            }
            Stage::Between => {
                let filter = self.filter.as_ref()?;
                let (commit, is_anchor) = self.choose(filter, cost);
                self.anchors = if is_anchor { self.anchors + 1 } else { 0 };
                Some(NextMeasurement::One(commit))
            }
        }
    }

    /// Adds the logarithm of an instance.
    pub fn add(&mut self, commit: usize, log: f64) {
        self.count += 1;
        match self.stage {
            Stage::Ended(_) => {}
            Stage::Ends => {
                self.ends.add(commit != 0, log);
                self.look_at_ends();
            }
            Stage::Between => {
                if let Some(filter) = &mut self.filter {
                    filter.add(commit, log);
                }
                self.look_between();
            }
            Stage::Parent(suspects) => {
                let contrast = self.parents.entry(suspects[1]).or_default();
                contrast.add(commit == suspects[1], log);
                self.fresh.push((commit, log));
                self.look_at_parent(suspects);
            }
        }
    }

    /// Marks a commit between the ends as one that cannot be measured.
    pub fn set_broken(&mut self, commit: usize) {
        self.broken.insert(commit);
        if self.stage == Stage::Between {
            self.look_between();
        }
    }

    /// Returns the most likely commit as things stand, with broken ones before it that may be the one instead.
    #[must_use]
    pub fn suspect(&self) -> Option<FoundChange> {
        let ranges = self.filter.as_ref()?.ranges();
        let of_range = |(first, last, share): (usize, usize, f64)| {
            let usable = (first..=last).filter(|it| !self.broken.contains(it));
            let mut likeliest = (0, first, last);
            let mut begin = first;
            for end in usable {
                likeliest = likeliest.max((end + 1 - begin, begin, end));
                begin = end + 1;
            }
            let (length, first_of, last_of) = likeliest;
            FoundChange {
                first: first_of,
                last: last_of,
                probability: share * as_f64(length) / as_f64(last + 1 - first),
                difference: None,
                is_whole: false,
            }
        };
        let suspects = ranges.into_iter().map(of_range);
        suspects.max_by(|one, other| one.probability.total_cmp(&other.probability))
    }

    fn look_at_ends(&mut self) {
        let pairs = self.ends.pairs();
        let is_pair = self.ends.side(true).len() == self.ends.side(false).len();
        if !is_pair
            || pairs < FIRST_LOOK
            || (pairs > MANY_PAIRS && pairs % 2 == 1 && pairs < self.most_pairs)
        {
            return;
        }
        let Some(ends) = self.ends.result(None) else {
            return;
        };
        let deviations = ends.size.abs() / ends.deviation;
        let is_last = pairs >= self.most_pairs;
        if deviations >= APART || (is_last && deviations >= APART_AT_LAST) {
            self.known = Some(ends);
            if self.commits == 2 {
                let whole = FoundChange {
                    first: 1,
                    last: 1,
                    probability: 1.0,
                    difference: Some([ends.size, ends.deviation]),
                    is_whole: true,
                };
                self.stage = Stage::Ended(SearchEnd::Found(whole));
                return;
            }
            let data = self.ends.values_of([0, self.commits - 1]);
            self.filter = self.filtered(&data, self.known.map_or(0.0, |it| it.sigma));
            self.stage = Stage::Between;
            self.look_between();
        } else if is_last || (pairs >= ALIKE.0 && deviations < ALIKE.1) {
            self.known = Some(ends);
            self.stage = Stage::Ended(SearchEnd::Alike);
        }
    }

    /// Returns the posterior by these values.
    fn filtered(&self, data: &[(usize, f64)], sigma: f64) -> Option<ChangeFilter> {
        let ends = self.known?;
        let size = |at: usize| {
            let around = as_f64(at) / as_f64(SIZES - 1) * 2.0 - 1.0;
            let size = ends.size.abs() + SIZES_REACH * around * ends.deviation;
            size.max(LEAST_SHARE * ends.size.abs()) * ends.size.signum()
        };
        let centre = median(&self.ends.side(false))?;
        let grid = SpeedGrid::new(centre, REACH.max(6.0 * sigma), sigma);
        let sizes = (0..SIZES).map(size).collect();
        let mut filter = ChangeFilter::new(self.commits, sigma, sizes, grid);
        for (commit, value) in data {
            filter.add(*commit, *value);
        }
        Some(filter)
    }

    /// Takes the noise anew if it is another than it was taken for.
    fn take_scale(&mut self) {
        let Some(filter) = &self.filter else { return };
        let scale = filter.scale();
        let is_other = scale < SCALE.0 * filter.sigma || scale > SCALE.1 * filter.sigma;
        if is_other && scale > 1e-3 {
            self.filter = self.filtered(&filter.data, scale);
        }
    }

    fn look_between(&mut self) {
        self.take_scale();
        let (Some(filter), Some(suspect)) = (&self.filter, self.suspect()) else {
            return;
        };
        let distance = filter.size().0.abs() / filter.scale();
        let odds = self.confidence / (1.0 - self.confidence);
        let bound = odds * (-OVERSHOOT * distance.min(LARGEST_STEP)).exp();
        let is_likely = suspect.probability >= bound * (1.0 - suspect.probability);
        if self.count >= self.most {
            self.stage = Stage::Ended(SearchEnd::NotFound(suspect));
        } else if is_likely {
            self.tries += 1;
            self.fresh.clear();
            self.stage = Stage::Parent([suspect.first, suspect.last]);
        }
    }

    fn look_at_parent(&mut self, suspects: [usize; 2]) {
        let (Some(ends), Some(contrast)) = (self.known, self.parents.get(&suspects[1])) else {
            return;
        };
        let pairs = contrast.pairs();
        let is_pair = self.fresh.len().is_multiple_of(2);
        if !is_pair || pairs < FIRST_PARENT_LOOK {
            return;
        }
        let sigma = self.filter.as_ref().map(ChangeFilter::scale);
        let Some(found) = contrast.result(sigma) else {
            return;
        };
        let size = found.size * ends.size.signum();
        let whole = ends.size.abs();
        let gap = found.deviation.hypot(ends.deviation);
        let fits = (size - whole).abs() <= COMPATIBLE * gap && size >= 0.5 * whole;
        let is_whole = size >= CERTAIN * found.deviation && fits;
        let is_share = !fits
            && (size >= CERTAIN_SHARE * found.deviation
                || size <= -CERTAIN_OTHER_WAY * found.deviation);
        let is_none = size + COMPATIBLE * found.deviation < 0.5 * whole
            && size.abs() < COMPATIBLE * found.deviation;
        if !(is_whole || is_share || is_none || pairs >= self.most_pairs) {
            return;
        }
        for (commit, value) in std::mem::take(&mut self.fresh) {
            if let Some(filter) = &mut self.filter {
                filter.add(commit, value);
            }
        }
        let likeliest = self.suspect();
        let is_accepted =
            likeliest.is_some_and(|it| it.last == suspects[1] && it.probability >= ACCEPTED);
        if is_share || (is_whole && is_accepted) {
            self.stage = Stage::Ended(SearchEnd::Found(FoundChange {
                first: suspects[0],
                last: suspects[1],
                probability: likeliest.map_or(0.0, |it| it.probability),
                difference: Some([found.size, found.deviation]),
                is_whole,
            }));
        } else if let (true, Some(likeliest)) = (self.tries >= TRIES, likeliest) {
            self.stage = Stage::Ended(SearchEnd::NotFound(likeliest));
        } else {
            self.stage = Stage::Between;
            self.look_between();
        }
    }

    /// Returns the commit that tells most for its cost, and whether it is one of known side.
    fn choose(&self, filter: &ChangeFilter, cost: impl Fn(usize) -> f64) -> (usize, bool) {
        let after = filter.after();
        let last = self.commits - 1;
        let measured: BTreeSet<usize> = filter.data.iter().map(|(commit, _)| *commit).collect();
        let usable = (1..last).filter(|it| !self.broken.contains(it));
        let (ready, new): (Vec<usize>, Vec<usize>) = usable.partition(|it| measured.contains(it));
        let is_undecided = |it: &&usize| after[**it] > UNDECIDED.0 && after[**it] < UNDECIDED.1;
        let mut options: Vec<usize> = ready.iter().filter(is_undecided).copied().collect();
        let from_half = |it: &usize| (after[*it] - 0.5).abs();
        let nearest = new
            .into_iter()
            .min_by(|one, other| from_half(one).total_cmp(&from_half(other)));
        options.extend(nearest);
        if options.is_empty() {
            options = if ready.is_empty() { vec![0] } else { ready };
        }
        let bits = filter.information(&options);
        let distance = filter.size().0.abs() / filter.scale();
        let rate = |(commit, bits): (usize, f64)| {
            let cost = cost(commit);
            if cost <= 0.0 {
                return bits;
            }
            let ideal = information(after[commit], distance).max(1e-9);
            let at_once = AT_ONCE.map(|number| {
                let number = f64::from(number);
                information(after[commit], distance * number.sqrt()) * bits
                    / ideal
                    / (number + cost)
            });
            at_once.into_iter().fold(0.0, f64::max)
        };
        let rated = options.iter().copied().zip(bits.iter().copied());
        let rates: Vec<f64> = rated.map(rate).collect();
        let best = (0..options.len()).max_by(|one, other| rates[*one].total_cmp(&rates[*other]));
        let best = best.unwrap_or_default();
        let commit = options[best];
        let known = information(after[commit], distance / std::f64::consts::SQRT_2);
        if self.anchors < ANCHORS_IN_A_ROW && bits[best] < known / 2.0 {
            let recent = filter.data.iter().rev().take(2);
            let was_low = recent.clone().any(|(it, _)| after[*it] < ANCHORS.0);
            let is_sure = |it: &&usize| match was_low {
                true => after[**it] > ANCHORS.1,
                false => after[**it] < ANCHORS.0,
            };
            let sure = measured.iter().filter(is_sure).copied();
            let nearest = sure.min_by_key(|it| it.abs_diff(commit));
            return (nearest.unwrap_or(if was_low { last } else { 0 }), true);
        }
        (commit, false)
    }
}

/// Returns both sides in the order of this pair: there and back.
fn pair(sides: [usize; 2], before: usize) -> NextMeasurement {
    let [one, other] = sides;
    NextMeasurement::Pair(match before % 2 {
        0 => [one, other],
        _ => [other, one],
    })
}
