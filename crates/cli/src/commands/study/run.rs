//! `lapwing study run`: measures the configurations of a design.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use lapwing_measure::session::EnvironmentBuilds;
use lapwing_measure::suite::{Suite, parse_duration};
use lapwing_model::text::first_names;
use lapwing_record::files::{LONGEST_SETTINGS, read_text};
use lapwing_show::answers::study::DESIGN_FILE;
use lapwing_study::design::{PlannedFactor, StudyDesign};

use super::rounds::{ContinuousRule, StudyRounds};
use super::suite::StudySuite;
use crate::commands::run::{ClusterOptions, Measurement, RunReport, executors_of, resume};
use crate::comparing::parse_change;
use crate::error::{CliError, ExitStatus};
use crate::options::{AnswerOptions, Context};

/// Measure the configurations of a design
///
/// Each configuration is a variant, named by its levels that differ from the base. All are measured
/// once in each block, in random order. Configurations that fail are recorded as failures.
#[derive(Debug, Args)]
pub struct StudyRunCommand {
    /// File of the design
    #[arg(long, value_name = "FILE", default_value = DESIGN_FILE)]
    design: PathBuf,
    /// Suite file [default: that of the design]
    suite: Option<PathBuf>,
    /// Instances per configuration [default: the replicates of the design]
    #[arg(long, short = 'n', value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    instances: Option<u32>,
    /// Iterations per instance, after burn-in [default: the suite's]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    iterations: Option<u32>,
    /// Kill an iteration that takes longer than this
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    time_limit: Option<Duration>,
    /// Only measure benchmarks whose id equals NAME, matches it as a pattern or contains it
    #[arg(long, short, value_name = "NAME")]
    benchmark: Vec<String>,
    /// Name of the session [default: two random words]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Show what would be measured, in which order, and the estimated time
    #[arg(long)]
    dry_run: bool,
    /// Augment and measure until the effects are stable, --budget is over or Ctrl-C
    #[arg(long, conflicts_with_all = ["dry_run", "resume", "instances", "format", "executor"])]
    continuous: bool,
    /// With --continuous: start no round that would end after this time
    #[arg(long, value_name = "TIME", value_parser = parse_duration, requires = "continuous")]
    budget: Option<Duration>,
    /// With --continuous: effects are stable when every interval reaches no further than this share
    #[arg(long, value_name = "SHARE", value_parser = parse_change, default_value = "5%", requires = "continuous")]
    within: f64,
    /// With --continuous: metric whose effects have to be stable
    #[arg(long, value_name = "METRIC", requires = "continuous")]
    metric: Option<String>,
    /// Measure the rest of an interrupted session [default session: the latest]
    #[arg(long, value_name = "SESSION", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["suite", "design", "instances", "iterations", "benchmark", "name", "dry_run"])]
    resume: Option<String>,
    #[command(flatten)]
    cluster: ClusterOptions,
    #[command(flatten)]
    answer: AnswerOptions,
}

impl StudyRunCommand {
    /// Measures.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        let report = RunReport {
            answer: self.answer.clone(),
            ..RunReport::default()
        };
        if let Some(session) = &self.resume {
            return resume(session, &self.cluster, &report, context);
        }
        let design = read_design(&self.design)?;
        let path = self
            .suite
            .unwrap_or_else(|| PathBuf::from(&design.suite_file));
        let study = StudySuite::load(Some(&path))?;
        note_changes(&design, &study.suite, context);
        let rounds = StudyRounds {
            suite_file: path,
            benchmark: self.benchmark,
            iterations: self.iterations,
            time_limit: self.time_limit,
            name: self.name,
            ..StudyRounds::default()
        };
        if self.continuous {
            if self.metric.is_none() {
                study.refuse_several_metrics(&rounds.benchmark, context)?;
            }
            let rule = ContinuousRule {
                metric: self.metric.as_deref(),
                within: self.within,
                budget: self.budget,
            };
            return rule.measure(&design, rounds, context);
        }
        let mut request = rounds.request(&design)?;
        request.settings.instances = self.instances.or(request.settings.instances);
        request.cluster = self
            .cluster
            .for_instances(executors_of(&request.benchmarks))?;
        request.leave_jobs = self.cluster.leave_jobs();
        if self.dry_run {
            request.builds = EnvironmentBuilds::None;
        }
        let measurement = Measurement {
            request,
            report,
            dry_run: self.dry_run,
        };
        measurement.act(context)
    }
}

/// Reads the file of a design.
pub fn read_design(path: &Path) -> Result<StudyDesign, CliError> {
    let about = |error: Box<dyn std::error::Error + Send + Sync>| {
        CliError::input(format!("{}: {error}", path.display()))
            .hint("`lapwing study design` writes one")
    };
    let text = read_text(path, LONGEST_SETTINGS).map_err(|error| about(error.into()))?;
    StudyDesign::read(&text).map_err(|error| about(error.into()))
}

/// Reports factors whose meaning is another than when the design was made.
fn note_changes(design: &StudyDesign, suite: &Suite, context: &Context) {
    let has_changed = |designed: &&PlannedFactor| {
        let mut factors = suite.factors().iter();
        let factor = factors.find(|factor| factor.name == designed.name);
        factor.is_some_and(|factor| factor.definition != designed.definition)
    };
    let changed = design.factors.iter().filter(has_changed);
    let changed: Vec<&str> = changed.map(|factor| factor.name.as_str()).collect();
    if !changed.is_empty() && !context.quiet {
        context.terminal.note(&format!(
            "changed in the suite since the design was made: {}",
            first_names(changed, 8)
        ));
    }
}
