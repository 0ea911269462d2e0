//! The user's cleaning rules, the same for many benchmarks.

use std::collections::BTreeMap;
use std::sync::Arc;

use lapwing_stats::steady::BurnInOptions;
use serde_json::Value;

use super::{
    CleaningPolicy, FailureRule, OutlierMetrics, OutlierRule, SteadyFrom, burn_in_metric,
    find_steady,
};
use crate::sample::Sample;
use lapwing_model::JudgedFrom;
use lapwing_model::{Session, bare_name};

/// The rules for cleaning benchmarks.
#[derive(Debug, Clone, PartialEq)]
pub struct CleaningRules {
    /// The start of the steady state.
    pub burn_in: BurnInRule,
    /// The rule for unsuccessful iterations.
    pub failures: FailureRule,
    /// The rule for outliers; `None` to keep all values.
    pub outliers: Option<OutlierRule>,
    /// The fewest remaining iterations of an instance to be analysed.
    pub min_iterations: usize,
    /// The fewest remaining instances of a benchmark to be analysed.
    pub min_instances: usize,
}

impl Default for CleaningRules {
    fn default() -> Self {
        let policy = CleaningPolicy::default();
        Self {
            burn_in: JudgedFrom::Recorded.into(),
            failures: policy.failures,
            outliers: policy.outliers,
            min_iterations: policy.min_iterations,
            min_instances: policy.min_instances,
        }
    }
}

/// The start of the steady state of each benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct BurnInRule {
    /// The first stable iteration by benchmark: its id, or the part after the last `::`; `None` without a list.
    pub listed: Option<BTreeMap<String, u32>>,
    /// The start for benchmarks that are not listed; `None` excludes them, as Hail's notebook does.
    pub others: Option<JudgedFrom>,
}

impl From<JudgedFrom> for BurnInRule {
    fn from(all: JudgedFrom) -> Self {
        Self {
            listed: None,
            others: Some(all),
        }
    }
}

/// The source of the start of a steady state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BurnInSource {
    /// The plan of the measurement.
    Recorded,
    /// An index given for all benchmarks.
    Given,
    /// A list.
    Listed,
    /// A list in which the benchmark is missing.
    NotListed,
    /// A review by a person.
    Reviewed,
    /// Detection from the values.
    Found {
        /// The start detected from the values, if a limit reduced it.
        wanted: Option<u32>,
    },
}

impl BurnInSource {
    /// Returns its name in data: `recorded`, `given`, `file`, `not_in_file`, `review` or `found`.
    pub fn key(self) -> &'static str {
        match self {
            Self::Recorded => "recorded",
            Self::Given => "given",
            Self::Listed => "file",
            Self::NotListed => "not_in_file",
            Self::Reviewed => "review",
            Self::Found { .. } => "found",
        }
    }

    /// Returns the start detected from the values, if a limit reduced it.
    pub fn wanted(self) -> Option<u32> {
        match self {
            Self::Found { wanted } => wanted,
            Self::Recorded | Self::Given | Self::Listed | Self::NotListed | Self::Reviewed => None,
        }
    }
}

impl CleaningRules {
    /// Returns the rules of Hail's notebook, bugs included: only benchmarks with a known start; of unsuccessful
    /// iterations only time-outs with a message are excluded; values a factor of ten off the median are excluded;
    /// instances and benchmarks need 50 remaining iterations and instances.
    pub fn hail(starts: BTreeMap<String, u32>) -> Self {
        Self {
            burn_in: BurnInRule {
                listed: Some(starts),
                others: None,
            },
            failures: FailureRule::AsHail,
            outliers: Some(OutlierRule {
                factor: 10.0,
                fewest_values: 0,
                metrics: OutlierMetrics::All,
            }),
            min_iterations: 50,
            min_instances: 50,
        }
    }

    /// Returns the policy for a sample, and the source of its start.
    pub fn policy(&self, sample: &Sample<'_>) -> (CleaningPolicy, BurnInSource) {
        let (from, source) = self
            .start(sample)
            .unwrap_or_else(|| found_in(sample, burn_in_metric(sample).as_deref()));
        (self.policy_from(from), source)
    }

    /// Returns the start of a sample by rules that do not depend on its values; `None` if it must be detected from
    /// them.
    pub(crate) fn start(&self, sample: &Sample<'_>) -> Option<SteadyStart> {
        let id = &sample.benchmark.id;
        let rule = &self.burn_in;
        if let Some(first) = rule.listed.as_ref().and_then(|starts| listed(starts, id)) {
            return Some((SteadyFrom::Index(first), BurnInSource::Listed));
        }
        match rule.others {
            None => Some((SteadyFrom::Unknown, BurnInSource::NotListed)),
            Some(JudgedFrom::Auto) => None,
            Some(JudgedFrom::Index(first)) => Some((SteadyFrom::Index(first), BurnInSource::Given)),
            Some(JudgedFrom::Recorded) if left_to_judging(sample) => None,
            Some(JudgedFrom::Recorded) => Some((SteadyFrom::Recorded, BurnInSource::Recorded)),
        }
    }

    /// Returns the policy for a benchmark with that start.
    pub fn policy_from(&self, burn_in: SteadyFrom) -> CleaningPolicy {
        CleaningPolicy {
            burn_in,
            failures: self.failures,
            outliers: self.outliers,
            min_iterations: self.min_iterations,
            min_instances: self.min_instances,
        }
    }
}

/// The start of the steady state of a sample, and the source of that start.
pub(crate) type SteadyStart = (SteadyFrom, BurnInSource);

/// Returns the start of a sample as detected from its values of a metric; the planned one without values.
pub(crate) fn found_in(sample: &Sample<'_>, metric: Option<&str>) -> SteadyStart {
    let Some(metric) = metric else {
        return (SteadyFrom::Recorded, BurnInSource::Recorded);
    };
    let found = find_steady(sample, metric, &BurnInOptions::default());
    let wanted = found
        .wanted_index()
        .filter(|wanted| Some(*wanted) > found.start_index());
    (found.steady_from(), BurnInSource::Found { wanted })
}

/// Returns whether any session of the sample leaves detection of burn-in to analysis.
fn left_to_judging(sample: &Sample<'_>) -> bool {
    let mut last: Option<&Arc<Session>> = None;
    sample.instances.iter().any(|it| {
        // Thousands of instances share a session.
        let is_seen = last.is_some_and(|last| Arc::ptr_eq(last, &it.session));
        last = Some(&it.session);
        !is_seen && was_planned_auto(&it.session, &sample.benchmark.id)
    })
}

/// Returns a benchmark's entry in a list: by its id or, as in Hail's lists, by its bare name.
pub fn listed(starts: &BTreeMap<String, u32>, id: &str) -> Option<u32> {
    starts
        .get(id)
        .or_else(|| starts.get(bare_name(id)))
        .copied()
}

/// Returns whether the plan of a session leaves detection of a benchmark's burn-in to analysis.
pub fn was_planned_auto(session: &Session, id: &str) -> bool {
    planned_auto(session).any(|planned| planned == id)
}

/// Returns whether the plan of a session leaves detection of any benchmark's burn-in to analysis.
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
    use crate::sample::BenchmarkData;
    use lapwing_model::Benchmark;

    /// Returns the start for a benchmark with that id.
    fn start(rules: &CleaningRules, id: &str) -> Option<SteadyStart> {
        let benchmark = Benchmark {
            id: id.to_owned(),
            ..Benchmark::default()
        };
        let data = BenchmarkData {
            suite: "s".to_owned(),
            benchmark,
            instances: Vec::new(),
        };
        rules.start(&Sample::of_all(&data))
    }

    #[test]
    fn a_list_names_benchmarks_by_id_or_by_their_last_part() {
        let starts = BTreeMap::from([("test_a".to_owned(), 3), ("b.py::test_a".to_owned(), 5)]);
        let rules = |others| CleaningRules {
            burn_in: BurnInRule {
                listed: Some(starts.clone()),
                others,
            },
            ..CleaningRules::default()
        };
        let known = rules(None);
        let listed = |first| Some((SteadyFrom::Index(first), BurnInSource::Listed));
        assert_eq!(start(&known, "b.py::test_a"), listed(5));
        assert_eq!(start(&known, "c.py::test_a"), listed(3));
        assert_eq!(
            start(&known, "c.py::test_b"),
            Some((SteadyFrom::Unknown, BurnInSource::NotListed))
        );
        let others = rules(Some(JudgedFrom::Index(2)));
        assert_eq!(
            start(&others, "c.py::test_b"),
            Some((SteadyFrom::Index(2), BurnInSource::Given))
        );
    }
}
