//! `lapwing study design`: chooses the combinations of levels to measure.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use lapwing_analyse::sample::SampleFilter;
use lapwing_measure::suite::parse_duration;
use lapwing_model::text::{counted, first_names, shell_word};
use lapwing_show::answers::study::{DESIGN_FILE, DesignAnswer, replicates_note};
use lapwing_show::quantity;
use lapwing_show::study::fold_text;
use lapwing_show::writing::Note;
use lapwing_stats::as_f64;
use lapwing_study::design::{DesignKind, DesignRequest, StudyDesign, StudyModel};
use lapwing_study::{NextMeasurement, StudyData, StudyFinding, findings};

use super::options::{MODELS, existing_store};
use super::rounds::{Stability, StudyRounds, measured};
use super::run::read_design;
use super::suite::{StudySuite, WALL_TIME, read_configuration};
use crate::cleaning::CleaningOptions;
use crate::comparing::parse_change;
use crate::error::{CliError, ExitStatus};
use crate::options::{
    AnswerOptions, Context, NamedValue, check_output, one_of, within, write_output,
};

/// The default file of further configurations.
const MORE_FILE: &str = "lapwing-design-more.json";

/// Instances of the base that are measured where nothing is known.
const FIRST_INSTANCES: u32 = 3;

/// Instances of each configuration by default.
const USUAL_REPLICATES: u32 = 2;

/// Effects are stable within this share.
const STABLE_WITHIN: f64 = 0.05;

/// Further configurations by default.
const FURTHER: usize = 8;

/// Kinds of designs.
const KINDS: [NamedValue<DesignKind>; 8] = [
    ("full", "all combinations", DesignKind::Full),
    (
        "fractional",
        "a regular fraction of them, two levels per factor",
        DesignKind::Fractional,
    ),
    (
        "plackett-burman",
        "screening: little more configurations than factors, two levels per factor",
        DesignKind::PlackettBurman,
    ),
    (
        "optimal",
        "the combinations that estimate the model best (D-optimal); any levels, requirements and exclusions",
        DesignKind::Optimal,
    ),
    (
        "covering",
        "every combination of levels of any two factors at least once",
        DesignKind::Covering,
    ),
    (
        "random",
        "random combinations in which levels occur equally often",
        DesignKind::Random,
    ),
    (
        "one-at-a-time",
        "the base, and everything that differs from it by one factor",
        DesignKind::OneAtATime,
    ),
    (
        "walks",
        "sequences that add one factor at a time, for deltas, paths and principal components",
        DesignKind::Walks,
    ),
];

const RUNS: &str = "write a number from 1 to 4,096";
const RESOLUTION: &str = "write a number from 3 to 9";
const STRENGTH: &str = "write a number from 2 to 6";
const REPLICATES: &str = "write a number from 1 to 1,000";

/// Choose the combinations of factor levels that a study measures, or with --augment the next ones
///
/// Writes them to a file for `lapwing study run`, and shows what they can tell: aliases, detectable
/// effects, analyses, and the expected time. --augment writes a design of further configurations
/// alone, those that improve the estimates most or with --unalias a fold-over; all sessions are analysed together.
#[derive(Debug, Args)]
pub struct StudyDesignCommand {
    /// Suite file [default: lapwing.toml]
    suite: Option<PathBuf>,
    /// Choose further configurations for this design, given those that are measured [default FILE:
    /// lapwing-design.json]
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = DESIGN_FILE, conflicts_with_all = ["suite", "model", "resolution", "strength", "replicates", "factor", "configuration", "seed"])]
    augment: Option<PathBuf>,
    /// With --augment: choose the configurations that tell what was found from what it could be instead, which are those
    /// that were measured with levels exchanged (a fold-over)
    #[arg(long, requires = "augment", conflicts_with_all = ["kind", "runs", "budget"])]
    unalias: bool,
    /// Kind of design [default: the smallest fraction that estimates the model, else optimal;
    /// with --augment optimal, the alternative is random]
    #[arg(long, value_name = "KIND", value_parser = one_of(&KINDS))]
    kind: Option<DesignKind>,
    /// Effects to estimate
    #[arg(long, value_name = "MODEL", value_parser = one_of(&MODELS), default_value = "pairs")]
    model: StudyModel,
    /// Maximum number of configurations [with --augment: 8 further ones]
    #[arg(long, value_name = "N", value_parser = within(1..=4096, RUNS), conflicts_with = "budget")]
    runs: Option<usize>,
    /// Choose the number of configurations so that the study takes no longer than this; a base that was never measured is
    /// measured first
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    budget: Option<Duration>,
    /// Minimum resolution of a fractional design: 3 main effects, 4 free of pairs, 5 pairs too
    #[arg(long, value_name = "R", value_parser = within(3..=9, RESOLUTION))]
    resolution: Option<usize>,
    /// Number of factors whose combinations a covering design contains
    #[arg(long, value_name = "T", value_parser = within(2..=6, STRENGTH))]
    strength: Option<usize>,
    /// Instances per configuration, one in each block [default: 2; with --budget 1, if only that many more configurations
    /// estimate the model]
    #[arg(long, value_name = "N", value_parser = within(1..=1000, REPLICATES))]
    replicates: Option<usize>,
    /// Only vary this factor; can be repeated [default: all]
    #[arg(long, value_name = "NAME")]
    factor: Vec<String>,
    /// Measure this configuration, such as `safe,threads=4` or `base`; can be repeated
    #[arg(long, value_name = "LEVELS", conflicts_with_all = ["kind", "runs", "budget"])]
    configuration: Vec<String>,
    /// Only benchmarks whose id equals NAME, matches it as a pattern or contains it, for noise and
    /// time
    #[arg(long, short, value_name = "NAME")]
    benchmark: Vec<String>,
    /// Noise between instances, such as 2% [default: from stored results]
    #[arg(long, value_name = "SHARE", value_parser = parse_change, help_heading = "Noise and order")]
    noise: Option<f64>,
    /// Metric of the noise
    #[arg(
        long,
        value_name = "METRIC",
        default_value = WALL_TIME,
        help_heading = "Noise and order"
    )]
    metric: String,
    /// Seed of random choices and of the order of measuring
    #[arg(
        long,
        value_name = "N",
        default_value_t = 7,
        help_heading = "Noise and order"
    )]
    seed: u64,
    /// File of the design [default: lapwing-design.json, with --augment lapwing-design-more.json];
    /// `-` is standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    answer: AnswerOptions,
}

impl StudyDesignCommand {
    /// Writes the design and shows it.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        if self.budget.is_some() && self.augment.is_none() && self.measure_base(context)? {
            return Ok(ExitStatus::Interrupted);
        }
        let (usual, chosen) = match &self.augment {
            None => (DESIGN_FILE, self.choose(context)?),
            Some(file) => (MORE_FILE, self.choose_further(file, context)?),
        };
        let ChosenDesign {
            study,
            design,
            existing,
            notes,
        } = chosen;
        let noise = match self.noise {
            Some(noise) => Some(noise),
            None => study.noise(&self.benchmark, &self.metric, context)?,
        };
        let seconds = study.seconds_per_visit(&self.benchmark, context)?;
        let output = self.output.unwrap_or_else(|| PathBuf::from(usual));
        check_output(&output, context)?;
        let file = output.display().to_string();
        let mut run = format!("{} study run", context.program());
        if file != DESIGN_FILE {
            run.push_str(&format!(" --design {}", shell_word(&file)));
        }
        let mut answer = DesignAnswer::new(design, &existing, noise, seconds, file, run)?;
        answer.notes = notes;
        write_output(&output, answer.design.write()?, context)?;
        context.show_beside([&output], &answer, &self.answer)
    }

    /// Measures the base of a suite that was never measured, so that the time of an instance is known. Returns whether
    /// that was interrupted.
    fn measure_base(&self, context: &Context) -> Result<bool, CliError> {
        let study = StudySuite::load(self.suite.as_deref())?;
        let factors = study.factors(&self.factor)?;
        if study.seconds_per_visit(&self.benchmark, context)?.is_some() {
            return Ok(false);
        }
        let request = DesignRequest {
            listed: vec![vec![0; factors.len()]],
            replicates: FIRST_INSTANCES,
            seed: self.seed,
            ..DesignRequest::default()
        };
        let path = study.path.display().to_string();
        let base = StudyDesign::new((&study.suite.name, &path), factors, &request)?;
        let text = format!(
            "no instance was measured here yet: measuring {} of the base first",
            counted(FIRST_INSTANCES, "instance")
        );
        context.terminal.say(&text);
        let mut rounds = StudyRounds {
            suite_file: study.path,
            benchmark: self.benchmark.clone(),
            ..StudyRounds::default()
        };
        rounds.measure(&base, "base", context)
    }

    /// Returns the design of the factors of a suite.
    fn choose(&self, context: &Context) -> Result<ChosenDesign, CliError> {
        let study = StudySuite::load(self.suite.as_deref())?;
        let replicates = self.replicates.map(|it| u32::try_from(it).unwrap_or(1));
        let usual = self.design_of(&study, replicates.unwrap_or(USUAL_REPLICATES), context);
        // More configurations, measured once, may estimate what fewer cannot.
        let is_enough = usual.as_ref().is_ok_and(StudyDesign::estimates_its_model);
        let once = (replicates.is_none() && self.budget.is_some() && !is_enough)
            .then(|| self.design_of(&study, 1, context).ok())
            .flatten();
        let (design, notes) = match (once, usual) {
            (Some(once), Ok(usual)) if once.estimates_its_model() => {
                let note = replicates_note(&once, &usual);
                (once, vec![note])
            }
            (Some(once), Err(_)) => (once, Vec::new()),
            (Some(_) | None, usual) => (usual?, Vec::new()),
        };
        Ok(ChosenDesign {
            study,
            design,
            existing: Vec::new(),
            notes,
        })
    }

    /// Returns the design of the factors of a suite with so many instances of each configuration.
    fn design_of(
        &self,
        study: &StudySuite,
        replicates: u32,
        context: &Context,
    ) -> Result<StudyDesign, CliError> {
        let factors = study.factors(&self.factor)?;
        let listed = self.configuration.iter();
        let request = DesignRequest {
            kind: self.kind,
            runs: self.number_of_runs(study, replicates, context)?,
            resolution: self.resolution,
            strength: self.strength,
            model: self.model,
            listed: listed
                .map(|text| read_configuration(text, &factors))
                .collect::<Result<_, _>>()?,
            existing: Vec::new(),
            replicates,
            seed: self.seed,
        };
        let path = study.path.display().to_string();
        let design = StudyDesign::new((&study.suite.name, &path), factors, &request);
        Ok(design?)
    }

    /// Returns the configurations that improve the estimates most, or that balance the levels best.
    fn choose_further(&self, file: &Path, context: &Context) -> Result<ChosenDesign, CliError> {
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
        if self.unalias {
            return self.fold_over(study, &design, existing, context);
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
        let mut notes = vec![measured_note(&existing)];
        // Whether more configurations would still change the effects.
        let metric = (self.metric != WALL_TIME).then_some(self.metric.as_str());
        let stability = Stability::read(&design, metric, STABLE_WITHIN, context)?;
        notes.extend(stability.notes());
        Ok(ChosenDesign {
            study,
            design: more?,
            existing,
            notes,
        })
    }

    /// Returns the configurations that tell what was found from what it could be instead.
    fn fold_over(
        &self,
        study: StudySuite,
        design: &StudyDesign,
        existing: Vec<Vec<usize>>,
        context: &Context,
    ) -> Result<ChosenDesign, CliError> {
        let benchmarks = study.chosen_benchmarks(&self.benchmark);
        let [benchmark] = &benchmarks[..] else {
            return Err(CliError::input(format!(
                "a fold-over is for the findings of one benchmark, and several could be meant: {}",
                first_names(&benchmarks, 10)
            ))
            .hint("name one with --benchmark"));
        };
        let filter = SampleFilter {
            metrics: (self.metric != WALL_TIME)
                .then(|| self.metric.clone())
                .into_iter()
                .collect(),
            ..SampleFilter::default()
        };
        let store = existing_store(context)?;
        let named = (design.suite.as_str(), benchmark.as_str());
        let rules = CleaningOptions::default().rules()?;
        let data = StudyData::read_instances(store.as_ref(), &filter, named, &rules, |_| true)?;
        let data = data.ok_or_else(|| {
            CliError::not_enough(format!(
                "no configuration has a usable value of `{benchmark}`"
            ))
        })?;
        let found = findings(&data, None).findings;
        let fold = found.iter().find_map(|finding| match finding {
            StudyFinding::Next(NextMeasurement::FoldOver(fold)) => Some(fold),
            _other => None,
        });
        let fold = fold.ok_or_else(|| {
            CliError::not_enough("nothing was found that these configurations cannot tell from others, so no fold-over is needed")
                .hint("without --unalias, --augment adds the configurations that improve the estimates most")
        })?;
        let names = fold.treatments.iter();
        let names: Vec<&str> = names
            .map(|at| data.factors[data.treatments[*at].factor].name.as_str())
            .collect();
        let text = format!("these configurations tell {}", fold_text(fold));
        let told = Note::new("fold_over", text)
            .with("told", fold.told)
            .with("aliased", fold.aliased)
            .with("exchanged", names.clone());
        Ok(ChosenDesign {
            design: design.folded(&existing, &names)?,
            notes: vec![measured_note(&existing), told],
            study,
            existing,
        })
    }

    /// Returns the wanted number of configurations, if any.
    fn number_of_runs(
        &self,
        study: &StudySuite,
        replicates: u32,
        context: &Context,
    ) -> Result<Option<usize>, CliError> {
        let Some(budget) = self.budget else {
            return Ok(self.runs);
        };
        let seconds = study.seconds_per_visit(&self.benchmark, context)?;
        affordable(budget, seconds, replicates).map(Some)
    }
}

/// A design for a suite.
struct ChosenDesign {
    study: StudySuite,
    design: StudyDesign,
    /// The configurations that the design completes.
    existing: Vec<Vec<usize>>,
    /// Notes on these.
    notes: Vec<Note>,
}

fn measured_note(existing: &[Vec<usize>]) -> Note {
    let text = format!(
        "{} of the study are measured; what is above counts them in",
        counted(existing.len(), "configuration")
    );
    Note::new("measured", text).with("configurations", existing.len())
}

/// Returns the number of configurations that fit into a time.
fn affordable(budget: Duration, seconds: Option<f64>, replicates: u32) -> Result<usize, CliError> {
    let Some(seconds) = seconds else {
        return Err(CliError::input(
            "--budget needs the time of an instance, and some benchmark was never measured here",
        )
        .hint(
            "`lapwing run` measures it and says why it fails; or give --runs instead of --budget",
        ));
    };
    let visits = budget.as_secs_f64() / (seconds * f64::from(replicates)).max(1e-9);
    let found = (2..=4096_usize)
        .rev()
        .find(|count| as_f64(*count) <= visits);
    // A few configurations less may be a regular fraction.
    let power = found.map(|count| 1 << count.ilog2());
    let found = power
        .filter(|power| Some(8 * power) >= found.map(|count| 7 * count))
        .or(found);
    found.ok_or_else(|| {
        CliError::input(format!(
            "the budget is too short: two configurations take about {}",
            quantity(2.0 * seconds * f64::from(replicates), "s")
        ))
        .hint("give more time, or fewer --replicates")
    })
}
