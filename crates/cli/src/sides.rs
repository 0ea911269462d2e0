//! The sides of a comparison, as people write them: `variant:fast`, `commit:ab12`, `file:old.json`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use lapwing_core::record::import::{BadLines, EachRun, ImportOptions, Source, import};
use lapwing_core::record::{BenchmarkData, Filter, InstanceData, RunRow, Store, StoreError};

use crate::error::CliError;

/// What a side is chosen by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A named setting of factors.
    Variant,
    /// The name of a version of the software under test.
    Version,
    /// A commit of it, by the beginning of its hash.
    Commit,
    /// A run, by the beginning or end of its id.
    Run,
    /// A session, by its name or the beginning of its id.
    Session,
    /// A file that could be imported.
    File,
}

impl Kind {
    const ALL: [Self; 6] = [
        Self::Variant,
        Self::Version,
        Self::Commit,
        Self::Run,
        Self::Session,
        Self::File,
    ];

    /// Returns what stands before the colon.
    pub fn name(self) -> &'static str {
        match self {
            Self::Variant => "variant",
            Self::Version => "version",
            Self::Commit => "commit",
            Self::Run => "run",
            Self::Session => "session",
            Self::File => "file",
        }
    }

    /// Returns whether the run is chosen by that text.
    fn chooses(self, run: &RunRow, text: &str) -> bool {
        match self {
            Self::Variant => run.variant == text,
            Self::Version => run.version.as_deref() == Some(text),
            Self::Commit => {
                text.len() >= SHORTEST_COMMIT
                    && run.commit.as_deref().is_some_and(|it| it.starts_with(text))
            }
            Self::Run => is_part_of_id(&run.id, text),
            Self::Session => {
                run.session_name.as_deref() == Some(text) || is_part_of_id(&run.session, text)
            }
            Self::File => false,
        }
    }
}

/// Fewer digits name too many commits.
const SHORTEST_COMMIT: usize = 4;

fn is_part_of_id(id: &str, text: &str) -> bool {
    const SHORTEST: usize = 4;
    text.len() >= SHORTEST && (id.starts_with(text) || id.ends_with(text))
}

/// A side as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Side {
    /// What it is chosen by; `None` for a bare word, which is looked up.
    kind: Option<Kind>,
    text: String,
}

impl FromStr for Side {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let stated = text.split_once(':').and_then(|(kind, rest)| {
            let kind = Kind::ALL.into_iter().find(|it| it.name() == kind)?;
            Some((kind, rest))
        });
        Ok(match stated {
            Some((kind, rest)) => Self {
                kind: Some(kind),
                text: rest.to_owned(),
            },
            None => Self {
                kind: None,
                text: text.to_owned(),
            },
        })
    }
}

/// A side that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// What people call it: `fast`, `old.json`.
    pub name: String,
    /// What it was chosen by.
    pub kind: Kind,
    /// Which of the stores it is in.
    place: usize,
    /// Its runs, by id.
    runs: BTreeSet<String>,
}

/// The sides of a comparison with the stores that they are in.
#[derive(Debug)]
pub struct Sides {
    /// The sides, the baseline first.
    pub found: Vec<Found>,
    /// What people should know of how they were chosen.
    pub notes: Vec<String>,
    stores: Vec<Store>,
    /// Where files were read into.
    _folders: Vec<tempfile::TempDir>,
}

impl Sides {
    /// Finds the sides. `open` opens the store that people keep, and is only called when a side is
    /// not a file.
    ///
    /// # Errors
    /// When a side fits nothing, several things, or the same runs as another one.
    pub fn find(
        sides: &[Side],
        filter: &Filter,
        open: impl FnOnce() -> Result<Store, CliError>,
    ) -> Result<Self, CliError> {
        let mut all = Self {
            found: Vec::new(),
            notes: Vec::new(),
            stores: Vec::new(),
            _folders: Vec::new(),
        };
        let is_file =
            |side: &Side| side.kind == Some(Kind::File) || (side.kind.is_none() && is_path(side));
        let mut runs = Vec::new();
        if !sides.iter().all(is_file) {
            let store = open()?;
            runs = store.runs(filter)?;
            all.stores.push(store);
        }
        for side in sides {
            let found = if is_file(side) && !names_runs(side, &runs) {
                all.read_file(&side.text)?
            } else {
                look_up(side, &runs)?
            };
            all.found.push(found);
        }
        all.keep_one_version(&runs);
        all.refuse_overlaps()?;
        Ok(all)
    }

    fn read_file(&mut self, text: &str) -> Result<Found, CliError> {
        let path = PathBuf::from(text);
        let folder = tempfile::tempdir()?;
        let mut store = Store::open(&folder.path().join("file.db"))?;
        let working = std::env::current_dir()?;
        let source = Source::open(&path, &working)?;
        let options = ImportOptions {
            format: None,
            suite: None,
            each_run: EachRun::Iteration,
            bad_lines: BadLines::Refuse,
            now: jiff::Timestamp::now(),
        };
        import(&mut store, &source, &options)?;
        let runs = store.runs(&Filter::default())?;
        self.stores.push(store);
        self._folders.push(folder);
        Ok(Found {
            name: text.to_owned(),
            kind: Kind::File,
            place: self.stores.len() - 1,
            runs: runs.into_iter().map(|run| run.id).collect(),
        })
    }

    /// Keeps of variants that were measured with several versions only the newest version that
    /// all of them have: pooled, the versions' difference would pass for noise.
    fn keep_one_version(&mut self, runs: &[RunRow]) {
        if self.found.iter().any(|side| side.kind != Kind::Variant) {
            return;
        }
        let mut versions: Vec<(jiff::Timestamp, String)> = Vec::new();
        for run in runs {
            let Some(name) = version_of(run) else { continue };
            match versions.iter_mut().find(|(_, known)| *known == name) {
                Some((latest, _)) => *latest = run.started.max(*latest),
                None => versions.push((run.started, name)),
            }
        }
        versions.sort();
        let of = |side: &Found, name: &str| -> BTreeSet<String> {
            let chosen = runs.iter().filter(|run| side.runs.contains(&run.id));
            let fitting = chosen.filter(|run| version_of(run).as_deref() == Some(name));
            fitting.map(|run| run.id.clone()).collect()
        };
        let measured: Vec<&(jiff::Timestamp, String)> = versions
            .iter()
            .filter(|(_, name)| self.found.iter().any(|side| !of(side, name).is_empty()))
            .collect();
        if measured.len() < 2 {
            return;
        }
        let newest = measured
            .iter()
            .rev()
            .find(|(_, name)| self.found.iter().all(|side| !of(side, name).is_empty()));
        let Some((_, name)) = newest else { return };
        let kept: Vec<BTreeSet<String>> = self.found.iter().map(|side| of(side, name)).collect();
        self.notes.push(format!(
            "of {} versions the newest that all sides have is compared, {name}; \
             --version-under-test takes another",
            measured.len()
        ));
        for (side, runs) in self.found.iter_mut().zip(kept) {
            side.runs = runs;
        }
    }

    fn refuse_overlaps(&self) -> Result<(), CliError> {
        for (at, one) in self.found.iter().enumerate() {
            for other in &self.found[at + 1..] {
                let shared = one.place == other.place && !one.runs.is_disjoint(&other.runs);
                if shared {
                    return Err(CliError::input(format!(
                        "`{}` and `{}` have runs in common",
                        one.name, other.name
                    ))
                    .hint("a comparison needs two different sides; `--split halves` checks one against itself"));
                }
            }
        }
        Ok(())
    }

    /// Calls `visit` with every benchmark of every store, and the sides of its instances.
    pub fn each_benchmark(
        &self,
        filter: &Filter,
        mut visit: impl FnMut(&BenchmarkData, &dyn Fn(&InstanceData) -> Option<usize>) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        for (place, store) in self.stores.iter().enumerate() {
            let here: Vec<&Found> = self.found.iter().filter(|it| it.place == place).collect();
            let is_file = here.iter().any(|side| side.kind == Kind::File);
            let mut filter = if is_file {
                Filter {
                    benchmarks: filter.benchmarks.clone(),
                    tags: filter.tags.clone(),
                    metrics: filter.metrics.clone(),
                    ..Filter::default()
                }
            } else {
                filter.clone()
            };
            filter.runs = here.iter().flat_map(|side| side.runs.iter().cloned()).collect();
            if filter.runs.is_empty() {
                continue;
            }
            let side_of = |instance: &InstanceData| {
                let run = instance.run.id.to_string();
                let of = |side: &Found| side.place == place && side.runs.contains(&run);
                self.found.iter().position(of)
            };
            store.each_benchmark(&filter, |data| visit(&data, &side_of).map_err(Stopped))?;
        }
        Ok(())
    }
}

/// What ended a visit: ours, or the store's own error.
struct Stopped(CliError);

impl From<StoreError> for Stopped {
    fn from(error: StoreError) -> Self {
        Self(error.into())
    }
}

impl From<Stopped> for CliError {
    fn from(stopped: Stopped) -> Self {
        stopped.0
    }
}

/// Returns the name of the version of a run: its own or else the beginning of its commit.
fn version_of(run: &RunRow) -> Option<String> {
    const SHOWN: usize = 10;
    let commit = || run.commit.as_ref().map(|it| it.chars().take(SHOWN).collect());
    run.version.clone().or_else(commit)
}

fn is_path(side: &Side) -> bool {
    Path::new(&side.text).exists()
}

fn names_runs(side: &Side, runs: &[RunRow]) -> bool {
    side.kind.is_none() && !kinds_of(&side.text, runs).is_empty()
}

/// Returns what a bare word could be.
fn kinds_of(text: &str, runs: &[RunRow]) -> Vec<Kind> {
    let chooses = |kind: &Kind| runs.iter().any(|run| kind.chooses(run, text));
    Kind::ALL.into_iter().filter(chooses).collect()
}

fn look_up(side: &Side, runs: &[RunRow]) -> Result<Found, CliError> {
    let text = &side.text;
    let kind = match side.kind {
        Some(kind) => kind,
        None => match kinds_of(text, runs).as_slice() {
            [] => return Err(nothing(side, runs)),
            [kind] => *kind,
            several => {
                let written: Vec<String> =
                    several.iter().map(|kind| format!("{}:{text}", kind.name())).collect();
                return Err(CliError::input(format!("`{text}` could be several things"))
                    .hint(format!("write {}", written.join(" or "))));
            }
        },
    };
    let chosen: Vec<&RunRow> = runs.iter().filter(|run| kind.chooses(run, text)).collect();
    if chosen.is_empty() {
        return Err(nothing(side, runs));
    }
    Ok(Found {
        name: text.clone(),
        kind,
        place: 0,
        runs: chosen.iter().map(|run| run.id.clone()).collect(),
    })
}

fn nothing(side: &Side, runs: &[RunRow]) -> CliError {
    /// So many are worth naming.
    const SHOWN: usize = 6;
    let text = match side.kind {
        Some(kind) => format!("no run has the {} `{}`", kind.name(), side.text),
        None => format!(
            "`{}` is no variant, version, commit, run, session or file",
            side.text
        ),
    };
    let mut known: BTreeSet<String> = BTreeSet::new();
    for run in runs {
        known.insert(format!("variant:{}", run.variant));
        known.extend(run.version.iter().map(|it| format!("version:{it}")));
        known.extend(run.session_name.iter().map(|it| format!("session:{it}")));
    }
    let close: Vec<String> = known
        .iter()
        .filter(|it| side.kind.is_none_or(|kind| it.starts_with(kind.name())))
        .take(SHOWN)
        .cloned()
        .collect();
    let error = CliError::input(text);
    if close.is_empty() {
        return error.hint("`lapwing list runs` shows what there is");
    }
    error.hint(format!(
        "there are {}; `lapwing list runs` shows all",
        close.join(", ")
    ))
}
