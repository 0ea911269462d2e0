//! Files as sides: read as `lapwing import` reads them, into a store that is forgotten.

use std::io::Read;
use std::path::Path;

use lapwing_core::record::Store;
use lapwing_formats::{BadLines, EachRun, ImportOptions, Source};
use tempfile::TempDir;

use crate::error::CliError;

/// How a file begins that is a store.
const STORE: &[u8] = b"SQLite format 3\0";

/// Files that were read into stores; they go with it.
#[derive(Debug, Default)]
pub struct SideFiles {
    folders: Vec<TempDir>,
}

impl SideFiles {
    /// Returns the content of a file or folder: another store, or results of any format.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn open(&mut self, path: &Path) -> Result<Store, CliError> {
        if is_store(path) {
            return Ok(Store::open_read_only(path)?);
        }
        let folder = TempDir::with_prefix("lapwing-")?;
        let mut store = Store::open(&folder.path().join("file.db"))?;
        let options = ImportOptions {
            format: None,
            suite: None,
            each_run: EachRun::Iteration,
            bad_lines: BadLines::Refuse,
            now: jiff::Timestamp::now(),
        };
        let places = lapwing_formats::places_at(path)
            .map_err(not_imported)?
            .places;
        for place in &places {
            let source = Source::open(&place.path, folder.path()).map_err(not_imported)?;
            lapwing_formats::import(&mut store, &source, &options).map_err(not_imported)?;
        }
        self.folders.push(folder);
        Ok(store)
    }
}

fn not_imported(error: lapwing_formats::ImportError) -> CliError {
    CliError::input(error)
        .hint("`lapwing import FILE` shows more, and can import the valid lines of a file")
}

fn is_store(path: &Path) -> bool {
    let mut start = [0; STORE.len()];
    std::fs::File::open(path)
        .and_then(|mut file| file.read_exact(&mut start))
        .is_ok_and(|()| start == *STORE)
}
