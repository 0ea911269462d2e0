//! Tails of Student's t as logarithms, so that they can be compared where the probabilities themselves are too small
//! for a number.

use statrs::distribution::{Continuous, ContinuousCDF, StudentsT};
use statrs::function::beta::ln_beta;

/// Below this logarithm of a probability its series is summed instead.
const SMALLEST: f64 = -600.0;
/// Terms below this share of the sum are left out.
const PRECISION: f64 = 1e-16;

/// Returns ln P(T ≥ t) for t ≥ 0 with these degrees of freedom; `None` unless they are positive and finite.
///
/// With x = ν/(ν + t²) this is ln ½ Iₓ(ν/2, ½), whose series in x (DLMF 8.17.7) has positive terms.
pub(crate) fn log_t_tail(t: f64, freedom: f64) -> Option<f64> {
    if !freedom.is_finite() || freedom <= 0.0 {
        return None;
    }
    let by_distribution = StudentsT::new(0.0, 1.0, freedom).ok()?.sf(t).ln();
    if by_distribution > SMALLEST {
        return Some(by_distribution);
    }
    let a = freedom / 2.0;
    let log_x = -(t * t / freedom).ln_1p();
    let x = log_x.exp();
    let (mut sum, mut coefficient, mut n) = (0.0, 1.0, 0.0);
    loop {
        let term = coefficient / (a + n);
        sum += term;
        if term < PRECISION * sum {
            break;
        }
        coefficient *= x * (n + 0.5) / (n + 1.0);
        n += 1.0;
    }
    Some(a * log_x - ln_beta(a, 0.5) + sum.ln() - std::f64::consts::LN_2)
}

/// Returns the t ≥ 0 that has the same tail probability with other degrees of freedom.
pub(crate) fn same_quantile(t: f64, freedom: f64, other: f64) -> f64 {
    if freedom.to_bits() == other.to_bits() || t <= 0.0 {
        return t;
    }
    let (Some(wanted), Ok(distribution)) =
        (log_t_tail(t, freedom), StudentsT::new(0.0, 1.0, other))
    else {
        return t;
    };
    // Newton's method for ln t: the logarithm of the tail is concave in it, so that from the second step on the root
    // is approached from one side.
    let mut log_t = t.ln();
    for _ in 0..100 {
        let now = log_t.exp();
        let Some(tail) = log_t_tail(now, other) else {
            return t;
        };
        let slope = (distribution.ln_pdf(now) - tail + log_t).exp();
        let step = ((tail - wanted) / slope).clamp(-3.0, 3.0);
        log_t += step;
        if step.abs() < 1e-13 {
            break;
        }
    }
    log_t.exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden::assert_relative;

    #[test]
    fn tails_are_those_of_scipy() {
        // mpmath 1.4.1: log(betainc(freedom/2, 1/2, 0, freedom/(freedom + t**2), regularized=True)/2); all but the
        // two last are those of scipy 1.17.1's stats.t.logsf(t, freedom), which underflows there
        for (t, freedom, expected) in TAILS {
            let tail = log_t_tail(t, freedom).expect("positive");
            assert_relative("tail", tail, expected, 1e-10);
        }
        assert_eq!(log_t_tail(1.0, 0.0), None);
    }

    #[test]
    fn quantiles_go_there_and_back() {
        for (t, freedom) in [
            (0.01, 3.0),
            (3.0, 4.0),
            (40.0, 9.5),
            (1e9, 38.2),
            (1e9, 4.0),
        ] {
            for other in [2.0, 4.5, 39.0, 600.0] {
                let there = same_quantile(t, freedom, other);
                assert_relative("t", same_quantile(there, other, freedom), t, 1e-9);
            }
        }
    }

    // scipy 1.17.1: -stats.t.ppf(stats.t.sf(3.0, 4), 9)
    const SAME_QUANTILE: f64 = 2.399_326_502_434_232_3;

    #[test]
    fn the_quantile_is_that_of_scipy() {
        assert_relative("t", same_quantile(3.0, 4.0, 9.0), SAME_QUANTILE, 1e-9);
    }

    const TAILS: [(f64, f64, f64); 9] = [
        (0.5, 3.0, -1.121_704_935_931_867_6),
        (2.0, 4.0, -2.846_308_259_545_369),
        (6.0, 12.5, -10.549_549_040_617_889),
        (30.0, 2.3, -8.308_359_833_360_728),
        (1000.0, 40.0, -205.303_030_623_493_3),
        (5.0, 1000.0, -14.899_147_090_450_735),
        (40.0, 600.0, -393.744_110_361_098_5),
        (1e9, 38.2, -724.797_496_669_917_4),
        (1e5, 2000.0, -15_429.668_185_061_425),
    ];
}
