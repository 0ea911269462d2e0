//! The prior of a [`ResponseSurface`](super::ResponseSurface): effects of levels, and how they interact.

use crate::as_f64;
use crate::design::DesignFactor;

/// The correlation length of numbers, as a share of their range.
const LENGTH: f64 = 0.5;

/// The share of a number's variance that its neighbours say nothing of.
const OWN: f64 = 0.1;

/// The variance of the intercept around the mean of the responses, which have a variance of 1.
const INTERCEPT: f64 = 1.0;

/// The covariances of the levels of a factor: their effects sum up to 0, and have a mean variance of 1.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LevelCovariance {
    count: usize,
    entries: Vec<f64>,
}

impl LevelCovariance {
    pub fn new(factor: &DesignFactor) -> Self {
        match factor {
            DesignFactor::Levels(count) => {
                Self::centred(*count, |one, other| f64::from(u8::from(one == other)))
            }
            DesignFactor::Numbers(values) => {
                let places = places(values);
                Self::centred(values.len(), |one, other| {
                    let distance = (places[one] - places[other]).abs() * 3.0_f64.sqrt() / LENGTH;
                    let own = if one == other { OWN } else { 0.0 };
                    // Matérn with ν = 3/2: neighbours are alike, and there may be a bend.
                    own + (1.0 - OWN) * (1.0 + distance) * (-distance).exp()
                })
            }
        }
    }

    fn centred(count: usize, of: impl Fn(usize, usize) -> f64) -> Self {
        let size = as_f64(count);
        let means: Vec<f64> = (0..count)
            .map(|one| (0..count).map(|other| of(one, other)).sum::<f64>() / size)
            .collect();
        let all = means.iter().sum::<f64>() / size;
        let entry = |at: usize| {
            let (one, other) = (at / count, at % count);
            of(one, other) - means[one] - means[other] + all
        };
        let mut entries: Vec<f64> = (0..count * count).map(entry).collect();
        let trace: f64 = (0..count).map(|at| entries[at * (count + 1)]).sum();
        if trace > 0.0 {
            for own in &mut entries {
                *own *= size / trace;
            }
        }
        Self { count, entries }
    }

    pub fn levels(&self) -> usize {
        self.count
    }

    pub fn at(&self, one: usize, other: usize) -> f64 {
        self.entries[one * self.count + other]
    }
}

/// Returns where numbers are from 0 to 1: between their values and their ranks, since the numbers that are tried are
/// often powers.
fn places(values: &[f64]) -> Vec<f64> {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let range = if most > least { most - least } else { 1.0 };
    let last = as_f64(values.len().max(2) - 1);
    let place = |value: &f64| {
        let rank = values.iter().filter(|other| *other < value).count();
        0.5 * ((value - least) / range + as_f64(rank) / last)
    };
    values.iter().map(place).collect()
}

/// The levels that act together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InteractionOrder {
    /// Two at most.
    Pairs,
    /// Three at most.
    Triples,
    /// Any number.
    All,
}

/// The variances of a prior, whose logarithms are searched for.
///
/// With u the covariances of the levels of each factor times the factor's variance, and e₁, e₂, e₃ the sums of all
/// products of one, two and three of them, two settings have the covariance 1 + e₁ + ρ₂ e₂ + ρ₃ e₃, or s Π (1 + u).
#[derive(Debug, Clone, PartialEq)]
pub(super) struct InteractionScales {
    pub order: InteractionOrder,
    /// Logarithms: of each factor's variance, of ρ₂ and ρ₃ or s, and last of the noise.
    pub logarithms: Vec<f64>,
    /// The values.
    values: Vec<f64>,
}

impl InteractionScales {
    /// Returns the scales at which the prior is centred.
    pub fn usual(order: InteractionOrder, factors: usize) -> Self {
        let centres = Self::centres(order, factors);
        Self::of(order, centres.iter().map(|(centre, _)| *centre).collect())
    }

    pub fn of(order: InteractionOrder, logarithms: Vec<f64>) -> Self {
        Self {
            order,
            values: logarithms.iter().map(|own| own.exp()).collect(),
            logarithms,
        }
    }

    /// Returns the mean and the standard deviation of the prior of each logarithm.
    pub fn centres(order: InteractionOrder, factors: usize) -> Vec<(f64, f64)> {
        let share = 1.0 / as_f64(factors.max(1));
        let mut centres = match order {
            InteractionOrder::Pairs | InteractionOrder::Triples => {
                vec![((0.5 * share).ln(), 1.5); factors]
            }
            InteractionOrder::All => vec![(share.min(0.5).ln(), 1.5); factors],
        };
        centres.extend(match order {
            InteractionOrder::Pairs => vec![(2.0_f64.ln(), 1.5)],
            InteractionOrder::Triples => vec![(2.0_f64.ln(), 1.5), (6.0_f64.ln(), 1.5)],
            InteractionOrder::All => vec![(0.5_f64.ln(), 1.0)],
        });
        centres.push((0.03_f64.ln(), 2.0));
        centres
    }

    pub fn noise(&self) -> f64 {
        self.values[self.values.len() - 1]
    }

    /// Returns the covariance of two settings whose levels have these covariances.
    pub fn covariance(&self, alike: impl Iterator<Item = f64>) -> f64 {
        let factors = self.factors();
        let scaled = alike
            .zip(&self.values)
            .map(|(own, variance)| own * variance);
        match self.order {
            InteractionOrder::All => {
                self.values[factors] * scaled.fold(1.0, |product, own| product * (1.0 + own))
            }
            InteractionOrder::Pairs | InteractionOrder::Triples => {
                // Eₖ of one factor more is Eₖ + u Eₖ₋₁.
                let (mut ones, mut twos, mut threes) = (0.0, 0.0, 0.0);
                for own in scaled {
                    threes += own * twos;
                    twos += own * ones;
                    ones += own;
                }
                let of_three = match self.order {
                    InteractionOrder::Triples => self.values[factors + 1] * threes,
                    InteractionOrder::Pairs | InteractionOrder::All => 0.0,
                };
                INTERCEPT + ones + self.values[factors] * twos + of_three
            }
        }
    }

    /// Adds `weight` times the derivatives of a covariance by all logarithms but that of the noise.
    pub fn add_derivatives(&self, alike: &[f64], weight: f64, sums: &mut [f64]) {
        let factors = self.factors();
        let scaled = |at: usize| alike[at] * self.values[at];
        match self.order {
            InteractionOrder::All => {
                let covariance = self.covariance(alike.iter().copied());
                for (at, sum) in sums[..factors].iter_mut().enumerate() {
                    let own = scaled(at);
                    let rest = (1.0 + own).abs().max(1e-9).copysign(1.0 + own);
                    *sum += weight * covariance * own / rest;
                }
                sums[factors] += weight * covariance;
            }
            InteractionOrder::Pairs | InteractionOrder::Triples => {
                let (mut ones, mut twos, mut threes) = (0.0, 0.0, 0.0);
                for at in 0..factors {
                    let own = scaled(at);
                    threes += own * twos;
                    twos += own * ones;
                    ones += own;
                }
                let of_two = self.values[factors];
                let of_three = match self.order {
                    InteractionOrder::Triples => self.values[factors + 1],
                    InteractionOrder::Pairs | InteractionOrder::All => 0.0,
                };
                for (at, sum) in sums[..factors].iter_mut().enumerate() {
                    let own = scaled(at);
                    // The sums of the other factors.
                    let (one, two) = (ones - own, twos - own * (ones - own));
                    *sum += weight * own * (1.0 + of_two * one + of_three * two);
                }
                sums[factors] += weight * of_two * twos;
                if self.order == InteractionOrder::Triples {
                    sums[factors + 1] += weight * of_three * threes;
                }
            }
        }
    }

    fn factors(&self) -> usize {
        let others = match self.order {
            InteractionOrder::Pairs | InteractionOrder::All => 2,
            InteractionOrder::Triples => 3,
        };
        self.values.len() - others
    }
}
