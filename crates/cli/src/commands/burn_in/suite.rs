//! `--update-suite`: the `burn_in` of the benchmarks of a suite file.

use super::notes::why_not_written;
use super::rows::BurnInRow;
use crate::error::CliError;
use crate::options::Context;
use crate::suite_update::{KeyUpdate, SuiteFile, SuiteNumbers, TableUpdate};

use lapwing_core::text::counted;

/// Writes where the benchmarks get steady into their tables, and says what changed.
pub fn update(file: SuiteFile, rows: &[BurnInRow], context: &Context) -> Result<(), CliError> {
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
            "measure it with `lapwing run {path}`; its suite is `{name}`"
        )));
    }
    if context.quiet {
        return Ok(());
    }
    let terminal = &context.terminal;
    terminal.say(&what_changed(&path, &updates));
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

/// Returns where the benchmarks of a suite get steady, of those where that is known.
fn starts(rows: &[BurnInRow], suite: &str) -> Vec<(String, SuiteNumbers)> {
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

fn what_changed(path: &str, updates: &[TableUpdate]) -> String {
    let changed: Vec<String> = updates
        .iter()
        .flat_map(|update| update.keys.iter().map(move |key| (update, key)))
        .filter(|(_, key)| key.is_change())
        .map(|(update, KeyUpdate { before, after, .. })| {
            format!("{} {before} → {after}", update.table)
        })
        .collect();
    let stay = counted(updates.len() - changed.len(), "other");
    match (changed.len(), updates.len()) {
        (0, _) => format!("{path} is unchanged: every burn_in is already what was found"),
        (some, all) if some == all => format!("burn_in in {path}: {}", changed.join(", ")),
        (_, _) => format!(
            "burn_in in {path}: {}; unchanged: {stay}",
            changed.join(", ")
        ),
    }
}

fn is(reason: &str) -> String {
    if reason.starts_with("never") {
        reason.to_owned()
    } else {
        format!("has {reason}")
    }
}
