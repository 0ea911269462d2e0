//! Epochs: what was measured of a benchmark while it meant the same.
//!
//! A fingerprint tells what a benchmark is. Where it changes a new epoch begins, and what was
//! measured in two epochs is not compared as if it were the same.

use std::borrow::Borrow;
use std::collections::BTreeMap;

use super::{BenchmarkData, InstanceData};

/// Gives each instance, in order of time, the fingerprint of its epoch.
///
/// Instances without one belong to the epoch around them, of the same variant and levels of factors,
/// which may have fingerprints of their own: that of the last one before, else of the first one
/// after; where none of the variant has one, that of the others around them. Where a benchmark goes
/// on under another id, it means what it meant: the fingerprints on both sides of that are of one
/// epoch, which has the later one.
pub(crate) fn settle_epochs(instances: &mut [InstanceData]) {
    let mut settings: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, it) in instances.iter().enumerate() {
        let setting = format!("{} {:?}", it.run.variant, it.run.factors);
        settings.entry(setting).or_default().push(at);
    }
    let (told, silent): (Vec<_>, Vec<_>) = settings.into_values().partition(|of_one| {
        let mut all = of_one.iter();
        all.any(|at| instances[*at].instance.benchmark.fingerprint.is_some())
    });
    // By a fingerprint, a later one of the same epoch.
    let mut later: BTreeMap<String, String> = BTreeMap::new();
    for of_one in &told {
        link_renamed(instances, of_one, &mut later);
    }
    for of_one in &told {
        settle(instances, of_one, &later);
    }
    if !silent.is_empty() {
        let all: Vec<usize> = (0..instances.len()).collect();
        settle(instances, &all, &later);
    }
}

/// Notes which fingerprints are of one epoch, because the benchmark went on under another id.
fn link_renamed(
    instances: &[InstanceData],
    of_one: &[usize],
    later: &mut BTreeMap<String, String>,
) {
    let said = of_one.iter().filter_map(|at| {
        let benchmark = &instances[*at].instance.benchmark;
        Some((&benchmark.id, benchmark.fingerprint.as_deref()?))
    });
    let said: Vec<(&String, &str)> = said.collect();
    for pair in said.windows(2) {
        let [(before, old), (after, new)] = pair else {
            continue;
        };
        if before != after {
            let (old, new) = (epoch(later, old), epoch(later, new));
            if old != new {
                later.insert(old, new);
            }
        }
    }
}

fn settle(instances: &mut [InstanceData], of_one: &[usize], later: &BTreeMap<String, String>) {
    let fingerprint = |at: &usize| instances[*at].instance.benchmark.fingerprint.clone();
    let Some(first) = of_one.iter().find_map(fingerprint) else {
        return;
    };
    let mut current = epoch(later, &first);
    for at in of_one {
        let fingerprint = &mut instances[*at].instance.benchmark.fingerprint;
        if let Some(own) = fingerprint {
            current = epoch(later, own);
        }
        *fingerprint = Some(current.clone());
    }
}

fn epoch(later: &BTreeMap<String, String>, fingerprint: &str) -> String {
    let mut now = fingerprint;
    while let Some(next) = later.get(now) {
        now = next;
    }
    now.to_owned()
}

/// Keeps the instances of the newest epoch, and returns how many were of earlier ones.
///
/// They stand in order of time, and have the fingerprints of their epochs as the store gives
/// them. Where none has a fingerprint, all are of one epoch.
pub fn keep_newest_epoch<I: Borrow<InstanceData>>(instances: &mut Vec<I>) -> usize {
    let before = instances.len();
    let fingerprint = |it: &I| it.borrow().instance.benchmark.fingerprint.clone();
    if let Some(newest) = instances.iter().rev().find_map(fingerprint) {
        instances.retain(|it| fingerprint(it).is_none_or(|it| it == newest));
    }
    before - instances.len()
}

impl BenchmarkData {
    /// Keeps the instances of the newest epoch, and returns how many were of earlier ones.
    pub fn keep_newest_epoch(&mut self) -> usize {
        keep_newest_epoch(&mut self.instances)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clean::tests::instance;
    use crate::model::Outcome;

    /// Instances by id and fingerprint; `-` for none.
    fn instances(all: &[(&str, &str)]) -> Vec<InstanceData> {
        all.iter()
            .map(|(id, fingerprint)| {
                let mut it = instance(&[(false, Outcome::Ok, 1.0)]);
                (*id).clone_into(&mut it.instance.benchmark.id);
                it.instance.benchmark.fingerprint =
                    (*fingerprint != "-").then(|| (*fingerprint).to_owned());
                it
            })
            .collect()
    }

    fn epochs(all: &[(&str, &str)]) -> String {
        let mut instances = instances(all);
        settle_epochs(&mut instances);
        let fingerprint = |it: &InstanceData| it.instance.benchmark.fingerprint.clone();
        let epochs = instances.iter().map(fingerprint);
        let epochs: Vec<String> = epochs.map(|it| it.unwrap_or("-".to_owned())).collect();
        epochs.join(" ")
    }

    #[test]
    fn variants_may_have_fingerprints_of_their_own() {
        let all = [("a", "1"), ("a", "2"), ("a", "-"), ("a", "-"), ("a", "-")];
        let mut instances = instances(&all);
        for (it, variant) in instances.iter_mut().zip(["x", "y", "x", "y", "z"]) {
            variant.clone_into(&mut std::sync::Arc::make_mut(&mut it.run).variant);
        }
        settle_epochs(&mut instances);
        let fingerprints = instances
            .iter()
            .map(|it| &it.instance.benchmark.fingerprint);
        let fingerprints: Vec<&str> = fingerprints.flatten().map(String::as_str).collect();
        assert_eq!(fingerprints, ["1", "2", "1", "2", "2"]);
    }

    #[test]
    fn instances_without_a_fingerprint_belong_to_the_epoch_around_them() {
        let all = [("a", "-"), ("a", "1"), ("a", "-"), ("a", "2"), ("a", "-")];
        assert_eq!(epochs(&all), "1 1 1 2 2");
        assert_eq!(epochs(&[("a", "-"), ("a", "-")]), "- -");
    }

    #[test]
    fn a_rename_begins_no_epoch() {
        let all = [("a", "0"), ("a", "1"), ("b", "2"), ("b", "-"), ("b", "3")];
        assert_eq!(epochs(&all), "0 2 2 2 3");
        // Both ids measured in turn, and then the same again under one of them.
        let all = [("a", "1"), ("b", "2"), ("a", "1"), ("b", "2"), ("b", "2")];
        assert_eq!(epochs(&all), "2 2 2 2 2");
    }

    #[test]
    fn what_comes_back_is_what_it_was() {
        let all = [("a", "1"), ("a", "2"), ("a", "1")];
        assert_eq!(epochs(&all), "1 2 1");
        let mut all = instances(&all);
        assert_eq!((keep_newest_epoch(&mut all), all.len()), (1, 2));
    }

    #[test]
    fn without_fingerprints_all_is_one_epoch() {
        let mut all = instances(&[("a", "-"), ("a", "-")]);
        assert_eq!((keep_newest_epoch(&mut all), all.len()), (0, 2));
    }
}
