//! A plan as a document, and in a suite file.

use std::collections::BTreeMap;
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

/// Returns what is run. A benchmark of several metrics, variants or versions has the entry that takes most.
fn document(plan: &Plan) -> PlanDocument {
    let mut entries: Vec<PlanEntry> = Vec::new();
    for line in plan.kept() {
        let entry = entry(line);
        match entries.iter_mut().find(|it| it.item == entry.item) {
            None => entries.push(entry),
            Some(before) if takes(before) < takes(&entry) => *before = entry,
            Some(_) => {}
        }
    }
    PlanDocument { entries }
}

/// Returns how many iterations are run in all.
fn takes(entry: &PlanEntry) -> u64 {
    let first = entry.first();
    first.map_or(0, |it| {
        u64::from(it.instances) * u64::from(it.iterations + entry.burn_in)
    })
}

/// Returns the benchmarks that have several lines, which share one entry.
pub fn shared(plan: &Plan) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for line in plan.kept() {
        *counts.entry(&line.choice.benchmark).or_default() += 1;
    }
    let several = counts.into_iter().filter(|(_, count)| *count > 1);
    several.map(|(name, _)| name.to_owned()).collect()
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
        // The document has seconds.
        mean: (choice.metric.unit == "s").then_some(choice.variability.mean),
        cv: Some(choice.variability.cv_total),
        configurations: found.collect(),
    }
}
