//! The next stacks to measure.

use std::path::Path;

use lapwing_model::text::counted;
use lapwing_show::writing::Align::{Left, Right};
use lapwing_show::writing::{AnswerFormat, Table};
use lapwing_stats::Seed;
use lapwing_study::StackModel;
use serde::Serialize;
use serde_json::json;

use super::answer::{about, expected_text, write_rows};
use super::files;
use crate::error::{CliError, ExitStatus};
use crate::options::Context;

/// Below this expected improvement measuring more is hardly worth it.
const SMALLEST: f64 = 0.01;

#[derive(Default, Serialize)]
struct ExploredRow {
    stack: String,
    instances: usize,
    expected: Option<f64>,
    expected_improvement_percent: Option<f64>,
}

/// Shows the next stacks, and writes them one per line.
pub fn show(
    model: &StackModel<'_>,
    count: usize,
    seed: Seed,
    file: Option<&Path>,
    format: AnswerFormat,
    mut notes: Vec<String>,
    context: &Context,
) -> Result<ExitStatus, CliError> {
    let explored = model.explore(count, seed);
    let lines: Vec<String> = (explored.iter())
        .map(|own| model.data.text(&own.stack))
        .collect();
    if let Some(path) = file {
        files::write(path, &format!("{}\n", lines.join("\n")))?;
    }
    let mut table = Table::new(&[
        ("stack", Left),
        ("instances", Right),
        ("expected", Right),
        ("expected improvement", Right),
    ]);
    let mut rows = Vec::new();
    for (own, line) in explored.iter().zip(&lines) {
        let instances = model.instances(&own.stack);
        let improvement = own
            .prediction
            .map(|_| -(-own.expected_improvement).exp_m1());
        table.row(vec![
            line.clone(),
            instances.to_string(),
            own.prediction
                .map_or_else(String::new, |_| expected_text(model, &own.stack)),
            improvement.map_or_else(|| "unknown".to_owned(), lapwing_show::percent),
        ]);
        rows.push(ExploredRow {
            stack: line.clone(),
            instances,
            expected: (model.data.only_goal().zip(own.prediction))
                .map(|(goal, it)| goal.value(it.mean)),
            expected_improvement_percent: improvement.map(|it| 100.0 * it),
        });
    }
    let is_done = explored
        .iter()
        .all(|own| own.expected_improvement < SMALLEST);
    let headline = if is_done {
        "No stack is expected to improve the goal by 1 %: measuring more is hardly worth it"
            .to_owned()
    } else {
        format!("Measure next: {}", counted(lines.len(), "stack"))
    };
    if explored.iter().any(|own| own.prediction.is_none()) {
        notes.push(
            "few stacks are measured: those whose versions were measured least come first"
                .to_owned(),
        );
    }
    if let Some(path) = file {
        notes.push(format!("wrote {}", path.display()));
    }
    let mut more = about(model);
    more["is_done"] = json!(is_done);
    write_rows(
        headline,
        table,
        notes,
        rows,
        ("explore", more),
        format,
        context,
    )
}
