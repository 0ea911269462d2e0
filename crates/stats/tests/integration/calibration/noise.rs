//! What the simulated machines do.

use rand::{Rng, RngExt};

/// Simulated instances have so many iterations, unless told otherwise.
pub const ITERATIONS: usize = 10;

/// How the level of instances varies around 1.
#[derive(Clone, Copy)]
pub enum Between {
    /// Normal with this standard deviation.
    Normal(f64),
    /// Log-normal: with this standard deviation of the logarithm.
    LogNormal(f64),
    /// This share of the instances is slower by this factor; all vary by 1 % besides.
    Modes { share: f64, slower: f64 },
}

/// How iterations vary around the level of their instance, relatively.
#[derive(Clone, Copy)]
pub enum Within {
    Normal(f64),
    LogNormal(f64),
    /// Log-normal, each iteration remembering 0.7 of the one before: an autoregressive process of
    /// order 1 with this stationary standard deviation.
    Remembering(f64),
}

#[derive(Clone, Copy)]
pub struct Noise {
    pub between: Between,
    pub within: Within,
}

impl Noise {
    pub const fn new(between: Between, within: Within) -> Self {
        Self { between, within }
    }

    /// Returns the values of the iterations of so many instances.
    pub fn instances(self, random: &mut impl Rng, instances: usize) -> Vec<Vec<f64>> {
        self.instances_with(random, instances, ITERATIONS)
    }

    /// Returns the values of so many instances with so many iterations.
    pub fn instances_with(
        self,
        random: &mut impl Rng,
        instances: usize,
        iterations: usize,
    ) -> Vec<Vec<f64>> {
        (0..instances)
            .map(|_| {
                let level = self.level(random);
                let noise = self.within.sample(random, iterations);
                noise.into_iter().map(|factor| level * factor).collect()
            })
            .collect()
    }

    /// Returns the means of so many instances.
    pub fn means(self, random: &mut impl Rng, instances: usize) -> Vec<f64> {
        let values = self.instances(random, instances);
        values
            .iter()
            .map(|values| lapwing_stats::mean(values).unwrap())
            .collect()
    }

    fn level(self, random: &mut impl Rng) -> f64 {
        match self.between {
            Between::Normal(sd) => 1.0 + sd * normal(random),
            Between::LogNormal(sd) => (sd * normal(random)).exp(),
            Between::Modes { share, slower } => {
                let mode = if random.random::<f64>() < share {
                    slower
                } else {
                    1.0
                };
                mode * (1.0 + 0.01 * normal(random))
            }
        }
    }
}

impl Within {
    fn sample(self, random: &mut impl Rng, iterations: usize) -> Vec<f64> {
        let mut before = normal(random);
        let mut factor = || match self {
            Self::Normal(sd) => 1.0 + sd * normal(random),
            Self::LogNormal(sd) => (sd * normal(random)).exp(),
            Self::Remembering(sd) => {
                before = 0.7 * before + (1.0_f64 - 0.49).sqrt() * normal(random);
                (sd * before).exp()
            }
        };
        (0..iterations).map(|_| factor()).collect()
    }
}

/// Returns a standard normal number (Box & Muller 1958).
pub fn normal(random: &mut impl Rng) -> f64 {
    let (one, other): (f64, f64) = (random.random(), random.random());
    (-2.0 * (1.0 - one).ln()).sqrt() * (std::f64::consts::TAU * other).cos()
}
