//! Treatments whose effects depend on each other.

use lapwing_stats::as_f64;
use lapwing_stats::linear_model::ModelTerm;

use crate::explained::{ConditionalEffect, ExplainedStudy};
use crate::scale::StudyScale;

/// Either of two treatments removes the same cost only if each gains at most this share after the other, …
const LEFT_OF_BOTH: f64 = 0.85;
/// … and one of them at most this.
const LEFT_OF_ONE: f64 = 0.5;

/// An effect of less than this part of the other is nothing beside it.
const NEGLIGIBLE: f64 = 0.1;

/// How the effects of two treatments depend on each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PairPattern {
    /// Either removes the same cost: the share that each gains after the other of what it gains alone.
    EitherOr([f64; 2]),
    /// The first helps without the other and hurts with it, or the other way round; both are proven.
    ChangesSign,
    /// The effect of the first is another with the other.
    Depends,
    /// The instances cannot tell it from other pairs.
    NotTold,
}

/// Two treatments whose effects depend on each other.
#[derive(Debug, Clone, PartialEq)]
pub struct PairFinding {
    /// The effect of the one that depends more on the other.
    pub first: ConditionalEffect,
    /// The effect of the other one by the first.
    pub second: ConditionalEffect,
    /// By how much the effect of either differs with the other.
    pub beyond: f64,
    /// How they depend on each other.
    pub pattern: PairPattern,
    /// Other pairs that it could be instead: numbers of treatments.
    pub aliases: Vec<Vec<usize>>,
}

impl ExplainedStudy<'_> {
    /// Returns the pairs of the model, the largest interaction first.
    pub(super) fn pair_effects(&self) -> Vec<PairFinding> {
        let pairs = self.pairs().filter(|pair| {
            // What was found with a pair that is not sure itself is no finding.
            let term = ModelTerm::Pair(pair[0], pair[1]);
            self.model.found.iter().any(|own| own.term == term)
        });
        let mut found: Vec<PairFinding> =
            pairs.flat_map(|pair| self.pairs_of_levels(pair)).collect();
        found.sort_by(|one, other| other.beyond.abs().total_cmp(&one.beyond.abs()));
        found
    }

    /// Returns the effects of a pair of factors: of the levels with the clearest interaction, and of all others that are
    /// clear among them, if their levels are no numbers.
    fn pairs_of_levels(&self, factors: [usize; 2]) -> Vec<PairFinding> {
        let of = |factor: usize| {
            let all = self.data.treatments.iter().enumerate();
            all.filter(move |(_, own)| own.factor == factor)
                .map(|(at, _)| at)
        };
        let candidates =
            of(factors[0]).flat_map(|one| of(factors[1]).map(move |other| [one, other]));
        let candidates = candidates.filter_map(|pair| Some((pair, self.interaction(pair)?)));
        let mut candidates: Vec<([usize; 2], (f64, f64))> = candidates.collect();
        candidates.sort_by(|(_, one), (_, other)| {
            let sizes = other.1.abs().total_cmp(&one.1.abs());
            one.0.total_cmp(&other.0).then(sizes)
        });
        let has_numbers = factors
            .iter()
            .any(|at| self.data.factors[*at].numbers().is_some());
        let all = as_f64(candidates.len().max(1));
        let limit = |place: usize| match (place, has_numbers) {
            (0, _) => self.limit(),
            (_, true) => 0.0,
            (_, false) => self.limit() / all,
        };
        let clear = candidates.iter().enumerate();
        let clear = clear
            .filter(|(place, (_, (p_value, _)))| *p_value <= limit(*place) && limit(*place) > 0.0);
        let found =
            clear.filter_map(|(_, (pair, (_, beyond)))| self.pair_effect(factors, *pair, *beyond));
        found.collect()
    }

    /// Returns the effect of a pair of treatments, whose interaction is sure.
    fn pair_effect(
        &self,
        factors: [usize; 2],
        [one, other]: [usize; 2],
        beyond: f64,
    ) -> Option<PairFinding> {
        let (mut first, mut second) =
            (self.conditional(one, other)?, self.conditional(other, one)?);
        let aliases = self.aliases(ModelTerm::Pair(factors[0], factors[1]));
        let largest = |own: &ConditionalEffect| own.without.change.abs().max(own.with.change.abs());
        let smaller = |own: &ConditionalEffect| own.without.change.abs().min(own.with.change.abs());
        let changes_sign = |own: &ConditionalEffect| {
            self.is_sure(&own.without)
                && self.is_sure(&own.with)
                && own.without.change.signum() != own.with.change.signum()
                && smaller(own) >= NEGLIGIBLE * largest(own)
        };
        let dependence = |own: &ConditionalEffect| beyond.abs() / largest(own);
        let is_swapped = match (changes_sign(&first), changes_sign(&second)) {
            (true, false) => false,
            (false, true) => true,
            (_, _) => dependence(&second) > dependence(&first),
        };
        if is_swapped {
            std::mem::swap(&mut first, &mut second);
        }
        let pattern = if !aliases.is_empty() {
            PairPattern::NotTold
        } else if changes_sign(&first) {
            PairPattern::ChangesSign
        } else if let Some(left) = self.either_or(&first, &second) {
            PairPattern::EitherOr(left)
        } else {
            PairPattern::Depends
        };
        Some(PairFinding {
            first,
            second,
            beyond,
            pattern,
            aliases,
        })
    }

    /// Returns the p-value and the size of an interaction.
    pub(crate) fn interaction(&self, pair: [usize; 2]) -> Option<(f64, f64)> {
        let [one, other] = pair.map(|at| {
            let own = &self.data.treatments[at];
            (own.factor, own.level)
        });
        let bases = [(one.0, 0), (other.0, 0)];
        let row = |levels: [(usize, usize); 2]| self.model.row(self.data, &levels);
        let corners = [
            row([one, other]),
            row([one, bases[1]]),
            row([bases[0], other]),
            row(bases),
        ];
        let weights: Vec<f64> = (0..corners[0].len())
            .map(|at| corners[0][at] - corners[1][at] - corners[2][at] + corners[3][at])
            .collect();
        let found = self.contrast(&weights)?;
        Some((found.p_value, found.change))
    }

    /// Returns what each of two treatments gains after the other, as a share of what it gains alone, if both remove the
    /// same cost: cost = core + shared (1 − a) (1 − b), where a and b are the shares of it that they remove.
    fn either_or(&self, first: &ConditionalEffect, second: &ConditionalEffect) -> Option<[f64; 2]> {
        let metric = &self.data.metric;
        let helps = |own: &ConditionalEffect| {
            self.is_sure(&own.without) && metric.is_gain(self.scale, own.without.change)
        };
        if self.scale == StudyScale::Rate || !helps(first) || !helps(second) {
            return None;
        }
        let [one, other] = [first, second].map(|own| {
            let treatment = &self.data.treatments[own.treatment];
            (treatment.factor, treatment.level)
        });
        let row = |levels: [(usize, usize); 2]| self.model.row(self.data, &levels);
        let rows = [
            row([(one.0, 0), (other.0, 0)]),
            row([one, (other.0, 0)]),
            row([(one.0, 0), other]),
            row([one, other]),
        ];
        let value = |row: &Vec<f64>| -> f64 {
            let products = row.iter().zip(&self.model.coefficients);
            products.map(|(one, other)| one * other).sum()
        };
        let values = [0, 1, 2, 3].map(|at| value(&rows[at]));
        let costs = values.map(|it| self.scale.cost(it));
        let [base, with_first, with_second, both] = costs;
        let left = [
            (with_second - both) / (base - with_first),
            (with_first - both) / (base - with_second),
        ];
        // The upper ends: the change of each share with the value of each corner, by differences.
        let slope = |at: usize, share: usize| {
            let mut moved = values;
            let step = 1e-6 * values[at].abs().max(1e-6);
            moved[at] += step;
            let [base, with_first, with_second, both] = moved.map(|it| self.scale.cost(it));
            let shares = [
                (with_second - both) / (base - with_first),
                (with_first - both) / (base - with_second),
            ];
            (shares[share] - left[share]) / step
        };
        let upper = |share: usize| {
            let mut weights = vec![0.0; rows[0].len()];
            for (at, row) in rows.iter().enumerate() {
                let slope = slope(at, share);
                for (weight, entry) in weights.iter_mut().zip(row) {
                    *weight += slope * entry;
                }
            }
            let error = self.model.contrast(&weights)?.standard_error;
            let quantile = self.confidence().t_quantile(self.model.freedom())?;
            Some(left[share] + quantile * error)
        };
        let uppers = [upper(0)?, upper(1)?];
        let is_shared = uppers.iter().all(|it| *it < 1.0)
            && left.iter().all(|it| *it <= LEFT_OF_BOTH && *it > -0.5)
            && left.iter().any(|it| *it <= LEFT_OF_ONE);
        is_shared.then_some(left)
    }
}
