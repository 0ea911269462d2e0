//! `lapwing trace show controller`: what the controller does.

use std::io;

use lapwing_model::text::counted;
use lapwing_show::percent;
use lapwing_show::trace::time;
use lapwing_show::writing::Align::{Left, Right};
use lapwing_show::writing::{AnswerFormat, Table, TextAnswer};
use lapwing_trace::{ControllerTime, Trace, controller_time};
use serde_json::json;

use super::read::{ShownTrace, write};
use crate::answer::{write_csv, write_json};
use crate::error::{CliError, ExitStatus};
use crate::options::Context;

#[derive(Debug, Default, serde::Serialize)]
struct PhaseRow<'a> {
    phase: &'a str,
    count: usize,
    sum: i64,
    max: i64,
}

/// Shows the phases.
pub fn act(shown: &ShownTrace, context: &Context) -> Result<ExitStatus, CliError> {
    let trace = shown.read(context)?;
    let found = controller_time(&trace)
        .ok_or_else(|| CliError::input("the trace says nothing of a controller"))?;
    let mut out = io::stdout().lock();
    let written = match shown.answer.format {
        AnswerFormat::Json => write_json(
            &json!({
                "phases": rows(&found),
                "counts": found.counts,
                "iterations": found.iterations,
                "events": found.events,
                "duty": found.duty(),
                "busy_while_waiting": found.busy_while_waiting,
            }),
            &mut out,
        ),
        AnswerFormat::Csv => write_csv(&rows(&found), &mut out),
        AnswerFormat::Text | AnswerFormat::Markdown => {
            drop(out);
            write(
                answer(&trace, &found),
                &[&trace],
                shown.answer.format,
                context,
            )
        }
    };
    CliError::unless_reader_left(written)?;
    Ok(ExitStatus::Fine)
}

fn rows(found: &ControllerTime) -> Vec<PhaseRow<'_>> {
    let phases = found.phases.iter();
    phases
        .map(|(name, it)| PhaseRow {
            phase: name,
            count: it.count,
            sum: it.sum,
            max: it.max,
        })
        .collect()
}

fn answer(trace: &Trace, found: &ControllerTime) -> TextAnswer {
    let mut table = Table::new(&[
        ("phase", Left),
        ("number", Right),
        ("sum", Right),
        ("longest", Right),
    ]);
    for (name, it) in &found.phases {
        table.row(vec![
            name.clone(),
            it.count.to_string(),
            time(it.sum),
            time(it.max),
        ]);
    }
    let duty = match found.duty() {
        Some(duty) => format!(", busy {} of the time", percent(duty)),
        None => String::new(),
    };
    let counts = found.counts.iter();
    let counts: Vec<String> = counts
        .map(|(name, count)| match name.ends_with("Duration") {
            true => format!("{name} {}", time(*count)),
            false => format!("{name} {count}"),
        })
        .collect();
    TextAnswer {
        headline: format!(
            "{} in {}: {} of tasks and transfers{duty}",
            counted(found.iterations, "iteration"),
            time(trace.makespan()),
            counted(found.events, "completion")
        ),
        table,
        notes: (!counts.is_empty())
            .then(|| format!("counted: {}", counts.join(", ")))
            .into_iter()
            .collect(),
    }
}
