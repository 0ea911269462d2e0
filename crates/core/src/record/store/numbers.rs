//! Columns of numbers as JSON arrays, which come back bit for bit.

use super::StoreError;
use super::rows::json_text;

/// Returns the array of some values, `null` for NaN; nothing when all are NaN.
pub(super) fn values_text(values: &[f64]) -> Result<Option<String>, StoreError> {
    if values.iter().all(|value| value.is_nan()) {
        return Ok(None);
    }
    // The shortest text that gives the same number again.
    json_text(values).map(Some)
}

/// Reads the array of some values into `values`, NaN for `null`.
///
/// Written by hand because reading is most of what a report waits for; serde_json takes
/// about twice as long.
pub(super) fn read_values(text: &str, values: &mut [f64]) -> Result<(), StoreError> {
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
pub(super) fn whole_text(numbers: &[u32]) -> Result<String, StoreError> {
    json_text(numbers)
}

/// Returns the array of how many executions stand behind each iteration; nothing when it
/// is one each.
pub(super) fn loops_text(loops: &[u64]) -> Result<Option<String>, StoreError> {
    if loops.iter().all(|&loops| loops == 1) {
        return Ok(None);
    }
    json_text(loops).map(Some)
}

/// Returns the array of 0 and 1; nothing when all are 0.
pub(super) fn flags_text(flags: &[bool]) -> Option<String> {
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
pub(super) fn read_whole<T: std::str::FromStr>(
    text: &str,
    count: usize,
) -> Result<Vec<T>, StoreError> {
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
pub(super) fn read_flags(text: &str, count: usize) -> Result<Vec<bool>, StoreError> {
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

fn entries(text: &str) -> Result<std::str::Split<'_, char>, StoreError> {
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
#[expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
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
