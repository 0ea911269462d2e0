//! The evidence of an advice: what is expected of a stack, against others, and by which versions.

use lapwing_stats::optimise::SurfacePrediction;
use lapwing_stats::{Confidence, Interval};

use super::model::StackModel;

/// The expected response of a stack.
#[derive(Debug, Clone, PartialEq)]
pub struct StackExpectation {
    /// The stack.
    pub stack: Vec<usize>,
    /// The logarithm of the cost; for several metrics the weighted sum.
    pub response: f64,
    /// Its interval.
    pub interval: Interval,
    /// The number of its instances on the hardware: 0 if it is inferred from others.
    pub instances: usize,
    /// Instances of it on any hardware, and those that failed.
    pub outcome: super::StackOutcome,
}

/// The change of the logarithm of the cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StackChange {
    /// The change; negative is better.
    pub change: f64,
    /// Its interval.
    pub interval: Interval,
}

/// The change of a stack by another version of one package.
#[derive(Debug, Clone, PartialEq)]
pub struct VersionEffect {
    /// The number of the package.
    pub factor: usize,
    /// The number of the version.
    pub level: usize,
    /// The change from the stack to the one with this version.
    pub change: StackChange,
    /// The number of instances of that stack on the hardware.
    pub instances: usize,
}

/// The change by two versions together, beyond the sum of both.
#[derive(Debug, Clone, PartialEq)]
pub struct PairEffect {
    /// The numbers of the packages.
    pub factors: [usize; 2],
    /// The change.
    pub change: StackChange,
}

impl StackChange {
    /// Returns whether the interval is on one side of zero.
    pub fn is_distinguishable(&self) -> bool {
        self.interval.lower > 0.0 || self.interval.upper < 0.0
    }
}

impl StackModel<'_> {
    /// Returns what is expected of a stack.
    pub fn expectation(&self, stack: &[usize]) -> StackExpectation {
        let own = self.change(self.surface.predict(stack));
        let outcome = self.data.outcomes.get(stack).copied();
        StackExpectation {
            stack: stack.to_vec(),
            response: own.change,
            interval: own.interval,
            instances: self.instances(stack),
            outcome: outcome.unwrap_or_default(),
        }
    }

    /// Returns the change from one stack to another.
    pub fn against(&self, stack: &[usize], other: &[usize]) -> StackChange {
        self.change(self.surface.contrast(&[(1.0, stack), (-1.0, other)]))
    }

    /// Returns what every other version changes in a stack, of each package from the oldest to the latest.
    pub fn version_effects(&self, stack: &[usize]) -> Vec<VersionEffect> {
        let mut effects = Vec::new();
        for (factor, package) in self.data.factors.iter().enumerate() {
            for level in 0..package.versions.len() {
                let other = with(stack, factor, level);
                effects.push(VersionEffect {
                    factor,
                    level,
                    change: self.against(&other, stack),
                    instances: self.instances(&other),
                });
            }
        }
        effects
    }

    /// Returns what each package changes on the way from another stack to this one, when the others are as in this
    /// one; the largest change first.
    pub fn drivers(&self, stack: &[usize], from: &[usize]) -> Vec<VersionEffect> {
        let drivers = differing(stack, from).into_iter().map(|factor| {
            let other = with(stack, factor, from[factor]);
            VersionEffect {
                factor,
                level: from[factor],
                change: self.against(stack, &other),
                instances: self.instances(&other),
            }
        });
        let mut drivers: Vec<VersionEffect> = drivers.collect();
        let size = |driver: &VersionEffect| driver.change.change.abs();
        drivers.sort_by(|one, other| size(other).total_cmp(&size(one)));
        drivers
    }

    /// Returns the pairs of packages whose change from another stack to this one differs from the sum of both alone,
    /// distinguishably.
    pub fn interactions(&self, stack: &[usize], from: &[usize]) -> Vec<PairEffect> {
        let all = differing(stack, from);
        let pairs = all.iter().enumerate();
        let pairs = pairs.flat_map(|(at, one)| all[at + 1..].iter().map(|other| [*one, *other]));
        let effects = pairs.map(|[one, other]| {
            let (first, second) = (with(stack, one, from[one]), with(stack, other, from[other]));
            let neither = with(&first, other, from[other]);
            let runs: [(f64, &[usize]); 4] = [
                (1.0, stack),
                (-1.0, &first),
                (-1.0, &second),
                (1.0, &neither),
            ];
            PairEffect {
                factors: [one, other],
                change: self.change(self.surface.contrast(&runs)),
            }
        });
        effects
            .filter(|own| own.change.is_distinguishable())
            .collect()
    }

    fn change(&self, own: SurfacePrediction) -> StackChange {
        let quantile = Confidence::P95.t_quantile(self.surface.freedom());
        let reach = quantile.unwrap_or(f64::INFINITY) * own.deviation;
        StackChange {
            change: own.mean,
            interval: Interval::around(own.mean, reach),
        }
    }
}

fn with(stack: &[usize], factor: usize, level: usize) -> Vec<usize> {
    let mut other = stack.to_vec();
    other[factor] = level;
    other
}

fn differing(stack: &[usize], from: &[usize]) -> Vec<usize> {
    (0..stack.len())
        .filter(|factor| stack[*factor] != from[*factor])
        .collect()
}
