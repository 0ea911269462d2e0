//! The detector on a user's own history: `lapwing detect --self-test`.

mod rows;

use lapwing_analyse::detect::{
    DetectOptions, DetectRule, DriftShare, JUDGED_NIGHTS, RUNS_FOR_A_SELF_TEST, SeenStep, SelfTest,
    SelfTestOptions, SeriesSelfTest, SuiteSelfTest,
};
use lapwing_analyse::sample::Subject;
use lapwing_model::text::{counted, first_names, grouped};
use serde_json::Value;

use self::rows::{AlarmFields, RateRow, ReplayFields, SelfTestFields, ShortHistory, SuiteFields};
use super::rows::SubjectFields;
use super::text::rule_text;
use crate::answers::subject_title;
use crate::writing::Align::{Left, Right};
use crate::writing::{
    Answer, AnswerKind, CsvRows, Note, Table, TextAnswer, View, WriteError, csv_rows,
};
use crate::{
    FIRST_METRIC, alarm_cell, alarms_text, drift_cell, round_percent, seen_text, step_cell,
};

/// Error rates of the detector on a user's own histories.
#[derive(Debug)]
pub struct SelfTestAnswer {
    /// The rates; there is at least one suite.
    pub test: SelfTest,
    /// The planted changes.
    pub wanted: SelfTestOptions,
    /// The options of the detector.
    pub options: DetectOptions,
    /// Notes on what was excluded.
    pub notes: Vec<Note>,
}

/// Of more histories only the first are in the table.
const HISTORIES: usize = 20;
/// A history with fewer steps of a size has no row of its own.
const FEWEST_STEPS: usize = 5;
/// More names than this are a number.
const NAMED: usize = 3;

impl SelfTestAnswer {
    fn rates(&self) -> Vec<RateRow<'_>> {
        let suites = self.test.suites.iter();
        let rows = suites.map(|suite| RateRow::of_suite(suite, &self.wanted.slowdowns));
        rows.flatten().collect()
    }

    /// Returns the histories that have a row of their own.
    fn listed<'s>(&self, suite: &'s SuiteSelfTest, view: View) -> &'s [SeriesSelfTest] {
        let few = |series: &SeriesSelfTest| {
            let steps = series.steps.first();
            steps.is_some_and(|it| it.nights.len() < FEWEST_STEPS)
        };
        let most = if view.full {
            usize::MAX
        } else if suite.series.iter().any(few) {
            0
        } else {
            HISTORIES
        };
        &suite.series[..suite.series.len().min(most)]
    }

    fn headline(&self) -> String {
        let suites = self.test.suites.iter();
        let histories: usize = suites.clone().map(|it| it.series.len()).sum();
        let runs = suites.map(|it| it.runs).max().unwrap_or(0);
        let first = &self.test.suites[0];
        let middle = self.wanted.slowdowns.len() / 2;
        let name = if self.test.suites.len() > 1 {
            format!("{}: ", first.suite)
        } else {
            String::new()
        };
        let step = self.wanted.slowdowns.get(middle).map(|slowdown| {
            let seen = seen_text(&first.step(middle));
            format!("; a step of {} is {seen}", round_percent(slowdown - 1.0))
        });
        format!(
            "{name}{}{}   ({}, {}, {})",
            alarms_text(first),
            step.unwrap_or_default(),
            counted(histories, "history"),
            counted(runs, "run"),
            rule_text(&self.options)
        )
    }

    fn table(&self, view: View) -> Table {
        let sizes: Vec<String> = (self.wanted.slowdowns.iter())
            .map(|it| round_percent(it - 1.0))
            .collect();
        let steps: Vec<String> = sizes.iter().map(|it| format!("step {it}")).collect();
        let drifts: Vec<String> = sizes.iter().map(|it| format!("drift {it}")).collect();
        let suites = self.test.suites.iter();
        let metrics = suites
            .flat_map(|suite| &suite.series)
            .any(|series| series.subject.metric != FIRST_METRIC);
        let mut columns = vec![(true, "history", Left), (metrics, "metric", Left)];
        columns.push((true, "alarms a year", Right));
        columns.extend(steps.iter().map(|it| (true, it.as_str(), Right)));
        columns.extend(drifts.iter().map(|it| (true, it.as_str(), Right)));
        let mut table = Table::of_shown(&columns).dispensable(&["metric"]);
        for suite in &self.test.suites {
            let sizes = 0..self.wanted.slowdowns.len();
            let found = |step: &dyn Fn(usize) -> SeenStep, drift: &dyn Fn(usize) -> DriftShare| {
                let steps = sizes.clone().map(|at| step_cell(&step(at)));
                let drifts = sizes.clone().map(|at| drift_cell(drift(at)));
                steps.chain(drifts).collect::<Vec<String>>()
            };
            let title = if self.test.suites.len() > 1 {
                format!("all of {}", suite.suite)
            } else {
                "all".to_owned()
            };
            let alarms = alarm_cell(suite, suite.alarms);
            let mut row = vec![title, String::new(), alarms];
            row.extend(found(&|at| suite.step(at), &|at| suite.drift(at)));
            table.row(row);
            for series in self.listed(suite, view) {
                let mut row = vec![
                    subject_title(&series.subject),
                    series.subject.metric.clone(),
                    alarm_cell(suite, series.alarms),
                ];
                row.extend(found(
                    &|at| series.steps.get(at).cloned().unwrap_or_default(),
                    &|at| series.drifts.get(at).copied().unwrap_or_default(),
                ));
                table.row(row);
            }
        }
        table
    }

    fn own_notes(&self, view: View) -> Vec<Note> {
        let test = &self.test;
        let replays = test.replays;
        let mut notes = vec![Note::marked(
            "legend",
            format!(
                "step: runs until half (90 %) of the planted slowdowns are found, at most {JUDGED_NIGHTS}; drift: share found, over the whole history / \
                 over its last half"
            ),
        )];
        let text = format!(
            "from {} replays of {JUDGED_NIGHTS} runs without a change, {} steps and {} drifts of each size, in one history at a time",
            grouped(replays.quiet),
            grouped(replays.steps),
            grouped(2 * replays.drifts)
        );
        let note = Note::marked("replays", text).with("quiet", replays.quiet);
        let note = note.with("steps", replays.steps);
        notes.push(note.with("drifts", 2 * replays.drifts));
        if let removed @ 1.. = test.removed {
            let changes = match removed {
                1 => "1 change of the history was".to_owned(),
                several => format!("{several} changes of the history were"),
            };
            let text = format!("{changes} removed first; one that is not found counts as noise");
            notes.push(Note::marked("removed", text).with("changes", removed));
        }
        if let none @ 1.. = self.not_listed(view) {
            let text = format!(
                "not shown: {} alone (`--full` shows them)",
                counted(none, "history")
            );
            notes.push(Note::marked("not_shown", text).with("histories", none));
        }
        if let left @ 1.. = test.left_out {
            let text = format!(
                "there are very many histories: {} are not replayed",
                grouped(left)
            );
            notes.push(Note::marked("left_out", text).with("histories", left));
        }
        notes.extend(too_short_note(&test.too_short));
        if let ended @ 1.. = test.ended {
            let text = format!("not measured any more: {}", counted(ended, "history"));
            notes.push(Note::marked("not_measured", text).with("histories", ended));
        }
        notes
    }

    fn not_listed(&self, view: View) -> usize {
        let suites = self.test.suites.iter();
        let not_listed = suites.map(|suite| suite.series.len() - self.listed(suite, view).len());
        not_listed.sum()
    }
}

/// Returns `needs 20 runs: count (12) and index (8)`; `None` if all have enough.
pub fn too_short_note(too_short: &[(Subject, usize)]) -> Option<Note> {
    let names: Vec<String> = too_short
        .iter()
        .map(|(subject, runs)| format!("{} ({runs})", subject_title(subject)))
        .collect();
    (!names.is_empty()).then(|| {
        let text = format!(
            "a self-test needs {RUNS_FOR_A_SELF_TEST} runs: {}",
            first_names(&names, NAMED)
        );
        let note = Note::marked("too_short", text).with("histories", names.len());
        note.with("required_runs", RUNS_FOR_A_SELF_TEST)
    })
}

/// The kind of these answers.
pub const SELF_TEST_KIND: AnswerKind =
    AnswerKind::of::<SelfTestFields<'_>>("detect-self-test").listing("rates");

impl Answer for SelfTestAnswer {
    fn kind(&self) -> &'static AnswerKind {
        &SELF_TEST_KIND
    }

    fn for_people(&self, view: View) -> TextAnswer {
        let mut notes = self.own_notes(view);
        notes.extend(self.notes.iter().cloned());
        TextAnswer {
            headline: self.headline(),
            table: self.table(view),
            notes,
            ..TextAnswer::default()
        }
    }

    fn data(&self, _view: View) -> Result<Value, WriteError> {
        let test = &self.test;
        let rate = match self.options.rule {
            DetectRule::ChangePoint => Some(self.options.false_discovery_rate),
            DetectRule::Threshold(_) => None,
        };
        let suites = test.suites.iter().map(|suite| SuiteFields {
            suite: &suite.suite,
            runs: suite.runs,
            runs_per_year: suite.runs_per_year,
            alarms: AlarmFields::new(suite, suite.alarms),
        });
        let too_short = test.too_short.iter().map(|(subject, runs)| ShortHistory {
            subject: SubjectFields::new(subject),
            runs: *runs,
        });
        Ok(serde_json::to_value(SelfTestFields {
            rule: self.options.rule.name(),
            false_discovery_rate: rate,
            seed: self.wanted.seed.0,
            slowdowns: &self.wanted.slowdowns,
            judged_runs: JUDGED_NIGHTS,
            required_runs: RUNS_FOR_A_SELF_TEST,
            removed: test.removed,
            replays: ReplayFields {
                quiet: test.replays.quiet,
                steps: test.replays.steps,
                drifts: test.replays.drifts,
            },
            suites: suites.collect(),
            rates: self.rates(),
            too_short: too_short.collect(),
            ended: test.ended,
            left_out: test.left_out,
        })?)
    }

    fn rows(&self) -> Result<CsvRows, WriteError> {
        csv_rows(&self.rates())
    }
}
