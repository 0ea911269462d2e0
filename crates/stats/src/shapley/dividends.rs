//! Shapley values of a fitted model, in closed form.

use crate::linear_model::{Coefficient, LinearFit, ModelMatrix, ModelTerm};
use crate::{Confidence, Interval, as_f64};

/// What a fitted model attributes to one factor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ModelAttribution {
    /// The factor's number.
    pub factor: usize,
    /// The Shapley value with its standard error.
    pub value: Coefficient,
    /// Its interval; `None` without residual degrees of freedom.
    pub interval: Option<Interval>,
}

/// Returns the Shapley values of the step from one setting to another, from the coefficients of a model.
///
/// With two-level factors in coding 0, 1 the value of a set is Σ β of its terms, so from none to all φᵢ = βᵢ + ½ Σⱼ
/// βᵢⱼ (each term is shared equally by its factors: Harsanyi's dividends). In general a term of factors a, b changes
/// from x_a x_b to z_a z_b, and a gets ½ (z_a − x_a)(x_b + z_b), the mean over both orders. The standard error is
/// that of this contrast of the coefficients.
///
/// `from` and `to` are the rows of a matrix with the model's terms, such as that of the two settings. Factors whose
/// levels do not change get 0. A factor is left out if its share has an aliased column, whose value is unknown; so
/// the values sum to the predicted difference if none is.
///
/// Source: Harsanyi, *International Economic Review* 1963.
///
/// ```
/// use lapwing_stats::Confidence;
/// use lapwing_stats::linear_model::{FactorValues, LeastSquares, LinearFit, ModelMatrix, ModelTerm};
/// use lapwing_stats::shapley::model_attribution;
/// let model = |sets: &[u128]| ModelMatrix::new(&FactorValues::treatments(sets, 2), &ModelTerm::all_pairs(2)).expect("fits");
/// let runs = model(&[0, 1, 2, 3, 0, 1, 2, 3]);
/// let costs = [1180.0, 605.0, 690.0, 470.0, 1184.0, 605.0, 692.0, 475.0];
/// let fit = LinearFit::new(&runs, &costs, LeastSquares::default()).expect("finite");
/// let shares = model_attribution(&fit, &model(&[0, 3]), Confidence::P95);
/// let sum: f64 = shares.iter().map(|share| share.value.estimate).sum();
/// assert!((sum - (472.5 - 1182.0)).abs() < 1e-9);
/// ```
pub fn model_attribution(
    fit: &LinearFit,
    from_and_to: &ModelMatrix,
    confidence: Confidence,
) -> Vec<ModelAttribution> {
    if from_and_to.rows() != 2 {
        return Vec::new();
    }
    let meanings = from_and_to.meanings();
    let factor_of = |term: ModelTerm| match term {
        ModelTerm::Intercept => [None, None],
        ModelTerm::Main(factor) | ModelTerm::Square(factor) => [Some(factor), None],
        ModelTerm::Pair(one, other) => [Some(one), Some(other)],
    };
    let mut factors: Vec<usize> = meanings
        .iter()
        .flat_map(|meaning| factor_of(meaning.term))
        .flatten()
        .collect();
    factors.sort_unstable();
    factors.dedup();
    let weights = |factor: usize| -> Vec<f64> {
        (0..meanings.len())
            .map(|column| column_share(from_and_to, column, factor))
            .collect()
    };
    let attribution = |factor: usize| {
        let value = fit.contrast(&weights(factor))?;
        Some(ModelAttribution {
            factor,
            value,
            interval: value.interval(as_f64(fit.residual_freedom()), confidence),
        })
    };
    factors.into_iter().filter_map(attribution).collect()
}

/// The part of a column's change that is a factor's.
fn column_share(ends: &ModelMatrix, column: usize, factor: usize) -> f64 {
    let meaning = ends.meanings()[column];
    let change = ends.entry(1, column) - ends.entry(0, column);
    match meaning.term {
        ModelTerm::Main(own) | ModelTerm::Square(own) if own == factor => change,
        ModelTerm::Pair(one, other) if one == factor || other == factor => {
            // The part of the other factor stays at its level before or after.
            let own = usize::from(other == factor);
            let parts = [0, 1].map(|end| ends.parts(end, column));
            0.5 * (parts[1][own] - parts[0][own]) * (parts[0][1 - own] + parts[1][1 - own])
        }
        ModelTerm::Intercept | ModelTerm::Main(_) | ModelTerm::Square(_) | ModelTerm::Pair(..) => {
            0.0
        }
    }
}
