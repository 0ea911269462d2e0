//! Sessions that were withdrawn from a shared history: `lapwing db withdraw`.

use lapwing_model::text::counted;
use lapwing_record::sharing::WithdrawSummary;
use schemars::JsonSchema;
use serde::Serialize;

use super::sharing::pulled_notes;
use crate::writing::{AnswerKind, Note, ReadyAnswer, TextAnswer, WriteError};

/// The kind of these answers.
pub const KIND: AnswerKind =
    AnswerKind::of::<WithdrawFields<'_>>("db-withdraw").listing("sessions");

/// A session that is withdrawn.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct WithdrawnSession {
    /// Its id.
    pub id: String,
}

/// Sessions that were withdrawn from a shared history, or would be.
#[derive(Debug)]
pub struct WithdrawAnswer<'a> {
    /// The URL, without passwords.
    pub address: &'a str,
    /// The sessions.
    pub sessions: Vec<WithdrawnSession>,
    /// Whether the location lets segments be rewritten.
    pub replaces: bool,
    /// What was done; nothing yet without `--yes`.
    pub done: Option<WithdrawSummary>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct WithdrawFields<'a> {
    address: &'a str,
    /// Whether nothing was changed.
    dry_run: bool,
    sessions: &'a [WithdrawnSession],
    /// Number of segments that were rewritten; `null` in a dry run, and where the location cannot do that.
    rewritten_segments: Option<u64>,
}

impl WithdrawAnswer<'_> {
    /// Returns the answer.
    ///
    /// # Errors
    ///
    /// Returns the error of a value that JSON has no form for.
    pub fn answer(&self) -> Result<ReadyAnswer, WriteError> {
        let sessions = counted(self.sessions.len(), "session");
        let rewritten = self.done.as_ref().and_then(|done| done.rewritten);
        let (headline, mut notes) = match &self.done {
            None => {
                let text = "nothing was deleted; add --yes to delete these sessions here and ask everybody else to";
                (
                    format!("would withdraw {sessions} from {}", self.address),
                    vec![Note::marked("dry_run", text)],
                )
            }
            Some(done) => {
                let mut headline = format!("withdrew {sessions} from {}", self.address);
                if let Some(segments) = rewritten {
                    let segments = counted(segments, "segment");
                    headline.push_str(&format!("; {segments} rewritten"));
                }
                let pulled = pulled_notes(&done.pulled, "not pulled");
                (headline, pulled.into_iter().flatten().collect())
            }
        };
        if !self.replaces {
            let text = "the location still holds the sessions, as segments cannot be rewritten there: whoever \
                        administers it can delete them";
            notes.push(Note::marked("still_there", text));
        }
        let text = TextAnswer {
            headline,
            notes,
            ..TextAnswer::default()
        };
        let fields = WithdrawFields {
            address: self.address,
            dry_run: self.done.is_none(),
            sessions: &self.sessions,
            rewritten_segments: rewritten,
        };
        ReadyAnswer::new(&KIND, text, &fields, &self.sessions)
    }
}
