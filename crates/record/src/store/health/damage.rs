//! Remembers that a store is damaged, so that nothing more is written into it.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::super::open::file_identity;
use super::super::{Store, StoreError, StoreResult};
use crate::files::{create_new, read_text};

/// More than the first line of any error of SQLite, in bytes.
const LONGEST_NOTE: u64 = 1 << 20;

impl Store {
    /// Notes beside the store at `path` that damage was found in it.
    pub fn note_damage(path: &Path, what: &str) {
        if let Some((device, inode)) = file_identity(path) {
            let what = what.lines().next().unwrap_or_default();
            // A folder that cannot be written to keeps the store from being written, too.
            let note = note_of(path);
            let _absent = fs::remove_file(&note);
            let _unnoted = create_new(&note).and_then(|mut file| {
                file.write_all(format!("{device} {inode}\n{what}\n").as_bytes())
            });
        }
    }

    /// Forgets damage: a check found none.
    pub fn forget_damage(path: &Path) {
        let _absent = fs::remove_file(note_of(path));
    }

    /// Refuses a store in which damage was found. A file that took its place is another one.
    ///
    /// # Errors
    /// If damage is known.
    pub fn refuse_damaged(path: &Path) -> StoreResult<()> {
        let Ok(note) = read_text(&note_of(path), LONGEST_NOTE) else {
            return Ok(());
        };
        let (file, what) = note.split_once('\n').unwrap_or((&note, ""));
        let known = file_identity(path).map(|(device, inode)| format!("{device} {inode}"));
        if known.as_deref() != Some(file) {
            Self::forget_damage(path);
            return Ok(());
        }
        Err(StoreError::KnownDamage {
            path: path.to_owned(),
            what: what.trim_end().to_owned(),
        })
    }
}

fn note_of(path: &Path) -> PathBuf {
    let mut name = path.to_owned().into_os_string();
    name.push(".damaged");
    PathBuf::from(name)
}
