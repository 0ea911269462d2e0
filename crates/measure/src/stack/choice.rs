//! Chooses combinations of versions.

use std::collections::BTreeMap;

use lapwing_model::Levels;
use lapwing_stats::Seed;

use super::{StackError, stack_name};

/// The most combinations among which some are chosen.
const MOST: usize = 100_000;

/// The stacks that count as new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StackNovelty {
    /// Those that were not measured.
    Stacks,
    /// Those with a version that no measured or chosen stack has.
    Versions,
}

/// Returns every combination, in a random order in which all versions occur about equally often from the start.
///
/// # Errors
/// If there are too many.
pub fn combinations(
    versions: &BTreeMap<String, Vec<String>>,
    seed: Seed,
) -> Result<Vec<Levels>, StackError> {
    let number = versions
        .values()
        .try_fold(1_usize, |product, some| product.checked_mul(some.len()));
    if number.is_none_or(|number| number > MOST) {
        return Err(StackError::ManyCombinations { most: MOST });
    }
    let mut all = vec![Levels::new()];
    for (name, some) in versions {
        let extended = all.iter().flat_map(|combination| {
            some.iter().map(|version| {
                let mut combination = combination.clone();
                combination.insert(name.clone(), version.clone());
                combination
            })
        });
        all = extended.collect();
    }
    all.sort_by_key(|it| seed.split(&stack_name(it)).0);
    Ok(all)
}

/// Chooses combinations one after another.
#[derive(Debug)]
pub struct StackChoice {
    left: Vec<Levels>,
    novelty: Option<StackNovelty>,
    measured: Vec<Levels>,
    /// The number of chosen stacks with each version.
    uses: BTreeMap<(String, String), usize>,
}

impl StackChoice {
    /// Chooses among these combinations; `measured` are the stacks of the store.
    pub fn new(all: Vec<Levels>, novelty: Option<StackNovelty>, measured: Vec<Levels>) -> Self {
        let mut uses = BTreeMap::new();
        if novelty == Some(StackNovelty::Versions) {
            for (name, version) in measured.iter().flatten() {
                uses.insert((name.clone(), version.clone()), 1);
            }
        }
        Self {
            left: all,
            novelty,
            measured,
            uses,
        }
    }

    fn is_new(&self, stack: &Levels) -> bool {
        let has = |known: &Levels| stack.iter().all(|(name, it)| known.get(name) == Some(it));
        match self.novelty {
            None => true,
            Some(StackNovelty::Stacks) => !self.measured.iter().any(has),
            Some(StackNovelty::Versions) => stack
                .iter()
                .any(|(name, it)| !self.uses.contains_key(&(name.clone(), it.clone()))),
        }
    }

    /// Counts the versions of a stack as chosen.
    pub fn take(&mut self, stack: &Levels) {
        for (name, version) in stack {
            *self
                .uses
                .entry((name.clone(), version.clone()))
                .or_default() += 1;
        }
    }

    /// Returns the next combination: the first of those whose versions were chosen least often.
    pub fn next_stack(&mut self) -> Option<Levels> {
        let uses = |stack: &Levels| -> usize {
            let versions = stack.iter();
            versions
                .filter_map(|(name, it)| self.uses.get(&(name.clone(), it.clone())))
                .sum()
        };
        let fresh = self.left.iter().enumerate();
        let fresh = fresh.filter(|(_, stack)| self.is_new(stack));
        let (at, _) = fresh.min_by_key(|(_, stack)| uses(stack))?;
        Some(self.left.remove(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn versions() -> BTreeMap<String, Vec<String>> {
        let numbers = |count: u32| (1..=count).map(|it| it.to_string()).collect();
        BTreeMap::from([("a".to_owned(), numbers(3)), ("b".to_owned(), numbers(4))])
    }

    fn chosen(seed: u64, count: usize) -> Vec<String> {
        let all = combinations(&versions(), Seed(seed)).unwrap();
        assert_eq!(all.len(), 12);
        let mut choice = StackChoice::new(all, None, Vec::new());
        let mut names = Vec::new();
        while let Some(stack) = choice.next_stack().filter(|_| names.len() < count) {
            choice.take(&stack);
            names.push(stack_name(&stack));
        }
        names
    }

    #[test]
    fn a_sample_is_seeded_and_has_every_version_early() {
        assert_eq!(chosen(1, 12), chosen(1, 12));
        assert_ne!(chosen(1, 12), chosen(2, 12));
        for seed in 0..20 {
            let mut firsts: Vec<String> = chosen(seed, 4);
            firsts
                .iter_mut()
                .for_each(|it| *it = it.split(',').nth(1).unwrap().to_owned());
            firsts.sort();
            assert_eq!(firsts, ["b=1", "b=2", "b=3", "b=4"], "seed {seed}");
        }
        let mut all = chosen(3, 12);
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 12);
    }

    #[test]
    fn measured_stacks_and_covered_versions_are_not_new() {
        let stack = |a: &str, b: &str| {
            Levels::from([
                ("a".to_owned(), a.to_owned()),
                ("b".to_owned(), b.to_owned()),
            ])
        };
        let count = |novelty, measured: Vec<Levels>| {
            let all = combinations(&versions(), Seed(1)).unwrap();
            let mut choice = StackChoice::new(all, Some(novelty), measured);
            let mut count = 0;
            while let Some(stack) = choice.next_stack() {
                choice.take(&stack);
                count += 1;
            }
            count
        };
        assert_eq!(count(StackNovelty::Stacks, vec![stack("1", "1")]), 11);
        // Each new stack covers at most two of the five versions left.
        let left = count(StackNovelty::Versions, vec![stack("1", "1")]);
        assert!((3..=5).contains(&left), "{left}");
    }
}
