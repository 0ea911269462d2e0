//! Where suite files lie, and what to do about wrong ones.

use std::path::{Path, PathBuf};

use lapwing_core::suite::SuiteError;

use crate::error::CliError;

/// The suite file that is used when nothing else is said.
pub const SUITE_FILE: &str = "lapwing.toml";

/// Returns the suite file that a path means: of a folder, the one in it.
pub fn named(path: &Path) -> PathBuf {
    if path.is_dir() {
        path.join(SUITE_FILE)
    } else {
        path.to_owned()
    }
}

/// Returns the suite file that is used when none is named; `None` where there is none.
pub fn here() -> Option<PathBuf> {
    let path = PathBuf::from(SUITE_FILE);
    path.exists().then_some(path)
}

/// Returns an error about a suite file with the name that was perhaps meant.
pub fn about(error: SuiteError) -> CliError {
    let hint = error
        .suggestion()
        .map(|name| format!("did you mean `{name}`?"));
    let error = CliError::input(error);
    match hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}
