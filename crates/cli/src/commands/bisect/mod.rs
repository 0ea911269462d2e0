//! `lapwing bisect`: finds the commit that changed a benchmark.

mod answer;
mod options;
mod search;
mod watch;

use clap::Args;

use self::answer::BisectAnswer;
use self::options::CommitOptions;
use self::search::{BisectLimits, CommitSearch};
use self::watch::InstanceWatch;
use super::run::{MeasuringParts, SessionOpening, new_session, start_executor};
use crate::error::{CliError, ExitStatus};
use crate::options::Context;

/// Find the commit that made a benchmark slower or faster
///
/// `lapwing bisect v1.4 main -- ./bench` first checks that both ends differ, then measures the most
/// informative commits, each in its own worktree, and finally compares the commit with its parent.
/// All measurements are stored as a session.
#[derive(Debug, Args)]
pub struct BisectCommand {
    /// Commit before the change: a hash, a tag or a branch
    #[arg(value_name = "GOOD")]
    good: String,
    /// Commit after it
    #[arg(value_name = "BAD", default_value = "HEAD")]
    bad: String,
    #[command(flatten)]
    options: CommitOptions,
    /// Most instances of the search between the ends
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000), default_value_t = 200)]
    budget: u32,
}

impl BisectCommand {
    /// Searches.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        let options = &self.options;
        let commits = format!("{}..{}", self.good, self.bad);
        let planned = options.as_run(commits).planned(context)?;
        let (plan, environments) = (planned.plan, planned.environments);
        CommitOptions::refuse_several(&plan)?;
        if plan.variants.len() < 2 {
            return Err(CliError::input(format!(
                "`{}` and `{}` are the same commit",
                self.good, self.bad
            )));
        }
        let limits = BisectLimits {
            instances: options.instances as usize,
            budget: self.budget as usize,
            confidence: options.confidence,
        };
        let store = crate::store::open_for_writing(context)?;
        let executor = start_executor(&plan)?;
        let session = new_session(options.name.clone(), &plan, &store)?;
        let name = session.name.clone().unwrap_or_default();
        let watch = InstanceWatch::new(&options.metric, context);
        let mut search = CommitSearch::new(&plan, limits, watch.measured(), context);
        let mut watcher = watch;
        let parts = MeasuringParts {
            context,
            plan: &plan,
            store,
            executor,
            environments,
        };
        let (end, _store) =
            parts.all(SessionOpening::New(session), &mut watcher, |measurement| {
                search.search(measurement)
            })?;
        let answer = BisectAnswer {
            plan: &plan,
            search: &search,
            metric: &options.metric,
            end,
        };
        let status = answer.show(options.format, context)?;
        if !context.quiet {
            context.terminal.say(&format!(
                "stored in {} as session `{name}`",
                context.store.display()
            ));
        }
        Ok(status)
    }
}
