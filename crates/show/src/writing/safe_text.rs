//! Text that is safe for a terminal: names of benchmarks, files and metrics are others' text.

use std::borrow::Cow;
use std::io::{self, Write};

/// Returns whether a character could change the state of a terminal, or the order of the text around it.
fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// Returns a text of one line that is safe.
pub fn safe_line(text: &str) -> String {
    text.replace(is_unsafe, "\u{FFFD}")
}

/// Returns a text whose lines are safe.
pub fn safe(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let safe = text.chars().map(|it| match it {
        '\n' => '\n',
        '\t' => ' ',
        other if is_unsafe(other) => '\u{FFFD}',
        other => other,
    });
    Cow::Owned(safe.collect())
}

/// Returns JSON in which the same characters are escaped; they can only be in its strings.
fn escaped(json: &str) -> Cow<'_, str> {
    let is_escaped = |it: char| is_unsafe(it) && it != '\n';
    if !json.contains(is_escaped) {
        return Cow::Borrowed(json);
    }
    let mut text = String::with_capacity(json.len() + 8);
    for character in json.chars() {
        if is_escaped(character) {
            // All of them have four digits.
            text.push_str(&format!("\\u{:04x}", u32::from(character)));
        } else {
            text.push(character);
        }
    }
    Cow::Owned(text)
}

/// Passes on only what is [`safe`], or JSON with escapes for what is not.
#[derive(Debug)]
pub struct SafeWriter<W: Write> {
    inner: W,
    make_safe: fn(&str) -> Cow<'_, str>,
    /// The line so far: a character may be written in pieces.
    line: Vec<u8>,
}

impl<W: Write> SafeWriter<W> {
    /// Returns a writer of text to `inner`.
    pub fn new(inner: W) -> Self {
        Self::making(safe, inner)
    }

    /// Returns a writer of JSON to `inner`. What a program reads from it is the same.
    pub fn json(inner: W) -> Self {
        Self::making(escaped, inner)
    }

    fn making(make_safe: fn(&str) -> Cow<'_, str>, inner: W) -> Self {
        Self {
            inner,
            make_safe,
            line: Vec::new(),
        }
    }

    fn write_line(&mut self) -> io::Result<()> {
        let line = std::mem::take(&mut self.line);
        let text = String::from_utf8_lossy(&line);
        self.inner.write_all((self.make_safe)(&text).as_bytes())
    }
}

impl<W: Write> Write for SafeWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.line.extend_from_slice(bytes);
        if bytes.contains(&b'\n') {
            self.write_line()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.line.is_empty() {
            self.write_line()?;
        }
        self.inner.flush()
    }
}

impl<W: Write> Drop for SafeWriter<W> {
    fn drop(&mut self) {
        // Whoever wants to know about errors flushes before.
        let _unwritten = self.flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_command_reaches_a_terminal() {
        let hostile = "a\u{1b}]0;title\u{7}b\rc\td\u{202e}e\u{9b}2Jf\u{1b}[31m\n";
        assert_eq!(safe(hostile), "a�]0;title�b�c d�e�2Jf�[31m\n");
        assert_eq!(safe_line("a\nb"), "a�b");
        let mut written = Vec::new();
        let mut writer = SafeWriter::new(&mut written);
        for byte in "ü\u{1b}[31mx\n\u{1b}c".as_bytes() {
            writer.write_all(&[*byte]).expect("memory takes it");
        }
        drop(writer);
        assert_eq!(String::from_utf8_lossy(&written), "ü�[31mx\n�c");
    }

    #[test]
    fn json_says_the_same_without_such_a_character() {
        let hostile = "a\u{1b}[2J\u{9b}2J\u{7f}\u{202e}\n\tü";
        let mut written = Vec::new();
        let mut writer = SafeWriter::json(&mut written);
        serde_json::to_writer_pretty(&mut writer, &[hostile]).expect("memory takes it");
        drop(writer);
        let text = String::from_utf8(written).expect("text");
        assert!(!text.contains(|it| is_unsafe(it) && it != '\n'), "{text}");
        let read: Vec<String> = serde_json::from_str(&text).expect("JSON");
        assert_eq!(read, [hostile]);
    }
}
