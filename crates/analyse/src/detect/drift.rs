//! Drifts: how fast, and from which level to which.

use std::ops::{Range, RangeInclusive};

use jiff::Timestamp;
use lapwing_stats::changepoint::slope;
use lapwing_stats::{Interval, as_f64, mean};

use super::series::{Histories, HistorySeries};
use super::size::ChangeSize;

/// Rates of shorter drifts are per run: they say nothing about weeks.
const SHORTEST_IN_WEEKS: f64 = 2.0;
const SECONDS_PER_WEEK: f64 = 7.0 * 86_400.0;

/// The rate of a drift.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DriftRate {
    /// The change in a period: a factor, or a difference in the metric's unit if values are not all positive.
    pub change: f64,
    /// Its 95 % interval.
    pub interval: Interval,
    /// The period.
    pub per: RatePeriod,
    /// The first and the last moment of the part of the drift that has this rate.
    pub moments: [usize; 2],
    /// The levels there, in the metric's unit.
    pub levels: [f64; 2],
}

/// The period of a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RatePeriod {
    /// A week of the versions' dates, or else of measurement.
    Week,
    /// From one run to the next.
    Run,
}

impl RatePeriod {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Week => "week",
            Self::Run => "run",
        }
    }
}

/// A drift of a series: its size as a whole, its rates, and what it adds at each point.
pub(super) struct DriftSize {
    pub(super) size: ChangeSize,
    pub(super) rates: Vec<DriftRate>,
    /// The total rise of the drift up to each point from its start on, on the scale of the series.
    pub(super) added: Vec<f64>,
}

/// Returns the size of a drift between two points, with one rate before the bend and one after it if there is a bend.
///
/// The slope is that within the parts between steps, which do not count as drift.
pub(super) fn drift_size(
    histories: &Histories,
    series: &HistorySeries,
    range: &RangeInclusive<usize>,
    bend: Option<usize>,
    steps: &[usize],
) -> Option<DriftSize> {
    let scaled = series.scaled();
    let is_ratio = series.is_ratio();
    let unscaled = |value: f64| if is_ratio { value.exp() } else { value };
    let (start, end) = (*range.start(), *range.end());
    let (times, per) = times(histories, series, start..end + 1);
    let bend = bend.filter(|bend| (start + 1..end).contains(bend));
    let until_bend = start..bend.unwrap_or(end) + 1;
    let after_bend = bend.map(|bend| bend..end + 1);
    let mut rates = Vec::new();
    let mut added = vec![0.0; end + 1 - start];
    let mut reach = 0.0_f64;
    for stretch in [until_bend].into_iter().chain(after_bend) {
        let at = |point: usize| times[point - start];
        let (left, moved) = centred(&scaled, &stretch, steps);
        let found = slope(&left, &moved)?;
        let interval = found.interval;
        // The shape is that of the runs; a period has so many of them on average.
        let duration = at(stretch.end - 1) - at(stretch.start);
        let runs = as_f64(stretch.len() - 1);
        let each = if duration > 0.0 { runs / duration } else { 1.0 };
        rates.push(DriftRate {
            change: unscaled(found.per_unit * each),
            interval: Interval {
                lower: unscaled(interval.lower * each),
                upper: unscaled(interval.upper * each),
            },
            per,
            moments: [stretch.start, stretch.end - 1].map(|point| series.points[point].moment),
            levels: [0.0; 2],
        });
        reach = reach.hypot(runs * (interval.upper - interval.lower) / 2.0);
        let base = added[stretch.start - start];
        for point in stretch.clone() {
            let along = as_f64(point - stretch.start);
            added[point - start] = found.per_unit.mul_add(along, base);
        }
        let last = added[stretch.end - 1 - start];
        added[stretch.end - start..].fill(last);
    }
    let whole = added[end - start];
    let first = range.clone().find(|point| steps.contains(point));
    let first_part = start..first.unwrap_or(end + 1);
    let flat: Vec<f64> = first_part
        .map(|point| scaled[point] - added[point - start])
        .collect();
    let before = mean(&flat)?;
    for rate in &mut rates {
        let place = |moment: usize| {
            let points = &series.points[range.clone()];
            points.partition_point(|point| point.moment < moment)
        };
        rate.levels = rate
            .moments
            .map(|moment| unscaled(before + added[place(moment)]));
    }
    let size = ChangeSize {
        before: unscaled(before),
        after: unscaled(before + whole),
        change: unscaled(whole),
        interval: Interval {
            lower: unscaled(whole - reach),
            upper: unscaled(whole + reach),
        },
        is_ratio,
    };
    Some(DriftSize { size, rates, added })
}

/// Returns the values of a stretch and their places, each less the mean of its part between steps.
fn centred(scaled: &[f64], stretch: &Range<usize>, steps: &[usize]) -> (Vec<f64>, Vec<f64>) {
    let inside = steps.iter().copied();
    let inside = inside.filter(|step| (stretch.start + 1..stretch.end).contains(step));
    let (mut values, mut moved) = (Vec::new(), Vec::new());
    let mut start = stretch.start;
    for end in inside.chain([stretch.end]) {
        let part: Vec<f64> = (start..end).map(as_f64).collect();
        let centres = [mean(&scaled[start..end]), mean(&part)];
        if let [Some(value), Some(time)] = centres {
            values.extend(scaled[start..end].iter().map(|it| it - value));
            moved.extend(part.iter().map(|it| it - time));
        }
        start = end;
    }
    (values, moved)
}

/// Returns the times of points in the unit of the rate: by the dates of the versions if all are known and in order, else
/// by the time of measurement if that is known, else by the number of runs.
fn times(
    histories: &Histories,
    series: &HistorySeries,
    points: Range<usize>,
) -> (Vec<f64>, RatePeriod) {
    let moments = || {
        let points = series.points[points.clone()].iter();
        points.map(|point| &histories.moments[point.moment])
    };
    let of_versions = moments().map(|it| it.position.version_date);
    let of_versions: Option<Vec<Timestamp>> = of_versions.collect();
    let measured = moments().map(|it| it.has_start().then_some(it.position.measured));
    let measured: Option<Vec<Timestamp>> = measured.collect();
    let weeks = of_versions.into_iter().chain(measured).find_map(|dates| {
        let first = *dates.first()?;
        let weeks: Vec<f64> = dates
            .iter()
            .map(|date| date.duration_since(first).as_secs_f64() / SECONDS_PER_WEEK)
            .collect();
        let is_in_order = weeks.is_sorted() && *weeks.last()? >= SHORTEST_IN_WEEKS;
        is_in_order.then_some(weeks)
    });
    match weeks {
        Some(weeks) => (weeks, RatePeriod::Week),
        None => ((0..points.len()).map(as_f64).collect(), RatePeriod::Run),
    }
}
