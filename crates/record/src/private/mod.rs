//! Secrets and private texts: how they are found, and how they are hidden before anything is kept.

mod secrets;

pub use secrets::{FoundSecret, HIDDEN, find_secrets, without_secrets};
