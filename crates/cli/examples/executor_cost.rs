//! Times the executor itself: `cargo run --release --example executor_cost -- LAUNCHER COUNT WORD…`.
//!
//! Prints the mean wall time that it measured, the whole time for all executions, and
//! what is spent per execution outside the timed span.

#![expect(clippy::print_stdout, reason = "an example has no other place to talk")]

use std::collections::BTreeMap;
use std::error::Error;
use std::time::{Duration, Instant};

use lapwing_measure::local::{LauncherOptions, LocalExecutor};
use lapwing_measure::suite::CommandLine;
use lapwing_measure::{Execution, ExecutionEnd, Executor, Stdin};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(launcher), Some(count)) = (arguments.next(), arguments.next()) else {
        return Err("usage: executor_cost LAUNCHER COUNT WORD…".into());
    };
    let count: u32 = count.parse()?;
    let execution = Execution {
        command: CommandLine::Words(arguments.collect()),
        directory: None,
        environment: BTreeMap::new(),
        stdin: Stdin::Null,
        time_limit: Some(Duration::from_secs(60)),
        keep_stdout: 4096,
        keep_stderr: 4096,
        counters: std::env::var_os("COUNTERS").is_some(),
        leftovers: lapwing_measure::LeftoverPolicy::End,
        cpus: None,
        confinement: None,
    };
    let mut executor = LocalExecutor::start(&LauncherOptions {
        program: launcher.into(),
        environment: std::env::vars_os().collect(),
        ..LauncherOptions::default()
    })?;
    let start = Instant::now();
    let mut measured = Duration::ZERO;
    let mut peak_memory = u64::MAX;
    for _ in 0..count {
        let executed = executor.execute(&execution)?;
        if let ExecutionEnd::NotStarted(reason) = executed.end {
            return Err(reason.into());
        }
        measured += executed.wall;
        if let Some(usage) = executed.usage {
            peak_memory = peak_memory.min(usage.peak_memory);
        }
    }
    let whole = start.elapsed();
    println!(
        "mean {:?}, whole {whole:?}, outside the span {:?} each, smallest peak memory {} KiB",
        measured / count,
        (whole - measured) / count,
        peak_memory / 1024,
    );
    Ok(())
}
