//! Outputs of chosen commands about the environment, such as versions of packages.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde_json::json;

use super::super::{Execution, ExecutionEnd, Executor, ExecutorError, describe};
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
            directory: directory.map(Path::to_owned),
            time_limit: Some(COMMAND_TIME_LIMIT),
            keep_stdout: COMMAND_OUTPUT,
            ..Execution::new(command.clone())
        })?;
        let value = match executed.end {
            ExecutionEnd::Exited(0) => executed.stdout.text().trim_end().into(),
            ExecutionEnd::TimedOut => {
                json!({ "error": format!("took longer than {COMMAND_TIME_LIMIT:?}") })
            }
            ExecutionEnd::NotStarted(reason) => json!({ "error": reason }),
            end @ (ExecutionEnd::Exited(_)
            | ExecutionEnd::Signalled(_)
            | ExecutionEnd::Interrupted) => json!({ "error": describe(&end, None) }),
        };
        outputs.insert(name.clone(), value);
    }
    Ok(outputs)
}
