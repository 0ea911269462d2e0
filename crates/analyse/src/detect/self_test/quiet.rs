//! Replays without a change: what is found in them is false.

use std::ops::RangeInclusive;

use lapwing_stats::Seed;
use rayon::prelude::*;

use super::super::finding::Finding;
use super::super::options::DetectOptions;
use super::super::search::{Detection, detect};
use super::JUDGED_NIGHTS;
use super::counts::AlarmCount;
use super::replay::{Replay, ReplaySource};

/// The alarms of all replays.
pub(super) struct QuietAlarms {
    pub(super) suites: Vec<AlarmCount>,
    pub(super) series: Vec<AlarmCount>,
}

/// Something that was reported before.
struct ReportedChange {
    suite: usize,
    /// `None` for what the whole suite shares.
    series: Option<usize>,
    range: RangeInclusive<usize>,
}

/// Judges so many replays in each of [`JUDGED_NIGHTS`] nights, and counts what is new in it, by the rule of `--notify`:
/// each change once.
pub(super) fn quiet(
    source: &ReplaySource,
    options: &DetectOptions,
    seed: Seed,
    replays: usize,
) -> QuietAlarms {
    let counted = (0..replays).into_par_iter().map(|number| {
        let seed = seed.split(&format!("quiet {number}"));
        alarms_of(source, &source.replay(seed, None), options)
    });
    counted.reduce(|| QuietAlarms::none(source), QuietAlarms::and)
}

/// Counts what is new in each night of one replay.
pub(super) fn alarms_of(
    source: &ReplaySource,
    replay: &Replay,
    options: &DetectOptions,
) -> QuietAlarms {
    let mut alarms = QuietAlarms::none(source);
    let mut reported = Reported {
        source,
        findings: Vec::new(),
        suspicions: Vec::new(),
    };
    let before = detect(&replay.after(0), options);
    reported.add(&before, &mut QuietAlarms::none(source));
    for night in 1..=JUDGED_NIGHTS {
        reported.add(&detect(&replay.after(night), options), &mut alarms);
    }
    for count in alarms.suites.iter_mut().chain(&mut alarms.series) {
        count.nights = JUDGED_NIGHTS;
    }
    alarms
}

impl QuietAlarms {
    fn none(source: &ReplaySource) -> Self {
        Self {
            suites: vec![AlarmCount::default(); source.suites.len()],
            series: vec![AlarmCount::default(); source.series.len()],
        }
    }

    fn and(self, other: Self) -> Self {
        let both = |one: Vec<AlarmCount>, other: Vec<AlarmCount>| {
            let pairs = one.into_iter().zip(other);
            pairs.map(|(one, other)| one.and(other)).collect()
        };
        Self {
            suites: both(self.suites, other.suites),
            series: both(self.series, other.series),
        }
    }
}

/// The changes that were reported in earlier nights.
struct Reported<'s> {
    source: &'s ReplaySource,
    findings: Vec<ReportedChange>,
    suspicions: Vec<ReportedChange>,
}

impl Reported<'_> {
    /// Counts what is new.
    fn add(&mut self, detection: &Detection, alarms: &mut QuietAlarms) {
        for group in &detection.groups {
            let members = || group.findings.iter().map(|at| &detection.findings[*at]);
            if group.is_shared {
                let is_open = members().any(Finding::is_open);
                let Some(first) = members().next().filter(|_| is_open) else {
                    continue;
                };
                let change = self.change(first, true, group.range.clone());
                let suite = change.suite;
                if is_new(&mut self.findings, change) {
                    alarms.suites[suite].alarms += 1;
                }
                continue;
            }
            for finding in members().filter(|finding| finding.is_open()) {
                let change = self.change(finding, false, finding.range.clone());
                let suite = change.suite;
                if is_new(&mut self.findings, change) {
                    alarms.suites[suite].alarms += 1;
                    alarms.series[finding.series].alarms += 1;
                }
            }
        }
        for suspicion in &detection.suspicions {
            let finding = &suspicion.finding;
            let is_shared = suspicion.histories > 1;
            let change = self.change(finding, is_shared, finding.range.clone());
            let suite = change.suite;
            if is_new(&mut self.suspicions, change) {
                alarms.suites[suite].suspicions += 1;
                if !is_shared {
                    alarms.series[finding.series].suspicions += 1;
                }
            }
        }
    }

    fn change(
        &self,
        finding: &Finding,
        is_shared: bool,
        range: RangeInclusive<usize>,
    ) -> ReportedChange {
        ReportedChange {
            suite: self.source.series[finding.series].suite,
            series: (!is_shared).then_some(finding.series),
            range,
        }
    }
}

/// Returns whether a change was not reported before, and remembers it.
fn is_new(reported: &mut Vec<ReportedChange>, change: ReportedChange) -> bool {
    let is_same = |known: &ReportedChange| {
        let of_same = match (known.series, change.series) {
            (Some(known), Some(series)) => known == series,
            (None, _) => known.suite == change.suite,
            (Some(_), None) => false,
        };
        of_same
            && known.range.start() <= change.range.end()
            && change.range.start() <= known.range.end()
    };
    let is_new = !reported.iter().any(is_same);
    reported.push(change);
    is_new
}
