//! The unit of replication: the highest level that varies and is replicated on both sides.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_stats::{Confidence, Difference, Replicates, as_f64, mean};

use super::super::compare::SideSample;
use super::super::instance_means;
use super::super::looks::Looks;
use super::super::session_noise::SessionNoise;
use super::session_sides::SessionSides;
use crate::clean::Cleaned;
use lapwing_model::Id;

/// A replicate of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReplicationUnit {
    /// The instances of one session.
    Session,
    /// Two instances that were measured at the same time.
    Pair,
    /// The instances of one block.
    Block,
    /// The instances on one host.
    Host,
    /// An instance.
    Instance,
}

impl ReplicationUnit {
    /// Returns its name, in the singular: `session`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Pair => "pair",
            Self::Block => "block",
            Self::Host => "host",
            Self::Instance => "instance",
        }
    }
}

/// The origin of an instance: session, block, position and host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstanceOrigin {
    /// Its session.
    pub session: Id,
    /// Its block within the session.
    pub block: u32,
    /// Its position in the order of the session.
    pub position: u32,
    /// Its host, if known.
    pub host: Option<String>,
}

/// The replicates of a comparison and their unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Replication {
    /// The unit of a replicate.
    pub unit: ReplicationUnit,
    /// Their values.
    pub replicates: Replicates,
    /// The centres of the two sides, on the scale of the values.
    pub centres: [f64; 2],
    /// The looks at the results while instances were added.
    pub looks: Looks,
    /// How much sessions differ, where these are the unit and too few to be judged as a family; else `None`.
    pub noise: Option<SessionNoise>,
}

/// Number of sessions per side from which a session is the unit.
pub(in crate::judge) const SESSIONS: usize = 3;
/// Number of shared blocks from which blocks are pairs.
pub(in crate::judge) const BLOCKS: usize = 3;
/// Difference between the sides in shares of sessions or hosts from which they are from different ones, from 0 to 1.
pub(in crate::judge) const MOST_IMBALANCE: f64 = 0.25;
/// Number of shared hosts from which hosts are pairs.
pub(in crate::judge) const HOSTS: usize = 3;

impl Replication {
    /// Returns the replicates of two sides from the logarithms of their instances: the pairs of a duet if there are
    /// enough, else those of [`Replication::of`].
    pub(in crate::judge) fn of_logs(sides: [&SideSample; 2], logs: &[Vec<f64>; 2]) -> Option<Self> {
        let duet = super::super::duet::replication(sides);
        let duet = duet.map(|found| found.with_looks(sides));
        duet.or_else(|| Self::of(sides, logs))
    }

    /// Returns the replicates of two sides from a value per instance; `None` if a side is empty.
    ///
    /// The unit is the session if both sides have three or more; else the block if they share three or more, measured
    /// one after the other; else the session if the sides have different ones, four or more together; else the host if
    /// they share three or more; else the instance. A replicate is the mean of
    /// the values of its instances. Blocks that both sides share are pairs, and others are dropped; shared sessions
    /// and hosts are pairs if they contain more than half of the instances of each side. The rule depends on the
    /// design alone, never on the values, which keeps error rates as stated.
    pub(in crate::judge) fn of(sides: [&SideSample; 2], values: &[Vec<f64>; 2]) -> Option<Self> {
        Self::by_design(sides, values).map(|found| found.with_looks(sides))
    }

    fn with_looks(self, sides: [&SideSample; 2]) -> Self {
        Self {
            looks: Looks::of(sides),
            ..self
        }
    }

    fn by_design(sides: [&SideSample; 2], values: &[Vec<f64>; 2]) -> Option<Self> {
        let known = (0..2).all(|side| sides[side].origins.len() == values[side].len());
        if known {
            let by_session = by_unit(sides, values, |origin| Some(origin.session));
            if by_session.iter().all(|units| units.len() >= SESSIONS) {
                let unit = ReplicationUnit::Session;
                return most_in_pairs(unit, &by_session, SESSIONS)
                    .or_else(|| unpaired(unit, by_session));
            }
            if blocks_follow_each_other(sides.iter().flat_map(|side| &side.origins)) {
                let key = |origin: &InstanceOrigin| Some((origin.session, origin.block));
                let by_block = by_unit(sides, values, key);
                if let Some(found) = pairs(ReplicationUnit::Block, &by_block, BLOCKS) {
                    return Some(found);
                }
            }
            let few = SessionSides::of(sides, values).filter(SessionSides::show_their_noise);
            if let Some(found) = few {
                return Self::of_sessions(&found, SessionNoise::UNKNOWN);
            }
            let by_host = by_unit(sides, values, |origin| origin.host.clone());
            if let Some(found) = most_in_pairs(ReplicationUnit::Host, &by_host, HOSTS) {
                return Some(found);
            }
        }
        Some(Self {
            unit: ReplicationUnit::Instance,
            centres: [mean(&values[0])?, mean(&values[1])?],
            replicates: Replicates::Sides(values.clone()),
            looks: Looks::default(),
            noise: None,
        })
    }

    /// Returns the sessions of two sides as replicates, with what is known of how much they differ.
    pub(in crate::judge) fn of_sessions(sides: &SessionSides, noise: SessionNoise) -> Option<Self> {
        Some(Self {
            unit: ReplicationUnit::Session,
            centres: [mean(&sides.means[0])?, mean(&sides.means[1])?],
            replicates: Replicates::Sides(sides.means.clone()),
            looks: Looks::default(),
            noise: Some(noise),
        })
    }

    /// Returns the difference of the sides; interval and p-value allow for the looks at the results.
    pub fn difference(&self, confidence: Confidence) -> Option<Difference> {
        let difference = self.replicates.difference(self.level(confidence))?;
        let factor = self.looks.factor(1.0 - confidence.level());
        Some(Difference {
            p_value: (difference.p_value * factor).min(1.0),
            ..difference
        })
    }

    /// Returns the level of intervals that has this confidence over all looks.
    pub(in crate::judge) fn level(&self, confidence: Confidence) -> Confidence {
        let level = self.looks.level(1.0 - confidence.level());
        Confidence::new(1.0 - level).unwrap_or(confidence)
    }

    /// Returns the level of intervals that has this confidence if the best side was chosen, at a single look.
    pub(in crate::judge) fn after_choice(&self, confidence: Confidence) -> Confidence {
        let level = self.looks.after_choice(1.0 - confidence.level());
        Confidence::new(1.0 - level).unwrap_or(confidence)
    }

    /// Returns the numbers of replicates of the two sides.
    pub fn sizes(&self) -> [usize; 2] {
        match &self.replicates {
            Replicates::Sides(sides) => [sides[0].len(), sides[1].len()],
            Replicates::Pairs(differences) => [differences.len(); 2],
        }
    }

    /// Returns whether the replicates are pairs.
    pub fn is_paired(&self) -> bool {
        matches!(self.replicates, Replicates::Pairs(_))
    }
}

/// The values of one side's instances, by unit.
type Units<K> = BTreeMap<K, Vec<f64>>;

fn by_unit<K: Ord>(
    sides: [&SideSample; 2],
    values: &[Vec<f64>; 2],
    key: impl Fn(&InstanceOrigin) -> Option<K>,
) -> [Units<K>; 2] {
    [0, 1].map(|side| {
        let mut units: Units<K> = BTreeMap::new();
        for (origin, value) in sides[side].origins.iter().zip(&values[side]) {
            if let Some(key) = key(origin) {
                units.entry(key).or_default().push(*value);
            }
        }
        units
    })
}

/// Returns the pairs of units that both sides have; `None` if they are too few, or contain at most half of the
/// instances of a side.
fn most_in_pairs<K: Ord>(
    unit: ReplicationUnit,
    sides: &[Units<K>; 2],
    least: usize,
) -> Option<Replication> {
    let [baseline, candidate] = sides;
    let holds_most = |side: &Units<K>, other: &Units<K>| {
        let all: usize = side.values().map(Vec::len).sum();
        let shared = side.iter().filter(|(key, _)| other.contains_key(key));
        2 * shared.map(|(_, values)| values.len()).sum::<usize>() > all
    };
    let hold_most = holds_most(baseline, candidate) && holds_most(candidate, baseline);
    hold_most.then(|| pairs(unit, sides, least)).flatten()
}

/// Returns the pairs of units that both sides have; `None` if they are too few.
fn pairs<K: Ord>(
    unit: ReplicationUnit,
    sides: &[Units<K>; 2],
    least: usize,
) -> Option<Replication> {
    let [baseline, candidate] = sides;
    let shared: Vec<&K> = baseline
        .keys()
        .filter(|key| candidate.contains_key(key))
        .collect();
    if shared.len() < least {
        return None;
    }
    let means = |side: &Units<K>| -> Option<Vec<f64>> {
        shared.iter().map(|key| mean(&side[key])).collect()
    };
    let [baseline, candidate] = [means(baseline)?, means(candidate)?];
    let differences = baseline
        .iter()
        .zip(&candidate)
        .map(|(one, other)| other - one);
    Some(Replication {
        unit,
        replicates: Replicates::Pairs(differences.collect()),
        centres: [mean(&baseline)?, mean(&candidate)?],
        looks: Looks::default(),
        noise: None,
    })
}

fn unpaired<K: Ord>(unit: ReplicationUnit, sides: [Units<K>; 2]) -> Option<Replication> {
    let [baseline, candidate] = sides
        .map(|side| -> Option<Vec<f64>> { side.values().map(|values| mean(values)).collect() });
    let sides = [baseline?, candidate?];
    Some(Replication {
        unit,
        centres: [mean(&sides[0])?, mean(&sides[1])?],
        replicates: Replicates::Sides(sides),
        looks: Looks::default(),
        noise: None,
    })
}

/// Returns whether the blocks of each session were measured one after the other. Tools that measure all executions of
/// one command before the next one restart numbering at 0: these are not blocks.
pub(in crate::judge) fn blocks_follow_each_other<'o>(
    origins: impl IntoIterator<Item = &'o InstanceOrigin>,
) -> bool {
    let mut ranges: BTreeMap<(Id, u32), (u32, u32)> = BTreeMap::new();
    for origin in origins {
        let range = ranges
            .entry((origin.session, origin.block))
            .or_insert((origin.position, origin.position));
        *range = (range.0.min(origin.position), range.1.max(origin.position));
    }
    let blocks: Vec<(&Id, &(u32, u32))> = ranges
        .iter()
        .map(|((session, _), range)| (session, range))
        .collect();
    blocks.windows(2).all(|pair| {
        let [(session, earlier), (next, later)] = [pair[0], pair[1]];
        session != next || earlier.1 < later.0
    })
}

/// Returns the host of each instance of one side, if hosts are its units of replication: all are known, three or more,
/// and one had several instances. Else `None`: instances are the units.
///
/// Instances on one host resemble each other where hosts differ, and more of them say nothing about other hosts. As in a
/// comparison, the design alone decides, never the values.
pub(crate) fn hosts_as_units(side: &Cleaned) -> Option<Vec<usize>> {
    let hosts = side.instances.iter().map(|it| it.host);
    let hosts: Vec<usize> = hosts.collect::<Option<_>>()?;
    let different = hosts.iter().collect::<BTreeSet<_>>().len();
    (HOSTS..hosts.len()).contains(&different).then_some(hosts)
}

/// Returns the means of the values of each host.
pub(in crate::judge) fn means_by_host(values: &[f64], hosts: &[usize]) -> Vec<f64> {
    let mut by_host: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for (value, host) in values.iter().zip(hosts) {
        by_host.entry(*host).or_default().push(*value);
    }
    by_host.values().filter_map(|values| mean(values)).collect()
}

/// Returns the logarithms of the instance means of both sides, comparable even if instances have different numbers of
/// iterations; `None` if a mean is not positive.
///
/// The logarithm of a mean of J iterations is too low by about σ²/(2J), with σ the coefficient of variation of
/// iterations (delta method). If all J are equal this cancels and nothing is added; otherwise each logarithm gets σ²/2
/// (1/J − 1/J_max), with σ² pooled over both sides.
pub(in crate::judge) fn log_means(sides: [&SideSample; 2]) -> Option<[Vec<f64>; 2]> {
    let iterations = |side: usize| {
        sides[side]
            .cleaned
            .instances
            .iter()
            .map(|it| it.values.len())
    };
    let most = iterations(0).chain(iterations(1)).max()?;
    let within = pooled_within(sides);
    let of_side = |side: usize| -> Option<Vec<f64>> {
        let means = instance_means(&sides[side].cleaned);
        let each = means.iter().zip(iterations(side)).enumerate();
        each.map(|(place, (mean, count))| {
            // A summary is of more than its one value.
            let is_summary = sides[side].summarised.contains(&place);
            let count = if is_summary { most } else { count };
            let missing = as_f64(count).recip() - as_f64(most).recip();
            (*mean > 0.0 && mean.is_finite()).then(|| mean.ln() + within / 2.0 * missing)
        })
        .collect()
    };
    Some([of_side(0)?, of_side(1)?])
}

/// Returns the squared coefficient of variation of iterations, pooled over all instances; 0 if none has two.
fn pooled_within(sides: [&SideSample; 2]) -> f64 {
    let (mut squares, mut freedom) = (0.0, 0.0);
    for instance in sides.iter().flat_map(|side| &side.cleaned.instances) {
        if let Some(cv) = lapwing_stats::coefficient_of_variation(&instance.values) {
            let weight = as_f64(instance.values.len()) - 1.0;
            squares += cv * cv * weight;
            freedom += weight;
        }
    }
    if freedom > 0.0 {
        squares / freedom
    } else {
        0.0
    }
}

/// Returns the difference between the two sides' shares of instances over some kinds, such as hosts: 0 for equal
/// shares, 1 for no kind in common (the total variation distance); 0 if a side has no known kind.
pub(in crate::judge) fn imbalance<K: Ord>(kinds: [Vec<K>; 2]) -> f64 {
    if kinds.iter().any(Vec::is_empty) {
        return 0.0;
    }
    let share = |side: &[K], kind: &K| {
        as_f64(side.iter().filter(|it| *it == kind).count()) / as_f64(side.len())
    };
    let all: BTreeSet<&K> = kinds.iter().flatten().collect();
    let differences = all
        .iter()
        .map(|kind| (share(&kinds[0], kind) - share(&kinds[1], kind)).abs());
    differences.sum::<f64>() / 2.0
}

#[cfg(test)]
mod tests;
