//! The sides of a comparison with the stores that they are in.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use jiff::Timestamp;

use super::chosen_runs::ChosenRuns;
use super::filter::{RunKey, SampleFilter};
use super::group::SidePlace;
use super::known_sides::KnownSides;
use super::side::{SideError, SideKind, SideLookup, SideSpec};
use super::side_groups::SettingGroups;
use super::{BenchmarkData, History, MainChoice, MainRuns, RepositoryCommits, each_benchmark};
use lapwing_model::text::joined;
use lapwing_model::{Id, natural_order};
use lapwing_record::{Filter, InstanceData, LeftOut, RunHead, Store, StoreError};

/// A resolved side.
#[derive(Debug)]
pub struct ComparedSide {
    /// Its name in answers: `fast`, `old.json`.
    pub name: String,
    /// The kind of its specification.
    pub kind: SideKind,
    /// The index of its store.
    store: usize,
    /// Whether it is a pattern for files.
    pub(super) is_pattern: bool,
    pub(super) runs: Vec<RunHead>,
}

/// The sides of a comparison with the stores that they are in.
#[derive(Debug, Default)]
pub struct ComparedSides {
    /// The sides, the baseline first.
    pub sides: Vec<ComparedSide>,
    /// Notes on how they were chosen.
    pub notes: Vec<String>,
    /// The runs that are left out because of uncommitted changes.
    pub uncommitted: BTreeSet<Id>,
    /// The runs of other branches that are left out of conditions; empty without any.
    pub others: MainRuns,
    stores: Vec<Store>,
}

impl ComparedSides {
    /// Resolves the sides. `open` opens the main store, and is only called if a side may be in it; `open_file` reads a
    /// file into a store. Conditions that do not choose a branch or version are those of `choice`.
    ///
    /// # Errors
    /// If a side has no match, several matches, or the same runs as another one, or a store cannot be read.
    pub fn find<E: From<SideError>>(
        specs: &[SideSpec],
        filter: &SampleFilter,
        open: impl FnOnce() -> Result<Store, E>,
        mut open_file: impl FnMut(&Path) -> Result<Store, E>,
        repository: &RepositoryCommits<'_>,
        choice: MainChoice,
    ) -> Result<Self, E> {
        let mut all = Self::default();
        let mut runs = Vec::new();
        if !specs.iter().all(SideSpec::is_file) {
            match open() {
                Ok(store) => {
                    // A side is all of its measurements, even if benchmarks and metrics are missing.
                    runs = runs_passing(&store, filter, repository).map_err(SideError::from)?;
                    all.stores.push(store);
                }
                // Two files can be compared without any store.
                Err(_no_store) if specs.iter().all(SideSpec::may_be_file) => {}
                Err(error) => return Err(error),
            }
        }
        let (main, choice) = match specs.iter().any(SideSpec::is_query) {
            true => repository.chosen_runs(&runs, filter, choice)?,
            false => (MainRuns::default(), MainChoice::All),
        };
        let lookup = SideLookup {
            repository,
            main: &main,
            choice,
        };
        let mut others: BTreeSet<Id> = BTreeSet::new();
        let rest = without_named(specs, &runs, lookup);
        for spec in specs {
            let is_file = spec.is_file() || (spec.may_be_file() && spec.kinds(&runs).is_empty());
            let side = if is_file {
                let store = open_file(spec.text.as_ref())?;
                let runs = store.catalogue().run_heads().map_err(SideError::from)?;
                all.stores.push(store);
                ComparedSide {
                    name: match spec.text.as_str() {
                        "-" => "standard input".to_owned(),
                        text => text.to_owned(),
                    },
                    kind: SideKind::File,
                    store: all.stores.len() - 1,
                    is_pattern: spec.is_file_pattern(),
                    runs: passing(runs, filter, &spec.text)?,
                }
            } else {
                let available = if spec.is_query() { &rest } else { &runs };
                let (
                    kind,
                    ChosenRuns {
                        runs: chosen,
                        uncommitted,
                        others: of_others,
                    },
                ) = spec.resolve(available, lookup)?;
                others.extend(of_others.iter().map(|it| it.id));
                all.uncommitted.extend(uncommitted.iter().map(|it| it.id));
                all.notes.extend(revision_note(spec, kind, &chosen));
                all.notes
                    .extend(rest_note(spec, &chosen, &runs, &rest, lookup));
                ComparedSide {
                    name: side_name(spec, kind, &chosen),
                    kind,
                    store: 0,
                    is_pattern: false,
                    runs: chosen.into_iter().cloned().collect(),
                }
            };
            all.sides.push(side);
        }
        all.shorten_paths();
        all.keep_one_version();
        all.refuse_overlaps()?;
        let compared: BTreeSet<Id> = all.all_runs().map(|run| run.id).collect();
        all.uncommitted.retain(|run| !compared.contains(run));
        others.retain(|run| !compared.contains(run));
        all.others = main.among(&others);
        all.note_sessions_of_one_name();
        all.note_different_levels();
        Ok(all)
    }

    /// Names files without their folders if these names differ.
    fn shorten_paths(&mut self) {
        let short: Vec<String> = self.sides.iter().map(ComparedSide::short_name).collect();
        let differ = short.iter().collect::<BTreeSet<_>>().len() == short.len();
        if differ {
            for (side, name) in self.sides.iter_mut().zip(short) {
                side.name = name;
            }
        }
    }

    /// For variants measured with several versions, keeps only the newest version of each suite that all of them have:
    /// pooled, the difference between versions would appear as noise.
    fn keep_one_version(&mut self) {
        let is_variant = |side: &ComparedSide| side.kind == SideKind::Runs(RunKey::Variant);
        if !self.sides.iter().all(is_variant) {
            return;
        }
        let suites: BTreeSet<String> = self.all_runs().map(|run| run.suite.clone()).collect();
        let several_suites = suites.len() > 1;
        for suite in suites {
            let Some((version, of)) = self.newest_common_version(&suite) else {
                continue;
            };
            for side in &mut self.sides {
                let is_other = |run: &RunHead| run.suite == suite && run.version_label() != version;
                side.runs.retain(|run| !is_other(run));
            }
            let of_suite = if several_suites {
                format!(" of {suite}")
            } else {
                String::new()
            };
            self.notes.push(format!(
                "the newest of {of} versions{of_suite} that all sides have is compared, {}; choose another with --where version=VERSION",
                version.as_deref().unwrap_or("the one without a name")
            ));
        }
    }

    /// Returns the newest version of a suite that all sides have, and the number of versions; `None` if there is just
    /// one, or none that all have.
    fn newest_common_version(&self, suite: &str) -> Option<(Option<String>, usize)> {
        type VersionMoment = (Option<Timestamp>, Timestamp);
        let runs_of = |side: &ComparedSide| -> Vec<RunHead> {
            let runs = side.runs.iter().filter(|run| run.suite == suite);
            runs.cloned().collect()
        };
        let sides: Vec<Vec<RunHead>> = self.sides.iter().map(runs_of).collect();
        let history = History::of_runs(&self.all_runs().cloned().collect::<Vec<_>>());
        let mut versions: Vec<(VersionMoment, Option<String>)> = Vec::new();
        for run in sides.iter().flatten() {
            let name = run.version_label();
            let position = history.position(&run.id);
            let moment = (position.and_then(|it| it.version_date), run.started);
            match versions.iter_mut().find(|(_, known)| *known == name) {
                Some((latest, _)) => *latest = moment.max(*latest),
                None => versions.push((moment, name)),
            }
        }
        versions.sort_by(|one, other| {
            let names = [&one.1, &other.1].map(|name| name.as_deref().unwrap_or_default());
            (one.0.cmp(&other.0)).then_with(|| natural_order(names[0], names[1]))
        });
        let has = |runs: &Vec<RunHead>, name: &Option<String>| {
            runs.is_empty() || runs.iter().any(|run| run.version_label() == *name)
        };
        let count = versions.len();
        let common = versions
            .into_iter()
            .rev()
            .find(|(_, name)| sides.iter().all(|runs| has(runs, name)));
        common.filter(|_| count > 1).map(|(_, name)| (name, count))
    }

    fn refuse_overlaps(&self) -> Result<(), SideError> {
        for (at, one) in self.sides.iter().enumerate() {
            let ids: BTreeSet<Id> = one.runs.iter().map(|run| run.id).collect();
            for other in &self.sides[at + 1..] {
                if other.runs.iter().any(|run| ids.contains(&run.id)) {
                    let text =
                        |side: &ComparedSide| format!("{} `{}`", side.kind.name(), side.name);
                    return Err(SideError::Overlap {
                        sides: [one, other].map(text),
                    });
                }
            }
        }
        Ok(())
    }

    fn note_sessions_of_one_name(&mut self) {
        let is_session = |side: &&ComparedSide| side.kind == SideKind::Runs(RunKey::Session);
        for side in self.sides.iter().filter(is_session) {
            let sessions: BTreeSet<Id> = side.runs.iter().map(|run| run.session).collect();
            if sessions.len() > 1 {
                self.notes.push(format!(
                    "{} sessions are named {} and are combined; `session:ID` selects one",
                    sessions.len(),
                    side.name
                ));
            }
        }
    }

    /// Notes if a candidate and the baseline have a factor of the same variant but no level of it in common: it may
    /// explain an apparent change. Sides that are variants or runs were chosen for that.
    fn note_different_levels(&mut self) {
        let is_chosen = |side: &ComparedSide| {
            matches!(side.kind, SideKind::Runs(RunKey::Variant | RunKey::Run))
        };
        let Some((baseline, candidates)) = self.sides.split_first() else {
            return;
        };
        if is_chosen(baseline) {
            return;
        }
        let known = baseline.levels();
        let candidates = candidates.iter().filter(|side| !is_chosen(side));
        let mut apart: Vec<String> = Vec::new();
        for (key, others) in candidates.flat_map(ComparedSide::levels) {
            let of_baseline = known.get(&key).filter(|levels| levels.is_disjoint(&others));
            if let Some(levels) = of_baseline {
                let (_, _, factor) = key;
                let text = format!("{factor} ({} and {})", joined(levels), joined(&others));
                if !apart.contains(&text) {
                    apart.push(text);
                }
            }
        }
        if !apart.is_empty() {
            self.notes.push(format!(
                "the sides share no level of {}, so its effect counts as a change",
                apart.join(", ")
            ));
        }
    }

    /// Returns whether all sides are files.
    pub fn are_files(&self) -> bool {
        let is_file = |side: &ComparedSide| {
            side.kind == SideKind::File && !side.name.starts_with("benchmark:")
        };
        self.sides.iter().all(is_file)
    }

    /// Returns the names of the sides, the baseline first.
    pub fn names(&self) -> Vec<String> {
        self.sides.iter().map(|side| side.name.clone()).collect()
    }

    /// Returns the stores that the sides are in.
    pub fn stores(&self) -> &[Store] {
        &self.stores
    }

    /// Returns the runs of the sides, with their stores.
    pub fn runs(&self) -> impl Iterator<Item = (&Store, Id)> {
        self.sides.iter().flat_map(|side| {
            let store = &self.stores[side.store];
            side.runs.iter().map(move |run| (store, run.id))
        })
    }

    /// Returns the sessions of all sides, each with the store that it is in.
    pub fn sessions(&self) -> Vec<(&Store, Id)> {
        let sessions: BTreeSet<(usize, Id)> = self
            .sides
            .iter()
            .flat_map(|side| side.runs.iter().map(|run| (side.store, run.session)))
            .collect();
        let in_store = |(store, session)| (&self.stores[store], session);
        sessions.into_iter().map(in_store).collect()
    }

    /// Returns whether a benchmark may be in several places: in separate stores per side, or under another suite.
    pub fn are_in_several_places(&self) -> bool {
        let suites: BTreeSet<&str> = self.all_runs().map(|run| run.suite.as_str()).collect();
        let stores: BTreeSet<usize> = self.sides.iter().map(|side| side.store).collect();
        suites.len() > 1 || stores.len() > 1
    }

    fn all_runs(&self) -> impl Iterator<Item = &RunHead> {
        self.sides.iter().flat_map(|side| &side.runs)
    }

    /// Returns what is excluded from the sides because it is retired.
    ///
    /// # Errors
    /// If a store cannot be read.
    pub fn left_out(&self, filter: &SampleFilter) -> Result<LeftOut, StoreError> {
        let mut left_out = LeftOut::default();
        for (number, store) in self.stores.iter().enumerate() {
            let Some(filter) = self.filter_of(number, filter) else {
                continue;
            };
            match store.catalogue().left_out(&filter) {
                // One of several files may lack a benchmark or metric.
                Err(StoreError::NoMatch { .. }) => {}
                counted => left_out.add(counted?),
            }
        }
        Ok(left_out)
    }

    /// Calls `visit` with every benchmark of every store that has a requested metric, and with the function that
    /// returns the places of its instances. All of its metrics are read, because burn-in is detected from the wall
    /// time whatever is analysed.
    ///
    /// # Errors
    /// If a store cannot be read, or no benchmark passes the filter.
    pub fn each_benchmark(
        &self,
        filter: &SampleFilter,
        mut visit: impl FnMut(&BenchmarkData, &dyn Fn(&InstanceData) -> Vec<SidePlace>),
    ) -> Result<(), StoreError> {
        let groups = SettingGroups::of(&self.sides);
        let mut unmatched = None;
        // One side may have only failures of a benchmark, without any metric.
        let mut asked: Vec<AskedBenchmarks> = Vec::new();
        for (number, store) in self.stores.iter().enumerate() {
            let with = match self.filter_of(number, filter) {
                None => Ok(Some(BTreeSet::new())),
                Some(filter) => with_metrics(store, &filter),
            };
            asked.push(match with {
                Ok(benchmarks) => benchmarks,
                // One of several files may lack a benchmark or metric, which is a valid result.
                Err(error @ StoreError::NoMatch { .. }) => {
                    unmatched = Some(error);
                    Some(BTreeSet::new())
                }
                Err(error) => return Err(error),
            });
        }
        let mut visited = 0_usize;
        for (number, store) in self.stores.iter().enumerate() {
            let Some(mut filter) = self.filter_of(number, filter) else {
                continue;
            };
            filter.metrics.clear();
            let side_of: BTreeMap<Id, usize> = (self.sides.iter().enumerate())
                .filter(|(_, side)| side.store == number)
                .flat_map(|(at, side)| side.runs.iter().map(move |run| (run.id, at)))
                .collect();
            let places_of = |instance: &InstanceData| match side_of.get(&instance.run.id) {
                Some(side) => groups.places(*side, instance),
                None => Vec::new(),
            };
            let read = each_benchmark(store, &filter, |data| {
                if is_asked(&data, number, &asked) {
                    visited += 1;
                    visit(&data, &places_of);
                }
                Ok(())
            });
            match read {
                Ok(()) => {}
                Err(error @ StoreError::NoMatch { .. }) => unmatched = Some(error),
                Err(error) => return Err(error),
            }
        }
        match unmatched {
            Some(error) if visited == 0 => Err(error),
            Some(_) | None => Ok(()),
        }
    }

    /// Returns the filter for a store; `None` if no side is in it. The runs of the sides have passed the filters on
    /// runs already.
    fn filter_of(&self, store: usize, filter: &SampleFilter) -> Option<Filter> {
        let sides = self.sides.iter().filter(|side| side.store == store);
        let runs: BTreeSet<Id> = sides
            .flat_map(|side| side.runs.iter().map(|run| run.id))
            .collect();
        (!runs.is_empty()).then(|| Filter {
            runs: Some(runs),
            ..filter.without_runs()
        })
    }
}

impl ComparedSide {
    fn short_name(&self) -> String {
        match (self.kind, Path::new(&self.name).file_name()) {
            (SideKind::File, Some(file)) => file.to_string_lossy().into_owned(),
            _ => self.name.clone(),
        }
    }

    /// Returns the levels of factors, by suite, variant and factor.
    fn levels(&self) -> BTreeMap<(&str, &str, &str), BTreeSet<&str>> {
        let mut levels: BTreeMap<_, BTreeSet<&str>> = BTreeMap::new();
        for run in &self.runs {
            for (factor, level) in &run.levels {
                let key = (run.suite.as_str(), run.variant.as_str(), factor.as_str());
                levels.entry(key).or_default().insert(level);
            }
        }
        levels
    }
}

/// Returns the runs of a store that pass the filters on runs.
fn runs_passing(
    store: &Store,
    filter: &SampleFilter,
    repository: &RepositoryCommits<'_>,
) -> Result<Vec<RunHead>, StoreError> {
    let filter = filter.resolve_in(store, repository)?;
    let mut runs = store.catalogue().run_heads()?;
    let passes =
        |ids: &Option<BTreeSet<Id>>, id: Id| ids.as_ref().is_none_or(|ids| ids.contains(&id));
    runs.retain(|run| passes(&filter.sessions, run.session) && passes(&filter.runs, run.id));
    Ok(runs)
}

/// Returns the runs of a file that pass the filters on runs. One of two files may lack runs that the other has, so it
/// is an error only if a side has none left.
fn passing(
    runs: Vec<RunHead>,
    filter: &SampleFilter,
    file: &str,
) -> Result<Vec<RunHead>, SideError> {
    let mut left = runs.clone();
    let mut taken: Vec<String> = Vec::new();
    for part in filter.runs.parts() {
        let written = part.to_string();
        let of_part = match part.latest() {
            Some(latest) => latest.passing(&left),
            None => part.passing(&runs),
        };
        left.retain(|run| of_part.contains(&run.id));
        if left.is_empty() && !runs.is_empty() {
            let filters = if of_part.is_empty() {
                written
            } else {
                taken.push(written);
                format!("{} together", taken.join(" and "))
            };
            return Err(SideError::NothingPasses {
                file: file.to_owned(),
                filters,
                known: KnownSides::among(&runs, None),
            });
        }
        taken.push(written);
    }
    Ok(left)
}

/// Returns the runs that no side names, for those that are conditions: `last 10 of main` beside `HEAD` is without `HEAD`.
fn without_named(specs: &[SideSpec], runs: &[RunHead], lookup: SideLookup<'_>) -> Vec<RunHead> {
    let mut named: BTreeSet<Id> = BTreeSet::new();
    if specs.iter().any(SideSpec::is_query) {
        let specs = specs.iter().filter(|spec| !spec.is_query());
        // What has no match is told of where it is resolved.
        let chosen = specs.filter_map(|spec| spec.resolve(runs, lookup).ok());
        named.extend(chosen.flat_map(|(_, chosen)| chosen.runs).map(|run| run.id));
    }
    let is_left = |run: &&RunHead| !named.contains(&run.id);
    runs.iter().filter(is_left).cloned().collect()
}

/// Returns `last 10 of main: without the runs of the other sides`, where it would have had some.
fn rest_note(
    spec: &SideSpec,
    chosen: &[&RunHead],
    runs: &[RunHead],
    rest: &[RunHead],
    lookup: SideLookup<'_>,
) -> Option<String> {
    if !spec.is_query() || runs.len() == rest.len() {
        return None;
    }
    let (_, of_all) = spec.resolve(runs, lookup).ok()?;
    let ids = |chosen: &[&RunHead]| chosen.iter().map(|run| run.id).collect::<BTreeSet<Id>>();
    let is_other = ids(&of_all.runs) != ids(chosen);
    is_other.then(|| format!("{} is without the runs of the other sides", spec.text))
}

/// Returns the name of a side: that of its session if it was written as part of an id.
fn side_name(spec: &SideSpec, kind: SideKind, runs: &[&RunHead]) -> String {
    let session = runs.first().and_then(|run| run.session_name.clone());
    match (kind, session) {
        (SideKind::Runs(RunKey::Session), Some(session)) => session,
        _ => spec.text.clone(),
    }
}

/// Returns `HEAD~3 is commit 1a2b3c4d5e` for a side that is written as a revision.
fn revision_note(spec: &SideSpec, kind: SideKind, runs: &[&RunHead]) -> Option<String> {
    let commit = runs.first()?.commit.as_ref()?;
    let is_revision = kind == SideKind::Runs(RunKey::Commit) && !commit.starts_with(&spec.text);
    is_revision.then(|| {
        let short = commit.get(..10).unwrap_or(commit);
        format!("{} is commit {short}", spec.text)
    })
}

/// Suite and id of the benchmarks of a store that have a requested metric; `None` for all.
type AskedBenchmarks = Option<BTreeSet<(String, String)>>;

/// Returns the benchmarks of a store that have one of the requested metrics; `None` if all metrics are requested.
///
/// # Errors
/// If an entry of the filter has no match, or the store cannot be read.
pub(crate) fn with_metrics(store: &Store, filter: &Filter) -> Result<AskedBenchmarks, StoreError> {
    if filter.metrics.is_empty() {
        return Ok(None);
    }
    let rows = store.catalogue().benchmarks(filter)?.into_iter();
    Ok(Some(rows.map(|row| (row.suite, row.benchmark)).collect()))
}

/// Returns whether a benchmark of a store is requested: it has the metric there, or one of its id has it in another
/// store.
fn is_asked(data: &BenchmarkData, store: usize, asked: &[AskedBenchmarks]) -> bool {
    asked.iter().enumerate().any(|(number, asked)| match asked {
        None => true,
        Some(asked) if number == store => {
            asked.contains(&(data.suite.clone(), data.benchmark.id.clone()))
        }
        Some(asked) => asked.iter().any(|(_, id)| *id == data.benchmark.id),
    })
}
