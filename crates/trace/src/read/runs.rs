//! Tells files of one run from files of several.

use std::collections::{BTreeMap, BTreeSet};

use crate::names::{FastMap, Name};
use crate::trace::{MISSING, Task, TaskEvent};

/// The number of a file, in the order of reading.
type FileNumber = u16;

/// Two files, the earlier one first.
type FilePair = (FileNumber, FileNumber);

/// The files that the events of tasks come from.
#[derive(Debug, Default)]
pub(super) struct EventFiles {
    files: Vec<FileEvents>,
    /// The file of each event of each task.
    origins: Vec<[FileNumber; 7]>,
    /// Events that were left out because the task had them already, at another time from another file.
    repeated: BTreeMap<FilePair, EventCounts>,
}

/// The events of tasks in a file.
#[derive(Debug, Default)]
struct FileEvents {
    counts: EventCounts,
    /// The earliest and the latest event.
    range: Option<(i64, i64)>,
}

/// Numbers of events of tasks.
#[derive(Debug, Default, Clone, Copy)]
struct EventCounts {
    all: usize,
    /// Those that only a controller writes.
    of_controller: usize,
}

impl EventCounts {
    fn add(&mut self, event: TaskEvent) {
        self.all += 1;
        if matches!(event, TaskEvent::Planned | TaskEvent::Completed) {
            self.of_controller += 1;
        }
    }
}

impl EventFiles {
    /// Begins with another file.
    pub(super) fn begin(&mut self) {
        self.files.push(FileEvents::default());
    }

    fn current(&self) -> FileNumber {
        FileNumber::try_from(self.files.len().saturating_sub(1)).unwrap_or(FileNumber::MAX)
    }

    /// Adds an event that a task has from the current file.
    pub(super) fn add(&mut self, task: usize, event: TaskEvent, at: i64) {
        let file = self.current();
        if self.origins.len() <= task {
            self.origins.resize(task + 1, [0; 7]);
        }
        self.origins[task][event as usize] = file;
        self.count(event, at);
    }

    /// Adds an event that is left out because the task has it already.
    pub(super) fn repeat(&mut self, task: usize, event: TaskEvent, at: i64) {
        let (before, file) = (self.origins[task][event as usize], self.current());
        if before != file {
            self.repeated.entry((before, file)).or_default().add(event);
        }
        self.count(event, at);
    }

    fn count(&mut self, event: TaskEvent, at: i64) {
        if let Some(file) = self.files.last_mut() {
            file.counts.add(event);
            let (first, last) = file.range.unwrap_or((at, at));
            file.range = Some((first.min(at), last.max(at)));
        }
    }

    /// Returns the files that are of different runs; none if all may be of one.
    ///
    /// A run has one controller. If events that only a controller writes have different times in two files, these are
    /// of two runs. Hosts may both have tried a task, so that without a controller at least half of the events of a
    /// file differ. Files that share no task are of two runs if the time between them is longer than each of them.
    pub(super) fn runs(&self, tasks: &[Task]) -> Vec<usize> {
        if self.files.len() < 2 {
            return Vec::new();
        }
        let (differing, sharing) = self.pairs(tasks);
        let has_controller = self.files.iter().any(|it| it.counts.of_controller > 0);
        let counted = |counts: EventCounts| match has_controller {
            true => counts.of_controller,
            false => counts.all,
        };
        let numbers = 0..FileNumber::try_from(self.files.len()).unwrap_or(FileNumber::MAX);
        let are_apart = |one: FileNumber, other: FileNumber| {
            let [first, second] = [one, other].map(|it| &self.files[usize::from(it)]);
            let least = counted(first.counts).min(counted(second.counts));
            if least == 0 {
                return false;
            }
            if sharing.contains(&(one, other)) {
                let differ = differing.get(&(one, other)).copied().unwrap_or_default();
                return counted(differ) * 2 >= least;
            }
            has_controller && first.is_far_from(second)
        };
        for one in numbers.clone() {
            let others = (one + 1)..numbers.end;
            let others = others.filter(|other| are_apart(one, *other));
            let others: Vec<usize> = others.map(usize::from).collect();
            if !others.is_empty() {
                return std::iter::once(usize::from(one)).chain(others).collect();
            }
        }
        Vec::new()
    }

    /// Returns the events that have different times in two files, and which files share a task.
    fn pairs(&self, tasks: &[Task]) -> (BTreeMap<FilePair, EventCounts>, BTreeSet<FilePair>) {
        let mut differing = self.repeated.clone();
        let mut sharing: BTreeSet<FilePair> = differing.keys().copied().collect();
        let mut by_name: FastMap<Name, Vec<usize>> = FastMap::default();
        for (index, task) in tasks.iter().enumerate() {
            by_name.entry(task.name).or_default().push(index);
        }
        for attempts in by_name.values() {
            let mut files = BTreeSet::new();
            for event in TaskEvent::ALL {
                let of_event: BTreeSet<FileNumber> = attempts
                    .iter()
                    .filter(|index| tasks[**index].events[event as usize] != MISSING)
                    .map(|index| self.origins[*index][event as usize])
                    .collect();
                for pair in pairs_of(&of_event) {
                    differing.entry(pair).or_default().add(event);
                }
                files.extend(of_event);
            }
            sharing.extend(pairs_of(&files));
        }
        (differing, sharing)
    }
}

impl FileEvents {
    fn is_far_from(&self, other: &Self) -> bool {
        let Some((one, other)) = self.range.zip(other.range) else {
            return false;
        };
        let gap = (other.0 - one.1).max(one.0 - other.1);
        gap > (one.1 - one.0).max(other.1 - other.0)
    }
}

fn pairs_of(files: &BTreeSet<FileNumber>) -> impl Iterator<Item = FilePair> {
    let others = |one: &FileNumber| files.range(one + 1..).copied();
    (files.iter()).flat_map(move |one| others(one).map(|other| (*one, other)))
}

#[cfg(test)]
mod tests {
    use crate::TraceReader;

    const EVENTS: [&str; 5] = ["planned", "enqueued", "started", "published", "completed"];

    /// Returns the log of tasks on a worker that were planned at these times, with only some of their events.
    fn log(tasks: &[(&str, i64)], worker: &str, events: &[&str]) -> String {
        let lines = tasks.iter().flat_map(|(task, planned)| {
            let all = EVENTS.iter().zip(*planned..);
            let kept = all.filter(|(event, _)| events.contains(event));
            kept.map(move |(event, at)| {
                format!("x:tracing:1:#task={task};action=task_{event};worker={worker};at={at}\n")
            })
        });
        lines.collect()
    }

    fn runs(files: &[String]) -> Vec<usize> {
        let mut reader = TraceReader::default();
        for file in files {
            reader.add(file.as_bytes()).expect("memory");
        }
        reader.runs()
    }

    #[test]
    fn logs_of_hosts_and_their_controller_are_of_one_run() {
        let (all, of_controller) = (&EVENTS[..], &["planned", "completed"][..]);
        let of_host = &EVENTS[1..4];
        let tasks = [("a", 0), ("b", 10), ("c", 20)];
        let controller = log(&tasks, "h0.w0", of_controller);
        let host = log(&tasks, "h0.w0", of_host);
        assert!(runs(&[controller.clone(), host.clone()]).is_empty());
        // `c` was tried on both hosts.
        let again = log(&[("c", 40)], "h1.w0", of_host);
        assert!(runs(&[controller, host, again]).is_empty());
        // A log that goes on in another file, the same log twice.
        let [first, second] = [&tasks[..2], &tasks[2..]].map(|it| log(it, "h0.w0", all));
        assert!(runs(&[first.clone(), second]).is_empty());
        assert!(runs(&[first.clone(), first]).is_empty());
    }

    #[test]
    fn logs_with_other_times_of_the_same_tasks_are_of_two_runs() {
        for events in [&EVENTS[..], &EVENTS[1..4]] {
            for worker in ["h0.w0", "h1.w0"] {
                let first = log(&[("a", 0), ("b", 10)], "h0.w0", events);
                let second = log(&[("a", 2), ("b", 9)], worker, events);
                assert_eq!(runs(&[first, second]), [0, 1], "{worker} {events:?}");
            }
        }
    }

    #[test]
    fn logs_of_other_tasks_far_apart_are_of_two_runs() {
        let [first, second] =
            [[("a", 0), ("b", 10)], [("c", 1_000), ("d", 1_010)]].map(|it| log(&it, "w0", &EVENTS));
        assert_eq!(runs(&[first, String::new(), second]), [0, 2]);
    }
}
