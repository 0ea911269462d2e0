//! Commands that prepare what is measured: the build of a commit, the installation of packages.

use std::collections::BTreeMap;
use std::path::Path;

use crate::local::LocalExecutor;
use crate::suite::CommandLine;
use crate::{Execution, ExecutionEnd, Executor, ExecutorError, describe};

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
        directory: Some(folder.to_owned()),
        environment,
        keep_stdout: SAID,
        keep_stderr: SAID,
        ..Execution::new(command)
    })?;
    let ended = match &executed.end {
        ExecutionEnd::Exited(0) => return Ok((BuildResult::Well, String::new())),
        ExecutionEnd::Interrupted => return Ok((BuildResult::Interrupted, String::new())),
        ExecutionEnd::NotStarted(reason) => reason.clone(),
        end @ (ExecutionEnd::Exited(_) | ExecutionEnd::Signalled(_) | ExecutionEnd::TimedOut) => {
            describe(end, None)
        }
    };
    let texts = [executed.stderr.text(), executed.stdout.text()];
    let mut lines = texts.iter().flat_map(|text| text.lines().rev());
    let said = lines.find(|line| !line.trim().is_empty());
    let said = said.map_or_else(String::new, |line| format!(": {}", line.trim()));
    let log = texts.concat();
    Ok((BuildResult::Badly(format!("{ended}{said}")), log))
}
