//! What the variants of a benchmark are called.

use std::collections::{BTreeMap, BTreeSet};

use super::BenchmarkData;
use crate::model::{Id, Run};

/// Levels of factors as people read them, by factor.
pub(crate) type Levels = BTreeMap<String, String>;

/// The names of variants. Where a benchmark has runs of one variant with different levels of factors,
/// the name alone does not tell them apart, so that it has the levels too: `threads=4`,
/// `fast threads=4`.
#[derive(Debug, Default)]
pub(crate) struct Variants {
    /// The names of runs that need more than that of their variant.
    names: BTreeMap<Id, String>,
}

impl Variants {
    /// Returns the names in a benchmark.
    pub(crate) fn of(data: &BenchmarkData) -> Self {
        let runs: BTreeMap<Id, &Run> = data
            .instances
            .iter()
            .map(|it| (it.run.id, it.run.as_ref()))
            .collect();
        let telling = telling_levels(runs.values().copied());
        let names = telling
            .into_iter()
            .map(|(run, levels)| (run, setting_name(&runs[&run].variant, &levels)))
            .collect();
        Self { names }
    }

    /// Returns what the variant of a run is called.
    pub(crate) fn name<'a>(&'a self, run: &'a Run) -> &'a str {
        self.names.get(&run.id).unwrap_or(&run.variant)
    }
}

/// Returns the levels of each run that tell it from others of its variant, of the runs of those variants that
/// have several choices of levels.
pub(crate) fn telling_levels<'a>(runs: impl Iterator<Item = &'a Run>) -> BTreeMap<Id, Levels> {
    let mut variants: BTreeMap<&str, BTreeMap<Id, Levels>> = BTreeMap::new();
    for run in runs {
        let of_one = variants.entry(&run.variant).or_default();
        of_one.entry(run.id).or_insert_with(|| levels_of(run));
    }
    let mut telling = BTreeMap::new();
    for mut runs in variants.into_values() {
        let factors: BTreeSet<String> = runs.values().flat_map(|it| it.keys().cloned()).collect();
        let differs = |factor: &&String| {
            let mut levels = runs.values().map(|it| it.get(*factor));
            let first = levels.next();
            levels.any(|level| Some(level) != first)
        };
        let told: BTreeSet<&String> = factors.iter().filter(differs).collect();
        if told.is_empty() {
            continue;
        }
        for levels in runs.values_mut() {
            levels.retain(|factor, _| told.contains(factor));
        }
        telling.append(&mut runs);
    }
    telling
}

/// Returns all levels of a run.
pub(crate) fn levels_of(run: &Run) -> Levels {
    let levels = run.factors.iter();
    levels
        .map(|(factor, level)| (factor.clone(), level.to_string()))
        .collect()
}

/// Returns `threads=4 size=9`.
pub(crate) fn levels_text(levels: &Levels) -> String {
    let parts: Vec<String> = levels
        .iter()
        .map(|(factor, level)| format!("{factor}={level}"))
        .collect();
    parts.join(" ")
}

/// Returns what a variant is called with the levels that tell it from others of its name.
pub(crate) fn setting_name(variant: &str, levels: &Levels) -> String {
    if levels.is_empty() {
        variant.to_owned()
    } else if variant == Run::DEFAULT_VARIANT {
        levels_text(levels)
    } else {
        format!("{variant} {}", levels_text(levels))
    }
}

/// Returns whether a run of a variant with these levels is meant by the name of a setting, as
/// reports have it: `fast threads=4`. Levels alone are those of any variant, and not all have to be named.
pub fn is_setting(text: &str, variant: &str, levels: &BTreeMap<String, String>) -> bool {
    let named = text.strip_prefix(variant);
    let named = named.and_then(|it| it.strip_prefix(' '));
    named.is_some_and(|rest| has_levels(rest, levels)) || has_levels(text, levels)
}

/// Returns whether a text is made of one of the levels or more.
fn has_levels(text: &str, levels: &BTreeMap<String, String>) -> bool {
    let mut levels: Vec<String> = levels
        .iter()
        .map(|(factor, level)| format!("{factor}={level}"))
        .collect();
    let mut rest = text;
    while !rest.is_empty() {
        // A level may have blanks in it, and begin as another one does.
        let is_next = |level: &String| {
            let after = rest.strip_prefix(level.as_str());
            after.is_some_and(|it| it.is_empty() || it.starts_with(' '))
        };
        let Some(at) = levels.iter().position(is_next) else {
            return false;
        };
        rest = rest[levels.swap_remove(at).len()..].trim_start();
    }
    !text.is_empty()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::clean::tests::instance;
    use crate::model::{Benchmark, Level, Outcome};

    fn names(runs: &[(&str, &[(&str, i64)])]) -> Vec<String> {
        let instances = runs
            .iter()
            .zip(0_u8..)
            .map(|((variant, levels), number)| {
                let mut it = instance(&[(false, Outcome::Ok, 1.0)]);
                let run = Arc::make_mut(&mut it.run);
                run.id = Id::derived(&[&[number]]);
                (*variant).clone_into(&mut run.variant);
                run.factors = levels
                    .iter()
                    .map(|(name, level)| ((*name).to_owned(), Level::Integer(*level)))
                    .collect();
                it
            })
            .collect();
        let data = BenchmarkData {
            suite: "s".to_owned(),
            benchmark: Benchmark::default(),
            instances,
        };
        let variants = Variants::of(&data);
        let runs = data.instances.iter();
        runs.map(|it| variants.name(&it.run).to_owned()).collect()
    }

    #[test]
    fn levels_are_told_where_the_name_of_the_variant_does_not_tell_them() {
        let told = [("fast", &[("threads", 4)][..]), ("slow", &[("threads", 1)])];
        assert_eq!(names(&told), ["fast", "slow"]);
        let levels = [
            ("default", &[("size", 9), ("threads", 1)][..]),
            ("default", &[("size", 9), ("threads", 2)]),
            ("default", &[]),
            ("fast", &[("threads", 1)]),
        ];
        assert_eq!(
            names(&levels),
            ["size=9 threads=1", "size=9 threads=2", "default", "fast"]
        );
        let fast = [("fast", &[("threads", 1)][..]), ("fast", &[("threads", 2)])];
        assert_eq!(names(&fast), ["fast threads=1", "fast threads=2"]);
    }

    #[test]
    fn a_setting_is_meant_by_its_name_or_by_levels() {
        let levels = Levels::from([
            ("method".to_owned(), "hash join".to_owned()),
            ("threads".to_owned(), "4".to_owned()),
        ]);
        let is_it = |text: &str| is_setting(text, "fast", &levels);
        for text in [
            "fast threads=4",
            "fast method=hash join threads=4",
            "threads=4 method=hash join",
            "threads=4",
        ] {
            assert!(is_it(text), "{text}");
        }
        for text in [
            "fast",
            "",
            "slow threads=4",
            "threads=40",
            "threads=4 threads=4",
            "fast threads=1",
            "threads=4 fast",
        ] {
            assert!(!is_it(text), "{text}");
        }
    }
}
