//! Where the sides of a comparison get steady: each by itself, and the largest start holds for all.

use std::collections::{BTreeMap, BTreeSet};

use super::lots::{LotKey, Lots};
use super::sides::are_apart;
use crate::clean::{BurnInSource, Decision, Policy, Rules, SteadyFrom, found_in};
use crate::record::BenchmarkData;

/// Where the lots of one benchmark get steady.
#[derive(Debug, Clone, Default)]
struct Starts {
    /// Whether their burn-in is to be found at all.
    is_found: bool,
    /// What each says by itself.
    lots: BTreeMap<LotKey, (SteadyFrom, BurnInSource)>,
}

impl Starts {
    fn of(data: &BenchmarkData, lots: &Lots) -> Self {
        let found = lots.iter();
        let found = found.map(|(key, instances)| (key.clone(), found_in(data, instances)));
        Self {
            is_found: true,
            lots: found.collect(),
        }
    }

    fn add(&mut self, other: Self) {
        self.is_found |= other.is_found;
        self.lots.extend(other.lots);
    }

    /// Returns from where a lot is judged: all of them from the largest start, so that the same part
    /// of them is compared. A lot that never gets steady stays out.
    fn of_lot(&self, key: &LotKey) -> (SteadyFrom, BurnInSource) {
        let own = self.lots.get(key).copied();
        let own = own.unwrap_or((SteadyFrom::Recorded, BurnInSource::Recorded));
        if own.0 == SteadyFrom::Never {
            return own;
        }
        let starts = self.lots.values().filter_map(|(from, source)| match from {
            SteadyFrom::Index(start) => Some((*start, source.wanted().unwrap_or(*start))),
            SteadyFrom::Recorded | SteadyFrom::Never | SteadyFrom::Unknown => None,
        });
        let largest = starts.reduce(|one, other| (one.0.max(other.0), one.1.max(other.1)));
        match largest {
            Some((start, wanted)) => {
                let wanted = Some(wanted).filter(|wanted| *wanted > start);
                (SteadyFrom::Index(start), BurnInSource::Found { wanted })
            }
            None => own,
        }
    }
}

/// Where the benchmarks of all sides get steady, looked up before any is judged: needed where a
/// benchmark is in several places, because the sides are in different stores or suites.
#[derive(Debug, Clone, Default)]
pub(super) struct SideStarts {
    benchmarks: BTreeMap<(String, String), Starts>,
    /// The suites of each side.
    suites: BTreeMap<usize, BTreeSet<String>>,
}

impl SideStarts {
    pub(super) fn add(&mut self, data: &BenchmarkData, rules: &Rules, lots: &Lots) {
        for key in lots.keys() {
            let suites = self.suites.entry(key.side).or_default();
            if !suites.contains(&data.suite) {
                suites.insert(data.suite.clone());
            }
        }
        let is_found = match rules.decision(data) {
            Decision::Find => true,
            // Another side may have been planned to be found, and then all are.
            Decision::Made(SteadyFrom::Recorded, _) => false,
            Decision::Made(_, _) => return,
        };
        let starts = Starts {
            is_found,
            ..Starts::of(data, lots)
        };
        let key = (data.suite.clone(), data.benchmark.id.clone());
        self.benchmarks.entry(key).or_default().add(starts);
    }

    /// Matches benchmarks as the comparison does once all are known.
    pub(super) fn settle(&mut self, count: usize) {
        let suites = |side: usize| self.suites.get(&side).cloned().unwrap_or_default();
        let suites: Vec<BTreeSet<String>> = (0..count).map(suites).collect();
        if !are_apart(&suites) {
            return;
        }
        let mut by_id: BTreeMap<String, Starts> = BTreeMap::new();
        for ((_, id), starts) in &self.benchmarks {
            by_id.entry(id.clone()).or_default().add(starts.clone());
        }
        for ((_, id), starts) in &mut self.benchmarks {
            if let Some(all) = by_id.get(id) {
                starts.clone_from(all);
            }
        }
    }

    fn of(&self, data: &BenchmarkData) -> Option<&Starts> {
        let key = (data.suite.clone(), data.benchmark.id.clone());
        self.benchmarks.get(&key).filter(|it| it.is_found)
    }
}

/// How each lot of one benchmark is judged.
pub(super) struct LotPolicies<'a> {
    rules: &'a Rules,
    how: How,
}

enum How {
    Alike(SteadyFrom, BurnInSource),
    ByLot(Starts),
}

impl<'a> LotPolicies<'a> {
    pub fn of(
        data: &BenchmarkData,
        rules: &'a Rules,
        lots: &Lots,
        looked_up: Option<&SideStarts>,
    ) -> Self {
        let known = looked_up.and_then(|it| it.of(data));
        let how = match (rules.decision(data), known) {
            (Decision::Find, None) => How::ByLot(Starts::of(data, lots)),
            (Decision::Find | Decision::Made(SteadyFrom::Recorded, _), Some(known)) => {
                How::ByLot(known.clone())
            }
            (Decision::Made(from, source), _) => How::Alike(from, source),
        };
        Self { rules, how }
    }

    pub fn of_lot(&self, key: &LotKey) -> (Policy, BurnInSource) {
        let (from, source) = match &self.how {
            How::Alike(from, source) => (*from, *source),
            How::ByLot(starts) => starts.of_lot(key),
        };
        (self.rules.policy_from(from), source)
    }
}
