//! The data of a study: one value for each instance of a benchmark, with the levels of all factors.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_analyse::clean::{CleaningRules, clean};
use lapwing_analyse::judge::metric;
use lapwing_analyse::sample::{BenchmarkData, GroupBy, Sample, samples};
use lapwing_model::Run;
use lapwing_model::text::counted;
use lapwing_record::InstanceData;
use lapwing_stats::mean;

use crate::factor::{StudyFactor, Treatment};
use crate::finding::{StudyFinding, findings};
use crate::gather::{Definitions, factors_of, only_metric, treatments};
use crate::note::DataNote;
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
    pub notes: Vec<DataNote>,
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

/// Finds the numbers of the levels of runs.
struct RunLevels<'f> {
    /// The factors with their places, by name as in runs.
    by_name: Vec<(usize, &'f StudyFactor)>,
}

impl<'f> RunLevels<'f> {
    fn of(factors: &'f [StudyFactor]) -> Self {
        let mut by_name: Vec<(usize, &StudyFactor)> = factors.iter().enumerate().collect();
        by_name.sort_by(|(_, one), (_, other)| one.name.cmp(&other.name));
        Self { by_name }
    }

    /// Returns the number of the level of each factor; that of the base where the run does not say it.
    fn levels(&self, run: &Run) -> Vec<usize> {
        let mut levels = vec![0; self.by_name.len()];
        let mut factors = self.by_name.iter();
        for (name, level) in &run.factors {
            if let Some((place, factor)) = factors.find(|(_, factor)| factor.name == *name) {
                levels[*place] = factor.position(level).unwrap_or(0);
            }
        }
        levels
    }
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
        let levels_of = RunLevels::of(&self.factors);
        let mut tried = BTreeSet::new();
        for sample in samples(data, GroupBy::Variant) {
            earlier += sample.earlier_epoch;
            let (policy, _) = rules.policy(&sample);
            let all = sample.instances.len();
            let instances = sample.instances.iter().copied();
            let instances: Vec<&InstanceData> = instances
                .filter(|instance| current.is_current(&instance.run))
                .collect();
            outdated += all - instances.len();
            let levels = instances.iter().map(|it| levels_of.levels(&it.run));
            let levels: Vec<Vec<usize>> = levels.collect();
            for (instance, levels) in instances.iter().zip(&levels) {
                tried.insert(self.set_of(levels));
                // A run has no factors but those of the study.
                if instance.run.factors.len() < self.factors.len() {
                    let names = self.factors.iter().map(|factor| &factor.name);
                    let lacking = names.filter(|name| !instance.run.factors.contains_key(*name));
                    without.extend(lacking.cloned());
                }
            }
            let cleaned = clean(instances.iter().copied(), name, policy);
            for values in &cleaned.instances {
                let instance = instances[values.position];
                let cost = self.metric.cost(values.mean());
                if !cost.is_finite() {
                    continue;
                }
                let session = instance.session.id;
                let number = sessions.iter().position(|known| *known == session);
                let number = number.unwrap_or_else(|| {
                    sessions.push(session);
                    sessions.len() - 1
                });
                let levels = levels[values.position].clone();
                let started = instance.instance.started;
                let started = started.unwrap_or(instance.session.started);
                self.instances.push(StudyInstance {
                    set: self.set_of(&levels),
                    levels,
                    cost,
                    iterations: values.values.len(),
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
            let factors = without.iter().cloned().collect();
            self.notes.push(DataNote::LacksFactors { factors });
        }
        if outdated > 0 {
            let instances = outdated;
            self.notes.push(DataNote::EarlierDefinitions { instances });
        }
        if earlier > 0 {
            let instances = earlier;
            self.notes.push(DataNote::EarlierMeaning { instances });
        }
        if !self.failed.is_empty() {
            let settings = self.failed.iter().map(|set| self.set_text(*set)).collect();
            self.notes.push(DataNote::FailedSettings { settings });
        }
    }

    pub(crate) fn set_of(&self, levels: &[usize]) -> u128 {
        let present = self.treatments.iter().enumerate();
        present
            .filter(|(_, treatment)| levels[treatment.factor] == treatment.level)
            .fold(0, |set, (at, _)| set | 1 << at)
    }

    /// Returns the treatments in a set.
    pub(crate) fn treatments_in(&self, set: u128) -> impl Iterator<Item = &Treatment> {
        let treatments = self.treatments.iter().enumerate();
        treatments.filter_map(move |(at, treatment)| (set >> at & 1 == 1).then_some(treatment))
    }

    /// Returns whether no factor has two levels at once in a set.
    pub(crate) fn is_possible(&self, set: u128) -> bool {
        let mut factors: Vec<usize> = self.treatments_in(set).map(|it| it.factor).collect();
        let count = factors.len();
        factors.dedup();
        factors.len() == count
    }

    /// Returns a set as text: `{}`, `{cfg_encrypted, prefetch=100}`.
    pub fn set_text(&self, set: u128) -> String {
        let names: Vec<&str> = self.treatments_in(set).map(|it| it.name.as_str()).collect();
        format!("{{{}}}", names.join(", "))
    }

    /// Returns the sets of the instances with their values on a scale, without those that have none there.
    pub fn sets(&self, scale: StudyScale) -> Vec<(u128, f64)> {
        let instances = self.instances.iter();
        let values = instances.map(|instance| (instance.set, scale.of(instance.cost)));
        values.filter(|(_, value)| value.is_finite()).collect()
    }

    /// Returns the different sets with their values on a scale, in increasing order.
    pub(crate) fn set_values(&self, scale: StudyScale) -> BTreeMap<u128, Vec<f64>> {
        let mut values: BTreeMap<u128, Vec<f64>> = BTreeMap::new();
        for (set, value) in self.sets(scale) {
            values.entry(set).or_default().push(value);
        }
        values
    }

    /// Returns the different sets with the mean of their values on a scale, in increasing order.
    pub fn set_means(&self, scale: StudyScale) -> BTreeMap<u128, f64> {
        let values = self.set_values(scale).into_iter();
        values
            .filter_map(|(set, values)| Some((set, mean(&values)?)))
            .collect()
    }

    /// Returns a share of the cost on a scale: of times and rates that of their mean.
    pub(crate) fn share_of_cost(&self, scale: StudyScale, share: f64) -> f64 {
        match scale {
            StudyScale::Log => share.ln_1p(),
            StudyScale::Time | StudyScale::Rate => {
                let costs = self
                    .instances
                    .iter()
                    .map(|instance| scale.of(instance.cost));
                share * mean(&costs.collect::<Vec<_>>()).map_or(0.0, f64::abs)
            }
        }
    }

    /// Returns the set that the findings recommend; without one, the best that was measured.
    pub fn recommended_set(&self) -> u128 {
        let recommended = findings(self, None)
            .findings
            .into_iter()
            .find_map(|it| match it {
                StudyFinding::Setting(own) => Some(own.set),
                _other => None,
            });
        recommended.unwrap_or_else(|| self.best_set())
    }

    /// Returns the set with the best mean cost on the logarithmic scale, or else the natural one.
    pub fn best_set(&self) -> u128 {
        let logs = self.set_means(StudyScale::Log);
        let means = if logs.is_empty() {
            self.set_means(StudyScale::Time)
        } else {
            logs
        };
        let sign = self.metric.sign(StudyScale::Time);
        let best = (means.into_iter())
            .min_by(|(_, one), (_, other)| (sign * one).total_cmp(&(sign * other)));
        best.map_or(0, |(set, _)| set)
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
        let position = self.treatments.iter().position(is_named);
        position.ok_or_else(|| StudyError::Unknown {
            name: name.to_owned(),
            known: self.treatments.iter().map(|it| it.name.clone()).collect(),
        })
    }

    fn factor(&self, name: &str) -> Result<usize, StudyError> {
        let position = self.factors.iter().position(|factor| factor.name == name);
        position.ok_or_else(|| StudyError::Unknown {
            name: name.to_owned(),
            known: self.factors.iter().map(|it| it.name.clone()).collect(),
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
            let at = self.factor(name)?;
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
        for treatment in self.treatments_in(set) {
            levels[treatment.factor] = treatment.level;
        }
        levels
    }

    /// Returns the study without some factors: without the instances in which they are not at their base.
    ///
    /// # Errors
    /// When there is no factor of such a name.
    pub fn without(&self, names: &[String]) -> Result<Self, StudyError> {
        let dropped = names.iter().map(|name| self.factor(name));
        let dropped: Vec<usize> = dropped.collect::<Result<_, _>>()?;
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
        for instance in &self.instances {
            if dropped.iter().any(|at| instance.levels[*at] != 0) {
                continue;
            }
            let levels: Vec<usize> = kept.iter().map(|at| instance.levels[*at]).collect();
            rest.instances.push(StudyInstance {
                set: rest.set_of(&levels),
                levels,
                ..instance.clone()
            });
        }
        for set in &self.failed {
            let levels = self.levels_of(*set);
            if dropped.iter().all(|at| levels[*at] == 0) {
                let levels: Vec<usize> = kept.iter().map(|at| levels[*at]).collect();
                rest.failed.push(rest.set_of(&levels));
            }
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
