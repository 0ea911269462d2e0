//! Google Benchmark's rows, as they stand there, and what their names say.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::shared::keys::number_or_text;
use crate::shared::reading::number::{Number, known};
use lapwing_model::Object;

/// The whole document.
#[derive(Deserialize)]
pub(super) struct GoogleDocument<'d> {
    #[serde(default)]
    pub(super) context: Object,
    #[serde(borrow)]
    pub(super) benchmarks: Vec<&'d RawValue>,
}

/// Identifies the benchmark and the kind of a row.
#[derive(Deserialize)]
pub(super) struct GoogleTitle {
    name: Option<String>,
    run_name: Option<String>,
    run_type: Option<String>,
    family_index: Option<u64>,
    per_family_instance_index: Option<u64>,
    repetition_index: Option<u64>,
    big_o: Option<Value>,
    rms: Option<Value>,
}

/// The kind of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GoogleRowKind {
    /// A repetition.
    Iteration,
    /// A statistic over repetitions.
    Aggregate,
    /// A fit of the time to the size of the input, over several benchmarks.
    Complexity,
}

/// Distinguishes one benchmark of a document from the others.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct GoogleKey {
    pub(super) run_name: String,
    family: Option<u64>,
    instance: Option<u64>,
}

/// The rows of one benchmark, by their places in the document.
#[derive(Debug, Default)]
pub(super) struct GoogleGroup {
    /// In the order of the repetitions.
    pub(super) iterations: Vec<usize>,
    pub(super) aggregates: Vec<usize>,
    pub(super) complexity: Vec<usize>,
}

/// A repetition or an aggregate.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct GoogleRow {
    #[serde(deserialize_with = "whole")]
    pub(super) iterations: Option<u64>,
    #[serde(deserialize_with = "known")]
    pub(super) real_time: Option<f64>,
    #[serde(deserialize_with = "known")]
    pub(super) cpu_time: Option<f64>,
    pub(super) time_unit: Option<String>,
    #[serde(deserialize_with = "whole")]
    pub(super) repetitions: Option<u64>,
    #[serde(deserialize_with = "whole")]
    pub(super) threads: Option<u64>,
    pub(super) aggregate_name: Option<String>,
    pub(super) aggregate_unit: Option<String>,
    pub(super) error_occurred: bool,
    pub(super) error_message: Option<String>,
    pub(super) skipped: bool,
    pub(super) skip_message: Option<String>,
    pub(super) label: Option<String>,
    #[serde(flatten)]
    pub(super) others: Object,
}

/// Reads a number of repetitions or iterations, which old versions write as `1e+06`.
fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Whole(u64),
        Any(Number),
    }
    match Option::<Either>::deserialize(deserializer)? {
        None => Ok(None),
        Some(Either::Whole(number)) => Ok(Some(number)),
        Some(Either::Any(Number(number))) if number >= 0.0 && number.fract() == 0.0 => {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "it is whole and not negative, and too large a one saturates"
            )]
            let whole = number as u64;
            Ok(Some(whole))
        }
        Some(Either::Any(number)) => Err(D::Error::invalid_value(
            Unexpected::Float(number.0),
            &"a whole number",
        )),
    }
}

/// The endings that versions without `run_type` give to the names of aggregates.
const AGGREGATES: [&str; 4] = ["_mean", "_median", "_stddev", "_cv"];

/// Sorts the rows into groups; a row that could not be read has no title.
///
/// Returns the groups by the place of their first row.
pub(super) fn groups(titles: &[Option<GoogleTitle>]) -> Vec<(GoogleKey, GoogleGroup)> {
    let names: BTreeSet<&str> = titles
        .iter()
        .flatten()
        .filter_map(|title| title.name.as_deref())
        .collect();
    let mut places: BTreeMap<GoogleKey, usize> = BTreeMap::new();
    let mut groups: Vec<(GoogleKey, GoogleGroup)> = Vec::new();
    for (place, title) in titles.iter().enumerate() {
        let Some(title) = title else { continue };
        let (kind, key) = title.kind_and_key(&names);
        let group = *places.entry(key.clone()).or_insert_with(|| {
            groups.push((key, GoogleGroup::default()));
            groups.len() - 1
        });
        let rows = &mut groups[group].1;
        match kind {
            GoogleRowKind::Iteration => rows.iterations.push(place),
            GoogleRowKind::Aggregate => rows.aggregates.push(place),
            GoogleRowKind::Complexity => rows.complexity.push(place),
        }
    }
    for (_, group) in &mut groups {
        // Without a number the order of the document is that of the repetitions.
        group
            .iterations
            .sort_by_key(|&place| titles[place].as_ref().and_then(|it| it.repetition_index));
    }
    groups
}

impl GoogleTitle {
    /// Returns whether the row has a name.
    pub(super) fn is_named(&self) -> bool {
        self.name.is_some() || self.run_name.is_some()
    }

    fn kind_and_key(&self, names: &BTreeSet<&str>) -> (GoogleRowKind, GoogleKey) {
        let name = self.name.as_deref().or(self.run_name.as_deref());
        let name = name.unwrap_or_default();
        let base = base_of_aggregate(name, names);
        let kind = match self.run_type.as_deref() {
            _ if self.big_o.is_some() || self.rms.is_some() => GoogleRowKind::Complexity,
            Some("aggregate") => GoogleRowKind::Aggregate,
            None if self.run_name.is_none() && base.is_some() => GoogleRowKind::Aggregate,
            Some(_) | None => GoogleRowKind::Iteration,
        };
        let run_name = match (&self.run_name, kind, base) {
            (Some(run_name), _, _) => run_name,
            (None, GoogleRowKind::Aggregate, Some(base)) => base,
            (None, _, _) => name,
        };
        let key = GoogleKey {
            run_name: run_name.to_owned(),
            family: self.family_index,
            instance: self.per_family_instance_index,
        };
        (kind, key)
    }
}

/// Returns the name of the benchmark that a name with the ending of an aggregate belongs
/// to, if there is such a benchmark.
fn base_of_aggregate<'n>(name: &'n str, names: &BTreeSet<&str>) -> Option<&'n str> {
    let base = AGGREGATES.iter().find_map(|end| name.strip_suffix(end))?;
    let has = |name: String| names.contains(name.as_str());
    let of_aggregates_only = has(format!("{base}_mean")) && has(format!("{base}_stddev"));
    (names.contains(base) || of_aggregates_only).then_some(base)
}

/// Returns the statistic that a row without `aggregate_name` has in its name.
pub(super) fn statistic_in(name: &str) -> Option<&'static str> {
    AGGREGATES
        .iter()
        .find(|end| name.ends_with(*end))
        .map(|end| &end[1..])
}

/// Parts of a name that say how it was measured and not what.
const SETTINGS: [&str; 5] = [
    "iterations",
    "repeats",
    "min_time",
    "min_warmup_time",
    "threads",
];

/// Returns the parameters that stand in a name such as `BM_x/size:64/threads:4/real_time`.
///
/// Arguments without a name, as in `BM_x/64`, stay in the benchmark's id only.
pub(super) fn params_in(run_name: &str) -> Object {
    run_name
        .split('/')
        .skip(1)
        .filter_map(|part| part.split_once(':'))
        .filter(|(key, value)| {
            let is_word = key
                .chars()
                .all(|it| it.is_alphanumeric() || it == '_' || it == ' ');
            is_word && !key.is_empty() && !value.is_empty() && !value.starts_with(':')
        })
        .filter(|(key, _)| !SETTINGS.contains(key))
        .map(|(key, value)| (key.to_owned(), number_or_text(value)))
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn groups_of(rows: &Value) -> Vec<(String, usize, usize, usize)> {
        let titles: Vec<Option<GoogleTitle>> = rows
            .as_array()
            .expect("a list")
            .iter()
            .map(|row| serde_json::from_value(row.clone()).ok())
            .collect();
        groups(&titles)
            .into_iter()
            .map(|(key, group)| {
                let GoogleGroup {
                    iterations,
                    aggregates,
                    complexity,
                } = group;
                let counts = (iterations.len(), aggregates.len(), complexity.len());
                (key.run_name, counts.0, counts.1, counts.2)
            })
            .collect()
    }

    #[test]
    fn rows_of_versions_without_run_type_find_their_benchmark_by_name() {
        let rows = json!([
            {"name": "a"}, {"name": "a"}, {"name": "a_mean"}, {"name": "a_stddev"},
            {"name": "b_mean"}, {"name": "b_stddev"}, {"name": "b_median"},
            {"name": "find_mean"},
            {"name": "c_BigO", "big_o": "N"}, {"name": "c_RMS", "rms": 0.1},
        ]);
        assert_eq!(
            groups_of(&rows),
            [
                ("a".to_owned(), 2, 2, 0),
                ("b".to_owned(), 0, 3, 0),
                ("find_mean".to_owned(), 1, 0, 0),
                ("c_BigO".to_owned(), 0, 0, 1),
                ("c_RMS".to_owned(), 0, 0, 1),
            ]
        );
    }

    #[test]
    fn repetitions_are_put_in_order_across_interleaved_rows() {
        let rows = [("a", 1), ("b", 0), ("a", 0), ("b", 1)].map(|(name, index)| {
            let row = json!({"name": name, "run_name": name, "repetition_index": index});
            serde_json::from_value::<GoogleTitle>(row).ok()
        });
        let order: Vec<Vec<usize>> = groups(&rows)
            .into_iter()
            .map(|(_, group)| group.iterations)
            .collect();
        assert_eq!(order, [vec![2, 0], vec![1, 3]]);
    }

    #[test]
    fn only_named_arguments_are_parameters() {
        assert_eq!(
            Value::Object(params_in(
                "ns::BM<a::b>/size:64/8/kind:x86/iterations:9/real_time/threads:2"
            )),
            json!({"size": 64, "kind": "x86"})
        );
    }
}
