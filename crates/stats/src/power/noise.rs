//! The noise of a benchmark, and the methods to detect a slowdown in it.

/// How much a benchmark varies: the variances of the logarithms of its values.
///
/// These are squares of relative deviations: 0.0004 is 2 %. [`variance_components`](crate::variance_components)
/// of the logarithms estimates both.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Noise {
    /// σ_B²: how the true levels of instances vary.
    pub between: f64,
    /// σ_W²: how the iterations of one instance vary around its level.
    pub within: f64,
}

impl Noise {
    /// Whether both variances are numbers that variances can be.
    pub(super) fn is_possible(self) -> bool {
        let is_variance = |variance: f64| variance.is_finite() && variance >= 0.0;
        is_variance(self.between) && is_variance(self.within)
    }
}

/// Which instances the two sides of an experiment come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Strategy {
    /// Control and test have instances of their own: two sessions, measured on whatever machines there
    /// were. Hail's `ibs`.
    DifferentInstances,
    /// Control and test are different iterations of the same instances, as when both versions are
    /// measured one after the other on each machine. Hail's `tbs`.
    SameInstances,
}

impl Strategy {
    /// Both.
    pub const ALL: [Self; 2] = [Self::DifferentInstances, Self::SameInstances];

    /// Returns Hail's name of it.
    pub fn name(self) -> &'static str {
        match self {
            Self::DifferentInstances => "ibs",
            Self::SameInstances => "tbs",
        }
    }
}

/// The event that is regarded as detection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DetectionMethod {
    /// The percentile intervals of the two means, by the hierarchical bootstrap, share no point.
    Laaber,
    /// The percentile interval of the ratio of the means, by the hierarchical bootstrap, leaves out 1. With
    /// the same instances on both sides each resample draws them together.
    Schultz,
    /// What `lapwing compare` does with a single benchmark whose sides were interleaved: the t interval of the
    /// differences of the logarithms of instance means, in pairs, leaves out 0.
    Paired,
}

impl DetectionMethod {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Laaber, Self::Schultz, Self::Paired];

    /// Returns its name in options and results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Laaber => "laaber",
            Self::Schultz => "schultz",
            Self::Paired => "paired",
        }
    }
}
