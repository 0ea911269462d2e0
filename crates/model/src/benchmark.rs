use serde::{Deserialize, Serialize};

use super::Object;

/// Something that can be measured again.
///
/// Its identity is the suite of its session and `id`; `params` and `tags`
/// describe it and do not identify it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Benchmark {
    /// The name that stays the same for ever, such as `tests/test_join.py::test_join[10]`.
    pub id: String,
    /// Parameters and their values.
    #[serde(default, skip_serializing_if = "Object::is_empty")]
    pub params: Object,
    /// Labels to select by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Hash of the definition: another fingerprint means that the benchmark's meaning changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// Keys that this version does not know.
    #[serde(flatten)]
    pub extra: Object,
}

impl Benchmark {
    /// The tag of indicators.
    pub const INDICATOR: &'static str = "indicator";
}
