//! Paths of values in a JSON text, as in `runs[2].values`.

/// An object or list around a place, with what stands there of it.
struct JsonContainer {
    is_object: bool,
    /// The key, or the number, of the value that was read last; empty before the first and after a key.
    element: String,
    /// Values so far.
    count: usize,
    /// The key whose value comes next.
    key: Option<String>,
}

impl JsonContainer {
    fn new(is_object: bool) -> Self {
        Self {
            is_object,
            element: String::new(),
            count: 0,
            key: None,
        }
    }

    /// Comes to the next value.
    fn begin_value(&mut self) {
        self.element = match self.key.take() {
            Some(key) => format!(".{key}"),
            None => format!("[{}]", self.count),
        };
        self.count += 1;
    }
}

/// Returns the path of the value that a byte belongs to; empty for the whole text. What stands behind a value belongs
/// to it, and brackets belong to the list or object.
///
/// Up to that byte the text is JSON. Since it depends on no type, it is compiled once.
pub(crate) fn path_at(text: &str, offset: usize) -> String {
    let bytes = text.as_bytes();
    let mut around: Vec<JsonContainer> = Vec::new();
    let mut at = 0;
    while at <= offset && at < bytes.len() {
        let begin = at;
        at += 1;
        match bytes[begin] {
            b'}' | b']' => {
                around.pop();
            }
            b' ' | b'\n' | b'\r' | b'\t' | b',' | b':' => {}
            byte => {
                at = end_of_token(bytes, begin);
                match around.last_mut() {
                    Some(object) if object.is_object && object.key.is_none() => {
                        object.element.clear();
                        object.key = serde_json::from_str(&text[begin..at]).ok();
                    }
                    Some(container) => container.begin_value(),
                    None => {}
                }
                if matches!(byte, b'{' | b'[') {
                    around.push(JsonContainer::new(byte == b'{'));
                }
            }
        }
    }
    let path: String = around.into_iter().map(|it| it.element).collect();
    path.strip_prefix('.').unwrap_or(&path).to_owned()
}

/// Returns the place behind the token that begins at `begin`; brackets are tokens of their own.
fn end_of_token(bytes: &[u8], begin: usize) -> usize {
    let rest = &bytes[begin + 1..];
    let length = match bytes[begin] {
        b'{' | b'[' => 0,
        b'"' => {
            let mut is_escaped = false;
            let end = rest.iter().position(|&byte| {
                let ends = byte == b'"' && !is_escaped;
                is_escaped = byte == b'\\' && !is_escaped;
                ends
            });
            end.map_or(rest.len(), |end| end + 1)
        }
        _number_or_word => {
            let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
            rest.iter().take_while(|byte| is_part(byte)).count()
        }
    };
    begin + 1 + length
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
