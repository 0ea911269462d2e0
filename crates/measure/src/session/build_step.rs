//! Commands that prepare what is measured: the build of a commit, the installation of packages.

use std::collections::BTreeMap;
use std::path::Path;

use crate::local::LocalExecutor;
use crate::suite::CommandLine;
use crate::{Execution, ExecutionEnd, Executor, ExecutorError, LeftoverPolicy, Stdin};

/// Maximum number of bytes read from the output of a build.
const SAID: usize = 16 << 10;

/// How a build ended.
pub enum BuildResult {
    /// The command succeeded.
    Well,
    /// With the exit code and the last line of the output.
    Badly(String),
    /// The user interrupted it.
    Interrupted,
}

/// Executes a command of a build.
pub fn build(
    executor: &mut LocalExecutor,
    command: CommandLine,
    folder: &Path,
    environment: BTreeMap<String, String>,
) -> Result<BuildResult, ExecutorError> {
    build_with_log(executor, command, folder, environment).map(|(result, _)| result)
}

/// Executes a command of a build; returns the end of its output too.
pub fn build_with_log(
    executor: &mut LocalExecutor,
    command: CommandLine,
    folder: &Path,
    environment: BTreeMap<String, String>,
) -> Result<(BuildResult, String), ExecutorError> {
    let executed = executor.execute(&Execution {
        command,
        directory: Some(folder.to_owned()),
        environment,
        stdin: Stdin::Null,
        time_limit: None,
        keep_stdout: SAID,
        keep_stderr: SAID,
        counters: false,
        leftovers: LeftoverPolicy::End,
        cpus: None,
        confinement: None,
    })?;
    let ended = match &executed.end {
        ExecutionEnd::Exited(0) => return Ok((BuildResult::Well, String::new())),
        ExecutionEnd::Interrupted => return Ok((BuildResult::Interrupted, String::new())),
        ExecutionEnd::Exited(code) => format!("exit code {code}"),
        ExecutionEnd::Signalled(signal) => format!("ended by signal {signal}"),
        ExecutionEnd::NotStarted(reason) => reason.clone(),
        ExecutionEnd::TimedOut => "ended at its time limit".to_owned(),
    };
    let texts = [&executed.stderr, &executed.stdout].map(|it| String::from_utf8_lossy(&it.bytes));
    let mut lines = texts.iter().flat_map(|it| it.lines().rev());
    let said = lines.find(|line| !line.trim().is_empty());
    let said = said.map_or_else(String::new, |line| format!(": {}", line.trim()));
    let log = texts.concat();
    Ok((BuildResult::Badly(format!("{ended}{said}")), log))
}
