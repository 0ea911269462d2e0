//! `lapwing trace show findings`: what explains the time.

use std::io;

use lapwing_show::trace::{finding_text, headline, path_texts, share, time};
use lapwing_show::writing::Align::{Left, Right};
use lapwing_show::writing::{AnswerFormat, Table, TextAnswer};
use lapwing_trace::{Trace, TraceFinding, TraceFindings, find, lint};
use serde_json::{Value, json};

use super::lint::defect_rows;
use super::read::{ShownTrace, write};
use crate::answer::{write_csv, write_json};
use crate::error::{CliError, ExitStatus};
use crate::options::Context;

/// Shows the findings.
pub fn act(shown: &ShownTrace, context: &Context) -> Result<ExitStatus, CliError> {
    let trace = shown.read(context)?;
    let found = find(&trace).ok_or_else(|| match trace.tasks.is_empty() {
        true => CliError::input("the trace has no task"),
        false => CliError::input("the tasks of this trace have durations and no times")
            .hint("`lapwing trace what-if` replays them, `lapwing trace show tasks` shows how long they took"),
    })?;
    let mut out = io::stdout().lock();
    let written = match shown.answer.format {
        AnswerFormat::Json => write_json(&json(&trace, &found), &mut out),
        AnswerFormat::Csv => write_csv(&rows(&trace, &found), &mut out),
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

fn answer(trace: &Trace, found: &TraceFindings) -> TextAnswer {
    let mut table = Table::new(&[("explains", Right), ("finding", Left)]);
    for finding in &found.findings {
        table.row(vec![
            time(finding.explains()),
            finding_text(trace, found, finding),
        ]);
    }
    let mut notes = Vec::new();
    let all = found.workers.all();
    let mut parts: Vec<(&str, i64)> = found
        .workers
        .parts
        .iter()
        .map(|(part, time)| (part.meaning(), *time))
        .chain([("idle", found.workers.idle)])
        .filter(|(_, time)| *time > 0)
        .collect();
    parts.sort_by_key(|(_, time)| -time);
    let texts = parts.iter().map(|(what, time)| {
        let share = lapwing_show::percent(share(*time, all));
        format!("{share} {what}")
    });
    notes.push(format!(
        "workers' time: {}",
        lapwing_model::text::joined(texts)
    ));
    notes.extend(path_texts(found));
    TextAnswer {
        headline: headline(trace, found),
        table,
        notes,
    }
}

#[derive(Default, serde::Serialize)]
struct TraceFindingRow {
    kind: &'static str,
    explains: i64,
    text: String,
}

fn rows(trace: &Trace, found: &TraceFindings) -> Vec<TraceFindingRow> {
    let findings = found.findings.iter();
    findings
        .map(|finding| TraceFindingRow {
            kind: match finding {
                TraceFinding::TaskTime { .. } => "task_time",
                TraceFinding::Queue { .. } => "queue",
                TraceFinding::OffCpu(_) => "off_cpu",
                TraceFinding::Contention(_) => "contention",
                TraceFinding::Redundant { .. } => "redundant",
                TraceFinding::HotDataset { .. } => "hot_dataset",
                TraceFinding::Imbalance { .. } => "imbalance",
                TraceFinding::Controller { .. } => "controller",
            },
            explains: finding.explains(),
            text: finding_text(trace, found, finding),
        })
        .collect()
}

fn json(trace: &Trace, found: &TraceFindings) -> Value {
    let workers = &found.workers;
    let parts = workers.parts.iter();
    let parts: serde_json::Map<String, Value> = parts
        .map(|(part, time)| (part.name().to_owned(), json!(time)))
        .collect();
    let busy = workers.busy.iter();
    let busy: serde_json::Map<String, Value> = busy
        .map(|(worker, time)| (trace.text(*worker).to_owned(), json!(time)))
        .collect();
    let path = found.path.as_ref().map(|path| {
        let tasks = path.tasks.iter();
        let tasks: Vec<&str> = tasks.map(|at| trace.text(trace.tasks[*at].name)).collect();
        let parts = path.parts().into_iter();
        let parts = parts.map(|(part, time)| (part.name().to_owned(), json!(time)));
        let parts: serde_json::Map<String, Value> = parts.collect();
        json!({"observed": path.is_observed, "duration": path.duration(), "tasks": tasks, "parts": parts})
    });
    let ideal = found.ideal.as_ref().map(|ideal| {
        let tasks = ideal.path.iter();
        let tasks: Vec<&str> = tasks.map(|at| trace.text(trace.tasks[*at].name)).collect();
        let slack = trace.tasks.iter().zip(&ideal.slack);
        let slack: serde_json::Map<String, Value> = slack
            .map(|(task, slack)| (trace.text(task.name).to_owned(), json!(slack)))
            .collect();
        json!({
            "critical_path": ideal.critical,
            "tasks": tasks,
            "slack": slack,
            "work": ideal.work,
            "bound_with_measured_workers": ideal.bound(workers.workers),
        })
    });
    json!({
        "makespan": workers.makespan,
        "tasks": trace.tasks.len(),
        "workers": workers.workers,
        "utilisation": workers.utilisation(),
        "parallelism": workers.parallelism(),
        "worker_time": {"parts": parts, "idle": workers.idle, "all": workers.all(), "busy": busy},
        "path": path,
        "ideal": ideal,
        "findings": rows(trace, found),
        "defects": defect_rows(&lint(trace)),
    })
}
