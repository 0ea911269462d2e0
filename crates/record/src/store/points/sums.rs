//! The sums that a point is made of.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_model::{InstanceEnd, InstanceOutcome, MetricName, NEVER_NEGATIVE, Outcome};
use rusqlite::{Connection, params};

use super::super::columns::numbers::whole_text;
use super::super::reading::rows::json_text;
use super::super::{StoreResult, query};
use crate::Iterations;

/// The metric of benchmarks that were tried without any value.
pub(super) const TRIED: i64 = 0;
/// Different surroundings of a run to keep; of more nothing new is expected.
const SURROUNDINGS: usize = 50;

/// The condition on a row of `history_chunk` that it is as it was written.
pub(super) const IS_SOUND: &str =
    "checksum = lapwing_checksum(run, metric, benchmarks, instances, means, logs, spreads)";

/// The mean of the means of instances, and mean and sum of squares of their logarithms.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PointSums {
    instances: u32,
    sum: f64,
    mean_log: f64,
    squares: f64,
}

impl PointSums {
    /// Adds the mean of an instance (Welford, *Technometrics* 1962).
    fn add(&mut self, mean: f64) {
        self.instances += 1;
        self.sum += mean;
        let log = if mean > 0.0 { mean.ln() } else { f64::NAN };
        let before = log - self.mean_log;
        self.mean_log += before / f64::from(self.instances);
        self.squares += before * (log - self.mean_log);
    }

    fn mean(&self) -> f64 {
        self.sum / f64::from(self.instances.max(1))
    }

    /// Returns the standard deviation of the logarithms, NaN of one instance.
    fn spread(&self) -> f64 {
        match self.instances.checked_sub(1) {
            None | Some(0) => f64::NAN,
            Some(freedom) => (self.squares / f64::from(freedom)).sqrt(),
        }
    }
}

/// The points of one run.
#[derive(Debug, Default)]
pub(super) struct RunPoints {
    /// By metric and benchmark.
    sums: BTreeMap<(i64, i64), PointSums>,
    surroundings: BTreeSet<(Option<String>, Option<String>)>,
}

impl RunPoints {
    pub(super) fn len(&self) -> usize {
        self.sums.len()
    }

    /// Notes the host and the environment of an instance, as they are stored.
    pub(super) fn surround(&mut self, host: Option<&str>, environment: Option<&str>) {
        if (host.is_none() && environment.is_none()) || self.surroundings.len() >= SURROUNDINGS {
            return;
        }
        let surroundings = (host.map(str::to_owned), environment.map(str::to_owned));
        self.surroundings.insert(surroundings);
    }

    /// Adds an instance without a value.
    pub(super) fn try_in_vain(&mut self, benchmark: i64) {
        self.sums.entry((TRIED, benchmark)).or_default().instances += 1;
    }

    /// Adds an instance with these iterations, all of them fine. `metrics` are the keys of those that have values.
    pub(super) fn add(
        &mut self,
        benchmark: i64,
        iterations: &Iterations,
        metrics: &[(i64, &MetricName)],
    ) {
        let is_any_planned = iterations.burn_in.iter().any(|burn_in| *burn_in);
        let mut has_value = false;
        for (metric, name) in metrics {
            let Some(column) = iterations.values.get(*name) else {
                continue;
            };
            let mean = if is_any_planned {
                let steady = column.iter().zip(iterations.burn_in.iter());
                let steady = steady.filter(|(_, burn_in)| !**burn_in);
                mean(&steady.map(|(value, _)| *value).collect::<Vec<_>>())
            } else {
                mean(column)
            };
            if let Some(mean) = mean {
                has_value = true;
                self.sums.entry((*metric, benchmark)).or_default().add(mean);
            }
        }
        if !has_value {
            self.try_in_vain(benchmark);
        }
    }

    /// Writes the points of a run that has none.
    pub(super) fn write(&self, connection: &Connection, run: i64) -> StoreResult<()> {
        let sums: Vec<(&(i64, i64), &PointSums)> = self.sums.iter().collect();
        for of_metric in sums.chunk_by(|one, other| one.0.0 == other.0.0) {
            let Some(((metric, _), _)) = of_metric.first() else {
                continue;
            };
            let column = |of: fn(&PointSums) -> f64| -> StoreResult<String> {
                let values = of_metric.iter().map(|(_, sums)| of(sums));
                json_text(&values.collect::<Vec<f64>>())
            };
            let benchmarks: Vec<i64> = of_metric.iter().map(|((_, key), _)| *key).collect();
            let instances: Vec<u32> = of_metric.iter().map(|(_, sums)| sums.instances).collect();
            let is_one = instances.iter().all(|instances| *instances == 1);
            let unless_one = |text: StoreResult<String>| text.map(|it| (!is_one).then_some(it));
            let sql = "INSERT INTO history_chunk \
                       (run, metric, benchmarks, instances, means, logs, spreads, checksum) \
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, \
                       lapwing_checksum(?1, ?2, ?3, ?4, ?5, ?6, ?7))";
            let parameters = params![
                run,
                metric,
                json_text(&benchmarks)?,
                unless_one(whole_text(&instances))?,
                column(PointSums::mean)?,
                unless_one(column(|sums| sums.mean_log))?,
                unless_one(column(PointSums::spread))?,
            ];
            query::execute(connection, sql, parameters)?;
        }
        for (host, environment) in &self.surroundings {
            let sql =
                "INSERT INTO history_surroundings (run, host, environment) VALUES (?1, ?2, ?3)";
            query::execute(connection, sql, params![run, host, environment])?;
        }
        query::execute(
            connection,
            "INSERT INTO history_run (run) VALUES (?1)",
            [run],
        )?;
        Ok(())
    }
}

/// Returns the mean of the values that are there, as `lapwing_stats::mean` computes it.
fn mean(values: &[f64]) -> Option<f64> {
    let of = |values: &mut dyn Iterator<Item = f64>| {
        let (mut sum, mut number) = (0.0, 0_u32);
        for value in values {
            sum += value;
            number += 1;
        }
        (number > 0).then(|| sum / f64::from(number))
    };
    let known = || values.iter().copied().filter(|value| !value.is_nan());
    let first = of(&mut known())?;
    if values.len() == 1 {
        return Some(first);
    }
    let correction = of(&mut known().map(|value| value - first))?;
    Some(if correction.is_finite() {
        first + correction
    } else {
        first
    })
}

/// Returns whether iterations are fine, so that only burn-in is left out of them.
pub(super) fn are_fine(iterations: &Iterations) -> bool {
    let is_impossible = |name: &&'static str| {
        let column = iterations.values.get(*name);
        column.is_some_and(|column| column.iter().any(|value| *value < 0.0))
    };
    iterations.outcome.iter().all(|it| *it == Outcome::Ok)
        && !NEVER_NEGATIVE.iter().any(is_impossible)
}

/// Returns whether the end of an instance says no more than that it went well.
pub(super) fn went_well(end: &InstanceEnd) -> bool {
    end.outcome == InstanceOutcome::Ok && !end.observed.contains_key("void")
}
