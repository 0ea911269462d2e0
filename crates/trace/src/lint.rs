//! What is wrong with a trace.

use std::collections::BTreeMap;

use crate::durations::{TaskDuration, TransferDuration};
use crate::names::Name;
use crate::trace::{TaskEvent, Trace, TransferEvent, TransferMode};

/// A kind of defect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DefectKind {
    /// A line that looks like an event cannot be read.
    Unreadable,
    /// The last line has no end.
    Truncated,
    /// A task lacks an event that others have.
    MissingEvent,
    /// A task began and has no end.
    OpenTask,
    /// A transfer began and has no end.
    OpenTransfer,
    /// An event is earlier than the one before it.
    NegativeDuration,
    /// An event is there twice.
    Repeated,
    /// A task was tried more than once.
    Retry,
    /// The clocks of a host and of the controller differ.
    Clock,
}

impl DefectKind {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable",
            Self::Truncated => "truncated",
            Self::MissingEvent => "missing_event",
            Self::OpenTask => "open_task",
            Self::OpenTransfer => "open_transfer",
            Self::NegativeDuration => "negative_duration",
            Self::Repeated => "repeated",
            Self::Retry => "retry",
            Self::Clock => "clock",
        }
    }

    /// Returns what it means for the numbers.
    pub fn consequence(self) -> &'static str {
        match self {
            Self::Unreadable => "these lines are left out",
            Self::Truncated => "the last line is left out; later events are missing",
            Self::MissingEvent => "these tasks are left out of the durations that need the event",
            Self::OpenTask => "these tasks count for no total",
            Self::OpenTransfer => "these transfers count for no total",
            Self::NegativeDuration => {
                "these durations are part of the sums as they are; processes write side by side, or clocks differ"
            }
            Self::Repeated => "the first event counts",
            Self::Retry => "every attempt is a task of its own",
            Self::Clock => "durations from one host to another are off by that much",
        }
    }
}

/// Defects of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Defect {
    /// The kind.
    pub kind: DefectKind,
    /// What it is about: an event, a duration, a host; empty if the kind says it all.
    pub subject: String,
    /// How many there are.
    pub count: usize,
    /// One of them: a task, a dataset, a line.
    pub example: String,
    /// How far a clock is off at least, or the most negative duration, in ns.
    pub offset: Option<i64>,
}

/// How far the clock of a host is ahead of the controller's, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockOffset {
    /// At least so much: no result was published after the controller knew it.
    pub lower: i64,
    /// At most so much: no task arrived before it was planned.
    pub upper: i64,
}

impl ClockOffset {
    /// Returns the offset of each host that the order of cause and effect leaves.
    pub fn of_hosts(trace: &Trace) -> BTreeMap<String, Self> {
        let mut offsets: BTreeMap<Name, Self> = BTreeMap::new();
        for task in &trace.tasks {
            let offset = offsets.entry(task.host).or_insert(Self {
                lower: i64::MIN,
                upper: i64::MAX,
            });
            let pair = |one, other| task.at(one).zip(task.at(other));
            if let Some((planned, enqueued)) = pair(TaskEvent::Planned, TaskEvent::Enqueued) {
                offset.upper = offset.upper.min(enqueued - planned);
            }
            // The controller may know of a result before it is published, but not before it is computed.
            let computed = pair(TaskEvent::Computed, TaskEvent::Completed);
            let computed = computed.or_else(|| pair(TaskEvent::Published, TaskEvent::Completed));
            if let Some((computed, completed)) = computed {
                offset.lower = offset.lower.max(computed - completed);
            }
        }
        let named = offsets.into_iter();
        named
            .map(|(host, offset)| (trace.text(host).to_owned(), offset))
            .collect()
    }

    /// Returns the offset that is certain, in ns: 0 if there may be none.
    pub fn certain(self) -> i64 {
        if self.upper < 0 {
            self.upper
        } else {
            self.lower.max(0)
        }
    }
}

/// Returns the defects of a trace, by kind.
pub fn lint(trace: &Trace) -> Vec<Defect> {
    let mut found = Found::default();
    for line in &trace.unreadable {
        found.add(DefectKind::Unreadable, "", || format!("line {line}"));
    }
    if trace.is_truncated {
        found.add(DefectKind::Truncated, "", || "the last line".to_owned());
    }
    for line in &trace.repeated {
        found.add(DefectKind::Repeated, "", || format!("line {line}"));
    }
    tasks(trace, &mut found);
    transfers(trace, &mut found);
    let offsets = ClockOffset::of_hosts(trace);
    for (host, offset) in &offsets {
        let certain = offset.certain();
        if certain != 0 {
            found.add_time(DefectKind::Clock, host, certain, String::new);
        }
    }
    found.defects()
}

fn tasks(trace: &Trace, found: &mut Found) {
    let is_known = TaskEvent::ALL.map(|event| trace.tasks.iter().any(|it| it.at(event).is_some()));
    for task in &trace.tasks {
        let name = || trace.text(task.name).to_owned();
        if task.attempt > 0 {
            found.add(DefectKind::Retry, "", name);
        }
        if !is_known.contains(&true) && task.duration.is_some() {
            // Nothing here has a place in time.
            continue;
        }
        if task.end().is_none() {
            found.add(DefectKind::OpenTask, "", name);
            continue;
        }
        for (event, is_known) in TaskEvent::ALL.into_iter().zip(is_known) {
            if is_known && task.at(event).is_none() {
                found.add(DefectKind::MissingEvent, event.name(), name);
            }
        }
        // The controller may know of a result before it is published, but not before it is computed.
        let known = (task.at(TaskEvent::Computed)).zip(task.at(TaskEvent::Completed));
        let is_early = known.is_some_and(|(computed, completed)| computed <= completed);
        for part in TaskDuration::PARTS {
            let may_be = part == TaskDuration::ToController && is_early;
            if let Some(duration) = part.of(task).filter(|it| *it < 0 && !may_be) {
                found.add_time(DefectKind::NegativeDuration, part.name(), duration, name);
            }
        }
    }
}

fn transfers(trace: &Trace, found: &mut Found) {
    for transfer in &trace.transfers {
        let name = || {
            let [dataset, target] = [transfer.dataset, transfer.target].map(|it| trace.text(it));
            format!("{dataset} to {target}")
        };
        if transfer.end().is_none() {
            found.add(DefectKind::OpenTransfer, "", name);
        }
        // Nothing else happens to what is there.
        if transfer.mode != TransferMode::Local && transfer.at(TransferEvent::Started).is_none() {
            found.add(DefectKind::MissingEvent, "started (transfer)", name);
        }
        for part in &TransferDuration::ALL[1..] {
            if let Some(duration) = part.of(transfer).filter(|it| *it < 0) {
                let subject = format!("{} (transfer)", part.name());
                found.add_time(DefectKind::NegativeDuration, &subject, duration, name);
            }
        }
    }
}

#[derive(Default)]
struct Found(BTreeMap<(DefectKind, String), Defect>);

impl Found {
    fn add(&mut self, kind: DefectKind, subject: &str, example: impl Fn() -> String) {
        self.entry(kind, subject, example).count += 1;
    }

    /// Adds a defect with a time; the example is the one with the most negative.
    fn add_time(
        &mut self,
        kind: DefectKind,
        subject: &str,
        time: i64,
        example: impl Fn() -> String,
    ) {
        let defect = self.entry(kind, subject, &example);
        defect.count += 1;
        if defect.offset.is_none_or(|before| time < before) {
            defect.offset = Some(time);
            defect.example = example();
        }
    }

    fn entry(
        &mut self,
        kind: DefectKind,
        subject: &str,
        example: impl Fn() -> String,
    ) -> &mut Defect {
        let key = (kind, subject.to_owned());
        self.0.entry(key).or_insert_with(|| Defect {
            kind,
            subject: subject.to_owned(),
            count: 0,
            example: example(),
            offset: None,
        })
    }

    fn defects(self) -> Vec<Defect> {
        self.0.into_values().collect()
    }
}
