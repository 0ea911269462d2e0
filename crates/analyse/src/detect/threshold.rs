//! Alarms by a threshold: the newest runs against the mean and the standard deviation of those before.
//!
//! Source: the detector of Coiled's benchmark suite (`detect_regressions.py`), whose numbers are the defaults.

use jiff::SignedDuration;
use lapwing_stats::{mean, standard_deviation};

use super::finding::{ChangeKind, Direction, Evidence, ExceededThreshold, Finding};
use super::searched::environment;
use super::series::{Histories, HistorySeries};
use super::size::ChangeSize;
use super::states::SeriesState;
use lapwing_model::Better;

/// The number of newest values that are listed with an alarm.
const LISTED: usize = 3;

/// The conditions for an alarm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ThresholdRule {
    /// Number of newest runs, all of which have to reach the threshold.
    pub last: usize,
    /// Number of runs before those, from which the threshold is computed; 2 or more.
    pub window: usize,
    /// The distance of the threshold from the mean in standard deviations.
    pub deviations: f64,
    /// The least distance of the threshold from the mean for times, in seconds.
    pub time_floor: f64,
    /// The least distance for memory and other sizes, in bytes.
    pub memory_floor: f64,
    /// Series without a run for so long before the newest run of all are not tested; `None` to apply the usual limit
    /// of runs.
    pub longest_pause: Option<SignedDuration>,
}

impl Default for ThresholdRule {
    fn default() -> Self {
        Self {
            last: 3,
            window: 10,
            deviations: 3.0,
            time_floor: 1.0,
            memory_floor: 1_073_741_824.0,
            longest_pause: None,
        }
    }
}

impl ThresholdRule {
    /// Returns the rule of Coiled: the defaults, and tests without a run in the last seven days are skipped.
    pub fn coiled() -> Self {
        Self {
            longest_pause: Some(SignedDuration::from_hours(7 * 24)),
            ..Self::default()
        }
    }

    /// Returns the number of runs that a series needs: one more than the rule looks at, as Coiled's detector has it.
    pub(super) fn fewest_runs(&self) -> usize {
        self.window + self.last + 1
    }

    /// Returns whether each series is tested, if the rule has a limit of its own.
    pub(super) fn states(&self, histories: &Histories) -> Option<Vec<SeriesState>> {
        let pause = self.longest_pause?;
        let moments = histories.moments.iter().map(|it| it.position.measured);
        let newest = moments.max()?;
        let state = |series: &HistorySeries| {
            let runs = series.points.len();
            match series.points.last().map(|point| point.moment) {
                Some(since)
                    if newest.duration_since(histories.moments[since].position.measured)
                        > pause =>
                {
                    SeriesState::NotMeasured { since }
                }
                None => SeriesState::NeverUsable,
                _ if runs < self.fewest_runs() => SeriesState::TooFew { runs },
                _ => SeriesState::Tested,
            }
        };
        Some(histories.series.iter().map(state).collect())
    }

    /// Returns the alarm of a series that has enough runs: all of its newest runs are worse than the mean of the
    /// window by the greater of the floor and so many standard deviations. Without a direction, they may differ
    /// either way.
    pub(super) fn alarm(&self, histories: &Histories, at: usize) -> Option<Finding> {
        let series = &histories.series[at];
        let end = series.points.len();
        let split = end.checked_sub(self.last)?;
        let start = split.checked_sub(self.window)?;
        let value = |point: usize| series.points[point].value;
        let window: Vec<f64> = (start..split).map(value).collect();
        let centre = mean(&window)?;
        let deviation = standard_deviation(&window)?;
        let floor = match series.metric.unit.as_str() {
            "s" => self.time_floor,
            "B" => self.memory_floor,
            _ => 0.0,
        };
        let distance = (self.deviations * deviation).max(floor);
        let signs: &[f64] = match series.metric.better {
            Some(Better::Lower) => &[1.0],
            Some(Better::Higher) => &[-1.0],
            None => &[1.0, -1.0],
        };
        // Without any floor, runs that are equal to a constant window would reach the threshold.
        let reaches = |sign: f64| {
            (split..end).map(value).all(|value| {
                let threshold = centre + sign * distance;
                sign * value >= sign * threshold && sign * value > sign * centre
            })
        };
        let sign = signs.iter().copied().find(|sign| reaches(*sign))?;
        let scaled = series.scaled();
        let size = ChangeSize::of(
            [&scaled[start..split], &scaled[split..end]],
            0.0,
            None,
            series.is_ratio(),
        )?;
        let moment = |point: usize| series.points[point].moment;
        Some(Finding {
            series: at,
            subject: series.subject.clone(),
            metric: series.metric.clone(),
            kind: ChangeKind::Alarm,
            direction: Direction::of(&series.metric, sign > 0.0),
            last_before: moment(split - 1),
            first_after: moment(split),
            range: moment(split)..=moment(split),
            good: moment(split - 1),
            size,
            rates: Vec::new(),
            evidence: Evidence::Threshold(ExceededThreshold {
                mean: centre,
                deviation,
                threshold: centre + sign * distance,
                latest: (0..end)
                    .rev()
                    .take(LISTED.max(self.last))
                    .map(value)
                    .collect(),
            }),
            runs: [self.window, self.last],
            went_away: None,
            explained: None,
            triage: None,
            is_notified: false,
            environment: environment(histories, series, &(start..split), &(split..end)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{add, days};
    use super::*;
    use crate::detect::{DetectOptions, DetectRule, Detection, detect};
    use lapwing_model::Metric;

    /// Ten values with mean 10 and standard deviation √(10 / 9), and then these.
    fn values(latest: &[f64]) -> Vec<f64> {
        let window = (0..10).map(|at| if at % 2 == 0 { 9.0 } else { 11.0 });
        // One value before the window, which does not count.
        std::iter::once(50.0)
            .chain(window)
            .chain(latest.iter().copied())
            .collect()
    }

    fn found(values: &[f64], metric: Metric, rule: ThresholdRule) -> Detection {
        let mut histories = days(u16::try_from(values.len()).expect("few"));
        add(&mut histories, "b", values);
        histories.series[0].metric = metric;
        let options = DetectOptions {
            rule: DetectRule::Threshold(rule),
            ..DetectOptions::default()
        };
        detect(&histories, &options)
    }

    fn alarms(latest: &[f64], metric: Metric) -> usize {
        found(&values(latest), metric, ThresholdRule::default())
            .findings
            .len()
    }

    #[test]
    fn an_alarm_names_the_threshold_and_claims_no_interval_of_the_place() {
        let detection = found(
            &values(&[14.0, 15.0, 16.0]),
            Metric::lower("s"),
            ThresholdRule::default(),
        );
        let [alarm] = &detection.findings[..] else {
            panic!("{:?}", detection.findings);
        };
        let deviation = (10.0_f64 / 9.0).sqrt();
        let expected = ExceededThreshold {
            mean: 10.0,
            deviation,
            threshold: 10.0 + 3.0 * deviation,
            latest: vec![16.0, 15.0, 14.0],
        };
        assert_eq!(alarm.evidence, Evidence::Threshold(expected));
        assert_eq!(
            (alarm.kind, alarm.direction),
            (ChangeKind::Alarm, Direction::Regression)
        );
        assert_eq!(
            (alarm.range.clone(), alarm.good, alarm.runs),
            (11..=11, 10, [10, 3])
        );
    }

    #[test]
    fn all_of_the_latest_runs_have_to_be_worse() {
        let seconds = Metric::lower("s");
        assert_eq!(alarms(&[14.0, 14.0, 14.0], seconds.clone()), 1);
        assert_eq!(alarms(&[14.0, 13.0, 14.0], seconds.clone()), 0);
        assert_eq!(alarms(&[6.0, 6.0, 6.0], seconds), 0);
        let higher = Metric {
            better: Some(Better::Higher),
            unit: "1/s".to_owned(),
        };
        assert_eq!(alarms(&[6.0, 6.0, 6.0], higher.clone()), 1);
        assert_eq!(alarms(&[14.0, 14.0, 14.0], higher.clone()), 0);
        let either = Metric {
            better: None,
            ..higher
        };
        assert_eq!(alarms(&[6.0, 6.0, 6.0], either.clone()), 1);
        assert_eq!(alarms(&[14.0, 14.0, 14.0], either), 1);
    }

    #[test]
    fn floors_are_those_of_the_unit() {
        let constant = |unit: &str, latest: f64| {
            let mut values = vec![2.0; 11];
            values.extend([latest; 3]);
            found(&values, Metric::lower(unit), ThresholdRule::default())
                .findings
                .len()
        };
        assert_eq!((constant("s", 2.99), constant("s", 3.0)), (0, 1));
        assert_eq!((constant("B", 1e9), constant("B", 1.1e9)), (0, 1));
        // Without a floor a constant that stays is no alarm.
        assert_eq!((constant("1", 2.0), constant("1", 2.001)), (0, 1));
    }

    #[test]
    fn a_series_needs_one_run_more_than_the_rule_looks_at() {
        let all = values(&[14.0, 14.0, 14.0]);
        let short = found(&all[1..], Metric::lower("s"), ThresholdRule::default());
        assert_eq!(short.states, [SeriesState::TooFew { runs: 13 }]);
        assert_eq!(short.findings, []);
    }

    #[test]
    fn a_step_of_four_deviations_is_an_alarm_on_one_day_only() {
        // The first run of the step that enters the window raises the threshold above the step.
        let still = |days| alarms(&vec![14.0; days], Metric::lower("s"));
        let known: Vec<usize> = (2..10).map(still).collect();
        assert_eq!(known, [0, 1, 0, 0, 0, 0, 0, 0]);
    }
}
