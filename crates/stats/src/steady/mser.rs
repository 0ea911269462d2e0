//! A simple rule of simulation studies, to compare with.

/// Returns where MSER-5 cuts a series; `None` below ten values.
///
/// The marginal standard error rule on means of five (White, Cobb & Spratt, *Winter
/// Simulation Conference* 2000): the cut d in the first half that minimises
/// Σ_{i ≥ d} (x̄ᵢ − x̄)² / (n − d)². It knows no classes, and one outlier near the end misleads it.
pub fn mser5(values: &[f64]) -> Option<usize> {
    let means: Vec<f64> = values
        .chunks_exact(5)
        .map(|five| five.iter().sum::<f64>() / 5.0)
        .collect();
    if means.len() < 2 {
        return None;
    }
    let centre = crate::mean(&means)?;
    let (mut sum, mut squares, mut left) = (0.0, 0.0, 0.0);
    let mut best = (f64::INFINITY, 0);
    for (at, mean) in means.iter().enumerate().rev() {
        let moved = mean - centre;
        sum += moved;
        squares += moved * moved;
        left += 1.0;
        let error = (squares - sum * sum / left).max(0.0) / (left * left);
        if at <= means.len() / 2 && error <= best.0 {
            best = (error, at);
        }
    }
    Some(best.1 * 5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cut_comes_after_a_slow_start() {
        let values: Vec<f64> = (0..100)
            .map(|i| if i < 20 { 3.0 } else { 1.0 } + f64::from(i * 7 % 5) / 100.0)
            .collect();
        assert_eq!(mser5(&values), Some(20));
        assert_eq!(mser5(&values[..9]), None);
    }
}
