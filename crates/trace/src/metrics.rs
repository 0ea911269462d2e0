//! Figures of a trace that are compared between runs.

use lapwing_core::model::Metric;

use crate::durations::TaskDuration;
use crate::graph::TaskGraph;
use crate::trace::Trace;
use crate::worker_time::worker_time;

/// Returns the figures of a trace as metrics with their values: `trace.makespan`, `trace.utilisation`, `trace.parallelism`,
/// `trace.critical_path` if the graph is known, and the sum of each part of the tasks, such as `trace.compute`. Empty
/// without a task that has times.
#[expect(clippy::cast_precision_loss, reason = "durations are far below 2⁵³ ns")]
pub fn metrics(trace: &Trace) -> Vec<(String, Metric, f64)> {
    let seconds = |name: &str, time: i64| {
        let name = format!("trace.{name}");
        (name, Metric::lower("s"), time as f64 / 1e9)
    };
    let mut metrics = Vec::new();
    if let Some(workers) = worker_time(trace).filter(|it| it.makespan > 0) {
        let share = |name: &str, value| (name.to_owned(), Metric::higher("1"), value);
        metrics.extend([
            seconds("makespan", workers.makespan),
            share("trace.utilisation", workers.utilisation()),
            share("trace.parallelism", workers.parallelism()),
        ]);
        for part in TaskDuration::PARTS {
            let durations = trace.tasks.iter().filter_map(|task| part.of(task));
            let mut durations = durations.map(|duration| duration.max(0)).peekable();
            if durations.peek().is_some() {
                metrics.push(seconds(part.name(), durations.sum()));
            }
        }
    }
    if let Some(graph) = TaskGraph::of(trace) {
        metrics.push(seconds("critical_path", graph.ideal(trace).critical));
    }
    metrics
}
