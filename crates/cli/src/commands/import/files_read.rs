//! Results of files that are looked at without a store.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use lapwing_formats::ImportOptions;
use lapwing_measure::suite::{CommandLine, command_text};
use lapwing_model::text::counted;
use lapwing_record::{Filter, Store};
use lapwing_show::writing::{NextStep, Note};
use tempfile::TempDir;

use super::take_all;
use super::target::{Target, Way};
use crate::error::CliError;
use crate::options::Context;

/// The results of files, in a store that is removed with it.
#[derive(Debug)]
pub struct FilesRead {
    paths: Vec<PathBuf>,
    folder: TempDir,
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
            folder: TempDir::with_prefix("lapwing-")?,
            notes: Vec::new(),
        };
        let own = Context {
            store: read.store(),
            ..context.copied()
        };
        let mut target = Target::new(&own, Way::Keep)?;
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
        let paths = self.paths.iter().map(|path| path.display().to_string());
        let words = ["lapwing".to_owned(), "import".to_owned()];
        let import = CommandLine::Words(words.into_iter().chain(paths).collect());
        let keep = NextStep::new(
            command_text(&import),
            "keeps these results, which were not stored",
        );
        Context {
            store: self.store(),
            file_notes: self.notes.clone(),
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
    CliError::input(format!("there is no file {}", path.display()))
}
