//! The confirmation of the setting that a study recommends: fresh instances of it, of the base and of the next best one.

use lapwing_model::Level;
use lapwing_stats::{Confidence, Ratio, ratio_of_means};

use crate::data::StudyData;
use crate::design::{
    DesignKind, DesignRequest, MeasuredSettings, PlannedFactor, StudyConfiguration, StudyDesign,
    StudyDesignError,
};
use crate::explained::Recommendation;
use crate::scale::StudyMetric;

/// The configurations that a confirmation compares.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyConfirmation {
    /// The factors of the suite.
    pub factors: Vec<PlannedFactor>,
    /// The recommended configuration, as numbers of levels.
    recommended: Vec<usize>,
    /// The base, and the next best configuration if that is another.
    others: Vec<Vec<usize>>,
}

/// Why a recommended setting cannot be measured.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfirmationError {
    /// The suite has no such factor any more.
    #[error("the suite has no factor `{factor}`, which the study varied")]
    Factor {
        /// The factor.
        factor: String,
    },
    /// A factor has no such level any more.
    #[error("factor `{factor}` of the suite has no level `{level}`, which the study measured")]
    Level {
        /// The factor.
        factor: String,
        /// The level.
        level: String,
    },
}

/// A configuration with its fresh instances.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfirmedSetting {
    /// The configuration.
    pub configuration: StudyConfiguration,
    /// The costs of its instances.
    pub costs: Vec<f64>,
    /// The recommended setting / this one; `None` of itself, and with fewer than two instances of either.
    pub ratio: Option<Ratio>,
}

/// The fresh instances of each configuration, and how the recommended one compares.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfirmationResult {
    /// The metric.
    pub metric: StudyMetric,
    /// The recommended setting, the base, and the next best setting if that is another.
    pub settings: Vec<ConfirmedSetting>,
}

impl StudyConfirmation {
    /// Returns the confirmation of a recommendation, with the factors of a suite as they are now.
    ///
    /// # Errors
    /// When the suite lacks a factor or a level.
    pub fn new(
        data: &StudyData,
        factors: &[PlannedFactor],
        recommendation: &Recommendation,
    ) -> Result<Self, ConfirmationError> {
        let run = |set: u128| -> Result<Vec<usize>, ConfirmationError> {
            let mut run = vec![0; factors.len()];
            for (own, level) in data.factors.iter().zip(data.levels_of(set)) {
                let level = &own.levels[level];
                let factor = factors.iter().position(|it| it.name == own.name);
                let Some(factor) = factor else {
                    // A level of the base needs no factor.
                    if *level == own.levels[0] {
                        continue;
                    }
                    return Err(ConfirmationError::Factor {
                        factor: own.name.clone(),
                    });
                };
                let mut levels = factors[factor].levels.iter();
                let place = levels.position(|it| it == level);
                run[factor] = place.ok_or_else(|| ConfirmationError::Level {
                    factor: own.name.clone(),
                    level: Level::to_string(level),
                })?;
            }
            Ok(run)
        };
        let mut others = vec![run(0)?];
        if recommendation.runner_up != 0 {
            others.push(run(recommendation.runner_up)?);
        }
        Ok(Self {
            factors: factors.to_vec(),
            recommended: run(recommendation.set)?,
            others,
        })
    }

    /// Returns the design that measures its configurations in turn, so many instances of each.
    ///
    /// # Errors
    /// When a configuration is forbidden.
    pub fn design(
        &self,
        suite: (&str, &str),
        instances: u32,
        seed: u64,
    ) -> Result<StudyDesign, StudyDesignError> {
        let request = DesignRequest {
            kind: Some(DesignKind::List),
            listed: self.runs().cloned().collect(),
            replicates: instances,
            seed,
            ..DesignRequest::default()
        };
        StudyDesign::new(suite, self.factors.clone(), &request)
    }

    /// Returns how the recommended configuration compares by these instances.
    pub fn result(&self, data: &StudyData) -> ConfirmationResult {
        let measured = MeasuredSettings::of(data, &self.factors);
        let costs = |run: &Vec<usize>| -> Vec<f64> {
            let responses = measured.of_run(run).into_iter();
            let logarithms = responses.map(|it| data.metric.response_logarithm(it));
            logarithms.map(f64::exp).collect()
        };
        let own = costs(&self.recommended);
        let setting = |run: &Vec<usize>| {
            let costs = costs(run);
            let is_own = *run == self.recommended;
            ConfirmedSetting {
                configuration: StudyConfiguration::new(&self.factors, run),
                ratio: (!is_own)
                    .then(|| ratio_of_means(&costs, &own, Confidence::P95))
                    .flatten(),
                costs,
            }
        };
        ConfirmationResult {
            metric: data.metric.clone(),
            settings: self.runs().map(setting).collect(),
        }
    }

    fn runs(&self) -> impl Iterator<Item = &Vec<usize>> {
        std::iter::once(&self.recommended).chain(&self.others)
    }
}
