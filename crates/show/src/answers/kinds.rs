//! All kinds of answers, with their schemas.

use schemars::schema_for;
use serde_json::Value;

use super::error::ErrorAnswer;
use super::{compare, session};
use crate::writing::AnswerKind;

/// The kinds of answers, by name.
const KINDS: [&AnswerKind; 3] = [&compare::HAIL_KIND, &compare::KIND, &session::KIND];

/// Returns the names of all kinds of answers.
pub fn names() -> Vec<&'static str> {
    let mut names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
    names.push(ErrorAnswer::NAME);
    names.sort_unstable();
    names
}

/// Returns the JSON schema of a kind of answers; `None` if there is no kind of that name.
pub fn json_schema(name: &str) -> Option<Value> {
    if name == ErrorAnswer::NAME {
        return Some(schema_for!(ErrorAnswer).to_value());
    }
    let kind = KINDS.iter().find(|kind| kind.name == name);
    kind.map(|kind| kind.json_schema())
}
