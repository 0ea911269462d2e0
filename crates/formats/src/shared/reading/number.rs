//! Measured numbers as documents have them: also `null`, and words for what is no number.

use std::fmt;

use lapwing_stats::as_f64;
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// A number of a document; NaN for `null`, `NaN` and the infinities, written as words,
/// bare or in quotes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Number(pub(crate) f64);

impl Number {
    /// Returns the number, where there is one.
    pub(crate) fn known(self) -> Option<f64> {
        (!self.0.is_nan()).then_some(self.0)
    }
}

impl Default for Number {
    fn default() -> Self {
        Self(f64::NAN)
    }
}

/// Reads a list of numbers as a column.
pub(crate) fn column<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
    struct Column;
    impl<'de> Visitor<'de> for Column {
        type Value = Vec<f64>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("a list of numbers")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<f64>, A::Error> {
            let mut column = Vec::with_capacity(list.size_hint().unwrap_or(0).min(1 << 16));
            while let Some(Number(value)) = list.next_element()? {
                column.push(value);
            }
            Ok(column)
        }

        fn visit_unit<E: Error>(self) -> Result<Vec<f64>, E> {
            Ok(Vec::new())
        }
    }
    deserializer.deserialize_any(Column)
}

/// Returns the numbers of a list, where it holds nothing else; the quick way for long lists.
///
/// That the text is JSON is known; what remains is to find the numbers and to read them,
/// which the standard library does several times as fast as serde, and to the last digit too.
pub(crate) fn plain_column(list: &RawValue) -> Option<Vec<f64>> {
    let inner = list.get().strip_prefix('[')?.strip_suffix(']')?;
    let is_part =
        |byte: u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E');
    let bytes = inner.as_bytes();
    let mut column = Vec::with_capacity(bytes.len() / 20);
    let mut at = 0;
    loop {
        while bytes
            .get(at)
            .is_some_and(|&byte| matches!(byte, b' ' | b',' | b'\n' | b'\r' | b'\t'))
        {
            at += 1;
        }
        if at == bytes.len() {
            return Some(column);
        }
        let begin = at;
        while bytes.get(at).is_some_and(|&byte| is_part(byte)) {
            at += 1;
        }
        let value: f64 = inner.get(begin..at)?.parse().ok()?;
        // Too large for a number: serde says so.
        column.push(Some(value).filter(|it| it.is_finite())?);
    }
}

/// Reads a number, or nothing where it is not known.
pub(crate) fn known<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    Number::deserialize(deserializer).map(Number::known)
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = deserializer.deserialize_any(NumberVisitor { or_text: false })?;
        Ok(number.map_or_else(Self::default, Self))
    }
}

/// Reads a number: NaN for what is not known, nothing for a text where one may stand.
pub(crate) struct NumberVisitor {
    /// Whether a text is allowed in its place.
    pub(crate) or_text: bool,
}

impl Visitor<'_> for NumberVisitor {
    type Value = Option<f64>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a number")
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Option<f64>, E> {
        Ok(Some(number))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Option<f64>, E> {
        Ok(Some(as_f64(number)))
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "a quantity above 2^53 is rounded"
    )]
    fn visit_i64<E: Error>(self, number: i64) -> Result<Option<f64>, E> {
        Ok(Some(number as f64))
    }

    fn visit_unit<E: Error>(self) -> Result<Option<f64>, E> {
        Ok(Some(f64::NAN))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Option<f64>, E> {
        if is_no_number_word(text) {
            Ok(Some(f64::NAN))
        } else if self.or_text {
            Ok(None)
        } else {
            Err(E::invalid_type(serde::de::Unexpected::Str(text), &self))
        }
    }
}

/// Returns whether a text is a word for what is no finite number.
pub(crate) fn is_no_number_word(text: &str) -> bool {
    let word = text.strip_prefix(['+', '-']).unwrap_or(text);
    ["nan", "inf", "infinity"]
        .iter()
        .any(|known| word.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    struct Row {
        #[serde(deserialize_with = "column")]
        values: Vec<f64>,
        #[serde(default, deserialize_with = "known")]
        mean: Option<f64>,
    }

    #[test]
    fn what_is_no_number_is_missing() {
        let text = r#"{"values": [1, 2.5, null, "NaN", "-INF", "+inf", -3], "mean": "Infinity"}"#;
        let row: Row = serde_json::from_str(text).expect("JSON");
        let known: Vec<Option<f64>> = row.values.iter().map(|&it| Number(it).known()).collect();
        assert_eq!(
            known,
            [Some(1.0), Some(2.5), None, None, None, None, Some(-3.0)]
        );
        assert_eq!(row.mean, None);
    }

    #[test]
    fn the_quick_way_reads_the_same_numbers_or_none() {
        let quick = |text: &str| {
            let list: &RawValue = serde_json::from_str(text).expect("JSON");
            plain_column(list)
        };
        let text = "[1, -2.5e-3,\n 0.1,1E5 ,-0.0, 5e-324, 0.30000000000000004]";
        let slow: Vec<f64> = serde_json::from_str(text).expect("JSON");
        let bits = |values: &[f64]| values.iter().map(|it| it.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&quick(text).expect("numbers")), bits(&slow));
        assert_eq!(quick("[ ]"), Some(Vec::new()));
        for other in [
            "[1, null]",
            "[\"1\"]",
            "[[1]]",
            "null",
            "1",
            "[1e999]",
            "[true]",
        ] {
            assert_eq!(quick(other), None, "{other}");
        }
    }

    #[test]
    fn a_text_is_no_number() {
        let error = serde_json::from_str::<Number>("\"1,52\"").expect_err("a text");
        assert!(error.to_string().contains("expected a number"), "{error}");
    }
}
