//! The figures of all executions of a command, as sentences.

use lapwing_analyse::explain::{ExecutionFigures, SessionResult};
use lapwing_model::text::counted;

use crate::quantity;
use crate::writing::Note;

/// Relative difference of two means from which both are shown.
const UNLIKE: f64 = 0.02;

/// Returns the figures of all results if that is wanted, else of those whose arithmetic mean is not the value that is
/// shown.
pub fn notes(
    rows: &[SessionResult],
    all: bool,
    label: impl Fn(&SessionResult) -> String,
) -> Vec<Note> {
    let is_unlike = |row: &SessionResult, mean: f64| {
        let shown = row.wall.map_or(mean, |it| it.value);
        (mean / shown - 1.0).abs() > UNLIKE
    };
    let figures = rows.iter().filter_map(|row| Some((row, row.executions?)));
    let wanted = figures.filter(|(row, it)| all || is_unlike(row, it.mean));
    let notes = wanted.map(|(row, it)| {
        let note = Note::new("executions", format!("{}: {}", label(row), text(&it)));
        let note = if all { note } else { note.mark() };
        let note = note.with("benchmark", row.benchmark.as_str());
        let note = note.with("executions", it.count).with("mean", it.mean);
        let note = note
            .with("sd", it.sd)
            .with("min", it.min)
            .with("max", it.max);
        note.with("user_time", it.user)
            .with("system_time", it.system)
    });
    notes.collect()
}

/// Returns the figures of executions: `arithmetic mean 1.80 s ± 0.30 s, 1.42 s to 2.30 s in 10 executions, …`.
fn text(figures: &ExecutionFigures) -> String {
    let time = |seconds: f64| quantity(seconds, "s");
    let mut told = format!("arithmetic mean {}", time(figures.mean));
    if let Some(sd) = figures.sd {
        told.push_str(&format!(" ± {}", time(sd)));
    }
    let [min, max] = [figures.min, figures.max].map(time);
    let executions = counted(figures.count, "execution");
    told.push_str(&format!(", {min} to {max} in {executions}"));
    for (name, mean) in [("user", figures.user), ("system", figures.system)] {
        if let Some(mean) = mean {
            told.push_str(&format!(", {name} {}", time(mean)));
        }
    }
    told
}
