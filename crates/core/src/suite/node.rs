//! A TOML document as a tree that knows its lines and notices unread keys.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{SuiteProblem, nearest};

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
pub(super) struct Table {
    line: usize,
    place: String,
    entries: Vec<(String, Node)>,
    asked: Vec<&'static str>,
}

/// Returns the document's tree.
pub(super) fn read(text: &str) -> Result<Node, Located> {
    let table = DeTable::parse(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        let message = error.message().to_owned();
        (line_of(text, offset), SuiteProblem::Toml { message })
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
        (line, SuiteProblem::Toml { message })
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

    pub(super) fn list(&self, key: &str) -> Result<&[Self], Located> {
        match &self.value {
            Value::List(nodes) => Ok(nodes),
            _ => Err(self.wrong(key, "a list")),
        }
    }

    pub(super) fn texts(&self, key: &str) -> Result<Vec<String>, Located> {
        self.list(key)?.iter().map(|node| node.text(key)).collect()
    }

    pub(super) fn whole(&self, key: &str) -> Result<u32, Located> {
        match self.value {
            Value::Integer(value) => u32::try_from(value).map_err(|_out_of_range| {
                let limit = match value {
                    ..0 => "0 or more".to_owned(),
                    0.. => format!("at most {}", u32::MAX),
                };
                self.senseless(key, format!("must be {limit}, not {value}"))
            }),
            _ => Err(self.wrong(key, "a whole number")),
        }
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

    pub(super) fn table(self, place: impl Into<String>, key: &str) -> Result<Table, Located> {
        match self.value {
            Value::Table(entries) => Ok(Table {
                line: self.line,
                place: place.into(),
                entries,
                asked: Vec::new(),
            }),
            _ => Err(self.wrong(key, "a table")),
        }
    }
}

impl Table {
    pub(super) fn line(&self) -> usize {
        self.line
    }

    /// Returns the value of `key` and marks it as read.
    pub(super) fn take(&mut self, key: &'static str) -> Option<Node> {
        self.asked.push(key);
        let position = self.entries.iter().position(|(name, _)| name == key)?;
        Some(self.entries.remove(position).1)
    }

    /// Returns every entry in the order of the file.
    pub(super) fn take_all(&mut self) -> Vec<(String, Node)> {
        std::mem::take(&mut self.entries)
    }

    /// Complains of the first key that nobody asked for.
    pub(super) fn finish(self) -> Result<(), Located> {
        let Some((key, node)) = self.entries.into_iter().next() else {
            return Ok(());
        };
        let suggestion = nearest(&key, self.asked);
        let place = self.place;
        let problem = SuiteProblem::UnknownKey {
            key,
            place,
            suggestion,
        };
        Err((node.line, problem))
    }
}
