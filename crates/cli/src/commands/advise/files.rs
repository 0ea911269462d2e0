//! Files of advice: rules, locks, stacks, requirements.

use std::path::Path;

use lapwing_measure::stack::StackFile;
use lapwing_record::files::{LONGEST_SETTINGS, read_text};
use lapwing_study::{AdviceRules, PackagePin, pinned_stacks};

use crate::commands::stack::pins;
use crate::error::CliError;

/// Returns the rules of a TOML file.
pub fn rules(path: &Path) -> Result<AdviceRules, CliError> {
    AdviceRules::parse(&text(path)?).map_err(|error| {
        CliError::input(format!("`{}`: {error}", path.display()))
            .hint("docs/advise.md describes the file of rules")
    })
}

/// Returns all pins of a requirements or lock file.
pub fn lock(path: &Path) -> Result<Vec<PackagePin>, CliError> {
    Ok(stacks(path)?.concat())
}

/// Returns the stacks of a file: one per line, or those that `lapwing stack resolve` wrote.
pub fn stacks(path: &Path) -> Result<Vec<Vec<PackagePin>>, CliError> {
    let shown = path.display();
    if text(path)?.trim_start().starts_with('{') {
        let file = StackFile::read(path)?;
        let stacks = file.stacks.into_iter();
        return Ok(stacks.map(|stack| pins(stack.factors)).collect());
    }
    let stacks = pinned_stacks(&text(path)?)
        .map_err(|error| CliError::input(format!("`{shown}`: {error}")))?;
    if stacks.is_empty() {
        return Err(CliError::input(format!(
            "`{shown}` has no line like `numpy==1.26.4`"
        )));
    }
    Ok(stacks)
}

fn text(path: &Path) -> Result<String, CliError> {
    read_text(path, LONGEST_SETTINGS)
        .map_err(|error| CliError::input(format!("cannot read `{}`: {error}", path.display())))
}
