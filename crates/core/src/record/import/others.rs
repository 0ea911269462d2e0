//! Keys of an element that its reader does not know.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::BadLine;
use super::document::Document;
use crate::model::Object;

/// Returns the keys of an element that are none of these, with their values.
///
/// `#[serde(flatten)]` does the same for small elements, but forgets where in the text an
/// error is, and holds everything twice.
pub(super) fn others(
    document: &Document,
    raw: &RawValue,
    known: &[&str],
) -> Result<Object, BadLine> {
    let all: BTreeMap<Cow<'_, str>, &RawValue> = document.element(raw)?;
    let mut others = Object::new();
    for (key, raw) in all {
        if !known.contains(&key.as_ref()) {
            others.insert(key.into_owned(), document.element(raw)?);
        }
    }
    Ok(others)
}
