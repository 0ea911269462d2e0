//! How the difference of two sides varies, and how the widths of their intervals do.

use super::{Configuration, Noise, Strategy};
use crate::Confidence;
use crate::number::as_f64;

/// What the squared width of a bootstrap's interval does, but for the quantile.
pub(super) struct IntervalWidth {
    mean: f64,
    variance: f64,
    /// The excess kurtosis of the bootstrap's replicates.
    kurtosis: f64,
}

impl IntervalWidth {
    /// Returns k and ν.
    pub(super) fn half_width(&self, confidence: Confidence) -> (f64, f64) {
        let z = confidence.normal_quantile();
        let quantile = z * (1.0 + (z * z - 3.0) * self.kurtosis / 24.0);
        (quantile * self.mean.sqrt(), self.freedom())
    }

    /// Satterthwaite: the degrees of freedom of the scaled χ² with this mean and variance.
    fn freedom(&self) -> f64 {
        if self.variance > 0.0 {
            2.0 * self.mean.powi(2) / self.variance
        } else {
            f64::INFINITY
        }
    }
}

/// The quantities that the methods need of noise and configuration.
pub(super) struct SidePair {
    instances: f64,
    /// The degrees of freedom within the instances of a side.
    within_freedom: f64,
    /// (I − 1) / I and (J − 1) / J.
    shrunk: (f64, f64),
    between: f64,
    /// σ_W² / J: the contribution of iterations to the variance of an instance's mean.
    within: f64,
}

impl SidePair {
    pub(super) fn new(noise: Noise, configuration: Configuration) -> Self {
        let [i, j] = [configuration.instances, configuration.iterations].map(as_f64);
        Self {
            instances: i,
            within_freedom: i * (j - 1.0),
            shrunk: ((i - 1.0) / i, (j - 1.0) / j),
            between: noise.between,
            within: noise.within / j,
        }
    }

    /// m² = σ_B² + σ_W²/J.
    fn of_mean(&self) -> f64 {
        self.between + self.within
    }

    pub(super) fn variance_of_difference(&self, strategy: Strategy) -> f64 {
        let one = match strategy {
            Strategy::DifferentInstances => self.of_mean(),
            Strategy::SameInstances => self.within,
        };
        2.0 * one / self.instances
    }

    /// A bootstrap's variance, where the instance means vary by `means` with I − 1 degrees of freedom and resampling
    /// their iterations adds `within` with so many.
    fn bootstrap(&self, means: f64, within: f64, within_freedom: f64) -> IntervalWidth {
        let parts = [
            (self.shrunk.0 * means, self.instances - 1.0),
            (self.shrunk.1 * within, within_freedom),
        ];
        let variance = |(mean, freedom): &(f64, f64)| {
            if *mean > 0.0 {
                2.0 * mean.powi(2) / freedom
            } else {
                0.0
            }
        };
        let total = parts[0].0 + parts[1].0;
        // I normal values have the excess kurtosis −6 / (I + 1) on average, and the mean of I draws from them that
        // divided by I.
        let kurtosis = if total > 0.0 {
            -6.0 * (parts[0].0 / total).powi(2) / (self.instances * (self.instances + 1.0))
        } else {
            0.0
        };
        IntervalWidth {
            mean: total / self.instances,
            variance: parts.iter().map(variance).sum::<f64>() / self.instances.powi(2),
            kurtosis,
        }
    }

    /// V_c.
    fn side(&self) -> IntervalWidth {
        self.bootstrap(self.of_mean(), self.within, self.within_freedom)
    }

    /// V.
    pub(super) fn ratio(&self, strategy: Strategy) -> IntervalWidth {
        match strategy {
            Strategy::DifferentInstances => {
                let side = self.side();
                IntervalWidth {
                    mean: 2.0 * side.mean,
                    variance: 2.0 * side.variance,
                    kurtosis: side.kurtosis / 2.0,
                }
            }
            Strategy::SameInstances => self.bootstrap(
                2.0 * self.within,
                2.0 * self.within,
                2.0 * self.within_freedom,
            ),
        }
    }

    /// (√V_c + √V_t)²: with n = 2 E(V_c)² / Var(V_c) its mean is 2 E(V_c) (1 + c² + r (1 − c²)), where c² is the
    /// square of the mean of √(χ²/n), and the sum has nearly the freedom of two χ² with the correlation r.
    pub(super) fn two_intervals(&self, strategy: Strategy) -> IntervalWidth {
        let side = self.side();
        let common = match strategy {
            Strategy::DifferentInstances => 0.0,
            Strategy::SameInstances => self.shrunk.0 * self.between / self.instances,
        };
        let shared = if common > 0.0 {
            2.0 * common.powi(2) / (self.instances - 1.0) / side.variance
        } else {
            0.0
        };
        let n = side.freedom();
        let short_of_one = (0.5 - (0.125 + 0.0625 / n) / n) / n;
        let mean = 2.0 * side.mean * (2.0 - (1.0 - shared) * short_of_one);
        IntervalWidth {
            mean,
            variance: (1.0 + shared) * mean.powi(2) / n,
            kurtosis: side.kurtosis,
        }
    }
}
