//! Columns of numbers as JSON arrays, which come back bit for bit.

use std::ops::Range;

use super::super::reading::rows::json_text;
use super::super::{StoreError, StoreResult};

/// Returns the array of some values, `null` for NaN; nothing when all are NaN.
pub(crate) fn values_text(values: &[f64]) -> StoreResult<Option<String>> {
    if values.iter().all(|value| value.is_nan()) {
        return Ok(None);
    }
    // The shortest text that gives the same number again.
    json_text(values).map(Some)
}

/// Values as text, of which any part can be had as an array.
#[derive(Debug)]
pub(crate) struct ValuesText {
    /// The entries, each followed by a comma.
    text: String,
    /// Where each ends, its comma included.
    ends: Vec<usize>,
}

impl ValuesText {
    /// Returns the text of some values, `null` for NaN.
    pub(crate) fn of(values: &[f64]) -> StoreResult<Self> {
        const USUAL_LENGTH: usize = 20;
        let mut text = Vec::with_capacity(values.len() * USUAL_LENGTH);
        let mut ends = Vec::with_capacity(values.len());
        for value in values {
            serde_json::to_writer(&mut text, value)
                .map_err(|error| StoreError::damaged(error.to_string()))?;
            text.push(b',');
            ends.push(text.len());
        }
        let text =
            String::from_utf8(text).map_err(|error| StoreError::damaged(error.to_string()))?;
        Ok(Self { text, ends })
    }

    /// Returns the end of the longest part that begins at `from`, has an entry at least,
    /// and is not longer than `bytes` if it can be.
    pub(crate) fn reach(&self, from: usize, bytes: usize) -> usize {
        let start = self.start(from);
        let rest = self.ends.get(from..).unwrap_or_default();
        from + rest.partition_point(|end| end - start <= bytes).max(1)
    }

    /// Returns the array of a part, which must have an entry.
    pub(crate) fn array(&self, part: &Range<usize>) -> String {
        let (start, end) = (self.start(part.start), self.start(part.end));
        let entries = self.text.get(start..end.saturating_sub(1));
        format!("[{}]", entries.unwrap_or_default())
    }

    fn start(&self, place: usize) -> usize {
        match place.checked_sub(1) {
            None => 0,
            Some(before) => self.ends.get(before).copied().unwrap_or(self.text.len()),
        }
    }
}

/// Reads the array of some values into `values`, NaN for `null`.
///
/// Written by hand because reading is most of what a report waits for; serde_json takes
/// about twice as long.
pub(crate) fn read_values(text: &str, values: &mut [f64]) -> StoreResult<()> {
    let mut entries = entries(text)?;
    for value in &mut *values {
        let entry = entries.next().ok_or_else(|| too_few(text))?;
        *value = match entry.trim_ascii() {
            "null" => f64::NAN,
            number => match number.parse() {
                Ok(finite) if f64::is_finite(finite) => finite,
                Ok(_) | Err(_) => {
                    return Err(StoreError::damaged(format!(
                        "`{number}` stands where a number should"
                    )));
                }
            },
        };
    }
    match entries.next() {
        None => Ok(()),
        Some(_) => Err(StoreError::damaged(format!(
            "an array has more than {} entries: {}",
            values.len(),
            beginning(text)
        ))),
    }
}

/// Returns the array of some whole numbers.
pub(crate) fn whole_text(numbers: &[u32]) -> StoreResult<String> {
    json_text(numbers)
}

/// Returns the array of the executions per iteration; nothing when all are 1.
pub(crate) fn loops_text(loops: &[u64]) -> StoreResult<Option<String>> {
    if loops.iter().all(|&loops| loops == 1) {
        return Ok(None);
    }
    json_text(loops).map(Some)
}

/// Returns the array of 0 and 1; nothing when all are 0.
pub(crate) fn flags_text(flags: &[bool]) -> Option<String> {
    if !flags.contains(&true) {
        return None;
    }
    let mut text = String::with_capacity(2 * flags.len() + 1);
    for &flag in flags {
        text.push(if text.is_empty() { '[' } else { ',' });
        text.push(if flag { '1' } else { '0' });
    }
    text.push(']');
    Some(text)
}

/// Returns the whole numbers of an array that should have `count`.
pub(crate) fn read_whole<T: std::str::FromStr>(text: &str, count: usize) -> StoreResult<Vec<T>> {
    let mut numbers = Vec::with_capacity(count);
    for entry in entries(text)? {
        let number = entry.trim_ascii().parse();
        numbers.push(number.ok().ok_or_else(|| {
            StoreError::damaged(format!("`{entry}` stands where a whole number should"))
        })?);
    }
    if numbers.len() != count {
        return Err(StoreError::damaged(format!(
            "an array has {} entries in place of {count}: {}",
            numbers.len(),
            beginning(text)
        )));
    }
    Ok(numbers)
}

/// Returns the 0 and 1 of an array that should have `count`.
pub(crate) fn read_flags(text: &str, count: usize) -> StoreResult<Vec<bool>> {
    read_whole::<u8>(text, count)?
        .into_iter()
        .map(|flag| match flag {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(StoreError::damaged(format!(
                "`{other}` stands where 0 or 1 should"
            ))),
        })
        .collect()
}

fn entries(text: &str) -> StoreResult<std::str::Split<'_, char>> {
    text.strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .map(|inner| inner.split(','))
        .ok_or_else(|| StoreError::damaged(format!("no array: {}", beginning(text))))
}

fn too_few(text: &str) -> StoreError {
    StoreError::damaged(format!("an array has too few entries: {}", beginning(text)))
}

fn beginning(text: &str) -> String {
    const LONGEST: usize = 40;
    text.chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_array_says_null_where_nothing_is_known() {
        assert_eq!(
            values_text(&[0.1, f64::NAN, 3.0, -0.0, 5e-324]).unwrap(),
            Some("[0.1,null,3.0,-0.0,5e-324]".to_owned())
        );
        assert_eq!(values_text(&[f64::NAN, f64::NAN]).unwrap(), None);
        assert_eq!(flags_text(&[false, true]), Some("[0,1]".to_owned()));
        assert_eq!(flags_text(&[false, false]), None);
    }

    #[test]
    fn any_part_of_a_text_of_values_is_an_array() {
        let text = ValuesText::of(&[0.5, f64::NAN, 3.0, 1e-7]).unwrap();
        assert_eq!(text.array(&(0..4)), "[0.5,null,3.0,1e-7]");
        assert_eq!(text.array(&(1..3)), "[null,3.0]");
        assert_eq!((text.reach(0, 9), text.reach(0, 8)), (2, 1));
        assert_eq!((text.reach(1, 0), text.reach(2, 1_000)), (2, 4));
    }

    #[test]
    fn what_is_no_array_of_the_right_length_is_refused_with_the_reason() {
        let problem = |text: &str| read_values(text, &mut [0.0; 2]).unwrap_err().to_string();
        assert!(problem("1,2").ends_with("no array: 1,2"));
        assert!(problem("[1]").ends_with("an array has too few entries: [1]"));
        assert!(problem("[1,2,3]").ends_with("an array has more than 2 entries: [1,2,3]"));
        assert!(problem("[1,x]").ends_with("`x` stands where a number should"));
        assert!(problem("[1,inf]").ends_with("`inf` stands where a number should"));
        assert!(read_whole::<u32>("[1,-2]", 2).is_err());
        assert!(read_whole::<u32>("[1]", 2).is_err());
        assert!(read_flags("[0,2]", 2).is_err());
    }

    proptest! {
        #[test]
        fn numbers_come_back_bit_for_bit(
            numbers in prop::collection::vec(any::<f64>(), 1..40)
        ) {
            let finite: Vec<f64> = numbers
                .into_iter()
                .map(|number| if number.is_finite() { number } else { f64::NAN })
                .collect();
            let mut back = vec![0.0; finite.len()];
            if let Some(text) = values_text(&finite).unwrap() {
                read_values(&text, &mut back).unwrap();
                let bits = |numbers: &[f64]| -> Vec<Option<u64>> {
                    numbers
                        .iter()
                        .map(|number| (!number.is_nan()).then(|| number.to_bits()))
                        .collect()
                };
                prop_assert_eq!(bits(&back), bits(&finite));
            }
        }

        #[test]
        fn loops_come_back(loops in prop::collection::vec(any::<u64>(), 1..40)) {
            if let Some(text) = loops_text(&loops).unwrap() {
                prop_assert_eq!(read_whole::<u64>(&text, loops.len()).unwrap(), loops);
            }
        }
    }
}
