//! pytest-benchmark's document, as it stands there.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::BadLine;
use crate::shared::reading::document::Document;
use crate::shared::reading::number::{NumberVisitor, known, plain_column};
use lapwing_model::Object;

/// The whole document.
#[derive(serde::Deserialize)]
pub(super) struct PytestDocument<'d> {
    pub(super) machine_info: Option<Object>,
    pub(super) commit_info: Option<Object>,
    #[serde(borrow)]
    pub(super) benchmarks: Vec<&'d RawValue>,
    pub(super) datetime: Option<String>,
    pub(super) version: Option<String>,
    #[serde(flatten)]
    pub(super) others: Object,
}

/// What one benchmark gave.
#[derive(serde::Deserialize)]
pub(super) struct PytestEntry<'d> {
    pub(super) name: Option<String>,
    pub(super) fullname: Option<String>,
    pub(super) group: Option<Value>,
    pub(super) params: Option<Object>,
    pub(super) param: Option<Value>,
    pub(super) extra_info: Option<Object>,
    pub(super) options: Option<Object>,
    #[serde(borrow)]
    pub(super) stats: PytestStats<'d>,
    #[serde(flatten)]
    pub(super) others: Object,
}

/// Its statistics, with the rounds where they were saved.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct PytestStats<'d> {
    #[serde(borrow)]
    pub(super) data: Option<&'d RawValue>,
    pub(super) rounds: Option<u64>,
    pub(super) iterations: Option<u64>,
    #[serde(deserialize_with = "known")]
    pub(super) mean: Option<f64>,
    #[serde(deserialize_with = "known")]
    pub(super) stddev: Option<f64>,
    #[serde(deserialize_with = "known")]
    pub(super) median: Option<f64>,
    #[serde(deserialize_with = "known")]
    pub(super) iqr: Option<f64>,
    #[serde(flatten)]
    pub(super) others: Object,
}

/// The error of a list with texts besides a remark at its end.
const MIXED: &str = "invalid type: a text among numbers, expected a number";

/// The rounds, as far as the list has them.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Rounds {
    /// Their values.
    pub(super) values: Vec<f64>,
    /// Whether the last entry is a remark in the place of further values.
    pub(super) cut_short: bool,
}

impl Rounds {
    /// Reads the list, where there is one.
    pub(super) fn of(document: &Document, data: Option<&RawValue>) -> Result<Self, BadLine> {
        let Some(raw) = data else {
            return Ok(Self::default());
        };
        match plain_column(raw) {
            Some(values) => Ok(Self {
                values,
                cut_short: false,
            }),
            None => document.value("stats.data", raw).map_err(|bad| {
                // The list as a whole is wrong then.
                match bad.reason.split_once("`: ") {
                    Some((_, rest)) if rest.starts_with(MIXED) => BadLine {
                        reason: format!("`stats.data`: {rest}"),
                        ..bad
                    },
                    Some(_) | None => bad,
                }
            }),
        }
    }
}

impl<'de> Deserialize<'de> for Rounds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = Rounds;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a list of numbers")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Rounds, A::Error> {
                let mut rounds = Rounds::default();
                while let Some(Round(value)) = list.next_element()? {
                    match value {
                        Some(value) if !rounds.cut_short => rounds.values.push(value),
                        None if !rounds.values.is_empty() && !rounds.cut_short => {
                            rounds.cut_short = true;
                        }
                        Some(_) | None => {
                            return Err(A::Error::custom(MIXED));
                        }
                    }
                }
                Ok(rounds)
            }

            fn visit_unit<E: Error>(self) -> Result<Rounds, E> {
                Ok(Rounds::default())
            }
        }
        deserializer.deserialize_any(List)
    }
}

/// An entry of the list of rounds: a number, or a remark.
struct Round(Option<f64>);

impl<'de> Deserialize<'de> for Round {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let visitor = NumberVisitor { or_text: true };
        deserializer.deserialize_any(visitor).map(Round)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remark_at_the_end_of_the_rounds_says_that_they_are_cut_short() {
        let rounds: Rounds = serde_json::from_str(r#"[1, 2.5, "…"]"#).expect("a list");
        assert_eq!(
            rounds,
            Rounds {
                values: vec![1.0, 2.5],
                cut_short: true
            }
        );
        for text in [r#"["1"]"#, r#"[1, "2", 3]"#, r#"[1, "2", "3"]"#] {
            serde_json::from_str::<Rounds>(text).expect_err("a text among numbers");
        }
    }
}
