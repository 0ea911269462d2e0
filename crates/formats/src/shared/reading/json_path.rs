//! Paths of values in a JSON text, as in `runs[2].values`.

use crate::shared::detect::end_of_string;

/// An object or list around a place in a text.
enum JsonContainer<'t> {
    /// The key that was read last as it is written, empty before the first, and whether its value was read, too.
    Object { key: &'t str, has_value: bool },
    /// The number of values that were read.
    List { values: usize },
}

/// Returns the path of the value that a byte belongs to; empty for the whole text. Whatever stands behind a value
/// belongs to it, and brackets belong to the list or object.
///
/// Up to that byte the text is JSON. Since this depends on no type, it is compiled once.
pub(crate) fn path_at(text: &str, offset: usize) -> String {
    let bytes = text.as_bytes();
    let mut around: Vec<JsonContainer<'_>> = Vec::new();
    let mut at = 0;
    while at <= offset && at < bytes.len() {
        let begin = at;
        at = end_of_token(bytes, begin);
        match bytes[begin] {
            b' ' | b'\n' | b'\r' | b'\t' | b',' | b':' => continue,
            b'}' | b']' => {
                around.pop();
                continue;
            }
            _value_or_key => {}
        }
        match around.last_mut() {
            Some(JsonContainer::Object { key, has_value }) if *has_value => {
                (*key, *has_value) = (&text[begin..at], false);
            }
            Some(JsonContainer::Object { has_value, .. }) => *has_value = true,
            Some(JsonContainer::List { values }) => *values += 1,
            None => {}
        }
        match bytes[begin] {
            b'{' => around.push(JsonContainer::Object {
                key: "",
                has_value: true,
            }),
            b'[' => around.push(JsonContainer::List { values: 0 }),
            _other => {}
        }
    }
    let step = |container: &JsonContainer<'_>| match *container {
        JsonContainer::Object { key, has_value } if has_value && !key.is_empty() => {
            format!(
                ".{}",
                serde_json::from_str::<String>(key).unwrap_or_default()
            )
        }
        JsonContainer::List { values } if values > 0 => format!("[{}]", values - 1),
        JsonContainer::Object { .. } | JsonContainer::List { .. } => String::new(),
    };
    let path: String = around.iter().map(step).collect();
    path.strip_prefix('.').unwrap_or(&path).to_owned()
}

/// Returns the place behind the token that begins at `begin`; brackets are tokens of their own.
fn end_of_token(bytes: &[u8], begin: usize) -> usize {
    let next = begin + 1;
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    match bytes[begin] {
        b'"' => end_of_string(bytes, next).map_or(bytes.len(), |end| end + 1),
        byte if is_part(&byte) => next + bytes[next..].iter().take_while(|it| is_part(it)).count(),
        _blank_or_bracket => next,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_belongs_to_a_value_and_a_bracket_to_its_container() {
        let text = r#"{"a": [1, {"b\"": null}, []], "c": 2.5}"#;
        let path = |part: &str| path_at(text, text.find(part).expect("a part"));
        assert_eq!(path("{"), "");
        assert_eq!(path("[1"), "a");
        assert_eq!(path("1,"), "a[0]");
        assert_eq!(path("{\"b"), "a[1]");
        assert_eq!(path("null"), "a[1].b\"");
        assert_eq!(path("}, []"), "a[1]");
        assert_eq!(path("[]"), "a[2]");
        assert_eq!(path("], \"c"), "a");
        assert_eq!(path(".5"), "c");
        assert_eq!(path_at(text, text.len() - 1), "");
    }
}
