//! What was observed around runs, and what differs between those before and after a change.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_stats::as_f64;

use super::series::Moment;
use crate::clean::centre_name;
use crate::sample::{is_volatile, observations};
use lapwing_model::text::joined;
use lapwing_model::{Object, Run, Session};
use lapwing_record::{InstanceData, PointRun};

/// Of more instances of a moment nothing new is expected.
const INSTANCES: usize = 50;
/// The key of the statistic of the values: means of samples, or the centres of summaries. A history that goes on
/// from medians to means may have a change there.
const STATISTIC: &str = "statistic";

/// The observations around the instances of a moment: the values of each key.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Observed {
    values: BTreeMap<String, BTreeSet<String>>,
    instances: usize,
}

/// An observation that differs between the runs before and after a change.
#[derive(Debug, Clone, PartialEq)]
pub struct EnvironmentChange {
    /// The path of the observation: `packages.numpy`.
    pub key: String,
    /// Its values before, those of most runs first.
    pub before: Vec<String>,
    /// Its values after.
    pub after: Vec<String>,
    /// The separation of the runs before from those after: 1 if no run before has a value of one after.
    pub separation: f64,
}

impl Observed {
    pub(super) fn add(&mut self, instance: &InstanceData) {
        if self.instances == INSTANCES {
            return;
        }
        if self.instances == 0 {
            self.note_run(&instance.session, &instance.run);
        }
        self.instances += 1;
        if let Some(host) = &instance.instance.host {
            self.put("host", host.clone());
        }
        self.note(&instance.instance.environment);
        if !instance.iterations.is_empty() {
            self.put_statistic("mean of samples");
        } else {
            for summary in &instance.summaries {
                self.put_statistic(centre_name(summary));
            }
        }
    }

    /// Adds what was observed around the instances of a run.
    pub(super) fn add_run(&mut self, run: &PointRun) {
        if self.instances == 0 {
            self.note_run(&run.session, &run.run);
        }
        self.instances += 1;
        for (host, environment) in &run.surroundings {
            if let Some(host) = host {
                self.put("host", host.clone());
            }
            self.note(environment);
        }
    }

    fn note_run(&mut self, session: &Session, run: &Run) {
        self.note(&run.environment);
        if let Some(branch) = &run.version.branch {
            self.put("branch", branch.clone());
        }
        self.put("measured with", session.tool.clone());
    }

    /// Returns what was observed.
    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }

    /// Returns an observation: of several instances those that differ, in order.
    pub(super) fn text(&self, key: &str) -> Option<String> {
        let values = self.values.get(key)?;
        Some(joined(values))
    }

    /// Adds an observation.
    #[cfg(test)]
    pub(super) fn observe(&mut self, key: &str, value: &str) {
        self.put(key, value.to_owned());
    }

    fn note(&mut self, environment: &Object) {
        observations(environment, &mut |path, value| self.put(path, value));
    }

    fn put_statistic(&mut self, name: &str) {
        let known = self.values.get(STATISTIC);
        if known.is_none_or(|known| !known.contains(name)) {
            self.put(STATISTIC, name.to_owned());
        }
    }

    fn put(&mut self, key: &str, value: String) {
        if let Some(known) = self.values.get_mut(key) {
            known.insert(value);
        } else {
            self.values.insert(key.to_owned(), BTreeSet::from([value]));
        }
    }
}

/// Returns what differs between the moments before a change and those after it, what tells them apart best first.
///
/// Observations that all runs after share and none before has come first; those that vary from run to run are left out.
pub(super) fn differences(before: &[&Moment], after: &[&Moment]) -> Vec<EnvironmentChange> {
    let keys: BTreeSet<&String> = before
        .iter()
        .chain(after)
        .flat_map(|moment| moment.observed.values.keys())
        .collect();
    let mut found: Vec<EnvironmentChange> = keys
        .into_iter()
        .filter(|key| !is_volatile(key))
        .filter_map(|key| difference(key, before, after))
        .collect();
    found.sort_by(|one, other| {
        let by_separation = other.separation.total_cmp(&one.separation);
        by_separation.then_with(|| one.key.cmp(&other.key))
    });
    found
}

/// The least separation of an observation to be listed: two thirds of the runs are told apart.
const LEAST: f64 = 0.66;

fn difference(key: &str, before: &[&Moment], after: &[&Moment]) -> Option<EnvironmentChange> {
    let counts = |moments: &[&Moment]| {
        let mut counts: BTreeMap<String, f64> = BTreeMap::new();
        for moment in moments {
            let Some(values) = moment.observed.values.get(key) else {
                continue;
            };
            for value in values {
                *counts.entry(value.clone()).or_default() += 1.0 / as_f64(values.len());
            }
        }
        counts
    };
    let [was, is] = [counts(before), counts(after)];
    let totals = [was.values().sum::<f64>(), is.values().sum::<f64>()];
    // An observation that nobody made on one side is no difference of the machine.
    if totals.iter().any(|total| *total <= 0.0) {
        return None;
    }
    let all: BTreeSet<&String> = was.keys().chain(is.keys()).collect();
    let share = |counts: &BTreeMap<String, f64>, value: &String, total: f64| {
        counts.get(value).copied().unwrap_or(0.0) / total
    };
    let apart: f64 = all
        .iter()
        .map(|value| (share(&was, value, totals[0]) - share(&is, value, totals[1])).abs())
        .sum::<f64>()
        / 2.0;
    // A value of its own in every run, such as a time, tells any two groups apart.
    let varies = |counts: &BTreeMap<String, f64>, runs: usize| runs > 2 && counts.len() >= runs;
    if apart < LEAST || varies(&was, before.len()) || varies(&is, after.len()) {
        return None;
    }
    let most_first = |counts: BTreeMap<String, f64>| {
        let mut counts: Vec<(String, f64)> = counts.into_iter().collect();
        counts.sort_by(|one, other| other.1.total_cmp(&one.1));
        counts.into_iter().map(|(value, _)| value).collect()
    };
    Some(EnvironmentChange {
        key: key.to_owned(),
        before: most_first(was),
        after: most_first(is),
        separation: apart,
    })
}
