//! What was pushed to a shared history and pulled from it: `lapwing db push` and `lapwing db pull`.

use lapwing_model::text::{counted, grouped, plural};
use lapwing_record::Refusals;
use lapwing_record::sharing::{PullSummary, PushSummary, SharingRehearsal};
use schemars::JsonSchema;
use serde::Serialize;

use super::named_value::leaves;
use super::stores::size_text;
use crate::writing::{AnswerKind, Note, ReadyAnswer, TextAnswer, WriteError};

/// The kind of a push.
pub const PUSH: AnswerKind = AnswerKind::of::<SharingFields<'_>>("db-push");
/// The kind of a pull.
pub const PULL: AnswerKind = AnswerKind::of::<SharingFields<'_>>("db-pull");

/// The shared records for programs.
#[derive(Debug, Serialize, JsonSchema)]
struct SharingFields<'a> {
    address: &'a str,
    /// Whether nothing was changed.
    dry_run: bool,
    pulled: PulledFields,
    #[serde(skip_serializing_if = "Option::is_none")]
    pushed: Option<PushedFields>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PulledFields {
    segments: u64,
    bytes: u64,
    new_records: u64,
    known_records: u64,
    refused_records: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PushedFields {
    sessions: u64,
    annotations: u64,
    /// Number of segments; `null` in a dry run.
    segments: Option<u64>,
    /// Size of the segments; `null` in a dry run.
    bytes: Option<u64>,
    /// Number of records in a dry run.
    records: Option<u64>,
    /// Number of sessions in progress, which are pushed next time.
    under_way: u64,
    refused_records: u64,
}

impl PulledFields {
    fn new(pulled: &PullSummary) -> Self {
        let total = pulled.appended.total();
        Self {
            segments: pulled.segments,
            bytes: pulled.bytes,
            new_records: total.new,
            known_records: total.already_there,
            refused_records: pulled.refused.count,
        }
    }
}

/// Returns the answer of a push.
///
/// # Errors
///
/// Returns the error of a value that JSON has no form for.
pub fn pushed(pushed: &PushSummary, address: &str) -> Result<ReadyAnswer, WriteError> {
    let went = match pushed.segments {
        0 => "nothing to push".to_owned(),
        segments => format!(
            "pushed {} in {} ({})",
            sent_text(pushed.sessions, pushed.annotations),
            counted(segments, "segment"),
            size_text(pushed.bytes)
        ),
    };
    let came = pulled_text(&pushed.pulled, "pulled", "nothing new from others");
    let fields = SharingFields {
        address,
        dry_run: false,
        pulled: PulledFields::new(&pushed.pulled),
        pushed: Some(PushedFields {
            sessions: pushed.sessions,
            annotations: pushed.annotations,
            segments: Some(pushed.segments),
            bytes: Some(pushed.bytes),
            records: None,
            under_way: pushed.under_way,
            refused_records: pushed.left_out.count,
        }),
    };
    let notes = [
        under_way_note(pushed.under_way),
        refused_note(&pushed.left_out, "not pushed"),
        refused_note(&pushed.pulled.refused, "not pulled"),
    ];
    answer(&PUSH, format!("{went}; {came}"), notes, &fields)
}

/// Returns the answer of a push that was only tried.
///
/// # Errors
///
/// Returns the error of a value that JSON has no form for.
pub fn rehearsed_push(would: &SharingRehearsal, address: &str) -> Result<ReadyAnswer, WriteError> {
    let records = would.records + would.annotations;
    let went = match would.sessions + would.annotations {
        0 => "would push nothing".to_owned(),
        _some => format!(
            "would push {} ({})",
            sent_text(would.sessions, would.annotations),
            counted(records, "record")
        ),
    };
    let came = pulled_text(&would.pulled, "would pull", "would pull nothing");
    let fields = SharingFields {
        address,
        dry_run: true,
        pulled: PulledFields::new(&would.pulled),
        pushed: Some(PushedFields {
            sessions: would.sessions,
            annotations: would.annotations,
            segments: None,
            bytes: None,
            records: Some(records),
            under_way: would.under_way,
            refused_records: 0,
        }),
    };
    let notes = [
        under_way_note(would.under_way),
        refused_note(&would.pulled.refused, "would not be pulled"),
    ];
    answer(&PUSH, format!("{went}; {came}"), notes, &fields)
}

/// Returns the answer of a pull, or of one that was only tried.
///
/// # Errors
///
/// Returns the error of a value that JSON has no form for.
pub fn pulled(
    pulled: &PullSummary,
    address: &str,
    dry_run: bool,
) -> Result<ReadyAnswer, WriteError> {
    let (verb, participle) = match dry_run {
        true => ("would pull", "would not be pulled"),
        false => ("pulled", "not pulled"),
    };
    let sentence = pulled_text(pulled, verb, &format!("nothing new at {address}"));
    let fields = SharingFields {
        address,
        dry_run,
        pulled: PulledFields::new(pulled),
        pushed: None,
    };
    let notes = [refused_note(&pulled.refused, participle)];
    answer(&PULL, sentence, notes, &fields)
}

fn answer(
    kind: &'static AnswerKind,
    headline: String,
    notes: impl IntoIterator<Item = Option<Note>>,
    fields: &SharingFields<'_>,
) -> Result<ReadyAnswer, WriteError> {
    let text = TextAnswer {
        headline,
        notes: notes.into_iter().flatten().collect(),
        ..TextAnswer::default()
    };
    ReadyAnswer::new(kind, text, fields, &leaves(&serde_json::to_value(fields)?))
}

/// Returns a note on sessions in progress.
fn under_way_note(sessions: u64) -> Option<Note> {
    let text = format!(
        "{} in progress will be pushed next time",
        counted(sessions, "session")
    );
    let note = Note::marked("under_way", text).with("sessions", sessions);
    (sessions > 0).then_some(note)
}

fn sent_text(sessions: u64, annotations: u64) -> String {
    match (sessions, annotations) {
        (0, annotations) => counted(annotations, "annotation"),
        (sessions, 0) => counted(sessions, "session"),
        (sessions, annotations) => format!(
            "{} and {}",
            counted(sessions, "session"),
            counted(annotations, "annotation")
        ),
    }
}

fn pulled_text(pulled: &PullSummary, verb: &str, nothing: &str) -> String {
    if pulled.segments == 0 {
        return nothing.to_owned();
    }
    let total = pulled.appended.total();
    let known = match total.already_there {
        0 => String::new(),
        known => format!(", {} already present", grouped(known)),
    };
    format!(
        "{verb} {} ({}): {} new {}{known}",
        counted(pulled.segments, "segment"),
        size_text(pulled.bytes),
        grouped(total.new),
        plural(total.new, "record", "records")
    )
}

/// Returns a warning of records that were left out, with the first ones.
fn refused_note(refused: &Refusals, participle: &str) -> Option<Note> {
    (refused.count > 0).then(|| {
        let text = format!(
            "{} {participle}, because no reader accepts {}: {}",
            counted(refused.count, "record"),
            plural(refused.count, "it", "them"),
            refused.first.join("; ")
        );
        Note::marked("refused", text)
            .with("records", refused.count)
            .with("first", refused.first.clone())
    })
}
