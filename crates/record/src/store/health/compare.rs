//! Differences between two records of the same key.

use serde::Serialize;
use serde_json::Value;

use lapwing_model::{Run, Session};

/// How many differing fields to spell out.
const SHOWN: usize = 3;

/// Returns a new session with the stored one's file, name and start where both are imports of
/// the same format: their id comes from what was measured, and these from the file that was
/// read. Some formats have the same session in several files, of which one has grown;
/// it then begins with the earlier start.
pub(crate) fn as_stored(stored: &Session, new: &Session) -> Session {
    let mut new = new.clone();
    let said = |session: &Session, key: &str| {
        let source = session.attributes.get("source")?;
        source.get(key)?.as_str().map(str::to_owned)
    };
    let format = said(stored, "format");
    if format.is_none() || said(stored, "sha256").is_none() || said(&new, "format") != format {
        return new;
    }
    for key in ["file", "sha256"] {
        if let (Some(known), Some(here)) = (
            stored.attributes["source"].get(key),
            new.attributes
                .get_mut("source")
                .and_then(|source| source.get_mut(key)),
        ) {
            here.clone_from(known);
        }
    }
    new.name.clone_from(&stored.name);
    new.started = stored.started;
    new
}

/// Returns a run with the metrics of both versions: a later instance,
/// or one of another store, may have added some.
pub(crate) fn with_metrics_of(run: &Run, other: &Run) -> Run {
    let mut run = run.clone();
    for (name, metric) in &other.metrics {
        let known = run.metrics.entry(name.clone());
        known.or_insert_with(|| metric.clone());
    }
    run
}

/// Returns the fields in which two records differ, with both values, as sentences.
pub(crate) fn differences<T: Serialize>(stored: &T, new: &T) -> Vec<String> {
    let mut found = Vec::new();
    collect(
        "",
        &serde_json::to_value(stored).unwrap_or_default(),
        &serde_json::to_value(new).unwrap_or_default(),
        &mut found,
    );
    if found.len() > SHOWN {
        let more = found.len() - SHOWN;
        found.truncate(SHOWN);
        found.push(format!("and {more} more fields differ"));
    }
    found
}

fn collect(name: &str, stored: &Value, new: &Value, found: &mut Vec<String>) {
    if stored == new {
        return;
    }
    if let (Value::Object(stored), Value::Object(new)) = (stored, new) {
        let mut keys: Vec<&String> = stored.keys().chain(new.keys()).collect();
        keys.sort_unstable();
        keys.dedup();
        for key in keys {
            let inner = if name.is_empty() {
                key.clone()
            } else {
                format!("{name}.{key}")
            };
            collect(
                &inner,
                stored.get(key).unwrap_or(&Value::Null),
                new.get(key).unwrap_or(&Value::Null),
                found,
            );
        }
        return;
    }
    found.push(format!(
        "`{name}` is {} there and {} here",
        short(stored),
        short(new)
    ));
}

fn short(value: &Value) -> String {
    const LONGEST: usize = 60;
    if value.is_null() {
        return "absent".to_owned();
    }
    let text = value.to_string();
    if text.chars().count() <= LONGEST {
        return text;
    }
    let mut cut: String = text.chars().take(LONGEST).collect();
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn differing_fields_are_named_with_both_values() {
        assert_eq!(
            differences(
                &json!({"a": 1, "b": {"c": "x", "d": 2}, "e": 3}),
                &json!({"a": 1, "b": {"c": "y", "d": 2}})
            ),
            [
                "`b.c` is \"x\" there and \"y\" here",
                "`e` is 3 there and absent here"
            ]
        );
    }
}
