//! The folders of checked-out commits: outside of every working tree, so that tools that search the folders above (for
//! a configuration file, packages, a workspace) do not find the working tree's files.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::discard_worktree;
use lapwing_model::Id;
use lapwing_record::inbox::is_named;

use super::SessionPlaces;
use super::kept_environments::{NOTE, lost_text, put_back};

/// The folder for the commits of one session. Its owner holds the lock of the file beside it; if the lock is free, the
/// owner is dead.
pub struct Worktrees {
    folder: PathBuf,
    lock_path: PathBuf,
    _lock: File,
}

impl Worktrees {
    /// Removes the folders of killed processes, and creates one for a session.
    pub fn create(session: Id, repository: &Path, places: &SessionPlaces) -> io::Result<Self> {
        let all = places.cache_folder("worktrees", repository)?;
        // Every command that opens a store has told of what could not be put back.
        let _told = clear(&all);
        let lock_path = all.join(format!("{session}.lock"));
        // Locked before the folder exists, so that it is never unlocked.
        let lock = lock(&lock_path)?;
        let folder = all.join(session.to_string());
        fs::create_dir_all(&folder)?;
        Ok(Self {
            folder: folder.canonicalize()?,
            lock_path,
            _lock: lock,
        })
    }

    /// Returns its path, without symbolic links.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Worktrees {
    fn drop(&mut self) {
        // The next process removes what remains.
        let _gone = fs::remove_dir_all(&self.folder);
        let _gone = fs::remove_file(&self.lock_path);
    }
}

impl SessionPlaces {
    /// Creates and returns the first usable folder of that name in a cache outside of a repository.
    ///
    /// # Errors
    /// If there is none.
    pub fn cache_folder(&self, name: &str, repository: &Path) -> io::Result<PathBuf> {
        first_usable(&self.caches, name, repository)
    }

    /// Creates and returns the first usable folder of that name for what is kept of the user, outside of a repository.
    ///
    /// # Errors
    /// If there is none.
    pub fn state_folder(&self, name: &str, repository: &Path) -> io::Result<PathBuf> {
        first_usable(&self.states, name, repository)
    }
}

/// Removes the checkouts of killed processes, and puts back what they installed over. Returns what cannot be put back,
/// in words.
pub fn remove_killed_checkouts(places: &SessionPlaces) -> Vec<String> {
    let mut troubles = Vec::new();
    let user = fs::metadata("/proc/self").map_or(0, |it| it.uid());
    for cache in &places.caches {
        let all = cache.join("worktrees");
        if fs::metadata(&all).is_ok_and(|it| it.is_dir() && it.uid() == user) {
            troubles.extend(clear(&all));
        }
    }
    troubles
}

fn first_usable(folders: &[PathBuf], name: &str, repository: &Path) -> io::Result<PathBuf> {
    let user = fs::metadata("/proc/self").map_or(0, |it| it.uid());
    let mut why = io::Error::other("there is no folder for commits outside of the repository");
    for folder in folders {
        match usable(&folder.join(name), repository, user) {
            Ok(Some(folder)) => return Ok(folder),
            Ok(None) => {}
            Err(error) => why = error,
        }
    }
    Err(why)
}

/// Creates and tries a folder; `None` if it is in the repository or belongs to another user.
fn usable(folder: &Path, repository: &Path, user: u32) -> io::Result<Option<PathBuf>> {
    let nearest = folder.ancestors().find_map(|it| it.canonicalize().ok());
    if nearest.is_some_and(|it| it.starts_with(repository)) {
        return Ok(None);
    }
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)?;
    let folder = folder.canonicalize()?;
    if folder.starts_with(repository) || fs::metadata(&folder)?.uid() != user {
        return Ok(None);
    }
    // Several processes may try it at once.
    let trial = folder.join(format!(".{}", std::process::id()));
    File::create(&trial)?;
    let _gone = fs::remove_file(&trial);
    Ok(Some(folder))
}

/// Waits for a lock.
pub fn lock(path: &Path) -> io::Result<File> {
    loop {
        let file = open(path)?;
        file.lock()?;
        if is_named(&file, path).unwrap_or(false) {
            return Ok(file);
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true).open(path)
}

/// Puts back what ended sessions installed over, and removes their folders, as far as possible. Returns what cannot be put
/// back, in words.
fn clear(all: &Path) -> Vec<String> {
    let mut troubles = Vec::new();
    let entries = fs::read_dir(all).into_iter().flatten().flatten();
    let names: BTreeSet<String> = entries
        .filter_map(|it| it.file_name().into_string().ok())
        .filter_map(|it| {
            let name = it.trim_end_matches(".lock").trim_end_matches(NOTE);
            Some(name.parse::<Id>().ok()?.to_string())
        })
        .collect();
    for name in names {
        let lock_path = all.join(format!("{name}.lock"));
        let Ok(lock) = open(&lock_path) else { continue };
        match lock.try_lock() {
            Ok(()) if is_named(&lock, &lock_path).unwrap_or(false) => {}
            Ok(()) | Err(TryLockError::WouldBlock | TryLockError::Error(_)) => continue,
        }
        let note = all.join(format!("{name}{NOTE}"));
        if note.exists() {
            match put_back(&note) {
                Ok(lost) if lost.is_empty() => {}
                Ok(lost) => troubles.push(lost_text(&lost)),
                Err(error) => {
                    // The next process tries it again.
                    troubles.push(format!(
                        "what a killed session had installed cannot be put back ({error}): see {}",
                        note.display()
                    ));
                    continue;
                }
            }
        }
        let session = all.join(&name);
        for folder in fs::read_dir(&session).into_iter().flatten().flatten() {
            discard_worktree(&folder.path());
        }
        let _gone = fs::remove_dir_all(&session);
        let _gone = fs::remove_file(&lock_path);
    }
    troubles
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(last: u8) -> Id {
        Id::derived(&[&[last]])
    }

    #[test]
    fn what_nobody_holds_is_cleared_away_and_what_somebody_holds_is_not() {
        let all = tempfile::tempdir().expect("a folder");
        let at = |name: String| all.path().join(name);
        for number in 1..=2 {
            fs::create_dir_all(at(id(number).to_string()).join("commit")).expect("made");
        }
        fs::write(at(format!("{}.lock", id(3))), "").expect("written");
        fs::create_dir(at("of-somebody".to_owned())).expect("made");
        let held = lock(&at(format!("{}.lock", id(2)))).expect("locked");
        clear(all.path());
        let mut left: Vec<String> = fs::read_dir(all.path())
            .expect("a folder")
            .filter_map(|it| it.ok()?.file_name().into_string().ok())
            .collect();
        left.sort();
        let mut expected = vec![
            id(2).to_string(),
            format!("{}.lock", id(2)),
            "of-somebody".to_owned(),
        ];
        expected.sort();
        assert_eq!(left, expected);
        drop(held);
        clear(all.path());
        assert_eq!(fs::read_dir(all.path()).expect("a folder").count(), 1);
    }

    #[test]
    fn a_folder_within_the_repository_will_not_do() {
        let repository = tempfile::tempdir().expect("a folder");
        let top = repository.path().canonicalize().expect("a path");
        let user = fs::metadata(&top).expect("there").uid();
        let within = usable(&top.join("deep/cache"), &top, user).expect("looked at");
        assert_eq!((within, top.join("deep").exists()), (None, false));
        let beside = tempfile::tempdir().expect("a folder");
        let beside = beside.path().canonicalize().expect("a path").join("cache");
        assert_eq!(
            usable(&beside, &top, user).expect("made"),
            Some(beside.clone())
        );
        assert_eq!(usable(&beside, &top, user + 1).expect("looked at"), None);
    }
}
