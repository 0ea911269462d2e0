//! Instances and iterations needed per benchmark: `lapwing plan` (`docs/plan.md`).

mod notes;
mod rows;
mod text;

use std::collections::BTreeSet;

use lapwing_analyse::clean::Audit;
use lapwing_analyse::explain::{BudgetedPlan, ChoiceRule, Detectability, LineFate};
use lapwing_analyse::judge::USUAL_SLOWDOWN;
use lapwing_stats::Configuration;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use self::rows::PlanRow;
use super::audit::{AuditDetail, AuditFields, AuditPart};
use super::not_judged::{self, NotJudged};
use crate::writing::{
    Answer, AnswerKind, CsvRows, NextStep, Note, TextAnswer, View, WriteError, csv_rows,
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
    /// Notes on what was excluded.
    pub notes: Vec<Note>,
    /// Exclusions.
    pub audit: Audit,
    /// Number of listed exclusions.
    pub detail: AuditDetail,
    /// How a suggested command starts.
    pub program: String,
}

/// A plan for programs.
#[derive(Debug, Serialize, JsonSchema)]
struct PlanFields<'a> {
    /// Number of benchmarks.
    benchmarks: usize,
    skipped: usize,
    /// The required probability of detecting a slowdown.
    power: f64,
    /// The largest share of false positives.
    false_positives: f64,
    /// The probability that a plan keeps its power.
    assurance: Option<f64>,
    /// The smallest effect of the suite, as a share.
    smallest_effect: Option<f64>,
    /// How many benchmarks detect which slowdown.
    slowdowns: Vec<SlowdownFields>,
    budget_seconds: Option<f64>,
    /// Machine time of one version.
    cost_seconds: f64,
    cost_seconds_beyond_budget: f64,
    /// Cost of an hour of machine time.
    price: Option<f64>,
    /// The budget and the costs, if the price is known.
    budget: Option<f64>,
    cost: Option<f64>,
    cost_beyond_budget: Option<f64>,
    /// Number of older versions that are not used.
    older_versions: usize,
    /// A row for each benchmark and slowdown.
    plan: Vec<PlanRow<'a>>,
    not_judged: Vec<NotJudged>,
    audit: AuditFields<'a>,
}

/// How many benchmarks detect a slowdown.
#[derive(Debug, Serialize, JsonSchema)]
struct SlowdownFields {
    /// As a factor; `null`: any of the grid, or the smallest effect of each benchmark.
    slowdown: Option<f64>,
    /// Number of benchmarks that detect it.
    able: usize,
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

/// The kind of these answers.
pub const KIND: AnswerKind = AnswerKind::of::<PlanFields<'_>>("plan").listing("plan");

impl PlanAnswer {
    /// Returns a command that shows more if nothing is planned.
    fn next_steps(&self) -> Vec<NextStep> {
        let is_empty = self.plan.kept().next().is_none();
        let has_noise = self
            .plan
            .lines
            .iter()
            .any(|line| line.choice.variability.components.is_some());
        if is_empty && has_noise && !self.plan.is_skipped() {
            let why = "shows what is detectable, and with how many instances and iterations";
            vec![NextStep::new(format!("{} mds", self.program), why)]
        } else {
            Vec::new()
        }
    }

    fn money(&self, seconds: f64) -> Option<f64> {
        self.price.map(|price| seconds / 3_600.0 * price)
    }
}

impl Answer for PlanAnswer {
    fn kind(&self) -> &'static AnswerKind {
        &KIND
    }

    fn for_people(&self, _view: View) -> TextAnswer {
        TextAnswer {
            headline: self.headline(),
            table: text::table(&self.plan),
            notes: notes::notes(self),
            next: self.next_steps(),
            ..TextAnswer::default()
        }
    }

    fn data(&self, _view: View) -> Result<Value, WriteError> {
        let (plan, options) = (&self.plan, &self.plan.options);
        let missing = self.missing();
        let slowdowns = text::slowdowns(plan).into_iter();
        let [cost, beyond] =
            [LineFate::Kept, LineFate::BeyondBudget].map(|fate| plan.cost_of(fate));
        Ok(serde_json::to_value(PlanFields {
            benchmarks: self.benchmarks(),
            skipped: plan.names(|line| line.fate == LineFate::Skipped).len(),
            power: options.power,
            false_positives: options.false_positives,
            assurance: (options.rule != ChoiceRule::Hail).then_some(options.assurance),
            smallest_effect: self.smallest_effect,
            slowdowns: slowdowns
                .map(|slowdown| SlowdownFields {
                    slowdown,
                    able: plan.able(slowdown.unwrap_or(f64::INFINITY)),
                })
                .collect(),
            budget_seconds: plan.budget,
            cost_seconds: cost,
            cost_seconds_beyond_budget: beyond,
            price: self.price,
            budget: plan.budget.and_then(|budget| self.money(budget)),
            cost: self.money(cost),
            cost_beyond_budget: self.money(beyond),
            older_versions: self.older,
            plan: rows::rows(self, &missing),
            not_judged: self.missing(),
            audit: self.audit_part().fields(),
        })?)
    }

    fn charts(&self) -> Vec<Chart> {
        vec![self.chart()]
    }

    fn verdict(&self) -> Option<&'static str> {
        let plan = &self.plan;
        let able = text::slowdowns(plan).into_iter();
        let able = able.map(|slowdown| plan.able(slowdown.unwrap_or(f64::INFINITY)));
        Some(match (plan.kept().next(), able.min()) {
            (None, _) => "nothing_planned",
            (Some(_), Some(able)) if able == self.benchmarks() => "planned",
            (Some(_), _) => "partly_planned",
        })
    }

    fn rows(&self) -> Result<CsvRows, WriteError> {
        csv_rows(&rows::rows(self, &self.missing()))
    }

    fn audit(&self) -> Option<AuditPart<'_>> {
        Some(self.audit_part())
    }
}
