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

/// A file, and the line in it if the problem is in one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ErrorPlace {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: Option<u64>,
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
    /// Returns the place that an error begins with: `FILE:LINE: …`, as all errors about a line do, or `cannot read FILE`.
    pub fn of(error: &str) -> Option<Self> {
        let place = error.split_once(": ").map_or(error, |(place, _)| place);
        if let Some(file) = place.strip_prefix("cannot read ") {
            return Some(Self {
                file: file.to_owned(),
                line: None,
            });
        }
        let (before, number) = place.rsplit_once(':')?;
        let number: u64 = number.parse().ok()?;
        // With a column: FILE:LINE:COLUMN.
        let line = before.rsplit_once(':');
        let line = line.and_then(|(file, line)| Some((file, line.parse().ok()?)));
        let (file, line) = line.unwrap_or((before, number));
        Some(Self {
            file: file.to_owned(),
            line: Some(line),
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
        assert_eq!(
            place,
            Some(ErrorPlace {
                file,
                line: Some(12)
            })
        );
        let place = ErrorPlace::of("bad.json:2:0: no number");
        assert_eq!(place.and_then(|it| it.line), Some(2));
        let unread = ErrorPlace::of("cannot read x: no such file");
        assert_eq!(
            unread.map(|it| (it.file, it.line)),
            Some(("x".to_owned(), None))
        );
        assert_eq!(ErrorPlace::of("no run has the version `1: 2`"), None);
    }
}
