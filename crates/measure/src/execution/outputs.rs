//! Outputs of chosen commands about the environment, such as versions of packages.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use super::super::{Execution, ExecutionEnd, Executor, ExecutorError, LeftoverPolicy, Stdin};
use crate::suite::CommandLine;
use lapwing_model::Object;

/// Time limit of a command that describes the environment.
const COMMAND_TIME_LIMIT: Duration = Duration::from_secs(30);
/// As much of its output is kept.
const COMMAND_OUTPUT: usize = 64 << 10;

/// Returns the output of each command, without the blanks at its end.
///
/// A command that fails gives an object with its `error` in place of a text: that it
/// failed is an observation too.
///
/// # Errors
/// When the surroundings are broken.
pub fn command_outputs(
    executor: &mut dyn Executor,
    commands: &BTreeMap<String, CommandLine>,
    directory: Option<&Path>,
) -> Result<Object, ExecutorError> {
    let mut outputs = Object::new();
    for (name, command) in commands {
        let executed = executor.execute(&Execution {
            command: command.clone(),
            directory: directory.map(Path::to_owned),
            environment: BTreeMap::new(),
            stdin: Stdin::Null,
            time_limit: Some(COMMAND_TIME_LIMIT),
            keep_stdout: COMMAND_OUTPUT,
            keep_stderr: 0,
            counters: false,
            leftovers: LeftoverPolicy::End,
            cpus: None,
            confinement: None,
        })?;
        let error = match executed.end {
            ExecutionEnd::Exited(0) => None,
            ExecutionEnd::Exited(code) => Some(format!("exit code {code}")),
            ExecutionEnd::Signalled(signal) => Some(format!("ended by signal {signal}")),
            ExecutionEnd::TimedOut => Some(format!("took longer than {COMMAND_TIME_LIMIT:?}")),
            ExecutionEnd::Interrupted => Some("interrupted".to_owned()),
            ExecutionEnd::NotStarted(reason) => Some(reason),
        };
        let value = match error {
            None => String::from_utf8_lossy(&executed.stdout.bytes)
                .trim_end()
                .into(),
            Some(error) => serde_json::json!({ "error": error }),
        };
        outputs.insert(name.clone(), value);
    }
    Ok(outputs)
}
