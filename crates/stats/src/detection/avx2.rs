//! The draws of [`super::draws`] with instructions that look thirty-two bytes up at a time.
//!
//! A level is four bytes, and each of them has a table of its own: a row of sixteen values is one register, and a sum
//! of bytes one instruction.

use std::arch::x86_64::{
    __m128i, __m256i, _mm_set_epi64x, _mm_unpacklo_epi64, _mm256_add_epi64, _mm256_adds_epu8,
    _mm256_and_si256, _mm256_blendv_epi8, _mm256_cmpeq_epi16, _mm256_max_epu16,
    _mm256_movemask_epi8, _mm256_mulhi_epu16, _mm256_mullo_epi16, _mm256_or_si256,
    _mm256_packus_epi16, _mm256_sad_epu8, _mm256_set_epi64x, _mm256_set_m128i, _mm256_set1_epi8,
    _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_slli_epi64, _mm256_srli_epi64,
    _mm256_sub_epi8, _mm256_xor_si256,
};

use super::draws::{RandomStreams, pick_limits};
use super::groups::{DrawShape, ExperimentGroups, LevelGroup, ReplicateSums, sum_and_count};
use super::lanes::{LANES, LaneLimits, RandomLanes};

/// Returns the sums of levels that [`super::draws::draw`] would, every value being there.
///
/// Rows have 8, 16 or 32 values.
#[target_feature(enable = "avx2")]
pub(super) fn draw_levels(
    groups: &ExperimentGroups,
    shape: &DrawShape,
    streams: &RandomStreams,
    count: usize,
) -> ReplicateSums {
    match shape.width {
        8 => draw_by_sides::<8>(groups, shape, streams, count),
        16 => draw_by_sides::<16>(groups, shape, streams, count),
        _ => draw_by_sides::<32>(groups, shape, streams, count),
    }
}

#[target_feature(enable = "avx2")]
fn draw_by_sides<const WIDTH: usize>(
    groups: &ExperimentGroups,
    shape: &DrawShape,
    streams: &RandomStreams,
    count: usize,
) -> ReplicateSums {
    match (&groups.different, &groups.same) {
        (Some(_), Some(_)) => draw_all::<WIDTH, true, true>(groups, shape, streams, count),
        (Some(_), None) => draw_all::<WIDTH, true, false>(groups, shape, streams, count),
        (None, _) => draw_all::<WIDTH, false, true>(groups, shape, streams, count),
    }
}

#[target_feature(enable = "avx2")]
fn draw_all<const WIDTH: usize, const DIFFERENT: bool, const SAME: bool>(
    groups: &ExperimentGroups,
    shape: &DrawShape,
    streams: &RandomStreams,
    count: usize,
) -> ReplicateSums {
    let rows = |group: Option<&LevelGroup>| ByteRows::of(group, shape);
    let control = rows(Some(&groups.control));
    let (different, same) = (rows(groups.different.as_ref()), rows(groups.same.as_ref()));
    let slots = LANES / WIDTH;
    let limits = HalfLimits::of(&shape.limits[0]);
    let places = BytePlaces::of(shape);
    let mut values = HalfLanes::of(&streams.iterations);
    let mut picks = HalfLanes::of(&streams.instances);
    let pick_limits: Vec<HalfLimits> = pick_limits(shape.instances)
        .iter()
        .map(|it| HalfLimits::of(it))
        .collect();
    let (mut first, mut second) = (Vec::new(), Vec::new());
    let mut sums = ReplicateSums::default();
    for _ in 0..count {
        draw_rows(&mut picks, &pick_limits, shape, &mut first);
        draw_rows(&mut picks, &pick_limits, shape, &mut second);
        let zero = [_mm256_setzero_si256(); 4];
        let (mut of_control, mut of_different) = (zero, zero);
        let (mut of_paired, mut of_same) = (zero, zero);
        let pairs = first.chunks_exact(slots).zip(second.chunks_exact(slots));
        for (first, second) in pairs.take(shape.instances.div_ceil(slots)) {
            let one = places.of_positions::<WIDTH>(values.below(&limits));
            let other = places.of_positions::<WIDTH>(values.below(&limits));
            control.add(&mut of_control, first, one);
            if DIFFERENT {
                different.add(&mut of_different, second, other);
            }
            if SAME {
                same.add(&mut of_paired, first, other);
                same.add(&mut of_same, second, other);
            }
        }
        sums.control.push(total(of_control));
        if DIFFERENT {
            sums.different.push(total(of_different));
        }
        if SAME {
            sums.paired.push(total(of_paired));
            sums.same.push(total(of_same));
        }
    }
    sums
}

/// Draws as many rows as there are instances; those after them are empty.
#[inline]
#[target_feature(enable = "avx2")]
fn draw_rows(
    lanes: &mut HalfLanes,
    limits: &[HalfLimits],
    shape: &DrawShape,
    drawn: &mut Vec<usize>,
) {
    drawn.clear();
    for limits in limits {
        let [one, other] = lanes.below(limits).map(to_shorts);
        for quarter in [&one[..8], &other[..8], &one[8..], &other[8..]] {
            drawn.extend(quarter.iter().map(|it| usize::from(*it)));
        }
    }
    drawn[shape.instances..].fill(shape.instances);
}

/// The rows of a group: of each the four bytes of its levels, the lowest first, in registers. The last row is empty.
struct ByteRows {
    /// Sixteen values, or eight.
    lower: Vec<[__m128i; 4]>,
    /// The other sixteen of rows of thirty-two.
    upper: Vec<[__m128i; 4]>,
}

impl ByteRows {
    #[target_feature(enable = "avx2")]
    fn of(group: Option<&LevelGroup>, shape: &DrawShape) -> Self {
        let part = |instance: usize, from: usize| {
            let row = group.filter(|_| instance < shape.instances);
            let row = row.map_or(&[][..], |it| it.row(shape, instance));
            let level = |at: usize| row.get(at).map_or(0, |it| sum_and_count(*it).0);
            std::array::from_fn(|byte| {
                let eight = |from: usize| -> i64 {
                    let bytes = (from..from + 8).rev();
                    let bytes = bytes.map(|at| level(at) >> (8 * byte) & 0xff);
                    bytes.fold(0, |all, it| all << 8 | it).cast_signed()
                };
                _mm_set_epi64x(eight(from + 8), eight(from))
            })
        };
        let all = || 0..=shape.instances;
        Self {
            lower: all().map(|it| part(it, 0)).collect(),
            upper: if shape.width > 16 {
                all().map(|it| part(it, 16)).collect()
            } else {
                Vec::new()
            },
        }
    }

    /// Adds the values at thirty-two places of these rows.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn add(&self, sums: &mut [__m256i; 4], rows: &[usize], places: (__m256i, __m256i)) {
        let table = |lower: __m128i, upper: __m128i| _mm256_set_m128i(upper, lower);
        let add = |sum: &mut __m256i, values: __m256i| {
            let of_bytes = _mm256_sad_epu8(values, _mm256_setzero_si256());
            *sum = _mm256_add_epi64(*sum, of_bytes);
        };
        match *rows {
            [one, two, three, four] => {
                let rows = [one, two, three, four].map(|it| &self.lower[it]);
                for (byte, sum) in sums.iter_mut().enumerate() {
                    let [one, two, three, four] = rows.map(|it| it[byte]);
                    let pairs = table(
                        _mm_unpacklo_epi64(one, two),
                        _mm_unpacklo_epi64(three, four),
                    );
                    add(sum, _mm256_shuffle_epi8(pairs, places.0));
                }
            }
            [one, two] => {
                let (one, two) = (&self.lower[one], &self.lower[two]);
                for (byte, sum) in sums.iter_mut().enumerate() {
                    add(
                        sum,
                        _mm256_shuffle_epi8(table(one[byte], two[byte]), places.0),
                    );
                }
            }
            [one] => {
                let (lower, upper) = (&self.lower[one], &self.upper[one]);
                for (byte, sum) in sums.iter_mut().enumerate() {
                    let of_lower = _mm256_shuffle_epi8(table(lower[byte], lower[byte]), places.0);
                    let of_upper = _mm256_shuffle_epi8(table(upper[byte], upper[byte]), places.1);
                    add(sum, _mm256_or_si256(of_lower, of_upper));
                }
            }
            _ => {}
        }
    }
}

/// How positions in rows become places in tables of sixteen bytes: a place above 127 is a zero.
struct BytePlaces {
    /// Where the row of each lane begins, and 128 in lanes that are not used.
    offset: __m256i,
}

impl BytePlaces {
    #[target_feature(enable = "avx2")]
    fn of(shape: &DrawShape) -> Self {
        let limits = &shape.limits[0].limit;
        let offset = |lane: usize| -> u8 {
            match (limits[lane], shape.width) {
                (0, _) => 128,
                (_, 8) if (lane / 8) % 2 == 1 => 8,
                (_, _) => 0,
            }
        };
        let eight = |from: usize| {
            let bytes = (from..from + 8).rev().map(offset);
            let bytes = bytes.fold(0, |all: u64, it| all << 8 | u64::from(it));
            bytes.cast_signed()
        };
        Self {
            offset: _mm256_set_epi64x(eight(24), eight(16), eight(8), eight(0)),
        }
    }

    /// Returns the places in the lower sixteen values and in the upper ones.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn of_positions<const WIDTH: usize>(&self, [one, other]: [__m256i; 2]) -> (__m256i, __m256i) {
        let positions = _mm256_packus_epi16(one, other);
        if WIDTH <= 16 {
            let places = _mm256_or_si256(positions, self.offset);
            return (places, places);
        }
        (
            _mm256_or_si256(
                _mm256_adds_epu8(positions, _mm256_set1_epi8(0x70)),
                self.offset,
            ),
            _mm256_or_si256(
                _mm256_sub_epi8(positions, _mm256_set1_epi8(16)),
                self.offset,
            ),
        )
    }
}

/// [`LaneLimits`] in two registers, as [`HalfLanes`] has them.
struct HalfLimits {
    limit: [__m256i; 2],
    uneven: [__m256i; 2],
}

impl HalfLimits {
    #[target_feature(enable = "avx2")]
    fn of(limits: &LaneLimits) -> Self {
        Self {
            limit: halves(&limits.limit),
            uneven: halves(&limits.uneven),
        }
    }
}

#[target_feature(enable = "avx2")]
fn halves(lanes: &[u16; LANES]) -> [__m256i; 2] {
    let words = std::array::from_fn(|word| {
        let four = lanes[4 * word..4 * word + 4].iter().rev();
        four.fold(0, |bits, it| bits << 16 | u64::from(*it))
    });
    halves_of_words(words)
}

/// [`RandomLanes`] in registers: generators 0, 1, 4 and 5 in the first half, so that packing both to bytes keeps the
/// order of lanes.
struct HalfLanes {
    state: [[__m256i; 2]; 4],
}

#[target_feature(enable = "avx2")]
fn halves_of_words(words: [u64; 8]) -> [__m256i; 2] {
    let [a, b, c, d, e, f, g, h] = words.map(u64::cast_signed);
    [_mm256_set_epi64x(f, e, b, a), _mm256_set_epi64x(h, g, d, c)]
}

impl HalfLanes {
    #[target_feature(enable = "avx2")]
    fn of(lanes: &RandomLanes) -> Self {
        let [s0, s1, s2, s3] = lanes.state;
        Self {
            state: [
                halves_of_words(s0),
                halves_of_words(s1),
                halves_of_words(s2),
                halves_of_words(s3),
            ],
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn next(&mut self) -> [__m256i; 2] {
        let mut results = [_mm256_setzero_si256(); 2];
        for (half, result) in results.iter_mut().enumerate() {
            let [s0, s1, s2, s3] = [0, 1, 2, 3].map(|word: usize| self.state[word][half]);
            let sum = _mm256_add_epi64(s0, s3);
            let turned =
                _mm256_or_si256(_mm256_slli_epi64::<23>(sum), _mm256_srli_epi64::<41>(sum));
            *result = _mm256_add_epi64(turned, s0);
            let shifted = _mm256_slli_epi64::<17>(s1);
            let s2 = _mm256_xor_si256(s2, s0);
            let s3 = _mm256_xor_si256(s3, s1);
            let s1 = _mm256_xor_si256(s1, s2);
            let s0 = _mm256_xor_si256(s0, s3);
            let s2 = _mm256_xor_si256(s2, shifted);
            let s3 = _mm256_or_si256(_mm256_slli_epi64::<45>(s3), _mm256_srli_epi64::<19>(s3));
            for (word, state) in [s0, s1, s2, s3].into_iter().enumerate() {
                self.state[word][half] = state;
            }
        }
        results
    }

    /// Returns 32 positions, as [`RandomLanes::below`] draws them.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn below(&mut self, limits: &HalfLimits) -> [__m256i; 2] {
        let mut bits = self.next();
        loop {
            let even = [0, 1].map(|half: usize| {
                let low = _mm256_mullo_epi16(bits[half], limits.limit[half]);
                _mm256_cmpeq_epi16(_mm256_max_epu16(low, limits.uneven[half]), low)
            });
            if _mm256_movemask_epi8(_mm256_and_si256(even[0], even[1])) == -1 {
                return [0, 1]
                    .map(|half: usize| _mm256_mulhi_epu16(bits[half], limits.limit[half]));
            }
            let others = self.next();
            bits =
                [0, 1].map(|half: usize| _mm256_blendv_epi8(others[half], bits[half], even[half]));
        }
    }
}

#[inline]
fn to_shorts(register: __m256i) -> [u16; 16] {
    #[expect(unsafe_code, reason = "there is no safe function for it")]
    // SAFETY: both are 32 bytes, and every pattern of bits is a number.
    unsafe {
        std::mem::transmute(register)
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn total([one, two, three, four]: [__m256i; 4]) -> u64 {
    let sum = _mm256_add_epi64(
        _mm256_add_epi64(one, _mm256_slli_epi64::<8>(two)),
        _mm256_add_epi64(
            _mm256_slli_epi64::<16>(three),
            _mm256_slli_epi64::<24>(four),
        ),
    );
    let shorts = to_shorts(sum);
    let words = shorts.chunks_exact(4).map(|four| {
        let four = four.iter().rev();
        four.fold(0, |bits: u64, it| bits << 16 | u64::from(*it))
    });
    words.sum()
}
