//! An event as it stands in the file.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

use lapwing_model::Object;

use crate::shared::keys::in_words;
use crate::shared::spans::in_nanoseconds;

/// Times are microseconds.
#[derive(Deserialize)]
pub(super) struct ChromeEvent<'d> {
    #[serde(borrow)]
    pub(super) ph: Cow<'d, str>,
    #[serde(borrow, default)]
    pub(super) name: Cow<'d, str>,
    #[serde(borrow, default)]
    pub(super) cat: Cow<'d, str>,
    #[serde(default)]
    pub(super) pid: Value,
    #[serde(default)]
    pub(super) tid: Value,
    #[serde(default)]
    pub(super) ts: Value,
    #[serde(default)]
    pub(super) dur: Value,
    /// The time of the thread's processor.
    #[serde(default)]
    pub(super) tdur: Value,
    #[serde(default)]
    pub(super) id: Value,
    #[serde(default)]
    pub(super) id2: Value,
    #[serde(default)]
    pub(super) args: Object,
}

impl ChromeEvent<'_> {
    /// Returns what the beginning and the end of something that changes threads have in common.
    pub(super) fn async_id(&self) -> String {
        let local = self.id2.get("local").map(|it| (&self.pid, it));
        let global = self.id2.get("global").or(Some(&self.id));
        match (local, global) {
            (Some((pid, id)), _) => format!("{}/{pid}/{id}", self.cat),
            (None, id) => format!("{}/{}", self.cat, id.unwrap_or(&Value::Null)),
        }
    }
}

/// Returns a process's or thread's number, which may be a word.
pub(super) fn identity(value: &Value) -> String {
    match value {
        Value::Null => "0".to_owned(),
        other => in_words(other),
    }
}

/// Returns microseconds in nanoseconds.
pub(super) fn time(key: &str, value: &Value) -> Result<i64, String> {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.parse().ok(),
        Value::Null => return Err(format!("`{key}` is missing")),
        Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    number
        .and_then(|microseconds| in_nanoseconds(microseconds, 1_000))
        .ok_or_else(|| format!("`{key}` is not a time: {value}"))
}
