//! One burn-in for all instances of a benchmark.

use super::Class;
use super::instance_start::{InstanceStart, asked};
use super::number::whole;
use crate::number::as_f64;
use crate::{mean, quantile, standard_deviation};

/// How a benchmark's burn-in is chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BurnInOptions {
    /// This quantile of the instances' starts is the burn-in.
    pub quantile: f64,
    /// At most this share of the shortest instance that is asked is burn-in.
    pub largest_share: f64,
    /// The limits of the cost of burn-in per instance.
    pub max_cost: Option<MaxCost>,
}

/// The most that burn-in may cost in each instance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MaxCost {
    /// So many iterations.
    Iterations(usize),
    /// The sum of the values, on average over instances: seconds for a time.
    Sum(f64),
}

impl Default for BurnInOptions {
    /// Nine of ten steady instances are steady after the burn-in; a quarter is kept.
    fn default() -> Self {
        Self {
            quantile: 0.9,
            largest_share: 0.75,
            max_cost: None,
        }
    }
}

/// Whether a benchmark's instances are of one class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consistency {
    /// All of one class.
    Same(Class),
    /// Different classes, but each gets steady and none slower: flat, warm-up, cyclic.
    GoodInconsistent,
    /// Any other mixture.
    BadInconsistent,
}

/// Returns how far the classes of a benchmark's instances agree; `None` without any.
///
/// As in Barrett et al., *OOPSLA* 2017. Instances that are too short to tell do not count, as long
/// as there are others.
pub fn consistency(classes: impl IntoIterator<Item = Class>) -> Option<Consistency> {
    let (short, long): (Vec<Class>, Vec<Class>) = classes
        .into_iter()
        .partition(|class| *class == Class::TooShort);
    let first = *long.first().or(short.first())?;
    let is_good = |class: &Class| matches!(class, Class::Flat | Class::WarmUp | Class::Cyclic);
    Some(if long.iter().all(|class| *class == first) {
        Consistency::Same(first)
    } else if long.iter().all(is_good) {
        Consistency::GoodInconsistent
    } else {
        Consistency::BadInconsistent
    })
}

/// The burn-in of a benchmark, what it costs and what it leaves.
#[derive(Debug, Clone, PartialEq)]
pub struct BurnIn {
    /// Whether the instances are of one class.
    pub consistency: Consistency,
    /// The first iteration to judge; `None` if no instance gets steady.
    pub start: Option<usize>,
    /// The burn-in without caps; `None` if no instance reaches a steady state.
    pub wanted: Option<usize>,
    /// Whether the instances wander, each its own way, rather than warm up: then no burn-in
    /// helps, and the start is 0.
    pub drifting: bool,
    /// The number of instances.
    pub instances: usize,
    /// How many of them never get steady.
    pub never_steady: usize,
    /// The sum of the values before the start, on average over the instances that are asked: seconds
    /// for a time.
    pub cost: f64,
    /// How far the values between the start and each instance's own steady state are from the
    /// steady level, relative to it, on average over the instances that have such values.
    pub transient_bias: f64,
    /// How far that moves the mean of what is judged, relative to the steady level, on average
    /// over the instances that get steady.
    pub remaining_bias: f64,
}

/// Returns the burn-in of a benchmark from the starts of its instances; `None` without any.
///
/// An instance can only tell about as many iterations as it has, so only those are asked that
/// have at least half as many (by their numbers) as the longest: `is_long_enough`. The burn-in is the
/// quantile of the starts of those that get steady, rounded up, and at most the largest
/// share of the shortest of them. Where a start costs more than allowed, it is the one among the allowed whose
/// bias is the smallest (the earliest of those within 0.1 % of it).
///
/// Instances whose iterations remember the one before look like a warm-up here and a slowdown there, by chance. So
/// the start is 0 where instances begin off their level as often above as below it (sign test, p > 0.05), and either
/// six or more do and judging everything moves the mean over instances by less than 1 % for sure (two standard errors
/// over instances), or four or more do, a quarter of them in each direction, and it moves the mean by no more than
/// these two errors. Where most instances never get steady, there is no start.
pub fn burn_in(instances: &[InstanceStart], options: &BurnInOptions) -> Option<BurnIn> {
    let number = instances.len();
    let instances = &asked(instances);
    let steady: Vec<SteadyInstance> = instances.iter().filter_map(SteadyInstance::of).collect();
    let starts: Vec<f64> = steady.iter().map(|it| as_f64(it.start)).collect();
    let iterations = instances.iter().map(InstanceStart::iterations);
    let shortest = iterations.min().unwrap_or(0);
    let drifting = wander(instances, &steady);
    let wanted = quantile(&starts, options.quantile)
        .filter(|_| !mostly_never_steady(instances))
        .map(|start| if drifting { 0 } else { whole(start.ceil()) });
    let start = wanted.map(|wanted| {
        let most = wanted.min(whole(options.largest_share * as_f64(shortest)));
        affordable(instances, &steady, most, options.max_cost)
    });
    let burn_in = from_start(instances, &steady, start, wanted)?;
    Some(BurnIn {
        drifting,
        instances: number,
        ..burn_in
    })
}

/// Returns whether most of the instances that are long enough to tell never get steady. The starts of the others are
/// then the luck of their noise: the end of a drift looks steady in one instance of five.
fn mostly_never_steady(instances: &[InstanceStart]) -> bool {
    let never = |it: &&InstanceStart| it.class == Class::NoSteadyState;
    let told = |it: &&InstanceStart| it.class != Class::TooShort;
    2 * instances.iter().filter(never).count() > instances.iter().filter(told).count()
}

/// So many instances have to begin off their level before the directions can tell anything about a small bias.
const FEWEST_THAT_MOVE: usize = 6;

/// So many have to, at least a quarter of them in each direction, before they can tell that there is no common warm-up.
const FEWEST_IN_BOTH_DIRECTIONS: usize = 4;

/// Judging everything may move the mean by this share.
const SMALL_BIAS: f64 = 0.01;

fn wander(instances: &[InstanceStart], steady: &[SteadyInstance]) -> bool {
    let count = |class| {
        let moves = |it: &&InstanceStart| it.class == class && it.start.is_some_and(|at| at > 0);
        instances.iter().filter(moves).count()
    };
    let (above, below) = (count(Class::WarmUp), count(Class::Slowdown));
    let moving = above + below;
    if moving == 0 || sign_test(above, below) <= 0.05 {
        return false;
    }
    let biases: Vec<f64> = steady.iter().map(|it| it.remaining_bias(0)).collect();
    let error = standard_deviation(&biases).map(|it| it / as_f64(biases.len()).sqrt());
    let moved = average(biases.into_iter()).abs();
    error.is_some_and(|error| {
        let is_small = moving >= FEWEST_THAT_MOVE && moved + 2.0 * error < SMALL_BIAS;
        let in_both_directions =
            moving >= FEWEST_IN_BOTH_DIRECTIONS && 4 * above.min(below) >= moving;
        let are_few = 2 * moving <= instances.len();
        is_small || ((in_both_directions || are_few) && moved <= 2.0 * error)
    })
}

/// The two-sided p-value of "as many on one side as on the other".
fn sign_test(one: usize, other: usize) -> f64 {
    let n = one + other;
    // Each term is the one before times (n − k) / (k + 1).
    let mut term = 0.5_f64.powi(i32::try_from(n).unwrap_or(i32::MAX));
    let mut sum = 0.0;
    for k in 0..=one.min(other) {
        sum += term;
        term *= as_f64(n - k) / as_f64(k + 1);
    }
    (2.0 * sum).min(1.0)
}

/// Returns the cost, and the amount of data left, of a given burn-in; `None` without instances.
pub fn burn_in_from(instances: &[InstanceStart], start: usize) -> Option<BurnIn> {
    let asked = asked(instances);
    let steady: Vec<SteadyInstance> = asked.iter().filter_map(SteadyInstance::of).collect();
    let burn_in = from_start(&asked, &steady, Some(start), Some(start))?;
    Some(BurnIn {
        instances: instances.len(),
        ..burn_in
    })
}

/// Takes the instances that are asked.
fn from_start(
    instances: &[InstanceStart],
    steady: &[SteadyInstance],
    start: Option<usize>,
    wanted: Option<usize>,
) -> Option<BurnIn> {
    let never_steady = |instance: &&InstanceStart| instance.class == Class::NoSteadyState;
    let from = start.unwrap_or(0);
    Some(BurnIn {
        consistency: consistency(instances.iter().map(|instance| instance.class))?,
        start,
        wanted,
        drifting: false,
        instances: instances.len(),
        never_steady: instances.iter().filter(never_steady).count(),
        cost: cost(instances, from),
        transient_bias: average(steady.iter().filter_map(|it| it.transient_bias(from))),
        remaining_bias: average(steady.iter().map(|it| it.remaining_bias(from))),
    })
}

/// The largest start within the limit, or a smaller one that is no worse.
fn affordable(
    instances: &[InstanceStart],
    steady: &[SteadyInstance],
    wanted: usize,
    limit: Option<MaxCost>,
) -> usize {
    const AS_GOOD: f64 = 0.001;
    let allowed = match limit {
        None => return wanted,
        Some(MaxCost::Iterations(most)) => most,
        Some(MaxCost::Sum(most)) => (0..=wanted)
            .rev()
            .find(|start| cost(instances, *start) <= most)
            .unwrap_or(0),
    };
    if allowed >= wanted {
        return wanted;
    }
    let bias_at = |start| average(steady.iter().map(|it| it.remaining_bias(start))).abs();
    let biases: Vec<f64> = (0..=allowed).map(bias_at).collect();
    let least = biases.iter().copied().fold(f64::INFINITY, f64::min);
    biases
        .iter()
        .position(|bias| *bias <= least + AS_GOOD)
        .unwrap_or(allowed)
}

/// An instance that gets steady, with the level that it has then.
struct SteadyInstance<'a> {
    instance: &'a InstanceStart<'a>,
    /// The place of the first steady value.
    place: usize,
    /// The number of the first steady iteration.
    start: usize,
    level: f64,
}

impl<'a> SteadyInstance<'a> {
    fn of(instance: &'a InstanceStart<'a>) -> Option<Self> {
        let place = instance.start?;
        let start = instance.first_steady()?;
        let level = mean(instance.values.get(place..)?)?;
        Some(Self {
            instance,
            place,
            start,
            level,
        })
    }

    fn bias_of(&self, values: &[f64]) -> Option<f64> {
        mean(values).map(|mean| mean / self.level - 1.0)
    }

    fn transient_bias(&self, from: usize) -> Option<f64> {
        let before = self.instance.before(from);
        self.bias_of(self.instance.values.get(before..self.place)?)
    }

    fn remaining_bias(&self, from: usize) -> f64 {
        let before = self.instance.before(from).min(self.place);
        let judged = self.instance.values.get(before..).unwrap_or_default();
        self.bias_of(judged).unwrap_or(0.0)
    }
}

fn cost(instances: &[InstanceStart], start: usize) -> f64 {
    let sum = |it: &InstanceStart| it.values.iter().take(it.before(start)).sum::<f64>();
    average(instances.iter().map(sum))
}

/// The mean, and 0 of nothing.
fn average(values: impl Iterator<Item = f64>) -> f64 {
    mean(&values.collect::<Vec<_>>()).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twice as slow before `start`, 20 iterations, 1 s each when steady.
    fn warming_up(start: usize) -> Vec<f64> {
        (0..20).map(|i| if i < start { 2.0 } else { 1.0 }).collect()
    }

    /// Without rounding errors.
    fn rounded(value: f64) -> f64 {
        (value * 1e9).round() / 1e9
    }

    /// The numbers of iterations of which none failed.
    static ALL: [u32; 1000] = {
        let mut all = [0; 1000];
        let mut at = 1;
        while at < all.len() {
            all[at] = all[at - 1] + 1;
            at += 1;
        }
        all
    };

    fn instance(values: &[f64], class: Class, start: Option<usize>) -> InstanceStart<'_> {
        InstanceStart {
            index: &ALL[..values.len()],
            values,
            class,
            start,
        }
    }

    #[test]
    fn most_instances_are_steady_after_the_burn_in() {
        let series: Vec<Vec<f64>> = (0..=10).map(warming_up).collect();
        let mut instances: Vec<InstanceStart> = (0..=10)
            .map(|start| instance(&series[start], Class::WarmUp, Some(start)))
            .collect();
        instances[0].class = Class::Flat;
        let never = warming_up(19);
        instances.push(instance(&never, Class::NoSteadyState, None));
        let mut found = burn_in(&instances, &BurnInOptions::default()).expect("instances");
        found.remaining_bias = rounded(found.remaining_bias);
        let expected = BurnIn {
            consistency: Consistency::BadInconsistent,
            start: Some(9),
            wanted: Some(9),
            drifting: false,
            instances: 12,
            never_steady: 1,
            // Nine iterations each, and another second for every slow one of them.
            cost: 9.0 + f64::from((0..=9).sum::<i32>() + 9 + 9) / 12.0,
            transient_bias: 1.0,
            remaining_bias: rounded(1.0 / 11.0 / 11.0),
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn instances_that_wander_have_no_burn_in() {
        // Twice the level for eight iterations, or half of it: both move the mean alike.
        let up: Vec<f64> = (0..1000).map(|i| if i < 8 { 1.5 } else { 1.0 }).collect();
        let down: Vec<f64> = (0..1000).map(|i| if i < 8 { 0.5 } else { 1.0 }).collect();
        let lot = |above: usize, below: usize| -> BurnIn {
            let above = std::iter::repeat_n(instance(&up, Class::WarmUp, Some(8)), above);
            let below = std::iter::repeat_n(instance(&down, Class::Slowdown, Some(8)), below);
            let all: Vec<InstanceStart> = above.chain(below).collect();
            burn_in(&all, &BurnInOptions::default()).expect("instances")
        };
        let start = |above, below| {
            let found = lot(above, below);
            (found.start, found.drifting)
        };
        assert_eq!(start(3, 3), (Some(0), true));
        assert_eq!(start(6, 4), (Some(0), true));
        // So much on one side is no chance, and two instances tell nothing.
        assert_eq!(start(9, 1), (Some(8), false));
        assert_eq!(start(1, 1), (Some(8), false));
        assert_eq!(lot(3, 3).wanted, Some(0));
    }

    #[test]
    fn the_sign_test_counts_exactly() {
        // 2 (1 + 9 + 36) / 2⁹, 2 (1 + 10 + 45 + 120 + 210) / 2¹⁰, 2 / 2⁶, and never above 1.
        for ((one, other), expected) in [
            ((2, 7), 0.179_687_5),
            ((6, 4), 0.753_906_25),
            ((0, 6), 0.031_25),
            ((3, 3), 1.0),
        ] {
            assert!((sign_test(one, other) - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn a_limit_takes_the_start_with_the_smallest_bias() {
        let slow = warming_up(8);
        let instances = [instance(&slow, Class::WarmUp, Some(8))];
        let within = |max_cost| {
            let options = BurnInOptions {
                max_cost: Some(max_cost),
                ..BurnInOptions::default()
            };
            let found = burn_in(&instances, &options).expect("an instance");
            (
                found.start,
                found.cost,
                rounded(found.remaining_bias),
                found.wanted,
            )
        };
        assert_eq!(
            within(MaxCost::Iterations(50)),
            (Some(8), 16.0, 0.0, Some(8))
        );
        assert_eq!(
            within(MaxCost::Iterations(5)),
            (Some(5), 10.0, 0.2, Some(8))
        );
        assert_eq!(
            within(MaxCost::Sum(13.0)),
            (Some(6), 12.0, rounded(2.0 / 14.0), Some(8))
        );
        // A slow start and then a fast spell: all of it has no bias, one more iteration left out has.
        let mixed: Vec<f64> = (0..20)
            .map(|i| match i {
                0 => 1.5,
                1 => 0.5,
                2..8 => 0.9,
                _ => 1.0,
            })
            .collect();
        let instances = [instance(&mixed, Class::Slowdown, Some(8))];
        let options = BurnInOptions {
            max_cost: Some(MaxCost::Iterations(2)),
            ..BurnInOptions::default()
        };
        let found = burn_in(&instances, &options).expect("an instance");
        assert_eq!(found.start, Some(0));
    }

    #[test]
    fn a_start_that_somebody_else_chose_has_a_cost_and_a_bias_too() {
        let slow = warming_up(8);
        let instances = [instance(&slow, Class::WarmUp, Some(8))];
        let effect = |start| {
            let found = burn_in_from(&instances, start).expect("an instance");
            (found.start, found.cost, rounded(found.remaining_bias))
        };
        assert_eq!(effect(0), (Some(0), 0.0, 0.4));
        assert_eq!(effect(8), (Some(8), 16.0, 0.0));
        assert_eq!(effect(12), (Some(12), 20.0, 0.0));
    }

    #[test]
    fn iterations_that_failed_shift_no_other_instance() {
        let (slow, gap) = (warming_up(4), warming_up(3));
        // The second iteration of one of ten failed: its third slow one is number 3.
        let index: Vec<u32> = (0..21).filter(|at| *at != 1).collect();
        let mut instances = vec![instance(&slow, Class::WarmUp, Some(4)); 9];
        instances.push(InstanceStart {
            index: &index,
            ..instance(&gap, Class::WarmUp, Some(3))
        });
        let found = burn_in(&instances, &BurnInOptions::default()).expect("instances");
        assert_eq!((found.start, found.remaining_bias), (Some(4), 0.0));
        // Four slow iterations of 2 s in nine instances, three in the other.
        assert_eq!(rounded(found.cost), (9.0 * 8.0 + 6.0) / 10.0);
        let two = BurnInOptions {
            max_cost: Some(MaxCost::Iterations(2)),
            ..BurnInOptions::default()
        };
        let found = burn_in(&instances, &two).expect("instances");
        assert_eq!(found.start, Some(2));
        assert_eq!(rounded(found.cost), (9.0 * 4.0 + 2.0) / 10.0);
    }

    #[test]
    fn iterations_that_failed_after_the_last_slow_one_are_no_burn_in() {
        // The first is slow, and the next nine failed.
        let index: Vec<u32> = [0].into_iter().chain(10..29).collect();
        let slow = warming_up(1);
        let failed = InstanceStart {
            index: &index,
            ..instance(&slow, Class::WarmUp, Some(1))
        };
        let found = burn_in(&[failed; 3], &BurnInOptions::default()).expect("instances");
        assert_eq!((found.start, found.cost), (Some(1), 2.0));
        // The same where the method leaves one more out for doubt.
        let doubtful = InstanceStart {
            start: Some(2),
            ..failed
        };
        assert_eq!(doubtful.first_steady(), Some(2));
        // A slow value after those that failed is burn-in.
        let late = warming_up(2);
        let late = InstanceStart {
            values: &late,
            ..doubtful
        };
        assert_eq!(late.first_steady(), Some(11));
    }

    #[test]
    fn what_is_much_shorter_than_the_longest_is_not_used() {
        let long: Vec<f64> = (0..60).map(|i| if i < 21 { 2.0 } else { 1.0 }).collect();
        let steady = instance(&long, Class::WarmUp, Some(21));
        // Wholly within the warm-up, and so flat to itself.
        let short = [2.0; 6];
        let short = instance(&short, Class::Flat, Some(0));
        let crashed = instance(&long[..2], Class::TooShort, None);
        let half = instance(&long[..30], Class::WarmUp, Some(21));
        let of = |more: &[InstanceStart]| {
            let all = [&[steady; 10], more].concat();
            let found = burn_in(&all, &BurnInOptions::default()).expect("instances");
            (found.start, found.wanted, found.instances)
        };
        assert_eq!(of(&[]), (Some(21), Some(21), 10));
        assert_eq!(of(&[short; 10]), (Some(21), Some(21), 20));
        assert_eq!(of(&[crashed]), (Some(21), Some(21), 11));
        assert_eq!(of(&[half]), (Some(21), Some(21), 11));
        let all = [steady, short];
        let found = burn_in(&all, &BurnInOptions::default()).expect("instances");
        assert_eq!(found.consistency, Consistency::Same(Class::WarmUp));
        assert_eq!(found.cost, 42.0);
        let given = burn_in_from(&all, 21).expect("instances");
        assert_eq!(given, found);
    }

    #[test]
    fn no_more_than_the_largest_share_is_burn_in() {
        let late = warming_up(18);
        let instances = [instance(&late, Class::WarmUp, Some(18))];
        let found = burn_in(&instances, &BurnInOptions::default()).expect("an instance");
        assert_eq!((found.start, found.wanted), (Some(15), Some(18)));
        assert_eq!(rounded(found.transient_bias).to_bits(), 1.0_f64.to_bits());
    }

    #[test]
    fn without_a_steady_instance_there_is_no_start() {
        let values = warming_up(19);
        let instances = [instance(&values, Class::NoSteadyState, None)];
        let found = burn_in(&instances, &BurnInOptions::default()).expect("an instance");
        assert_eq!((found.start, found.never_steady), (None, 1));
        assert_eq!(found.consistency, Consistency::Same(Class::NoSteadyState));
        assert_eq!(burn_in(&[], &BurnInOptions::default()), None);
    }

    #[test]
    fn classes_agree_or_do_not() {
        use Class::{Cyclic, Flat, NoSteadyState, Slowdown, TooShort, WarmUp};
        for (classes, expected) in [
            (vec![], None),
            (vec![WarmUp, WarmUp], Some(Consistency::Same(WarmUp))),
            (
                vec![WarmUp, Flat, Cyclic],
                Some(Consistency::GoodInconsistent),
            ),
            (vec![WarmUp, Slowdown], Some(Consistency::BadInconsistent)),
            (
                vec![Flat, NoSteadyState],
                Some(Consistency::BadInconsistent),
            ),
            (vec![TooShort, Flat], Some(Consistency::Same(Flat))),
            (vec![TooShort, TooShort], Some(Consistency::Same(TooShort))),
        ] {
            assert_eq!(consistency(classes.clone()), expected, "{classes:?}");
        }
    }
}
