//! Record files that wait for import into the store.
//!
//! A measuring process writes its records to a file in the store's inbox, and
//! holds the file's lock while it lives. The next command that opens the store imports
//! the files whose writers are done or dead, each in one transaction, and removes them.
//! If it dies between the two, the file is there again and changes nothing the next time.

use std::fs::{self, File, TryLockError};
use std::io::{self, BufReader, Seek};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::files::open_no_link;
use super::{AppendCounts, LineEnd, LineError, Refusals, Store, StoreError, parse_line, read_line};
use lapwing_model::{Id, Record, Session, too_long};

/// What became of a file in the inbox.
#[derive(Debug)]
pub enum InboxArrival {
    /// Its records are in the store, and the file is gone: or, if some were refused, has another name.
    TakenIn {
        /// Where it was.
        path: PathBuf,
        /// Its records that were refused, and where they are kept.
        refused: Option<(Refusals, PathBuf)>,
        /// What it held.
        appended: AppendCounts,
        /// The id of the first session that it speaks of.
        session: Option<Id>,
        /// Whether its last line was cut off: the writer died while writing it.
        cut_off: bool,
    },
    /// Its writer is still at work.
    UnderWay {
        /// Where it is.
        path: PathBuf,
    },
    /// It cannot be imported, and is kept.
    Refused {
        /// Where it is.
        path: PathBuf,
        /// Why.
        error: ArrivalError,
    },
}

/// Why a file in the inbox was not imported.
#[derive(Debug, thiserror::Error)]
pub enum ArrivalError {
    /// It cannot be read, or not be removed.
    #[error("{}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A line is of a newer version.
    #[error("{}:{line}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The number of the line, from 1.
        line: u64,
        /// Why.
        source: LineError,
    },
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Imports every file of `folder` whose writer is done or dead, and returns the result
/// of each. A folder that does not exist is empty.
///
/// # Errors
/// When the folder cannot be listed. A broken file is no error; it is reported.
pub fn take_in(store: &mut Store, folder: &Path) -> io::Result<Vec<InboxArrival>> {
    if folder.is_symlink() {
        let error = ArrivalError::File {
            path: folder.to_owned(),
            source: io::Error::other("the folder is a link"),
        };
        let path = folder.to_owned();
        return Ok(vec![InboxArrival::Refused { path, error }]);
    }
    let paths = record_files(folder)?.into_iter();
    Ok(paths.filter_map(|path| take_in_file(store, path)).collect())
}

/// Returns the record files of a folder in order; none if there is no folder.
fn record_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let paths = entries.map(|entry| Ok(entry?.path()));
    let mut paths: Vec<PathBuf> = paths.collect::<io::Result<_>>()?;
    paths.retain(|path| {
        let name = name_of(path);
        name.ends_with(".jsonl") && !name.starts_with('.')
    });
    paths.sort();
    Ok(paths)
}

fn name_of(path: &Path) -> &str {
    let name = path.file_name().and_then(|name| name.to_str());
    name.unwrap_or_default()
}

/// Returns whether a session is being measured: whether a file whose name begins
/// with the session's id is locked by its writer.
///
/// # Errors
/// When the folder cannot be listed or a file not be opened.
pub fn is_under_way(folder: &Path, session: Id, own: Option<&Path>) -> io::Result<bool> {
    let id = session.to_string();
    for path in record_files(folder)? {
        if !name_of(&path).starts_with(&id) || Some(path.as_path()) == own {
            continue;
        }
        match open_no_link(&path).map(|file| file.try_lock()) {
            // It is gone, or no file that a writer of ours has.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound
                        | io::ErrorKind::InvalidInput
                        | io::ErrorKind::IsADirectory
                ) => {}
            Err(error) | Ok(Err(TryLockError::Error(error))) => return Err(error),
            Ok(Err(TryLockError::WouldBlock)) => return Ok(true),
            Ok(Ok(())) => {}
        }
    }
    Ok(false)
}

/// Returns the sessions in progress by name: their files in `folder` are locked.
pub fn sessions_under_way(folder: &Path) -> Vec<Session> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut sessions: Vec<Session> = entries
        .filter_map(|entry| session_under_way(&entry.path()))
        .collect();
    sessions.sort_by(|a, b| (&a.name, a.id).cmp(&(&b.name, b.id)));
    // Several workers of one session have a file each.
    sessions.dedup_by_key(|session| session.id);
    sessions
}

fn session_under_way(path: &Path) -> Option<Session> {
    path.extension().filter(|extension| *extension == "jsonl")?;
    let file = open_no_link(path).ok()?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {}
        Ok(()) | Err(TryLockError::Error(_)) => return None,
    }
    let mut line = Vec::new();
    read_line(&mut BufReader::new(file), &mut line).ok()?;
    match parse_line(line.trim_ascii()) {
        Ok(Record::Session(session)) => Some(session),
        Ok(_) | Err(_) => None,
    }
}

fn take_in_file(store: &mut Store, path: PathBuf) -> Option<InboxArrival> {
    let taken = try_to_take_in(store, &path);
    taken.unwrap_or_else(|error| Some(InboxArrival::Refused { path, error }))
}

/// Takes a file in; returns nothing if another process did.
fn try_to_take_in(store: &mut Store, path: &Path) -> Result<Option<InboxArrival>, ArrivalError> {
    let unusable = |source: io::Error| ArrivalError::File {
        path: path.to_owned(),
        source,
    };
    let mut file = match open_no_link(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file.map_err(unusable)?,
    };
    let path = path.to_owned();
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(Some(InboxArrival::UnderWay { path })),
        Err(TryLockError::Error(error)) => return Err(unusable(error)),
    }
    if !is_named(&file, &path).map_err(unusable)? {
        return Ok(None);
    }
    let taken = append(store, &mut file, &path)?;
    let mut refused = None;
    if taken.refused.count == 0 {
        fs::remove_file(&path).map_err(unusable)?;
    } else {
        let kept = path.with_extension("jsonl.refused");
        fs::rename(&path, &kept).map_err(unusable)?;
        refused = Some((taken.refused, kept));
    }
    Ok(Some(InboxArrival::TakenIn {
        path,
        refused,
        appended: taken.appended,
        session: taken.session,
        cut_off: taken.cut_off,
    }))
}

/// Deletes what could not be imported of purged sessions, or of all, and the folders of their measurements.
pub(crate) fn forget(folder: &Path, sessions: &[Id], of_all: bool) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries {
        let (path, name) = (entry.path(), entry.file_name());
        let of_session = |session: &Id| {
            let name = name.to_str().unwrap_or_default();
            name.starts_with(&session.to_string())
        };
        if !of_all && !sessions.iter().any(of_session) {
            continue;
        }
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if kind.is_dir() {
            let is_at_work = sessions_under_way(folder)
                .iter()
                .any(|it| of_session(&it.id));
            if !is_at_work {
                let _left = fs::remove_dir_all(path);
            }
            continue;
        }
        let lock = open_no_link(&path).map(|file| file.try_lock());
        if !matches!(lock, Ok(Err(TryLockError::WouldBlock))) {
            let _left = fs::remove_file(path);
        }
    }
}

/// Returns whether an open file is the one that has the name now.
///
/// # Errors
/// When the file system cannot tell.
pub fn is_named(file: &File, path: &Path) -> io::Result<bool> {
    let ours = file.metadata()?;
    match fs::metadata(path) {
        Ok(named) => Ok((named.dev(), named.ino()) == (ours.dev(), ours.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// What came of the lines of a file.
#[derive(Default)]
struct TakenLines {
    appended: AppendCounts,
    refused: Refusals,
    session: Option<Id>,
    cut_off: bool,
}

fn append(store: &mut Store, file: &mut File, path: &Path) -> Result<TakenLines, ArrivalError> {
    let unreadable = |source| ArrivalError::File {
        path: path.to_owned(),
        source,
    };
    file.rewind().map_err(unreadable)?;
    let mut reader = BufReader::with_capacity(1 << 16, file);
    store.write(|writer| {
        let mut taken = TakenLines::default();
        let mut text = Vec::new();
        let mut line = 0;
        loop {
            let end = read_line(&mut reader, &mut text).map_err(unreadable)?;
            line += 1;
            let place = || format!("{}:{line}", path.display());
            match parse_line(text.trim_ascii()) {
                _ if end == LineEnd::TooLong => taken.refused.add(place(), too_long()),
                _ if text.trim_ascii().is_empty() => {}
                Ok(record) => {
                    if let Record::Session(session) = &record {
                        taken.session = taken.session.or(Some(session.id));
                    }
                    match writer.put(&record) {
                        Ok(()) => {}
                        // Nothing of this would be accepted another time, and it must not keep the others out.
                        Err(why) if why.is_about_record() => taken.refused.add(place(), why),
                        Err(other) => return Err(other.into()),
                    }
                }
                // The iteration under way when the writer was killed.
                Err(_cut_off) if end == LineEnd::OfFile => taken.cut_off = true,
                Err(source @ LineError::Newer { .. }) => {
                    return Err(ArrivalError::Line {
                        path: path.to_owned(),
                        line,
                        source,
                    });
                }
                Err(why) => taken.refused.add(place(), why),
            }
            if end == LineEnd::OfFile {
                taken.appended = writer.settle()?;
                return Ok(taken);
            }
        }
    })
}
