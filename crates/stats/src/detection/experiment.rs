//! Experiments: control and test drawn from the measurements.

use std::ops::Range;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use super::bounds::{Bounds, instance_means, laaber, paired, schultz};
use super::draws::{RandomStreams, draw};
use super::ends::ReplicateEnds;
use super::groups::{DrawShape, ExperimentGroups, LevelGroup, ReplicateSums, sum_and_count};
use super::measured::Measured;
use crate::subset::draw_subset;
use crate::{Confidence, Configuration, DetectionMethod, Seed, Strategy};

/// How experiments are made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExperimentOptions {
    /// So many replicates each bootstrap draws; with 0 there are none, and only the paired test has
    /// bounds.
    pub replicates: usize,
    /// The confidence of the intervals.
    pub confidence: Confidence,
    /// From which all draws come.
    pub seed: Seed,
}

/// The detections by experiments of one configuration, by method and strategy.
#[derive(Debug, Clone, PartialEq)]
pub struct Experiments {
    /// The configuration.
    pub configuration: Configuration,
    bounds: [[Vec<Bounds>; 2]; 3],
}

impl Experiments {
    /// Returns the bounds of each experiment; empty where not enough was measured for the
    /// strategy.
    pub fn bounds(&self, method: DetectionMethod, strategy: Strategy) -> &[Bounds] {
        &self.bounds[method as usize][strategy as usize]
    }

    /// Returns the bounds of all methods and strategies, for [`Self::of_bounds`].
    pub fn all_bounds(&self) -> &[[Vec<Bounds>; 2]; 3] {
        &self.bounds
    }

    /// Returns experiments that were made elsewhere.
    pub fn of_bounds(configuration: Configuration, bounds: [[Vec<Bounds>; 2]; 3]) -> Self {
        Self {
            configuration,
            bounds,
        }
    }

    /// Lets undetermined experiments detect every slowdown, as in Hail.
    pub fn count_undetermined_as_detected(&mut self) {
        for bounds in self.bounds.iter_mut().flatten().flatten() {
            if bounds.detects(1.0).is_none() {
                *bounds = Bounds::ALL;
            }
        }
    }

    /// Takes in further experiments of the same configuration.
    pub fn append(&mut self, further: Self) {
        let further = further.bounds.into_iter().flatten();
        for (bounds, further) in self.bounds.iter_mut().flatten().zip(further) {
            bounds.extend(further);
        }
    }
}

/// Makes the experiments with these numbers.
///
/// Each draws a control and a test from the measurements, without replacement: with different
/// instances, n for each side and m iterations of each; with the same, n instances and twice m iterations of
/// each. It then asks from which slowdown of the test on each method tells the two apart:
/// Laaber's and Schultz's by hierarchical bootstraps (Hail's `laaber_mds` and `schultz_mds`), the paired test by the
/// t test of the logarithms of instance means.
///
/// What is shared leaves every cell of a grid as if it were computed by itself: one bootstrap serves
/// all slowdowns, Laaber and Schultz have the same replicates of different instances, and both
/// strategies the same control. An experiment depends on the seed, the configuration and its number
/// alone, so that any of them can be made anywhere.
///
/// Source: Laaber, Scheuner & Leitner, *EMSE* 2019; Schultz's ratio as Hail has it; for what can be shared,
/// `docs/method.md`.
pub fn experiments(
    measured: &Measured,
    configuration: Configuration,
    numbers: Range<u32>,
    options: &ExperimentOptions,
) -> Experiments {
    let mut all = Experiments {
        configuration,
        bounds: Default::default(),
    };
    let allowed = Strategy::ALL.map(|strategy| {
        let enough = measured.allows(configuration, strategy);
        enough.then(|| measured.eligible(configuration.iterations, strategy))
    });
    let mut add = |eligible| {
        ExperimentDrawing::new(measured, configuration, eligible, options)
            .add(numbers.clone(), &mut all);
    };
    match allowed {
        [Some(different), Some(same)] if different != same => {
            add([Some(different), None]);
            add([None, Some(same)]);
        }
        [None, None] => {}
        allowed => add(allowed),
    }
    all
}

/// All that experiments of one configuration need.
struct ExperimentDrawing<'a> {
    measured: &'a Measured,
    shape: DrawShape,
    configuration: Configuration,
    /// Which instances may be drawn.
    eligible: Vec<usize>,
    options: &'a ExperimentOptions,
    groups: ExperimentGroups,
    /// Room for what is drawn.
    instances: Vec<usize>,
    iterations: Vec<usize>,
}

impl<'a> ExperimentDrawing<'a> {
    fn new(
        measured: &'a Measured,
        configuration: Configuration,
        eligible: [Option<Vec<usize>>; 2],
        options: &'a ExperimentOptions,
    ) -> Self {
        let iterations = u16::try_from(configuration.iterations).unwrap_or(u16::MAX);
        let room = |eligible: &Option<Vec<usize>>| eligible.as_ref().map(|_| LevelGroup::default());
        Self {
            measured,
            shape: DrawShape::new(configuration.instances, iterations),
            configuration,
            options,
            groups: ExperimentGroups {
                control: LevelGroup::default(),
                different: room(&eligible[0]),
                same: room(&eligible[1]),
            },
            eligible: eligible.into_iter().flatten().next().unwrap_or_default(),
            instances: Vec::new(),
            iterations: Vec::new(),
        }
    }

    fn add(mut self, numbers: Range<u32>, all: &mut Experiments) {
        let mut room = ReplicateRoom::new(self.options);
        for number in numbers {
            let mut source = self.options.seed.numbered(self.stream(number));
            self.draw_groups(&mut Xoshiro256PlusPlus::from_rng(&mut source));
            if self.options.replicates > 0 {
                let mut streams = RandomStreams::from(&mut source);
                let count = self.options.replicates;
                let sums = draw(&self.groups, &self.shape, &mut streams, count);
                self.judge_bootstraps(&sums, &mut room, all);
            }
            self.judge_means(all);
        }
    }

    /// Returns the number of the random stream of an experiment.
    fn stream(&self, number: u32) -> u64 {
        let Configuration {
            instances,
            iterations,
        } = self.configuration;
        let alone = u64::from(self.groups.different.is_none());
        (instances as u64) << 48 | (iterations as u64) << 32 | u64::from(number) << 1 | alone
    }

    /// Draws control and tests.
    fn draw_groups(&mut self, random: &mut Xoshiro256PlusPlus) {
        let count = self.shape.instances;
        let drawn = match &self.groups.different {
            Some(_) => 2 * count,
            None => count,
        };
        self.instances.clone_from(&self.eligible);
        draw_subset(&mut self.instances, drawn, random);
        let iterations = self.shape.iterations;
        self.groups.control.clear(&self.shape);
        if let Some(same) = &mut self.groups.same {
            same.clear(&self.shape);
        }
        let wanted = match &self.groups.same {
            Some(_) => 2 * iterations,
            None => iterations,
        };
        for (row, instance) in self.instances[..count].iter().enumerate() {
            let values = self.measured.instance(*instance);
            let drawn = draw_values(values.len(), wanted, &mut self.iterations, random);
            let control = self.groups.control.row_mut(&self.shape, row);
            copy(values, &drawn[..iterations], control);
            if let Some(same) = &mut self.groups.same {
                copy(values, &drawn[iterations..], same.row_mut(&self.shape, row));
            }
        }
        if let Some(different) = &mut self.groups.different {
            different.clear(&self.shape);
            for (row, instance) in self.instances[count..drawn].iter().enumerate() {
                let values = self.measured.instance(*instance);
                let drawn = draw_values(values.len(), iterations, &mut self.iterations, random);
                copy(values, drawn, different.row_mut(&self.shape, row));
            }
        }
    }

    fn judge_bootstraps(
        &self,
        sums: &ReplicateSums,
        room: &mut ReplicateRoom,
        all: &mut Experiments,
    ) {
        let ReplicateRoom {
            control,
            test,
            ratio,
            ends,
        } = room;
        self.fill(&sums.control, control);
        let of_control = ends.of(control);
        let mut put = |method: DetectionMethod, strategy: Strategy, bounds| {
            all.bounds[method as usize][strategy as usize].push(bounds);
        };
        use DetectionMethod::{Laaber, Schultz};
        use Strategy::{DifferentInstances, SameInstances};
        if self.groups.different.is_some() {
            self.fill(&sums.different, test);
            let bounds = laaber(of_control, ends.of(test));
            put(Laaber, DifferentInstances, bounds);
            divide(control, test, ratio);
            put(Schultz, DifferentInstances, schultz(ends.of(ratio)));
        }
        if self.groups.same.is_some() {
            self.fill(&sums.same, test);
            put(Laaber, SameInstances, laaber(of_control, ends.of(test)));
            self.fill(&sums.paired, test);
            divide(control, test, ratio);
            put(Schultz, SameInstances, schultz(ends.of(ratio)));
        }
    }

    /// Turns sums into means.
    fn fill(&self, sums: &[u64], means: &mut Vec<f64>) {
        means.clear();
        means.extend(sums.iter().map(|drawn| {
            let (sum, count) = sum_and_count(*drawn);
            self.measured.mean(sum, count)
        }));
    }

    fn judge_means(&self, all: &mut Experiments) {
        let means = |group: &LevelGroup| instance_means(group, &self.shape, self.measured);
        let (control, confidence) = (means(&self.groups.control), self.options.confidence);
        let of_pairs = &mut all.bounds[DetectionMethod::Paired as usize];
        if let Some(different) = &self.groups.different {
            of_pairs[0].push(paired(&control, &means(different), confidence));
        }
        if let Some(same) = &self.groups.same {
            of_pairs[1].push(paired(&control, &means(same), confidence));
        }
    }
}

/// Room for what replicates come to.
struct ReplicateRoom {
    control: Vec<f64>,
    test: Vec<f64>,
    ratio: Vec<f64>,
    ends: ReplicateEnds,
}

impl ReplicateRoom {
    fn new(options: &ExperimentOptions) -> Self {
        Self {
            control: Vec::new(),
            test: Vec::new(),
            ratio: Vec::new(),
            ends: ReplicateEnds::new(options.replicates, options.confidence),
        }
    }
}

fn divide(control: &[f64], test: &[f64], ratio: &mut Vec<f64>) {
    ratio.clear();
    ratio.extend(control.iter().zip(test).map(|(control, test)| {
        let ratio = control / test;
        // The sign of an undefined number means nothing, but would sort.
        if ratio.is_nan() { f64::NAN } else { ratio }
    }));
}

/// Returns so many different positions of an instance's values.
fn draw_values<'a>(
    length: usize,
    wanted: usize,
    room: &'a mut Vec<usize>,
    random: &mut Xoshiro256PlusPlus,
) -> &'a [usize] {
    room.clear();
    room.extend(0..length);
    draw_subset(room, wanted, random);
    &room[..wanted]
}

fn copy(values: &[u64], positions: &[usize], row: &mut [u64]) {
    for (slot, position) in row.iter_mut().zip(positions) {
        *slot = values[*position];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Replicates;
    use crate::detection::rate::DetectionRate;

    const OPTIONS: ExperimentOptions = ExperimentOptions {
        replicates: 300,
        confidence: Confidence::P95,
        seed: Seed(7),
    };

    const SMALL: Configuration = Configuration {
        instances: 5,
        iterations: 6,
    };

    /// Instances a few per cent apart, with some noise of their own.
    fn rows(instances: u32, iterations: u32) -> Vec<Vec<f64>> {
        let row = |i: u32| {
            let centre = 1.0 + 0.004 * f64::from(i * 37 % 17);
            let noise = |j: u32| 0.006 * f64::from((i * 31 + j * 17) % 23);
            (0..iterations).map(|j| centre + noise(j)).collect()
        };
        (0..instances).map(row).collect()
    }

    fn measured(rows: &[Vec<f64>]) -> Measured {
        let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
        Measured::new(&rows).expect("positive values")
    }

    fn all_bounds(found: &Experiments) -> Vec<Bounds> {
        found.bounds.iter().flatten().flatten().copied().collect()
    }

    #[test]
    fn an_experiment_depends_on_its_number_alone() {
        let measured = measured(&rows(12, 14));
        let whole = experiments(&measured, SMALL, 0..20, &OPTIONS);
        let mut parts = experiments(&measured, SMALL, 0..7, &OPTIONS);
        parts.append(experiments(&measured, SMALL, 7..20, &OPTIONS));
        assert_eq!(whole, parts);
        assert_eq!(all_bounds(&whole).len(), 6 * 20);
    }

    #[test]
    fn constant_times_are_never_told_apart_but_when_slowed_down() {
        let measured = measured(&vec![vec![0.1; 14]; 12]);
        let found = experiments(&measured, SMALL, 0..20, &OPTIONS);
        for bounds in all_bounds(&found) {
            assert_eq!(bounds.detects(1.0), Some(false));
            assert_eq!(bounds.detects(1.000_001), Some(true));
            assert_eq!(bounds.detects(0.999_999), Some(true));
        }
    }

    #[test]
    fn no_slowdown_of_zeros_is_detected() {
        let measured = measured(&vec![vec![0.0; 14]; 12]);
        let found = experiments(&measured, SMALL, 0..20, &OPTIONS);
        for strategy in Strategy::ALL {
            for slowdown in [0.5, 1.0, 1.5] {
                let rate = |method| DetectionRate::of(found.bounds(method, strategy), slowdown);
                let [laaber, schultz, paired] = DetectionMethod::ALL.map(rate);
                assert_eq!((laaber.detected, laaber.undetermined), (0, 0));
                // A ratio of zeros and their logarithms are no numbers.
                assert_eq!((schultz.detected, schultz.undetermined), (0, 20));
                assert_eq!((paired.detected, paired.undetermined), (0, 20));
            }
        }
    }

    #[test]
    fn the_unit_of_the_times_does_not_matter() {
        let seconds = rows(12, 14);
        let other = |factor: f64| -> Vec<Vec<f64>> {
            seconds
                .iter()
                .map(|row| row.iter().map(|it| it * factor).collect())
                .collect()
        };
        let expected = experiments(&measured(&seconds), SMALL, 0..40, &OPTIONS);
        for factor in [1e3, 1.0 / 3.0, 4.7e-5] {
            let found = experiments(&measured(&other(factor)), SMALL, 0..40, &OPTIONS);
            for (one, two) in all_bounds(&expected).into_iter().zip(all_bounds(&found)) {
                assert!(
                    (one.lower / two.lower - 1.0).abs() < 1e-8,
                    "{one:?} {two:?}"
                );
                assert!(
                    (one.upper / two.upper - 1.0).abs() < 1e-8,
                    "{one:?} {two:?}"
                );
            }
        }
    }

    #[test]
    fn without_any_time_nothing_can_be_told() {
        let mut rows = rows(12, 14);
        rows[3..].iter_mut().for_each(|row| row.fill(f64::NAN));
        let found = experiments(&measured(&rows), SMALL, 0..40, &OPTIONS);
        let undetermined = |strategy| {
            let bounds = found.bounds(DetectionMethod::Laaber, strategy);
            let rate = DetectionRate::of(bounds, 1.1);
            assert_eq!(rate.as_hail().detected, rate.detected + rate.undetermined);
            rate.undetermined
        };
        assert!(undetermined(Strategy::DifferentInstances) > 20);
        assert!(undetermined(Strategy::SameInstances) > 0);
    }

    #[test]
    fn what_was_measured_limits_the_strategies() {
        let measured = measured(&rows(9, 14));
        let allows = |instances, iterations| {
            let configuration = Configuration {
                instances,
                iterations,
            };
            Strategy::ALL.map(|strategy| measured.allows(configuration, strategy))
        };
        assert_eq!(allows(4, 7), [true, true]);
        assert_eq!(allows(4, 8), [true, false]);
        assert_eq!(allows(5, 7), [false, true]);
        assert_eq!(allows(10, 7), [false, false]);
        assert_eq!(allows(0, 7), [false, false]);
        assert_eq!(allows(7, 0), [false, false]);
        assert_eq!(allows(usize::MAX, 2), [false, false]);
        let only = |instances, iterations| {
            let configuration = Configuration {
                instances,
                iterations,
            };
            let found = experiments(&measured, configuration, 0..3, &OPTIONS);
            Strategy::ALL.map(|it| found.bounds(DetectionMethod::Schultz, it).len())
        };
        assert_eq!(only(4, 8), [3, 0]);
        assert_eq!(only(5, 7), [0, 3]);
        assert_eq!(only(10, 7), [0, 0]);
    }

    #[test]
    fn instances_that_are_too_short_for_one_strategy_serve_the_other() {
        let mut uneven = rows(12, 14);
        for row in &mut uneven[8..] {
            row.truncate(9);
        }
        let found = experiments(&measured(&uneven), SMALL, 0..3, &OPTIONS);
        let count = |it| found.bounds(DetectionMethod::Paired, it).len();
        assert_eq!(Strategy::ALL.map(count), [3, 3]);
    }

    #[test]
    fn the_bounds_of_pairs_are_those_of_the_comparison() {
        let (control, test) = ([1.0_f64, 1.1, 0.9, 1.05], [1.2_f64, 1.0, 1.15, 1.1]);
        let bounds = paired(&control, &test, Confidence::P95);
        let pairs = control.iter().zip(&test);
        let pairs = Replicates::Pairs(pairs.map(|(one, other)| one.ln() - other.ln()).collect());
        let interval = pairs
            .difference(Confidence::P95)
            .expect("four pairs")
            .interval;
        assert!((bounds.lower - interval.lower.exp()).abs() < 1e-12);
        assert!((bounds.upper - interval.upper.exp()).abs() < 1e-12);
    }
}
