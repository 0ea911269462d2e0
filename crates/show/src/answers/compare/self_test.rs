//! A comparison on a user's own measurements: `lapwing compare --self-test`.

use lapwing_analyse::judge::FoundCount;
use lapwing_analyse::judge::{CompareOptions, CompareSelfTest, ComparedRates};
use lapwing_model::text::{counted, grouped};
use lapwing_stats::{Confidence, wilson_interval};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::answers::subject_title;
use crate::writing::Align::{Left, Right};
use crate::writing::{
    Answer, AnswerKind, CsvRows, Note, Table, TextAnswer, View, WriteError, csv_rows,
};
use crate::{FIRST_METRIC, found_text, interval_text, round_percent};

/// Error rates of a comparison of two sides, on their own measurements.
#[derive(Debug)]
pub struct CompareSelfTestAnswer {
    /// The names of the sides, the baseline first.
    pub names: [String; 2],
    /// The rates; there is at least one row.
    pub test: CompareSelfTest,
    /// The planted slowdowns, as factors.
    pub slowdowns: Vec<f64>,
    /// The options of the comparison.
    pub options: CompareOptions,
    /// Notes on the choice of the sides and on what was excluded.
    pub notes: Vec<Note>,
}

/// Of more comparisons only those that alarm most are in the table.
const SHOWN: usize = 20;
/// A comparison with fewer planted slowdowns of a size has no row of its own.
const FEWEST: usize = 20;

/// With fewer different A/A pairs the rates are rough.
const MANY_PAIRS: f64 = 200.0;

/// Error rates for programs; slowdowns are factors.
#[derive(Debug, Serialize, JsonSchema)]
struct CompareSelfTestFields<'a> {
    baseline: &'a str,
    candidate: &'a str,
    method: &'static str,
    false_discovery_rate: f64,
    smallest_effect: Option<f64>,
    seed: u64,
    /// The planted slowdowns.
    slowdowns: &'a [f64],
    /// Number of A/A pairs.
    pairs: usize,
    /// Number of those in which any comparison told a change.
    alarms: usize,
    alarm_share: f64,
    alarm_share_lower: Option<f64>,
    alarm_share_upper: Option<f64>,
    /// Number of different A/A pairs that the measurements allow.
    different_pairs: f64,
    /// Of all comparisons together and of each, by slowdown.
    rates: Vec<ComparedRateRow<'a>>,
    /// Number of comparisons that are not replayed.
    left_out: usize,
    /// Number of comparisons of different sessions, one of a side: how much sessions differ is not in the rates.
    within_sessions: usize,
}

/// What is found of planted slowdowns of one size.
#[derive(Debug, Default, Serialize, JsonSchema)]
struct ComparedRateRow<'a> {
    suite: Option<&'a str>,
    /// `null` for all comparisons together.
    benchmark: Option<&'a str>,
    setting: Option<String>,
    metric: Option<&'a str>,
    /// The unit that was shuffled between the sides: `session`, `block`, `host` or `instance`.
    unit: Option<&'static str>,
    /// Whether it was shuffled within pairs.
    paired: Option<bool>,
    baseline_units: Option<usize>,
    candidate_units: Option<usize>,
    /// Number of A/A pairs.
    pairs: usize,
    /// Number of those in which it told a change; of all together, in which any did.
    alarms: usize,
    slowdown: f64,
    /// Number of A/A pairs with a slowdown of one benchmark.
    planted: usize,
    /// Number of those in which it was found.
    found: usize,
}

impl CompareSelfTestAnswer {
    /// Returns what is found of a slowdown in all comparisons.
    fn found(&self, slowdown: usize) -> FoundCount {
        let rows = self.test.rows.iter();
        let found = rows.filter_map(|row| row.found.get(slowdown).copied());
        found.fold(FoundCount::default(), FoundCount::and)
    }

    fn rates(&self) -> Vec<ComparedRateRow<'_>> {
        let mut rates = Vec::new();
        for (at, slowdown) in self.slowdowns.iter().enumerate() {
            let found = self.found(at);
            rates.push(ComparedRateRow {
                pairs: self.test.alarms.of,
                alarms: self.test.alarms.found,
                slowdown: *slowdown,
                planted: found.of,
                found: found.found,
                ..ComparedRateRow::default()
            });
        }
        for row in &self.test.rows {
            for (slowdown, found) in self.slowdowns.iter().zip(&row.found) {
                rates.push(ComparedRateRow {
                    suite: Some(&row.subject.suite),
                    benchmark: Some(&row.subject.benchmark),
                    setting: row.subject.setting.text(),
                    metric: Some(&row.subject.metric),
                    unit: Some(row.unit.name()),
                    paired: Some(row.is_paired),
                    baseline_units: Some(row.units[0]),
                    candidate_units: Some(row.units[1]),
                    pairs: row.alarms.of,
                    alarms: row.alarms.found,
                    slowdown: *slowdown,
                    planted: found.of,
                    found: found.found,
                });
            }
        }
        rates
    }

    /// Returns the comparisons in the table, those that alarm most first.
    fn listed(&self, view: View) -> Vec<&ComparedRates> {
        let mut rows: Vec<&ComparedRates> = self.test.rows.iter().collect();
        let is_few = |row: &&ComparedRates| row.found.iter().any(|it| it.of < FEWEST);
        if !view.full && rows.iter().any(is_few) {
            return Vec::new();
        }
        if !view.full && rows.len() > SHOWN {
            rows.sort_by_key(|row| std::cmp::Reverse(row.alarms.found));
            rows.truncate(SHOWN);
        }
        rows
    }

    fn headline(&self) -> String {
        let alarms = self.test.alarms;
        let share = alarms.share().unwrap_or(0.0);
        let interval = wilson_interval(alarms.found, alarms.of, Confidence::P95);
        let share = match interval.filter(|_| alarms.found > 0) {
            Some(interval) => format!("{} {}", crate::percent(share), interval_text(interval)),
            None => found_text(alarms),
        };
        let middle = self.slowdowns.len() / 2;
        let slower = self.slowdowns.get(middle).map(|slowdown| {
            let found = found_text(self.found(middle));
            format!(
                "; a slowdown of {} is found in {found}",
                round_percent(slowdown - 1.0)
            )
        });
        format!(
            "{} against {}: where nothing changed, {share} of comparisons of the suite tell a change{}   ({}, FDR {})",
            self.names[1],
            self.names[0],
            slower.unwrap_or_default(),
            counted(self.test.rows.len(), "comparison"),
            round_percent(self.options.false_discovery_rate)
        )
    }

    fn table(&self, view: View) -> Table {
        let sizes: Vec<String> = (self.slowdowns.iter())
            .map(|it| format!("{} slower", round_percent(it - 1.0)))
            .collect();
        let metrics = self
            .test
            .rows
            .iter()
            .any(|row| row.subject.metric != FIRST_METRIC);
        let mut columns = vec![
            (true, "benchmark", Left),
            (metrics, "metric", Left),
            (true, "shuffled", Left),
            (true, "false", Right),
        ];
        columns.extend(sizes.iter().map(|it| (true, it.as_str(), Right)));
        let mut table = Table::of_shown(&columns).dispensable(&["shuffled", "metric"]);
        let mut all = vec!["all".to_owned(), String::new(), String::new()];
        all.push(found_text(self.test.alarms));
        all.extend((0..self.slowdowns.len()).map(|at| found_text(self.found(at))));
        table.row(all);
        for row in self.listed(view) {
            let mut cells = vec![
                subject_title(&row.subject),
                row.subject.metric.clone(),
                units_text(row),
                found_text(row.alarms),
            ];
            cells.extend(row.found.iter().map(|it| found_text(*it)));
            table.row(cells);
        }
        table
    }

    fn own_notes(&self, view: View) -> Vec<Note> {
        let test = &self.test;
        let planted = self.found(0).of;
        let text = format!(
            "from {} A/A pairs made of these measurements without the effect of the sides, and {} with a slowdown of each size in one benchmark",
            grouped(test.alarms.of),
            grouped(planted)
        );
        let note = Note::marked("replays", text).with("pairs", test.alarms.of);
        let mut notes = vec![note.with("planted", planted)];
        if test.pairs < MANY_PAIRS {
            let text = format!(
                "only {:.0} different A/A pairs can be made of these measurements, so the rates are rough",
                test.pairs
            );
            notes.push(Note::marked("few_pairs", text).with("different_pairs", test.pairs));
        }
        if let within @ 1.. = test.within_sessions {
            let text = format!(
                "{}: the sides are from different sessions, one of a side: how much sessions differ is not in these rates",
                counted(within, "comparison")
            );
            notes.push(Note::marked("within_sessions", text).with("comparisons", within));
        }
        if let none @ 1.. = test.rows.len() - self.listed(view).len() {
            let text = format!(
                "not shown: {} alone (`--full` shows them)",
                counted(none, "comparison")
            );
            notes.push(Note::marked("not_shown", text).with("comparisons", none));
        }
        if let left @ 1.. = test.left_out {
            let text = format!(
                "not replayed: {} without a ratio, of a duet, or of a setting that several share",
                counted(left, "comparison")
            );
            notes.push(Note::marked("left_out", text).with("comparisons", left));
        }
        notes
    }
}

/// Returns `10 pairs of blocks`, `3 + 3 sessions`.
fn units_text(row: &ComparedRates) -> String {
    let unit = row.unit.name();
    let [baseline, candidate] = row.units;
    if row.is_paired {
        format!("{baseline} pairs of {unit}s")
    } else {
        format!("{baseline} + {candidate} {unit}s")
    }
}

/// The kind of these answers.
pub const SELF_TEST_KIND: AnswerKind =
    AnswerKind::of::<CompareSelfTestFields<'_>>("compare-self-test").listing("rates");

impl Answer for CompareSelfTestAnswer {
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
        let alarms = self.test.alarms;
        let interval = wilson_interval(alarms.found, alarms.of, Confidence::P95);
        Ok(serde_json::to_value(CompareSelfTestFields {
            baseline: &self.names[0],
            candidate: &self.names[1],
            method: self.options.method.name(),
            false_discovery_rate: self.options.false_discovery_rate,
            smallest_effect: self.options.smallest_effect,
            seed: self.options.seed.0,
            slowdowns: &self.slowdowns,
            pairs: alarms.of,
            alarms: alarms.found,
            alarm_share: alarms.share().unwrap_or(0.0),
            alarm_share_lower: interval.map(|it| it.lower),
            alarm_share_upper: interval.map(|it| it.upper),
            different_pairs: self.test.pairs,
            rates: self.rates(),
            left_out: self.test.left_out,
            within_sessions: self.test.within_sessions,
        })?)
    }

    fn rows(&self) -> Result<CsvRows, WriteError> {
        csv_rows(&self.rates())
    }
}
