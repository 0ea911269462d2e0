//! Changes of the level of a noisy series, at a stated rate of false alarms.
//!
//! Each test asks whether the values of an interval could stand in any order: their normal
//! scores are split where the two parts differ most, and the p-value allows for the choice
//! of the split. Nothing is assumed about the distribution of the noise, so outliers,
//! skewness and several modes raise no false alarms. Autocorrelation would; it is estimated
//! robustly and removed first.
//!
//! Sources: permutation tests for a change, Antoch & Hušková, *Statistics & Probability
//! Letters* 2001; the tail of the maximum, James, James & Siegmund, *Biometrika* 1987; seeded
//! intervals, Kovács, Bühlmann, Li & Munk, *Biometrika* 2023.

mod autocorrelation;
mod evidence;
mod location;
mod noise;
mod permutation;
mod prefix;
mod scan;
mod search;
mod settle;
mod size;
#[cfg(test)]
pub(super) mod testing;
#[cfg(test)]
mod tests;
mod volatility;
mod wander;

pub(super) use autocorrelation::innovations;
pub(super) use evidence::{clearest_p_value, located, may_wander};
use search::normal_scores;
pub use search::{LevelChange, LevelChanges, LevelNoise, LevelOptions, level_changes};
pub use size::{LevelDifference, level_difference};
