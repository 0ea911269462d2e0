//! Unintended differences between the environments of two sides.

use lapwing_analyse::judge::UnintendedDifference;
use lapwing_model::text::first_names;

/// More differences than this are a number.
const NAMED: usize = 6;

/// Returns a note on what differs between the environments of two sides besides what their variants ask for.
pub fn environment_note(
    [baseline, candidate]: [&str; 2],
    differences: &[UnintendedDifference],
) -> Option<String> {
    let texts = differences.iter().map(|difference| {
        let [before, after] = difference.values.each_ref().map(|values| {
            if values.is_empty() {
                "none".to_owned()
            } else {
                first_names(values, 2)
            }
        });
        let key = &difference.key;
        let key = key.strip_prefix("packages.").unwrap_or(key);
        format!("{key} {before} → {after}")
    });
    (!differences.is_empty()).then(|| {
        format!(
            "{candidate} differs from {baseline} in more than was asked for: {}",
            first_names(texts, NAMED)
        )
    })
}
