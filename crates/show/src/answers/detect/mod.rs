//! Changes in the history of benchmarks: `lapwing detect` (`docs/detect.md`).

mod rows;
mod text;

use lapwing_analyse::detect::{
    DetectOptions, DetectRule, Detection, Finding, Histories, change_id,
};
use lapwing_analyse::sample::Subject;
use lapwing_model::text::{counted, joined, joined_with_and};
use lapwing_model::{BenchmarkLimits, JudgeSettings};
use serde_json::{Value, json};

use self::rows::{FindingFields, GroupRow, SeriesRow};
use crate::suspicion_text;
use crate::writing::{
    Answer, AnswerKind, CsvRows, TextAnswer, Untyped, View, WriteError, csv_rows,
};

/// The changes of all histories, and what they rest on.
#[derive(Debug)]
pub struct DetectAnswer {
    /// The histories.
    pub histories: Histories,
    /// Their changes.
    pub detection: Detection,
    /// The options that found them.
    pub options: DetectOptions,
    /// The moment from which on changes are reported, as it was written.
    pub changed_since: Option<String>,
    /// The histories that the suite file mutes.
    pub muted: Vec<Subject>,
    /// Notes on what was excluded.
    pub notes: Vec<String>,
}

impl DetectAnswer {
    /// Returns the short name of a finding.
    fn id(&self, finding: &Finding) -> String {
        let moment = &self.histories.moments[finding.first_after];
        change_id(&finding.subject, moment)
    }

    /// Returns the changes for `--notify`, in words and in rows, with those of their findings that are wanted.
    pub fn changes(&self, is_wanted: impl Fn(&Finding) -> bool) -> Value {
        let groups = self.detection.groups.iter().map(|group| {
            let mut wanted = group.clone();
            let findings = &mut wanted.findings;
            findings.retain(|at| is_wanted(&self.detection.findings[*at]));
            wanted
        });
        let wanted: Vec<_> = groups.filter(|group| !group.findings.is_empty()).collect();
        let rows: Vec<GroupRow> = wanted
            .iter()
            .map(|group| GroupRow::new(self, group))
            .collect();
        let texts: Vec<&str> = rows.iter().map(|row| row.text.as_str()).collect();
        json!({"text": texts.join("\n"), "changes": rows})
    }

    fn finding_rows(&self) -> Vec<FindingFields<'_>> {
        let findings = self.detection.findings.iter();
        findings
            .map(|finding| FindingFields::new(self, finding))
            .collect()
    }
}

/// Its fields for programs.
const KIND: AnswerKind = AnswerKind::of::<Untyped>("detect");

impl Answer for DetectAnswer {
    fn kind(&self) -> &'static AnswerKind {
        &KIND
    }

    fn for_people(&self, view: View) -> TextAnswer {
        text::text_answer(self, view)
    }

    fn data(&self, _view: View) -> Result<Value, WriteError> {
        let groups = self.detection.groups.iter();
        let groups: Vec<GroupRow> = groups.map(|group| GroupRow::new(self, group)).collect();
        let series = self.histories.series.iter().zip(&self.detection.states);
        let series: Vec<SeriesRow> = series
            .map(|(series, state)| SeriesRow::new(self, series, *state))
            .collect();
        let suspected = self.detection.suspicions.iter().map(|suspicion| {
            json!({
                "text": suspicion_text(&self.histories, suspicion),
                "runs": suspicion.finding.runs[1],
                "histories": suspicion.histories,
                "finding": FindingFields::new(self, &suspicion.finding),
            })
        });
        let muted = self.muted.iter().map(|subject| {
            json!({
                "suite": subject.suite,
                "benchmark": subject.benchmark,
                "variant": subject.setting.variant_name(),
                "metric": subject.metric,
            })
        });
        Ok(json!({
            "rule": self.options.rule.name(),
            "false_discovery_rate": (self.options.rule == DetectRule::ChangePoint)
                .then_some(self.options.false_discovery_rate),
            "smallest_effect": self.options.smallest_effect,
            "findings": self.finding_rows(),
            "changes": groups,
            "suspected": suspected.collect::<Vec<_>>(),
            "series": series,
            "muted": muted.collect::<Vec<_>>(),
            "changed_since": self.changed_since,
            "earlier": self.detection.earlier,
            "below_smallest_effect": self.detection.small,
            "notes": self.notes,
        }))
    }

    fn rows(&self) -> Result<CsvRows, WriteError> {
        csv_rows(&self.finding_rows())
    }
}

/// Returns `muted in the suite file: a and b`; `None` if nothing is.
pub fn muted_note(muted: &[Subject]) -> Option<String> {
    /// More names than this are a number.
    const NAMED: usize = 3;
    let mut names: Vec<&str> = muted.iter().map(|it| it.benchmark.as_str()).collect();
    names.dedup();
    let names = match names.len() {
        0 => return None,
        1..=NAMED => joined_with_and(&names),
        several => counted(several, "benchmark"),
    };
    Some(format!("muted in the suite file: {names}"))
}

/// Returns a note on tables `[benchmark.NAME.judge]` that are about no benchmark.
pub fn unknown_note(
    suite: &JudgeSettings,
    histories: &Histories,
    muted: &[Subject],
) -> Option<String> {
    let subjects = || histories.series.iter().map(|it| &it.subject).chain(muted);
    let is_unknown =
        |table: &&BenchmarkLimits| !subjects().any(|subject| table.is_about(&subject.benchmark));
    let unknown = suite.benchmarks.iter().filter(is_unknown);
    let names: Vec<String> = unknown
        .map(|table| format!("[benchmark.{}.judge]", table.name))
        .collect();
    (!names.is_empty()).then(|| {
        let names = joined(names);
        format!("no benchmark is meant by {names} of the suite file")
    })
}
