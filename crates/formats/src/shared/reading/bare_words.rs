//! Bare `NaN` and `Infinity`, and shares such as `2%`, which are no JSON and are written all the same.

use memchr::memmem;

use crate::shared::detect::end_of_string;

/// The words that are no JSON, the longer ones first.
const WORDS: [&str; 8] = [
    "-Infinity",
    "Infinity",
    "-NaN",
    "NaN",
    "-inf",
    "inf",
    "-nan",
    "nan",
];

/// Returns false where a quick look finds nothing like a bare word: most texts by far.
pub(crate) fn may_have_bare_words(text: &[u8]) -> bool {
    let stands_free = |at: usize| {
        at.checked_sub(1).is_none_or(|before| {
            matches!(
                text[before],
                b':' | b',' | b'[' | b'-' | b' ' | b'\n' | b'\t' | b'\r'
            )
        })
    };
    [&b"NaN"[..], b"Infinity", b"nan", b"inf"]
        .iter()
        .any(|word| memmem::find_iter(text, word).any(stands_free))
        || memmem::find_iter(text, b"%").any(|at| is_end_of_share(text, at))
}

/// Returns whether a `%` stands behind a number and before the end of a value.
fn is_end_of_share(text: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).map(|before| text[before]);
    let behind = text.get(at + 1);
    before.is_some_and(|byte| byte.is_ascii_digit())
        && behind
            .is_none_or(|byte| matches!(byte, b',' | b'}' | b']') || byte.is_ascii_whitespace())
}

/// A text with quotes around its bare words.
#[derive(Debug, PartialEq)]
pub(crate) struct Quoted {
    pub(crate) text: String,
    /// The positions of the quotes before the words, the first [`REMEMBERED`] of them.
    pub(crate) quotes: Vec<usize>,
}

/// Quotes to remember: there may be more of them than there is memory for their places.
pub(crate) const REMEMBERED: usize = 1 << 16;

/// Returns the text with quotes around bare words for what is no finite number; `None` where
/// there are none.
pub(crate) fn with_quoted_words(text: &str) -> Option<Quoted> {
    let bytes = text.as_bytes();
    let mut rewritten: Option<Quoted> = None;
    let mut copied = 0;
    let mut at = 0;
    while at < bytes.len() {
        let length = match bytes[at] {
            b'"' => {
                at = end_of_string(bytes, at + 1).map_or(bytes.len(), |end| end + 1);
                continue;
            }
            b'N' | b'I' | b'n' | b'i' | b'-' => {
                let word = WORDS.iter().find(|word| {
                    bytes[at..].starts_with(word.as_bytes())
                        && !bytes
                            .get(at + word.len())
                            .is_some_and(u8::is_ascii_alphanumeric)
                });
                let Some(word) = word else {
                    at += 1;
                    continue;
                };
                word.len()
            }
            b'0'..=b'9' => {
                let is_part = |byte: &u8| byte.is_ascii_digit() || b".eE+-".contains(byte);
                let digits = bytes[at..].iter().take_while(|byte| is_part(byte)).count();
                if bytes.get(at + digits) != Some(&b'%') || !is_end_of_share(bytes, at + digits) {
                    at += digits;
                    continue;
                }
                digits + 1
            }
            _other => {
                at += 1;
                continue;
            }
        };
        let Quoted { text: out, quotes } = rewritten.get_or_insert_with(|| Quoted {
            text: String::with_capacity(text.len() + 64),
            quotes: Vec::new(),
        });
        out.push_str(&text[copied..at]);
        if quotes.len() < REMEMBERED {
            quotes.push(out.len());
        }
        out.push('"');
        out.push_str(&text[at..at + length]);
        out.push('"');
        at += length;
        copied = at;
    }
    rewritten.map(|mut quoted| {
        quoted.text.push_str(&text[copied..]);
        quoted
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_words_become_strings_and_strings_stay() {
        let text =
            r#"{"a": NaN, "b": [-Infinity,Infinity], "NaN": "x \" NaN", "c": null, "d": -1}"#;
        let quoted = with_quoted_words(text).expect("it has some");
        assert_eq!(
            quoted.text,
            r#"{"a": "NaN", "b": ["-Infinity","Infinity"], "NaN": "x \" NaN", "c": null, "d": -1}"#
        );
        assert_eq!(quoted.quotes, [6, 19, 31]);
        assert_eq!(with_quoted_words("[1, null]"), None);
    }

    #[test]
    fn words_and_shares_of_old_programs_become_strings() {
        let text = r#"{"a": nan, "b": -nan, "c": inf, "rms": 2%, "x": 1.5e3, "y": "3%"}"#;
        assert!(may_have_bare_words(text.as_bytes()) && may_have_bare_words(b"[2%]"));
        assert_eq!(
            with_quoted_words(text).expect("it has some").text,
            r#"{"a": "nan", "b": "-nan", "c": "inf", "rms": "2%", "x": 1.5e3, "y": "3%"}"#
        );
    }
}
