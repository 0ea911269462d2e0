//! A TOML document as a tree that knows its lines and notices unread keys.

use std::ops::{Range, RangeInclusive};

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeOwned, IntoDeserializer};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{SuiteProblem, nearest};
use lapwing_model::Level;

/// A problem and the line that it stands on.
pub(super) type Located = (usize, SuiteProblem);

/// A value and its line.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub(super) line: usize,
    pub(super) value: Value,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Text(String),
    Integer(i64),
    Number(f64),
    Bool(bool),
    Date(String),
    List(Vec<Node>),
    Table(Vec<(String, Node)>),
}

/// A table whose keys are taken one by one; `finish` complains of those left.
#[derive(Debug)]
pub(super) struct Table<'a> {
    node: &'a Node,
    place: String,
    entries: &'a [(String, Node)],
    asked: Vec<&'static str>,
}

/// Returns the document's tree.
pub(super) fn read(text: &str) -> Result<Node, Located> {
    let table = DeTable::parse(text).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        let offset = span.start;
        let message = match (error.message(), text.get(span)) {
            ("duplicate key", Some(key)) => format!("duplicate key `{key}`"),
            (message, _) => message.to_owned(),
        };
        (line_of(text, offset), SuiteProblem::Toml(message))
    })?;
    let range = table.span();
    convert(text, &range, &DeValue::Table(table.into_inner()))
}

fn line_of(text: &str, offset: usize) -> usize {
    let end = offset.min(text.len());
    1 + text.as_bytes()[..end]
        .iter()
        .filter(|byte| **byte == b'\n')
        .count()
}

fn convert(text: &str, range: &Range<usize>, value: &DeValue<'_>) -> Result<Node, Located> {
    let line = line_of(text, range.start);
    let unreadable = |found: &str| {
        let message = format!("`{found}` is too large a number");
        (line, SuiteProblem::Toml(message))
    };
    let value = match value {
        DeValue::String(value) => Value::Text(value.clone().into_owned()),
        DeValue::Integer(value) => Value::Integer(
            i64::from_str_radix(value.as_str(), value.radix())
                .map_err(|_too_large| unreadable(value.as_str()))?,
        ),
        DeValue::Float(value) => Value::Number(
            value
                .as_str()
                .parse()
                .map_err(|_no_number| unreadable(value.as_str()))?,
        ),
        DeValue::Boolean(value) => Value::Bool(*value),
        DeValue::Datetime(value) => Value::Date(value.to_string()),
        DeValue::Array(values) => Value::List(
            values
                .iter()
                .map(|value| convert(text, &value.span(), value.get_ref()))
                .collect::<Result<_, _>>()?,
        ),
        DeValue::Table(entries) => {
            let mut in_order: Vec<(&Spanned<_>, &Spanned<DeValue<'_>>)> = entries.iter().collect();
            // The order of the file is the order that people expect in every listing.
            in_order.sort_by_key(|(key, _)| key.span().start);
            Value::Table(
                in_order
                    .into_iter()
                    .map(|(key, value)| {
                        let node = convert(text, &key.span(), value.get_ref())?;
                        Ok((key.get_ref().to_string(), node))
                    })
                    .collect::<Result<_, Located>>()?,
            )
        }
    };
    Ok(Node { line, value })
}

impl Node {
    /// Returns what kind of value it is.
    pub(super) fn found(&self) -> &'static str {
        match self.value {
            Value::Text(_) => "a text",
            Value::Integer(_) => "a whole number",
            Value::Number(_) => "a number",
            Value::Bool(_) => "true or false",
            Value::Date(_) => "a date",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }

    /// Returns the error that this value of `key` is not `expected`.
    pub(super) fn wrong(&self, key: &str, expected: &'static str) -> Located {
        let problem = SuiteProblem::Type {
            key: key.to_owned(),
            expected,
            found: self.found(),
        };
        (self.line, problem)
    }

    /// Returns the error that this value of `key` makes no sense.
    pub(super) fn senseless(&self, key: &str, reason: impl Into<String>) -> Located {
        let problem = SuiteProblem::Value {
            key: key.to_owned(),
            reason: reason.into(),
        };
        (self.line, problem)
    }

    pub(super) fn text(&self, key: &str) -> Result<String, Located> {
        match &self.value {
            Value::Text(text) => Ok(text.clone()),
            _ => Err(self.wrong(key, "a text")),
        }
    }

    pub(super) fn bool(&self, key: &str) -> Result<bool, Located> {
        match self.value {
            Value::Bool(value) => Ok(value),
            _ => Err(self.wrong(key, "true or false")),
        }
    }

    pub(super) fn list(&self, key: &str) -> Result<&[Self], Located> {
        match &self.value {
            Value::List(nodes) => Ok(nodes),
            _ => Err(self.wrong(key, "a list")),
        }
    }

    pub(super) fn texts(&self, key: &str) -> Result<Vec<String>, Located> {
        self.list(key)?.iter().map(|node| node.text(key)).collect()
    }

    /// Returns a whole number within `limits`.
    pub(super) fn whole(&self, key: &str, limits: RangeInclusive<u32>) -> Result<u32, Located> {
        let Value::Integer(value) = self.value else {
            return Err(self.wrong(key, "a whole number"));
        };
        let reason = match u32::try_from(value) {
            Ok(count) if limits.contains(&count) => return Ok(count),
            Ok(count) if count < *limits.start() => format!("must be {} or more", limits.start()),
            Err(_negative) if value < 0 => format!("must be 0 or more, not {value}"),
            Ok(_) | Err(_) => format!("must be at most {}, not {value}", limits.end()),
        };
        Err(self.senseless(key, reason))
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "amounts above 2^53 may lose their last digit"
    )]
    pub(super) fn number(&self, key: &str) -> Result<f64, Located> {
        match self.value {
            Value::Integer(value) => Ok(value as f64),
            Value::Number(value) => Ok(value),
            _ => Err(self.wrong(key, "a number")),
        }
    }

    /// Returns a text, a number, or true or false.
    pub(super) fn scalar(&self) -> Option<Level> {
        match &self.value {
            Value::Text(text) => Some(Level::Text(text.clone())),
            Value::Integer(number) => Some(Level::Integer(*number)),
            Value::Number(number) => Some(Level::Number(*number)),
            Value::Bool(value) => Some(Level::Bool(*value)),
            Value::Date(_) | Value::List(_) | Value::Table(_) => None,
        }
    }

    /// Returns the variant of `T` that a text names; `expected` follows the key in the error.
    pub(super) fn choice<T: DeserializeOwned>(
        &self,
        key: &str,
        expected: &str,
    ) -> Result<T, Located> {
        let text = self.text(key)?;
        let name: StrDeserializer<'_, serde::de::value::Error> = text.as_str().into_deserializer();
        T::deserialize(name)
            .map_err(|_other| self.senseless(key, format!("{expected}, not \"{text}\"")))
    }

    /// Returns the entries of a table in the order of the file.
    pub(super) fn entries(&self, key: &str) -> Result<&[(String, Self)], Located> {
        match &self.value {
            Value::Table(entries) => Ok(entries),
            _ => Err(self.wrong(key, "a table")),
        }
    }

    /// Returns what `read` makes of each entry of a table, by name.
    pub(super) fn each<T, C: FromIterator<(String, T)>>(
        &self,
        key: &str,
        read: impl Fn(&Self, &str) -> Result<T, Located>,
    ) -> Result<C, Located> {
        let entries = self.entries(key)?.iter();
        entries
            .map(|(name, node)| Ok((name.clone(), read(node, name)?)))
            .collect()
    }

    pub(super) fn table(&self, place: impl Into<String>, key: &str) -> Result<Table<'_>, Located> {
        Ok(Table {
            node: self,
            place: place.into(),
            entries: self.entries(key)?,
            asked: Vec::new(),
        })
    }
}

impl<'a> Table<'a> {
    /// Returns the error that the table makes no sense because of `key`.
    pub(super) fn senseless(&self, key: &str, reason: impl Into<String>) -> Located {
        self.node.senseless(key, reason)
    }

    /// Returns the value of `key` and marks it as read.
    pub(super) fn take(&mut self, key: &'static str) -> Option<&'a Node> {
        self.asked.push(key);
        let entry = self.entries.iter().find(|(name, _)| name == key);
        entry.map(|(_, node)| node)
    }

    /// Returns what `read` makes of the value of `key`, if there is one.
    pub(super) fn read<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&'a Node, &str) -> Result<T, Located>,
    ) -> Result<Option<T>, Located> {
        self.take(key).map(|node| read(node, key)).transpose()
    }

    /// Complains of the first key that was never taken.
    pub(super) fn finish(self) -> Result<(), Located> {
        let mut entries = self.entries.iter();
        let Some((key, node)) = entries.find(|(key, _)| !self.asked.contains(&key.as_str())) else {
            return Ok(());
        };
        let problem = SuiteProblem::UnknownKey {
            key: key.clone(),
            place: self.place,
            suggestion: nearest(key, self.asked),
        };
        Err((node.line, problem))
    }
}
