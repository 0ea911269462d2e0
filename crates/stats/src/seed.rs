//! The only source of randomness.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

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
}

/// The 64-bit FNV-1a hash: stable for ever, unlike the standard library's.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use rand_chacha::rand_core::Rng;

    use super::*;

    #[test]
    fn a_stream_depends_on_seed_and_name_alone() {
        let first = |seed: u64, name: &str| Seed(seed).stream(name).next_u64();
        assert_eq!(first(7, "a"), first(7, "a"));
        assert_ne!(first(7, "a"), first(7, "b"));
        assert_ne!(first(7, "a"), first(8, "a"));
    }

    #[test]
    fn the_hash_is_fnv_1a() {
        // Test vector of the FNV authors: "foobar" → 85944171f73967e8.
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
