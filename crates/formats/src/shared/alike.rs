//! Sessions of different files that may hold the same measurements.

use serde_json::Value;

use lapwing_model::Session;

/// A session that was imported, and one that looks like it and is in the store from another
/// file: by the same program, with the same start and most of the same values.
#[derive(Debug, Clone, PartialEq)]
pub struct Alike {
    /// The one that was imported.
    pub new: Session,
    /// The one that was there.
    pub known: Session,
}

impl Alike {
    /// Returns the pair, unless they come from one file or one of them from no file.
    pub(crate) fn of(new: &Session, known: Session) -> Option<Self> {
        let (one, other) = (source(new)?, source(&known)?);
        (one.get("format") == other.get("format") && one.get("sha256") != other.get("sha256")).then(
            || Self {
                new: new.clone(),
                known,
            },
        )
    }

    /// Returns name and SHA-256 of the file that the known one came from.
    pub fn known_file(&self) -> (&str, &str) {
        let text = |key: &str| source(&self.known)?.get(key)?.as_str();
        (
            text("file").unwrap_or_default(),
            text("sha256").unwrap_or_default(),
        )
    }
}

fn source(session: &Session) -> Option<&Value> {
    session.attributes.get("source")
}
