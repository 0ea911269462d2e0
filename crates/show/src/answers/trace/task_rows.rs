//! Each task with its durations: `lapwing trace tasks --by task`.

use std::cmp::Reverse;

use lapwing_model::text::counted;
use lapwing_trace::{Task, TaskDuration, TaskGraph, Trace, TraceRange};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::durations::{NO_TASKS, tasks_text};
use super::with_defects;
use crate::trace::{column_title, time};
use crate::writing::Align::{Left, Right};
use crate::writing::{
    Answer, AnswerKind, CsvRows, Note, Table, TextAnswer, View, WriteError, csv_rows,
};

/// Number of tasks that people are shown, unless they ask for more.
const SHOWN: usize = 20;

/// The durations in the table for people; programs get all of them.
const IN_TABLE: [TaskDuration; 7] = [
    TaskDuration::Total,
    TaskDuration::ToWorker,
    TaskDuration::Queue,
    TaskDuration::Load,
    TaskDuration::Compute,
    TaskDuration::Publish,
    TaskDuration::ToController,
];

/// Columns that a narrow terminal does without.
const DISPENSABLE: [TaskDuration; 5] = [
    TaskDuration::Load,
    TaskDuration::Publish,
    TaskDuration::ToController,
    TaskDuration::ToWorker,
    TaskDuration::Queue,
];

/// Each task, the slowest first.
#[derive(Debug)]
pub struct TaskRowsAnswer<'t> {
    trace: &'t Trace,
    rows: Vec<TaskRow<'t>>,
    limit: Option<usize>,
}

/// Each task, with times in nanoseconds.
#[derive(Debug, Serialize, JsonSchema)]
struct TaskRowsFields<'a> {
    /// Time from the first event of the run to its end.
    makespan: i64,
    /// Number of tasks.
    tasks: usize,
    /// Each task, the slowest first.
    rows: &'a [TaskRow<'a>],
}

/// A task, with times in nanoseconds: empty where the trace lacks an event.
#[derive(Debug, Default, Serialize, JsonSchema)]
struct TaskRow<'t> {
    task: &'t str,
    class: &'t str,
    worker: &'t str,
    host: &'t str,
    /// How often it was tried before.
    attempt: u32,
    /// Its first event, since the first event of the run.
    begin: Option<i64>,
    total: Option<i64>,
    on_worker: Option<i64>,
    to_worker: Option<i64>,
    queue: Option<i64>,
    load: Option<i64>,
    compute: Option<i64>,
    on_cpu: Option<i64>,
    off_cpu: Option<i64>,
    run_delay: Option<i64>,
    publish: Option<i64>,
    to_controller: Option<i64>,
    /// How much longer it could take without making the critical path longer, if the graph is known.
    slack: Option<i64>,
    /// Size of its results, in bytes.
    bytes: Option<i64>,
}

impl<'t> TaskRow<'t> {
    fn new(trace: &'t Trace, task: &Task, begin: Option<i64>, slack: Option<i64>) -> Self {
        let of = |duration: TaskDuration| duration.of(task);
        Self {
            task: trace.text(task.name),
            class: trace.text(task.class),
            worker: trace.text(task.worker),
            host: trace.text(task.host),
            attempt: task.attempt,
            begin: task.begin().zip(begin).map(|(at, begin)| at - begin),
            total: of(TaskDuration::Total),
            on_worker: of(TaskDuration::OnWorker),
            to_worker: of(TaskDuration::ToWorker),
            queue: of(TaskDuration::Queue),
            load: of(TaskDuration::Load),
            compute: of(TaskDuration::Compute),
            on_cpu: of(TaskDuration::OnCpu),
            off_cpu: of(TaskDuration::OffCpu),
            run_delay: of(TaskDuration::RunDelay),
            publish: of(TaskDuration::Publish),
            to_controller: of(TaskDuration::ToController),
            slack,
            bytes: task.bytes,
        }
    }

    /// Returns the total, or else how long it was on its worker.
    fn duration(&self) -> Option<i64> {
        self.total.or(self.on_worker).or(self.compute)
    }

    fn of(&self, duration: TaskDuration) -> Option<i64> {
        match duration {
            TaskDuration::Total => self.total,
            TaskDuration::OnWorker => self.on_worker,
            TaskDuration::ToWorker => self.to_worker,
            TaskDuration::Queue => self.queue,
            TaskDuration::Load => self.load,
            TaskDuration::Compute => self.compute,
            TaskDuration::OnCpu => self.on_cpu,
            TaskDuration::OffCpu => self.off_cpu,
            TaskDuration::RunDelay => self.run_delay,
            TaskDuration::Publish => self.publish,
            TaskDuration::ToController => self.to_controller,
        }
    }
}

impl<'t> TaskRowsAnswer<'t> {
    /// Returns the tasks of a trace that overlap a range, if there is one; people are shown the first ones, up to a
    /// limit.
    pub fn new(trace: &'t Trace, range: Option<TraceRange>, limit: Option<usize>) -> Self {
        let begin = trace.range().map(|(begin, _)| begin);
        let slack = TaskGraph::with_work(trace).map(|graph| graph.ideal(trace).slack);
        let is_within = range.map(|range| trace.tasks_within(range));
        let tasks = trace.tasks.iter().enumerate();
        let tasks = tasks.filter(|(at, _)| is_within.as_ref().is_none_or(|it| it[*at]));
        let rows = tasks.map(|(at, task)| {
            let slack = slack.as_ref().map(|slack| slack[at]);
            TaskRow::new(trace, task, begin, slack)
        });
        let mut rows: Vec<TaskRow<'t>> = rows.collect();
        rows.sort_by_key(|row| Reverse(row.duration()));
        Self { trace, rows, limit }
    }

    fn shown(&self, view: View) -> &[TaskRow<'t>] {
        let limit = if view.full {
            self.rows.len()
        } else {
            self.limit.unwrap_or(SHOWN).min(self.rows.len())
        };
        &self.rows[..limit]
    }

    fn table(&self, rows: &[TaskRow<'_>]) -> Table {
        let is_known = |duration: &TaskDuration| rows.iter().any(|it| it.of(*duration).is_some());
        let durations: Vec<TaskDuration> = IN_TABLE.into_iter().filter(is_known).collect();
        let has_slack = rows.iter().any(|row| row.slack.is_some());
        let mut columns: Vec<(String, _)> = ["task", "class", "worker"]
            .map(|it| (it.to_owned(), Left))
            .into();
        columns.extend(durations.iter().map(|it| (column_title(*it), Right)));
        columns.extend(has_slack.then(|| ("slack".to_owned(), Right)));
        let mut table = Table::new(&columns).dispensable(&DISPENSABLE.map(column_title));
        let text = |it: Option<i64>| it.map_or_else(|| "–".to_owned(), time);
        for row in rows {
            let mut cells = [row.task, row.class, row.worker]
                .map(str::to_owned)
                .to_vec();
            cells.extend(durations.iter().map(|it| text(row.of(*it))));
            cells.extend(has_slack.then(|| text(row.slack)));
            table.row(cells);
        }
        table
    }
}

/// The kind of these answers.
pub const KIND: AnswerKind =
    AnswerKind::of::<TaskRowsFields<'_>>("trace-each-task").listing("rows");

impl Answer for TaskRowsAnswer<'_> {
    fn kind(&self) -> &'static AnswerKind {
        &KIND
    }

    fn for_people(&self, view: View) -> TextAnswer {
        let shown = self.shown(view);
        let all = self.rows.len();
        let text = format!(
            "the slowest {} of {} are shown; `--full` shows all, `--format csv` has every duration",
            shown.len(),
            counted(all, "task")
        );
        let note = (shown.len() < all).then(|| Note::new("top", text).with("shown", shown.len()));
        let headline = match self.rows.len() {
            0 => NO_TASKS.to_owned(),
            tasks => format!("{}, the slowest first", tasks_text(self.trace, tasks)),
        };
        let answer = TextAnswer {
            headline,
            table: self.table(shown),
            notes: note.into_iter().collect(),
            ..TextAnswer::default()
        };
        with_defects([self.trace], answer)
    }

    fn data(&self, _view: View) -> Result<Value, WriteError> {
        Ok(serde_json::to_value(TaskRowsFields {
            makespan: self.trace.makespan(),
            tasks: self.rows.len(),
            rows: &self.rows,
        })?)
    }

    fn rows(&self) -> Result<CsvRows, WriteError> {
        csv_rows(&self.rows)
    }
}
