//! Stacks that a file lists, one per line: `numpy==2.0.2 scipy==1.13.1 python==3.12`.

use std::collections::BTreeSet;
use std::path::Path;

use lapwing_measure::stack::{PYTHON, StackError, StackPython};
use lapwing_measure::suite::PackageFiles;
use lapwing_model::Levels;
use lapwing_study::PackagePin;

use crate::commands::advise::files;
use crate::error::CliError;

/// The stacks of a file, all of the same packages.
pub struct ListedStacks {
    stacks: Vec<Vec<PackagePin>>,
}

/// Reads a file of stacks.
pub fn listed_stacks(path: &Path) -> Result<ListedStacks, CliError> {
    let stacks = files::stacks(path)?;
    let packages = |stack: &[PackagePin]| -> BTreeSet<String> {
        let names = stack.iter().map(|it| it.package.clone());
        names.filter(|it| it != PYTHON).collect()
    };
    let first = packages(&stacks[0]);
    if first.is_empty() || stacks.iter().any(|it| packages(it) != first) {
        return Err(CliError::input(format!(
            "the stacks of `{}` do not all pin the same packages",
            path.display()
        ))
        .hint("write one stack per line, each with the same packages: `numpy==2.0.2 scipy==1.13.1 python==3.12`"));
    }
    Ok(ListedStacks { stacks })
}

impl ListedStacks {
    /// Returns the names of the packages.
    pub fn packages(&self) -> Vec<String> {
        let names = self.stacks[0].iter().map(|it| it.package.clone());
        names.filter(|it| it != PYTHON).collect()
    }

    /// Returns the version of Python of a stack, if it says one.
    fn python(stack: &[PackagePin]) -> Option<&str> {
        let pin = stack.iter().find(|it| it.package == PYTHON)?;
        Some(&pin.version)
    }

    /// Finds the interpreters.
    pub fn pythons(&self, files: PackageFiles) -> Result<Vec<StackPython>, StackError> {
        let asked: BTreeSet<Option<&str>> = self.stacks.iter().map(|it| Self::python(it)).collect();
        asked
            .into_iter()
            .map(|version| StackPython::find(version, files))
            .collect()
    }

    /// Returns the levels of the stacks; those of `python` are the versions found.
    pub fn levels(&self, pythons: &[StackPython]) -> Vec<Levels> {
        let level = |stack: &Vec<PackagePin>| {
            let asked = Self::python(stack);
            let is_asked = |it: &&StackPython| {
                let with_dot = asked.map(|it| format!("{it}."));
                asked.is_none_or(|asked| it.version == asked)
                    || with_dot.is_some_and(|asked| it.version.starts_with(&asked))
            };
            let found = pythons.iter().find(is_asked)?;
            let mut levels: Levels = stack
                .iter()
                .map(|it| (it.package.clone(), it.version.clone()))
                .collect();
            levels.insert(PYTHON.to_owned(), found.version.clone());
            Some(levels)
        };
        self.stacks.iter().filter_map(level).collect()
    }
}
