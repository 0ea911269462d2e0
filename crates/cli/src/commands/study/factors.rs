//! The factors of a suite, as a study has them, and its past: noise and times.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lapwing_analyse::clean::{CleaningPolicy, clean};
use lapwing_measure::suite::{Plan, Settings, Suite, SuiteFactor, nearest};
use lapwing_model::text::first_names;
use lapwing_model::{Level, matches_name};
use lapwing_record::Filter;
use lapwing_stats::as_f64;
use lapwing_study::design::{BASE, PlannedFactor};

use super::options::each_known_benchmark;
use crate::commands::run::past_seconds;
use crate::error::CliError;
use crate::options::Context;
use crate::suite_file::{self, SUITE_FILE};

/// The suite of a study.
pub struct StudySuite {
    pub path: PathBuf,
    pub suite: Suite,
}

impl StudySuite {
    /// Reads the suite file; without a path, that of the working directory.
    pub fn load(path: Option<&Path>) -> Result<Self, CliError> {
        let path = path.map(suite_file::named).or_else(suite_file::here);
        let path = path.ok_or_else(|| {
            CliError::input(format!("there is no {SUITE_FILE} here"))
                .hint("a study varies the factors of a suite: name its file, or write one with `lapwing init`")
        })?;
        let suite = suite_file::load_for_study(&path)?;
        Ok(Self { path, suite })
    }

    /// Returns the factors of these names, in the order of the file; all of them if there are no names.
    pub fn factors(&self, names: &[String]) -> Result<Vec<PlannedFactor>, CliError> {
        let all = self.suite.factors();
        if all.is_empty() {
            return Err(CliError::input(format!(
                "{} has no factor",
                self.path.display()
            ))
            .hint("add a table such as [factor.NAME] with `apply.env`, `apply.arguments` or `apply.patch` for each setting to vary"));
        }
        if let Some(name) = names
            .iter()
            .find(|it| !all.iter().any(|own| own.name == **it))
        {
            return Err(unknown(
                "factor",
                name,
                all.iter().map(|it| it.name.as_str()),
            ));
        }
        let is_chosen = |name: &String| names.is_empty() || names.contains(name);
        let chosen = all.iter().filter(|it| is_chosen(&it.name));
        Ok(chosen.map(planned_factor).collect())
    }

    /// Returns the commands that would be measured, in one variant, once.
    pub fn plan(&self, benchmarks: &[String]) -> Plan {
        let settings = Settings {
            instances: Some(1),
            ..Settings::default()
        };
        let mut plan = self.suite.plan(&settings, 0);
        let is_chosen = |id: &str| benchmarks.iter().any(|it| matches_name(it, id));
        plan.cases
            .retain(|case| benchmarks.is_empty() || is_chosen(&case.benchmark.id));
        plan
    }

    /// Returns the expected time of one instance of each benchmark, in seconds; `None` if one was not measured before.
    pub fn seconds_per_visit(
        &self,
        benchmarks: &[String],
        context: &Context,
    ) -> Result<Option<f64>, CliError> {
        let plan = self.plan(benchmarks);
        let times = past_seconds(&plan, context)?;
        let mut sum = 0.0;
        for case in &plan.cases {
            match times.get(&case.benchmark.id) {
                Some(seconds) => sum += seconds,
                None => return Ok(None),
            }
        }
        Ok((!plan.cases.is_empty()).then_some(sum))
    }

    /// Returns the largest noise between instances of the benchmarks that the store has: the standard deviation of the
    /// logarithms of instance means within a run.
    pub fn noise(
        &self,
        benchmarks: &[String],
        metric: &str,
        context: &Context,
    ) -> Result<Option<f64>, CliError> {
        let filter = Filter {
            metrics: vec![metric.to_owned()],
            ..Filter::default()
        };
        let is_chosen = |id: &str| benchmarks.iter().any(|it| matches_name(it, id));
        let mut largest: Option<f64> = None;
        each_known_benchmark(&filter, context, |data| {
            let is_own = data.suite == self.suite.name;
            if is_own && (benchmarks.is_empty() || is_chosen(&data.benchmark.id)) {
                let mut logarithms: BTreeMap<String, Vec<f64>> = BTreeMap::new();
                for instance in &data.instances {
                    let cleaned = clean([instance], metric, CleaningPolicy::default());
                    let means = cleaned.instances.iter().map(|it| it.mean());
                    let of_run = logarithms.entry(instance.run.id.to_string()).or_default();
                    of_run.extend(means.filter(|mean| *mean > 0.0).map(f64::ln));
                }
                if let Some(noise) = pooled_deviation(logarithms.values()) {
                    largest = Some(largest.map_or(noise, |known| known.max(noise)));
                }
            }
        })?;
        Ok(largest)
    }
}

/// Returns the standard deviation within groups; `None` without degrees of freedom or spread.
fn pooled_deviation<'a>(groups: impl Iterator<Item = &'a Vec<f64>>) -> Option<f64> {
    let (mut squares, mut freedom) = (0.0, 0_usize);
    for group in groups {
        if let Some(mean) = lapwing_stats::mean(group) {
            squares += group.iter().map(|it| (it - mean).powi(2)).sum::<f64>();
            freedom += group.len() - 1;
        }
    }
    let deviation = (squares / as_f64(freedom.max(1))).sqrt();
    (freedom > 0 && deviation > 0.0).then_some(deviation)
}

/// Reads a configuration such as `safe,threads=4`, or `base`, as numbers of levels.
pub fn read_configuration(text: &str, factors: &[PlannedFactor]) -> Result<Vec<usize>, CliError> {
    let mut run = vec![0; factors.len()];
    if text.trim() == BASE {
        return Ok(run);
    }
    for part in text.split(',').map(str::trim) {
        let (name, level) = match part.split_once('=') {
            Some((name, level)) => (name.trim(), level.trim().to_owned()),
            None => (part, Level::Bool(true).to_string()),
        };
        let Some(at) = factors.iter().position(|it| it.name == name) else {
            return Err(unknown(
                "factor",
                name,
                factors.iter().map(|it| it.name.as_str()),
            ));
        };
        let mut levels = factors[at].levels.iter();
        let Some(level) = levels.position(|it| it.to_string() == level) else {
            let levels: Vec<String> = factors[at].levels.iter().map(Level::to_string).collect();
            return Err(CliError::input(format!("`{name}` has no level `{level}`"))
                .hint(format!("its levels are {}", levels.join(", "))));
        };
        run[at] = level;
    }
    Ok(run)
}

fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str> + Clone) -> CliError {
    let error = CliError::input(format!("the suite has no {what} `{name}`"));
    match nearest(name, known.clone()) {
        Some(close) => error.hint(format!("did you mean `{close}`?")),
        None => error.hint(format!("available: {}", first_names(known, 8))),
    }
}

/// Returns a factor of the suite as studies have it: the base level first.
fn planned_factor(factor: &SuiteFactor) -> PlannedFactor {
    let others = factor.levels.iter().filter(|it| **it != factor.base);
    let mut levels = vec![factor.base.clone()];
    levels.extend(others.cloned());
    PlannedFactor {
        name: factor.name.clone(),
        levels,
        requires: factor.requires.clone(),
        excludes: factor.excludes.clone(),
        tags: factor.tags.clone(),
        nice: factor.nice,
        definition: factor.definition.clone(),
    }
}
