//! Relabellings: what the contrast of a member would be if its replicates had been dealt out to the sides differently.

use rand_xoshiro::rand_core::Rng;

use crate::Seed;
use crate::number::{as_f64, choices};
use crate::spread::replicates::{Contrast, Replicates};
use crate::subset::{draw_subset, each_subset};

/// Of more relabellings than this, so many are drawn.
const MOST_RELABELLINGS: usize = 500;

/// The numbers of replicates of the two sides, or the number of pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Design {
    Sides(usize, usize),
    Pairs(usize),
}

impl Design {
    pub(super) fn of(replicates: &Replicates) -> Self {
        match replicates {
            Replicates::Sides([baseline, candidate]) => {
                Self::Sides(baseline.len(), candidate.len())
            }
            Replicates::Pairs(differences) => Self::Pairs(differences.len()),
        }
    }

    /// Returns the relabellings: each has the positions of the replicates that become the baseline, or of the pairs
    /// whose sign changes. The observed labels are not among them, nor, with equal numbers, their mirror image.
    pub(super) fn relabellings(self, seed: Seed) -> Vec<Vec<usize>> {
        let (all, size) = match self {
            Self::Sides(baseline, candidate) => (baseline + candidate, baseline),
            Self::Pairs(pairs) => return flips(pairs, seed),
        };
        let is_other = |chosen: &[usize]| {
            let is_observed = chosen.iter().all(|at| *at < size);
            let is_mirrored = 2 * size == all && chosen.iter().all(|at| *at >= size);
            !is_observed && !is_mirrored
        };
        let mut found = Vec::new();
        if choices(all, size) <= as_f64(2 * MOST_RELABELLINGS) {
            each_subset(all, size, |chosen| {
                // Of two mirror images one is enough.
                if is_other(chosen) && (2 * size != all || chosen.first() == Some(&0)) {
                    found.push(chosen.to_vec());
                }
            });
            return found;
        }
        let mut random = seed.block(0);
        let mut positions: Vec<usize> = (0..all).collect();
        while found.len() < MOST_RELABELLINGS {
            draw_subset(&mut positions, size, &mut random);
            if is_other(&positions[..size]) {
                found.push(positions[..size].to_vec());
            }
        }
        found
    }
}

/// Returns sets of pairs whose sign changes, all or drawn ones; the last pair keeps its sign, because changing all
/// signs changes nothing.
fn flips(pairs: usize, seed: Seed) -> Vec<Vec<usize>> {
    let free = pairs.saturating_sub(1);
    let most = u32::try_from(2 * MOST_RELABELLINGS).map_or(0, u32::ilog2);
    if free <= most as usize {
        let subset = |bits: usize| (0..free).filter(|at| bits >> at & 1 == 1).collect();
        return (1..1 << free).map(subset).collect();
    }
    let mut random = seed.block(1);
    let mut found = Vec::new();
    while found.len() < MOST_RELABELLINGS {
        let chosen: Vec<usize> = (0..free).filter(|_| random.next_u32() % 2 == 1).collect();
        if !chosen.is_empty() {
            found.push(chosen);
        }
    }
    found
}

/// The values of a member, with the sums that all relabellings share.
pub(super) struct Relabelled {
    values: Vec<f64>,
    squares: f64,
    contrast: Contrast,
    /// The number of replicates of the baseline; `None` for pairs.
    baseline: Option<usize>,
}

impl Relabelled {
    /// Takes the replicates of a member, and the degrees of freedom and scale of its contrast.
    pub(super) fn of(replicates: &Replicates, contrast: Contrast) -> Self {
        let (mut values, baseline) = match replicates {
            Replicates::Sides(sides) => (sides.concat(), Some(sides[0].len())),
            Replicates::Pairs(differences) => (differences.clone(), None),
        };
        if baseline.is_some() {
            let centre = values.iter().sum::<f64>() / as_f64(values.len());
            values.iter_mut().for_each(|value| *value -= centre);
        }
        Self {
            squares: values.iter().map(|value| value * value).sum(),
            values,
            contrast,
            baseline,
        }
    }

    /// Returns the contrast after a relabelling, as [`Design::relabellings`] gives it.
    pub(super) fn contrast(&self, chosen: &[usize]) -> Contrast {
        let sum: f64 = chosen.iter().map(|at| self.values[*at]).sum();
        let all = as_f64(self.values.len());
        let (difference, within) = match self.baseline {
            // All values add up to 0.
            Some(_) => {
                let scale = self.contrast.scale;
                (-sum * scale, self.squares - sum * sum * scale)
            }
            None => {
                let total: f64 = self.values.iter().sum();
                let mean = (total - 2.0 * sum) / all;
                (mean, self.squares - all * mean * mean)
            }
        };
        Contrast {
            difference,
            variance: within.max(0.0) / self.contrast.freedom,
            ..self.contrast
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_relabelling_occurs_once() {
        let count = |design: Design| design.relabellings(Seed(7)).len();
        assert_eq!(count(Design::Sides(3, 3)), 9);
        assert_eq!(count(Design::Sides(2, 3)), 9);
        assert_eq!(count(Design::Sides(5, 5)), 125);
        assert_eq!(count(Design::Sides(9, 9)), MOST_RELABELLINGS);
        assert_eq!(count(Design::Pairs(5)), 15);
        assert_eq!(count(Design::Pairs(30)), MOST_RELABELLINGS);
    }

    #[test]
    fn relabelled_contrasts_are_those_of_the_relabelled_values() {
        let assert_same = |replicates: &Replicates, chosen: &[usize], direct: &Replicates| {
            let contrast = replicates.contrast().expect("enough");
            let relabelled = Relabelled::of(replicates, contrast).contrast(chosen);
            let direct = direct.contrast().expect("enough");
            assert!((relabelled.difference - direct.difference).abs() < 1e-12);
            assert!((relabelled.variance - direct.variance).abs() < 1e-12);
        };
        assert_same(
            &Replicates::Sides([vec![1.0, 1.3, 1.1], vec![1.7, 1.2, 1.6, 1.9]]),
            &[0, 3, 5],
            &Replicates::Sides([vec![1.0, 1.7, 1.6], vec![1.3, 1.1, 1.2, 1.9]]),
        );
        assert_same(
            &Replicates::Pairs(vec![0.1, 0.2, -0.1, 0.4]),
            &[1, 2],
            &Replicates::Pairs(vec![0.1, -0.2, 0.1, 0.4]),
        );
    }
}
