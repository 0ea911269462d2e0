//! Results of files that are looked at without a store.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use lapwing_formats::ImportOptions;
use lapwing_measure::suite::{CommandLine, command_text};
use lapwing_model::text::counted;
use lapwing_record::{Filter, Store};
use lapwing_show::writing::{NextStep, Note};

use super::take_all;
use super::target::Target;
use crate::error::CliError;
use crate::options::Context;
use crate::temporary::TemporaryFolder;

/// The results of files, in a store that is removed with it.
#[derive(Debug)]
pub struct FilesRead {
    paths: Vec<PathBuf>,
    folder: TemporaryFolder,
    /// Remarks on what was read and what was skipped.
    notes: Vec<Note>,
}

impl FilesRead {
    /// Reads all results at these paths. None of the files may be refused, since what is said of the others would not
    /// be what was asked.
    pub fn read(
        paths: &[PathBuf],
        options: &ImportOptions,
        context: &Context,
    ) -> Result<Self, CliError> {
        if let Some(missing) = paths.iter().find(|path| is_missing(path)) {
            return Err(no_file(missing));
        }
        let mut read = Self {
            paths: paths.to_vec(),
            folder: TemporaryFolder::new()?,
            notes: Vec::new(),
        };
        let own = Context {
            store: read.store(),
            ..context.copied()
        };
        let mut target = Target::within(Store::open(&own.store)?, &own);
        let taken = take_all(paths, options, &mut target, &own)?;
        let refused = taken.tally.refused.len();
        if refused > 0 {
            // Each was told.
            let what = format!("{} cannot be read", counted(refused, "file"));
            return Err(CliError::input(what).hint("name only files that can be read"));
        }
        let mut account = taken.answer(options, &target, &own);
        account.store = None;
        read.notes = account.all_notes();
        Ok(read)
    }

    /// Returns whether these are the paths that were read.
    pub fn is_of(&self, paths: &[PathBuf]) -> bool {
        self.paths == paths
    }

    fn store(&self) -> PathBuf {
        self.folder.path().join("lapwing.db")
    }

    /// Returns the number of different moments of which there are results: versions, or sessions.
    pub fn moments(&self) -> Result<usize, CliError> {
        moments(&self.store())
    }

    /// Returns the context of a command about these files.
    pub fn context(&self, context: &Context) -> Context {
        let is_input = self.paths.iter().any(|path| path == Path::new("-"));
        let keep = NextStep::new(
            lapwing_command(&["import"], &self.paths),
            match is_input {
                true => "keeps such results: these were not stored",
                false => "keeps these results, which were not stored",
            },
        );
        Context {
            store: self.store(),
            file_notes: [&context.file_notes[..], &self.notes].concat(),
            file_next: Some(keep),
            ..context.copied()
        }
    }
}

/// Returns the number of different moments of which a store has results of one variant: versions, or sessions.
pub fn moments(store: &Path) -> Result<usize, CliError> {
    let store = Store::open_read_only(store)?;
    let runs = store.catalogue().runs(&Filter::default())?;
    let mut moments: BTreeMap<&str, BTreeSet<_>> = BTreeMap::new();
    for head in runs.iter().map(|row| &row.head) {
        let of_variant = moments.entry(&head.variant).or_default();
        of_variant.insert((
            head.session,
            head.version.as_deref(),
            head.commit.as_deref(),
        ));
    }
    Ok(moments.values().map(BTreeSet::len).max().unwrap_or(0))
}

/// Returns whether a path is neither there, nor a pattern, nor standard input.
pub fn is_missing(path: &Path) -> bool {
    let text = path.to_string_lossy();
    path != Path::new("-") && !path.exists() && !text.contains(['*', '?', '['])
}

/// Returns the error of a file that is not there.
pub fn no_file(path: &Path) -> CliError {
    let text = path.display().to_string();
    let error = CliError::input(format!("there is no file {text}"));
    if text.contains(' ') {
        let command = command_text(&CommandLine::Words(vec![text]));
        return error.hint(format!(
            "if it is a command, `lapwing run {command}` measures it"
        ));
    }
    error
}

/// Most files that a command names.
const MOST_NAMED: usize = 3;

/// Returns a command of this program about files: many are named by their folder or a pattern, where these fit.
pub fn lapwing_command(words: &[&str], paths: &[PathBuf]) -> String {
    let command = |paths: &[PathBuf]| {
        let words = std::iter::once(&"lapwing").chain(words);
        let words = words.map(|it| (*it).to_owned());
        let paths = paths.iter().map(|path| short(path).display().to_string());
        command_text(&CommandLine::Words(words.chain(paths).collect()))
    };
    if paths.len() <= MOST_NAMED {
        return command(paths);
    }
    match common_name(paths) {
        Some(name) => command(&[name]),
        None => format!("{} …", command(&paths[..MOST_NAMED])),
    }
}

/// Returns a path in the working directory without `./`.
fn short(path: &Path) -> &Path {
    let rest = path.strip_prefix(".").unwrap_or(path);
    let needs_start = rest.as_os_str().is_empty() || rest.to_string_lossy().starts_with('-');
    if needs_start { path } else { rest }
}

/// Returns the folder that has just these files, or the pattern that just they fit.
fn common_name(paths: &[PathBuf]) -> Option<PathBuf> {
    let folder = paths[0].parent()?;
    let all: BTreeSet<&Path> = paths.iter().map(PathBuf::as_path).collect();
    let is_name = |name: &Path| {
        let found = lapwing_formats::places_at(name).map(|it| it.places);
        let found = found.unwrap_or_default();
        let found: BTreeSet<&Path> = found.iter().map(|it| it.path.as_path()).collect();
        found == all
    };
    let pattern = folder.join(format!("*.{}", paths[0].extension()?.to_str()?));
    let is_plain = folder != Path::new("") && folder != Path::new(".");
    let names = is_plain.then(|| folder.to_owned());
    names.into_iter().chain([pattern]).find(|it| is_name(it))
}
