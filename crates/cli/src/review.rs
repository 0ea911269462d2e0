//! `--review`: one item after another, with a proposal to keep or change.

use std::io::{self, BufRead as _, IsTerminal as _};

use crate::error::CliError;
use crate::terminal::Terminal;

/// The answer to a proposal.
pub enum ReviewAnswer<T> {
    Keep,
    Change(T),
    Skip,
}

/// What follows an answer.
pub enum ReviewStep {
    Next,
    /// The same item, with what the answer made of it.
    Again,
}

/// Items to review.
pub trait Review<T> {
    /// Returns an item as it is shown, below its place: `[1/3] gzip`.
    fn shown(&self, item: usize) -> String;

    /// Returns the proposal and the possible answers.
    fn question(&self, item: usize) -> String;

    /// Returns the changed value of a line, or what to write instead.
    fn parse(&self, item: usize, line: &str) -> Result<T, String>;

    /// Takes the answer.
    fn take(&mut self, item: usize, answer: ReviewAnswer<T>) -> Result<ReviewStep, CliError>;
}

/// Reviews items in turn. Returns the place where the review was stopped or the input ended; `None` if it is complete.
pub fn review<T>(
    reviewed: &mut impl Review<T>,
    items: &[usize],
    terminal: &Terminal,
) -> Result<Option<usize>, CliError> {
    let mut at = 0;
    while let Some(&item) = items.get(at) {
        let (number, of, shown) = (at + 1, items.len(), reviewed.shown(item));
        terminal.say(&format!("\n[{number}/{of}] {shown}"));
        let question = reviewed.question(item);
        at = loop {
            let Some(line) = ask(&question, terminal)? else {
                terminal.say("");
                return Ok(Some(at));
            };
            let answer = match line.as_str() {
                "q" => return Ok(Some(at)),
                "b" => break at.saturating_sub(1),
                "" => ReviewAnswer::Keep,
                "s" => ReviewAnswer::Skip,
                value => match reviewed.parse(item, value) {
                    Ok(value) => ReviewAnswer::Change(value),
                    Err(reason) => {
                        terminal.say(&reason);
                        continue;
                    }
                },
            };
            break match reviewed.take(item, answer)? {
                ReviewStep::Next => at + 1,
                ReviewStep::Again => at,
            };
        };
    }
    Ok(None)
}

/// Asks a question and returns the line of the reply; `None` at the end of the input.
fn ask(question: &str, terminal: &Terminal) -> io::Result<Option<String>> {
    terminal.ask(question);
    let mut line = String::new();
    if io::stdin().lock().read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let line = line.trim();
    if !io::stdin().is_terminal() {
        // The reply does not appear by itself.
        terminal.say(line);
    }
    Ok(Some(line.to_owned()))
}
