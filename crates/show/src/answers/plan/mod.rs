//! Instances and iterations needed per benchmark: `lapwing plan` (`docs/plan.md`).

mod notes;
mod rows;
mod text;

use std::collections::BTreeSet;

use lapwing_analyse::clean::Audit;
use lapwing_analyse::explain::{BudgetedPlan, ChoiceRule, Detectability, LineFate};
use lapwing_analyse::judge::USUAL_SLOWDOWN;
use lapwing_stats::Configuration;
use serde_json::{Value, json};

use super::audit::{AuditDetail, AuditPart};
use super::not_judged::{self, NotJudged};
use crate::writing::{
    Answer, AnswerKind, CsvRows, TextAnswer, Untyped, View, WriteError, csv_rows, uncoded,
};
use crate::{Chart, DetectionView, chart};

pub use text::power_text;

/// The configurations of all benchmarks.
#[derive(Debug)]
pub struct PlanAnswer {
    /// The configurations.
    pub plan: BudgetedPlan,
    /// Number of older versions that are not used.
    pub older: usize,
    /// Cost of an hour of machine time.
    pub price: Option<f64>,
    /// The suite's smallest effect, as a share.
    pub smallest_effect: Option<f64>,
    /// Whether the plan is also written into a file.
    pub is_saved: bool,
    /// Exclusions.
    pub audit: Audit,
    /// Number of listed exclusions.
    pub detail: AuditDetail,
}

impl PlanAnswer {
    /// Returns the first sentence: the number of benchmarks that can detect the slowdown, and their cost.
    pub fn headline(&self) -> String {
        text::headline(self)
    }

    /// Returns the chart of the plan and of the detection rates of other configurations.
    pub fn chart(&self) -> Chart {
        let options = &self.plan.options;
        // A single benchmark may be planned for a larger slowdown only.
        let of_run = match self.plan.lines.as_slice() {
            [line] => line.first().map(|(slowdown, _)| slowdown),
            _ => None,
        };
        let smallest = options.slowdowns.first().copied();
        let slowdown = of_run.or(smallest).unwrap_or(USUAL_SLOWDOWN);
        let view = DetectionView::of(&options.detection, slowdown, options.power);
        let rows = self.plan.lines.iter().map(|line| {
            let run = line.first().filter(|_| line.fate == LineFate::Kept);
            let planned = run.map(|(_, chosen)| chosen.configuration);
            (line.choice.detectability(options, planned), planned)
        });
        let rows: Vec<(Detectability, Option<Configuration>)> = rows.collect();
        chart::plan(&rows, &options.detection.grid, view)
    }

    fn missing(&self) -> Vec<NotJudged> {
        not_judged::of_audit(&self.audit)
    }

    /// Returns the number of benchmarks, judged or not.
    fn benchmarks(&self) -> usize {
        let missing = self.missing();
        let missing = missing.iter().map(|it| (&it.suite, &it.benchmark));
        let choices = self.plan.lines.iter().map(|line| &line.choice);
        let chosen = choices.map(|choice| (&choice.suite, &choice.benchmark));
        chosen.chain(missing).collect::<BTreeSet<_>>().len()
    }

    fn audit_part(&self) -> AuditPart<'_> {
        AuditPart {
            audit: &self.audit,
            detail: self.detail,
        }
    }
}

/// Its fields for programs.
const KIND: AnswerKind = AnswerKind::of::<Untyped>("plan");

impl Answer for PlanAnswer {
    fn kind(&self) -> &'static AnswerKind {
        &KIND
    }

    fn for_people(&self, _view: View) -> TextAnswer {
        TextAnswer {
            headline: self.headline(),
            table: text::table(&self.plan),
            notes: uncoded(notes::notes(self)),
            next: Vec::new(),
            has_table_first: false,
        }
    }

    fn data(&self, _view: View) -> Result<Value, WriteError> {
        let options = &self.plan.options;
        Ok(json!({
            "plan": rows::rows(self, &self.missing()),
            "power": options.power,
            "false_positives": options.false_positives,
            "assurance": (options.rule != ChoiceRule::Hail).then_some(options.assurance),
            "benchmarks": self.benchmarks(),
            "budget_seconds": self.plan.budget,
            "cost_seconds": self.plan.cost_of(LineFate::Kept),
            "cost_seconds_beyond_budget": self.plan.cost_of(LineFate::BeyondBudget),
            "older_versions": self.older,
            "audit": self.audit_part().fields(),
        }))
    }

    fn rows(&self) -> Result<CsvRows, WriteError> {
        csv_rows(&rows::rows(self, &self.missing()))
    }

    fn audit(&self) -> Option<AuditPart<'_>> {
        Some(self.audit_part())
    }
}
