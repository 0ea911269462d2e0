//! Secrets and private texts: how they are found, and how they are hidden before anything is kept.
//!
//! Every record passes [`RecordCleaner::clean`] before it enters the store or a record file: those of the runner, of the
//! inbox, of importers, of shared histories, and what people say.

mod cleaner;
mod hide;
mod paths;
mod place;
mod secret_rules;
mod secrets;
mod survey;

pub use cleaner::{PrivacyRules, RecordCleaner, hidden_in_plan, restore_home};
pub use hide::HideRules;
pub(crate) use place::PrivateTexts;
pub use secrets::{FoundSecret, HIDDEN, find_secrets, without_secrets};
pub use survey::{SecretPlace, SurveyedTexts, TextKind, TextSurvey};

#[cfg(test)]
mod fixtures_tests;
