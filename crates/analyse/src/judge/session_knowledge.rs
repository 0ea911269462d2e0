//! What the earlier sessions of suites say of how much the sessions of their benchmarks differ.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_stats::{Confidence, SideHosts, VariancePrior, known_noise_test, known_with_suite};
use rayon::prelude::*;

use super::caution::Caution;
use super::compare::{Comparison, SideSample, with_centres};
use super::earlier::EarlierComparisons;
use super::replication::session_sides::SessionSides;
use super::replication::unit::Replication;
use super::session_noise::{SessionHistory, SessionNoise, of_today};
use crate::sample::{SideSetting, Subject};
use lapwing_model::MetricName;

/// With fewer degrees of freedom, the variance between sessions is not known, and that between hosts.
const KNOWN_FROM: f64 = 2.0;
const HOSTS_KNOWN_FROM: f64 = 0.99;

/// A suite and metric, and the variants that are compared.
type SuiteKey = (String, MetricName, BTreeSet<String>);

/// What is known of the sessions of suites, each looked up once.
pub(super) struct SessionKnowledge<'e> {
    earlier: &'e EarlierComparisons,
    suites: BTreeMap<SuiteKey, SuiteSessions>,
}

/// The earlier sessions of the benchmarks of a suite by one metric.
struct SuiteSessions {
    histories: BTreeMap<String, SessionHistory>,
    same_hosts: KnownVariances,
    other_hosts: KnownVariances,
}

/// The variance of a session's mean of each benchmark, and of one that has no sessions.
struct KnownVariances {
    by_benchmark: BTreeMap<String, VariancePrior>,
    of_suite: VariancePrior,
}

impl<'e> SessionKnowledge<'e> {
    pub fn of(earlier: &'e EarlierComparisons) -> Self {
        Self {
            earlier,
            suites: BTreeMap::new(),
        }
    }

    /// Gives the comparisons of different sessions the sessions as replicates, with how much these differ as far as the
    /// earlier sessions of the benchmark, and of its suite by that metric, say.
    pub fn allow_for_sessions(&mut self, comparisons: &mut [Comparison], members: &[usize]) {
        for at in members {
            let comparison = &mut comparisons[*at];
            if comparison.ratio.is_none() {
                continue;
            }
            let replication = comparison.by_session.as_ref().and_then(|sides| {
                let settings = comparison.settings.each_ref();
                let noise = self.noise(&comparison.subject, settings, sides)?;
                Replication::of_sessions(sides, noise)
            });
            if let Some(replication) = replication {
                comparison.use_sessions(replication);
            }
        }
    }

    /// Returns half the width of the interval of a difference, if the sides are from different sessions and the earlier
    /// ones show how much these differ.
    pub fn half_width(
        &mut self,
        subject: &Subject,
        sides: [&SideSample; 2],
        logs: &[Vec<f64>; 2],
        confidence: Confidence,
    ) -> Option<f64> {
        let sessions = SessionSides::of(sides, logs)?;
        let noise = self.noise(subject, sides.map(|side| &side.setting), &sessions)?;
        let means = sessions.means.each_ref().map(Vec::as_slice);
        let test = known_noise_test(means, &noise.variance)?;
        let (interval, _) = test.interval(confidence)?;
        Some(interval.width() / 2.0)
    }

    /// Returns how much the sessions of a benchmark differ on one host, whatever is compared.
    pub fn of_benchmark(&self, subject: &Subject) -> Option<SessionNoise> {
        let key = (
            subject.suite.clone(),
            subject.metric.clone(),
            BTreeSet::new(),
        );
        SuiteSessions::of(self.earlier, &key).known(&subject.benchmark, SideHosts::Same)
    }

    /// Returns how much sessions of a benchmark differ; `None` if the earlier ones do not show it.
    ///
    /// If they do not show what the hosts of the sides differ by, it is how much sessions on one host differ.
    fn noise(
        &mut self,
        subject: &Subject,
        settings: [&SideSetting; 2],
        today: &SessionSides,
    ) -> Option<SessionNoise> {
        let variants = settings.iter().flat_map(|it| it.variants.iter().cloned());
        let key = (
            subject.suite.clone(),
            subject.metric.clone(),
            variants.collect(),
        );
        let suite = self
            .suites
            .entry(key)
            .or_insert_with_key(|key| SuiteSessions::of(self.earlier, key));
        let on_hosts = |hosts| suite.noise(&subject.benchmark, hosts, today);
        on_hosts(today.hosts).or_else(|| {
            let on_same = on_hosts(SideHosts::Same).filter(|_| today.hosts == SideHosts::Other)?;
            Some(SessionNoise {
                hosts_are_known: false,
                ..on_same
            })
        })
    }
}

impl SuiteSessions {
    fn of(earlier: &EarlierComparisons, (suite, metric, variants): &SuiteKey) -> Self {
        let all = earlier.sessions.par_iter();
        let of_suite = all.filter(|((of, _, by), _)| of == suite && by == metric);
        let histories = of_suite.filter_map(|((_, benchmark, _), sessions)| {
            let history = SessionHistory::of(sessions, variants)?;
            Some((benchmark.clone(), history))
        });
        let histories: BTreeMap<String, SessionHistory> = histories.collect();
        Self {
            same_hosts: KnownVariances::of(&histories, SideHosts::Same),
            other_hosts: KnownVariances::of(&histories, SideHosts::Other),
            histories,
        }
    }

    fn noise(
        &self,
        benchmark: &str,
        hosts: SideHosts,
        today: &SessionSides,
    ) -> Option<SessionNoise> {
        let known = self.known(benchmark, hosts)?;
        let own = self.histories.get(benchmark);
        Some(SessionNoise {
            variance: of_today(known.variance, own, today),
            ..known
        })
    }

    fn known(&self, benchmark: &str, hosts: SideHosts) -> Option<SessionNoise> {
        let (known, least) = match hosts {
            SideHosts::Same => (&self.same_hosts, KNOWN_FROM),
            SideHosts::Other => (&self.other_hosts, HOSTS_KNOWN_FROM),
        };
        let variance = known.by_benchmark.get(benchmark);
        let variance = *variance.unwrap_or(&known.of_suite);
        let own = self.histories.get(benchmark);
        let longest = || self.histories.values().map(SessionHistory::len).max();
        let sessions = own.map(SessionHistory::len).or_else(longest)?;
        (variance.freedom >= least).then_some(SessionNoise {
            variance,
            sessions,
            hosts_are_known: true,
        })
    }
}

impl KnownVariances {
    fn of(histories: &BTreeMap<String, SessionHistory>, hosts: SideHosts) -> Self {
        let own: Vec<Option<VariancePrior>> =
            histories.values().map(|it| it.variance(hosts)).collect();
        let of_suite: Vec<VariancePrior> = own.iter().flatten().copied().collect();
        let known = known_with_suite(&of_suite, &own).into_iter();
        Self {
            by_benchmark: histories.keys().cloned().zip(known).collect(),
            of_suite: known_with_suite(&of_suite, &[None])[0],
        }
    }
}

impl Comparison {
    /// Returns how much sessions of the benchmark differ, if the store knows and the sides are of different ones.
    pub fn session_noise(&self) -> Option<SessionNoise> {
        let noise = self.replication.as_ref().and_then(|it| it.noise);
        noise.filter(|noise| noise.sessions > 0)
    }

    /// Returns whether the sides are of different sessions and nothing shows how much sessions differ, so that what is
    /// stated is only about these sessions.
    pub fn is_within_sessions(&self) -> bool {
        self.replication.is_some() && self.cautions.contains(&Caution::OneSession)
    }

    /// Replaces the replicates by the sessions. Their difference is then no longer part of the ratio unseen, unless it is
    /// unknown how much their hosts differ.
    pub(super) fn use_sessions(&mut self, replication: Replication) {
        let [baseline, candidate] = with_centres(
            [self.baseline_estimate, self.candidate_estimate],
            &replication,
        );
        self.baseline_estimate = baseline;
        self.candidate_estimate = candidate;
        if let Some(ratio) = &mut self.ratio {
            ratio.value = (replication.centres[1] - replication.centres[0]).exp();
            ratio.unit = replication.unit;
            ratio.replicates = replication.sizes();
            ratio.unpaired = None;
        }
        let is_known = replication.noise.is_some_and(|noise| noise.hosts_are_known);
        if is_known {
            self.cautions.retain(|it| *it != Caution::OneSession);
        }
        let looks = self.replication.take().map(|it| it.looks);
        self.replication = Some(Replication {
            looks: looks.unwrap_or_default(),
            ..replication
        });
    }
}
