//! The only source of randomness.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// From a seed comes everything random; the same seed gives the same bytes
/// whatever the number of threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seed(pub u64);

impl Seed {
    /// Returns the stream of random numbers that belongs to `name`, such as a benchmark's id.
    ///
    /// Streams of different names are independent of each other and of the order
    /// in which they are asked for.
    pub fn stream(self, name: &str) -> ChaCha8Rng {
        let mut generator = ChaCha8Rng::seed_from_u64(self.0);
        generator.set_stream(fnv1a(name.as_bytes()));
        generator
    }

    /// Returns the stream of random numbers with this number, such as an experiment's.
    pub(crate) fn numbered(self, number: u64) -> ChaCha8Rng {
        let mut generator = ChaCha8Rng::seed_from_u64(self.0);
        generator.set_stream(number);
        generator
    }

    /// Returns a seed of its own for `name`, such as a benchmark's id and a metric.
    ///
    /// What is computed from it depends on this seed and the name alone.
    #[must_use]
    pub fn split(self, name: &str) -> Self {
        Self(self.stream(name).next_u64())
    }

    /// Returns the quick generator of the block of replicates with this index.
    ///
    /// Resampling draws millions of numbers: xoshiro256++ (Blackman & Vigna, *ACM TOMS* 2021)
    /// gives 64 good bits in under a nanosecond, several times as quick as ChaCha, from
    /// which each block gets its state. As every block has a stream of its own, results do
    /// not depend on which thread works on which block.
    pub fn block(self, index: u64) -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::from_rng(&mut self.numbered(index))
    }
}

/// The 64-bit FNV-1a hash: stable for ever, unlike the standard library's.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_depends_on_seed_and_name_alone() {
        let first = |seed: u64, name: &str| Seed(seed).stream(name).next_u64();
        assert_eq!(first(7, "a"), first(7, "a"));
        assert_ne!(first(7, "a"), first(7, "b"));
        assert_ne!(first(7, "a"), first(8, "a"));
    }

    #[test]
    fn blocks_and_split_seeds_differ() {
        let first = |seed: Seed, index| seed.block(index).next_u64();
        assert_eq!(first(Seed(7), 0), first(Seed(7), 0));
        assert_ne!(first(Seed(7), 0), first(Seed(7), 1));
        assert_ne!(first(Seed(7), 0), first(Seed(8), 0));
        assert_eq!(Seed(7).split("a"), Seed(7).split("a"));
        assert_ne!(Seed(7).split("a"), Seed(7).split("b"));
    }

    #[test]
    fn the_hash_is_fnv_1a() {
        // Test vector of the FNV authors: "foobar" → 85944171f73967e8.
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
