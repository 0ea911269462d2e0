//! Says in people's words why a text is not the JSON that it should be.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::error::Category;

/// A key and the word behind it that is no number. Built once: a file may have many bad lines.
static NO_NUMBER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#""([^"\\]*)"\s*:\s*(?:\[[^\]{}"]*?)?\s*([-+]?(?:NaN|nan|Infinity|inf|Inf)\b)"#)
        .ok()
});

/// Returns why `text` could not be read, without the position.
pub(crate) fn reason(text: &str, error: &serde_json::Error) -> String {
    let message = without_position(&error.to_string());
    match error.classify() {
        Category::Data => missing_in_words(&message),
        Category::Syntax => too_large(text, error)
            .or_else(|| not_a_number(text, error))
            .unwrap_or_else(|| format!("not valid JSON: {message}")),
        Category::Eof => "the JSON is cut off".to_owned(),
        Category::Io => message,
    }
}

/// Names the number, where that is what is wrong: it is JSON, but nothing can hold it.
pub(crate) fn too_large(text: &str, error: &serde_json::Error) -> Option<String> {
    /// Of a number with hundreds of digits the first suffice.
    const SHOWN: usize = 24;
    if without_position(&error.to_string()) != "number out of range" {
        return None;
    }
    let is_part =
        |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E');
    // The error stands in the number or just behind it.
    let (before, behind) = text.split_at(offset_of(text, error.line(), error.column()));
    let begin = before.bytes().rev().take_while(|it| is_part(it)).count();
    let end = behind.bytes().take_while(|it| is_part(it)).count();
    let number = &text[before.len() - begin..before.len() + end];
    Some(match number.get(..SHOWN) {
        Some(first) if number.len() > SHOWN => format!("the number {first}… is too large"),
        Some(_) | None => format!("the number {number} is too large"),
    })
}

/// Returns the byte of a text at serde's line and column, both from 1.
pub(crate) fn offset_of(text: &str, line: usize, column: usize) -> usize {
    let mut begin = 0;
    for _ in 1..line {
        match text[begin..].find('\n') {
            Some(at) => begin += at + 1,
            None => break,
        }
    }
    let mut place = (begin + column.saturating_sub(1)).min(text.len());
    while !text.is_char_boundary(place) {
        place -= 1;
    }
    place
}

/// Python writes NaN and Infinity, which are no JSON. Names the key that has it.
fn not_a_number(text: &str, error: &serde_json::Error) -> Option<String> {
    let words = NO_NUMBER.as_ref()?;
    let line = text.lines().nth(error.line().saturating_sub(1))?;
    // The error stands on the word or just behind its beginning; with several, the first.
    let found = words
        .captures_iter(text)
        .find(|found| {
            found
                .get(2)
                .is_some_and(|word| text[..word.start()].lines().count() >= error.line())
        })
        .or_else(|| words.captures(line))?;
    let (key, word) = (found.get(1)?.as_str(), found.get(2)?.as_str());
    Some(format!("`{key}` is not a number: {word}"))
}

/// Says in people's words that a key is missing, where that is what serde says.
pub(crate) fn missing_in_words(message: &str) -> String {
    match message.strip_prefix("missing field ") {
        Some(key) => format!("{key} is missing"),
        None => message.to_owned(),
    }
}

/// Cuts off serde's position, which counts within the line and would only confuse.
pub(crate) fn without_position(message: &str) -> String {
    let Some(at) = message.rfind(" at line ") else {
        return message.to_owned();
    };
    let rest = &message[at + " at line ".len()..];
    let is_position = rest.split_once(" column ").is_some_and(|(line, column)| {
        line.bytes().all(|it| it.is_ascii_digit()) && column.bytes().all(|it| it.is_ascii_digit())
    });
    if is_position {
        message[..at].to_owned()
    } else {
        message.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> String {
        let error = serde_json::from_str::<serde_json::Value>(text).expect_err("bad on purpose");
        reason(text, &error)
    }

    #[test]
    fn reasons_name_the_key_and_the_word() {
        assert_eq!(
            of(r#"{"a": 1, "time": NaN}"#),
            "`time` is not a number: NaN"
        );
        assert_eq!(
            of(r#"{"time": -Infinity, "b": 1}"#),
            "`time` is not a number: -Infinity"
        );
        assert_eq!(
            of("{\"times\": [1.5,\n NaN]}"),
            "`times` is not a number: NaN"
        );
        assert_eq!(
            of(r#"{"iterations":[{"n":1,"time":NaN}]}"#),
            "`time` is not a number: NaN"
        );
        assert_eq!(
            of(r#"{"a": [1, 1e400, 2]}"#),
            "the number 1e400 is too large"
        );
        assert_eq!(
            of(&format!("[\n -1{}]", "0".repeat(400))),
            "the number -10000000000000000000000… is too large"
        );
        assert_eq!(of(r#"{"a": 1"#), "the JSON is cut off");
        assert_eq!(of("time: 3"), "not valid JSON: expected ident");
    }
}
