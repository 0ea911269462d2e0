//! A/A pairs of a comparison: its units shuffled between the sides, without their effect.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_stats::{Seed, as_f64, mean};
use rand::Rng;

use super::super::compare::{Comparison, SideSample};
use super::super::{InstanceOrigin, ReplicationUnit};
use crate::clean::CleanInstance;
use crate::sample::{Setting, Subject, pair_settings};
use lapwing_model::Better;

/// How a comparison is shuffled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Shuffled {
    pub(super) unit: ReplicationUnit,
    pub(super) is_paired: bool,
    pub(super) units: [usize; 2],
}

/// A slowdown of one comparison.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlantedSlowdown<'a> {
    pub(super) subject: &'a Subject,
    pub(super) factor: f64,
}

impl Shuffled {
    /// Returns how a comparison can be shuffled; `None` without a ratio, and of duets.
    pub(super) fn of(comparison: &Comparison) -> Option<Self> {
        let ratio = comparison.ratio?;
        (ratio.unit != ReplicationUnit::Pair).then_some(Self {
            unit: ratio.unit,
            is_paired: ratio.unpaired.is_some(),
            units: ratio.replicates,
        })
    }

    /// Returns how many different A/A pairs there are, of which one is another with its sides swapped.
    pub(super) fn pairs(self) -> f64 {
        let [baseline, candidate] = self.units;
        if self.is_paired {
            return 2.0_f64.powf(as_f64(baseline) - 1.0);
        }
        let chosen = (1..=baseline).map(|at| as_f64(candidate + at) / as_f64(at));
        let chosen: f64 = chosen.product();
        if baseline == candidate {
            chosen / 2.0
        } else {
            chosen
        }
    }
}

/// Shuffles the settings of two sides, and drops those that cannot be.
pub(super) fn rearrange(
    subject: &Subject,
    sides: &mut [Vec<SideSample>],
    designs: &BTreeMap<Subject, Shuffled>,
    seed: Seed,
    planted: Option<PlantedSlowdown<'_>>,
) {
    let [baseline, candidate] = sides else {
        return;
    };
    let settings = [&*baseline, &*candidate]
        .map(|side| side.iter().map(|it| it.setting.clone()).collect::<Vec<_>>());
    let mut kept = [vec![false; baseline.len()], vec![false; candidate.len()]];
    for pair in pair_settings([&settings[0], &settings[1]]) {
        let own = Subject {
            setting: Setting {
                levels: pair.levels,
                ..subject.setting.clone()
            },
            ..subject.clone()
        };
        let design = designs.get(&own).filter(|_| !pair.is_shared);
        let (Some(design), [Some(one), Some(other)]) = (design, pair.places) else {
            continue;
        };
        (kept[0][one], kept[1][other]) = (true, true);
        let mut both = [
            LogSide::of(&mut baseline[one], *design),
            LogSide::of(&mut candidate[other], *design),
        ];
        LogSide::remove_effect(&mut both, *design);
        if design.is_paired {
            LogSide::swap_pairs(&mut both, seed);
        } else {
            LogSide::deal_units(&mut both, *design, seed);
        }
        let [one_side, other_side] = both;
        let slower = planted.filter(|planted| *planted.subject == own);
        let better = other_side.better();
        one_side.write(1.0);
        other_side.write(slower.map_or(1.0, |it| match better {
            Some(Better::Higher) => it.factor.recip(),
            Some(Better::Lower) | None => it.factor,
        }));
    }
    for (side, kept) in [baseline, candidate].into_iter().zip(kept) {
        for (sample, is_kept) in side.iter_mut().zip(kept) {
            if !is_kept {
                *sample = SideSample::default();
            }
        }
    }
}

/// A side as instances of units.
struct LogSide<'s> {
    side: &'s mut SideSample,
    instances: Vec<MovedInstance>,
}

/// An instance that may change sides.
struct MovedInstance {
    unit: String,
    instance: CleanInstance,
    origin: Option<InstanceOrigin>,
    /// The logarithm of its mean, and that without the effect of its side.
    log: f64,
    without: f64,
}

impl<'s> LogSide<'s> {
    /// Takes the instances out of a side.
    fn of(side: &'s mut SideSample, design: Shuffled) -> Self {
        let origins = std::mem::take(&mut side.origins);
        let mut origins = origins.into_iter();
        let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
        let instances = std::mem::take(&mut side.cleaned.instances);
        let instances = instances.into_iter().map(|instance| {
            let origin = origins.next();
            let place = origin
                .as_ref()
                .map_or_else(String::new, |it| match design.unit {
                    ReplicationUnit::Session => it.session.to_string(),
                    ReplicationUnit::Host => it.host.clone().unwrap_or_default(),
                    ReplicationUnit::Block | ReplicationUnit::Instance | ReplicationUnit::Pair => {
                        format!("{} {}", it.session, it.block)
                    }
                });
            let unit = if design.unit == ReplicationUnit::Instance {
                let number = numbers.entry(place.clone()).or_default();
                *number += 1;
                format!("{place} {number}")
            } else {
                place
            };
            let log = instance.mean().ln();
            MovedInstance {
                unit,
                instance,
                origin,
                log,
                without: log,
            }
        });
        Self {
            instances: instances.collect(),
            side,
        }
    }

    fn better(&self) -> Option<Better> {
        self.side.directions.first().copied()
    }

    /// Returns the mean of each unit that counts.
    fn units(&self, counts: &dyn Fn(&str) -> bool) -> Vec<f64> {
        let mut units: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for it in self.instances.iter().filter(|it| counts(&it.unit)) {
            units.entry(&it.unit).or_default().push(it.log);
        }
        units.values().filter_map(|logs| mean(logs)).collect()
    }

    fn has(&self, unit: &str) -> bool {
        self.instances.iter().any(|it| it.unit == unit)
    }

    /// Makes both sides equal on average: of pairs over those units that both have.
    fn remove_effect(both: &mut [Self; 2], design: Shuffled) {
        let counts = |unit: &str| !design.is_paired || both.iter().all(|side| side.has(unit));
        let units = [0, 1].map(|side| both[side].units(&counts));
        let centres = [0, 1].map(|side| mean(&units[side]).unwrap_or(0.0));
        let middle = f64::midpoint(centres[0], centres[1]);
        for (side, (units, centre)) in both.iter_mut().zip(units.iter().zip(centres)) {
            let freedom = units.len().saturating_sub(1).max(1);
            let enlarged = (as_f64(units.len()) / as_f64(freedom)).sqrt();
            for it in &mut side.instances {
                it.without = middle + enlarged * (it.log - centre);
            }
        }
    }

    /// Swaps the instances of each unit that both sides have, or not, by chance.
    fn swap_pairs(both: &mut [Self; 2], seed: Seed) {
        let [one, other] = [0, 1].map(|side: usize| {
            let partner = &both[1 - side];
            let is_swapped: Vec<bool> = (both[side].instances.iter())
                .map(|it| {
                    partner.has(&it.unit) && seed.stream(&it.unit).next_u64().is_multiple_of(2)
                })
                .collect();
            is_swapped
        });
        let split = |side: &mut Self, is_swapped: Vec<bool>| {
            let (mut kept, mut swapped) = (Vec::new(), Vec::new());
            for (it, is_swapped) in side.instances.drain(..).zip(is_swapped) {
                if is_swapped { &mut swapped } else { &mut kept }.push(it);
            }
            side.instances = kept;
            swapped
        };
        let from_one = split(&mut both[0], one);
        let from_other = split(&mut both[1], other);
        both[0].instances.extend(from_other);
        both[1].instances.extend(from_one);
    }

    /// Deals the units of both sides out again, so that each side has as many as before. Sessions and hosts take
    /// their origin along; instances leave it, so that the design stays.
    fn deal_units(both: &mut [Self; 2], design: Shuffled, seed: Seed) {
        let mut origins: [Vec<Option<InstanceOrigin>>; 2] = [Vec::new(), Vec::new()];
        let mut units: BTreeMap<(u64, usize, String), Vec<MovedInstance>> = BTreeMap::new();
        let mut first_side = BTreeSet::new();
        for (at, side) in both.iter_mut().enumerate() {
            for it in side.instances.drain(..) {
                origins[at].push(it.origin.clone());
                let name = format!("{at} {}", it.unit);
                let key = (seed.stream(&name).next_u64(), at, it.unit.clone());
                if at == 0 {
                    first_side.insert(key.clone());
                }
                units.entry(key).or_default().push(it);
            }
        }
        for (number, (_, instances)) in units.into_iter().enumerate() {
            let side = usize::from(number >= first_side.len());
            both[side].instances.extend(instances);
        }
        if design.unit == ReplicationUnit::Instance {
            for (side, origins) in both.iter_mut().zip(origins) {
                for (it, origin) in side.instances.iter_mut().zip(origins) {
                    it.origin = origin;
                }
            }
        }
    }

    /// Puts the instances back.
    fn write(self, factor: f64) {
        for mut it in self.instances {
            let factor = factor * (it.without - it.log).exp();
            it.instance
                .values
                .iter_mut()
                .for_each(|value| *value *= factor);
            self.side.cleaned.instances.push(it.instance);
            self.side.origins.extend(it.origin);
        }
    }
}
