//! Verdicts of comparisons, and why there is no clearer one.

use lapwing_stats::NeededReplicates;

/// The verdict of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The candidate is worse.
    Regression,
    /// The candidate is better.
    Improvement,
    /// The candidate is worse in these runs, of one process per side; another process may differ.
    WorseInRuns,
    /// The candidate is better in these runs.
    BetterInRuns,
    /// The candidate hardly differs in these runs.
    UnchangedInRuns,
    /// The candidate has more or less of a metric of which it is unknown whether more is better.
    Changed,
    /// The candidate surely differs by less than the smallest effect that matters, or than 3 %.
    Equivalent,
    /// The data do not decide.
    Inconclusive,
    /// A side was not measured.
    NotMeasured,
}

impl Verdict {
    /// Every verdict.
    pub const ALL: [Self; 9] = [
        Self::Regression,
        Self::Improvement,
        Self::WorseInRuns,
        Self::BetterInRuns,
        Self::UnchangedInRuns,
        Self::Changed,
        Self::Equivalent,
        Self::Inconclusive,
        Self::NotMeasured,
    ];

    /// Returns its name in data: `not_measured`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Regression => "regression",
            Self::Improvement => "improvement",
            Self::WorseInRuns => "worse_in_runs",
            Self::BetterInRuns => "better_in_runs",
            Self::UnchangedInRuns => "unchanged_in_runs",
            Self::Changed => "changed",
            Self::Equivalent => "equivalent",
            Self::Inconclusive => "inconclusive",
            Self::NotMeasured => "not_measured",
        }
    }

    /// Returns whether it is about the runs of one process per side alone.
    pub fn is_in_runs(self) -> bool {
        matches!(
            self,
            Self::WorseInRuns | Self::BetterInRuns | Self::UnchangedInRuns
        )
    }

    /// Returns its name in text: `not measured`.
    pub fn title(self) -> &'static str {
        match self {
            Self::WorseInRuns => "worse in these runs",
            Self::BetterInRuns => "better in these runs",
            Self::UnchangedInRuns => "no change in these runs",
            Self::Equivalent => "no change",
            Self::Inconclusive => "undecided",
            Self::NotMeasured => "not measured",
            Self::Regression | Self::Improvement | Self::Changed => self.name(),
        }
    }
}

/// Reasons why there is no clearer verdict.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum VerdictReason {
    /// A side has fewer instances than a verdict needs.
    FewInstances,
    /// A side has fewer sessions than the options require.
    FewSessions {
        /// The number of each side.
        sessions: [usize; 2],
        /// The required number.
        required: usize,
    },
    /// A side has only summaries from a source without samples, of fewer runs than a verdict needs.
    OnlySummaries,
    /// The values of the sides are different centres, such as medians and means.
    OtherCentre,
    /// A mean is zero or negative, so that there is no ratio.
    NotPositive {
        /// Number of instances with such a mean, if both means over all instances are above zero and only the
        /// logarithms of instances are undefined.
        instances: usize,
    },
    /// The method gives no ratio of these values: no variation, or numbers too large.
    Undefined,
    /// It is unknown whether more of the metric is better or worse.
    NoDirection,
    /// The interval is too wide; so many replicates per side would give a verdict.
    TooWide {
        /// The number; `None` if the method has no replicates.
        needed: Option<NeededReplicates>,
    },
    /// Significant alone, but not after correction for the number of comparisons.
    ManyComparisons {
        /// The number of comparisons in the family.
        comparisons: usize,
        /// So many replicates per side would give a verdict.
        needed: Option<NeededReplicates>,
    },
    /// All values of both sides are equal.
    AllEqual,
    /// The baseline was never measured: the benchmark is new.
    NoBaseline,
    /// The candidate was never measured.
    NoCandidate,
    /// The benchmark changed between the sides: they are of different epochs.
    OtherBenchmark,
    /// The values are in units that cannot be converted into each other.
    OtherUnit,
    /// More of the metric is better on one side and worse on the other.
    OtherDirection,
    /// A side never reaches a steady state.
    NeverSteady,
    /// Every iteration of a side failed or was excluded.
    NothingLeft {
        /// Number of failed iterations and instances of that side.
        failures: usize,
    },
}
