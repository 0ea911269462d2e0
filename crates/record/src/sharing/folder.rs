//! A shared history in a folder, also on a network file system.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::remote::{ObjectCreation, Remote, RemoteError};

/// A folder that holds a shared history.
#[derive(Debug)]
pub struct SharedFolder {
    path: PathBuf,
    address: String,
}

impl SharedFolder {
    /// Returns the folder at `path`, which is made when something is created in it. The folder
    /// above must be there: what is mounted by network may just not be mounted.
    ///
    /// # Errors
    /// When the working directory is not known.
    pub fn new(path: &Path) -> io::Result<Self> {
        let path = fs::canonicalize(path)
            .or_else(|_not_there| canonical_parent(path))
            .or_else(|_nor_above| std::path::absolute(path))?;
        Ok(Self {
            address: path.display().to_string(),
            path,
        })
    }

    fn write(&self, target: &Path, content: &[u8]) -> io::Result<ObjectCreation> {
        let folder = target.parent().unwrap_or(&self.path);
        make_folder(&self.path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                io::Error::new(error.kind(), "the folder above it is not there")
            }
            _other => error,
        })?;
        make_folder(folder)?;
        let (mut file, unborn) = unborn_file(folder)?;
        let named = file
            .write_all(content)
            .and_then(|()| file.sync_all())
            .and_then(|()| name_it(&unborn, target));
        // After a rename it has gone already.
        let _gone: io::Result<()> = fs::remove_file(&unborn);
        if let Ok(ObjectCreation::New) = named {
            // So that the name outlasts a power failure; not every file system can do it.
            let _unsupported: io::Result<()> = File::open(folder).and_then(|it| it.sync_all());
        }
        named
    }
}

impl Remote for SharedFolder {
    fn address(&self) -> &str {
        &self.address
    }

    fn get(&self, name: &str) -> Result<Option<Vec<u8>>, RemoteError> {
        let path = self.path.join(name);
        let read = fs::metadata(&path).and_then(|metadata| {
            if metadata.is_file() {
                fs::read(&path)
            } else {
                // Reading a pipe would wait for ever.
                Err(io::Error::other(format!("{name} is not a regular file")))
            }
        });
        match read {
            Ok(content) => Ok(Some(content)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn list(&self, folder: &str) -> Result<Option<Vec<String>>, RemoteError> {
        let entries = match fs::read_dir(self.path.join(folder)) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Some(Vec::new())),
            // What may be entered may still not be listed.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let mut names = Vec::new();
        for entry in entries {
            // Names of ours are plain text.
            names.extend(entry?.file_name().into_string());
        }
        Ok(Some(names))
    }

    fn create(&self, name: &str, content: &[u8]) -> Result<ObjectCreation, RemoteError> {
        Ok(self.write(&self.path.join(name), content)?)
    }
}

/// Returns the path of what is not there yet as it will be.
fn canonical_parent(path: &Path) -> io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => Ok(fs::canonicalize(parent)?.join(name)),
        (_, _) => Err(io::ErrorKind::NotFound.into()),
    }
}

fn make_folder(path: &Path) -> io::Result<()> {
    match fs::create_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

/// Makes a file that has no name of ours yet; others ignore names that begin with a dot.
fn unborn_file(folder: &Path) -> io::Result<(File, PathBuf)> {
    let mut attempt = 0_u32;
    loop {
        let path = folder.join(format!(".new-{}-{attempt}", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => return Ok((file, path)),
            // Of a process on another machine, or of one that was killed.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < 10_000 => {
                attempt += 1;
            }
            Err(error) => return Err(error),
        }
    }
}

/// Gives a file its name unless there is one of that name. A link does so at once for everybody,
/// over NFS too, and never replaces anything.
fn name_it(unborn: &Path, target: &Path) -> io::Result<ObjectCreation> {
    match fs::hard_link(unborn, target) {
        Ok(()) => Ok(ObjectCreation::New),
        // NFS may have made the link and lost the answer.
        Err(_) if fs::metadata(unborn)?.nlink() == 2 => Ok(ObjectCreation::New),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(ObjectCreation::Refused),
        Err(no_links) => {
            // A file system without links, such as exFAT.
            match renameat_with(CWD, unborn, CWD, target, RenameFlags::NOREPLACE) {
                Ok(()) => Ok(ObjectCreation::New),
                Err(rustix::io::Errno::EXIST) => Ok(ObjectCreation::Refused),
                Err(_) => Err(no_links),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_never_replaced_and_nothing_else_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let remote = SharedFolder::new(&folder.path().join("shared")).expect("a path");
        assert_eq!(remote.get("segments/1").expect("readable"), None);
        let created = remote.create("segments/1", b"first").expect("writable");
        assert_eq!(created, ObjectCreation::New);
        let created = remote.create("segments/1", b"second").expect("writable");
        assert_eq!(created, ObjectCreation::Refused);
        assert_eq!(
            remote.get("segments/1").expect("readable"),
            Some(b"first".to_vec())
        );
        let left = fs::read_dir(folder.path().join("shared/segments")).expect("there");
        assert_eq!(left.count(), 1);
    }

    #[test]
    fn what_is_no_file_is_not_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let remote = SharedFolder::new(folder.path()).expect("a path");
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        let pipe = folder.path().join("lapwing.json");
        rustix::fs::mknodat(CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).expect("a pipe");
        let error = remote.get("lapwing.json").expect_err("a pipe");
        assert_eq!(error.to_string(), "lapwing.json is not a regular file");
    }

    #[test]
    fn a_folder_that_may_not_be_mounted_is_not_made() {
        let folder = tempfile::tempdir().expect("a folder");
        let remote = SharedFolder::new(&folder.path().join("mount/shared")).expect("a path");
        remote.create("a", b"").expect_err("nothing above it");
        assert!(!folder.path().join("mount").exists());
    }
}
