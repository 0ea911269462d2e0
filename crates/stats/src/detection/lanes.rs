//! Random whole numbers below a limit, thirty-two at a time.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

/// So many 16-bit numbers come at a time.
pub(super) const LANES: usize = 32;

/// Eight generators xoshiro256++ side by side, so that one instruction can work on all of them.
#[derive(Debug, Clone)]
pub(super) struct RandomLanes {
    pub(super) state: [[u64; 8]; 4],
}

/// What thirty-two numbers below limits come from: one limit for each lane.
#[derive(Debug, Clone)]
pub(super) struct LaneLimits {
    /// The limits; 0 where the lane is not used.
    pub(super) limit: [u16; LANES],
    /// Products below it would be more likely than others, and are drawn again.
    pub(super) uneven: [u16; LANES],
}

impl RandomLanes {
    /// Takes its state from a generator.
    pub(super) fn from(source: &mut ChaCha8Rng) -> Self {
        let mut state = [[0; 8]; 4];
        for word in state.iter_mut().flatten() {
            *word = source.next_u64();
        }
        Self { state }
    }

    /// Returns the next 64 bits of each generator (Blackman & Vigna, *ACM TOMS* 2021).
    #[inline(always)]
    fn next(&mut self) -> [u64; 8] {
        // One step of all generators after the other: each is one instruction on a vector.
        let [s0, s1, s2, s3] = self.state;
        let each = |step: fn(u64, u64) -> u64, one: [u64; 8], other: [u64; 8]| -> [u64; 8] {
            std::array::from_fn(|lane| step(one[lane], other[lane]))
        };
        let xor = |one, other| each(|one, other| one ^ other, one, other);
        let sum = each(u64::wrapping_add, s0, s3);
        let result = each(|sum, s0| sum.rotate_left(23).wrapping_add(s0), sum, s0);
        let shifted = s1.map(|it| it << 17);
        let (s2, s3) = (xor(s2, s0), xor(s3, s1));
        let (s1, s0) = (xor(s1, s2), xor(s0, s3));
        let (s2, s3) = (xor(s2, shifted), s3.map(|it| it.rotate_left(45)));
        self.state = [s0, s1, s2, s3];
        result
    }

    /// Returns the next bits as 16-bit numbers, the lowest of each word first.
    #[inline(always)]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "16 bits are what is wanted"
    )]
    fn next_short(&mut self) -> [u16; LANES] {
        let words = self.next();
        let mut short = [0; LANES];
        for (lane, number) in short.iter_mut().enumerate() {
            *number = (words[lane / 4] >> (16 * (lane % 4))) as u16;
        }
        short
    }

    /// Returns a number below the limit of each lane, all of them equally likely; 0 in lanes
    /// that are not used.
    ///
    /// The upper half of the product of 16 random bits with the limit; what would make some numbers
    /// more likely is drawn again (Lemire, *ACM TOMACS* 2019).
    #[inline(always)]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "halves of 32 bits are wanted"
    )]
    pub(super) fn below(&mut self, limits: &LaneLimits) -> [u16; LANES] {
        let mut bits = self.next_short();
        loop {
            let (mut numbers, mut is_uneven) = ([0; LANES], false);
            for lane in 0..LANES {
                let product = u32::from(bits[lane]) * u32::from(limits.limit[lane]);
                numbers[lane] = (product >> 16) as u16;
                is_uneven |= (product as u16) < limits.uneven[lane];
            }
            if !is_uneven {
                return numbers;
            }
            self.draw_uneven_again(&mut bits, limits);
        }
    }

    #[cold]
    fn draw_uneven_again(&mut self, bits: &mut [u16; LANES], limits: &LaneLimits) {
        let others = self.next_short();
        for lane in 0..LANES {
            if bits[lane].wrapping_mul(limits.limit[lane]) < limits.uneven[lane] {
                bits[lane] = others[lane];
            }
        }
    }
}

impl LaneLimits {
    /// Returns limits of lanes; 0 for those that are not used.
    pub(super) fn new(limit: [u16; LANES]) -> Self {
        let uneven = limit.map(|limit| match limit {
            0 => 0,
            limit => limit.wrapping_neg() % limit,
        });
        Self { limit, uneven }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;

    #[test]
    fn each_lane_is_a_generator_of_its_own() {
        use rand_xoshiro::Xoshiro256PlusPlus;
        use rand_xoshiro::rand_core::{Rng as _, SeedableRng};
        let mut lanes = RandomLanes::from(&mut Seed(7).stream("lanes"));
        let mut alone: Vec<Xoshiro256PlusPlus> = (0..8)
            .map(|lane| {
                let words = lanes.state.map(|words| words[lane].to_le_bytes());
                let mut seed = [0; 32];
                seed.copy_from_slice(&words.concat());
                Xoshiro256PlusPlus::from_seed(seed)
            })
            .collect();
        for _ in 0..100 {
            let expected: Vec<u64> = alone.iter_mut().map(|it| it.next_u64()).collect();
            assert_eq!(lanes.next().to_vec(), expected);
        }
    }

    #[test]
    fn every_number_below_the_limit_is_equally_likely() {
        for limit in [1, 2, 3, 7, 25, 32, 40_000] {
            // A limit of 40,000 would have every second number twice as likely without drawing again.
            let limits = LaneLimits::new([limit; LANES]);
            let mut lanes = RandomLanes::from(&mut Seed(7).stream("limits"));
            let mut counts = vec![0.0_f64; usize::from(limit.min(40))];
            let groups = counts.len();
            for _ in 0..20_000 {
                for number in lanes.below(&limits) {
                    assert!(number < limit);
                    counts[usize::from(number) % groups] += 1.0;
                }
            }
            let expected = 640_000.0 / crate::number::as_f64(counts.len());
            let square = |count: &f64| (count - expected).powi(2) / expected;
            let chi: f64 = counts.iter().map(square).sum();
            let freedom = crate::number::as_f64(counts.len()) - 1.0;
            assert!(
                chi <= freedom + 5.0 * (2.0 * freedom).sqrt() + 1e-9,
                "{limit}: {chi}"
            );
        }
    }

    #[test]
    fn uneven_products_are_drawn_again() {
        // With every limit, as many of the 65,536 products are kept for each number.
        for limit in 1..=300_u16 {
            let uneven = LaneLimits::new([limit; LANES]).uneven[0];
            let mut kept = vec![0_u32; usize::from(limit)];
            for bits in 0..=u16::MAX {
                let product = u32::from(bits) * u32::from(limit);
                if product & 0xffff >= u32::from(uneven) {
                    kept[(product >> 16) as usize] += 1;
                }
            }
            assert!(kept.iter().all(|count| *count == kept[0]), "{limit}");
        }
    }
}
