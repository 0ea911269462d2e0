//! What was judged, and why the rest was not: the states of series, and the one count of them that texts, data, gates,
//! badges and pages share.

use std::collections::BTreeMap;

use lapwing_stats::as_f64;

use super::series::{Histories, HistorySeries};
use crate::sample::RunOrder;

/// A series is not measured any more if it has been missing for so many of its usual gaps.
const MISSING: f64 = 3.0;

/// The state of a series in the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeriesState {
    /// It was tested.
    Tested,
    /// It has too few runs.
    TooFew {
        /// The number that it has.
        runs: usize,
    },
    /// It was not tried at the newest moments of its suite. Changes until then are found, but nothing is known of now.
    NotMeasured {
        /// The moment at which it was tried last.
        since: usize,
    },
    /// It was tried at the newest moments, and has had no usable value since.
    NothingUsable {
        /// The moment of its last usable value.
        since: usize,
    },
    /// It was tried, and failed from its first run on.
    NeverUsable,
    /// It was searched, and it wanders: it has no level that could change, so nothing is said about it.
    Wanders,
    /// The order of its runs is not known.
    NoOrder,
}

/// Why a series was not judged. The order is that in which reasons are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum UnjudgedReason {
    /// It wanders.
    Wanders,
    /// It is not measured any more.
    NotMeasured,
    /// It has had no usable value for some time.
    NothingUsable,
    /// It failed from its first run on.
    NeverUsable,
    /// It has too few runs.
    TooFew,
    /// The order of its runs is not known.
    NoOrder,
}

impl UnjudgedReason {
    /// Returns its name: `too_few`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wanders => "wanders",
            Self::NotMeasured => "not_measured",
            Self::NothingUsable => "nothing_usable",
            Self::NeverUsable => "never_usable",
            Self::TooFew => "too_few",
            Self::NoOrder => "no_order",
        }
    }
}

impl SeriesState {
    /// Returns why nothing is concluded about the newest runs of the series; `None` if it was judged.
    pub fn unjudged(self) -> Option<UnjudgedReason> {
        match self {
            Self::Tested => None,
            Self::TooFew { .. } => Some(UnjudgedReason::TooFew),
            Self::NotMeasured { .. } => Some(UnjudgedReason::NotMeasured),
            Self::NothingUsable { .. } => Some(UnjudgedReason::NothingUsable),
            Self::NeverUsable => Some(UnjudgedReason::NeverUsable),
            Self::Wanders => Some(UnjudgedReason::Wanders),
            Self::NoOrder => Some(UnjudgedReason::NoOrder),
        }
    }

    /// Returns its name: `tested`, or why it was not judged.
    pub fn name(self) -> &'static str {
        self.unjudged().map_or("tested", UnjudgedReason::name)
    }
}

/// Number of series of measured metrics that were judged, and of those that were not, by reason.
///
/// The shares of failures are by-products: where nothing that was measured could be judged, that nothing more fails
/// than before is no judgement.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JudgedCount {
    /// Number of series.
    pub histories: usize,
    /// Number of those that were judged.
    pub judged: usize,
    /// Number of the others, by reason.
    pub unjudged: BTreeMap<UnjudgedReason, usize>,
}

impl JudgedCount {
    /// Counts the series of measured metrics; `states` has the state of each series.
    pub fn of(histories: &Histories, states: &[SeriesState]) -> Self {
        let mut count = Self::default();
        for (_, state) in measured(histories, states) {
            count.histories += 1;
            match state.unjudged() {
                None => count.judged += 1,
                Some(reason) => *count.unjudged.entry(reason).or_default() += 1,
            }
        }
        count
    }

    /// Returns whether all were judged.
    pub fn is_complete(&self) -> bool {
        self.judged == self.histories
    }

    /// Returns the number of series that were not judged for this reason.
    pub fn unjudged_for(&self, reason: UnjudgedReason) -> usize {
        self.unjudged.get(&reason).copied().unwrap_or(0)
    }
}

/// Returns the series of measured metrics, with their states.
pub fn measured<'h>(
    histories: &'h Histories,
    states: &'h [SeriesState],
) -> impl Iterator<Item = (&'h HistorySeries, SeriesState)> {
    let series = histories.series.iter().zip(states.iter().copied());
    series.filter(|(series, _)| series.is_measured())
}

/// Returns whether each series could be tested, and whether it is still measured.
pub(super) fn states_of(histories: &Histories, fewest_runs: usize) -> Vec<SeriesState> {
    let mut suites: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let states = histories.series.iter().map(|series| {
        let suite = series.subject.suite.as_str();
        let moments = suites.entry(suite).or_insert_with(|| {
            let moments = histories.moments_of_suite(suite);
            moments.into_iter().collect()
        });
        let values: Vec<usize> = series.points.iter().map(|point| point.moment).collect();
        let order = |moment: &usize| histories.moments[*moment].position.order;
        if values.len() > 1 && values.iter().any(|it| order(it) == RunOrder::Unknown) {
            return SeriesState::NoOrder;
        }
        if let Some(since) = ended(moments, &series.tried) {
            return SeriesState::NotMeasured { since };
        }
        if values.is_empty() {
            return SeriesState::NeverUsable;
        }
        if let Some(since) = ended(&series.tried, &values) {
            return SeriesState::NothingUsable { since };
        }
        match series.points.len() {
            runs if runs < fewest_runs => SeriesState::TooFew { runs },
            _ => SeriesState::Tested,
        }
    });
    states.collect()
}

/// Returns the last of some moments if they ended: if it is longer ago, in terms of all moments, than [`MISSING`]
/// times the usual gap between them. Jobs that run side by side share the moments of their suite, and some metrics
/// are not always there.
fn ended(all: &[usize], some: &[usize]) -> Option<usize> {
    let last = *some.last()?;
    let place = |moment: usize| as_f64(all.partition_point(|at| *at < moment));
    let gaps: Vec<f64> = some
        .windows(2)
        .map(|pair| place(pair[1]) - place(pair[0]))
        .collect();
    let usual = lapwing_stats::median(&gaps).unwrap_or(1.0).max(1.0);
    let missed = as_f64(all.len()) - 1.0 - place(last);
    (missed >= MISSING * usual).then_some(last)
}
