//! Scales: the same change is large in microseconds and small in tasks per second, or the other way round.

use lapwing_model::{Better, Metric};

use crate::data::StudyData;

/// The scale on which a study is analysed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StudyScale {
    /// The metric itself; of a rate its inverse.
    Time,
    /// The inverse: how much is done per unit of time.
    Rate,
    /// The logarithm: changes are percentages, and factors multiply.
    Log,
}

impl StudyScale {
    /// Returns the logarithm, where every cost is above zero; else the time itself.
    pub fn usual(data: &StudyData) -> Self {
        if data.instances.iter().all(|instance| instance.cost > 0.0) {
            Self::Log
        } else {
            Self::Time
        }
    }

    /// Returns its name: `time`, `rate` or `log`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Rate => "rate",
            Self::Log => "log",
        }
    }

    /// Returns a cost on this scale; NaN if it has none there.
    pub fn of(self, cost: f64) -> f64 {
        let value = match self {
            Self::Time => cost,
            Self::Rate => cost.recip(),
            Self::Log => cost.ln(),
        };
        if value.is_finite() { value } else { f64::NAN }
    }

    /// Returns the cost that has this value.
    pub fn cost(self, value: f64) -> f64 {
        match self {
            Self::Time => value,
            Self::Rate => value.recip(),
            Self::Log => value.exp(),
        }
    }

    /// Returns whether a change in this direction is a gain, for a metric of which less is better.
    pub fn is_gain(self, change: f64) -> bool {
        match self {
            Self::Time | Self::Log => change < 0.0,
            Self::Rate => change > 0.0,
        }
    }
}

/// The metric of a study, as a cost.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyMetric {
    /// Its name.
    pub name: String,
    /// The unit of the cost: `s` for a time and for a rate per second.
    pub unit: String,
    /// Whether the metric itself is a rate.
    pub is_rate: bool,
    /// Which direction of the cost is better.
    pub better: Option<Better>,
}

impl StudyMetric {
    /// Returns the metric of that name as a cost.
    pub fn new(name: &str, metric: &Metric) -> Self {
        let is_rate = metric.better == Some(Better::Higher);
        let per = metric.unit.strip_prefix("1/").filter(|_| is_rate);
        Self {
            name: name.to_owned(),
            unit: per.unwrap_or(&metric.unit).to_owned(),
            is_rate: per.is_some(),
            better: match per {
                Some(_) => Some(Better::Lower),
                None => metric.better,
            },
        }
    }

    /// Returns the cost that a value of the metric is.
    pub fn cost(&self, value: f64) -> f64 {
        if self.is_rate { value.recip() } else { value }
    }

    /// Returns whether a change of the scale's value is a gain.
    pub fn is_gain(&self, scale: StudyScale, change: f64) -> bool {
        scale.is_gain(change) == (self.better != Some(Better::Higher)) && change != 0.0
    }

    /// Returns 1 if a lower value on the scale is better, else −1.
    pub(crate) fn sign(&self, scale: StudyScale) -> f64 {
        if self.is_gain(scale, -1.0) { 1.0 } else { -1.0 }
    }

    /// Returns the unit of values on a scale, in base units.
    pub fn unit_of(&self, scale: StudyScale) -> String {
        match scale {
            StudyScale::Time | StudyScale::Log => self.unit.clone(),
            StudyScale::Rate if self.unit.is_empty() => "1/1".to_owned(),
            StudyScale::Rate => format!("1/{}", self.unit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_of_a_time_per_task_is_tasks_per_second() {
        let metric = StudyMetric::new("time_per_task", &Metric::lower("s"));
        for (micros, rate) in [(1182.0, 846.0), (240.0, 4166.7), (61.0, 16393.4)] {
            let own = StudyScale::Rate.of(micros * 1e-6);
            assert!((own - rate).abs() < 0.05, "{own}");
            assert!((StudyScale::Rate.cost(own) - micros * 1e-6).abs() < 1e-18);
        }
        assert!(metric.is_gain(StudyScale::Time, -1.0) && metric.is_gain(StudyScale::Rate, 1.0));
    }

    #[test]
    fn a_rate_becomes_a_cost() {
        let metric = StudyMetric::new("rate", &Metric::higher("1/s"));
        assert_eq!((metric.unit.as_str(), metric.cost(4.0)), ("s", 0.25));
        assert!(metric.is_gain(StudyScale::Log, -0.1));
        let score = StudyMetric::new("score", &Metric::higher(""));
        assert!(
            !score.is_rate
                && score.is_gain(StudyScale::Time, 1.0)
                && score.is_gain(StudyScale::Rate, -1.0)
        );
    }
}
