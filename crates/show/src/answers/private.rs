//! What texts a store holds, or would share: `lapwing db private` and `lapwing db push --preview`.

use std::path::Path;

use lapwing_model::text::{counted, grouped, shell_word};
use lapwing_record::private::{SecretPlace, TextSurvey};
use schemars::JsonSchema;
use serde::Serialize;

use crate::writing::Align::{Left, Right};
use crate::writing::{AnswerKind, NextStep, Note, ReadyAnswer, Table, TextAnswer, WriteError};

/// The kind of a list of texts.
pub const KIND: AnswerKind = AnswerKind::of::<TextList<'_>>("db-private").listing("texts");

/// Number of secrets that text lists.
const LISTED: usize = 10;

/// The texts of a store for programs.
#[derive(Debug, Serialize, JsonSchema)]
struct TextList<'a> {
    store: &'a Path,
    /// The shared history that would get them; `null` for all texts of the store.
    address: Option<&'a str>,
    texts: Vec<TextRow<'a>>,
    /// Number of tokens, keys and passwords.
    secret_count: u64,
    /// The first of them.
    secrets: Vec<SecretFields>,
}

/// The texts of one kind.
#[derive(Debug, Default, Clone, Serialize, JsonSchema)]
struct TextRow<'a> {
    kind: &'static str,
    count: u64,
    /// The first different ones, cut short.
    examples: &'a [String],
}

/// A token, key or password.
#[derive(Debug, Serialize, JsonSchema)]
struct SecretFields {
    kind: &'static str,
    /// The kind of the record.
    record: &'static str,
    /// Identifies the record.
    key: String,
    /// Its place in the record.
    place: String,
    /// Its session; `null` for an annotation.
    session: Option<String>,
    /// The command that deletes the session; `null` for an annotation.
    purge: Option<String>,
}

impl SecretFields {
    fn new(secret: &SecretPlace) -> Self {
        let session = secret.session.map(|it| it.to_string());
        let purge = session.as_deref().map(|session| {
            let which = shell_word(&format!("session={session}"));
            format!("lapwing db purge --where {which} --yes")
        });
        Self {
            kind: secret.secret,
            record: secret.record.name(),
            key: secret.key.clone(),
            place: secret.place.clone(),
            session,
            purge,
        }
    }
}

/// Returns the answer about all texts of a store, or about those that a history at an address would get.
///
/// # Errors
///
/// Returns the error of a value that JSON has no form for.
pub fn private_texts(
    store: &Path,
    address: Option<&str>,
    survey: &TextSurvey,
) -> Result<ReadyAnswer, WriteError> {
    let rows = survey.texts.iter().map(|(kind, texts)| TextRow {
        kind: kind.name(),
        count: texts.count,
        examples: &texts.examples,
    });
    let rows: Vec<TextRow<'_>> = rows.collect();
    let secrets: Vec<SecretFields> = survey.secrets.iter().map(SecretFields::new).collect();
    let mut table = Table::new(&[("kind", Left), ("texts", Right), ("examples", Left)]);
    for row in &rows {
        let examples = row.examples.join(", ");
        table.row(vec![row.kind.to_owned(), grouped(row.count), examples]);
    }
    let texts = counted(rows.iter().map(|it| it.count).sum::<u64>(), "text");
    let kinds = counted(rows.len(), "kind");
    let verb = match address {
        Some(address) => format!("would be shared with {address}"),
        None => "stored".to_owned(),
    };
    let secret_text = match survey.secret_count {
        0 => "no secrets found".to_owned(),
        some => format!("{} among them", counted(some, "secret")),
    };
    let text = TextAnswer {
        headline: match rows.len() {
            0 => format!("no text {verb}"),
            _ => format!("{texts} of {kinds} {verb}; {secret_text}"),
        },
        table,
        notes: notes(survey, &secrets),
        next: next_steps(&secrets),
        ..TextAnswer::default()
    };
    let list = TextList {
        store,
        address,
        texts: rows.clone(),
        secret_count: survey.secret_count,
        secrets,
    };
    ReadyAnswer::new(&KIND, text, &list, &rows)
}

/// Returns where secrets are.
fn notes(survey: &TextSurvey, secrets: &[SecretFields]) -> Vec<Note> {
    let mut notes: Vec<Note> = Vec::new();
    for secret in secrets.iter().take(LISTED) {
        let text = format!(
            "{} in `{}` of {} {}",
            secret.kind, secret.place, secret.record, secret.key
        );
        notes.push(Note::marked("secret", text));
    }
    let listed = LISTED.min(secrets.len()) as u64;
    if survey.secret_count > listed {
        let more = survey.secret_count - listed;
        let text = format!("{} more", counted(more, "secret"));
        notes.push(Note::marked("more_secrets", text).with("secrets", more));
    }
    notes
}

/// Returns the commands that delete the sessions with secrets.
fn next_steps(secrets: &[SecretFields]) -> Vec<NextStep> {
    let mut commands: Vec<&String> = secrets.iter().filter_map(|it| it.purge.as_ref()).collect();
    commands.dedup();
    let steps = commands.into_iter().take(3);
    steps
        .map(|command| NextStep::new(command, "deletes the session for good"))
        .collect()
}
