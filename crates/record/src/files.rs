//! Opening and creating files: only regular ones, only so much of them, and for their user alone.
//!
//! A name can lead to a pipe that nobody writes to, to a device without an end, or through a link to
//! somebody else's file. What comes with a folder (a repository, an archive) is opened by [`open`]; a pipe is
//! read only where a person names it ([`open_named`]).

use std::fs::{self, DirBuilder, File, FileType, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::OFlags;

/// The longest file of settings, such as a suite or a design, in bytes.
pub const LONGEST_SETTINGS: u64 = 64 << 20;

/// Bits of a folder's permissions: those of its group, and those of everybody else.
const GROUP: u32 = 0o070;
const OTHERS_WRITE: u32 = 0o002;
const SET_GROUP: u32 = 0o2000;
const GROUP_WRITES: u32 = 0o020;

/// Opens a regular file for reading, without waiting for anything.
///
/// # Errors
/// If there is none, or it is something else, such as a pipe.
pub fn open(path: &Path) -> io::Result<File> {
    // A pipe without a writer would block here.
    let file = with_flags(OFlags::NONBLOCK).open(path)?;
    refuse_other(file.metadata()?.file_type())?;
    Ok(file)
}

/// Opens a regular file for reading that is no link.
///
/// # Errors
/// As [`open`], or if it is a link.
pub fn open_no_link(path: &Path) -> io::Result<File> {
    if fs::symlink_metadata(path)?.is_symlink() {
        return Err(is_link());
    }
    let file = with_flags(OFlags::NONBLOCK | OFlags::NOFOLLOW).open(path)?;
    refuse_other(file.metadata()?.file_type())?;
    Ok(file)
}

/// Opens a file that a person named for reading: a regular one, a folder, a pipe, which may have to wait for its
/// writer, or `/dev/null`.
///
/// # Errors
/// If there is none, or it is another device or a socket.
pub fn open_named(path: &Path) -> io::Result<File> {
    let named = fs::metadata(path)?;
    let kind = named.file_type();
    let is_null = || {
        kind.is_char_device() && fs::metadata("/dev/null").is_ok_and(|it| it.rdev() == named.rdev())
    };
    if kind.is_fifo() || kind.is_dir() || is_null() {
        return File::open(path);
    }
    open(path)
}

/// Returns the text of a file that a person named: a regular one, or a pipe.
///
/// # Errors
/// As [`open_named`], or if it is longer than `longest` bytes, or no text.
pub fn read_named(path: &Path, longest: u64) -> io::Result<String> {
    text_of(open_named(path)?, longest)
}

/// Returns the text of a regular file.
///
/// # Errors
/// As [`open`], or if it is longer than `longest` bytes, or no text.
pub fn read_text(path: &Path, longest: u64) -> io::Result<String> {
    text_of(open(path)?, longest)
}

/// Returns the bytes of a regular file.
///
/// # Errors
/// As [`open`], or if it is longer than `longest`.
pub fn read_bytes(path: &Path, longest: u64) -> io::Result<Vec<u8>> {
    bytes_of(open(path)?, longest)
}

/// Creates a file that does not exist, for its user alone unless the folder is shared with a group.
///
/// # Errors
/// If there is one, or a link of that name, or it cannot be created.
pub fn create_new(path: &Path) -> io::Result<File> {
    let group = shared_with_group(folder_of(path));
    let mut options = OpenOptions::new();
    options.read(true).append(true).create_new(true).mode(0o600);
    let file = options.open(path)?;
    if group != 0 {
        // The user's mask is about new files in general; a shared folder is an exception from it.
        let mode = 0o600 | (group & 0o060);
        file.set_permissions(fs::Permissions::from_mode(mode))?;
    }
    Ok(file)
}

/// Creates a folder and those above it, for its user alone unless the folder around it is shared with a group. One that
/// exists stays as it is.
///
/// # Errors
/// If it cannot be created, or is a link.
pub fn create_folder(path: &Path) -> io::Result<()> {
    if let Ok(there) = fs::symlink_metadata(path) {
        return if there.is_dir() {
            Ok(())
        } else if there.is_symlink() {
            Err(is_link())
        } else {
            Err(io::ErrorKind::NotADirectory.into())
        };
    }
    let above = folder_of(path);
    if !above.is_dir() {
        fs::create_dir_all(above)?;
    }
    let group = match fs::metadata(above)?.mode() {
        // Many umasks let a group write everywhere, which does not say that measurements are shared.
        mode if mode & SET_GROUP != 0 => shared_with_group(above),
        _ => 0,
    };
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => create_folder(path),
        Ok(()) if group != 0 => {
            let mode = SET_GROUP | 0o700 | group;
            fs::set_permissions(path, fs::Permissions::from_mode(mode))
        }
        created => created,
    }
}

/// Returns the permissions of a folder for its group; none unless it is shared with the group, and with nobody else.
fn shared_with_group(folder: &Path) -> u32 {
    let mode = fs::metadata(folder).map_or(0, |it| it.mode());
    let is_shared = mode & (SET_GROUP | GROUP_WRITES) != 0 && mode & OTHERS_WRITE == 0;
    if is_shared { mode & GROUP } else { 0 }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    }
}

fn with_flags(flags: OFlags) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(flags.bits().cast_signed());
    options
}

fn refuse_other(kind: FileType) -> io::Result<()> {
    let what = if kind.is_file() {
        return Ok(());
    } else if kind.is_dir() {
        return Err(rustix::io::Errno::ISDIR.into());
    } else if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    };
    let text = format!("it is {what}, not a file");
    Err(io::Error::new(io::ErrorKind::InvalidInput, text))
}

fn is_link() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is a link")
}

fn text_of(file: File, longest: u64) -> io::Result<String> {
    let not_text = |error| io::Error::new(io::ErrorKind::InvalidData, error);
    String::from_utf8(bytes_of(file, longest)?).map_err(not_text)
}

fn bytes_of(file: File, longest: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(longest + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > longest {
        let text = format!("it is longer than {} MB", longest >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).expect("there").mode() & 0o777
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("set");
    }

    #[test]
    fn only_regular_files_are_opened_and_only_so_much_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "text").expect("written");
        symlink("file", at("link")).expect("linked");
        symlink("/dev/zero", at("zero")).expect("linked");
        let made = Command::new("mkfifo").arg(at("pipe")).status();
        assert!(made.expect("mkfifo").success());
        assert_eq!(read_text(&at("file"), 4).expect("read"), "text");
        assert_eq!(read_text(&at("link"), 4).expect("read"), "text");
        let why = |read: io::Result<String>| read.expect_err("refused").to_string();
        assert_eq!(why(read_text(&at("file"), 3)), "it is longer than 0 MB");
        assert_eq!(why(read_text(&at("pipe"), 9)), "it is a pipe, not a file");
        assert_eq!(why(read_text(&at("zero"), 9)), "it is a device, not a file");
        assert_eq!(
            why(read_named(&at("zero"), 9)),
            "it is a device, not a file"
        );
        let link = open_no_link(&at("link")).expect_err("refused");
        assert_eq!(link.to_string(), "it is a link");
        let error = read_text(folder.path(), 9).expect_err("refused");
        assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
    }

    #[test]
    fn a_pipe_that_is_named_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("pipe");
        let made = Command::new("mkfifo").arg(&pipe).status();
        assert!(made.expect("mkfifo").success());
        let writer = std::thread::spawn({
            let pipe = pipe.clone();
            move || fs::write(pipe, "text")
        });
        assert_eq!(read_named(&pipe, 4).expect("read"), "text");
        writer.join().expect("ended").expect("written");
    }

    #[test]
    fn what_is_created_is_for_its_user_alone_unless_the_folder_is_shared() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        for (of_folder, of_file, of_subfolder) in [
            (0o755, 0o600, 0o700),
            (0o775, 0o660, 0o700),
            (0o2750, 0o640, 0o750),
            (0o2775, 0o660, 0o770),
            (0o1777, 0o600, 0o700),
        ] {
            let own = at(&format!("{of_folder:o}"));
            fs::create_dir(&own).expect("made");
            set_mode(&own, of_folder);
            create_new(&own.join("file")).expect("made");
            create_folder(&own.join("folder")).expect("made");
            assert_eq!(mode(&own.join("file")), of_file, "{of_folder:o}");
            assert_eq!(mode(&own.join("folder")), of_subfolder, "{of_folder:o}");
        }
    }

    #[test]
    fn no_link_is_created_through() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("other")).expect("made");
        symlink("other/file", at("file")).expect("linked");
        symlink("other", at("folder")).expect("linked");
        create_new(&at("file")).expect_err("refused");
        create_folder(&at("folder")).expect_err("refused");
        assert_eq!(fs::read_dir(at("other")).expect("there").count(), 0);
    }
}
