//! `lapwing mds`: detectable slowdowns by number of instances and iterations.

use std::path::PathBuf;

use clap::Args;
use lapwing_analyse::explain::detectability;
use lapwing_analyse::judge::{
    DetectionGrid, DetectionOptions, SharedSource, USUAL_POWER, USUAL_SLOWDOWN, WantedBasis,
};
use lapwing_model::text::{counted, grouped, plural};
use lapwing_show::answers::mds::{FORMULA_NEEDS, MdsAnswer, MdsLayout};
use lapwing_show::answers::not_judged;
use lapwing_show::writing::AnswerFormat;
use lapwing_show::{DetectionView, round_percent};
use lapwing_stats::{Confidence, DetectionMethod, Seed, Strategy, experiments_to_tell};

use super::run::{ShareJobs, ShareUnit, SimulationStart};
use crate::cleaning::JudgingOptions;
use crate::comparing::{number, parse_level, parse_share};
use crate::error::{CliError, ExitStatus};
use crate::options::{Context, NamedValue, check_plot, checked, keyed, one_of, within};
use crate::samples::{SampleOptions, nothing};

/// Show which slowdowns can be detected with how many instances and iterations
///
/// Simulates comparisons by sampling a control and a slowed-down test from the measurements. The
/// MDS (minimal detectable slowdown) is the smallest slowdown that is detected with the required
/// power.
#[derive(Debug, Args)]
pub struct MdsCommand {
    /// Slowdown to detect, such as 5% or 1.05 [default: the suite's smallest effect, or 5%]
    #[arg(long, value_name = "SLOWDOWN", value_parser = parse_slowdown)]
    slowdown: Option<f64>,
    /// Required probability of detecting it
    #[arg(long, value_name = "SHARE", value_parser = parse_share, default_value_t = USUAL_POWER)]
    power: f64,
    /// Statistical method [default: all; laaber and schultz with --compat hail]
    #[arg(long, value_name = "METHOD", value_delimiter = ',', value_parser = one_of(&METHODS))]
    method: Vec<DetectionMethod>,
    /// Which instances the two sides are drawn from [default: both]
    #[arg(long, value_name = "STRATEGY", value_delimiter = ',', value_parser = one_of(&STRATEGIES))]
    strategy: Vec<Strategy>,
    /// Use a formula instead of simulation: faster, and not limited to the measured sample size
    #[arg(long, conflicts_with = "compat", help_heading = "Simulation")]
    closed_form: bool,
    /// Print one line per configuration and slowdown, with one column per method
    #[arg(long)]
    wide: bool,
    #[command(flatten)]
    grid: DetectionGridOptions,
    #[command(flatten)]
    jobs: ShareJobs,
    #[command(flatten)]
    samples: SampleOptions,
    /// Write a chart to this .svg, .png or .html file
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

/// Expected values of a list of numbers.
const NUMBERS: &str = "write numbers from 1 to 10,000 such as 5,10,20";

/// More would take days.
const MOST_EXPERIMENTS: i64 = 1_000_000;

/// A grid as it is written; empty lists are the default's.
#[derive(Debug, Clone, Default)]
struct WrittenGrid {
    slowdowns: Vec<f64>,
    instances: Vec<usize>,
    iterations: Vec<usize>,
}

impl WrittenGrid {
    fn parse(text: &str) -> Result<Self, String> {
        let keys = ["slowdowns", "instances", "iterations"];
        keyed(text, &keys, |grid: &mut Self, key, value| {
            let values = || value.split(',').map(str::trim);
            let numbers = || {
                values()
                    .map(within(1..=10_000, NUMBERS))
                    .collect::<Result<_, String>>()
            };
            match key {
                "slowdowns" => {
                    grid.slowdowns = values().map(parse_any_slowdown).collect::<Result<_, _>>()?;
                }
                "instances" => grid.instances = numbers()?,
                _ => grid.iterations = numbers()?,
            }
            Ok(())
        })
    }
}

/// The simulated slowdowns and configurations, and the number of experiments.
#[derive(Debug, Clone, Args)]
pub struct DetectionGridOptions {
    /// Grid to simulate, such as `slowdowns=1,5%,1.1 instances=5,10 iterations=5,10`: slowdowns (1 gives
    /// the false-positive rate), instances per side, iterations per instance [default: slowdowns from 1
    /// to 1.5, 5 to 25 instances and iterations]
    #[arg(long, value_name = "SIZES", value_parser = checked(WrittenGrid::parse), help_heading = "Simulation")]
    grid: Vec<String>,
    /// Simulated experiments per configuration [default: 100; 1000 to confirm a plan]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=MOST_EXPERIMENTS), help_heading = "Simulation")]
    experiments: Option<u32>,
    /// Resamples per bootstrap
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = within(10..=1_000_000, "write a number from 10 to 1,000,000"), help_heading = "Simulation")]
    replicates: usize,
    /// Confidence level [default: the suite's, or 95%]
    #[arg(long, value_name = "LEVEL", value_parser = parse_level, help_heading = "Simulation")]
    confidence: Option<Confidence>,
    /// Seed of random choices
    #[arg(
        long,
        value_name = "N",
        default_value_t = 7,
        help_heading = "Simulation"
    )]
    seed: u64,
}

/// Detection methods.
pub const METHODS: [NamedValue<DetectionMethod>; 3] = [
    (
        "laaber",
        "Laaber's test: the confidence intervals of the two means do not overlap",
        DetectionMethod::Laaber,
    ),
    (
        "schultz",
        "Schultz's test: the confidence interval of the ratio excludes 1",
        DetectionMethod::Schultz,
    ),
    (
        "paired",
        "The t test of pairs of instances, on logarithms of their means, as in `lapwing compare` with interleaved sides",
        DetectionMethod::Paired,
    ),
];

/// Relations between the instances of the two sides.
pub const STRATEGIES: [NamedValue<Strategy>; 2] = [
    (
        "ibs",
        "Instance-based sampling: different instances on each side",
        Strategy::DifferentInstances,
    ),
    (
        "tbs",
        "Trial-based sampling: the same instances, with different iterations on each side",
        Strategy::SameInstances,
    ),
];

impl MdsCommand {
    /// Shows a sentence, the table and advice.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        if let Some(share) = &self.jobs.share {
            let writer = share.open(ShareUnit::Tasks)?;
            self.simulate(
                Some(SharedSource(writer.clone())),
                &share.context(context.format),
            )?;
            writer.finish()?;
            return Ok(ExitStatus::Fine);
        }
        check_plot(self.plot.as_deref())?;
        if self.closed_form && self.jobs.are_used() {
            return Err(CliError::input("--closed-form simulates nothing")
                .hint("omit --executor: it takes no time"));
        }
        let options = self.options(&self.samples.cleaning.judging()?);
        self.check_experiments(&options, context.format)?;
        let start = self
            .jobs
            .start(self.samples.cleaning.own.suite(), context)?;
        if matches!(start, SimulationStart::Interrupted) {
            return Ok(ExitStatus::Interrupted);
        }
        let answer = self.simulate(start.source(), context)?;
        start.note_missed(context);
        if !answer.has_rates() {
            return Err(too_little(&answer));
        }
        if let Some(path) = &self.plot {
            answer.chart().save(path)?;
        }
        context.show(&answer, &self.samples.answer)
    }

    /// Returns the detection rates, by experiments of this source.
    fn simulate(
        &self,
        source: Option<SharedSource>,
        context: &Context,
    ) -> Result<MdsAnswer, CliError> {
        let judging = self.samples.cleaning.judging()?;
        let mut options = self.options(&judging);
        options.source = source;
        let smallest = judging.smallest_effect.map(|share| 1.0 + share);
        let target = self.slowdown.or(smallest).unwrap_or(USUAL_SLOWDOWN);
        if !self.needs_all_methods(context.format) {
            options.methods = vec![DetectionView::of(&options, target, self.power).method];
        }
        let analyse = |data: &_, settings, metrics: &_| {
            detectability(data, &judging.rules, settings, metrics, &options)
        };
        let mut detection = self
            .samples
            .analyse(&judging.rules, "simulating", context, analyse)?;
        if self.samples.settings.is_some() {
            // The options ask for the latest versions.
            detection.older = 0;
        }
        Ok(MdsAnswer {
            detection,
            options,
            target,
            power: self.power,
            smallest_effect: judging.smallest_effect,
            layout: if self.wide {
                MdsLayout::Wide
            } else {
                MdsLayout::Detectable
            },
            program: context.program(),
        })
    }

    /// Refuses a sentence that rests on too few experiments.
    fn check_experiments(
        &self,
        options: &DetectionOptions,
        format: AnswerFormat,
    ) -> Result<(), CliError> {
        match (format, options.basis) {
            // Rows have no sentence.
            (AnswerFormat::Csv, _) | (_, WantedBasis::ClosedForm) => Ok(()),
            (AnswerFormat::Text | AnswerFormat::Markdown | AnswerFormat::Json, _) => {
                refuse_too_few(
                    options.experiments,
                    self.power,
                    "; --closed-form uses a formula instead",
                )
            }
        }
    }

    /// Returns whether the answer has the rates of all methods. Otherwise only one method is
    /// simulated; without resampling this takes a tenth of the time.
    fn needs_all_methods(&self, format: AnswerFormat) -> bool {
        match format {
            AnswerFormat::Csv => true,
            AnswerFormat::Json => self.wide || self.samples.answer.extent().full,
            AnswerFormat::Text | AnswerFormat::Markdown => self.wide,
        }
    }

    fn options(&self, judging: &JudgingOptions) -> DetectionOptions {
        let usual = DetectionOptions::default();
        let profile = self.samples.cleaning.profile();
        let methods = if self.method.is_empty() {
            profile.methods
        } else {
            self.method.clone()
        };
        let strategies = if self.strategy.is_empty() {
            usual.strategies
        } else {
            self.strategy.clone()
        };
        DetectionOptions {
            methods: in_order(methods),
            strategies: in_order(strategies),
            basis: match (profile.basis, self.closed_form) {
                (Some(basis), _) => basis,
                (None, true) => WantedBasis::ClosedForm,
                (None, false) => WantedBasis::Both,
            },
            ..self.grid.options(judging, usual.experiments)
        }
    }
}

/// Refuses so few experiments that the power may be too small even if all of them detect.
pub fn refuse_too_few(experiments: u32, power: f64, otherwise: &str) -> Result<(), CliError> {
    let needed = experiments_to_tell(power, Confidence::P95);
    if needed.is_some_and(|it| u64::from(experiments) >= it) {
        return Ok(());
    }
    let needed = needed.unwrap_or(u64::MAX);
    let error = CliError::input(format!(
        "{} {} too few to show a power of {}; use at least {}",
        counted(experiments, "experiment"),
        plural(experiments, "is", "are"),
        round_percent(power),
        grouped(needed)
    ));
    let is_possible = i64::try_from(needed).is_ok_and(|it| it <= MOST_EXPERIMENTS);
    Err(error.hint(if is_possible {
        format!("--experiments {needed} is enough{otherwise}")
    } else {
        format!("lower --power{otherwise}")
    }))
}

impl DetectionGridOptions {
    /// Returns the options for all methods and strategies; `experiments` is the default number.
    pub fn options(&self, judging: &JudgingOptions, experiments: u32) -> DetectionOptions {
        let usual = DetectionOptions::default();
        DetectionOptions {
            grid: self.grid(),
            experiments: self.experiments.unwrap_or(experiments),
            replicates: self.replicates,
            confidence: self
                .confidence
                .or(judging.confidence)
                .unwrap_or(usual.confidence),
            seed: Seed(self.seed),
            ..usual
        }
    }

    /// Returns whether a grid was given.
    pub fn is_named(&self) -> bool {
        !self.grid.is_empty()
    }

    /// Returns whether a confidence was given.
    pub fn has_confidence(&self) -> bool {
        self.confidence.is_some()
    }

    /// Returns the grid; the defaults are those of Hail.
    fn grid(&self) -> DetectionGrid {
        let usual = DetectionGrid::default();
        // Each text was checked when it was read.
        let mut written = WrittenGrid::parse(&self.grid.join(" ")).unwrap_or_default();
        written.slowdowns.sort_by(f64::total_cmp);
        written.slowdowns.dedup();
        DetectionGrid {
            slowdowns: given_or(written.slowdowns, usual.slowdowns),
            instances: given_or(in_order(written.instances), usual.instances),
            iterations: given_or(in_order(written.iterations), usual.iterations),
        }
    }
}

fn given_or<T>(given: Vec<T>, usual: Vec<T>) -> Vec<T> {
    if given.is_empty() { usual } else { given }
}

fn in_order<T: Ord>(mut all: Vec<T>) -> Vec<T> {
    all.sort_unstable();
    all.dedup();
    all
}

/// Returns the error if no rate is known.
fn too_little(answer: &MdsAnswer) -> CliError {
    let Some(names) = not_judged::names(&answer.too_little()) else {
        return nothing(&answer.detection.audit);
    };
    let needs = match answer.options.basis {
        WantedBasis::AsHail => {
            "a configuration needs twice its instances, or twice its iterations; choose others"
                .to_owned()
        }
        WantedBasis::Both | WantedBasis::ClosedForm => {
            format!("{FORMULA_NEEDS}; simulate smaller configurations")
        }
    };
    CliError::not_enough(format!("too few measurements of {names}"))
        .hint(format!("{needs} with --grid 'instances=N iterations=N'"))
}

/// Returns a slowdown written as `5%`, `5 %` or `1.05`.
pub fn parse_slowdown(text: &str) -> Result<f64, String> {
    let slowdown = parse_any_slowdown(text)?;
    if slowdown > 1.0 {
        Ok(slowdown)
    } else {
        Err("write a slowdown such as 5% or 1.05".to_owned())
    }
}

/// Returns a slowdown, or none: `1` or `0%`.
fn parse_any_slowdown(text: &str) -> Result<f64, String> {
    let factor = if text.ends_with('%') {
        number(text).map(|share| 1.0 + share)
    } else {
        number(text)
    };
    if factor.is_some_and(|it| it >= 2.0) && !text.ends_with('%') {
        // 5 means 5 %.
        return Err(format!("write {text}% for that many per cent"));
    }
    factor
        .filter(|it| (1.0..=1_000.0).contains(it))
        .ok_or_else(|| "write a slowdown such as 10% or 1.1, or 1 for none".to_owned())
}
