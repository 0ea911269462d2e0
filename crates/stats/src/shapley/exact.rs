//! Shapley values from the value of every set.

use crate::as_f64;
use crate::number::choices;

/// Returns k if the values are those of all 2^k sets.
fn players(values: &[f64]) -> Option<usize> {
    (values.len().is_power_of_two() && values.iter().all(|value| value.is_finite()))
        .then(|| values.len().trailing_zeros() as usize)
}

/// Returns the Shapley value of each of k factors, from the values of all 2^k sets: `values[set]`, bit i of `set` for
/// factor i.
///
/// φᵢ = Σ_{S∌i} |S|! (k − |S| − 1)! / k! [v(S ∪ i) − v(S)], the mean over all orders of what factor i changes when it
/// is added; Σ φ = v(all) − v(∅). On logarithms e^φ are factors that multiply to the whole ratio. O(k 2^k).
///
/// `None` unless there are 2^k finite values.
///
/// Source: Shapley, *Contributions to the Theory of Games* II, 1953.
///
/// ```
/// // Two log options save the same cost, whichever comes first: each is responsible for half.
/// let values = [1182.0, 600.0, 600.0, 600.0];
/// assert_eq!(lapwing_stats::shapley::shapley_values(&values), Some(vec![-291.0, -291.0]));
/// ```
pub fn shapley_values(values: &[f64]) -> Option<Vec<f64>> {
    let factors = players(values)?;
    // With weights of sets of size s as 1 / (k C(k − 1, s)), φ = Σ over S∋i of w(|S| − 1) v(S) − Σ over S∌i of w(|S|)
    // v(S).
    let weight = |size: usize| 1.0 / (as_f64(factors) * choices(factors - 1, size));
    let weights: Vec<f64> = (0..factors).map(weight).collect();
    let share = |factor: usize| {
        let bit = 1_usize << factor;
        let mut sums = vec![0.0; factors];
        for (block, below) in values.chunks_exact(2 * bit).enumerate() {
            let (without, with) = below.split_at(bit);
            let above = (block << (factor + 1)).count_ones() as usize;
            for (low, (before, after)) in without.iter().zip(with).enumerate() {
                sums[above + low.count_ones() as usize] += after - before;
            }
        }
        sums.iter()
            .zip(&weights)
            .map(|(sum, weight)| sum * weight)
            .sum()
    };
    Some((0..factors).map(share).collect())
}
