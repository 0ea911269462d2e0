//! What explains the time of a run.

use crate::causes::{Counterfactuals, GraphSource, find_causes, is_independent};
use crate::controller::{ControllerTime, controller_time};
use crate::graph::{IdealTime, TaskGraph};
use crate::path::{RunPath, run_path};
use crate::trace::Trace;
use crate::waits::{TaskWait, task_waits};
use crate::worker_time::{WorkerTime, worker_time};

/// The explanations of the time of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceFindings {
    /// What workers did.
    pub workers: WorkerTime,
    /// The path that leads to the last end.
    pub path: Option<RunPath>,
    /// What the graph alone allows, if it is known.
    pub ideal: Option<IdealTime>,
    /// What the controller did.
    pub controller: Option<ControllerTime>,
    /// What the run would gain without its causes.
    pub causes: Counterfactuals,
}

impl TraceFindings {
    /// Returns the wait of each task, by the graph that the findings are by; none if no task has times.
    pub fn task_waits(&self, trace: &Trace) -> Vec<TaskWait> {
        let graph = match self.causes.graph {
            GraphSource::Known => TaskGraph::with_work(trace),
            GraphSource::Independent => Some(TaskGraph::independent(trace.tasks.len())),
            GraphSource::Observed => Some(TaskGraph::observed(trace)),
        };
        graph.map_or_else(Vec::new, |graph| task_waits(trace, &graph))
    }
}

/// Returns what explains the time of a run; `None` without tasks.
pub fn find(trace: &Trace) -> Option<TraceFindings> {
    let workers = worker_time(trace)?;
    let path = run_path(trace);
    let graph = TaskGraph::with_work(trace);
    let causes = match &graph {
        Some(graph) => find_causes(trace, graph, GraphSource::Known, path.as_ref()),
        None => {
            let independent = TaskGraph::independent(trace.tasks.len());
            if is_independent(trace, &independent) {
                find_causes(trace, &independent, GraphSource::Independent, path.as_ref())
            } else {
                let observed = TaskGraph::observed(trace);
                find_causes(trace, &observed, GraphSource::Observed, path.as_ref())
            }
        }
    };
    Some(TraceFindings {
        causes: causes?,
        ideal: graph.map(|graph| graph.ideal(trace)),
        controller: controller_time(trace),
        workers,
        path,
    })
}
