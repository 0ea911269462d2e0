//! Signatures of segments, made and checked by `ssh-keygen -Y`.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::error::SharingError;
use super::remote::Remote;
use super::{segment_at, signature_name};

/// What a signature is for: one that was made for something else proves nothing.
const NAMESPACE: &str = "lapwing";

/// Signatures have some hundred bytes.
const LARGEST: u64 = 64 << 10;

/// A private key, or the public one of a key that an agent holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SigningKey(PathBuf);

/// A file of allowed signers (`man ssh-keygen`, ALLOWED SIGNERS).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedSigners(PathBuf);

/// The signature of a segment, as far as it was asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum SegmentSignature {
    /// Without allowed signers, signatures are not fetched.
    #[default]
    Unchecked,
    Missing,
    /// It is one, by a key that is not allowed.
    ByOther,
    /// The name of an allowed signer.
    By(String),
}

/// How many segments were signed, where that was checked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SignatureCounts {
    /// By an allowed signer.
    pub allowed: u64,
    /// By another key.
    pub by_others: u64,
    /// Without signature.
    pub unsigned: u64,
}

impl SignatureCounts {
    pub(super) fn add(&mut self, signature: &SegmentSignature) {
        match signature {
            SegmentSignature::Unchecked => {}
            SegmentSignature::Missing => self.unsigned += 1,
            SegmentSignature::ByOther => self.by_others += 1,
            SegmentSignature::By(_) => self.allowed += 1,
        }
    }
}

impl SigningKey {
    /// Returns the key in a file.
    ///
    /// # Errors
    /// When the working directory is not known.
    pub fn new(path: &Path) -> io::Result<Self> {
        // A name that begins with `-` is no option.
        std::path::absolute(path).map(Self)
    }

    pub(super) fn sign(&self, content: &[u8]) -> Result<Vec<u8>, SharingError> {
        let options = [OsStr::new("sign"), "-n".as_ref(), NAMESPACE.as_ref()];
        let key = ["-f".as_ref(), self.0.as_os_str()];
        let output = ssh_keygen(options.into_iter().chain(key), content)?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        Err(SharingError::Sign {
            key: self.0.clone(),
            says: says(&output),
        })
    }
}

impl AllowedSigners {
    /// Returns the signers in a file.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn new(path: &Path) -> io::Result<Self> {
        let path = std::path::absolute(path)?;
        crate::files::open(&path)?;
        Ok(Self(path))
    }

    /// Fetches the signature of a segment and checks it.
    ///
    /// # Errors
    /// When it is not one of this content: one of the two was changed.
    pub(super) fn check(
        &self,
        remote: &dyn Remote,
        number: u32,
        content: &[u8],
    ) -> Result<SegmentSignature, SharingError> {
        let fetched = remote.get(&signature_name(number), LARGEST);
        let Some(signature) = fetched.map_err(SharingError::of(remote))? else {
            return Ok(SegmentSignature::Missing);
        };
        let mut file = tempfile::NamedTempFile::new().map_err(SharingError::SshKeygen)?;
        file.write_all(&signature)
            .map_err(SharingError::SshKeygen)?;
        let about = ["-s".as_ref(), file.path().as_os_str()];
        let allowed = ["-f".as_ref(), self.0.as_os_str()];
        let namespace = [OsStr::new("-n"), NAMESPACE.as_ref()];
        let run = |action: &'static str, options: &[&OsStr], input: &[u8]| {
            let action = [OsStr::new(action)];
            let options = options.iter().copied();
            ssh_keygen(action.into_iter().chain(about).chain(options), input)
        };
        let valid = run("check-novalidate", &namespace, content)?;
        if !valid.status.success() {
            return Err(SharingError::WrongSignature {
                segment: segment_at(remote.address(), number),
                says: says(&valid),
            });
        }
        let found = run("find-principals", &allowed, b"")?;
        let names = String::from_utf8_lossy(&found.stdout).into_owned();
        let mut names = names.lines().flat_map(|line| line.split(','));
        let name = names.find(|name| !name.is_empty() && !name.starts_with('!'));
        let (true, Some(name)) = (found.status.success(), name) else {
            return Ok(SegmentSignature::ByOther);
        };
        let options = [&namespace[..], &allowed, &["-I".as_ref(), name.as_ref()]].concat();
        // The key may be allowed for other namespaces only, or no longer.
        Ok(match run("verify", &options, content)?.status.success() {
            true => SegmentSignature::By(name.to_owned()),
            false => SegmentSignature::ByOther,
        })
    }
}

fn ssh_keygen<'a>(
    arguments: impl Iterator<Item = &'a OsStr>,
    input: &[u8],
) -> Result<Output, SharingError> {
    let run = || {
        let mut child = Command::new("ssh-keygen")
            .arg("-Y")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            match stdin.write_all(input) {
                // It failed before it had read all, and says why.
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(error),
                Ok(()) | Err(_) => {}
            }
        }
        child.wait_with_output()
    };
    run().map_err(SharingError::SshKeygen)
}

/// Returns the last line that a program wrote about its failure.
fn says(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let last = text.lines().rev().find(|line| !line.trim().is_empty());
    last.unwrap_or("ssh-keygen gives no reason")
        .trim()
        .to_owned()
}
