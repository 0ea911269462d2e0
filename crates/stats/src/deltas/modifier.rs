//! Which other factor changes the effect of a factor.

use super::MeasuredSets;
use crate::interval::t_test;
use crate::{Confidence, Interval, PValue, adjusted_p_values, as_f64, mean, standard_deviation};

/// How the effect of a factor depends on another one.
#[derive(Debug, Clone, PartialEq)]
pub struct EffectModifier {
    /// The factor whose effect it is.
    pub factor: usize,
    /// The other one.
    pub other: usize,
    /// The mean delta of the factor where the other is absent …
    pub without: f64,
    /// … and where it is present, both in the same surroundings.
    pub with: f64,
    /// In how many surroundings all four sets were measured.
    pub quadruples: usize,
    /// The interval of `with` − `without`; `None` with fewer than two quadruples.
    pub interval: Option<Interval>,
    /// The p-value of "the other factor changes nothing"; `None` with fewer than two quadruples, or without spread.
    pub p_value: Option<PValue>,
    /// The same, adjusted for all pairs of factors (Benjamini–Hochberg).
    pub adjusted_p_value: Option<PValue>,
}

impl EffectModifier {
    /// Returns what the other factor changes in the effect: the interaction. Positive for costs of which both save
    /// the same part.
    pub fn difference(&self) -> f64 {
        self.with - self.without
    }

    /// Returns whether the effect has one sign without and the other with the other factor.
    pub fn flips(&self) -> bool {
        self.with * self.without < 0.0
    }
}

/// Returns, for each factor and each other one with which it was measured, how the effect depends on it, by factor
/// and other.
///
/// From quadruples X, X ∪ {t}, X ∪ {u}, X ∪ {t, u}: q = (v(X ∪ tu) − v(X ∪ u)) − (v(X ∪ t) − v(X)) with the mean of
/// each set's runs. For one pair of factors every run is in one quadruple at most, so they are independent; the
/// interval of the mean of q is that of t with m − 1 degrees of freedom. Both halves of a quadruple have the same
/// surroundings, so other factors, which may be more frequent where u is present, do not matter. The difference is
/// the same for (t, u) and (u, t).
///
/// ```
/// use lapwing_stats::Confidence;
/// use lapwing_stats::deltas::{MeasuredSets, effect_modifiers};
/// // Either of two factors removes the same cost.
/// let runs = [(0b000, 10.0), (0b001, 4.0), (0b010, 4.0), (0b011, 4.1), (0b100, 9.0), (0b101, 3.0), (0b110, 2.9), (0b111, 3.0)];
/// let modifiers = effect_modifiers(&MeasuredSets::new(&runs).expect("finite"), Confidence::P95);
/// let first = &modifiers[0];
/// assert_eq!((first.factor, first.other, first.quadruples), (0, 1, 2));
/// assert!((first.difference() - 6.1).abs() < 1e-9 && first.without == -6.0);
/// ```
pub fn effect_modifiers(sets: &MeasuredSets, confidence: Confidence) -> Vec<EffectModifier> {
    let means = sets.means();
    let added = sets.steps.iter().flatten().map(|(factor, _)| factor + 1);
    let factors = added.max().unwrap_or(0);
    // Of each pair of factors, the deltas of the smaller one without and with the other, and of the other without and
    // with the smaller one.
    let mut quadruples: Vec<Vec<[f64; 4]>> = vec![Vec::new(); factors * factors];
    for (at, steps) in sets.steps.iter().enumerate() {
        for (count, (one, with_one)) in steps.iter().enumerate() {
            for (other, with_other) in &steps[count + 1..] {
                let step = sets.steps[*with_one].binary_search_by_key(other, |(factor, _)| *factor);
                let Ok(step) = step else { continue };
                let both = sets.steps[*with_one][step].1;
                let values = [at, *with_one, *with_other, both].map(|set| means[set]);
                quadruples[one * factors + other].push(values);
            }
        }
    }
    let mut modifiers: Vec<EffectModifier> = Vec::new();
    for factor in 0..factors {
        for other in 0..factors {
            let own = &quadruples[factor.min(other) * factors + factor.max(other)];
            let is_first = factor < other;
            let deltas = |[neither, one, second, both]: [f64; 4]| {
                if is_first {
                    [one - neither, both - second]
                } else {
                    [second - neither, both - one]
                }
            };
            let deltas: Vec<[f64; 2]> = own.iter().map(|values| deltas(*values)).collect();
            modifiers.extend(modifier(factor, other, &deltas, confidence));
        }
    }
    let p_values: Vec<Option<PValue>> = modifiers.iter().map(|it| it.p_value).collect();
    for (modifier, adjusted) in modifiers.iter_mut().zip(adjusted_p_values(&p_values)) {
        modifier.adjusted_p_value = adjusted;
    }
    modifiers
}

fn modifier(
    factor: usize,
    other: usize,
    deltas: &[[f64; 2]],
    confidence: Confidence,
) -> Option<EffectModifier> {
    let side = |at: usize| mean(&deltas.iter().map(|own| own[at]).collect::<Vec<f64>>());
    let differences: Vec<f64> = deltas
        .iter()
        .map(|[without, with]| with - without)
        .collect();
    let estimate = mean(&differences)?;
    let error =
        standard_deviation(&differences).map(|deviation| deviation / as_f64(deltas.len()).sqrt());
    let freedom = as_f64(deltas.len()) - 1.0;
    let test = error.map(|error| t_test(estimate, error, freedom, confidence));
    let (interval, p_value) = test.unwrap_or_default();
    Some(EffectModifier {
        factor,
        other,
        without: side(0)?,
        with: side(1)?,
        quadruples: deltas.len(),
        interval,
        p_value,
        adjusted_p_value: None,
    })
}

/// Returns, of each factor, the other one that most clearly changes its effect: the smallest p-value, then the
/// largest difference.
///
/// The largest difference alone would often be that of the fewest quadruples. Being the smallest of many, the p-value
/// has to be judged by the adjusted one.
pub fn strongest_modifiers(modifiers: &[EffectModifier]) -> Vec<EffectModifier> {
    let evidence = |own: &EffectModifier| own.p_value.map_or(2.0, PValue::value);
    let stronger = |one: &&EffectModifier, other: &&EffectModifier| {
        let sizes = other.difference().abs().total_cmp(&one.difference().abs());
        evidence(one).total_cmp(&evidence(other)).then(sizes)
    };
    let by_factor = modifiers.chunk_by(|one, other| one.factor == other.factor);
    by_factor
        .filter_map(|own| own.iter().min_by(stronger).cloned())
        .collect()
}
