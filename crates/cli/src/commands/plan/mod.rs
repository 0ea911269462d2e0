//! `lapwing plan`: instances and iterations needed per benchmark.

mod document;
mod review;

use std::cell::Cell;
use std::path::PathBuf;

use clap::Args;
use lapwing_analyse::explain::{
    BudgetedPlan, BySetting, Choice, ChoiceRule, PlanLine, PlanOptions, Simulation, choices,
};
use lapwing_analyse::judge::{
    DetectionOptions, SharedSource, USUAL_ASSURANCE, USUAL_POWER, USUAL_SLOWDOWN,
};
use lapwing_analyse::sample::Subject;
use lapwing_measure::suite::{PlanFlavour, parse_duration};
use lapwing_model::JudgeSettings;
use lapwing_show::answers::detect::muted_note;
use lapwing_show::answers::plan::PlanAnswer;
use lapwing_show::answers::{Analysed, earlier_note};
use lapwing_show::writing::AnswerFormat;
use lapwing_stats::{Confidence, Configuration, DetectionMethod, Strategy};

use self::document::PlanTarget;
use super::mds::{DetectionGridOptions, METHODS, STRATEGIES, parse_slowdown, refuse_too_few};
use super::run::{JobShare, ShareJobs, ShareUnit, SimulationStart};
use crate::cleaning::JudgingOptions;
use crate::comparing::parse_share;
use crate::error::{CliError, ExitStatus};
use crate::options::{Context, NamedValue, check_plot, one_of, within};
use crate::samples::{SampleOptions, nothing};
use crate::suite::suite_update;

/// Choose how many instances and iterations are needed to detect a slowdown
///
/// Chooses the cheapest configuration per benchmark that reaches the required power with few false
/// positives. Benchmarks that do not fit into the budget are listed with their cost. Costs are for
/// one version: a comparison measures two.
#[derive(Debug, Args)]
pub struct PlanCommand {
    /// Slowdown to detect, such as 5% or 1.05; several get one configuration each [default: the
    /// smallest effect that the suite file has for the benchmark, or 5%; with --compat hail the smallest detectable one]
    #[arg(long, value_name = "SLOWDOWN", value_delimiter = ',', value_parser = parse_slowdown)]
    slowdown: Vec<f64>,
    /// Required probability of detecting it
    #[arg(long, value_name = "SHARE", value_parser = parse_share, default_value_t = USUAL_POWER)]
    power: f64,
    /// Probability that a plan keeps its power, although the noise is known from a few instances only
    #[arg(long, value_name = "SHARE", value_parser = parse_assurance, default_value_t = USUAL_ASSURANCE, conflicts_with = "compat", help_heading = "Search")]
    assurance: f64,
    /// Maximum false-positive rate
    #[arg(long, value_name = "SHARE", value_parser = parse_share, default_value = "5%", help_heading = "Search")]
    alpha: f64,
    /// Total budget: machine time such as 20h, or money with --price
    #[arg(long, value_name = "BUDGET", value_parser = parse_budget)]
    budget: Option<PlanBudget>,
    /// Cost of one machine hour
    #[arg(long, value_name = "MONEY", value_parser = parse_price, help_heading = "Search")]
    price: Option<f64>,
    /// Statistical method [default: paired, as in `lapwing compare`; laaber with --compat hail]
    #[arg(long, value_name = "METHOD", value_parser = one_of(&METHODS), help_heading = "Search")]
    method: Option<DetectionMethod>,
    /// Which instances the two sides are drawn from
    #[arg(long, value_name = "STRATEGY", value_parser = one_of(&STRATEGIES), default_value = "ibs", help_heading = "Search")]
    strategy: Strategy,
    /// Maximum number of instances per benchmark
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = within(1..=100_000, LIMIT), conflicts_with = "compat", help_heading = "Search")]
    max_instances: usize,
    /// Maximum number of iterations per instance
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = within(1..=100_000, LIMIT), conflicts_with = "compat", help_heading = "Search")]
    max_iterations: usize,
    /// Review the benchmarks one by one: accept the proposal, or enter another number
    #[arg(long, help_heading = "Output")]
    review: bool,
    /// Write the plan to this file, for `lapwing run --plan` and Hail's submit script; `-` prints
    /// it instead of the result
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Variety of the plan file
    #[arg(
        long,
        value_name = "READER",
        value_parser = one_of(&FLAVOURS),
        default_value = "batch",
        requires = "output", help_heading = "Output")]
    flavour: PlanFlavour,
    /// Write the result into a suite file [default file: lapwing.toml]
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "lapwing.toml", help_heading = "Output")]
    update_suite: Option<PathBuf>,
    /// Write a chart to this .svg, .png or .html file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    grid: DetectionGridOptions,
    #[command(flatten)]
    jobs: ShareJobs,
    #[command(flatten)]
    samples: SampleOptions,
}

/// A budget.
#[derive(Debug, Clone, Copy, PartialEq)]
enum PlanBudget {
    /// Seconds of machine time.
    Seconds(f64),
    /// Money.
    Money(f64),
}

/// Returns a budget written as `20h` or `50`.
fn parse_budget(text: &str) -> Result<PlanBudget, String> {
    let refused = || "write machine time such as 20h, or a sum of money".to_owned();
    let (amount, budget): (f64, fn(f64) -> PlanBudget) = match text.trim().parse::<f64>() {
        Ok(money) => (money, PlanBudget::Money),
        Err(_) => {
            let time = parse_duration(text).map_err(|_reason| refused())?;
            (time.as_secs_f64(), PlanBudget::Seconds)
        }
    };
    if amount.is_finite() && amount > 0.0 {
        Ok(budget(amount))
    } else {
        Err(refused())
    }
}

/// Returns a price above zero.
fn parse_price(text: &str) -> Result<f64, String> {
    let price = text.trim().parse::<f64>().ok();
    price
        .filter(|price| price.is_finite() && *price > 0.0)
        .ok_or_else(|| "write a sum of money above 0".to_owned())
}

/// Readers of a plan file.
const FLAVOURS: [NamedValue<PlanFlavour>; 2] = [
    (
        "batch",
        "`lapwing run --plan` and Hail's submit script (`burn-in-iterations`)",
        PlanFlavour::HailBatch,
    ),
    (
        "notebook",
        "Hail's notebook (`burn_in`), which `lapwing run --plan` reads as well",
        PlanFlavour::HailNotebook,
    ),
];

fn parse_assurance(text: &str) -> Result<f64, String> {
    let share = parse_share(text).ok().filter(|it| *it >= 0.5);
    share.ok_or_else(|| "write a share from 50 % to below 100 %, such as 90% or 0.9".to_owned())
}

/// Expected values of a limit.
const LIMIT: &str = "write a number from 1 to 100,000";

impl PlanCommand {
    /// Chooses, shows and writes the plan.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        if let Some(share) = &self.jobs.share {
            let writer = share.open(ShareUnit::Benchmarks)?;
            self.search(
                Some(SharedSource(writer.clone())),
                &share.context(context.format),
            )?;
            writer.finish()?;
            return Ok(ExitStatus::Fine);
        }
        check_plot(self.plot.as_deref())?;
        self.check_grid()?;
        let budget = self.budget_seconds()?;
        // A suite file that cannot be written is refused before the search.
        let suite = self
            .update_suite
            .as_deref()
            .map(suite_update::load)
            .transpose()?;
        let target = self.output.as_deref().map(PlanTarget::of);
        if let Some(target) = &target {
            target.check()?;
            self.check_output(target, context)?;
        }
        let options = self.options(&self.samples.cleaning.judging()?);
        refuse_too_few(options.detection.experiments, self.power, "")?;
        let start = self
            .jobs
            .start(self.samples.cleaning.own.suite(), context)?;
        if matches!(start, SimulationStart::Interrupted) {
            return Ok(ExitStatus::Interrupted);
        }
        let mut answer = self.choose(budget, start.source(), context)?;
        start.note_missed(context);
        if answer.plan.lines.is_empty() {
            return Err(nothing(&answer.audit));
        }
        let fine = if self.review && !review::review(&mut answer.plan, context)? {
            ExitStatus::Interrupted
        } else {
            ExitStatus::Fine
        };
        if let Some(path) = &self.plot {
            answer.chart().save(path)?;
        }
        match &target {
            // The plan goes to standard output.
            Some(PlanTarget::Output) if context.quiet => {}
            Some(PlanTarget::Output) => context.terminal.say(&answer.headline()),
            Some(PlanTarget::File(_)) | None => {
                context.show(&answer, &self.samples.answer)?;
            }
        }
        let plan = &answer.plan;
        if plan.kept().next().is_none() {
            if !context.quiet && (target.is_some() || suite.is_some()) {
                context.terminal.say("nothing was written");
            }
            return Ok(if plan.is_skipped() {
                fine
            } else {
                ExitStatus::NotEnough
            });
        }
        if let Some(target) = &target {
            document::write(plan, target, self.flavour, context)?;
        }
        if let Some(suite) = suite {
            document::update_suite(suite, plan, context)?;
        }
        Ok(fine)
    }

    /// Refuses two answers on standard output.
    fn check_output(&self, target: &PlanTarget, context: &Context) -> Result<(), CliError> {
        match (target, context.format) {
            (
                PlanTarget::Output,
                AnswerFormat::Json | AnswerFormat::Csv | AnswerFormat::Markdown,
            ) => Err(
                CliError::input("-o - and --format both write to standard output")
                    .hint("omit one of them, or write the plan to a file"),
            ),
            (PlanTarget::Output, AnswerFormat::Text) | (PlanTarget::File(_), _) => Ok(()),
        }
    }

    /// Searches the configurations of all benchmarks, or of those of a job, by experiments of this source.
    fn search(
        &self,
        source: Option<SharedSource>,
        context: &Context,
    ) -> Result<(Analysed<(Choice, Simulation)>, PlanOptions), CliError> {
        let judging = self.samples.cleaning.judging()?;
        let mut options = self.options(&judging);
        options.detection.source = source;
        let next = Cell::new(0);
        let analyse = |data: &_, settings, metrics: &_| {
            let number = next.replace(next.get() + 1);
            let is_of_others = |share: &JobShare| !share.share.has(number);
            if self.jobs.share.as_ref().is_some_and(is_of_others) {
                BySetting::default()
            } else {
                choices(data, &judging.rules, settings, metrics, &options)
            }
        };
        let found = self
            .samples
            .analyse(&judging.rules, "choosing", context, analyse)?;
        Ok((found, options))
    }

    fn choose(
        &self,
        budget: Option<f64>,
        source: Option<SharedSource>,
        context: &Context,
    ) -> Result<PlanAnswer, CliError> {
        let (found, options) = self.search(source, context)?;
        let unsteady = found.unsteady_note().into_iter();
        let notes = unsteady.chain(earlier_note(found.earlier));
        let limits = &self.samples.cleaning.judging()?.suite;
        let (muted, rows): (Vec<_>, Vec<_>) = found.rows.into_iter().partition(|(choice, _)| {
            limits.limits_of(&choice.benchmark, &choice.name).mute == Some(true)
        });
        let muted = muted.into_iter().map(|(it, _)| Subject {
            suite: it.suite,
            benchmark: it.benchmark,
            setting: it.setting,
            metric: it.name,
        });
        let muted: Vec<Subject> = muted.collect();
        if rows.is_empty() && !muted.is_empty() {
            return Err(CliError::input(
                "the suite file mutes all of these benchmarks: there is nothing to plan",
            ));
        }
        let notes = notes.chain(muted_note(&muted)).collect();
        let lines = rows.into_iter().map(|(choice, simulation)| {
            // Only a review needs it.
            PlanLine::new(choice, self.review.then_some(simulation))
        });
        let mut plan = BudgetedPlan {
            lines: lines.collect(),
            budget,
            options,
        };
        plan.spend();
        Ok(PlanAnswer {
            plan,
            older: found.older,
            price: self.price,
            smallest_effect: self.samples.cleaning.judging()?.smallest_effect,
            is_saved: self.output.is_some() || self.update_suite.is_some(),
            notes,
            audit: found.audit,
            detail: found.detail,
            program: context.program(),
        })
    }

    fn options(&self, judging: &JudgingOptions) -> PlanOptions {
        let profile = self.samples.cleaning.profile();
        let slowdowns = match (self.slowdown.is_empty(), profile.searches_grid) {
            (true, true) => Vec::new(),
            (true, false) => {
                let smallest = judging.smallest_effect.map(|it| 1.0 + it);
                vec![smallest.unwrap_or(USUAL_SLOWDOWN)]
            }
            (false, _) => {
                let mut all = self.slowdown.clone();
                all.sort_by(f64::total_cmp);
                all.dedup();
                all
            }
        };
        let usual = self.grid.options(judging, profile.plan_experiments);
        PlanOptions {
            slowdowns,
            // What is asked for is asked of all.
            limits: match self.slowdown.is_empty() {
                true => judging.suite.clone(),
                false => JudgeSettings::default(),
            },
            power: self.power,
            false_positives: self.alpha,
            assurance: self.assurance,
            detection: DetectionOptions {
                // The level with exactly the accepted false positives.
                confidence: if self.grid.has_confidence() || profile.searches_grid {
                    usual.confidence
                } else {
                    Confidence::new(1.0 - self.alpha).unwrap_or(usual.confidence)
                },
                methods: vec![self.method.unwrap_or(profile.plan_method)],
                strategies: vec![self.strategy],
                ..usual
            },
            rule: if profile.searches_grid {
                ChoiceRule::Hail
            } else {
                ChoiceRule::Cheapest(Configuration {
                    instances: self.max_instances,
                    iterations: self.max_iterations,
                })
            },
        }
    }

    /// Refuses options of a grid if none is searched.
    fn check_grid(&self) -> Result<(), CliError> {
        if self.grid.is_named() && !self.samples.cleaning.profile().searches_grid {
            return Err(CliError::input("--grid is what --compat hail searches")
                .hint("use --slowdown for the slowdown to detect, and --max-instances and --max-iterations for limits"));
        }
        Ok(())
    }

    /// Returns the budget in seconds of machine time.
    fn budget_seconds(&self) -> Result<Option<f64>, CliError> {
        match (self.budget, self.price) {
            (None, _) => Ok(None),
            (Some(PlanBudget::Seconds(seconds)), _) => Ok(Some(seconds)),
            (Some(PlanBudget::Money(money)), Some(price)) => Ok(Some(3_600.0 * money / price)),
            (Some(PlanBudget::Money(money)), None) => Err(CliError::input(format!(
                "--budget {money} is a sum of money, but the price of an hour is unknown"
            ))
            .hint("give --price, or write machine time such as 20h")),
        }
    }
}
