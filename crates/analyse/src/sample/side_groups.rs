//! What tells the settings of two sides apart, and what is pooled.

use std::collections::{BTreeMap, BTreeSet};

use super::filter::RunKey;
use super::group::SidePlace;
use super::side::SideKind;
use super::sides::{ComparedSide, ComparedSides};
use lapwing_model::Id;
use lapwing_record::{InstanceData, RunHead};

/// The number of sessions and versions of a side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SidePool {
    /// The name of the side.
    pub name: String,
    /// Its sessions.
    pub sessions: usize,
    /// Its known versions.
    pub versions: usize,
    /// Whether it has several versions of a suite, or conditions or files give several sessions.
    is_pool: bool,
}

impl ComparedSides {
    /// Returns the size of each side that is compared with several versions together, and of the sides that are compared
    /// with it; empty if no side is a pool.
    pub fn pools(&self) -> Vec<SidePool> {
        let Some((baseline, candidates)) = self.sides.split_first() else {
            return Vec::new();
        };
        let is_pooled = |candidate: &&ComparedSide| {
            let sides = [baseline, *candidate];
            !ToldBy::of(&sides).version && sides.iter().any(|side| side.pool().is_pool)
        };
        let candidates: Vec<&ComparedSide> = candidates.iter().filter(is_pooled).collect();
        let baseline = (!candidates.is_empty()).then_some(baseline);
        let sides = baseline.into_iter().chain(candidates);
        sides.map(ComparedSide::pool).collect()
    }
}

impl ComparedSide {
    fn pool(&self) -> SidePool {
        let sessions: BTreeSet<Id> = self.runs.iter().map(|run| run.session).collect();
        let mut of_suites: BTreeMap<&str, BTreeSet<Option<String>>> = BTreeMap::new();
        for run in &self.runs {
            let versions = of_suites.entry(&run.suite).or_default();
            versions.insert(run.version_label());
        }
        let several_versions = of_suites.values().any(|versions| versions.len() > 1);
        let is_collected = matches!(self.kind, SideKind::Query | SideKind::File);
        SidePool {
            name: self.name.clone(),
            sessions: sessions.len(),
            versions: self.versions().into_iter().flatten().count(),
            is_pool: several_versions || (is_collected && sessions.len() > 1),
        }
    }

    /// Returns its versions; `None` among them is an unknown one.
    fn versions(&self) -> BTreeSet<Option<String>> {
        self.runs.iter().map(RunHead::version_label).collect()
    }
}

/// The sets of properties that distinguish settings of the baseline and of each candidate: the same as if these two
/// were compared alone, so that a candidate does not affect the comparison of another.
pub(super) struct SettingGroups {
    /// The ways, each of some candidates.
    ways: Vec<ToldBy>,
    /// The number of each side's way; the baseline has all.
    of_side: Vec<usize>,
}

impl SettingGroups {
    pub(super) fn of(sides: &[ComparedSide]) -> Self {
        let mut groups = Self {
            ways: Vec::new(),
            of_side: vec![0],
        };
        let Some((baseline, candidates)) = sides.split_first() else {
            return groups;
        };
        if candidates.is_empty() {
            groups.ways.push(ToldBy::of(&[baseline]));
        }
        for candidate in candidates {
            let way = ToldBy::of(&[baseline, candidate]);
            let known = groups.ways.iter().position(|other| *other == way);
            groups.of_side.push(known.unwrap_or(groups.ways.len()));
            if known.is_none() {
                groups.ways.push(way);
            }
        }
        groups
    }

    /// Returns the places of an instance of a side.
    pub(super) fn places(&self, side: usize, instance: &InstanceData) -> Vec<SidePlace> {
        let ways = self.ways.iter().enumerate();
        ways.filter(|(group, _)| side == 0 || *group == self.of_side[side])
            .map(|(group, way)| SidePlace {
                group,
                variant: way.variant.then(|| instance.run.variant.clone()),
                version: instance.run.version.label().filter(|_| way.version),
                side,
            })
            .collect()
    }
}

/// The properties, besides the side, that distinguish the instances of a benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ToldBy {
    variant: bool,
    version: bool,
}

impl ToldBy {
    fn of(sides: &[&ComparedSide]) -> Self {
        let mut variants = sides.iter().map(|side| {
            let of_side: BTreeSet<&str> = side.runs.iter().map(|run| &*run.variant).collect();
            of_side.len()
        });
        let versions: Vec<BTreeSet<Option<String>>> =
            sides.iter().map(|side| side.versions()).collect();
        // All versions of a query are one side.
        let names_a_version = |side: &&ComparedSide| {
            use RunKey::{Commit, Run, Variant, Version};
            matches!(
                side.kind,
                SideKind::Runs(Variant | Run | Version | Commit) | SideKind::Query
            )
        };
        Self {
            variant: variants.any(|count| count > 1),
            version: !sides.iter().any(names_a_version)
                && versions.iter().any(|of_side| of_side.len() > 1)
                && are_matched(sides, &versions),
        }
    }
}

/// Returns whether versions of one side are compared with the same ones of the other, and not all of them together: the
/// sides share some, or all if a side is several files, each of its own commit.
fn are_matched(sides: &[&ComparedSide], versions: &[BTreeSet<Option<String>>]) -> bool {
    let [baseline, candidate] = versions else {
        return true;
    };
    if sides.iter().any(|side| side.is_pattern) {
        baseline == candidate
    } else {
        !baseline.is_disjoint(candidate)
    }
}
