//! Subsets of positions, all of them or random ones, and random positions.

use rand_xoshiro::rand_core::Rng;

/// Returns a random whole number below `count`.
///
/// The upper half of a product of 32 random bits with `count` (Lemire, *ACM TOMACS* 2019, without the
/// rejection): one multiplication and no division. Some numbers are more likely than others
/// by `count` / 2³² of their probability at most, which for a million values is 0.02 %.
pub(crate) fn below(bits: u32, count: u32) -> usize {
    ((u64::from(bits) * u64::from(count)) >> 32) as usize
}

/// Draws a whole number below `count`.
pub(crate) fn draw_below(count: usize, random: &mut impl Rng) -> usize {
    below(random.next_u32(), u32::try_from(count).unwrap_or(u32::MAX))
}

/// Visits every subset of `size` of the positions 0 … `all` − 1, in lexicographic order.
pub(crate) fn each_subset(all: usize, size: usize, mut visit: impl FnMut(&[usize])) {
    let mut chosen: Vec<usize> = (0..size).collect();
    loop {
        visit(&chosen);
        let next = (0..size).rfind(|at| chosen[*at] < all - size + at);
        let Some(at) = next else { return };
        chosen[at] += 1;
        for later in at + 1..size {
            chosen[later] = chosen[later - 1] + 1;
        }
    }
}

/// Brings a random subset of `size` of the items to the front (the first steps of the shuffle of Fisher and Yates).
pub(crate) fn draw_subset<T>(items: &mut [T], size: usize, random: &mut impl Rng) {
    for at in 0..size {
        items.swap(at, at + draw_below(items.len() - at, random));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;
    use crate::number::choices;

    #[test]
    fn subsets_come_in_order() {
        let mut all = Vec::new();
        each_subset(4, 2, |chosen| all.push(chosen.to_vec()));
        assert_eq!(all, [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]);
    }

    #[test]
    fn there_are_as_many_subsets_as_choices() {
        for size in 0..=7 {
            let mut count = 0.0;
            each_subset(7, size, |_| count += 1.0);
            assert_eq!(count, choices(7, size), "{size}");
        }
    }

    #[test]
    fn the_extremes_of_the_bits_are_the_extremes_of_the_positions() {
        assert_eq!((below(0, 10), below(u32::MAX, 10)), (0, 9));
        assert_eq!(below(u32::MAX, 1), 0);
    }

    #[test]
    fn every_subset_is_drawn_equally_often() {
        let mut random = Seed(7).block(0);
        let mut positions: Vec<usize> = (0..5).collect();
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..10_000 {
            draw_subset(&mut positions, 2, &mut random);
            let mut chosen = positions[..2].to_vec();
            chosen.sort_unstable();
            *counts.entry(chosen).or_insert(0_u32) += 1;
        }
        assert_eq!(counts.len(), 10);
        // Five standard deviations of a count around 1,000.
        assert!(counts.values().all(|count| count.abs_diff(1_000) < 150));
    }
}
