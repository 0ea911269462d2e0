//! One line of a Hail benchmark file, as it stands there.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde_json::Value;

use crate::shared::reason::without_position;
use lapwing_model::Object;

/// One instance of one benchmark.
#[derive(Debug, Default)]
pub(super) struct HailLine {
    pub(super) path: String,
    pub(super) name: String,
    pub(super) platform: Option<String>,
    pub(super) python: Option<String>,
    pub(super) version: Option<String>,
    /// `batch_id`, `job_id` and `attempt_id`, those that there are, as they are.
    pub(super) job: Object,
    pub(super) start: Option<String>,
    pub(super) end: Option<String>,
    pub(super) iterations: Vec<HailIteration>,
    /// Keys that Hail's own programs do not write.
    pub(super) unknown: Object,
}

/// One timed call.
#[derive(Debug, Default)]
pub(super) struct HailIteration {
    pub(super) time: Option<f64>,
    pub(super) is_burn_in: bool,
    pub(super) timed_out: bool,
    pub(super) failure: Option<String>,
    pub(super) task_memory: Option<f64>,
    pub(super) unknown: Object,
}

impl<'de> Deserialize<'de> for HailLine {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Keys;
        impl<'de> Visitor<'de> for Keys {
            type Value = HailLine;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object with `path`, `name` and `iterations`")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<HailLine, A::Error> {
                let mut line = HailLine::default();
                let (mut path, mut name, mut iterations) = (None, None, None);
                while let Some(key) = map.next_key::<std::borrow::Cow<'de, str>>()? {
                    match key.as_ref() {
                        "path" => path = Some(value(&mut map, "path")?),
                        "name" => name = Some(value(&mut map, "name")?),
                        "platform" => line.platform = value(&mut map, "platform")?,
                        "python" => line.python = value(&mut map, "python")?,
                        "version" => line.version = value(&mut map, "version")?,
                        "start" => line.start = value(&mut map, "start")?,
                        "end" => line.end = value(&mut map, "end")?,
                        "batch_id" | "job_id" | "attempt_id" => {
                            let id: Value = map.next_value()?;
                            if !id.is_null() {
                                line.job.insert(key.into_owned(), id);
                            }
                        }
                        "iterations" => iterations = Some(map.next_value()?),
                        _unknown => {
                            line.unknown.insert(key.into_owned(), map.next_value()?);
                        }
                    }
                }
                line.path = path.ok_or_else(|| A::Error::missing_field("path"))?;
                line.name = name.ok_or_else(|| A::Error::missing_field("name"))?;
                line.iterations =
                    iterations.ok_or_else(|| A::Error::missing_field("iterations"))?;
                Ok(line)
            }
        }
        deserializer.deserialize_map(Keys)
    }
}

impl<'de> Deserialize<'de> for HailIteration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Keys;
        impl<'de> Visitor<'de> for Keys {
            type Value = HailIteration;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an iteration object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<HailIteration, A::Error> {
                let mut iteration = HailIteration::default();
                while let Some(key) = map.next_key::<std::borrow::Cow<'de, str>>()? {
                    match key.as_ref() {
                        "time" => iteration.time = measured(&mut map, "time")?,
                        "task_memory" => {
                            iteration.task_memory = measured(&mut map, "task_memory")?;
                        }
                        "is_burn_in" => iteration.is_burn_in = value(&mut map, "is_burn_in")?,
                        "timed_out" => iteration.timed_out = value(&mut map, "timed_out")?,
                        "failure" => iteration.failure = value(&mut map, "failure")?,
                        _unknown => {
                            iteration
                                .unknown
                                .insert(key.into_owned(), map.next_value()?);
                        }
                    }
                }
                Ok(iteration)
            }
        }
        deserializer.deserialize_map(Keys)
    }
}

/// Returns a key's value; an error names the key.
fn value<'de, A: MapAccess<'de>, T: Deserialize<'de>>(
    map: &mut A,
    key: &'static str,
) -> Result<T, A::Error> {
    map.next_value().map_err(|error: A::Error| {
        let text = error.to_string();
        if text.starts_with("invalid type") {
            A::Error::custom(format!("`{key}`: {}", without_position(&text)))
        } else {
            error
        }
    })
}

/// Returns a measured quantity: a number that is not negative, or nothing.
fn measured<'de, A: MapAccess<'de>>(map: &mut A, key: &str) -> Result<Option<f64>, A::Error> {
    let found = match map.next_value()? {
        Value::Null => return Ok(None),
        Value::Number(number) => match number.as_f64() {
            Some(number) if number < 0.0 => {
                return Err(A::Error::custom(format!("`{key}` is negative: {number}")));
            }
            number => return Ok(number),
        },
        Value::String(text) => format!("{text:?}"),
        Value::Bool(truth) => truth.to_string(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    };
    Err(A::Error::custom(format!(
        "`{key}` is not a number: {found}"
    )))
}
