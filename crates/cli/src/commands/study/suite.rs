//! The suite of a study: its factors, and its past noise and times.

use std::path::{Path, PathBuf};

use lapwing_measure::suite::{Plan, Settings, Suite, SuiteFactor, nearest};
use lapwing_model::text::{first_names, shell_word};
use lapwing_model::{Level, matches_name};
use lapwing_study::design::{BASE, PlannedFactor};
use lapwing_study::{StudyError, noise_between_instances, several_metrics};

use super::options::existing_store;
use crate::cleaning::CleaningOptions;
use crate::commands::run::past_seconds;
use crate::error::CliError;
use crate::options::Context;
use crate::suite::suite_file::{self, SUITE_FILE};

/// The metric of noise by default, and the one that every command has.
pub const WALL_TIME: &str = "wall_time";

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
        let known = all.iter().map(|factor| factor.name.as_str());
        let is_unknown = |name: &&String| !known.clone().any(|known| known == **name);
        if let Some(name) = names.iter().find(is_unknown) {
            return Err(unknown_factor(name, known));
        }
        let is_wanted = |factor: &&SuiteFactor| names.is_empty() || names.contains(&factor.name);
        Ok(all.iter().filter(is_wanted).map(planned_factor).collect())
    }

    /// Returns the commands that would be measured, in one variant, once.
    pub fn plan(&self, benchmarks: &[String]) -> Plan {
        let settings = Settings {
            instances: Some(1),
            ..Settings::default()
        };
        let mut plan = self.suite.plan(&settings, 0);
        plan.cases
            .retain(|case| is_chosen(benchmarks, &case.benchmark.id));
        plan
    }

    /// Returns the ids of the benchmarks with these names; all of them if there are no names.
    pub fn chosen_benchmarks(&self, benchmarks: &[String]) -> Vec<String> {
        let plan = self.plan(benchmarks);
        let ids = plan.cases.into_iter().map(|case| case.benchmark.id);
        ids.collect()
    }

    /// Returns the expected time of one instance of each benchmark, in seconds; `None` if one was not measured before.
    pub fn seconds_per_visit(
        &self,
        benchmarks: &[String],
        context: &Context,
    ) -> Result<Option<f64>, CliError> {
        let plan = self.plan(benchmarks);
        let times = past_seconds(&plan, context)?;
        let cases = plan.cases.iter();
        let sum: Option<f64> = cases.map(|case| times.get(&case.benchmark.id)).sum();
        Ok(sum.filter(|_| !plan.cases.is_empty()))
    }

    /// Refuses to study a benchmark of which several metrics could be meant: those that the suite declares and those that
    /// were measured.
    pub fn refuse_several_metrics(
        &self,
        benchmarks: &[String],
        context: &Context,
    ) -> Result<(), CliError> {
        let declared = self.plan(benchmarks).cases.into_iter().find_map(|case| {
            let metrics = case.metrics.into_iter();
            let judged = metrics.filter(|(name, it)| it.better.is_some() && name != WALL_TIME);
            let mut candidates = vec![WALL_TIME.to_owned()];
            candidates.extend(judged.map(|(name, _)| name));
            (candidates.len() > 1).then_some(StudyError::SeveralMetrics {
                benchmark: case.benchmark.id,
                candidates,
            })
        });
        let error = match declared {
            Some(error) => Some(error),
            None => several_metrics(
                existing_store(context)?.as_ref(),
                &self.suite.name,
                |id| is_chosen(benchmarks, id),
                &CleaningOptions::default().rules()?,
            )?,
        };
        let Some(error) = error else { return Ok(()) };
        let metric = match &error {
            StudyError::SeveralMetrics { candidates, .. } => candidates.last().cloned(),
            _other => None,
        };
        let hint = format!(
            "name the one whose effects have to be stable: `{} study run --continuous --metric {}`",
            context.program(),
            shell_word(&metric.unwrap_or_default())
        );
        Err(CliError::from(error).hint(hint))
    }

    /// Returns the largest noise between instances of the benchmarks that the store has.
    pub fn noise(
        &self,
        benchmarks: &[String],
        metric: &str,
        context: &Context,
    ) -> Result<Option<f64>, CliError> {
        let store = existing_store(context)?;
        let suite = &self.suite.name;
        let is_chosen = |id: &str| is_chosen(benchmarks, id);
        Ok(noise_between_instances(
            store.as_ref(),
            suite,
            metric,
            is_chosen,
        )?)
    }
}

/// Returns whether a benchmark has one of the names; all have if there are no names.
fn is_chosen(benchmarks: &[String], id: &str) -> bool {
    benchmarks.is_empty() || benchmarks.iter().any(|name| matches_name(name, id))
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
            let known = factors.iter().map(|factor| factor.name.as_str());
            return Err(unknown_factor(name, known));
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

fn unknown_factor<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone) -> CliError {
    let error = CliError::input(format!("the suite has no factor `{name}`"));
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
