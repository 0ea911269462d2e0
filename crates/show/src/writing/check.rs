//! Whether answers fit their schemas, for tests.

use serde_json::Value;

use super::{AnswerKind, Extent, WriteError};

/// Refuses an answer that does not fit the schema of its kind.
pub fn fits(kind: &AnswerKind, extent: &Extent, answer: &Value) -> Result<(), WriteError> {
    // Rows of chosen fields lack the others on purpose.
    if !extent.fields.is_empty() {
        return Ok(());
    }
    let refused = |why: String| WriteError::Schema {
        kind: kind.name,
        why,
    };
    let validator = jsonschema::validator_for(&kind.json_schema());
    let validator = validator.map_err(|error| refused(error.to_string()))?;
    let mut errors = validator.iter_errors(answer);
    match errors.next() {
        None => Ok(()),
        Some(error) => Err(refused(format!("{}: {error}", error.instance_path()))),
    }
}
