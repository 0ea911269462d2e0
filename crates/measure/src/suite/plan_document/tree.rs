//! YAML and JSON as the tree that suite files are read into: values that know their lines.
//!
//! What is null is left out of a table; in a list it is an empty table, an entry that says
//! nothing.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_saphyr::Spanned;

use super::error::PlanDocumentError;
use crate::suite::node::{Node, Value};

/// What is nested deeper is no plan, in YAML neither.
const MAX_DEPTH: usize = 24;

/// The key whose value is a text in any case.
const NAME: &str = "item";

/// Returns the documents of a file.
pub(super) fn read(path: &Path, text: &str) -> Result<Vec<Node>, PlanDocumentError> {
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    if !text.trim_start().starts_with(['[', '{']) {
        return read_yaml(path, text);
    }
    // A list in brackets may be YAML too. If it is neither, it was meant as JSON, of which
    // more is said.
    read_json(path, text).or_else(|error| read_yaml(path, text).map_err(|_no_yaml| error))
}

fn read_yaml(path: &Path, text: &str) -> Result<Vec<Node>, PlanDocumentError> {
    /// Enough for a million benchmarks.
    const MAX_NODES: usize = 20_000_000;
    /// What aliases stand for is kept meanwhile, and nobody writes so much of it.
    const MAX_ANCHORED: usize = 100_000;
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: MAX_DEPTH,
            max_nodes: MAX_NODES,
            max_events: 2 * MAX_NODES,
            max_recorded_anchor_events: MAX_ANCHORED,
        },
        non_finite_float_policy: serde_saphyr::options::NonFiniteFloatPolicy::PassThrough,
        with_snippet: false,
    };
    let documents: Vec<Spanned<YamlValue>> =
        serde_saphyr::from_multiple_with_options(text, options).map_err(|error| {
            let place = error.location();
            let place = place.map_or((1, 1), |it| (it.line(), it.column()));
            PlanDocumentError::Syntax {
                path: path.to_owned(),
                line: usize::try_from(place.0).unwrap_or(usize::MAX),
                column: usize::try_from(place.1).unwrap_or(usize::MAX),
                message: in_words(&error.without_snippet().to_string()),
            }
        })?;
    let documents = documents.into_iter();
    Ok(documents.filter_map(|it| of_yaml(it, text)).collect())
}

/// Returns what a library says without the place, which stands in front, and without advice
/// for programmers.
fn in_words(text: &str) -> String {
    if text.contains("budget breached: Depth") {
        return format!("this is nested more than {MAX_DEPTH} deep");
    }
    // Aliases of aliases soon stand for more than any memory holds.
    let excess = ["budget breached", "alias replay", "alias expansion"];
    if excess.iter().any(|it| text.contains(it)) {
        return "this stands for more than a plan can hold: write entries without aliases (`*name`)"
            .to_owned();
    }
    let text = text.split(" at line ").next().unwrap_or(text);
    let text = text.split(", set DuplicateKeyPolicy").next();
    text.unwrap_or_default().to_owned()
}

/// A YAML value without its place.
enum YamlValue {
    Null,
    Scalar(Value),
    List(Vec<Spanned<YamlValue>>),
    Table(Vec<(String, Spanned<YamlValue>)>),
}

/// Returns the tree of a YAML value; `None` of null.
fn of_yaml(yaml: Spanned<YamlValue>, text: &str) -> Option<Node> {
    let line = usize::try_from(yaml.referenced.line()).unwrap_or(usize::MAX);
    let value = match yaml.value {
        YamlValue::Null => return None,
        YamlValue::Scalar(value) => value,
        YamlValue::List(values) => Value::List(
            values
                .into_iter()
                .map(|value| of_yaml(value, text).unwrap_or_else(|| nothing(line)))
                .collect(),
        ),
        YamlValue::Table(entries) => Value::Table(
            entries
                .into_iter()
                .filter_map(|(key, value)| {
                    let written = written(&value, text);
                    let mut node = of_yaml(value, text)?;
                    if let (NAME, Some(written)) = (key.as_str(), written) {
                        node.value = Value::Text(written);
                    }
                    Some((key, node))
                })
                .collect(),
        ),
    };
    Some(Node { line, value })
}

/// Returns a scalar that is no text as it is written, because readers do not agree about which
/// texts without quotes are numbers and which are not: PyYAML writes `y` and `1e5` for texts.
fn written(yaml: &Spanned<YamlValue>, text: &str) -> Option<String> {
    match &yaml.value {
        YamlValue::Scalar(Value::Bool(_) | Value::Integer(_) | Value::Number(_)) => {
            let span = yaml.defined.span();
            let begin = usize::try_from(span.byte_offset()?).ok()?;
            let length = usize::try_from(span.byte_len()?).ok()?;
            let written = text.get(begin..begin.checked_add(length)?)?;
            Some(written.trim().to_owned())
        }
        YamlValue::Null | YamlValue::Scalar(_) | YamlValue::List(_) | YamlValue::Table(_) => None,
    }
}

fn nothing(line: usize) -> Node {
    let value = Value::Table(Vec::new());
    Node { line, value }
}

impl<'de> Deserialize<'de> for YamlValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(YamlVisitor)
    }
}

struct YamlVisitor;

impl<'de> Visitor<'de> for YamlVisitor {
    type Value = YamlValue;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<YamlValue, E> {
        Ok(YamlValue::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<YamlValue, E> {
        Ok(YamlValue::Scalar(Value::Bool(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<YamlValue, E> {
        Ok(YamlValue::Scalar(Value::Integer(value)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<YamlValue, E> {
        Ok(YamlValue::Scalar(whole(value)))
    }

    fn visit_f64<E>(self, value: f64) -> Result<YamlValue, E> {
        Ok(YamlValue::Scalar(Value::Number(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<YamlValue, E> {
        Ok(YamlValue::Scalar(Value::Text(value.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<YamlValue, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element()? {
            values.push(value);
        }
        Ok(YamlValue::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<YamlValue, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(YamlValue::Table(entries))
    }
}

/// Returns a whole number; one that is too large for that as a number.
#[expect(
    clippy::cast_precision_loss,
    reason = "a number that large is wrong anyway, and its first digits tell which it is"
)]
fn whole(value: u64) -> Value {
    i64::try_from(value).map_or(Value::Number(value as f64), Value::Integer)
}

fn read_json(path: &Path, text: &str) -> Result<Vec<Node>, PlanDocumentError> {
    let source = JsonSource::new(path, text);
    let documents = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    let mut nodes = Vec::new();
    for document in documents {
        let document = document.map_err(|error| source.wrong(text, &error))?;
        nodes.extend(source.node(document, 0)?);
    }
    Ok(nodes)
}

/// A JSON file: its values are parts of its text, which tells where they stand.
struct JsonSource<'a> {
    path: &'a Path,
    text: &'a str,
    /// Where lines begin.
    lines: Vec<usize>,
}

/// The entries of a JSON object in their order.
struct JsonEntries<'a>(Vec<(String, &'a RawValue)>);

impl<'a> JsonSource<'a> {
    fn new(path: &'a Path, text: &'a str) -> Self {
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        let lines = std::iter::once(0).chain(ends).collect();
        Self { path, text, lines }
    }

    /// Returns the tree of a JSON value that is nested so deep; `None` of null.
    fn node(&self, raw: &'a RawValue, depth: usize) -> Result<Option<Node>, PlanDocumentError> {
        let part = raw.get();
        let (line, column) = self.place(part);
        if depth > MAX_DEPTH {
            return Err(PlanDocumentError::Syntax {
                path: self.path.to_owned(),
                line,
                column,
                message: format!("this is nested more than {MAX_DEPTH} deep"),
            });
        }
        let wrong = |error: serde_json::Error| self.wrong(part, &error);
        let value = match part.as_bytes().first() {
            Some(b'n') => return Ok(None),
            Some(b'[') => {
                let parts: Vec<&RawValue> = serde_json::from_str(part).map_err(wrong)?;
                let nodes = parts.into_iter().map(|part| {
                    let (line, _) = self.place(part.get());
                    Ok(self.node(part, depth + 1)?.unwrap_or_else(|| nothing(line)))
                });
                Value::List(nodes.collect::<Result<_, PlanDocumentError>>()?)
            }
            Some(b'{') => {
                let JsonEntries(parts) = serde_json::from_str(part).map_err(wrong)?;
                let mut entries = Vec::new();
                for (key, part) in parts {
                    entries.extend(self.node(part, depth + 1)?.map(|node| (key, node)));
                }
                Value::Table(entries)
            }
            Some(b'"') => Value::Text(serde_json::from_str(part).map_err(wrong)?),
            Some(b't' | b'f') => Value::Bool(serde_json::from_str(part).map_err(wrong)?),
            // Any other value is a number. One that is too large comes out as infinite.
            Some(_) | None => match part.parse() {
                Ok(value) => Value::Integer(value),
                Err(_no_integer) => Value::Number(part.parse().unwrap_or(f64::NAN)),
            },
        };
        Ok(Some(Node { line, value }))
    }

    /// Returns line and column (in bytes) of a part of the text.
    fn place(&self, part: &str) -> (usize, usize) {
        let offset = part.as_ptr().addr() - self.text.as_ptr().addr();
        let line = self.lines.partition_point(|begin| *begin <= offset);
        let begin = self.lines[line - 1];
        (line, 1 + offset - begin)
    }

    fn wrong(&self, part: &str, error: &serde_json::Error) -> PlanDocumentError {
        let (line, column) = self.place(part);
        PlanDocumentError::Syntax {
            path: self.path.to_owned(),
            line: line + error.line().saturating_sub(1),
            column: if error.line() > 1 {
                error.column()
            } else {
                column + error.column().saturating_sub(1)
            },
            message: in_words(&error.to_string()),
        }
    }
}

impl<'de> Deserialize<'de> for JsonEntries<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntriesVisitor)
    }
}

struct EntriesVisitor;

impl<'de> Visitor<'de> for EntriesVisitor {
    type Value = JsonEntries<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<JsonEntries<'de>, A::Error> {
        let mut known = BTreeSet::new();
        let mut entries = Vec::new();
        while let Some((key, value)) = map.next_entry::<String, &'de RawValue>()? {
            if !known.insert(key.clone()) {
                return Err(A::Error::custom(format!("`{key}` stands twice")));
            }
            entries.push((key, value));
        }
        Ok(JsonEntries(entries))
    }
}
