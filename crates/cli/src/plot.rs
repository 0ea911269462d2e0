//! What every `--plot` has in common.

use std::path::Path;

use crate::error::CliError;

/// The endings of the files that a chart can be drawn to.
const ENDINGS: [&str; 3] = ["svg", "png", "html"];

/// Refuses a file of another form, or without a folder, before anything is computed.
///
/// # Errors
/// When it does not end in .svg, .png or .html, or its folder is not there.
pub fn check_ending(path: Option<&Path>) -> Result<(), CliError> {
    match path {
        Some(path) if !ENDINGS.contains(&ending(path).as_str()) => Err(CliError::input(format!(
            "`{}` does not end in .svg, .png or .html",
            path.display()
        ))),
        Some(path) => check_folder(path),
        None => Ok(()),
    }
}

fn check_folder(path: &Path) -> Result<(), CliError> {
    match path.parent() {
        Some(folder) if folder != Path::new("") && !folder.is_dir() => Err(CliError::input(
            format!("there is no folder {}", folder.display()),
        )
        .hint("make it first")),
        Some(_) | None => Ok(()),
    }
}

/// Returns the ending of a file's name in small letters; nothing where it has none.
pub fn ending(path: &Path) -> String {
    let ending = path.extension().and_then(|it| it.to_str());
    ending.unwrap_or_default().to_ascii_lowercase()
}
