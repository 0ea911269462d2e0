//! The prior of an [`OrderedSurface`](super::OrderedSurface): variances, and the covariance of two settings.

/// The prior variance of a block's levels, in the units of [`SurfaceScales`]: so large that their differences are
/// hardly shrunk.
pub const BLOCK_VARIANCE: f64 = 100.0;

/// A factor of an [`OrderedSurface`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SurfaceFactor {
    /// So many levels in an order: neighbours are alike, as versions are.
    Ordered(usize),
    /// So many levels without an order, whose differences are hardly shrunk, as of machines.
    Block(usize),
}

impl SurfaceFactor {
    /// Returns the number of levels.
    pub fn levels(self) -> usize {
        match self {
            Self::Ordered(count) | Self::Block(count) => count,
        }
    }

    fn is_ordered(self) -> bool {
        matches!(self, Self::Ordered(_))
    }
}

/// The prior variances of an [`OrderedSurface`], all in units of a common τ².
#[derive(Debug, Clone, PartialEq)]
pub struct SurfaceScales {
    /// Of the effects of each factor's levels.
    pub main: Vec<f64>,
    /// Of the effects of a pair of levels, times the geometric mean of both factors' variances.
    pub pairs: f64,
    /// Of what a setting has beyond the pairs.
    pub rest: f64,
    /// Of the noise of a run.
    pub noise: f64,
    /// The correlation of the effects of neighbouring levels; of levels d apart its power d.
    pub correlation: f64,
}

impl SurfaceScales {
    /// Returns the scales from which the search for the most likely ones starts, and towards which its prior pulls.
    pub fn usual(factors: &[SurfaceFactor]) -> Self {
        let main = factors.iter().map(|factor| match factor {
            SurfaceFactor::Ordered(_) => 1.0,
            SurfaceFactor::Block(_) => BLOCK_VARIANCE,
        });
        Self {
            main: main.collect(),
            pairs: 0.1,
            rest: 0.03,
            noise: 0.1,
            correlation: 0.8,
        }
    }

    /// Returns the logarithm of their prior, up to a constant.
    pub(super) fn log_prior(&self, factors: &[SurfaceFactor]) -> f64 {
        let usual = Self::usual(factors);
        let decades = |one: f64, other: f64| (one / other).log10().powi(2);
        let mains = self.main.iter().zip(&usual.main);
        let away = mains.map(|(own, other)| decades(*own, *other)).sum::<f64>()
            + decades(self.pairs, usual.pairs)
            + decades(self.rest, usual.rest)
            // Noise is known best from repeats, and may be very small.
            + 0.1 * decades(self.noise, usual.noise);
        -0.5 * away
    }
}

const MAIN: [f64; 6] = [0.003, 0.03, 0.1, 0.3, 1.0, 3.0];
const PAIRS: [f64; 5] = [0.003, 0.03, 0.1, 0.3, 1.0];
const REST: [f64; 5] = [0.001, 0.01, 0.03, 0.1, 0.3];
const NOISE: [f64; 9] = [1e-4, 3e-4, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0];
const CORRELATIONS: [f64; 6] = [0.3, 0.6, 0.8, 0.9, 0.95, 0.98];

/// One of the scales that are searched for.
#[derive(Clone, Copy)]
pub(super) enum SearchedScale {
    Main(usize),
    Pairs,
    Rest,
    Noise,
    Correlation,
}

impl SearchedScale {
    /// Returns the scales of factors, in the order in which they are searched for.
    pub fn all(factors: &[SurfaceFactor]) -> Vec<Self> {
        let ordered = (0..factors.len()).filter(|at| factors[*at].is_ordered());
        let first = [Self::Noise, Self::Correlation].into_iter();
        let mains = first.chain(ordered.map(Self::Main));
        mains.chain([Self::Pairs, Self::Rest]).collect()
    }

    pub fn grid(self) -> &'static [f64] {
        match self {
            Self::Main(_) => &MAIN,
            Self::Pairs => &PAIRS,
            Self::Rest => &REST,
            Self::Noise => &NOISE,
            Self::Correlation => &CORRELATIONS,
        }
    }

    pub fn of(self, scales: &mut SurfaceScales) -> &mut f64 {
        match self {
            Self::Main(at) => &mut scales.main[at],
            Self::Pairs => &mut scales.pairs,
            Self::Rest => &mut scales.rest,
            Self::Noise => &mut scales.noise,
            Self::Correlation => &mut scales.correlation,
        }
    }
}

/// The variance of the intercept around the mean of all settings.
const INTERCEPT: f64 = 10.0;

/// The covariance of two settings.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LevelKernel {
    pub scales: SurfaceScales,
    is_ordered: Vec<bool>,
    /// Powers of the correlation.
    powers: Vec<f64>,
    /// √ of the variances of factors, as their share in pairs.
    roots: Vec<f64>,
}

impl LevelKernel {
    pub fn new(factors: &[SurfaceFactor], scales: SurfaceScales) -> Self {
        let most = factors.iter().map(|factor| factor.levels()).max();
        let mut powers = vec![1.0];
        for at in 1..most.unwrap_or(1) {
            powers.push(powers[at - 1] * scales.correlation);
        }
        let is_ordered: Vec<bool> = factors.iter().map(|factor| factor.is_ordered()).collect();
        // A block takes part in pairs as a factor of the usual variance.
        let root = |(variance, is_ordered): (&f64, &bool)| {
            if *is_ordered { variance.sqrt() } else { 1.0 }
        };
        let roots = scales.main.iter().zip(&is_ordered).map(root).collect();
        Self {
            scales,
            is_ordered,
            powers,
            roots,
        }
    }

    pub fn at(&self, one: &[usize], other: &[usize]) -> f64 {
        let (mut main, mut all, mut squares) = (0.0, 0.0, 0.0);
        let mut is_same = true;
        for (factor, (a, b)) in one.iter().zip(other).enumerate() {
            let alike = if self.is_ordered[factor] {
                self.powers[a.abs_diff(*b)]
            } else {
                f64::from(u8::from(a == b))
            };
            is_same &= a == b;
            main += self.scales.main[factor] * alike;
            let share = self.roots[factor] * alike;
            all += share;
            squares += share * share;
        }
        // Σ over pairs of products = (square of the sum − sum of the squares) / 2.
        let pairs = self.scales.pairs * 0.5 * (all * all - squares);
        let rest = if is_same { self.scales.rest } else { 0.0 };
        INTERCEPT + main + pairs + rest
    }
}
