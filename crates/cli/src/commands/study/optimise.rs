//! `lapwing study optimise`: finds a good configuration in few runs.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use lapwing_measure::suite::parse_duration;
use lapwing_model::text::shell_word;
use lapwing_model::text::{counted, first_names};
use lapwing_show::answers::study::{OptimisationAnswer, round_text};
use lapwing_stats::Seed;
use lapwing_study::design::StudySearch;
use lapwing_study::{
    CONFIRMATION, OptimisationEnd, OptimisationProgress, OptimisationRules, OptimisationStep,
    StudyOptimisation,
};

use super::options::{StudyDataOptions, existing_store};
use super::rounds::StudyRounds;
use super::suite::StudySuite;
use crate::comparing::parse_change;
use crate::error::{CliError, ExitStatus};
use crate::options::{AnswerOptions, Context, within};

/// Find a good configuration of the suite's factors in few runs
///
/// Measures balanced random configurations, then those that a model of all results expects most of
/// and some more random ones, until no improvement is expected any more and a last round of random
/// ones has not changed that. Finally measures the best one and the base
/// alternately, and compares them. Earlier results of the same factors count, so that the same
/// command continues an interrupted search.
#[derive(Debug, Args)]
pub struct StudyOptimise {
    /// Suite file [default: lapwing.toml]
    #[arg(id = "studied_suite", value_name = "SUITE")]
    suite: Option<PathBuf>,
    /// Only vary this factor; can be repeated [default: all]
    #[arg(long, value_name = "NAME")]
    factor: Vec<String>,
    /// Maximum number of instances before the final comparison, earlier ones included
    #[arg(long, value_name = "N", value_parser = within(2..=4096, "write a number from 2 to 4,096"), default_value_t = 60)]
    runs: usize,
    /// Finish within this time, the final comparison included
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    budget: Option<Duration>,
    /// Configurations per round after the first one
    #[arg(long, value_name = "N", value_parser = within(1..=64, "write a number from 1 to 64"), default_value_t = 4)]
    batch: usize,
    /// Stop when no further configuration is expected to be better by this share
    #[arg(long, value_name = "SHARE", value_parser = parse_change, default_value = "1%")]
    improvement: f64,
    /// Instances of the best configuration and of the base in the final comparison, 0 for none
    #[arg(long, value_name = "N", value_parser = within(0..=1000, "write a number from 0 to 1,000"), default_value_t = 8)]
    confirm: usize,
    /// Iterations per instance, after burn-in [default: the suite's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    iterations: Option<u32>,
    /// Kill an iteration that takes longer than this
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    time_limit: Option<Duration>,
    /// Seed of random choices and of the order of measuring
    #[arg(long, value_name = "N", default_value_t = 7)]
    seed: u64,
    /// Name of the sessions
    #[arg(long, value_name = "NAME", default_value = "optimise")]
    name: String,
    #[command(flatten)]
    data: StudyDataOptions,
    #[command(flatten)]
    answer: AnswerOptions,
}

impl StudyOptimise {
    /// Searches, confirms, and shows the result.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        let started = Instant::now();
        let study = StudySuite::load(self.suite.as_deref())?;
        let factors = study.factors(&self.factor)?;
        let benchmark = self.only_benchmark(&study)?;
        let search = StudySearch::new(factors, self.improvement.ln_1p(), Seed(self.seed))?;
        let mut optimisation = StudyOptimisation {
            suite: [study.suite.name.clone(), study.path.display().to_string()],
            benchmark,
            search: search.ok_or_else(|| CliError::input("there is no factor to vary"))?,
            rules: OptimisationRules {
                runs: self.runs,
                batch: self.batch,
                confirmations: self.confirm,
                seed: self.seed,
            },
            filter: self.data.filters.filter()?,
            cleaning: self.data.cleaning.rules()?,
            progress: OptimisationProgress::default(),
        };
        let mut rounds = StudyRounds {
            suite_file: study.path,
            benchmark: self.data.filters.benchmark.clone(),
            iterations: self.iterations,
            time_limit: self.time_limit,
            name: Some(self.name.clone()),
            ..StudyRounds::default()
        };
        let Some(end) = self.search(&mut optimisation, &mut rounds, started, context)? else {
            context
                .terminal
                .say("interrupted: the same command continues");
            return Ok(ExitStatus::Interrupted);
        };
        let result = optimisation.result(existing_store(context)?.as_ref())?;
        let result = result.ok_or_else(|| {
            let metric = self.data.filters.metric.first();
            let of_metric = metric.map_or_else(String::new, |metric| format!(" of `{metric}`"));
            CliError::not_enough(format!("no configuration has a usable value{of_metric}"))
                .hint("`lapwing list metrics` lists the measured metrics")
        })?;
        let findings = format!(
            "{} study findings --benchmark {} --metric {}",
            context.program(),
            shell_word(&optimisation.benchmark),
            shell_word(&result.metric.name)
        );
        let answer = OptimisationAnswer {
            result,
            end,
            findings,
        };
        context.show(&answer, &self.answer)
    }

    /// Measures until a rule ends the search, then the final comparison; `None` if interrupted.
    fn search(
        &self,
        optimisation: &mut StudyOptimisation,
        rounds: &mut StudyRounds,
        started: Instant,
        context: &Context,
    ) -> Result<Option<OptimisationEnd>, CliError> {
        let end = loop {
            let mut state = optimisation.state(existing_store(context)?.as_ref())?;
            let is_late = |instances: usize| {
                let expected = started.elapsed() + rounds.expected(instances);
                self.budget.is_some_and(|budget| expected > budget)
            };
            let (design, purpose) = match optimisation.next_step(&mut state, is_late)? {
                OptimisationStep::Measure(design, purpose) => (design, purpose),
                OptimisationStep::End(end) => break end,
            };
            if !context.quiet {
                let text = round_text(optimisation, &state, design.configurations.len());
                context.terminal.say(&text);
            }
            if rounds.measure(&design, purpose, context)? {
                return Ok(None);
            }
        };
        let store = existing_store(context)?;
        let Some(design) = optimisation.confirmation_round(store.as_ref())? else {
            return Ok(Some(end));
        };
        drop(store);
        if let (false, Some(best)) = (context.quiet, design.configurations.last()) {
            context.terminal.say(&format!(
                "final comparison: {} of {} and of the base, alternately",
                counted(design.replicates, "instance"),
                best.name
            ));
        }
        let is_interrupted = rounds.measure(&design, CONFIRMATION, context)?;
        Ok((!is_interrupted).then_some(end))
    }

    fn only_benchmark(&self, study: &StudySuite) -> Result<String, CliError> {
        let plan = study.plan(&self.data.filters.benchmark);
        match plan.cases.as_slice() {
            [case] => Ok(case.benchmark.id.clone()),
            [] => Err(CliError::input("no benchmark of the suite is chosen")),
            several => {
                let ids = several
                    .iter()
                    .map(|case| format!("`{}`", case.benchmark.id));
                Err(CliError::input(format!(
                    "a search is about one benchmark, and several could be meant: {}",
                    first_names(ids, 10)
                ))
                .hint("name one with --benchmark"))
            }
        }
    }
}
