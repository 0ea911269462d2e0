//! The speed of a machine on a grid: how it moves from one instance to the next.

use crate::number::as_f64;

/// The scale of the logarithm of a jump, which is distributed as Laplace's.
const JUMP: f64 = 0.06;
/// The distance of the points of the grid, in standard deviations of an instance.
const STEP: f64 = 0.5;

/// The way in which a machine's speed moves, the same during a search.
#[derive(Debug, Clone, Copy)]
pub(super) struct Regime {
    /// Its probability before anything was measured.
    pub(super) prior: f64,
    /// The standard deviation of what it moves per instance, in those of an instance.
    walk: f64,
    /// The probability of a jump per instance.
    jumps: f64,
}

/// A calm machine, one that drifts, and one that jumps, such as between hosts. A calm one pays almost nothing for the
/// others: its data choose.
pub(super) const REGIMES: [Regime; 3] = [
    Regime {
        prior: 0.5,
        walk: 0.03,
        jumps: 0.001,
    },
    Regime {
        prior: 0.25,
        walk: 0.2,
        jumps: 0.03,
    },
    Regime {
        prior: 0.25,
        walk: 0.4,
        jumps: 0.1,
    },
];

/// The logarithms of speeds that a machine may have.
#[derive(Debug, Clone)]
pub(super) struct SpeedGrid {
    pub(super) values: Vec<f64>,
    /// The factor by which the density of a jump falls from one point to the next.
    decay: f64,
    /// For each point the sum of the decayed densities at all points.
    sums: Vec<f64>,
}

impl SpeedGrid {
    /// Returns the grid around a value for instances with this standard deviation.
    pub(super) fn new(centre: f64, reach: f64, sigma: f64) -> Self {
        let step = STEP * sigma;
        let aside = (1..)
            .find(|it| as_f64(*it) * step >= reach)
            .unwrap_or(1_usize);
        let point = |at: usize| centre + step * (as_f64(at) - as_f64(aside));
        let values: Vec<f64> = (0..=2 * aside).map(point).collect();
        let decay = (-step / JUMP).exp();
        let mut sums = vec![1.0; values.len()];
        spread(&mut sums, decay);
        Self {
            values,
            decay,
            sums,
        }
    }

    pub(super) fn centre(&self) -> f64 {
        f64::midpoint(self.values[0], self.values[self.values.len() - 1])
    }

    pub(super) fn reach(&self) -> f64 {
        (self.values[self.values.len() - 1] - self.values[0]) / 2.0
    }

    /// Moves the weights of all points by one instance of a regime; `moved` is room for as many.
    pub(super) fn step(&self, regime: Regime, weights: &mut [f64], moved: &mut [f64]) {
        let last = weights.len() - 1;
        for ((far, weight), sum) in moved.iter_mut().zip(&*weights).zip(&self.sums) {
            *far = weight / sum;
        }
        spread(moved, self.decay);
        // To each neighbour; at an edge there is one.
        let walk = regime.walk / STEP;
        let aside = (0.5 * walk * walk).min(0.25);
        let from = |at: usize, weight: f64| match at == 0 || at == last {
            true => weight / (1.0 - aside),
            false => weight,
        };
        let mut before = 0.0;
        for at in 0..=last {
            let here = from(at, weights[at]);
            let after = weights.get(at + 1).map_or(0.0, |it| from(at + 1, *it));
            let near = (1.0 - 2.0 * aside) * here + aside * (before + after);
            before = here;
            moved[at] = (1.0 - regime.jumps) * near + regime.jumps * moved[at];
        }
        weights.copy_from_slice(moved);
    }
}

/// Replaces values by their sums over all, each decayed by its distance.
fn spread(values: &mut [f64], decay: f64) {
    let mut left = Vec::with_capacity(values.len());
    let mut sum = 0.0;
    for value in values.iter() {
        left.push(sum);
        sum = (sum + value) * decay;
    }
    let mut right = 0.0;
    for (value, left) in values.iter_mut().zip(left).rev() {
        let own = *value;
        *value = left + own + right;
        right = (right + own) * decay;
    }
}
