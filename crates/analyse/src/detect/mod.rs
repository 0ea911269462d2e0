//! Changes in the history of benchmarks: one value per run, in the order of versions or of time.
//!
//! [`Histories`] gathers the series of all benchmarks, [`detect`] finds their changes: first those that a whole suite
//! shares, then those of each series, with the share of false findings controlled over all series of a metric.

#[cfg(test)]
mod annotated_tests;
mod by_name;
mod cause;
mod drift;
mod environment;
mod finding;
mod limits;
mod newest;
#[cfg(test)]
mod newest_tests;
mod night_noise;
#[cfg(test)]
mod nightly_tests;
mod noise;
mod options;
#[cfg(test)]
mod order_tests;
mod past;
mod points;
#[cfg(test)]
mod resolution_tests;
mod search;
mod searched;
mod searcher;
mod self_test;
mod series;
mod shared;
mod size;
mod states;
#[cfg(test)]
mod summaries_tests;
mod surroundings;
#[cfg(test)]
mod surroundings_tests;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod threshold;
mod triage;

pub use drift::{DriftRate, RatePeriod};
pub use environment::EnvironmentChange;
pub use finding::{
    ChangeKind, Direction, Evidence, ExceededThreshold, Finding, FindingGroup, Suspicion,
};
pub use night_noise::{NIGHTS_FOR_NOISE, NIGHTS_SINCE, NightNoise, NoNoiseReason, NoStepReason};
pub use options::{DetectOptions, DetectRule, HistoryOrder};
pub use past::{PastAcceptance, RECENT_RUNS, UnreviewedPast};
pub use search::{Detection, detect, detect_by};
pub use searched::{EnoughRuns, SearchedSeries};
pub use searcher::{
    FoundElsewhere, LocalSearcher, SeriesSearch, SeriesSearcher, search_file, write_searches,
};
pub use self_test::{
    AlarmCount, AlarmRate, DriftShare, JUDGED_NIGHTS, RUNS_FOR_A_SELF_TEST, ReplayNumbers,
    SeenStep, SelfTest, SelfTestOptions, SeriesSelfTest, SuiteSelfTest, self_test,
};
pub use series::{FAILURES, Histories, HistorySeries, Moment, SeriesPoint};
pub use size::ChangeSize;
pub use states::{JudgedCount, SeriesState, UnjudgedReason, measured};
pub use surroundings::SurroundingEffect;
pub use threshold::ThresholdRule;
pub use triage::{Triaged, change_id};
