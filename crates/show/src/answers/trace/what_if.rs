//! Predictions of a run under other conditions: `lapwing trace what-if`.

use lapwing_model::text::{counted, joined};
use lapwing_trace::{Prediction, Scenario, TaskGraph, Trace, what_if};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::with_defects;
use crate::trace::{share, signed_percent, time};
use crate::writing::Align::{Left, Right};
use crate::writing::{
    Answer, AnswerKind, CsvRows, Note, Table, TextAnswer, View, WriteError, csv_rows,
};

/// What a run would have taken under other conditions.
#[derive(Debug)]
pub struct WhatIfAnswer<'t> {
    trace: &'t Trace,
    graph: &'t TaskGraph,
    replayed: Prediction,
    rows: Vec<ScenarioRow>,
    /// Whether a scenario has classes that are faster, so that the critical path is another.
    has_faster: bool,
    /// The numbers of workers of the runs that tell how long tasks compute beside others; empty without such runs.
    loads: Vec<usize>,
}

/// What a run would have taken, in nanoseconds.
#[derive(Debug, Serialize, JsonSchema)]
struct WhatIfFields<'a> {
    /// Number of tasks.
    tasks: usize,
    /// Number of workers that were measured.
    workers: usize,
    /// What was measured.
    measured: Option<i64>,
    /// What the replay of the same setting takes.
    replayed: i64,
    /// By which share the replay differs from the measurement.
    error: Option<f64>,
    /// Time of the critical path as measured, which no number of workers makes shorter.
    critical_path: i64,
    /// Number of its tasks.
    critical_tasks: usize,
    /// Number of inputs that are left out, because tasks would wait for themselves.
    circular_inputs: usize,
    scenarios: &'a [ScenarioRow],
}

/// A scenario and what it would take, in nanoseconds.
#[derive(Debug, Default, Serialize, JsonSchema)]
struct ScenarioRow {
    scenario: String,
    workers: usize,
    makespan: i64,
    /// The makespan relative to that of the replay of what was measured.
    ratio: f64,
    /// The makespan if a number of workers that was not measured changes nothing, as where tasks slow each other down.
    with_full_machine: Option<i64>,
}

/// Returns each condition alone that can matter, for a run with so many workers.
pub fn usual_scenarios(trace: &Trace, workers: usize) -> Vec<Scenario> {
    let usual = Scenario::default;
    let more = Scenario {
        workers: Some(2 * workers),
        ..usual()
    };
    if trace.range().is_none() {
        return vec![more];
    }
    let instant = Scenario {
        instant_controller: true,
        ..usual()
    };
    if trace.transfers.is_empty() {
        return vec![more, instant];
    }
    let free = Scenario {
        free_transfers: true,
        ..usual()
    };
    let not_redundant = Scenario {
        no_redundant_transfers: true,
        ..usual()
    };
    let both = Scenario {
        free_transfers: true,
        ..instant.clone()
    };
    vec![more, free, not_redundant, instant, both]
}

impl<'t> WhatIfAnswer<'t> {
    /// Returns the predictions of these scenarios, beside the replay of what was measured.
    pub fn new(
        trace: &'t Trace,
        graph: &'t TaskGraph,
        replayed: Prediction,
        scenarios: &[Scenario],
    ) -> Self {
        let mut rows = vec![ScenarioRow {
            scenario: match replayed.measured {
                Some(_) => "as measured".to_owned(),
                None => counted(replayed.workers, "worker"),
            },
            workers: replayed.workers,
            makespan: replayed.replayed,
            ratio: 1.0,
            with_full_machine: None,
        }];
        rows.extend(scenarios.iter().map(|scenario| {
            let prediction = what_if(trace, graph, scenario);
            ScenarioRow {
                scenario: scenario_text(scenario),
                workers: prediction.workers,
                makespan: prediction.predicted,
                ratio: share(prediction.predicted, replayed.replayed),
                with_full_machine: prediction.with_full_machine,
            }
        }));
        let loads = scenarios.iter().find_map(|it| it.loads.as_ref());
        Self {
            trace,
            graph,
            replayed,
            rows,
            has_faster: scenarios.iter().any(|it| !it.faster.is_empty()),
            loads: loads.map_or_else(Vec::new, |it| it.workers.clone()),
        }
    }

    fn notes(&self) -> Vec<Note> {
        let mut notes = Vec::new();
        if !self.has_faster {
            let ideal = self.graph.ideal(self.trace);
            let text = format!(
                "the critical path of {} takes {}: with no number of workers the run is faster than that",
                counted(ideal.path.len(), "task"),
                time(ideal.critical)
            );
            notes.push(Note::new("critical_path", text));
        }
        if let (Some(measured), Some(error)) = (self.replayed.measured, self.replayed.error()) {
            let text = format!(
                "measured: {}; the replay of the same setting differs by {}",
                time(measured),
                signed_percent(error)
            );
            notes.push(Note::new("replay", text).with("error", error));
        } else {
            let text = "the trace does not say how long the run took: how far predictions are off is unknown";
            notes.push(Note::new("replay", text));
        }
        notes.extend(self.crowding());
        if self.graph.circular > 0 {
            let text = format!(
                "{} left out, because tasks would wait for themselves",
                counted(self.graph.circular, "input")
            );
            notes.push(Note::new("circular", text).with("inputs", self.graph.circular));
        }
        notes
    }
}

impl WhatIfAnswer<'_> {
    /// Returns what is known of how long tasks take beside more others, where that matters.
    fn crowding(&self) -> Option<Note> {
        let is_open = |row: &&ScenarioRow| row.with_full_machine.is_some();
        let unknown = self.rows.iter().filter(is_open).count();
        let range = match unknown {
            0 => "",
            _ => {
                "; at the other end of the range the workers change nothing, because tasks slow each other down"
            }
        };
        if !self.loads.is_empty() {
            let numbers = joined(self.loads.iter().map(ToString::to_string));
            let text = format!(
                "the makespan assumes that tasks compute for as long beside others as in runs with {numbers} workers{range}"
            );
            return Some(Note::new("contention", text).with("workers", self.loads.clone()));
        }
        (unknown > 0).then(|| {
            let text = format!(
                "the makespan assumes that tasks compute for as long as measured, however many do at once{range}. A run with another number of workers tells: give it after `--`"
            );
            Note::new("contention_unknown", text)
        })
    }
}

/// The kind of these answers.
pub const KIND: AnswerKind =
    AnswerKind::of::<WhatIfFields<'_>>("trace-what-if").listing("scenarios");

impl Answer for WhatIfAnswer<'_> {
    fn kind(&self) -> &'static AnswerKind {
        &KIND
    }

    fn for_people(&self, _view: View) -> TextAnswer {
        let mut table = Table::new(&[
            ("scenario", Left),
            ("workers", Right),
            ("makespan", Right),
            ("change", Right),
            ("range", Right),
        ]);
        for row in &self.rows {
            table.row(vec![
                row.scenario.clone(),
                row.workers.to_string(),
                time(row.makespan),
                match row.ratio {
                    1.0 => String::new(),
                    ratio => signed_percent(ratio - 1.0),
                },
                match row.with_full_machine {
                    Some(other) => {
                        let [low, high] = [row.makespan.min(other), row.makespan.max(other)];
                        format!("{}–{}", time(low), time(high))
                    }
                    None => String::new(),
                },
            ]);
        }
        let replayed = &self.replayed;
        let answer = TextAnswer {
            headline: format!(
                "{} in {} with {}",
                counted(self.trace.tasks.len(), "task"),
                time(replayed.measured.unwrap_or(replayed.replayed)),
                counted(replayed.workers, "worker")
            ),
            table,
            notes: self.notes(),
            ..TextAnswer::default()
        };
        with_defects([self.trace], answer)
    }

    fn data(&self, _view: View) -> Result<Value, WriteError> {
        let ideal = self.graph.ideal(self.trace);
        Ok(serde_json::to_value(WhatIfFields {
            tasks: self.trace.tasks.len(),
            workers: self.replayed.workers,
            measured: self.replayed.measured,
            replayed: self.replayed.replayed,
            error: self.replayed.error(),
            critical_path: ideal.critical,
            critical_tasks: ideal.path.len(),
            circular_inputs: self.graph.circular,
            scenarios: &self.rows,
        })?)
    }

    fn rows(&self) -> Result<CsvRows, WriteError> {
        csv_rows(&self.rows)
    }
}

fn scenario_text(scenario: &Scenario) -> String {
    let mut words: Vec<String> = Vec::new();
    words.extend(scenario.workers.map(|workers| counted(workers, "worker")));
    let conditions = [
        (scenario.free_transfers, "free transfers"),
        (scenario.no_redundant_transfers, "no redundant transfers"),
        (scenario.instant_controller, "instant controller"),
    ];
    let conditions = conditions.iter().filter(|(is_met, _)| *is_met);
    words.extend(conditions.map(|(_, text)| (*text).to_owned()));
    let faster = scenario.faster.iter();
    words.extend(faster.map(|(class, factor)| format!("{class} {factor}× as fast")));
    joined(words)
}
