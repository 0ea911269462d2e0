//! Where imported text comes from: files, compressed or not, and standard input.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use jiff::Timestamp;
use sha2::{Digest, Sha256};

use super::ImportError;

const BUFFER: usize = 1 << 18;

/// Something to import. It can be read more than once.
#[derive(Debug)]
pub struct Source {
    name: String,
    stem: String,
    file: File,
    compressed: bool,
    modified: Option<Timestamp>,
}

impl Source {
    /// Returns the file at `path`; one that can be read only once, such as a pipe, is
    /// copied to a nameless file in `folder`.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(path: &Path, folder: &Path) -> Result<Self, ImportError> {
        let name = path.display().to_string();
        let file = File::open(path)
            .and_then(|file| {
                if file.metadata()?.is_dir() {
                    return Err(io::Error::from(io::ErrorKind::IsADirectory));
                }
                Ok(file)
            })
            .map_err(|source| ImportError::Read {
                name: name.clone(),
                source,
            })?;
        let modified = file
            .metadata()
            .and_then(|metadata| metadata.modified())
            .ok()
            .and_then(|time| Timestamp::try_from(time).ok());
        if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
            return Self::spooled(&name, file, folder);
        }
        Self::new(name, stem(path), file, modified)
    }

    /// Copies what can be read only once, such as standard input, to a nameless file
    /// in `folder`, and returns that.
    ///
    /// # Errors
    /// When it cannot be read, or not be kept.
    pub fn spooled(name: &str, mut input: impl Read, folder: &Path) -> Result<Self, ImportError> {
        let failed = |source| ImportError::Read {
            name: name.to_owned(),
            source,
        };
        let mut file = nameless_file(folder).map_err(failed)?;
        io::copy(&mut input, &mut file).map_err(failed)?;
        Self::new(name.to_owned(), name.to_owned(), file, None)
    }

    fn new(
        name: String,
        stem: String,
        file: File,
        modified: Option<Timestamp>,
    ) -> Result<Self, ImportError> {
        let mut source = Self {
            name,
            stem,
            file,
            compressed: false,
            modified,
        };
        let mut magic = [0; 2];
        let length = source
            .rewound()
            .and_then(|mut file| {
                let mut length = 0;
                while length < magic.len() {
                    match file.read(&mut magic[length..])? {
                        0 => break,
                        read => length += read,
                    }
                }
                Ok(length)
            })
            .map_err(|error| source.failed(error))?;
        if length == 0 {
            return Err(ImportError::Empty { name: source.name });
        }
        source.compressed = magic == [0x1f, 0x8b];
        Ok(source)
    }

    /// Returns what people call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the file's name without folder and endings.
    pub fn stem(&self) -> &str {
        &self.stem
    }

    /// Returns when the file was changed last, where it is a file.
    pub fn modified(&self) -> Option<Timestamp> {
        self.modified
    }

    /// Returns its text from the start, decompressed.
    pub(super) fn text(&self) -> Result<Box<dyn BufRead + '_>, ImportError> {
        let file = self.rewound().map_err(|error| self.failed(error))?;
        Ok(if self.compressed {
            let inner = BufReader::with_capacity(BUFFER, file);
            Box::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(inner)))
        } else {
            Box::new(BufReader::with_capacity(BUFFER, file))
        })
    }

    /// Returns the SHA-256 of its text. Reading it all once also finds out whether it
    /// can be read to the end.
    pub(super) fn sha256(&self) -> Result<[u8; 32], ImportError> {
        let mut text = self.text()?;
        let mut hash = Sha256::new();
        loop {
            let piece = text.fill_buf().map_err(|error| self.failed(error))?;
            let length = piece.len();
            if length == 0 {
                return Ok(hash.finalize().into());
            }
            hash.update(piece);
            text.consume(length);
        }
    }

    /// Returns the error that says why it could not be read.
    pub(super) fn failed(&self, source: io::Error) -> ImportError {
        let name = self.name.clone();
        let from_decoder = matches!(
            source.kind(),
            io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData
        );
        if self.compressed && from_decoder {
            ImportError::Compressed { name, source }
        } else {
            ImportError::Read { name, source }
        }
    }

    fn rewound(&self) -> io::Result<&File> {
        let mut file = &self.file;
        file.seek(SeekFrom::Start(0))?;
        Ok(file)
    }
}

/// Returns the importable files below a folder, in order; hidden ones are left out.
///
/// # Errors
/// When a folder cannot be listed.
pub fn files_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let path = entry.path();
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with('.') {
                continue;
            }
            // Links to folders are not followed: they may go round in circles.
            if entry.file_type()?.is_dir() {
                waiting.push(path);
            } else if [".json", ".jsonl", ".gz"]
                .iter()
                .any(|end| name.ends_with(end))
                && path.is_file()
            {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

fn stem(path: &Path) -> String {
    let name = path
        .file_name()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let mut stem = name.as_str();
    for ending in [".gz", ".jsonl", ".json", ".ndjson"] {
        match stem.strip_suffix(ending) {
            Some(shorter) if !shorter.is_empty() => stem = shorter,
            Some(_) | None => {}
        }
    }
    stem.to_owned()
}

/// Returns an open file that has no name any more, so that it goes when we do.
fn nameless_file(folder: &Path) -> io::Result<File> {
    let mut attempt = 0_u32;
    loop {
        let path = folder.join(format!(".lapwing-{}-{attempt}.tmp", std::process::id()));
        match OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&path)
        {
            Ok(file) => {
                fs::remove_file(&path)?;
                return Ok(file);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < 1000 => {
                attempt += 1;
            }
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stem_has_neither_folder_nor_endings() {
        assert_eq!(stem(Path::new("a/b/nightly.2.jsonl.gz")), "nightly.2");
        assert_eq!(stem(Path::new(".json")), ".json");
    }
}
