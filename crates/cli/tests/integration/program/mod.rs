//! The real program, run in a folder.

use std::path::Path;
use std::process::{Command, Output};

/// Returns what the program did.
pub fn output(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(assert_cmd::cargo::cargo_bin!("lapwing"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

/// Returns what the program writes, and its exit code.
pub fn run(folder: &Path, arguments: &[&str]) -> String {
    let output = output(folder, arguments);
    format!(
        "{}{}exit {}",
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
        output.status.code().unwrap()
    )
}
