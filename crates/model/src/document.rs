//! Numbers in the JSON documents that programs print.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::{MetricName, Object};

/// The key of a document that says how many executions each value of its arrays is the mean of.
pub const LOOPS: &str = "@loops";

/// Returns how many executions each value of a document is the mean of, if it says so.
///
/// # Errors
/// With a sentence if that is no whole number above zero.
pub fn loops(document: &Object) -> Result<Option<u64>, String> {
    let Some(value) = document.get(LOOPS) else {
        return Ok(None);
    };
    match value.as_u64() {
        Some(loops) if loops > 0 => Ok(Some(loops)),
        Some(_) | None => Err(format!(
            "`{LOOPS}` must be a whole number above 0, not {value}"
        )),
    }
}

/// Returns the last top-level JSON object in a text that may hold anything else.
///
/// # Errors
/// When something begins like an object and is none, such as one with a `NaN` or one that
/// is cut off, and no object follows: what lies within it would go by wrong names.
pub fn last_object(text: &str) -> Result<Option<Object>, String> {
    let mut last = Ok(None);
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        rest = &rest[open..];
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<Object>();
        match stream.next() {
            Some(Ok(object)) => {
                last = Ok(Some(object));
                rest = &rest[stream.byte_offset()..];
            }
            Some(Err(error)) if begins_with_key(rest) => {
                last = Err(format!("the JSON object printed is not valid: {error}"));
                rest = &rest[closing_brace(rest)..];
            }
            Some(Err(_)) | None => rest = &rest[1..],
        }
    }
    last
}

/// Returns whether a text that begins with a brace goes on like an object: `{"key":`.
fn begins_with_key(text: &str) -> bool {
    let inside = text[1..].trim_start();
    let mut stream = serde_json::Deserializer::from_str(inside).into_iter::<String>();
    inside.starts_with('"')
        && matches!(stream.next(), Some(Ok(_)))
        && inside[stream.byte_offset()..].trim_start().starts_with(':')
}

/// Returns where the brace that a text begins with is closed again, or else its length.
fn closing_brace(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut quoted = false;
    let mut escaped = false;
    for (place, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' if !quoted => depth += 1,
            b'}' if !quoted => {
                depth -= 1;
                if depth == 0 {
                    return place;
                }
            }
            _ => {}
        }
    }
    text.len()
}

/// Adds the numbers of a document to the values of iterations, of which there is at least one. Numbers belong to the
/// first, arrays have one for each.
///
/// # Errors
/// With a sentence if arrays differ in length.
pub fn add_document(
    document: &Object,
    iterations: &mut Vec<BTreeMap<MetricName, f64>>,
) -> Result<(), String> {
    let mut numbers = Vec::new();
    // An indicator document keeps its results apart from its parameters and build facts.
    if let Some(result) = document.get("@result") {
        flatten("", result, &mut numbers);
        if let Some(score) = document.get("overall_score") {
            flatten("overall_score", score, &mut numbers);
        }
    } else {
        for (key, value) in document {
            if key != "@parameters" && key != LOOPS {
                flatten(key, value, &mut numbers);
            }
        }
    }
    let mut length = None;
    for (name, found) in numbers {
        match found {
            FoundValue::One(number) => {
                iterations[0].insert(name, number);
            }
            FoundValue::Many(series) => {
                if *length.get_or_insert(series.len()) != series.len() {
                    return Err(format!(
                        "the arrays of the JSON output differ in length: `{name}` has {}",
                        series.len()
                    ));
                }
                iterations.resize_with(series.len().max(iterations.len()), BTreeMap::new);
                for (iteration, number) in iterations.iter_mut().zip(series) {
                    iteration.insert(name.clone(), number);
                }
            }
        }
    }
    Ok(())
}

/// Returns the values of a document, one map for each iteration.
///
/// # Errors
/// With a sentence if arrays differ in length.
pub fn document_values(document: &Object) -> Result<Vec<BTreeMap<MetricName, f64>>, String> {
    let mut iterations = vec![BTreeMap::new()];
    add_document(document, &mut iterations)?;
    Ok(iterations)
}

enum FoundValue {
    One(f64),
    Many(Vec<f64>),
}

fn flatten(name: &str, value: &Json, numbers: &mut Vec<(MetricName, FoundValue)>) {
    match value {
        Json::Number(number) => {
            if let Some(number) = number.as_f64() {
                numbers.push((name.to_owned(), FoundValue::One(number)));
            }
        }
        Json::Array(items) => {
            let series: Option<Vec<f64>> = items.iter().map(Json::as_f64).collect();
            if let Some(series) = series
                && !series.is_empty()
            {
                numbers.push((name.to_owned(), FoundValue::Many(series)));
            }
        }
        Json::Object(entries) => {
            for (key, value) in entries {
                let name = if name.is_empty() {
                    key.clone()
                } else {
                    format!("{name}.{key}")
                };
                flatten(&name, value, numbers);
            }
        }
        Json::Null | Json::Bool(_) | Json::String(_) => {}
    }
}
