//! Where two runs first differ, in a sentence.

use lapwing_model::text::counted;
use lapwing_trace::{DivergenceKind, MatchedRuns, Trace};

use super::{signed_time, time};
use crate::percent;
use crate::writing::Note;

/// Returns a note on the first task that differs between two runs by more than noise, or on that there is none.
pub fn divergence_note(runs: [&Trace; 2], names: [&str; 2], matched: &MatchedRuns) -> Note {
    let [one, other] = names;
    let count = matched.pairs.len();
    let fewer = runs[0].tasks.len().min(runs[1].tasks.len());
    if 2 * count < fewer {
        let text = format!(
            "{one} and {other} have only {} of the same name, of {fewer}: too few to tell where they diverge",
            counted(count, "task")
        );
        return Note::marked("divergence", text).with("matched", count);
    }
    let Some(first) = matched.first else {
        let [before, after] = runs.map(Trace::makespan);
        let text = format!(
            "no single task stands out: {} of both runs differ with a spread of {}, and none by much more; \
             the whole takes {} in {one} and {} in {other}, which `lapwing trace compare` explains by class",
            counted(count, "task"),
            percent(matched.noise),
            time(before),
            time(after),
        );
        return Note::marked("divergence", text)
            .with("matched", count)
            .with("noise", matched.noise)
            .with("baseline", before)
            .with("candidate", after);
    };
    let task = |run: usize| first.tasks[run].map(|task| &runs[run].tasks[task]);
    let name = [0, 1]
        .into_iter()
        .find_map(|run| Some(runs[run].text(task(run)?.name)));
    let name = name.unwrap_or_default();
    let worker = |run: usize| task(run).map_or("", |task| runs[run].text(task.worker));
    let quoted = format!("`{name}`");
    let (kind, what) = match first.kind {
        DivergenceKind::Missing => {
            let has = if first.tasks[0].is_some() { one } else { other };
            ("missing", format!("only {has} has {quoted}"))
        }
        DivergenceKind::Worker => {
            let [before, after] = [worker(0), worker(1)];
            (
                "worker",
                format!("{quoted} runs on {before} in {one} and on {after} in {other}"),
            )
        }
        DivergenceKind::Start(times) => {
            let [before, after] = times.map(time);
            let text =
                format!("{quoted} starts {before} after it could in {one}, and {after} in {other}");
            ("start", text)
        }
        DivergenceKind::Duration(times) => {
            let [before, after] = times.map(time);
            let difference = signed_time(times[1] - times[0]);
            let text =
                format!("{quoted} takes {before} in {one} and {after} in {other} ({difference})");
            ("duration", text)
        }
    };
    let text = format!("first divergence at {}: {what}", time(first.at));
    Note::marked("divergence", text)
        .with("matched", count)
        .with("noise", matched.noise)
        .with("at", first.at)
        .with("task", name.to_owned())
        .with("kind", kind)
}
