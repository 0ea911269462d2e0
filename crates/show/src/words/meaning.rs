//! The definition and parameters of a benchmark in a run, and their changes.

use std::collections::BTreeMap;

use serde_json::Value;

use lapwing_analyse::sample::telling;
use lapwing_model::text::joined_with_and;
use lapwing_record::InstanceData;

/// The number of characters of a parameter's value in texts.
const VALUE_CHARACTERS: usize = 40;

/// The number of characters of a value in a label of a chart.
const LABEL_CHARACTERS: usize = 16;

/// The definition and parameters of a benchmark in a run, as far as known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BenchmarkMeaning {
    /// Its epoch: runs of one epoch are compared.
    pub epoch: Option<String>,
    /// The recorded fingerprint: a hash of the benchmark's definition.
    pub definition: Option<String>,
    /// Its parameters that define its work.
    pub params: BTreeMap<String, MeaningParameter>,
}

/// The value of a parameter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MeaningParameter {
    /// A normalised form, equal for values with the same meaning.
    meaning: String,
    /// As it was written.
    text: String,
}

impl BenchmarkMeaning {
    pub(crate) fn of(instance: &InstanceData) -> Self {
        let benchmark = &instance.instance.benchmark;
        let params = telling(&benchmark.params).into_iter();
        let text = |key: &str| match benchmark.params.get(key) {
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
            None => String::new(),
        };
        Self {
            epoch: benchmark.fingerprint.clone(),
            definition: instance.recorded_fingerprint.clone(),
            params: params
                .map(|(key, meaning)| {
                    let text = text(&key);
                    (key, MeaningParameter { meaning, text })
                })
                .collect(),
        }
    }

    /// Returns whether both are of one epoch, as far as is known.
    pub(crate) fn is_that_of(&self, other: &Self) -> bool {
        match (&self.epoch, &other.epoch) {
            (Some(one), Some(another)) => one == another,
            (None, _) | (_, None) => true,
        }
    }

    /// Returns the changes since then.
    pub(crate) fn changed_since(&self, before: &Self) -> MeaningChange {
        let definition = match (&before.definition, &self.definition) {
            (Some(one), Some(another)) => one != another,
            (None, _) | (_, None) => false,
        };
        let now = self.params.iter();
        let params = now.filter_map(|(key, now)| {
            let before = before.params.get(key)?;
            (before.meaning != now.meaning).then(|| ParameterChange {
                name: key.clone(),
                before: before.text.clone(),
                now: now.text.clone(),
            })
        });
        MeaningChange {
            definition,
            params: params.collect(),
        }
    }
}

/// The changes of a benchmark; empty if unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct MeaningChange {
    definition: bool,
    params: Vec<ParameterChange>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct ParameterChange {
    name: String,
    before: String,
    now: String,
}

impl MeaningChange {
    /// Returns it in words: `its definition and its parameter n from 10 to 100`; empty where nothing is known.
    pub(crate) fn text(&self) -> String {
        let params: Vec<String> = self
            .params
            .iter()
            .map(|change| {
                let [before, now] =
                    [&change.before, &change.now].map(|it| value(it, VALUE_CHARACTERS));
                format!("{} from {before} to {now}", change.name)
            })
            .collect();
        let params = match params.as_slice() {
            [] => None,
            [only] => Some(format!("its parameter {only}")),
            several => Some(format!("its parameters {}", joined_with_and(several))),
        };
        let definition = self.definition.then(|| "its definition".to_owned());
        let parts: Vec<String> = definition.into_iter().chain(params).collect();
        parts.join(" and ")
    }

    /// Returns it in brackets, to stand behind "changed".
    pub(crate) fn in_brackets(&self) -> String {
        match self.text() {
            text if text.is_empty() => text,
            text => format!(" ({text})"),
        }
    }

    /// Returns the label in a chart: `n 10 → 100`.
    pub(crate) fn label(&self) -> String {
        let params = self.params.iter().map(|change| {
            let [before, now] = [&change.before, &change.now].map(|it| value(it, LABEL_CHARACTERS));
            format!("{} {before} → {now}", change.name)
        });
        let definition = self.definition || self.params.is_empty();
        let changed = definition.then(|| "changed".to_owned());
        let mut parts: Vec<String> = changed.into_iter().chain(params).collect();
        if parts.len() > 2 {
            parts.truncate(2);
            parts.push("…".to_owned());
        }
        parts.join(", ")
    }
}

/// An empty text would not be seen.
fn value(text: &str, characters: usize) -> String {
    if text.trim().is_empty() {
        return format!("“{text}”");
    }
    let all: Vec<char> = text.chars().collect();
    if all.len() <= characters {
        return text.to_owned();
    }
    let tail = characters / 2;
    let (head, tail) = (&all[..characters - 1 - tail], &all[all.len() - tail..]);
    format!("{}…{}", String::from_iter(head), String::from_iter(tail))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::instance;

    fn meaning(definition: &str, params: &Value) -> BenchmarkMeaning {
        let mut it = instance(&[]);
        it.recorded_fingerprint = (!definition.is_empty()).then(|| definition.to_owned());
        it.instance.benchmark.params = params.as_object().cloned().unwrap_or_default();
        BenchmarkMeaning::of(&it)
    }

    fn changed(before: (&str, Value), now: (&str, Value)) -> (String, String) {
        let [before, now] = [before, now].map(|(it, params)| meaning(it, &params));
        let changed = now.changed_since(&before);
        (changed.text(), changed.label())
    }

    #[test]
    fn a_change_says_what_it_is_of_and_from_what_to_what() {
        let long = "x".repeat(60);
        for (before, now, text, label) in [
            (
                ("a", json!({"n": 10})),
                ("a", json!({"n": "100"})),
                "its parameter n from 10 to 100",
                "n 10 → 100",
            ),
            (
                ("a", json!({"n": 10, "mode": "fast", "same": 1})),
                ("b", json!({"n": 20, "mode": "", "same": 1.0})),
                "its definition and its parameters mode from fast to “” and n from 10 to 20",
                "changed, mode fast → “”, …",
            ),
            (
                ("a", json!({})),
                ("b", json!({"n": 1})),
                "its definition",
                "changed",
            ),
            (("", json!({})), ("b", json!({"n": 1})), "", "changed"),
            (
                ("a", json!({"n": 1})),
                ("a", json!({"n": long})),
                "its parameter n from 1 to xxxxxxxxxxxxxxxxxxx…xxxxxxxxxxxxxxxxxxxx",
                "n 1 → xxxxxxx…xxxxxxxx",
            ),
        ] {
            assert_eq!(changed(before, now), (text.to_owned(), label.to_owned()));
        }
    }
}
