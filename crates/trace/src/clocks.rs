//! Clocks of hosts that differ from the controller's.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::names::Name;
use crate::read::builder::host_of;
use crate::trace::{MISSING, Task, TaskEvent, Trace, Transfer, TransferEvent, TransferMode};

/// How far the clock of a host is ahead of the controller's, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockOffset {
    /// At least so much: no result was published after the controller knew it.
    pub lower: i64,
    /// At most so much: no task arrived before it was planned.
    pub upper: i64,
}

impl ClockOffset {
    const UNKNOWN: Self = Self {
        lower: i64::MIN,
        upper: i64::MAX,
    };

    /// Returns the offset of each host that the order of cause and effect leaves.
    pub fn of_hosts(trace: &Trace) -> BTreeMap<String, Self> {
        let offsets = offsets(trace).into_iter();
        offsets
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

    /// Returns the middle of the bounds, in ns, if both are known and it is farther from 0 than the bounds are from each
    /// other, which is the shortest way there and back; `None` if the bounds contradict each other.
    fn estimate(self) -> Option<i64> {
        if self.lower == i64::MIN || self.upper == i64::MAX {
            return None;
        }
        let width = self.upper.checked_sub(self.lower)?;
        let middle = self.lower + width / 2;
        (width >= 0 && middle.abs() > width).then_some(middle)
    }
}

impl Trace {
    /// Moves the times of hosts whose clocks differ from the controller's to its clock.
    ///
    /// A host where an attempt at a task was lost keeps its times: its clock may have begun anew.
    pub(crate) fn align_clocks(&mut self) {
        let again = tried_again(self);
        let lost = self
            .tasks
            .iter()
            .filter(|task| task.end().is_none() && again.contains(&task.name));
        let lost: HashSet<Name> = lost.map(|task| task.host).collect();
        let offsets = offsets(self).into_iter();
        let shifts: BTreeMap<Name, i64> = offsets
            .filter(|(host, _)| !lost.contains(host))
            .filter_map(|(host, offset)| Some((host, offset.estimate()?)))
            .collect();
        if !shifts.is_empty() {
            self.move_clocks(&shifts, -1);
            self.shifts = shifts;
        }
    }

    /// Returns the trace with the times as its hosts had them.
    pub(crate) fn as_measured(&self) -> Self {
        let mut measured = self.clone();
        let shifts = std::mem::take(&mut measured.shifts);
        measured.move_clocks(&shifts, 1);
        measured
    }

    fn move_clocks(&mut self, shifts: &BTreeMap<Name, i64>, sign: i64) {
        let shift = |host: Option<Name>| {
            sign * host
                .and_then(|host| shifts.get(&host))
                .copied()
                .unwrap_or(0)
        };
        let moved = |at: &mut i64, by: i64| {
            if *at != MISSING {
                *at += by;
            }
        };
        let hosts = Hosts::of(self);
        for task in &mut self.tasks {
            for event in OF_WORKER {
                moved(&mut task.events[event as usize], shift(Some(task.host)));
            }
        }
        for transfer in &mut self.transfers {
            let ends = [(OF_SOURCE, transfer.source), (OF_TARGET, transfer.target)];
            for (events, end) in ends {
                for event in events {
                    moved(&mut transfer.events[event as usize], shift(hosts.host(end)));
                }
            }
        }
        for other in &mut self.others {
            let by = shift(hosts.host(other.worker));
            moved(&mut other.start, by);
            moved(&mut other.end, by);
        }
        for pressure in &mut self.pressures {
            let by = shift(Some(pressure.host));
            moved(&mut pressure.start, by);
            moved(&mut pressure.end, by);
        }
    }
}

/// The events that the host of a worker tells; the controller tells the others.
const OF_WORKER: [TaskEvent; 5] = [
    TaskEvent::Enqueued,
    TaskEvent::Started,
    TaskEvent::Loaded,
    TaskEvent::Computed,
    TaskEvent::Published,
];
const OF_SOURCE: [TransferEvent; 2] = [TransferEvent::Started, TransferEvent::Loaded];
const OF_TARGET: [TransferEvent; 2] = [TransferEvent::Received, TransferEvent::Unloaded];

/// Returns the names of the tasks of which there is more than one attempt: their events may belong to either.
fn tried_again(trace: &Trace) -> HashSet<Name> {
    let mut seen = HashSet::new();
    let again = trace.tasks.iter().filter(|task| !seen.insert(task.name));
    again.map(|task| task.name).collect()
}

/// The host of each worker.
struct Hosts(HashMap<Name, Name>);

impl Hosts {
    fn of(trace: &Trace) -> Self {
        let hosts: HashMap<&str, Name> = trace
            .tasks
            .iter()
            .map(|task| (trace.text(task.host), task.host))
            .collect();
        let workers = trace.tasks.iter().map(|task| (task.worker, task.host));
        let mut all: HashMap<Name, Name> = workers.collect();
        let ends = trace.transfers.iter().flat_map(|it| [it.source, it.target]);
        for end in ends.chain(trace.others.iter().map(|it| it.worker)) {
            let text = trace.text(end);
            let host = hosts.get(text).or_else(|| hosts.get(host_of(text)?));
            if let Some(host) = host {
                all.entry(end).or_insert(*host);
            }
        }
        Self(all)
    }

    fn host(&self, worker: Name) -> Option<Name> {
        self.0.get(&worker).copied()
    }
}

/// The shortest time from an event on one host to a later one on another as their clocks show it, in ns. The clock of
/// the second is at most so far ahead of the first; `None` is the controller.
#[derive(Default)]
struct ShortestWays(BTreeMap<(Option<Name>, Option<Name>), i64>);

impl ShortestWays {
    fn add(&mut self, hosts: (Option<Name>, Option<Name>), events: Option<(i64, i64)>) {
        if let Some((earlier, later)) = events.filter(|_| hosts.0 != hosts.1) {
            let way = self.0.entry(hosts).or_insert(i64::MAX);
            *way = (*way).min(later.saturating_sub(earlier));
        }
    }

    fn add_task(&mut self, task: &Task) {
        let pair = |one, other| task.at(one).zip(task.at(other));
        let host = Some(task.host);
        self.add((None, host), pair(TaskEvent::Planned, TaskEvent::Enqueued));
        // The controller may know of a result before it is published, but not before it is computed.
        let computed = pair(TaskEvent::Computed, TaskEvent::Completed);
        let computed = computed.or_else(|| pair(TaskEvent::Published, TaskEvent::Completed));
        self.add((host, None), computed);
    }

    fn add_transfer(&mut self, transfer: &Transfer, hosts: &Hosts) {
        let [source, target] = [transfer.source, transfer.target].map(|end| hosts.host(end));
        let known = |events: [TransferEvent; 2]| events.map(|event| transfer.at(event));
        let [started, loaded] = known(OF_SOURCE);
        let [received, unloaded] = known(OF_TARGET);
        if source.is_some() {
            let planned = transfer.at(TransferEvent::Planned);
            self.add((None, source), planned.zip(started));
        }
        if target.is_some() {
            let completed = transfer.at(TransferEvent::Completed);
            self.add((target, None), unloaded.zip(completed));
        }
        if source.is_some() && target.is_some() {
            let sent = loaded.or(started);
            self.add((source, target), sent.zip(received.or(unloaded)));
        }
    }
}

/// Returns the offset of each host with tasks.
fn offsets(trace: &Trace) -> BTreeMap<Name, ClockOffset> {
    let mut ways = ShortestWays::default();
    let again = tried_again(trace);
    let once = |task: &&Task| !again.contains(&task.name);
    trace
        .tasks
        .iter()
        .filter(once)
        .for_each(|task| ways.add_task(task));
    let hosts = Hosts::of(trace);
    let end_of = |it: &Transfer| (it.dataset, it.target);
    let retried = trace.transfers.iter().filter(|it| it.attempt > 0);
    let retried: HashSet<(Name, Name)> = retried.map(end_of).collect();
    let copies = trace.transfers.iter();
    copies
        .filter(|it| it.mode != TransferMode::Local && !retried.contains(&end_of(it)))
        .for_each(|transfer| ways.add_transfer(transfer, &hosts));
    let of_hosts = trace
        .tasks
        .iter()
        .map(|task| (task.host, ClockOffset::UNKNOWN));
    let mut offsets: BTreeMap<Name, ClockOffset> = of_hosts.collect();
    // A bound reaches a host through at most all others (Bellman and Ford).
    for _ in 0..offsets.len() {
        for ((from, to), way) in &ways.0 {
            let bound = |host: &Option<Name>, of: fn(&ClockOffset) -> i64| match host {
                Some(host) => offsets.get(host).map(of),
                None => Some(0),
            };
            let upper = bound(from, |it| it.upper).filter(|it| *it != i64::MAX);
            let lower = bound(to, |it| it.lower).filter(|it| *it != i64::MIN);
            if let (Some(upper), Some(host)) = (upper, to) {
                let offset = offsets.entry(*host).or_insert(ClockOffset::UNKNOWN);
                offset.upper = offset.upper.min(upper.saturating_add(*way));
            }
            if let (Some(lower), Some(host)) = (lower, from) {
                let offset = offsets.entry(*host).or_insert(ClockOffset::UNKNOWN);
                offset.lower = offset.lower.max(lower.saturating_sub(*way));
            }
        }
    }
    offsets
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TraceReader, lint};

    const MILLISECOND: i64 = 1_000_000;

    /// Ten tasks on each of two hosts: half a millisecond to the worker and back, the clock of `h1` ahead.
    fn log(ahead: i64) -> String {
        let mut lines = String::new();
        for at in 0..20 {
            let host = at % 2;
            let planned = (100 + 10 * at) * MILLISECOND;
            let clock = if host == 1 { ahead } else { 0 };
            let events = [
                ("planned", planned),
                ("enqueued", planned + MILLISECOND / 2 + clock),
                ("started", planned + MILLISECOND + clock),
                ("computed", planned + 6 * MILLISECOND + clock),
                ("completed", planned + 13 * MILLISECOND / 2),
            ];
            for (event, at_time) in events {
                lines += &format!(
                    "{{\"action\":\"task_{event}\",\"at\":{at_time},\"task\":\"t:{at}\",\"worker\":\"h{host}:w0\"}}\n"
                );
            }
        }
        lines
    }

    fn read(log: &str) -> Trace {
        let mut reader = TraceReader::default();
        reader.add(log.as_bytes()).expect("readable");
        reader.finish().expect("events")
    }

    fn shifts(trace: &Trace) -> Vec<(&str, i64)> {
        let shifts = trace.shifts.iter();
        shifts.map(|(host, by)| (trace.text(*host), *by)).collect()
    }

    #[test]
    fn times_of_a_host_whose_clock_is_off_are_shifted() {
        let right = read(&log(0));
        for ahead in [2_000 * MILLISECOND, -2_000 * MILLISECOND, 2 * MILLISECOND] {
            let trace = read(&log(ahead));
            assert_eq!(shifts(&trace), [("h1", ahead)]);
            assert_eq!(trace.tasks, right.tasks);
            let defects: Vec<_> = lint(&trace).iter().map(|it| (it.kind, it.offset)).collect();
            let expected = (crate::DefectKind::ShiftedClock, Some(ahead));
            assert!(defects.contains(&expected), "{defects:?}");
        }
    }

    #[test]
    fn a_clock_that_is_off_by_less_than_the_way_there_and_back_stays() {
        for ahead in [0, MILLISECOND / 4, -MILLISECOND / 4, MILLISECOND] {
            assert_eq!(shifts(&read(&log(ahead))), []);
        }
    }

    #[test]
    fn stored_spans_keep_the_clock_of_their_host() {
        let trace = read(&log(2_000 * MILLISECOND));
        let spans: Vec<_> = trace.spans(lapwing_model::Id::derived(&[])).collect();
        assert_eq!(
            spans[1].events["enqueued"],
            2_110 * MILLISECOND + MILLISECOND / 2
        );
    }

    #[test]
    fn a_clock_is_not_shifted_where_pairs_contradict_each_other() {
        let ahead = log(2_000 * MILLISECOND);
        let right = log(0);
        let both = ahead.lines().take(50).chain(right.lines().skip(50));
        let both: Vec<&str> = both.collect();
        assert_eq!(shifts(&read(&(both.join("\n") + "\n"))), []);
    }

    #[test]
    fn a_clock_is_not_shifted_where_a_worker_died() {
        let log = log(2_000 * MILLISECOND)
            + "{\"action\":\"task_planned\",\"at\":1,\"task\":\"x\",\"worker\":\"h1:w0\"}\n\
               {\"action\":\"task_planned\",\"at\":2,\"task\":\"x\",\"worker\":\"h0:w0\"}\n\
               {\"action\":\"task_completed\",\"at\":3,\"task\":\"x\",\"worker\":\"h0:w0\"}\n";
        assert_eq!(shifts(&read(&log)), []);
    }

    #[test]
    fn tasks_that_were_tried_again_prove_no_offset() {
        let early = "{\"action\":\"task_planned\",\"at\":9000000,\"task\":\"x\",\"worker\":\"h1:w0\"}\n\
                     {\"action\":\"task_enqueued\",\"at\":1000000,\"task\":\"x\",\"worker\":\"h1:w0\"}\n";
        let again =
            "{\"action\":\"task_planned\",\"at\":9500000,\"task\":\"x\",\"worker\":\"h0:w0\"}\n";
        let has_offset = |log: &str| {
            let defects = lint(&read(log));
            defects.iter().any(|it| it.kind == crate::DefectKind::Clock)
        };
        assert!(has_offset(&(log(0) + early)));
        assert!(!has_offset(&(log(0) + early + again)));
    }
}
