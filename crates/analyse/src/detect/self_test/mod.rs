//! What the detector does on a user's own history: false alarms, and how soon planted changes are seen.
//!
//! Known changes are removed from the histories, what remains is resampled in blocks of nights that all benchmarks of a
//! suite share, and [`detect`] judges these replays as it judges the original: night by night without a change, with a
//! step in one benchmark, and with a drift.

mod counts;
mod nights;
mod planted;
mod quiet;
mod replay;
mod residuals;
#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use lapwing_stats::{Confidence, Seed, as_f64, wilson_interval};

use super::options::{DetectOptions, DetectRule};
use super::search::detect;
use super::series::Histories;
use super::states::SeriesState;
use crate::sample::Subject;

pub use counts::{AlarmCount, DriftShare, SeenStep};

use self::planted::planted;
use self::quiet::quiet;
use self::replay::ReplaySource;

/// The fewest runs of a history whose replays say anything.
pub const RUNS_FOR_A_SELF_TEST: usize = 20;
/// The number of nights after a planted step in which it may be seen, and of those of a replay without a change.
pub const JUDGED_NIGHTS: usize = 30;

/// Options of a self-test.
#[derive(Debug, Clone, PartialEq)]
pub struct SelfTestOptions {
    /// The planted changes for the worse, as factors above 1.
    pub slowdowns: Vec<f64>,
    /// The seed of the replays.
    pub seed: Seed,
    /// The number of values that all replays may have together, each counted every time that it is judged: a bound on
    /// the time.
    pub judged_values: usize,
}

impl Default for SelfTestOptions {
    fn default() -> Self {
        Self {
            slowdowns: vec![1.03, 1.05, 1.1],
            seed: Seed(7),
            judged_values: 3_000_000,
        }
    }
}

/// The error rates of the detector on a user's own histories.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SelfTest {
    /// The suites with a history that is long enough.
    pub suites: Vec<SuiteSelfTest>,
    /// The histories that are not replayed because they have too few runs, with their number.
    pub too_short: Vec<(Subject, usize)>,
    /// Number of histories that are not replayed because they are not measured any more.
    pub ended: usize,
    /// Number of histories that are not replayed because there are very many.
    pub left_out: usize,
    /// Number of changes that were removed before.
    pub removed: usize,
    /// The number of replays.
    pub replays: ReplayNumbers,
}

/// The number of replays of a self-test.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReplayNumbers {
    /// Those without a change, each judged in [`JUDGED_NIGHTS`] nights.
    pub quiet: usize,
    /// Those with a step, for each slowdown.
    pub steps: usize,
    /// Those with a drift, for each slowdown and length.
    pub drifts: usize,
}

/// The error rates of a suite.
#[derive(Debug, Clone, PartialEq)]
pub struct SuiteSelfTest {
    /// The name of the suite.
    pub suite: String,
    /// The number of its runs.
    pub runs: usize,
    /// How often it is measured; `None` if all runs are of one day.
    pub runs_per_year: Option<f64>,
    /// Its alarms, of which one that the whole suite shares is one.
    pub alarms: AlarmCount,
    /// Its histories.
    pub series: Vec<SeriesSelfTest>,
}

/// A number of events per night, with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AlarmRate {
    /// The number.
    pub value: f64,
    /// The lower end.
    pub lower: f64,
    /// The upper end.
    pub upper: f64,
}

impl SuiteSelfTest {
    /// Returns the rate of events that were counted in replays of this suite.
    ///
    /// Its interval is Wilson's, and of no event the rule of three (Hanley & Lippman-Hand, *JAMA* 1983), widened by what
    /// one history of N values in all says little about: the rates on several histories of the same noise differ by
    /// a standard deviation of √(150 / N) on logarithms (`docs/calibration.md`).
    pub fn rate(&self, events: usize, nights: usize) -> AlarmRate {
        const RULE_OF_THREE: f64 = 3.0;
        const HISTORY: f64 = 150.0;
        const Z: f64 = 1.96;
        let values: usize = self.series.iter().map(|it| it.runs).sum();
        let of_history = Z * (HISTORY / as_f64(values.max(1))).sqrt();
        let nights = nights.max(1);
        let value = as_f64(events) / as_f64(nights);
        let interval = wilson_interval(events.min(nights), nights, Confidence::P95);
        let Some(interval) = interval.filter(|_| events > 0) else {
            return AlarmRate {
                value,
                lower: 0.0,
                upper: RULE_OF_THREE / as_f64(nights) * of_history.exp(),
            };
        };
        let factor = |end: f64| (end / value).ln().hypot(of_history).exp();
        AlarmRate {
            value,
            lower: value / factor(interval.lower),
            upper: value * factor(interval.upper),
        }
    }

    /// Returns the steps of one slowdown in all of its histories.
    pub fn step(&self, slowdown: usize) -> SeenStep {
        let steps = self.series.iter().filter_map(|it| it.steps.get(slowdown));
        SeenStep {
            nights: steps.flat_map(|it| it.nights.iter().copied()).collect(),
        }
    }

    /// Returns the drifts of one slowdown in all of its histories.
    pub fn drift(&self, slowdown: usize) -> DriftShare {
        let drifts = self.series.iter().filter_map(|it| it.drifts.get(slowdown));
        drifts.copied().fold(DriftShare::default(), DriftShare::and)
    }
}

/// The error rates of one history.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesSelfTest {
    /// Benchmark, setting and metric.
    pub subject: Subject,
    /// Its runs.
    pub runs: usize,
    /// Alarms of its own.
    pub alarms: AlarmCount,
    /// By slowdown, in how many nights a step was seen; empty if nothing can be planted: some values are not positive.
    pub steps: Vec<SeenStep>,
    /// By slowdown, how often a drift was found.
    pub drifts: Vec<DriftShare>,
}

/// Returns what [`detect`] with these options does on replays of the histories, which are in order.
///
/// The changes that the default rule finds in them are removed first: levels are subtracted, drifts as robust lines,
/// on logarithms where all values are positive. What remains is resampled in circular blocks of consecutive nights
/// (Politis & Romano, *Exploring the Limits of Bootstrap* 1992), 5 to 28 nights: an eighth of the
/// history, and a third of it where nights resemble the night before; with everything that was observed in these nights. A slow wave longer than a block is lost, and so is a change that was
/// not found: it counts as noise.
///
/// The number of replays depends on the size of the histories and the options alone, so that the result does, too.
pub fn self_test(
    histories: &Histories,
    options: &DetectOptions,
    wanted: &SelfTestOptions,
) -> SelfTest {
    let mut plain = histories.clone();
    for series in &mut plain.series {
        series.smallest_effect = None;
    }
    let found = detect(
        &plain,
        &DetectOptions {
            rule: DetectRule::ChangePoint,
            ..DetectOptions::default()
        },
    );
    let mut test = SelfTest::default();
    let mut replayed = Vec::new();
    for (at, (series, state)) in plain.series.iter().zip(&found.states).enumerate() {
        let runs = series.points.len();
        match state {
            SeriesState::NotMeasured { .. }
            | SeriesState::NothingUsable { .. }
            | SeriesState::NeverUsable => test.ended += 1,
            _ if runs < RUNS_FOR_A_SELF_TEST => {
                test.too_short.push((series.subject.clone(), runs));
            }
            _ => replayed.push(at),
        }
    }
    if replayed.is_empty() {
        return test;
    }
    test.left_out = thin(&mut replayed, plain.moments.len());
    let source = ReplaySource::of(histories, &found.findings, &replayed);
    test.removed = found.groups.len();
    test.replays = source.replays(wanted);
    let options = DetectOptions {
        changed_since: None,
        ..*options
    };
    let alarms = quiet(&source, &options, wanted.seed, test.replays.quiet);
    let mut found = planted(&source, &options, wanted, test.replays);
    let mut suites: BTreeMap<usize, Vec<SeriesSelfTest>> = BTreeMap::new();
    for (at, series) in source.series.iter().enumerate() {
        let (steps, drifts) = std::mem::take(&mut found[at]);
        let of_suite = suites.entry(series.suite).or_default();
        of_suite.push(SeriesSelfTest {
            subject: series.template.subject.clone(),
            runs: series.runs(),
            alarms: alarms.series[at],
            steps,
            drifts,
        });
    }
    let suites = suites.into_iter().map(|(at, series)| {
        let suite = &source.suites[at];
        SuiteSelfTest {
            suite: suite.name.clone(),
            runs: suite.moments.len(),
            runs_per_year: suite.runs_per_year(),
            alarms: alarms.suites[at],
            series,
        }
    });
    test.suites = suites.collect();
    test
}

/// Keeps every second, third or further history where there are very many, and returns how many are left out.
fn thin(replayed: &mut Vec<usize>, moments: usize) -> usize {
    /// A replay has about this many values at most.
    const VALUES: usize = 40_000;
    const FEWEST: usize = 20;
    let all = replayed.len();
    let most = (VALUES / moments.max(1)).max(FEWEST);
    let every = all.div_ceil(most);
    *replayed = replayed.iter().copied().step_by(every).collect();
    all - replayed.len()
}

impl ReplaySource {
    /// Returns how many replays a number of judged values suffices for: nearly half of it for those without a change,
    /// a third for steps, the rest for drifts, and a few of each in any case.
    fn replays(&self, wanted: &SelfTestOptions) -> ReplayNumbers {
        /// The usual number of nights in which a replay with a step is judged.
        const JUDGED_STEPS: usize = 6;
        const FEWEST: usize = 5;
        let kinds = wanted.slowdowns.len().max(1);
        let values: usize = self.series.iter().map(replay::ReplaySeries::runs).sum();
        let values = values + self.series.len() * JUDGED_NIGHTS / 2;
        let judged = wanted.judged_values / values.max(1);
        ReplayNumbers {
            quiet: (judged * 45 / 100 / JUDGED_NIGHTS).clamp(2, 1000),
            steps: (judged / 3 / (kinds * JUDGED_STEPS)).clamp(FEWEST, 1000),
            drifts: (judged * 2 / 10 / (kinds * 2)).clamp(FEWEST, 1000),
        }
    }
}
