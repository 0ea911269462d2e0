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

/// Returns the number of the sitting of each instance: its session, or a part of that between long pauses, of an hour and
/// of twenty times the usual distance.
pub(crate) fn sittings(data: &StudyData) -> Vec<usize> {
    const PAUSE: f64 = 3_600.0;
    const USUAL: f64 = 20.0;
    let times = data.instances.iter().map(|own| own.time);
    let mut distances: Vec<f64> = times
        .clone()
        .zip(times.skip(1))
        .map(|(one, next)| next - one)
        .collect();
    let after_pause = distances.clone();
    distances.sort_by(f64::total_cmp);
    let usual = distances.get(distances.len() / 2).copied().unwrap_or(0.0);
    let mut known: Vec<(usize, usize)> = Vec::new();
    let mut part = 0;
    let numbers = data.instances.iter().enumerate().map(|(at, own)| {
        let distance = at.checked_sub(1).map_or(0.0, |before| after_pause[before]);
        part += usize::from(distance > PAUSE.max(USUAL * usual));
        let key = (own.session, part);
        known.iter().position(|it| *it == key).unwrap_or_else(|| {
            known.push(key);
            known.len() - 1
        })
    });
    numbers.collect()
}

/// Returns whether a factor has one level in each of several sittings, so that what differs between these could be it.
pub(crate) fn is_of_sessions(data: &StudyData, sittings: &[usize], factor: usize) -> bool {
    let count = sittings.iter().max().map_or(0, |most| most + 1);
    let mut levels = vec![None; count];
    let is_constant = data.instances.iter().zip(sittings).all(|(own, sitting)| {
        *levels[*sitting].get_or_insert(own.levels[factor]) == own.levels[factor]
    });
    count > 1 && is_constant && levels.iter().any(|it| *it != levels[0])
}

impl Covariate {
    /// Returns a covariate of the sittings: for each, whether an instance belongs to it.
    pub fn of_sittings(sittings: &[usize]) -> Vec<Self> {
        let count = sittings.iter().max().map_or(0, |most| most + 1);
        let one = |number: usize| {
            let values = sittings
                .iter()
                .map(|own| f64::from(u8::from(*own == number)));
            Self {
                name: "session",
                values: FactorValues::Numbers(values.collect()),
                reference: FactorValues::Numbers(vec![0.0]),
            }
        };
        (0..count).map(one).collect()
    }

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
