//! Effects of designs without replicates: which ones stand out from the others.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::number::as_f64;
use crate::{Confidence, median};

/// How large an effect must be to stand out from the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LenthMargins {
    /// The pseudo standard error of an effect.
    pub pseudo_standard_error: f64,
    /// The margin of error of one effect.
    pub margin: f64,
    /// The margin of error of all effects at once.
    pub simultaneous_margin: f64,
}

/// Returns Lenth's margins, from the effects of an orthogonal design without replicates.
///
/// s₀ = 1.5 median |c|; PSE = 1.5 median of those |c| < 2.5 s₀; margin t PSE, with t of m/3 degrees of freedom at the given confidence, simultaneous
/// margin at confidence^(1/m). Most effects have to be null: the margins take the middle of the effects for noise.
///
/// The effects all have the same standard error; `None` with fewer than three, or if most are exactly 0.
///
/// Source: Lenth, *Technometrics* 1989.
///
/// ```
/// use lapwing_stats::{Confidence, linear_model::lenth_margins};
/// let effects = [-0.2, 0.1, 12.0, 0.3, -0.1, 0.2, -0.3];
/// let margins = lenth_margins(&effects, Confidence::P95).expect("seven effects");
/// assert!(effects.iter().filter(|effect| effect.abs() > margins.margin).eq([&12.0]));
/// ```
pub fn lenth_margins(effects: &[f64], confidence: Confidence) -> Option<LenthMargins> {
    if effects.len() < 3 {
        return None;
    }
    let sizes: Vec<f64> = effects.iter().map(|effect| effect.abs()).collect();
    let first = 1.5 * median(&sizes)?;
    let small: Vec<f64> = sizes
        .into_iter()
        .filter(|size| *size < 2.5 * first)
        .collect();
    let pseudo_standard_error = 1.5 * median(&small)?;
    if !pseudo_standard_error.is_finite() || pseudo_standard_error <= 0.0 {
        return None;
    }
    let spread = StudentsT::new(0.0, 1.0, as_f64(effects.len()) / 3.0).ok()?;
    let margin = |level: f64| pseudo_standard_error * spread.inverse_cdf(0.5 + level / 2.0);
    Some(LenthMargins {
        pseudo_standard_error,
        margin: margin(confidence.level()),
        simultaneous_margin: margin(confidence.level().powf(1.0 / as_f64(effects.len()))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn margins_are_those_of_r() {
        // R 4.2.2, on the effects e below: s0 <- 1.5 * median(abs(e)); p <- 1.5 * median(abs(e)[abs(e) < 2.5 * s0])
        // c(p, p * qt(.975, 5), p * qt((1 + .95^(1 / 15)) / 2, 5))
        let effects = [
            21.625, 3.125, 9.875, 14.625, 0.125, -18.125, 16.625, 2.375, -0.375, -1.125, 1.875,
            4.125, -1.625, -2.625, 1.375,
        ];
        let margins = lenth_margins(&effects, Confidence::P95).expect("fifteen");
        crate::golden::assert_relative("PSE", margins.pseudo_standard_error, 2.625, 1e-12);
        let simultaneous = margins.simultaneous_margin;
        crate::golden::assert_relative("SME", simultaneous, 13.698959562802, 1e-10);
        crate::golden::assert_relative("ME", margins.margin, 6.74777731854532, 1e-12);
    }

    #[test]
    fn too_few_effects_or_none_at_all_have_no_margins() {
        assert_eq!(lenth_margins(&[1.0, 2.0], Confidence::P95), None);
        assert_eq!(lenth_margins(&[0.0, 0.0, 0.0, 1.0], Confidence::P95), None);
    }
}
