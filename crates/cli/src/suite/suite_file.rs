//! Paths and errors of suite files.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use lapwing_measure::repository_name;
use lapwing_measure::suite::{ExecutorTables, Suite, SuiteError, SuiteProblem};
use lapwing_model::JudgeSettings;

use crate::error::CliError;

/// The default suite file.
pub const SUITE_FILE: &str = "lapwing.toml";

/// Returns the suite file of a path, which may be its folder.
pub fn named(path: &Path) -> PathBuf {
    if path.is_dir() {
        path.join(SUITE_FILE)
    } else {
        path.to_owned()
    }
}

/// Returns the default suite file, if it exists.
pub fn here() -> Option<PathBuf> {
    let path = PathBuf::from(SUITE_FILE);
    path.exists().then_some(path)
}

/// Reads a suite file. A suite that has no name in the file gets that of its repository, so that clones in
/// different folders share a history; outside of a repository it is that of the folder.
pub fn load(path: &Path) -> Result<Suite, CliError> {
    let mut suite = Suite::load(path).map_err(about)?;
    if let Some(name) = name_of_repository(&suite, path) {
        suite.name = name;
    }
    Ok(suite)
}

/// Reads what a suite file says about clusters.
pub fn load_executors(path: &Path) -> Result<ExecutorTables, CliError> {
    Ok(Suite::load_for_study(path).map_err(about)?.executors)
}

/// Reads a suite file as [`load`] does, for a study: see [`Suite::load_for_study`].
pub fn load_for_study(path: &Path) -> Result<Suite, CliError> {
    let mut suite = Suite::load_for_study(path).map_err(about)?;
    if let Some(name) = name_of_repository(&suite, path) {
        suite.name = name;
    }
    Ok(suite)
}

/// Returns the note on a suite that has the name of its repository.
pub fn name_note(suite: &Suite, path: &Path) -> Option<String> {
    let name = name_of_repository(suite, path)?;
    let path = path.display();
    Some(format!(
        "suite: {name}, named after the repository (`suite = \"NAME\"` in {path} sets another name)"
    ))
}

fn name_of_repository(suite: &Suite, path: &Path) -> Option<String> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    if suite.is_named {
        return None;
    }
    repository_name(folder.unwrap_or(Path::new(".")))
}

/// Reads the `[judge]` table of a suite file; `use_of_it` completes the hint of an error.
pub fn judging(path: &Path, use_of_it: &str) -> Result<JudgeSettings, CliError> {
    Suite::load_judging(path).map_err(|error| {
        let error = about(error);
        match error.hint {
            Some(_) => error,
            None => error.hint(format!(
                "its [judge] table {use_of_it}; --suite none ignores it"
            )),
        }
    })
}

/// Returns an error about a suite file, with the nearest known name.
pub fn about(error: SuiteError) -> CliError {
    let nearest = error.suggestion();
    let hint = nearest
        .map(|name| format!("did you mean `{name}`?"))
        .or_else(|| hint_of(&error));
    CliError::input(error).hint_if(hint)
}

fn hint_of(error: &SuiteError) -> Option<String> {
    match error {
        SuiteError::Read { source, .. } if source.kind() == ErrorKind::NotFound => Some(format!(
            "check the path, measure a command with `lapwing run -- COMMAND`, or write a {SUITE_FILE}"
        )),
        SuiteError::At {
            problem: SuiteProblem::UnknownKey { key, place, .. },
            ..
        } => {
            let is_default = place == "[defaults]";
            let of_benchmark = [
                "command", "params", "setup", "prepare", "teardown", "check", "stdin",
            ];
            match key.as_str() {
                "cpus" if !is_default => Some("`cpus` belongs in [defaults]".to_owned()),
                key if is_default && of_benchmark.contains(&key) => {
                    Some(format!("`{key}` belongs in [benchmark.NAME]"))
                }
                _ => None,
            }
        }
        SuiteError::Read { .. } | SuiteError::At { .. } => None,
    }
}
