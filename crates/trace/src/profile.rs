//! What tasks of each class take, for schedulers that want known costs.

use std::collections::BTreeMap;

use crate::durations::Statistics;
use crate::trace::Trace;

/// What the tasks of a class take.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassProfile {
    /// Number of tasks.
    pub tasks: usize,
    /// Their time on the worker in ns.
    pub work: Option<Statistics>,
    /// The processor time of their functions in ns.
    pub cpu: Option<Statistics>,
    /// The size of their results in bytes.
    pub bytes: Option<Statistics>,
    /// Number of their inputs.
    pub inputs: Option<Statistics>,
}

/// Returns the profile of each class.
pub fn profile(trace: &Trace) -> BTreeMap<String, ClassProfile> {
    let mut classes: BTreeMap<&str, (usize, [Vec<i64>; 4])> = BTreeMap::new();
    for task in &trace.tasks {
        let (tasks, lists) = classes.entry(trace.text(task.class)).or_default();
        *tasks += 1;
        let inputs = i64::try_from(task.inputs.len()).ok();
        let inputs = inputs.filter(|_| trace.has_graph());
        let known = [task.work(), task.cpu, task.bytes, inputs];
        for (list, value) in lists.iter_mut().zip(known) {
            list.extend(value);
        }
    }
    let classes = classes.into_iter().map(|(class, (tasks, lists))| {
        let [work, cpu, bytes, inputs] = lists.map(|list| Statistics::of(&list));
        let profile = ClassProfile {
            tasks,
            work,
            cpu,
            bytes,
            inputs,
        };
        (class.to_owned(), profile)
    });
    classes.collect()
}
