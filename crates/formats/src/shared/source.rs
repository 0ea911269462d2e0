//! Where imported text comes from: files, compressed or not, and standard input.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use jiff::Timestamp;
use lapwing_record::files;
use sha2::{Digest, Sha256};

use crate::ImportError;
use crate::shared::named_date::{date_in_path, telling_name};
use crate::shared::reading::zstd::ZstdFrames;

const BUFFER: usize = 1 << 18;

/// The longest text in UTF-16 that is read, in bytes.
const LONGEST_UTF16: u64 = 1 << 30;

/// Something to import. It can be read more than once.
#[derive(Debug)]
pub struct Source {
    name: String,
    stem: String,
    path: Option<PathBuf>,
    content: SourceContent,
    coding: Coding,
    modified: Option<Timestamp>,
}

/// The location of the bytes.
#[derive(Debug)]
enum SourceContent {
    File(File),
    Memory(Vec<u8>),
    /// Several files, which a reader finds by itself.
    Folder,
}

/// The compression of the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coding {
    Plain,
    Gzip,
    Zstd,
}

impl Source {
    /// Returns the file or folder at `path`; a file that can be read only once, such as a
    /// pipe, is copied to a nameless file in `folder`.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(path: &Path, folder: &Path) -> Result<Self, ImportError> {
        let name = path.display().to_string();
        let failed = |source| ImportError::Read {
            name: name.clone(),
            source,
        };
        let file = files::open_named(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if !metadata.is_file() && !metadata.is_dir() {
            return Self::spooled(&name, file, folder);
        }
        let content = if metadata.is_dir() {
            SourceContent::Folder
        } else {
            SourceContent::File(file)
        };
        let mut source = Self::new(name, stem(path), content)?;
        source.path = Some(path.to_owned());
        source.modified = modified(&metadata);
        Ok(source)
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
        Self::new(name.to_owned(), name.to_owned(), SourceContent::File(file))
    }

    /// Returns bytes as a source of that name.
    ///
    /// # Errors
    /// When there are none.
    pub fn from_bytes(name: &str, bytes: Vec<u8>) -> Result<Self, ImportError> {
        Self::new(
            name.to_owned(),
            stem(Path::new(name)),
            SourceContent::Memory(bytes),
        )
    }

    /// Returns a document of several that stand in it one after another.
    pub(crate) fn document(&self, number: usize, text: &str) -> Result<Self, ImportError> {
        let name = format!("{} (document {number})", self.name);
        let stem = format!("{} {number}", self.stem);
        let content = SourceContent::Memory(text.as_bytes().to_vec());
        let mut source = Self::new(name, stem, content)?;
        source.modified = self.modified;
        Ok(source)
    }

    fn new(name: String, stem: String, content: SourceContent) -> Result<Self, ImportError> {
        let mut source = Self {
            name,
            stem,
            path: None,
            content,
            coding: Coding::Plain,
            modified: None,
        };
        if source.is_folder() {
            return Ok(source);
        }
        let mut magic = Vec::new();
        source
            .bytes()
            .and_then(|bytes| bytes.take(4).read_to_end(&mut magic))
            .map_err(|error| source.failed(error))?;
        source.coding = match magic[..] {
            [] => return Err(ImportError::Empty(source.name)),
            [0x1f, 0x8b, ..] => Coding::Gzip,
            [0x28, 0xB5, 0x2F, 0xFD] => Coding::Zstd,
            [..] => Coding::Plain,
        };
        if let [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] = magic[..] {
            source.decode_utf16()?;
        }
        Ok(source)
    }

    /// Replaces text in UTF-16, as PowerShell writes it, by the same text in UTF-8: the same content has the same ids.
    fn decode_utf16(&mut self) -> Result<(), ImportError> {
        let mut bytes = Vec::new();
        self.bytes()
            .and_then(|it| it.take(LONGEST_UTF16).read_to_end(&mut bytes))
            .map_err(|error| self.failed(error))?;
        let is_little = bytes.first() == Some(&0xFF);
        let units = bytes[2..].chunks_exact(2).map(|pair| match is_little {
            true => u16::from_le_bytes([pair[0], pair[1]]),
            false => u16::from_be_bytes([pair[0], pair[1]]),
        });
        let text: Result<String, _> = char::decode_utf16(units).collect();
        // What is no UTF-16, or too long, is named as what it looks like.
        if let Ok(text) = text
            && (bytes.len() as u64) < LONGEST_UTF16
        {
            self.content = SourceContent::Memory(text.into_bytes());
        }
        Ok(())
    }

    /// Returns what people call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the file's name without folder and endings.
    pub fn stem(&self) -> &str {
        &self.stem
    }

    /// Returns where it lies, where it is a file or a folder.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Returns whether it is a folder, whose reader finds the files by itself.
    pub fn is_folder(&self) -> bool {
        matches!(self.content, SourceContent::Folder)
    }

    /// Returns a name for people: that of the file, with the folders that tell it from others of its name.
    pub(crate) fn telling_name(&self) -> String {
        let path = self.path.as_deref();
        path.map_or_else(|| self.stem.clone(), |path| telling_name(path, &self.stem))
    }

    /// Returns the date in the name of the file or its folders.
    pub(crate) fn date_in_name(&self) -> Option<Timestamp> {
        date_in_path(self.path.as_deref()?)
    }

    /// Returns when the file was changed last, to the second, where it is a file.
    pub fn modified(&self) -> Option<Timestamp> {
        self.modified
    }

    /// Returns how long its text is, as far as that can be told without reading it.
    pub(crate) fn length_hint(&self) -> usize {
        let length = match &self.content {
            SourceContent::File(file) => file.metadata().map_or(0, |metadata| metadata.len()),
            SourceContent::Memory(bytes) => bytes.len() as u64,
            SourceContent::Folder => 0,
        };
        match self.coding {
            // One byte more, so that reading to the end finds the end.
            Coding::Plain => usize::try_from(length).map_or(0, |length| length + 1),
            Coding::Gzip | Coding::Zstd => 0,
        }
    }

    /// Returns its text from the start, decompressed.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn text(&self) -> Result<Box<dyn BufRead + '_>, ImportError> {
        let bytes = self.bytes().map_err(|error| self.failed(error))?;
        Ok(match self.coding {
            Coding::Plain => Box::new(buffered(bytes)),
            Coding::Gzip => Box::new(buffered(Box::new(MultiGzDecoder::new(buffered(bytes))))),
            Coding::Zstd => Box::new(buffered(Box::new(ZstdFrames::new(buffered(bytes))))),
        })
    }

    /// Returns the SHA-256 of its text. Reading it all once also finds out whether it
    /// can be read to the end.
    pub(crate) fn sha256(&self) -> Result<[u8; 32], ImportError> {
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

    /// Returns the error that says that it holds no results.
    pub(crate) fn without_results(&self) -> ImportError {
        ImportError::NoResults(self.name.clone())
    }

    /// Returns the error that says why it could not be read.
    pub fn failed(&self, source: io::Error) -> ImportError {
        let name = self.name.clone();
        let from_decoder = matches!(
            source.kind(),
            io::ErrorKind::UnexpectedEof
                | io::ErrorKind::InvalidInput
                | io::ErrorKind::InvalidData
                | io::ErrorKind::Other
        );
        if self.coding != Coding::Plain && from_decoder {
            ImportError::Compressed { name, source }
        } else {
            ImportError::Read { name, source }
        }
    }

    /// Returns its bytes from the start, as they are.
    fn bytes(&self) -> io::Result<Box<dyn Read + '_>> {
        Ok(match &self.content {
            SourceContent::File(file) => {
                let mut file = file;
                file.seek(SeekFrom::Start(0))?;
                Box::new(file)
            }
            SourceContent::Memory(bytes) => Box::new(bytes.as_slice()),
            SourceContent::Folder => return Err(io::Error::from(io::ErrorKind::IsADirectory)),
        })
    }
}

fn buffered<'r>(inner: Box<dyn Read + 'r>) -> BufReader<Box<dyn Read + 'r>> {
    BufReader::with_capacity(BUFFER, inner)
}

/// Returns the time of a file. Files that were copied together differ by less than a second, in no order.
fn modified(metadata: &fs::Metadata) -> Option<Timestamp> {
    let time = Timestamp::try_from(metadata.modified().ok()?).ok()?;
    Timestamp::from_second(time.as_second()).ok()
}

fn stem(path: &Path) -> String {
    let name = path
        .file_name()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let mut stem = name.as_str();
    for ending in [
        ".gz", ".zst", ".jsonl", ".json", ".ndjson", ".txt", ".csv", ".tsv", ".xml", ".js", ".db",
        ".html", ".log",
    ] {
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
            .mode(0o600)
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
    fn utf_16_is_the_same_text() {
        let text = "{\"µs\": 1}\r\n";
        let utf16 = |bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
            let units = "\u{feff}".encode_utf16().chain(text.encode_utf16());
            units.flat_map(bytes).collect()
        };
        let plain = Source::from_bytes("a", text.as_bytes().to_vec()).expect("text");
        for bytes in [utf16(u16::to_le_bytes), utf16(u16::to_be_bytes)] {
            let source = Source::from_bytes("a", bytes).expect("text");
            let digests = [&source, &plain].map(|it| it.sha256().expect("memory"));
            assert_eq!(digests[0], digests[1]);
        }
    }

    #[test]
    fn a_stem_has_neither_folder_nor_endings() {
        assert_eq!(stem(Path::new("a/b/nightly.2.jsonl.gz")), "nightly.2");
        assert_eq!(stem(Path::new(".json")), ".json");
    }
}
