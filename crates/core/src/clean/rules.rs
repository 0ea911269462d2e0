//! What people ask for: the same rules for many benchmarks.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::{
    Failures, OutlierMetrics, OutlierRule, Policy, SteadyFrom, SteadySearch, burn_in_metric,
    find_steady,
};
use crate::model::{Session, bare_name};
use crate::record::BenchmarkData;

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
    Found,
}

impl BurnInSource {
    /// Returns what it is called in data: `recorded`, `given`, `file`, `not_in_file` or `found`.
    pub fn key(self) -> &'static str {
        match self {
            Self::Recorded => "recorded",
            Self::Given => "given",
            Self::Listed => "file",
            Self::NotListed => "not_in_file",
            Self::Found => "found",
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

    /// Returns what the rules come to for a benchmark, and where its burn-in is from.
    pub fn policy(&self, data: &BenchmarkData) -> (Policy, BurnInSource) {
        let (burn_in, source) = self.burn_in.of_data(data);
        let policy = Policy {
            burn_in,
            failures: self.failures,
            outliers: self.outliers,
            min_iterations: self.min_iterations,
            min_instances: self.min_instances,
        };
        (policy, source)
    }
}

impl BurnInRule {
    fn of_data(&self, data: &BenchmarkData) -> (SteadyFrom, BurnInSource) {
        let is_auto = match self.of(&data.benchmark.id) {
            (SteadyFrom::Recorded, BurnInSource::Found) => true,
            (SteadyFrom::Recorded, BurnInSource::Recorded) => left_to_judging(data),
            decided => return decided,
        };
        let metric = is_auto.then(|| burn_in_metric(data)).flatten();
        match metric {
            Some(metric) => {
                let found = find_steady(data, &metric, &SteadySearch::default());
                (found.steady_from(), BurnInSource::Found)
            }
            None => (SteadyFrom::Recorded, BurnInSource::Recorded),
        }
    }

    /// Returns what the rule says of a benchmark without its values.
    fn of(&self, id: &str) -> (SteadyFrom, BurnInSource) {
        match self {
            Self::Recorded => (SteadyFrom::Recorded, BurnInSource::Recorded),
            Self::Auto => (SteadyFrom::Recorded, BurnInSource::Found),
            Self::Index(first) => (SteadyFrom::Index(*first), BurnInSource::Given),
            Self::Listed { starts, others } => match (listed(starts, id), others) {
                (Some(first), _) => (SteadyFrom::Index(first), BurnInSource::Listed),
                (None, KnownBenchmarks::Only) => (SteadyFrom::Unknown, BurnInSource::NotListed),
                (None, KnownBenchmarks::AndOthers(rule)) => rule.of(id),
            },
        }
    }
}

/// Returns whether any session that measured the benchmark left its burn-in to judging.
fn left_to_judging(data: &BenchmarkData) -> bool {
    let mut last: Option<&Arc<Session>> = None;
    data.instances.iter().any(|it| {
        // Thousands of instances share a session.
        let is_seen = last.is_some_and(|last| Arc::ptr_eq(last, &it.session));
        last = Some(&it.session);
        !is_seen && was_planned_auto(&it.session, &data.benchmark.id)
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
    let cases = session
        .attributes
        .get("plan")
        .and_then(|plan| plan.get("cases"))
        .and_then(Value::as_array);
    cases.into_iter().flatten().any(|case| {
        case["benchmark"]["id"].as_str() == Some(id) && case["burn_in"].as_str() == Some("auto")
    })
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
        let first = |id| known.of(id).0;
        assert_eq!(first("b.py::test_a"), SteadyFrom::Index(5));
        assert_eq!(first("c.py::test_a"), SteadyFrom::Index(3));
        assert_eq!(first("c.py::test_b"), SteadyFrom::Unknown);
        let others = rule(KnownBenchmarks::AndOthers(Box::new(BurnInRule::Index(2))));
        assert_eq!(
            others.of("c.py::test_b"),
            (SteadyFrom::Index(2), BurnInSource::Given)
        );
    }
}
