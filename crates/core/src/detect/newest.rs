//! The newest runs of each history against those before: a change as large as nothing before is found in its third run.
//!
//! The search of all places counts orders and not sizes, so it needs more runs. This test is beside it, with a level of its own.

use std::collections::BTreeMap;

use lapwing_stats::{
    NEWEST_RUNS, PValue, as_f64, benjamini_hochberg, mean, median, newest_p_values,
};

use rayon::prelude::*;

use super::finding::{Finding, SeriesState};
use super::options::DetectOptions;
use super::searched::{SearchedSeries, SeriesChange};
use super::series::{FAILURES, Histories, HistorySeries};
use super::shared::{AGREEING, MEMBERS, SharedChange};

/// The level of the newest three runs in terms of the rate of false findings: 0.3 % per night at 5 %.
const CONFIRMED: f64 = 0.06;
/// That of the newest run, and of the newest two.
const SUSPECTED: f64 = 0.1;
/// What the newest three showed at one of so many latest runs still counts; by then the search of all places finds it, too.
const REPLAYED: usize = 12;
/// The fewest runs before the newest three.
const LEAST_EARLIER: usize = 10;
/// Runs before these are in no test.
const LONGEST: usize = 60 + NEWEST_RUNS + REPLAYED;

/// What the newest runs of all series show.
#[derive(Debug, Default)]
pub(super) struct NewestRuns {
    /// The changes, with their adjusted p-values.
    pub(super) changes: Vec<NewestChange>,
    /// Those that most series of a suite share, with one of these.
    pub(super) shared: Vec<(usize, SharedChange)>,
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

/// Tests the newest runs of all series since their last change, at each of the latest [`REPLAYED`] runs.
///
/// All series of a metric are a family. What the median of a suite does is first taken out of its series, and tested as a series of
/// its own: where most of the suite moves, none of its series is looked at.
pub(super) fn newest_runs(
    histories: &Histories,
    searched: &[SearchedSeries],
    states: &[SeriesState],
    options: &DetectOptions,
) -> NewestRuns {
    if options.minimum_runs > NEWEST_RUNS {
        return NewestRuns::default();
    }
    // Logarithms and values are on different scales.
    let mut families: BTreeMap<(&str, bool), Vec<RecentRuns>> = BTreeMap::new();
    for (at, series) in histories.series.iter().enumerate() {
        if let Some(recent) = RecentRuns::of(at, series, &searched[at]) {
            let key = (series.subject.metric.as_str(), series.is_ratio());
            families.entry(key).or_default().push(recent);
        }
    }
    let with_suites = families.into_iter().map(|((metric, _), members)| {
        let suites = match metric {
            FAILURES => Vec::new(),
            _ => suites_that_share(histories, &members),
        };
        (members, suites)
    });
    let families: Vec<(Vec<RecentRuns>, Vec<Vec<usize>>)> = with_suites.collect();
    let sharing: usize = families.iter().map(|(_, suites)| suites.len()).sum();
    let rate = options.false_discovery_rate;
    let number = families.len();
    let own = |share: f64| NewestLevel::of(rate, share, number);
    let common = |share: f64| NewestLevel::of(rate, share, sharing);
    let found = families.into_par_iter().map(|(mut members, suites)| {
        let mut found = NewestRuns::default();
        for places in suites {
            found.take_out_what_is_shared(histories, &mut members, &places, common);
        }
        found.confirm(&mut members, own(CONFIRMED));
        members.retain(|it| matches!(states[it.series], SeriesState::Tested));
        found.suspect(&mut members, own(SUSPECTED));
        found
    });
    found.reduce(NewestRuns::default, NewestRuns::and)
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
    fn of(at: usize, series: &HistorySeries, searched: &SearchedSeries) -> Option<Self> {
        let number = series.points.len();
        let start = searched.changes.last().map_or(0, |change| change.point);
        let first = start.max(number.saturating_sub(LONGEST));
        let points = &series.points[first..];
        if points.len() < LEAST_EARLIER + NEWEST_RUNS || !series.varies_from(first) {
            return None;
        }
        Some(Self {
            series: at,
            first,
            moments: points.iter().map(|point| point.moment).collect(),
            values: series.scaled_from(first),
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

    fn subtract(&mut self, common: &RecentRuns) {
        for (moment, value) in self.moments.iter().zip(&mut self.values) {
            *value -= common.value_at(*moment).unwrap_or(0.0);
        }
    }

    /// Returns the runs without so many of the latest.
    fn without(&self, latest: usize) -> &[f64] {
        &self.values[..self.values.len().saturating_sub(latest)]
    }

    /// Returns the change that the newest runs show without so many of the latest.
    ///
    /// The level may have changed some runs before it could be seen: those before are nearer to the new one as well. If the latest three
    /// or more are nearer to the old one again, it went away.
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
        }
    }
}

/// Returns the members of each suite that has enough of them to share a change.
fn suites_that_share(histories: &Histories, members: &[RecentRuns]) -> Vec<Vec<usize>> {
    let mut suites: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (place, member) in members.iter().enumerate() {
        let suite = histories.series[member.series].subject.suite.as_str();
        suites.entry(suite).or_default().push(place);
    }
    let members = suites.into_values();
    members.filter(|it| it.len() >= MEMBERS).collect()
}

/// Returns what the series of a suite have in common: at each moment, the median of their values less their levels.
fn common_runs(members: &[&RecentRuns]) -> RecentRuns {
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
        p_adjusted: f64,
    },
    /// Most of them did in the newest one or two runs.
    MostLately {
        runs: usize,
        p_value: f64,
        p_adjusted: f64,
    },
}

/// Tests the common runs of a suite.
fn moved(
    common: &RecentRuns,
    members: &[&RecentRuns],
    level: impl Fn(f64) -> NewestLevel,
) -> Moved {
    let test = |latest: usize, runs: usize, level: NewestLevel| {
        let values = common.without(latest);
        let p_value = newest_p_values(&[values], runs, level.rate)[0]?.value();
        (p_value <= level.rate).then_some((p_value, (p_value * level.adjusting).min(1.0)))
    };
    let mut moved = Moved::Not;
    for latest in (0..REPLAYED).rev() {
        if let Some((p_value, p_adjusted)) = test(latest, NEWEST_RUNS, level(CONFIRMED)) {
            if is_shared(common, members, latest, NEWEST_RUNS) {
                return Moved::Most {
                    latest,
                    p_value,
                    p_adjusted,
                };
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
fn is_shared(common: &RecentRuns, members: &[&RecentRuns], latest: usize, runs: usize) -> bool {
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
        self.shared.append(&mut other.shared);
        self.suspects.append(&mut other.suspects);
        self
    }

    /// Subtracts what a suite has in common from its series. If most of them moved, adds that; they are not tested from there on.
    fn take_out_what_is_shared(
        &mut self,
        histories: &Histories,
        members: &mut [RecentRuns],
        places: &[usize],
        level: impl Fn(f64) -> NewestLevel,
    ) {
        let of_suite: Vec<&RecentRuns> = places.iter().map(|at| &members[*at]).collect();
        let common = common_runs(&of_suite);
        let moved = moved(&common, &of_suite, level);
        self.add_shared(histories, &of_suite, &common, &moved);
        let first = match moved {
            Moved::Not => None,
            Moved::Some => return,
            Moved::Most {
                latest, p_value, ..
            } => Some(common.change(latest, p_value).point),
            Moved::MostLately { runs, .. } => Some(common.values.len() - runs),
        };
        let first = first.map(|place| common.moments[place]);
        for place in places {
            let member = &mut members[*place];
            member.subtract(&common);
            let moments = member.moments.iter().rev();
            let moved = moments.take_while(|moment| first.is_some_and(|first| **moment >= first));
            member.moved = moved.count();
        }
    }

    /// Adds what a suite shares.
    fn add_shared(
        &mut self,
        histories: &Histories,
        members: &[&RecentRuns],
        common: &RecentRuns,
        moved: &Moved,
    ) {
        match *moved {
            Moved::Not | Moved::Some => {}
            Moved::MostLately {
                runs,
                p_value,
                p_adjusted,
            } => self.suspects.push(Suspect {
                series: members.iter().map(|it| it.series).collect(),
                runs,
                p_value,
                p_adjusted,
            }),
            Moved::Most {
                latest,
                p_value,
                p_adjusted,
            } => {
                let change = common.change(latest, p_value);
                let moment = common.moments[change.point];
                let until = change.until.map(|point| common.moments[point]);
                let range = moment..=common.moments[*change.range.end()];
                let lead = members[0].series;
                let shared = SharedChange {
                    moment,
                    range,
                    p_value,
                };
                let subject = &histories.series[lead].subject;
                for (series, it) in histories.series.iter().enumerate() {
                    let is_member =
                        it.subject.suite == subject.suite && it.subject.metric == subject.metric;
                    if is_member && let Some(change) = SeriesChange::of_suite(it, &shared, until) {
                        self.changes.push(NewestChange {
                            series,
                            change,
                            p_adjusted,
                        });
                    }
                }
                self.shared.push((lead, shared));
            }
        }
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

/// Returns the members whose newest runs stand apart without so many of the latest, with the p-value and the adjusted one.
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
