//! Durations of tasks and transfers: `lapwing trace tasks`, `lapwing trace transfers`.

use std::collections::BTreeMap;

use lapwing_model::text::counted;
use lapwing_trace::{
    DurationGroup, Name, Statistics, TaskDuration, Trace, TransferDuration, durations,
    transfer_durations,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{StatisticsFields, with_defects};
use crate::quantity;
use crate::trace::{column_title, time};
use crate::writing::Align::{Left, Right};
use crate::writing::{
    Answer, AnswerKind, CsvRows, Note, Table, TextAnswer, View, WriteError, csv_rows,
};

/// Durations of tasks, in nanoseconds.
#[derive(Debug, Serialize, JsonSchema)]
struct TaskDurationsFields {
    /// Number of tasks.
    tasks: usize,
    /// Time from the first event of the run to its end.
    makespan: i64,
    /// Sum of the times of all tasks.
    total: i64,
    durations: Vec<DurationRow>,
}

/// Durations of transfers, in nanoseconds.
#[derive(Debug, Serialize, JsonSchema)]
struct TransferDurationsFields<'t> {
    /// Number of transfers.
    transfers: usize,
    datasets: usize,
    /// Sum of the times of all transfers.
    total: i64,
    modes: Vec<ModeRow>,
    /// The dataset that went to most targets.
    hottest: Option<HotDataset<'t>>,
    durations: Vec<DurationRow>,
}

/// Number of transfers of a mode.
#[derive(Debug, Serialize, JsonSchema)]
struct ModeRow {
    mode: &'static str,
    transfers: usize,
}

/// A dataset that went to several targets.
#[derive(Debug, Serialize, JsonSchema)]
struct HotDataset<'t> {
    dataset: &'t str,
    targets: usize,
}

/// A duration of a group, in nanoseconds.
#[derive(Debug, Default, Serialize, JsonSchema)]
struct DurationRow {
    /// The group of tasks, or the mode of transfers.
    group: String,
    duration: &'static str,
    #[serde(flatten)]
    statistics: StatisticsFields,
}

/// Durations of tasks, from event to event.
#[derive(Debug)]
pub struct TaskDurationsAnswer<'t> {
    /// The trace.
    pub trace: &'t Trace,
    /// The groups of tasks.
    pub group: DurationGroup,
}

impl TaskDurationsAnswer<'_> {
    /// Returns the sum of the times of all tasks, in ns.
    fn total(&self) -> i64 {
        let tasks = self.trace.tasks.iter();
        tasks.filter_map(|it| TaskDuration::Total.of(it)).sum()
    }

    fn duration_rows(&self) -> Vec<DurationRow> {
        let groups = durations(self.trace, self.group).into_iter();
        let rows = groups.flat_map(|(group, durations)| {
            durations
                .into_iter()
                .map(move |(duration, statistics)| DurationRow {
                    group: group.clone(),
                    duration: duration.name(),
                    statistics: statistics.into(),
                })
        });
        rows.collect()
    }
}

/// The kind of answers about tasks.
pub const TRACE_TASKS: AnswerKind =
    AnswerKind::of::<TaskDurationsFields>("trace-tasks").listing("durations");

impl Answer for TaskDurationsAnswer<'_> {
    fn kind(&self) -> &'static AnswerKind {
        &TRACE_TASKS
    }

    fn for_people(&self, _view: View) -> TextAnswer {
        let tasks = &self.trace.tasks;
        let groups = durations(self.trace, self.group);
        let mut known = TaskDuration::ALL.to_vec();
        known.retain(|duration| groups.values().any(|group| group.contains_key(duration)));
        let mut columns = vec![(String::new(), Left), ("tasks".to_owned(), Right)];
        columns.extend(
            known
                .iter()
                .map(|duration| (column_title(*duration), Right)),
        );
        let mut table = Table::new(&columns);
        for (name, durations) in groups {
            let counts = durations.values().map(|statistics| statistics.count);
            let mut cells = vec![name, counts.max().unwrap_or(0).to_string()];
            cells.extend(known.iter().map(|kind| mean_text(durations.get(kind))));
            table.row(cells);
        }
        let answer = TextAnswer {
            headline: match tasks.len() {
                0 => NO_TASKS.to_owned(),
                all => format!(
                    "{}{}; means of each duration",
                    tasks_text(self.trace, all),
                    in_all(self.total())
                ),
            },
            table,
            notes: Vec::new(),
            ..TextAnswer::default()
        };
        with_defects([self.trace], answer)
    }

    fn data(&self, _view: View) -> Result<Value, WriteError> {
        Ok(serde_json::to_value(TaskDurationsFields {
            tasks: self.trace.tasks.len(),
            makespan: self.trace.makespan(),
            total: self.total(),
            durations: self.duration_rows(),
        })?)
    }

    fn rows(&self) -> Result<CsvRows, WriteError> {
        csv_rows(&self.duration_rows())
    }
}

/// Durations of data transfers, by mode.
#[derive(Debug)]
pub struct TransferDurationsAnswer<'t>(pub &'t Trace);

impl TransferDurationsAnswer<'_> {
    /// Returns the number of transfers of each dataset.
    fn datasets(&self) -> BTreeMap<Name, usize> {
        let mut datasets = BTreeMap::new();
        for transfer in &self.0.transfers {
            *datasets.entry(transfer.dataset).or_default() += 1;
        }
        datasets
    }

    /// Returns the sum of the times of all transfers, in ns.
    fn total(&self) -> i64 {
        let transfers = self.0.transfers.iter();
        transfers
            .filter_map(|it| TransferDuration::Total.of(it))
            .sum()
    }

    /// Returns the dataset that went to most targets, if it went to several.
    fn hottest(&self) -> Option<HotDataset<'_>> {
        let (dataset, targets) = self
            .datasets()
            .into_iter()
            .max_by_key(|(_, count)| *count)?;
        (targets > 1).then(|| HotDataset {
            dataset: self.0.text(dataset),
            targets,
        })
    }

    fn duration_rows(&self) -> Vec<DurationRow> {
        let modes = transfer_durations(self.0).into_iter();
        let rows = modes.flat_map(|(mode, (_, durations))| {
            durations
                .into_iter()
                .map(move |(duration, statistics)| DurationRow {
                    group: mode.name().to_owned(),
                    duration: duration.name(),
                    statistics: statistics.into(),
                })
        });
        rows.collect()
    }
}

/// The kind of answers about transfers.
pub const TRACE_TRANSFERS: AnswerKind =
    AnswerKind::of::<TransferDurationsFields<'_>>("trace-transfers").listing("durations");

impl Answer for TransferDurationsAnswer<'_> {
    fn kind(&self) -> &'static AnswerKind {
        &TRACE_TRANSFERS
    }

    fn for_people(&self, _view: View) -> TextAnswer {
        let Self(trace) = self;
        let mut columns = vec![("mode".to_owned(), Left), ("transfers".to_owned(), Right)];
        let title = |duration: &TransferDuration| (duration.name().replace('_', " "), Right);
        columns.extend(TransferDuration::ALL.iter().map(title));
        let mut table = Table::new(&columns);
        for (mode, (count, durations)) in transfer_durations(trace) {
            let mut cells = vec![mode.name().to_owned(), count.to_string()];
            cells.extend(TransferDuration::ALL.map(|kind| mean_text(durations.get(&kind))));
            table.row(cells);
        }
        let note = self.hottest().map(|HotDataset { dataset, targets }| {
            let text = format!("`{dataset}` went to most targets: {targets}");
            Note::new("hottest", text)
        });
        let answer = TextAnswer {
            headline: match trace.transfers.len() {
                0 => "the trace has no data transfers".to_owned(),
                all => format!(
                    "{} of {}{}; means of each duration",
                    counted(all, "transfer"),
                    counted(self.datasets().len(), "dataset"),
                    in_all(self.total())
                ),
            },
            table,
            notes: note.into_iter().collect(),
            ..TextAnswer::default()
        };
        with_defects([*trace], answer)
    }

    fn data(&self, _view: View) -> Result<Value, WriteError> {
        let modes = transfer_durations(self.0).into_iter();
        Ok(serde_json::to_value(TransferDurationsFields {
            transfers: self.0.transfers.len(),
            datasets: self.datasets().len(),
            total: self.total(),
            modes: modes
                .map(|(mode, (transfers, _))| ModeRow {
                    mode: mode.name(),
                    transfers,
                })
                .collect(),
            hottest: self.hottest(),
            durations: self.duration_rows(),
        })?)
    }

    fn rows(&self) -> Result<CsvRows, WriteError> {
        csv_rows(&self.duration_rows())
    }
}

/// The answer if there is no task.
pub(super) const NO_TASKS: &str = "the trace has no tasks";

/// Returns `3 tasks in 33.0 ms`; without the time if the trace does not say when they ran.
pub(super) fn tasks_text(trace: &Trace, tasks: usize) -> String {
    let tasks = counted(tasks, "task");
    match trace.range() {
        Some(_) => format!("{tasks} in {}", time(trace.makespan())),
        None => tasks,
    }
}

/// Returns `, 65.0 ms in all`; nothing if no duration is known.
fn in_all(total: i64) -> String {
    match total {
        0 => String::new(),
        total => format!(", {} in all", time(total)),
    }
}

fn mean_text(statistics: Option<&Statistics>) -> String {
    statistics.map_or_else(
        || "–".to_owned(),
        |statistics| quantity(statistics.mean / 1e9, "s"),
    )
}
