//! Bisection: the commit that changed a benchmark, by visits to the most informative commits.

mod case_search;
mod comparison;
mod instances;
mod resume;
mod search;
mod visits;

use lapwing_record::StoreError;
use lapwing_stats::{LookedDifference, PairDifference};

use crate::session::SessionError;

pub use case_search::{CaseSearch, FoundCommit, LineSearch};
pub use comparison::{CommitComparison, ComparisonEnd, SideComparison, StoredBaseline};
pub use instances::{InstanceWatch, instance_mean};
pub use resume::{ResumedSearch, SEARCH};
pub use search::{CommitSearch, SearchOptions, SearchPrior};
pub use visits::{CommitReadiness, CommitVisits, StoredMeasurements};

/// News of a search.
#[derive(Debug, Clone)]
pub struct SearchNews {
    /// The benchmark, where there are several.
    pub benchmark: Option<String>,
    /// Its step.
    pub step: SearchStep,
}

/// A step of a search; commits are named by their labels.
#[derive(Debug, Clone)]
pub enum SearchStep {
    /// The ends of a line of commits are to be compared.
    Ends {
        /// Both ends.
        ends: [String; 2],
        /// Number of commits from the first one to the second.
        later: usize,
    },
    /// Two sides of a judgement were compared.
    Looked(Box<LookedDifference>),
    /// Two commits were compared.
    Compared {
        /// Their difference.
        difference: PairDifference,
        /// Whether that was the last look at it.
        is_last: bool,
    },
    /// Commits between the ends were measured.
    Measured {
        /// The commits, and whether they could be measured.
        commits: Vec<(String, bool)>,
        /// Whether one of them had not been measured before.
        is_new: bool,
        /// The likeliest commit.
        suspect: String,
        /// Its probability.
        probability: f64,
    },
    /// The likeliest commit is to be compared with its parent.
    Parent {
        /// Both commits.
        commits: [String; 2],
    },
    /// They do not differ as the ends do, and the search goes on.
    SearchesOn,
    /// It may not be all of the ends' difference, and the rest is searched.
    SearchesRest,
    /// The commit is a merge, and what it brought is to be searched.
    Merge {
        /// The merge.
        merge: String,
        /// The number of commits that it brought.
        commits: usize,
    },
    /// Stored instances do not fit the search.
    Unused {
        /// Their number.
        instances: usize,
    },
}

/// A stored search that cannot be continued.
#[derive(Debug, thiserror::Error)]
pub enum BisectionError {
    /// There is none.
    #[error("there is no bisection to resume")]
    NothingToResume,
    /// The session is another one.
    #[error("session `{name}` is no bisection")]
    NoBisection {
        /// The name of the session.
        name: String,
    },
    /// The session has no runs.
    #[error("session `{name}` was ended before anything was measured")]
    EndedEarly {
        /// The name of the session.
        name: String,
    },
    /// The options of the search cannot be read.
    #[error(transparent)]
    Options(#[from] serde_json::Error),
    /// The session cannot be continued.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
