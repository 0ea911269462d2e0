//! Explanations of the time of a run: `lapwing trace findings`.

use std::collections::BTreeMap;

use lapwing_model::text::joined;
use lapwing_trace::{IdealTime, RunPath, Trace, TraceFindings, WaitReason, lint};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::finding_row::TraceFindingRow;
use super::lint::{DefectRow, defect_rows};
use super::with_defects;
use crate::percent;
use crate::trace::{headline, no_finding, path_notes, replay_notes, share, time};
use crate::writing::Align::{Left, Right};
use crate::writing::{
    Answer, AnswerKind, CsvRows, Note, Table, TextAnswer, View, WriteError, csv_rows,
};

/// Explanations of the time of a run, the largest first.
#[derive(Debug)]
pub struct TraceFindingsAnswer<'t> {
    /// The trace.
    pub trace: &'t Trace,
    /// Its findings.
    pub findings: TraceFindings,
}

/// Where the time of a run goes, in nanoseconds.
#[derive(Debug, Serialize, JsonSchema)]
struct TraceFindingsFields<'a> {
    /// Time from the first event of the run to its end.
    makespan: i64,
    /// Number of tasks.
    tasks: usize,
    /// Number of workers.
    workers: usize,
    /// The share of the time in which workers have a task; `null` if the trace does not say.
    utilisation: Option<f64>,
    /// Mean number of tasks that compute at once; `null` if the trace does not say.
    parallelism: Option<f64>,
    worker_time: WorkerTimeFields<'a>,
    path: Option<CriticalPathFields<'a>>,
    ideal: Option<IdealFields<'a>>,
    replay: ReplayError,
    /// The time that tasks wait whose inputs are done, summed over tasks.
    wait: i64,
    /// What tasks wait for whose inputs are done, the largest part first; without a graph what is known of it.
    waits: Vec<PartFields>,
    findings: Vec<TraceFindingRow<'a>>,
    defects: Vec<DefectRow<'a>>,
}

/// The replay from which findings come.
#[derive(Debug, Serialize, JsonSchema)]
struct ReplayError {
    /// The makespan as replayed.
    makespan: i64,
    /// How far that is from what was measured. What gains less is no finding.
    error: i64,
    /// The same as a share of the makespan.
    error_share: f64,
    /// Whether each task is on the worker that is free first, instead of on that which it had.
    adaptive: bool,
}

/// The time of all workers.
#[derive(Debug, Serialize, JsonSchema)]
struct WorkerTimeFields<'a> {
    /// What workers do, also `idle`; the largest part first.
    parts: Vec<PartFields>,
    idle: i64,
    all: i64,
    /// The busy time of each worker: only with `--full`.
    #[serde(skip_serializing_if = "Option::is_none")]
    busy: Option<BTreeMap<&'a str, i64>>,
}

/// A part of a time.
#[derive(Debug, Serialize, JsonSchema)]
struct PartFields {
    part: &'static str,
    time: i64,
    /// The part as a share of the whole.
    share: f64,
}

/// The path to the end of the run.
#[derive(Debug, Serialize, JsonSchema)]
struct CriticalPathFields<'a> {
    /// Whether the trace has no graph.
    observed: bool,
    duration: i64,
    number_of_tasks: usize,
    parts: Vec<PartFields>,
    /// The tasks of the path: only with `--full`.
    #[serde(skip_serializing_if = "Option::is_none")]
    tasks: Option<Vec<&'a str>>,
}

/// What the graph alone allows.
#[derive(Debug, Serialize, JsonSchema)]
struct IdealFields<'a> {
    /// Time of the critical path.
    critical_path: i64,
    /// The same as a share of the makespan.
    share_of_makespan: f64,
    number_of_tasks: usize,
    /// Number of tasks whose inputs are known from the order of events alone.
    implied: usize,
    /// Time of all tasks.
    work: i64,
    bound_with_measured_workers: i64,
    /// The tasks of the critical path: only with `--full`.
    #[serde(skip_serializing_if = "Option::is_none")]
    tasks: Option<Vec<&'a str>>,
    /// How much later each task could have ended: only with `--full`.
    #[serde(skip_serializing_if = "Option::is_none")]
    slack: Option<BTreeMap<&'a str, i64>>,
}

/// The kind of these answers.
pub const KIND: AnswerKind = AnswerKind::of::<TraceFindingsFields<'_>>("trace").listing("findings");

/// The sentence for processes without findings.
const NO_FINDING_OF_PROCESSES: &str =
    "nothing stands out: the run would gain less than 10 % if its processes were always on a core";

impl TraceFindingsAnswer<'_> {
    fn finding_rows(&self) -> Vec<TraceFindingRow<'_>> {
        let findings = self.findings.causes.findings.iter();
        let rows = findings.map(|it| TraceFindingRow::new(self.trace, &self.findings, it));
        rows.collect()
    }

    /// Returns the times of all workers as shares of their sum.
    fn workers_note(&self) -> Note {
        let workers = &self.findings.workers;
        let parts = workers.parts.iter();
        let mut parts: Vec<(&str, i64)> = parts
            .map(|(part, time)| (part.meaning(), *time))
            .chain([("idle", workers.idle)])
            .filter(|(_, time)| *time > 0)
            .collect();
        parts.sort_by_key(|(_, time)| -time);
        let all = workers.all();
        let texts = parts
            .iter()
            .map(|(what, time)| format!("{} {what}", percent(share(*time, all))));
        Note::new("worker_time", format!("workers' time: {}", joined(texts)))
    }

    fn worker_time(&self, view: View) -> WorkerTimeFields<'_> {
        let workers = &self.findings.workers;
        let all = workers.all();
        let idle = [("idle", workers.idle)];
        let times = workers
            .parts
            .iter()
            .map(|(part, time)| (part.name(), *time));
        let busy = workers.busy.iter();
        WorkerTimeFields {
            parts: parts(times.chain(idle), all),
            idle: workers.idle,
            all,
            busy: view.full.then(|| {
                busy.map(|(worker, time)| (self.trace.text(*worker), *time))
                    .collect()
            }),
        }
    }

    fn path(&self, path: &RunPath, view: View) -> CriticalPathFields<'_> {
        let times = path.parts().into_iter();
        CriticalPathFields {
            observed: path.is_observed,
            duration: path.duration(),
            number_of_tasks: path.tasks.len(),
            parts: parts(
                times.map(|(part, time)| (part.name(), time)),
                path.duration(),
            ),
            tasks: view.full.then(|| self.task_names(&path.tasks)),
        }
    }

    fn ideal(&self, ideal: &IdealTime, view: View) -> IdealFields<'_> {
        let workers = &self.findings.workers;
        let slack = self.trace.tasks.iter().zip(&ideal.slack);
        IdealFields {
            critical_path: ideal.critical,
            share_of_makespan: share(ideal.critical, workers.makespan),
            number_of_tasks: ideal.path.len(),
            implied: ideal.implied,
            work: ideal.work,
            bound_with_measured_workers: ideal.bound(workers.workers),
            tasks: view.full.then(|| self.task_names(&ideal.path)),
            slack: view.full.then(|| {
                slack
                    .map(|(task, slack)| (self.trace.text(task.name), *slack))
                    .collect()
            }),
        }
    }

    fn task_names(&self, tasks: &[usize]) -> Vec<&str> {
        let tasks = tasks.iter().map(|at| self.trace.tasks[*at].name);
        tasks.map(|name| self.trace.text(name)).collect()
    }
}

impl Answer for TraceFindingsAnswer<'_> {
    fn kind(&self) -> &'static AnswerKind {
        &KIND
    }

    fn for_people(&self, _view: View) -> TextAnswer {
        let rows = self.finding_rows();
        let mut table = Table::new(&[("gain", Right), ("finding", Left)]);
        let mut notes: Vec<Note> = Vec::new();
        if rows.is_empty() {
            table = Table::default();
            let text = match self.trace.is_of_processes() {
                true => NO_FINDING_OF_PROCESSES.to_owned(),
                false => no_finding(&self.findings),
            };
            notes.push(Note::new("no_finding", text));
        }
        for row in rows {
            table.row(vec![time(row.gain), row.text]);
        }
        // Processes are neither workers nor tasks, and no controller plans them.
        if !self.trace.is_of_processes() {
            if self.findings.workers.is_known {
                notes.push(self.workers_note());
            }
            notes.extend(replay_notes(&self.findings));
            notes.extend(path_notes(&self.findings));
        }
        let answer = TextAnswer {
            headline: headline(self.trace, &self.findings),
            table,
            notes,
            ..TextAnswer::default()
        };
        with_defects([self.trace], answer)
    }

    fn data(&self, view: View) -> Result<Value, WriteError> {
        let TraceFindings {
            workers,
            path,
            ideal,
            causes,
            ..
        } = &self.findings;
        Ok(serde_json::to_value(TraceFindingsFields {
            makespan: workers.makespan,
            tasks: self.trace.tasks.len(),
            workers: workers.workers,
            utilisation: workers.utilisation(),
            parallelism: workers.parallelism(),
            worker_time: self.worker_time(view),
            path: path.as_ref().map(|path| self.path(path, view)),
            ideal: ideal.as_ref().map(|ideal| self.ideal(ideal, view)),
            replay: ReplayError {
                makespan: causes.replayed,
                error: causes.error,
                error_share: share(causes.error, workers.makespan),
                adaptive: causes.is_adaptive,
            },
            wait: causes.waits.iter().sum(),
            waits: parts(
                WaitReason::ALL
                    .into_iter()
                    .map(WaitReason::name)
                    .zip(causes.waits),
                causes.waits.iter().sum(),
            ),
            findings: self.finding_rows(),
            defects: defect_rows(&lint(self.trace)),
        })?)
    }

    fn rows(&self) -> Result<CsvRows, WriteError> {
        csv_rows(&self.finding_rows())
    }
}

/// Returns the parts of a time, the largest first.
fn parts(times: impl Iterator<Item = (&'static str, i64)>, all: i64) -> Vec<PartFields> {
    let parts = times.map(|(part, time)| PartFields {
        part,
        time,
        share: share(time, all),
    });
    let mut parts: Vec<PartFields> = parts.collect();
    parts.sort_by_key(|it| -it.time);
    parts
}
