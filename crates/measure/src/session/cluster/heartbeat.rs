//! The sign of life of a client whose jobs are of no use without it: a file in the shared folder that it touches.
//!
//! Ages are differences between times of files in that folder, which one file server gives them: the clocks of the
//! machines may differ.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The time between two signs of life.
const BEAT: Duration = Duration::from_secs(10);
/// How long a client without a sign of life may still be there: its machine is busy, or a scheduler keeps it waiting.
const SILENCE: Duration = Duration::from_secs(15 * 60);

/// The client's side.
#[derive(Debug)]
pub struct Heartbeat {
    file: PathBuf,
    last: Option<Instant>,
}

fn heartbeat_of(folder: &Path) -> PathBuf {
    folder.join("heartbeat")
}

impl Heartbeat {
    /// Returns the sign of life of this process in a folder.
    pub fn new(folder: &Path) -> Self {
        Self {
            file: heartbeat_of(folder),
            last: None,
        }
    }

    /// Gives a sign of life if it is time for one.
    pub fn beat(&mut self) -> io::Result<()> {
        if self.last.is_none_or(|last| last.elapsed() >= BEAT) {
            fs::write(&self.file, "\n")?;
            self.last = Some(Instant::now());
        }
        Ok(())
    }
}

/// Returns whether the client of a folder is gone: the folder is, or the last sign of life is old. `own` is the name of
/// a file in the folder that no other process writes.
///
/// # Errors
/// If that cannot be told.
pub fn is_client_gone(folder: &Path, own: &str) -> io::Result<bool> {
    let own = folder.join(own);
    let ages = fs::write(&own, "\n").and_then(|()| {
        let now = fs::metadata(&own)?.modified()?;
        let last = fs::metadata(heartbeat_of(folder))?.modified()?;
        // In the future, if a file server is set right.
        Ok(now.duration_since(last).unwrap_or_default())
    });
    match ages {
        Ok(age) => Ok(age > SILENCE),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error),
    }
}

/// Returns the folders of analyses whose clients are gone.
pub fn abandoned_folders(parent: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let folders = entries.map(|entry| entry.path()).filter(|path| {
        let name = path.file_name().unwrap_or_default();
        // One that has no sign of life yet was begun just now.
        let is_begun = heartbeat_of(path).is_file();
        is_begun && name.to_string_lossy().starts_with("shares-")
    });
    folders
        .filter(|path| is_client_gone(path, "sweep").unwrap_or(false))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_gone_when_its_folder_is_or_its_last_sign_of_life_is_old() {
        let parent = tempfile::tempdir().expect("a folder");
        let folder = parent.path().join("shares-1");
        fs::create_dir(&folder).expect("created");
        assert_eq!(abandoned_folders(parent.path()), Vec::<PathBuf>::new());
        let mut heartbeat = Heartbeat::new(&folder);
        heartbeat.beat().expect("touched");
        assert!(!is_client_gone(&folder, "1-0").expect("told"));
        assert_eq!(abandoned_folders(parent.path()), Vec::<PathBuf>::new());
        let file = fs::File::options()
            .append(true)
            .open(folder.join("heartbeat"));
        let file = file.expect("opened");
        let old = file
            .metadata()
            .and_then(|it| it.modified())
            .expect("a time")
            - 2 * SILENCE;
        file.set_modified(old).expect("set");
        assert!(is_client_gone(&folder, "1-0").expect("told"));
        assert_eq!(abandoned_folders(parent.path()), vec![folder.clone()]);
        fs::remove_dir_all(&folder).expect("removed");
        assert!(is_client_gone(&folder, "1-0").expect("told"));
    }
}
