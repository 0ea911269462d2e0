//! What is wrong with a trace.

use std::collections::{BTreeMap, HashMap};

use crate::clocks::ClockOffset;
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
    /// They differ, and the times of the host are moved to the clock of the controller.
    ShiftedClock,
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
            Self::ShiftedClock => "shifted_clock",
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
            Self::ShiftedClock => "the times of this host are shifted by that much",
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
    let offsets = ClockOffset::of_hosts(trace).into_iter();
    let offsets: BTreeMap<String, i64> = offsets
        .map(|(host, offset)| (host, offset.certain()))
        .filter(|(_, certain)| *certain != 0)
        .collect();
    for (host, offset) in &offsets {
        found.add_time(DefectKind::Clock, host, *offset, String::new);
    }
    for (host, shift) in &trace.shifts {
        let host = trace.text(*host);
        found.add_time(DefectKind::ShiftedClock, host, *shift, String::new);
    }
    found.defects()
}

fn tasks(trace: &Trace, found: &mut Found) {
    let is_known = TaskEvent::ALL.map(|event| trace.tasks.iter().any(|it| it.at(event).is_some()));
    let mut last_attempts: HashMap<Name, u32> = HashMap::new();
    for task in &trace.tasks {
        let last = last_attempts.entry(task.name).or_default();
        *last = task.attempt.max(*last);
    }
    for task in &trace.tasks {
        let is_lost = last_attempts
            .get(&task.name)
            .is_some_and(|last| task.attempt < *last);
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
            // An attempt that was lost computed nothing.
            let is_expected = is_known && !(is_lost && event >= TaskEvent::Computed);
            if is_expected && task.at(event).is_none() {
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
