//! Replicates by the hierarchical bootstrap: instances first, then iterations of each one drawn.
//!
//! Two streams of draws serve all sides of an experiment. The control has the first one's instances and
//! iterations; both tests have the second one's, so that they are independent of the control; and
//! where the instances are to be drawn in pairs, the test has the first one's instances and the second
//! one's iterations. No method sees two sides with the same draws.

use rand_chacha::ChaCha8Rng;

use super::groups::{DrawShape, ExperimentGroups, LevelGroup, ReplicateSums};
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

/// Draws `count` replicates, as quickly as the processor can.
pub(super) fn draw(
    groups: &ExperimentGroups,
    shape: &DrawShape,
    streams: &mut RandomStreams,
    count: usize,
) -> ReplicateSums {
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(sums) = super::avx512::draw(groups, shape, streams, count) {
            return sums;
        }
        if is_x86_feature_detected!("avx2") {
            #[expect(
                unsafe_code,
                reason = "the compiler cannot know that the processor was asked"
            )]
            // SAFETY: the processor has the instructions that the function is compiled for.
            return unsafe { draw_with_avx2(groups, shape, streams, count) };
        }
    }
    draw_anywhere(groups, shape, streams, count)
}

/// The same code, whose loops over lanes the compiler turns into wider instructions.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn draw_with_avx2(
    groups: &ExperimentGroups,
    shape: &DrawShape,
    streams: &mut RandomStreams,
    count: usize,
) -> ReplicateSums {
    draw_anywhere(groups, shape, streams, count)
}

/// Draws `count` replicates on any processor.
#[inline(always)]
pub(super) fn draw_anywhere(
    groups: &ExperimentGroups,
    shape: &DrawShape,
    streams: &mut RandomStreams,
    count: usize,
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
    use crate::detection::groups::{LEVELS, entry, sum_and_count};

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

    #[cfg(target_arch = "x86_64")]
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
                    let Some(quick) =
                        crate::detection::avx512::draw(&groups, &shape, &streams(), 40)
                    else {
                        let is_too_large = iterations > 32 || instances > 60;
                        assert!(is_too_large || !is_x86_feature_detected!("avx512bw"));
                        continue;
                    };
                    let sums = draw_anywhere(&groups, &shape, &mut streams(), 40);
                    assert_eq!(quick, sums, "{instances} × {iterations} {without}");
                }
            }
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
