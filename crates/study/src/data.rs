//! The data of a study: one value for each instance of a benchmark, with the levels of all factors.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_analyse::clean::{CleaningRules, clean};
use lapwing_analyse::judge::metric;
use lapwing_analyse::sample::{BenchmarkData, GroupBy, Sample, samples};
use lapwing_model::text::{counted, first_names};
use lapwing_model::{Better, Run};
use lapwing_record::InstanceData;
use lapwing_stats::mean;

use crate::factor::{StudyFactor, Treatment};
use crate::gather::{Definitions, factors_of, only_metric, treatments};
use crate::scale::{StudyMetric, StudyScale};

/// More treatments do not fit into a set.
pub(crate) const MOST_TREATMENTS: usize = 128;

/// What was measured of a benchmark in a study.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyData {
    /// The suite of the benchmark.
    pub suite: String,
    /// The id of the benchmark.
    pub benchmark: String,
    /// The metric.
    pub metric: StudyMetric,
    /// The factors, in the order of the study.
    pub factors: Vec<StudyFactor>,
    /// Every level other than the base ones; bit i of a set is treatment i.
    pub treatments: Vec<Treatment>,
    /// The instances, in order of time.
    pub instances: Vec<StudyInstance>,
    /// Settings of which no instance has a value.
    pub failed: Vec<u128>,
    /// What readers have to know about the data.
    pub notes: Vec<String>,
}

/// An instance of a study: the unit of replication.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyInstance {
    /// The treatments that were present.
    pub set: u128,
    /// The number of the level of each factor.
    pub levels: Vec<usize>,
    /// The cost: the mean of its values, inverted for a rate.
    pub cost: f64,
    /// The number of iterations in it.
    pub iterations: usize,
    /// When it was measured, in seconds since 1970.
    pub time: f64,
    /// The number of its session.
    pub session: usize,
}

/// Why a benchmark is no study.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StudyError {
    /// No run has a factor.
    #[error("`{benchmark}` was measured without factors")]
    NoFactors {
        /// The benchmark.
        benchmark: String,
    },
    /// No instance has a usable value.
    #[error("`{benchmark}` has no usable values of `{metric}`")]
    NoValues {
        /// The benchmark.
        benchmark: String,
        /// The metric.
        metric: String,
    },
    /// Several metrics could be meant.
    #[error("`{benchmark}` has several metrics: {}", candidates.join(", "))]
    SeveralMetrics {
        /// The benchmark.
        benchmark: String,
        /// The metrics.
        candidates: Vec<String>,
    },
    /// More levels than fit into a set.
    #[error(
        "the factors have {count} levels beside the base ones, and at most {MOST_TREATMENTS} can be analysed"
    )]
    TooMany {
        /// The number of levels.
        count: usize,
    },
    /// No factor or treatment has this name.
    #[error("there is no factor `{name}`: {}", known.join(", "))]
    Unknown {
        /// The name.
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// A factor does not have this level.
    #[error("`{text}` is no setting of `{factor}`: {}", known.join(", "))]
    NoLevel {
        /// The factor.
        factor: String,
        /// What was given.
        text: String,
        /// The levels that there are.
        known: Vec<String>,
    },
}

impl StudyData {
    /// Gathers the data of a benchmark; without a name the metric is the only one that is judged by default.
    ///
    /// Values are cleaned as for every other judgement, each setting for itself.
    ///
    /// # Errors
    /// When there are no factors, no values, or several metrics that could be meant.
    pub fn of(
        data: &BenchmarkData,
        named: Option<&str>,
        rules: &CleaningRules,
    ) -> Result<Self, StudyError> {
        let benchmark = || data.benchmark.id.clone();
        let factors = factors_of(data);
        if factors.is_empty() {
            return Err(StudyError::NoFactors {
                benchmark: benchmark(),
            });
        }
        let all = Sample::of_all(data);
        let name = match named {
            Some(name) => name.to_owned(),
            None => only_metric(&all, benchmark())?,
        };
        let own_metric = StudyMetric::new(&name, &metric(&all, &name));
        let mut found = Self {
            suite: data.suite.clone(),
            benchmark: benchmark(),
            treatments: treatments(&factors)?,
            factors,
            metric: own_metric,
            instances: Vec::new(),
            failed: Vec::new(),
            notes: Vec::new(),
        };
        found.take(data, &name, rules);
        if found.instances.is_empty() {
            return Err(StudyError::NoValues {
                benchmark: benchmark(),
                metric: name,
            });
        }
        Ok(found)
    }

    fn take(&mut self, data: &BenchmarkData, name: &str, rules: &CleaningRules) {
        let mut without = BTreeSet::new();
        let mut sessions = Vec::new();
        let current = Definitions::of(data);
        let (mut outdated, mut earlier) = (0, 0);
        let mut tried = BTreeSet::new();
        for sample in samples(data, GroupBy::Variant) {
            earlier += sample.earlier_epoch;
            let (policy, _) = rules.policy(&sample);
            let instances: Vec<&InstanceData> = sample
                .instances
                .iter()
                .copied()
                .filter(|instance| {
                    let is_current = current.is_current(&instance.run);
                    outdated += usize::from(!is_current);
                    is_current
                })
                .collect();
            let levels = |run: &Run| -> Vec<usize> {
                let level = |factor: &StudyFactor| {
                    let own = run.factors.get(&factor.name)?;
                    factor.position(own)
                };
                self.factors
                    .iter()
                    .map(|factor| level(factor).unwrap_or(0))
                    .collect()
            };
            for instance in &instances {
                tried.insert(self.set_of(&levels(&instance.run)));
                let lacks =
                    |factor: &&StudyFactor| !instance.run.factors.contains_key(&factor.name);
                without.extend(
                    self.factors
                        .iter()
                        .filter(lacks)
                        .map(|factor| factor.name.clone()),
                );
            }
            let cleaned = clean(instances.iter().copied(), name, policy);
            for own in &cleaned.instances {
                let instance = instances[own.position];
                let cost = self.metric.cost(own.mean());
                if !cost.is_finite() {
                    continue;
                }
                let session = instance.session.id;
                let number = sessions.iter().position(|known| *known == session);
                let number = number.unwrap_or_else(|| {
                    sessions.push(session);
                    sessions.len() - 1
                });
                let levels = levels(&instance.run);
                let started = instance
                    .instance
                    .started
                    .unwrap_or(instance.session.started);
                self.instances.push(StudyInstance {
                    set: self.set_of(&levels),
                    levels,
                    cost,
                    iterations: own.values.len(),
                    time: started.as_duration().as_secs_f64(),
                    session: number,
                });
            }
        }
        self.instances
            .sort_by(|one, other| one.time.total_cmp(&other.time));
        let measured: BTreeSet<u128> = self.instances.iter().map(|own| own.set).collect();
        self.failed = tried.difference(&measured).copied().collect();
        self.note(&without, outdated, earlier);
    }

    fn note(&mut self, without: &BTreeSet<String>, outdated: usize, earlier: usize) {
        if !without.is_empty() {
            self.notes.push(format!(
                "some runs do not record {}: taken as absent there",
                first_names(without, 5)
            ));
        }
        if outdated > 0 {
            let count = counted(outdated, "instance");
            self.notes.push(format!(
                "{count} of earlier definitions of factors excluded: a corrected factor starts afresh"
            ));
        }
        if earlier > 0 {
            let count = counted(earlier, "instance");
            self.notes.push(format!(
                "{count} of an earlier meaning of the benchmark excluded"
            ));
        }
        if !self.failed.is_empty() {
            let names: Vec<String> = self.failed.iter().map(|set| self.set_text(*set)).collect();
            let count = counted(self.failed.len(), "setting");
            self.notes.push(format!(
                "{count} without a usable value: {}",
                first_names(names, 3)
            ));
        }
    }

    fn set_of(&self, levels: &[usize]) -> u128 {
        let present = self.treatments.iter().enumerate();
        present
            .filter(|(_, treatment)| levels[treatment.factor] == treatment.level)
            .fold(0, |set, (at, _)| set | 1 << at)
    }

    /// Returns a set as text: `{}`, `{cfg_encrypted, prefetch=100}`.
    pub fn set_text(&self, set: u128) -> String {
        let names = self.treatments.iter().enumerate();
        let names: Vec<&str> = names
            .filter(|(at, _)| set >> at & 1 == 1)
            .map(|(_, own)| own.name.as_str())
            .collect();
        format!("{{{}}}", names.join(", "))
    }

    /// Returns the sets of the instances with their values on a scale, without those that have none there.
    pub fn sets(&self, scale: StudyScale) -> Vec<(u128, f64)> {
        let values = self
            .instances
            .iter()
            .map(|own| (own.set, scale.of(own.cost)));
        values.filter(|(_, value)| value.is_finite()).collect()
    }

    /// Returns the different sets with the mean of their values on a scale, in increasing order.
    pub fn set_means(&self, scale: StudyScale) -> BTreeMap<u128, f64> {
        let mut values: BTreeMap<u128, Vec<f64>> = BTreeMap::new();
        for (set, value) in self.sets(scale) {
            values.entry(set).or_default().push(value);
        }
        let means = values.into_iter();
        means
            .filter_map(|(set, own)| Some((set, mean(&own)?)))
            .collect()
    }

    /// Returns the set with the best mean cost on the logarithmic scale, or else the natural one.
    pub fn best_set(&self) -> u128 {
        let logs = self.set_means(StudyScale::Log);
        let means = if logs.is_empty() {
            self.set_means(StudyScale::Time)
        } else {
            logs
        };
        let sign = if self.metric.better == Some(Better::Higher) {
            -1.0
        } else {
            1.0
        };
        let best = means
            .iter()
            .min_by(|one, other| (sign * one.1).total_cmp(&(sign * other.1)));
        best.map_or(0, |(set, _)| *set)
    }

    /// Returns the number of a treatment by its name, or by that of its factor if it has only one.
    ///
    /// # Errors
    /// When there is none.
    pub fn treatment(&self, name: &str) -> Result<usize, StudyError> {
        let is_named = |own: &Treatment| {
            let factor = &self.factors[own.factor];
            own.name == name || (factor.name == name && factor.levels.len() == 2)
        };
        self.treatments
            .iter()
            .position(is_named)
            .ok_or_else(|| StudyError::Unknown {
                name: name.to_owned(),
                known: self.treatments.iter().map(|own| own.name.clone()).collect(),
            })
    }

    /// Returns the number of the level of each factor in a setting: `a=1,prefetch=100`; factors that are not named
    /// have their base.
    ///
    /// # Errors
    /// When a factor or a level is unknown.
    pub fn setting(&self, text: &str) -> Result<Vec<usize>, StudyError> {
        let mut levels = vec![0; self.factors.len()];
        let parts = text.trim().trim_matches(['{', '}']).split([',', ' ']);
        for part in parts.map(str::trim).filter(|part| !part.is_empty()) {
            let (name, level) = part.split_once('=').unwrap_or((part, "1"));
            let at = self.factors.iter().position(|factor| factor.name == name);
            let at = at.ok_or_else(|| StudyError::Unknown {
                name: name.to_owned(),
                known: self
                    .factors
                    .iter()
                    .map(|factor| factor.name.clone())
                    .collect(),
            })?;
            let factor = &self.factors[at];
            levels[at] = factor.named(level).ok_or_else(|| StudyError::NoLevel {
                factor: factor.name.clone(),
                text: level.to_owned(),
                known: factor.levels.iter().map(ToString::to_string).collect(),
            })?;
        }
        Ok(levels)
    }

    /// Returns the set of a setting: of text as [`StudyData::setting`] has it.
    ///
    /// # Errors
    /// When a factor or a level is unknown.
    pub fn named_set(&self, text: &str) -> Result<u128, StudyError> {
        Ok(self.set_of(&self.setting(text)?))
    }

    /// Returns the levels of a set.
    pub fn levels_of(&self, set: u128) -> Vec<usize> {
        let mut levels = vec![0; self.factors.len()];
        for (at, treatment) in self.treatments.iter().enumerate() {
            if set >> at & 1 == 1 {
                levels[treatment.factor] = treatment.level;
            }
        }
        levels
    }

    /// Returns the study without some factors: without the instances in which they are not at their base.
    ///
    /// # Errors
    /// When there is no factor of such a name.
    pub fn without(&self, names: &[String]) -> Result<Self, StudyError> {
        let mut dropped = BTreeSet::new();
        for name in names {
            let at = self.factors.iter().position(|factor| factor.name == *name);
            dropped.insert(at.ok_or_else(|| {
                StudyError::Unknown {
                    name: name.clone(),
                    known: self
                        .factors
                        .iter()
                        .map(|factor| factor.name.clone())
                        .collect(),
                }
            })?);
        }
        let kept: Vec<usize> = (0..self.factors.len())
            .filter(|at| !dropped.contains(at))
            .collect();
        let factors: Vec<StudyFactor> = kept.iter().map(|at| self.factors[*at].clone()).collect();
        let mut rest = Self {
            treatments: treatments(&factors)?,
            factors,
            instances: Vec::new(),
            failed: Vec::new(),
            ..self.clone()
        };
        for own in &self.instances {
            if dropped.iter().any(|at| own.levels[*at] != 0) {
                continue;
            }
            let levels: Vec<usize> = kept.iter().map(|at| own.levels[*at]).collect();
            let set = rest.set_of(&levels);
            rest.instances.push(StudyInstance {
                set,
                levels,
                ..own.clone()
            });
        }
        if rest.instances.is_empty() {
            return Err(StudyError::NoValues {
                benchmark: self.benchmark.clone(),
                metric: self.metric.name.clone(),
            });
        }
        Ok(rest)
    }

    /// Returns `6 factors, 64 settings, 128 instances`.
    pub fn size_text(&self) -> String {
        let settings: BTreeSet<u128> = self.instances.iter().map(|own| own.set).collect();
        format!(
            "{}, {}, {}",
            counted(self.factors.len(), "factor"),
            counted(settings.len(), "setting"),
            counted(self.instances.len(), "instance")
        )
    }
}
