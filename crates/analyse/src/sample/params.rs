//! Parameters that define a benchmark: a change of one starts a new epoch.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use lapwing_model::Object;

/// Parameters as texts that are equal if they mean the same.
pub(crate) type TellingParams = BTreeMap<String, String>;

/// Length in characters above which a text is regarded as a description.
const LONGEST: usize = 100;

/// Returns the parameters that define the work of a benchmark: numbers, words and lists of them.
///
/// Excluded are paths, objects and printed representations (`<Frame at 0x7f…>`, `{'b', 'a'}`), which may differ from
/// one call to the next without a change. Numbers are compared by value, however they are written.
pub fn telling(params: &Object) -> TellingParams {
    params
        .iter()
        .filter_map(|(key, value)| Some((key.clone(), text(value)?)))
        .collect()
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::Null | Value::Bool(_) => Some(value.to_string()),
        Value::Number(number) => match number.as_f64() {
            Some(number) => Some(rounded(number)),
            None => Some(number.to_string()),
        },
        Value::String(text) => match text.trim().parse::<f64>() {
            Ok(number) if number.is_finite() => Some(rounded(number)),
            Ok(_) | Err(_) => is_word(text).then(|| text.clone()),
        },
        Value::Array(values) => {
            let texts: Option<Vec<String>> = values.iter().map(self::text).collect();
            let all = texts?.join(", ");
            (all.len() <= LONGEST).then(|| format!("[{all}]"))
        }
        Value::Object(_) => None,
    }
}

/// The last digits of a number depend on the writing program.
fn rounded(number: f64) -> String {
    format!("{number:.9e}")
}

fn is_word(text: &str) -> bool {
    let strange = |it: char| it.is_control() || "/\\(){}<>".contains(it);
    text.len() <= LONGEST && !text.contains(strange)
}

/// Returns whether two have different values of a parameter.
pub fn differ(one: &TellingParams, other: &TellingParams) -> bool {
    one.iter()
        .any(|(key, value)| other.get(key).is_some_and(|it| it != value))
}

/// Puts parameters that agree into one class, in the order in which they were seen.
///
/// A missing parameter matches any value; such an instance is put into the class seen last that it agrees with.
#[derive(Debug, Default)]
pub(crate) struct ParamClasses {
    classes: Vec<TellingParams>,
    /// The numbers of the classes, the one seen last at the end.
    seen: Vec<usize>,
}

impl ParamClasses {
    /// Returns the number of the class that parameters belong to.
    pub(crate) fn of(&mut self, params: &TellingParams) -> usize {
        let agrees = |place: &usize| !differ(&self.classes[self.seen[*place]], params);
        let class = match (0..self.seen.len()).rev().find(agrees) {
            Some(place) => self.seen.remove(place),
            None => {
                self.classes.push(TellingParams::new());
                self.classes.len() - 1
            }
        };
        self.seen.push(class);
        let known = &mut self.classes[class];
        for (key, value) in params {
            if !known.contains_key(key) {
                known.insert(key.clone(), value.clone());
            }
        }
        class
    }

    /// Returns whether there is at most one.
    pub(crate) fn is_one(&self) -> bool {
        self.classes.len() < 2
    }

    /// Returns the parameters that distinguish each class from the others.
    pub(crate) fn texts(&self) -> Vec<String> {
        let keys: BTreeSet<&String> = self.classes.iter().flat_map(BTreeMap::keys).collect();
        let values = |key: &&String| -> BTreeSet<Option<&String>> {
            self.classes.iter().map(|it| it.get(*key)).collect()
        };
        let telling: Vec<&String> = keys
            .into_iter()
            .filter(|key| values(key).len() > 1)
            .collect();
        let text = |params: &TellingParams| {
            let known = telling
                .iter()
                .filter_map(|&key| Some((key, params.get(key)?)));
            let pairs: Vec<String> = known.map(|(key, value)| format!("{key}={value}")).collect();
            pairs.join(" ")
        };
        self.classes.iter().map(text).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn params(value: &Value) -> TellingParams {
        telling(value.as_object().expect("an object"))
    }

    #[test]
    fn numbers_and_words_tell_however_they_are_written() {
        for (one, other, same) in [
            (json!({"n": 1}), json!({"n": 1.0}), true),
            (json!({"n": "10"}), json!({"n": 10}), true),
            (json!({"x": 0.3}), json!({"x": 0.1 + 0.2}), true),
            (json!({"n": 10}), json!({"n": 100}), false),
            (json!({"mode": "fast"}), json!({"mode": "slow"}), false),
            (json!({"n": [1, 2]}), json!({"n": [1, 3]}), false),
            (json!({"local": true}), json!({"local": false}), false),
            (json!({"n": null}), json!({"n": 1}), false),
            (json!({"n": 1}), json!({"m": 2}), true),
        ] {
            assert_eq!(
                !differ(&params(&one), &params(&other)),
                same,
                "{one} {other}"
            );
        }
    }

    #[test]
    fn what_differs_from_call_to_call_does_not() {
        let printed = json!({
            "path": "/tmp/pytest-12/data", "windows": "C:\\data", "frame": "<Frame at 0x7f001234>",
            "set": "{'b', 'a'}", "call": "array([1, 2])", "nested": {"n": 1}, "paths": ["/a/b", 1],
            "long": "x".repeat(101), "text": "two\nlines",
        });
        assert_eq!(params(&printed), TellingParams::new());
    }

    #[test]
    fn classes_are_of_parameters_that_agree() {
        let mut classes = ParamClasses::default();
        let numbers: Vec<usize> = [
            json!({"n": 1}),
            json!({"n": 1, "m": 5}),
            json!({"n": 2, "m": 5}),
            json!({}),
            json!({"n": 1}),
            json!({"m": 5}),
            json!({"n": 1, "m": 6}),
        ]
        .map(|it| classes.of(&params(&it)))
        .to_vec();
        assert_eq!(numbers, [0, 0, 1, 1, 0, 0, 2]);
        let texts = classes.texts();
        let one = "1.000000000e0";
        let [two, five, six] = ["2.000000000e0", "5.000000000e0", "6.000000000e0"];
        assert_eq!(
            texts,
            [
                format!("m={five} n={one}"),
                format!("m={five} n={two}"),
                format!("m={six} n={one}")
            ]
        );
    }
}
