//! What a push would share: every kind of text, and secrets, which are refused.

use super::SharedHistory;
use super::error::SharingError;
use super::remote::Remote;
use crate::private::TextSurvey;
use crate::store::UnsharedRecords;
use crate::{Store, StoreError, inbox};
use lapwing_model::Record;

/// The key of a history of which nothing is known.
const UNKNOWN: i64 = -1;

/// Returns the texts of everything that the history at a place lacks.
///
/// # Errors
/// When the store or the place cannot be read.
pub fn unshared_texts(store: &Store, remote: &dyn Remote) -> Result<TextSurvey, SharingError> {
    let history = SharedHistory::find(remote)?;
    let known = match history {
        Some(history) => store.sharing().remote(&history.id().to_string())?,
        None => None,
    };
    Ok(texts_of(store, known.map_or(UNKNOWN, |it| it.key))?)
}

/// Refuses to share secrets.
///
/// # Errors
/// When there are some, or the store cannot be read.
pub(super) fn refuse_secrets(store: &Store, remote: i64) -> Result<(), SharingError> {
    let survey = texts_of(store, remote)?;
    if survey.secret_count == 0 {
        return Ok(());
    }
    Err(SharingError::Secrets(Box::new(survey)))
}

fn texts_of(store: &Store, remote: i64) -> Result<TextSurvey, StoreError> {
    let folder = store.inbox();
    let mut survey = TextSurvey::default();
    store.sharing().scan_unshared(
        remote,
        |session| !inbox::is_under_way(&folder, session.id, None).unwrap_or(false),
        |next| -> Result<(), StoreError> {
            match next {
                UnsharedRecords::Record(record) => survey.add(*record),
                UnsharedRecords::Annotation(annotation) => {
                    survey.add(Record::Annotation(annotation));
                }
                UnsharedRecords::Begin(_) | UnsharedRecords::End => {}
            }
            Ok(())
        },
    )?;
    Ok(survey)
}
