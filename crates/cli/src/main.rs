//! The `lapwing` program.

fn main() -> std::process::ExitCode {
    lapwing_cli::run()
}
