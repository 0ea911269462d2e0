//! A design, and what it costs and detects: `lapwing study design`.

use lapwing_model::text::{capitalised, counted, grouped};
use lapwing_stats::as_f64;
use lapwing_study::design::{DesignAbility, DesignFileError, DesignKind, StudyDesign, StudyPower};
use serde::Serialize;
use serde_json::Value;

use crate::writing::Align::{Left, Right};
use crate::writing::{
    Answer, AnswerKind, CsvRows, Table, TextAnswer, Untyped, View, WriteError, uncoded,
};
use crate::{percent, quantity};

/// The default file of a design.
pub const DESIGN_FILE: &str = "lapwing-design.json";

/// Maximum number of groups of aliases.
const SHOWN_ALIASES: usize = 6;

/// A design, and what it costs and detects.
#[derive(Debug, Serialize)]
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
    /// The beginning of a suggested command.
    #[serde(skip)]
    program: String,
}

impl DesignAnswer {
    /// Returns the answer for a design that completes existing configurations, given the noise between instances and
    /// the time of one; `file` has the design, and `program` begins a suggested command.
    pub fn new(
        design: StudyDesign,
        existing: &[Vec<usize>],
        noise: Option<f64>,
        seconds: Option<f64>,
        file: String,
        program: String,
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
            design,
            program,
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

    fn notes(&self) -> Vec<String> {
        let mut notes = vec![self.power_text()];
        notes.extend(self.aliases_text());
        let remarks = self.design.notes.iter();
        notes.extend(remarks.map(|note| format!("{}.", capitalised(note))));
        notes.push(match self.design.supports.as_slice() {
            [] => "It supports no analysis of effects.".to_owned(),
            names => format!("It supports the analyses {}.", names.join(", ")),
        });
        notes.push(match self.expected_seconds {
            Some(seconds) => format!("It takes about {}.", quantity(seconds, "s")),
            None => "Expected time unknown: no earlier measurements.".to_owned(),
        });
        let Self { file, program, .. } = self;
        let option = if file == DESIGN_FILE {
            String::new()
        } else {
            format!(" --design {file}")
        };
        notes.push(format!(
            "The design is in {file}; `{program} study run{option}` measures it."
        ));
        notes
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
            .map(|names| names.join(" = "))
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
            ("factor", Left),
            ("base", Left),
            ("other levels", Left),
            ("changed in", Right),
            ("deltas", Right),
            ("constraints", Left),
        ])
        .dispensable(&["constraints", "deltas"]);
        for (factor, deltas) in self.design.factors.iter().zip(&self.deltas) {
            let levels: Vec<String> = factor.levels.iter().map(ToString::to_string).collect();
            let configurations = self.design.configurations.iter();
            let changed = configurations
                .filter(|configuration| {
                    configuration.levels.get(&factor.name) != factor.levels.first()
                })
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

/// Its fields for programs.
const KIND: AnswerKind = AnswerKind::of::<Untyped>("study-design");

impl Answer for DesignAnswer {
    fn kind(&self) -> &'static AnswerKind {
        &KIND
    }

    fn for_people(&self, _view: View) -> TextAnswer {
        TextAnswer {
            headline: self.headline(),
            table: self.factors(),
            notes: uncoded(self.notes()),
            next: Vec::new(),
            has_table_first: false,
        }
    }

    fn data(&self, _view: View) -> Result<Value, WriteError> {
        Ok(serde_json::to_value(self)?)
    }

    fn rows(&self) -> Result<CsvRows, WriteError> {
        Ok(self.configurations())
    }
}

fn roman(resolution: usize) -> String {
    let known = ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X"];
    let numeral = known.get(resolution.wrapping_sub(1));
    numeral.map_or_else(|| resolution.to_string(), |it| (*it).to_owned())
}
