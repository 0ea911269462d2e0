//! Traces in sentences, for the terminal and pages.

use crate::writing::Note;
use crate::{percent, quantity};
use lapwing_model::text::{counted, joined};
use lapwing_trace::{
    ContentionCause, Defect, DefectKind, PathPart, Resource, TaskDuration, Trace, TraceFinding,
    TraceFindings, WaitsFor,
};

/// Returns a time in ns as `1.31 s`.
#[expect(clippy::cast_precision_loss, reason = "durations are far below 2⁵³ ns")]
pub fn time(nanoseconds: i64) -> String {
    quantity(nanoseconds as f64 / 1e9, "s")
}

/// Returns a difference of times in ns as `+1.31 s`.
pub fn signed_time(nanoseconds: i64) -> String {
    let sign = if nanoseconds < 0 { "−" } else { "+" };
    format!("{sign}{}", time(nanoseconds.abs()))
}

/// Returns a share of times.
#[expect(clippy::cast_precision_loss, reason = "durations are far below 2⁵³ ns")]
pub fn share(part: i64, all: i64) -> f64 {
    part as f64 / all.max(1) as f64
}

/// Returns a change as `+12 %`.
pub fn signed_percent(change: f64) -> String {
    let sign = if change < 0.0 { "−" } else { "+" };
    format!("{sign}{}", percent(change.abs()))
}

/// Returns a sentence about all defects, if there are any.
pub fn defects_text(defects: &[Defect]) -> Option<String> {
    if defects.is_empty() {
        return None;
    }
    let texts = defects.iter().map(defect_text);
    Some(format!(
        "the trace has defects (`lapwing trace show lint` explains them): {}",
        joined(texts)
    ))
}

/// Returns `12 × negative duration to_controller`.
pub fn defect_text(defect: &Defect) -> String {
    let what = defect.kind.name().replace('_', " ");
    let subject = match defect.subject.as_str() {
        "" => String::new(),
        subject => format!(" {subject}"),
    };
    match defect.kind {
        DefectKind::Clock => format!("clock of{subject} off by {}", defect.example),
        _ => format!("{} × {what}{subject}", defect.count),
    }
}

/// Returns the sentence above all findings:
/// `137 s with 40 workers: 0.98 tasks compute at once, workers are busy 4.5 % of the time`.
pub fn headline(trace: &Trace, found: &TraceFindings) -> String {
    let whole = format!(
        "{} with {} and {}",
        time(found.workers.makespan),
        counted(found.workers.workers, "worker"),
        counted(trace.tasks.len(), "task"),
    );
    match found.workers.parallelism().zip(found.workers.utilisation()) {
        Some((tasks, busy)) => format!(
            "{whole}: {tasks:.2} tasks compute at once on average, workers are busy {} of the time",
            percent(busy)
        ),
        None => format!("{whole}; the trace does not say when workers computed"),
    }
}

/// Returns what a finding says.
pub fn finding_text(trace: &Trace, found: &TraceFindings, finding: &TraceFinding) -> String {
    match finding {
        TraceFinding::TaskTime { part, sum, total } => {
            let while_busy = found.workers.parallelism().zip(found.workers.utilisation());
            let while_busy = while_busy.map_or_else(String::new, |(tasks, busy)| {
                let busy = percent(busy);
                format!(", while {tasks:.2} tasks compute at once and workers are busy {busy} of the time")
            });
            format!(
                "{} of task time is {} ({} of {}){while_busy}",
                percent(share(*sum, *total)),
                part.meaning(),
                time(*sum),
                time(*total),
            )
        }
        TraceFinding::Queue { sum, all } => format!(
            "{} of workers' time a task is in the queue and nothing else happens on its worker ({} of {})",
            percent(share(*sum, *all)),
            time(*sum),
            time(*all)
        ),
        TraceFinding::OffCpu(it) => format!(
            "`{}` is off the CPU for {} of its computing ({} of {}, {}){}",
            trace.text(it.class),
            percent(share(it.sum, it.computing)),
            time(it.sum),
            time(it.computing),
            counted(it.tasks, "task"),
            match it.waits_for {
                WaitsFor::Unknown => String::new(),
                waits_for => format!(": {}", waits_for_text(waits_for)),
            }
        ),
        TraceFinding::Contention(it) => {
            let [lower, upper] = it.slope_interval.map(|slope| slope / it.alone);
            format!(
                "each further task that computes{} makes `{}` {} slower [{}, {}]: {} tasks, {:.1} at once on average, {} lost{}",
                match trace.text(it.host) {
                    "" => " at once".to_owned(),
                    host => format!(" at once on {host}"),
                },
                trace.text(it.class),
                percent(it.slope / it.alone),
                percent(lower),
                percent(upper),
                it.tasks,
                it.concurrency,
                quantity(it.lost / 1e9, "s"),
                match it.cause {
                    None | Some(ContentionCause::OffCpu(WaitsFor::Unknown)) => String::new(),
                    Some(ContentionCause::OnCpu) =>
                        "; they take more time on the CPU, as cores do that share caches or memory"
                            .to_owned(),
                    Some(ContentionCause::OffCpu(waits_for)) =>
                        format!("; {}", waits_for_text(waits_for)),
                }
            )
        }
        TraceFinding::Redundant { count, sum } => format!(
            "{} of data that were there already took {}",
            counted(*count, "transfer"),
            time(*sum)
        ),
        TraceFinding::HotDataset {
            dataset,
            count,
            sum,
        } => format!(
            "dataset `{}` went to {}, which took {}",
            trace.text(*dataset),
            counted(*count, "target"),
            time(*sum)
        ),
        TraceFinding::Imbalance {
            worker, busy, mean, ..
        } => format!(
            "worker {} is busy for {}, {:.1}× the mean of {}",
            trace.text(*worker),
            time(*busy),
            share(*busy, *mean),
            time(*mean)
        ),
        TraceFinding::Controller { busy, duty } => format!(
            "the controller itself is busy {} of the time ({})",
            percent(*duty),
            time(*busy)
        ),
    }
}

fn waits_for_text(waits_for: WaitsFor) -> &'static str {
    match waits_for {
        WaitsFor::Resource(Resource::Cpu) => "the host's processes wait for a free core",
        WaitsFor::Resource(Resource::Io) => "the host's processes wait for disks",
        WaitsFor::Resource(Resource::Memory) => "the host's processes wait for memory",
        WaitsFor::Process => {
            "the host has free cores and disks, so they wait for a lock (such as Python's), for others, or sleep"
        }
        WaitsFor::Unknown => "the trace does not say what for",
    }
}

/// Returns sentences about the path to the end, and about what the graph alone allows.
pub fn path_notes(found: &TraceFindings) -> Vec<Note> {
    let mut notes = Vec::new();
    if let Some(path) = &found.path {
        let all = path.duration();
        let mut parts: Vec<(PathPart, i64)> =
            path.parts().into_iter().filter(|it| it.1 > 0).collect();
        parts.sort_by_key(|(_, time)| -time);
        let parts = parts.iter().take(4);
        let parts =
            parts.map(|(part, time)| format!("{} {}", percent(share(*time, all)), part.meaning()));
        let what = if path.is_observed {
            "observed path to the end (the trace has no graph)"
        } else {
            "path to the end"
        };
        // A path without times has no parts.
        let parts = joined(parts);
        let end = if parts.is_empty() { "" } else { "; " };
        let text = format!(
            "{what}, {}: {parts}{end}{} of {}",
            counted(path.tasks.len(), "task"),
            time(all),
            time(found.workers.makespan),
        );
        notes.push(Note::new("path", text));
    }
    if let Some(ideal) = &found.ideal {
        let text = format!(
            "critical path, {}: {}, {} of the makespan; {} could do all work in {} at best",
            counted(ideal.path.len(), "task"),
            time(ideal.critical),
            percent(share(ideal.critical, found.workers.makespan)),
            counted(found.workers.workers, "worker"),
            time(ideal.bound(found.workers.workers)),
        );
        notes.push(Note::new("critical_path", text));
        if ideal.implied > 0 {
            let text = format!(
                "{} without inputs were planned only after another task had completed: the program waited for it, \
                 which counts as an input",
                counted(ideal.implied, "task")
            );
            notes.push(Note::new("implied_inputs", text).with("tasks", ideal.implied));
        }
    }
    notes
}

/// Returns the title of a column.
pub fn column_title(duration: TaskDuration) -> String {
    duration.name().replace('_', " ")
}
