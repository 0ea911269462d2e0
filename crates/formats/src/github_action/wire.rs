//! github-action-benchmark's documents, as they stand there.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::shared::others::{Entries, UnknownKeys};

/// The history: suites of entries.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct History<'d> {
    pub(super) repo_url: Option<String>,
    #[serde(borrow)]
    pub(super) entries: Entries<'d>,
    #[serde(default, rename = "lastUpdate")]
    _last_update: IgnoredAny,
    #[serde(flatten)]
    pub(super) unknown: UnknownKeys,
}

/// The keys of [`HistoryEntry`].
pub(super) const ENTRY: [&str; 4] = ["commit", "date", "tool", "benches"];

/// The results of one commit.
#[derive(Deserialize)]
pub(super) struct HistoryEntry<'d> {
    #[serde(borrow)]
    pub(super) commit: &'d RawValue,
    /// Milliseconds since the epoch.
    pub(super) date: f64,
    pub(super) tool: String,
    #[serde(borrow)]
    pub(super) benches: Vec<&'d RawValue>,
}

/// The commit of an entry; its other keys are kept as they are.
#[derive(Deserialize)]
pub(super) struct Commit {
    pub(super) id: String,
    pub(super) timestamp: Option<String>,
}

/// The keys of [`Bench`].
pub(super) const BENCH: [&str; 5] = ["name", "value", "unit", "range", "extra"];

/// One result.
#[derive(Deserialize)]
pub(super) struct Bench {
    pub(super) name: String,
    /// A number, or the text of one.
    pub(super) value: Value,
    #[serde(default)]
    pub(super) unit: String,
    pub(super) range: Option<Value>,
    pub(super) extra: Option<String>,
}

impl Bench {
    /// Returns the value; NaN where there is none.
    pub(super) fn number(&self) -> Result<f64, String> {
        let parsed = match &self.value {
            Value::Null => Some(f64::NAN),
            Value::Number(number) => number.as_f64(),
            Value::String(text) => text.trim().parse().ok(),
            Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        };
        parsed.ok_or_else(|| format!("`value` of `{}` is not a number: {}", self.name, self.value))
    }

    /// Returns the spread, in the unit of the value, where the range is one: `± 3`, `3` or
    /// `±1.5%`. What tools write besides, such as `stddev: 3`, may be of another quantity.
    pub(super) fn spread(&self, value: f64) -> Option<f64> {
        match self.range.as_ref()? {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => {
                let text = text.trim();
                let number = ["\u{b1}", "+/-", "+-"]
                    .iter()
                    .find_map(|sign| text.strip_prefix(sign))
                    .unwrap_or(text)
                    .trim();
                let spread = match number.strip_suffix('%') {
                    Some(share) => share.trim().parse::<f64>().ok()? / 100.0 * value,
                    None => number.parse().ok()?,
                };
                (spread >= 0.0).then_some(spread)
            }
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }

    /// Returns of how many samples the value is, where a tool says so: `30 samples` or
    /// `rounds: 30`.
    pub(super) fn samples(&self) -> Option<u64> {
        let lines = self.extra.as_deref()?.lines();
        lines
            .filter_map(|line| {
                let number = line
                    .strip_suffix(" samples")
                    .or_else(|| line.strip_prefix("rounds: "))?;
                number.trim().parse().ok()
            })
            .next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bench(range: &str) -> Bench {
        Bench {
            name: "a".to_owned(),
            value: Value::from(200),
            unit: String::new(),
            range: Some(Value::from(range)),
            extra: None,
        }
    }

    #[test]
    fn a_range_is_a_spread_or_stays_a_text() {
        let of = |range: &str| bench(range).spread(200.0);
        assert_eq!(of("\u{b1} 0.05"), Some(0.05));
        assert_eq!(of("+/- 3"), Some(3.0));
        assert_eq!(of("+-3"), Some(3.0));
        assert_eq!(of("3"), Some(3.0));
        assert_eq!(of("\u{b1}1.5%"), Some(3.0));
        assert_eq!(of("stddev: 3"), None);
        assert_eq!(of("2 to 5"), None);
        assert_eq!(of("-3"), None);
        assert_eq!(of(""), None);
    }
}
