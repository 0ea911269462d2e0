//! Replicates by the hierarchical bootstrap: instances first, then iterations of each one drawn.
//!
//! Two streams of draws serve all sides of an experiment. The control has the first one's instances and
//! iterations; both tests have the second one's, so that they are independent of the control; and
//! where the instances are to be drawn in pairs, the test has the first one's instances and the second
//! one's iterations. No method sees two sides with the same draws.

use rand_chacha::ChaCha8Rng;

use super::groups::{DrawShape, ExperimentGroups, LevelGroup, ReplicateSums, entry};
use super::lanes::{LANES, LaneLimits, RandomLanes};

/// Where draws come from.
#[derive(Debug, Clone)]
pub(super) struct RandomStreams {
    pub(super) instances: RandomLanes,
    pub(super) iterations: RandomLanes,
}

impl RandomStreams {
    pub(super) fn from(source: &mut ChaCha8Rng) -> Self {
        Self {
            instances: RandomLanes::from(source),
            iterations: RandomLanes::from(source),
        }
    }
}

/// Draws of instances.
#[derive(Debug, Clone)]
struct InstancePicks {
    limits: Vec<LaneLimits>,
    drawn: Vec<u16>,
}

impl InstancePicks {
    /// Returns room for draws of so many instances. There are a few more, which are not to be
    /// looked at.
    fn new(instances: usize) -> Self {
        let limits = pick_limits(instances);
        Self {
            drawn: vec![0; limits.len() * LANES],
            limits,
        }
    }

    #[inline(always)]
    fn draw(&mut self, lanes: &mut RandomLanes) {
        for (limits, drawn) in self.limits.iter().zip(self.drawn.chunks_exact_mut(LANES)) {
            drawn.copy_from_slice(&lanes.below(limits));
        }
    }
}

/// Returns the limits of the draws of so many instances.
#[expect(clippy::cast_possible_truncation, reason = "checked by the caller")]
pub(super) fn pick_limits(instances: usize) -> Vec<LaneLimits> {
    let limits = (0..instances.div_ceil(LANES)).map(|vector| {
        let is_used = |lane: usize| vector * LANES + lane < instances;
        let limit = |lane| if is_used(lane) { instances as u16 } else { 0 };
        LaneLimits::new(std::array::from_fn(limit))
    });
    limits.collect()
}

/// The instructions that draw replicates: each gives the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DrawPath {
    /// Those of any processor.
    Portable,
    /// AVX2.
    Avx2,
    /// AVX-512 with its extensions F, BW, DQ and VL.
    Avx512,
}

impl DrawPath {
    /// Returns the quickest that this processor has.
    pub fn of_processor() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let has_avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl");
            if has_avx512 {
                return Self::Avx512;
            }
            if is_x86_feature_detected!("avx2") {
                return Self::Avx2;
            }
        }
        Self::Portable
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Avx2 => "AVX2",
            Self::Avx512 => "AVX-512",
        }
    }
}

/// Draws `count` replicates, as quickly as the processor can.
pub(super) fn draw(
    groups: &ExperimentGroups,
    shape: &DrawShape,
    streams: &mut RandomStreams,
    count: usize,
) -> ReplicateSums {
    draw_by(DrawPath::of_processor(), groups, shape, streams, count)
}

/// Draws by a path that the processor has, or by a slower one where the layout requires it.
fn draw_by(
    path: DrawPath,
    groups: &ExperimentGroups,
    shape: &DrawShape,
    streams: &mut RandomStreams,
    count: usize,
) -> ReplicateSums {
    #[cfg(target_arch = "x86_64")]
    {
        let path = match path {
            DrawPath::Avx512 if !super::avx512::fits(shape) => DrawPath::Avx2,
            path => path,
        };
        let levels: Option<LevelDrawing> = match path {
            DrawPath::Portable => None,
            DrawPath::Avx2 => Some(super::avx2::draw_levels),
            DrawPath::Avx512 => Some(super::avx512::draw_levels),
        };
        if let Some(levels) = levels.filter(|_| shape.width <= LANES) {
            #[expect(
                unsafe_code,
                reason = "the compiler cannot know that the processor was asked"
            )]
            // SAFETY: the processor has the instructions that the function is compiled for: those of AVX-512 include
            // AVX2.
            return with_counts(groups, shape, |groups| unsafe {
                levels(groups, shape, streams, count)
            });
        }
    }
    draw_anywhere(groups, shape, streams, count)
}

/// Draws sums of levels.
#[cfg(target_arch = "x86_64")]
type LevelDrawing =
    unsafe fn(&ExperimentGroups, &DrawShape, &RandomStreams, usize) -> ReplicateSums;

/// Adds the numbers of drawn values to the sums of their levels.
#[cfg(target_arch = "x86_64")]
fn with_counts(
    groups: &ExperimentGroups,
    shape: &DrawShape,
    draw: impl Fn(&ExperimentGroups) -> ReplicateSums,
) -> ReplicateSums {
    let mut sums = draw(groups);
    let one = entry(Some(0));
    if groups.is_whole(shape) {
        let all = one * (shape.instances * shape.iterations) as u64;
        let of_sides = sums.each_mut().into_iter().flatten();
        of_sides.for_each(|sum| *sum += all);
    } else {
        // The same draws of what is there count it.
        let counts = draw(&groups.presence());
        for (sums, counts) in sums.each_mut().into_iter().zip(counts.each()) {
            for (sum, count) in sums.iter_mut().zip(counts) {
                *sum += one * count;
            }
        }
    }
    sums
}

/// Draws `count` replicates on any processor.
pub(super) fn draw_anywhere(
    groups: &ExperimentGroups,
    shape: &DrawShape,
    streams: &mut RandomStreams,
    count: usize,
) -> ReplicateSums {
    // Rows of a known width need no check of their positions.
    match shape.width {
        8 => draw_by_width(groups, shape, streams, count, sum_of::<8>),
        16 => draw_by_width(groups, shape, streams, count, sum_of::<16>),
        32 => draw_by_width(groups, shape, streams, count, sum_of::<32>),
        _ => draw_by_width(groups, shape, streams, count, sum),
    }
}

#[inline(always)]
fn draw_by_width(
    groups: &ExperimentGroups,
    shape: &DrawShape,
    streams: &mut RandomStreams,
    count: usize,
    sum: impl Fn(&[u64], &[u16]) -> u64,
) -> ReplicateSums {
    let (mut first, mut second) = (
        InstancePicks::new(shape.instances),
        InstancePicks::new(shape.instances),
    );
    // Unused lanes are the last ones of each row.
    let used: Vec<usize> = (0..shape.limits.len())
        .map(|draw| shape.iterations.saturating_sub(draw * LANES).min(LANES))
        .collect();
    let mut sums = ReplicateSums::default();
    for _ in 0..count {
        first.draw(&mut streams.instances);
        second.draw(&mut streams.instances);
        let (mut control, mut different, mut paired, mut same) = (0, 0, 0, 0);
        for from in (0..shape.instances).step_by(shape.slots) {
            let slots = shape.slots.min(shape.instances - from);
            for (limits, used) in shape.limits.iter().zip(&used) {
                let one = streams.iterations.below(limits);
                let other = streams.iterations.below(limits);
                for slot in 0..slots {
                    let lanes = slot * shape.width..slot * shape.width + used;
                    let (one, other) = (&one[lanes.clone()], &other[lanes]);
                    let row = |group, picks: &InstancePicks| -> &[u64] {
                        LevelGroup::row(group, shape, usize::from(picks.drawn[from + slot]))
                    };
                    control += sum(row(&groups.control, &first), one);
                    if let Some(group) = &groups.different {
                        different += sum(row(group, &second), other);
                    }
                    if let Some(group) = &groups.same {
                        paired += sum(row(group, &first), other);
                        same += sum(row(group, &second), other);
                    }
                }
            }
        }
        sums.control.push(control);
        if groups.different.is_some() {
            sums.different.push(different);
        }
        if groups.same.is_some() {
            sums.paired.push(paired);
            sums.same.push(same);
        }
    }
    sums
}

/// Returns the sum of the values at these positions of a row with so many values, a power of two.
#[inline(always)]
fn sum_of<const WIDTH: usize>(row: &[u64], drawn: &[u16]) -> u64 {
    let Ok(row) = <&[u64; WIDTH]>::try_from(row) else {
        return sum(row, drawn);
    };
    let at = |at: &u16| row[usize::from(*at) % WIDTH];
    let (fours, rest) = drawn.as_chunks::<4>();
    let mut sums = [0; 4];
    for four in fours {
        for (sum, position) in sums.iter_mut().zip(four) {
            *sum += at(position);
        }
    }
    let rest: u64 = rest.iter().map(at).sum();
    sums.iter().sum::<u64>() + rest
}

#[inline(always)]
fn sum(row: &[u64], drawn: &[u16]) -> u64 {
    let of = |drawn: &[u16]| -> u64 { drawn.iter().map(|at| row[usize::from(*at)]).sum() };
    // Eight at a time are a loop less.
    let (eights, rest) = drawn.as_chunks::<8>();
    let whole: u64 = eights.iter().map(|eight| of(eight)).sum();
    whole + of(rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;
    use crate::detection::groups::{LEVELS, sum_and_count};

    /// A side of levels that all differ.
    fn group(shape: &DrawShape, first: u32) -> LevelGroup {
        let mut group = LevelGroup::default();
        group.clear(shape);
        let mut level = first;
        for instance in 0..shape.instances {
            for value in group.row_mut(shape, instance) {
                level = level.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                *value = entry(Some(level % (LEVELS + 1)));
            }
        }
        group
    }

    fn groups(shape: &DrawShape) -> ExperimentGroups {
        ExperimentGroups {
            control: group(shape, 1),
            different: Some(group(shape, 2)),
            same: Some(group(shape, 3)),
        }
    }

    fn streams() -> RandomStreams {
        RandomStreams::from(&mut Seed(7).stream("draws"))
    }

    /// The paths that this processor has.
    fn paths() -> Vec<DrawPath> {
        let all = [DrawPath::Portable, DrawPath::Avx2, DrawPath::Avx512];
        let last = all.iter().position(|it| *it == DrawPath::of_processor());
        all[..=last.unwrap_or(0)].to_vec()
    }

    #[test]
    fn every_processor_draws_the_same() {
        for instances in [1, 2, 3, 5, 13, 25, 33, 63, 64, 70, 130] {
            for iterations in [1, 2, 5, 8, 9, 15, 16, 17, 25, 31, 32, 33] {
                let shape = DrawShape::new(instances, iterations);
                let mut groups = groups(&shape);
                for without in 0..3 {
                    match without {
                        1 => groups.same = None,
                        2 => (groups.same, groups.different) = (groups.different.take(), None),
                        _all => {}
                    }
                    if iterations % 2 == 1 {
                        groups.control.row_mut(&shape, instances / 2)[0] = entry(None);
                    }
                    let expected = draw_anywhere(&groups, &shape, &mut streams(), 40);
                    for path in paths() {
                        let sums = draw_by(path, &groups, &shape, &mut streams(), 40);
                        assert_eq!(
                            sums, expected,
                            "{instances} × {iterations} {without} {path:?}"
                        );
                    }
                }
            }
        }
    }

    /// The figures of `docs/performance.md`.
    #[test]
    #[ignore = "measures time"]
    fn time_of_each_path() {
        for size in [5, 10, 15, 20, 25] {
            let shape = DrawShape::new(usize::from(size), size);
            let groups = groups(&shape);
            let times = paths().into_iter().map(|path| {
                let time = || {
                    let begin = std::time::Instant::now();
                    for _ in 0..20 {
                        std::hint::black_box(draw_by(path, &groups, &shape, &mut streams(), 1_000));
                    }
                    begin.elapsed().as_secs_f64() / 20.0
                };
                let shortest = (0..15).map(|_| time()).fold(f64::INFINITY, f64::min);
                format!("{}: {:.0} µs", path.name(), 1e6 * shortest)
            });
            println!("{size} × {size}: {}", times.collect::<Vec<_>>().join(", "));
        }
    }

    #[test]
    fn missing_values_are_drawn_and_not_counted() {
        let shape = DrawShape::new(4, 5);
        let mut groups = groups(&shape);
        groups.control.row_mut(&shape, 2)[3] = entry(None);
        let sums = draw(&groups, &shape, &mut streams(), 4_000);
        let counts: Vec<u64> = sums
            .control
            .iter()
            .map(|sum| sum_and_count(*sum).1)
            .collect();
        let missed: u64 = counts.iter().map(|count| 20 - count).sum();
        // One of twenty values, and twenty draws in each replicate: five standard deviations.
        assert!(missed.abs_diff(4_000) < 500, "{missed}");
        assert!(sums.different.iter().all(|sum| sum_and_count(*sum).1 == 20));
    }

    /// With one value of weight 1 in each row, sums count how often it was drawn.
    #[test]
    fn pairs_share_their_instances_and_nothing_else_does() {
        let shape = DrawShape::new(6, 1);
        let only = |instance: usize| {
            let mut group = LevelGroup::default();
            group.clear(&shape);
            for row in 0..6 {
                group.row_mut(&shape, row)[0] = entry(Some(u32::from(row == instance)));
            }
            group
        };
        let groups = ExperimentGroups {
            control: only(2),
            different: Some(only(2)),
            same: Some(only(2)),
        };
        let sums = draw(&groups, &shape, &mut streams(), 500);
        assert_eq!(sums.control, sums.paired);
        assert_eq!(sums.different, sums.same);
        assert_ne!(sums.control, sums.same);
    }

    #[test]
    fn the_control_and_the_tests_are_drawn_independently() {
        let shape = DrawShape::new(5, 7);
        let sums = draw(&groups(&shape), &shape, &mut streams(), 20_000);
        let means = |sums: &[u64]| -> Vec<f64> {
            sums.iter()
                .map(|sum| u32::try_from(sum_and_count(*sum).0).map_or(f64::NAN, f64::from))
                .collect()
        };
        let control = means(&sums.control);
        for (other, limit) in [(&sums.different, 0.035), (&sums.same, 0.035)] {
            let correlation = correlation(&control, &means(other));
            assert!(correlation.abs() < limit, "{correlation}");
        }
    }

    fn correlation(one: &[f64], other: &[f64]) -> f64 {
        let centred = |values: &[f64]| -> Vec<f64> {
            let centre = crate::mean(values).expect("values");
            values.iter().map(|value| value - centre).collect()
        };
        let (one, other) = (centred(one), centred(other));
        let sum = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        sum(&one, &other) / (sum(&one, &one) * sum(&other, &other)).sqrt()
    }
}
