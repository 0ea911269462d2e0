//! What a test needs besides the repository, and what happens when it is missing.

use std::env;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread;

/// Returns a file or folder of the reference data: real results of many tools, which are not
/// part of the repository. They are in `../shared/data` beside it, or where
/// `LAPWING_REFERENCE_DATA` says.
///
/// # Panics
/// When it is missing and `LAPWING_REQUIRE_ALL=1`.
pub fn reference_data(name: &str) -> Option<PathBuf> {
    let folder = env::var_os("LAPWING_REFERENCE_DATA").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let path = folder.join(name);
    if path.exists() {
        return Some(path);
    }
    let what = format!("reference data not found in {}", folder.display());
    missing(&what, "name their folder in LAPWING_REFERENCE_DATA");
    None
}

/// Reports that a test is skipped for something that can be installed. The caller returns.
///
/// # Panics
/// When `LAPWING_REQUIRE_ALL=1`: where everything is expected to be present, a test that does
/// nothing must not pass.
#[expect(clippy::panic, reason = "a test fails by a panic")]
pub fn missing(what: &str, remedy: &str) {
    let message = format!("{what}: {remedy}");
    if env::var("LAPWING_REQUIRE_ALL").is_ok_and(|value| value == "1") {
        panic!("{message}");
    }
    report(&message);
}

/// Reports that a test is skipped for something that some machines cannot have, such as hardware
/// counters. The caller returns.
pub fn absent(what: &str) {
    report(what);
}

/// Writes a line to standard error, and to the file named by `LAPWING_SKIPPED`, from which
/// `./test` lists and counts what was skipped: test runners hide the output of tests that pass.
#[expect(clippy::print_stderr, reason = "a skipped test has to be visible")]
fn report(message: &str) {
    // The harness names the thread of a test after the test.
    let thread = thread::current();
    let line = format!("SKIPPED: {}: {message}", thread.name().unwrap_or("?"));
    eprintln!("{line}");
    if let Some(path) = env::var_os("LAPWING_SKIPPED") {
        let file = OpenOptions::new().create(true).append(true).open(path);
        let written = file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
        written.expect("LAPWING_SKIPPED names a file that can be written");
    }
}
