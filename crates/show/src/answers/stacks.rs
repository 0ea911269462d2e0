//! Combinations of package versions: `lapwing stack resolve`.

use std::path::Path;

use lapwing_model::Levels;
use lapwing_model::text::counted;
use schemars::JsonSchema;
use serde::Serialize;

use crate::writing::Align::{Left, Right};
use crate::writing::{AnswerKind, Note, ReadyAnswer, Table, TextAnswer, WriteError};

/// The kind of these answers.
pub const KIND: AnswerKind = AnswerKind::of::<StacksFields<'_>>("stack-resolve").listing("stacks");

/// Length of a shortened digest, with the name of its algorithm.
const DIGEST: usize = 19;
/// Number of different reasons that are listed, each with the first of its combinations.
const REASONS: usize = 3;

/// Stacks that were resolved.
#[derive(Debug)]
pub struct StacksAnswer<'a> {
    /// The requirements.
    pub requirements: &'a [String],
    /// The seed of the choice.
    pub seed: u64,
    /// The stacks.
    pub stacks: Vec<StackFields<'a>>,
    /// Combinations without a resolution.
    pub unresolved: Vec<UnresolvedFields<'a>>,
    /// The file that was written, unless there are no stacks.
    pub file: Option<&'a Path>,
    /// How a suggested command starts.
    pub program: String,
}

/// Exact versions of all packages.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StackFields<'a> {
    /// Its name.
    pub name: String,
    /// The requested packages and `python`, with their versions.
    pub factors: &'a Levels,
    /// All packages, as lines of requirements.
    pub packages: &'a [String],
    /// The digest of all packages.
    pub lock: &'a str,
}

/// A combination of versions that cannot be measured.
#[derive(Debug, Serialize, JsonSchema)]
pub struct UnresolvedFields<'a> {
    /// Its name.
    pub name: String,
    /// The requested packages and `python`, with their versions.
    pub factors: &'a Levels,
    /// The step that fails, in words.
    pub state: &'static str,
    /// The end of the output that says why.
    pub log: &'a str,
}

/// Stacks for programs.
#[derive(Debug, Serialize, JsonSchema)]
struct StacksFields<'a> {
    requirements: &'a [String],
    seed: u64,
    /// Number of stacks.
    resolved: usize,
    /// Number of combinations without a resolution.
    refused: usize,
    stacks: &'a [StackFields<'a>],
    unresolved: &'a [UnresolvedFields<'a>],
    /// The file that was written; `null` if there are no stacks.
    file: Option<&'a Path>,
}

#[derive(Debug, Default, Serialize)]
struct StackRow<'a> {
    name: &'a str,
    resolved: bool,
    packages: usize,
    lock: &'a str,
}

impl StacksAnswer<'_> {
    /// Returns the answer.
    ///
    /// # Errors
    ///
    /// Returns the error of a row that JSON has no form for.
    pub fn answer(self) -> Result<ReadyAnswer, WriteError> {
        let mut table = Table::new(&[("stack", Left), ("packages", Right), ("lock", Left)])
            .dispensable(&["lock"]);
        let mut rows = Vec::new();
        for stack in &self.stacks {
            table.row(vec![
                stack.name.clone(),
                stack.packages.len().to_string(),
                stack.lock.chars().take(DIGEST).collect(),
            ]);
            rows.push(StackRow {
                name: &stack.name,
                resolved: true,
                packages: stack.packages.len(),
                lock: stack.lock,
            });
        }
        for refused in &self.unresolved {
            let state = refused.state.to_owned();
            table.row(vec![refused.name.clone(), state, String::new()]);
            rows.push(StackRow {
                name: &refused.name,
                ..StackRow::default()
            });
        }
        let refused = match self.unresolved.len() {
            0 => String::new(),
            1 => "; 1 does not resolve".to_owned(),
            some => format!("; {some} do not resolve"),
        };
        let stacks = counted(self.stacks.len(), "stack");
        let mut notes = Vec::new();
        let mut reasons: Vec<String> = Vec::new();
        for refused in &self.unresolved {
            let reason = explanation(refused.log);
            if reasons.len() < REASONS && !reasons.contains(&reason) {
                let text = format!("{}: {reason}", refused.name);
                notes.push(Note::marked("unresolved", text));
                reasons.push(reason);
            }
        }
        if let Some(file) = self.file {
            let text = format!(
                "wrote {}; `{} stack run SCRIPT…` measures these stacks",
                file.display(),
                self.program
            );
            notes.push(Note::new("written", text));
        }
        let text = TextAnswer {
            headline: format!("{stacks}{refused}, seed {}", self.seed),
            table,
            notes,
            ..TextAnswer::default()
        };
        let fields = StacksFields {
            requirements: self.requirements,
            seed: self.seed,
            resolved: self.stacks.len(),
            refused: self.unresolved.len(),
            stacks: &self.stacks,
            unresolved: &self.unresolved,
            file: self.file,
        };
        ReadyAnswer::new(&KIND, text, &fields, &rows)
    }
}

/// Returns why nothing resolves in uv's words, on one line: what follows its heading, and its hints.
pub(crate) fn explanation(log: &str) -> String {
    let lines = log.lines().map(|line| {
        let line = line.trim_start_matches([' ', '│', '├', '╰', '─', '▶', '×']);
        line.trim()
    });
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    match lines.as_slice() {
        [heading, rest @ ..] if heading.ends_with(':') && !rest.is_empty() => rest.join(" "),
        all => all.join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_explanation_of_uv_is_kept_without_its_heading_and_lines() {
        let log = "  × No solution found when resolving dependencies:\n  ╰─▶ Because only alpha>=2 is available and you require\n      alpha<2, we can conclude that your requirements are unsatisfiable.\n\n      hint: Pre-releases are available";
        assert_eq!(
            explanation(log),
            "Because only alpha>=2 is available and you require alpha<2, we can conclude that your requirements \
             are unsatisfiable. hint: Pre-releases are available"
        );
        assert_eq!(
            explanation("error: no route to host"),
            "error: no route to host"
        );
        assert_eq!(explanation("it failed:\n"), "it failed:");
    }
}
