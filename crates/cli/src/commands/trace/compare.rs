//! `lapwing trace compare`: what differs between traces.

use std::path::{Path, PathBuf};
use std::slice;

use clap::Args;
use lapwing_model::Id;
use lapwing_record::{Filter, Store};
use lapwing_show::answers::trace::{ComparedPart, RelativeTo, RowOrder, TraceComparisonAnswer};
use lapwing_show::writing::{Note, NotedAnswer};
use lapwing_trace::{TaskDuration, Trace};

use super::read::{newest, read, set_graph};
use crate::cleaning::CleaningOptions;
use crate::comparing::{FoundSides, parse_side};
use crate::error::{CliError, ExitStatus};
use crate::options::{AnswerOptions, Context, NamedValue, ResultFilters, one_of};

/// Show what differs between traces
///
/// By default, the difference in makespan is divided into what the paths to the last end spend on
/// each class of tasks: those differences add up to it.
#[derive(Debug, Args)]
pub struct TraceCompare {
    /// The baseline, and one or more others: files of any format that `lapwing import` reads, folders of
    /// logs, or sides as `lapwing compare` has them, such as `variant:fast`, of which the newest stored
    /// trace counts
    #[arg(value_name = "TRACE", num_args = 2.., required = true)]
    traces: Vec<PathBuf>,
    /// JSON object with the tasks that each task waits for, in all traces: `{"c": ["a", "b"]}`
    #[arg(long, value_name = "FILE")]
    graph: Option<PathBuf>,
    #[command(flatten)]
    filters: ResultFilters,
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
        let mut notes = Vec::new();
        let traces = self.traces.iter().map(|side| {
            let is_file = side == Path::new("-") || side.exists();
            let mut trace = match is_file {
                true => read(slice::from_ref(side))?,
                false => {
                    let (trace, note) = self.stored(&side.to_string_lossy(), context)?;
                    notes.extend(note);
                    trace
                }
            };
            if let Some(graph) = &self.graph {
                set_graph(&mut trace, graph)?;
            }
            Ok(trace)
        });
        let traces: Vec<Trace> = traces.collect::<Result<_, CliError>>()?;
        let answer = TraceComparisonAnswer::new(
            traces.iter().collect(),
            self.names(),
            self.show,
            self.duration,
            self.compat.unwrap_or(RelativeTo::Baseline),
        );
        let answer = answer.ordered(self.sort, (self.top > 0).then_some(self.top));
        let noted = NotedAnswer {
            answer: &answer,
            notes: &notes,
            next: None,
        };
        context.show(&noted, &self.answer)
    }

    /// Returns the newest stored trace of a side, and a note if there are others.
    fn stored(&self, side: &str, context: &Context) -> Result<(Trace, Option<Note>), CliError> {
        let spec = parse_side(side).map_err(CliError::input)?;
        let filter = self.filters.filter()?;
        let judging = CleaningOptions::default().judging()?;
        let found = FoundSides::find(&[spec], &filter, &judging, context)?;
        let runs: Vec<(&Store, Id)> = found.sides.runs().collect();
        let none = || CliError::input(format!("{side} has no trace"));
        let (store, _) = runs.first().ok_or_else(none)?;
        let filter = Filter {
            runs: Some(runs.iter().map(|(_, run)| *run).collect()),
            ..filter.resolve(store)?
        };
        newest(store, &filter)?.ok_or_else(none)
    }

    /// Returns short names for the traces: those of their files, or as they were given where these are alike.
    fn names(&self) -> Vec<String> {
        let stems = self.traces.iter().map(|path| match path.file_stem() {
            Some(stem) if path.exists() => stem.display().to_string(),
            Some(_) | None => path.display().to_string(),
        });
        let stems: Vec<String> = stems.collect();
        let names = self.traces.iter().zip(&stems).map(|(path, stem)| {
            match stems.iter().filter(|other| *other == stem).count() {
                1 => stem.clone(),
                _ => path.display().to_string(),
            }
        });
        names.collect()
    }
}
