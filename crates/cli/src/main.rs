//! The `lapwing` program.

/// Reports and imports make many small texts, with which the system's allocator takes a quarter of their time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    lapwing_cli::run()
}
