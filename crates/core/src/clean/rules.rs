//! What people ask for: the same rules for many benchmarks.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::{
    Failures, OutlierMetrics, OutlierRule, Policy, SteadyFrom, SteadySearch, burn_in_metric,
    find_steady,
};
use crate::model::{Session, bare_name};
use crate::sample::Sample;

/// The rules by which benchmarks are cleaned.
#[derive(Debug, Clone, PartialEq)]
pub struct Rules {
    /// Where the steady state begins.
    pub burn_in: BurnInRule,
    /// Which iterations that did not end well are dropped.
    pub failures: Failures,
    /// Which values are too far from the others; `None` to keep all.
    pub outliers: Option<OutlierRule>,
    /// The fewest iterations that an instance must have left to count.
    pub min_iterations: usize,
    /// The fewest instances that a benchmark must have left to count.
    pub min_instances: usize,
}

impl Default for Rules {
    fn default() -> Self {
        let policy = Policy::default();
        Self {
            burn_in: BurnInRule::Recorded,
            failures: policy.failures,
            outliers: policy.outliers,
            min_iterations: policy.min_iterations,
            min_instances: policy.min_instances,
        }
    }
}

/// Where the steady state of each benchmark begins.
#[derive(Debug, Clone, PartialEq)]
pub enum BurnInRule {
    /// After the iterations that were planned as burn-in; where the plan left it to judging, as
    /// [`BurnInRule::Auto`].
    Recorded,
    /// Where the values of each benchmark get steady.
    Auto,
    /// At one index for all.
    Index(u32),
    /// Where a list of benchmarks says.
    Listed {
        /// The first stable index by benchmark: its id, or what follows the last `::` of it.
        starts: BTreeMap<String, u32>,
        /// What becomes of the others.
        others: KnownBenchmarks,
    },
}

/// What becomes of benchmarks that a list does not name.
#[derive(Debug, Clone, PartialEq)]
pub enum KnownBenchmarks {
    /// They begin where this rule says.
    AndOthers(Box<BurnInRule>),
    /// They are left out, as Hail's notebook does.
    Only,
}

/// Where the start of the steady state of a benchmark is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BurnInSource {
    /// The plan by which it was measured.
    Recorded,
    /// An index that was given for all.
    Given,
    /// A list.
    Listed,
    /// A list does not name it.
    NotListed,
    /// The values themselves.
    Found {
        /// What they want, where a limit made the start smaller.
        wanted: Option<u32>,
    },
}

impl BurnInSource {
    /// Returns what it is called in data: `recorded`, `given`, `file`, `not_in_file` or `found`.
    pub fn key(self) -> &'static str {
        match self {
            Self::Recorded => "recorded",
            Self::Given => "given",
            Self::Listed => "file",
            Self::NotListed => "not_in_file",
            Self::Found { .. } => "found",
        }
    }

    /// Returns what the values want, where a limit made the start smaller.
    pub fn wanted(self) -> Option<u32> {
        match self {
            Self::Found { wanted } => wanted,
            Self::Recorded | Self::Given | Self::Listed | Self::NotListed => None,
        }
    }
}

impl Rules {
    /// Returns the rules of Hail's notebook, slips included: only benchmarks with a known start,
    /// of what did not end well only what timed out with a message is dropped, values ten times
    /// off the median go, and instances and benchmarks need 50 of what is left.
    pub fn hail(starts: BTreeMap<String, u32>) -> Self {
        Self {
            burn_in: BurnInRule::Listed {
                starts,
                others: KnownBenchmarks::Only,
            },
            failures: Failures::AsHail,
            outliers: Some(OutlierRule {
                factor: 10.0,
                fewest_values: 0,
                metrics: OutlierMetrics::All,
            }),
            min_iterations: 50,
            min_instances: 50,
        }
    }

    /// Returns what the rules come to for a sample, and where its burn-in is from.
    pub fn policy(&self, sample: &Sample<'_>) -> (Policy, BurnInSource) {
        let (burn_in, source) = match self.decision(sample) {
            Decision::Find => found_in(sample, burn_in_metric(sample).as_deref()),
            Decision::Made(burn_in, source) => (burn_in, source),
        };
        (self.policy_from(burn_in), source)
    }

    /// Returns where the rules take a sample to be steady.
    pub(crate) fn decision(&self, sample: &Sample<'_>) -> Decision {
        self.burn_in.of_sample(sample)
    }

    /// Returns what the rules come to for a benchmark that is taken to be steady from there on.
    pub fn policy_from(&self, burn_in: SteadyFrom) -> Policy {
        Policy {
            burn_in,
            failures: self.failures,
            outliers: self.outliers,
            min_iterations: self.min_iterations,
            min_instances: self.min_instances,
        }
    }

    /// Returns the benchmarks that a list names, with their starts; `None` without a list.
    pub fn listed(&self) -> Option<&BTreeMap<String, u32>> {
        match &self.burn_in {
            BurnInRule::Listed { starts, .. } => Some(starts),
            BurnInRule::Recorded | BurnInRule::Auto | BurnInRule::Index(_) => None,
        }
    }

    /// Returns of which benchmarks the burn-in is found from their values.
    pub fn finding(&self) -> Finding {
        match self.burn_in.unlisted() {
            Some(BurnInRule::Auto) => Finding::Always,
            Some(BurnInRule::Recorded) => Finding::WherePlanned,
            Some(BurnInRule::Index(_) | BurnInRule::Listed { .. }) | None => Finding::Never,
        }
    }
}

/// Of which benchmarks the burn-in is found from their values, but for those that a list names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// Of all.
    Always,
    /// Of those of which a plan left it to judging ([`plans_any_auto`]).
    WherePlanned,
    /// Of none.
    Never,
}

/// Where a benchmark is taken to be steady.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision {
    /// There, whatever its values say.
    Made(SteadyFrom, BurnInSource),
    /// Where its values say.
    Find,
}

/// Returns where a sample gets steady by its values of a metric; as planned where there is none.
pub(crate) fn found_in(sample: &Sample<'_>, metric: Option<&str>) -> (SteadyFrom, BurnInSource) {
    let Some(metric) = metric else {
        return (SteadyFrom::Recorded, BurnInSource::Recorded);
    };
    let found = find_steady(sample, metric, &SteadySearch::default());
    let wanted = found
        .wanted_index()
        .filter(|wanted| Some(*wanted) > found.start_index());
    (found.steady_from(), BurnInSource::Found { wanted })
}

impl BurnInRule {
    /// Returns the rule of the benchmarks that no list names; `None` where they are left out.
    fn unlisted(&self) -> Option<&Self> {
        match self {
            Self::Listed { others, .. } => match others {
                KnownBenchmarks::AndOthers(rule) => rule.unlisted(),
                KnownBenchmarks::Only => None,
            },
            Self::Recorded | Self::Auto | Self::Index(_) => Some(self),
        }
    }

    /// Returns what the rule says of a benchmark.
    fn of_sample(&self, sample: &Sample<'_>) -> Decision {
        match self.of(&sample.benchmark.id) {
            Said::Auto => Decision::Find,
            Said::Recorded if left_to_judging(sample) => Decision::Find,
            Said::Recorded => Decision::Made(SteadyFrom::Recorded, BurnInSource::Recorded),
            Said::Start(from, source) => Decision::Made(from, source),
        }
    }

    /// Returns what the rule says of a benchmark without what was measured of it.
    fn of(&self, id: &str) -> Said {
        match self {
            Self::Recorded => Said::Recorded,
            Self::Auto => Said::Auto,
            Self::Index(first) => Said::Start(SteadyFrom::Index(*first), BurnInSource::Given),
            Self::Listed { starts, others } => match (listed(starts, id), others) {
                (Some(first), _) => Said::Start(SteadyFrom::Index(first), BurnInSource::Listed),
                (None, KnownBenchmarks::Only) => {
                    Said::Start(SteadyFrom::Unknown, BurnInSource::NotListed)
                }
                (None, KnownBenchmarks::AndOthers(rule)) => rule.of(id),
            },
        }
    }
}

/// What a rule says of a benchmark without what was measured of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    /// As the plan says.
    Recorded,
    /// Where the values say.
    Auto,
    /// There.
    Start(SteadyFrom, BurnInSource),
}

/// Returns whether any session that measured the sample left its burn-in to judging.
fn left_to_judging(sample: &Sample<'_>) -> bool {
    let mut last: Option<&Arc<Session>> = None;
    sample.instances.iter().any(|it| {
        // Thousands of instances share a session.
        let is_seen = last.is_some_and(|last| Arc::ptr_eq(last, &it.session));
        last = Some(&it.session);
        !is_seen && was_planned_auto(&it.session, &sample.benchmark.id)
    })
}

/// Returns what a list says of a benchmark: by its id or, as Hail's lists do, by its bare name.
pub fn listed(starts: &BTreeMap<String, u32>, id: &str) -> Option<u32> {
    starts
        .get(id)
        .or_else(|| starts.get(bare_name(id)))
        .copied()
}

/// Returns whether the plan of a session leaves it to judging where the benchmark gets steady.
pub fn was_planned_auto(session: &Session, id: &str) -> bool {
    planned_auto(session).any(|planned| planned == id)
}

/// Returns whether the plan of a session leaves it to judging where any benchmark gets steady.
pub fn plans_any_auto(session: &Session) -> bool {
    planned_auto(session).next().is_some()
}

fn planned_auto(session: &Session) -> impl Iterator<Item = &str> {
    let cases = session
        .attributes
        .get("plan")
        .and_then(|plan| plan.get("cases"))
        .and_then(Value::as_array);
    let is_auto = |case: &&Value| case["burn_in"].as_str() == Some("auto");
    let auto = cases.into_iter().flatten().filter(is_auto);
    auto.filter_map(|case| case["benchmark"]["id"].as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_names_benchmarks_by_id_or_by_their_last_part() {
        let starts = BTreeMap::from([("test_a".to_owned(), 3), ("b.py::test_a".to_owned(), 5)]);
        let rule = |others| BurnInRule::Listed {
            starts: starts.clone(),
            others,
        };
        let known = rule(KnownBenchmarks::Only);
        let listed = |first| Said::Start(SteadyFrom::Index(first), BurnInSource::Listed);
        assert_eq!(known.of("b.py::test_a"), listed(5));
        assert_eq!(known.of("c.py::test_a"), listed(3));
        assert_eq!(
            known.of("c.py::test_b"),
            Said::Start(SteadyFrom::Unknown, BurnInSource::NotListed)
        );
        let others = rule(KnownBenchmarks::AndOthers(Box::new(BurnInRule::Index(2))));
        assert_eq!(
            others.of("c.py::test_b"),
            Said::Start(SteadyFrom::Index(2), BurnInSource::Given)
        );
    }
}
