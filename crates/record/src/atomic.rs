//! Atomic replacement of files: a reader, or an interrupted process, has the old or the new text.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::Builder;

/// Replaces the content of a file. Links and permissions stay, and devices and pipes are written into.
///
/// # Errors
/// When it cannot be written; then it is as it was.
pub fn replace(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    replace_by(path, |out| out.write_all(content.as_ref()))
}

/// Replaces a file by what `write` writes, as [`replace`] does.
///
/// # Errors
/// When it cannot be written, or `write` fails; then it is as it was.
pub fn replace_by<T, E: From<io::Error>>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<T, E>,
) -> Result<T, E> {
    if is_written_into(path) {
        let mut out = BufWriter::new(File::options().write(true).open(path)?);
        let written = write(&mut out)?;
        out.flush()?;
        return Ok(written);
    }
    let target = real_place(path)?;
    let folder = folder_of(&target);
    let file = Builder::new().prefix(".lapwing-").tempfile_in(folder)?;
    let mut out = BufWriter::new(file.as_file().try_clone()?);
    let written = write(&mut out)?;
    out.flush()?;
    match std::fs::metadata(&target) {
        Ok(old) => file.as_file().set_permissions(old.permissions())?,
        Err(_new) => file.as_file().set_permissions(usual_rights(folder)?)?,
    }
    file.as_file().sync_all()?;
    file.persist(&target).map_err(|error| error.error)?;
    Ok(written)
}

/// Checks that a file can be replaced.
///
/// # Errors
/// When it cannot.
pub fn check(path: &Path) -> io::Result<()> {
    if is_written_into(path) {
        return Ok(());
    }
    let target = real_place(path)?;
    let folder = folder_of(&target);
    let probe = Builder::new().prefix(".lapwing-").tempfile_in(folder);
    // Without the name of the probe.
    probe.map(drop).map_err(|error| error.kind().into())
}

/// Returns the folder of a file.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        Some(_) | None => Path::new("."),
    }
}

/// Returns whether the path is a device, a pipe or a socket, which has no old text.
fn is_written_into(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|it| !it.is_file() && !it.is_dir())
}

/// Returns the path of a file with links resolved, whether it exists or not: a linked file is replaced, not its link.
fn real_place(path: &Path) -> io::Result<PathBuf> {
    /// More links than this are a circle.
    const MOST_LINKS: usize = 40;
    let mut place = path.to_owned();
    for _ in 0..MOST_LINKS {
        if let Ok(place) = std::fs::canonicalize(&place) {
            return Ok(place);
        }
        match std::fs::read_link(&place) {
            Ok(target) => place = place.parent().unwrap_or(Path::new("")).join(target),
            Err(_no_link) => return Ok(place),
        }
    }
    Err(io::Error::other("its links go round in a circle"))
}

/// Locks the folder of a file until the lock is dropped. The lock is the same through all links to the file.
///
/// # Errors
/// When there is no such folder, or it cannot be locked.
pub fn lock_beside(path: &Path) -> io::Result<File> {
    let place = real_place(path)?;
    let folder = folder_of(&place);
    let folder = File::open(folder)?;
    folder.lock()?;
    Ok(folder)
}

/// Returns the permissions of a new file in a folder.
fn usual_rights(folder: &Path) -> io::Result<std::fs::Permissions> {
    use std::os::unix::fs::PermissionsExt;
    let all = std::fs::Permissions::from_mode(0o666);
    // The kernel applies the user's mask.
    let probe = Builder::new()
        .prefix(".lapwing-")
        .permissions(all)
        .tempfile_in(folder)?;
    Ok(probe.as_file().metadata()?.permissions())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn what_is_replaced_keeps_its_rights_and_its_link() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        std::fs::write(&file, "old").expect("written");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).expect("set");
        std::os::unix::fs::symlink("file", &link).expect("linked");
        replace(&link, "new").expect("replaced");
        assert!(link.is_symlink());
        assert_eq!(std::fs::read_to_string(&file).expect("there"), "new");
        let mode = std::fs::metadata(&file)
            .expect("there")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o640);
    }

    #[test]
    fn a_link_to_a_file_that_is_not_there_yet_is_written_through_and_shares_its_lock() {
        let folder = tempfile::tempdir().expect("a folder");
        let (there, link) = (folder.path().join("there"), folder.path().join("link"));
        std::fs::create_dir(&there).expect("made");
        std::os::unix::fs::symlink("there/file", &link).expect("linked");
        let lock = lock_beside(&link).expect("locked");
        let other = File::open(&there).expect("opened");
        other.try_lock().expect_err("it is the same lock");
        drop(lock);
        replace(&link, "new").expect("written");
        assert!(link.is_symlink());
        let text = std::fs::read_to_string(there.join("file")).expect("there");
        assert_eq!(text, "new");
        std::fs::remove_file(&link).expect("removed");
        std::os::unix::fs::symlink("link", &link).expect("linked");
        replace(&link, "new").expect_err("a circle");
    }

    #[test]
    fn a_pipe_is_written_into_and_stays() {
        use std::io::Read;
        use std::os::unix::fs::FileTypeExt;
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.expect("mkfifo").success());
        check(&pipe).expect("nothing has to be made beside it");
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || {
                let mut text = String::new();
                File::open(pipe).and_then(|mut it| it.read_to_string(&mut text))?;
                Ok::<_, io::Error>(text)
            }
        });
        replace(&pipe, "new").expect("written");
        let text = reader.join().expect("read").expect("read");
        assert_eq!(text, "new");
        let kind = std::fs::metadata(&pipe).expect("there").file_type();
        assert!(kind.is_fifo());
    }

    #[test]
    fn what_fails_half_way_leaves_the_old_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("file");
        replace(&file, "old").expect("written");
        let failed = replace_by(&file, |out| {
            out.write_all(b"half")?;
            Err::<(), _>(io::Error::other("interrupted"))
        });
        failed.expect_err("it was interrupted");
        assert_eq!(std::fs::read_to_string(&file).expect("there"), "old");
        let left = std::fs::read_dir(folder.path()).expect("there").count();
        assert_eq!(left, 1);
    }

    #[test]
    fn nothing_stays_where_nothing_can_be_written() {
        let folder = tempfile::tempdir().expect("a folder");
        replace(&folder.path().join("none/file"), "new").expect_err("no such folder");
        replace(&folder.path().join("file"), "new").expect("written");
        let left = std::fs::read_dir(folder.path()).expect("there").count();
        assert_eq!(left, 1);
    }
}
