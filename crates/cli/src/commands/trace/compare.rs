//! `lapwing trace compare`: what differs between traces.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::slice;

use clap::Args;
use lapwing_model::Id;
use lapwing_record::{Filter, Store};
use lapwing_show::answers::trace::{ComparedPart, RelativeTo, RowOrder, TraceComparisonAnswer};
use lapwing_show::writing::{Note, NotedAnswer};
use lapwing_trace::{TaskDuration, Trace};

use super::read::{newest, newest_of_benchmark, read, set_graph};
use crate::cleaning::CleaningOptions;
use crate::comparing::{FoundSides, parse_side};
use crate::error::{CliError, ExitStatus};
use crate::options::{AnswerOptions, Context, NamedValue, ResultFilters, one_of};

/// Show what differs between traces
///
/// By default, how long the tasks of each class take is compared, with an interval over runs where
/// each side has three or more, else over tasks.
///
/// Notes divide the difference in makespan into how long tasks take, how many there are, placement
/// and waiting: those differences add up to it. `A1 A2 A3 -- B1 B2 B3` compares several runs per side.
#[derive(Debug, Args)]
pub struct TraceCompare {
    /// The baseline, and one or more others: files of any format that `lapwing import` reads, folders of
    /// logs of a run or of several runs, or sides as `lapwing compare` has them, such as `variant:fast`,
    /// whose stored traces of the benchmark that was measured last are its runs
    #[arg(value_name = "TRACE", num_args = 1.., required = true)]
    traces: Vec<PathBuf>,
    /// Runs of the candidate; those before `--` are runs of the baseline
    #[arg(value_name = "RUN", last = true)]
    candidate: Vec<PathBuf>,
    /// JSON object with the tasks that each task waits for, in all traces: `{"c": ["a", "b"]}`
    #[arg(long, value_name = "FILE")]
    graph: Option<PathBuf>,
    #[command(flatten)]
    filters: ResultFilters,
    /// What to compare
    #[arg(long, value_parser = one_of(&PARTS), default_value = "classes", value_name = "WHAT")]
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

const PARTS: [NamedValue<ComparedPart>; 4] = [
    (
        "classes",
        "Number of tasks of each class and how long one takes, with the ratio",
        ComparedPart::Classes,
    ),
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
        let sides = self.sides()?;
        let mut traces: Vec<Vec<Trace>> = Vec::new();
        for (_, paths) in &sides {
            traces.push(self.runs(paths, context, &mut notes)?);
        }
        let names = sides.into_iter().map(|(name, _)| name);
        let answer = TraceComparisonAnswer::new(
            traces.iter().map(|runs| runs.iter().collect()).collect(),
            names.collect(),
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

    /// Returns the sides with their names: a path each, or the paths before and after `--`.
    fn sides(&self) -> Result<Vec<(String, Vec<PathBuf>)>, CliError> {
        if !self.candidate.is_empty() {
            let sides = [("baseline", &self.traces), ("candidate", &self.candidate)];
            return Ok(sides
                .map(|(name, paths)| (name.to_owned(), paths.clone()))
                .into());
        }
        if self.traces.len() == 1 {
            return Err(CliError::input("one trace has nothing to be compared with")
                .hint("give the baseline and at least one other trace"));
        }
        let paths = self.traces.iter().map(|path| vec![path.clone()]);
        Ok(short_names(&self.traces).into_iter().zip(paths).collect())
    }

    /// Returns the runs of a side: of files and folders, and the stored ones of what is neither.
    fn runs(
        &self,
        paths: &[PathBuf],
        context: &Context,
        notes: &mut Vec<Note>,
    ) -> Result<Vec<Trace>, CliError> {
        let mut runs = Vec::new();
        for path in paths {
            if path == Path::new("-") || path.exists() {
                runs.extend(runs_in(path)?);
                continue;
            }
            let (traces, note) = all_stored(&path.to_string_lossy(), &self.filters, context)?;
            notes.extend(note);
            runs.extend(traces);
        }
        if let Some(graph) = &self.graph {
            for trace in &mut runs {
                set_graph(trace, graph)?;
            }
        }
        Ok(runs)
    }
}

/// Returns the newest stored trace of a side, and a note if there are others.
pub fn stored(
    side: &str,
    filters: &ResultFilters,
    context: &Context,
) -> Result<(Trace, Option<Note>), CliError> {
    of_side(side, filters, context, newest)
}

/// Returns the stored traces of a side, and a note if there are others.
fn all_stored(
    side: &str,
    filters: &ResultFilters,
    context: &Context,
) -> Result<(Vec<Trace>, Option<Note>), CliError> {
    of_side(side, filters, context, newest_of_benchmark)
}

/// Returns what is read from the store of a side.
fn of_side<T>(
    side: &str,
    filters: &ResultFilters,
    context: &Context,
    read: impl Fn(&Store, &Filter) -> Result<Option<T>, CliError>,
) -> Result<T, CliError> {
    let spec = parse_side(side).map_err(CliError::input)?;
    let filter = filters.filter()?;
    let judging = CleaningOptions::default().judging()?;
    let found = FoundSides::find(&[spec], &filter, &judging, context)?;
    let runs: Vec<(&Store, Id)> = found.sides.runs().collect();
    let none = || CliError::input(format!("{side} has no trace"));
    let (store, _) = runs.first().ok_or_else(none)?;
    let filter = Filter {
        runs: Some(runs.iter().map(|(_, run)| *run).collect()),
        ..filter.resolve(store)?
    };
    read(store, &filter)?.ok_or_else(none)
}

/// Returns short names for the traces: those of their files, or as they were given where these are alike.
pub fn short_names(traces: &[PathBuf]) -> Vec<String> {
    let stems = traces.iter().map(|path| match path.file_stem() {
        Some(stem) if path.exists() => stem.display().to_string(),
        Some(_) | None => path.display().to_string(),
    });
    let stems: Vec<String> = stems.collect();
    let names = traces.iter().zip(&stems).map(|(path, stem)| {
        match stems.iter().filter(|other| *other == stem).count() {
            1 => stem.clone(),
            _ => path.display().to_string(),
        }
    });
    names.collect()
}

/// Reads the runs in a folder: one for each folder in it, or for each file that has a run of its own, or else the one
/// of which all files are logs.
pub fn runs_in(path: &Path) -> Result<Vec<Trace>, CliError> {
    let whole = || read(&[path.to_owned()]).map(|trace| vec![trace]);
    let Ok(entries) = fs::read_dir(path) else {
        return whole();
    };
    let mut paths: Vec<PathBuf> = entries.filter_map(|it| Some(it.ok()?.path())).collect();
    paths.sort();
    let (folders, files): (Vec<PathBuf>, Vec<PathBuf>) =
        paths.into_iter().partition(|it| it.is_dir());
    let each = |paths: Vec<PathBuf>| -> Result<Vec<Trace>, CliError> {
        paths.iter().map(slice::from_ref).map(read).collect()
    };
    if files.is_empty() && !folders.is_empty() {
        return each(folders);
    }
    // A log of a worker or of the controller may tell nothing by itself.
    let Ok(runs) = each(files) else {
        return whole();
    };
    if runs.len() > 1 && runs.windows(2).all(|pair| run_the_same(&pair[0], &pair[1])) {
        return Ok(runs);
    }
    whole()
}

/// Returns whether most of the tasks that ran in a trace ran in the other, too: logs of the same run have different ones.
pub fn run_the_same(one: &Trace, other: &Trace) -> bool {
    let [one, other] = [one, other].map(|trace| {
        let ran = trace.tasks.iter().filter(|task| task.work().is_some());
        ran.map(|task| trace.text(task.name))
            .collect::<BTreeSet<&str>>()
    });
    let least = one.len().min(other.len());
    least > 0 && 2 * one.intersection(&other).count() > least
}
