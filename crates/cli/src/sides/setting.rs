//! By what else than the side instances are told apart: the variant where versions are compared, say.

use std::collections::BTreeSet;

use lapwing_core::judge::Place;
use lapwing_core::record::{InstanceData, RunRow};

use super::{Found, Kind};

/// How the settings of the baseline and of each candidate are told apart: as they would be if these two
/// were compared alone, so that no candidate changes what another is compared with.
pub(super) struct Groups {
    /// The ways, each of some candidates.
    ways: Vec<SettingBy>,
    /// The place of each side's way among them; the baseline has all.
    of_side: Vec<usize>,
}

impl Groups {
    pub(super) fn of(sides: &[Found]) -> Self {
        let mut groups = Self {
            ways: Vec::new(),
            of_side: vec![0],
        };
        let Some((baseline, candidates)) = sides.split_first() else {
            return groups;
        };
        if candidates.is_empty() {
            groups.ways.push(SettingBy::of(&[baseline]));
        }
        for candidate in candidates {
            let way = SettingBy::of(&[baseline, candidate]);
            let known = groups.ways.iter().position(|it| *it == way);
            groups.of_side.push(known.unwrap_or(groups.ways.len()));
            if known.is_none() {
                groups.ways.push(way);
            }
        }
        groups
    }

    /// Returns where an instance of a side belongs.
    pub(super) fn places(&self, side: usize, instance: &InstanceData) -> Vec<Place> {
        let ways = self.ways.iter().enumerate();
        ways.filter(|(group, _)| side == 0 || *group == self.of_side[side])
            .map(|(group, way)| Place {
                side,
                variant: way.variant.then(|| instance.run.variant.clone()),
                version: way.version_of(instance),
                group,
            })
            .collect()
    }
}

/// By what else than the side the instances of a benchmark are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SettingBy {
    variant: bool,
    version: bool,
}

impl SettingBy {
    fn of(sides: &[&Found]) -> Self {
        let several = |of: &dyn Fn(&RunRow) -> Option<String>| {
            sides.iter().any(|side| {
                let named: BTreeSet<Option<String>> = side.runs.iter().map(of).collect();
                named.len() > 1
            })
        };
        let chosen_by = |kinds: &[Kind]| sides.iter().any(|side| kinds.contains(&side.kind));
        Self {
            variant: several(&|run| Some(run.variant.clone())),
            version: !chosen_by(&[Kind::Variant, Kind::Run, Kind::Version, Kind::Commit])
                && several(&version_of),
        }
    }

    /// Returns the version of an instance, where that is told.
    fn version_of(self, instance: &InstanceData) -> Option<String> {
        let version = &instance.run.version;
        self.version
            .then(|| version_text(version.name.as_deref(), version.commit.as_deref()))
            .flatten()
    }
}

/// Returns the name of the version of a run: its own or else the beginning of its commit.
pub(super) fn version_of(run: &RunRow) -> Option<String> {
    version_text(run.version.as_deref(), run.commit.as_deref())
}

fn version_text(name: Option<&str>, commit: Option<&str>) -> Option<String> {
    const SHOWN: usize = 10;
    let commit = || commit.map(|it| it.chars().take(SHOWN).collect());
    name.map(str::to_owned).or_else(commit)
}
