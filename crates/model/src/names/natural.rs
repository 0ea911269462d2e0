use std::cmp::Ordering;

/// Compares texts as people count: `test[2]` stands before `test[10]`.
///
/// Digits that stand together are compared as one whole number, anything else character by
/// character. Equal numbers with more zeros in front come later, so that only equal texts are
/// equal, and texts that begin alike up to something that is no digit stay together.
///
/// ```
/// use lapwing_model::natural_order;
///
/// let mut names = ["test[10]", "test[1]", "test[2]", "test[02]"];
/// names.sort_by(|one, other| natural_order(one, other));
/// assert_eq!(names, ["test[1]", "test[2]", "test[02]", "test[10]"]);
/// ```
pub fn natural_order(one: &str, other: &str) -> Ordering {
    let (mut one, mut other) = (one, other);
    loop {
        let (digits, others) = (leading_digits(one), leading_digits(other));
        let order = if digits.is_empty() || others.is_empty() {
            let (mut left, mut right) = (one.chars(), other.chars());
            let (first, second) = (left.next(), right.next());
            if first.is_none() && second.is_none() {
                return Ordering::Equal;
            }
            (one, other) = (left.as_str(), right.as_str());
            first.cmp(&second)
        } else {
            (one, other) = (&one[digits.len()..], &other[others.len()..]);
            as_numbers(digits, others)
        };
        if order.is_ne() {
            return order;
        }
    }
}

fn leading_digits(text: &str) -> &str {
    let end = text.find(|it: char| !it.is_ascii_digit());
    &text[..end.unwrap_or(text.len())]
}

/// Compares whole numbers of any length.
fn as_numbers(one: &str, other: &str) -> Ordering {
    let value = |digits: &str| digits.trim_start_matches('0').to_owned();
    let (left, right) = (value(one), value(other));
    (left.len(), left, one.len()).cmp(&(right.len(), right, other.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_within_names_are_counted() {
        let mut names = [
            "b[10-2]",
            "b[10-10]",
            "b[1-a]",
            "b[2]",
            "b",
            "a-1.10",
            "a-1.9",
            "10",
            "9",
            "b[99999999999999999999999]",
            "b[100000000000000000000000]",
            "é2",
            "é11",
            "",
        ];
        names.sort_by(|one, other| natural_order(one, other));
        assert_eq!(
            names,
            [
                "",
                "9",
                "10",
                "a-1.9",
                "a-1.10",
                "b",
                "b[1-a]",
                "b[2]",
                "b[10-2]",
                "b[10-10]",
                "b[99999999999999999999999]",
                "b[100000000000000000000000]",
                "é2",
                "é11",
            ]
        );
    }

    #[test]
    fn parametrisations_of_a_test_stay_together_whatever_zeros_its_name_has() {
        let mut names = ["t1[1]", "t01[2]", "t1[3]", "t01[0]"];
        names.sort_by(|one, other| natural_order(one, other));
        assert_eq!(names, ["t1[1]", "t1[3]", "t01[0]", "t01[2]"]);
    }

    #[test]
    fn only_equal_texts_are_equal() {
        assert_eq!(natural_order("a01b", "a1b"), Ordering::Greater);
        assert_eq!(natural_order("a0", "a00"), Ordering::Less);
        assert_eq!(natural_order("x10y", "x10y"), Ordering::Equal);
    }
}
