//! Remarks on the data of a study.

use crate::advise::StackOutcome;

/// A remark on the data of a study.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DataNote {
    /// Some runs lack factors, which are taken as absent there.
    LacksFactors {
        /// The factors.
        factors: Vec<String>,
    },
    /// Instances of earlier definitions of factors are excluded.
    EarlierDefinitions {
        /// Their number.
        instances: usize,
    },
    /// Instances of an earlier meaning of a benchmark are excluded.
    EarlierMeaning {
        /// Their number.
        instances: usize,
    },
    /// Settings have no usable value.
    FailedSettings {
        /// The settings.
        settings: Vec<String>,
    },
    /// Instances without a version of each package are excluded.
    LacksVersions {
        /// Their number.
        instances: usize,
        /// The packages.
        packages: Vec<String>,
    },
    /// Stacks failed at least once.
    FailedStacks {
        /// The stacks, and how often each was tried and failed.
        stacks: Vec<(String, StackOutcome)>,
    },
}
