//! A plan as a document, and in a suite file.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use lapwing_analyse::explain::{BudgetedPlan, PlanLine};
use lapwing_measure::suite::{PlanConfiguration, PlanDocument, PlanEntry, PlanFlavour};
use lapwing_model::text::counted;

use crate::error::CliError;
use crate::options::{Context, check_folder, is_stdout};
use crate::suite::plan_file::PlanFile;
use crate::suite::plan_file::update::update_suite as write_into;
use crate::suite::suite_update::SuiteFile;
use lapwing_record::atomic;

/// Destination of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanTarget {
    /// Standard output, instead of the answer.
    Output,
    /// A file, which is replaced.
    File(PathBuf),
}

impl PlanTarget {
    /// Returns the destination of `-o`.
    pub fn of(path: &Path) -> Self {
        if is_stdout(path) {
            Self::Output
        } else {
            Self::File(path.to_owned())
        }
    }

    /// Refuses a file that cannot be written, before anything is computed.
    pub fn check(&self) -> Result<(), CliError> {
        let Self::File(path) = self else {
            return Ok(());
        };
        check_folder(path)?;
        if path.is_dir() {
            return Err(
                CliError::input(format!("`{}` is a folder", path.display())).hint(format!(
                    "name a file, such as {}",
                    path.join("plan.yaml").display()
                )),
            );
        }
        atomic::check(path).map_err(|error| {
            CliError::input(format!("`{}` cannot be written: {error}", path.display()))
                .hint("name another file, or check the permissions of its folder")
        })
    }
}

/// Writes the plan.
pub fn write(
    plan: &BudgetedPlan,
    target: &PlanTarget,
    flavour: PlanFlavour,
    context: &Context,
) -> Result<(), CliError> {
    let document = document(plan);
    let text = document.text(flavour);
    match target {
        PlanTarget::Output => {
            let written = context.terminal.file_out().write_all(text.as_bytes());
            CliError::unless_reader_left(written.map_err(CliError::from))
        }
        PlanTarget::File(path) => {
            atomic::replace(path, &text)
                .map_err(|error| CliError::input(format!("{}: {error}", path.display())))?;
            if !context.quiet {
                context.terminal.say(&format!(
                    "{} has {}; `lapwing run --plan {}` runs it",
                    path.display(),
                    counted(document.entries.len(), "benchmark"),
                    path.display(),
                ));
            }
            Ok(())
        }
    }
}

/// Writes the plan into a suite file.
pub fn update_suite(
    suite: SuiteFile,
    plan: &BudgetedPlan,
    context: &Context,
) -> Result<(), CliError> {
    let file = PlanFile {
        path: suite.path().to_owned(),
        document: document(plan),
    };
    write_into(suite, &file, context)
}

/// Returns the plan to run. A benchmark with several lines has the most expensive entry.
fn document(plan: &BudgetedPlan) -> PlanDocument {
    let mut entries: Vec<(f64, PlanEntry)> = Vec::new();
    for line in plan.kept() {
        let (cost, entry) = (line.cost().unwrap_or_default(), entry(line));
        match entries
            .iter_mut()
            .find(|(_, known)| known.item == entry.item)
        {
            None => entries.push((cost, entry)),
            Some(known) => {
                let by_cost = known.0.total_cmp(&cost);
                if by_cost
                    .then(iterations(&known.1).cmp(&iterations(&entry)))
                    .is_lt()
                {
                    *known = (cost, entry);
                }
            }
        }
    }
    PlanDocument {
        entries: entries.into_iter().map(|(_, entry)| entry).collect(),
    }
}

/// Returns the total number of iterations of an entry.
fn iterations(entry: &PlanEntry) -> u64 {
    entry.first().map_or(0, |first| {
        u64::from(first.instances) * (u64::from(first.iterations) + u64::from(entry.burn_in))
    })
}

fn entry(line: &PlanLine) -> PlanEntry {
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
