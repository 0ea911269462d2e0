//! `lapwing trace compare`: what differs between traces.

use std::path::PathBuf;
use std::slice;

use clap::Args;
use lapwing_show::answers::trace::{ComparedPart, RelativeTo, RowOrder, TraceComparisonAnswer};
use lapwing_trace::{TaskDuration, Trace};

use super::read::read;
use crate::error::{CliError, ExitStatus};
use crate::options::{AnswerOptions, Context, NamedValue, one_of};

/// Show what differs between traces
///
/// By default, the difference in makespan is divided into what the paths to the last end spend on
/// each class of tasks: those differences add up to it.
#[derive(Debug, Args)]
pub struct TraceCompare {
    /// The baseline, and one or more others: files of any format that `lapwing import` reads, or
    /// folders of logs
    #[arg(value_name = "TRACE", num_args = 2.., required = true)]
    traces: Vec<PathBuf>,
    /// What to compare
    #[arg(long, value_parser = one_of(&PARTS), default_value = "path", value_name = "WHAT")]
    show: ComparedPart,
    /// Duration by which tasks are compared
    #[arg(long, value_parser = one_of(&DURATIONS), default_value = "total", value_name = "DURATION")]
    duration: TaskDuration,
    /// Order of rows
    #[arg(long, value_parser = one_of(&ORDERS), default_value = "difference", value_name = "ORDER")]
    sort: RowOrder,
    /// Show so many rows; 0 for all
    #[arg(long, value_name = "N", default_value_t = 15)]
    top: usize,
    /// Reproduce another tool's method, bugs included
    #[arg(long, value_parser = one_of(&TOOLS), value_name = "TOOL")]
    compat: Option<RelativeTo>,
    #[command(flatten)]
    answer: AnswerOptions,
}

const PARTS: [NamedValue<ComparedPart>; 3] = [
    (
        "path",
        "Time along the path to the last end, by class of tasks",
        ComparedPart::Path,
    ),
    ("sums", "Sums over all tasks, by class", ComparedPart::Sums),
    (
        "tasks",
        "Each task of the baseline and its like in the others",
        ComparedPart::Tasks,
    ),
];

const DURATIONS: [NamedValue<TaskDuration>; 4] = [
    ("total", "From planning to completion", TaskDuration::Total),
    (
        "on-worker",
        "On the worker or in its queue",
        TaskDuration::OnWorker,
    ),
    ("compute", "Computing", TaskDuration::Compute),
    ("queue", "In the queue of the worker", TaskDuration::Queue),
];

const ORDERS: [NamedValue<RowOrder>; 3] = [
    (
        "difference",
        "The largest difference first",
        RowOrder::Difference,
    ),
    (
        "relative",
        "The largest relative difference first",
        RowOrder::Relative,
    ),
    ("name", "By name", RowOrder::Name),
];

const TOOLS: [NamedValue<RelativeTo>; 1] = [(
    "notebook",
    "The notebook of earthkit-workflows: relative differences are of the other trace's value instead of the baseline's",
    RelativeTo::Other,
)];

impl TraceCompare {
    /// Shows the differences.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        let traces = self.traces.iter().map(slice::from_ref).map(read);
        let traces: Vec<Trace> = traces.collect::<Result<_, _>>()?;
        let answer = TraceComparisonAnswer::new(
            traces.iter().collect(),
            self.names(),
            self.show,
            self.duration,
            self.compat.unwrap_or(RelativeTo::Baseline),
        );
        let answer = answer.ordered(self.sort, (self.top > 0).then_some(self.top));
        context.show(&answer, &self.answer)
    }

    /// Returns short names for the traces: those of their files, or their paths where these are alike.
    fn names(&self) -> Vec<String> {
        let stems = self.traces.iter().map(|path| path.file_stem());
        let stems: Vec<String> = stems
            .map(|stem| stem.unwrap_or_default().display().to_string())
            .collect();
        let names = self.traces.iter().zip(&stems).map(|(path, stem)| {
            match stems.iter().filter(|other| *other == stem).count() {
                1 => stem.clone(),
                _ => path.display().to_string(),
            }
        });
        names.collect()
    }
}
