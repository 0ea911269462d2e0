//! The newest runs of each history against those before: a change as large as nothing before is found in its third run.
//!
//! The search of all places counts orders and not sizes, so it needs more runs. This test is beside it, with a level
//! of its own.

use std::collections::BTreeMap;

use lapwing_stats::{
    NEWEST_RUNS, PValue, as_f64, benjamini_hochberg, mean, median, newest_p_values,
};

use rayon::prelude::*;

use super::finding::Finding;
use super::options::DetectOptions;
use super::searched::{SearchedSeries, SeriesChange};
use super::series::{FAILURES, Histories, HistorySeries};
use super::shared::{AGREEING, MEMBERS, SharedChange};
use super::states::SeriesState;

/// The level of the newest three runs in terms of the rate of false findings: 0.3 % per night at 5 %.
const CONFIRMED: f64 = 0.06;
/// That of the newest run, and of the newest two.
const SUSPECTED: f64 = 0.1;
/// The test of the newest three is repeated at this many latest runs, so that a finding stays until the search of all
/// places finds it, too.
const REPLAYED: usize = 12;
/// The fewest runs before the newest ones.
const LEAST_EARLIER: usize = 10;
/// Runs before these are in no test.
const LONGEST: usize = 60 + NEWEST_RUNS + REPLAYED;

/// The results of the tests of the newest runs, over all series.
#[derive(Debug, Default)]
pub(super) struct NewestRuns {
    /// The changes, with their adjusted p-values.
    pub(super) changes: Vec<NewestChange>,
    /// The series whose newest one or two runs stand apart.
    pub(super) suspects: Vec<Suspect>,
}

/// A change of a series that its newest runs show.
#[derive(Debug)]
pub(super) struct NewestChange {
    pub(super) series: usize,
    pub(super) change: SeriesChange,
    pub(super) p_adjusted: f64,
}

/// A series whose newest runs stand apart, or several that share it.
#[derive(Debug)]
pub(super) struct Suspect {
    pub(super) series: Vec<usize>,
    /// The number of runs, one or two.
    pub(super) runs: usize,
    pub(super) p_value: f64,
    pub(super) p_adjusted: f64,
}

impl Suspect {
    /// Returns what it is of each series.
    pub(super) fn findings(
        &self,
        histories: &Histories,
        searched: &[SearchedSeries],
    ) -> Vec<Finding> {
        let p_values = [self.p_value, self.p_adjusted];
        let findings = self.series.iter().filter_map(|series| {
            searched[*series].suspected(histories, *series, self.runs, p_values)
        });
        findings.collect()
    }
}

/// The common course of the series of a suite, and whether it changed in the newest runs.
pub(super) struct SuiteMove {
    /// The index of suite and metric.
    pub(super) family: usize,
    series: Vec<usize>,
    common: RecentRuns,
    moved: Moved,
}

impl SuiteMove {
    /// Returns the change that most of the series share.
    pub(super) fn shared_change(&self) -> Option<SharedChange> {
        let Moved::Most { latest, p_value } = self.moved else {
            return None;
        };
        let change = self.common.change(latest, p_value);
        let moment = |point: usize| self.common.moments[point];
        Some(SharedChange {
            moment: moment(change.point),
            range: moment(*change.range.start())..=moment(*change.range.end()),
            p_value,
            until: change.until.map(moment),
        })
    }

    /// Returns the first moment in which most of the series moved.
    fn first(&self) -> Option<usize> {
        let place = match self.moved {
            Moved::Not | Moved::Some => return None,
            Moved::Most { latest, p_value } => self.common.change(latest, p_value).point,
            Moved::MostLately { runs, .. } => self.common.values.len() - runs,
        };
        Some(self.common.moments[place])
    }
}

/// Tests what the series of each suite and metric have in common since the last change that they share.
pub(super) fn suite_moves(
    histories: &Histories,
    families: &BTreeMap<(&str, &str), Vec<usize>>,
    shared: &[Vec<SharedChange>],
    options: &DetectOptions,
) -> Vec<SuiteMove> {
    if options.minimum_runs.is_some_and(|it| it > NEWEST_RUNS) {
        return Vec::new();
    }
    let mut suites: Vec<(usize, Vec<RecentRuns>)> = Vec::new();
    for (family, ((_, metric), members)) in families.iter().enumerate() {
        let last = shared[family].last().map_or(0, |change| change.moment);
        let recent = |at: &usize| {
            let series = &histories.series[*at];
            let start = series.points.partition_point(|point| point.moment < last);
            RecentRuns::of(*at, series, start)
        };
        let recent: Vec<RecentRuns> = members.iter().filter_map(recent).collect();
        // Logarithms and values are on different scales.
        let is_ratio = |it: &RecentRuns| histories.series[it.series].is_ratio();
        let (ratios, others): (Vec<_>, Vec<_>) = recent.into_iter().partition(is_ratio);
        let sharing = [ratios, others].into_iter();
        let sharing = sharing.filter(|it| *metric != FAILURES && it.len() >= MEMBERS);
        suites.extend(sharing.map(|members| (family, members)));
    }
    let number = suites.len();
    let level = |share: f64| NewestLevel::of(options.false_discovery_rate, share, number);
    let moves = suites.into_par_iter().map(|(family, members)| {
        let common = common_runs(&members);
        SuiteMove {
            family,
            series: members.iter().map(|it| it.series).collect(),
            moved: moved(&common, &members, level),
            common,
        }
    });
    moves.collect()
}

/// Tests the newest runs of all series since their last change, at each of the latest [`REPLAYED`] runs.
///
/// All series of a metric are a family. What a suite has in common is taken out of its series; where most of them
/// moved, none is tested.
pub(super) fn newest_runs(
    histories: &Histories,
    searched: &[SearchedSeries],
    states: &[SeriesState],
    moves: &[SuiteMove],
    options: &DetectOptions,
) -> NewestRuns {
    if options.minimum_runs.is_some_and(|it| it > NEWEST_RUNS) {
        return NewestRuns::default();
    }
    let mut move_of: Vec<Option<&SuiteMove>> = vec![None; histories.series.len()];
    for of_suite in moves {
        for series in &of_suite.series {
            move_of[*series] = Some(of_suite);
        }
    }
    let mut families: BTreeMap<(&str, bool), Vec<RecentRuns>> = BTreeMap::new();
    for (at, series) in histories.series.iter().enumerate() {
        let first = move_of[at].and_then(SuiteMove::first);
        let is_before = |point: usize| first.is_none_or(|it| series.points[point].moment < it);
        let mut changes = searched[at].changes.iter().map(|change| change.point);
        let start = changes.rfind(|point| is_before(*point));
        if let Some(mut recent) = RecentRuns::of(at, series, start.unwrap_or(0)) {
            if let Some(of_suite) = move_of[at] {
                recent.take_out(of_suite);
            }
            let key = (series.subject.metric.as_str(), series.is_ratio());
            families.entry(key).or_default().push(recent);
        }
    }
    let families: Vec<Vec<RecentRuns>> = families.into_values().collect();
    let number = families.len();
    let level = |share: f64| NewestLevel::of(options.false_discovery_rate, share, number);
    let found = families.into_par_iter().map(|mut members| {
        let mut found = NewestRuns::default();
        found.confirm(&mut members, level(CONFIRMED));
        members.retain(|it| matches!(states[it.series], SeriesState::Tested));
        found.suspect(&mut members, level(SUSPECTED));
        found
    });
    let mut found = found.reduce(NewestRuns::default, NewestRuns::and);
    for of_suite in moves {
        if let Moved::MostLately {
            runs,
            p_value,
            p_adjusted,
        } = of_suite.moved
        {
            found.suspects.push(Suspect {
                series: of_suite.series.clone(),
                runs,
                p_value,
                p_adjusted,
            });
        }
    }
    found
}

/// The level of a test, and the factor of p-values at it that makes them comparable with the rate of false findings.
#[derive(Debug, Clone, Copy)]
struct NewestLevel {
    rate: f64,
    adjusting: f64,
}

impl NewestLevel {
    /// Returns that of one of several tests that have a share of the rate of false findings together.
    fn of(rate: f64, share: f64, tests: usize) -> Self {
        Self {
            rate: rate * share / as_f64(tests),
            adjusting: as_f64(tests) / share,
        }
    }
}

/// The latest runs of a series since its last change.
struct RecentRuns {
    series: usize,
    /// The index of the first one in the series.
    first: usize,
    moments: Vec<usize>,
    values: Vec<f64>,
    /// Whether something was found in them, so that they are no longer one level.
    is_closed: bool,
    /// The number of latest runs in which the suite moved.
    moved: usize,
}

impl RecentRuns {
    /// Returns `None` if they are too few for a test, or all equal.
    fn of(at: usize, series: &HistorySeries, start: usize) -> Option<Self> {
        let number = series.points.len();
        let first = start.max(number.saturating_sub(LONGEST));
        let points = &series.points[first..];
        if points.len() <= LEAST_EARLIER || !series.varies_from(first) {
            return None;
        }
        Some(Self {
            series: at,
            first,
            moments: points.iter().map(|point| point.moment).collect(),
            values: series.searchable().values.split_off(first),
            is_closed: false,
            moved: 0,
        })
    }

    /// The median of the runs before all that are replayed, or else of all but the newest.
    fn level(&self) -> f64 {
        let earlier = self.values.len().saturating_sub(NEWEST_RUNS + REPLAYED);
        median(&self.values[..earlier.max(LEAST_EARLIER)]).unwrap_or(0.0)
    }

    fn value_at(&self, moment: usize) -> Option<f64> {
        let at = self.moments.binary_search(&moment).ok()?;
        Some(self.values[at])
    }

    /// Subtracts what the suite has in common, and notes in how many of the latest runs most of it moved.
    fn take_out(&mut self, of_suite: &SuiteMove) {
        if matches!(of_suite.moved, Moved::Some) {
            return;
        }
        for (moment, value) in self.moments.iter().zip(&mut self.values) {
            *value -= of_suite.common.value_at(*moment).unwrap_or(0.0);
        }
        if let Some(first) = of_suite.first() {
            self.moved = self
                .moments
                .iter()
                .filter(|moment| **moment >= first)
                .count();
        }
    }

    /// Returns the runs without so many of the latest.
    fn without(&self, latest: usize) -> &[f64] {
        &self.values[..self.values.len().saturating_sub(latest)]
    }

    /// Returns the change that the newest runs show without so many of the latest.
    ///
    /// The level may have changed some runs before it could be seen: those before are nearer to the new one as well.
    /// If the latest three or more are nearer to the old one again, it went away.
    fn change(&self, latest: usize, p_value: f64) -> SeriesChange {
        let last = self.values.len() - latest - NEWEST_RUNS;
        let middle = |values: &[f64]| median(values).unwrap_or(0.0);
        let before = middle(&self.values[..last]);
        let after = middle(&self.values[last..last + NEWEST_RUNS]);
        let is_after = |value: &f64| (value - before).abs() > (value - after).abs();
        let earlier = self.values[..last].iter().rev().take(NEWEST_RUNS);
        let place = last - earlier.take_while(|value| is_after(value)).count();
        let back = self.values[last + NEWEST_RUNS..].iter().rev();
        let back = back.take_while(|value| !is_after(value)).count();
        let end = self.first + self.values.len();
        SeriesChange {
            point: self.first + place,
            range: self.first + place..=self.first + last,
            p_value,
            is_shared: false,
            until: (back >= NEWEST_RUNS).then_some(end - back),
            from: self.first,
            drift: None,
        }
    }
}

/// Returns what the series of a suite have in common: at each moment, the median of their values less their levels.
fn common_runs(members: &[RecentRuns]) -> RecentRuns {
    let mut by_moment: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for member in members {
        let level = member.level();
        for (moment, value) in member.moments.iter().zip(&member.values) {
            by_moment.entry(*moment).or_default().push(value - level);
        }
    }
    let common = by_moment.into_iter();
    let common = common.filter(|(_, values)| values.len() >= MEMBERS);
    let (moments, values) = common
        .filter_map(|(moment, values)| Some((moment, median(&values)?)))
        .unzip();
    RecentRuns {
        series: members[0].series,
        first: 0,
        moments,
        values,
        is_closed: false,
        moved: 0,
    }
}

/// Whether a suite moved.
enum Moved {
    Not,
    /// Some of its series did, and with them the median.
    Some,
    /// Most of them did, without so many of the latest runs.
    Most {
        latest: usize,
        p_value: f64,
    },
    /// Most of them did in the newest one or two runs.
    MostLately {
        runs: usize,
        p_value: f64,
        p_adjusted: f64,
    },
}

/// Tests the common runs of a suite.
fn moved(common: &RecentRuns, members: &[RecentRuns], level: impl Fn(f64) -> NewestLevel) -> Moved {
    let test = |latest: usize, runs: usize, level: NewestLevel| {
        let values = common.without(latest);
        let p_value = newest_p_values(&[values], runs, level.rate)[0]?.value();
        (p_value <= level.rate).then_some((p_value, (p_value * level.adjusting).min(1.0)))
    };
    let mut moved = Moved::Not;
    for latest in (0..REPLAYED).rev() {
        if let Some((p_value, _)) = test(latest, NEWEST_RUNS, level(CONFIRMED)) {
            if is_shared(common, members, latest, NEWEST_RUNS) {
                return Moved::Most { latest, p_value };
            }
            moved = Moved::Some;
        }
    }
    for runs in (1..NEWEST_RUNS).rev() {
        if let Some((p_value, p_adjusted)) = test(0, runs, level(SUSPECTED)) {
            if is_shared(common, members, 0, runs) {
                return Moved::MostLately {
                    runs,
                    p_value,
                    p_adjusted,
                };
            }
            moved = Moved::Some;
        }
    }
    moved
}

/// Returns whether nearly all series move at least half as far as the median of all.
fn is_shared(common: &RecentRuns, members: &[RecentRuns], latest: usize, runs: usize) -> bool {
    let end = common.values.len() - latest;
    let newest = end - runs..end;
    let before = median(&common.values[..newest.start]).unwrap_or(0.0);
    let shift = mean(&common.values[newest.clone()]).unwrap_or(0.0) - before;
    let moments = &common.moments[newest];
    let shifts = members.iter().filter_map(|member| {
        let runs = member.moments.iter().zip(&member.values);
        let runs = runs.filter(|(moment, _)| moments.contains(moment));
        let values: Vec<f64> = runs.map(|(_, value)| *value).collect();
        Some(mean(&values)? - member.level() - before)
    });
    let shifts: Vec<f64> = shifts.collect();
    let agreeing = shifts.iter().filter(|own| *own / shift >= 0.5).count();
    as_f64(agreeing) >= AGREEING * as_f64(shifts.len())
}

impl NewestRuns {
    fn and(mut self, mut other: Self) -> Self {
        self.changes.append(&mut other.changes);
        self.suspects.append(&mut other.suspects);
        self
    }

    /// Adds the changes of single series; each closes its series.
    fn confirm(&mut self, members: &mut [RecentRuns], level: NewestLevel) {
        for latest in (0..REPLAYED).rev() {
            for (place, p_value, p_adjusted) in standing_apart(members, latest, NEWEST_RUNS, level)
            {
                let member = &mut members[place];
                member.is_closed = true;
                self.changes.push(NewestChange {
                    series: member.series,
                    change: member.change(latest, p_value),
                    p_adjusted,
                });
            }
        }
    }

    /// Adds the series whose newest two runs stand apart, or else the newest one.
    fn suspect(&mut self, members: &mut [RecentRuns], level: NewestLevel) {
        for runs in (1..NEWEST_RUNS).rev() {
            for (place, p_value, p_adjusted) in standing_apart(members, 0, runs, level) {
                members[place].is_closed = true;
                self.suspects.push(Suspect {
                    series: vec![members[place].series],
                    runs,
                    p_value,
                    p_adjusted,
                });
            }
        }
    }
}

/// Returns the members whose newest runs stand apart without so many of the latest, with the p-value and the adjusted
/// one.
fn standing_apart(
    members: &[RecentRuns],
    latest: usize,
    runs: usize,
    level: NewestLevel,
) -> Vec<(usize, f64, f64)> {
    let is_open = |it: &RecentRuns| !it.is_closed && latest >= it.moved;
    let open = members.iter().enumerate().filter(|(_, it)| is_open(it));
    let (places, values): (Vec<usize>, Vec<&[f64]>) = open
        .map(|(place, member)| (place, member.without(latest)))
        .unzip();
    let p_values = newest_p_values(&values, runs, level.rate);
    let tested = places.into_iter().zip(p_values);
    let (places, p_values): (Vec<usize>, Vec<PValue>) = tested
        .filter_map(|(place, p_value)| Some((place, p_value?)))
        .unzip();
    let adjusted = benjamini_hochberg(&p_values);
    let all = places.into_iter().zip(&p_values).zip(&adjusted);
    all.filter(|(_, adjusted)| adjusted.value() <= level.rate)
        .map(|((place, p_value), adjusted)| {
            let p_adjusted = (adjusted.value() * level.adjusting).min(1.0);
            (place, p_value.value(), p_adjusted)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recent(values: Vec<f64>) -> RecentRuns {
        RecentRuns {
            series: 0,
            first: 100,
            moments: (0..values.len()).collect(),
            values,
            is_closed: false,
            moved: 0,
        }
    }

    #[test]
    fn a_change_that_is_seen_late_begins_where_the_new_level_does() {
        let mut values: Vec<f64> = (0..30).map(|run| f64::from(run % 3)).collect();
        values.extend([11.0, 9.0, 10.0, 11.0, 9.0]);
        let change = recent(values.clone()).change(0, 0.001);
        assert_eq!((change.point, change.range), (130, 130..=132));
        assert_eq!(change.until, None);
        values.extend([1.0, 2.0, 0.0]);
        assert_eq!(recent(values).change(3, 0.001).until, Some(135));
    }
}
