use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// Identifies a session, a run, an instance or an annotation everywhere and for ever.
///
/// Measured things get a UUIDv7 (ordered by time); imported things get a UUIDv8
/// derived from the content of their source, so that importing it twice finds
/// the same thing again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Id(Uuid);

/// A text that should have been an id and is none.
#[derive(Debug, thiserror::Error)]
#[error("id `{text}` is not a UUID")]
pub struct IdError {
    text: String,
    source: uuid::Error,
}

impl Id {
    /// Returns a new time-ordered id for something measured at `unix_milliseconds`,
    /// with `random` bits to tell it from others of the same millisecond.
    pub fn measured(unix_milliseconds: u64, random: [u8; 10]) -> Self {
        Self(uuid::Builder::from_unix_timestamp_millis(unix_milliseconds, &random).into_uuid())
    }

    /// Returns the id that belongs to the given parts of an imported source.
    ///
    /// The same parts give the same id; parts are kept apart by their lengths,
    /// so `["ab", "c"]` and `["a", "bc"]` differ.
    pub fn derived(parts: &[&[u8]]) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        let digest = hash.finalize();
        let mut bytes = [0_u8; 16];
        bytes.copy_from_slice(&digest[..16]);
        Self(uuid::Builder::from_custom_bytes(bytes).into_uuid())
    }

    /// Returns the 16 bytes of the id.
    pub fn as_bytes(&self) -> &[u8; 16] {
        self.0.as_bytes()
    }
}

impl From<Uuid> for Id {
    fn from(uuid: Uuid) -> Self {
        Self(uuid)
    }
}

impl fmt::Display for Id {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(formatter)
    }
}

impl FromStr for Id {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        Uuid::try_parse(text).map(Self).map_err(|source| IdError {
            text: text.to_owned(),
            source,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_kept_apart() {
        assert_ne!(Id::derived(&[b"ab", b"c"]), Id::derived(&[b"a", b"bc"]));
        assert_eq!(Id::derived(&[b"ab", b"c"]), Id::derived(&[b"ab", b"c"]));
    }

    #[test]
    fn measured_ids_sort_by_time() {
        assert!(Id::measured(1, [255; 10]) < Id::measured(2, [0; 10]));
    }

    #[test]
    fn an_id_survives_its_text() {
        let id = Id::measured(1_763_632_800_000, [7; 10]);
        assert_eq!(id.to_string().parse::<Id>().expect("own text"), id);
        assert_eq!(
            "42".parse::<Id>().expect_err("too short").to_string(),
            "id `42` is not a UUID"
        );
    }
}
