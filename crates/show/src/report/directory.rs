//! The directory of a report: only ever a report's own, and without an index until it is whole.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::frame::SitePage;

/// The file that tells a report's directory from any other.
const MARKER: &str = ".lapwing-report";

/// The text of the marker: the version of the layout.
const MARKER_TEXT: &str = "A report of lapwing, layout 3. The next report replaces what is here.\n";

/// The folder of the pages of studies, if there are any.
pub(super) const STUDY: &str = "study";

/// The folder of the timelines of traces, if there are any.
pub(super) const TRACE: &str = "trace";

/// The folders of a report.
const PARTS: [&str; 4] = ["assets", "benchmark", "data", "test"];

/// Why a report could not be written.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    /// The directory holds something that is no report.
    #[error("`{}` is not empty and holds no report, so nothing there was touched", path.display())]
    Occupied {
        /// The directory.
        path: PathBuf,
    },
    /// A file stands where the directory should be.
    #[error("`{}` is a file, not a directory", path.display())]
    NoDirectory {
        /// The file.
        path: PathBuf,
    },
    /// Another program writes a report there at the same time.
    #[error("another report is being written to `{}`", path.display())]
    Busy {
        /// The directory.
        path: PathBuf,
    },
    /// Reading, writing or removing failed.
    #[error("cannot write the report: `{}`", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

fn io_error(path: &Path) -> impl FnOnce(io::Error) -> DirectoryError + '_ {
    |source| DirectoryError::Io {
        path: path.to_owned(),
        source,
    }
}

/// A report's directory while the report is being written.
#[derive(Debug)]
pub(super) struct ReportDirectory {
    path: PathBuf,
    /// The files of this report, relative to the directory.
    written: Mutex<BTreeSet<PathBuf>>,
    /// Locked as long as the report is written; the system lets go of it when the program ends.
    _lock: File,
}

impl ReportDirectory {
    /// Makes the directory ready: new, or that of an older report without its index.
    pub(super) fn begin(path: &Path) -> Result<Self, DirectoryError> {
        if path.is_file() {
            return Err(DirectoryError::NoDirectory {
                path: path.to_owned(),
            });
        }
        fs::create_dir_all(path).map_err(io_error(path))?;
        let marker = path.join(MARKER);
        let is_report = marker.is_file();
        let is_empty = fs::read_dir(path).map_err(io_error(path))?.next().is_none();
        if !is_report && !is_empty {
            return Err(DirectoryError::Occupied {
                path: path.to_owned(),
            });
        }
        let lock = lock(path)?;
        let index = path.join("index.html");
        found(fs::remove_file(&index)).map_err(io_error(&index))?;
        for page in SitePage::files() {
            let page = path.join(page);
            found(fs::remove_file(&page)).map_err(io_error(&page))?;
        }
        for part in PARTS {
            let part = path.join(part);
            fs::create_dir_all(&part).map_err(io_error(&part))?;
        }
        Ok(Self {
            path: path.to_owned(),
            written: Mutex::default(),
            _lock: lock,
        })
    }

    /// Writes a page into a folder that a report has only if there is something in it.
    pub(super) fn write_in(
        &self,
        folder: &str,
        name: &str,
        page: &str,
    ) -> Result<(), DirectoryError> {
        let path = self.path.join(folder);
        fs::create_dir_all(&path).map_err(io_error(&path))?;
        self.write(&format!("{folder}/{name}.html"), page)
    }

    /// Writes a file of the report, unless it stands there as it is, so that copies of reports are quickly brought up to
    /// date. Until the index stands, nothing leads there.
    pub(super) fn write(&self, name: &str, content: &str) -> Result<(), DirectoryError> {
        let path = self.path.join(name);
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        written.insert(PathBuf::from(name));
        drop(written);
        if is_that(&path, content) {
            return Ok(());
        }
        fs::write(&path, content).map_err(io_error(&path))
    }

    /// Removes what is left of an older report and writes the index, with which the report is whole. Returns its path. It
    /// appears when all of it is written.
    pub(super) fn finish(&self, index: &str) -> Result<PathBuf, DirectoryError> {
        for part in PARTS.into_iter().chain([STUDY, TRACE]) {
            self.remove_old(Path::new(part))?;
        }
        let path = self.path.join("index.html");
        self.write("index.html.part", index)?;
        fs::rename(self.path.join("index.html.part"), &path).map_err(io_error(&path))?;
        Ok(path)
    }

    /// Removes files that are not of this report from a folder, and the folder if it is empty then and not one that every
    /// report has.
    fn remove_old(&self, folder: &Path) -> Result<(), DirectoryError> {
        let path = self.path.join(folder);
        let Some(entries) = found(fs::read_dir(&path)).map_err(io_error(&path))? else {
            return Ok(());
        };
        let mut left = 0;
        for entry in entries {
            let entry = entry.map_err(io_error(&path))?;
            let name = folder.join(entry.file_name());
            let written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
            let is_ours = written.contains(&name);
            drop(written);
            let old = entry.path();
            if is_ours {
                left += 1;
            } else if entry.file_type().is_ok_and(|it| it.is_dir()) {
                fs::remove_dir_all(&old).map_err(io_error(&old))?;
            } else {
                found(fs::remove_file(&old)).map_err(io_error(&old))?;
            }
        }
        if left == 0 && !PARTS.map(Path::new).contains(&folder) {
            fs::remove_dir(&path).map_err(io_error(&path))?;
        }
        Ok(())
    }
}

/// Returns whether the file has this content.
fn is_that(path: &Path, content: &str) -> bool {
    let same_length =
        fs::metadata(path).is_ok_and(|it| usize::try_from(it.len()) == Ok(content.len()));
    same_length && fs::read(path).is_ok_and(|it| it == content.as_bytes())
}

/// Marks the directory as a report's and keeps others from writing to it until the file is closed.
/// Where the file system knows no locks, there is none.
fn lock(path: &Path) -> Result<File, DirectoryError> {
    let marker = path.join(MARKER);
    let mut options = File::options();
    let opened = options.create(true).truncate(false).read(true).write(true);
    let mut file = opened.open(&marker).map_err(io_error(&marker))?;
    if let Err(TryLockError::WouldBlock) = file.try_lock() {
        return Err(DirectoryError::Busy {
            path: path.to_owned(),
        });
    }
    file.set_len(0).map_err(io_error(&marker))?;
    file.write_all(MARKER_TEXT.as_bytes())
        .map_err(io_error(&marker))?;
    Ok(file)
}

/// Returns `None` where there is no such file.
fn found<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_of_something_else_is_left_alone() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("thesis.txt");
        fs::write(&file, "years of work").expect("it writes");
        let error = ReportDirectory::begin(directory.path()).expect_err("not ours");
        assert!(
            error
                .to_string()
                .ends_with("is not empty and holds no report, so nothing there was touched"),
            "{error}"
        );
        assert_eq!(
            fs::read_to_string(&file).expect("still there"),
            "years of work"
        );
        let error = ReportDirectory::begin(&file).expect_err("a file");
        assert!(
            error.to_string().ends_with("is a file, not a directory"),
            "{error}"
        );
    }

    #[test]
    fn two_reports_are_not_written_to_one_directory_at_once() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("report");
        let first = ReportDirectory::begin(&path).expect("new");
        first.write("data/mine.js", "mine").expect("it writes");
        let error = ReportDirectory::begin(&path).expect_err("the first is not done");
        assert!(
            error
                .to_string()
                .starts_with("another report is being written to `"),
            "{error}"
        );
        assert!(path.join("data/mine.js").exists());
        first.finish("first").expect("it writes");
        drop(first);
        let second = ReportDirectory::begin(&path).expect("the first is done");
        second.finish("second").expect("it writes");
    }

    #[test]
    fn a_report_in_the_making_has_no_index_and_a_new_one_nothing_old() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("report");
        let report = ReportDirectory::begin(&path).expect("new");
        report.write("data/old.js", "old").expect("it writes");
        report.write_in(STUDY, "old", "old").expect("it writes");
        report.write("data/same.js", "same").expect("it writes");
        report.write("data/other.js", "one").expect("it writes");
        report.finish("first").expect("it writes");
        drop(report);
        let read_only = |name: &str| {
            let mut permissions = fs::metadata(path.join(name)).expect("it").permissions();
            permissions.set_readonly(true);
            fs::set_permissions(path.join(name), permissions).expect("it");
        };
        read_only("data/same.js");
        let before = fs::metadata(path.join("data/same.js")).expect("it");
        let report = ReportDirectory::begin(&path).expect("a report may be replaced");
        assert!(!path.join("index.html").exists());
        report.write("data/same.js", "same").expect("it is there");
        report.write("data/other.js", "two").expect("it writes");
        let index = report.finish("second").expect("it writes");
        assert_eq!(fs::read_to_string(index).expect("whole"), "second");
        assert!(!path.join("data/old.js").exists());
        assert!(!path.join(STUDY).exists());
        let other = fs::read_to_string(path.join("data/other.js"));
        assert_eq!(other.expect("it"), "two");
        let after = fs::metadata(path.join("data/same.js")).expect("it");
        assert_eq!(after.modified().ok(), before.modified().ok());
    }
}
