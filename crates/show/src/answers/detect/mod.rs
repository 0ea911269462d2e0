//! Changes in the history of benchmarks: `lapwing detect` (`docs/detect.md`).

mod history_chart;
mod order;
mod rows;
mod self_test;
mod text;

use lapwing_analyse::detect::{
    DetectOptions, DetectRule, Detection, Direction, Finding, Histories, ThresholdRule, change_id,
};
use lapwing_analyse::sample::Subject;
use lapwing_model::text::{counted, joined, joined_with_and};
use lapwing_model::{BenchmarkLimits, JudgeSettings};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

pub(super) use self::order::branches_text;
pub use self::order::{main_notes, order_name, order_note};
pub use self::self_test::{SELF_TEST_KIND, SelfTestAnswer, too_short_note};

use self::history_chart::finding_history;
pub(crate) use self::history_chart::finding_mark;
use self::rows::{FindingFields, GroupRow, SeriesRow, SubjectFields, SuspicionRow, UntestedRow};
use self::text::ListedChanges;
use crate::ChangeCounts;
use crate::chart::Chart;
use crate::writing::{Answer, AnswerKind, CsvRows, Note, TextAnswer, View, WriteError, csv_rows};

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
    pub notes: Vec<Note>,
    /// The name of the order of the runs.
    pub order: Option<&'static str>,
    /// How a suggested command starts.
    pub program: String,
    /// Whether the histories are of files and not of a store.
    pub are_files: bool,
}

/// Changes for programs.
#[derive(Debug, Serialize, JsonSchema)]
struct DetectFields<'a> {
    /// `changepoint` or `threshold`.
    rule: &'static str,
    /// Of the rule `changepoint`.
    false_discovery_rate: Option<f64>,
    /// Of the rule `threshold`.
    threshold: Option<ThresholdFields>,
    /// The smallest change that matters, as a share.
    smallest_effect: Option<f64>,
    changed_since: Option<&'a str>,
    /// The order of the runs: `commits`, `version_dates`, `version_names`, `start_times`, `file_names`, `file_order`, `file_times` or
    /// `unknown`; `mixed` if that of suites differs.
    order: Option<&'static str>,
    /// Number of histories of measured metrics, without those of failures.
    histories: usize,
    /// Number of those that were judged.
    tested: usize,
    /// Number of runs.
    runs: usize,
    /// Number of runs that a history needs to be tested.
    required_runs: usize,
    counts: ChangeCounts,
    /// Changes, those that change most first.
    changes: Vec<GroupRow<'a>>,
    suspected: Vec<SuspicionRow<'a>>,
    /// The version of the last change that was accepted with all before it; those are listed only with `--full`.
    accepted_until: Option<String>,
    /// Number of changes before the newest 30 runs of histories that were not triaged, if they are many; these
    /// are listed only with `--full`.
    past: Option<usize>,
    /// What was not judged, by reason.
    untested: Vec<UntestedRow<'a>>,
    /// Every history: only with `--full`.
    #[serde(skip_serializing_if = "Option::is_none")]
    series: Option<Vec<SeriesRow<'a>>>,
    /// What the suite file mutes.
    muted: Vec<SubjectFields<'a>>,
    /// Number of changes before `changed_since`.
    earlier: usize,
    below_smallest_effect: usize,
}

/// The rule `threshold`.
#[derive(Debug, Serialize, JsonSchema)]
struct ThresholdFields {
    /// Number of newest runs that all have to reach the threshold.
    last: usize,
    /// Number of runs before those.
    window: usize,
    /// Distance of the threshold from their mean in standard deviations.
    deviations: f64,
    /// Least distance for times, in seconds.
    time_floor: f64,
    /// Least distance for sizes, in bytes.
    memory_floor: f64,
}

impl ThresholdFields {
    fn new(rule: ThresholdRule) -> Self {
        Self {
            last: rule.last,
            window: rule.window,
            deviations: rule.deviations,
            time_floor: rule.time_floor,
            memory_floor: rule.memory_floor,
        }
    }
}

/// The changes that `--notify` passes to a command.
#[derive(Debug, Serialize)]
pub struct NotifiedChanges<'a> {
    text: String,
    changes: Vec<GroupRow<'a>>,
}

impl DetectAnswer {
    /// Returns the short name of a finding.
    fn id(&self, finding: &Finding) -> String {
        let moment = &self.histories.moments[finding.since()];
        change_id(&finding.subject, moment)
    }

    /// Returns the changes for `--notify`, in words and in rows, with those of their findings that are wanted.
    pub fn changes(&self, is_wanted: impl Fn(&Finding) -> bool) -> NotifiedChanges<'_> {
        let groups = self.detection.groups.iter().map(|group| {
            let mut wanted = group.clone();
            let findings = &mut wanted.findings;
            findings.retain(|at| is_wanted(&self.detection.findings[*at]));
            wanted
        });
        let wanted = groups.filter(|group| !group.findings.is_empty());
        let view = View {
            full: true,
            ..View::default()
        };
        let changes: Vec<GroupRow> = wanted
            .map(|group| GroupRow::new(self, &group, &group.findings, view))
            .collect();
        let texts: Vec<&str> = changes.iter().map(|row| row.text.as_str()).collect();
        NotifiedChanges {
            text: texts.join("\n"),
            changes,
        }
    }

    fn finding_rows(&self) -> Vec<FindingFields<'_>> {
        let groups = self.detection.groups.iter();
        let in_order = groups.flat_map(|group| &group.findings);
        in_order
            .map(|at| FindingFields::new(self, &self.detection.findings[*at]))
            .collect()
    }
}

/// The kind of these answers.
pub const KIND: AnswerKind = AnswerKind::of::<DetectFields<'_>>("detect")
    .listing("changes")
    .grouping("findings");

/// Changes beyond these have no chart.
const MOST_CHARTS: usize = 20;

impl Answer for DetectAnswer {
    fn kind(&self) -> &'static AnswerKind {
        &KIND
    }

    fn for_people(&self, view: View) -> TextAnswer {
        text::text_answer(self, view)
    }

    fn data(&self, view: View) -> Result<Value, WriteError> {
        let listed = ListedChanges::of(self, view);
        let groups = listed.groups.iter();
        let detection = &self.detection;
        let until = detection.accepted_until;
        let past = detection.unreviewed_past(&self.histories);
        let (rate, threshold) = match self.options.rule {
            DetectRule::ChangePoint => (Some(self.options.false_discovery_rate), None),
            DetectRule::Threshold(rule) => (None, Some(ThresholdFields::new(rule))),
        };
        Ok(serde_json::to_value(DetectFields {
            rule: self.options.rule.name(),
            false_discovery_rate: rate,
            threshold,
            smallest_effect: self.options.smallest_effect,
            changed_since: self.changed_since.as_deref(),
            order: self.order,
            histories: detection.judged.histories,
            tested: detection.judged.judged,
            runs: self.histories.moments.len(),
            required_runs: self.detection.fewest_runs,
            counts: ChangeCounts::of(&self.detection),
            changes: groups
                .map(|(group, findings)| GroupRow::new(self, group, findings, view))
                .collect(),
            suspected: (listed.suspicions.iter())
                .map(|suspicion| SuspicionRow::new(self, suspicion, view))
                .collect(),
            accepted_until: until.map(|at| self.histories.moments[at].label()),
            past: past.map(|past| past.changes),
            untested: UntestedRow::all(self),
            series: view.full.then(|| SeriesRow::all(self)),
            muted: self.muted.iter().map(SubjectFields::new).collect(),
            earlier: self.detection.earlier,
            below_smallest_effect: self.detection.small,
        })?)
    }

    fn charts(&self) -> Vec<Chart> {
        let leads = self.detection.groups.iter().map(|group| group.lead());
        let charts = leads.take(MOST_CHARTS).map(|at| {
            let finding = &self.detection.findings[at];
            finding_history(&self.histories, &self.detection, finding)
        });
        charts.collect()
    }

    fn verdict(&self) -> Option<&'static str> {
        let detection = &self.detection;
        let is_new = |direction: Direction| {
            let mut findings = detection.findings.iter();
            findings.any(|it| it.is_open() && it.direction == direction)
        };
        Some(if is_new(Direction::Regression) {
            "regression"
        } else if !detection.suspicions.is_empty() {
            "suspected"
        } else if is_new(Direction::Neither) {
            "change"
        } else if is_new(Direction::Improvement) {
            "improvement"
        } else if detection.judged.judged == 0 {
            "not_tested"
        } else if detection.findings.is_empty() {
            "no_change"
        } else {
            "no_new_change"
        })
    }

    fn omitted_rows(&self, view: View) -> usize {
        let listed = ListedChanges::of(self, view);
        let findings = listed.groups.iter().map(|(_, findings)| findings.len());
        let findings = self.detection.findings.len() - findings.sum::<usize>();
        findings + self.detection.suspicions.len() - listed.suspicions.len()
    }

    fn rows(&self) -> Result<CsvRows, WriteError> {
        csv_rows(&self.finding_rows())
    }
}

/// Returns `muted in the suite file: a and b`; `None` if nothing is.
pub fn muted_note(muted: &[Subject]) -> Option<Note> {
    /// More names than this are a number.
    const NAMED: usize = 3;
    let mut names: Vec<&str> = muted.iter().map(|it| it.benchmark.as_str()).collect();
    names.dedup();
    let text = match names.len() {
        0 => return None,
        1..=NAMED => joined_with_and(&names),
        several => counted(several, "benchmark"),
    };
    let note = Note::marked("muted", format!("muted in the suite file: {text}"));
    Some(note.with("benchmarks", names.len()))
}

/// Returns a note on tables `[benchmark.NAME.judge]` that are about no benchmark.
pub fn unknown_note(
    suite: &JudgeSettings,
    histories: &Histories,
    muted: &[Subject],
) -> Option<Note> {
    let subjects = || histories.series.iter().map(|it| &it.subject).chain(muted);
    let is_unknown =
        |table: &&BenchmarkLimits| !subjects().any(|subject| table.is_about(&subject.benchmark));
    let unknown = suite.benchmarks.iter().filter(is_unknown);
    let names: Vec<String> = unknown
        .map(|table| format!("[benchmark.{}.judge]", table.name))
        .collect();
    (!names.is_empty()).then(|| {
        let text = joined(&names);
        let text = format!("no benchmark is meant by {text} of the suite file");
        Note::marked("unknown_benchmarks", text).with("tables", names)
    })
}
