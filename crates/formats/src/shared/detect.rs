//! Finds out what kind of file a source is.

use std::io::Read;
use std::path::Path;

use memchr::{memchr2, memmem};

use crate::shared::guess::guess;
use crate::shared::places::is_companion;
use crate::{FORMATS, Foreign, Format, ImportError, Source};

/// The number of bytes at a file's beginning that are looked at.
const HEAD: u64 = 1 << 20;

/// The beginning of every SQLite file.
const SQLITE: &[u8] = b"SQLite format 3\0";

/// A format, and by what it was recognised, unless it was given.
pub(crate) type Recognised = (&'static Format, Option<&'static str>);

/// Returns whether bytes begin as an SQLite file does.
pub(crate) fn is_sqlite(head: &[u8]) -> bool {
    head.starts_with(SQLITE)
}

/// Returns the format of a source, and by what it was recognised.
pub(crate) fn format_of(
    source: &Source,
    given: Option<&'static Format>,
) -> Result<Recognised, ImportError> {
    if source.is_folder() {
        let found = source.path().and_then(|path| format_at(path, given));
        return found.ok_or_else(|| ImportError::Unknown {
            name: source.name().to_owned(),
            guess: None,
        });
    }
    let mut head = Vec::new();
    source
        .text()?
        .take(HEAD)
        .read_to_end(&mut head)
        .map_err(|error| source.failed(error))?;
    let name = || source.name().to_owned();
    if head.trim_ascii().is_empty() && (head.len() as u64) < HEAD {
        return Err(ImportError::Empty(name()));
    }
    let encoded = |found| ImportError::Encoding {
        name: name(),
        found,
    };
    if is_sqlite(&head) {
        return database_format(&head, given).map_err(encoded);
    }
    if let Some(found) = foreign_encoding(&head) {
        return Err(encoded(found));
    }
    if let Some(format) = given {
        return Ok((format, None));
    }
    let text = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&head);
    let found = FORMATS
        .iter()
        .find_map(|format| (format.looks_like)(text).map(|because| (format, Some(because))));
    match found.or_else(|| format_at(source.path()?, given)) {
        Some(found) => Ok(found),
        // Its name alone says nothing: results may be called `benchmarks.json` as well.
        None if source.path().is_some_and(is_companion) => Err(ImportError::Companion(name())),
        None => Err(ImportError::Unknown {
            name: name(),
            guess: Some(guess(text, (head.len() as u64) < HEAD)),
        }),
    }
}

/// Returns the format that a path looks like by its name and by what lies there or beside it.
fn format_at(path: &Path, given: Option<&'static Format>) -> Option<Recognised> {
    let formats = FORMATS.iter();
    let mut formats = formats.filter(|format| given.is_none_or(|given| given.name == format.name));
    formats.find_map(|format| (format.is_at)(path).map(|because| (format, Some(because))))
}

/// The place where an SQLite file names its program, and the name in ours.
const APPLICATION: std::ops::Range<usize> = 68..72;
const OURS: &[u8] = b"LAPW";

/// Returns the format of an SQLite database, or whose it is instead.
fn database_format(head: &[u8], given: Option<&'static Format>) -> Result<Recognised, Foreign> {
    if let Some(format) = given.filter(|given| given.is_database) {
        return Ok((format, None));
    }
    if head.get(APPLICATION) == Some(OURS) {
        return Err(Foreign::Store);
    }
    let databases = FORMATS
        .iter()
        .filter(|format| format.is_database && given.is_none());
    let mut found = databases.filter_map(|format| Some((format, Some((format.looks_like)(head)?))));
    found.next().ok_or(Foreign::Sqlite)
}

/// The position of the sign of a tar archive.
const TAR_SIGN: usize = 257;

fn foreign_encoding(head: &[u8]) -> Option<Foreign> {
    match head {
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => Some(Foreign::Utf16),
        [b'{' | b'[', 0, ..] | [0, b'{' | b'[', ..] => Some(Foreign::Utf16),
        [0x50, 0x4B, 3, 4, ..] => Some(Foreign::Zip),
        [0xFD, b'7', b'z', b'X', b'Z', ..] => Some(Foreign::Xz),
        [b'B', b'Z', b'h', ..] => Some(Foreign::Bzip2),
        // One layer of compression is removed before.
        [0x1f, 0x8b, ..] => Some(Foreign::GzipWithin),
        [0x28, 0xB5, 0x2F, 0xFD, ..] => Some(Foreign::ZstdWithin),
        head if head
            .get(TAR_SIGN..)
            .is_some_and(|it| it.starts_with(b"ustar")) =>
        {
            Some(Foreign::Tar)
        }
        head if head.contains(&0) => Some(Foreign::Binary),
        _text => None,
    }
}

/// Returns the first line that is not blank.
pub(crate) fn first_line(head: &[u8]) -> &[u8] {
    head.split(|&byte| byte == b'\n')
        .map(<[u8]>::trim_ascii)
        .find(|line| !line.is_empty())
        .unwrap_or(b"")
}

/// Returns whether `"key"` stands in the text, followed by a colon.
pub(crate) fn has_key(text: &[u8], key: &str) -> bool {
    let quoted = format!("\"{key}\"");
    memmem::find_iter(text, &quoted).any(|at| is_key_end(&text[at + quoted.len()..]))
}

/// Returns whether all of these keys stand in the text.
pub(crate) fn has_keys(text: &[u8], keys: &[&str]) -> bool {
    keys.iter().all(|key| has_key(text, key))
}

/// Returns whether the schema of a database has a table of that name, in whatever quotes.
pub(crate) fn has_table(head: &[u8], name: &str) -> bool {
    memmem::find_iter(head, b"TABLE ").any(|at| {
        let rest = head[at + "TABLE ".len()..].trim_ascii_start();
        let rest = match rest {
            [b'"' | b'`' | b'[' | b'\'', rest @ ..] => rest,
            rest => rest,
        };
        let behind = rest.strip_prefix(name.as_bytes());
        behind.is_some_and(|it| {
            !it.first()
                .is_some_and(|it| it.is_ascii_alphanumeric() || *it == b'_')
        })
    })
}

/// Returns whether a text begins with a JSON object.
pub(crate) fn is_object(text: &[u8]) -> bool {
    text.trim_ascii_start().starts_with(b"{")
}

/// Returns whether a JSON object has a key itself, as far as its text is there; not
/// something within it.
pub(crate) fn has_own_key(text: &[u8], key: &str) -> bool {
    let (mut depth, mut at) = (0_u32, 0);
    while let Some(&byte) = text.get(at) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let begin = at + 1;
                let Some(end) = end_of_string(text, begin) else {
                    return false;
                };
                if depth == 1 && &text[begin..end] == key.as_bytes() && is_key_end(&text[end + 1..])
                {
                    return true;
                }
                at = end;
            }
            _other => {}
        }
        at += 1;
    }
    false
}

/// Returns the place of the quote at the end of the string whose first character is at `begin`; `None` if it is cut off.
pub(crate) fn end_of_string(text: &[u8], begin: usize) -> Option<usize> {
    let mut at = begin;
    loop {
        at += memchr2(b'"', b'\\', text.get(at..)?)?;
        if text[at] == b'"' {
            return Some(at);
        }
        at += 2;
    }
}

fn is_key_end(behind: &[u8]) -> bool {
    behind.trim_ascii_start().first() == Some(&b':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_may_have_quotes() {
        let schema =
            b"CREATE TABLE \"workflow\" (x) CREATE TABLE task(x) CREATE TABLE [tasks_x] (y)";
        let has = |name| has_table(schema, name);
        assert_eq!(
            ["workflow", "task", "tasks", "tasks_x", "work"].map(has),
            [true, true, false, true, false]
        );
    }

    #[test]
    fn an_own_key_does_not_stand_deeper() {
        let text = br#"{"a": {"b": [{"c": 1}]}, "x\"y": "d", "e" : 2, "cut"#;
        let own = |key| has_own_key(text, key);
        assert_eq!(
            ["a", "b", "c", "d", "e", "cut"].map(own),
            [true, false, false, false, true, false]
        );
        assert!(has_key(text, "c") && has_key(text, "e") && !has_key(text, "d"));
    }
}
