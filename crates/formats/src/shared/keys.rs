//! Takes single keys out of an object whose other keys are kept as they are.

use serde_json::Value;

use lapwing_model::Object;

/// Removes a text that says something: neither `null` nor empty. Anything else stays.
pub(crate) fn take_text(object: &mut Object, key: &str) -> Option<String> {
    match object.get(key)? {
        Value::Null => {
            object.remove(key);
            None
        }
        Value::String(_) => match object.remove(key)? {
            Value::String(text) if !text.is_empty() => Some(text),
            _empty => None,
        },
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Removes a number. Anything else stays.
pub(crate) fn take_number(object: &mut Object, key: &str) -> Option<f64> {
    let number = object.get(key)?.as_f64()?;
    object.remove(key);
    Some(number)
}

/// Removes a whole number that is not negative. Anything else stays.
pub(crate) fn take_count(object: &mut Object, key: &str) -> Option<u64> {
    let count = object.get(key)?.as_u64()?;
    object.remove(key);
    Some(count)
}

/// Inserts a value, where there is one.
pub(crate) fn put(object: &mut Object, key: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        object.insert(key.to_owned(), value.into());
    }
}

/// Inserts a finite number; what is not finite has no place in JSON.
pub(crate) fn put_number(object: &mut Object, key: &str, number: Option<f64>) {
    put(object, key, number.and_then(serde_json::Number::from_f64));
}

/// Inserts an object that says something.
pub(crate) fn put_object(object: &mut Object, key: &str, content: Object) {
    put(
        object,
        key,
        Some(content).filter(|content| !content.is_empty()),
    );
}

/// Gives keys that are taken a `_` at the end, as many as it needs.
pub(crate) fn make_way(object: &mut Object, taken: &[&str]) {
    for &key in taken {
        if let Some(value) = object.remove(key) {
            let mut free = format!("{key}_");
            while object.contains_key(&free) {
                free.push('_');
            }
            object.insert(free, value);
        }
    }
}

/// Returns a value in the words that people would use for it.
pub(crate) fn in_words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            value.to_string()
        }
    }
}

/// Returns a name with the choices that tell it from others of that name: `name[key=value,…]`.
pub(crate) fn with_choices(name: &str, choices: &[String]) -> String {
    if choices.is_empty() {
        return name.to_owned();
    }
    format!("{name}[{}]", choices.join(","))
}

/// Returns the values of an object as `key=value`.
pub(crate) fn choices(object: &Object) -> Vec<String> {
    let pairs = object.iter();
    pairs
        .map(|(key, value)| format!("{key}={}", in_words(value)))
        .collect()
}

/// Returns a number where the text is one that would be written like this.
pub(crate) fn number_or_text(text: &str) -> Value {
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Number(number)) if number.to_string() == text => Value::Number(number),
        Ok(_) | Err(_) => Value::from(text),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_of_another_kind_stays() {
        let Value::Object(mut object) =
            json!({"a": "x", "b": 1, "c": null, "d": "", "e": -1, "f": 2.5})
        else {
            unreachable!("an object");
        };
        assert_eq!(take_text(&mut object, "a").as_deref(), Some("x"));
        assert_eq!(take_text(&mut object, "b"), None);
        assert_eq!(take_text(&mut object, "c"), None);
        assert_eq!(take_text(&mut object, "d"), None);
        assert_eq!(take_count(&mut object, "e"), None);
        assert_eq!(take_number(&mut object, "f"), Some(2.5));
        assert_eq!(Value::Object(object), json!({"b": 1, "e": -1}));
    }
}
