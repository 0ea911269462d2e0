//! Remarks of an answer, and the commands that it recommends.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::quantity;

/// A remark of an answer: a sentence, with a code and the numbers of the sentence for programs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Note {
    /// Identifies the kind of remark.
    pub code: &'static str,
    /// The remark in words.
    pub text: String,
    /// The numbers and names of the remark.
    #[serde(flatten)]
    pub values: BTreeMap<&'static str, Value>,
    /// Whether the text begins with `note:` in a terminal.
    #[serde(skip)]
    is_marked: bool,
    /// How long it stays where there are many.
    #[serde(skip)]
    weight: NoteWeight,
}

/// How long a line stays where there are many.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum NoteWeight {
    /// People get it, however many there are.
    Vital,
    /// People get it if it is one of the most important.
    #[default]
    Usual,
    /// People get it with `--full` only.
    Detail,
}

impl Note {
    /// Returns a line of an answer.
    pub fn new(code: &'static str, text: impl Into<String>) -> Self {
        Self {
            code,
            text: text.into(),
            values: BTreeMap::new(),
            is_marked: false,
            weight: NoteWeight::Usual,
        }
    }

    /// Returns a line that begins with `note:` in a terminal.
    pub fn marked(code: &'static str, text: impl Into<String>) -> Self {
        Self::new(code, text).mark()
    }

    /// Makes the line begin with `note:` in a terminal.
    #[must_use]
    pub fn mark(mut self) -> Self {
        self.is_marked = true;
        self
    }

    /// Returns whether the line begins with `note:` in a terminal.
    pub fn is_marked(&self) -> bool {
        self.is_marked
    }

    /// Gives the line another weight.
    #[must_use]
    pub fn weighing(mut self, weight: NoteWeight) -> Self {
        self.weight = weight;
        self
    }

    /// Returns the weight of the line.
    pub fn weight(&self) -> NoteWeight {
        self.weight
    }

    /// Adds a number or a name of the text.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.values.insert(name, value.into());
        self
    }

    /// Returns the line.
    pub fn line(&self) -> String {
        if self.is_marked {
            format!("note: {}", self.text)
        } else {
            self.text.clone()
        }
    }
}

impl AsRef<str> for Note {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

/// A command that continues from an answer.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct NextStep {
    /// The command, for a shell.
    pub command: String,
    /// What it does, as the words after the command: `shows more`.
    pub why: String,
    /// The expected time in seconds; `null` if unknown.
    pub seconds: Option<f64>,
}

impl NextStep {
    /// Returns a step of unknown or negligible time.
    pub fn new(command: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            command: command.into(),
            why: why.into(),
            seconds: None,
        }
    }

    /// Sets the expected time in seconds, if it is known.
    #[must_use]
    pub fn taking(mut self, seconds: Option<f64>) -> Self {
        self.seconds = seconds;
        self
    }

    /// Returns the step in words: `lapwing report` shows more (about 6 s).
    fn words(&self) -> String {
        let time = self.seconds.map_or_else(String::new, |seconds| {
            format!(" (about {})", quantity(seconds, "s"))
        });
        format!("`{}` {}{time}", self.command, self.why)
    }

    /// Returns the steps as one line; `None` if there are none.
    pub fn line(steps: &[Self]) -> Option<String> {
        let words: Vec<String> = steps.iter().map(Self::words).collect();
        (!words.is_empty()).then(|| format!("next: {}", words.join(", ")))
    }
}
