//! `lapwing study design`: chooses the combinations of levels to measure.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use lapwing_measure::suite::parse_duration;
use lapwing_model::text::{capitalised, counted, grouped};
use lapwing_show::writing::{Align, AnswerFormat, Table, TextAnswer};
use lapwing_show::{percent, quantity};
use lapwing_stats::as_f64;
use lapwing_study::design::{
    DesignAbility, DesignKind, DesignRequest, StudyDesign, StudyDesignError, StudyModel, StudyPower,
};
use serde::Serialize;

use super::factors::{StudySuite, read_configuration};
use crate::answer::write_json;
use crate::comparing::parse_change;
use crate::error::{CliError, ExitStatus};
use crate::options::{AnswerOptions, Context, NamedValue, one_of, within};

/// The default file of a design.
pub const DESIGN_FILE: &str = "lapwing-design.json";

/// The default file of further configurations.
const MORE_FILE: &str = "lapwing-design-more.json";

/// The metric of noise by default; that of effects is the only one that is judged.
pub const WALL_TIME: &str = "wall_time";

/// Of the groups of aliases so many are shown.
const SHOWN_ALIASES: usize = 6;

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

/// Effects to estimate.
const MODELS: [NamedValue<StudyModel>; 2] = [
    ("main", "the effect of each factor", StudyModel::Main),
    (
        "pairs",
        "also how any two factors interact",
        StudyModel::Pairs,
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
/// alone, those that improve the estimates most; all sessions are analysed together.
#[derive(Debug, Args)]
pub struct StudyDesignCommand {
    /// Suite file [default: lapwing.toml]
    suite: Option<PathBuf>,
    /// Choose further configurations for this design, given those that are measured [default FILE:
    /// lapwing-design.json]
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = DESIGN_FILE, conflicts_with_all = ["suite", "model", "resolution", "strength", "replicates", "factor", "configuration", "seed"])]
    pub augment: Option<PathBuf>,
    /// Kind of design [default: the smallest fraction that estimates the model, else optimal;
    /// with --augment optimal, the alternative is random]
    #[arg(long, value_name = "KIND", value_parser = one_of(&KINDS))]
    pub kind: Option<DesignKind>,
    /// Effects to estimate
    #[arg(long, value_name = "MODEL", value_parser = one_of(&MODELS), default_value = "pairs")]
    model: StudyModel,
    /// Maximum number of configurations [with --augment: 8 further ones]
    #[arg(long, value_name = "N", value_parser = within(1..=4096, RUNS), conflicts_with = "budget")]
    runs: Option<usize>,
    /// Choose the number of configurations so that the study takes no longer than this
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    budget: Option<Duration>,
    /// Minimum resolution of a fractional design: 3 main effects, 4 free of pairs, 5 pairs too
    #[arg(long, value_name = "R", value_parser = within(3..=9, RESOLUTION))]
    resolution: Option<usize>,
    /// Number of factors whose combinations a covering design contains
    #[arg(long, value_name = "T", value_parser = within(2..=6, STRENGTH))]
    strength: Option<usize>,
    /// Instances per configuration, one in each block
    #[arg(long, value_name = "N", value_parser = within(1..=1000, REPLICATES), default_value_t = 2)]
    replicates: usize,
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
    pub metric: String,
    /// Seed of random choices and of the order of measuring
    #[arg(
        long,
        value_name = "N",
        default_value_t = 7,
        help_heading = "Noise and order"
    )]
    seed: u64,
    /// File of the design [default: lapwing-design.json, with --augment lapwing-design-more.json]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    answer: AnswerOptions,
}

impl StudyDesignCommand {
    /// Writes the design and shows it.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        let (usual, (study, design, existing)) = match &self.augment {
            None => (DESIGN_FILE, self.choose(context)?),
            Some(file) => (MORE_FILE, self.choose_further(file, context)?),
        };
        let noise = match self.noise {
            Some(noise) => Some(noise),
            None => study.noise(&self.benchmark, &self.metric, context)?,
        };
        let seconds = study.seconds_per_visit(&self.benchmark, context)?;
        let output = self.output.unwrap_or_else(|| PathBuf::from(usual));
        let answer = DesignAnswer::new(design, &existing, noise, seconds, &output)?;
        answer.keep(&output)?;
        answer.show(self.answer.format, context)?;
        Ok(ExitStatus::Fine)
    }

    /// Returns the design of the factors of a suite.
    fn choose(&self, context: &Context) -> Result<ChosenDesign, CliError> {
        let study = StudySuite::load(self.suite.as_deref())?;
        let factors = study.factors(&self.factor)?;
        let replicates = u32::try_from(self.replicates).unwrap_or(1);
        let listed = self.configuration.iter();
        let request = DesignRequest {
            kind: self.kind,
            runs: self.number_of_runs(&study, replicates, context)?,
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
        Ok((study, design.map_err(about)?, Vec::new()))
    }

    /// Returns the wanted number of configurations, if any.
    pub fn number_of_runs(
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

/// A suite, a design for it, and the configurations that the design completes.
pub type ChosenDesign = (StudySuite, StudyDesign, Vec<Vec<usize>>);

/// Returns the number of configurations that fit into a time.
fn affordable(budget: Duration, seconds: Option<f64>, replicates: u32) -> Result<usize, CliError> {
    let Some(seconds) = seconds else {
        return Err(CliError::input(
            "--budget needs the time of an instance, and some benchmark was never measured here",
        )
        .hint("measure the base first: `lapwing study design --configuration base`, then `lapwing study run`; or give --runs"));
    };
    let visits = budget.as_secs_f64() / (seconds * f64::from(replicates)).max(1e-9);
    let found = (2..=4096_usize)
        .rev()
        .find(|count| as_f64(*count) <= visits);
    found.ok_or_else(|| {
        CliError::input(format!(
            "the budget is too short: two configurations take about {}",
            quantity(2.0 * seconds * f64::from(replicates), "s")
        ))
        .hint("give more time, or fewer --replicates")
    })
}

/// Returns the error of a design with advice.
pub fn about(error: StudyDesignError) -> CliError {
    let hint = match &error {
        StudyDesignError::Levels { .. } | StudyDesignError::Constrained { .. } => {
            Some("`--kind optimal` has any levels and respects requirements and exclusions")
        }
        StudyDesignError::TooMany { .. } => Some(
            "`--kind optimal --runs N` needs fewer, as do `--model main` and fewer factors (`--factor`)",
        ),
        StudyDesignError::TooFew { .. } | StudyDesignError::Optimal(_) => Some(
            "give more --runs, or ask for less: `--model main`, a lower --resolution, fewer factors (`--factor`)",
        ),
        StudyDesignError::Requirement { .. } => Some("name it with `--factor`, too"),
        StudyDesignError::TooFewFactors { .. }
        | StudyDesignError::Space(_)
        | StudyDesignError::Infeasible { .. }
        | StudyDesignError::NoList
        | StudyDesignError::Complete
        | StudyDesignError::Nothing => None,
    };
    CliError::input(error).hint_if(hint)
}

/// A design, and what it costs and detects.
#[derive(Serialize)]
struct DesignAnswer {
    design: StudyDesign,
    /// How many instances are measured of each benchmark.
    instances: u64,
    deltas: Vec<usize>,
    noise: Option<f64>,
    detectable_main_effect: Option<f64>,
    detectable_pair_effect: Option<f64>,
    expected_seconds: Option<f64>,
    file: String,
}

impl DesignAnswer {
    /// Returns the answer for a design that completes existing runs.
    fn new(
        design: StudyDesign,
        existing: &[Vec<usize>],
        noise: Option<f64>,
        seconds: Option<f64>,
        file: &Path,
    ) -> Result<Self, CliError> {
        let runs = [existing, &design.runs().map_err(CliError::input)?].concat();
        let power = noise
            .and_then(|noise| StudyPower::new(&design.factors, &runs, design.replicates, noise));
        let configurations = design.configurations.len();
        let instances = configurations as u64 * u64::from(design.replicates);
        Ok(Self {
            instances,
            deltas: DesignAbility::new(&design.factors, &runs).deltas,
            noise,
            detectable_main_effect: power.map(|it| it.main),
            detectable_pair_effect: power.and_then(|it| it.pair),
            expected_seconds: seconds.map(|it| it * as_f64(instances)),
            file: file.display().to_string(),
            design,
        })
    }

    /// Writes the file of the design.
    fn keep(&self, path: &Path) -> Result<(), CliError> {
        let text = self.design.write()?;
        crate::atomic::replace(path, &text).map_err(|error| {
            CliError::input(error).consequence(format!("{} was not written", path.display()))
        })
    }

    /// Shows it.
    fn show(&self, format: AnswerFormat, context: &Context) -> Result<(), CliError> {
        let mut out = context.terminal.out_as(format);
        match format {
            AnswerFormat::Text => {
                let width = context.terminal.width();
                self.text(context).wrapped(width).text(width, &mut out)?;
            }
            AnswerFormat::Markdown => self.text(context).markdown(&mut out)?,
            AnswerFormat::Json => write_json(self, &mut out)?,
            AnswerFormat::Csv => self.configurations().csv(&mut out)?,
        }
        out.flush()?;
        Ok(())
    }

    fn text(&self, context: &Context) -> TextAnswer {
        let mut notes: Vec<String> = vec![self.power_text()];
        notes.extend(self.aliases_text());
        notes.extend(
            self.design
                .notes
                .iter()
                .map(|note| format!("{}.", capitalised(note))),
        );
        notes.push(match self.design.supports.as_slice() {
            [] => "It supports no analysis of effects.".to_owned(),
            names => format!("It supports the analyses {}.", names.join(", ")),
        });
        notes.push(match self.expected_seconds {
            Some(seconds) => format!("It takes about {}.", quantity(seconds, "s")),
            None => "Expected time unknown: no earlier measurements.".to_owned(),
        });
        let program = context.program();
        let of_file = match self.file.as_str() {
            DESIGN_FILE => String::new(),
            file => format!(" --design {file}"),
        };
        notes.push(format!(
            "The design is in {}; `{program} study run{of_file}` measures it.",
            self.file
        ));
        TextAnswer {
            headline: self.headline(),
            table: self.factors(),
            notes,
        }
    }

    fn headline(&self) -> String {
        let design = &self.design;
        let kind = match (design.kind, design.resolution) {
            (DesignKind::Fractional, Some(resolution)) => {
                format!("a fractional factorial of resolution {}", roman(resolution))
            }
            (kind, _) => kind.words().to_owned(),
        };
        format!(
            "{} × {} of {}: {kind}, D-efficiency {:.0} %",
            counted(design.configurations.len(), "configuration"),
            counted(design.replicates, "instance"),
            counted(design.factors.len(), "factor"),
            design.d_efficiency
        )
    }

    fn power_text(&self) -> String {
        let Some(noise) = self.noise else {
            return "Which effects it detects depends on the noise between instances, which is not known: give --noise, or measure the base first.".to_owned();
        };
        let noise = percent(noise);
        match (self.detectable_main_effect, self.detectable_pair_effect) {
            (Some(main), Some(pair)) => format!(
                "With noise of {noise} between instances it detects a main effect of {} and a pair effect of {} (95 % confidence, 80 % power).",
                percent(main),
                percent(pair)
            ),
            (Some(main), None) => format!(
                "With noise of {noise} between instances it detects a main effect of {} (95 % confidence, 80 % power) if pairs have no effect; it does not tell all pairs apart.",
                percent(main)
            ),
            (None, _) => {
                "It cannot tell all main effects apart, or leaves nothing to estimate noise from."
                    .to_owned()
            }
        }
    }

    fn aliases_text(&self) -> Option<String> {
        let groups = &self.design.aliases;
        let resolution = self.design.resolution?;
        let meaning = match resolution {
            3 => "main effects are aliased with pairs",
            4 => "main effects are free of pairs, and pairs are aliased with pairs",
            _ => "main effects and pairs are free of each other",
        };
        let shown: Vec<String> = groups
            .iter()
            .take(SHOWN_ALIASES)
            .map(|it| it.join(" = "))
            .collect();
        let more = match groups.len().saturating_sub(SHOWN_ALIASES) {
            0 => String::new(),
            more => format!("; {} more in the file", grouped(more)),
        };
        let list = if shown.is_empty() {
            String::new()
        } else {
            format!(": {}{more}", shown.join("; "))
        };
        Some(format!(
            "Resolution {}: {meaning}{list}.",
            roman(resolution)
        ))
    }

    fn factors(&self) -> Table {
        let mut table = Table::new(&[
            ("factor", Align::Left),
            ("base", Align::Left),
            ("other levels", Align::Left),
            ("changed in", Align::Right),
            ("deltas", Align::Right),
            ("constraints", Align::Left),
        ])
        .dispensable(&["constraints", "deltas"]);
        for (factor, deltas) in self.design.factors.iter().zip(&self.deltas) {
            let levels: Vec<String> = factor.levels.iter().map(ToString::to_string).collect();
            let configurations = self.design.configurations.iter();
            let changed = configurations
                .filter(|it| it.levels.get(&factor.name) != factor.levels.first())
                .count();
            let requires = factor.requires.iter().map(|it| format!("requires {it}"));
            let excludes = factor.excludes.iter().map(|it| format!("excludes {it}"));
            let constraints: Vec<String> = requires.chain(excludes).collect();
            table.row(vec![
                factor.name.clone(),
                levels.first().cloned().unwrap_or_default(),
                levels.get(1..).unwrap_or_default().join(", "),
                grouped(changed),
                grouped(deltas),
                constraints.join(", "),
            ]);
        }
        table
    }

    /// Returns the configurations, with a column per factor.
    fn configurations(&self) -> Table {
        let names = self.design.factors.iter().map(|it| it.name.as_str());
        let columns: Vec<(&str, Align)> = std::iter::once("configuration")
            .chain(names.clone())
            .map(|name| (name, Align::Left))
            .collect();
        let mut table = Table::new(&columns);
        for configuration in &self.design.configurations {
            let level = |name: &str| {
                let level = configuration.levels.get(name);
                level.map_or_else(String::new, ToString::to_string)
            };
            let mut cells = vec![configuration.name.clone()];
            cells.extend(names.clone().map(level));
            table.row(cells);
        }
        table
    }
}

fn roman(resolution: usize) -> String {
    let known = ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X"];
    let numeral = known.get(resolution.wrapping_sub(1));
    numeral.map_or_else(|| resolution.to_string(), |it| (*it).to_owned())
}
