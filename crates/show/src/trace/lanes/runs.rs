//! What is drawn of a run, and of two runs on one page.

use std::borrow::Cow;

use lapwing_trace::{
    Lane, LaneKind, LanePart, MISSING, Name, TaskGraph, TaskWait, Trace, TraceFindings, lanes,
};

/// One run, or two of the same tasks, as drawn.
pub(super) struct DrawnRuns<'t> {
    /// The trace; of two runs everything of both, the second of which begins when the first does.
    pub trace: Cow<'t, Trace>,
    /// The lanes; those of the second run follow those of the first.
    pub lanes: Vec<Lane>,
    /// The tasks that each task waits for.
    pub inputs: Vec<Vec<usize>>,
    pub waits: Vec<TaskWait>,
    /// Number of lanes, and of tasks, of the first run.
    pub first: (usize, usize),
}

impl<'t> DrawnRuns<'t> {
    pub(super) fn of(trace: &'t Trace, found: &TraceFindings) -> Self {
        // Whole calls are not the tasks that paths and waits are about.
        let is_tasks = trace.calls.is_empty();
        let trace = trace.with_whole_calls();
        let graph = TaskGraph::of(&trace).filter(|_| is_tasks);
        let waits = if is_tasks {
            found.task_waits(&trace)
        } else {
            Vec::new()
        };
        let lanes = lanes(&trace);
        Self {
            first: (lanes.len(), trace.tasks.len()),
            inputs: graph.map(|graph| graph.inputs).unwrap_or_default(),
            waits,
            lanes,
            trace,
        }
    }

    /// Adds another run below.
    pub(super) fn add(&mut self, mut other: Self) {
        let trace = self.trace.to_mut();
        let begins = [&*trace, &*other.trace].map(|it| it.range().map_or(0, |(begin, _)| begin));
        let names = other.trace.names.texts().iter();
        let names: Vec<Name> = names.map(|text| trace.names.intern(text)).collect();
        shift(&mut other, begins[0] - begins[1], &names);
        let (tasks, transfers, phases) =
            (trace.tasks.len(), trace.transfers.len(), trace.phases.len());
        for lane in &mut other.lanes {
            for piece in &mut lane.pieces {
                piece.item += match lane.kind {
                    LaneKind::Controller => phases,
                    LaneKind::Worker => tasks,
                    LaneKind::Transfers => transfers,
                };
            }
        }
        for inputs in &mut other.inputs {
            inputs.iter_mut().for_each(|input| *input += tasks);
        }
        self.inputs.resize(tasks, Vec::new());
        self.waits.resize(tasks, TaskWait::default());
        self.inputs.extend(other.inputs);
        self.waits.extend(other.waits);
        self.lanes.extend(other.lanes);
        let other = other.trace.into_owned();
        trace.tasks.extend(other.tasks);
        trace.transfers.extend(other.transfers);
        trace.phases.extend(other.phases);
    }
}

/// Moves all that is drawn by a time, and gives it the names of another trace.
fn shift(run: &mut DrawnRuns<'_>, by: i64, names: &[Name]) {
    let renamed = |name: &mut Name| *name = names[name.0 as usize];
    let moved = |time: &mut i64| {
        if *time != MISSING {
            *time += by;
        }
    };
    for lane in &mut run.lanes {
        renamed(&mut lane.name);
        for piece in &mut lane.pieces {
            piece.start += by;
            piece.end += by;
            if let LanePart::Phase(name) = &mut piece.part {
                renamed(name);
            }
        }
    }
    let trace = run.trace.to_mut();
    for task in &mut trace.tasks {
        [
            &mut task.name,
            &mut task.class,
            &mut task.worker,
            &mut task.host,
        ]
        .into_iter()
        .for_each(renamed);
        task.events.iter_mut().for_each(moved);
    }
    for transfer in &mut trace.transfers {
        [
            &mut transfer.dataset,
            &mut transfer.source,
            &mut transfer.target,
        ]
        .into_iter()
        .for_each(renamed);
        transfer.events.iter_mut().for_each(moved);
    }
    for phase in &mut trace.phases {
        renamed(&mut phase.name);
        [&mut phase.start, &mut phase.end]
            .into_iter()
            .for_each(moved);
    }
}
