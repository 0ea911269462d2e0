//! The changes of one series, with sizes and shapes.

use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};

use lapwing_stats::as_f64;
use lapwing_stats::changepoint::{LevelNoise, LevelOptions, SeriesChanges, series_changes};
use serde::{Deserialize, Serialize};

use super::drift::{DriftSize, drift_size};
use super::environment::{EnvironmentChange, differences};
use super::finding::{ChangeKind, Direction, Evidence, Finding};
use super::searcher::NoiseFields;
use super::series::{
    Histories, HistorySeries, Moment, SearchableValues, SeriesPoint, scaled, varies,
};
use super::shared::SharedChange;
use super::size::ChangeSize;

/// The fewest runs of a series to be tested: no split of fewer is rare enough.
pub(super) const FEWEST_RUNS: usize = 10;
/// The number of moments on each side of a change whose environments are compared.
const ENVIRONMENTS: usize = 10;

/// A change of one series before its size is known.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct SeriesChange {
    /// The index of the first point after it.
    pub(super) point: usize,
    /// The points that the first one after it may be; of a drift, from the last one before it to the first one after.
    pub(super) range: RangeInclusive<usize>,
    pub(super) p_value: f64,
    /// Whether the suite shares it.
    pub(super) is_shared: bool,
    /// The first point at which the level seems to be back, if that is too new to be a change.
    pub(super) until: Option<usize>,
    /// The first point that it was compared with; earlier ones are at no one level.
    pub(super) from: usize,
    /// Of a drift.
    pub(super) drift: Option<SeriesDrift>,
}

/// A change that is slow.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct SeriesDrift {
    /// The point at which its rate changes, if it does.
    bend: Option<usize>,
}

impl SeriesChange {
    /// Returns the end of the points before it.
    fn level_until(&self) -> usize {
        match self.drift {
            Some(_) => self.range.start() + 1,
            None => self.point,
        }
    }

    /// Returns a change that the suite shares as one of a series; `None` if that was measured on one side only.
    fn of_suite(points: &[SeriesPoint], shared: &SharedChange) -> Option<Self> {
        let end = points.len();
        let place = |moment: usize| points.partition_point(|point| point.moment < moment);
        let point = place(shared.moment);
        (point > 0 && point < end).then(|| Self {
            point,
            range: place(*shared.range.start()).max(1)
                ..=place(*shared.range.end()).clamp(1, end - 1),
            p_value: shared.p_value,
            is_shared: true,
            until: shared.until.map(place).filter(|until| *until < end),
            from: 0,
            drift: None,
        })
    }
}

/// Returns the changes in a part of a series that begins at `start`, one of so many that are searched.
fn changes_of(
    changes: SeriesChanges,
    start: usize,
    number: f64,
) -> impl Iterator<Item = SeriesChange> {
    let change = move |point: usize, range: RangeInclusive<usize>, p_value: f64| SeriesChange {
        point: start + point,
        range: start + range.start()..=start + range.end(),
        p_value: (p_value * number).min(1.0),
        is_shared: false,
        until: None,
        from: 0,
        drift: None,
    };
    let steps = changes.steps.into_iter();
    let steps = steps.map(move |step| change(step.index, step.range, step.p_value));
    let drift = changes.drift.map(|drift| SeriesChange {
        drift: Some(SeriesDrift {
            bend: drift.bend.map(|bend| start + bend),
        }),
        ..change(*drift.range.end(), drift.range, drift.p_value)
    });
    steps.chain(drift)
}

/// The changes of one series, and the autocorrelation of its noise.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct SearchedSeries {
    pub(super) changes: Vec<SeriesChange>,
    autocorrelation: f64,
    /// The rate of false findings.
    rate: f64,
    /// The noise estimated from its longest part.
    #[serde(with = "NoiseFields")]
    pub(super) noise: LevelNoise,
    /// Whether it was searched.
    pub(super) is_tested: bool,
    /// Whether its newest part wanders, so that it has no level that could change.
    pub(super) wanders: bool,
}

impl SearchedSeries {
    /// Searches a series, which the shared changes split.
    pub(super) fn of(
        points: &[SeriesPoint],
        shared: &[SharedChange],
        options: &LevelOptions,
    ) -> Self {
        let mut found = Self::default();
        if !can_be_tested(points) {
            return found;
        }
        found.is_tested = true;
        found.rate = options.false_alarms;
        let SearchableValues { values, fine } = SearchableValues::of(points);
        let mut start = 0;
        let mut parts = Vec::new();
        for change in shared {
            let of_series = SeriesChange::of_suite(points, change);
            if let Some(change) = of_series.filter(|change| change.point > start) {
                parts.push(start..change.point);
                start = change.point;
                found.changes.push(change);
            }
        }
        parts.push(start..points.len());
        let exact = fine.as_ref().map(|_| scaled(points));
        let fine = fine.unwrap_or_default();
        let fine_of = |part: &Range<usize>| {
            let within = part.start.max(fine.start)..part.end.min(fine.end);
            (within.len() >= FEWEST_RUNS).then_some(within)
        };
        let fine_parts: Vec<Range<usize>> = parts.iter().filter_map(fine_of).collect();
        let number = as_f64(parts.len() + fine_parts.len());
        let longest = parts.iter().map(Range::len).max();
        for part in parts {
            let changes = series_changes(&values[part.clone()], options);
            if Some(part.len()) == longest {
                found.noise = changes.noise;
            }
            let weight = as_f64(part.len()) / as_f64(values.len());
            found.autocorrelation += changes.autocorrelation * weight;
            found.wanders = changes.wanders;
            found
                .changes
                .extend(changes_of(changes, part.start, number));
        }
        // Small changes that only a finer resolution shows.
        for part in fine_parts {
            let values = exact.as_deref().unwrap_or(&values);
            let changes = series_changes(&values[part.clone()], options);
            for change in changes_of(changes, part.start, number) {
                let is_same = |known: &SeriesChange| {
                    known.range.start() <= change.range.end()
                        && change.range.start() <= known.range.end()
                };
                if !found.changes.iter().any(is_same) {
                    found.changes.push(change);
                }
            }
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
            is_shared: true,
            until: None,
            from: 0,
            drift: None,
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
        let series = &histories.series[at];
        let is_ratio = series.is_ratio();
        let steps = self.changes.iter().filter(|it| it.drift.is_none());
        let steps: Vec<usize> = steps.map(|it| it.point).collect();
        let drifts: Vec<Option<DriftSize>> = self
            .changes
            .iter()
            .map(|change| {
                let drift = change.drift?;
                drift_size(histories, series, &change.range, drift.bend, &steps)
            })
            .collect();
        // Steps are changes of what is left without the drifts.
        let scaled = series.scaled();
        let mut flat = scaled.clone();
        for (change, drift) in self.changes.iter().zip(&drifts) {
            if let Some(drift) = drift {
                let added = drift.added.iter().copied();
                let whole = drift.added.last().copied().unwrap_or(0.0);
                let start = *change.range.start();
                let added = added.chain(std::iter::repeat(whole));
                for (value, added) in flat[start..].iter_mut().zip(added) {
                    *value -= added;
                }
            }
        }
        let mut findings = Vec::new();
        for (index, (change, drift)) in self.changes.iter().zip(drifts).enumerate() {
            let (before, after) = self.sides(index, scaled.len());
            let [was, is] = [&before, &after].map(|side| &flat[side.clone()]);
            let p_adjusted = adjusted.get(&change.point).copied().unwrap_or(1.0);
            // What is found has at most the rate as its adjusted p-value; what a suite shares was not found here.
            let border = (!change.is_shared).then_some(change.p_value / p_adjusted * self.rate);
            let of_step = ChangeSize::of([was, is], self.autocorrelation, border, is_ratio);
            let found = match (drift, of_step) {
                (Some(drift), _) => {
                    let away = went_away(&self.changes, &scaled, index + 1, &drift.size);
                    Some((drift.size, drift.rates, away))
                }
                (None, Some(size)) if change.drift.is_none() => {
                    let away = went_away(&self.changes, &flat, index + 1, &size);
                    let added = scaled[change.point] - flat[change.point];
                    Some((size.raised(added), Vec::new(), away))
                }
                (None, _) => None,
            };
            let Some((size, rates, away)) = found else {
                continue;
            };
            let moment = |point: usize| series.points[point].moment;
            let (first, last) = (*change.range.start(), *change.range.end());
            let (kind, last_before, first) = match &change.drift {
                Some(_) => (ChangeKind::Drift, first, first + 1),
                None => (ChangeKind::Step, change.point - 1, first),
            };
            let third = match change.drift {
                Some(_) => (last - change.range.start()) / 3,
                None => 0,
            };
            let surroundings = (
                before.start..before.end + third,
                after.start - third..after.end,
            );
            findings.push(Finding {
                series: at,
                subject: series.subject.clone(),
                metric: series.metric.clone(),
                kind,
                direction: Direction::of(&series.metric, size.rises()),
                last_before: moment(last_before),
                first_after: moment(change.point),
                range: moment(first)..=moment(last),
                good: moment(first.saturating_sub(1)),
                size,
                rates,
                evidence: Evidence::Test {
                    p_value: change.p_value,
                    p_adjusted,
                },
                runs: [before.len(), after.len()],
                went_away: change.until.or(away).map(moment),
                environment: environment(histories, series, &surroundings.0, &surroundings.1),
                explained: None,
                triage: None,
                is_notified: false,
            });
        }
        findings
    }

    /// Returns the points before a change, back to the change before, and those after it, up to the next one.
    fn sides(&self, index: usize, length: usize) -> (Range<usize>, Range<usize>) {
        let change = &self.changes[index];
        let until = change.level_until();
        let earlier = self.changes[..index].iter().map(|it| it.point);
        let start = earlier.filter(|point| *point < until).max().unwrap_or(0);
        let start = start.max(change.from);
        let later = self.changes[index + 1..].iter();
        let later = later.map(SeriesChange::level_until);
        let end = later.filter(|until| *until > change.point).min();
        let end = change.until.or(end).unwrap_or(length);
        (start..until, change.point..end)
    }
}

/// Returns whether the search of all places tests a series: it has enough runs, and they differ.
pub(super) fn is_testable(series: &HistorySeries) -> bool {
    can_be_tested(&series.points)
}

fn can_be_tested(points: &[SeriesPoint]) -> bool {
    points.len() >= FEWEST_RUNS && varies(points)
}

/// The number of runs that a history needs before a change of it alone can be found among several. With fewer, no order of
/// its values is rare enough; only its newest runs can still be told apart by their sizes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EnoughRuns {
    /// That number.
    pub runs: usize,
    /// The number of histories of a metric, of which one changes.
    pub histories: usize,
}

impl EnoughRuns {
    /// Of more runs the smallest p-value is below any level.
    const MOST: usize = 60;

    /// Returns the number for so many histories whose findings share a level.
    pub(super) fn among(histories: usize, rate: f64, options: &LevelOptions) -> Self {
        let level = rate / as_f64(histories.max(1));
        let is_enough = |runs: &usize| {
            let changes = series_changes(&clear_step(*runs), options);
            let mut steps = changes.steps.iter();
            steps.any(|step| step.p_value <= level)
        };
        let mut numbers = FEWEST_RUNS..Self::MOST;
        let runs = numbers.find(is_enough).unwrap_or(Self::MOST);
        Self { runs, histories }
    }
}

/// Returns so many values that vary little around two levels, each that of a half.
fn clear_step(runs: usize) -> Vec<f64> {
    // Without order, and never the same.
    let varied = |at: usize| 1.0 + 0.01 * (as_f64(at) * 0.618_034).fract();
    let level = |at: usize| if at < runs / 2 { 1.0 } else { 10.0 };
    (0..runs).map(|at| level(at) * varied(at)).collect()
}

/// Returns the point from which on the level was back to that before a change, by a later change: nearer to it than
/// to the changed one.
///
/// A change of a series' own is not undone by what the whole suite shares: a faster machine does not repair a
/// regression.
fn went_away(
    changes: &[SeriesChange],
    scaled: &[f64],
    next: usize,
    size: &ChangeSize,
) -> Option<usize> {
    let scale = |value: f64| if size.is_ratio { value.ln() } else { value };
    let (before, after) = (scale(size.before), scale(size.after));
    let is_own = !changes[next - 1].is_shared;
    let rest = changes[next..].iter().filter(|it| it.drift.is_none());
    let rest: Vec<&SeriesChange> = rest.collect();
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
