//! What a comparison does with a user's own measurements where nothing changed: A/A pairs made of both sides.
//!
//! The effect of the sides is removed, sessions, blocks, hosts or instances are shuffled between them, whatever is the
//! unit of replication, and [`SideSamples::compare`] judges the result as it judges the original: without a change, and
//! with a slowdown in one benchmark.

mod found_count;
mod shuffle;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use lapwing_stats::Seed;
use rayon::prelude::*;

pub use self::found_count::FoundCount;
use self::shuffle::{PlantedSlowdown, Shuffled, rearrange};
use super::compare::{CompareMethod, CompareOptions, Comparison};
use super::sides::SideSamples;
use super::{Caution, ReplicationUnit, Verdict};
use crate::sample::Subject;

/// The comparisons that all replays may have together: a bound on the time.
const JUDGED_COMPARISONS: usize = 40_000;

/// The error rates of a comparison on a user's own measurements.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CompareSelfTest {
    /// In how many A/A pairs of the whole suite anything was told: a regression, an improvement, or a change of a metric
    /// without direction.
    pub alarms: FoundCount,
    /// The comparisons that were replayed.
    pub rows: Vec<ComparedRates>,
    /// Number of comparisons that were not: without a ratio, of duets, or of settings that are in several comparisons.
    pub left_out: usize,
    /// Number of comparisons of different sessions, one of a side: how much sessions differ is not in the rates.
    pub within_sessions: usize,
    /// Number of different A/A pairs of the benchmark with the fewest.
    pub pairs: f64,
}

/// The error rates of one comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedRates {
    /// Its subject.
    pub subject: Subject,
    /// The unit that was shuffled.
    pub unit: ReplicationUnit,
    /// Whether it was shuffled within pairs.
    pub is_paired: bool,
    /// The numbers of units of the two sides.
    pub units: [usize; 2],
    /// In how many A/A pairs it told anything.
    pub alarms: FoundCount,
    /// By slowdown, in how many a slowdown of this benchmark alone was a regression.
    pub found: Vec<FoundCount>,
}

/// Returns what [`SideSamples::compare`] of two sides with these options does on A/A pairs made of their measurements.
///
/// Of each side its mean is subtracted on logarithms, and what remains is enlarged by √(n / (n − 1)) for n units.
/// Pairs are swapped by chance, and other units change sides by chance so that each side keeps its number; those of
/// one session, block or host go together in all benchmarks. Iterations move with their instance. As only what was
/// measured is shuffled, nothing that all of it shares is in the rates: with a single session per side, how much
/// sessions differ.
pub fn self_test(
    samples: &SideSamples,
    names: &[String],
    options: &CompareOptions,
    slowdowns: &[f64],
) -> CompareSelfTest {
    self_test_within(JUDGED_COMPARISONS, samples, names, options, slowdowns)
}

/// The same with so many comparisons in all.
fn self_test_within(
    judged: usize,
    samples: &SideSamples,
    names: &[String],
    options: &CompareOptions,
    slowdowns: &[f64],
) -> CompareSelfTest {
    let comparisons = samples.compare(names, options);
    let designs: BTreeMap<Subject, Shuffled> = comparisons
        .iter()
        .filter_map(|it| Some((it.subject.clone(), Shuffled::of(it)?)))
        .collect();
    let all = comparisons.len();
    let one_session = |it: &&Comparison| {
        designs.contains_key(&it.subject) && it.cautions.contains(&Caution::OneSession)
    };
    let shuffle = |seed: Seed, planted: Option<PlantedSlowdown<'_>>| {
        let replay = samples.with_sides(|subject, sides| {
            rearrange(subject, sides, &designs, seed, planted);
        });
        replay.compare(names, options)
    };
    let subjects: Vec<&Subject> = designs.keys().collect();
    let number = subjects.len();
    let mut test = CompareSelfTest {
        left_out: all - number,
        within_sessions: comparisons.iter().filter(one_session).count(),
        pairs: designs
            .values()
            .map(|it| it.pairs())
            .fold(f64::INFINITY, f64::min),
        ..CompareSelfTest::default()
    };
    if subjects.is_empty() {
        return test;
    }
    let judged = judged / options.method.effort() / number;
    let quiet = (judged * 2 / 5).clamp(20, 2000);
    let planted = (judged * 3 / 5 / slowdowns.len().max(1)).clamp(20, 200 * number);
    let seed_of = |label: &str, at: usize| options.seed.split(&format!("self-test {label} {at}"));
    let quiet: Vec<Vec<bool>> = (0..quiet)
        .into_par_iter()
        .map(|at| told(&subjects, &shuffle(seed_of("quiet", at), None)))
        .collect();
    for of_pair in &quiet {
        test.alarms.add(of_pair.contains(&true));
    }
    let mut found = vec![vec![FoundCount::default(); slowdowns.len()]; number];
    for (at, factor) in slowdowns.iter().enumerate() {
        let results: Vec<bool> = (0..planted)
            .into_par_iter()
            .map(|replay| {
                let subject = subjects[replay % number];
                let factor = *factor;
                let planted = PlantedSlowdown { subject, factor };
                let comparisons = shuffle(seed_of("slower", replay), Some(planted));
                told(&[subject], &comparisons)[0]
            })
            .collect();
        for (replay, is_found) in results.into_iter().enumerate() {
            found[replay % number][at].add(is_found);
        }
    }
    let rows = subjects.iter().zip(found).enumerate();
    test.rows = rows
        .map(|(at, (subject, found))| {
            let Shuffled {
                unit,
                is_paired,
                units,
            } = designs[*subject];
            let mut alarms = FoundCount::default();
            quiet.iter().for_each(|of_pair| alarms.add(of_pair[at]));
            ComparedRates {
                subject: (*subject).clone(),
                unit,
                is_paired,
                units,
                alarms,
                found,
            }
        })
        .collect();
    test
}

/// Returns of each subject whether its comparison tells a change.
fn told(subjects: &[&Subject], comparisons: &[Comparison]) -> Vec<bool> {
    let is_told = |it: &Comparison| {
        matches!(it.verdict, Verdict::Regression | Verdict::Improvement)
            || it.metric.better.is_none() && it.has_changed()
    };
    let of = |subject: &Subject| comparisons.iter().find(|it| it.subject == *subject);
    let told = subjects
        .iter()
        .map(|subject| of(subject).is_some_and(is_told));
    told.collect()
}

impl CompareMethod {
    /// Returns about how many times as long as the default it takes.
    fn effort(self) -> usize {
        match self {
            Self::BootstrapT | Self::Bca | Self::Hierarchical | Self::Permutation => 30,
            Self::Default
            | Self::Welch
            | Self::Student
            | Self::Paired
            | Self::Fieller
            | Self::MannWhitney
            | Self::BrunnerMunzel => 1,
        }
    }
}
