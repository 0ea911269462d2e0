//! Tasks that are sent to a worker together, and start when the inputs of all of them are there.

use std::collections::BTreeMap;

use crate::graph::TaskGraph;
use crate::names::Name;
use crate::trace::{Task, TaskEvent, Trace};

/// A graph with what the first task of a sequence waits for because of the others.
#[derive(Debug)]
pub(crate) struct Sequences {
    /// The inputs of the first task of each sequence are followed by those of the others.
    pub graph: TaskGraph,
    /// Number of tasks that waited for inputs of others.
    pub tasks: usize,
}

impl Sequences {
    /// Finds the sequences of a run; `None` if it has none that held up a task.
    ///
    /// Tasks can be a sequence if the controller sends them to the same worker, notices no completion between them, and
    /// the last is there before the first starts. They are if whenever an input of a later one came after all else
    /// that the first needed, the first started after it, and mostly soon.
    pub(crate) fn find(trace: &Trace, graph: &TaskGraph) -> Option<Self> {
        let mut ends: Vec<i64> = trace.tasks.iter().filter_map(Task::end).collect();
        ends.sort_unstable();
        let mut of_worker: BTreeMap<Name, Vec<usize>> = BTreeMap::new();
        for (index, task) in trace.tasks.iter().enumerate() {
            let times = [TaskEvent::Planned, TaskEvent::Enqueued, TaskEvent::Started];
            if times.iter().all(|event| task.at(*event).is_some()) {
                of_worker.entry(task.worker).or_default().push(index);
            }
        }
        let at = |index: usize, event| trace.tasks[index].at(event).unwrap_or(i64::MAX);
        let released = |index: usize| trace.tasks[index].released();
        let mut inputs = graph.inputs.clone();
        let (mut held, mut soon, mut held_tasks) = (0, 0, 0);
        // The first task of the sequence of each task.
        let mut first_of: Vec<usize> = (0..trace.tasks.len()).collect();
        for tasks in of_worker.values_mut() {
            tasks.sort_by_key(|index| (at(*index, TaskEvent::Started), *index));
            let mut from = 0;
            let mut free = i64::MIN;
            while from < tasks.len() {
                let first = tasks[from];
                let (planned, started) =
                    (at(first, TaskEvent::Planned), at(first, TaskEvent::Started));
                let noticed = |until: i64| ends.partition_point(|end| *end <= until);
                let others = tasks[from + 1..].iter().take_while(|other| {
                    let other_planned = at(**other, TaskEvent::Planned);
                    at(**other, TaskEvent::Enqueued) < started
                        && noticed(other_planned.max(planned))
                            == noticed(other_planned.min(planned))
                });
                let until = from + 1 + others.count();
                let sequence = &tasks[from..until];
                for index in sequence {
                    first_of[*index] = first;
                }
                let of_others = sequence[1..].iter().flat_map(|other| &graph.inputs[*other]);
                let of_others = of_others.copied().filter(|it| first_of[*it] != first);
                let mut outside: Vec<usize> = of_others.collect();
                outside.sort_unstable();
                outside.dedup();
                outside.retain(|input| !graph.inputs[first].contains(input));
                let own = graph.inputs[first].iter().filter_map(|it| released(*it));
                let could_start = own.max().unwrap_or(i64::MIN);
                let could_start = could_start.max(at(first, TaskEvent::Enqueued)).max(free);
                let came = outside.iter().filter_map(|it| released(*it)).max();
                if let Some(came) = came.filter(|came| *came > could_start) {
                    if came > started {
                        return None;
                    }
                    held += 1;
                    held_tasks += sequence.len();
                    soon += usize::from(2 * (started - came) <= started - could_start);
                    inputs[first].extend(outside);
                }
                let ends = sequence.iter().filter_map(|index| released(*index));
                free = free.max(ends.max().unwrap_or(free));
                from = until;
            }
        }
        (held > 0 && 2 * soon > held).then(|| Self {
            graph: TaskGraph {
                implied: graph.implied,
                ..TaskGraph::ordered(inputs)
            },
            tasks: held_tasks,
        })
    }
}
