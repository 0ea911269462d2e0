//! What recorded surroundings, such as the host, add to the values of a history: taken out before changes are looked
//! for.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_stats::changepoint::{category_effects, expected_effects};
use lapwing_stats::{as_f64, median};
use rayon::prelude::*;

use super::finding::Finding;
use super::series::{FAILURES, Histories, HistorySeries};
use super::shared::{MEMBERS, NORMAL_DEVIATION};
use super::size::ChangeSize;
use crate::sample::is_volatile;

/// No more surroundings than this are taken out of a history.
const MOST: usize = 3;
/// Of more surroundings that differ only the first are looked at.
const CANDIDATES: usize = 16;
/// An effect farther from that on other series than so many robust standard deviations is more than an effect.
const FAR: f64 = 3.0;
/// Surroundings of the machine and its system. They explain a change even if they changed only once, at its place; of
/// all others, such as packages, a change may be the cause that people look for.
const MACHINE: [&str; 32] = [
    "host",
    "branch",
    "measured with",
    "instance_type",
    "machine",
    "machine_type",
    "node",
    "runner",
    "image",
    "cpu",
    "cpu_model",
    "cpu_freq",
    "cpus",
    "cores",
    "sockets",
    "smt",
    "governor",
    "frequency_driver",
    "turbo",
    "memory",
    "swap",
    "huge_pages",
    "kernel",
    "architecture",
    "arch",
    "os",
    "platform",
    "virtualisation",
    "container",
    "clock_source",
    "python",
    "python_version",
];

/// The effect of a surrounding on a history.
#[derive(Debug, Clone, PartialEq)]
pub struct SurroundingEffect {
    /// Its key, such as `host`.
    pub key: String,
    /// Each of its values with its effect in terms of the newest one: a factor, or a difference in the metric's unit if
    /// values are not all positive.
    pub effects: Vec<(String, f64)>,
    /// Its value at each point of the history.
    pub(super) values: Vec<Option<usize>>,
}

/// The histories without the effects of surroundings.
pub(super) struct WithoutSurroundings {
    pub(super) histories: Histories,
    /// The effects, by series.
    pub(super) effects: Vec<Vec<SurroundingEffect>>,
}

/// Takes out of each series what its surroundings explain; `None` if they explain nothing.
///
/// A surrounding that affects most series of a suite is expected to affect the others, too.
pub(super) fn without_surroundings(histories: &Histories) -> Option<WithoutSurroundings> {
    let keys = keys(histories);
    if keys.is_empty() {
        return None;
    }
    let all = |expected: &ExpectedEffects| -> Vec<(Vec<SurroundingEffect>, HistorySeries)> {
        let series = histories.series.par_iter();
        let taken = series.map(|series| {
            let mut left = series.clone();
            let effects = take_out(&mut left, &keys, expected);
            (effects, left)
        });
        taken.collect()
    };
    let mut of_series = all(&ExpectedEffects::default());
    let expected = ExpectedEffects::of(histories, &of_series);
    if !expected.of_suites.is_empty() || !expected.large.is_empty() {
        of_series = all(&expected);
    }
    let (effects, series): (Vec<_>, Vec<_>) = of_series.into_iter().unzip();
    let is_any = effects.iter().any(|of_series| !of_series.is_empty());
    is_any.then(|| WithoutSurroundings {
        histories: Histories {
            moments: histories.moments.clone(),
            series,
            ..Histories::default()
        },
        effects,
    })
}

impl WithoutSurroundings {
    /// Gives the levels of a finding as they were in the surroundings of its first run.
    pub(super) fn as_recorded(&self, finding: &mut Finding) {
        let points = &self.histories.series[finding.series].points;
        let point = points.partition_point(|point| point.moment < finding.first_after);
        let is_ratio = finding.size.is_ratio;
        for effect in &self.effects[finding.series] {
            let value = effect.values.get(point).copied().flatten();
            let added = value.map(|value| effect.effects[value].1);
            let added = added.map(|added| if is_ratio { added.ln() } else { added });
            finding.size = finding.size.raised(added.unwrap_or(0.0));
            for rate in &mut finding.rates {
                let raised = |level: f64| ChangeSize {
                    before: level,
                    ..finding.size
                };
                let by = added.unwrap_or(0.0);
                rate.levels = rate.levels.map(|level| raised(level).raised(by).before);
            }
        }
    }
}

/// The effects that surroundings have on most series of a suite and metric.
#[derive(Default)]
struct ExpectedEffects {
    of_suites: BTreeMap<(String, String), BTreeMap<String, ExpectedEffect>>,
    /// The suites and metrics with so many series that a surrounding which changed once explains none of them unless it
    /// does so for most.
    large: BTreeSet<(String, String)>,
}

/// The effects of the values of a surrounding on those series that it has one on.
#[derive(Default)]
struct ExpectedEffect {
    series: usize,
    of_value: BTreeMap<String, Vec<f64>>,
}

impl ExpectedEffects {
    fn of(histories: &Histories, taken: &[(Vec<SurroundingEffect>, HistorySeries)]) -> Self {
        let mut members: BTreeMap<(String, String), usize> = BTreeMap::new();
        let mut expected = Self::default();
        for (series, (effects, _)) in histories.series.iter().zip(taken) {
            let key = suite_key(series);
            *members.entry(key.clone()).or_default() += 1;
            let is_ratio = series.is_ratio();
            for effect in effects {
                let of_suite = expected.of_suites.entry(key.clone()).or_default();
                let of_key = of_suite.entry(effect.key.clone()).or_default();
                of_key.series += 1;
                for (value, size) in effect.effects.iter().filter(|_| is_ratio) {
                    let sizes = of_key.of_value.entry(value.clone()).or_default();
                    sizes.push(size.ln());
                }
            }
        }
        let large = members.iter().filter(|(_, number)| **number >= MEMBERS);
        expected.large = large.map(|(key, _)| key.clone()).collect();
        expected.of_suites.retain(|key, of_suite| {
            let all = members[key];
            of_suite.retain(|_, effect| all > 1 && 2 * effect.series >= all);
            !of_suite.is_empty()
        });
        expected
    }
}

impl ExpectedEffect {
    /// Returns the median of the effects of a value, if enough series show it.
    fn median(&self, value: &str) -> Option<f64> {
        let sizes = self.of_value.get(value)?;
        median(sizes).filter(|_| sizes.len() >= MEMBERS)
    }

    /// Returns the effect of a value that is not far from those on other series, else their median: what is beyond it
    /// is a change of the series' own.
    fn drawn_in(&self, value: &str, effect: f64) -> f64 {
        let (Some(centre), Some(sizes)) = (self.median(value), self.of_value.get(value)) else {
            return effect;
        };
        let deviations: Vec<f64> = sizes.iter().map(|size| (size - centre).abs()).collect();
        let spread = NORMAL_DEVIATION * median(&deviations).unwrap_or(0.0);
        if (effect - centre).abs() > centre.abs().max(FAR * spread) {
            centre
        } else {
            effect
        }
    }
}

fn suite_key(series: &HistorySeries) -> (String, String) {
    let subject = &series.subject;
    (subject.suite.clone(), subject.metric.clone())
}

/// A surrounding that differs: its key, and its value at each moment.
struct Key {
    key: String,
    names: Vec<String>,
    of_moment: Vec<Option<usize>>,
}

/// Returns the surroundings that differ between the moments, those of the machine first.
fn keys(histories: &Histories) -> Vec<Key> {
    let names: BTreeSet<&str> = histories
        .moments
        .iter()
        .flat_map(|moment| moment.observed.keys())
        .filter(|key| !is_volatile(key))
        .collect();
    let mut keys: Vec<Key> = names
        .into_iter()
        .filter_map(|key| {
            let mut known: BTreeMap<(String, usize), usize> = BTreeMap::new();
            let values = histories.moments.iter().map(|it| it.observed.text(key));
            let values: Vec<Option<String>> = values.collect();
            let stretches = match key {
                "branch" => stretches(&values),
                _ => vec![0; values.len()],
            };
            let values = values.into_iter();
            let of_moment: Vec<Option<usize>> = values
                .zip(stretches)
                .map(|(value, stretch)| {
                    let next = known.len();
                    Some(*known.entry((value?, stretch)).or_insert(next))
                })
                .collect();
            // A value of its own in nearly every run, such as a time, explains nothing.
            let is_of_runs = 2 * known.len() > histories.moments.len().max(3);
            (known.len() > 1 && !is_of_runs).then(|| {
                let mut names = vec![String::new(); known.len()];
                for ((name, _), at) in known {
                    names[at] = name;
                }
                Key {
                    key: key.to_owned(),
                    names,
                    of_moment,
                }
            })
        })
        .collect();
    keys.sort_by_key(|key| {
        let of_machine = MACHINE.iter().position(|it| *it == key.key);
        (of_machine.unwrap_or(MACHINE.len()), key.key.clone())
    });
    keys
}

/// Returns the number of the stretch of each value, which is 0 for the most frequent one: a branch that comes back need
/// not be what it was.
fn stretches(values: &[Option<String>]) -> Vec<usize> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for value in values.iter().flatten() {
        *counts.entry(value).or_default() += 1;
    }
    let usual = counts.iter().max_by_key(|(_, count)| **count);
    let usual = usual.map(|(value, _)| *value);
    let (mut stretch, mut before) = (0, None);
    let numbers = values.iter().map(|value| {
        let value = value.as_deref();
        if value != before {
            stretch += 1;
            before = value;
        }
        if value == usual { 0 } else { stretch }
    });
    numbers.collect()
}

/// Takes out of a series what surroundings explain: those that are expected to, and then that first which explains
/// most.
fn take_out(
    series: &mut HistorySeries,
    keys: &[Key],
    expected: &ExpectedEffects,
) -> Vec<SurroundingEffect> {
    let mut taken = Vec::new();
    if series.subject.metric == FAILURES {
        return taken;
    }
    let mut candidates = candidates(series, keys);
    let is_ratio = series.is_ratio();
    if let Some(expected) = expected.of_suites.get(&suite_key(series)) {
        candidates.retain(|(key, values)| {
            let Some(expected) = expected.get(&keys[*key].key) else {
                return true;
            };
            let found = expected_effects(&series.scaled(), values);
            if let Some(mut found) = found.filter(|found| found.gain > 0.0) {
                if is_ratio && !comes_back(values) {
                    let names = &keys[*key].names;
                    for (effect, name) in found.effects.iter_mut().zip(names) {
                        let of_others = expected.median(name).filter(|_| found.has_line);
                        *effect = of_others.unwrap_or_else(|| expected.drawn_in(name, *effect));
                    }
                }
                taken.push(SurroundingEffect::taken_out(
                    series,
                    &keys[*key],
                    values,
                    &found.effects,
                ));
            }
            false
        });
    }
    if expected.large.contains(&suite_key(series)) {
        candidates.retain(|(_, values)| comes_back(values));
    }
    let number = as_f64(candidates.len());
    while taken.len() < MOST && !candidates.is_empty() {
        let scaled = series.scaled();
        let gains = candidates.iter().enumerate();
        let gains = gains.filter_map(|(at, (_, values))| {
            let found = category_effects(&scaled, values)?;
            // Each of several had its chance.
            (found.gain > 2.0 * number.ln()).then_some((at, found))
        });
        // The first of equals.
        let best = gains.reduce(|best, next| {
            if next.1.gain > best.1.gain + 1e-9 {
                next
            } else {
                best
            }
        });
        let Some((at, found)) = best else {
            break;
        };
        let (key, values) = candidates.remove(at);
        taken.push(SurroundingEffect::taken_out(
            series,
            &keys[key],
            &values,
            &found.effects,
        ));
    }
    taken
}

/// Returns the surroundings that may explain a series, with the value at each of its points: one of those that always
/// changed together, and of what changed only once and for all those of the machine.
fn candidates(series: &HistorySeries, keys: &[Key]) -> Vec<(usize, Vec<Option<usize>>)> {
    let mut known: BTreeSet<Vec<Option<usize>>> = BTreeSet::new();
    let mut found = Vec::new();
    for (at, key) in keys.iter().enumerate() {
        let moments = series.points.iter().map(|point| point.moment);
        let values: Vec<Option<usize>> = moments.map(|moment| key.of_moment[moment]).collect();
        let different: BTreeSet<usize> = values.iter().flatten().copied().collect();
        let may_explain = is_of_machine(&key.key) || comes_back(&values);
        if different.len() > 1 && may_explain && known.insert(partition(&values)) {
            found.push((at, values));
            if found.len() == CANDIDATES {
                break;
            }
        }
    }
    found
}

/// Returns the values by the order in which they first occur: equal for surroundings that change together.
fn partition(values: &[Option<usize>]) -> Vec<Option<usize>> {
    let mut places = BTreeMap::new();
    let place = |value: &Option<usize>| {
        let next = places.len();
        value.map(|value| *places.entry(value).or_insert(next))
    };
    values.iter().map(place).collect()
}

/// Returns whether a value comes back after another.
fn comes_back(values: &[Option<usize>]) -> bool {
    let mut stretches: Vec<usize> = values.iter().flatten().copied().collect();
    stretches.dedup();
    let different: BTreeSet<usize> = stretches.iter().copied().collect();
    stretches.len() > different.len()
}

impl SurroundingEffect {
    /// Takes the effects of the values of a surrounding out of a series.
    fn taken_out(
        series: &mut HistorySeries,
        key: &Key,
        values: &[Option<usize>],
        effects: &[f64],
    ) -> Self {
        let is_ratio = series.is_ratio();
        for (point, value) in series.points.iter_mut().zip(values) {
            let effect = value.map_or(0.0, |value| effects[value]);
            point.value = if is_ratio {
                point.value / effect.exp()
            } else {
                point.value - effect
            };
        }
        let occurring: BTreeSet<usize> = values.iter().flatten().copied().collect();
        let occurring: Vec<usize> = occurring.into_iter().collect();
        let named = |at: &usize| {
            let effect = effects[*at];
            let effect = if is_ratio { effect.exp() } else { effect };
            (key.names[*at].clone(), effect)
        };
        let place = |value: &Option<usize>| value.and_then(|it| occurring.binary_search(&it).ok());
        Self {
            key: key.key.clone(),
            effects: occurring.iter().map(named).collect(),
            values: values.iter().map(place).collect(),
        }
    }

    /// Returns the newest value, in terms of which the effects are.
    pub fn newest(&self) -> Option<&str> {
        let newest = self.values.iter().rev().flatten().next()?;
        Some(&self.effects[*newest].0)
    }

    /// Returns whether the value changes at one of these places.
    pub(super) fn changes_within(&self, range: &std::ops::RangeInclusive<usize>) -> bool {
        let first = range.start().saturating_sub(1);
        let last = (*range.end()).min(self.values.len().saturating_sub(1));
        let mut places = first..last;
        places.any(|at| {
            let pair = self.values[at].zip(self.values[at + 1]);
            pair.is_some_and(|(before, after)| before != after)
        })
    }
}

/// Returns whether a surrounding is one of the machine and its system.
pub(super) fn is_of_machine(key: &str) -> bool {
    MACHINE.contains(&key)
}
