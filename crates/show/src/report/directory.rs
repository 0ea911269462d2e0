//! The directory of a report: only ever a report's own, and without an index until it is whole.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::data_pack::DataPack;
use super::frame::SitePage;

/// The file that tells a report's directory from any other.
const MARKER: &str = ".lapwing-report";

/// The text of the marker: the version of the layout.
const MARKER_TEXT: &str = "A report of lapwing, layout 2. The next report replaces what is here.\n";

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
    /// Locked as long as the report is written; the system lets go of it when the program ends.
    _lock: File,
}

impl ReportDirectory {
    /// Makes the directory ready: new, or emptied of an older report, its index first.
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
        unless_missing(fs::remove_file(&index)).map_err(io_error(&index))?;
        for page in SitePage::files() {
            let page = path.join(page);
            unless_missing(fs::remove_file(&page)).map_err(io_error(&page))?;
        }
        for part in PARTS.into_iter().chain([STUDY, TRACE]) {
            let folder = path.join(part);
            unless_missing(fs::remove_dir_all(&folder)).map_err(io_error(&folder))?;
        }
        for part in PARTS {
            let part = path.join(part);
            fs::create_dir(&part).map_err(io_error(&part))?;
        }
        Ok(Self {
            path: path.to_owned(),
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

    /// Writes a file of the report. Until the index stands, nothing leads there.
    pub(super) fn write(&self, name: &str, content: &str) -> Result<(), DirectoryError> {
        let path = self.path.join(name);
        fs::write(&path, content).map_err(io_error(&path))
    }

    /// Writes a side file with a single entry of the same name, and returns what pages find it by.
    pub(super) fn write_data(
        &self,
        name: &str,
        value: &impl Serialize,
    ) -> Result<String, DirectoryError> {
        let mut pack = DataPack::new(self, name);
        let entry = pack.add(name, value)?;
        pack.finish()?;
        Ok(entry)
    }

    /// Writes the index, with which the report is whole, and returns its path. It appears when all of it is written.
    pub(super) fn finish(self, index: &str) -> Result<PathBuf, DirectoryError> {
        let path = self.path.join("index.html");
        self.write("index.html.part", index)?;
        fs::rename(self.path.join("index.html.part"), &path).map_err(io_error(&path))?;
        Ok(path)
    }
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

/// Returns the result of removing something; that it was not there is no error.
fn unless_missing(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
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
        let second = ReportDirectory::begin(&path).expect("the first is done");
        second.finish("second").expect("it writes");
    }

    #[test]
    fn a_report_in_the_making_has_no_index_and_nothing_old() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("report");
        let report = ReportDirectory::begin(&path).expect("new");
        report.write("data/old.js", "old").expect("it writes");
        report.finish("first").expect("it writes");
        let report = ReportDirectory::begin(&path).expect("a report may be replaced");
        assert!(!path.join("index.html").exists());
        assert!(!path.join("data/old.js").exists());
        let index = report.finish("second").expect("it writes");
        assert_eq!(fs::read_to_string(index).expect("whole"), "second");
    }
}
