//! `lapwing db`: inspects and edits the store.

mod rename;
mod rescue;
mod restore;
mod retire;
pub(super) mod said;
mod share;
mod withdraw;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use lapwing_analyse::sample::SampleFilter;
use lapwing_model::text::counted;
use lapwing_record::{Store, StoreError};
use lapwing_show::answers::private::private_texts;
use lapwing_show::answers::stores::{annotations, store_info};
use lapwing_show::answers::upkeep::{MergedStore, merged, purged};

use self::share::{PushCommand, ShareCommand};
use self::withdraw::WithdrawCommand;
use crate::error::{CliError, ExitStatus};
use crate::options::{AnswerOptions, Context, ResultFilters};
use crate::store::{open_for_reading, open_for_writing};

/// Inspect, merge, share and edit the store
#[derive(Debug, Args)]
pub struct Db {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Show the size and contents of the store
    Info {
        #[command(flatten)]
        answer: AnswerOptions,
    },
    /// Check the store for damage, and list what is damaged
    Check,
    /// Save everything readable of a damaged store into a new one, and list what is lost
    ///
    /// The damaged file is not changed. Works on the pages of the file, also if it cannot be opened.
    Rescue(rescue::RescueCommand),
    /// Copy all records of other stores into this one; records already here are skipped
    Merge {
        /// Stores to copy from
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
    },
    /// Rename a benchmark or a metric, keeping its history
    ///
    /// Old and new measurements are shown under the new id. The measurements themselves do not
    /// change, and `lapwing db restore` undoes the rename.
    Rename(rename::RenameCommand),
    /// Exclude a benchmark's past results from analysis
    ///
    /// Lists and comparisons omit retired results, and later measurements start a new epoch.
    /// Nothing is deleted: `--where retired=yes` includes retired results, and `lapwing db restore` undoes
    /// the retirement.
    Retire(retire::RetireCommand),
    /// Undo a rename or a retirement
    Restore(restore::RestoreCommand),
    /// List renames and retirements: who, when, what, why
    Annotations {
        #[command(flatten)]
        answer: AnswerOptions,
    },
    /// Push this store's records to a shared history, and pull those of others
    ///
    /// URL is a folder (also on a network file system), a plain HTTP server that accepts PUT, or an
    /// S3-compatible object store. Only new records are sent, and any number of stores can push at
    /// the same time. A server's user and password can be part of the URL; s3:// uses
    /// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN.
    #[command(visible_alias = "sync")]
    Push(PushCommand),
    /// Pull the records that others pushed to a shared history
    ///
    /// Like `push`, but sends nothing and needs no write access.
    Pull(ShareCommand),
    /// List every kind of text that the store holds, with counts, examples, and where secrets are
    ///
    /// Tokens, keys and passwords are hidden when records enter the store; a store of an older version may have some.
    Private {
        #[command(flatten)]
        answer: AnswerOptions,
    },
    /// Delete sessions from this store, and ask everybody who shares a history to delete them
    ///
    /// Whole sessions only. A folder's segments are rewritten without them; on servers and in object stores they
    /// stay until they are deleted there. Other stores delete what they had before only with `lapwing db pull
    /// --accept-withdrawals`. Without filter, an interrupted withdrawal is completed.
    Withdraw(WithdrawCommand),
    /// Delete measurements permanently; this cannot be undone
    Purge {
        #[command(flatten)]
        filters: Box<ResultFilters>,
        /// Delete everything
        #[arg(long, alias = "all")]
        everything: bool,
        /// Delete; without this, only show what would be deleted
        #[arg(long)]
        yes: bool,
    },
}

impl Db {
    /// Runs the action.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        match self.action {
            Action::Info { answer } => {
                let store = open_for_reading(context)?;
                let info = store_info(store.path(), &store.upkeep().info()?)?;
                context.show(&info, &answer)
            }
            Action::Check => rescue::check(context),
            Action::Rescue(rescue) => rescue.act(context),
            Action::Merge { files } => merge(context, &files),
            Action::Rename(rename) => rename.act(context),
            Action::Retire(retire) => retire.act(context),
            Action::Restore(restore) => restore.act(context),
            Action::Annotations { answer } => {
                let remarks = open_for_reading(context)?.annotations().all()?;
                context.show(&annotations(&remarks)?, &answer)
            }
            Action::Private { answer } => {
                let store = open_for_reading(context)?;
                let survey = store.upkeep().texts()?;
                context.show(&private_texts(store.path(), None, &survey)?, &answer)
            }
            Action::Push(push) => push.act(context),
            Action::Pull(share) => share.pull(context),
            Action::Withdraw(withdraw) => withdraw.act(context),
            Action::Purge {
                filters,
                everything,
                yes,
            } => purge(context, &filters, everything, yes),
        }
    }
}

fn merge(context: &Context, files: &[PathBuf]) -> Result<ExitStatus, CliError> {
    // Open all of them first: a missing one is probably mistyped.
    let others: Vec<Store> = files
        .iter()
        .map(|file| {
            let opened = Store::open_existing(file);
            let refused = |error| match error {
                StoreError::Missing(path) => {
                    CliError::input(format!("there is no store at {}", path.display()))
                }
                error @ StoreError::NotAStore { .. } => {
                    CliError::from(error).hint("choose another file")
                }
                error => CliError::from(error),
            };
            opened.map_err(|error| refused(error).consequence("nothing was merged"))
        })
        .collect::<Result<_, _>>()?;
    let is_new = !context.store.exists();
    let mut store = open_for_writing(context)?;
    let known = store.annotations().ids()?;
    let mut merged_files: Vec<MergedStore> = Vec::new();
    for (file, other) in files.iter().zip(&others) {
        let total = match store.write(|writer| writer.merge(other)) {
            Ok(appended) => appended.total(),
            Err(error) => {
                if is_new {
                    store.remove_if_empty();
                }
                let before = match merged_files.len() {
                    0 => String::new(),
                    some => format!("; {} before it merged", counted(some, "store")),
                };
                return Err(CliError::from(error).consequence(format!(
                    "nothing was merged from {}{before}",
                    file.display()
                )));
            }
        };
        merged_files.push(MergedStore {
            file: file.display().to_string(),
            new_records: total.new,
            known_records: total.already_there,
        });
    }
    let came = store.annotations().besides(&known)?;
    let answer = merged(store.path(), &merged_files, &came)?;
    context.show(&answer, &AnswerOptions::default())
}

fn purge(
    context: &Context,
    filters: &ResultFilters,
    everything: bool,
    yes: bool,
) -> Result<ExitStatus, CliError> {
    let filter = filters.filter()?;
    if filter
        == (SampleFilter {
            retired: filter.retired,
            ..SampleFilter::default()
        })
        && !everything
    {
        return Err(CliError::input("no filter given")
            .hint("choose what to delete with a filter such as --where session=NAME, or use --everything to delete everything"));
    }
    let mut store = open_for_reading(context)?;
    let filter = filter.resolve(&store)?;
    let counts = if yes {
        store.purge(&filter)?
    } else {
        store.upkeep().would_purge(&filter)?
    };
    let answer = purged(store.path(), &counts, !yes)?;
    context.show(&answer, &AnswerOptions::default())
}
