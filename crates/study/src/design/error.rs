//! What prevents a design.

use lapwing_stats::design::{DesignSpaceError, OptimalDesignError};

/// What prevents a design.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum StudyDesignError {
    /// There is nothing to vary.
    #[error("a study needs at least two factors with two levels, and there are {found}")]
    TooFewFactors {
        /// How many there are.
        found: usize,
    },
    /// A requirement that nothing can meet.
    #[error("`{factor}` requires `{missing}`, which takes no part in the study")]
    Requirement {
        /// The factor.
        factor: String,
        /// What it requires.
        missing: String,
    },
    /// A kind for two levels.
    #[error("{kind} has two levels per factor, and `{factor}` has {levels}")]
    Levels {
        /// The kind.
        kind: &'static str,
        /// The factor.
        factor: String,
        /// Its number of levels.
        levels: usize,
    },
    /// A kind that cannot respect requirements and exclusions.
    #[error("{kind} contains combinations that `requires` or `excludes` of `{factor}` forbids")]
    Constrained {
        /// The kind.
        kind: &'static str,
        /// The factor.
        factor: String,
    },
    /// More configurations than can be measured, or wanted.
    #[error("{kind} of these {factors} factors needs more than {most} configurations")]
    TooMany {
        /// The kind.
        kind: &'static str,
        /// The number of factors.
        factors: usize,
        /// The limit.
        most: usize,
    },
    /// Too few configurations.
    #[error("{kind} of these {factors} factors needs more than {runs} configurations")]
    TooFew {
        /// The kind.
        kind: &'static str,
        /// The number of factors.
        factors: usize,
        /// The number wanted.
        runs: usize,
    },
    /// The optimal design cannot be.
    #[error("an optimal design is impossible: {0}")]
    Optimal(#[from] OptimalDesignError),
    /// The factors make no space.
    #[error("these factors cannot be combined: {0}")]
    Space(#[from] DesignSpaceError),
    /// A named configuration that cannot be.
    #[error("configuration `{name}` is forbidden by a requirement or an exclusion")]
    Infeasible {
        /// Its name.
        name: String,
    },
    /// No configuration was named.
    #[error("no configuration is listed")]
    NoList,
    /// Nothing is left to add.
    #[error("every feasible configuration is measured already")]
    Complete,
    /// The base itself is forbidden, or nothing else is allowed.
    #[error("no combination of levels is feasible besides the base")]
    Nothing,
}
