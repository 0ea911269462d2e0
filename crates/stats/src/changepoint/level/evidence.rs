//! The evidence for changes that were found by other means than the search.

use super::autocorrelation::removable_autocorrelation;
use super::search::{
    FoundSplit, LevelChange, LevelOptions, Search, WANDERING, normal_scores, places,
};

/// Returns whether values have so much autocorrelation around one level that they may wander.
pub(in crate::changepoint) fn may_wander(values: &[f64]) -> bool {
    removable_autocorrelation(&normal_scores(values)) > WANDERING
}

/// Returns the p-value of the clearest change of the level that the search finds; none if it finds nothing.
pub(in crate::changepoint) fn clearest_p_value(
    values: &[f64],
    options: &LevelOptions,
) -> Option<f64> {
    let scores = normal_scores(values);
    let found = Search::new(&scores, options).found();
    let p_values = found.iter().map(|split| split.p_value);
    p_values.min_by(f64::total_cmp)
}

/// Returns changes at or near these indices, which are in order, with the ranges of their places.
pub(in crate::changepoint) fn located(
    values: &[f64],
    autocorrelation: f64,
    steps: &[usize],
    p_value: f64,
    options: &LevelOptions,
) -> Vec<LevelChange> {
    let scores = normal_scores(values);
    let found = steps.iter().map(|index| FoundSplit {
        index: *index,
        p_value,
    });
    let mut found: Vec<FoundSplit> = found.collect();
    let search = Search::new(&scores, options);
    places(values, &search, autocorrelation, &mut found)
}
