//! JSON documents one after another in one file, as a program leaves them that appends its results.

use std::io::Read;

use crate::shared::detect::end_of_string;
use crate::shared::reading::document::LONGEST_MIB;
use crate::{ImportError, Source};

/// Returns the documents of a source as sources; `None` where it has only one.
pub(crate) fn documents_of(source: &Source) -> Result<Option<Vec<Source>>, ImportError> {
    let mut text = String::new();
    let read = source
        .text()?
        .take(LONGEST_MIB << 20)
        .read_to_string(&mut text);
    read.map_err(|error| source.failed(error))?;
    let parts = split(&text);
    if parts.len() < 2 {
        return Ok(None);
    }
    let parts = parts.into_iter().zip(1..);
    let documents = parts.map(|(text, number)| source.document(number, text));
    documents.collect::<Result<_, _>>().map(Some)
}

/// Splits a text behind every object or array that is complete; the last part may be cut off.
fn split(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let (mut parts, mut begin, mut depth, mut at) = (Vec::new(), 0, 0_u32, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at = end_of_string(bytes, at + 1).unwrap_or(bytes.len()),
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    parts.push(text[begin..=at].trim());
                    begin = at + 1;
                }
            }
            _other => {}
        }
        at += 1;
    }
    parts.push(text[begin..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_end_with_their_brackets() {
        let text = "{\"a\": [\"]}\", NaN]}\n[1]{\"b\"";
        let parts = ["{\"a\": [\"]}\", NaN]}", "[1]", "{\"b\""];
        assert_eq!(split(text), parts);
    }
}
