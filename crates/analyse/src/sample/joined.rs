//! Metrics that are joined because one of them is renamed to the other.

use lapwing_model::text::grouped;
use lapwing_model::{Better, Conversion, Metric};
use lapwing_record::InstanceData;

use super::BenchmarkData;

/// The reason why two metrics cannot be one.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// Their units cannot be converted.
    #[error("`{}` is measured in {} and `{}` in {}, which cannot be converted", names[0], units[0], names[1], units[1])]
    Units {
        /// The names.
        names: [String; 2],
        /// The units.
        units: [String; 2],
    },
    /// One is better when lower, the other when higher.
    #[error("`{}` is better when {}, `{}` when {}", names[0], direction(better[0]), names[1], direction(better[1]))]
    Directions {
        /// The names.
        names: [String; 2],
        /// The directions.
        better: [Better; 2],
    },
    /// Instances have both with different values.
    #[error("{} both `{}` and `{}` with different values: they are two metrics", having(*instances), names[0], names[1])]
    Values {
        /// The names.
        names: [String; 2],
        /// The number of these instances.
        instances: usize,
    },
}

fn direction(better: Better) -> &'static str {
    match better {
        Better::Lower => "lower",
        Better::Higher => "higher",
    }
}

fn having(instances: usize) -> String {
    match instances {
        1 => "1 instance has".to_owned(),
        several => format!("{} instances have", grouped(several)),
    }
}

/// Checks that a metric of a benchmark can get another's name: their latest descriptions agree, and so do their
/// values where an instance has both.
///
/// # Errors
///
/// Returns the reason why they cannot be one.
pub fn check_joined(data: &BenchmarkData, names: [&str; 2]) -> Result<(), JoinError> {
    let metrics = names.map(|name| latest_description(data, name));
    let named = || names.map(str::to_owned);
    let units = [&metrics[0], &metrics[1]]
        .map(|metric| metric.as_ref().map_or("", |metric| metric.unit.as_str()));
    let conversion = match units {
        ["", _] | [_, ""] => Some(Conversion::NONE),
        [from, to] => Conversion::between(from, to),
    };
    let Some(conversion) = conversion else {
        return Err(JoinError::Units {
            names: named(),
            units: units.map(str::to_owned),
        });
    };
    let better = [&metrics[0], &metrics[1]].map(|metric| metric.as_ref()?.better);
    if let [Some(old), Some(new)] = better
        && old != new
    {
        return Err(JoinError::Directions {
            names: named(),
            better: [old, new],
        });
    }
    let has_two_values = |instance: &&InstanceData| {
        let columns = names.map(|name| instance.iterations.values.get(name));
        let [Some(old), Some(new)] = columns else {
            return false;
        };
        let mut pairs = old.iter().zip(new);
        pairs.any(|(old, new)| differ(conversion.of(*old), *new))
    };
    match data.instances.iter().filter(has_two_values).count() {
        0 => Ok(()),
        instances => Err(JoinError::Values {
            names: named(),
            instances,
        }),
    }
}

/// Returns the latest description of a metric with results.
fn latest_description(data: &BenchmarkData, name: &str) -> Option<Metric> {
    let has_results = |instance: &&InstanceData| {
        let mut summaries = instance.summaries.iter();
        instance.iterations.values.contains_key(name)
            || summaries.any(|summary| summary.metric == name)
    };
    let mut measured = data.instances.iter().rev().filter(has_results);
    measured.find_map(|instance| instance.run.metrics.get(name).cloned())
}

/// Numbers written from the same value may differ in the last digits.
fn differ(old: f64, new: f64) -> bool {
    (old - new).abs() > 1e-6 * old.abs().max(new.abs())
}
