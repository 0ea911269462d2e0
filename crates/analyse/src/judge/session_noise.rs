//! How much the sessions of a benchmark differ, from its earlier ones.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_stats::changepoint::{LevelOptions, level_changes};
use lapwing_stats::{
    SessionMean, SideHosts, VariancePrior, as_f64, known_with_suite, mean, noisier_by,
    session_variance, sum_of_variances,
};

use super::compare::{Comparison, SideSample};
use super::earlier::{EarlierComparisons, EarlierKey};
use super::replication::session_sides::SessionSides;
use super::replication::unit::{Replication, log_means};
use crate::sample::{SideSetting, Subject};
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
    pub(super) const UNKNOWN: Self = Self {
        variance: VariancePrior::NONE,
        sessions: 0,
        hosts_are_known: true,
    };

    /// Returns the relative standard deviation of a session's mean.
    pub fn deviation(&self) -> f64 {
        self.variance.variance.sqrt()
    }
}

/// With fewer degrees of freedom, the variance between sessions is not known, and that between hosts.
const KNOWN_FROM: f64 = 2.0;
const HOSTS_KNOWN_FROM: f64 = 0.99;

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
    pub fn of(sessions: &[EarlierSession], settings: &[SideSetting; 2]) -> Option<Self> {
        let mut by_setting: BTreeMap<(bool, &str, &Levels), Vec<&EarlierSession>> = BTreeMap::new();
        for session in sessions {
            let is_compared = settings
                .iter()
                .any(|it| it.variants.contains(&session.variant));
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
            within: VariancePrior {
                variance: if freedom > 0.0 {
                    squares / freedom
                } else {
                    0.0
                },
                freedom,
            },
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

impl EarlierComparisons {
    /// Gives the comparisons of different sessions the sessions as replicates, with how much these differ as far as the
    /// earlier sessions of the benchmark, and of its suite by that metric, say.
    pub(super) fn allow_for_sessions(&self, comparisons: &mut [Comparison], members: &[usize]) {
        for at in members {
            let comparison = &mut comparisons[*at];
            if comparison.ratio.is_none() {
                continue;
            }
            let replication = comparison.by_session.as_ref().and_then(|sides| {
                let noise = self.noise(&comparison.subject, &comparison.settings, sides)?;
                Replication::of_sessions(sides, noise)
            });
            if let Some(replication) = replication {
                comparison.use_sessions(replication);
            }
        }
    }

    /// Returns how much sessions of a benchmark differ; `None` if the earlier ones do not show it.
    ///
    /// If they do not show what the hosts of the sides differ by, it is how much sessions on one host differ.
    fn noise(
        &self,
        subject: &Subject,
        settings: &[SideSetting; 2],
        today: &SessionSides,
    ) -> Option<SessionNoise> {
        let on_hosts = |hosts| self.noise_on(hosts, subject, settings, today);
        on_hosts(today.hosts).or_else(|| {
            let on_same = on_hosts(SideHosts::Same).filter(|_| today.hosts == SideHosts::Other)?;
            Some(SessionNoise {
                hosts_are_known: false,
                ..on_same
            })
        })
    }

    fn noise_on(
        &self,
        hosts: SideHosts,
        subject: &Subject,
        settings: &[SideSetting; 2],
        today: &SessionSides,
    ) -> Option<SessionNoise> {
        let is_of_suite = |key: &EarlierKey| key.0 == subject.suite && key.2 == subject.metric;
        let (mut own, mut of_suite, mut sessions) = (None, Vec::new(), 0);
        for (key, earlier) in self.sessions.iter().filter(|(key, _)| is_of_suite(key)) {
            let Some(history) = SessionHistory::of(earlier, settings) else {
                continue;
            };
            of_suite.extend(history.variance(hosts));
            if key.1 == subject.benchmark {
                own = Some(history);
            } else {
                sessions = sessions.max(history.len());
            }
        }
        let known = own.as_ref().and_then(|history| history.variance(hosts));
        let sessions = own.as_ref().map_or(sessions, SessionHistory::len);
        let known = known_with_suite(&of_suite, &[known])[0];
        let least = match hosts {
            SideHosts::Same => KNOWN_FROM,
            SideHosts::Other => HOSTS_KNOWN_FROM,
        };
        (known.freedom >= least).then(|| SessionNoise {
            variance: of_today(known, own.as_ref(), today),
            sessions,
            hosts_are_known: true,
        })
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
