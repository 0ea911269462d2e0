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
mod words;

use clap::{Args, Subcommand};

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
    Findings(findings::TraceFindingsCommand),
    Tasks(tasks::TraceTasks),
    Transfers(transfers::TraceTransfers),
    Controller(controller::TraceController),
    Compare(compare::TraceCompare),
    Lanes(lanes::TraceLanes),
    WhatIf(what_if::TraceWhatIf),
    Profile(profile::TraceProfile),
    Export(export::TraceExport),
    Lint(lint::TraceLint),
}

impl TraceCommand {
    /// Shows the answer.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        match self.action {
            TraceAction::Findings(command) => command.act(context),
            TraceAction::Tasks(command) => command.act(context),
            TraceAction::Transfers(command) => command.act(context),
            TraceAction::Controller(command) => command.act(context),
            TraceAction::Compare(command) => command.act(context),
            TraceAction::Lanes(command) => command.act(context),
            TraceAction::WhatIf(command) => command.act(context),
            TraceAction::Profile(command) => command.act(context),
            TraceAction::Export(command) => command.act(context),
            TraceAction::Lint(command) => command.act(context),
        }
    }
}
