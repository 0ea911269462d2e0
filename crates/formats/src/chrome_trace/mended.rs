//! What can be had of a trace that a killed or careless program wrote: the file ends in the middle, a comma stands where
//! none belongs, a text has control characters as they are.

use crate::shared::reading::document::Document;

/// A text that is JSON, and what was wrong before.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Mended {
    pub(super) text: String,
    /// The line in which it ends too early, and what of it is left out, which may be nothing.
    pub(super) cut: Option<(u64, String)>,
    /// The numbers of commas and of control characters.
    pub(super) commas: u64,
    pub(super) characters: u64,
}

/// A list deeper than this holds no events.
const DEPTH: usize = 2;

/// Returns the text of a document with its complete events; `None` where nothing of this kind is wrong with it.
pub(super) fn mended(document: &Document) -> Option<Mended> {
    mended_text(document.text()).filter(|it| it.cut.is_some() || it.commas > 0 || it.characters > 0)
}

fn mended_text(text: &str) -> Option<Mended> {
    let mut mended = Mended::default();
    let out = &mut mended.text;
    // The brackets that are open, and those at the end of the last complete event, with the place behind it.
    let mut open: Vec<char> = Vec::new();
    let mut complete: Option<(usize, usize, Vec<char>)> = None;
    let (mut in_text, mut is_escaped) = (false, false);
    // The last character outside of texts that is no space, and where it is in the new text.
    let mut last = (' ', 0);
    for (at, byte) in text.char_indices() {
        if in_text {
            match byte {
                control if control < ' ' => {
                    mended.characters += 1;
                    out.push_str(&format!("\\u{:04x}", u32::from(control)));
                }
                other => out.push(other),
            }
            in_text = byte != '"' || is_escaped;
            is_escaped = byte == '\\' && !is_escaped;
            continue;
        }
        match byte {
            '"' => in_text = true,
            '{' => open.push('}'),
            '[' => open.push(']'),
            ',' if matches!(last.0, '[' | '{' | ',') => {
                mended.commas += 1;
                out.push(' ');
                continue;
            }
            '}' | ']' => {
                if last.0 == ',' {
                    mended.commas += 1;
                    out.replace_range(last.1..=last.1, " ");
                }
                if open.pop() != Some(byte) {
                    return None;
                }
            }
            _other => {}
        }
        if !byte.is_whitespace() {
            last = (byte, out.len());
        }
        out.push(byte);
        if byte == '}' && open.last() == Some(&']') && open.len() <= DEPTH {
            complete = Some((at + 1, out.len(), open.clone()));
        }
    }
    if let Some((read, written, open)) = complete.filter(|_| in_text || !open.is_empty()) {
        out.truncate(written);
        out.extend(open.iter().rev());
        let rest = text[read..].trim_start_matches([',', ' ', '\n', '\r', '\t']);
        let line = text[..text.len() - rest.len()].matches('\n').count() as u64 + 1;
        mended.cut = Some((line, rest.trim_end().to_owned()));
    }
    Some(mended)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_whole_stays() {
        let text = r#"{"traceEvents": [{"a": "[,\"{"}, {"b": [1, 2]}], "c": []}"#;
        let whole = mended_text(text).expect("JSON");
        assert_eq!(
            (whole.text.as_str(), whole.commas, whole.cut),
            (text, 0, None)
        );
    }

    #[test]
    fn complete_events_of_a_text_that_is_cut_off_are_kept() {
        let cut = |text: &str| {
            let mended = mended_text(text).expect("brackets that fit");
            (mended.text, mended.cut.expect("cut off"))
        };
        let rest = |line, rest: &str| (line, rest.to_owned());
        assert_eq!(
            cut("[\n{\"a\":1},\n{\"b\":\"x"),
            ("[\n{\"a\":1}]".to_owned(), rest(3, "{\"b\":\"x"))
        );
        assert_eq!(
            cut("[{\"a\":1},\n"),
            ("[{\"a\":1}]".to_owned(), rest(2, ""))
        );
        assert_eq!(
            cut("{\"traceEvents\":[{\"a\":{\"c\":[{}]}},{\"b\""),
            (
                "{\"traceEvents\":[{\"a\":{\"c\":[{}]}}]}".to_owned(),
                rest(1, "{\"b\"")
            )
        );
    }

    #[test]
    fn stray_commas_and_control_characters_are_no_harm() {
        let mended =
            mended_text("[,{\"a\":\"\u{1}\\\"\"},,{\"b\":1,},]").expect("brackets that fit");
        assert_eq!(mended.text, "[ {\"a\":\"\\u0001\\\"\"}, {\"b\":1 } ]");
        assert_eq!((mended.commas, mended.characters, mended.cut), (4, 1, None));
        assert_eq!(mended_text("[{]}"), None);
    }
}
