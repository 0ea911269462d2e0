//! `lapwing db push` and `pull`: a history shared by several stores.

use std::io::Write;

use clap::Args;
use lapwing_model::Id;
use lapwing_model::text::{counted, grouped, plural};
use lapwing_record::sharing::{
    self, PullOptions, PullSummary, PushOptions, PushSummary, Remote, SharedHistory, SharingError,
    SharingRehearsal, SharingStep, VerifiedSegments,
};
use lapwing_record::{Refusals, Store};
use lapwing_show::writing::{Align, AnswerFormat, Table};
use serde_json::{Value, json};
use tempfile::TempDir;
use uuid::Uuid;

use super::size;
use crate::answer::write_json;
use crate::error::{CliError, ExitStatus};
use crate::options::{AnswerOptions, Context};
use crate::progress::LateSpinner;
use crate::remote::HistoryUrl;
use crate::store::{open_for_reading, open_for_writing};

/// Shared history and the options of using it.
#[derive(Debug, Args)]
pub struct ShareCommand {
    #[command(flatten)]
    place: HistoryUrl,
    /// Show what would be done, without doing it
    #[arg(long)]
    dry_run: bool,
    /// Verify all segments pulled before, not only the last one
    #[arg(long)]
    verify: bool,
    /// Start over: pull everything, push whatever is missing, and accept that the history at URL is
    /// new or was replaced
    #[arg(long)]
    begin_anew: bool,
    #[command(flatten)]
    answer: AnswerOptions,
}

impl ShareCommand {
    /// Pulls records of others, then pushes those that the history lacks.
    pub(super) fn push(self, context: &Context) -> Result<ExitStatus, CliError> {
        let remote = self.place.open()?;
        // Without a store of its own, a push can still pull records of others.
        let is_new = !context.store.exists() && SharedHistory::find(&*remote)?.is_some();
        let options = PushOptions {
            pull: self.options(),
            new_history: Id::from(Uuid::now_v7()),
            segment_bytes: PushOptions::SEGMENT_BYTES,
        };
        if self.dry_run {
            let (mut store, _temporary) = if is_new {
                store_to_try(context)?
            } else {
                (open_for_reading(context)?, None)
            };
            let would = sharing::rehearse_push(&mut store, &*remote, &options)?;
            return self.say_rehearsed(&would, &*remote, context);
        }
        let mut store = if is_new {
            open_for_writing(context)?
        } else {
            open_for_reading(context)?
        };
        let mut watch = Watch::new(context);
        let pushed = sharing::push(&mut store, &*remote, &options, &mut |step| watch.see(step));
        watch.end();
        if is_new && pushed.is_err() {
            store.remove_if_empty();
        }
        let pushed = pushed.map_err(|error| watch.so_far(error))?;
        self.say_pushed(&pushed, &*remote, context)
    }

    /// Pulls records of others.
    pub(super) fn pull(self, context: &Context) -> Result<ExitStatus, CliError> {
        let remote = self.place.open()?;
        let options = self.options();
        if self.dry_run {
            let (mut store, _temporary) = store_to_try(context)?;
            let would = sharing::rehearse_pull(&mut store, &*remote, &options)?;
            return self.say_pulled(&would.pulled, &*remote, context);
        }
        let is_new = !context.store.exists();
        let mut store = open_for_writing(context)?;
        let mut watch = Watch::new(context);
        let pulled = sharing::pull(&mut store, &*remote, &options, &mut |step| watch.see(step));
        watch.end();
        if is_new && pulled.is_err() {
            store.remove_if_empty();
        }
        let pulled = pulled.map_err(|error| watch.so_far(error))?;
        self.say_pulled(&pulled, &*remote, context)
    }

    fn options(&self) -> PullOptions {
        PullOptions {
            verify: if self.verify {
                VerifiedSegments::All
            } else {
                VerifiedSegments::Last
            },
            begin_anew: self.begin_anew,
        }
    }

    fn say_pushed(
        &self,
        pushed: &PushSummary,
        remote: &dyn Remote,
        context: &Context,
    ) -> Result<ExitStatus, CliError> {
        let went = match pushed.segments {
            0 => "nothing to push".to_owned(),
            segments => format!(
                "pushed {} in {} ({})",
                sent(pushed.sessions, pushed.annotations),
                counted(segments, "segment"),
                size(pushed.bytes)
            ),
        };
        let came = came(&pushed.pulled, "pulled", "nothing new from others");
        let numbers = json!({
            "sessions": pushed.sessions,
            "annotations": pushed.annotations,
            "segments": pushed.segments,
            "bytes": pushed.bytes,
            "under_way": pushed.under_way,
            "refused_records": pushed.left_out.count,
        });
        let answer = self.values(Some(numbers), &pushed.pulled, remote);
        self.answer(&format!("{went}; {came}"), &answer, context)?;
        say_under_way(pushed.under_way, context);
        say_refused(&pushed.left_out, "not pushed", context);
        say_refused(&pushed.pulled.refused, "not pulled", context);
        Ok(ExitStatus::Fine)
    }

    fn say_pulled(
        &self,
        pulled: &PullSummary,
        remote: &dyn Remote,
        context: &Context,
    ) -> Result<ExitStatus, CliError> {
        let answer = self.values(None, pulled, remote);
        let nothing = format!("nothing new at {}", remote.address());
        let verb = if self.dry_run { "would pull" } else { "pulled" };
        self.answer(&came(pulled, verb, &nothing), &answer, context)?;
        say_refused(&pulled.refused, "not pulled", context);
        Ok(ExitStatus::Fine)
    }

    fn say_rehearsed(
        &self,
        would: &SharingRehearsal,
        remote: &dyn Remote,
        context: &Context,
    ) -> Result<ExitStatus, CliError> {
        let went = match would.sessions + would.annotations {
            0 => "would push nothing".to_owned(),
            _some => format!(
                "would push {} ({})",
                sent(would.sessions, would.annotations),
                counted(would.records + would.annotations, "record")
            ),
        };
        let came = came(&would.pulled, "would pull", "would pull nothing");
        let numbers = json!({
            "sessions": would.sessions,
            "annotations": would.annotations,
            "records": would.records + would.annotations,
            "under_way": would.under_way,
        });
        let answer = self.values(Some(numbers), &would.pulled, remote);
        self.answer(&format!("{went}; {came}"), &answer, context)?;
        say_under_way(would.under_way, context);
        say_refused(&would.pulled.refused, "would not be pulled", context);
        Ok(ExitStatus::Fine)
    }

    /// Returns the answer for programs; a pull has no `pushed`.
    fn values(&self, pushed: Option<Value>, pulled: &PullSummary, remote: &dyn Remote) -> Value {
        let total = pulled.appended.total();
        let mut answer = json!({
            "address": remote.address(),
            "dry_run": self.dry_run,
            "pulled": {
                "segments": pulled.segments,
                "bytes": pulled.bytes,
                "new_records": total.new,
                "known_records": total.already_there,
                "refused_records": pulled.refused.count,
            },
        });
        if let Some(pushed) = pushed {
            answer["pushed"] = pushed;
        }
        answer
    }

    /// Writes the answer in the requested format.
    fn answer(&self, sentence: &str, answer: &Value, context: &Context) -> Result<(), CliError> {
        let mut out = context.terminal.out_as(self.answer.format);
        let mut table = Table::new(&[("what", Align::Left), ("value", Align::Right)]);
        for (what, value) in leaves(answer) {
            table.row(vec![what, value]);
        }
        match self.answer.format {
            AnswerFormat::Text => writeln!(out, "{sentence}")?,
            AnswerFormat::Json => write_json(answer, &mut out)?,
            AnswerFormat::Markdown => table.markdown(&mut out)?,
            AnswerFormat::Csv => table.csv(&mut out)?,
        }
        Ok(())
    }
}

/// Returns the leaves of an object with their paths.
fn leaves(answer: &Value) -> Vec<(String, String)> {
    let Value::Object(map) = answer else {
        let text = answer.as_str().map(str::to_owned);
        return vec![(String::new(), text.unwrap_or_else(|| answer.to_string()))];
    };
    let leaves = map.iter().flat_map(|(name, value)| {
        leaves(value)
            .into_iter()
            .map(move |(below, leaf)| match below.is_empty() {
                true => (name.clone(), leaf),
                false => (format!("{name} {below}"), leaf),
            })
    });
    leaves.collect()
}

fn sent(sessions: u64, annotations: u64) -> String {
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

fn came(pulled: &PullSummary, verb: &str, nothing: &str) -> String {
    if pulled.segments == 0 {
        return nothing.to_owned();
    }
    let total = pulled.appended.total();
    let mut text = format!(
        "{verb} {} ({}): {} new {}",
        counted(pulled.segments, "segment"),
        size(pulled.bytes),
        grouped(total.new),
        plural(total.new, "record", "records")
    );
    if total.already_there > 0 {
        text.push_str(&format!(
            ", {} already present",
            grouped(total.already_there)
        ));
    }
    text
}

fn say_under_way(under_way: u64, context: &Context) {
    if under_way > 0 && !context.quiet {
        context.terminal.note(&format!(
            "{} in progress will be pushed next time",
            counted(under_way, "session")
        ));
    }
}

/// Warns of records that were left out, and names the first.
fn say_refused(refused: &Refusals, what: &str, context: &Context) {
    if refused.count > 0 {
        context.terminal.note(&format!(
            "{} {what}, because no reader accepts {}: {}",
            counted(refused.count, "record"),
            if refused.count == 1 { "it" } else { "them" },
            refused.first.join("; ")
        ));
    }
}

/// Returns the store, or a temporary empty one if it does not exist.
fn store_to_try(context: &Context) -> Result<(Store, Option<TempDir>), CliError> {
    if context.store.exists() {
        return Ok((open_for_reading(context)?, None));
    }
    let folder = TempDir::with_prefix("lapwing-dry-run-")?;
    let store = Store::open(&folder.path().join("lapwing.db"))?;
    Ok((store, Some(folder)))
}

/// Progress of pushing and pulling.
struct Watch {
    spinner: LateSpinner,
    pushed: u64,
    pulled: u64,
    new: u64,
    sessions: String,
}

impl Watch {
    fn new(context: &Context) -> Self {
        Self {
            spinner: LateSpinner::new(context),
            pushed: 0,
            pulled: 0,
            new: 0,
            sessions: String::new(),
        }
    }

    fn see(&mut self, step: SharingStep) {
        match step {
            SharingStep::TookIn { number: _, new } => {
                self.pulled += 1;
                self.new += new;
            }
            SharingStep::Read { sessions, of } => {
                self.sessions = format!(", session {} of {}", grouped(sessions), grouped(of));
            }
            SharingStep::Pushed { .. } => self.pushed += 1,
        }
        self.spinner.say(&format!(
            "pulled {} ({} new records), pushed {}{}",
            counted(self.pulled, "segment"),
            grouped(self.new),
            counted(self.pushed, "segment"),
            self.sessions
        ));
    }

    fn end(&mut self) {
        self.spinner.end();
    }

    /// Adds the progress made before an error.
    fn so_far(&self, error: SharingError) -> CliError {
        let error = CliError::from(error);
        let done = match (self.pulled, self.pushed) {
            (0, 0) => return error,
            (pulled, 0) => format!("{} pulled before that", counted(pulled, "segment")),
            (0, pushed) => format!("{} pushed before that", counted(pushed, "segment")),
            (pulled, pushed) => format!(
                "{} pulled and {pushed} pushed before that",
                counted(pulled, "segment")
            ),
        };
        error.consequence(format!("{done}; run the command again to continue"))
    }
}
