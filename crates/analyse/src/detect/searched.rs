//! The changes of one series, with sizes and shapes.

use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};

use lapwing_stats::as_f64;
use lapwing_stats::changepoint::{LevelNoise, LevelOptions, drift, level_changes};

use super::environment::{EnvironmentChange, differences};
use super::finding::{ChangeKind, Direction, Evidence, Finding};
use super::series::{Histories, HistorySeries, Moment};
use super::shared::SharedChange;
use super::size::ChangeSize;

/// The fewest runs of a series to be tested: no split of fewer is rare enough.
pub(super) const FEWEST_RUNS: usize = 8;
/// The number of moments on each side of a change whose environments are compared.
const ENVIRONMENTS: usize = 10;

/// A change of one series before its size is known.
#[derive(Debug, Clone)]
pub(super) struct SeriesChange {
    /// The index of the first point after it.
    pub(super) point: usize,
    /// The points that the first one after it may be.
    pub(super) range: RangeInclusive<usize>,
    pub(super) p_value: f64,
    /// Whether the suite shares it.
    pub(super) is_shared: bool,
    /// The first point at which the level seems to be back, if that is too new to be a change.
    pub(super) until: Option<usize>,
}

impl SeriesChange {
    /// Returns a change that the suite shares as one of a series; `None` if that was measured on one side only.
    fn of_suite(series: &HistorySeries, shared: &SharedChange) -> Option<Self> {
        let end = series.points.len();
        let place = |moment: usize| series.points.partition_point(|point| point.moment < moment);
        let point = place(shared.moment);
        (point > 0 && point < end).then(|| Self {
            point,
            range: place(*shared.range.start()).max(1)
                ..=place(*shared.range.end()).clamp(1, end - 1),
            p_value: shared.p_value,
            is_shared: true,
            until: shared.until.map(place).filter(|until| *until < end),
        })
    }
}

/// The changes of one series, and the autocorrelation of its noise.
#[derive(Debug, Clone, Default)]
pub(super) struct SearchedSeries {
    pub(super) changes: Vec<SeriesChange>,
    autocorrelation: f64,
    /// The rate of false findings.
    rate: f64,
    /// What its longest part says of the noise.
    pub(super) noise: LevelNoise,
    /// Whether it was searched.
    pub(super) is_tested: bool,
}

impl SearchedSeries {
    /// Searches a series, which the shared changes split.
    pub(super) fn of(
        series: &HistorySeries,
        shared: &[SharedChange],
        options: &LevelOptions,
    ) -> Self {
        let mut found = Self::default();
        if !is_testable(series) {
            return found;
        }
        found.is_tested = true;
        found.rate = options.false_alarms;
        let scaled = series.scaled();
        let mut start = 0;
        let mut parts = Vec::new();
        for change in shared {
            let of_series = SeriesChange::of_suite(series, change);
            if let Some(change) = of_series.filter(|change| change.point > start) {
                parts.push(start..change.point);
                start = change.point;
                found.changes.push(change);
            }
        }
        parts.push(start..series.points.len());
        let number = as_f64(parts.len());
        let longest = parts.iter().map(Range::len).max();
        for part in parts {
            let changes = level_changes(&scaled[part.clone()], options);
            if Some(part.len()) == longest {
                found.noise = changes.noise;
            }
            let weight = as_f64(part.len()) / as_f64(scaled.len());
            found.autocorrelation += changes.autocorrelation * weight;
            found
                .changes
                .extend(changes.changes.into_iter().map(|change| SeriesChange {
                    point: part.start + change.index,
                    range: part.start + change.range.start()..=part.start + change.range.end(),
                    p_value: (change.p_value * number).min(1.0),
                    is_shared: false,
                    until: None,
                }));
        }
        found.changes.sort_by_key(|change| change.point);
        found
    }

    /// Adds a change that the newest runs show.
    pub(super) fn add(&mut self, change: SeriesChange) {
        self.changes.push(change);
        self.changes.sort_by_key(|change| change.point);
    }

    /// Returns what it would be if the level changed in the newest runs of this number.
    pub(super) fn suspected(
        &self,
        histories: &Histories,
        at: usize,
        runs: usize,
        [p_value, p_adjusted]: [f64; 2],
    ) -> Option<Finding> {
        let point = histories.series[at].points.len().checked_sub(runs)?;
        let change = |point: usize| SeriesChange {
            point,
            range: point..=point,
            p_value,
            // No drift together with the change before.
            is_shared: true,
            until: None,
        };
        let before = self.changes.last().map(|before| before.point);
        let places = before.into_iter().chain([point]);
        let suspected = Self {
            changes: places.map(change).collect(),
            ..*self
        };
        let adjusted = BTreeMap::from([(point, p_adjusted)]);
        suspected.findings(histories, at, &adjusted).pop()
    }

    /// Returns the findings, with sizes and shapes; `at` is the index of the series, and `adjusted` has the p-values by
    /// first point after the change.
    pub(super) fn findings(
        &self,
        histories: &Histories,
        at: usize,
        adjusted: &BTreeMap<usize, f64>,
    ) -> Vec<Finding> {
        let found = self;
        let series = &histories.series[at];
        let scaled = series.scaled();
        let is_ratio = series.is_ratio();
        let borders: Vec<usize> = found.changes.iter().map(|change| change.point).collect();
        let segment = |index: usize| {
            let start = index.checked_sub(1).map_or(0, |before| borders[before]);
            let end = borders.get(index).copied().unwrap_or(scaled.len());
            start..end
        };
        let mut findings = Vec::new();
        let mut next = 0;
        while next < found.changes.len() {
            let (steps, slope) = drift_from(found, &scaled, next, &borders);
            let change = &found.changes[next];
            let mut before = segment(next);
            let mut after = segment(next + steps);
            if let Some(slope) = &slope {
                // The levels are those outside of the slope.
                before.end = slope.start + 1;
                after.start = slope.end;
            }
            after.end = change.until.unwrap_or(after.end);
            next += steps;
            let clearest = found.changes[next - steps..next].iter();
            let clearest = clearest.min_by(|one, other| one.p_value.total_cmp(&other.p_value));
            let clearest = clearest.unwrap_or(change);
            let p_adjusted = adjusted.get(&clearest.point).copied().unwrap_or(1.0);
            let Some(size) = ChangeSize::of(
                [&scaled[before.clone()], &scaled[after.clone()]],
                found.autocorrelation,
                // What is found has at most the rate as its adjusted p-value; what a suite shares was not found here.
                (!change.is_shared).then_some(clearest.p_value / p_adjusted * found.rate),
                is_ratio,
            ) else {
                continue;
            };
            let moment = |point: usize| series.points[point].moment;
            let (kind, first, last) = match &slope {
                Some(slope) => (ChangeKind::Drift, slope.start + 1, slope.end),
                None => (ChangeKind::Step, *change.range.start(), *change.range.end()),
            };
            let (last_before, first_after) = match &slope {
                Some(slope) => (slope.start, slope.end),
                None => (change.point - 1, change.point),
            };
            findings.push(Finding {
                series: at,
                subject: series.subject.clone(),
                metric: series.metric.clone(),
                kind,
                direction: Direction::of(&series.metric, size.rises()),
                last_before: moment(last_before),
                first_after: moment(first_after),
                range: moment(first)..=moment(last),
                good: moment(first.saturating_sub(1)),
                size,
                evidence: Evidence::Test {
                    p_value: clearest.p_value,
                    p_adjusted,
                },
                runs: [before.len(), after.len()],
                went_away: change
                    .until
                    .or_else(|| went_away(found, &scaled, next, &size, is_ratio))
                    .map(moment),
                environment: environment(histories, series, &before, &after),
                triage: None,
                is_notified: false,
            });
        }
        findings
    }
}

/// Returns whether the search of all places tests a series: it has enough runs, and they differ.
pub(super) fn is_testable(series: &HistorySeries) -> bool {
    series.points.len() >= FEWEST_RUNS && series.varies_from(0)
}

/// Returns how many changes from this one on are one drift, and the points between which it is; one change and none
/// if it is a step.
fn drift_from(
    found: &SearchedSeries,
    scaled: &[f64],
    first: usize,
    borders: &[usize],
) -> (usize, Option<Range<usize>>) {
    let level = |index: usize| {
        let start = index.checked_sub(1).map_or(0, |before| borders[before]);
        let end = borders.get(index).copied().unwrap_or(scaled.len());
        lapwing_stats::median(&scaled[start..end]).unwrap_or(0.0)
    };
    let rises = |index: usize| level(index + 1) > level(index);
    // What went away within a few runs is no part of a slope.
    let is_own = |index: usize| {
        let change = &found.changes[index];
        !change.is_shared && change.until.is_none()
    };
    let mut last = first;
    while last + 1 < found.changes.len()
        && is_own(first)
        && is_own(last + 1)
        && rises(last + 1) == rises(first)
    {
        last += 1;
    }
    let start = first.checked_sub(1).map_or(0, |before| borders[before]);
    for last in (first..=last).rev() {
        if !is_own(first) {
            break;
        }
        let end = borders.get(last + 1).copied().unwrap_or(scaled.len());
        let steps: Vec<usize> = borders[first..=last].iter().map(|at| at - start).collect();
        if let Some(slope) = drift(&scaled[start..end], &steps) {
            let steps = last + 1 - first;
            return (steps, Some(start + slope.start..start + slope.end));
        }
    }
    (1, None)
}

/// Returns the point from which on the level was back to that before a change, by a later change: nearer to it than
/// to the changed one.
///
/// A change of a series' own is not undone by what the whole suite shares: a faster machine does not repair a
/// regression.
fn went_away(
    found: &SearchedSeries,
    scaled: &[f64],
    next: usize,
    size: &ChangeSize,
    is_ratio: bool,
) -> Option<usize> {
    let scale = |value: f64| if is_ratio { value.ln() } else { value };
    let (before, after) = (scale(size.before), scale(size.after));
    let is_own = !found.changes[next - 1].is_shared;
    let rest = &found.changes[next..];
    let (mut latest, mut of_suite) = (after, 0.0);
    for (index, change) in rest.iter().enumerate() {
        let end = rest
            .get(index + 1)
            .map_or(scaled.len(), |later| later.point);
        let level = lapwing_stats::median(&scaled[change.point..end]).unwrap_or(latest);
        if is_own && change.is_shared {
            of_suite += level - latest;
        }
        latest = level;
        let middle = f64::midpoint(before, after);
        if (level - of_suite > middle) != (after > middle) {
            return Some(change.point);
        }
    }
    None
}

/// Returns what differs in the environment between these runs of a series before a change and those after it.
pub(super) fn environment(
    histories: &Histories,
    series: &HistorySeries,
    before: &Range<usize>,
    after: &Range<usize>,
) -> Vec<EnvironmentChange> {
    let moments = |points: Range<usize>| -> Vec<&Moment> {
        let points = series.points[points].iter();
        points
            .map(|point| &histories.moments[point.moment])
            .collect()
    };
    let nearest_before = before.end.saturating_sub(ENVIRONMENTS).max(before.start)..before.end;
    let nearest_after = after.start..after.end.min(after.start + ENVIRONMENTS);
    differences(&moments(nearest_before), &moments(nearest_after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_that_went_away_is_no_part_of_a_drift() {
        let scaled: Vec<f64> = (0..30_u32)
            .map(|run| f64::from(run.clamp(8, 20)) + 0.01 * f64::from(run % 3))
            .collect();
        let change = |point: usize, until: Option<usize>| SeriesChange {
            point,
            range: point..=point,
            p_value: 0.001,
            is_shared: false,
            until,
        };
        let borders = [12, 16];
        let steps = |until: Option<usize>| {
            let found = SearchedSeries {
                changes: vec![change(12, until), change(16, None)],
                ..SearchedSeries::default()
            };
            drift_from(&found, &scaled, 0, &borders).0
        };
        assert_eq!(steps(None), 2);
        assert_eq!(steps(Some(15)), 1);
    }
}
