//! What the variants of a benchmark are called.

use std::collections::{BTreeMap, BTreeSet};

use super::BenchmarkData;
use crate::model::{Id, Level, Run};

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
        let mut runs: BTreeMap<&str, BTreeMap<Id, &BTreeMap<String, Level>>> = BTreeMap::new();
        for it in &data.instances {
            let of_one = runs.entry(&it.run.variant).or_default();
            of_one.insert(it.run.id, &it.run.factors);
        }
        let mut names = BTreeMap::new();
        for (variant, runs) in &runs {
            let factors: BTreeSet<&String> = runs.values().flat_map(|it| it.keys()).collect();
            let differs = |factor: &&&String| {
                let mut levels = runs.values().map(|it| it.get(**factor));
                let first = levels.next();
                levels.any(|level| Some(level) != first)
            };
            let told: Vec<&String> = factors.iter().filter(differs).copied().collect();
            if told.is_empty() {
                continue;
            }
            for (run, levels) in runs {
                names.insert(*run, named(variant, levels, &told));
            }
        }
        Self { names }
    }

    /// Returns what the variant of a run is called.
    pub(crate) fn name<'a>(&'a self, run: &'a Run) -> &'a str {
        self.names.get(&run.id).unwrap_or(&run.variant)
    }
}

fn named(variant: &str, levels: &BTreeMap<String, Level>, told: &[&String]) -> String {
    let levels = told.iter().filter_map(|factor| {
        let level = levels.get(*factor)?;
        Some(format!("{factor}={level}"))
    });
    let first = (variant != Run::DEFAULT_VARIANT).then(|| variant.to_owned());
    let parts: Vec<String> = first.into_iter().chain(levels).collect();
    if parts.is_empty() {
        variant.to_owned()
    } else {
        parts.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::clean::tests::instance;
    use crate::model::{Benchmark, Outcome};

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
}
