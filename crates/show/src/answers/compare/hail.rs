//! Comparisons by the method of Hail's `analyze_benchmarks`: control over test.

use lapwing_analyse::clean::Audit;
use lapwing_analyse::judge::ComparisonAsHail;
use lapwing_model::text::{counted, first_names};
use lapwing_stats::Confidence;
use serde::Serialize;
use serde_json::{Value, json};

use super::rows::SideFields;
use crate::answers::audit::{AuditDetail, AuditPart};
use crate::answers::subject_title;
use crate::writing::Align::{Left, Right, Whole};
use crate::writing::{Answer, CsvRows, MarkdownLayout, Table, TextAnswer, WriteError, csv_rows};
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
    pub notes: Vec<String>,
    /// Exclusions of all sides.
    pub audit: Audit,
    /// Number of listed exclusions.
    pub detail: AuditDetail,
}

impl HailAnswer {
    fn hail_rows(&self) -> Vec<HailRow<'_>> {
        self.comparisons.iter().map(HailRow::new).collect()
    }

    /// Returns the notes, also on benchmarks without a row.
    fn all_notes(&self) -> Vec<String> {
        /// More names than this are a number.
        const NAMED: usize = 5;
        let mut notes = self.notes.clone();
        if !self.lacking.is_empty() {
            let names = first_names(&self.lacking, NAMED);
            notes.push(format!(
                "not compared, because a side has no usable values: {names} (`--audit` shows why)"
            ));
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

impl Answer for HailAnswer {
    fn for_people(&self, _room: Option<usize>) -> TextAnswer {
        let changed = self.comparisons.iter().filter(|it| it.result.changed);
        let notes = self.all_notes();
        let notes = notes.iter().map(|note| format!("note: {note}"));
        TextAnswer {
            headline: format!(
                "{} of {} changed, according to Hail's `analyze_benchmarks`",
                changed.count(),
                counted(self.comparisons.len(), "comparison")
            ),
            table: self.table(),
            notes: [DIRECTION.to_owned()].into_iter().chain(notes).collect(),
        }
    }

    fn json(&self) -> Result<Value, WriteError> {
        Ok(json!({
            "baseline": self.names.first(),
            "candidates": self.names.get(1..),
            "compat": "hail",
            "direction": "baseline / candidate",
            "confidence": self.confidence.level(),
            "comparisons": self.hail_rows(),
            "notes": self.all_notes(),
            "audit": self.audit_part().json(),
        }))
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

#[derive(Default, Serialize)]
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
