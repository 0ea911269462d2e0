//! A JSON document that has to be read as a whole.
//!
//! Readers take its top level as structs whose large lists are `Vec<&RawValue>`, and then
//! element by element: besides the text, memory holds one element at a time.

use std::io::Read;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde::Deserialize;
use serde_json::Value;
use serde_json::error::Category;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use crate::shared::reading::bare_words::{
    Quoted, REMEMBERED, may_have_bare_words, with_quoted_words,
};
use crate::shared::reading::json_path::path_at;
use crate::shared::reading::spot::Spot;
use crate::shared::reason::{missing_in_words, offset_of, too_large, without_position};
use crate::{BadLine, ImportError, Source};

/// The longest document that is read.
pub(crate) const LONGEST_MIB: u64 = 2048;

/// From this length on a document is read by a thread of its own.
const WORTH_A_THREAD: usize = 1 << 20;

/// Bytes of elements to hand over together, at least.
const BATCH: usize = 1 << 17;

/// Batches that may wait. Few, so that memory does not grow with the document.
const BATCHES_WAITING: usize = 4;

/// From here on in a line the byte is told too, since its number alone does not help.
const LONG_LINE: usize = 400;

/// The text of a source. Bare `NaN` and `Infinity`, which are no JSON and which Python,
/// C++ and others write all the same, have become strings of themselves.
pub(crate) struct Document {
    name: String,
    text: Arc<String>,
    /// Positions of the quotes that were put before words; another one is behind each.
    quotes: Vec<usize>,
    /// For a large text, a thread of its own fills it in while the text is parsed.
    digest: Arc<OnceLock<[u8; 32]>>,
    /// A place in the text and its line, to count on from.
    known: Mutex<(usize, u64)>,
}

impl Document {
    /// Reads all of a source.
    pub(crate) fn of(source: &Source) -> Result<Self, ImportError> {
        let mut bytes = Vec::with_capacity(source.length_hint());
        source
            .text()?
            .take((LONGEST_MIB << 20) + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| source.failed(error))?;
        if bytes.len() as u64 > LONGEST_MIB << 20 {
            return Err(ImportError::TooLong {
                name: source.name().to_owned(),
                limit: LONGEST_MIB,
            });
        }
        Self::from_bytes(source.name(), bytes)
    }

    fn from_bytes(name: &str, mut bytes: Vec<u8>) -> Result<Self, ImportError> {
        // That of the source as it is, before anything is done to it.
        let changes = bytes.starts_with(b"\xEF\xBB\xBF") || may_have_bare_words(&bytes);
        let early = (changes || bytes.len() < WORTH_A_THREAD)
            .then(|| <[u8; 32]>::from(Sha256::digest(&bytes)));
        if bytes.starts_with(b"\xEF\xBB\xBF") {
            // Spaces keep every place where it is.
            bytes[..3].fill(b' ');
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let place = error.utf8_error().valid_up_to();
            let bytes = error.as_bytes();
            ImportError::Document {
                name: name.to_owned(),
                line: bytes[..place].split(|&byte| byte == b'\n').count() as u64,
                reason: format!("not UTF-8 text: there is a byte 0x{:02X}", bytes[place]),
            }
        })?;
        let quoted = changes.then(|| with_quoted_words(&text)).flatten();
        let Quoted { text, quotes } = quoted.unwrap_or(Quoted {
            text,
            quotes: Vec::new(),
        });
        let text = Arc::new(text);
        Ok(Self {
            name: name.to_owned(),
            digest: early.map_or_else(|| digested(&text), |early| Arc::new(early.into())),
            text,
            quotes,
            known: Mutex::new((0, 1)),
        })
    }

    /// Returns the text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the SHA-256 of the source as it stands there.
    pub(crate) fn sha256(&self) -> &[u8; 32] {
        self.digest.wait()
    }

    /// Reads the whole document.
    pub(crate) fn parse<'d, T: Deserialize<'d>>(&'d self) -> Result<T, ImportError> {
        self.parse_within(&self.text)
    }

    /// Reads the part of the text that is the document, where something stands around it.
    pub(crate) fn parse_within<'d, T: Deserialize<'d>>(
        &'d self,
        part: &'d str,
    ) -> Result<T, ImportError> {
        self.part(part).map_err(|bad| self.refused(bad))
    }

    /// Returns the error for a part without which the document says nothing.
    pub(crate) fn refused(&self, bad: BadLine) -> ImportError {
        ImportError::Document {
            name: self.name.clone(),
            line: bad.line,
            reason: bad.reason,
        }
    }

    /// Reads one element.
    pub(crate) fn element<'d, T: Deserialize<'d>>(
        &'d self,
        raw: &'d RawValue,
    ) -> Result<T, BadLine> {
        self.part(raw.get()).map_err(|bad| named(bad, raw))
    }

    /// Reads elements one after another and hands them on with their spots. Those of a
    /// large document are read by another thread, a little ahead.
    pub(crate) fn each_element<T: Send, E>(
        &self,
        elements: &[&RawValue],
        read: impl Fn(&RawValue) -> Result<T, BadLine> + Send,
        mut take: impl FnMut(Spot, Result<T, BadLine>) -> Result<(), E>,
    ) -> Result<(), E> {
        let read = move |raw: &RawValue| (self.spot_of(raw.get()), read(raw));
        if self.text.len() < WORTH_A_THREAD {
            return elements.iter().try_for_each(|raw| {
                let (spot, element) = read(raw);
                take(spot, element)
            });
        }
        std::thread::scope(|scope| {
            let (sender, receiver) = sync_channel(BATCHES_WAITING);
            scope.spawn(move || {
                let (mut batch, mut bytes) = (Vec::new(), 0);
                for raw in elements {
                    bytes += raw.get().len();
                    batch.push(read(raw));
                    if bytes >= BATCH {
                        bytes = 0;
                        if sender.send(std::mem::take(&mut batch)).is_err() {
                            return;
                        }
                    }
                }
                let _receiver_is_gone = sender.send(batch);
            });
            receiver
                .into_iter()
                .flatten()
                .try_for_each(|(spot, element)| take(spot, element))
        })
    }

    /// Reads a value that a key of an element has.
    pub(crate) fn value<'d, T: Deserialize<'d>>(
        &'d self,
        key: &str,
        raw: &'d RawValue,
    ) -> Result<T, BadLine> {
        self.part(raw.get()).map_err(|bad| bad.of_key(key))
    }

    /// Returns the error that says what is wrong with an element.
    pub(crate) fn wrong(&self, raw: &RawValue, reason: impl Into<String>) -> BadLine {
        named(self.spot_of(raw.get()).bad(reason), raw)
    }

    /// Returns the error that says what is wrong with the document.
    pub(crate) fn wrong_document(&self, reason: impl Into<String>) -> ImportError {
        ImportError::Document {
            name: self.name.clone(),
            line: 1,
            reason: reason.into(),
        }
    }

    /// Returns where a part of the text begins.
    pub(crate) fn spot_of(&self, part: &str) -> Spot {
        self.spot_at(self.place_of(part))
    }

    fn part<'d, T: Deserialize<'d>>(&'d self, part: &'d str) -> Result<T, BadLine> {
        serde_json::from_str(part).map_err(|error| self.bad(part, &error))
    }

    fn bad(&self, part: &str, error: &serde_json::Error) -> BadLine {
        let offset = offset_of(part, error.line(), error.column());
        let place = self.place_of(part) + offset;
        let message = in_words(&without_position(&error.to_string()));
        let with_path = |reason: String| match path_at(part, offset).as_str() {
            "" => reason,
            path => format!("`{path}`: {reason}"),
        };
        let reason = match error.classify() {
            Category::Data => with_path(message),
            Category::Syntax => match too_large(part, error) {
                Some(too_large) => with_path(too_large),
                None => format!("not valid JSON: {message}"),
            },
            Category::Eof => "the JSON is cut off".to_owned(),
            Category::Io => message,
        };
        self.spot_at(place).bad(reason)
    }

    fn spot_at(&self, place: usize) -> Spot {
        let is_far = self.is_far_in_its_line(place);
        let byte = || Some(self.in_source(place)? as u64 + 1);
        Spot {
            line: self.line_at(place),
            byte: is_far.then(byte).flatten(),
        }
    }

    /// Returns where a part of the text begins; the start where it is no part of it.
    fn place_of(&self, part: &str) -> usize {
        let place = (part.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        if place <= self.text.len() { place } else { 0 }
    }

    /// Returns where a place in the text is in the source, which has no quotes around words;
    /// `None` behind too many of them.
    fn in_source(&self, place: usize) -> Option<usize> {
        let before = self.quotes.partition_point(|quote| quote + 1 < place);
        (before < REMEMBERED).then(|| place - 2 * before)
    }

    /// Returns whether a line's number alone does not say where in the text a place is.
    fn is_far_in_its_line(&self, place: usize) -> bool {
        // No look further back: a document of one line may have an error in each element.
        let before = &self.text.as_bytes()[..place];
        before.len() > LONG_LINE && !before[place - LONG_LINE - 1..].contains(&b'\n')
    }

    /// Counts from the last place that was asked for, since the next is mostly near.
    fn line_at(&self, place: usize) -> u64 {
        let newlines = |part: &[u8]| part.iter().filter(|&&byte| byte == b'\n').count() as u64;
        let text = self.text.as_bytes();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let (from, line) = *known;
        let line = if from <= place {
            line + newlines(&text[from..place])
        } else {
            line - newlines(&text[place..from])
        };
        *known = (place, line);
        line
    }
}

/// Where elements have the names of their benchmarks, the fullest name first.
const NAMES: [&str; 8] = [
    "/fullname",
    "/fullName",
    "/FullName",
    "/name",
    "/benchmark",
    "/command",
    "/metadata/name",
    "/tags/name",
];

/// Returns what is wrong with an element with its name, which may be elsewhere in it than the error.
fn named(bad: BadLine, raw: &RawValue) -> BadLine {
    let element: Value = serde_json::from_str(raw.get()).unwrap_or_default();
    let name = NAMES.iter().find_map(|at| element.pointer(at)?.as_str());
    match name {
        Some(name) => bad.of(name),
        None => bad,
    }
}

/// Returns the digest of a text, which may still be in the making.
fn digested(text: &Arc<String>) -> Arc<OnceLock<[u8; 32]>> {
    let digest = Arc::new(OnceLock::new());
    let (filled, read) = (Arc::clone(&digest), Arc::clone(text));
    let compute = move || {
        filled.get_or_init(|| Sha256::digest(read.as_bytes()).into());
    };
    // Without another thread this one does it.
    if std::thread::Builder::new().spawn(compute).is_err() {
        digest.get_or_init(|| Sha256::digest(text.as_bytes()).into());
    }
    digest
}

/// Puts serde's words for types into people's.
fn in_words(message: &str) -> String {
    let Some((found, expected)) = message.split_once(", expected ") else {
        return missing_in_words(message);
    };
    let expected = match expected {
        "f64" => "a number",
        "u64" | "u32" | "i64" | "i32" | "usize" => "a whole number",
        "a sequence" => "a list",
        "a map" => "an object",
        "a boolean" => "true or false",
        other if other.starts_with("struct ") => "an object",
        other => other,
    };
    format!("{found}, expected {expected}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(text: &str) -> Document {
        Document::from_bytes("a.json", text.as_bytes().to_vec()).expect("UTF-8")
    }

    fn error(result: Result<Vec<f64>, ImportError>) -> String {
        result.expect_err("bad on purpose").to_string()
    }

    #[test]
    fn an_error_names_line_and_key_and_what_was_expected() {
        let parsed = document("[1,\n \"2\"]").parse::<Vec<f64>>();
        assert_eq!(
            error(parsed),
            "a.json:2: `[1]`: invalid type: string \"2\", expected a number"
        );
        assert_eq!(
            error(document("[1,\n2").parse()),
            "a.json:2: the JSON is cut off"
        );
        let long = format!("[{}x]", "1,".repeat(300));
        assert_eq!(
            error(document(&long).parse()),
            "a.json:1: not valid JSON: expected value (byte 602)"
        );
    }

    #[test]
    fn the_line_of_an_element_is_that_of_the_document() {
        let document = document("[\n{\"a\": 1},\n\n{\"a\": \"é\"}]");
        let elements: Vec<&RawValue> = document.parse().expect("JSON");
        assert_eq!(document.spot_of(elements[1].get()).line, 4);
        assert_eq!(document.spot_of(elements[0].get()).line, 2);
        let bad = document
            .element::<std::collections::BTreeMap<String, f64>>(elements[1])
            .expect_err("a string");
        assert_eq!(bad.line, 4);
        assert_eq!(
            bad.reason,
            "`a`: invalid type: string \"é\", expected a number"
        );
    }

    #[test]
    fn the_byte_is_told_only_where_the_line_is_long() {
        let reason = |spaces: usize| {
            let document = document(&format!("[\n{}\"a\"]", " ".repeat(spaces)));
            let elements: Vec<&RawValue> = document.parse().expect("JSON");
            let bad = document.element::<f64>(elements[0]).expect_err("a string");
            (bad.line, bad.reason.ends_with(')'))
        };
        // The error stands at the end of the element.
        assert_eq!(reason(LONG_LINE - 3), (2, false));
        assert_eq!(reason(LONG_LINE + 3), (2, true));
    }

    #[test]
    fn the_byte_is_that_of_the_source() {
        let document = document(&format!("[{}true, 1e400]", "NaN, ".repeat(100)));
        let elements: Result<Vec<serde_json::Value>, ImportError> = document.parse();
        assert_eq!(
            elements.expect_err("too large").to_string(),
            "a.json:1: `[101]`: the number 1e400 is too large (byte 512)"
        );
        let document = self::document(&format!("[{}true]", "NaN, ".repeat(100)));
        let elements: Vec<&RawValue> = document.parse().expect("JSON");
        assert_eq!(
            document.wrong(elements[100], "it is true").reason,
            "it is true (byte 502)"
        );
    }

    #[test]
    fn a_byte_order_mark_is_not_in_the_way() {
        let values: Vec<f64> = document("\u{feff}[1]").parse().expect("JSON");
        assert_eq!(values, [1.0]);
    }
}
