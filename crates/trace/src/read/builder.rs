//! Puts events together.

use super::line::Event;
use super::runs::EventFiles;
use crate::names::{FastMap, Name};
use crate::trace::{MISSING, Phase, Task, TaskEvent, Trace, Transfer, TransferEvent, TransferMode};

/// What labels its own events as host.
const CONTROLLER: &str = "controller";

/// A trace that is being read.
#[derive(Debug, Default)]
pub(super) struct Builder {
    trace: Trace,
    /// The newest attempt of each task on each worker, by their names.
    tasks: FastMap<(Name, Name), usize>,
    transfers: FastMap<(Name, Name), usize>,
    /// A worker without host, and its host, to its full name.
    qualified: FastMap<(Name, Name), Name>,
    files: EventFiles,
}

impl Builder {
    /// Begins with another file.
    pub(super) fn begin_file(&mut self) {
        self.files.begin();
    }

    /// Returns the files that are of different runs, by their order.
    pub(super) fn runs(&self) -> Vec<usize> {
        self.files.runs(&self.trace.tasks)
    }

    /// Adds an event of this line; `None` if it is of no known kind.
    pub(super) fn event(&mut self, event: &Event<'_>, line: u64) -> Option<()> {
        let action = event.action.as_ref();
        let at = event.at?;
        let known = if let Some(phase) = action.strip_prefix("task") {
            let phase = task_event(phase.strip_prefix('_').unwrap_or(phase))?;
            self.task(event, phase, at, line)
        } else if let Some(phase) = action.strip_prefix("transmit") {
            let phase = transfer_event(phase.strip_prefix('_').unwrap_or(phase))?;
            self.transfer(event, phase, at, line)
        } else if action == "controllerReport" {
            self.phase("loop", event, at, at)
        } else {
            let phase = action.strip_prefix("ctrl_");
            let phase = phase.or_else(|| action.strip_prefix("controller_"))?;
            self.phase(phase, event, at, MISSING)
        };
        self.trace.lines += 1;
        known
    }

    pub(super) fn micro(&mut self, kind: &str, duration: i64) {
        let micro = match self.trace.micros.get_mut(kind) {
            Some(micro) => micro,
            None => self.trace.micros.entry(kind.to_owned()).or_default(),
        };
        micro.count += 1;
        micro.sum += duration;
        micro.max = micro.max.max(duration);
    }

    pub(super) fn unreadable(&mut self, line: u64) {
        self.trace.unreadable.push(line);
    }

    pub(super) fn truncated(&mut self) {
        self.trace.is_truncated = true;
    }

    pub(super) fn finish(mut self) -> Trace {
        let phases = &mut self.trace.phases;
        phases.sort_by_key(|phase| phase.start);
        for at in 1..phases.len() {
            if phases[at - 1].end == MISSING {
                phases[at - 1].end = phases[at].start;
            }
        }
        self.trace.align_clocks();
        self.trace
    }

    fn task(&mut self, event: &Event<'_>, phase: TaskEvent, at: i64, line: u64) -> Option<()> {
        if event.task.is_empty() || event.worker.is_empty() {
            return None;
        }
        let name = self.trace.names.intern(&event.task);
        let (worker, bare) = self.worker(&event.worker, &event.host);
        let known = (self.tasks.get(&(name, worker))).or_else(|| self.tasks.get(&(name, bare)));
        let index = match known {
            Some(index) if self.trace.tasks[*index].events[phase as usize] == MISSING => *index,
            // The same line twice begins nothing.
            Some(index) if self.trace.tasks[*index].events[phase as usize] == at => {
                self.trace.repeated.push(line);
                return Some(());
            }
            Some(index) if is_new_attempt(&self.trace.tasks[*index], phase) => {
                let mut again = self.trace.tasks[*index].clone();
                again.attempt += 1;
                again.events = [MISSING; 7];
                self.push(again)
            }
            Some(index) => {
                self.files.repeat(*index, phase, at);
                self.trace.repeated.push(line);
                return Some(());
            }
            None => {
                let class = self.trace.names.intern(class_of(&event.task));
                self.push(Task::new(name, class, worker))
            }
        };
        self.files.add(index, phase, at);
        let task = &mut self.trace.tasks[index];
        task.events[phase as usize] = at;
        if matches!(phase, TaskEvent::Started | TaskEvent::Computed) {
            task.process = event.process.or(task.process);
        }
        if task.host == Name::EMPTY {
            let host = host_of(&event.worker).unwrap_or_else(|| match event.host.as_ref() {
                CONTROLLER => "",
                host => host,
            });
            task.host = self.trace.names.intern(host);
        }
        Some(())
    }

    fn push(&mut self, task: Task) -> usize {
        let index = self.trace.tasks.len();
        self.tasks.insert((task.name, task.worker), index);
        self.trace.tasks.push(task);
        index
    }

    fn transfer(
        &mut self,
        event: &Event<'_>,
        phase: TransferEvent,
        at: i64,
        line: u64,
    ) -> Option<()> {
        let target = match event.target.as_ref() {
            "" => &event.worker,
            _ => &event.target,
        };
        if event.dataset.is_empty() || target.is_empty() {
            return None;
        }
        let dataset = self.trace.names.intern(&event.dataset);
        // A host needs no other host in front of it.
        let (target, bare) = if event.target.is_empty() {
            self.worker(target, &event.host)
        } else {
            let target = self.trace.names.intern(target);
            (target, target)
        };
        let known = self.transfers.get(&(dataset, target));
        let known = known.or_else(|| self.transfers.get(&(dataset, bare)));
        let index = match known {
            Some(index) if self.trace.transfers[*index].events[phase as usize] == MISSING => *index,
            Some(index) if phase == TransferEvent::Planned => {
                let attempt = self.trace.transfers[*index].attempt + 1;
                self.push_transfer(dataset, target, attempt)
            }
            Some(_) => {
                self.trace.repeated.push(line);
                return Some(());
            }
            None => self.push_transfer(dataset, target, 0),
        };
        let source = self.trace.names.intern(&event.source);
        let transfer = &mut self.trace.transfers[index];
        transfer.events[phase as usize] = at;
        if source != Name::EMPTY {
            transfer.source = source;
        }
        if let Some(mode) = TransferMode::named(&event.mode) {
            transfer.mode = mode;
        }
        Some(())
    }

    fn push_transfer(&mut self, dataset: Name, target: Name, attempt: u32) -> usize {
        let index = self.trace.transfers.len();
        self.transfers.insert((dataset, target), index);
        self.trace.transfers.push(Transfer {
            dataset,
            source: Name::EMPTY,
            target,
            mode: TransferMode::Unknown,
            attempt,
            events: [MISSING; 6],
        });
        index
    }

    fn phase(&mut self, name: &str, event: &Event<'_>, start: i64, end: i64) -> Option<()> {
        let names = &mut self.trace.names;
        let counts = event.counts.iter();
        let counts = counts.map(|(key, count)| (names.intern(key), *count));
        self.trace.phases.push(Phase {
            counts: counts.collect(),
            name: names.intern(name),
            start,
            end,
        });
        Some(())
    }

    /// Returns a worker's name with its host and as it is written.
    ///
    /// Workers write their own name without the host; the controller writes the host too if there are several.
    fn worker(&mut self, worker: &str, host: &str) -> (Name, Name) {
        let names = &mut self.trace.names;
        let bare = names.intern(worker);
        if host.is_empty() || host == CONTROLLER || host_of(worker).is_some() {
            return (bare, bare);
        }
        let host = names.intern(host);
        let qualified = self.qualified.entry((host, bare));
        let qualified = *qualified.or_insert_with(|| {
            let text = format!("{}:{worker}", names.text(host));
            names.intern(&text)
        });
        (qualified, bare)
    }
}

/// Returns whether an event that a task has already begins another attempt: only one that was over, or had begun, can
/// begin again.
fn is_new_attempt(task: &Task, phase: TaskEvent) -> bool {
    phase <= TaskEvent::Started || task.end().is_some()
}

/// Returns the host of a worker `h0:w1` or `h0.w1`.
pub(crate) fn host_of(worker: &str) -> Option<&str> {
    worker.split_once([':', '.']).map(|(host, _)| host)
}

/// Returns the class of a task: its name up to `:` or `(`, without a number at the end.
pub(crate) fn class_of(task: &str) -> &str {
    let class = task.split([':', '(']).next().unwrap_or(task);
    let letters = class.trim_end_matches(|it: char| it.is_ascii_digit());
    if letters.is_empty() { class } else { letters }
}

fn task_event(phase: &str) -> Option<TaskEvent> {
    Some(match phase {
        "Planned" | "planned" => TaskEvent::Planned,
        "Enqueued" | "enqueued" => TaskEvent::Enqueued,
        "Started" | "started" => TaskEvent::Started,
        "Loaded" | "loaded" => TaskEvent::Loaded,
        "Computed" | "computed" => TaskEvent::Computed,
        "Finished" | "published" => TaskEvent::Published,
        "Completed" | "completed" => TaskEvent::Completed,
        _ => return None,
    })
}

fn transfer_event(phase: &str) -> Option<TransferEvent> {
    Some(match phase {
        "Planned" | "planned" => TransferEvent::Planned,
        "Started" | "started" => TransferEvent::Started,
        "Loaded" | "loaded" => TransferEvent::Loaded,
        "Received" | "received" => TransferEvent::Received,
        "Finished" | "unloaded" => TransferEvent::Unloaded,
        "Completed" | "completed" => TransferEvent::Completed,
        _ => return None,
    })
}
