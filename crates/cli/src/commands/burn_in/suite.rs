//! `--update-suite`: the `burn_in` of the benchmarks of a suite file.

use lapwing_analyse::explain::BenchmarkBurnIn;
use lapwing_model::text::shell_word;
use lapwing_show::answers::burn_in::why_not_written;

use crate::error::CliError;
use crate::options::Context;
use crate::suite::suite_update::{SuiteFile, SuiteNumbers, changes_text};

/// Writes the first steady iterations into the tables of the benchmarks, and reports the changes.
pub fn update(
    file: SuiteFile,
    rows: &[BenchmarkBurnIn],
    context: &Context,
) -> Result<(), CliError> {
    let path = file.path().display().to_string();
    let mut name = String::new();
    let updates = file.update(|file| {
        file.name().clone_into(&mut name);
        starts(rows, &name)
    })?;
    if updates.is_empty() {
        return Err(CliError::input(format!(
            "{path} has no benchmark with a known first steady iteration"
        ))
        .consequence("it was not changed")
        .hint(format!(
            "measure it with `lapwing run {}`; its suite is `{name}`",
            shell_word(&path)
        )));
    }
    if context.quiet {
        return Ok(());
    }
    let terminal = &context.terminal;
    terminal.say(&changes_text(&path, &updates));
    for update in updates.iter().filter(|it| it.benchmarks.len() > 1) {
        let starts: Vec<String> = update
            .benchmarks
            .iter()
            .map(|(id, numbers)| format!("{id} {}", numbers.burn_in.unwrap_or(0)))
            .collect();
        terminal.note(&format!(
            "benchmarks of one table share its burn_in, the largest one: {}",
            starts.join(", ")
        ));
    }
    for row in rows.iter().filter(|row| row.suite == name) {
        if let Some(reason) = why_not_written(row) {
            let id = &row.benchmark;
            terminal.note(&format!("{id} {}, so its burn_in is kept", is(reason)));
        }
    }
    Ok(())
}

/// Returns the known first steady iterations of a suite's benchmarks.
fn starts(rows: &[BenchmarkBurnIn], suite: &str) -> Vec<(String, SuiteNumbers)> {
    let rows = rows.iter().filter(|row| row.suite == suite);
    let starts = rows.filter_map(|row| {
        let numbers = SuiteNumbers {
            burn_in: Some(row.known_start()?),
            ..SuiteNumbers::default()
        };
        Some((row.benchmark.clone(), numbers))
    });
    starts.collect()
}

fn is(reason: &str) -> String {
    if reason.starts_with("never") {
        reason.to_owned()
    } else {
        format!("has {reason}")
    }
}
