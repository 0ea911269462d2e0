//! The inner loops: drawing with replacement, and summing up.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;

use crate::Seed;
use crate::subset::below;

/// So many replicates share one random stream.
const BLOCK: usize = 256;

/// Fills in replicates, each computed from the random stream of its block.
pub(crate) fn fill<T>(
    replicates: &mut [T],
    seed: Seed,
    mut replicate: impl FnMut(&mut Xoshiro256PlusPlus) -> T,
) {
    for (index, block) in (0_u64..).zip(replicates.chunks_mut(BLOCK)) {
        let mut random = seed.block(index);
        for slot in block {
            *slot = replicate(&mut random);
        }
    }
}

/// Calls `visit` with `draws` values drawn from `row` with replacement.
///
/// One 64-bit number gives two positions ([`below`] states how uneven they are: for a row of
/// a thousand values by less than one part in four million).
#[inline]
pub(crate) fn draw(
    row: &[f64],
    draws: usize,
    random: &mut Xoshiro256PlusPlus,
    mut visit: impl FnMut(f64),
) {
    let count = u32::try_from(row.len()).unwrap_or(u32::MAX);
    for _ in 0..draws / 2 {
        let (one, other) = halves(random.next_u64());
        visit(row[below(one, count)]);
        visit(row[below(other, count)]);
    }
    if draws % 2 == 1 {
        let (one, _) = halves(random.next_u64());
        visit(row[below(one, count)]);
    }
}

/// Returns the sum of as many values as `row` has, drawn from it with replacement.
///
/// This is where hierarchical bootstraps spend their time. Two sums run side by side, because
/// each addition waits for the one before.
#[inline]
pub(crate) fn draw_sum(row: &[f64], random: &mut Xoshiro256PlusPlus) -> f64 {
    let count = u32::try_from(row.len()).unwrap_or(u32::MAX);
    let (mut first, mut second) = (0.0, 0.0);
    for _ in 0..row.len() / 2 {
        let (one, other) = halves(random.next_u64());
        first += row[below(one, count)];
        second += row[below(other, count)];
    }
    if row.len() % 2 == 1 {
        first += row[below(halves(random.next_u64()).0, count)];
    }
    first + second
}

/// Returns the median of the values, which it reorders; `NaN` when there is none.
pub(crate) fn middle(values: &mut [f64]) -> f64 {
    if values.is_empty() {
        return f64::NAN;
    }
    let half = values.len() / 2;
    let odd = values.len() % 2 == 1;
    let (smaller, upper, _) = values.select_nth_unstable_by(half, f64::total_cmp);
    if odd {
        return *upper;
    }
    let lower = smaller.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    lower + (*upper - lower) / 2.0
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the lower half is what is wanted"
)]
fn halves(bits: u64) -> (u32, u32) {
    ((bits >> 32) as u32, bits as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_that_of_the_drawn_values() {
        for length in [1, 2, 7, 50] {
            let row: Vec<f64> = (0..length).map(f64::from).collect();
            let mut sum = 0.0;
            draw(&row, row.len(), &mut Seed(7).block(0), |value| sum += value);
            assert_eq!(draw_sum(&row, &mut Seed(7).block(0)), sum);
        }
    }

    #[test]
    fn the_middle_is_the_median() {
        for length in 1..9 {
            let mut values: Vec<f64> = (0..length).map(|k| f64::from(k * 5 % 7)).collect();
            let expected = crate::median(&values);
            assert_eq!(Some(middle(&mut values)), expected);
        }
    }

    #[test]
    fn every_value_is_drawn_equally_often() {
        let row: Vec<f64> = (0..10).map(f64::from).collect();
        let mut counts = [0_u32; 10];
        draw(&row, 100_000, &mut Seed(7).block(0), |value| {
            let position = row.iter().position(|other| *other == value);
            counts[position.expect("of the row")] += 1;
        });
        // Five standard deviations of a count around 10,000.
        assert!(
            counts.iter().all(|count| count.abs_diff(10_000) < 475),
            "{counts:?}"
        );
    }

    #[test]
    fn a_block_does_not_depend_on_the_blocks_before() {
        let numbers = |random: &mut Xoshiro256PlusPlus| random.next_u64();
        let (mut few, mut many) = (vec![0; BLOCK], vec![0; 3 * BLOCK + 5]);
        fill(&mut few, Seed(7), numbers);
        fill(&mut many, Seed(7), numbers);
        assert_eq!(few, many[..BLOCK]);
        assert_eq!(many[BLOCK], Seed(7).block(1).next_u64());
    }
}
