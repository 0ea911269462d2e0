//! `lapwing trace show lint`: what is wrong with a trace.

use std::io;

use lapwing_model::text::counted;
use lapwing_show::trace::time;
use lapwing_show::writing::Align::{Left, Right};
use lapwing_show::writing::{AnswerFormat, Table, TextAnswer};
use lapwing_trace::{Defect, lint};
use serde_json::json;

use super::read::{ShownTrace, write};
use crate::answer::{write_csv, write_json};
use crate::error::{CliError, ExitStatus};
use crate::options::Context;

/// A defect, for programs.
#[derive(Default, serde::Serialize)]
pub struct DefectRow<'a> {
    kind: &'static str,
    subject: &'a str,
    count: usize,
    example: &'a str,
    consequence: &'static str,
}

/// Returns the defects for programs.
pub fn defect_rows(defects: &[Defect]) -> Vec<DefectRow<'_>> {
    let rows = defects.iter();
    rows.map(|defect| DefectRow {
        kind: defect.kind.name(),
        subject: &defect.subject,
        count: defect.count,
        example: &defect.example,
        consequence: defect.kind.consequence(),
    })
    .collect()
}

/// Shows the defects.
pub fn act(shown: &ShownTrace, context: &Context) -> Result<ExitStatus, CliError> {
    let trace = shown.read(context)?;
    let defects = lint(&trace);
    let mut out = io::stdout().lock();
    let written = match shown.answer.format {
        AnswerFormat::Json => write_json(&json!({"defects": defect_rows(&defects)}), &mut out),
        AnswerFormat::Csv => write_csv(&defect_rows(&defects), &mut out),
        AnswerFormat::Text | AnswerFormat::Markdown => {
            drop(out);
            let mut table = Table::new(&[
                ("defect", Left),
                ("of", Left),
                ("number", Right),
                ("such as", Left),
                ("so", Left),
            ]);
            for defect in &defects {
                table.row(vec![
                    defect.kind.name().replace('_', " "),
                    defect.subject.clone(),
                    defect.count.to_string(),
                    defect.example.clone(),
                    defect.kind.consequence().to_owned(),
                ]);
            }
            let found = match defects.len() {
                0 => "no defects".to_owned(),
                1 => "1 kind of defect".to_owned(),
                kinds => format!("{kinds} kinds of defects"),
            };
            let headline = format!(
                "{found}   ({}, {}, {}, {})",
                counted(trace.tasks.len(), "task"),
                counted(trace.transfers.len(), "transfer"),
                counted(trace.phases.len(), "controller phase"),
                time(trace.makespan())
            );
            let answer = TextAnswer {
                headline,
                table,
                notes: Vec::new(),
            };
            write(answer, &[], shown.answer.format, context)
        }
    };
    CliError::unless_reader_left(written)?;
    Ok(if defects.is_empty() {
        ExitStatus::Fine
    } else {
        ExitStatus::Judged
    })
}
