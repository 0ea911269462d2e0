//! Detectable slowdowns by number of instances and iterations: `lapwing mds`.

mod notes;
mod rows;
mod table;

use lapwing_analyse::explain::Detectability;
use lapwing_analyse::judge::DetectionOptions;
use serde_json::{Value, json};

use self::table::table;
use super::analysed::Analysed;
use super::audit::AuditPart;
use super::not_judged::{self, NotJudged};
use crate::writing::{
    Answer, AnswerKind, CsvRows, TextAnswer, Untyped, View, WriteError, csv_rows, uncoded,
};
use crate::{DetectionView, EnoughConfigurations, too_little_text};

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
}

/// Its fields for programs.
const KIND: AnswerKind = AnswerKind::of::<Untyped>("mds");

impl Answer for MdsAnswer {
    fn kind(&self) -> &'static AnswerKind {
        &KIND
    }

    fn for_people(&self, View { room, .. }: View) -> TextAnswer {
        let rows = self.detection.rows.as_slice();
        let view = self.view();
        let enough: Vec<EnoughConfigurations<'_>> =
            rows.iter().map(|row| view.enough(row)).collect();
        let shown = ShownDetection {
            answer: self,
            rows,
            view,
            enough: &enough,
        };
        let (table, intervals) = table(shown, room);
        TextAnswer {
            headline: view.headline(rows, &enough, self.options.grid.largest()),
            table,
            notes: uncoded(notes::notes(shown, intervals)),
            next: Vec::new(),
            has_table_first: false,
        }
    }

    fn data(&self, _view: View) -> Result<Value, WriteError> {
        let mut not_judged = not_judged::of_audit(&self.detection.audit);
        not_judged.extend(self.too_little());
        Ok(json!({
            "detection": rows::rates(self),
            "minimal": rows::minimal(self),
            "power": self.power,
            "target": self.target,
            "confidence": self.options.confidence.level(),
            "replicates": self.options.replicates,
            "seed": self.options.seed.0,
            "not_judged": not_judged,
            "audit": self.detection.audit_part().fields(),
        }))
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
