//! Whether an effect depends on how slow the run is without it, and where it changes its sign.

use super::Delta;
use crate::describe::squares_around;
use crate::interval::t_p_value;
use crate::{Confidence, FiellerInterval, Interval, as_f64, mean};

/// How a delta depends on the level of the two values it comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EffectCrossover {
    /// The change of the delta per unit of the level, (before + after) / 2: negative when it helps slow runs more.
    pub slope: f64,
    /// The interval of the slope.
    pub slope_interval: Interval,
    /// The p-value of "the delta does not depend on the level".
    pub p_value: f64,
    /// The level at which the fitted delta is 0.
    pub level: f64,
    /// All levels at which it may be 0; unbounded when the slope may be 0.
    pub level_interval: FiellerInterval,
    /// Whether the crossover is among the levels that were measured.
    pub is_measured: bool,
}

/// Returns how the deltas of one factor depend on the level of the run, from one delta per pair of sets.
///
/// A straight line of after − before on (before + after) / 2. On *before* alone the slope would be negative by noise,
/// even without an effect: a run that happens to be slow is followed by a faster one (regression to the mean). With
/// equal noise on both sides the mean of the two has no such bias (Pitman, Morgan; Bland & Altman).
///
/// The interval of the crossover −a / b is Fieller's: all levels at which |a + b x| is at most t standard errors.
/// `None` with fewer than three deltas, or equal levels, or without any spread around the line.
///
/// Source: Bland & Altman, *Lancet* 1986; Fieller, *JRSS B* 1954.
pub fn effect_crossover(deltas: &[Delta], confidence: Confidence) -> Option<EffectCrossover> {
    let levels: Vec<f64> = deltas
        .iter()
        .map(|delta| 0.5 * (delta.before + delta.after))
        .collect();
    let changes: Vec<f64> = deltas.iter().map(Delta::change).collect();
    let (level, change) = (mean(&levels)?, mean(&changes)?);
    let freedom = as_f64(deltas.len()) - 2.0;
    let quantile = confidence.t_quantile(freedom)?;
    let squares = squares_around(&levels, level);
    let pairs = levels.iter().zip(&changes);
    let cross: f64 = pairs.clone().map(|(x, y)| (x - level) * (y - change)).sum();
    let slope = cross / squares;
    let rest: f64 = pairs
        .map(|(x, y)| (y - change - slope * (x - level)).powi(2))
        .sum();
    let variance = rest / freedom;
    if !slope.is_finite() || variance <= 0.0 {
        return None;
    }
    let error = (variance / squares).sqrt();
    // (d + b z)² ≤ t² (s²/n + s² z²/S) for z = x − mean level: a quadratic in z.
    let margin = quantile * quantile * variance;
    let (leading, constant) = (
        slope * slope - margin / squares,
        change * change - margin / as_f64(deltas.len()),
    );
    let root = (change * change * slope * slope - leading * constant).sqrt();
    let end = |sign: f64| level + (-change * slope + sign * root) / leading;
    let crossover = level - change / slope;
    let least = levels.iter().copied().fold(f64::INFINITY, f64::min);
    let most = levels.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Some(EffectCrossover {
        slope,
        slope_interval: Interval::around(slope, quantile * error),
        p_value: t_p_value(slope / error, freedom)?,
        level: crossover,
        level_interval: if leading > 0.0 && root.is_finite() {
            FiellerInterval::Bounded(Interval {
                lower: end(-1.0),
                upper: end(1.0),
            })
        } else {
            FiellerInterval::Unbounded
        },
        is_measured: (least..=most).contains(&crossover),
    })
}
