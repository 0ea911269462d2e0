//! Indicators: scripts that print their parameters and results as one JSON object, measured as benchmarks.

mod cases;
mod check;
mod script;

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use lapwing_model::indicator::ContractFinding;

use crate::ExecutorError;
use crate::suite::Confinement;

pub use cases::{ParameterValues, indicator_cases};
pub use check::{CheckedScript, check_scripts};
pub use script::{IndicatorScript, ProbedScript};

/// The limits of scripts.
#[derive(Debug, Clone)]
pub struct ScriptLimits {
    /// The environment variables and the memory that they have.
    pub confinement: Confinement,
    /// The longest time of an execution.
    pub time_limit: Duration,
    /// The working directory.
    pub directory: PathBuf,
}

/// A script that cannot be measured.
#[derive(Debug, thiserror::Error)]
pub enum IndicatorError {
    /// It cannot be read.
    #[error("{}: {source}", path.display())]
    Unreadable {
        /// The path of the script.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// It is not executable.
    #[error("{} is not executable", path.display())]
    NotExecutable {
        /// The path of the script.
        path: PathBuf,
    },
    /// It does not keep to the contract.
    #[error("{}: {finding}", path.display())]
    Breach {
        /// The path of the script.
        path: PathBuf,
        /// The first breach.
        finding: ContractFinding,
    },
    /// There is no environment for it.
    #[error("{} cannot be executed anywhere", path.display())]
    NoEnvironment {
        /// The path of the script.
        path: PathBuf,
    },
    /// Two scripts are the same benchmark.
    #[error("{} and another script are both {id}", path.display())]
    SameBenchmark {
        /// The path of one of them.
        path: PathBuf,
        /// The id of the benchmark.
        id: String,
    },
    /// No script has a parameter.
    #[error("no script reports a parameter for {variable}")]
    UnknownParameter {
        /// The environment variable.
        variable: String,
    },
    /// Measuring had to stop.
    #[error("interrupted")]
    Interrupted,
    /// No script can be executed.
    #[error(transparent)]
    Executor(#[from] ExecutorError),
}

/// The smallest limit of memory, below which the launcher itself could not work.
const LEAST_MEMORY: u64 = 64 << 20;

/// Returns the bytes of a size such as `512MiB`, `1Gi` or `1000000`.
///
/// # Errors
/// With what to write instead.
pub fn parse_memory(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let split = text.find(|character: char| !character.is_ascii_digit());
    let (number, unit) = text.split_at(split.unwrap_or(text.len()));
    let factor = match unit.trim() {
        "" | "B" => Some(1),
        "k" | "kB" => Some(1_000),
        "M" | "MB" => Some(1_000_000),
        "G" | "GB" => Some(1_000_000_000),
        "Ki" | "KiB" => Some(1 << 10),
        "Mi" | "MiB" => Some(1 << 20),
        "Gi" | "GiB" => Some(1 << 30),
        _ => None,
    };
    let bytes = factor.and_then(|factor| number.parse::<u64>().ok()?.checked_mul(factor));
    match bytes {
        Some(bytes) if bytes >= LEAST_MEMORY => Ok(bytes),
        Some(_) => Err("at least 64MiB".to_owned()),
        None => Err("write a size such as 512MiB or 4GiB".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_written_as_people_and_as_kubernetes_write_them() {
        for (text, bytes) in [
            ("64MiB", Ok(64 << 20)),
            ("1Gi", Ok(1 << 30)),
            ("100 MB", Ok(100_000_000)),
            ("500m", Err("write a size such as 512MiB or 4GiB")),
            ("1KiB", Err("at least 64MiB")),
        ] {
            assert_eq!(parse_memory(text), bytes.map_err(str::to_owned), "{text}");
        }
    }
}
