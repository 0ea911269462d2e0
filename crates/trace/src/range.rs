//! A part of a trace.

use crate::trace::{MISSING, Trace};

/// A range of time, in ns since the first event of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceRange {
    /// When it begins.
    pub from: i64,
    /// When it ends.
    pub until: i64,
}

impl Trace {
    /// Returns for each task whether it overlaps a range; all do if the trace has no times.
    pub fn tasks_within(&self, range: TraceRange) -> Vec<bool> {
        let Some(moments) = self.moments(range) else {
            return vec![true; self.tasks.len()];
        };
        let tasks = self.tasks.iter();
        tasks
            .map(|task| overlaps(moments, &task.events, task.end()))
            .collect()
    }

    /// Leaves out what does not overlap a range.
    ///
    /// What has no end goes on until the end of the trace. A trace without times stays as it is.
    pub fn keep_within(&mut self, range: TraceRange) {
        let Some(moments) = self.moments(range) else {
            return;
        };
        self.tasks
            .retain(|it| overlaps(moments, &it.events, it.end()));
        self.transfers
            .retain(|it| overlaps(moments, &it.events, it.end()));
        self.phases.retain(|it| {
            let end = (it.end != MISSING).then_some(it.end);
            overlaps(moments, &[it.start, it.end], end)
        });
        self.others
            .retain(|it| overlaps(moments, &[it.start, it.end], Some(it.end)));
        self.pressures
            .retain(|it| overlaps(moments, &[it.start, it.end], Some(it.end)));
    }

    /// Returns when a range begins and ends, on the clock of the trace; `None` without times.
    fn moments(&self, range: TraceRange) -> Option<(i64, i64)> {
        let (begin, _) = self.range()?;
        let [from, until] = [range.from, range.until].map(|it| begin.saturating_add(it));
        Some((from, until))
    }
}

/// Returns whether something with these events is under way between two moments; it has no end if it is still open.
fn overlaps((from, until): (i64, i64), events: &[i64], end: Option<i64>) -> bool {
    let known = events.iter().copied().filter(|at| *at != MISSING);
    let Some(start) = known.clone().min() else {
        return false;
    };
    // Events after the end belong to it, too.
    let last = end.and(known.max());
    start < until && last.is_none_or(|last| last > from || (last == start && start == from))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TraceReader;

    #[test]
    fn a_range_keeps_what_overlaps_it() {
        let tasks = [("a", 100, 200), ("b", 150, 300), ("c", 300, 400)];
        let lines = tasks.iter().flat_map(|(task, start, end)| {
            [("started", start), ("published", end)].map(|(event, at)| {
                format!("x:tracing:1:#task={task};action=task_{event};worker=w;at={at}\n")
            })
        });
        let mut reader = TraceReader::default();
        let log: String = lines.collect();
        reader.add(log.as_bytes()).expect("memory");
        let trace = reader.finish().expect("events");
        for (from, until, kept) in [
            (0, 50, [true, false, false]),
            (0, 51, [true, true, false]),
            (100, 200, [false, true, false]),
            (199, 201, [false, true, true]),
            (300, 900, [false, false, false]),
        ] {
            let mut trace = trace.clone();
            let range = TraceRange { from, until };
            assert_eq!(trace.tasks_within(range), kept);
            trace.keep_within(range);
            assert_eq!(trace.tasks.len(), kept.iter().filter(|it| **it).count());
        }
    }
}
