//! What a place must be able to do to hold a shared history.

/// Why a place cannot be used, in one sentence or a chain of causes, without passwords.
pub type RemoteError = Box<dyn std::error::Error + Send + Sync>;

/// An object is larger than anything that a shared history keeps under that name.
#[derive(Debug, thiserror::Error)]
#[error("{name} is larger than {limit} bytes")]
pub struct TooLarge {
    /// The name of the object.
    pub name: String,
    /// The most bytes that are read.
    pub limit: u64,
}

/// What came of creating an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectCreation {
    /// It is there, wholly, with what was given.
    New,
    /// There was one already, and it is as it was.
    Refused,
}

/// A place that keeps whole objects by name.
pub trait Remote {
    /// Returns where it is, for people and to know it again: no password, no trailing slash.
    fn address(&self) -> &str;

    /// Returns an object, or nothing where there is none. No more than `limit` bytes are read.
    ///
    /// # Errors
    /// When the request fails; [`TooLarge`] when the object is.
    fn get(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, RemoteError>;

    /// Returns the names of the objects in a folder, without it; nothing where the place cannot
    /// list, as a plain server of files cannot.
    ///
    /// # Errors
    /// When the request fails.
    fn list(&self, _folder: &str) -> Result<Option<Vec<String>>, RemoteError> {
        Ok(None)
    }

    /// Creates an object unless there is one of that name. A part of it is never visible, and of
    /// several who try at once only one succeeds.
    ///
    /// # Errors
    /// When it is not known whether the object is there.
    fn create(&self, name: &str, content: &[u8]) -> Result<ObjectCreation, RemoteError>;

    /// Returns whether objects can be replaced.
    fn replaces(&self) -> bool {
        false
    }

    /// Puts other content in the place of an object, or deletes it where there is no content.
    ///
    /// # Errors
    /// When the place cannot do that, or it is not known whether it was done.
    fn replace(&self, name: &str, _content: Option<&[u8]>) -> Result<(), RemoteError> {
        Err(format!("{name} cannot be replaced here").into())
    }
}
