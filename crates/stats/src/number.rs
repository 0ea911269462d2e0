//! Counts as numbers.

/// A count: an unsigned integer.
pub trait Count: Copy {
    /// Returns the count as a number.
    fn as_f64(self) -> f64;
}

macro_rules! counts {
    ($($integer:ty),*) => {$(
        impl Count for $integer {
            #[expect(clippy::cast_precision_loss, reason = "counts above 2^53 are rounded")]
            fn as_f64(self) -> f64 {
                self as f64
            }
        }
    )*};
}

counts!(usize, u64, u128);

/// Returns a count as a number; from 2^53 on it is rounded to the nearest one.
///
/// ```
/// assert_eq!(lapwing_stats::as_f64(3_usize), 3.0);
/// ```
pub fn as_f64(count: impl Count) -> f64 {
    count.as_f64()
}

/// Returns the number of ways to choose `some` of `all`, as a number: exact as long as it
/// is below 2^53, else rounded.
pub(crate) fn choices(all: usize, some: usize) -> f64 {
    let some = some.min(all - some);
    // Each partial product is itself a number of choices, hence whole.
    (0..some).fold(1.0, |product, k| {
        (product * as_f64(all - k) / as_f64(k + 1)).round()
    })
}

/// Returns the fewest, from `least` to `most`, that are enough, if more than enough is enough too; `None` if not even
/// `most` is.
pub(crate) fn fewest(
    least: usize,
    most: usize,
    is_enough: impl Fn(usize) -> bool,
) -> Option<usize> {
    let (mut few, mut many) = (least - 1, least);
    while !is_enough(many) {
        if many >= most {
            return None;
        }
        (few, many) = (many, (2 * many).min(most));
    }
    while many - few > 1 {
        let middle = few.midpoint(many);
        if is_enough(middle) {
            many = middle;
        } else {
            few = middle;
        }
    }
    Some(many)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fewest_that_are_enough_are_found() {
        for wanted in 1..=20 {
            let expected = (wanted <= 17).then_some(wanted.max(3));
            assert_eq!(fewest(3, 17, |number| number >= wanted), expected);
        }
    }

    #[test]
    fn choices_are_those_of_pascal() {
        let row: Vec<f64> = (0..=5).map(|some| choices(5, some)).collect();
        assert_eq!(row, [1.0, 5.0, 10.0, 10.0, 5.0, 1.0]);
        // Python 3: math.comb(40, 20)
        assert_eq!(choices(40, 20), 137_846_528_820.0);
    }
}
