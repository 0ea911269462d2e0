//! `lapwing trace`: where inside a run of a task graph the time goes.

mod compare;
mod controller;
mod export;
mod findings;
mod lanes;
mod lint;
mod profile;
mod read;
mod tasks;
mod transfers;
mod what_if;

use clap::{Args, Subcommand, ValueEnum};

use self::read::ShownTrace;
use self::tasks::TaskGroup;
use crate::error::{CliError, ExitStatus};
use crate::options::Context;

/// Show where inside a run of a task graph the time goes
///
/// A trace says when each task was planned, started and finished, on which worker, which data were
/// copied, and what the controller did. docs/traces.md describes what can be read.
#[derive(Debug, Args)]
pub struct TraceCommand {
    #[command(subcommand)]
    action: TraceAction,
}

#[derive(Debug, Subcommand)]
enum TraceAction {
    Show(TraceShow),
    Compare(compare::TraceCompare),
    WhatIf(what_if::TraceWhatIf),
    Export(export::TraceExport),
}

impl TraceCommand {
    /// Shows the answer.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        match self.action {
            TraceAction::Show(command) => command.act(context),
            TraceAction::Compare(command) => command.act(context),
            TraceAction::WhatIf(command) => command.act(context),
            TraceAction::Export(command) => command.act(context),
        }
    }
}

/// Show what explains the time of a run, or how long its parts take
///
/// JSON and CSV have times in nanoseconds and sizes in bytes. A trace with defects is analysed all the
/// same; `lint` exits with code 1 if there are any.
#[derive(Debug, Args)]
struct TraceShow {
    /// View of the trace
    #[arg(value_name = "VIEW", value_enum, default_value_t)]
    view: TraceView,
    #[command(flatten)]
    shown: ShownTrace,
    /// Group the rows of `tasks`
    #[arg(long, value_name = "GROUP", value_enum, default_value_t)]
    group: TaskGroup,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum TraceView {
    /// Explanations of the time, largest first; times are sums over tasks or workers
    #[default]
    Findings,
    /// Durations of tasks, from event to event
    Tasks,
    /// Durations of data transfers, by mode
    Transfers,
    /// The phases of the controller, its iterations and events
    Controller,
    /// Costs of tasks by class, for schedulers that need them in advance
    Profile,
    /// Defects of the trace, and their effect on the numbers
    Lint,
}

impl TraceShow {
    fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        match self.view {
            TraceView::Findings => findings::act(&self.shown, context),
            TraceView::Tasks => tasks::act(&self.shown, self.group, context),
            TraceView::Transfers => transfers::act(&self.shown, context),
            TraceView::Controller => controller::act(&self.shown, context),
            TraceView::Profile => profile::act(&self.shown, context),
            TraceView::Lint => lint::act(&self.shown, context),
        }
    }
}
