//! The frame of every answer in JSON.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde_json::Value;

use super::note::{NextStep, Note};
use super::{Answer, Extent, View, WriteError};

/// Version of the program, as in its answers.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A kind of answer, with the schema of its JSON.
#[derive(Debug)]
pub struct AnswerKind {
    /// Its name: the command's, such as `study-fit`.
    pub name: &'static str,
    /// The number of its schema: within one, fields are only added.
    pub schema: u32,
    /// The field that lists the rows, which `--limit` and `--fields` shorten.
    pub list: Option<&'static str>,
    /// The field of each of these that has rows of its own, to which `--fields` applies.
    pub sublist: Option<&'static str>,
    /// Fields that few rows have: they are left out where they say nothing, unless everything is listed.
    rare: &'static [&'static str],
    json_schema: fn() -> Schema,
}

impl AnswerKind {
    /// Returns the kind of answers that have the fields of `D` beside those of every answer.
    pub const fn of<D: JsonSchema>(name: &'static str) -> Self {
        Self {
            name,
            schema: 1,
            list: None,
            sublist: None,
            rare: &[],
            json_schema: schema_of::<D>,
        }
    }

    /// Names the field that lists the rows.
    #[must_use]
    pub const fn listing(mut self, list: &'static str) -> Self {
        self.list = Some(list);
        self
    }

    /// Names the field of each entry of the list that has the rows.
    #[must_use]
    pub const fn grouping(mut self, sublist: &'static str) -> Self {
        self.sublist = Some(sublist);
        self
    }

    /// Names fields that few rows have.
    #[must_use]
    pub const fn with_rare(mut self, rare: &'static [&'static str]) -> Self {
        self.rare = rare;
        self
    }

    /// Returns the JSON schema of these answers, of draft 2020-12.
    pub fn json_schema(&self) -> Value {
        let mut schema = (self.json_schema)();
        schema.insert("title".to_owned(), self.name.into());
        let mut schema = schema.to_value();
        self.allow_rare(&mut schema);
        schema
    }

    /// Makes the fields that few rows have optional.
    fn allow_rare(&self, schema: &mut Value) {
        match schema {
            Value::Object(fields) => {
                if let Some(Value::Array(required)) = fields.get_mut("required") {
                    required.retain(|name| !self.rare.iter().any(|it| name == it));
                }
                fields.values_mut().for_each(|it| self.allow_rare(it));
            }
            Value::Array(entries) => entries.iter_mut().for_each(|it| self.allow_rare(it)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// Leaves out the fields that few rows have where they say nothing.
    fn drop_rare(&self, data: &mut Value) {
        match data {
            Value::Object(fields) => {
                fields.retain(|name, value| {
                    let says_nothing = match value {
                        Value::Null => true,
                        Value::Array(entries) => entries.is_empty(),
                        Value::Object(fields) => fields.is_empty(),
                        Value::Bool(is_so) => !*is_so,
                        Value::Number(number) => number.as_u64() == Some(0),
                        Value::String(_) => false,
                    };
                    !(says_nothing && self.rare.contains(&name.as_str()))
                });
                fields.values_mut().for_each(|it| self.drop_rare(it));
            }
            Value::Array(entries) => entries.iter_mut().for_each(|it| self.drop_rare(it)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}

fn schema_of<D: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    settings
        .into_generator()
        .into_root_schema_for::<Envelope<D>>()
}

/// What every answer has in JSON.
#[derive(Debug, Serialize, JsonSchema)]
struct Envelope<D> {
    /// Version of the program.
    lapwing: &'static str,
    /// Kind of the answer.
    answer: &'static str,
    /// Number of the schema of this kind.
    schema: u32,
    /// The command that was answered.
    command: Vec<String>,
    /// The answer in one sentence.
    headline: String,
    /// The verdict, where the question has one.
    verdict: Option<&'static str>,
    /// Commands that continue from here.
    next: Vec<NextStep>,
    /// Remarks.
    notes: Vec<Note>,
    /// Number of rows that are not listed: `--full` lists them.
    omitted_rows: usize,
    #[serde(flatten)]
    data: D,
}

/// Returns an answer for programs.
pub fn enveloped(
    answer: &dyn Answer,
    extent: &Extent,
    command: &[String],
) -> Result<impl Serialize, WriteError> {
    let view = View {
        room: None,
        full: extent.full,
    };
    let text = answer.for_people(view);
    let kind = answer.kind();
    let mut data = answer.data(view)?;
    if !view.full {
        kind.drop_rare(&mut data);
    }
    let mut omitted_rows = answer.omitted_rows(view);
    let mut notes = text.notes;
    if omitted_rows > 0 {
        notes.splice(0..0, text.below);
    }
    if let Some(Value::Array(rows)) = kind.list.and_then(|list| data.get_mut(list)) {
        if let Some(limit) = extent.limit {
            omitted_rows += match kind.sublist {
                None => {
                    let omitted = rows.len().saturating_sub(limit);
                    rows.truncate(limit);
                    omitted
                }
                Some(sublist) => limit_sublists(rows, sublist, limit),
            };
        }
        if !extent.fields.is_empty() {
            match kind.sublist {
                None => keep_fields(rows, &extent.fields),
                Some(sublist) => {
                    let sublists = rows.iter_mut().filter_map(|row| row.get_mut(sublist));
                    let sublists = sublists.filter_map(Value::as_array_mut);
                    sublists.for_each(|rows| keep_fields(rows, &extent.fields));
                }
            }
        }
    }
    Ok(Envelope {
        lapwing: VERSION,
        answer: kind.name,
        schema: kind.schema,
        command: command.to_vec(),
        headline: text.told_by_table.unwrap_or(text.headline),
        verdict: answer.verdict(),
        next: text.next,
        notes,
        omitted_rows,
        data,
    })
}

/// Drops all rows of the sublists but the first ones, and what has none left; returns the number of dropped rows.
fn limit_sublists(rows: &mut Vec<Value>, sublist: &str, limit: usize) -> usize {
    let (mut left, mut omitted) = (limit, 0);
    rows.retain_mut(|row| {
        let Some(own) = row.get_mut(sublist).and_then(Value::as_array_mut) else {
            return true;
        };
        let had_any = !own.is_empty();
        omitted += own.len().saturating_sub(left);
        own.truncate(left);
        left -= own.len();
        !(had_any && own.is_empty())
    });
    omitted
}

fn keep_fields(rows: &mut [Value], fields: &[String]) {
    let objects = rows.iter_mut().filter_map(Value::as_object_mut);
    objects.for_each(|row| row.retain(|name, _| fields.contains(name)));
}
