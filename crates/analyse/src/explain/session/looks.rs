//! Looks at the results of a session: the benchmarks that have an answer, and those that need more instances.

use std::collections::BTreeSet;

use lapwing_stats::{Confidence, NeededReplicates, look_levels};

use super::{SessionComparison, SessionResults};
use crate::judge::{CompareOptions, Comparison, INSTANCES_FOR_A_VERDICT, Standing};

/// The result of a look.
#[derive(Debug, Default)]
pub struct LookResult {
    /// The benchmarks that are complete, by their positions in the plan.
    pub closed: BTreeSet<usize>,
    /// Number of questions: comparisons, or means where nothing is compared.
    pub questions: usize,
    /// Number of questions with an answer.
    pub answered: usize,
    /// Number of comparisons that more instances will hardly answer.
    pub hopeless: usize,
}

impl LookResult {
    /// Returns the state of comparisons; `cases` are the ids of the benchmarks of the plan, each with its number of
    /// instances.
    pub fn of_comparisons<'a>(
        comparisons: &[Comparison],
        cases: impl Iterator<Item = (&'a str, usize)>,
    ) -> Self {
        let mut result = Self::default();
        for (position, (id, instances)) in cases.enumerate() {
            let mut is_open = false;
            for comparison in comparisons.iter().filter(|it| it.subject.benchmark == id) {
                result.questions += 1;
                match comparison.standing(instances) {
                    Standing::Answered => result.answered += 1,
                    Standing::Open => is_open = true,
                    Standing::Hopeless(_) => result.hopeless += 1,
                    Standing::Impossible => {}
                }
            }
            if !is_open {
                result.closed.insert(position);
            }
        }
        result
    }

    /// Returns the state of comparisons of benchmarks with one of them, which is measured until all are answered.
    pub fn of_benchmarks<'a>(
        comparisons: &[SessionComparison<'_>],
        cases: impl Iterator<Item = (&'a str, usize)>,
    ) -> Self {
        let mut result = Self::default();
        let mut open: BTreeSet<&str> = BTreeSet::new();
        let cases: Vec<(&str, usize)> = cases.collect();
        let most = cases.iter().map(|(_, instances)| *instances).max();
        for compared in comparisons {
            result.questions += 1;
            match compared.comparison.standing(most.unwrap_or(0)) {
                Standing::Answered => result.answered += 1,
                Standing::Open => open.extend([
                    compared.baseline.benchmark.as_str(),
                    compared.candidate.benchmark.as_str(),
                ]),
                Standing::Hopeless(_) => result.hopeless += 1,
                Standing::Impossible => {}
            }
        }
        let closed = cases.iter().enumerate();
        let closed = closed.filter(|(_, (id, _))| !open.contains(id));
        result.closed = closed.map(|(position, _)| position).collect();
        result
    }

    /// Returns the state of means, which are answered if the half width of the interval is at most this share of the
    /// mean.
    pub fn of_means<'a>(
        results: &SessionResults,
        ids: impl Iterator<Item = &'a str>,
        precision: f64,
    ) -> Self {
        let mut result = Self::default();
        for (position, id) in ids.enumerate() {
            result.questions += 1;
            let row = results.rows.iter().find(|row| row.benchmark == id);
            let is_precise = row.and_then(|row| row.compared).is_some_and(|estimate| {
                let interval = estimate.interval;
                interval.is_some_and(|interval| {
                    (interval.upper - interval.lower) / 2.0 <= precision * estimate.value.abs()
                })
            });
            if is_precise {
                result.answered += 1;
                result.closed.insert(position);
            }
        }
        result
    }
}

/// No benchmark gets more than this many times the instances that it has.
const MOST_TIMES: usize = 4;

/// Returns the number of instances to add per side for the comparisons of a benchmark that has so many; `None` if all
/// are answered or cannot be. Without a `wanted` number it is the one that is probably needed.
pub fn additional_instances<'a>(
    comparisons: impl Iterator<Item = &'a Comparison>,
    instances: usize,
    wanted: Option<usize>,
) -> Option<usize> {
    let undecided = comparisons.filter(|comparison| match comparison.standing(2 * instances) {
        Standing::Open | Standing::Hopeless(_) => true,
        Standing::Answered | Standing::Impossible => false,
    });
    let undecided: Vec<&Comparison> = undecided.collect();
    if instances == 0 || undecided.is_empty() {
        return None;
    }
    let needed = undecided
        .iter()
        .filter_map(|comparison| match comparison.needed_in_total()? {
            NeededReplicates::About(number) | NeededReplicates::MoreThan(number) => Some(number),
            NeededReplicates::NoNumber => None,
        });
    let needed = needed
        .max()
        .unwrap_or(2 * instances)
        .saturating_sub(instances);
    let least = instances.max(INSTANCES_FOR_A_VERDICT);
    Some(wanted.unwrap_or_else(|| needed.clamp(least, MOST_TIMES * least)))
}

impl CompareOptions {
    /// Returns the options with the error rates of the first of two looks.
    #[must_use]
    pub fn at_first_of_two_looks(self) -> Self {
        let first = |alpha: f64| look_levels(&[1, 2], 0, alpha)[0];
        let level = 1.0 - first(1.0 - self.confidence.level());
        Self {
            confidence: Confidence::new(level).unwrap_or(self.confidence),
            false_discovery_rate: first(self.false_discovery_rate),
            ..self
        }
    }
}
