//! How much the sessions of a benchmark differ, from its earlier ones.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_stats::changepoint::{LevelOptions, level_changes};
use lapwing_stats::{
    SessionMean, SideHosts, VariancePrior, as_f64, mean, noisier_by, session_variance,
    sum_of_variances,
};

use super::compare::SideSample;
use super::replication::session_sides::SessionSides;
use super::replication::unit::log_means;
use lapwing_model::{Id, Levels};

/// How much sessions of a benchmark differ, as far as the store knows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SessionNoise {
    /// The variance of the mean of a session as large as those that are compared.
    pub variance: VariancePrior,
    /// The number of earlier sessions that say so; 0 if only the compared ones do.
    pub sessions: usize,
    /// Whether this includes what the hosts of the sides differ by, if they have other ones.
    pub hosts_are_known: bool,
}

impl SessionNoise {
    /// Nothing is known but from the compared sessions themselves.
    pub const UNKNOWN: Self = Self {
        variance: VariancePrior::NONE,
        sessions: 0,
        hosts_are_known: true,
    };

    /// Returns the relative standard deviation of a session's mean.
    pub fn deviation(&self) -> f64 {
        self.variance.variance.sqrt()
    }
}

/// Levels are versions if these leave so many degrees of freedom, and at least half of the sessions.
const ENOUGH_OF_VERSIONS: usize = 5;

/// A session of one setting of a benchmark, before the compared ones.
#[derive(Debug, Clone)]
pub(super) struct EarlierSession {
    pub session: Id,
    pub variant: String,
    pub levels: Levels,
    pub version: Option<String>,
    host: Option<String>,
    fingerprints: BTreeSet<String>,
    /// The logarithms of its instances.
    logs: Vec<f64>,
}

impl EarlierSession {
    /// Returns the session of a side; `None` without values, or if a mean is not positive.
    pub fn of(
        side: &SideSample,
        [variant, version]: [Option<String>; 2],
        levels: Levels,
    ) -> Option<Self> {
        let [logs, _] = log_means([side, side])?;
        let one = |names: &BTreeSet<String>| names.first().filter(|_| names.len() == 1).cloned();
        Some(Self {
            session: side.origins.first()?.session,
            variant: variant?,
            levels,
            version,
            host: one(&side.hosts),
            fingerprints: side.fingerprints.clone(),
            logs,
        })
    }
}

/// The earlier sessions of one setting of a benchmark, in order.
pub(super) struct SessionHistory {
    means: Vec<SessionMean>,
    /// The mean of 1 / instances over the sessions.
    mean_share: f64,
    /// The variance of instances within sessions.
    within: VariancePrior,
}

impl SessionHistory {
    /// Returns the history of the setting with the most sessions, among those of the compared variants if there are any;
    /// `None` without sessions. Sessions in which the benchmark itself was another one do not count.
    pub fn of(sessions: &[EarlierSession], variants: &BTreeSet<String>) -> Option<Self> {
        let mut by_setting: BTreeMap<(bool, &str, &Levels), Vec<&EarlierSession>> = BTreeMap::new();
        for session in sessions {
            let is_compared = variants.contains(&session.variant);
            let key = (is_compared, session.variant.as_str(), &session.levels);
            let of_setting = by_setting.entry(key).or_default();
            // Versions of one session have that session in common.
            match of_setting.last_mut() {
                Some(last) if last.session == session.session => *last = session,
                Some(_) | None => of_setting.push(session),
            }
        }
        let best = by_setting
            .into_iter()
            .max_by_key(|((is_compared, ..), of_setting)| (*is_compared, of_setting.len()));
        let (_, mut chosen) = best?;
        let latest = chosen.last()?.fingerprints.clone();
        chosen.retain(|it| it.fingerprints == latest);
        let values: Vec<f64> = chosen.iter().filter_map(|it| mean(&it.logs)).collect();
        let levels = levels(&chosen, &values);
        let mut hosts: BTreeMap<Option<&str>, usize> = BTreeMap::new();
        let means = chosen
            .iter()
            .zip(&values)
            .zip(levels)
            .map(|((session, value), level)| {
                let next = hosts.len();
                SessionMean {
                    value: *value,
                    level,
                    host: *hosts.entry(session.host.as_deref()).or_insert(next),
                }
            });
        let within = chosen.iter().flat_map(|it| {
            let centre = mean(&it.logs).unwrap_or(0.0);
            it.logs.iter().map(move |log| (log - centre).powi(2))
        });
        let squares: f64 = within.sum();
        let freedom: f64 = chosen.iter().map(|it| as_f64(it.logs.len()) - 1.0).sum();
        let shares: Vec<f64> = chosen
            .iter()
            .map(|it| as_f64(it.logs.len()).recip())
            .collect();
        Some(Self {
            means: means.collect(),
            mean_share: mean(&shares)?,
            within: VariancePrior::of_squares(squares, freedom),
        })
    }

    /// Returns the number of sessions.
    pub fn len(&self) -> usize {
        self.means.len()
    }

    /// Returns the variance of a session's mean about its level.
    pub fn variance(&self, hosts: SideHosts) -> Option<VariancePrior> {
        session_variance(&self.means, hosts)
    }
}

/// Returns the variance of the mean of a session of today, from that of earlier ones: larger on a day on which the
/// instances of a session differ more than they did, and if today's sessions have fewer instances.
pub(super) fn of_today(
    known: VariancePrior,
    history: Option<&SessionHistory>,
    today: &SessionSides,
) -> VariancePrior {
    let (factor, missing) = match history {
        Some(history) => (
            noisier_by(&today.within, &history.within),
            (today.mean_share - history.mean_share).max(0.0),
        ),
        None => (1.0, 0.0),
    };
    let sum = sum_of_variances(&[(factor, known), (missing, today.within)]);
    // Sessions differ at least by what the means of their instances differ by.
    VariancePrior {
        variance: sum.variance.max(today.within.variance * today.mean_share),
        ..sum
    }
}

/// Returns the number of the level of each session: its version, if enough sessions share one, else the stretch of
/// the history without a change of the level.
fn levels(sessions: &[&EarlierSession], values: &[f64]) -> Vec<usize> {
    let mut versions: BTreeMap<&str, usize> = BTreeMap::new();
    let of_versions: Option<Vec<usize>> = sessions
        .iter()
        .map(|session| {
            let next = versions.len();
            Some(*versions.entry(session.version.as_deref()?).or_insert(next))
        })
        .collect();
    let left = sessions.len() - versions.len();
    match of_versions {
        Some(levels) if left >= ENOUGH_OF_VERSIONS && 2 * left >= sessions.len() => levels,
        Some(_) | None => {
            let changes = level_changes(values, &LevelOptions::default()).changes;
            let before = |at: usize| changes.iter().filter(|it| it.index <= at).count();
            (0..values.len()).map(before).collect()
        }
    }
}

#[cfg(test)]
mod tests;
