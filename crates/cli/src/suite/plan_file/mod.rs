//! Plan files: the numbers of each benchmark, edited by hand.

mod matching;
pub mod update;

use std::path::{Path, PathBuf};

use lapwing_measure::suite::{PlanDocument, PlanDocumentError};

pub use self::matching::{BenchmarkNames, few};
use crate::error::CliError;
use crate::options::Context;

/// A plan and its path.
#[derive(Debug)]
pub struct PlanFile {
    pub path: PathBuf,
    pub document: PlanDocument,
}

impl PlanFile {
    /// Reads a plan, and reports repeated entries.
    pub fn read(path: &Path, context: &Context) -> Result<Self, CliError> {
        let plan = PlanDocument::load(path).map_err(about)?;
        if !context.quiet {
            for repeated in &plan.repeated {
                let path = path.display();
                context.terminal.note(&format!("{path}: {repeated}"));
            }
        }
        Ok(Self {
            path: path.to_owned(),
            document: plan.document,
        })
    }
}

/// Returns an error about a plan with a hint.
fn about(error: PlanDocumentError) -> CliError {
    let hint = match &error {
        PlanDocumentError::Read { .. } => "check its name; docs/plan.md says what a plan is",
        PlanDocumentError::Syntax { .. }
        | PlanDocumentError::Empty { .. }
        | PlanDocumentError::NoList { .. } => {
            "write one entry for each benchmark: \
             `- {item: test_join, burn_in: 1, config: [{slowdown: 1.1, instances: 10, iterations: 5}]}`"
        }
        PlanDocumentError::Entry { .. } => {
            "an entry has `item`, `burn_in` (or `burn-in-iterations`) and `config`, a list such as \
             `[{slowdown: 1.1, instances: 10, iterations: 5}]`; `mean` (seconds) and `cv` may be missing"
        }
    };
    CliError::input(error).hint(hint)
}
