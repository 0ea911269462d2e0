//! Finds out what kind of file a source is.

use std::io::Read;

use super::places::is_companion;
use super::{FORMATS, Format, ImportError, Source};

/// How much of a file's beginning is looked at.
const HEAD: u64 = 1 << 20;

/// Returns the format of a source, and by what it was recognised.
pub(super) fn format_of(
    source: &Source,
    given: Option<&'static Format>,
) -> Result<(&'static Format, Option<&'static str>), ImportError> {
    if source.is_folder() {
        return folder_format(source, given);
    }
    let mut head = Vec::new();
    source
        .text()?
        .take(HEAD)
        .read_to_end(&mut head)
        .map_err(|error| source.failed(error))?;
    let name = || source.name().to_owned();
    if head.trim_ascii().is_empty() && head.len() < 1 << 20 {
        return Err(ImportError::Empty { name: name() });
    }
    if let Some(found) = foreign_encoding(&head) {
        return Err(ImportError::Encoding {
            name: name(),
            found,
        });
    }
    if let Some(format) = given {
        return Ok((format, None));
    }
    let text = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&head);
    let found = FORMATS
        .iter()
        .find_map(|format| (format.looks_like)(text).map(|because| (format, Some(because))));
    match found {
        Some(found) => Ok(found),
        // Its name alone says nothing: results may be called `benchmarks.json` as well.
        None if source.path().is_some_and(is_companion) => {
            Err(ImportError::Companion { name: name() })
        }
        None => Err(ImportError::Unknown { name: name() }),
    }
}

fn folder_format(
    source: &Source,
    given: Option<&'static Format>,
) -> Result<(&'static Format, Option<&'static str>), ImportError> {
    source
        .path()
        .and_then(|path| {
            FORMATS
                .iter()
                .filter(|format| given.is_none_or(|given| given.name == format.name))
                .find_map(|format| (format.folder)(path).map(|because| (format, Some(because))))
        })
        .ok_or_else(|| ImportError::Unknown {
            name: source.name().to_owned(),
        })
}

fn foreign_encoding(head: &[u8]) -> Option<&'static str> {
    match head {
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => Some("UTF-16 text"),
        [b'{' | b'[', 0, ..] | [0, b'{' | b'[', ..] => Some("UTF-16 text"),
        [0x50, 0x4B, 3, 4, ..] => Some("a ZIP archive"),
        [0xFD, b'7', b'z', b'X', b'Z', ..] => Some("xz-compressed data"),
        [b'B', b'Z', b'h', ..] => Some("bzip2-compressed data"),
        head if head.contains(&0) => Some("binary data"),
        _text => None,
    }
}

/// Returns the first line that is not blank.
pub(super) fn first_line(head: &[u8]) -> &[u8] {
    head.split(|&byte| byte == b'\n')
        .map(<[u8]>::trim_ascii)
        .find(|line| !line.is_empty())
        .unwrap_or(b"")
}

/// Returns whether `"key"` stands in the text, followed by a colon.
pub(super) fn has_key(text: &[u8], key: &str) -> bool {
    let quoted = format!("\"{key}\"");
    let quoted = quoted.as_bytes();
    text.windows(quoted.len()).enumerate().any(|(at, window)| {
        window == quoted
            && text[at + quoted.len()..]
                .iter()
                .find(|byte| !byte.is_ascii_whitespace())
                == Some(&b':')
    })
}
