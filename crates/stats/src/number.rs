//! Counts as numbers.

/// Returns a count as a number.
#[expect(clippy::cast_precision_loss, reason = "no sample has 2^53 values")]
pub(crate) fn real(count: usize) -> f64 {
    count as f64
}

/// Returns the number of ways to choose `some` of `all`, as a number: exact as long as it
/// is below 2^53, else rounded.
pub(crate) fn choices(all: usize, some: usize) -> f64 {
    let some = some.min(all - some);
    // Each partial product is itself a number of choices, hence whole.
    (0..some).fold(1.0, |product, k| {
        (product * real(all - k) / real(k + 1)).round()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_those_of_pascal() {
        let row: Vec<f64> = (0..=5).map(|some| choices(5, some)).collect();
        assert_eq!(row, [1.0, 5.0, 10.0, 10.0, 5.0, 1.0]);
        // Python 3: math.comb(40, 20)
        assert_eq!(choices(40, 20), 137_846_528_820.0);
    }
}
