//! Statements of Python, each of whose iterations is a loop in a fresh process.

use std::time::Duration;

use lapwing_model::document::{last_object, loops};

use super::plan::{Case, CommandLine};
use crate::execution::execute::{Execution, ExecutionEnd, Executor, ExecutorError};

/// Measures with the standard library's `timeit`, which also switches the garbage collector off.
const PROGRAM: &str = include_str!("statement.py");
/// How much of what a statement prints is kept for messages.
const TAIL: usize = 64 << 10;
/// A loop that takes a tenth of a second is found within this time, unless the statement never ends.
const TIME_LIMIT: Duration = Duration::from_secs(600);

/// A statement of Python.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// The statement.
    pub text: String,
    /// What runs before each iteration, untimed.
    pub setup: String,
    /// The interpreter: a path, or a name on the search path.
    pub python: String,
}

/// It is unknown how often a statement is to be executed per iteration.
#[derive(Debug, thiserror::Error)]
pub enum StatementError {
    /// There is no such interpreter.
    #[error("Python cannot be started: {reason}")]
    NoPython {
        /// Why.
        reason: String,
    },
    /// The statement fails.
    #[error("`{statement}` cannot be measured: {reason}")]
    Fails {
        /// The statement.
        statement: String,
        /// Python's own words.
        reason: String,
    },
    /// It was interrupted.
    #[error("interrupted")]
    Interrupted,
    /// The surroundings are broken.
    #[error(transparent)]
    Executor(#[from] ExecutorError),
}

impl Statement {
    /// Returns the command that measures it, as far as it says what is measured.
    pub fn command(&self) -> CommandLine {
        let words = [&self.python, "-c", PROGRAM, &self.setup, &self.text];
        CommandLine::Words(words.map(str::to_owned).to_vec())
    }

    /// Returns the interpreter of a benchmark that is a statement.
    pub(crate) fn interpreter_of(case: &Case) -> Option<&str> {
        match &case.command {
            CommandLine::Words(words) => match &words[..] {
                [python, _, program, ..] if program == PROGRAM => Some(python),
                _ => None,
            },
            CommandLine::Shell(_) => None,
        }
    }

    /// Returns how many executions of the statement take a tenth of a second.
    ///
    /// # Errors
    /// When the statement fails or cannot be executed.
    pub fn calibrate(
        &self,
        case: &Case,
        executor: &mut dyn Executor,
    ) -> Result<u64, StatementError> {
        let mut asking = case.clone();
        Self::complete(&mut asking, 0);
        let executed = executor.execute(&Execution {
            directory: case.directory.clone().map(Into::into),
            environment: case.environment.clone(),
            time_limit: Some(TIME_LIMIT),
            keep_stdout: TAIL,
            keep_stderr: TAIL,
            ..Execution::new(asking.command)
        })?;
        let fails = |reason: String| StatementError::Fails {
            statement: self.text.clone(),
            reason,
        };
        match executed.end {
            ExecutionEnd::Exited(0) => {
                let document = last_object(&executed.stdout.text()).ok().flatten();
                let found = document.and_then(|it| loops(&it).ok().flatten());
                found.ok_or_else(|| fails("it ends Python, or hides what is printed".to_owned()))
            }
            ExecutionEnd::NotStarted(reason) => Err(StatementError::NoPython { reason }),
            ExecutionEnd::Interrupted => Err(StatementError::Interrupted),
            end @ (ExecutionEnd::Exited(_)
            | ExecutionEnd::Signalled(_)
            | ExecutionEnd::TimedOut) => {
                let text = executed.stderr.text();
                let mut lines = text.lines().rev();
                let last = lines.find(|line| !line.trim().is_empty());
                let ended = || crate::describe(&end, Some(TIME_LIMIT));
                Err(fails(last.map_or_else(ended, str::to_owned)))
            }
        }
    }

    /// Adds to a benchmark that is a statement how often it is executed per iteration. Not part of its meaning: loops are
    /// chosen anew for each session.
    pub fn complete(case: &mut Case, loops: u64) {
        let values = case.burn_in.planned().saturating_add(case.iterations);
        if let CommandLine::Words(words) = &mut case.command {
            words.extend([loops.to_string(), values.to_string()]);
        }
    }
}
