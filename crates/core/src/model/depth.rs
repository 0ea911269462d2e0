//! How deep a record is nested.
//!
//! A line of record v1 is read down to serde's 128 levels. What an importer keeps without
//! understanding it stands some levels deeper in its record than in its source, so that
//! there has to be a limit before that.

use serde_json::Value;

use super::{Object, Record};

/// The deepest nesting that is kept.
pub const DEEPEST: usize = 100;

/// Returns whether something in a record is nested deeper than [`DEEPEST`].
pub fn is_too_deep(record: &Record) -> bool {
    let objects: &[&Object] = match record {
        Record::Session(it) => &[&it.attributes, &it.artifacts, &it.extra],
        Record::Run(it) => &[
            &it.environment,
            &it.attributes,
            &it.artifacts,
            &it.extra,
            &it.version.extra,
        ],
        Record::Instance(it) => &[
            &it.environment,
            &it.job,
            &it.attributes,
            &it.artifacts,
            &it.extra,
            &it.benchmark.params,
            &it.benchmark.extra,
        ],
        Record::Iteration(it) => &[&it.attributes, &it.artifacts, &it.extra],
        Record::Span(it) => &[&it.attributes, &it.extra],
        Record::InstanceEnd(it) => &[&it.observed, &it.extra],
        Record::Summary(it) => &[&it.extra],
        Record::Annotation(it) => &[&it.target, &it.extra],
    };
    objects.iter().any(|object| is_deep(object))
}

/// Returns whether an object of a record is nested deeper than [`DEEPEST`].
pub fn is_deep(object: &Object) -> bool {
    object.values().any(|value| exceeds(value, DEEPEST))
}

fn exceeds(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(list) => levels == 0 || list.iter().any(|it| exceeds(it, levels - 1)),
        Value::Object(object) => levels == 0 || object.values().any(|it| exceeds(it, levels - 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nesting_is_counted_in_levels() {
        let mut value = json!(1);
        for _ in 0..DEEPEST {
            value = json!([value]);
        }
        let object = |value: Value| Object::from_iter([("a".to_owned(), value)]);
        assert!(!is_deep(&object(value.clone())));
        assert!(is_deep(&object(json!([value]))));
    }
}
