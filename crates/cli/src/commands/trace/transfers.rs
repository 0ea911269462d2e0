//! `lapwing trace show transfers`: how long data take from worker to worker.

use std::collections::BTreeMap;
use std::io;

use lapwing_model::text::counted;
use lapwing_show::quantity;
use lapwing_show::trace::time;
use lapwing_show::writing::Align::{Left, Right};
use lapwing_show::writing::{AnswerFormat, Table, TextAnswer};
use lapwing_trace::{Name, Trace, TransferDuration, transfer_durations};

use super::read::{ShownTrace, write};
use super::tasks::DurationRow;
use crate::answer::{write_csv, write_json};
use crate::error::{CliError, ExitStatus};
use crate::options::Context;

/// Shows the durations.
pub fn act(shown: &ShownTrace, context: &Context) -> Result<ExitStatus, CliError> {
    let trace = shown.read(context)?;
    let mut out = io::stdout().lock();
    let written = match shown.answer.format {
        AnswerFormat::Json => write_json(&rows(&trace), &mut out),
        AnswerFormat::Csv => write_csv(&rows(&trace), &mut out),
        AnswerFormat::Text | AnswerFormat::Markdown => {
            drop(out);
            write(answer(&trace), &[&trace], shown.answer.format, context)
        }
    };
    CliError::unless_reader_left(written)?;
    Ok(ExitStatus::Fine)
}

fn rows(trace: &Trace) -> Vec<DurationRow> {
    let mut rows = Vec::new();
    for (mode, (_, found)) in transfer_durations(trace) {
        for (duration, it) in &found {
            rows.push(DurationRow::of(mode.name(), duration.name(), it));
        }
    }
    rows
}

fn answer(trace: &Trace) -> TextAnswer {
    let mut columns = vec![("mode".to_owned(), Left), ("transfers".to_owned(), Right)];
    let title = |it: &TransferDuration| (it.name().replace('_', " "), Right);
    columns.extend(TransferDuration::ALL.iter().map(title));
    let mut table = Table::new(&columns);
    for (mode, (count, found)) in transfer_durations(trace) {
        let mut cells = vec![mode.name().to_owned(), count.to_string()];
        for duration in TransferDuration::ALL {
            let mean = found.get(&duration).map(|it| quantity(it.mean / 1e9, "s"));
            cells.push(mean.unwrap_or_else(|| "–".to_owned()));
        }
        table.row(cells);
    }
    let mut datasets: BTreeMap<Name, usize> = BTreeMap::new();
    let mut total = 0;
    for transfer in &trace.transfers {
        *datasets.entry(transfer.dataset).or_default() += 1;
        total += TransferDuration::Total.of(transfer).unwrap_or(0);
    }
    let widest = datasets.iter().max_by_key(|(_, count)| **count);
    let notes = widest
        .filter(|(_, count)| **count > 1)
        .map(|(dataset, count)| {
            format!("`{}` went to most targets: {count}", trace.text(*dataset))
        });
    TextAnswer {
        headline: format!(
            "{} of {}, {} in all; means of each duration",
            counted(trace.transfers.len(), "transfer"),
            counted(datasets.len(), "dataset"),
            time(total)
        ),
        table,
        notes: notes.into_iter().collect(),
    }
}
