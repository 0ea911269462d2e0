//! The sides of a comparison with the stores that they are in.

mod file;
mod filtered;
mod levels;
mod setting;
mod side;

use std::collections::BTreeSet;
use std::path::Path;

use jiff::Timestamp;
use lapwing_core::clean::{Finding, Rules, plans_any_auto};
use lapwing_core::judge::{Place, Sides as Samples};
use lapwing_core::model::natural_order;
use lapwing_core::record::{
    BenchmarkData, Filter, InstanceData, LeftOut, RunRow, Store, StoreError,
};

use self::setting::{Groups, version_of};
pub use self::side::{Kind, Side, there_are};
use crate::burn_in_file::unknown_names;
use crate::error::CliError;
use crate::store::with_metrics;

/// When a version is of, as far as that is known, and when it was measured.
type When = (Option<Timestamp>, Timestamp);

/// A side that was found.
#[derive(Debug)]
pub struct Found {
    /// What people call it: `fast`, `old.json`.
    pub name: String,
    /// What it was chosen by.
    pub kind: Kind,
    /// Which of the stores it is in.
    store: usize,
    runs: Vec<RunRow>,
}

/// The sides of a comparison with the stores that they are in.
#[derive(Debug, Default)]
pub struct Sides {
    /// The sides, the baseline first.
    pub found: Vec<Found>,
    /// What people should know of how they were chosen.
    pub notes: Vec<String>,
    stores: Vec<file::Opened>,
}

impl Sides {
    /// Finds the sides. `open` opens the store that people keep, and is only called when a side may be
    /// in it.
    ///
    /// # Errors
    /// When a side fits nothing, several things, or the same runs as another one.
    pub fn find(
        sides: &[Side],
        filter: &Filter,
        open: impl FnOnce() -> Result<Store, CliError>,
    ) -> Result<Self, CliError> {
        let mut all = Self::default();
        let mut runs = Vec::new();
        if !sides.iter().all(Side::is_file) {
            match open() {
                Ok(store) => {
                    // A side is what was measured under it, whatever it lacks.
                    let of_runs = Filter {
                        benchmarks: Vec::new(),
                        tags: Vec::new(),
                        metrics: Vec::new(),
                        ..filter.clone()
                    };
                    runs = store.runs(&of_runs)?;
                    all.stores.push(file::Opened::kept(store));
                }
                // Two files can be compared where nothing was ever kept.
                Err(_no_store) if sides.iter().all(Side::may_be_file) => {}
                Err(error) => return Err(error),
            }
        }
        for side in sides {
            let is_file = side.is_file() || (side.may_be_file() && side.kinds(&runs).is_empty());
            let found = if is_file {
                all.read_file(side, filter)?
            } else {
                let (kind, chosen) = side.look_up(&runs)?;
                Found {
                    name: name(side, kind, &chosen),
                    kind,
                    store: 0,
                    runs: chosen.into_iter().cloned().collect(),
                }
            };
            all.found.push(found);
        }
        all.shorten_paths();
        all.keep_one_version();
        all.refuse_overlaps()?;
        all.note_sessions_of_one_name();
        all.note_different_sessions();
        all.notes.extend(levels::note(&all.found));
        Ok(all)
    }

    fn read_file(&mut self, side: &Side, filter: &Filter) -> Result<Found, CliError> {
        let opened = file::Opened::file(side.text.as_ref())?;
        let runs = opened.store.runs(&Filter::default())?;
        let runs = filtered::passing(runs, filter, &side.text)?;
        self.stores.push(opened);
        Ok(Found {
            name: side.text.clone(),
            kind: Kind::File,
            store: self.stores.len() - 1,
            runs,
        })
    }

    /// Calls files by their names alone where these differ.
    fn shorten_paths(&mut self) {
        let short: Vec<String> = self.found.iter().map(Found::short_name).collect();
        let differ = short.iter().collect::<BTreeSet<_>>().len() == short.len();
        if differ {
            for (side, name) in self.found.iter_mut().zip(short) {
                side.name = name;
            }
        }
    }

    /// Keeps of variants that were measured with several versions only the newest version of each
    /// suite that all of them have: pooled, the versions' difference would pass for noise.
    fn keep_one_version(&mut self) {
        if self.found.iter().any(|side| side.kind != Kind::Variant) {
            return;
        }
        let runs = self.found.iter().flat_map(|side| &side.runs);
        let suites: BTreeSet<String> = runs.map(|run| run.suite.clone()).collect();
        let several_suites = suites.len() > 1;
        for suite in suites {
            let Some((version, of)) = self.newest_common_version(&suite) else {
                continue;
            };
            for side in &mut self.found {
                let is_other = |run: &RunRow| run.suite == suite && version_of(run) != version;
                side.runs.retain(|run| !is_other(run));
            }
            let of_suite = if several_suites {
                format!(" of {suite}")
            } else {
                String::new()
            };
            self.notes.push(format!(
                "of {of} versions{of_suite} the newest that all sides have is compared, {}; \
                 --version-under-test takes another",
                version.as_deref().unwrap_or("the one without a name")
            ));
        }
    }

    /// Returns the newest version of a suite that all sides have, and how many there are; `None`
    /// when there is just one, or none that all have.
    fn newest_common_version(&self, suite: &str) -> Option<(Option<String>, usize)> {
        let runs_of = |side: &Found| -> Vec<RunRow> {
            let runs = side.runs.iter().filter(|run| run.suite == suite);
            runs.cloned().collect()
        };
        let sides: Vec<Vec<RunRow>> = self.found.iter().map(runs_of).collect();
        let mut versions: Vec<(When, Option<String>)> = Vec::new();
        for run in sides.iter().flatten() {
            let name = version_of(run);
            let when = (run.place.and_then(|it| it.version_date), run.started);
            match versions.iter_mut().find(|(_, known)| *known == name) {
                Some((latest, _)) => *latest = when.max(*latest),
                None => versions.push((when, name)),
            }
        }
        versions.sort_by(|one, other| {
            let names = [&one.1, &other.1].map(|it| it.as_deref().unwrap_or_default());
            (one.0.cmp(&other.0)).then_with(|| natural_order(names[0], names[1]))
        });
        let has = |runs: &Vec<RunRow>, name: &Option<String>| {
            runs.is_empty() || runs.iter().any(|run| version_of(run) == *name)
        };
        let count = versions.len();
        let common = versions
            .into_iter()
            .rev()
            .find(|(_, name)| sides.iter().all(|runs| has(runs, name)));
        common.filter(|_| count > 1).map(|(_, name)| (name, count))
    }

    fn refuse_overlaps(&self) -> Result<(), CliError> {
        for (at, one) in self.found.iter().enumerate() {
            let ids: BTreeSet<&str> = one.runs.iter().map(|run| run.id.as_str()).collect();
            for other in &self.found[at + 1..] {
                if other.runs.iter().any(|run| ids.contains(run.id.as_str())) {
                    return Err(CliError::input(format!(
                        "{} `{}` and {} `{}` have runs in common",
                        one.kind.name(),
                        one.name,
                        other.kind.name(),
                        other.name
                    ))
                    .hint(
                        "a comparison takes different sides; `--split halves` checks one against itself",
                    ));
                }
            }
        }
        Ok(())
    }

    fn note_sessions_of_one_name(&mut self) {
        let named = self.found.iter().filter(|it| it.kind == Kind::Session);
        let pooled: Vec<String> = named
            .filter_map(|side| {
                let ids: BTreeSet<&str> = side.runs.iter().map(|it| it.session.as_str()).collect();
                (ids.len() > 1).then(|| {
                    let count = ids.len();
                    format!(
                        "{count} sessions are named {} and are taken together; `session:ID` takes one",
                        side.name
                    )
                })
            })
            .collect();
        self.notes.extend(pooled);
    }

    fn note_different_sessions(&mut self) {
        let sessions = |side: &Found| -> BTreeSet<String> {
            side.runs.iter().map(|run| run.session.clone()).collect()
        };
        let Some((baseline, candidates)) = self.found.split_first() else {
            return;
        };
        let measured = sessions(baseline);
        if candidates
            .iter()
            .any(|it| sessions(it).is_disjoint(&measured))
        {
            self.notes.push(
                "the sides are of different sessions: what the machine did otherwise then counts \
                 as a change; variants of one session are measured in turn"
                    .to_owned(),
            );
        }
    }

    /// Returns the names of the sides, the baseline first.
    pub fn names(&self) -> Vec<String> {
        self.found.iter().map(|side| side.name.clone()).collect()
    }

    /// Returns whether a benchmark may be in several places: in stores of its own for a side, or under
    /// another suite.
    fn are_in_several_places(&self) -> bool {
        let runs = self.found.iter().flat_map(|side| &side.runs);
        let suites: BTreeSet<&str> = runs.map(|run| run.suite.as_str()).collect();
        let stores: BTreeSet<usize> = self.found.iter().map(|side| side.store).collect();
        suites.len() > 1 || stores.len() > 1
    }

    /// Returns a note for each name of a burn-in file that no benchmark of these stores has.
    ///
    /// # Errors
    /// When a store cannot be read.
    pub fn unknown_names(&self, rules: &Rules) -> Result<Vec<String>, CliError> {
        let Some(listed) = rules.listed() else {
            return Ok(Vec::new());
        };
        let mut ids = BTreeSet::new();
        for opened in &self.stores {
            let rows = opened.store.benchmarks(&Filter::default())?.into_iter();
            ids.extend(rows.map(|row| row.benchmark));
        }
        Ok(unknown_names(listed, ids.iter().map(String::as_str)))
    }

    /// Returns whether where a benchmark gets steady may have to be found.
    fn may_find(&self, rules: &Rules) -> Result<bool, CliError> {
        Ok(match rules.finding() {
            Finding::Always => true,
            Finding::WherePlanned => self.plan_auto()?,
            Finding::Never => false,
        })
    }

    /// Returns whether any session of the sides leaves it to judging where a benchmark gets steady.
    fn plan_auto(&self) -> Result<bool, CliError> {
        let sessions = self.found.iter().flat_map(|side| {
            let runs = side.runs.iter();
            runs.map(|run| (side.store, run.session.as_str()))
        });
        for (store, id) in sessions.collect::<BTreeSet<_>>() {
            if plans_any_auto(&self.stores[store].store.session(id)?) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the samples of all sides, still empty, with where their benchmarks get steady looked up
    /// where that takes more than one of the places that they are in.
    ///
    /// # Errors
    /// When a store cannot be read.
    pub fn samples(&self, filter: &Filter, rules: &Rules) -> Result<Samples, CliError> {
        let mut samples = Samples::new(self.names());
        if self.are_in_several_places() && self.may_find(rules)? {
            self.each_benchmark(filter, |data, places_of| {
                samples.look(data, rules, places_of);
            })?;
            samples.looked();
        }
        Ok(samples)
    }

    /// Returns what of the sides is left out because it is retired.
    ///
    /// # Errors
    /// When a store cannot be read.
    pub fn left_out(&self, filter: &Filter) -> Result<LeftOut, CliError> {
        let mut left_out = LeftOut::default();
        for (number, opened) in self.stores.iter().enumerate() {
            let filter = self.filter_of(number, filter);
            if filter.runs.is_empty() {
                continue;
            }
            match opened.store.left_out(&filter) {
                // One of several files may lack a benchmark or metric.
                Err(StoreError::NoMatch { .. }) => {}
                counted => left_out.add(counted?),
            }
        }
        Ok(left_out)
    }

    /// Calls `visit` with every benchmark of every store.
    ///
    /// # Errors
    /// When a store cannot be read, or no benchmark passes the filter.
    pub fn each_benchmark(
        &self,
        filter: &Filter,
        mut visit: impl FnMut(&BenchmarkData, &dyn Fn(&InstanceData) -> Vec<Place>),
    ) -> Result<(), CliError> {
        let groups = Groups::of(&self.found);
        let mut unmatched = None;
        // Of what one side has, another may have nothing but failures, without any metric.
        let mut asked: Vec<Asked> = Vec::new();
        for (number, opened) in self.stores.iter().enumerate() {
            let filter = self.filter_of(number, filter);
            let with = match filter.runs.is_empty() {
                true => Ok(Some(BTreeSet::new())),
                false => with_metrics(&opened.store, &filter),
            };
            asked.push(match with {
                Ok(benchmarks) => benchmarks,
                // One of several files may lack a benchmark or metric: that is an answer.
                Err(error @ StoreError::NoMatch { .. }) => {
                    unmatched = Some(error);
                    Some(BTreeSet::new())
                }
                Err(error) => return Err(error.into()),
            });
        }
        let mut visited = 0_usize;
        for (number, opened) in self.stores.iter().enumerate() {
            let here: Vec<(usize, BTreeSet<String>)> = self
                .found
                .iter()
                .enumerate()
                .filter(|(_, side)| side.store == number)
                .map(|(at, side)| (at, side.runs.iter().map(|run| run.id.clone()).collect()))
                .collect();
            let mut filter = self.filter_of(number, filter);
            filter.metrics.clear();
            if filter.runs.is_empty() {
                continue;
            }
            let places_of = |instance: &InstanceData| {
                let run = instance.run.id.to_string();
                match here.iter().find(|(_, ids)| ids.contains(&run)) {
                    Some((side, _)) => groups.places(*side, instance),
                    None => Vec::new(),
                }
            };
            let read = opened.store.each_benchmark(&filter, |data| {
                if is_asked(&data, number, &asked) {
                    visited += 1;
                    visit(&data, &places_of);
                }
                Ok(())
            });
            match read {
                Ok(()) => {}
                Err(error @ StoreError::NoMatch { .. }) => unmatched = Some(error),
                Err(error) => return Err(error.into()),
            }
        }
        match unmatched {
            Some(error) if visited == 0 => Err(error.into()),
            Some(_) | None => Ok(()),
        }
    }

    /// Returns what a store is asked for. The runs of the sides have passed the filters on runs already.
    fn filter_of(&self, store: usize, filter: &Filter) -> Filter {
        let sides = self.found.iter().filter(|side| side.store == store);
        let runs = sides.flat_map(|side| side.runs.iter().map(|run| run.id.clone()));
        Filter {
            benchmarks: filter.benchmarks.clone(),
            tags: filter.tags.clone(),
            metrics: filter.metrics.clone(),
            runs: runs.collect(),
            retired: filter.retired,
            ..Filter::default()
        }
    }
}

/// Suite and id of the benchmarks of a store that have a metric asked for; `None` for all.
type Asked = Option<BTreeSet<(String, String)>>;

/// Returns whether a benchmark of a store is asked for: it has the metric there, or one of its id has it in
/// another store.
fn is_asked(data: &BenchmarkData, store: usize, asked: &[Asked]) -> bool {
    asked.iter().enumerate().any(|(number, asked)| match asked {
        None => true,
        Some(asked) if number == store => {
            asked.contains(&(data.suite.clone(), data.benchmark.id.clone()))
        }
        Some(asked) => asked.iter().any(|(_, id)| *id == data.benchmark.id),
    })
}

impl Found {
    fn short_name(&self) -> String {
        let file = Path::new(&self.name).file_name();
        match (self.kind, file) {
            (Kind::File, Some(file)) => file.to_string_lossy().into_owned(),
            _ => self.name.clone(),
        }
    }
}

/// Returns what people call a side: its session's name where they wrote a part of the id.
fn name(side: &Side, kind: Kind, runs: &[&RunRow]) -> String {
    let session = runs.first().and_then(|run| run.session_name.clone());
    match (kind, session) {
        (Kind::Session, Some(session)) => session,
        _ => side.text.clone(),
    }
}
