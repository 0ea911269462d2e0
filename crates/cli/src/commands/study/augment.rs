//! `lapwing study augment`: the next best configurations, given those that are measured.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::Args;
use lapwing_analyse::sample::each_benchmark;
use lapwing_model::Level;
use lapwing_record::{Filter, StoreError};
use lapwing_study::design::{DesignKind, DesignRequest, PlannedFactor, StudyDesign};

use super::design::{DESIGN_FILE, DesignAnswer, about};
use super::factors::StudySuite;
use super::run::read_design;
use super::stability::suite_stability;
use crate::comparing::parse_change;
use crate::error::{CliError, ExitStatus};
use crate::options::{Context, Format, within};

/// The metric of noise by default; that of effects is the only one that is judged.
const WALL_TIME: &str = "wall_time";

/// Effects are stable within this share.
const STABLE_WITHIN: f64 = 0.05;

/// The file of further configurations.
const MORE_FILE: &str = "lapwing-design-more.json";

/// Choose the next configurations of a study, given those that are measured
///
/// Adds the configurations that improve the estimates most (D-optimal), or that balance the levels
/// best, and writes a design of them alone for `lapwing study run`. Both sessions are analysed
/// together.
#[derive(Debug, Args)]
pub struct StudyAugment {
    /// File of the design that was measured
    #[arg(long, value_name = "FILE", default_value = DESIGN_FILE)]
    design: PathBuf,
    /// Number of configurations to add
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = within(1..=4096, "write a number from 1 to 4,096"))]
    runs: usize,
    /// Balance the levels at random instead of improving the estimates
    #[arg(long)]
    random: bool,
    /// Noise between instances, such as 2% [default: from stored results]
    #[arg(long, value_name = "SHARE", value_parser = parse_change)]
    noise: Option<f64>,
    /// Metric of the noise
    #[arg(long, value_name = "METRIC", default_value = WALL_TIME)]
    metric: String,
    /// File of the further configurations
    #[arg(long, short, value_name = "FILE", default_value = MORE_FILE)]
    output: PathBuf,
    /// Output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    format: Format,
}

impl StudyAugment {
    /// Writes the further configurations and shows them.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        let design = read_design(&self.design)?;
        let study = StudySuite::load(Some(&PathBuf::from(&design.suite_file)))?;
        let existing = measured(&design, context)?;
        if existing.is_empty() {
            return Err(
                CliError::not_enough("no configuration of this design was measured yet")
                    .hint("`lapwing study run` measures it"),
            );
        }
        let kind = match self.random {
            true => DesignKind::Random,
            false => DesignKind::Optimal,
        };
        let request = DesignRequest {
            kind: Some(kind),
            runs: Some(self.runs),
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
        let noise = match self.noise {
            Some(noise) => Some(noise),
            None => study.noise(&[], &self.metric, context)?,
        };
        let seconds = study.seconds_per_visit(&[], context)?;
        if !context.quiet {
            context.terminal.say(&format!(
                "{} of the study are measured; what follows counts them in",
                lapwing_model::text::counted(existing.len(), "configuration")
            ));
        }
        if !context.quiet {
            self.say_stability(&design, context)?;
        }
        let answer = DesignAnswer::new(more, &existing, noise, seconds, &self.output)?;
        answer.keep(&self.output)?;
        answer.show(self.format, context)?;
        Ok(ExitStatus::Fine)
    }
}

impl StudyAugment {
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
    if !context.store.exists() {
        return Ok(Vec::new());
    }
    let store = crate::store::open_for_reading(context)?;
    let filter = Filter::default();
    let read = each_benchmark(&store, &filter, |data| {
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
        Ok::<(), StoreError>(())
    });
    match read {
        Ok(()) | Err(StoreError::NoMatch { .. }) => Ok(found.into_iter().collect()),
        Err(error) => Err(error.into()),
    }
}
