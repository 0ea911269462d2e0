//! The goal of advice: a metric, or several with weights.

use lapwing_analyse::judge::metric;
use lapwing_analyse::sample::{BenchmarkData, Sample};
use lapwing_model::{Better, matches_name};

use crate::scale::StudyMetric;

/// A metric of a goal as it was asked for: `elapsed`, `matmul:rate=2`.
#[derive(Debug, Clone, PartialEq)]
pub struct GoalTerm {
    /// The benchmark; `None` for every one with the metric.
    pub benchmark: Option<String>,
    /// The metric.
    pub metric: String,
    /// By how much it counts.
    pub weight: f64,
}

/// A metric of a benchmark that counts for the goal.
#[derive(Debug, Clone, PartialEq)]
pub struct StackGoal {
    /// The suite.
    pub suite: String,
    /// The benchmark.
    pub benchmark: String,
    /// The metric, as a cost.
    pub metric: StudyMetric,
    /// By how much its logarithm counts, negative where higher is better; those of all metrics sum up to 1 without
    /// their signs.
    pub weight: f64,
}

/// A goal that cannot be followed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GoalError {
    /// It is not written as a goal is.
    #[error("`{text}` is not a goal like `elapsed`, `elapsed=2,peak_memory=1` or `matmul:rate`")]
    Text {
        /// The text.
        text: String,
    },
    /// No benchmark has the metric.
    #[error("no stack has values of `{metric}`{}", benchmark.as_ref().map_or_else(String::new, |it| format!(" in a benchmark named like `{it}`")))]
    NoMetric {
        /// The benchmark, if the goal names one.
        benchmark: Option<String>,
        /// The metric.
        metric: String,
    },
    /// It is not known whether less is better.
    #[error("`{metric}` of `{benchmark}` has no direction")]
    NoDirection {
        /// The metric.
        metric: String,
        /// The benchmark.
        benchmark: String,
    },
}

impl StackGoal {
    /// Returns whether it is one of a benchmark.
    pub(super) fn is_of(&self, data: &BenchmarkData) -> bool {
        self.suite == data.suite && self.benchmark == data.benchmark.id
    }

    /// Returns the value of the metric itself that a response is, if it is the only one of the goal.
    pub fn value(&self, response: f64) -> f64 {
        self.metric.cost((response / self.weight).exp())
    }

    /// Returns 1 if the metric rises with its response, else −1.
    pub fn direction(&self) -> f64 {
        if (self.weight > 0.0) == self.metric.is_rate {
            -1.0
        } else {
            1.0
        }
    }
}

/// Returns the metrics of `elapsed=2,matmul:peak_memory=1`; without a weight it is 1.
///
/// # Errors
/// When a part is empty, or a weight is no positive number.
pub fn goal_terms(text: &str) -> Result<Vec<GoalTerm>, GoalError> {
    let wrong = || GoalError::Text {
        text: text.to_owned(),
    };
    let term = |part: &str| {
        let (name, weight) = part.split_once('=').unwrap_or((part, "1"));
        let weight: f64 = weight.trim().parse().ok()?;
        let (benchmark, metric) = match name.trim().rsplit_once(':') {
            Some((benchmark, metric)) => (Some(benchmark.to_owned()), metric),
            None => (None, name.trim()),
        };
        (weight > 0.0 && weight.is_finite() && !metric.is_empty()).then(|| GoalTerm {
            benchmark,
            metric: metric.to_owned(),
            weight,
        })
    };
    text.split(',')
        .map(|part| term(part).ok_or_else(wrong))
        .collect()
}

/// Returns the metrics of all benchmarks that the terms mean. The weight of a term is shared by its benchmarks.
pub(super) fn goals(
    terms: &[GoalTerm],
    benchmarks: &[&BenchmarkData],
) -> Result<Vec<StackGoal>, GoalError> {
    let mut found = Vec::new();
    for term in terms {
        let own: Vec<&BenchmarkData> = (benchmarks.iter().copied())
            .filter(|data| has(data, term))
            .collect();
        if own.is_empty() {
            return Err(GoalError::NoMetric {
                benchmark: term.benchmark.clone(),
                metric: term.metric.clone(),
            });
        }
        for data in &own {
            let stated = metric(&Sample::of_all(data), &term.metric);
            let cost = StudyMetric::new(&term.metric, &stated);
            let sign = match cost.better {
                Some(Better::Lower) => 1.0,
                Some(Better::Higher) => -1.0,
                None => {
                    return Err(GoalError::NoDirection {
                        metric: term.metric.clone(),
                        benchmark: data.benchmark.id.clone(),
                    });
                }
            };
            found.push(StackGoal {
                suite: data.suite.clone(),
                benchmark: data.benchmark.id.clone(),
                metric: cost,
                weight: sign * term.weight / lapwing_stats::as_f64(own.len()),
            });
        }
    }
    let total: f64 = found.iter().map(|own| own.weight.abs()).sum();
    for own in &mut found {
        own.weight /= total;
    }
    Ok(found)
}

fn has(data: &BenchmarkData, term: &GoalTerm) -> bool {
    let is_meant =
        (term.benchmark.as_ref()).is_none_or(|name| matches_name(name, &data.benchmark.id));
    is_meant
        && data.instances.iter().any(|instance| {
            let values = instance.iterations.values.get(&term.metric);
            values.is_some_and(|values| values.iter().any(|value| value.is_finite()))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_have_weights_and_benchmarks() {
        let terms = goal_terms("elapsed=2, matmul:rate").expect("a goal");
        let of = |own: &GoalTerm| (own.benchmark.clone(), own.metric.clone(), own.weight);
        assert_eq!(of(&terms[0]), (None, "elapsed".to_owned(), 2.0));
        assert_eq!(
            of(&terms[1]),
            (Some("matmul".to_owned()), "rate".to_owned(), 1.0)
        );
        for wrong in ["", "a=0", "a=x", "a,,b", "a=-1"] {
            assert!(goal_terms(wrong).is_err(), "{wrong}");
        }
    }
}
