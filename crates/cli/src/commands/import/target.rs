//! Destination of imported results: the store, or a temporary one for a dry run.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use lapwing_formats::{ContinuedHistory, ImportError, ImportOptions, Imported, Source};
use lapwing_model::{Id, Record};
use lapwing_record::{BenchmarkRow, Filter, Store, StoreError};
use lapwing_show::answers::annotating::came_note;
use lapwing_show::writing::Note;

use crate::error::CliError;
use crate::options::Context;
use crate::store::open_for_writing;
use crate::temporary::TemporaryFolder;

/// Whether results are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Keep,
    /// Results are imported temporarily, then discarded.
    DryRun,
}

/// Destination of imported results.
pub(super) struct Target<'c> {
    context: &'c Context,
    way: Way,
    /// `None` if it does not exist, until a format was detected.
    store: Option<Store>,
    /// The folders created for the store, the innermost first; `None` if the store existed.
    made: Option<Vec<PathBuf>>,
    /// The annotations that the store had before.
    known: BTreeSet<Id>,
    /// The folder of a dry run without a store; dropped after the store.
    temporary: Option<TemporaryFolder>,
    /// Whether the store is only for one answer about files.
    is_passing: bool,
    /// The history in the store that other results may continue.
    pub(super) continued: Option<KeptHistory>,
}

/// The history of github-action-benchmark that is in the store.
#[derive(Debug)]
pub(super) struct KeptHistory {
    pub(super) continued: ContinuedHistory,
    /// Its benchmarks, each with each of its metrics.
    figures: BTreeSet<(String, String)>,
}

impl KeptHistory {
    /// Returns whether a source has figures of the history, by its names or those of the tool.
    fn is_continued_by(&self, source: &Source, options: &ImportOptions) -> bool {
        let options = ImportOptions {
            continued: Some(self.continued.clone()),
            ..options.clone()
        };
        if lapwing_formats::is_history_of_action(source) {
            return false;
        }
        let Ok(read) = lapwing_formats::read(source, &options) else {
            // Importing it gives the error.
            return false;
        };
        let metrics = read.records.iter().flat_map(|record| match record {
            Record::Run(run) => run.metrics.keys().cloned().collect(),
            _ => Vec::new(),
        });
        let metrics: BTreeSet<String> = metrics.collect();
        read.records.iter().any(|record| match record {
            Record::Instance(instance) => metrics.iter().any(|metric| {
                let figure = (instance.benchmark.id.clone(), metric.clone());
                self.figures.contains(&figure)
            }),
            _ => false,
        })
    }
}

impl<'c> Target<'c> {
    /// Opens the store, if it exists.
    pub(super) fn new(context: &'c Context, way: Way) -> Result<Self, CliError> {
        let store = match way {
            Way::Keep if context.store.exists() => Some(open_for_writing(context)?),
            Way::DryRun if context.store.exists() => open_to_try(context)?,
            Way::Keep | Way::DryRun => None,
        };
        let known = match &store {
            Some(store) => store.annotations().ids()?,
            None => BTreeSet::new(),
        };
        Ok(Self {
            known,
            context,
            way,
            store,
            made: None,
            temporary: None,
            is_passing: false,
            continued: None,
        })
    }

    /// Imports into this store, which is empty and kept nowhere: nothing in it needs to be hidden.
    pub(super) fn within(store: Store, context: &'c Context) -> Self {
        Self {
            known: BTreeSet::new(),
            context,
            way: Way::Keep,
            store: Some(store),
            made: None,
            temporary: None,
            is_passing: true,
            continued: None,
        }
    }

    /// Returns a note on the annotations that were imported, with their authors.
    pub(super) fn came_note(&self) -> Result<Option<Note>, StoreError> {
        let (Way::Keep, Some(store)) = (self.way, &self.store) else {
            return Ok(None);
        };
        Ok(came_note(&store.annotations().besides(&self.known)?))
    }

    /// Returns whether the store is only for one answer about files.
    pub(super) fn is_passing(&self) -> bool {
        self.is_passing
    }

    /// Returns the suite in the store with its benchmarks, if it is the only one.
    pub(super) fn only_history(&self) -> Result<Option<ContinuedHistory>, StoreError> {
        let Some(store) = &self.store else {
            return Ok(None);
        };
        let rows = store.catalogue().benchmarks(&Filter::default())?;
        let suites: BTreeSet<&str> = rows.iter().map(|it| it.suite.as_str()).collect();
        let only = suites.first().filter(|_| suites.len() == 1);
        Ok(only.map(|suite| ContinuedHistory {
            suite: (*suite).to_owned(),
            benchmarks: rows.iter().map(|it| it.benchmark.clone()).collect(),
        }))
    }

    /// Returns the history of github-action-benchmark in the store, if it is the only one of its kind, with its figures.
    pub(super) fn history_of_action(&self) -> Result<Option<KeptHistory>, StoreError> {
        let Some(store) = &self.store else {
            return Ok(None);
        };
        let sessions = store.catalogue().sessions(&Filter::default())?.into_iter();
        let of_action = sessions.filter(|it| it.tool == ContinuedHistory::TOOL);
        let (mut ids, mut suites) = (BTreeSet::new(), BTreeSet::new());
        for row in of_action {
            ids.extend(row.id.parse::<Id>());
            suites.insert(row.suite);
        }
        let Some(suite) = suites.pop_first().filter(|_| suites.is_empty()) else {
            return Ok(None);
        };
        let figures = self.figures(&ids)?;
        let benchmarks = figures.iter().map(|(benchmark, _)| benchmark.clone());
        Ok(Some(KeptHistory {
            continued: ContinuedHistory {
                suite,
                benchmarks: benchmarks.collect(),
            },
            figures,
        }))
    }

    /// Returns the benchmarks of sessions, each with each of the metrics there.
    pub(super) fn figures(
        &self,
        sessions: &BTreeSet<Id>,
    ) -> Result<BTreeSet<(String, String)>, StoreError> {
        let Some(store) = &self.store else {
            return Ok(BTreeSet::new());
        };
        let mut metrics = BTreeSet::new();
        for session in sessions {
            let state = store.catalogue().session_state(*session)?;
            let of_runs = state.runs.into_iter().flat_map(|it| it.metrics);
            metrics.extend(of_runs.map(|(name, _)| name));
        }
        let filter = Filter {
            sessions: Some(sessions.clone()),
            ..Filter::default()
        };
        let rows = store.catalogue().benchmarks(&filter)?;
        let of = |row: BenchmarkRow| {
            let metrics = metrics.iter().cloned();
            metrics.map(move |metric| (row.benchmark.clone(), metric))
        };
        Ok(rows.into_iter().flat_map(of).collect())
    }

    /// Returns the store's path, unless this is a dry run.
    pub(super) fn kept_in(&self) -> Option<&Path> {
        match self.way {
            Way::Keep => Some(&self.context.store),
            Way::DryRun => None,
        }
    }

    /// Imports a path; a store is created only if the format is known.
    pub(super) fn take(
        &mut self,
        path: &Path,
        options: &ImportOptions,
    ) -> Result<Result<Imported, ImportError>, CliError> {
        let source = match self.source(path, options) {
            Ok(source) => source,
            Err(error) => return Ok(Err(error)),
        };
        let mut options = options.clone();
        if let Some(history) = &self.continued
            && options.suite.is_none()
            && history.is_continued_by(&source, &options)
        {
            options.continued = Some(history.continued.clone());
        }
        let options = &options;
        let store = match &mut self.store {
            Some(store) => store,
            none => none.insert(match self.way {
                Way::Keep => {
                    self.made = Some(missing_folders(&self.context.store));
                    open_for_writing(self.context)?
                }
                Way::DryRun => {
                    let folder = self.temporary.insert(TemporaryFolder::new()?);
                    Store::open(&folder.path().join("lapwing.db"))?
                }
            }),
        };
        Ok(match (self.way, &self.temporary) {
            // An import into a temporary store is real, so that records shared by two files are found.
            (Way::Keep, _) | (Way::DryRun, Some(_)) => {
                lapwing_formats::import(store, &source, options)
            }
            (Way::DryRun, None) => lapwing_formats::rehearse(store, &source, options),
        })
    }

    fn source(&self, path: &Path, options: &ImportOptions) -> Result<Source, ImportError> {
        let folder = match self.way {
            Way::Keep => existing_folder(&self.context.store),
            Way::DryRun => std::env::temp_dir(),
        };
        let source = if path == Path::new("-") {
            Source::spooled("standard input", io::stdin().lock(), &folder)?
        } else {
            Source::open(path, &folder)?
        };
        if self.store.is_none() {
            lapwing_formats::recognise(&source, options)?;
        }
        Ok(source)
    }
}

impl Drop for Target<'_> {
    /// Removes a store created for files that were then all refused.
    fn drop(&mut self) {
        if let (Some(made), Some(store)) = (&self.made, self.store.take())
            && store.remove_if_empty()
        {
            for folder in made {
                // The store's own folder has a file for Git. A folder with other content stays.
                Store::remove_ignore_file(folder);
                let _gone: io::Result<()> = fs::remove_dir(folder);
            }
        }
    }
}

/// Opens a store for writes that are undone, without reading the inbox and without an upgrade.
/// Returns `None` if it does not exist or is not writable.
fn open_to_try(context: &Context) -> Result<Option<Store>, CliError> {
    let path = &context.store;
    match Store::open_read_only(path) {
        Ok(_) => {}
        Err(StoreError::Missing { .. }) => return Ok(None),
        Err(error @ StoreError::Older { .. }) => {
            return Err(CliError::input(error)
                .hint("upgrade it first with any other command, such as `lapwing list`"));
        }
        Err(error) => return Err(error.into()),
    }
    let store = Store::open_existing(path)?;
    if store.is_read_only() {
        context.terminal.note(&format!(
            "{} is not writable and is ignored: results that it already has are counted as new",
            path.display()
        ));
        return Ok(None);
    }
    Ok(Some(store))
}

/// Returns the folder of the store, or the nearest existing one above it.
fn existing_folder(store: &Path) -> PathBuf {
    store
        .ancestors()
        .skip(1)
        .find(|folder| folder.is_dir())
        .map_or_else(|| PathBuf::from("."), Path::to_owned)
}

/// Returns the missing folders of a store, the innermost first.
fn missing_folders(store: &Path) -> Vec<PathBuf> {
    store
        .ancestors()
        .skip(1)
        .take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists())
        .map(Path::to_owned)
        .collect()
}
