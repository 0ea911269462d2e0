//! The copies of the inputs of tasks.

use std::collections::HashMap;

use crate::durations::covered_time;
use crate::graph::TaskGraph;
use crate::names::{FastMap, Name};
use crate::trace::{MISSING, Trace, Transfer, TransferEvent, TransferMode};

/// What stands in front of a task's name where a transfer is of all of its inputs.
const ALL_INPUTS: &str = "inputs of ";

/// A copy of an input to where a task runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InputCopy {
    /// The task that made the data; `None` where the trace does not say which of the inputs it was.
    pub input: Option<usize>,
    /// The transfer.
    pub transfer: usize,
    /// When it began.
    pub begin: i64,
    /// When the data were there.
    pub end: i64,
    pub mode: TransferMode,
}

/// The copies of the inputs of all tasks, by the indices of tasks.
#[derive(Debug, Default)]
pub(crate) struct InputCopies {
    /// Where the copies of each task begin in `copies`, and where those of the last one end.
    places: Vec<u32>,
    copies: Vec<InputCopy>,
}

impl InputCopies {
    /// Matches transfers with tasks by the name of the dataset, which is that of the task which made it, with or
    /// without the number of an output (`map:3` and `map:3.0`), and by the worker or host that they went to.
    pub(crate) fn of(trace: &Trace, graph: &TaskGraph) -> Self {
        let mut copies = Self {
            places: vec![0],
            copies: Vec::new(),
        };
        if trace.transfers.is_empty() {
            copies.places.resize(trace.tasks.len() + 1, 0);
            return copies;
        }
        let by_text: HashMap<&str, Name> = trace
            .tasks
            .iter()
            .map(|task| (trace.text(task.name), task.name))
            .collect();
        let mut of_producer: FastMap<(Name, Name), Vec<usize>> = FastMap::default();
        let mut of_consumer: FastMap<(Name, Name), Vec<usize>> = FastMap::default();
        for (index, transfer) in trace.transfers.iter().enumerate() {
            if transfer.mode == TransferMode::Local || times(transfer).is_none() {
                continue;
            }
            let dataset = trace.text(transfer.dataset);
            let (known, name) = match dataset.strip_prefix(ALL_INPUTS) {
                Some(task) => (&mut of_consumer, by_text.get(task)),
                None => (
                    &mut of_producer,
                    by_text
                        .get(dataset)
                        .or_else(|| by_text.get(without_output(dataset)?)),
                ),
            };
            if let Some(name) = name {
                known
                    .entry((*name, transfer.target))
                    .or_default()
                    .push(index);
            }
        }
        for (index, task) in trace.tasks.iter().enumerate() {
            let places = if task.host == Name::EMPTY || task.host == task.worker {
                vec![task.worker]
            } else {
                vec![task.worker, task.host]
            };
            for place in places {
                for input in &graph.inputs[index] {
                    let name = trace.tasks[*input].name;
                    let found = of_producer.get(&(name, place)).into_iter().flatten();
                    copies.add(trace, found, Some(*input));
                }
                let found = of_consumer.get(&(task.name, place)).into_iter().flatten();
                copies.add(trace, found, None);
            }
            let end = u32::try_from(copies.copies.len()).unwrap_or(u32::MAX);
            copies.places.push(end);
        }
        copies
    }

    fn add<'i>(
        &mut self,
        trace: &Trace,
        found: impl Iterator<Item = &'i usize>,
        input: Option<usize>,
    ) {
        let found = found.filter_map(|index| {
            let transfer = &trace.transfers[*index];
            let (begin, end) = times(transfer)?;
            Some(InputCopy {
                input,
                transfer: *index,
                begin,
                end,
                mode: transfer.mode,
            })
        });
        self.copies.extend(found);
    }

    /// Returns the copies of the inputs of a task.
    pub(crate) fn of_task(&self, task: usize) -> &[InputCopy] {
        &self.copies[self.places[task] as usize..self.places[task + 1] as usize]
    }

    /// Returns the time within an interval in which inputs of a task were copied, in ns.
    pub(crate) fn within(&self, task: usize, from: i64, until: i64) -> i64 {
        let copies = self.of_task(task).iter();
        let parts = copies.map(|copy| (copy.begin.max(from), copy.end.min(until)));
        covered_time(parts.filter(|(from, until)| from < until).collect())
    }
}

/// Returns when a transfer began, and when its data were stored.
fn times(transfer: &Transfer) -> Option<(i64, i64)> {
    let events = transfer.events.iter().copied().filter(|at| *at != MISSING);
    let begin = events.clone().min()?;
    // That the controller knows of it is nothing that the data wait for, if the trace says when they were stored.
    let stored = [TransferEvent::Unloaded, TransferEvent::Received];
    let stored = stored.into_iter().find_map(|event| transfer.at(event));
    let end = stored.or(events.max())?;
    (begin < end).then_some((begin, end))
}

/// Returns the name of a task of that of one of its outputs: `map:3` of `map:3.0`.
fn without_output(dataset: &str) -> Option<&str> {
    let (task, output) = dataset.rsplit_once('.')?;
    let is_number = !output.is_empty() && output.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some(task)
}
