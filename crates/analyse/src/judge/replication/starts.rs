//! The steady state of the sides of a comparison: detected per side, and the largest start applies to all.

use std::collections::{BTreeMap, BTreeSet};

use super::super::sides::are_apart;
use crate::clean::{
    BurnInSource, CleaningPolicy, CleaningRules, SteadyFrom, SteadyStart, burn_in_metric, found_in,
};
use crate::sample::{BenchmarkData, Sample, Setting, SidePlace};

/// Identifies a sample of a benchmark.
type SampleKey = (SidePlace, Setting);

fn key_of(sample: &Sample<'_>) -> SampleKey {
    (sample.place.clone(), sample.setting.clone())
}

/// The steady-state starts of the samples of one benchmark.
#[derive(Debug, Clone, Default)]
struct SampleStarts {
    /// Whether burn-in is detected at all.
    is_found: bool,
    /// The start of each sample by itself.
    samples: BTreeMap<SampleKey, SteadyStart>,
}

impl SampleStarts {
    fn of(all: &Sample<'_>, samples: &[Sample<'_>]) -> Self {
        let metric = burn_in_metric(all);
        let found = samples
            .iter()
            .map(|sample| (key_of(sample), found_in(sample, metric.as_deref())));
        Self {
            is_found: true,
            samples: found.collect(),
        }
    }

    fn add(&mut self, other: Self) {
        self.is_found |= other.is_found;
        self.samples.extend(other.samples);
    }

    /// Returns the start from which a sample is analysed: the largest of all, so that the same part of every sample is
    /// compared. A sample that never reaches a steady state is excluded.
    fn of_sample(&self, sample: &Sample<'_>) -> SteadyStart {
        let of_sample = self.samples.get(&key_of(sample)).copied();
        let of_sample = of_sample.unwrap_or((SteadyFrom::Recorded, BurnInSource::Recorded));
        if of_sample.0 == SteadyFrom::Never {
            return of_sample;
        }
        let starts = self
            .samples
            .values()
            .filter_map(|(from, source)| match from {
                SteadyFrom::Index(start) => Some((*start, source.wanted().unwrap_or(*start))),
                SteadyFrom::Recorded | SteadyFrom::Never | SteadyFrom::Unknown => None,
            });
        let largest = starts.reduce(|one, other| (one.0.max(other.0), one.1.max(other.1)));
        match largest {
            Some((start, wanted)) => {
                let wanted = Some(wanted).filter(|wanted| *wanted > start);
                (SteadyFrom::Index(start), BurnInSource::Found { wanted })
            }
            None => of_sample,
        }
    }
}

/// The steady-state starts of the benchmarks of all sides, detected before any is judged: needed if a benchmark is in
/// several places, because the sides are in different stores or suites.
#[derive(Debug, Clone, Default)]
pub(in crate::judge) struct SideStarts {
    benchmarks: BTreeMap<(String, String), SampleStarts>,
    /// The suites of each side.
    suites: BTreeMap<usize, BTreeSet<String>>,
}

impl SideStarts {
    pub(in crate::judge) fn add(
        &mut self,
        data: &BenchmarkData,
        rules: &CleaningRules,
        samples: &[Sample<'_>],
    ) {
        for sample in samples {
            let suites = self.suites.entry(sample.place.side).or_default();
            if !suites.contains(&data.suite) {
                suites.insert(data.suite.clone());
            }
        }
        let all = Sample::of_all(data);
        let is_found = match rules.start(&all) {
            None => true,
            // If detection is planned for another side, it applies to all.
            Some((SteadyFrom::Recorded, _)) => false,
            Some(_) => return,
        };
        let starts = SampleStarts {
            is_found,
            ..SampleStarts::of(&all, samples)
        };
        let key = (data.suite.clone(), data.benchmark.id.clone());
        self.benchmarks.entry(key).or_default().add(starts);
    }

    /// Matches benchmarks as the comparison does, after all are known.
    pub(in crate::judge) fn match_benchmarks(&mut self, count: usize) {
        let suites = |side: usize| self.suites.get(&side).cloned().unwrap_or_default();
        let suites: Vec<BTreeSet<String>> = (0..count).map(suites).collect();
        if !are_apart(&suites) {
            return;
        }
        let mut by_id: BTreeMap<String, SampleStarts> = BTreeMap::new();
        for ((_, id), starts) in &self.benchmarks {
            by_id.entry(id.clone()).or_default().add(starts.clone());
        }
        for ((_, id), starts) in &mut self.benchmarks {
            if let Some(all) = by_id.get(id) {
                starts.clone_from(all);
            }
        }
    }

    fn of(&self, data: &BenchmarkData) -> Option<&SampleStarts> {
        let key = (data.suite.clone(), data.benchmark.id.clone());
        self.benchmarks.get(&key).filter(|it| it.is_found)
    }
}

/// The cleaning policies of the samples of one benchmark.
pub(in crate::judge) struct SamplePolicies<'a> {
    rules: &'a CleaningRules,
    start: StartOfSamples,
}

enum StartOfSamples {
    Alike(SteadyStart),
    BySample(SampleStarts),
}

impl<'a> SamplePolicies<'a> {
    pub fn of(
        data: &BenchmarkData,
        rules: &'a CleaningRules,
        samples: &[Sample<'_>],
        looked_up: Option<&SideStarts>,
    ) -> Self {
        let known = looked_up.and_then(|starts| starts.of(data));
        let all = Sample::of_all(data);
        let start = match (rules.start(&all), known) {
            (None, None) => StartOfSamples::BySample(SampleStarts::of(&all, samples)),
            (None | Some((SteadyFrom::Recorded, _)), Some(known)) => {
                StartOfSamples::BySample(known.clone())
            }
            (Some(start), _) => StartOfSamples::Alike(start),
        };
        Self { rules, start }
    }

    pub fn of_sample(&self, sample: &Sample<'_>) -> (CleaningPolicy, BurnInSource) {
        let (from, source) = match &self.start {
            StartOfSamples::Alike(start) => *start,
            StartOfSamples::BySample(starts) => starts.of_sample(sample),
        };
        (self.rules.policy_from(from), source)
    }
}
