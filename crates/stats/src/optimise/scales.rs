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
            rest: 0.003,
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
            + decades(self.rest / self.noise, usual.rest / usual.noise)
            // Noise is known best from repeats, and may be very small.
            + 0.1 * decades(self.noise, usual.noise);
        -0.5 * away
    }
}

/// One of the scales that are searched for. All are moved by decades.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SearchedScale {
    Main(usize),
    Pairs,
    /// As a share of the noise.
    Rest,
    /// With the rest.
    Noise,
    /// The distance at which the correlation is 1/e.
    Correlation,
}

/// Correlations of neighbours are searched for between these.
const CORRELATIONS: [f64; 2] = [0.005, 0.98];

/// Variances are searched for between these.
const VARIANCES: [f64; 2] = [1e-5, 1e3];

/// Without repeats the likelihood does not tell noise from what a setting has of its own, which is taken for so small
/// a share of it.
pub(super) const REST_WITHOUT_REPEATS: f64 = 1e-4;

impl SearchedScale {
    /// Returns the scales of factors, in the order in which they are searched for; with or without repeated settings.
    pub fn all(factors: &[SurfaceFactor], repeats: usize) -> Vec<Self> {
        let ordered = (0..factors.len()).filter(|at| factors[*at].is_ordered());
        let first = [Self::Noise, Self::Correlation].into_iter();
        let mains = first.chain(ordered.map(Self::Main)).chain([Self::Pairs]);
        mains.chain((repeats > 0).then_some(Self::Rest)).collect()
    }

    /// Returns scales with this one moved by decades; `None` at the end of what is searched.
    pub fn moved(self, scales: &SurfaceScales, decades: f64) -> Option<SurfaceScales> {
        let mut moved = scales.clone();
        let factor = 10.0_f64.powf(decades);
        let [least, most] = VARIANCES;
        let within = |value: f64| (least..=most).contains(&value).then_some(value);
        match self {
            Self::Main(at) => moved.main[at] = within(moved.main[at] * factor)?,
            Self::Pairs => moved.pairs = within(moved.pairs * factor)?,
            Self::Rest => {
                moved.rest = moved.noise * within(factor * moved.rest / moved.noise)?;
            }
            Self::Noise => {
                moved.noise = within(moved.noise * factor)?;
                moved.rest *= factor;
            }
            Self::Correlation => {
                moved.correlation = moved.correlation.powf(factor.recip());
                let [least, most] = CORRELATIONS;
                if !(least..=most).contains(&moved.correlation) {
                    return None;
                }
            }
        }
        Some(moved)
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

    /// Returns the prior variance of the intercept.
    pub fn intercept(&self) -> f64 {
        INTERCEPT
    }

    /// Returns the correlation of neighbouring levels of a factor.
    pub fn correlation(&self, factor: usize) -> f64 {
        if self.is_ordered[factor] {
            self.scales.correlation
        } else {
            0.0
        }
    }

    /// Returns the prior variance of the pairs of levels of two factors.
    pub fn pair_variance(&self, one: usize, other: usize) -> f64 {
        self.scales.pairs * self.roots[one] * self.roots[other]
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
