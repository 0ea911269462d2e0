//! Error rates as rows, for JSON and CSV.

use lapwing_analyse::detect::{AlarmCount, DriftShare, SeenStep, SuiteSelfTest};
use schemars::JsonSchema;
use serde::Serialize;

use super::super::rows::SubjectFields;

/// Error rates for programs; slowdowns are factors.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SelfTestFields<'a> {
    /// `changepoint` or `threshold`.
    pub rule: &'static str,
    /// Of the rule `changepoint`.
    pub false_discovery_rate: Option<f64>,
    pub seed: u64,
    /// The planted slowdowns.
    pub slowdowns: &'a [f64],
    /// Number of runs after a planted step in which it may be seen.
    pub judged_runs: usize,
    /// Number of runs that a history needs.
    pub required_runs: usize,
    /// Number of changes that were removed before.
    pub removed: usize,
    pub replays: ReplayFields,
    /// Alarms of each suite.
    pub suites: Vec<SuiteFields<'a>>,
    /// Of each suite and of each history, by slowdown.
    pub rates: Vec<RateRow<'a>>,
    /// Histories with too few runs.
    pub too_short: Vec<ShortHistory<'a>>,
    /// Number of histories that are not measured any more.
    pub ended: usize,
    /// Number of histories that are not replayed because there are very many.
    pub left_out: usize,
}

/// Number of replays.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReplayFields {
    /// Without a change, each of `judged_runs` runs.
    pub quiet: usize,
    /// With a step of each size.
    pub steps: usize,
    /// With a drift of each size, over the whole history and over its last half.
    pub drifts: usize,
}

/// Alarms of a suite in which nothing changed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SuiteFields<'a> {
    pub suite: &'a str,
    pub runs: usize,
    /// How often it is measured; `null` if all runs are of one day.
    pub runs_per_year: Option<f64>,
    #[serde(flatten)]
    pub alarms: AlarmFields,
}

/// Alarms of a suite or a history.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct AlarmFields {
    /// Number of false findings in `quiet_runs`.
    pub alarms: usize,
    pub suspicions: usize,
    /// Number of runs that were judged and in which nothing changed.
    pub quiet_runs: usize,
    pub alarms_per_run: f64,
    /// `null` if it is unknown how many runs a year has.
    pub alarms_per_year: Option<f64>,
    pub alarms_per_year_lower: Option<f64>,
    pub alarms_per_year_upper: Option<f64>,
    pub suspicions_per_year: Option<f64>,
}

/// What is found of the planted changes of one size.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct RateRow<'a> {
    pub suite: &'a str,
    /// `null` for all histories of the suite together.
    pub benchmark: Option<&'a str>,
    pub variant: Option<String>,
    pub metric: Option<&'a str>,
    /// `null` where nothing can be planted: some values are not positive.
    pub slowdown: Option<f64>,
    /// Number of planted steps.
    pub steps: usize,
    /// Number of those that were found within `judged_runs`.
    pub steps_found: usize,
    /// The number of runs until half of the steps are found; `null` if fewer are.
    pub runs_to_find_half: Option<usize>,
    /// The same for 90 %.
    pub runs_to_find_90: Option<usize>,
    /// Number of drifts over the whole history.
    pub drifts: usize,
    pub drifts_found: usize,
    /// Number of drifts over the last half of the history.
    pub late_drifts: usize,
    pub late_drifts_found: usize,
    #[serde(flatten)]
    pub alarms: AlarmFields,
}

/// A history with too few runs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ShortHistory<'a> {
    #[serde(flatten)]
    pub subject: SubjectFields<'a>,
    pub runs: usize,
}

impl AlarmFields {
    pub fn new(suite: &SuiteSelfTest, count: AlarmCount) -> Self {
        let rate = suite.rate(count.alarms, count.nights);
        let suspicions = suite.rate(count.suspicions, count.nights);
        let per_year = |rate: f64| suite.runs_per_year.map(|runs| runs * rate);
        Self {
            alarms: count.alarms,
            suspicions: count.suspicions,
            quiet_runs: count.nights,
            alarms_per_run: rate.value,
            alarms_per_year: per_year(rate.value),
            alarms_per_year_lower: per_year(rate.lower),
            alarms_per_year_upper: per_year(rate.upper),
            suspicions_per_year: per_year(suspicions.value),
        }
    }
}

impl<'a> RateRow<'a> {
    /// Returns the rows of a suite: its own, then those of its histories.
    pub fn of_suite(suite: &'a SuiteSelfTest, slowdowns: &'a [f64]) -> Vec<Self> {
        let sizes = || slowdowns.iter().enumerate();
        let own = sizes().map(|(at, slowdown)| Self {
            suite: &suite.suite,
            alarms: AlarmFields::new(suite, suite.alarms),
            ..Self::found(*slowdown, &suite.step(at), suite.drift(at))
        });
        let mut rows: Vec<Self> = own.collect();
        for series in &suite.series {
            let row = |found: Self| Self {
                suite: &suite.suite,
                benchmark: Some(&series.subject.benchmark),
                variant: series.subject.setting.variant_name(),
                metric: Some(&series.subject.metric),
                alarms: AlarmFields::new(suite, series.alarms),
                ..found
            };
            if series.steps.is_empty() {
                rows.push(row(Self::default()));
            }
            let found = series.steps.iter().zip(&series.drifts).zip(slowdowns);
            rows.extend(found.map(|((step, drift), it)| row(Self::found(*it, step, *drift))));
        }
        rows
    }

    fn found(slowdown: f64, step: &SeenStep, drift: DriftShare) -> Self {
        let seen = step.seen();
        Self {
            slowdown: Some(slowdown),
            steps: seen.of,
            steps_found: seen.found,
            runs_to_find_half: step.within(0.5),
            runs_to_find_90: step.within(0.9),
            drifts: drift.whole.of,
            drifts_found: drift.whole.found,
            late_drifts: drift.last_half.of,
            late_drifts_found: drift.last_half.found,
            ..Self::default()
        }
    }
}
