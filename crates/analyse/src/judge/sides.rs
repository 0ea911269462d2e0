//! The samples of all sides of a comparison, gathered benchmark by benchmark.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_stats::{Confidence, Seed, SuiteRatio};
use rayon::prelude::*;

use super::compare::{CompareOptions, Comparison, SideSample, compare, obstacle};
use super::decide::decide;
use super::descriptive::DescriptiveRatio;
use super::earlier::{EarlierComparisons, LARGEST_FAMILY};
use super::metrics::{FIRST, MetricChoice, metric};
use super::pool::tell_drifts;
use super::replication::environments::{SideEnvironment, UnintendedDifference, unintended};
use super::replication::pairs::{ComparedPair, GatheredSamples};
use super::replication::side_sample::halves;
use super::replication::starts::{SamplePolicies, SideStarts};
use super::replication::together::keep_together;
use super::replication::unit::HOSTS;
use super::session_knowledge::SessionKnowledge;
use super::suite::{SuiteMember, described_suite_ratio, suite_ratio};
use super::verdict::VerdictReason;
use crate::clean::{Audit, BenchmarkAudit, CleaningRules, plans_any_auto};
use crate::sample::{
    BenchmarkData, ComparedSides, GroupBy, Sample, SampleFilter, Setting, SidePlace, Subject,
    samples,
};
use lapwing_model::{Id, JudgeLimits, JudgeSettings, JudgedFrom, MetricName};
use lapwing_record::{InstanceData, StoreError};

/// The split of one sample in two, as a control without a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SampleSplit {
    /// The first half in order of measurement against the second, which has the odd instance: also shows drift.
    Halves,
    /// Alternating instances in order of measurement.
    Alternating,
}

impl SampleSplit {
    /// Returns the names of the two parts of a side.
    pub fn part_names(self, side: &str) -> [String; 2] {
        let parts = match self {
            Self::Halves => ["first half", "second half"],
            Self::Alternating => ["odd", "even"],
        };
        parts.map(|part| format!("{side} ({part})"))
    }
}

/// The samples of all sides, by what is compared.
#[derive(Debug, Clone, Default)]
pub struct SideSamples {
    count: usize,
    /// The names of the sides in the audit; empty for one sample that is split in two.
    names: Vec<String>,
    /// The group of each side.
    groups: Vec<usize>,
    split: Option<SampleSplit>,
    starts: Option<SideStarts>,
    /// By what is compared and by group.
    samples: BTreeMap<(Subject, usize), GatheredSamples>,
    audit: Audit,
    /// Comparisons within earlier sessions of a few benchmarks.
    earlier: EarlierComparisons,
    /// The environments of each side.
    environments: Vec<SideEnvironment>,
    /// The metrics that are not compared.
    unused: BTreeSet<MetricName>,
    /// Whether all sides are files.
    are_files: bool,
    /// The sample of a setting that a side does not have.
    nothing: SideSample,
}

/// The result of a suite by one metric.
#[derive(Debug, Clone, PartialEq)]
pub struct SuiteComparison {
    /// The suite.
    pub suite: String,
    /// The metric.
    pub metric: MetricName,
    /// The name of the baseline.
    pub baseline: String,
    /// The name of the candidate.
    pub candidate: String,
    /// The setting, if one side has a single setting and the other has several, each with a mean of its own. `None`
    /// for the mean of everything else.
    pub setting: Option<String>,
    /// The geometric mean of the ratios of its benchmarks.
    pub ratio: SuiteRatio,
    /// Whether these ratios are descriptive: of too few instances for a verdict.
    pub is_descriptive: bool,
}

/// The kind of ratios in a geometric mean of a suite.
#[derive(Default)]
struct SuiteMembers<'a> {
    /// The benchmarks with a ratio.
    judged: Vec<SuiteMember<'a>>,
    /// The ratios of those with too few instances for a verdict.
    described: Vec<DescriptiveRatio>,
}

impl SideSamples {
    /// Returns empty samples of sides with these names, the baseline first.
    pub fn new(names: Vec<String>) -> Self {
        Self {
            count: names.len(),
            groups: vec![0; names.len()],
            names,
            ..Self::default()
        }
    }

    /// Forgets blocks and sessions where the sides share three or more hosts, so that these are pairs. Returns the
    /// number of benchmarks and metrics where they do not.
    pub fn pair_by_host(&mut self) -> usize {
        let mut left = 0;
        for gathered in self.samples.values_mut() {
            let sides = gathered.sides.iter();
            let measured = sides.filter(|side| side.iter().any(is_there));
            let hosts: Vec<BTreeSet<String>> = measured.map(|side| hosts_of(side)).collect();
            let shared = hosts.iter().cloned().reduce(|one, other| &one & &other);
            if shared.is_some_and(|shared| shared.len() >= HOSTS) {
                let all = gathered.sides.iter_mut().flatten();
                all.for_each(SideSample::forget_blocks);
            } else if hosts.len() > 1 {
                left += 1;
            }
        }
        left
    }

    /// Returns empty samples of one sample that is split in two.
    pub fn of_split(split: SampleSplit) -> Self {
        Self {
            count: 2,
            groups: vec![0; 2],
            split: Some(split),
            ..Self::default()
        }
    }

    /// Returns the samples of the sides of a comparison, with everything that is analysed.
    ///
    /// If a benchmark may be in several places, because the sides are in different stores or suites, its steady state
    /// is detected in all of them before any is judged: the largest start applies to all.
    ///
    /// # Errors
    /// If a store cannot be read, or no benchmark passes the filter.
    pub fn gather(
        sides: &ComparedSides,
        filter: &SampleFilter,
        metrics: &MetricChoice,
        rules: &CleaningRules,
    ) -> Result<Self, StoreError> {
        let mut all = Self::new(sides.names());
        all.are_files = sides.are_files();
        if sides.are_in_several_places() && may_find(sides, rules)? {
            let mut starts = SideStarts::default();
            sides.each_benchmark(filter, |data, places_of| {
                starts.add(data, rules, &samples(data, GroupBy::Side(places_of)));
            })?;
            starts.match_benchmarks(all.count);
            all.starts = Some(starts);
        }
        sides.each_benchmark(filter, |data, places_of| {
            all.add(data, rules, metrics, places_of);
        })?;
        all.read_earlier(sides, rules)?;
        Ok(all)
    }

    /// Reads the earlier sessions of the benchmarks if these are too few to show their noise, or of different sessions.
    fn read_earlier(
        &mut self,
        sides: &ComparedSides,
        rules: &CleaningRules,
    ) -> Result<(), StoreError> {
        let mut of_metric: BTreeMap<&str, usize> = BTreeMap::new();
        for (subject, _) in self.samples.keys() {
            *of_metric.entry(&subject.metric).or_default() += 1;
        }
        let mut benchmarks: BTreeMap<(String, String), BTreeSet<MetricName>> = BTreeMap::new();
        let mut across: BTreeMap<(String, String), BTreeSet<MetricName>> = BTreeMap::new();
        for ((subject, _), gathered) in &self.samples {
            let key = (subject.suite.clone(), subject.benchmark.clone());
            let is_across = gathered.are_of_other_sessions();
            if is_across {
                let metrics = across.entry(key.clone()).or_default();
                metrics.insert(subject.metric.clone());
            }
            if is_across || of_metric[subject.metric.as_str()] <= LARGEST_FAMILY {
                let metrics = benchmarks.entry(key).or_default();
                metrics.insert(subject.metric.clone());
            }
        }
        let compared: BTreeSet<Id> = sides.sessions().into_iter().map(|(_, id)| id).collect();
        for store in sides.stores() {
            let earlier = &mut self.earlier;
            earlier.read(store, benchmarks.clone(), &compared, rules)?;
            earlier.read_suites(store, &across, &compared, rules)?;
        }
        Ok(())
    }

    /// Adds the analysed instances of a benchmark. `places_of` returns the places of an instance: none, one, or, for
    /// the baseline, one per group.
    ///
    /// If burn-in is detected, this is per side and setting, and the largest start applies to all of them.
    pub fn add(
        &mut self,
        data: &BenchmarkData,
        rules: &CleaningRules,
        metrics: &MetricChoice,
        places_of: &dyn Fn(&InstanceData) -> Vec<SidePlace>,
    ) {
        let mut samples = samples(data, GroupBy::Side(places_of));
        let apart = match self.split {
            None => keep_together(&mut samples),
            Some(_) => vec![0; samples.len()],
        };
        let policies = SamplePolicies::of(data, rules, &samples, self.starts.as_ref());
        let all = Sample::of_all(data);
        let names = metrics.of(&all);
        self.unused.extend(metrics.others(&all));
        if let Some(name) = first_of(&names, &all) {
            self.audit_samples(&samples, &policies, name);
        }
        self.environments
            .resize(self.count, SideEnvironment::default());
        for sample in &samples {
            for instance in &sample.instances {
                self.environments[sample.place.side].add(&instance.run);
            }
        }
        for place in samples.iter().map(|sample| &sample.place) {
            if place.side > 0 {
                self.groups[place.side] = place.group;
            }
        }
        for name in &names {
            let mut gathered: BTreeMap<(Subject, usize), Vec<Vec<SideSample>>> = BTreeMap::new();
            for (sample, apart) in samples.iter().zip(&apart) {
                let (policy, _) = policies.of_sample(sample);
                let subject = Subject {
                    suite: data.suite.clone(),
                    benchmark: data.benchmark.id.clone(),
                    setting: Setting {
                        variant: sample.place.variant.clone(),
                        version: sample.place.version.clone(),
                        ..Setting::default()
                    },
                    metric: name.clone(),
                };
                let sides = gathered
                    .entry((subject, sample.place.group))
                    .or_insert_with(|| vec![Vec::new(); self.count]);
                match self.split {
                    None => sides[sample.place.side].push(SideSample {
                        apart: *apart,
                        ..SideSample::of(sample, name, policy)
                    }),
                    Some(split) => {
                        let halves = halves(sample, name, policy, split);
                        for (side, half) in halves.into_iter().enumerate() {
                            sides[side].push(half);
                        }
                    }
                }
            }
            for (key, sides) in gathered {
                let metric = metric(&all, name);
                let limits = JudgeLimits::default();
                self.put(
                    key,
                    GatheredSamples {
                        metric,
                        limits,
                        sides,
                    },
                );
            }
        }
    }

    /// Adds the exclusions of each side to the audit, once per instance.
    fn audit_samples(
        &mut self,
        samples: &[Sample<'_>],
        policies: &SamplePolicies<'_>,
        metric: &str,
    ) {
        let mut seen: BTreeMap<usize, usize> = BTreeMap::new();
        for sample in samples {
            let SidePlace { side, group, .. } = sample.place;
            // The baseline may be in several groups.
            if *seen.entry(side).or_insert(group) != group {
                continue;
            }
            let (policy, source) = policies.of_sample(sample);
            let audit = BenchmarkAudit::of(sample, metric, policy, source);
            let name = self.names.get(side).cloned();
            self.audit.benchmarks.push(audit.on_side(name));
        }
    }

    fn put(&mut self, key: (Subject, usize), new: GatheredSamples) {
        let known = self.samples.entry(key).or_insert_with(|| GatheredSamples {
            metric: new.metric.clone(),
            limits: new.limits.clone(),
            sides: vec![Vec::new(); self.count],
        });
        if known.metric.better.is_none() {
            known.metric = new.metric;
        }
        let unit = &known.metric.unit;
        for (kept, new) in known.sides.iter_mut().zip(new.sides) {
            if !kept.iter().any(is_there) {
                *kept = new;
            }
            // Two files can have different units, such as milliseconds and seconds.
            for sample in kept {
                sample.convert_to(unit);
            }
        }
    }

    /// Sets what a suite file says of each benchmark and metric, apart from smallest effects if another was asked for,
    /// removes what it mutes, and returns that.
    pub fn apply_limits(&mut self, judge: &JudgeSettings, is_asked: bool) -> Vec<Subject> {
        let mut muted = Vec::new();
        self.samples.retain(|(subject, _), gathered| {
            let mut limits = judge.limits_of(&subject.benchmark, &subject.metric);
            limits.smallest_effect = limits.smallest_effect.filter(|_| !is_asked);
            gathered.metric.better = limits.better.or(gathered.metric.better);
            let is_muted = limits.mute == Some(true);
            if is_muted {
                muted.push(subject.clone());
            }
            gathered.limits = limits;
            !is_muted
        });
        muted
    }

    /// Matches benchmarks by their ids alone if no suite is on two sides, as with files of two tools. Returns the
    /// names of the suites if it did.
    pub fn match_by_id(&mut self) -> Option<Vec<String>> {
        let suites_of = |side: usize| -> BTreeSet<String> {
            let measured = self.samples.iter();
            let measured = measured.filter(|(_, it)| it.sides[side].iter().any(is_there));
            measured
                .map(|((subject, _), _)| subject.suite.clone())
                .collect()
        };
        let suites: Vec<BTreeSet<String>> = (0..self.count).map(suites_of).collect();
        if !are_apart(&suites) {
            return None;
        }
        let all: BTreeSet<String> = suites.into_iter().flatten().collect();
        let names: Vec<String> = all.into_iter().collect();
        let title = names.join(", ");
        for ((mut subject, group), gathered) in std::mem::take(&mut self.samples) {
            subject.suite.clone_from(&title);
            self.put((subject, group), gathered);
        }
        Some(names)
    }

    /// Matches the benchmarks of files that have one each, under different names: they are what is compared. Returns
    /// their names if it did.
    pub fn match_only_ones(&mut self) -> Option<Vec<String>> {
        let only_of = |side: usize| {
            let measured = self.samples.iter();
            let measured = measured.filter(|(_, it)| it.sides[side].iter().any(is_there));
            let mut names = measured.map(|((subject, _), _)| subject.benchmark.as_str());
            let first = names.next()?;
            names.all(|name| name == first).then(|| first.to_owned())
        };
        let names: Vec<String> = (0..self.count).map(only_of).collect::<Option<_>>()?;
        if !self.are_files || names.iter().all(|name| *name == names[0]) {
            return None;
        }
        let title = names.join(" → ");
        for ((mut subject, group), gathered) in std::mem::take(&mut self.samples) {
            subject.benchmark.clone_from(&title);
            self.put((subject, group), gathered);
        }
        Some(names)
    }

    /// Returns what differs between the environments of the first side and another, and was not asked for.
    pub fn unintended_differences(&self, candidate: usize) -> Vec<UnintendedDifference> {
        match (self.environments.first(), self.environments.get(candidate)) {
            (Some(baseline), Some(candidate)) => unintended([baseline, candidate]),
            (_, _) => Vec::new(),
        }
    }

    /// Returns the exclusions, by each benchmark's first metric.
    pub fn into_audit(self) -> Audit {
        self.audit
    }

    /// Returns the comparison of every candidate with the first side, with verdicts, by suite, benchmark, setting,
    /// metric and candidate.
    pub fn compare(&self, names: &[String], options: &CompareOptions) -> Vec<Comparison> {
        let pairs = self.pairs(names);
        let mut comparisons: Vec<Comparison> = pairs
            .par_iter()
            .map(|pair| {
                let mut comparison = compare(
                    pair.subject.clone(),
                    pair.metric.clone(),
                    pair.names,
                    pair.sides,
                    options,
                );
                comparison.limit(pair.limits);
                comparison
            })
            .collect();
        decide(&mut comparisons, &self.earlier, options);
        for comparison in &mut comparisons {
            comparison.are_files = self.are_files;
        }
        tell_missing_metrics(&mut comparisons);
        comparisons
    }

    /// Adds cautions to these comparisons of [`SideSamples::compare`] where what a side pools drifts.
    pub fn tell_drifts(&self, comparisons: &mut [Comparison], names: &[String], seed: Seed) {
        tell_drifts(comparisons, &self.pairs(names), seed);
    }

    /// Returns the benchmarks that are in no comparison, because no side has a value or a failure of them.
    pub fn unused_benchmarks(&self, names: &[String]) -> BTreeSet<String> {
        let mut unused: BTreeSet<String> = (self.samples.keys())
            .map(|(subject, _)| subject.benchmark.clone())
            .collect();
        for pair in self.pairs(names) {
            unused.remove(&pair.subject.benchmark);
        }
        unused
    }

    /// Returns the metrics that are measured and not compared.
    pub fn unused_metrics(&self) -> &BTreeSet<MetricName> {
        &self.unused
    }

    /// Returns the benchmarks of which a side has no analysed data by any metric, for each candidate; and whether that
    /// side is the candidate.
    pub fn lacking(&self, names: &[String]) -> Vec<(String, bool)> {
        let pairs = self.pairs(names);
        let mut counts: BTreeMap<(&str, &str, &Setting, usize), [bool; 2]> = BTreeMap::new();
        for pair in &pairs {
            let Subject {
                suite,
                benchmark,
                setting,
                ..
            } = &pair.subject;
            let key = (suite.as_str(), benchmark.as_str(), setting, pair.candidate);
            let has = counts.entry(key).or_default();
            for (has, side) in has.iter_mut().zip(pair.sides) {
                *has |= !side.cleaned.instances.is_empty();
            }
        }
        let lacking = counts.into_iter().filter(|(_, has)| *has != [true, true]);
        lacking
            .map(|((_, benchmark, ..), has)| (benchmark.to_owned(), has == [true, false]))
            .collect()
    }

    /// Returns the geometric mean of the ratios of each suite of two benchmarks or more, for each metric and
    /// candidate. Benchmarks without a ratio are excluded: different epochs or units on the two sides, or too few
    /// instances for a verdict. If that is so for all but one, the mean is of the descriptive ratios.
    pub fn suites(&self, names: &[String], confidence: Confidence) -> Vec<SuiteComparison> {
        type Key<'a> = (&'a str, bool, &'a str, usize, Option<Setting>);
        let pairs = self.pairs(names);
        let mut suites: BTreeMap<Key<'_>, SuiteMembers<'_>> = BTreeMap::new();
        let mut known = SessionKnowledge::of(&self.earlier);
        for pair in &pairs {
            let subject = &pair.subject;
            let metric = subject.metric.as_str();
            let key = (
                subject.suite.as_str(),
                metric != FIRST,
                metric,
                pair.candidate,
                pair.is_shared.then(|| subject.setting.clone()),
            );
            let members = suites.entry(key).or_default();
            match obstacle(pair.sides) {
                None => {
                    let member = SuiteMember::of(pair.sides, subject, &mut known, confidence);
                    members.judged.extend(member);
                }
                Some(VerdictReason::FewInstances) => {
                    let ratio = DescriptiveRatio::of(pair.sides, confidence);
                    members.described.extend(ratio);
                }
                // A benchmark without a ratio adds nothing to the mean.
                Some(_) => {}
            }
        }
        let means = suites.into_iter().filter_map(|(key, members)| {
            let (suite, _, metric, candidate, setting) = key;
            let is_descriptive = members.judged.len() < 2;
            let ratio = match is_descriptive {
                false => suite_ratio(&members.judged, confidence),
                true if members.described.len() < 2 => None,
                true => described_suite_ratio(&members.described, confidence),
            };
            Some(SuiteComparison {
                suite: suite.to_owned(),
                metric: metric.to_owned(),
                baseline: names[0].clone(),
                candidate: names[candidate].clone(),
                setting: setting.and_then(|setting| setting.text()),
                ratio: ratio?,
                is_descriptive,
            })
        });
        means.collect()
    }

    /// Returns the samples of two sides, of one setting each.
    #[cfg(test)]
    pub(super) fn of_two(
        samples: impl IntoIterator<Item = (Subject, lapwing_model::Metric, [SideSample; 2])>,
    ) -> Self {
        let mut all = Self::new(vec!["old".to_owned(), "new".to_owned()]);
        for (subject, metric, sides) in samples {
            let sides = sides.map(|side| vec![side]).into();
            let limits = JudgeLimits::default();
            all.put(
                (subject, 0),
                GatheredSamples {
                    metric,
                    limits,
                    sides,
                },
            );
        }
        all
    }

    /// Returns samples whose sides are rearranged: of each subject without levels, the settings of all sides.
    pub(super) fn with_sides(&self, rearrange: impl Fn(&Subject, &mut [Vec<SideSample>])) -> Self {
        let mut all = self.clone();
        for ((subject, _), gathered) in &mut all.samples {
            rearrange(subject, &mut gathered.sides);
        }
        all
    }

    /// Pairs every candidate with the first side, per setting.
    pub(super) fn pairs<'a>(&'a self, names: &'a [String]) -> Vec<ComparedPair<'a>> {
        let mut pairs = Vec::new();
        for ((subject, group), gathered) in &self.samples {
            for candidate in (1..self.count).filter(|&it| self.groups[it] == *group) {
                pairs.extend(gathered.pairs(subject, candidate, names, &self.nothing));
            }
        }
        pairs.sort_by(ComparedPair::in_order);
        pairs
    }
}

/// A side that has the benchmark but not the metric has measured the benchmark, and is reported so.
fn tell_missing_metrics(comparisons: &mut [Comparison]) {
    let key = |it: &Comparison| {
        let Subject {
            suite,
            benchmark,
            setting,
            metric: _,
        } = it.subject.clone();
        (suite, benchmark, setting, it.candidate.clone())
    };
    let measured: [BTreeSet<_>; 2] = [
        |it: &Comparison| it.baseline_estimate.is_some(),
        |it: &Comparison| it.candidate_estimate.is_some(),
    ]
    .map(|is_there| {
        comparisons
            .iter()
            .filter(|it| is_there(it))
            .map(key)
            .collect()
    });
    for comparison in comparisons {
        let side = match comparison.reason {
            Some(VerdictReason::NoBaseline) => 0,
            Some(VerdictReason::NoCandidate) => 1,
            _ => continue,
        };
        if measured[side].contains(&key(comparison)) {
            comparison.reason = Some(VerdictReason::NothingLeft { failures: 0 });
        }
    }
}

/// Returns the first of these metrics that a benchmark has, else the first of all.
fn first_of<'n>(names: &'n [MetricName], sample: &Sample<'_>) -> Option<&'n MetricName> {
    let has = |name: &&MetricName| {
        sample.instances.iter().any(|it| {
            it.iterations.values.contains_key(*name)
                || it.summaries.iter().any(|summary| summary.metric == **name)
        })
    };
    names.iter().find(has).or(names.first())
}

/// Returns whether a side has no suite in common with the first, such as files of two tools.
pub(super) fn are_apart(suites: &[BTreeSet<String>]) -> bool {
    let Some((baseline, others)) = suites.split_first() else {
        return false;
    };
    let apart = |other: &BTreeSet<String>| !other.is_empty() && other.is_disjoint(baseline);
    !baseline.is_empty() && others.iter().any(apart)
}

fn is_there(sample: &SideSample) -> bool {
    sample.recorded_instances > 0
}

fn hosts_of(side: &[SideSample]) -> BTreeSet<String> {
    let origins = side.iter().flat_map(|it| &it.origins);
    origins.filter_map(|it| it.host.clone()).collect()
}

/// Returns whether the steady state of a benchmark may have to be detected.
fn may_find(sides: &ComparedSides, rules: &CleaningRules) -> Result<bool, StoreError> {
    match rules.burn_in.others {
        Some(JudgedFrom::Auto) => return Ok(true),
        Some(JudgedFrom::Index(_)) | None => return Ok(false),
        Some(JudgedFrom::Recorded) => {}
    }
    for (store, session) in sides.sessions() {
        if plans_any_auto(&store.catalogue().session(&session.to_string())?) {
            return Ok(true);
        }
    }
    Ok(false)
}
