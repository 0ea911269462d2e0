//! What was pushed to a shared history and pulled from it: `lapwing db push` and `lapwing db pull`.

use std::io::Write;

use lapwing_model::text::{counted, grouped, plural};
use lapwing_record::Refusals;
use lapwing_record::sharing::{PullSummary, PushSummary, SharingRehearsal};
use serde_json::{Value, json};

use super::stores::size_text;
use crate::writing::Align::{Left, Right};
use crate::writing::{AnswerFormat, Table, WriteError, write_json};

/// The records that were shared, or would be.
#[derive(Debug)]
pub struct SharingAnswer {
    sentence: String,
    json: Value,
    /// Remarks on what was left out.
    pub notes: Vec<String>,
    /// Number of sessions in progress, which were not pushed.
    pub under_way: u64,
}

impl SharingAnswer {
    /// Returns the answer of a push.
    pub fn pushed(pushed: &PushSummary, address: &str) -> Self {
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
        let mut json = pulled_json(&pushed.pulled, address, false);
        json["pushed"] = json!({
            "sessions": pushed.sessions,
            "annotations": pushed.annotations,
            "segments": pushed.segments,
            "bytes": pushed.bytes,
            "under_way": pushed.under_way,
            "refused_records": pushed.left_out.count,
        });
        let refused = [
            refused_note(&pushed.left_out, "not pushed"),
            refused_note(&pushed.pulled.refused, "not pulled"),
        ];
        Self {
            sentence: format!("{went}; {came}"),
            json,
            notes: refused.into_iter().flatten().collect(),
            under_way: pushed.under_way,
        }
    }

    /// Returns the answer of a push that was only tried.
    pub fn rehearsed(would: &SharingRehearsal, address: &str) -> Self {
        let went = match would.sessions + would.annotations {
            0 => "would push nothing".to_owned(),
            _some => format!(
                "would push {} ({})",
                sent_text(would.sessions, would.annotations),
                counted(would.records + would.annotations, "record")
            ),
        };
        let came = pulled_text(&would.pulled, "would pull", "would pull nothing");
        let mut json = pulled_json(&would.pulled, address, true);
        json["pushed"] = json!({
            "sessions": would.sessions,
            "annotations": would.annotations,
            "records": would.records + would.annotations,
            "under_way": would.under_way,
        });
        let refused = refused_note(&would.pulled.refused, "would not be pulled");
        Self {
            sentence: format!("{went}; {came}"),
            json,
            notes: refused.into_iter().collect(),
            under_way: would.under_way,
        }
    }

    /// Returns the answer of a pull, or of one that was only tried.
    pub fn pulled(pulled: &PullSummary, address: &str, is_dry_run: bool) -> Self {
        let verb = if is_dry_run { "would pull" } else { "pulled" };
        Self {
            sentence: pulled_text(pulled, verb, &format!("nothing new at {address}")),
            json: pulled_json(pulled, address, is_dry_run),
            notes: refused_note(&pulled.refused, "not pulled")
                .into_iter()
                .collect(),
            under_way: 0,
        }
    }

    /// Writes the answer in a format.
    ///
    /// # Errors
    ///
    /// Returns the error of the output.
    pub fn write(&self, format: AnswerFormat, out: &mut dyn Write) -> Result<(), WriteError> {
        let mut table = Table::new(&[("what", Left), ("value", Right)]);
        for (name, value) in leaves(&self.json) {
            table.row(vec![name, value]);
        }
        match format {
            AnswerFormat::Text => writeln!(out, "{}", self.sentence)?,
            AnswerFormat::Json => write_json(&self.json, out)?,
            AnswerFormat::Markdown => table.markdown(out)?,
            AnswerFormat::Csv => table.csv_rows().write(out)?,
        }
        Ok(())
    }
}

/// Returns the answer of a pull for programs; that of a push has `pushed`, too.
fn pulled_json(pulled: &PullSummary, address: &str, is_dry_run: bool) -> Value {
    let total = pulled.appended.total();
    json!({
        "address": address,
        "dry_run": is_dry_run,
        "pulled": {
            "segments": pulled.segments,
            "bytes": pulled.bytes,
            "new_records": total.new,
            "known_records": total.already_there,
            "refused_records": pulled.refused.count,
        },
    })
}

/// Returns the leaves of an object with their paths.
fn leaves(answer: &Value) -> Vec<(String, String)> {
    let Value::Object(map) = answer else {
        let text = answer.as_str().map(str::to_owned);
        return vec![(String::new(), text.unwrap_or_else(|| answer.to_string()))];
    };
    let leaves = map.iter().flat_map(|(name, value)| {
        let leaves = leaves(value).into_iter();
        leaves.map(move |(below, leaf)| (format!("{name} {below}").trim_end().to_owned(), leaf))
    });
    leaves.collect()
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
fn refused_note(refused: &Refusals, participle: &str) -> Option<String> {
    (refused.count > 0).then(|| {
        format!(
            "{} {participle}, because no reader accepts {}: {}",
            counted(refused.count, "record"),
            plural(refused.count, "it", "them"),
            refused.first.join("; ")
        )
    })
}
