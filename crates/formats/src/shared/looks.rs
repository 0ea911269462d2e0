//! Describes a text of no known format in a few words.

use lapwing_model::text::first_names;
use serde::de::IgnoredAny;

use super::detect::first_line;

/// Most names of keys that are told.
const KEYS: usize = 4;

/// Most letters of a line that are told.
const LETTERS: usize = 40;

/// Returns what a text looks like, to complete "it is …"; `is_whole` unless only its beginning is known.
pub(super) fn looks(text: &[u8], is_whole: bool) -> String {
    let line = first_line(text);
    match line.first() {
        Some(b'{' | b'[') => json_looks(text, is_whole),
        Some(b'<') => {
            let name = line.split(|byte| b"<>! ?/".contains(byte));
            let name = name.into_iter().find(|part| !part.is_empty());
            format!(
                "XML or HTML that begins with `{}`",
                shown(name.unwrap_or_default())
            )
        }
        Some(_) | None => format!("text that begins with `{}`", shown(line)),
    }
}

fn json_looks(text: &[u8], is_whole: bool) -> String {
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<IgnoredAny>();
    let first = values.next();
    if is_whole && let Some(Err(error)) = first {
        return format!("text like JSON that is not valid: {error}");
    }
    let is_lines = values.next().is_some_and(|it| it.is_ok());
    let kind = if is_lines { "JSON lines" } else { "JSON" };
    match &first_keys(text)[..] {
        [] => format!("{kind} without keys"),
        keys => {
            let names = keys.iter().map(|key| format!("`{key}`"));
            let noun = if keys.len() == 1 { "key" } else { "keys" };
            format!("{kind} with the {noun} {}", first_names(names, KEYS))
        }
    }
}

/// Returns the keys of the first object in a text of JSON, of which only the beginning may be known.
fn first_keys(text: &[u8]) -> Vec<String> {
    let mut keys = Vec::new();
    let (mut depth, mut own_depth) = (0_usize, None);
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'{' => {
                depth += 1;
                own_depth = own_depth.or(Some(depth));
            }
            b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if own_depth.is_some_and(|own| depth < own) {
                    break;
                }
            }
            b'"' => {
                let start = at + 1;
                at = start;
                while at < text.len() && text[at] != b'"' {
                    at += if text[at] == b'\\' { 2 } else { 1 };
                }
                let end = at.min(text.len());
                let rest = text.get(end + 1..).unwrap_or_default();
                if own_depth == Some(depth) && rest.trim_ascii_start().starts_with(b":") {
                    keys.push(shown(&text[start..end]));
                }
            }
            _ => {}
        }
        at += 1;
    }
    keys
}

/// Returns the beginning of some text.
fn shown(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let mut start: String = text.chars().take(LETTERS).collect();
    if start.len() < text.len() {
        start.push('…');
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_described_by_its_keys_or_its_first_line() {
        let told = [
            &br#"{"name": "x", "scripts": {"build": [{"a": "b"}]}, "1": 2}"#[..],
            br#"[{"a": 1, "b": {"c": "}"}}, {"d": 1}]"#,
            b"{\"a\": 1}\n{\"b\": 2}\n",
            b"[1, 2]",
            b"{\"a\": 1, \"b\"}",
            b"<!DOCTYPE html>\n<html></html>",
            b"\n  print('hello')\n",
            &[b'x'; 100],
        ]
        .map(|text| looks(text, true));
        insta::assert_snapshot!(told.join("\n"), @"
        JSON with the keys `name`, `scripts`, `1`
        JSON with the keys `a`, `b`
        JSON lines with the key `a`
        JSON without keys
        text like JSON that is not valid: expected `:` at line 1 column 13
        XML or HTML that begins with `DOCTYPE`
        text that begins with `print('hello')`
        text that begins with `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…`
        ");
        assert_eq!(looks(br#"{"a": {"b": 1, "#, false), "JSON with the key `a`");
    }
}
