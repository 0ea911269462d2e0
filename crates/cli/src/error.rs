//! Errors of the program, with hint and exit code.

use std::error::Error;
use std::io;
use std::process::ExitCode;

use lapwing_show::writing::WriteError;

/// Exit code of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitStatus {
    /// 0: fine.
    Fine,
    /// 1: a condition of `--fail-on` was met.
    Judged,
    /// 2: wrong usage or input.
    Input,
    /// 3: not enough data to judge.
    NotEnough,
    /// 4: a benchmark failed in every iteration, or a teardown failed.
    Failed,
    /// 5: two stores that share a history disagree about a record.
    Conflict,
    /// 70: a bug.
    Bug,
    /// 125: `judge` cannot judge this state, and `git bisect run` skips it.
    Skip,
    /// 128: `judge` cannot judge any state, and `git bisect run` ends.
    Abort,
    /// 130: interrupted.
    Interrupted,
    /// The exit code of the command that `trace record` ran.
    Command(u8),
}

impl ExitStatus {
    /// Returns the number of the exit code.
    pub fn number(self) -> u8 {
        match self {
            Self::Fine => 0,
            Self::Judged => 1,
            Self::Input => 2,
            Self::NotEnough => 3,
            Self::Failed => 4,
            Self::Conflict => 5,
            Self::Bug => 70,
            Self::Skip => 125,
            Self::Abort => 128,
            Self::Interrupted => 130,
            Self::Command(code) => code,
        }
    }
}

impl From<ExitStatus> for ExitCode {
    fn from(exit: ExitStatus) -> Self {
        Self::from(exit.number())
    }
}

/// Error with its consequence, hint and exit code.
#[derive(Debug)]
pub struct CliError {
    /// Problem and its location.
    pub cause: Box<dyn Error + Send + Sync>,
    /// State of the user's data, if in doubt.
    pub consequence: Option<String>,
    /// Advice on what to do next.
    pub hint: Option<String>,
    /// Names that exist, where one was unknown.
    pub candidates: Vec<String>,
    /// The exit code.
    pub exit: ExitStatus,
}

impl CliError {
    /// Returns an error about the user's input.
    pub fn input(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            cause: cause.into(),
            consequence: None,
            hint: None,
            candidates: Vec::new(),
            exit: ExitStatus::Input,
        }
    }

    /// Returns an error about too few data to judge.
    pub fn not_enough(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            exit: ExitStatus::NotEnough,
            ..Self::input(cause)
        }
    }

    /// Adds the state of the user's data.
    pub fn consequence(mut self, consequence: impl Into<String>) -> Self {
        self.consequence = Some(consequence.into());
        self
    }

    /// Adds advice on what to do next.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds advice on what to do next, if there is any.
    pub fn hint_if(self, hint: Option<impl Into<String>>) -> Self {
        match hint {
            Some(hint) => self.hint(hint),
            None => self,
        }
    }

    /// Adds the names that exist, where one was unknown.
    pub fn candidates(mut self, candidates: Vec<String>) -> Self {
        self.candidates = candidates;
        self
    }

    /// Returns whether the reader of standard output closed it.
    pub fn is_broken_pipe(&self) -> bool {
        let mut cause: Option<&(dyn Error + 'static)> = Some(self.cause.as_ref());
        while let Some(error) = cause {
            if let Some(error) = error.downcast_ref::<io::Error>()
                && error.kind() == io::ErrorKind::BrokenPipe
            {
                return true;
            }
            if error.downcast_ref().is_some_and(WriteError::is_broken_pipe) {
                return true;
            }
            // These libraries keep the error of the output to themselves.
            if let Some(csv::ErrorKind::Io(error)) = error.downcast_ref().map(csv::Error::kind)
                && error.kind() == io::ErrorKind::BrokenPipe
            {
                return true;
            }
            if let Some(error) = error.downcast_ref::<serde_json::Error>()
                && error.io_error_kind() == Some(io::ErrorKind::BrokenPipe)
            {
                return true;
            }
            cause = error.source();
        }
        false
    }

    /// Returns the error of writing a result, except a closed pipe: the exit code of the result
    /// stands even if the reader wanted only part of it.
    pub fn unless_reader_left(written: Result<(), Self>) -> Result<(), Self> {
        match written {
            Err(error) if !error.is_broken_pipe() => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Returns the cause and its causes as one sentence: `a: b: c`.
    pub fn sentence(&self) -> String {
        let mut text = self.cause.to_string();
        let mut source = self.cause.source();
        while let Some(error) = source {
            let more = error.to_string();
            // Some libraries repeat their cause in their own text.
            if !text.contains(&more) {
                text.push_str(": ");
                text.push_str(&more);
            }
            source = error.source();
        }
        text
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for CliError {
    fn from(error: E) -> Self {
        Self::input(error)
    }
}
