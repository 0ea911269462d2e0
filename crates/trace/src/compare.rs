//! What differs between two traces.

use std::collections::{BTreeMap, HashMap};

use crate::durations::TaskDuration;
use crate::trace::Trace;

/// A duration of a class of tasks in two traces.
#[derive(Debug, Clone, PartialEq)]
pub struct DurationChange {
    /// The class; empty for all tasks.
    pub class: String,
    /// The duration.
    pub duration: TaskDuration,
    /// Number of tasks with it in each.
    pub counts: [usize; 2],
    /// Its sum in each, in ns.
    pub sums: [i64; 2],
}

/// A task that both traces have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskChange {
    /// Its name.
    pub name: String,
    /// Its duration in each, in ns.
    pub durations: [i64; 2],
    /// Its worker in each.
    pub workers: [String; 2],
}

/// Two traces side by side.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceComparison {
    /// Every duration of all tasks and of each class.
    pub durations: Vec<DurationChange>,
    /// The tasks that both have, in the order of the first.
    pub tasks: Vec<TaskChange>,
    /// Number of tasks that only one of them has.
    pub only_in: [usize; 2],
}

impl TraceComparison {
    /// Returns the number of tasks that ran on the same worker in both.
    pub fn same_worker(&self) -> usize {
        let same = |task: &&TaskChange| task.workers[0] == task.workers[1];
        self.tasks.iter().filter(same).count()
    }
}

/// Compares two traces, their tasks by name and number of the attempt in this duration.
pub fn compare(traces: [&Trace; 2], duration: TaskDuration) -> TraceComparison {
    let mut sums: BTreeMap<(String, TaskDuration), ([usize; 2], [i64; 2])> = BTreeMap::new();
    for (side, trace) in traces.iter().enumerate() {
        for task in &trace.tasks {
            for part in TaskDuration::ALL {
                let Some(time) = part.of(task) else { continue };
                for class in ["", trace.text(task.class)] {
                    let (counts, sums) = sums.entry((class.to_owned(), part)).or_default();
                    counts[side] += 1;
                    sums[side] += time;
                }
            }
        }
    }
    let [first, second] = traces;
    let mut others: HashMap<(&str, u32), usize> = HashMap::new();
    for (at, task) in second.tasks.iter().enumerate() {
        // The same task on another worker is another attempt.
        others.insert((second.text(task.name), task.attempt), at);
    }
    let mut tasks = Vec::new();
    for task in &first.tasks {
        let name = first.text(task.name);
        let other = others.get(&(name, task.attempt));
        let other = other.map(|at| &second.tasks[*at]);
        if let Some(other) = other
            && let Some((one, two)) = duration.of(task).zip(duration.of(other))
        {
            tasks.push(TaskChange {
                name: name.to_owned(),
                durations: [one, two],
                workers: [first.text(task.worker), second.text(other.worker)].map(str::to_owned),
            });
        }
    }
    let only_in = traces.map(|trace| trace.tasks.len().saturating_sub(tasks.len()));
    let durations = sums.into_iter();
    TraceComparison {
        durations: durations
            .map(|((class, duration), (counts, sums))| DurationChange {
                class,
                duration,
                counts,
                sums,
            })
            .collect(),
        tasks,
        only_in,
    }
}
