//! The detectors of Apache Otava and of MongoDB, by which results can be compared with theirs.

use lapwing_stats::changepoint::{EDivisive, Otava, e_divisive, otava};
use lapwing_stats::{Interval, Seed};

use super::finding::{ChangeKind, Direction, Evidence, Finding};
use super::searched::environment;
use super::series::Histories;
use super::size::ChangeSize;

/// The change points of another detector: the first point after each, and what it rests on.
type Found = Vec<(usize, Evidence)>;

/// Returns Otava's change points of a series of values.
pub(super) fn otava_points(values: &[f64], options: &Otava) -> Found {
    let evidence = |p_value| Evidence::Test {
        p_value,
        p_adjusted: None,
    };
    otava(values, options)
        .iter()
        .map(|point| (point.index, evidence(point.p_value)))
        .collect()
}

/// Returns MongoDB's change points of a series of values.
pub(super) fn e_divisive_points(values: &[f64], options: &EDivisive) -> Found {
    e_divisive(values, options, Seed(0))
        .iter()
        .map(|point| (point.index, Evidence::EnergyStatistic(point.q)))
        .collect()
}

/// Returns the findings of a series by another detector, which sees the values as they are and nothing else.
///
/// Every change point is a step at exactly that place, as these detectors give neither a range nor a shape. The size
/// is ours: that between the segments on both sides.
pub(super) fn findings(
    histories: &Histories,
    at: usize,
    detector: impl Fn(&[f64]) -> Found,
) -> Vec<Finding> {
    let series = &histories.series[at];
    let values: Vec<f64> = series.points.iter().map(|point| point.value).collect();
    let found = detector(&values);
    let scaled = series.scaled();
    let is_ratio = series.is_ratio();
    let moment = |point: usize| series.points[point].moment;
    let points = found.iter().map(|(point, _)| *point);
    let starts: Vec<usize> = std::iter::once(0).chain(points.clone()).collect();
    let ends: Vec<usize> = points.skip(1).chain([values.len()]).collect();
    let finding = |(index, (point, evidence)): (usize, &(usize, Evidence))| {
        let (before, after) = (starts[index]..*point, *point..ends[index]);
        let sides = [&scaled[before.clone()], &scaled[after.clone()]];
        let size = ChangeSize::of(sides[0], sides[1], 0.0, is_ratio)
            .unwrap_or_else(|| without_interval(&values, *point, is_ratio));
        Finding {
            series: at,
            subject: series.subject.clone(),
            metric: series.metric.clone(),
            kind: ChangeKind::Step,
            direction: Direction::of(&series.metric, size.rises()),
            last_before: moment(point - 1),
            first_after: moment(*point),
            range: moment(*point)..=moment(*point),
            good: moment(point - 1),
            size,
            evidence: evidence.clone(),
            runs: [before.len(), after.len()],
            went_away: None,
            environment: environment(histories, series, &before, &after),
            triage: None,
            is_notified: false,
        }
    };
    found.iter().enumerate().map(finding).collect()
}

/// Returns the size of a change between two single values.
fn without_interval(values: &[f64], point: usize, is_ratio: bool) -> ChangeSize {
    let [before, after] = [values[point - 1], values[point]];
    ChangeSize {
        before,
        after,
        change: if is_ratio {
            after / before
        } else {
            after - before
        },
        interval: Interval {
            lower: if is_ratio { 0.0 } else { f64::NEG_INFINITY },
            upper: f64::INFINITY,
        },
        is_ratio,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{add, days};
    use super::*;
    use crate::detect::{DetectOptions, DetectRule, detect};

    /// The places that a rule finds in a series, through the whole of detection.
    fn found(rule: DetectRule, values: &[f64]) -> Vec<usize> {
        let mut histories = days(u16::try_from(values.len()).expect("few"));
        add(&mut histories, "b", values);
        let options = DetectOptions {
            rule,
            ..DetectOptions::default()
        };
        let findings = detect(&histories, &options).findings;
        findings.iter().map(|it| *it.range.start()).collect()
    }

    /// Values around 10 s that rise by a tenth at 20 and fall again at 30.
    fn hill() -> Vec<f64> {
        let level = |day: u16| {
            if (20..30).contains(&day) { 11.0 } else { 10.0 }
        };
        let noise = |day: u16| f64::from(day * 7 % 11) / 100.0;
        (0..40).map(|day| level(day) + noise(day)).collect()
    }

    #[test]
    fn the_places_are_those_of_the_detectors() {
        let values = hill();
        let otava_options = Otava::default();
        let points = otava(&values, &otava_options);
        let expected: Vec<usize> = points.iter().map(|point| point.index).collect();
        assert_eq!(expected, [20, 30]);
        assert_eq!(found(DetectRule::Otava(otava_options), &values), expected);
        let options = EDivisive::default();
        assert_eq!(found(DetectRule::EDivisive(options), &values), expected);
    }

    #[test]
    fn a_change_between_single_values_has_a_place_and_no_interval() {
        let size = without_interval(&[4.0, 5.0], 1, true);
        assert_eq!((size.before, size.after, size.change), (4.0, 5.0, 1.25));
        assert_eq!(
            (size.interval.lower, size.interval.upper),
            (0.0, f64::INFINITY)
        );
    }
}
