//! What an error rate is spent on besides a single test: several looks at results that are not complete, and the choice of
//! the best side.

use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex};

use lapwing_stats::look_levels;

use super::compare::SideSample;

/// The instances per side at each look, and the most that were planned.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Looks {
    sizes: Vec<usize>,
    most: u32,
    best_of: u32,
}

impl Looks {
    /// Returns the looks at two sides; each counts with its side of fewer instances.
    pub(super) fn of(sides: [&SideSample; 2]) -> Self {
        let numbers: BTreeMap<u32, ()> = sides
            .iter()
            .flat_map(|side| side.looks.keys())
            .map(|look| (look.number, ()))
            .collect();
        let up_to = |side: &SideSample, number: u32| -> usize {
            let looks = side.looks.iter().filter(|(look, _)| look.number <= number);
            looks.map(|(_, count)| count).sum()
        };
        let mut sizes: Vec<usize> = numbers
            .into_keys()
            .map(|number| {
                sides
                    .map(|side| up_to(side, number))
                    .into_iter()
                    .min()
                    .unwrap_or(0)
            })
            .filter(|size| *size > 0)
            .collect();
        sizes.dedup();
        let planned = sides
            .iter()
            .flat_map(|side| side.looks.keys())
            .map(|it| it.most)
            .max();
        Self {
            sizes,
            most: planned.unwrap_or(0),
            best_of: sides[0].best_of.max(sides[1].best_of),
        }
    }

    /// Returns the number of looks so far.
    pub fn count(&self) -> usize {
        self.sizes.len()
    }

    /// Returns whether one look at everything was all.
    pub fn are_plain(&self) -> bool {
        let most = self.most as usize;
        self.sizes.len() < 2 && self.sizes.last().is_none_or(|last| *last >= most)
    }

    /// Returns the share of an error rate that is left for a test with the best of k sides, which was chosen by its
    /// values. Any of the k (k − 1)/2 pairs could have been one of the k − 1 that are tested, so it is 2/k.
    pub(super) fn after_choice(&self, alpha: f64) -> f64 {
        alpha * 2.0 / f64::from(self.best_of.max(2))
    }

    /// Returns the p-value that suffices now, so that the error rate over all looks is `alpha`.
    pub fn level(&self, alpha: f64) -> f64 {
        let alpha = self.after_choice(alpha);
        if self.are_plain() {
            return alpha;
        }
        // Benchmarks of one session have the same looks, and finding the level takes some milliseconds.
        static KNOWN: LazyLock<Mutex<BTreeMap<(Looks, u64), f64>>> = LazyLock::new(Mutex::default);
        let key = (self.clone(), alpha.to_bits());
        let known = KNOWN.lock().ok().and_then(|it| it.get(&key).copied());
        known.unwrap_or_else(|| {
            let levels = look_levels(&self.sizes, self.most as usize, alpha);
            let level = levels.last().copied().unwrap_or(alpha);
            if let Ok(mut known) = KNOWN.lock() {
                known.insert(key, level);
            }
            level
        })
    }

    /// Returns the factor of p-values after which they can be compared with `alpha`.
    pub fn factor(&self, alpha: f64) -> f64 {
        alpha / self.level(alpha)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lapwing_model::Look;

    fn side(counts: &[(u32, usize)], most: u32) -> SideSample {
        let looks = counts.iter().map(|(number, count)| {
            let look = Look {
                number: *number,
                most,
            };
            (look, *count)
        });
        SideSample {
            looks: looks.collect(),
            ..SideSample::default()
        }
    }

    #[test]
    fn one_look_at_everything_needs_no_correction() {
        let plain = side(&[(1, 10)], 0);
        let looks = Looks::of([&plain, &plain]);
        assert_eq!((looks.are_plain(), looks.level(0.05)), (true, 0.05));
    }

    #[test]
    fn the_choice_of_the_best_of_five_costs_a_factor_of_two_and_a_half() {
        let chosen = SideSample {
            best_of: 5,
            ..side(&[(1, 10)], 0)
        };
        let looks = Looks::of([&side(&[(1, 10)], 0), &chosen]);
        assert!(looks.are_plain());
        assert!((looks.factor(0.05) - 2.5).abs() < 1e-12);
        let two = SideSample {
            best_of: 2,
            ..side(&[(1, 10)], 0)
        };
        assert!((Looks::of([&two, &two]).factor(0.05) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_second_look_and_a_stop_before_the_end_cost_something() {
        let again = side(&[(1, 5), (2, 7)], 0);
        let looks = Looks::of([&again, &again]);
        assert_eq!(looks.count(), 2);
        assert!(
            (0.01..0.03).contains(&looks.level(0.05)),
            "{}",
            looks.level(0.05)
        );
        let stopped = side(&[(1, 5)], 20);
        let looks = Looks::of([&stopped, &stopped]);
        assert!(looks.level(0.05) < 0.02 && looks.factor(0.05) > 2.5);
    }
}
