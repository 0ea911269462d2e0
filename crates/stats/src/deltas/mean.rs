//! The mean delta of each factor.

use super::{Delta, DeltaPairing, MeasuredSets};
use crate::interval::t_test;
use crate::{
    Confidence, Interval, PValue, adjusted_p_values, as_f64, mean, median, pooled_variance,
    standard_deviation,
};

/// The deltas of one factor, summarised.
#[derive(Debug, Clone, PartialEq)]
pub struct MeanDelta {
    /// The factor.
    pub factor: usize,
    /// How many deltas there are.
    pub deltas: usize,
    /// How many pairs of sets they come from.
    pub set_pairs: usize,
    /// The mean of the deltas.
    pub mean: f64,
    /// Their median.
    pub median: f64,
    /// Their standard deviation; `None` for a single one.
    pub standard_deviation: Option<f64>,
    /// The mean value without the factor.
    pub mean_before: f64,
    /// The mean value with it.
    pub mean_after: f64,
    /// The mean of log₂(after / before): −1 is a half, +1 a double. `None` if a value is not positive.
    pub mean_log2_ratio: Option<f64>,
    /// The standard error of the mean; `None` with fewer than two pairs of sets.
    pub standard_error: Option<f64>,
    /// The interval of the mean: what it would be over other sets like these. `None` with fewer than two pairs of sets.
    pub interval: Option<Interval>,
    /// The interval of the mean over these very sets, from the spread of replicates alone: narrower where the
    /// factor's effect depends on other factors. `None` with fewer than three degrees of freedom of replicates, and
    /// for medians.
    pub interval_of_these_sets: Option<Interval>,
    /// The p-value of "the mean is 0"; `None` with fewer than two pairs of sets, or without spread.
    pub p_value: Option<PValue>,
    /// The same, adjusted for all factors (Benjamini–Hochberg).
    pub adjusted_p_value: Option<PValue>,
}

/// Returns the mean delta of each factor that has one, by factor.
///
/// For one factor every run is in one pair of sets at most, X and X ∪ {t}, so **pairs of sets are independent** as
/// the runs are, and deltas of one pair are not. With mean dᵢ of the wᵢ deltas of pair i (one, or n·n' if all runs
/// are paired) the mean is D = Σ wᵢ dᵢ / Σ wᵢ, its standard error √(m / (m − 1) Σ wᵢ² (dᵢ − D)²) / Σ wᵢ, and the
/// interval that of t with m − 1 degrees of freedom. Replicates of a set make its dᵢ more precise, and do not count
/// as further sets.
///
/// The spread of dᵢ holds noise and interactions alike. So the interval is for the mean over sets like the measured
/// ones, not for these sets alone, which it covers too often. The mean In a design that balances the other factors
/// that is nearly always. There the second interval is better: of these sets alone, D ± t σ √(Σ wᵢ² (1/nᵢ + 1/nᵢ′)) /
/// Σ wᵢ, with σ² pooled over the replicates of all sets. The mean hides interactions. Over
/// a full balanced factorial it is the classical main effect.
///
/// Source: the cluster-robust variance of a ratio estimator (Cochran, *Sampling Techniques* 1977, §6.4).
///
/// ```
/// use lapwing_stats::Confidence;
/// use lapwing_stats::deltas::{DeltaPairing, MeasuredSets, mean_deltas};
/// let runs = [(0b00, 10.0), (0b01, 7.0), (0b10, 9.0), (0b11, 5.0)];
/// let sets = MeasuredSets::new(&runs).expect("finite");
/// let means = mean_deltas(&sets, DeltaPairing::Medians, Confidence::P95);
/// assert_eq!((means[0].mean, means[1].mean), (-3.5, -1.5));
/// ```
pub fn mean_deltas(
    sets: &MeasuredSets,
    pairing: DeltaPairing,
    confidence: Confidence,
) -> Vec<MeanDelta> {
    let mut by_factor: Vec<Vec<Delta>> = Vec::new();
    for delta in sets.deltas(pairing) {
        if by_factor.len() <= delta.factor {
            by_factor.resize(delta.factor + 1, Vec::new());
        }
        by_factor[delta.factor].push(delta);
    }
    let mut means: Vec<MeanDelta> = by_factor
        .iter()
        .filter_map(|own| summary(own, confidence))
        .collect();
    let noise = pooled_variance(sets.values.iter()).filter(|_| pairing != DeltaPairing::Medians);
    if let Some((variance, freedom)) = noise
        && let Some(quantile) = confidence.t_quantile(freedom)
    {
        let measured = by_factor.iter().filter(|deltas| !deltas.is_empty());
        for (mean, deltas) in means.iter_mut().zip(measured) {
            let reach = quantile * (variance * replicate_scale(sets, deltas)).sqrt();
            let reach = reach / as_f64(deltas.len());
            mean.interval_of_these_sets = Some(Interval::around(mean.mean, reach));
        }
    }
    let p_values: Vec<Option<PValue>> = means.iter().map(|mean| mean.p_value).collect();
    for (mean, adjusted) in means.iter_mut().zip(adjusted_p_values(&p_values)) {
        mean.adjusted_p_value = adjusted;
    }
    means
}

fn summary(deltas: &[Delta], confidence: Confidence) -> Option<MeanDelta> {
    let changes: Vec<f64> = deltas.iter().map(Delta::change).collect();
    let of = |value: fn(&Delta) -> f64| mean(&deltas.iter().map(value).collect::<Vec<f64>>());
    // Deltas of one pair of sets follow one another.
    let pairs: Vec<(f64, f64)> = deltas
        .chunk_by(|one, other| one.set == other.set)
        .map(|own| {
            (
                as_f64(own.len()),
                own.iter().map(Delta::change).sum::<f64>() / as_f64(own.len()),
            )
        })
        .collect();
    let estimate = mean(&changes)?;
    let standard_error = error(&pairs, estimate);
    let freedom = as_f64(pairs.len()) - 1.0;
    let test = standard_error.map(|error| t_test(estimate, error, freedom, confidence));
    let (interval, p_value) = test.unwrap_or_default();
    let positive = deltas
        .iter()
        .all(|delta| delta.before > 0.0 && delta.after > 0.0);
    Some(MeanDelta {
        factor: deltas.first()?.factor,
        deltas: deltas.len(),
        set_pairs: pairs.len(),
        mean: estimate,
        median: median(&changes)?,
        standard_deviation: standard_deviation(&changes),
        mean_before: of(|delta| delta.before)?,
        mean_after: of(|delta| delta.after)?,
        mean_log2_ratio: of(|delta| (delta.after / delta.before).log2()).filter(|_| positive),
        standard_error,
        interval,
        interval_of_these_sets: None,
        p_value,
        adjusted_p_value: None,
    })
}

fn error(pairs: &[(f64, f64)], estimate: f64) -> Option<f64> {
    if pairs.len() < 2 {
        return None;
    }
    let total: f64 = pairs.iter().map(|(weight, _)| weight).sum();
    let squares: f64 = pairs
        .iter()
        .map(|(weight, own)| (weight * (own - estimate)).powi(2))
        .sum();
    let count = as_f64(pairs.len());
    Some((count / (count - 1.0) * squares).sqrt() / total)
}

/// Returns Σ wᵢ² (1/nᵢ + 1/nᵢ′) over the pairs of sets.
fn replicate_scale(sets: &MeasuredSets, deltas: &[Delta]) -> f64 {
    let runs = |set: u128| as_f64(sets.values(set).len());
    let pairs = deltas.chunk_by(|one, other| one.set == other.set);
    let scales = pairs.map(|pair| {
        let (Delta { set, factor, .. }, weight) = (pair[0], as_f64(pair.len()));
        weight * weight * (runs(set).recip() + runs(set | 1 << factor).recip())
    });
    scales.sum()
}
