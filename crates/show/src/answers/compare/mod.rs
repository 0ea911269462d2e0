//! Comparisons of a baseline with candidates: `lapwing compare` (`docs/compare.md`).

mod hail;
mod rows;
mod sides;
mod text;

use lapwing_analyse::clean::Audit;
use lapwing_analyse::judge::{CompareOptions, Comparison, SuiteComparison};
use serde_json::{Value, json};

use self::rows::{ComparisonFields, SuiteRow};
use super::Listing;
use super::audit::{AuditDetail, AuditPart};
use crate::writing::{Answer, CsvRows, MarkdownLayout, TextAnswer, WriteError, csv_rows};

pub use hail::HailAnswer;
pub use sides::{ControlResult, control_text, environment_note};

/// The comparisons of all benchmarks.
#[derive(Debug)]
pub struct CompareAnswer {
    /// Names of the sides, the baseline first.
    pub names: Vec<String>,
    /// Whether each of the sides was the baseline.
    pub each_baseline: bool,
    /// The comparisons.
    pub comparisons: Vec<Comparison>,
    /// Geometric means of the suites.
    pub suites: Vec<SuiteComparison>,
    /// The options that judged them.
    pub options: CompareOptions,
    /// Notes on the choice of the sides and on what was excluded.
    pub notes: Vec<String>,
    /// Result of the A/A control, if there was one.
    pub control: Option<ControlResult>,
    /// Exclusions of all sides.
    pub audit: Audit,
    /// Number of listed exclusions.
    pub detail: AuditDetail,
    /// Comparisons that are listed for people.
    pub listing: Listing,
}

impl CompareAnswer {
    fn compare_rows(&self) -> Vec<ComparisonFields<'_>> {
        self.comparisons.iter().map(ComparisonFields::new).collect()
    }

    fn audit_part(&self) -> AuditPart<'_> {
        AuditPart {
            audit: &self.audit,
            detail: self.detail,
        }
    }
}

impl Answer for CompareAnswer {
    fn for_people(&self, room: Option<usize>) -> TextAnswer {
        text::text_answer(self, room)
    }

    fn json(&self) -> Result<Value, WriteError> {
        let suites: Vec<SuiteRow> = self.suites.iter().map(SuiteRow::new).collect();
        let (baseline, candidates) = if self.each_baseline {
            (None, Some(self.names.as_slice()))
        } else {
            (self.names.first(), self.names.get(1..))
        };
        Ok(json!({
            "baseline": baseline,
            "candidates": candidates,
            "confidence": self.options.confidence.level(),
            "false_discovery_rate": self.options.false_discovery_rate,
            "smallest_effect": self.options.smallest_effect,
            "band": self.options.band(),
            "comparisons": self.compare_rows(),
            "suites": suites,
            "control": self.control,
            "notes": self.notes,
            "audit": self.audit_part().json(),
        }))
    }

    fn rows(&self) -> Result<CsvRows, WriteError> {
        csv_rows(&self.compare_rows())
    }

    fn markdown_layout(&self) -> MarkdownLayout {
        MarkdownLayout::List
    }

    fn audit(&self) -> Option<AuditPart<'_>> {
        Some(self.audit_part())
    }
}
