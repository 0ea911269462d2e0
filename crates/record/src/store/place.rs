//! The place of a store: which files may be there, and the folder of ours around it.

use std::fs;
use std::io;
use std::path::Path;

use super::open::folder_of;
use super::{Store, StoreError, StoreResult};
use crate::files;

impl Store {
    /// Removes the file that keeps a folder of ours out of the repository around it, if nothing else is in the folder.
    pub fn remove_ignore_file(folder: &Path) {
        let ignored = folder.join(".gitignore");
        let is_alone = fs::read_dir(folder).is_ok_and(|entries| entries.count() == 1);
        if is_alone && files::read_text(&ignored, 16).is_ok_and(|text| text == IGNORE_ALL) {
            let _stays: io::Result<()> = fs::remove_file(ignored);
        }
    }
}

/// The content of the file that keeps a folder of ours out of the repository around it.
const IGNORE_ALL: &str = "*\n";

/// Returns whether a folder has the name that this program gives to its own.
fn is_ours(folder: &Path) -> bool {
    folder.file_name().is_some_and(|it| it == ".lapwing")
}

/// Keeps a folder of ours, made just now, out of the repository around it. Without the file it would only be in sight.
pub(super) fn ignore_for_git(folder: &Path) {
    if is_ours(folder) {
        let _ignored: io::Result<()> = fs::write(folder.join(".gitignore"), IGNORE_ALL);
    }
}

/// Refuses what is no regular file: SQLite would wait for a pipe, and read a device to its end. The files in a folder of
/// ours are no links either, since a repository can bring those.
pub(super) fn refuse_other_files(path: &Path) -> StoreResult<()> {
    if path.is_dir() {
        return Err(StoreError::Directory(path.to_owned()));
    }
    let folder = folder_of(path);
    if is_ours(folder) {
        for place in [folder, path] {
            if place.is_symlink() {
                return Err(StoreError::Link(place.to_owned()));
            }
        }
    }
    let refuse = |place: &Path, metadata: io::Result<fs::Metadata>| match metadata {
        Ok(it) if !it.is_file() => Err(StoreError::NotAStore {
            path: place.to_owned(),
            why: "it is no regular file",
        }),
        Ok(_) | Err(_) => Ok(()),
    };
    refuse(path, fs::metadata(path))?;
    for ending in ["-wal", "-shm", "-journal"] {
        let mut beside = path.to_owned().into_os_string();
        beside.push(ending);
        let beside = Path::new(&beside);
        refuse(beside, fs::symlink_metadata(beside))?;
    }
    Ok(())
}

pub(super) fn refuse_missing(path: &Path) -> StoreResult<()> {
    if path.exists() {
        return Ok(());
    }
    Err(StoreError::Missing(path.to_owned()))
}
