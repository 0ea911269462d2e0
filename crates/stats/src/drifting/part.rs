//! The search of one change between two commits: the ends, the commits between them, and the found commit with its parent.

use std::collections::{BTreeMap, BTreeSet};

use super::filter::ChangeFilter;
use super::information::information;
use super::pairs::{CommitPairs, PairDifference, least_noise};
use super::speed::SpeedGrid;
use super::{
    FoundChange, NextMeasurements, SearchEnd, SearchLimits, SearchStage, SuspectedCommits,
};
use crate::describe::median;
use crate::number::as_f64;

/// Standard deviations of the difference of the ends from none, at which they differ; with the most pairs, fewer do.
const APART: f64 = 4.5;
const APART_AT_LAST: f64 = 3.3;
/// Ends whose difference is nearer to none after so many pairs are alike.
const ALIKE: (usize, f64) = (20, 0.7);
/// Standard deviations that a difference stays below what is searched for, at which the search is given up.
const BELOW: f64 = 1.64;
/// Pairs before the first look at the ends, and at a commit and its parent.
const FIRST_LOOK: usize = 5;
const FIRST_PARENT_LOOK: usize = 4;
/// Pairs before a commit can be a part of the change: outliers among fewer look like one.
const SHARE_LOOK: usize = 8;
/// From so many pairs of the ends on, every second one is looked at.
const MANY_PAIRS: usize = 10;
/// Number of sizes of the change, and how far they reach around the ends' difference in its standard deviations.
const SIZES: usize = 7;
const SIZES_REACH: f64 = 2.4;
/// The change has at least this share of the ends' difference.
const LEAST_SHARE: f64 = 0.25;
/// The machine's speed is within this of its first, as a logarithm, as long as nothing says otherwise.
const REACH: f64 = 0.22;
/// Standard deviations of an instance between the farthest instance and the edge of the grid; it is made anew when one is
/// nearer than the second.
const MARGIN: (f64, f64) = (8.0, 3.0);
/// With more of its weight at the edge, the grid is made wider.
const AT_EDGE: f64 = 0.05;
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
/// A change is likelier than this before its commit is named, however large it is.
const LIKELY: f64 = 0.5;
/// The numbers of instances in a row whose gain is weighed against the cost of a new commit.
const AT_ONCE: [i32; 4] = [1, 2, 4, 8];

/// By how much the logarithm of the odds exceeds a bound at the end, per standard deviation of the change. With known
/// levels it is 0.583 (Siegmund, Sequential Analysis, 1985, chapter 10: −ζ(½)/√(2π)); estimated levels leave less to
/// spare.
const OVERSHOOT: f64 = 0.4;
/// The overshoot is that of a change of at most so many standard deviations.
const LARGEST_STEP: f64 = 3.0;

/// The search of one change among commits, of which the first is before it and the last after it.
#[derive(Debug, Clone)]
pub(super) struct PartSearch {
    /// How likely each commit is before anything was measured.
    pub(super) likely: Vec<f64>,
    limits: SearchLimits,
    /// Ends that differ by less are not searched.
    least: f64,
    stage: SearchStage,
    pairs: CommitPairs,
    /// The difference of the ends at the last look.
    pub(super) ends: Option<PairDifference>,
    /// The last comparison with a parent.
    pub(super) parent: Option<PairDifference>,
    pub(super) filter: Option<ChangeFilter>,
    /// The multiple of the usual reach of the machine's speed.
    widened: f64,
    parents: BTreeMap<usize, CommitPairs>,
    /// The number of commits that were compared with their parents.
    pub(super) tries: usize,
    anchors: usize,
    broken: BTreeSet<usize>,
    count: usize,
}

impl PartSearch {
    pub(super) fn new(
        likely: Vec<f64>,
        limits: SearchLimits,
        least: f64,
        broken: BTreeSet<usize>,
    ) -> Self {
        Self {
            stage: SearchStage::Ends([0, likely.len() - 1]),
            likely,
            limits,
            least,
            pairs: CommitPairs::default(),
            ends: None,
            parent: None,
            filter: None,
            widened: 1.0,
            parents: BTreeMap::new(),
            tries: 0,
            anchors: 0,
            broken,
            count: 0,
        }
    }

    pub(super) fn stage(&self) -> SearchStage {
        self.stage
    }

    pub(super) fn broken(&self) -> &BTreeSet<usize> {
        &self.broken
    }

    /// Returns what to measure next; nothing at the end.
    pub(super) fn next(&self, cost: impl Fn(usize) -> f64, width: usize) -> NextMeasurements {
        match self.stage {
            SearchStage::Ended(_) => NextMeasurements::default(),
            SearchStage::Ends(sides) => {
                let tried = self.pairs.tried();
                // That an end cannot be measured shows early.
                if tried == 0 && width <= 1 {
                    return self.in_turn(sides, 0..2 * self.step());
                }
                let least = tried + width.clamp(1, 2 * FIRST_LOOK);
                let until = (least..).find(|it| self.is_look_at_ends(*it));
                self.in_turn(sides, tried..until.unwrap_or(least))
            }
            SearchStage::Parent(sides) => {
                let tried = self.parents.get(&sides[1]).map_or(0, CommitPairs::tried);
                let least = tried + width.clamp(1, 2 * FIRST_PARENT_LOOK);
                let until = (least..).find(|it| self.is_look_at_parent(*it));
                self.in_turn(sides, tried..until.unwrap_or(least))
            }
            SearchStage::Between => match &self.filter {
                Some(filter) => {
                    let (commit, rate) = self.choose(filter, cost);
                    let left = self.limits.most.saturating_sub(self.count).max(1);
                    NextMeasurements {
                        commits: self.with_others(filter, commit, width.min(left)),
                        rate,
                    }
                }
                None => NextMeasurements::default(),
            },
        }
    }

    /// Returns the number of instances after which both commits of a comparison were measured equally often: one, two of
    /// the other, and back, or twice as many in a row where going to a commit is dear.
    fn step(&self) -> usize {
        if self.limits.is_dear { 4 } else { 2 }
    }

    /// Returns two commits in turn, so that a machine that changes steadily does not count.
    fn in_turn(&self, sides: [usize; 2], instances: std::ops::Range<usize>) -> NextMeasurements {
        let half = self.step() / 2;
        let side = |at: usize| sides[(at + half) / self.step() % 2];
        NextMeasurements {
            commits: instances.map(side).collect(),
            rate: f64::INFINITY,
        }
    }

    fn is_look_at_ends(&self, tried: usize) -> bool {
        let pairs = tried / 2;
        tried.is_multiple_of(self.step())
            && pairs >= FIRST_LOOK.min(self.limits.most_pairs)
            && (pairs <= MANY_PAIRS
                || pairs.is_multiple_of(self.step())
                || pairs >= self.limits.most_pairs)
    }

    fn is_look_at_parent(&self, tried: usize) -> bool {
        tried.is_multiple_of(self.step())
            && tried / 2 >= FIRST_PARENT_LOOK.min(self.limits.most_pairs)
    }

    /// Adds the logarithms of instances that were measured as asked for; `None` for one that failed.
    pub(super) fn add(&mut self, measured: &[(usize, Option<f64>)]) {
        self.count += measured.len();
        match self.stage {
            SearchStage::Ended(_) => {}
            SearchStage::Ends(sides) => {
                for (commit, log) in measured {
                    self.pairs.add(*commit == sides[1], *log);
                }
                self.look_at_ends(sides);
            }
            SearchStage::Between => {
                for (commit, log) in measured {
                    let is_anchor = self
                        .filter
                        .as_ref()
                        .is_some_and(|it| is_anchor(it, *commit));
                    self.anchors = if is_anchor { self.anchors + 1 } else { 0 };
                    match log {
                        Some(log) => self.learn(*commit, *log),
                        // An instance can fail by chance where others did not.
                        None if !self.has_values(*commit) => {
                            self.broken.insert(*commit);
                        }
                        None => {}
                    }
                }
                self.look_between();
            }
            SearchStage::Parent(sides) => {
                for (commit, log) in measured {
                    let contrast = self.parents.entry(sides[1]).or_default();
                    contrast.add(*commit == sides[1], *log);
                    if let Some(log) = log {
                        self.learn(*commit, *log);
                    }
                }
                self.look_at_parent(sides);
            }
        }
    }

    fn has_values(&self, commit: usize) -> bool {
        let data = self.filter.as_ref().map(|it| it.data.iter());
        data.is_some_and(|mut data| data.any(|(it, _)| *it == commit))
    }

    /// Returns the most likely commit as things stand, with broken ones before it that may be the one instead.
    pub(super) fn suspect(&self) -> Option<SuspectedCommits> {
        let probabilities = self.filter.as_ref()?.probabilities();
        let mut suspects = Vec::new();
        let mut first = 1;
        for last in 1..probabilities.len() {
            if self.broken.contains(&last) {
                continue;
            }
            suspects.push(SuspectedCommits {
                first,
                last,
                probability: probabilities[first..=last].iter().sum(),
            });
            first = last + 1;
        }
        let mut suspects = suspects.into_iter();
        let likeliest = suspects.next()?;
        Some(suspects.fold(likeliest, |best, it| {
            if it.probability > best.probability {
                it
            } else {
                best
            }
        }))
    }

    /// Returns for each commit the probability that it is the one, if there is one.
    pub(super) fn probabilities(&self) -> Vec<f64> {
        let known = self.filter.as_ref().map(ChangeFilter::probabilities);
        known.unwrap_or_else(|| vec![0.0; self.likely.len()])
    }

    fn look_at_ends(&mut self, sides: [usize; 2]) {
        let broken = [false, true].map(|it| self.pairs.side(it).is_empty());
        if let Some(at) = broken.into_iter().position(|it| it) {
            self.broken.insert(sides[at]);
            self.stage = SearchStage::Ended(SearchEnd::BrokenEnd(sides[at]));
            return;
        }
        let tried = self.pairs.tried();
        if !self.is_look_at_ends(tried) {
            return;
        }
        let Some(ends) = self.pairs.result(None) else {
            return;
        };
        self.ends = Some(ends);
        let size = ends.value.abs();
        let deviations = size / ends.deviation;
        let is_last = tried / 2 >= self.limits.most_pairs || self.count >= self.limits.most;
        if size > self.least && (deviations >= APART || (is_last && deviations >= APART_AT_LAST)) {
            if self.likely.len() == 2 {
                self.parent = Some(ends);
                let whole = FoundChange {
                    commits: SuspectedCommits {
                        first: 1,
                        last: 1,
                        probability: 1.0,
                    },
                    difference: ends,
                    is_whole: true,
                };
                self.stage = SearchStage::Ended(SearchEnd::Found(whole));
                return;
            }
            self.make_filter(self.pairs.values_of(sides), ends.noise);
            self.stage = SearchStage::Between;
            self.look_between();
        } else if is_last
            || size + BELOW * ends.deviation < self.least
            || (tried / 2 >= ALIKE.0 && deviations < ALIKE.1)
        {
            self.stage = SearchStage::Ended(SearchEnd::Alike);
        }
    }

    /// Makes the posterior anew by these values.
    fn make_filter(&mut self, data: Vec<(usize, f64)>, sigma: f64) {
        let (Some(ends), Some(centre)) = (self.ends, median(&self.pairs.side(false))) else {
            return;
        };
        let sigma = sigma.max(least_noise(ends.value));
        let size = |at: usize| {
            let around = as_f64(at) / as_f64(SIZES - 1) * 2.0 - 1.0;
            let size = ends.value.abs() + SIZES_REACH * around * ends.deviation;
            size.max(LEAST_SHARE * ends.value.abs()) * ends.value.signum()
        };
        let most = REACH.max(6.0 * sigma) * self.widened;
        let distances = data.iter().map(|(_, value)| distance(*value, centre, ends));
        let farthest = distances.fold(0.0, f64::max);
        let reach = most.min(farthest + MARGIN.0 * sigma);
        let grid = SpeedGrid::new(centre, reach, sigma);
        let sizes = (0..SIZES).map(size).collect();
        let mut filter = ChangeFilter::new(&self.likely, sigma, sizes, grid);
        for (commit, value) in data {
            filter.add(commit, value);
        }
        self.filter = Some(filter);
    }

    /// Adds a value to the posterior, and makes that anew where the machine or the noise is beyond what it was made for.
    fn learn(&mut self, commit: usize, value: f64) {
        let (Some(filter), Some(ends)) = (&mut self.filter, self.ends) else {
            return;
        };
        filter.add(commit, value);
        let sigma = filter.sigma;
        let centre = filter.grid.centre();
        let most = REACH.max(6.0 * sigma) * self.widened;
        let reach = filter.grid.reach();
        let is_near = distance(value, centre, ends) + MARGIN.1 * sigma > reach;
        let scale = filter.scale().max(least_noise(ends.value));
        let is_other = scale < SCALE.0 * sigma || scale > SCALE.1 * sigma;
        let is_widest = reach >= most - sigma;
        let is_beyond = is_widest && filter.at_edge() > AT_EDGE;
        if is_beyond {
            self.widened *= 2.0;
        }
        if is_beyond || is_other || (is_near && !is_widest) {
            let data = std::mem::take(&mut filter.data);
            self.make_filter(data, if is_other { scale } else { sigma });
        }
    }

    /// Returns the commits that were compared with their parents.
    pub(super) fn compared_commits(&self) -> impl Iterator<Item = usize> {
        let compared = self.parents.iter().filter(|(_, pairs)| pairs.tried() > 0);
        compared.map(|(commit, _)| *commit)
    }

    fn look_between(&mut self) {
        let (Some(filter), Some(suspect)) = (&self.filter, self.suspect()) else {
            return;
        };
        let distance = filter.size().0.abs() / filter.scale();
        let odds = self.limits.confidence / (1.0 - self.limits.confidence);
        let bound = odds * (-OVERSHOOT * distance.min(LARGEST_STEP)).exp();
        let is_likely = suspect.probability >= bound * (1.0 - suspect.probability)
            && suspect.probability > LIKELY;
        if self.count >= self.limits.most {
            self.stage = SearchStage::Ended(SearchEnd::NotFound(suspect));
        } else if is_likely {
            self.tries += 1;
            self.stage = SearchStage::Parent([suspect.first - 1, suspect.last]);
        } else {
            self.stage = SearchStage::Between;
        }
    }

    fn look_at_parent(&mut self, sides: [usize; 2]) {
        let (Some(ends), Some(contrast)) = (self.ends, self.parents.get(&sides[1])) else {
            return;
        };
        let broken = [false, true].map(|it| contrast.side(it).is_empty());
        if let Some(at) = broken.into_iter().position(|it| it) {
            // The parent may never have been measured; then more commits are suspect.
            if at == 0 && sides[0] != 0 {
                self.broken.insert(sides[0]);
                self.parents.remove(&sides[1]);
            }
            self.tries -= usize::from(at == 0);
            self.look_between();
            return;
        }
        let tried = contrast.tried();
        if !self.is_look_at_parent(tried) {
            return;
        }
        let noise = self.filter.as_ref().map(ChangeFilter::scale);
        let Some(found) = contrast.result(noise) else {
            return;
        };
        self.parent = Some(found);
        let size = found.value * ends.value.signum();
        let whole = ends.value.abs();
        let fits = (size - whole).abs() <= COMPATIBLE * found.gap(&ends) && size >= 0.5 * whole;
        let is_whole = size >= CERTAIN * found.deviation && fits;
        let is_share = !fits
            && tried / 2 >= SHARE_LOOK.min(self.limits.most_pairs)
            && (size >= CERTAIN_SHARE * found.deviation
                || size <= -CERTAIN_OTHER_WAY * found.deviation);
        let is_none = size + COMPATIBLE * found.deviation < 0.5 * whole
            && size.abs() < COMPATIBLE * found.deviation;
        let is_last = tried / 2 >= self.limits.most_pairs || self.count >= self.limits.most;
        if !(is_whole || is_share || is_none || is_last) {
            return;
        }
        let Some(likeliest) = self.suspect() else {
            return;
        };
        let is_accepted = likeliest.last == sides[1] && likeliest.probability >= ACCEPTED;
        if is_share || (is_whole && is_accepted) {
            self.stage = SearchStage::Ended(SearchEnd::Found(FoundChange {
                commits: SuspectedCommits {
                    first: sides[0] + 1,
                    last: sides[1],
                    probability: likeliest.probability,
                },
                difference: found,
                is_whole,
            }));
        } else if self.tries >= TRIES {
            self.stage = SearchStage::Ended(SearchEnd::NotFound(likeliest));
        } else {
            self.look_between();
        }
    }

    /// Returns the commit that tells most for its cost, and its information per instance of its cost.
    fn choose(&self, filter: &ChangeFilter, cost: impl Fn(usize) -> f64) -> (usize, f64) {
        let after = filter.after();
        let last = self.likely.len() - 1;
        let measured: BTreeSet<usize> = filter.data.iter().map(|(commit, _)| *commit).collect();
        let usable = (1..last).filter(|it| !self.broken.contains(it));
        let (ready, new): (Vec<usize>, Vec<usize>) = usable.partition(|it| measured.contains(it));
        let is_undecided = |it: &&usize| after[**it] > UNDECIDED.0 && after[**it] < UNDECIDED.1;
        let mut options: Vec<usize> = ready.iter().filter(is_undecided).copied().collect();
        let from_half = |it: &usize| (after[*it] - 0.5).abs();
        let nearest = |cheaper_than: f64| {
            let new = new.iter().copied().filter(|it| cost(*it) < cheaper_than);
            new.min_by(|one, other| from_half(one).total_cmp(&from_half(other)))
        };
        // One that is farther, but built already for another benchmark, may be better.
        let middle = nearest(f64::INFINITY);
        options.extend(middle);
        options.extend(middle.and_then(|it| nearest(cost(it))));
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
        if self.anchors >= ANCHORS_IN_A_ROW {
            return (commit, rates[best]);
        }
        let recent = filter.data.iter().rev().take(2);
        let was_low = recent.clone().any(|(it, _)| after[*it] < ANCHORS.0);
        let is_sure = |it: &&usize| match was_low {
            true => after[**it] > ANCHORS.1,
            false => after[**it] < ANCHORS.0,
        };
        let sure = measured.iter().filter(is_sure).copied();
        let nearest = sure.min_by_key(|it| it.abs_diff(commit));
        let anchor = nearest.unwrap_or(if was_low { last } else { 0 });
        // There and back.
        let known = information(after[commit], distance / std::f64::consts::SQRT_2);
        if bits[best] < known / (2.0 + 2.0 * cost(anchor)) {
            return (anchor, rates[best]);
        }
        (commit, rates[best])
    }

    /// Returns a commit with others to measure at the same time, up to `width` in all and each once: those that
    /// divide the posterior into `width` + 1 parts of the same probability, without the one nearest to `commit`.
    ///
    /// These leave the fewest suspects of all that are chosen without knowing each other's results.
    fn with_others(&self, filter: &ChangeFilter, commit: usize, width: usize) -> Vec<usize> {
        let after = filter.after();
        let suspect = self.suspect().map_or(commit, |it| it.last);
        let parts = as_f64(width + 1);
        let of_part = |part: usize| {
            let distance = |at: &usize| (after[*at] - as_f64(part) / parts).abs();
            let measurable = (0..self.likely.len()).filter(|at| !self.broken.contains(at));
            measurable.min_by(|one, other| {
                let by_distance = distance(one).total_cmp(&distance(other));
                by_distance.then(one.abs_diff(suspect).cmp(&other.abs_diff(suspect)))
            })
        };
        let mut others: Vec<usize> = (1..=width).filter_map(of_part).collect();
        let nearest = (0..others.len()).min_by_key(|it| others[*it].abs_diff(commit));
        if let Some(nearest) = nearest {
            others.remove(nearest);
        }
        let mut all = vec![commit];
        for other in others {
            if !all.contains(&other) {
                all.push(other);
            }
        }
        all
    }
}

/// Returns how far the machine may be from what it was at first: the commit of this value may be before or after the change.
fn distance(value: f64, centre: f64, ends: PairDifference) -> f64 {
    let before = (value - centre).abs();
    before.max((value - centre - ends.value).abs())
}

/// Returns whether the side of a commit is certain enough to show the machine's speed.
fn is_anchor(filter: &ChangeFilter, commit: usize) -> bool {
    let after = filter.after();
    after[commit] < ANCHORS.0 || after[commit] > ANCHORS.1
}
