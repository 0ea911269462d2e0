//! The words of a selector's text: keys, values and quotes.

/// The words of conditions without `=`.
pub(super) const WORDS: [&str; 4] = ["last", "of", "since", "until"];

/// Errors of the text of a selector.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectorError {
    /// There is no condition.
    #[error("a selector has a condition such as `variant=fast`")]
    Empty,
    /// A word is no condition.
    #[error("`{text}` is not a condition such as `variant=fast`")]
    NotACondition {
        /// The word.
        text: String,
    },
    /// A word is no key with a value.
    #[error("`{text}` is not written as KEY=VALUE")]
    NotAnAssignment {
        /// The word.
        text: String,
    },
    /// A key or word without its value.
    #[error("`{key}` has no value")]
    NoValue {
        /// The key.
        key: String,
    },
    /// A quote has no end.
    #[error("the quotation in `{text}` has no end")]
    OpenQuote {
        /// The condition.
        text: String,
    },
    /// A value is none of those that the key can have.
    #[error("`{text}` is not {expected}")]
    WrongValue {
        /// The value.
        text: String,
        /// The values that the key can have.
        expected: &'static str,
    },
    /// A key that can have one value has several.
    #[error("`{key}` takes one value")]
    Twice {
        /// The key.
        key: String,
    },
}

/// A word of a selector: `variant=a,b`, `last`, `10`.
#[derive(Debug, Default)]
pub(super) struct SelectorWord {
    pub(super) written: String,
    pub(super) key: Option<String>,
    pub(super) values: Vec<String>,
}

impl SelectorWord {
    /// Returns which word without `=` it is.
    pub(super) fn word(&self) -> Option<&str> {
        (self.key.is_none() && WORDS.contains(&self.written.as_str())).then_some(&self.written)
    }
}

/// Splits a text at the blanks outside of quotes, and each word at its first `=` and its commas.
pub(super) fn words(text: &str) -> Result<Vec<SelectorWord>, SelectorError> {
    let mut words = Vec::new();
    let mut word = SelectorWord::default();
    let mut value = String::new();
    let mut quote = None;
    for character in text.chars().chain([' ']) {
        let is_blank = character.is_whitespace() && quote.is_none();
        if !is_blank {
            word.written.push(character);
        }
        match character {
            _ if quote == Some(character) => quote = None,
            _ if quote.is_some() => value.push(character),
            '"' | '\'' => quote = Some(character),
            '=' if word.key.is_none() && word.values.is_empty() && !value.is_empty() => {
                word.key = Some(std::mem::take(&mut value));
            }
            ',' => word.values.push(std::mem::take(&mut value)),
            _ if is_blank => {
                if !word.written.is_empty() {
                    word.values.push(std::mem::take(&mut value));
                    words.push(std::mem::take(&mut word));
                }
            }
            _ => value.push(character),
        }
    }
    match quote {
        Some(_) => Err(SelectorError::OpenQuote {
            text: word.written.trim_end().to_owned(),
        }),
        None => Ok(words),
    }
}

/// Returns the keys and values of a text such as `burn_in=auto min_instances=3`, which is written as selectors are.
///
/// # Errors
/// If a word has no key or no value.
pub fn assignments(text: &str) -> Result<Vec<(String, String)>, SelectorError> {
    let assigned = words(text)?.into_iter().map(|word| {
        let value = word.values.join(",");
        match word.key {
            None => Err(SelectorError::NotAnAssignment { text: word.written }),
            Some(key) if value.is_empty() => Err(SelectorError::NoValue { key }),
            Some(key) => Ok((key, value)),
        }
    });
    assigned.collect()
}

/// Returns a key or value as it is written: in quotes if it has to be.
pub(super) fn quoted(text: &str) -> String {
    let is_special = |character: char| character.is_whitespace() || ",=\"'".contains(character);
    if text.contains(is_special) {
        format!("\"{}\"", text.replace('"', "\"'\"'\""))
    } else {
        text.to_owned()
    }
}
