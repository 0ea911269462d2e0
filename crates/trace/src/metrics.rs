//! Figures of a trace that are compared between runs.

use lapwing_model::Metric;

use crate::durations::{DurationGroup, TaskDuration, durations};
use crate::graph::TaskGraph;
use crate::trace::Trace;
use crate::worker_time::worker_time;

/// Classes of tasks are metrics if there are at most so many.
const MOST_CLASSES: usize = 64;

/// Returns the figures of a trace as metrics with their values: `trace.makespan`, `trace.utilisation`,
/// `trace.parallelism`, `trace.critical_path` if the graph is known, and the sum of each part of the tasks, such as
/// `trace.compute`, and the mean time to compute a task of each class, such as `trace.compute.add`, if classes are
/// more than the names of tasks. Empty without a task that has times.
#[expect(clippy::cast_precision_loss, reason = "durations are far below 2⁵³ ns")]
pub fn metrics(trace: &Trace) -> Vec<(String, Metric, f64)> {
    let seconds = |name: &str, time: i64| {
        let name = format!("trace.{name}");
        (name, Metric::lower("s"), time as f64 / 1e9)
    };
    let mut metrics = Vec::new();
    if let Some(workers) = worker_time(trace).filter(|it| it.makespan > 0) {
        let share = |name: &str, value| (name.to_owned(), Metric::higher("1"), value);
        metrics.push(seconds("makespan", workers.makespan));
        let utilisation = workers.utilisation();
        metrics.extend(utilisation.map(|it| share("trace.utilisation", it)));
        let parallelism = workers.parallelism();
        metrics.extend(parallelism.map(|it| share("trace.parallelism", it)));
        let of_cpu = [
            TaskDuration::OnCpu,
            TaskDuration::OffCpu,
            TaskDuration::RunDelay,
        ];
        for part in TaskDuration::PARTS.into_iter().chain(of_cpu) {
            let durations = trace.tasks.iter().filter_map(|task| part.of(task));
            let mut durations = durations.map(|duration| duration.max(0)).peekable();
            if durations.peek().is_some() {
                metrics.push(seconds(part.name(), durations.sum()));
            }
        }
    }
    let has_classes = trace.tasks.iter().any(|task| task.class != task.name);
    let classes = durations(trace, DurationGroup::Class);
    if has_classes && classes.len() <= MOST_CLASSES {
        let computing = classes.into_iter().filter_map(|(class, found)| {
            let mean = found.get(&TaskDuration::Compute)?.mean;
            let name = format!("trace.compute.{class}");
            Some((name, Metric::lower("s"), mean / 1e9))
        });
        metrics.extend(computing);
    }
    if trace.is_of_processes() {
        // Processes are neither workers nor tasks.
        let kept =
            ["makespan", "on_cpu", "off_cpu", "run_delay"].map(|name| format!("trace.{name}"));
        metrics.retain(|(name, ..)| kept.contains(name));
        return metrics;
    }
    if let Some(graph) = TaskGraph::with_work(trace) {
        metrics.push(seconds("critical_path", graph.ideal(trace).critical));
    }
    metrics
}
