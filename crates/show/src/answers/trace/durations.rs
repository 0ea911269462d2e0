//! Durations of tasks and transfers: `lapwing trace show tasks`, `lapwing trace show transfers`.

use std::collections::BTreeMap;

use lapwing_model::text::counted;
use lapwing_trace::{
    DurationGroup, Name, Statistics, TaskDuration, Trace, TransferDuration, durations,
    transfer_durations,
};
use serde::Serialize;
use serde_json::{Value, json};

use super::{StatisticsFields, with_defects};
use crate::quantity;
use crate::trace::{column_title, time};
use crate::writing::Align::{Left, Right};
use crate::writing::{
    Answer, AnswerKind, CsvRows, Table, TextAnswer, Untyped, View, WriteError, csv_rows, uncoded,
};

/// A duration of a group, in ns.
#[derive(Default, Serialize)]
struct DurationRow {
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

/// Its fields for programs.
const TRACE_TASKS: AnswerKind = AnswerKind::of::<Untyped>("trace-tasks");

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
        let total: i64 = tasks
            .iter()
            .filter_map(|it| TaskDuration::Total.of(it))
            .sum();
        let answer = TextAnswer {
            headline: format!(
                "{} in {}, {} in all; means of each duration",
                counted(tasks.len(), "task"),
                time(self.trace.makespan()),
                time(total)
            ),
            table,
            notes: uncoded(Vec::new()),
            next: Vec::new(),
            has_table_first: false,
        };
        with_defects([self.trace], answer)
    }

    fn data(&self, _view: View) -> Result<Value, WriteError> {
        Ok(json!(self.duration_rows()))
    }

    fn rows(&self) -> Result<CsvRows, WriteError> {
        csv_rows(&self.duration_rows())
    }
}

/// Durations of data transfers, by mode.
#[derive(Debug)]
pub struct TransferDurationsAnswer<'t>(pub &'t Trace);

impl TransferDurationsAnswer<'_> {
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

/// Its fields for programs.
const TRACE_TRANSFERS: AnswerKind = AnswerKind::of::<Untyped>("trace-transfers");

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
        let mut datasets: BTreeMap<Name, usize> = BTreeMap::new();
        let mut total = 0;
        for transfer in &trace.transfers {
            *datasets.entry(transfer.dataset).or_default() += 1;
            total += TransferDuration::Total.of(transfer).unwrap_or(0);
        }
        let widest = datasets.iter().max_by_key(|(_, count)| **count);
        let note = widest
            .filter(|(_, count)| **count > 1)
            .map(|(dataset, count)| {
                format!("`{}` went to most targets: {count}", trace.text(*dataset))
            });
        let answer = TextAnswer {
            headline: format!(
                "{} of {}, {} in all; means of each duration",
                counted(trace.transfers.len(), "transfer"),
                counted(datasets.len(), "dataset"),
                time(total)
            ),
            table,
            notes: uncoded(note),
            next: Vec::new(),
            has_table_first: false,
        };
        with_defects([*trace], answer)
    }

    fn data(&self, _view: View) -> Result<Value, WriteError> {
        Ok(json!(self.duration_rows()))
    }

    fn rows(&self) -> Result<CsvRows, WriteError> {
        csv_rows(&self.duration_rows())
    }
}

fn mean_text(statistics: Option<&Statistics>) -> String {
    statistics.map_or_else(
        || "–".to_owned(),
        |statistics| quantity(statistics.mean / 1e9, "s"),
    )
}
