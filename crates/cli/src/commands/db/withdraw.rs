//! `lapwing db withdraw`: sessions that are deleted here and in the stores that share a history.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use jiff::Timestamp;
use lapwing_analyse::sample::SampleFilter;
use lapwing_model::{Annotation, Id, Object};
use lapwing_record::Filter;
use lapwing_record::sharing::{PullOptions, withdraw};
use lapwing_show::answers::withdraw::{WithdrawAnswer, WithdrawnSession};
use uuid::Uuid;

use super::said::author_name;
use super::share::{Watch, push_options};
use crate::error::{CliError, ExitStatus};
use crate::options::{AnswerOptions, Context, ResultFilters};
use crate::remote::HistoryUrl;
use crate::store::open_for_reading;

/// Sessions, and the history that they are withdrawn from.
#[derive(Debug, Args)]
pub struct WithdrawCommand {
    #[command(flatten)]
    place: HistoryUrl,
    #[command(flatten)]
    filters: Box<ResultFilters>,
    /// Reason, stored with the withdrawal and shown to everybody
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Author, stored with the withdrawal [default: git's user.name, or the login name]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    by: Option<String>,
    /// Sign what is pushed with this SSH key: a private one, or the public one of a key of the SSH agent
    #[arg(long, value_name = "KEY")]
    sign: Option<PathBuf>,
    /// Withdraw; without this, only show what would be withdrawn
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    answer: AnswerOptions,
}

impl WithdrawCommand {
    /// Withdraws the sessions.
    pub(super) fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        let remote = self.place.open()?;
        let filter = self.filters.filter()?;
        let mut store = open_for_reading(context)?;
        let mut sessions: Vec<WithdrawnSession> = Vec::new();
        if filter != SampleFilter::default() {
            let asked = filter.resolve(&store)?;
            let chosen = store.catalogue().runs(&asked.with_retired())?;
            let ids: BTreeSet<Id> = chosen.iter().map(|run| run.head.session).collect();
            let whole = Filter {
                sessions: Some(ids.clone()),
                ..Filter::default()
            };
            for run in store.catalogue().runs(&whole.with_retired())? {
                if !chosen.iter().any(|it| it.head.id == run.head.id) {
                    return Err(
                        CliError::input("the filters choose only a part of a session")
                            .hint("withdraw whole sessions, with --where session=NAME"),
                    );
                }
            }
            sessions.extend(
                ids.into_iter()
                    .map(|id| WithdrawnSession { id: id.to_string() }),
            );
        }
        let ids: BTreeSet<Id> = sessions
            .iter()
            .filter_map(|it| it.id.parse().ok())
            .collect();
        let mut answer = WithdrawAnswer {
            address: remote.address(),
            sessions,
            replaces: remote.replaces(),
            done: None,
        };
        if !self.yes {
            return context.show(&answer.answer()?, &self.answer);
        }
        let by = self.by.clone().unwrap_or_else(author_name);
        let annotate = |action: &str, target: Object| Annotation {
            id: Id::from(Uuid::now_v7()),
            at: Timestamp::now(),
            by: by.clone(),
            action: action.to_owned(),
            target,
            reason: self.reason.clone(),
            extra: Object::new(),
        };
        let options = push_options(PullOptions::default(), self.sign.as_deref())?;
        let mut watch = Watch::new(context);
        let mut see = |step| watch.see(step);
        let done = withdraw(&mut store, &*remote, &ids, &annotate, &options, &mut see);
        watch.end();
        answer.done = Some(done.map_err(|error| watch.so_far(error))?);
        context.show(&answer.answer()?, &self.answer)
    }
}
