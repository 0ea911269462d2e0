//! Temporary folders, which are removed even if a signal ends this process.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::TempDir;

use crate::session::handle_signals;

/// All temporary folders of this process.
static FOLDERS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// A folder that is removed with it.
#[derive(Debug)]
pub struct TemporaryFolder(TempDir);

impl TemporaryFolder {
    /// Creates a folder.
    pub fn new() -> io::Result<Self> {
        // Without a handler, a signal merely leaves the folder behind.
        let _unhandled = handle_signals();
        let mut folders = FOLDERS.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = TempDir::with_prefix("lapwing-")?;
        folders.insert(folder.path().to_owned());
        Ok(Self(folder))
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        let mut folders = FOLDERS.lock().unwrap_or_else(PoisonError::into_inner);
        folders.remove(self.0.path());
    }
}

/// Removes all temporary folders, before this process ends.
pub fn remove_all() {
    let folders = FOLDERS.lock().unwrap_or_else(PoisonError::into_inner);
    for folder in folders.iter() {
        // Another thread may still write into it.
        let removed = (0..5).any(|_| fs::remove_dir_all(folder).is_ok() || !folder.exists());
        let _left_behind = removed;
    }
}
