//! hyperfine's document, as it stands there.

use std::io::Read;

use serde::Deserialize;
use serde_json::Value;

use super::reason::reason;
use super::{ImportError, Source};
use crate::model::Object;

/// The longest document that is read.
const LONGEST_MIB: u64 = 256;

/// The whole document.
#[derive(Deserialize)]
pub(super) struct Document {
    pub(super) results: Vec<CommandResult>,
}

/// The result of one command.
#[derive(Deserialize)]
pub(super) struct CommandResult {
    pub(super) command: String,
    pub(super) times: Option<Vec<f64>>,
    pub(super) user: Option<f64>,
    pub(super) system: Option<f64>,
    pub(super) memory_usage_byte: Option<Vec<f64>>,
    pub(super) exit_codes: Option<Vec<Option<i32>>>,
    pub(super) parameters: Option<Object>,
    #[serde(flatten)]
    pub(super) others: Object,
}

/// Returns the document, checked.
pub(super) fn parse(source: &Source) -> Result<Document, ImportError> {
    let mut text = Vec::new();
    source
        .text()?
        .take((LONGEST_MIB << 20) + 1)
        .read_to_end(&mut text)
        .map_err(|error| source.failed(error))?;
    if text.len() as u64 > LONGEST_MIB << 20 {
        return Err(ImportError::TooLong {
            name: source.name().to_owned(),
            limit: LONGEST_MIB,
        });
    }
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&text);
    let bad = |line, reason| ImportError::Document {
        name: source.name().to_owned(),
        line,
        reason,
    };
    let text = std::str::from_utf8(text).map_err(|error| {
        let before = &text[..error.valid_up_to()];
        let line = before.split(|&byte| byte == b'\n').count();
        bad(
            line,
            format!(
                "not UTF-8 text: there is a byte 0x{:02X}",
                text[before.len()]
            ),
        )
    })?;
    let document: Document =
        serde_json::from_str(text).map_err(|error| bad(error.line(), reason(text, &error)))?;
    for result in &document.results {
        let measured = [
            ("times", result.times.as_deref().unwrap_or_default()),
            (
                "memory_usage_byte",
                result.memory_usage_byte.as_deref().unwrap_or_default(),
            ),
        ];
        for (key, values) in measured {
            if let Some(value) = values.iter().find(|value| **value < 0.0) {
                let line = line_of(text, &result.command);
                let command = &result.command;
                return Err(bad(
                    line,
                    format!("`{key}` of `{command}` is negative: {value}"),
                ));
            }
        }
    }
    Ok(document)
}

/// Returns the line on which a command stands, as near as the text tells.
fn line_of(text: &str, command: &str) -> usize {
    let quoted = Value::from(command).to_string();
    text.find(&quoted)
        .map_or(1, |at| text[..at].matches('\n').count() + 1)
}
