//! Integrals of smooth functions, by the rule of Gauss and Legendre.

use std::sync::LazyLock;

use crate::number::as_f64;

/// A rule on [−1, 1]: its nodes with their weights.
pub(super) struct QuadratureRule(Vec<(f64, f64)>);

/// Enough for what is smooth up to its ends: 1e-12 for the integrands of this folder.
pub(super) static SHORT: LazyLock<QuadratureRule> = LazyLock::new(|| QuadratureRule::new(40));

/// For what has a fractional power at an end, after [`QuadratureRule::points_from_zero`] has smoothed it.
pub(super) static LONG: LazyLock<QuadratureRule> = LazyLock::new(|| QuadratureRule::new(64));

impl QuadratureRule {
    /// Newton's method on the Legendre polynomial, from the cosines that its roots are close to.
    fn new(nodes: usize) -> Self {
        let order = as_f64(nodes);
        let node = |index: usize| {
            let mut x = (std::f64::consts::PI * (as_f64(index) + 0.75) / (order + 0.5)).cos();
            let mut slope = 0.0;
            for _ in 0..8 {
                let (mut last, mut value) = (1.0, x);
                for k in 2..=nodes {
                    let k = as_f64(k);
                    (last, value) = (value, ((2.0 * k - 1.0) * x * value - (k - 1.0) * last) / k);
                }
                slope = order * (x * value - last) / (x * x - 1.0);
                x -= value / slope;
            }
            (x, 2.0 / ((1.0 - x * x) * slope * slope))
        };
        Self((0..nodes).map(node).collect())
    }

    /// Returns the points between `a` and `b` with their weights; none unless a < b.
    pub(super) fn points(&self, a: f64, b: f64) -> impl Iterator<Item = (f64, f64)> {
        let (centre, half) = (0.5 * (a + b), 0.5 * (b - a));
        let nodes = if a < b { self.0.as_slice() } else { &[] };
        nodes
            .iter()
            .map(move |(x, weight)| (centre + half * x, half * weight))
    }

    /// The same over u = v⁴, for 0 ≤ a and what begins at 0 with a fractional power of u.
    pub(super) fn points_from_zero(&self, a: f64, b: f64) -> impl Iterator<Item = (f64, f64)> {
        let root = |u: f64| u.sqrt().sqrt();
        self.points(root(a), root(b)).map(|(v, weight)| {
            let cube = v * v * v;
            (cube * v, 4.0 * cube * weight)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn integral(points: impl Iterator<Item = (f64, f64)>, f: impl Fn(f64) -> f64) -> f64 {
        points.map(|(x, weight)| weight * f(x)).sum()
    }

    #[test]
    fn polynomials_and_exponentials_are_integrated_exactly() {
        for rule in [&SHORT, &LONG] {
            let ninth = integral(rule.points(0.0, 2.0), |x| 10.0 * x.powi(9));
            assert!((ninth / 1024.0 - 1.0).abs() < 1e-13, "{ninth}");
            let exponential = integral(rule.points(-1.0, 3.0), f64::exp);
            let expected = 3.0_f64.exp() - (-1.0_f64).exp();
            assert!((exponential / expected - 1.0).abs() < 1e-13);
            assert_eq!(rule.points(1.0, 1.0).count(), 0);
            assert_eq!(rule.points(2.0, 1.0).count(), 0);
        }
    }

    #[test]
    fn a_root_at_zero_is_no_hindrance() {
        let root = integral(LONG.points_from_zero(0.0, 1.0), f64::sqrt);
        assert!((root - 2.0 / 3.0).abs() < 1e-13, "{root}");
    }
}
