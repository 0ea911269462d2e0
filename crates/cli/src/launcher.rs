//! The launcher of measured commands, as a separate program.
//!
//! A command's `peak_memory` cannot be smaller than the resident set of the process that
//! starts it, and a small program has a small one. `lapwing` does the same where this
//! program is not beside it.

fn main() -> std::process::ExitCode {
    let version = std::env::args().nth(2);
    lapwing_measure::local::serve_as_launcher(version.as_deref())
}
