//! Linear models of factors: least squares, robust errors, selection of terms.

mod column;
mod difference;
mod discover;
mod factor;
mod fit;
mod matrix;
mod predict;
mod robust;
mod select;
mod sweep;
#[cfg(test)]
mod tests;

pub use difference::CoefficientDifference;
pub use discover::{
    DiscoveredTerm, DiscoveredTerms, DiscoverySize, ReplicateNoise, discover_terms, discovery_size,
    holm_threshold, main_effect_aliases,
};
pub use fit::{Coefficient, LeastSquares, LinearFit, LinearModelError};
pub use matrix::{ColumnMeaning, FactorValues, ModelMatrix, ModelMatrixError, ModelTerm};
pub use predict::{LinearPrediction, RunDiagnostics};
pub use robust::RobustErrors;
pub use select::{TermSelection, select_terms};
