//! The draws of [`super::draws`] with instructions that look sixteen values up at a time.

use std::arch::x86_64::{
    __m512i, _mm512_add_epi16, _mm512_add_epi32, _mm512_add_epi64, _mm512_and_si512,
    _mm512_castsi256_si512, _mm512_castsi512_si256, _mm512_cmplt_epu16_mask,
    _mm512_extracti64x4_epi64, _mm512_inserti64x4, _mm512_mask_blend_epi16, _mm512_mulhi_epu16,
    _mm512_mullo_epi16, _mm512_permutex2var_epi32, _mm512_reduce_add_epi64, _mm512_rol_epi64,
    _mm512_set_epi32, _mm512_set_epi64, _mm512_set1_epi64, _mm512_setzero_si512, _mm512_slli_epi64,
    _mm512_srli_epi32, _mm512_srli_epi64, _mm512_xor_si512,
};
use std::hint::black_box;

use super::draws::{RandomStreams, pick_limits};
use super::groups::{
    DrawShape, ExperimentGroups, LEVELS, LevelGroup, ReplicateSums, sum_and_count,
};
use super::lanes::{LANES, LaneLimits, RandomLanes};

/// Returns whether a layout fits into the registers.
pub(super) fn fits(shape: &DrawShape) -> bool {
    // Each lane of 32 bits takes two values at a step.
    let steps = shape.instances.div_ceil(shape.slots);
    shape.width <= LANES && 2 * steps < (u32::MAX / LEVELS) as usize
}

/// Returns the sums of levels that [`super::draws::draw`] would, every value being there.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
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

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
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

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn draw_all<const WIDTH: usize, const DIFFERENT: bool, const SAME: bool>(
    groups: &ExperimentGroups,
    shape: &DrawShape,
    streams: &RandomStreams,
    count: usize,
) -> ReplicateSums {
    let control = RegisterRows::of(&groups.control);
    let none = LevelGroup::default();
    let rows = |group: &Option<LevelGroup>| RegisterRows::of(group.as_ref().unwrap_or(&none));
    let (different, same) = (rows(&groups.different), rows(&groups.same));
    let slots = LANES / WIDTH;
    let lookup = PositionLookup::of_values(shape);
    let mut values = LaneRegisters::of(&streams.iterations);
    let mut picks = LaneRegisters::of(&streams.instances);
    let (mut first, mut second) = (RegisterPicks::new(shape), RegisterPicks::new(shape));
    let mut sums = ReplicateSums::default();
    for _ in 0..count {
        first.draw(&mut picks);
        second.draw(&mut picks);
        let zero = _mm512_setzero_si512();
        let (mut of_control, mut of_different) = (zero, zero);
        let (mut of_paired, mut of_same) = (zero, zero);
        let firsts = first.drawn.chunks_exact(slots);
        let seconds = second.drawn.chunks_exact(slots);
        let steps = shape.instances.div_ceil(slots);
        for (first, second) in firsts.zip(seconds).take(steps) {
            let one = values.positions(&lookup);
            let other = values.positions(&lookup);
            of_control = add(of_control, control.table::<WIDTH>(first), one);
            if DIFFERENT {
                of_different = add(of_different, different.table::<WIDTH>(second), other);
            }
            if SAME {
                of_paired = add(of_paired, same.table::<WIDTH>(first), other);
                of_same = add(of_same, same.table::<WIDTH>(second), other);
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

/// So many registers of sixteen values hold the rows of a group.
const REGISTERS: usize = 128;

/// The rows of a group in registers' form, with zeros after them.
struct RegisterRows {
    values: [__m512i; REGISTERS],
}

impl RegisterRows {
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    fn of(group: &LevelGroup) -> Self {
        let mut values = [_mm512_setzero_si512(); REGISTERS];
        let mut levels: Vec<i32> = group.values.iter().map(|it| level(*it)).collect();
        levels.resize(levels.len().next_multiple_of(16), 0);
        for (register, it) in values.iter_mut().zip(levels.chunks_exact(16)) {
            *register = _mm512_set_epi32(
                it[15], it[14], it[13], it[12], it[11], it[10], it[9], it[8], it[7], it[6], it[5],
                it[4], it[3], it[2], it[1], it[0],
            );
        }
        Self { values }
    }

    /// Returns the values of the instances that were drawn: 32 of them, in two registers.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    fn table<const WIDTH: usize>(&self, picks: &[u16]) -> (__m512i, __m512i) {
        match *picks {
            [one, two, three, four] => {
                (self.two_quarters(one, two), self.two_quarters(three, four))
            }
            [one, two] => (self.at(usize::from(one)), self.at(usize::from(two))),
            [one] => (
                self.at(2 * usize::from(one)),
                self.at(2 * usize::from(one) + 1),
            ),
            _ => (self.at(0), self.at(0)),
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    fn two_quarters(&self, one: u16, two: u16) -> __m512i {
        let quarter = |at: u16| {
            let register = self.at(usize::from(at) / 2);
            if at.is_multiple_of(2) {
                _mm512_castsi512_si256(register)
            } else {
                _mm512_extracti64x4_epi64::<1>(register)
            }
        };
        _mm512_inserti64x4::<1>(_mm512_castsi256_si512(quarter(one)), quarter(two))
    }

    #[inline]
    fn at(&self, register: usize) -> __m512i {
        self.values[register % REGISTERS]
    }
}

/// Draws of instances.
struct RegisterPicks {
    lookups: Vec<PositionLookup>,
    drawn: Vec<u16>,
}

impl RegisterPicks {
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    fn new(shape: &DrawShape) -> Self {
        let limits = pick_limits(shape.instances);
        Self {
            drawn: vec![0; limits.len() * LANES],
            lookups: limits
                .iter()
                .map(|it| PositionLookup::of_picks(it, shape))
                .collect(),
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    fn draw(&mut self, lanes: &mut LaneRegisters) {
        for (lookup, drawn) in self.lookups.iter().zip(self.drawn.chunks_exact_mut(LANES)) {
            drawn.copy_from_slice(&to_shorts(lanes.positions(lookup)));
        }
    }
}

#[inline]
fn to_shorts(register: __m512i) -> [u16; LANES] {
    #[expect(unsafe_code, reason = "there is no safe function for it")]
    // SAFETY: both are 64 bytes, and every pattern of bits is a number.
    unsafe {
        std::mem::transmute(register)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "levels have 26 bits")]
fn level(entry: u64) -> i32 {
    sum_and_count(entry).0 as i32
}

/// How random bits become positions in a table.
struct PositionLookup {
    limit: __m512i,
    uneven: __m512i,
    /// Where the row of each lane begins; lanes that are not used point to a zero.
    offset: __m512i,
}

impl PositionLookup {
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    fn of_values(shape: &DrawShape) -> Self {
        let limits = &shape.limits[0];
        Self::new(limits, |lane| {
            let begin = lane / shape.width * shape.width;
            let is_used = limits.limit[lane] > 0;
            if is_used {
                begin
            } else {
                begin + shape.iterations
            }
        })
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    fn of_picks(limits: &LaneLimits, shape: &DrawShape) -> Self {
        Self::new(limits, |lane| {
            let is_used = limits.limit[lane] > 0;
            if is_used { 0 } else { shape.instances }
        })
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "a layout that fits has few rows"
    )]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    fn new(limits: &LaneLimits, offset: impl Fn(usize) -> usize) -> Self {
        Self {
            limit: shorts(&limits.limit),
            uneven: shorts(&limits.uneven),
            offset: shorts(&std::array::from_fn(|lane| offset(lane) as u16)),
        }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn shorts(lanes: &[u16; LANES]) -> __m512i {
    let word = |at: usize| -> i64 {
        let four = &lanes[4 * at..4 * at + 4];
        let bits = four
            .iter()
            .rev()
            .fold(0_u64, |bits, it| bits << 16 | u64::from(*it));
        bits.cast_signed()
    };
    _mm512_set_epi64(
        word(7),
        word(6),
        word(5),
        word(4),
        word(3),
        word(2),
        word(1),
        word(0),
    )
}

/// [`RandomLanes`] in registers.
struct LaneRegisters {
    state: [__m512i; 4],
}

impl LaneRegisters {
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    fn of(lanes: &RandomLanes) -> Self {
        let register = |words: [u64; 8]| {
            let [a, b, c, d, e, f, g, h] = words.map(u64::cast_signed);
            _mm512_set_epi64(h, g, f, e, d, c, b, a)
        };
        Self {
            state: lanes.state.map(register),
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    fn next(&mut self) -> __m512i {
        let [s0, s1, s2, s3] = self.state;
        let sum = _mm512_add_epi64(s0, s3);
        let result = _mm512_add_epi64(_mm512_rol_epi64::<23>(sum), s0);
        let shifted = _mm512_slli_epi64::<17>(s1);
        let s2 = _mm512_xor_si512(s2, s0);
        let s3 = _mm512_xor_si512(s3, s1);
        let s1 = _mm512_xor_si512(s1, s2);
        let s0 = _mm512_xor_si512(s0, s3);
        let s2 = _mm512_xor_si512(s2, shifted);
        self.state = [s0, s1, s2, _mm512_rol_epi64::<45>(s3)];
        result
    }

    /// Returns 32 positions in a table, as [`RandomLanes::below`] draws them.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    fn positions(&mut self, lookup: &PositionLookup) -> __m512i {
        let bits = self.next();
        // Else the compiler widens it before the loop, and multiplies 32 bits at a time.
        let limit = black_box(lookup.limit);
        let low = _mm512_mullo_epi16(bits, limit);
        let bits = match _mm512_cmplt_epu16_mask(low, lookup.uneven) {
            0 => bits,
            uneven => {
                // By value, so that the state stays in registers where this does not happen.
                let (state, bits) = draw_again(self.state, bits, uneven, lookup);
                self.state = state;
                bits
            }
        };
        _mm512_add_epi16(_mm512_mulhi_epu16(bits, limit), lookup.offset)
    }
}

/// Draws those again whose products are uneven.
#[cold]
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn draw_again(
    state: [__m512i; 4],
    mut bits: __m512i,
    mut uneven: u32,
    lookup: &PositionLookup,
) -> ([__m512i; 4], __m512i) {
    let mut lanes = LaneRegisters { state };
    while uneven != 0 {
        bits = _mm512_mask_blend_epi16(uneven, bits, lanes.next());
        let low = _mm512_mullo_epi16(bits, lookup.limit);
        uneven = _mm512_cmplt_epu16_mask(low, lookup.uneven);
    }
    (lanes.state, bits)
}

/// Adds the values at 32 positions, two to each lane of the sum.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn add(sum: __m512i, (lower, upper): (__m512i, __m512i), positions: __m512i) -> __m512i {
    // A look-up minds the lowest five bits of each 32.
    let odd = _mm512_srli_epi32::<16>(positions);
    let sum = _mm512_add_epi32(sum, _mm512_permutex2var_epi32(lower, positions, upper));
    _mm512_add_epi32(sum, _mm512_permutex2var_epi32(lower, odd, upper))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn total(sum: __m512i) -> u64 {
    let lower = _mm512_and_si512(sum, _mm512_set1_epi64(0xffff_ffff));
    let upper = _mm512_srli_epi64::<32>(sum);
    _mm512_reduce_add_epi64(_mm512_add_epi64(lower, upper)).cast_unsigned()
}
