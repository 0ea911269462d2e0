//! Comparisons by the method of Hail's `analyze_benchmarks`: control over test.

use lapwing_analyse::clean::Audit;
use lapwing_analyse::judge::ComparisonAsHail;
use lapwing_model::text::{counted, first_names};
use lapwing_stats::Confidence;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::rows::SideFields;
use crate::answers::audit::{AuditDetail, AuditFields, AuditPart};
use crate::answers::subject_title;
use crate::writing::Align::{Left, Right, Whole};
use crate::writing::{
    Answer, AnswerKind, CsvRows, MarkdownLayout, Note, Table, TextAnswer, View, WriteError,
    csv_rows,
};
use crate::{quantity, ratio_text};

/// The comparisons of all benchmarks by the method of Hail.
#[derive(Debug)]
pub struct HailAnswer {
    /// Names of the sides, the baseline first.
    pub names: Vec<String>,
    /// The comparisons.
    pub comparisons: Vec<ComparisonAsHail>,
    /// Benchmarks without usable values on a side.
    pub lacking: Vec<String>,
    /// The level of the intervals.
    pub confidence: Confidence,
    /// Notes on the choice of the sides.
    pub notes: Vec<Note>,
    /// Exclusions of all sides.
    pub audit: Audit,
    /// Number of listed exclusions.
    pub detail: AuditDetail,
}

impl HailAnswer {
    fn changed(&self) -> usize {
        let changed = self.comparisons.iter().filter(|it| it.result.changed);
        changed.count()
    }

    fn hail_rows(&self) -> Vec<HailRow<'_>> {
        self.comparisons.iter().map(HailRow::new).collect()
    }

    /// Returns the notes, also on benchmarks without a row.
    fn all_notes(&self) -> Vec<Note> {
        /// More names than this are a number.
        const NAMED: usize = 5;
        let mut notes = vec![Note::new("direction", DIRECTION)];
        notes.extend(self.notes.clone());
        if !self.lacking.is_empty() {
            let names = first_names(&self.lacking, NAMED);
            let text = format!(
                "not compared, because a side has no usable values: {names} (`--audit` shows why)"
            );
            let note = Note::marked("lacking", text).with("benchmarks", self.lacking.clone());
            notes.push(note.with("not_named", self.lacking.len().saturating_sub(NAMED)));
        }
        notes
    }

    fn table(&self) -> Table {
        let first = self.comparisons.first().map(|it| &it.candidate);
        let mut candidates = self.comparisons.iter().map(|it| &it.candidate);
        let several = candidates.any(|candidate| Some(candidate) != first);
        let mut table = Table::of_shown(&[
            (true, "benchmark", Left),
            (several, "candidate of", Left),
            (!several, "metric", Left),
            (true, "baseline", Right),
            (true, "candidate", Right),
            (true, "ratio", Whole),
            (true, "radius", Right),
            (true, "instances", Right),
            (true, "changed", Left),
        ])
        .dispensable(&["instances", "radius", "metric"]);
        for comparison in &self.comparisons {
            let [baseline, candidate] = comparison.means;
            let unit = &comparison.metric.unit;
            let result = &comparison.result;
            table.row(vec![
                subject_title(&comparison.subject),
                comparison.candidate.clone(),
                comparison.subject.metric.clone(),
                quantity(baseline, unit),
                quantity(candidate, unit),
                ratio_text(baseline / candidate, Some(result.relative_change)),
                format!("{:.4}", result.radius),
                format!("{} / {}", comparison.instances[0], comparison.instances[1]),
                if result.changed { "yes" } else { "no" }.to_owned(),
            ]);
        }
        table
    }

    fn audit_part(&self) -> AuditPart<'_> {
        AuditPart {
            audit: &self.audit,
            detail: self.detail,
        }
    }
}

const DIRECTION: &str = "the ratio is baseline / candidate, as in Hail: below 1 the candidate has the larger mean; changed means that the intervals of the two means do not overlap";

/// The comparisons for programs.
#[derive(Debug, Serialize, JsonSchema)]
struct HailFields<'a> {
    baseline: Option<&'a String>,
    candidates: &'a [String],
    compat: &'static str,
    direction: &'static str,
    confidence: f64,
    /// Number of comparisons.
    compared: usize,
    /// Number of comparisons that changed.
    changed: usize,
    comparisons: Vec<HailRow<'a>>,
    audit: AuditFields<'a>,
}

/// The kind of these answers.
pub const KIND: AnswerKind =
    AnswerKind::of::<HailFields<'_>>("compare-hail").listing("comparisons");

impl Answer for HailAnswer {
    fn kind(&self) -> &'static AnswerKind {
        &KIND
    }

    fn for_people(&self, _view: View) -> TextAnswer {
        TextAnswer {
            headline: format!(
                "{} of {} changed, according to Hail's `analyze_benchmarks`",
                self.changed(),
                counted(self.comparisons.len(), "comparison")
            ),
            table: self.table(),
            notes: self.all_notes(),
            ..TextAnswer::default()
        }
    }

    fn data(&self, _view: View) -> Result<Value, WriteError> {
        Ok(serde_json::to_value(HailFields {
            baseline: self.names.first(),
            candidates: self.names.get(1..).unwrap_or_default(),
            compat: "hail",
            direction: "baseline / candidate",
            confidence: self.confidence.level(),
            compared: self.comparisons.len(),
            changed: self.changed(),
            comparisons: self.hail_rows(),
            audit: self.audit_part().fields(),
        })?)
    }

    fn rows(&self) -> Result<CsvRows, WriteError> {
        csv_rows(&self.hail_rows())
    }

    fn markdown_layout(&self) -> MarkdownLayout {
        MarkdownLayout::List
    }

    fn audit(&self) -> Option<AuditPart<'_>> {
        Some(self.audit_part())
    }
}

#[derive(Debug, Default, Serialize, JsonSchema)]
struct HailRow<'a> {
    #[serde(flatten)]
    sides: SideFields<'a>,
    ratio: f64,
    lower: f64,
    upper: f64,
    radius: f64,
    changed: bool,
    verdict: &'static str,
    /// Hail has no p-values.
    p_value: (),
    p_adjusted: (),
}

impl<'a> HailRow<'a> {
    fn new(comparison: &'a ComparisonAsHail) -> Self {
        let [baseline, candidate] = comparison.means;
        let [baseline_instances, candidate_instances] = comparison.instances;
        let result = &comparison.result;
        Self {
            sides: SideFields {
                baseline_value: Some(baseline),
                candidate_value: Some(candidate),
                baseline_instances,
                candidate_instances,
                ..SideFields::new(
                    &comparison.subject,
                    &comparison.metric,
                    [&comparison.baseline, &comparison.candidate],
                )
            },
            ratio: baseline / candidate,
            lower: result.relative_change.lower,
            upper: result.relative_change.upper,
            radius: result.radius,
            changed: result.changed,
            verdict: comparison.verdict().name(),
            ..Self::default()
        }
    }
}
