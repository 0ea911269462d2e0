//! What was pushed to a shared history and pulled from it: `lapwing db push` and `lapwing db pull`.

use std::collections::BTreeMap;

use lapwing_model::text::{counted, grouped, plural};
use lapwing_record::Refusals;
use lapwing_record::sharing::{
    PullSummary, PushSummary, SharingRehearsal, SignatureCounts, WithdrawalSummary,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::annotating::came_note;
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
    /// Place and reason of the first of them.
    refused: Vec<String>,
    /// Annotations that were new, by kind and author.
    annotations: Vec<AnnotationCountRow>,
    /// Signatures of the segments, if they were checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    signatures: Option<SignatureFields>,
    /// Withdrawn sessions that were deleted, by who withdrew them.
    withdrawn: BTreeMap<String, u64>,
    /// Withdrawn sessions that are still in the store, by who withdrew them.
    withdrawn_kept: BTreeMap<String, u64>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct AnnotationCountRow {
    kind: &'static str,
    by: String,
    count: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct SignatureFields {
    allowed: u64,
    /// Number of segments that were signed by a key that is not allowed.
    by_others: u64,
    unsigned: u64,
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
    /// Place and reason of the first of them.
    refused: Vec<String>,
    /// Number of annotations of others, which a signature of this store would vouch for.
    unvouched: u64,
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
            refused: pulled.refused.first.clone(),
            annotations: pulled
                .annotations
                .rows()
                .map(|(kind, by, count)| AnnotationCountRow {
                    kind,
                    by: by.to_owned(),
                    count,
                })
                .collect(),
            signatures: (pulled.signatures != SignatureCounts::default()).then_some(
                SignatureFields {
                    allowed: pulled.signatures.allowed,
                    by_others: pulled.signatures.by_others,
                    unsigned: pulled.signatures.unsigned,
                },
            ),
            withdrawn: pulled.withdrawals.deleted.clone(),
            withdrawn_kept: pulled.withdrawals.kept.clone(),
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
            refused: pushed.left_out.first.clone(),
            unvouched: pushed.unvouched,
        }),
    };
    let notes = [
        under_way_note(pushed.under_way),
        refused_note(&pushed.left_out, "not pushed"),
        unvouched_note(pushed.unvouched),
    ];
    let notes = notes
        .into_iter()
        .chain(pulled_notes(&pushed.pulled, "not pulled"));
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
            refused: Vec::new(),
            unvouched: 0,
        }),
    };
    let notes = std::iter::once(under_way_note(would.under_way))
        .chain(pulled_notes(&would.pulled, "would not be pulled"));
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
    let notes = pulled_notes(pulled, participle);
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

/// Returns the notes on what came from others.
pub(super) fn pulled_notes(pulled: &PullSummary, participle: &str) -> [Option<Note>; 5] {
    let WithdrawalSummary { deleted, kept } = &pulled.withdrawals;
    [
        refused_note(&pulled.refused, participle),
        came_note(&pulled.annotations),
        signature_note(&pulled.signatures),
        withdrawn_note("withdrawn_deleted", "deleted here", deleted),
        withdrawn_note(
            "withdrawn_kept",
            "not deleted here, which `lapwing db pull --accept-withdrawals` would do",
            kept,
        ),
    ]
}

fn signature_note(signatures: &SignatureCounts) -> Option<Note> {
    let SignatureCounts {
        allowed,
        by_others,
        unsigned,
    } = *signatures;
    let mut parts = Vec::new();
    if unsigned > 0 {
        parts.push(format!("{} not signed", counted(unsigned, "segment")));
    }
    if by_others > 0 {
        let segments = counted(by_others, "segment");
        parts.push(format!("{segments} signed by a key that is not allowed"));
    }
    let note = Note::marked("signatures", parts.join(", "));
    let note = note.with("allowed", allowed).with("by_others", by_others);
    (!parts.is_empty()).then(|| note.with("unsigned", unsigned))
}

fn withdrawn_note(
    code: &'static str,
    what: &str,
    sessions: &BTreeMap<String, u64>,
) -> Option<Note> {
    let by = sessions
        .iter()
        .map(|(by, count)| format!("{} withdrawn by {by}", counted(*count, "session")));
    let text = format!("{}: {what}", by.collect::<Vec<_>>().join(", "));
    let note = Note::marked(code, text).with("sessions", sessions.values().sum::<u64>());
    let by: Vec<String> = sessions.keys().cloned().collect();
    (!sessions.is_empty()).then(|| note.with("by", by))
}

fn unvouched_note(annotations: u64) -> Option<Note> {
    let text = format!(
        "{} of others not pushed, because the signature would vouch for {}",
        counted(annotations, "annotation"),
        plural(annotations, "it", "them")
    );
    let note = Note::marked("unvouched", text).with("annotations", annotations);
    (annotations > 0).then_some(note)
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
