//! The fields of traces side by side for programs.

use lapwing_trace::{PathPart, PathReason, ReasonKind};
use schemars::JsonSchema;
use serde::Serialize;

use super::compare::RelativeTo;
use crate::trace::share;

/// Traces side by side, with times in nanoseconds.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TraceComparisonFields<'a> {
    pub traces: Vec<TraceFields<'a>>,
    /// Number of compared classes or tasks.
    pub compared: usize,
    pub rows: Vec<ComparedTraceRow>,
    /// How long the tasks of each class compute.
    pub classes: &'a [ComparedTraceRow],
    /// Parts of the differences between makespans, the largest of each trace first.
    pub reasons: Vec<ReasonFields<'a>>,
}

/// A part of the difference of a makespan from the baseline's, in nanoseconds.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReasonFields<'a> {
    pub trace: &'a str,
    /// `longer`: tasks of the class take longer or less; `number`: there are more or fewer of them; `placement`: the
    /// path has other tasks, none of which changed; `waiting`: tasks wait.
    pub reason: &'static str,
    /// The class of tasks; `null` for placement and waiting.
    pub class: Option<String>,
    /// The part of the tasks or of the path.
    pub part: Option<&'static str>,
    pub difference: i64,
}

/// A trace as a whole, the baseline first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TraceFields<'a> {
    pub trace: &'a str,
    /// Time from the first event of the run to its end.
    pub makespan: i64,
    /// Difference from the makespan of the baseline.
    pub difference: i64,
    /// The same as a share.
    pub relative: f64,
    /// Number of runs; all numbers are means over them.
    pub runs: usize,
    /// Number of tasks.
    pub tasks: usize,
    /// Number of workers.
    pub workers: usize,
    /// The share of the time in which workers have a task; `null` if the trace does not say.
    pub utilisation: Option<f64>,
    /// Mean number of tasks that compute at once; `null` if the trace does not say.
    pub parallelism: Option<f64>,
    /// Number of tasks that the baseline has, too, where workers have the same names.
    pub tasks_of_baseline: Option<usize>,
    pub on_the_same_worker: Option<usize>,
}

/// A time in one trace beside the baseline's, in nanoseconds.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct ComparedTraceRow {
    /// The class of tasks, or the task; empty for all of them and for what is between tasks.
    pub name: String,
    /// The part of the tasks or of the path.
    pub part: &'static str,
    pub trace: String,
    pub count: Option<usize>,
    pub worker: Option<String>,
    pub time: Option<i64>,
    pub difference: Option<i64>,
    pub relative: Option<f64>,
    /// How many times as long as on the baseline a task of the class takes: the ratio of geometric means.
    pub ratio: Option<f64>,
    /// Its distance from 1.
    pub change: Option<f64>,
    /// The 95 % interval of the ratio.
    pub ratio_lower: Option<f64>,
    pub ratio_upper: Option<f64>,
    /// Of the time to compute: the mean number of tasks that compute at once while one of the class does.
    pub at_once: Option<f64>,
    /// Of these is the interval: `runs`, `paired tasks` (those of the same name) or `tasks`.
    pub over: Option<&'static str>,
    /// Whether the ratio differs from 1 by more than chance, corrected for the number of classes.
    pub is_changed: Option<bool>,
    /// Mean number of tasks of the class on the path.
    pub on_path: Option<f64>,
    #[serde(skip)]
    pub meaning: String,
}

impl<'a> ReasonFields<'a> {
    /// Returns the fields of a reason of a trace.
    pub fn of(trace: &'a str, reason: PathReason) -> Self {
        let (name, part) = match reason.kind {
            ReasonKind::Longer(part) => ("longer", Some(part.name())),
            ReasonKind::Number => ("number", None),
            ReasonKind::Placement => ("placement", None),
            ReasonKind::Waiting(part) => ("waiting", Some(part.map_or("before", PathPart::name))),
        };
        Self {
            trace,
            reason: name,
            class: Some(reason.class).filter(|class| !class.is_empty()),
            part,
            difference: reason.time,
        }
    }
}

/// Returns a row for each trace.
pub fn row(
    names: &[String],
    relative_to: RelativeTo,
    name: &str,
    part: &'static str,
    times: &[Option<i64>],
) -> Vec<ComparedTraceRow> {
    let baseline = times.first().copied().flatten();
    let sides = times.iter().zip(names).enumerate();
    let rows = sides.map(|(side, (time, trace))| {
        let pair = baseline.zip(*time).filter(|_| side > 0);
        let relative = pair.and_then(|(baseline, time)| {
            let base = match relative_to {
                RelativeTo::Baseline => baseline,
                RelativeTo::Other => time,
            };
            (base != 0).then(|| share(time - baseline, base))
        });
        ComparedTraceRow {
            name: name.to_owned(),
            part,
            trace: trace.clone(),
            time: *time,
            difference: pair.map(|(baseline, time)| time - baseline),
            relative,
            ..ComparedTraceRow::default()
        }
    });
    rows.collect()
}
