//! Reviews: one benchmark after another, with a proposal to keep or change.

use std::io::{self, BufRead, IsTerminal, StdinLock};

use crate::terminal::Terminal;

/// The answer to a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewAnswer<T> {
    Keep,
    Change(T),
    Skip,
    Back,
    Quit,
}

impl<T> ReviewAnswer<T> {
    /// Returns the answer of a line; `change` parses a changed value.
    pub fn parse(
        line: &str,
        change: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<Self, String> {
        match line {
            "" => Ok(Self::Keep),
            "s" => Ok(Self::Skip),
            "b" => Ok(Self::Back),
            "q" => Ok(Self::Quit),
            value => change(value).map(Self::Change),
        }
    }
}

/// Asks a question and returns the line of the reply; `None` at the end of the input.
pub fn ask(
    question: &str,
    input: &mut StdinLock<'_>,
    terminal: &Terminal,
) -> io::Result<Option<String>> {
    terminal.ask(question);
    let mut line = String::new();
    if input.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let line = line.trim();
    if !io::stdin().is_terminal() {
        // The reply does not appear by itself.
        terminal.say(line);
    }
    Ok(Some(line.to_owned()))
}
