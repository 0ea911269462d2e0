//! `lapwing study design --augment`: the next best configurations, given those that are measured.

use std::collections::BTreeSet;
use std::path::Path;

use lapwing_model::Level;
use lapwing_model::text::counted;
use lapwing_record::Filter;
use lapwing_study::design::{DesignKind, DesignRequest, PlannedFactor, StudyDesign};

use super::design::{ChosenDesign, StudyDesignCommand, WALL_TIME, about};
use super::factors::StudySuite;
use super::options::each_known_benchmark;
use super::run::read_design;
use super::stability::suite_stability;
use crate::error::CliError;
use crate::options::Context;

/// Effects are stable within this share.
const STABLE_WITHIN: f64 = 0.05;

/// Further configurations by default.
const FURTHER: usize = 8;

impl StudyDesignCommand {
    /// Returns the configurations that improve the estimates most, or that balance the levels best.
    pub fn choose_further(&self, file: &Path, context: &Context) -> Result<ChosenDesign, CliError> {
        if !matches!(
            self.kind,
            None | Some(DesignKind::Optimal | DesignKind::Random)
        ) {
            return Err(
                CliError::input("--augment adds optimal or random configurations")
                    .hint("leave out --kind, or use `--kind random`"),
            );
        }
        let design = read_design(file)?;
        let study = StudySuite::load(Some(Path::new(&design.suite_file)))?;
        let existing = measured(&design, context)?;
        if existing.is_empty() {
            return Err(
                CliError::not_enough("no configuration of this design was measured yet")
                    .hint("`lapwing study run` measures it"),
            );
        }
        let runs = self.number_of_runs(&study, design.replicates, context)?;
        let request = DesignRequest {
            kind: self.kind.or(Some(DesignKind::Optimal)),
            runs: runs.or(Some(FURTHER)),
            model: design.model,
            existing: existing.clone(),
            replicates: design.replicates,
            // Another seed for each step, else random choices and orders would be repeated.
            seed: design.seed.wrapping_add(existing.len() as u64),
            ..DesignRequest::default()
        };
        let more = StudyDesign::new(
            (&design.suite, &design.suite_file),
            design.factors.clone(),
            &request,
        );
        let more = more.map_err(about)?;
        if !context.quiet {
            context.terminal.say(&format!(
                "{} of the study are measured; what follows counts them in",
                counted(existing.len(), "configuration")
            ));
            self.say_stability(&design, context)?;
        }
        Ok((study, more, existing))
    }

    /// Says whether more configurations would still change the effects.
    fn say_stability(&self, design: &StudyDesign, context: &Context) -> Result<(), CliError> {
        let metric = (self.metric != WALL_TIME).then_some(self.metric.as_str());
        let found = suite_stability(&design.suite, metric, STABLE_WITHIN, context)?;
        for own in &found {
            context
                .terminal
                .say(&format!("{}: {}", own.benchmark, own.text));
        }
        if !found.is_empty() && found.iter().all(|own| own.is_stable) {
            context.terminal.note(
                "more configurations will hardly change these effects: the study can end here",
            );
        }
        Ok(())
    }
}

/// Returns the configurations in the store that have these factors with these definitions, as numbers of levels.
pub fn measured(design: &StudyDesign, context: &Context) -> Result<Vec<Vec<usize>>, CliError> {
    let mut found = BTreeSet::new();
    each_known_benchmark(&Filter::default(), context, |data| {
        let own = data.instances.iter().filter(|_| data.suite == design.suite);
        for instance in own {
            let level = |factor: &PlannedFactor| {
                let known = instance.run.definitions.get(&factor.name);
                let level: Option<&Level> = instance.run.factors.get(&factor.name);
                let level = level.filter(|_| known == Some(&factor.definition))?;
                factor.levels.iter().position(|own| own == level)
            };
            let run: Option<Vec<usize>> = design.factors.iter().map(level).collect();
            found.extend(run);
        }
    })?;
    Ok(found.into_iter().collect())
}
