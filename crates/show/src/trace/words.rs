//! Traces in sentences, for the terminal and pages.

use std::collections::BTreeSet;

use crate::writing::Note;
use crate::{percent, quantity};
use lapwing_model::text::{capitalised, counted, joined, plural};
use lapwing_trace::{
    Cause, Contention, ContentionCause, Defect, DefectKind, GraphSource, Name, Overhead, PathPart,
    ProcessSample, Resource, TaskDuration, Trace, TraceFinding, TraceFindings, WaitReason,
    WaitsFor, off_cpu,
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
        "the trace has defects (`lapwing trace lint` explains them): {}",
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
        DefectKind::Clock | DefectKind::ShiftedClock => format!(
            "clock of{subject} off by {}",
            time(defect.offset.unwrap_or(0))
        ),
        _ => format!("{} × {what}{subject}", defect.count),
    }
}

/// Returns the number of tasks, or of calls, whose parts the tasks are then.
pub fn size(trace: &Trace) -> String {
    match trace.calls.len() {
        0 => counted(trace.tasks.len(), "task"),
        calls => counted(calls, "call"),
    }
}

/// Returns the sentence above all findings:
/// `137 s with 40 workers: 0.98 tasks compute at once, workers are busy 4.5 % of the time`.
pub fn headline(trace: &Trace, found: &TraceFindings) -> String {
    if trace.is_of_processes() {
        return processes_text(trace, found);
    }
    let whole = format!(
        "{} with {} and {}",
        time(found.workers.makespan),
        counted(found.workers.workers, "worker"),
        size(trace),
    );
    match found.workers.parallelism().zip(found.workers.utilisation()) {
        Some((tasks, busy)) => format!(
            "{whole}: {tasks:.2} {} compute at once on average, workers are busy {} of the time",
            if trace.calls.is_empty() {
                "tasks"
            } else {
                "calls"
            },
            percent(busy)
        ),
        None => format!("{whole}; the trace does not say when workers computed"),
    }
}

fn processes_text(trace: &Trace, found: &TraceFindings) -> String {
    let all = |of: fn(&ProcessSample) -> i64| trace.samples.iter().map(of).sum::<i64>();
    let makespan = found.workers.makespan;
    let lanes: BTreeSet<Name> = trace.samples.iter().map(|it| it.lane).collect();
    let [on_core, waiting] = [all(|it| it.cpu), all(|it| it.run_delay)];
    format!(
        "{} with {} {}: on average {:.2} cores are used, and {:.2} threads wait for one; at most {} resident",
        time(makespan),
        lanes.len(),
        plural(lanes.len(), "process", "processes"),
        share(on_core, makespan),
        share(waiting, makespan),
        quantity(share(trace.most_memory(), 1), "B"),
    )
}

/// Returns the most important finding, and in sentences what else is known: of a trace in which nothing stands out first
/// what [`headline`] says.
pub fn trace_answer(trace: &Trace, found: &TraceFindings) -> (String, Vec<String>) {
    let plain = |text: String| capitalised(&text.replace('`', ""));
    let headline = headline(trace, found);
    let findings = found.causes.findings.iter();
    let mut findings = findings.map(|finding| plain(finding_text(trace, found, finding)));
    let (answer, second) = match findings.next() {
        Some(first) => (first, headline),
        None => (headline, plain(no_finding(found))),
    };
    let notes = path_notes(found).into_iter().map(|note| plain(note.text));
    let facts = std::iter::once(second).chain(findings).chain(notes);
    (answer, facts.collect())
}

/// Returns what a finding says: the cause, and what the run takes without it.
pub fn finding_text(trace: &Trace, found: &TraceFindings, finding: &TraceFinding) -> String {
    let makespan = found.workers.makespan;
    let [now, without] = [makespan, finding.without].map(time);
    let gain = match &finding.cause {
        Cause::CriticalPath { .. } | Cause::FewTasks { .. } => {
            format!("with as much to do for every worker the run would take {now} → {without}")
        }
        _ => format!("without it the run takes {now} → {without}"),
    };
    format!("{}; {gain}", cause_text(trace, &finding.cause))
}

fn cause_text(trace: &Trace, cause: &Cause) -> String {
    let of_each = |it: &Overhead| {
        format!(
            "{} on average, {} at most",
            time(it.mean()),
            time(it.longest)
        )
    };
    match cause {
        Cause::SlowWorker {
            worker,
            times,
            tasks,
        } => format!(
            "worker {} takes {} as long as others for tasks of the same class ({})",
            trace.text(*worker),
            ratio(*times),
            counted(*tasks, "task"),
        ),
        Cause::SlowHost { host, times, tasks } => format!(
            "the workers of host {} take {} as long as others for tasks of the same class ({})",
            trace.text(*host),
            ratio(*times),
            counted(*tasks, "task"),
        ),
        Cause::SlowTasks {
            class,
            task,
            times,
            tasks: 1,
        } => format!(
            "task `{}` takes {} as long as the median of its class `{}`",
            trace.text(*task),
            ratio(*times),
            trace.text(*class),
        ),
        Cause::SlowTasks {
            class,
            task,
            times,
            tasks,
        } => format!(
            "{tasks} tasks of `{}` take far longer than the median of the class: `{}` takes {} as long",
            trace.text(*class),
            trace.text(*task),
            ratio(*times),
        ),
        Cause::LongClass {
            class,
            tasks,
            times,
        } if trace.calls.is_empty() => {
            let delayed = off_cpu(trace).into_iter().find(|it| it.class == *class);
            let delayed = delayed.filter(|it| it.waits_for == WaitsFor::Core);
            let delay = delayed.and_then(|it| Some((it.run_delay?, it.computing)));
            format!(
                "class `{}` takes most of the path to the end: {} of it, each {} as long as others{}",
                trace.text(*class),
                counted(*tasks, "task"),
                ratio(*times),
                match delay {
                    Some((delay, computing)) => format!(
                        "; they wait for a core for {} of {}",
                        time(delay),
                        time(computing)
                    ),
                    None => String::new(),
                }
            )
        }
        Cause::LongClass { class, .. } => {
            let of_class = trace.calls.iter().filter(|call| call.class == *class);
            let (count, own) = of_class.fold((0, 0), |(count, own), call| {
                (count + 1, own + call.self_time)
            });
            format!(
                "`{}` takes most of the path to the end: {}, {} without the calls within",
                trace.text(*class),
                counted(count, "call"),
                time(own),
            )
        }
        Cause::CriticalPath {
            tasks,
            class,
            duration,
        } => format!(
            "too little parallelism: a chain of {} that wait for each other, mostly `{}`, takes {}",
            counted(*tasks, "task"),
            trace.text(*class),
            time(*duration),
        ),
        Cause::FewTasks { tasks, workers } => format!(
            "too few tasks: {} for {}",
            counted(*tasks, "task"),
            counted(*workers, "worker"),
        ),
        Cause::Copies {
            copies,
            sum,
            avoidable,
        } => {
            let local = match avoidable {
                0 => String::new(),
                all if all == copies => {
                    "; all of them for tasks whose inputs were made on one other host, where they could run"
                        .to_owned()
                }
                some => format!(
                    "; {some} of them for tasks whose inputs were made on one other host, where they could run"
                ),
            };
            format!(
                "tasks wait for copies of their inputs: {}, {} in all{local}",
                counted(*copies, "copy"),
                time(*sum),
            )
        }
        Cause::RedundantCopies { copies, sum } => format!(
            "tasks wait for copies of data that were there already: {}, {} in all",
            counted(*copies, "copy"),
            time(*sum),
        ),
        Cause::LateWorkers { workers: 1, until } => format!(
            "a worker came {} late, while tasks were ready",
            time(*until)
        ),
        Cause::LateWorkers { workers, until } => format!(
            "{} came late{} after {}, while tasks were ready",
            counted(*workers, "worker"),
            if *workers > 1 { ", the last" } else { "" },
            time(*until)
        ),
        Cause::Stall {
            from,
            until,
            is_freeze: false,
        } => format!(
            "no task started from {} to {}, although tasks were ready and workers idle",
            time(*from),
            time(*until),
        ),
        Cause::Stall {
            from,
            until,
            is_freeze: true,
        } => format!(
            "no task started or ended from {} to {}, and those under way took so much longer than usual",
            time(*from),
            time(*until),
        ),
        Cause::Barrier { barriers, tasks } => format!(
            "{} wait at {} for all tasks of the stage before, instead of for one each",
            counted(*tasks, "task"),
            counted(*barriers, "barrier"),
        ),
        Cause::Sequences { tasks, sum } => format!(
            "{} sent to workers together, which start when the inputs of all of them are there: {} of waiting for inputs of others",
            counted(*tasks, "task"),
            time(*sum),
        ),
        Cause::ControllerNotice(it) => {
            format!(
                "the controller notices late that tasks are done: {}",
                of_each(it)
            )
        }
        Cause::ControllerPlanning(it) => {
            format!(
                "the controller plans tasks late: {} after it could",
                of_each(it)
            )
        }
        Cause::ToWorker(it) => {
            format!("tasks are long on the way to their worker: {}", of_each(it))
        }
        Cause::StartUp(it) => format!(
            "tasks do not start although they are on an idle worker with all of their inputs: {}",
            of_each(it)
        ),
        Cause::Load(it) => format!("loading inputs takes long: {}", of_each(it)),
        Cause::Publish(it) => format!("publishing results takes long: {}", of_each(it)),
        Cause::SmallTasks {
            tasks,
            computing,
            overhead,
        } => format!(
            "tasks are too small for their overhead: {} compute for {} and take {} around it on average",
            counted(*tasks, "task"),
            time(*computing),
            time(*overhead),
        ),
        Cause::Imbalance { worker, busy, mean } => format!(
            "imbalance: worker {} is busy for {}, {} the mean of {}, and another placement of the same tasks ends sooner",
            trace.text(*worker),
            time(*busy),
            ratio(share(*busy, *mean)),
            time(*mean),
        ),
        Cause::Contention(all) => {
            let first = all.first().map(|it| contention_text(trace, it));
            let others = if all.len() > 1 {
                "; other classes are slower, too"
            } else {
                ""
            };
            format!("contention: {}{others}", first.unwrap_or_default())
        }
        Cause::Retries { tasks, worker } => {
            let again = if *tasks == 1 { "was" } else { "were" };
            let again = format!("{} {again} tried again", counted(*tasks, "task"));
            match worker {
                Some(worker) => format!("{again} after worker {} died", trace.text(*worker)),
                None => again,
            }
        }
        Cause::OffCpu(it) => format!(
            "`{}` is off the CPU{} for {} of its {} ({} of {}{}){}{}",
            trace.text(it.class),
            match (it.waits_for, it.run_delay) {
                (WaitsFor::Core, _) => "",
                (_, Some(_)) => " (sleeping, reading, or waiting for a lock)",
                (_, None) => " (sleeping, reading, or waiting for a lock or a core)",
            },
            percent(share(it.sum, it.computing)),
            if trace.is_of_processes() {
                "time"
            } else {
                "computing"
            },
            time(it.sum),
            time(it.computing),
            match trace.is_of_processes() {
                true => String::new(),
                false => format!(", {}", counted(it.tasks, "task")),
            },
            match it.run_delay {
                Some(delay) if share(delay, it.computing) >= 0.01 => {
                    format!(", and waits for a core for {}", time(delay))
                }
                Some(_) | None => String::new(),
            },
            match it.waits_for {
                WaitsFor::Core | WaitsFor::Unknown => String::new(),
                waits_for => format!(": {}", waits_for_text(waits_for)),
            }
        ),
    }
}

fn contention_text(trace: &Trace, it: &Contention) -> String {
    let [lower, upper] = it.slope_interval.map(|slope| slope / it.alone);
    format!(
        "each further task that computes{} makes `{}` {} slower [{}, {}] ({}, {:.1} at once on average){}",
        match trace.text(it.host) {
            "" => " at once".to_owned(),
            host => format!(" at once on {host}"),
        },
        trace.text(it.class),
        percent(it.slope / it.alone),
        percent(lower),
        percent(upper),
        counted(it.tasks, "task"),
        it.concurrency,
        match it.cause {
            None | Some(ContentionCause::OffCpu(WaitsFor::Unknown)) => String::new(),
            Some(ContentionCause::OnCpu) =>
                "; they take more time on the CPU, as cores do that share caches or memory"
                    .to_owned(),
            Some(ContentionCause::OffCpu(waits_for)) => format!("; {}", waits_for_text(waits_for)),
        }
    )
}

/// Returns how many times as long: `6.0×`.
fn ratio(times: f64) -> String {
    if times < 10.0 {
        format!("{times:.1}×")
    } else {
        format!("{times:.0}×")
    }
}

/// Returns the sentence for a run without findings, with its reason.
pub fn no_finding(found: &TraceFindings) -> String {
    let error = share(found.causes.error, found.workers.makespan);
    if error > 0.5 {
        return format!(
            "nothing can be said: the replay of the run is off by {}, as where much of a trace is missing",
            percent(error)
        );
    }
    let busy = match found.workers.utilisation() {
        None => "the trace does not say when workers were busy".to_owned(),
        Some(busy) if found.ideal.is_none() && busy < 0.8 => format!(
            "workers are busy {} of the time, and without the graph (`--graph`) the trace does not say what they \
             waited for",
            percent(busy)
        ),
        Some(busy) => format!(
            "workers are busy {} of the time, and no cause that is looked for costs 3 % of the run",
            percent(busy)
        ),
    };
    format!("nothing stands out: {busy}")
}

fn waits_for_text(waits_for: WaitsFor) -> &'static str {
    match waits_for {
        WaitsFor::Core => "they wait for a core",
        WaitsFor::Resource(Resource::Cpu) => "the host's processes wait for a free core",
        WaitsFor::Resource(Resource::Io) => "the host's processes wait for disks",
        WaitsFor::Resource(Resource::Memory) => "the host's processes wait for memory",
        WaitsFor::Process => {
            "the host has free cores and disks, so they wait for a lock (such as Python's), for others, or sleep"
        }
        WaitsFor::Unknown => "the trace does not say what for",
    }
}

/// Returns a sentence about the replay that findings come from, and one about what tasks waited for.
pub fn replay_notes(found: &TraceFindings) -> Vec<Note> {
    let causes = &found.causes;
    let how = if causes.is_adaptive {
        "each task on the worker that is free first"
    } else {
        "each task on the worker that it had"
    };
    let text = format!(
        "replayed with {how}, the run takes {}: {} from {} as measured; what gains less is no finding",
        time(causes.replayed),
        percent(share(causes.error, found.workers.makespan)),
        time(found.workers.makespan),
    );
    let mut notes = vec![Note::new("replay", text).with("error", causes.error)];
    if causes.graph == GraphSource::Independent {
        let text = "the trace does not say which tasks wait for which, and its workers had tasks all the time: each is taken to wait for no other (`--graph FILE` says it)";
        notes.push(Note::new("independent", text));
    }
    let all: i64 = causes.waits.iter().sum();
    let mut waits: Vec<(WaitReason, i64)> = (WaitReason::ALL.into_iter().zip(causes.waits))
        .filter(|(_, it)| *it > 0)
        .collect();
    waits.sort_by_key(|(_, time)| -time);
    let waits: Vec<String> = waits
        .into_iter()
        .map(|(reason, time)| format!("{} {}", percent(share(time, all)), reason.meaning()))
        .collect();
    if found.ideal.is_some() && !waits.is_empty() {
        let text = format!(
            "tasks whose inputs are done wait {}: {}",
            time(all),
            joined(waits)
        );
        notes.push(Note::new("waits", text));
    }
    notes
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
