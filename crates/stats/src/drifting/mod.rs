//! The commits that changed a metric, on a machine whose own speed changes while they are searched.
//!
//! The logarithm of instance *t* is the speed of the machine, which moves, plus the change if its commit is at or after
//! it, plus noise. The place of the change, its size, the scale of the noise, the kind of machine and its speed are
//! unknown together, and their joint posterior is filtered on a grid. What follows is measured from it: the commit that
//! tells most for its cost, or first a commit of known side if the doubt about the machine costs more.
//!
//! `docs/calibration.md` has how often searches end right on simulated machines.

mod filter;
mod information;
mod pairs;
mod part;
mod search;
mod speed;
#[cfg(test)]
mod tests;

pub use pairs::PairDifference;
pub use search::{DriftingSearch, half_even};

/// The limits of a search.
#[derive(Debug, Clone, Copy)]
pub struct SearchLimits {
    /// The probability at which a commit is compared with its parent.
    pub confidence: f64,
    /// The most instances of each commit in a comparison.
    pub most_pairs: usize,
    /// The most instances in all.
    pub most: usize,
    /// Whether going to another commit costs much each time, so that comparisons change less often.
    pub is_dear: bool,
}

/// What a search measures next.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NextMeasurements {
    /// The commits, one instance of each, in this order.
    pub commits: Vec<usize>,
    /// The information of the first, in bits per instance of its cost; infinite in a comparison.
    pub rate: f64,
}

/// The part of a search that is under way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SearchStage {
    /// These ends are compared.
    Ends([usize; 2]),
    /// Commits between the ends are measured.
    Between,
    /// The second of these is suspected, and compared with the first.
    Parent([usize; 2]),
    /// It is over.
    Ended(SearchEnd),
}

/// The end of a search for one change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SearchEnd {
    /// The ends do not differ enough.
    Alike,
    /// This end cannot be measured.
    BrokenEnd(usize),
    /// A change was found.
    Found(FoundChange),
    /// No commit could be told to be the one: that is the likeliest.
    NotFound(SuspectedCommits),
}

/// Commits of which one may have changed the metric: one, or several of which only the last can be measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SuspectedCommits {
    /// The first of them.
    pub first: usize,
    /// The last of them.
    pub last: usize,
    /// The probability that one of them is the one, if there is one change.
    pub probability: f64,
}

/// A change that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FoundChange {
    /// Its commit, or those of which one is it.
    pub commits: SuspectedCommits,
    /// The difference from the commit before.
    pub difference: PairDifference,
    /// Whether that fits the difference of the ends.
    pub is_whole: bool,
}
