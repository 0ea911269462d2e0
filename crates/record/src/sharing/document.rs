//! The document by which a shared history is known, `lapwing.json`.

use serde::Deserialize;

use super::error::SharingError;
use super::remote::{ObjectCreation, Remote};
use lapwing_model::Id;

/// The name of the document.
const NAME: &str = "lapwing.json";

/// What tells it from other programs' documents.
const FORMAT: &str = "lapwing shared history";

/// The version of the layout that this program reads and writes.
const VERSION: u64 = 1;

/// The document has one short line.
const LARGEST: u64 = 64 << 10;

#[derive(Debug, Deserialize)]
struct HistoryDocument {
    id: Id,
}

/// Says only what it is.
#[derive(Debug, Deserialize)]
struct DocumentHead {
    format: Option<String>,
    version: Option<u64>,
}

/// A shared history that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedHistory {
    id: Id,
    content: Vec<u8>,
}

impl SharedHistory {
    /// Returns the history that a place holds, or nothing.
    ///
    /// # Errors
    /// When the place cannot be read, or holds something else or something newer.
    pub fn find(remote: &dyn Remote) -> Result<Option<Self>, SharingError> {
        let content = remote
            .get(NAME, LARGEST)
            .map_err(SharingError::of(remote))?;
        content
            .map(|content| Self::parse(remote, content))
            .transpose()
    }

    /// Begins a history in a place that holds none; if another writer is faster, returns that one.
    ///
    /// # Errors
    /// When the place cannot be read or written, or holds something else or something newer.
    pub(super) fn begin(remote: &dyn Remote, new: Id) -> Result<Self, SharingError> {
        let begun = Self::new(new);
        match begun.create(remote)? {
            ObjectCreation::New => Ok(begun),
            ObjectCreation::Refused => Self::find(remote)?
                .ok_or_else(|| SharingError::Nothing(remote.address().to_owned())),
        }
    }

    /// Returns its id, which is the same at every location.
    pub fn id(&self) -> Id {
        self.id
    }

    /// Refuses a place that would let writers overwrite each other. What is there is created a
    /// second time: where the place ignores the condition, that changes nothing.
    pub(super) fn probe(&self, remote: &dyn Remote) -> Result<(), SharingError> {
        match self.create(remote)? {
            ObjectCreation::Refused => Ok(()),
            ObjectCreation::New => Err(SharingError::Overwrites(remote.address().to_owned())),
        }
    }

    pub(super) fn new(id: Id) -> Self {
        let text = format!("{{\"format\":\"{FORMAT}\",\"version\":{VERSION},\"id\":\"{id}\"}}\n");
        Self {
            id,
            content: text.into_bytes(),
        }
    }

    fn create(&self, remote: &dyn Remote) -> Result<ObjectCreation, SharingError> {
        remote
            .create(NAME, &self.content)
            .map_err(SharingError::of(remote))
    }

    fn parse(remote: &dyn Remote, content: Vec<u8>) -> Result<Self, SharingError> {
        let foreign = || SharingError::Foreign(remote.address().to_owned());
        let head: DocumentHead = serde_json::from_slice(&content).map_err(|_no_json| foreign())?;
        match (head.format.as_deref(), head.version) {
            (Some(FORMAT), Some(version)) if version > VERSION => {
                return Err(SharingError::Newer {
                    address: remote.address().to_owned(),
                    found: version,
                    known: VERSION,
                });
            }
            (Some(FORMAT), Some(_)) => {}
            (_, _) => return Err(foreign()),
        }
        let document: HistoryDocument =
            serde_json::from_slice(&content).map_err(|_other_keys| foreign())?;
        Ok(Self {
            id: document.id,
            content,
        })
    }
}
