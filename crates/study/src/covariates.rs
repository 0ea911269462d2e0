//! What is beside the factors in the model of a study.

use lapwing_stats::linear_model::FactorValues;
use lapwing_stats::mean;

use crate::data::StudyData;

/// What is beside the factors in the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StudyCovariate {
    /// The time of measurement, in days around its mean.
    Time,
    /// The time of day: cosine and sine of one turn per day.
    TimeOfDay,
    /// The session, as a block.
    Session,
}

/// What is beside the factors, as one of the model.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Covariate {
    name: &'static str,
    /// Its value of each instance.
    pub values: FactorValues,
    /// Its one value for predictions.
    reference: FactorValues,
}

impl StudyCovariate {
    /// Returns what it adds to the model.
    pub(crate) fn of(self, data: &StudyData) -> Vec<Covariate> {
        const DAY: f64 = 86_400.0;
        let times: Vec<f64> = data
            .instances
            .iter()
            .map(|instance| instance.time)
            .collect();
        let numbers = |name, value: &dyn Fn(f64) -> f64| {
            let values: Vec<f64> = times.iter().map(|time| value(*time)).collect();
            Covariate {
                name,
                reference: FactorValues::Numbers(vec![mean(&values).unwrap_or(0.0)]),
                values: FactorValues::Numbers(values),
            }
        };
        let turn = |time: f64| std::f64::consts::TAU * time / DAY;
        match self {
            Self::Time => {
                let middle = mean(&times).unwrap_or(0.0);
                vec![numbers("time (per day)", &|time| (time - middle) / DAY)]
            }
            Self::TimeOfDay => vec![
                numbers("time of day (cosine)", &|time| turn(time).cos()),
                numbers("time of day (sine)", &|time| turn(time).sin()),
            ],
            Self::Session => {
                let levels = data.instances.iter().map(|instance| instance.session);
                let levels: Vec<usize> = levels.collect();
                let count = levels.iter().max().map_or(1, |most| most + 1);
                let latest = levels.last().copied().unwrap_or(0);
                vec![Covariate {
                    name: "session",
                    values: FactorValues::Levels { levels, count },
                    reference: FactorValues::Levels {
                        levels: vec![latest],
                        count,
                    },
                }]
            }
        }
    }
}

impl Covariate {
    /// Returns the name of a level, or of all of it if it is a number.
    pub fn level_name(&self, level: usize) -> String {
        match self.values {
            FactorValues::Levels { .. } => format!("{} {}", self.name, level + 1),
            FactorValues::Treatment(_) | FactorValues::Numbers(_) => self.name.to_owned(),
        }
    }

    /// Returns its values of that many predictions.
    pub fn references(&self, count: usize) -> FactorValues {
        match &self.reference {
            FactorValues::Treatment(one) => FactorValues::Treatment(one.repeat(count)),
            FactorValues::Numbers(one) => FactorValues::Numbers(one.repeat(count)),
            FactorValues::Levels { levels, count: all } => FactorValues::Levels {
                levels: levels.repeat(count),
                count: *all,
            },
        }
    }
}
