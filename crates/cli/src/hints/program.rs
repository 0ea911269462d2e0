//! The command that measures a program given in place of results.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use lapwing_measure::suite::{CommandLine, command_text};

/// Interpreters of programs, by extension.
const INTERPRETERS: [(&str, &str); 6] = [
    ("py", "python3"),
    ("sh", "sh"),
    ("js", "node"),
    ("rb", "ruby"),
    ("pl", "perl"),
    ("R", "Rscript"),
];

/// Returns whether a file is a program, by its name or its permissions.
pub(super) fn is_program(path: &Path) -> bool {
    let mode = path.metadata().map(|it| it.permissions().mode());
    interpreter(path).is_some() || mode.is_ok_and(|it| it & 0o111 != 0)
}

fn interpreter(path: &Path) -> Option<&'static str> {
    let extension = path.extension()?;
    let known = INTERPRETERS.iter().find(|(it, _)| extension == *it);
    known.map(|(_, program)| *program)
}

/// Returns the command that starts a program.
pub(super) fn start(name: &str) -> String {
    let words = match interpreter(Path::new(name)) {
        Some(interpreter) => vec![interpreter.to_owned(), name.to_owned()],
        None if name.contains('/') => vec![name.to_owned()],
        None => vec![format!("./{name}")],
    };
    command_text(&CommandLine::Words(words))
}
