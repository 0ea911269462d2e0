//! Writes records to a file as they happen.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use super::files::{create_folder, create_new};
use super::inbox::is_named;
use super::private::RecordCleaner;
use super::write_line;
use lapwing_model::Record;

/// A file of record lines that is being written.
///
/// The writer holds the lock of the open file: a free lock means
/// that the writer is done or dead (`record::inbox`). Each record is handed to the
/// operating system in one piece, so a killed process loses none that it wrote.
#[derive(Debug)]
pub struct RecordFile {
    path: PathBuf,
    file: File,
    line: Vec<u8>,
    cleaner: RecordCleaner,
}

impl RecordFile {
    /// Makes the file `<name>.jsonl` in `folder`, and the folder where there is none; `cleaner` hides what is private.
    ///
    /// # Errors
    /// When there is such a file already, or none can be made.
    pub fn create(folder: &Path, name: &str, cleaner: RecordCleaner) -> io::Result<Self> {
        create_folder(folder)?;
        let path = folder.join(format!("{name}.jsonl"));
        // Locked before it gets its name, so that it is never visible without a lock.
        let unborn = folder.join(format!(".{name}.jsonl.new"));
        let file = create_new(&unborn)?;
        let named = file.lock().and_then(|()| fs::hard_link(&unborn, &path));
        fs::remove_file(&unborn)?;
        named?;
        Ok(Self {
            path,
            file,
            line: Vec::new(),
            cleaner,
        })
    }

    /// Returns where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes one record, without what is private.
    ///
    /// # Errors
    /// When the file cannot be written to, as when the disk is full.
    pub fn append(&mut self, record: &Record) -> io::Result<()> {
        self.line.clear();
        write_line(&mut self.line, &self.cleaner.clean(record))?;
        self.file.write_all(&self.line)
    }

    /// Removes the file: everything in it is kept elsewhere.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn remove(self) -> io::Result<()> {
        fs::remove_file(&self.path)
    }

    /// Closes the file, which the store imports later, and returns its path.
    ///
    /// # Errors
    /// When the operating system cannot put it on the disk.
    pub fn keep(self) -> io::Result<PathBuf> {
        self.file.sync_all()?;
        if !is_named(&self.file, &self.path).unwrap_or(false) {
            self.write_again()?;
        }
        Ok(self.path)
    }

    /// Gives a file that was deleted its name again: while it is open nothing of it is lost.
    fn write_again(&self) -> io::Result<()> {
        if let Some(folder) = self.path.parent() {
            create_folder(folder)?;
        }
        let mut deleted = File::open(format!("/proc/self/fd/{}", self.file.as_raw_fd()))?;
        let mut again = create_new(&self.path)?;
        io::copy(&mut deleted, &mut again)?;
        again.sync_all()
    }
}
