//! Comparisons of a baseline with candidates: `lapwing compare` (`docs/compare.md`).

mod comment;
mod hail;
mod listed;
mod rows;
mod self_test;
mod sides;
mod table;
mod text;

use lapwing_analyse::clean::Audit;
use lapwing_analyse::judge::{CompareOptions, Comparison, SuiteComparison, Verdict};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use self::rows::SuiteRow;
use super::audit::{AuditDetail, AuditFields, AuditPart};
use crate::chart::{self, Chart};
use crate::words::verdict::worst_verdict;
use crate::writing::{
    Answer, AnswerKind, CsvRows, MarkdownLayout, NextStep, Note, TextAnswer, View, WriteError,
    csv_rows,
};
use crate::{VerdictCounts, news_first};

pub use hail::{HailAnswer, KIND as HAIL_KIND};
pub use rows::{ComparisonFields, caution_note, needed_about, needed_more_than};
pub use self_test::{CompareSelfTestAnswer, SELF_TEST_KIND};
pub use sides::{
    ControlResult, Unused, control_note, environment_note, pool_note, uncommitted_note, unused_note,
};
pub use table::short_change;

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
    pub notes: Vec<Note>,
    /// Commands that continue from here.
    pub next: Vec<NextStep>,
    /// Result of the A/A control, if there was one.
    pub control: Option<ControlResult>,
    /// Exclusions of all sides.
    pub audit: Audit,
    /// Number of listed exclusions.
    pub detail: AuditDetail,
}

/// The comparisons for programs.
#[derive(Debug, Serialize, JsonSchema)]
struct CompareFields<'a> {
    /// Name of the baseline; `null` if each side is one in turn.
    baseline: Option<&'a str>,
    candidates: &'a [String],
    /// Confidence of the intervals.
    confidence: f64,
    false_discovery_rate: f64,
    /// The smallest effect that was asked for, as a share.
    smallest_effect: Option<f64>,
    /// The largest change that is none, as a share.
    band: f64,
    /// Number of comparisons.
    compared: usize,
    /// Number of comparisons by verdict.
    verdicts: VerdictCounts,
    comparisons: Vec<ComparisonFields<'a>>,
    suites: Vec<SuiteRow<'a>>,
    /// Result of the A/A control.
    control: Option<&'a ControlResult>,
    audit: AuditFields<'a>,
}

/// The kind of these answers.
pub const KIND: AnswerKind = AnswerKind::of::<CompareFields<'_>>("compare")
    .listing("comparisons")
    .with_rare(RARE);

/// Fields of comparisons, of their numbers and of results that few have.
pub const RARE: &[&str] = &[
    "descriptive_ratio",
    "descriptive_lower",
    "descriptive_upper",
    "difference",
    "own_smallest_effect",
    "unpaired_lower",
    "unpaired_upper",
    "reason_numbers",
    "needed_more_than",
    "cautions",
    "control",
    "exact",
    "earlier_sessions",
    "session_sd",
    "session_freedom",
    "likely_ratio",
    "likely_lower",
    "likely_upper",
    // Of numbers of verdicts and of results:
    "worse_in_runs",
    "better_in_runs",
    "unchanged_in_runs",
    "equal",
    "changed",
    "unchanged_within",
    "small_changes",
    "small_changes_within",
    "is_upper_bound",
    "failures",
    "cv_between",
    "cv_within",
    "interrupted_of",
];

impl CompareAnswer {
    fn compare_rows(&self) -> Vec<ComparisonFields<'_>> {
        let mut comparisons: Vec<&Comparison> = self.comparisons.iter().collect();
        comparisons.sort_by(|one, other| news_first(one, other));
        comparisons.into_iter().map(ComparisonFields::new).collect()
    }

    fn audit_part(&self) -> AuditPart<'_> {
        AuditPart {
            audit: &self.audit,
            detail: self.detail,
        }
    }
}

/// Number of comparisons from which the ratios of several candidates are a heat map.
const MANY_RATIOS: usize = 50;

impl CompareAnswer {
    /// Returns the usual chart.
    pub fn chart(&self) -> Chart {
        let is_large = self.names.len() > 2 && self.comparisons.len() > MANY_RATIOS;
        if is_large {
            self.change_map()
        } else {
            self.ratios()
        }
    }

    /// Returns the chart of the ratios.
    pub fn ratios(&self) -> Chart {
        chart::ratios(&self.comparisons, &self.options)
    }

    /// Returns the heat map of the changes.
    pub fn change_map(&self) -> Chart {
        chart::change_map(&self.comparisons, &self.options)
    }
}

impl Answer for CompareAnswer {
    fn kind(&self) -> &'static AnswerKind {
        &KIND
    }

    fn for_people(&self, view: View) -> TextAnswer {
        text::text_answer(self, view)
    }

    fn data(&self, view: View) -> Result<Value, WriteError> {
        let (baseline, candidates) = match self.names.split_first() {
            Some((first, others)) if !self.each_baseline => (Some(first.as_str()), others),
            Some(_) | None => (None, self.names.as_slice()),
        };
        let listed = listed::listed(self, view).rows;
        Ok(serde_json::to_value(CompareFields {
            baseline,
            candidates,
            confidence: self.options.confidence.level(),
            false_discovery_rate: self.options.false_discovery_rate,
            smallest_effect: self.options.smallest_effect,
            band: self.options.band(),
            compared: self.comparisons.len(),
            verdicts: VerdictCounts::of(&self.comparisons),
            comparisons: listed.into_iter().map(ComparisonFields::new).collect(),
            suites: self.suites.iter().map(SuiteRow::new).collect(),
            control: self.control.as_ref(),
            audit: self.audit_part().fields(),
        })?)
    }

    fn charts(&self) -> Vec<Chart> {
        vec![self.chart()]
    }

    fn verdict(&self) -> Option<&'static str> {
        let worst = self.comparisons.iter().map(|it| it.verdict);
        worst_verdict(worst).map(Verdict::name)
    }

    fn omitted_rows(&self, view: View) -> usize {
        listed::listed(self, view).hidden.len()
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
