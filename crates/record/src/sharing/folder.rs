//! A shared history in a folder, also on a network file system.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::fs::{linkat, mkdirat, openat, renameat, renameat_with, unlinkat};
use rustix::io::Errno;

use super::remote::{ObjectCreation, Remote, RemoteError, TooLarge};

/// A folder that holds a shared history.
///
/// Whoever can write to it could put a link or a pipe in the place of a file or of the folder of the
/// segments. Below the folder itself, neither is followed or opened, for reading or writing.
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

    /// Opens the folder of an object; returns it with the name that the object has in it.
    fn folder_of<'n>(&self, name: &'n str) -> io::Result<(OwnedFd, &'n str)> {
        let folder = rustix::fs::open(&self.path, FOLDER, Mode::empty())?;
        match name.rsplit_once('/') {
            Some((within, name)) => Ok((open_folder(&folder, within)?, name)),
            None => Ok((folder, name)),
        }
    }

    /// Makes the folder of an object where there is none.
    fn make_folder_of(&self, name: &str) -> io::Result<()> {
        let there = |made: io::Result<()>| match made {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            made => made,
        };
        there(fs::create_dir(&self.path)).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                io::Error::new(error.kind(), "the folder above it is not there")
            }
            _other => error,
        })?;
        if let Some((within, _)) = name.rsplit_once('/') {
            let folder = rustix::fs::open(&self.path, FOLDER, Mode::empty())?;
            there(mkdirat(&folder, within, Mode::from(0o777)).map_err(io::Error::from))?;
        }
        Ok(())
    }

    fn read(&self, name: &str, limit: u64) -> Result<Vec<u8>, RemoteError> {
        let (folder, file) = self.folder_of(name)?;
        let file = openat(&folder, file, FILE, Mode::empty());
        let file = File::from(file.map_err(|error| no_link(error, name))?);
        if !file.metadata()?.is_file() {
            return Err(not_regular(name).into());
        }
        let mut content = Vec::new();
        file.take(limit + 1).read_to_end(&mut content)?;
        if content.len() as u64 > limit {
            let name = name.to_owned();
            return Err(TooLarge { name, limit }.into());
        }
        Ok(content)
    }

    /// Writes a file that has no name of ours yet, and gives it its name by `name_it`.
    fn write(
        &self,
        name: &str,
        content: &[u8],
        name_it: impl FnOnce(&OwnedFd, &str, &str) -> io::Result<ObjectCreation>,
    ) -> io::Result<ObjectCreation> {
        self.make_folder_of(name)?;
        let (folder, target) = self.folder_of(name)?;
        let (mut file, unborn) = unborn_file(&folder)?;
        let named = file
            .write_all(content)
            .and_then(|()| file.sync_all())
            .and_then(|()| name_it(&folder, &unborn, target));
        // After a rename it has gone already.
        let _gone: Result<(), Errno> = unlinkat(&folder, &unborn, AtFlags::empty());
        if let Ok(ObjectCreation::New) = named {
            sync(&folder);
        }
        named
    }
}

/// How a folder is opened below the shared one.
const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);

/// How a file is opened: opening a pipe must not wait for a writer.
const FILE: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::CLOEXEC);

impl Remote for SharedFolder {
    fn address(&self) -> &str {
        &self.address
    }

    fn get(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, RemoteError> {
        match self.read(name, limit) {
            Ok(content) => Ok(Some(content)),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(error),
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
        Ok(self.write(name, content, name_it)?)
    }

    fn replaces(&self) -> bool {
        true
    }

    fn replace(&self, name: &str, content: Option<&[u8]>) -> Result<(), RemoteError> {
        let Some(content) = content else {
            let (folder, file) = self.folder_of(name)?;
            return match unlinkat(&folder, file, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => Ok(()),
                Err(error) => Err(io::Error::from(error).into()),
            };
        };
        self.write(name, content, |folder, unborn, target| {
            renameat(folder, unborn, folder, target)?;
            Ok(ObjectCreation::New)
        })?;
        Ok(())
    }
}

fn open_folder(folder: &OwnedFd, name: &str) -> io::Result<OwnedFd> {
    let flags = FOLDER | OFlags::NOFOLLOW;
    openat(folder, name, flags, Mode::empty()).map_err(|error| match error {
        Errno::NOTDIR | Errno::LOOP => io::Error::other(format!("{name} is not a folder")),
        other => other.into(),
    })
}

fn not_regular(name: &str) -> io::Error {
    io::Error::other(format!("{name} is not a regular file"))
}

fn no_link(error: Errno, name: &str) -> io::Error {
    match error {
        // A socket cannot be opened.
        Errno::LOOP | Errno::NXIO => not_regular(name),
        other => other.into(),
    }
}

fn is_missing(error: &RemoteError) -> bool {
    let error = error.downcast_ref::<io::Error>();
    error.is_some_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// Makes a name outlast a power failure; not every file system can do it.
fn sync(folder: &OwnedFd) {
    let _unsupported: Result<(), Errno> = rustix::fs::fsync(folder.as_fd());
}

/// Returns the path of what is not there yet as it will be.
fn canonical_parent(path: &Path) -> io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => Ok(fs::canonicalize(parent)?.join(name)),
        (_, _) => Err(io::ErrorKind::NotFound.into()),
    }
}

/// Makes a file that has no name of ours yet; others ignore names that begin with a dot.
fn unborn_file(folder: &OwnedFd) -> io::Result<(File, String)> {
    let mut attempt = 0_u32;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    loop {
        let name = format!(".new-{}-{attempt}", std::process::id());
        match openat(folder, &name, flags, Mode::from(0o666)) {
            Ok(file) => return Ok((File::from(file), name)),
            // Of a process on another machine, or of one that was killed.
            Err(Errno::EXIST) if attempt < 10_000 => attempt += 1,
            Err(error) => return Err(error.into()),
        }
    }
}

/// Gives a file its name unless there is one of that name. A link does so at once for everybody,
/// over NFS too, and never replaces anything.
fn name_it(folder: &OwnedFd, unborn: &str, target: &str) -> io::Result<ObjectCreation> {
    let links = || rustix::fs::statat(folder, unborn, AtFlags::SYMLINK_NOFOLLOW);
    match linkat(folder, unborn, folder, target, AtFlags::empty()) {
        Ok(()) => Ok(ObjectCreation::New),
        // NFS may have made the link and lost the answer.
        Err(_) if links()?.st_nlink == 2 => Ok(ObjectCreation::New),
        Err(Errno::EXIST) => Ok(ObjectCreation::Refused),
        Err(no_links) => {
            // A file system without links, such as exFAT.
            match renameat_with(folder, unborn, folder, target, RenameFlags::NOREPLACE) {
                Ok(()) => Ok(ObjectCreation::New),
                Err(Errno::EXIST) => Ok(ObjectCreation::Refused),
                Err(_) => Err(no_links.into()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_never_replaced_unless_that_is_asked_and_nothing_else_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let remote = SharedFolder::new(&folder.path().join("shared")).expect("a path");
        let get = || remote.get("segments/1", 100).expect("readable");
        assert_eq!(get(), None);
        let created = remote.create("segments/1", b"first").expect("writable");
        assert_eq!(created, ObjectCreation::New);
        let created = remote.create("segments/1", b"second").expect("writable");
        assert_eq!(created, ObjectCreation::Refused);
        assert_eq!(get(), Some(b"first".to_vec()));
        let other: &[u8] = b"other";
        remote.replace("segments/1", Some(other)).expect("there");
        assert_eq!(get(), Some(b"other".to_vec()));
        let left = fs::read_dir(folder.path().join("shared/segments")).expect("there");
        assert_eq!(left.count(), 1);
        remote.replace("segments/1", None).expect("there");
        assert_eq!(get(), None);
    }

    #[test]
    fn what_is_no_file_is_neither_waited_for_nor_followed() {
        use rustix::fs::CWD;
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        let remote = SharedFolder::new(&at("shared")).expect("a path");
        remote.create("segments/1", b"first").expect("writable");
        let pipe = at("shared/lapwing.json");
        let mode = Mode::RUSR | Mode::WUSR;
        rustix::fs::mknodat(CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).expect("a pipe");
        fs::write(at("secret"), "secret").expect("written");
        symlink(at("secret"), at("shared/segments/2")).expect("a link");
        symlink("/dev/zero", at("shared/segments/3")).expect("a link");
        for name in ["lapwing.json", "segments/2", "segments/3"] {
            let error = remote.get(name, 100).expect_err("no file");
            assert_eq!(error.to_string(), format!("{name} is not a regular file"));
        }
        let created = remote.create("segments/2", b"mine").expect("writable");
        assert_eq!(created, ObjectCreation::Refused);
        let mine: &[u8] = b"mine";
        remote.replace("segments/2", Some(mine)).expect("there");
        assert_eq!(fs::read(at("secret")).expect("there"), b"secret");

        fs::rename(at("shared/segments"), at("elsewhere")).expect("moved");
        symlink(at("elsewhere"), at("shared/segments")).expect("a link");
        let error = remote.get("segments/1", 100).expect_err("a link");
        assert_eq!(error.to_string(), "segments is not a folder");
        let error = remote.create("segments/9", b"x").expect_err("a link");
        assert_eq!(error.to_string(), "segments is not a folder");
        assert!(!at("elsewhere/9").exists());
    }

    #[test]
    fn no_more_is_read_than_may_be_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let remote = SharedFolder::new(folder.path()).expect("a path");
        let file = File::create(folder.path().join("lapwing.json")).expect("a file");
        file.set_len(3 << 30).expect("a file with a hole");
        let error = remote.get("lapwing.json", 100).expect_err("too large");
        assert_eq!(error.to_string(), "lapwing.json is larger than 100 bytes");
    }

    #[test]
    fn a_folder_that_may_not_be_mounted_is_not_made() {
        let folder = tempfile::tempdir().expect("a folder");
        let remote = SharedFolder::new(&folder.path().join("mount/shared")).expect("a path");
        remote.create("a", b"").expect_err("nothing above it");
        assert!(!folder.path().join("mount").exists());
    }
}
