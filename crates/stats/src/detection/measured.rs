//! Measurements, prepared for drawing experiments.

use super::groups::{LEVELS, MOST_VALUES, entry};
use crate::number::as_f64;
use crate::{Configuration, Strategy, median};

/// The most instances of a side, and the most iterations of an instance, that are drawn.
const MOST: usize = u16::MAX as usize;

/// The values of a benchmark's instances, ready to draw experiments from.
///
/// Each value is kept as a whole number of steps above the smallest, of which there are 2²⁵ up to the
/// largest. Sums of those are exact whatever their order, so that every processor gives the same
/// result; what a value moves by is less than a part in sixty million of their spread.
#[derive(Debug, Clone)]
pub struct Measured {
    /// The entries of each instance.
    instances: Vec<Vec<u64>>,
    smallest: f64,
    step: f64,
}

impl Measured {
    /// Takes the values of each instance's iterations; `NaN` is a missing one.
    ///
    /// `None` when a value is negative or infinite, when there is none at all, and when one value is so far from the
    /// others (millions of times their spread) that steps would hide how those differ.
    pub fn new(instances: &[&[f64]]) -> Option<Self> {
        let values = instances.iter().copied().flatten().copied();
        let defined = || values.clone().filter(|value| !value.is_nan());
        let smallest = defined().min_by(f64::total_cmp)?;
        let largest = defined().max_by(f64::total_cmp)?;
        if smallest < 0.0 || !largest.is_finite() {
            return None;
        }
        let step = (largest - smallest) / f64::from(LEVELS);
        if is_coarse(step, defined().collect()) {
            return None;
        }
        let level = |value: f64| level(value, smallest, step);
        let entries = |row: &&[f64]| row.iter().map(|value| entry(level(*value))).collect();
        Some(Self {
            instances: instances.iter().map(entries).collect(),
            smallest,
            step,
        })
    }

    /// Returns whether enough was measured for experiments of a configuration: with different
    /// instances, twice as many of them as a side has; with the same, twice as many iterations of each.
    /// Instances that are too short for the configuration do not count.
    pub fn allows(&self, configuration: Configuration, strategy: Strategy) -> bool {
        let Configuration {
            instances,
            iterations,
        } = configuration;
        let wanted = match strategy {
            Strategy::DifferentInstances => instances.saturating_mul(2),
            Strategy::SameInstances => instances,
        };
        (1..=MOST).contains(&instances)
            && (1..=MOST).contains(&iterations)
            && instances * iterations <= MOST_VALUES
            && self.eligible(iterations, strategy).len() >= wanted
    }

    /// Returns the instances that are long enough.
    pub(super) fn eligible(&self, iterations: usize, strategy: Strategy) -> Vec<usize> {
        let wanted = match strategy {
            Strategy::DifferentInstances => iterations,
            Strategy::SameInstances => 2 * iterations,
        };
        let all = 0..self.instances.len();
        all.filter(|instance| self.instances[*instance].len() >= wanted)
            .collect()
    }

    pub(super) fn instance(&self, number: usize) -> &[u64] {
        &self.instances[number]
    }

    /// Returns the mean of so many values with this sum of levels; `NaN` of none.
    pub(super) fn mean(&self, sum: u64, count: u64) -> f64 {
        match count {
            0 => f64::NAN,
            count => self.smallest + self.step * (as_f64(sum) / as_f64(count)),
        }
    }
}

/// Returns whether the values differ by too few steps: most by less than fifty, or, where most are
/// equal, their middle is less than a million.
fn is_coarse(step: f64, values: Vec<f64>) -> bool {
    let Some(middle) = median(&values) else {
        return false;
    };
    let off: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    match median(&off) {
        Some(spread) if spread > 0.0 => step > spread / 50.0,
        Some(_) | None => middle > 0.0 && step > middle / 1e6,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of the levels is neither negative nor more than all of them"
)]
fn level(value: f64, smallest: f64, step: f64) -> Option<u32> {
    let steps = || {
        if step > 0.0 {
            ((value - smallest) / step).round() as u32
        } else {
            0
        }
    };
    (!value.is_nan()).then(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_steps_would_hide_are_refused() {
        let noise = |far: f64| -> Vec<f64> {
            let mut values: Vec<f64> = (0..50)
                .map(|k| 1.0 + 0.001 * f64::from(k * 7 % 50))
                .collect();
            values[3] = far;
            values
        };
        assert!(Measured::new(&[&noise(1.0)]).is_some());
        assert!(Measured::new(&[&noise(1e3)]).is_some());
        assert!(Measured::new(&[&noise(1e7)]).is_none());
        let mut equal = vec![2.0; 50];
        assert!(Measured::new(&[&equal]).is_some());
        equal[3] = 1e3;
        assert!(Measured::new(&[&equal]).is_none());
        assert!(Measured::new(&[&[0.0, 0.0, 0.0, 5.0]]).is_some());
        for wrong in [f64::INFINITY, -1.0] {
            assert!(Measured::new(&[&noise(wrong)]).is_none());
        }
    }
}
