//! Errors of shared histories.

use std::path::PathBuf;

use super::remote::{Remote, RemoteError};
use crate::private::TextSurvey;
use crate::{LineError, StoreError};
use lapwing_model::text::{counted, first_names};

/// Error of a shared history. A location is named by its address, a segment by the address and its name.
#[derive(Debug, thiserror::Error)]
pub enum SharingError {
    /// The place cannot be used.
    #[error("cannot use the shared history at {address}")]
    Remote {
        /// Where it is.
        address: String,
        /// Why.
        source: RemoteError,
    },
    /// There is no shared history.
    #[error("there is no shared history at {0}")]
    Nothing(String),
    /// There was one, and now there is none.
    #[error("the shared history at {0} is missing, but this store used it before")]
    Vanished(String),
    /// There was another one.
    #[error("the shared history at {0} is another one than this store has shared with before")]
    Replaced(String),
    /// What is there is something else.
    #[error("{0}/lapwing.json is not that of a shared history")]
    Foreign(String),
    /// A newer program made it.
    #[error(
        "the shared history at {address} is of version {found}, newer than version {known}, which this program knows"
    )]
    Newer {
        /// Where it is.
        address: String,
        /// Its version.
        found: u64,
        /// Ours.
        known: u64,
    },
    /// It does not do what keeps writers apart.
    #[error(
        "{0} ignores conditional creation: two writers would overwrite each other's measurements"
    )]
    Overwrites(String),
    /// A segment that was there is there no more.
    #[error("{0} is missing, but this store pulled it before")]
    Gone(String),
    /// A segment is missing though later ones are there.
    #[error("{segment} is missing, though {later} is there")]
    Gap {
        /// The segment.
        segment: String,
        /// The name of a later one.
        later: String,
    },
    /// A segment is not what it was.
    #[error("{0} has changed since this store pulled it; segments never change")]
    Changed(String),
    /// A segment cannot be decompressed.
    #[error("{segment} is cut off or damaged")]
    Damaged {
        /// The segment.
        segment: String,
        /// The error of the decoder.
        source: std::io::Error,
    },
    /// A segment is empty.
    #[error("{0} holds no records")]
    Empty(String),
    /// A line of a segment is of a newer version.
    #[error("{segment}:{line}")]
    Line {
        /// The segment.
        segment: String,
        /// The number of the line, from 1.
        line: u64,
        /// Why.
        source: LineError,
    },
    /// Secrets would be shared.
    #[error("{} would be shared: {}", counted(.0.secret_count, "secret"), first_secrets(.0))]
    Secrets(Box<TextSurvey>),
    /// A signature is not one of its segment.
    #[error("the signature of {segment} is not valid: {says}")]
    WrongSignature {
        /// The segment.
        segment: String,
        /// The reason of `ssh-keygen`.
        says: String,
    },
    /// A segment cannot be signed.
    #[error("cannot sign with {}: {says}", key.display())]
    Sign {
        /// The key.
        key: PathBuf,
        /// The reason of `ssh-keygen`.
        says: String,
    },
    /// Signatures cannot be made or checked.
    #[error("cannot run ssh-keygen")]
    SshKeygen(#[source] std::io::Error),
    /// A segment cannot be made.
    #[error("cannot compress a segment")]
    Compress(#[source] std::io::Error),
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl SharingError {
    /// Returns the conversion of an error of a location.
    pub(super) fn of(remote: &dyn Remote) -> impl FnOnce(RemoteError) -> Self {
        let address = remote.address().to_owned();
        |source| Self::Remote { address, source }
    }
}

fn first_secrets(survey: &TextSurvey) -> String {
    let places = survey.secrets.iter();
    let places = places.map(|it| {
        format!(
            "{} in `{}` of {} {}",
            it.secret, it.place, it.record, it.key
        )
    });
    first_names(places, 3)
}
