//! Shares one history between stores, through a folder, a server or an object store
//! (`docs/sharing.md`).
//!
//! A shared history is a row of immutable segments, numbered without gaps. A writer
//! first pulls every segment that it does not know yet and then tries to create the next one;
//! if another writer was faster, it pulls that one and tries the one after it. All that a place
//! must be able to do is to create an object only if there is none.

mod builder;
mod coverage;
mod document;
mod error;
mod folder;
mod private;
mod pull;
mod push;
mod reader;
mod rehearse;
mod remote;
mod signature;
mod withdraw;

pub use document::SharedHistory;
pub use error::SharingError;
pub use folder::SharedFolder;
pub use private::unshared_texts;
pub use pull::{PullOptions, PullSummary, VerifiedSegments, pull};
pub use push::{PushOptions, PushSummary, push};
pub use rehearse::{SharingRehearsal, rehearse_pull, rehearse_push};
pub use remote::{ObjectCreation, Remote, RemoteError, TooLarge};
pub use signature::{AllowedSigners, SignatureCounts, SigningKey};
pub use withdraw::{Annotate, WithdrawSummary, WithdrawalSummary, withdraw};

/// A step of pulling or pushing, for progress display.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SharingStep {
    /// A segment was pulled.
    TookIn {
        /// Its number.
        number: u32,
        /// Records that were new.
        new: u64,
    },
    /// So many of the sessions that are to be pushed have been read.
    Read {
        /// Sessions so far.
        sessions: u64,
        /// Sessions in all.
        of: u64,
    },
    /// A segment was pushed.
    Pushed {
        /// Its number.
        number: u32,
        /// Its size in bytes.
        bytes: u64,
    },
}

/// The folder of the segments.
const SEGMENTS: &str = "segments";

/// What the name of a segment ends in.
const ENDING: &str = ".jsonl.gz";

/// Returns the name of a segment: `segments/00000001.jsonl.gz` is the first.
fn segment_name(number: u32) -> String {
    format!("{SEGMENTS}/{number:08}{ENDING}")
}

/// Returns the name of a segment's signature: `segments/00000001.sig`.
fn signature_name(number: u32) -> String {
    format!("{SEGMENTS}/{number:08}.sig")
}

/// Returns where a segment is, for errors.
fn segment_at(address: &str, number: u32) -> String {
    format!("{address}/{}", segment_name(number))
}

/// Returns the number of a segment by its name within the folder; `None` where it is none.
fn segment_number(name: &str) -> Option<u32> {
    let number = name.strip_suffix(ENDING)?.parse().ok()?;
    let whole = segment_name(number);
    (whole.strip_prefix(SEGMENTS)?.strip_prefix('/')? == name).then_some(number)
}

/// Returns the SHA-256 of something as text.
fn digest(content: &[u8]) -> String {
    use lapwing_model::text::hexadecimal;
    use sha2::{Digest, Sha256};
    hexadecimal(&Sha256::digest(content))
}
