//! A request as it stands in the file. Numbers of 64 bits are texts in this JSON. Some writers have the keys in snake
//! case, and the scopes of versions before 2022 are `instrumentationLibrarySpans`.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use lapwing_model::Object;

/// A request of spans, or of another signal.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OtlpRequest {
    #[serde(alias = "resource_spans")]
    pub(super) resource_spans: Option<Vec<ResourceSpans>>,
    #[serde(alias = "resource_metrics")]
    resource_metrics: Option<IgnoredAny>,
    #[serde(alias = "resource_logs")]
    resource_logs: Option<IgnoredAny>,
    #[serde(alias = "resource_profiles")]
    resource_profiles: Option<IgnoredAny>,
}

impl OtlpRequest {
    /// Returns the signals besides spans that it holds.
    pub(super) fn other_signals(&self) -> Vec<&'static str> {
        let signals = [
            ("metrics", self.resource_metrics.is_some()),
            ("logs", self.resource_logs.is_some()),
            ("profiles", self.resource_profiles.is_some()),
        ];
        let held = signals.into_iter().filter(|(_, is_there)| *is_there);
        held.map(|(signal, _)| signal).collect()
    }
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ResourceSpans {
    pub(super) resource: OtlpResource,
    #[serde(
        alias = "scope_spans",
        alias = "instrumentationLibrarySpans",
        alias = "instrumentation_library_spans"
    )]
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
    #[serde(default, alias = "trace_id")]
    pub(super) trace_id: String,
    #[serde(alias = "span_id")]
    pub(super) span_id: String,
    #[serde(default, alias = "parent_span_id")]
    pub(super) parent_span_id: String,
    #[serde(default)]
    pub(super) name: String,
    #[serde(default, alias = "start_time_unix_nano")]
    start_time_unix_nano: Value,
    #[serde(default, alias = "end_time_unix_nano")]
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
    #[serde(alias = "time_unix_nano")]
    time_unix_nano: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OtlpLink {
    #[serde(alias = "span_id")]
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
        "intValue" | "int_value" => integer(&value).map_or(value, Value::from),
        "arrayValue" | "array_value" => match value.get("values") {
            Some(Value::Array(values)) => values.iter().cloned().map(plain).collect(),
            _none => Value::Array(Vec::new()),
        },
        "kvlistValue" | "kvlist_value" => {
            let values = value.get("values").cloned().unwrap_or(Value::Null);
            let pairs: Vec<OtlpAttribute> = serde_json::from_value(values).unwrap_or_default();
            Value::Object(object_of(pairs))
        }
        _plain => value,
    }
}
