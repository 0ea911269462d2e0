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
/// Number of combinations whose reason is listed if there are no stacks.
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
        if self.stacks.is_empty() {
            notes.extend(self.unresolved.iter().take(REASONS).map(|refused| {
                let mut lines = refused.log.lines().map(str::trim);
                let reason = lines.find(|line| !line.is_empty()).unwrap_or_default();
                Note::marked("unresolved", format!("{}: {reason}", refused.name))
            }));
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
