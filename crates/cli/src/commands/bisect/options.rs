//! Options of what is measured at each commit.

use std::time::Duration;

use clap::Args;
use lapwing_measure::declared_metrics;
use lapwing_measure::session::{BenchmarkSelection, RequestedBenchmarks, SessionRequest};
use lapwing_measure::suite::{
    AdHoc, BurnIn, Case, CommandLine, OutputMetrics, Plan, Settings, Variant, nearest,
    parse_duration,
};
use lapwing_stats::Confidence;

use crate::commands::run::{
    ProgramOrigin, QUICK, commands, random_seed, refuse_options_of_commands, suite_of,
};
use crate::comparing::parse_level;
use crate::error::CliError;
use crate::options::{AnswerOptions, Context};

/// Benchmarks that are measured at commits.
#[derive(Debug, Args)]
pub struct CommitOptions {
    /// Command to measure instead of a benchmark of lapwing.toml, without a shell
    #[arg(last = true, value_name = "COMMAND")]
    pub words: Vec<String>,
    /// Shell command to measure instead of a benchmark of lapwing.toml
    #[arg(long, short, value_name = "COMMAND", conflicts_with = "words")]
    pub command: Option<String>,
    /// Only measure benchmarks of lapwing.toml whose id equals NAME, matches it as a pattern (`*`,
    /// `?`) or contains it
    #[arg(long, short, value_name = "NAME")]
    pub benchmark: Vec<String>,
    /// Metric to judge by
    #[arg(long, value_name = "NAME", default_value = "wall_time")]
    pub metric: String,
    /// Confidence level
    #[arg(long, value_name = "LEVEL", value_parser = parse_level, default_value = "95%")]
    pub confidence: Confidence,
    /// Maximum number of instances per side of a comparison
    #[arg(long, short = 'n', value_name = "N", value_parser = clap::value_parser!(u32).range(5..=10_000), default_value_t = 30)]
    pub instances: u32,
    /// Iterations per instance, after burn-in [default: 5]
    #[arg(long, short, value_name = "N")]
    pub iterations: Option<u32>,
    /// Burn-in iterations per instance, stored but excluded from analysis [default: 1]
    #[arg(long, value_name = "N")]
    pub burn_in: Option<u32>,
    /// Kill an iteration that takes longer than this
    #[arg(long, value_name = "TIME", value_parser = parse_duration, help_heading = "Repetitions and limits")]
    pub time_limit: Option<Duration>,
    /// Run this command in the worktree of each commit before it is measured [default: `build` of the
    /// suite]
    #[arg(long, value_name = "COMMAND")]
    pub build: Option<String>,
    /// Run this command before each instance, untimed
    #[arg(long, value_name = "COMMAND", help_heading = "Commands")]
    pub setup: Option<String>,
    /// Run this command before each iteration, untimed
    #[arg(long, value_name = "COMMAND", help_heading = "Commands")]
    pub prepare: Option<String>,
    /// Record the numbers in the last JSON object of the command's output as metrics
    #[arg(long, value_name = "KIND", value_parser = ["json"], help_heading = "Commands")]
    pub metrics: Option<String>,
    /// Name of the session [default: two random words]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Seed of random choices [default: random]
    #[arg(long, value_name = "N", help_heading = "Repetitions and limits")]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub answer: AnswerOptions,
}

impl CommitOptions {
    /// Returns what is measured at each commit: one instance at a time.
    pub fn request(&self, context: &Context) -> Result<SessionRequest, CliError> {
        let command = self.command.clone().into_iter().collect::<Vec<_>>();
        let origin = match self.build {
            Some(_) => ProgramOrigin::Built,
            None => ProgramOrigin::Present,
        };
        let commands = commands(&command, &self.words, origin)?;
        let shell = |text: &Option<String>| text.clone().map(CommandLine::Shell);
        let mut settings = Settings {
            instances: Some(1),
            iterations: self.iterations,
            burn_in: self.burn_in.map(BurnIn::Fixed),
            time_limit: self.time_limit,
            ..Settings::default()
        };
        let benchmarks = if commands.is_empty() {
            self.refuse_options_of_commands()?;
            suite_of(None, context)?
        } else {
            settings.min_time = self.iterations.is_none().then_some(QUICK);
            RequestedBenchmarks::Commands(Box::new(AdHoc {
                commands,
                setup: shell(&self.setup),
                prepare: shell(&self.prepare).into_iter().collect(),
                output: match self.metrics {
                    Some(_) => OutputMetrics::Json,
                    None => OutputMetrics::None,
                },
                ..AdHoc::default()
            }))
        };
        Ok(SessionRequest {
            settings,
            seed: self.seed.unwrap_or_else(random_seed),
            selection: BenchmarkSelection {
                benchmarks: self.benchmark.clone(),
                ..BenchmarkSelection::default()
            },
            build: shell(&self.build),
            name: self.name.clone(),
            ..SessionRequest::new(benchmarks)
        })
    }

    /// Refuses names of benchmarks beside a command, which is measured instead of them.
    pub fn check_selection(&self) -> Result<(), CliError> {
        let has_command = self.command.is_some() || !self.words.is_empty();
        if has_command && !self.benchmark.is_empty() {
            return Err(CliError::input(
                "--benchmark selects from a suite; remove it, or remove the command",
            ));
        }
        Ok(())
    }

    /// Refuses options that would have no effect.
    fn refuse_options_of_commands(&self) -> Result<(), CliError> {
        let given = [
            ("--setup", "setup", self.setup.is_some()),
            ("--prepare", "prepare", self.prepare.is_some()),
            ("--metrics", "metrics", self.metrics.is_some()),
        ];
        refuse_options_of_commands(given)
    }

    /// Returns the only variant of a plan.
    pub fn only_variant(plan: &Plan) -> Result<Variant, CliError> {
        match &plan.variants[..] {
            [only] => Ok(only.clone()),
            [] | [_, ..] => Err(CliError::input(
                "the suite has several variants, and this follows one",
            )
            .hint("measure a command, or a suite file with one variant")),
        }
    }
}

/// Refuses a metric that the benchmarks of a plan cannot have, or that is probably another one misspelt.
pub fn check_metric(plan: &Plan, name: &str) -> Result<(), CliError> {
    let known = declared_metrics(&plan.cases);
    if known.contains_key(name) {
        return Ok(());
    }
    let has_others = |case: &Case| case.output != OutputMetrics::None || case.pytest.is_some();
    let can_be_other = plan.cases.iter().any(has_others);
    let close = nearest(name, known.keys().map(String::as_str));
    if close.is_none() && can_be_other {
        return Ok(());
    }
    let error = match plan.cases.as_slice() {
        [only] => format!("`{}` has no metric `{name}`", only.benchmark.id),
        _ => format!("the benchmarks have no metric `{name}`"),
    };
    let known: Vec<String> = known.into_keys().collect();
    let hint = match close {
        Some(close) => format!("did you mean `{close}`?"),
        None => format!("the metrics are {}", known.join(", ")),
    };
    Err(CliError::input(error).hint(hint).candidates(known))
}
