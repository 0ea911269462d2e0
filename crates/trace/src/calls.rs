//! Spans within each other: calls with self time, on lanes where they do not overlap otherwise.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;

use crate::names::Name;
use crate::read::builder::class_of;
use crate::trace::{InputsSource, MISSING, OtherSpan, Task, TaskEvent, Trace};

/// A span that lies within others or has others within it.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Its function or operation.
    pub name: Name,
    /// Its class: the name up to `:` or `(`.
    pub class: Name,
    /// The worker that it ran on, of which each has one call at a time on each level.
    pub worker: Name,
    /// The host of the worker; empty if it has no name.
    pub host: Name,
    /// When it began, in ns.
    pub start: i64,
    /// When it ended, in ns.
    pub end: i64,
    /// The time in ns without the calls that it waited for.
    pub self_time: i64,
    /// How many calls of its worker it lies within.
    pub level: u32,
    /// Whether it lies within a call of the same class.
    pub is_recursive: bool,
}

/// The place of a span in the tree of calls, as far as the trace tells it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SpanPlace {
    /// Its id.
    pub id: Name,
    /// The id of the span that waits for it.
    pub parent: Name,
    /// The id that it shares with the spans around it on the same worker.
    pub group: Name,
}

/// A span may end so long after the one that it lies within, in ns: times are often whole microseconds.
const ROUNDING: i64 = 1_000;

impl Trace {
    /// Takes the calls and their tasks of spans; `None` if none lies within another.
    pub(crate) fn take_calls(&mut self, places: &[SpanPlace]) -> Option<()> {
        let spans = &self.others;
        let mut order: Vec<usize> = (0..spans.len())
            .filter(|at| spans[*at].end != MISSING)
            .collect();
        order.sort_by_key(|at| (spans[*at].start, Reverse(spans[*at].end), *at));
        let mut tree = CallTree::of(spans, places, &order);
        if tree.parents.iter().all(Option::is_none) {
            return None;
        }
        let has_ids = places.iter().any(|place| place.parent != Name::EMPTY);
        tree.find_pieces(&order);
        let others = std::mem::take(&mut self.others);
        let classes = classes(self, &others);
        let tasks = self.tasks_of(&others, places, &tree, &order, &classes, has_ids);
        self.tasks.extend(tasks);
        if has_ids {
            self.inputs_from = InputsSource::Trace;
        }
        let mut recursive: Vec<bool> = vec![false; others.len()];
        for at in &order {
            let mut above = tree.parents[*at];
            while let Some(parent) = above {
                if classes[parent] == classes[*at] {
                    recursive[*at] = true;
                    break;
                }
                above = tree.parents[parent];
            }
            let (worker, host) = self.lane(others[*at].worker, tree.lanes[*at]);
            self.calls.push(Call {
                name: others[*at].name,
                class: classes[*at],
                worker,
                host,
                start: others[*at].start,
                end: tree.ends[*at],
                self_time: tree.pieces[*at].iter().map(|(from, to)| to - from).sum(),
                level: tree.levels[*at],
                is_recursive: recursive[*at],
            });
        }
        // What has not ended is in no tree.
        self.others = others;
        self.others.retain(|other| other.end == MISSING);
        Some(())
    }

    /// Returns a lane of a worker and its host; the first has the name of the worker.
    fn lane(&mut self, worker: Name, lane: u32) -> (Name, Name) {
        let host = self.names.text(worker);
        let host = crate::spans::host(host).to_owned();
        let host = self.names.intern(&host);
        if lane == 0 {
            return (worker, host);
        }
        let text = format!("{} #{}", self.names.text(worker), lane + 1);
        (self.names.intern(&text), host)
    }

    /// Returns a task for each piece of self time. Where spans tell what waits for them, so do the tasks.
    fn tasks_of(
        &mut self,
        spans: &[OtherSpan],
        places: &[SpanPlace],
        tree: &CallTree,
        order: &[usize],
        classes: &[Name],
        has_ids: bool,
    ) -> Vec<Task> {
        // The number of the piece is part of a name that others wait for.
        let mut names: Vec<Vec<Name>> = vec![Vec::new(); spans.len()];
        for at in order {
            for piece in 0..tree.pieces[*at].len() {
                let name = if has_ids {
                    let name = self.names.text(spans[*at].name);
                    let id = self.names.text(places[*at].id);
                    let text = match piece {
                        0 => format!("{name}:{id}"),
                        later => format!("{name}:{id}/{}", later + 1),
                    };
                    self.names.intern(&text)
                } else {
                    spans[*at].name
                };
                names[*at].push(name);
            }
        }
        let mut tasks = Vec::new();
        for at in order {
            let (worker, host) = self.lane(spans[*at].worker, tree.lanes[*at]);
            for (piece, (from, to)) in tree.pieces[*at].iter().enumerate() {
                let mut task = Task::new(names[*at][piece], classes[*at], worker);
                task.host = host;
                task.events[TaskEvent::Started as usize] = *from;
                task.events[TaskEvent::Computed as usize] = *to;
                if has_ids {
                    let inputs = tree.inputs(*at, piece).into_iter();
                    task.inputs = inputs.map(|(call, piece)| names[call][piece]).collect();
                }
                tasks.push(task);
            }
        }
        tasks.sort_by_key(|task| task.events[TaskEvent::Started as usize]);
        tasks
    }

    /// Returns the trace with whole calls as tasks, in the order of the calls, to be drawn; the trace itself if it has
    /// none.
    pub fn with_whole_calls(&self) -> Cow<'_, Self> {
        if self.calls.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut whole = self.clone();
        let tasks = self.calls.iter().map(|call| {
            let mut task = Task::new(call.name, call.class, call.worker);
            task.host = call.host;
            task.events[TaskEvent::Started as usize] = call.start;
            task.events[TaskEvent::Computed as usize] = call.end;
            task
        });
        whole.tasks = tasks.collect();
        Cow::Owned(whole)
    }
}

/// Returns the class of each span.
fn classes(trace: &mut Trace, spans: &[OtherSpan]) -> Vec<Name> {
    let mut known: HashMap<Name, Name> = HashMap::new();
    let classes = spans.iter().map(|span| {
        *known.entry(span.name).or_insert_with(|| {
            let class = class_of(trace.names.text(span.name)).trim_end().to_owned();
            trace.names.intern(&class)
        })
    });
    classes.collect()
}

/// Which span lies within which, and on which lane of its worker. By the places of spans.
struct CallTree {
    parents: Vec<Option<usize>>,
    /// In the order of their starts.
    children: Vec<Vec<usize>>,
    lanes: Vec<u32>,
    levels: Vec<u32>,
    starts: Vec<i64>,
    /// No later than the end of what they lie within on the same lane.
    ends: Vec<i64>,
    /// The self time.
    pieces: Vec<Vec<(i64, i64)>>,
}

impl CallTree {
    fn of(spans: &[OtherSpan], places: &[SpanPlace], order: &[usize]) -> Self {
        let count = spans.len();
        let mut tree = Self {
            parents: vec![None; count],
            children: vec![Vec::new(); count],
            lanes: vec![0; count],
            levels: vec![0; count],
            starts: spans.iter().map(|span| span.start).collect(),
            ends: spans.iter().map(|span| span.end).collect(),
            pieces: vec![Vec::new(); count],
        };
        let ids = order.iter().map(|at| (places[*at].id, *at));
        let ids: HashMap<Name, usize> = ids.filter(|(id, _)| *id != Name::EMPTY).collect();
        let mut rank = vec![0; count];
        for (at, index) in order.iter().enumerate() {
            rank[*index] = at;
        }
        // When the lanes of each worker are free, and what is open on those of which time tells the tree.
        let mut free: HashMap<Name, Vec<i64>> = HashMap::new();
        let mut open: HashMap<(Name, Name), Vec<Vec<usize>>> = HashMap::new();
        // Until when the next level of a span is taken.
        let mut taken = vec![i64::MIN; count];
        for at in order.iter().copied() {
            let (span, place) = (&spans[at], &places[at]);
            let mut within = None;
            if place.id == Name::EMPTY {
                let stacks = open.entry((span.worker, place.group)).or_default();
                for stack in &mut *stacks {
                    while let Some(last) = stack.last()
                        && tree.ends[*last] <= span.start
                    {
                        stack.pop();
                    }
                }
                stacks.retain(|stack| !stack.is_empty());
                let mut stacks_now = stacks.iter_mut();
                let fitting = stacks_now.find(|stack| {
                    let last = stack.last().copied();
                    last.is_some_and(|last| lies_within(span, tree.ends[last]))
                });
                match fitting {
                    Some(stack) => {
                        within = stack.last().copied();
                        stack.push(at);
                    }
                    None => stacks.push(vec![at]),
                }
                tree.parents[at] = within;
            } else {
                let parent = ids.get(&place.parent).copied();
                let parent = parent.filter(|parent| rank[*parent] < rank[at]);
                tree.parents[at] = parent;
                within = parent.filter(|parent| {
                    spans[*parent].worker == span.worker
                        && span.end <= tree.ends[*parent]
                        && taken[*parent] <= span.start
                });
            }
            if let Some(parent) = tree.parents[at] {
                tree.children[parent].push(at);
            }
            match within {
                Some(parent) => {
                    tree.lanes[at] = tree.lanes[parent];
                    tree.levels[at] = tree.levels[parent] + 1;
                    tree.ends[at] = span.end.min(tree.ends[parent]);
                    taken[parent] = tree.ends[at];
                }
                None => {
                    let lanes = free.entry(span.worker).or_default();
                    let lane = lanes.iter().position(|until| *until <= span.start);
                    let lane = lane.unwrap_or(lanes.len());
                    lanes.resize(lanes.len().max(lane + 1), i64::MIN);
                    lanes[lane] = span.end;
                    tree.lanes[at] = u32::try_from(lane).unwrap_or(u32::MAX);
                }
            }
        }
        tree
    }

    /// Finds when a call waits for none of the calls within it.
    fn find_pieces(&mut self, order: &[usize]) {
        for at in order.iter().copied() {
            let (start, end) = (self.starts[at], self.ends[at]);
            let mut reached = start;
            let mut pieces = Vec::new();
            for child in &self.children[at] {
                let from = self.starts[*child].min(end);
                if reached < from {
                    pieces.push((reached, from));
                }
                reached = reached.max(self.ends[*child].min(end));
            }
            if reached < end || start == end {
                pieces.push((reached, end));
            }
            self.pieces[at] = pieces;
        }
        for children in &mut self.children {
            children.sort_by_key(|child| self.ends[*child]);
        }
    }

    /// Returns the pieces that a piece of a call waited for.
    fn inputs(&self, at: usize, piece: usize) -> Vec<(usize, usize)> {
        let (start, _) = self.pieces[at][piece];
        if piece == 0 && start == self.starts[at] {
            return self.before(self.parents[at], start).into_iter().collect();
        }
        let mut inputs = Vec::new();
        let mut since = self.starts[at];
        if piece > 0 {
            inputs.push((at, piece - 1));
            since = self.pieces[at][piece - 1].1;
        }
        let children = &self.children[at];
        let first = children.partition_point(|child| self.ends[*child] <= since);
        let ended = children[first..].iter();
        let ended = ended.take_while(|child| self.ends[**child] <= start);
        inputs.extend(ended.filter_map(|child| self.last(*child)));
        inputs
    }

    /// Returns what ended last in a call, or before it, up to a moment.
    fn before(&self, call: Option<usize>, mut time: i64) -> Option<(usize, usize)> {
        let mut call = call;
        while let Some(at) = call {
            let own = self.pieces[at].partition_point(|(_, to)| *to <= time);
            let own = own.checked_sub(1);
            let children = &self.children[at];
            let ended = children.partition_point(|child| self.ends[*child] <= time);
            let child = ended.checked_sub(1).map(|last| children[last]);
            let own_end = own.map(|piece| self.pieces[at][piece].1);
            match (own, child) {
                (_, Some(child)) if Some(self.ends[child]) > own_end => {
                    if let Some(last) = self.last(child) {
                        return Some(last);
                    }
                }
                (Some(piece), _) => return Some((at, piece)),
                (None, _) => {}
            }
            time = time.min(self.starts[at]);
            call = self.parents[at];
        }
        None
    }

    /// Returns the piece with which a call ended.
    fn last(&self, mut at: usize) -> Option<(usize, usize)> {
        loop {
            let own = self.pieces[at].last().map(|(_, to)| *to);
            let child = self.children[at].last().copied();
            match child {
                Some(child) if own < Some(self.ends[child].min(self.ends[at])) => at = child,
                _ => return Some((at, self.pieces[at].len().checked_sub(1)?)),
            }
        }
    }
}

/// Returns whether a span that began in time ended before that, but for rounding.
fn lies_within(span: &OtherSpan, end: i64) -> bool {
    let over = span.end - end;
    over <= 0 || (over <= ROUNDING && over < end - span.start)
}

#[cfg(test)]
mod tests {
    use lapwing_model::{Id, Object, Span};

    use super::*;
    use crate::{DurationGroup, TaskDuration, TaskGraph, durations, lanes};

    /// A span with its lane, times and attributes.
    fn span(name: &str, lane: &str, times: [i64; 2], attributes: &[(&str, &str)]) -> Span {
        let events = ["begin", "end"].iter().zip(times);
        let attributes = attributes.iter();
        Span {
            instance: Id::derived(&[]),
            iteration: None,
            index: 0,
            category: "span".to_owned(),
            name: name.to_owned(),
            lane: Some(lane.to_owned()),
            inputs: None,
            clock: None,
            events: events
                .map(|(event, at)| ((*event).to_owned(), at))
                .collect(),
            attributes: attributes
                .map(|(key, value)| ((*key).to_owned(), (*value).into()))
                .collect::<Object>(),
            extra: Object::new(),
        }
    }

    fn pieces(trace: &Trace) -> Vec<(String, i64, i64)> {
        let tasks = trace.tasks.iter().map(|task| {
            let (from, to) = task.computing().expect("times");
            let place = format!("{} on {}", trace.text(task.name), trace.text(task.worker));
            (place, from, to)
        });
        tasks.collect()
    }

    fn named(pieces: &[(&str, i64, i64)]) -> Vec<(String, i64, i64)> {
        let pieces = pieces.iter();
        pieces
            .map(|(name, from, to)| ((*name).to_owned(), *from, *to))
            .collect()
    }

    #[test]
    fn each_moment_of_a_thread_belongs_to_the_innermost_call() {
        let trace = Trace::of_spans(&[
            span("handler", "1:1", [0, 100_000], &[]),
            span("query", "1:1", [1_000, 81_000], &[]),
            span("parse", "1:1", [2_000, 12_000], &[]),
            span("render", "1:1", [82_000, 99_000], &[]),
        ]);
        let expected = named(&[
            ("handler on 1:1", 0, 1_000),
            ("query on 1:1", 1_000, 2_000),
            ("parse on 1:1", 2_000, 12_000),
            ("query on 1:1", 12_000, 81_000),
            ("handler on 1:1", 81_000, 82_000),
            ("render on 1:1", 82_000, 99_000),
            ("handler on 1:1", 99_000, 100_000),
        ]);
        assert_eq!(pieces(&trace), expected);
        let calls = trace.calls.iter();
        let calls: Vec<_> = calls
            .map(|it| (trace.text(it.name), it.self_time, it.level))
            .collect();
        let expected = [
            ("handler", 3_000, 0),
            ("query", 70_000, 1),
            ("parse", 10_000, 2),
            ("render", 17_000, 1),
        ];
        assert_eq!(calls, expected);
        let of_query = &durations(&trace, DurationGroup::Class)["query"];
        let sum = |duration| (of_query[&duration].count, of_query[&duration].sum);
        assert_eq!(sum(TaskDuration::Compute), (1, 70_000));
        assert_eq!(sum(TaskDuration::Total), (1, 80_000));
        let levels: Vec<_> = lanes(&trace.with_whole_calls())
            .iter()
            .map(|lane| (lane.level, lane.pieces.len()))
            .collect();
        assert_eq!(levels, [(0, 1), (1, 2), (2, 1)]);
    }

    #[test]
    fn the_total_of_a_recursive_call_counts_once() {
        let trace = Trace::of_spans(&[
            span("walk", "t", [0, 100], &[]),
            span("walk", "t", [10, 90], &[]),
            span("walk", "t", [20, 80], &[]),
        ]);
        let of_walk = &durations(&trace, DurationGroup::Class)["walk"];
        assert_eq!(of_walk[&TaskDuration::Compute].sum, 100);
        assert_eq!(of_walk[&TaskDuration::Compute].count, 3);
        assert_eq!(of_walk[&TaskDuration::Total].sum, 100);
    }

    #[test]
    fn calls_that_overlap_without_nesting_are_on_separate_lanes() {
        let trace = Trace::of_spans(&[
            span("a", "h:w", [0, 10], &[]),
            span("b", "h:w", [5, 15], &[]),
            span("c", "h:w", [6, 8], &[]),
        ]);
        let expected = named(&[
            ("a on h:w", 0, 6),
            ("b on h:w #2", 5, 15),
            ("c on h:w", 6, 8),
            ("a on h:w", 8, 10),
        ]);
        assert_eq!(pieces(&trace), expected);
        let hosts = trace.tasks.iter().map(|task| trace.text(task.host));
        assert!(hosts.into_iter().all(|host| host == "h"));
    }

    #[test]
    fn asynchronous_spans_lie_only_within_those_of_their_own_id() {
        let trace = Trace::of_spans(&[
            span("request", "w", [0, 100], &[("async", "1")]),
            span("request", "w", [10, 20], &[("async", "2")]),
            span("wait", "w", [30, 40], &[("async", "1")]),
        ]);
        let expected = named(&[
            ("request on w", 0, 30),
            ("request on w #2", 10, 20),
            ("wait on w", 30, 40),
            ("request on w", 40, 100),
        ]);
        assert_eq!(pieces(&trace), expected);
    }

    #[test]
    fn a_parent_waits_for_its_children_on_other_services() {
        let child =
            |name, lane, times, id| span(name, lane, times, &[("span", id), ("parent", "1")]);
        let trace = Trace::of_spans(&[
            span("get", "front", [0, 100], &[("span", "1")]),
            child("auth", "users", [10, 30], "2"),
            child("rows", "shop", [30, 80], "3"),
            child("rows", "shop", [40, 90], "4"),
        ]);
        let expected = named(&[
            ("get:1 on front", 0, 10),
            ("auth:2 on users", 10, 30),
            ("rows:3 on shop", 30, 80),
            ("rows:4 on shop #2", 40, 90),
            ("get:1/2 on front", 90, 100),
        ]);
        assert_eq!(pieces(&trace), expected);
        let inputs = trace.tasks.iter().map(|task| {
            let inputs = task.inputs.iter().map(|input| trace.text(*input));
            inputs.collect::<Vec<_>>().join(" ")
        });
        let inputs: Vec<String> = inputs.collect();
        assert_eq!(
            inputs,
            [
                "",
                "get:1",
                "auth:2",
                "auth:2",
                "get:1 auth:2 rows:3 rows:4"
            ]
        );
        let graph = TaskGraph::with_work(&trace).expect("a graph");
        assert_eq!(graph.ideal(&trace).critical, 90);
    }

    #[test]
    fn spans_side_by_side_stay_tasks() {
        let trace = Trace::of_spans(&[span("a", "t", [0, 10], &[]), span("a", "t", [10, 20], &[])]);
        assert_eq!((trace.tasks.len(), trace.calls.len()), (2, 0));
    }
}
