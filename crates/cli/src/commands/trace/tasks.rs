//! `lapwing trace tasks`: how long tasks take, from event to event.

use clap::Args;
use lapwing_show::answers::trace::{TaskDurationsAnswer, TaskRowsAnswer};
use lapwing_trace::DurationGroup;

use super::AskedTrace;
use super::read::{RangeOption, range_note};
use crate::error::{CliError, ExitStatus};
use crate::options::{Context, NamedValue, one_of};

/// Show how long tasks take, from event to event
///
/// `--by task` lists the slowest ones; with `--format csv` or `--format json`, every task with its worker
/// and all of its durations.
#[derive(Debug, Args)]
pub struct TraceTasks {
    #[command(flatten)]
    asked: AskedTrace,
    #[command(flatten)]
    range: RangeOption,
    /// Rows
    #[arg(long, value_name = "WHAT", value_parser = one_of(&ROWS), default_value = "class")]
    by: TaskRows,
}

/// The subject of a row of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TaskRows {
    /// A group of tasks.
    Group(DurationGroup),
    /// A task.
    Task,
}

const ROWS: [NamedValue<TaskRows>; 5] = [
    (
        "class",
        "By class: the name without what follows `:` or `(`, and without a number at the end",
        TaskRows::Group(DurationGroup::Class),
    ),
    (
        "worker",
        "By worker",
        TaskRows::Group(DurationGroup::Worker),
    ),
    ("host", "By host", TaskRows::Group(DurationGroup::Host)),
    (
        "all",
        "All tasks together",
        TaskRows::Group(DurationGroup::All),
    ),
    ("task", "Each task, the slowest first", TaskRows::Task),
];

impl TraceTasks {
    /// Shows the durations.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        let mut read = self.asked.file.read(context)?;
        match self.by {
            TaskRows::Group(group) => {
                self.range.apply(&mut read)?;
                let trace = &read.trace;
                let answer = TaskDurationsAnswer { trace, group };
                self.asked.show(&answer, &read, context)
            }
            TaskRows::Task => {
                let range = self.range.of(&read.trace)?;
                let note = range.map(|range| range_note(range, read.trace.makespan()));
                read.notes.extend(note);
                let limit = self.asked.answer.extent().limit;
                let answer = TaskRowsAnswer::new(&read.trace, range, limit);
                self.asked.show(&answer, &read, context)
            }
        }
    }
}
