//! Values and changes of a study in words.

use lapwing_stats::Interval;
use lapwing_study::{StudyMetric, StudyScale};

use crate::{UnitScale, quantity};

/// The words for values of a study's metric.
pub trait StudyMetricText {
    /// Returns a value of the scale as text; a logarithm as the cost that it is of.
    fn value_text(&self, scale: StudyScale, value: f64) -> String;

    /// Returns a change on the scale as text: `−577 µs`, `+3,320/s`, `−48 %`.
    fn change_text(&self, scale: StudyScale, change: f64) -> String;

    /// Returns the size of a change as text: `577 µs`, `48 %`.
    fn size_text(&self, scale: StudyScale, change: f64) -> String;

    /// Returns a change with its interval: `−577 µs [−590, −564]`.
    fn change_with_interval(
        &self,
        scale: StudyScale,
        change: f64,
        interval: Option<Interval>,
    ) -> String;

    /// Returns an interval of a change: `[−590, −564]`, in the unit of the change.
    fn interval_text(&self, scale: StudyScale, change: f64, interval: Interval) -> String;
}

impl StudyMetricText for StudyMetric {
    fn value_text(&self, scale: StudyScale, value: f64) -> String {
        let shown = if scale == StudyScale::Log {
            value.exp()
        } else {
            value
        };
        quantity(shown, &self.unit_of(scale))
    }

    fn change_text(&self, scale: StudyScale, change: f64) -> String {
        let sign = if change < 0.0 { "−" } else { "+" };
        match scale {
            StudyScale::Log => percent_text(change),
            StudyScale::Time | StudyScale::Rate => {
                let size = quantity(change.abs(), &self.unit_of(scale));
                format!("{sign}{size}")
            }
        }
    }

    fn size_text(&self, scale: StudyScale, change: f64) -> String {
        let text = self.change_text(scale, change.abs());
        text.trim_start_matches('+').to_owned()
    }

    fn change_with_interval(
        &self,
        scale: StudyScale,
        change: f64,
        interval: Option<Interval>,
    ) -> String {
        let text = self.change_text(scale, change);
        match interval {
            None => text,
            Some(own) => format!("{text} {}", self.interval_text(scale, change, own)),
        }
    }

    fn interval_text(&self, scale: StudyScale, change: f64, interval: Interval) -> String {
        let end = |value: f64| match scale {
            StudyScale::Log => percent_text(value).trim_end_matches(" %").to_owned(),
            StudyScale::Time | StudyScale::Rate => {
                let sign = if value < 0.0 { "−" } else { "+" };
                let unit = UnitScale::of(change, &self.unit_of(scale));
                format!("{sign}{}", unit.number(value.abs()))
            }
        };
        format!("[{}, {}]", end(interval.lower), end(interval.upper))
    }
}

/// Returns a change of a logarithm as a percentage with its sign.
fn percent_text(change: f64) -> String {
    let share = change.exp_m1() * 100.0;
    if !share.is_finite() {
        return "–".to_owned();
    }
    let sign = if share < 0.0 { "−" } else { "+" };
    let size = share.abs();
    let decimals = match size {
        size if size >= 9.95 => 0,
        size if size >= 0.995 => 1,
        _ => 2,
    };
    format!("{sign}{size:.decimals$} %")
}

#[cfg(test)]
mod tests {
    use lapwing_model::Metric;

    use super::*;

    #[test]
    fn changes_have_a_sign_and_a_unit() {
        let metric = StudyMetric::new("time_per_task", &Metric::lower("s"));
        assert_eq!(metric.change_text(StudyScale::Time, -942e-6), "−942 µs");
        assert_eq!(
            metric.change_text(StudyScale::Log, (240.0_f64 / 1182.0).ln()),
            "−80 %"
        );
    }
}
