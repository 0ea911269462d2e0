//! Epochs: the measurements of a benchmark while it meant the same.
//!
//! The meaning of a benchmark is given by its fingerprint and its parameters. A change of either starts a new epoch,
//! and measurements of two epochs are not compared as if they were of one benchmark.

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};

use super::History;
use super::params::{ParamClasses, TellingParams, telling};
use lapwing_model::Id;
use lapwing_record::{Definition, InstanceData};

/// The properties of an instance that determine its epoch.
#[derive(Debug, Clone, Default, PartialEq)]
struct EpochHead {
    /// The recorded id.
    id: String,
    /// The number of times that the benchmark of that id was renamed since.
    renames: usize,
    /// The variant of its run.
    variant: String,
    /// The recorded fingerprint.
    fingerprint: Option<String>,
    /// Its parameters.
    params: TellingParams,
}

impl EpochHead {
    fn of(definition: Definition) -> Self {
        Self {
            id: definition.id,
            renames: definition.renames,
            variant: definition.variant,
            fingerprint: definition.fingerprint,
            params: telling(&definition.params),
        }
    }
}

/// Replaces the fingerprints of instances by those of their epochs.
///
/// `definitions` are those of all instances of the benchmark in order of time, including instances excluded by a
/// filter: epochs depend on everything ever measured. It is empty if all instances are in one epoch.
pub(super) fn assign_epochs(instances: &mut [InstanceData], definitions: Vec<Definition>) {
    if definitions.is_empty() {
        return;
    }
    let (ids, heads): (Vec<Id>, Vec<EpochHead>) = definitions
        .into_iter()
        .map(|definition| (definition.instance, EpochHead::of(definition)))
        .unzip();
    let mut epochs: BTreeMap<Id, Option<String>> = ids.into_iter().zip(epochs(&heads)).collect();
    for instance in instances {
        instance.instance.benchmark.fingerprint = epochs.remove(&instance.instance.id).flatten();
    }
}

/// Returns the epoch of each instance of a benchmark: all of its instances, in order of time.
///
/// Instances without a fingerprint belong to the epoch around them: that of the last one before, else of the first one
/// after. So do those without a parameter that others have. A benchmark that continues under another id keeps its
/// meaning: the epochs before and after the first step from the one id to the other are one, named as the later one.
/// Later steps between these ids are ignored: both ids are being measured.
///
/// Variants that have no fingerprint in common are different sources: the neighbours of an instance, and the two sides
/// of a step, are looked up within its own source.
fn epochs(heads: &[EpochHead]) -> Vec<Option<String>> {
    let mut classes = ParamClasses::default();
    let of_class: Vec<usize> = heads.iter().map(|it| classes.of(&it.params)).collect();
    let all: Vec<usize> = (0..heads.len()).collect();
    let groups = by_source(heads);
    let mut fingerprints = vec![None; heads.len()];
    for group in &groups {
        fill(heads, group, &mut fingerprints);
    }
    fill(heads, &all, &mut fingerprints);
    let epochs: Vec<Option<String>> = if classes.is_one() {
        fingerprints
    } else {
        let texts = classes.texts();
        let named = fingerprints.into_iter().zip(&of_class);
        let named = named.map(|(fingerprint, class)| {
            format!("{} {}", fingerprint.unwrap_or_default(), texts[*class])
        });
        named.map(|it| Some(it.trim().to_owned())).collect()
    };
    let mut later = LaterEpochs::default();
    let mut joined = JoinedIds::default();
    for group in &groups {
        let mut of_group = JoinedIds::default();
        later.take_steps(heads, &epochs, group, &mut of_group);
        for ids in of_group.0 {
            joined.add(ids);
        }
    }
    // Two ids may have no source in common.
    later.take_steps(heads, &epochs, &all, &mut joined);
    let resolved = epochs.iter().map(|it| it.as_deref().map(|it| later.of(it)));
    resolved.collect()
}

/// Returns the instances of each set of variants that have fingerprints in common; those of variants without any are
/// in none.
fn by_source(heads: &[EpochHead]) -> Vec<Vec<usize>> {
    let mut sources: Vec<(BTreeSet<&str>, BTreeSet<&str>)> = Vec::new();
    for head in heads {
        let Some(fingerprint) = head.fingerprint.as_deref() else {
            continue;
        };
        let variant = head.variant.as_str();
        let is_of = |it: &(BTreeSet<&str>, BTreeSet<&str>)| {
            it.0.contains(variant) || it.1.contains(fingerprint)
        };
        if let Some(of) = sources.iter().find(|it| is_of(it))
            && of.0.contains(variant)
            && of.1.contains(fingerprint)
        {
            continue;
        }
        let mut joined = (BTreeSet::from([variant]), BTreeSet::from([fingerprint]));
        sources.retain_mut(|it| {
            let joins = is_of(it);
            if joins {
                joined.0.append(&mut it.0);
                joined.1.append(&mut it.1);
            }
            !joins
        });
        sources.push(joined);
    }
    let of = |(variants, _): &(BTreeSet<&str>, _)| {
        let places = 0..heads.len();
        places
            .filter(|&at| variants.contains(heads[at].variant.as_str()))
            .collect()
    };
    sources.iter().map(of).collect()
}

/// Gives instances without a fingerprint that of their neighbours in the group.
fn fill(heads: &[EpochHead], group: &[usize], fingerprints: &mut [Option<String>]) {
    let said = |at: &usize| heads[*at].fingerprint.as_ref();
    let Some(mut current) = group.iter().find_map(said) else {
        return;
    };
    for &at in group {
        current = said(&at).unwrap_or(current);
        fingerprints[at].get_or_insert_with(|| current.clone());
    }
}

/// Key: an epoch; value: a later part of it that has another name.
#[derive(Debug, Default)]
struct LaterEpochs(BTreeMap<String, String>);

impl LaterEpochs {
    fn of(&self, epoch: &str) -> String {
        let mut now = epoch;
        while let Some(next) = self.0.get(now) {
            now = next;
        }
        now.to_owned()
    }

    /// Joins the epochs before and after the first step from one id to another, unless the two are joined already:
    /// steps in the direction of the rename first.
    fn take_steps(
        &mut self,
        heads: &[EpochHead],
        epochs: &[Option<String>],
        group: &[usize],
        joined: &mut JoinedIds,
    ) {
        let says = |at: &&usize| heads[**at].fingerprint.is_some();
        let any = group.iter().any(|at| says(&at));
        let said = group.iter().filter(|it| !any || says(it));
        let said: Vec<usize> = said.copied().collect();
        for forwards in [true, false] {
            for pair in said.windows(2) {
                let [before, after] = [&heads[pair[0]], &heads[pair[1]]];
                let is_forwards = before.renames >= after.renames;
                let ids = [before, after].map(|it| it.id.as_str());
                if is_forwards != forwards || joined.are_one(ids) {
                    continue;
                }
                joined.add(BTreeSet::from(ids.map(str::to_owned)));
                if let (Some(old), Some(new)) = (&epochs[pair[0]], &epochs[pair[1]]) {
                    let (old, new) = (self.of(old), self.of(new));
                    if old != new {
                        self.0.insert(old, new);
                    }
                }
            }
        }
    }
}

/// Ids that are known to be of one benchmark.
#[derive(Debug, Default)]
struct JoinedIds(Vec<BTreeSet<String>>);

impl JoinedIds {
    fn are_one(&self, [one, other]: [&str; 2]) -> bool {
        let together = |ids: &BTreeSet<String>| ids.contains(one) && ids.contains(other);
        one == other || self.0.iter().any(together)
    }

    fn add(&mut self, mut ids: BTreeSet<String>) {
        self.0.retain_mut(|known| {
            let apart = known.is_disjoint(&ids);
            if !apart {
                ids.append(known);
            }
            apart
        });
        self.0.push(ids);
    }
}

/// Keeps the instances of the newest epoch, and returns the number of those in earlier ones.
///
/// The newest epoch is that of the instance at the last place of the history, whenever it was measured: measuring old
/// versions later does not restore the benchmark's old meaning. The instances have the fingerprints of their epochs,
/// as read from the store. Without any fingerprint, all are of one epoch.
pub(crate) fn keep_newest_epoch<I: Borrow<InstanceData>>(
    instances: &mut Vec<I>,
    order: &History,
) -> usize {
    let before = instances.len();
    if let Some(newest) = newest(instances, order).map(str::to_owned) {
        instances.retain(|it| fingerprint(it).is_none_or(|it| it == newest));
    }
    before - instances.len()
}

fn fingerprint<I: Borrow<InstanceData>>(it: &I) -> Option<&str> {
    it.borrow().instance.benchmark.fingerprint.as_deref()
}

/// Returns the newest of several epochs; `None` if there is at most one.
fn newest<'i, I: Borrow<InstanceData>>(instances: &'i [I], order: &History) -> Option<&'i str> {
    let first = instances.iter().find_map(fingerprint)?;
    if instances
        .iter()
        .filter_map(fingerprint)
        .all(|it| it == first)
    {
        return None;
    }
    // Of several at one place, the one measured last.
    let with_fingerprint = instances.iter().filter(|it| fingerprint(*it).is_some());
    let last = with_fingerprint.max_by_key(|it| order.position(&(*it).borrow().run.id));
    last.and_then(fingerprint)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use jiff::Timestamp;

    use super::*;
    use crate::clean::tests::instance;
    use crate::sample::{BenchmarkData, Sample};
    use lapwing_model::{Benchmark, Outcome};

    /// Returns instances by id and fingerprint (`-` for none), each id renamed to the next letter; a variant follows a
    /// stroke, a parameter a colon.
    fn heads(all: &[(&str, &str)]) -> Vec<EpochHead> {
        all.iter()
            .map(|(id, says)| {
                let (says, parameter) = match says.split_once(':') {
                    Some((says, parameter)) => (says, Some(parameter)),
                    None => (*says, None),
                };
                let (fingerprint, variant) = says.split_once('/').unwrap_or((says, ""));
                EpochHead {
                    id: (*id).to_owned(),
                    renames: usize::from(b'z' - id.as_bytes()[0]),
                    variant: variant.to_owned(),
                    fingerprint: (fingerprint != "-").then(|| fingerprint.to_owned()),
                    params: parameter
                        .map(|it| ("n".to_owned(), it.to_owned()))
                        .into_iter()
                        .collect(),
                }
            })
            .collect()
    }

    fn settled(all: &[(&str, &str)]) -> String {
        let epochs = epochs(&heads(all)).into_iter();
        let epochs: Vec<String> = epochs.map(|it| it.unwrap_or("-".to_owned())).collect();
        epochs.join(" ")
    }

    /// Returns instances with these epochs (`-` for none), each in a run of its own, measured in this order; the date
    /// of the version follows a stroke.
    fn instances(all: &[&str]) -> Vec<InstanceData> {
        (0_i64..)
            .zip(all)
            .map(|(number, epoch)| {
                let mut it = instance(&[(false, Outcome::Ok, 1.0)]);
                let (epoch, date) = epoch.split_once('/').unwrap_or((epoch, ""));
                it.instance.benchmark.fingerprint = (epoch != "-").then(|| epoch.to_owned());
                let id = Id::derived(&[&number.to_le_bytes()]);
                let session = Arc::make_mut(&mut it.session);
                session.started = Timestamp::from_second(number).expect("a time");
                session.id = id;
                let run = Arc::make_mut(&mut it.run);
                run.id = id;
                run.version.date = (!date.is_empty()).then(|| date.to_owned());
                it
            })
            .collect()
    }

    /// Returns the remaining epochs.
    fn kept(all: &[&str]) -> String {
        let data = BenchmarkData {
            suite: "s".to_owned(),
            benchmark: Benchmark::default(),
            instances: instances(all),
        };
        let sample = Sample::of_newest_epoch(&data);
        assert_eq!(sample.instances.len() + sample.earlier_epoch, all.len());
        let epochs = sample
            .instances
            .iter()
            .map(|it| fingerprint(it).unwrap_or("-"));
        epochs.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn instances_without_a_fingerprint_belong_to_the_epoch_around_them() {
        let all = [("a", "-"), ("a", "1"), ("a", "-"), ("a", "2"), ("a", "-")];
        assert_eq!(settled(&all), "1 1 1 2 2");
        assert_eq!(settled(&[("a", "-"), ("a", "-")]), "- -");
        // The neighbours in their variant, if it has a source of its own; a variant without any fingerprint is in the
        // epoch around it in all of them.
        let all = [("a", "1/x"), ("a", "2/y"), ("a", "-/x"), ("a", "-/z")];
        assert_eq!(settled(&all), "1 2 1 2");
    }

    #[test]
    fn a_rename_begins_no_epoch() {
        let all = [("a", "0"), ("a", "1"), ("b", "2"), ("b", "-"), ("b", "3")];
        assert_eq!(settled(&all), "0 2 2 2 3");
        // Both ids measured in turn, and then the same again under one of them.
        let all = [("a", "1"), ("b", "2"), ("a", "1"), ("b", "2"), ("b", "2")];
        assert_eq!(settled(&all), "2 2 2 2 2");
        // Also where the other variant has another source, and where no variant has both ids.
        let all = [("a", "1/x"), ("a", "2/y"), ("b", "3/x"), ("b", "4/y")];
        assert_eq!(settled(&all), "3 4 3 4");
        assert_eq!(settled(&[("a", "1/x"), ("b", "2/y")]), "2 2");
    }

    #[test]
    fn a_change_after_a_rename_begins_one_though_the_old_id_is_still_measured() {
        let all = [("a", "1"), ("b", "2"), ("a", "1"), ("b", "3")];
        assert_eq!(settled(&all), "2 2 2 3");
        let all = [("a", "1"), ("b", "2"), ("c", "3"), ("a", "1"), ("c", "4")];
        assert_eq!(settled(&all), "3 3 3 3 4");
    }

    #[test]
    fn a_step_in_the_direction_of_the_rename_counts_before_one_back() {
        let all = [("b", "0"), ("a", "1"), ("b", "2")];
        assert_eq!(settled(&all), "0 2 2");
        assert_eq!(settled(&[("b", "0"), ("a", "1")]), "1 1");
    }

    #[test]
    fn other_parameters_are_another_epoch() {
        let all = [("a", "1:10"), ("a", "1:20"), ("a", "1"), ("a", "1:10")];
        assert_eq!(settled(&all), "1 n=10 1 n=20 1 n=20 1 n=10".to_owned());
        assert_eq!(settled(&[("a", "-:10"), ("a", "-:20")]), "n=10 n=20");
        assert_eq!(
            settled(&[("a", "-:10"), ("a", "-:10"), ("a", "-")]),
            "- - -"
        );
        // But not if they are under ids of which one was renamed to the other.
        assert_eq!(settled(&[("a", "-:10"), ("b", "-:20")]), "n=20 n=20");
    }

    #[test]
    fn what_comes_back_is_what_it_was() {
        assert_eq!(settled(&[("a", "1"), ("a", "2"), ("a", "1")]), "1 2 1");
        assert_eq!(kept(&["1", "2", "1"]), "1 1");
    }

    #[test]
    fn without_fingerprints_all_is_one_epoch() {
        assert_eq!(kept(&["-", "-"]), "- -");
    }

    #[test]
    fn the_newest_epoch_is_that_of_the_newest_version_whenever_that_was_measured() {
        let new = ["new/2026-02-01", "new/2026-02-02"];
        let old = ["old/2026-01-01", "old/2026-01-02"];
        assert_eq!(kept(&[new, old].concat()), "new new");
        assert_eq!(kept(&[old, new].concat()), "new new");
        // A version without a date comes after the newest measured before it.
        assert_eq!(kept(&["new/2026-02-01", "old/2026-01-01", "last"]), "last");
        // One version that was measured before and after a change.
        assert_eq!(kept(&["a/2026-02-01", "b/2026-02-01"]), "b");
    }
}
