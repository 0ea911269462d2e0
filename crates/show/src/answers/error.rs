//! Errors of the program, for programs.

use schemars::JsonSchema;
use serde::Serialize;

/// An error of the program, with what to do next.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ErrorAnswer {
    /// Version of the program.
    pub lapwing: &'static str,
    /// `error`.
    pub answer: &'static str,
    /// Number of the schema.
    pub schema: u32,
    /// The command that failed.
    pub command: Vec<String>,
    /// The problem in words.
    pub error: String,
    /// State of the user's data, if in doubt.
    pub consequence: Option<String>,
    /// Where in which file the problem is, if it is in one.
    #[serde(rename = "where")]
    pub place: Option<ErrorPlace>,
    /// Advice on what to do next.
    pub hint: Option<String>,
    /// Names that exist, where one is unknown.
    pub candidates: Vec<String>,
    /// The exit code.
    pub exit: u8,
}

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ErrorPlace {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u64,
}

impl ErrorAnswer {
    /// Name of the kind.
    pub const NAME: &'static str = "error";

    /// Returns an error of a command, without advice.
    pub fn new(command: Vec<String>, error: String, exit: u8) -> Self {
        Self {
            lapwing: env!("CARGO_PKG_VERSION"),
            answer: Self::NAME,
            schema: 1,
            command,
            place: ErrorPlace::of(&error),
            error,
            consequence: None,
            hint: None,
            candidates: Vec::new(),
            exit,
        }
    }
}

impl ErrorPlace {
    /// Returns the place that an error begins with: all errors about a line of a file begin with `FILE:LINE: `.
    fn of(error: &str) -> Option<Self> {
        let (place, _) = error.split_once(": ")?;
        let (file, line) = place.rsplit_once(':')?;
        Some(Self {
            file: file.to_owned(),
            line: line.parse().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_about_a_line_name_it() {
        let place = ErrorPlace::of("a b/lapwing.toml:12: unknown key `x`");
        let file = "a b/lapwing.toml".to_owned();
        assert_eq!(place, Some(ErrorPlace { file, line: 12 }));
        assert_eq!(ErrorPlace::of("cannot read x: no such file"), None);
    }
}
