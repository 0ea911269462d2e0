//! `lapwing db push` and `pull`: a history shared by several stores.

use std::path::{Path, PathBuf};

use clap::Args;
use lapwing_model::Id;
use lapwing_model::text::{counted, grouped};
use lapwing_record::Store;
use lapwing_record::sharing::{
    self, AllowedSigners, PullOptions, PushOptions, SharedHistory, SharingError, SharingStep,
    SigningKey, VerifiedSegments,
};
use lapwing_show::answers::private::private_texts;
use lapwing_show::answers::sharing::{self as answers, rehearsed_push};
use uuid::Uuid;

use crate::error::{CliError, ExitStatus};
use crate::options::{AnswerOptions, Context};
use crate::progress::LateSpinner;
use crate::remote::HistoryUrl;
use crate::store::{open_for_reading, open_for_writing};
use crate::temporary::TemporaryFolder;

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
    /// File of allowed signers (`man ssh-keygen`): check the signatures of new segments
    #[arg(long, value_name = "FILE")]
    allowed_signers: Option<PathBuf>,
    /// Also delete sessions that others withdrew and that this store had before
    #[arg(long)]
    accept_withdrawals: bool,
    #[command(flatten)]
    answer: AnswerOptions,
}

/// Shared history and the options of pushing to it.
#[derive(Debug, Args)]
pub struct PushCommand {
    #[command(flatten)]
    share: ShareCommand,
    /// List every kind of text that would be shared, and share nothing
    #[arg(long, conflicts_with = "dry_run")]
    preview: bool,
    /// Share records in which tokens, keys or passwords are found, too
    #[arg(long)]
    allow_secrets: bool,
    /// Sign what is pushed with this SSH key: a private one, or the public one of a key of the SSH agent
    #[arg(long, value_name = "KEY")]
    sign: Option<PathBuf>,
}

impl PushCommand {
    /// Pushes, or shows what would be pushed.
    pub(super) fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        if self.preview {
            return self.share.preview(context);
        }
        let mut options = push_options(self.share.options()?, self.sign.as_deref())?;
        options.with_secrets = self.allow_secrets;
        self.share.push(&options, context)
    }
}

impl ShareCommand {
    /// Shows the texts that would be shared.
    fn preview(self, context: &Context) -> Result<ExitStatus, CliError> {
        let remote = self.place.open()?;
        let store = open_for_reading(context)?;
        let survey = sharing::unshared_texts(&store, &*remote)?;
        let answer = private_texts(store.path(), Some(remote.address()), &survey)?;
        context.show(&answer, &self.answer)
    }

    /// Pulls records of others, then pushes those that the history lacks.
    fn push(self, options: &PushOptions, context: &Context) -> Result<ExitStatus, CliError> {
        let remote = self.place.open()?;
        // Without a store of its own, a push can still pull records of others.
        let is_new = !context.store.exists() && SharedHistory::find(&*remote)?.is_some();
        if self.dry_run {
            let (mut store, _temporary) = if is_new {
                store_to_try(context)?
            } else {
                (open_for_reading(context)?, None)
            };
            let would = sharing::rehearse_push(&mut store, &*remote, options)?;
            return context.show(&rehearsed_push(&would, remote.address())?, &self.answer);
        }
        let mut store = if is_new {
            open_for_writing(context)?
        } else {
            open_for_reading(context)?
        };
        let mut watch = Watch::new(context);
        let pushed = sharing::push(&mut store, &*remote, options, &mut |step| watch.see(step));
        watch.end();
        if is_new && pushed.is_err() {
            store.remove_if_empty();
        }
        let pushed = pushed.map_err(|error| watch.so_far(error))?;
        context.show(&answers::pushed(&pushed, remote.address())?, &self.answer)
    }

    /// Pulls records of others.
    pub(super) fn pull(self, context: &Context) -> Result<ExitStatus, CliError> {
        let remote = self.place.open()?;
        let options = self.options()?;
        if self.dry_run {
            let (mut store, _temporary) = store_to_try(context)?;
            let would = sharing::rehearse_pull(&mut store, &*remote, &options)?;
            let answer = answers::pulled(&would.pulled, remote.address(), true)?;
            return context.show(&answer, &self.answer);
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
        let answer = answers::pulled(&pulled, remote.address(), false)?;
        context.show(&answer, &self.answer)
    }

    fn options(&self) -> Result<PullOptions, CliError> {
        Ok(PullOptions {
            allowed_signers: allowed_signers(self.allowed_signers.as_deref())?,
            accept_withdrawals: self.accept_withdrawals,
            verify: if self.verify {
                VerifiedSegments::All
            } else {
                VerifiedSegments::Last
            },
            begin_anew: self.begin_anew,
        })
    }
}

/// Returns the options of a push.
pub(super) fn push_options(
    pull: PullOptions,
    sign: Option<&Path>,
) -> Result<PushOptions, CliError> {
    Ok(PushOptions {
        pull,
        new_history: Id::from(Uuid::now_v7()),
        with_secrets: false,
        segment_bytes: PushOptions::SEGMENT_BYTES,
        signing_key: sign.map(SigningKey::new).transpose()?,
    })
}

/// Returns the signers in a file, if one is given.
pub(super) fn allowed_signers(file: Option<&Path>) -> Result<Option<AllowedSigners>, CliError> {
    let open = |path: &Path| {
        AllowedSigners::new(path)
            .map_err(|error| CliError::input(format!("cannot read {}: {error}", path.display())))
    };
    file.map(open).transpose()
}

/// Returns the store, or a temporary empty one if it does not exist.
fn store_to_try(context: &Context) -> Result<(Store, Option<TemporaryFolder>), CliError> {
    if context.store.exists() {
        return Ok((open_for_reading(context)?, None));
    }
    let folder = TemporaryFolder::new()?;
    let store = Store::open(&folder.path().join("lapwing.db"))?;
    Ok((store, Some(folder)))
}

/// Progress of pushing and pulling.
pub(super) struct Watch {
    spinner: LateSpinner,
    pushed: u64,
    pulled: u64,
    new: u64,
    sessions: String,
}

impl Watch {
    pub(super) fn new(context: &Context) -> Self {
        Self {
            spinner: LateSpinner::new(context),
            pushed: 0,
            pulled: 0,
            new: 0,
            sessions: String::new(),
        }
    }

    pub(super) fn see(&mut self, step: SharingStep) {
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

    pub(super) fn end(&mut self) {
        self.spinner.end();
    }

    /// Adds the progress made before an error.
    pub(super) fn so_far(&self, error: SharingError) -> CliError {
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
