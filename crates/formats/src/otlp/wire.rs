//! A request as it stands in the file. Numbers of 64 bits are texts in this JSON.

use serde::Deserialize;
use serde_json::Value;

use lapwing_model::Object;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OtlpRequest {
    pub(super) resource_spans: Vec<ResourceSpans>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ResourceSpans {
    pub(super) resource: OtlpResource,
    pub(super) scope_spans: Vec<ScopeSpans>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct OtlpResource {
    pub(super) attributes: Vec<OtlpAttribute>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ScopeSpans {
    pub(super) spans: Vec<OtlpSpan>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OtlpSpan {
    pub(super) span_id: String,
    #[serde(default)]
    pub(super) parent_span_id: String,
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    start_time_unix_nano: Value,
    #[serde(default)]
    end_time_unix_nano: Value,
    #[serde(default)]
    pub(super) attributes: Vec<OtlpAttribute>,
    #[serde(default)]
    pub(super) events: Vec<OtlpEvent>,
    #[serde(default)]
    pub(super) links: Vec<OtlpLink>,
    #[serde(default)]
    pub(super) status: OtlpStatus,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct OtlpEvent {
    pub(super) name: String,
    time_unix_nano: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OtlpLink {
    pub(super) span_id: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct OtlpStatus {
    pub(super) message: String,
    code: Value,
}

#[derive(Deserialize, Clone)]
pub(super) struct OtlpAttribute {
    key: String,
    #[serde(default)]
    value: Value,
}

impl OtlpSpan {
    /// Returns why the span cannot be used, if it cannot.
    pub(super) fn check(&self) -> Result<(), String> {
        let times = [
            ("startTimeUnixNano", &self.start_time_unix_nano),
            ("endTimeUnixNano", &self.end_time_unix_nano),
        ];
        for (key, value) in times {
            if !value.is_null() && integer(value).is_none() {
                return Err(format!("`{key}` is not a number of nanoseconds: {value}"));
            }
        }
        match self.start() {
            Some(_) => Ok(()),
            None => Err(format!(
                "span `{}` has no `startTimeUnixNano`",
                self.span_id
            )),
        }
    }

    pub(super) fn start(&self) -> Option<i64> {
        integer(&self.start_time_unix_nano)
    }

    /// Nothing where the span had not ended: the field is 0 then.
    pub(super) fn end(&self) -> Option<i64> {
        integer(&self.end_time_unix_nano).filter(|time| *time != 0)
    }
}

impl OtlpEvent {
    pub(super) fn time(&self) -> Option<i64> {
        integer(&self.time_unix_nano)
    }
}

impl OtlpStatus {
    pub(super) fn is_error(&self) -> bool {
        self.code == 2 || self.code == "STATUS_CODE_ERROR"
    }
}

fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::String(text) => text.parse().ok(),
        Value::Number(number) => number.as_i64(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Returns attributes as an object, without the types around their values.
pub(super) fn object_of(attributes: Vec<OtlpAttribute>) -> Object {
    let attributes = attributes.into_iter();
    attributes.map(|it| (it.key, plain(it.value))).collect()
}

fn plain(value: Value) -> Value {
    let Value::Object(typed) = value else {
        return value;
    };
    let Some((kind, value)) = typed.into_iter().next() else {
        return Value::Null;
    };
    match kind.as_str() {
        "intValue" => integer(&value).map_or(value, Value::from),
        "arrayValue" => match value.get("values") {
            Some(Value::Array(values)) => values.iter().cloned().map(plain).collect(),
            _none => Value::Array(Vec::new()),
        },
        "kvlistValue" => {
            let values = value.get("values").cloned().unwrap_or(Value::Null);
            let pairs: Vec<OtlpAttribute> = serde_json::from_value(values).unwrap_or_default();
            Value::Object(object_of(pairs))
        }
        _plain => value,
    }
}
