//! Suite files whose numbers are edited.

use std::path::{Path, PathBuf};

use lapwing_measure::suite::{EditedSuite, SplitFactor, Suite, TableUpdate};
use lapwing_record::files::{LONGEST_SETTINGS, read_text};

use crate::error::CliError;
use crate::suite::suite_file;
use lapwing_record::atomic;

pub use lapwing_measure::suite::{SuiteNumbers, changes_text};

/// A suite file to edit.
pub struct SuiteFile {
    path: PathBuf,
    edited: EditedSuite,
}

/// Reads a suite file; of a folder, its `lapwing.toml`.
pub fn load(path: &Path) -> Result<SuiteFile, CliError> {
    let path = suite_file::named(path);
    if !path.exists() {
        let name = path.display();
        return Err(CliError::input(format!("there is no suite file `{name}`"))
            .hint("name it: `--update-suite FILE`"));
    }
    let suite = suite_file::load(&path)?;
    let text = read_text(&path, LONGEST_SETTINGS)?;
    Ok(SuiteFile {
        path,
        edited: EditedSuite::new(suite, text)?,
    })
}

impl SuiteFile {
    /// Returns the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the suite's name.
    pub fn name(&self) -> &str {
        self.edited.name()
    }

    /// Returns the ids of its benchmarks.
    pub fn benchmarks(&self) -> Vec<String> {
        self.edited.benchmarks()
    }

    /// Returns the suite with its text.
    pub fn edited(&self) -> &EditedSuite {
        &self.edited
    }

    /// Returns a factor in parts, given the content of its patch.
    pub fn split(self, factor: &str, patch: Option<&str>) -> Result<SplitFactor, CliError> {
        let split = self.edited.split(factor, patch);
        split.map_err(CliError::input)
    }

    /// Writes numbers of benchmarks into their tables and returns the updates. A file without
    /// changes is not written.
    pub fn update(
        self,
        numbers: impl FnOnce(&Self) -> Vec<(String, SuiteNumbers)>,
    ) -> Result<Vec<TableUpdate>, CliError> {
        // Read again: the file may have changed since.
        let _lock = atomic::lock_beside(&self.path)?;
        let file = load(&self.path)?;
        let numbers = numbers(&file);
        let (updates, changed) = file.edited.update(&numbers);
        if let Some(text) = changed {
            write(&self.path, &text)?;
        }
        Ok(updates)
    }
}

/// Writes the file after checking that it can be read.
pub fn write(path: &Path, text: &str) -> Result<(), CliError> {
    let folder = std::path::absolute(path)?;
    let folder = folder.parent().unwrap_or(Path::new("/"));
    let untouched = format!("{} was not changed", path.display());
    Suite::parse(path, text, folder)
        .map_err(|error| suite_file::about(error).consequence(untouched.clone()))?;
    atomic::replace(path, text).map_err(|error| CliError::input(error).consequence(untouched))
}
