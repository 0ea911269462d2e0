//! Draws less of too much without hiding what stands out.

/// Returns the positions that are kept of a line of `values` so that at most about `limit`
/// remain: of each stretch the smallest and the largest, in their order, and both ends.
///
/// All positions remain when there are few enough. Values that are no numbers count as
/// neither smallest nor largest.
pub(crate) fn thin(values: &[f64], limit: usize) -> Vec<usize> {
    if values.len() <= limit.max(4) {
        return (0..values.len()).collect();
    }
    let stretches = (limit.max(4) / 2).max(1);
    let mut kept = Vec::with_capacity(limit + 2);
    kept.push(0);
    for stretch in 0..stretches {
        let begin = stretch * values.len() / stretches;
        let end = (stretch + 1) * values.len() / stretches;
        let numbers = || (begin..end).filter(|&at| values.get(at).is_some_and(|v| v.is_finite()));
        let by_value = |&a: &usize, &b: &usize| match (values.get(a), values.get(b)) {
            (Some(a), Some(b)) => a.total_cmp(b),
            (None, _) | (_, None) => std::cmp::Ordering::Equal,
        };
        let smallest = numbers().min_by(by_value);
        let largest = numbers().max_by(by_value);
        let mut both: Vec<usize> = smallest.into_iter().chain(largest).collect();
        both.sort_unstable();
        kept.extend(both);
    }
    kept.push(values.len() - 1);
    kept.dedup();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_are_all_kept() {
        assert_eq!(thin(&[3.0, 1.0, 2.0], 10), [0, 1, 2]);
    }

    #[test]
    fn extremes_and_ends_survive() {
        let mut values = vec![1.0; 1_000];
        values[417] = 9.0;
        values[418] = f64::NAN;
        values[731] = -9.0;
        let kept = thin(&values, 40);
        assert!(kept.len() <= 42, "{}", kept.len());
        assert!(kept.is_sorted(), "{kept:?}");
        for position in [0, 417, 731, 999] {
            assert!(kept.contains(&position), "{position} of {kept:?}");
        }
    }
}
