//! A plan as a document, and in a suite file.

use std::path::Path;

use lapwing_core::suite::{PlanConfiguration, PlanDocument, PlanEntry, PlanFlavour};

use super::budget::{Line, Plan};
use crate::atomic;
use crate::error::CliError;
use crate::options::Context;
use crate::plan_file::PlanFile;
use crate::plan_file::update::update_suite as write_into;
use crate::suite_update::SuiteFile;
use crate::table::counted;

/// Refuses a file in a folder that is not there, before anything is computed.
pub fn check(path: &Path) -> Result<(), CliError> {
    match path.parent() {
        Some(folder) if folder != Path::new("") && !folder.is_dir() => Err(CliError::input(
            format!("there is no folder `{}`", folder.display()),
        )
        .hint("make it first, or name another file")),
        Some(_) | None => Ok(()),
    }
}

/// Writes the plan, in place of what was there.
pub fn write(
    plan: &Plan,
    path: &Path,
    flavour: PlanFlavour,
    context: &Context,
) -> Result<(), CliError> {
    let document = document(plan);
    atomic::replace(path, &document.text(flavour))
        .map_err(|error| CliError::input(format!("{}: {error}", path.display())))?;
    if !context.quiet {
        context.terminal.say(&format!(
            "{} has {}; `lapwing run --plan {}` runs it",
            path.display(),
            counted(document.entries.len() as u64, "benchmark"),
            path.display(),
        ));
    }
    Ok(())
}

/// Writes the plan into a suite file.
pub fn update_suite(suite: SuiteFile, plan: &Plan, context: &Context) -> Result<(), CliError> {
    let file = PlanFile {
        path: suite.path().to_owned(),
        document: document(plan),
    };
    write_into(suite, &file, context)
}

/// Returns what is run. A benchmark with several settings has the entry of the last.
fn document(plan: &Plan) -> PlanDocument {
    let mut entries: Vec<PlanEntry> = Vec::new();
    for line in plan.kept() {
        let entry = entry(line);
        entries.retain(|it| it.item != entry.item);
        entries.push(entry);
    }
    PlanDocument { entries }
}

fn entry(line: &Line) -> PlanEntry {
    let choice = &line.choice;
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let found = choice.found.iter().filter_map(|(slowdown, found)| {
        let configuration = found.as_ref().ok()?.configuration;
        Some(PlanConfiguration {
            slowdown: *slowdown,
            instances: number(configuration.instances),
            iterations: number(configuration.iterations),
        })
    });
    PlanEntry {
        item: choice.benchmark.clone(),
        burn_in: choice.burn_in,
        mean: Some(choice.variability.mean),
        cv: Some(choice.variability.cv_total),
        configurations: found.collect(),
    }
}
