//! Detectable slowdowns by number of instances and iterations: `lapwing mds`.

mod notes;
mod rows;
mod table;

use lapwing_analyse::explain::Detectability;
use lapwing_analyse::judge::DetectionOptions;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use self::rows::{DetectionFields, FalsePositiveFields, MdsBenchmarkFields, WideFields};
use self::table::table;
use super::analysed::Analysed;
use super::audit::{AuditFields, AuditPart};
use super::not_judged::{self, NotJudged};
use crate::chart::{self, Chart};
use crate::writing::{
    Answer, AnswerKind, CsvRows, NextStep, Note, TextAnswer, View, WriteError, csv_rows,
};
use crate::{
    AbilityCounts, DetectionAbility, DetectionView, EnoughConfigurations, too_little_text,
};

/// Requirements of the formula.
pub const FORMULA_NEEDS: &str = "needs 3 instances of 2 iterations, without zeros";

/// Rows of the table of detectable slowdowns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MdsLayout {
    /// What each benchmark detects by one method.
    Detectable,
    /// The rates of all methods, for each configuration and slowdown.
    Wide,
}

/// Detection rates of all benchmarks.
#[derive(Debug)]
pub struct MdsAnswer {
    /// The rates.
    pub detection: Analysed<Detectability>,
    /// The options of the simulation.
    pub options: DetectionOptions,
    /// The slowdown to detect, as a factor.
    pub target: f64,
    /// The required probability of detecting it.
    pub power: f64,
    /// The suite's smallest effect, as a share.
    pub smallest_effect: Option<f64>,
    /// Rows of the table.
    pub layout: MdsLayout,
    /// How a suggested command starts.
    pub program: String,
}

/// Detectable slowdowns for programs; slowdowns are factors.
#[derive(Debug, Serialize, JsonSchema)]
struct MdsFields<'a> {
    /// The slowdown to detect.
    target: f64,
    /// The required probability of detecting it.
    power: f64,
    /// The method and strategy of `benchmarks`.
    method: &'static str,
    strategy: &'static str,
    confidence: f64,
    /// Number of experiments per configuration, if they are simulated.
    experiments: u32,
    /// Number of resamples per bootstrap.
    replicates: usize,
    seed: u64,
    /// The smallest effect of the suite, as a share.
    smallest_effect: Option<f64>,
    /// The largest configuration of the grid.
    most_instances: usize,
    most_iterations: usize,
    /// Number of benchmarks that can detect the slowdown, surely or not.
    counts: AbilityCounts,
    /// What each benchmark detects, those that detect the least first.
    benchmarks: Vec<MdsBenchmarkFields<'a>>,
    /// Where there is no slowdown, with the smallest and the largest configuration.
    false_positives: Vec<FalsePositiveFields>,
    /// The rates of all methods, by configuration and slowdown: only with `--wide`.
    #[serde(skip_serializing_if = "Option::is_none")]
    wide: Option<Vec<WideFields<'a>>>,
    /// The rate of every slowdown, method, strategy and configuration: only with `--full`, or with `--wide` and one
    /// configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    detection: Option<Vec<DetectionFields<'a>>>,
    /// The smallest slowdown that every method, strategy and configuration detects: only with `--full`.
    #[serde(skip_serializing_if = "Option::is_none")]
    minimal: Option<Vec<DetectionFields<'a>>>,
    not_judged: Vec<NotJudged>,
    audit: AuditFields<'a>,
}

impl MdsAnswer {
    /// Returns the method and strategy that the answer is about.
    pub fn view(&self) -> DetectionView {
        DetectionView::of(&self.options, self.target, self.power)
    }

    /// Returns whether any rate is known.
    pub fn has_rates(&self) -> bool {
        self.detection.rows.iter().any(|row| !row.cells.is_empty())
    }

    /// Returns the benchmarks with too few measurements for any rate.
    pub fn too_little(&self) -> Vec<NotJudged> {
        too_little_of(&self.detection.rows, |row| row.cells.is_empty())
    }
}

fn too_little_of(
    rows: &[Detectability],
    is_unknown: impl Fn(&Detectability) -> bool,
) -> Vec<NotJudged> {
    let rows = rows.iter().filter(|row| is_unknown(row));
    let not_judged = rows.map(|row| NotJudged {
        suite: row.suite.clone(),
        benchmark: row.benchmark.clone(),
        setting: row.setting.text(),
        metric: row.name.clone(),
        reason: too_little_text(row.too_little()),
    });
    not_judged.collect()
}

/// An answer with what takes a while to find.
#[derive(Clone, Copy)]
struct ShownDetection<'a> {
    answer: &'a MdsAnswer,
    rows: &'a [Detectability],
    view: DetectionView,
    /// By row.
    enough: &'a [EnoughConfigurations<'a>],
}

impl ShownDetection<'_> {
    fn is_wide(self) -> bool {
        self.answer.layout == MdsLayout::Wide
    }

    /// Returns what the least able benchmark can do.
    fn ability(self) -> DetectionAbility {
        let abilities = self.enough.iter().map(|enough| enough.able());
        abilities.min().unwrap_or(DetectionAbility::Unknown)
    }
}

/// The kind of these answers.
pub const KIND: AnswerKind = AnswerKind::of::<MdsFields<'_>>("mds")
    .listing("benchmarks")
    .grouping("minimal");

impl MdsAnswer {
    /// Calls a function with what takes a while to find.
    fn with_shown<T>(&self, then: impl FnOnce(ShownDetection<'_>) -> T) -> T {
        let (rows, view) = (self.detection.rows.as_slice(), self.view());
        let enough: Vec<EnoughConfigurations<'_>> =
            rows.iter().map(|row| view.enough(row)).collect();
        then(ShownDetection {
            answer: self,
            rows,
            view,
            enough: &enough,
        })
    }

    fn plan_step(&self, ability: DetectionAbility) -> NextStep {
        let slowdown = self.view().target_text().replace(' ', "");
        let command = format!("{} plan --slowdown {slowdown}", self.program);
        let why = match ability {
            DetectionAbility::Yes => "chooses how much to run",
            DetectionAbility::Unsure | DetectionAbility::No | DetectionAbility::Unknown => {
                "shows what is needed"
            }
        };
        NextStep::new(command, why)
    }
}

impl MdsAnswer {
    /// Returns the chart of the detection rates.
    pub fn chart(&self) -> Chart {
        chart::detection(&self.detection.rows, &self.options.grid, self.view())
    }
}

impl Answer for MdsAnswer {
    fn kind(&self) -> &'static AnswerKind {
        &KIND
    }

    fn for_people(&self, view: View) -> TextAnswer {
        self.with_shown(|shown| {
            let (table, intervals) = table(shown, view);
            let mut notes: Vec<Note> = notes::notes(shown, intervals);
            if let more @ 1.. = table::omitted(shown, view) {
                let text = format!("not shown: {more} that detect more (`--full` shows them)");
                notes.insert(0, Note::new("not_shown", text).with("rows", more));
            }
            let most = self.options.grid.largest();
            TextAnswer {
                headline: shown.view.headline(shown.rows, shown.enough, most),
                table,
                notes,
                next: vec![self.plan_step(shown.ability())],
                ..TextAnswer::default()
            }
        })
    }

    fn data(&self, view: View) -> Result<Value, WriteError> {
        let mut not_judged = not_judged::of_audit(&self.detection.audit);
        not_judged.extend(self.too_little());
        let (shown_view, most) = (self.view(), self.options.grid.largest());
        let is_wide = self.layout == MdsLayout::Wide;
        let has_rates = view.full || is_wide && self.options.grid.configurations().len() == 1;
        self.with_shown(|shown| {
            Ok(serde_json::to_value(MdsFields {
                target: self.target,
                power: self.power,
                method: shown_view.method.name(),
                strategy: shown_view.strategy.name(),
                confidence: self.options.confidence.level(),
                experiments: self.options.experiments,
                replicates: self.options.replicates,
                seed: self.options.seed.0,
                smallest_effect: self.smallest_effect,
                most_instances: most.instances,
                most_iterations: most.iterations,
                counts: AbilityCounts::of(
                    (shown.rows.iter().zip(shown.enough)).map(|(row, it)| (row, it.able())),
                ),
                benchmarks: rows::benchmarks(shown, view),
                false_positives: rows::false_positives(shown),
                wide: is_wide.then(|| rows::wide(self)),
                detection: has_rates.then(|| rows::rates(self)),
                minimal: view.full.then(|| rows::minimal(self)),
                not_judged,
                audit: self.detection.audit_part().fields(),
            })?)
        })
    }

    fn charts(&self) -> Vec<Chart> {
        vec![self.chart()]
    }

    fn verdict(&self) -> Option<&'static str> {
        Some(self.with_shown(|shown| rows::ability_name(shown.ability())))
    }

    fn omitted_rows(&self, view: View) -> usize {
        self.with_shown(|shown| table::omitted(shown, view))
    }

    fn rows(&self) -> Result<CsvRows, WriteError> {
        match self.layout {
            MdsLayout::Detectable => csv_rows(&rows::rates(self)),
            MdsLayout::Wide => csv_rows(&rows::wide(self)),
        }
    }

    fn audit(&self) -> Option<AuditPart<'_>> {
        Some(self.detection.audit_part())
    }
}
