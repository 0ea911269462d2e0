//! How much is measured, on which machines, and what then tells a slowdown.

use std::fmt;

/// How many instances of how many iterations each side of a comparison has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Configuration {
    /// Instances a side.
    pub instances: usize,
    /// Iterations that count of each instance.
    pub iterations: usize,
}

impl fmt::Display for Configuration {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} × {}", self.instances, self.iterations)
    }
}

/// What the two sides of a comparison have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Strategy {
    /// Control and test are different instances: Hail's `ibs`.
    DifferentInstances,
    /// Control and test are different iterations of the same instances: Hail's `tbs`.
    SameInstances,
}

impl Strategy {
    /// Every strategy.
    pub const ALL: [Self; 2] = [Self::DifferentInstances, Self::SameInstances];

    /// Returns what it is called in data, as Hail does: `ibs` or `tbs`.
    pub fn name(self) -> &'static str {
        match self {
            Self::DifferentInstances => "ibs",
            Self::SameInstances => "tbs",
        }
    }
}

/// What tells a slowdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DetectionMethod {
    /// The percentile intervals of the two means do not overlap.
    Laaber,
    /// The percentile interval of the ratio leaves out 1.
    Schultz,
    /// The t interval of the ratio, from the logarithms of instance means, leaves out 1:
    /// what Lapwing compares by. Of the same instances it is that of pairs.
    Welch,
}

impl DetectionMethod {
    /// Every method.
    pub const ALL: [Self; 3] = [Self::Laaber, Self::Schultz, Self::Welch];

    /// Returns what it is called in data: `laaber`, `schultz` or `welch`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Laaber => "laaber",
            Self::Schultz => "schultz",
            Self::Welch => "welch",
        }
    }
}
