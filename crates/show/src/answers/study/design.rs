//! A design, and what it costs and detects: `lapwing study design`.

use std::collections::BTreeMap;

use lapwing_model::text::{capitalised, counted, grouped};
use lapwing_stats::as_f64;
use lapwing_study::design::{
    DesignAbility, DesignFileError, DesignKind, StudyConfiguration, StudyDesign, StudyModel,
    StudyPower,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::writing::Align::{Left, Right};
use crate::writing::{
    Answer, AnswerKind, CsvRows, NextStep, Note, Table, TextAnswer, View, WriteError,
};
use crate::{percent, quantity};

/// The default file of a design.
pub const DESIGN_FILE: &str = "lapwing-design.json";

/// Number of listed configurations.
const SHOWN: usize = 40;

/// Maximum number of groups of aliases.
const SHOWN_ALIASES: usize = 6;

/// A design, and what it costs and detects.
#[derive(Debug)]
pub struct DesignAnswer {
    /// The design.
    pub design: StudyDesign,
    /// The number of instances of each benchmark.
    instances: u64,
    deltas: Vec<usize>,
    noise: Option<f64>,
    detectable_main_effect: Option<f64>,
    detectable_pair_effect: Option<f64>,
    expected_seconds: Option<f64>,
    file: String,
    /// Notes on what was measured before.
    pub notes: Vec<Note>,
    /// The command that measures the design.
    run: String,
}

impl DesignAnswer {
    /// Returns the answer for a design that completes existing configurations, given the noise between instances and
    /// the time of one; `file` has the design, and `run` measures it.
    pub fn new(
        design: StudyDesign,
        existing: &[Vec<usize>],
        noise: Option<f64>,
        seconds: Option<f64>,
        file: String,
        run: String,
    ) -> Result<Self, DesignFileError> {
        let runs = [existing, &design.runs()?].concat();
        let power = noise
            .and_then(|noise| StudyPower::new(&design.factors, &runs, design.replicates, noise));
        let instances = design.configurations.len() as u64 * u64::from(design.replicates);
        Ok(Self {
            instances,
            deltas: DesignAbility::new(&design.factors, &runs).deltas,
            noise,
            detectable_main_effect: power.map(|power| power.main),
            detectable_pair_effect: power.and_then(|power| power.pair),
            expected_seconds: seconds.map(|seconds| seconds * as_f64(instances)),
            file,
            notes: Vec::new(),
            design,
            run,
        })
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

    fn all_notes(&self) -> Vec<Note> {
        let mut notes = vec![self.power_note()];
        notes.extend(self.aliases_note());
        let remarks = self.design.notes.iter();
        notes.extend(remarks.map(|note| {
            let text = format!("{}.", capitalised(&note.text));
            let numbers = note.numbers.iter();
            numbers.fold(Note::new("design", text), |note, (name, number)| {
                note.with(name, *number)
            })
        }));
        let supports = match self.design.supports.as_slice() {
            [] => "It supports no analysis of effects.".to_owned(),
            names => format!("It supports the analyses {}.", names.join(", ")),
        };
        notes.push(Note::new("supports", supports));
        let time = match self.expected_seconds {
            Some(seconds) => format!("It takes about {}.", quantity(seconds, "s")),
            None => "Expected time unknown: no earlier measurements.".to_owned(),
        };
        notes.push(Note::new("time", time));
        notes.extend(self.notes.iter().cloned());
        notes.push(Note::new(
            "file",
            format!("The design is in {}.", self.file),
        ));
        notes
    }

    fn next(&self) -> NextStep {
        NextStep::new(&self.run, "measures it").taking(self.expected_seconds)
    }

    fn power_note(&self) -> Note {
        let Some(noise) = self.noise else {
            let text = "Which effects it detects depends on the noise between instances, which is not known: give --noise, or measure the base first.";
            return Note::new("unknown_noise", text);
        };
        let noise = percent(noise);
        let text = match (self.detectable_main_effect, self.detectable_pair_effect) {
            (Some(main), Some(pair)) => format!(
                "With noise of {noise} between instances, `study findings` states a main effect of {} and a pair effect of {} with 80 % power, each alone.",
                percent(main),
                percent(pair)
            ),
            (Some(main), None) => format!(
                "With noise of {noise} between instances, `study findings` states a main effect of {} with 80 % power, alone; it does not tell all pairs apart.",
                percent(main)
            ),
            (None, _) => {
                "It cannot tell all main effects apart, or leaves nothing to estimate noise from."
                    .to_owned()
            }
        };
        let note = Note::new("detectable", text);
        note.with("power", 0.8)
    }

    fn aliases_note(&self) -> Option<Note> {
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
            .map(|names| names.join(" = "))
            .collect();
        let hidden = groups.len().saturating_sub(SHOWN_ALIASES);
        let more = match hidden {
            0 => String::new(),
            more => format!("; {} more in the file", grouped(more)),
        };
        let list = if shown.is_empty() {
            String::new()
        } else {
            format!(": {}{more}", shown.join("; "))
        };
        let text = format!("Resolution {}: {meaning}{list}.", roman(resolution));
        Some(Note::new("aliases", text).with("not_shown", hidden))
    }

    fn factor_rows(&self) -> Vec<DesignFactor<'_>> {
        let factors = self.design.factors.iter().zip(&self.deltas);
        let rows = factors.map(|(factor, deltas)| {
            let is_changed = |configuration: &&StudyConfiguration| {
                configuration.levels.get(&factor.name) != factor.levels.first()
            };
            DesignFactor {
                name: &factor.name,
                levels: factor.levels.iter().map(|level| json!(level)).collect(),
                changed_in: self.design.configurations.iter().filter(is_changed).count(),
                deltas: *deltas,
                requires: &factor.requires,
                excludes: &factor.excludes,
            }
        });
        rows.collect()
    }

    /// Returns the number of listed configurations.
    fn listed(&self, view: View) -> usize {
        let all = self.design.configurations.len();
        if view.full { all } else { all.min(SHOWN) }
    }

    fn factors(&self) -> Table {
        let mut table = Table::new(&[
            ("factor", Left),
            ("base", Left),
            ("other levels", Left),
            ("changed in", Right),
            ("deltas", Right),
            ("constraints", Left),
        ])
        .dispensable(&["constraints", "deltas"]);
        for (row, factor) in self.factor_rows().into_iter().zip(&self.design.factors) {
            let levels: Vec<String> = factor.levels.iter().map(ToString::to_string).collect();
            let requires = row.requires.iter().map(|it| format!("requires {it}"));
            let excludes = row.excludes.iter().map(|it| format!("excludes {it}"));
            let constraints: Vec<String> = requires.chain(excludes).collect();
            table.row(vec![
                row.name.to_owned(),
                levels.first().cloned().unwrap_or_default(),
                levels.get(1..).unwrap_or_default().join(", "),
                grouped(row.changed_in),
                grouped(row.deltas),
                constraints.join(", "),
            ]);
        }
        table
    }

    /// Returns the configurations, with a column per factor.
    fn configurations(&self) -> CsvRows {
        let names = self.design.factors.iter().map(|factor| &factor.name);
        let title = "configuration".to_owned();
        let titles = [title].into_iter().chain(names.clone().cloned()).collect();
        let rows = self.design.configurations.iter().map(|configuration| {
            let level = |name| configuration.levels.get(name);
            let levels = names.clone().map(level);
            let levels = levels.map(|level| level.map_or_else(String::new, ToString::to_string));
            let name = configuration.name.clone();
            [name].into_iter().chain(levels).collect()
        });
        CsvRows::new(titles, rows.collect())
    }
}

/// A design, and what it costs and detects.
#[derive(Debug, Serialize, JsonSchema)]
struct DesignFields<'a> {
    /// The file of the design.
    file: &'a str,
    suite: &'a str,
    suite_file: &'a str,
    /// How the configurations are chosen.
    kind: Value,
    /// The effects that it is to estimate: `main` or `pairs`.
    model: &'static str,
    seed: u64,
    number_of_factors: usize,
    number_of_configurations: usize,
    /// Number of instances per configuration and benchmark.
    replicates: u32,
    /// Number of instances of each benchmark.
    instances: u64,
    resolution: Option<usize>,
    /// Effects that cannot be told apart, by group.
    aliases: &'a [Vec<String>],
    /// In percent; 0 if the model cannot be estimated.
    d_efficiency: f64,
    /// The analyses that it supports.
    supports: &'a [String],
    /// Noise between instances, as a share.
    noise: Option<f64>,
    /// The smallest effect of a factor that it detects, as a share.
    detectable_main_effect: Option<f64>,
    /// The smallest effect of a pair that it detects, as a share.
    detectable_pair_effect: Option<f64>,
    expected_seconds: Option<f64>,
    factors: Vec<DesignFactor<'a>>,
    configurations: Vec<ConfigurationFields<'a>>,
}

/// A factor of a design.
#[derive(Debug, Serialize, JsonSchema)]
struct DesignFactor<'a> {
    name: &'a str,
    /// Its levels, the base first.
    levels: Vec<Value>,
    /// Number of configurations in which it is not at its base.
    changed_in: usize,
    /// Number of pairs of configurations that differ by it alone.
    deltas: usize,
    requires: &'a [String],
    excludes: &'a [String],
}

/// A combination of levels.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ConfigurationFields<'a> {
    /// The levels that differ from the base: the name of the variant.
    configuration: &'a str,
    /// The level of every factor.
    levels: BTreeMap<&'a str, Value>,
}

impl<'a> ConfigurationFields<'a> {
    /// Returns the fields of a configuration.
    pub fn new(configuration: &'a StudyConfiguration) -> Self {
        let levels = configuration.levels.iter();
        Self {
            configuration: &configuration.name,
            levels: levels
                .map(|(name, level)| (name.as_str(), json!(level)))
                .collect(),
        }
    }
}

/// The kind of these answers.
pub const KIND: AnswerKind =
    AnswerKind::of::<DesignFields<'_>>("study-design").listing("configurations");

impl Answer for DesignAnswer {
    fn kind(&self) -> &'static AnswerKind {
        &KIND
    }

    fn for_people(&self, _view: View) -> TextAnswer {
        TextAnswer {
            headline: self.headline(),
            table: self.factors(),
            notes: self.all_notes(),
            next: vec![self.next()],
            ..TextAnswer::default()
        }
    }

    fn data(&self, view: View) -> Result<Value, WriteError> {
        let design = &self.design;
        let configurations = design.configurations.iter().take(self.listed(view));
        Ok(serde_json::to_value(DesignFields {
            file: &self.file,
            suite: &design.suite,
            suite_file: &design.suite_file,
            kind: serde_json::to_value(design.kind)?,
            model: match design.model {
                StudyModel::Main => "main",
                StudyModel::Pairs => "pairs",
            },
            seed: design.seed,
            number_of_factors: design.factors.len(),
            number_of_configurations: design.configurations.len(),
            replicates: design.replicates,
            instances: self.instances,
            resolution: design.resolution,
            aliases: &design.aliases,
            d_efficiency: design.d_efficiency,
            supports: &design.supports,
            noise: self.noise,
            detectable_main_effect: self.detectable_main_effect,
            detectable_pair_effect: self.detectable_pair_effect,
            expected_seconds: self.expected_seconds,
            factors: self.factor_rows(),
            configurations: configurations.map(ConfigurationFields::new).collect(),
        })?)
    }

    fn omitted_rows(&self, view: View) -> usize {
        self.design.configurations.len() - self.listed(view)
    }

    fn rows(&self) -> Result<CsvRows, WriteError> {
        Ok(self.configurations())
    }
}

/// Returns a note that compares a design with the one that takes the same time with more instances of fewer
/// configurations.
pub fn replicates_note(chosen: &StudyDesign, other: &StudyDesign) -> Note {
    let size = |design: &StudyDesign| {
        let resolution = design.resolution.map_or_else(String::new, |resolution| {
            format!(" at resolution {}", roman(resolution))
        });
        let configurations = counted(design.configurations.len(), "configuration");
        format!("{configurations} × {}{resolution}", design.replicates)
    };
    let text = format!(
        "in this time, {} estimate {}; {} (`--replicates {}`) would estimate {}",
        size(chosen),
        chosen.estimated(),
        size(other),
        other.replicates,
        other.estimated()
    );
    Note::new("replicates", text)
        .with("configurations", chosen.configurations.len())
        .with("other_configurations", other.configurations.len())
}

fn roman(resolution: usize) -> String {
    let known = ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X"];
    let numeral = known.get(resolution.wrapping_sub(1));
    numeral.map_or_else(|| resolution.to_string(), |it| (*it).to_owned())
}
