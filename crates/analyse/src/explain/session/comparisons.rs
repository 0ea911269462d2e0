//! Comparisons of the benchmarks of one session with each other.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_model::{Better, JudgeLimits, Metric};

use super::{SessionResult, SessionResults};
use crate::judge::{CompareOptions, Comparison, SideSample, compare, decide};
use crate::sample::{Setting, Subject};

/// Two results of a session, compared.
#[derive(Debug)]
pub struct SessionComparison<'a> {
    /// The result that is the baseline.
    pub baseline: &'a SessionResult,
    /// The result that is compared with it.
    pub candidate: &'a SessionResult,
    /// Whether both are variants of one benchmark.
    pub is_of_variants: bool,
    /// The comparison with its verdict.
    pub comparison: Comparison,
}

impl SessionComparison<'_> {
    /// Returns the names of the baseline and the candidate.
    pub fn names(&self) -> [&str; 2] {
        names([self.baseline, self.candidate], self.is_of_variants)
    }
}

impl SessionResults {
    /// Returns the variants of each benchmark, each with the first one, and those of indicators also by the metrics
    /// that both reported. They are judged together, as all comparisons of a session are.
    pub fn compare_variants(&self) -> Vec<SessionComparison<'_>> {
        let pairs = self.by_benchmark().flat_map(|rows| {
            let candidates = rows[1..].iter().filter(|row| !row.is_control);
            candidates.map(|candidate| [&rows[0], candidate])
        });
        self.judged(pairs.collect(), true, 0)
    }

    /// Returns the first variant of each benchmark with its copy, if there is one.
    pub fn compare_controls(&self) -> Vec<SessionComparison<'_>> {
        let pairs = self.by_benchmark().filter_map(|rows| {
            let control = rows.iter().find(|row| row.is_control)?;
            Some([&rows[0], control])
        });
        self.judged(pairs.collect(), true, 0)
    }

    /// Returns every benchmark with the best one by the metric, which is the candidate; with a reference, every other
    /// benchmark with that one, which is the baseline. Verdicts and intervals allow for the choice of the best one.
    pub fn compare_benchmarks(&self, reference: Option<&str>) -> Vec<SessionComparison<'_>> {
        let mut rows = self.rows.iter();
        if let Some(baseline) = rows.find(|row| Some(row.benchmark.as_str()) == reference) {
            let others = self
                .rows
                .iter()
                .filter(|row| row.benchmark != baseline.benchmark);
            let pairs = others.map(|candidate| [baseline, candidate]);
            return self.judged(pairs.collect(), false, 0);
        }
        let mut ranked: Vec<(f64, &SessionResult)> = self
            .rows
            .iter()
            .filter_map(|row| {
                let value = row.compared?.value;
                let is_more_better = row.metric.better == Some(Better::Higher);
                Some((if is_more_better { -value } else { value }, row))
            })
            .collect();
        ranked.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        let pairs = match ranked.as_slice() {
            [] => Vec::new(),
            [(_, fastest), others @ ..] => others.iter().map(|(_, row)| [*row, *fastest]).collect(),
        };
        self.judged(pairs, false, ranked.len())
    }

    /// Returns what a suite file mutes by the metric of the session: it is not compared.
    pub fn muted(&self) -> Vec<Subject> {
        let muted = self.by_benchmark().filter(|rows| {
            let limits = self.limits.limits_of(&rows[0].benchmark, &self.metric);
            rows.len() > 1 && limits.mute == Some(true)
        });
        let subject = |rows: &[SessionResult]| Subject {
            suite: self.suite.clone(),
            benchmark: rows[0].benchmark.clone(),
            setting: Setting::default(),
            metric: self.metric.clone(),
        };
        muted.map(subject).collect()
    }

    fn by_benchmark(&self) -> impl Iterator<Item = &[SessionResult]> {
        self.rows
            .chunk_by(|one, other| one.benchmark == other.benchmark)
    }

    /// Returns the comparisons of a baseline and a candidate each, with their verdicts; the candidate is the best of so
    /// many, or was not chosen.
    fn judged<'a>(
        &'a self,
        pairs: Vec<[&'a SessionResult; 2]>,
        is_of_variants: bool,
        best_of: usize,
    ) -> Vec<SessionComparison<'a>> {
        let options = CompareOptions {
            smallest_effect: self.smallest_effect,
            ..CompareOptions::default()
        };
        let limits_of = |judged: &JudgedPair<'_>| {
            let benchmark = &judged.rows[0].benchmark;
            let mut limits = match is_of_variants {
                true => self.limits.limits_of(benchmark, judged.name),
                // The suite says nothing of two benchmarks.
                false => JudgeLimits::default(),
            };
            limits.smallest_effect = options.smallest_effect.or(limits.smallest_effect);
            limits
        };
        let judged: Vec<JudgedPair<'_>> = (pairs.into_iter())
            .flat_map(|pair| self.metrics_of(pair, is_of_variants))
            .filter(|judged| limits_of(judged).mute != Some(true))
            .collect();
        let compared = judged.iter().map(|judged| {
            let subject = Subject {
                suite: self.suite.clone(),
                benchmark: judged.rows[0].benchmark.clone(),
                setting: Setting::default(),
                metric: judged.name.to_owned(),
            };
            // Commands and variants are compared although they are defined differently.
            let sides = judged.sides.map(|side| SideSample {
                fingerprints: BTreeSet::new(),
                params: BTreeMap::new(),
                best_of: u32::try_from(best_of).unwrap_or(u32::MAX),
                ..side.clone()
            });
            let names = names(judged.rows, is_of_variants);
            let limits = limits_of(judged);
            let mut metric = judged.metric.clone();
            metric.better = limits.better.or(metric.better);
            let mut comparison = compare(subject, metric, names, sides.each_ref(), &options);
            comparison.limit(&limits);
            comparison
        });
        let mut comparisons: Vec<Comparison> = compared.collect();
        decide(&mut comparisons, &self.history, &options);
        let judged = judged.into_iter().zip(comparisons);
        judged
            .map(|(judged, comparison)| SessionComparison {
                baseline: judged.rows[0],
                candidate: judged.rows[1],
                is_of_variants,
                comparison,
            })
            .collect()
    }

    /// Returns two results by the metric of the session, and variants also by those of their indicator.
    fn metrics_of<'a>(
        &'a self,
        rows: [&'a SessionResult; 2],
        is_of_variants: bool,
    ) -> Vec<JudgedPair<'a>> {
        let [baseline, candidate] = rows;
        let mut judged = vec![JudgedPair {
            rows,
            name: &self.metric,
            metric: &baseline.metric,
            sides: rows.map(|row| &row.side),
        }];
        let own = baseline.own.iter().filter(|_| is_of_variants);
        judged.extend(own.filter_map(|(name, metric, side)| {
            let mut others = candidate.own.iter();
            let (.., other) = others.find(|(known, ..)| known == name)?;
            Some(JudgedPair {
                rows,
                name,
                metric,
                sides: [side, other],
            })
        }));
        judged
    }
}

/// Two results by one metric.
struct JudgedPair<'a> {
    rows: [&'a SessionResult; 2],
    name: &'a str,
    metric: &'a Metric,
    sides: [&'a SideSample; 2],
}

fn names(pair: [&SessionResult; 2], is_of_variants: bool) -> [&str; 2] {
    pair.map(|row| {
        if is_of_variants {
            row.variant.as_str()
        } else {
            row.benchmark.as_str()
        }
    })
}

#[cfg(test)]
mod tests;
