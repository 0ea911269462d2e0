//! `lapwing trace`: where inside a run of a task graph the time goes.

mod compare;
mod export;
mod read;
mod record;
mod renamed;
mod tasks;
mod what_if;

use clap::{Args, Subcommand};
use lapwing_show::answers::trace::{
    ControllerAnswer, DefectsAnswer, ProfileAnswer, TraceFindingsAnswer, TransferDurationsAnswer,
};
use lapwing_show::writing::{Answer, NotedAnswer};
use lapwing_trace::{Trace, controller_time, find, lint};

use self::read::{RangeOption, ReadTrace, TraceFile};
pub use self::renamed::renamed;
use crate::error::{CliError, ExitStatus};
use crate::options::{AnswerOptions, Context};

/// Show where inside a run of a task graph the time goes
///
/// A trace says when each task was planned, started and finished, on which worker, which data were
/// copied, and what the controller did. docs/traces.md describes what can be read. `lapwing trace FILE`
/// shows findings. JSON and CSV have times in nanoseconds and sizes in bytes.
#[derive(Debug, Args)]
pub struct TraceCommand {
    #[command(subcommand)]
    action: TraceAction,
}

#[derive(Debug, Subcommand)]
enum TraceAction {
    Findings(TraceFindingsCommand),
    Tasks(tasks::TraceTasks),
    Transfers(TraceTransfers),
    Controller(TraceController),
    Profile(TraceProfile),
    Lint(TraceLint),
    Compare(compare::TraceCompare),
    WhatIf(what_if::TraceWhatIf),
    Export(export::TraceExport),
    Record(record::TraceRecord),
}

impl TraceCommand {
    /// Shows the answer.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        match self.action {
            TraceAction::Findings(command) => command.act(context),
            TraceAction::Tasks(command) => command.act(context),
            TraceAction::Transfers(command) => command.act(context),
            TraceAction::Controller(command) => command.act(context),
            TraceAction::Profile(command) => command.act(context),
            TraceAction::Lint(command) => command.act(context),
            TraceAction::Compare(command) => command.act(context),
            TraceAction::WhatIf(command) => command.act(context),
            TraceAction::Export(command) => command.act(context),
            TraceAction::Record(command) => command.act(context),
        }
    }
}

/// Show what explains the time of a run, the largest gain first
#[derive(Debug, Args)]
struct TraceFindingsCommand {
    #[command(flatten)]
    asked: AskedTrace,
}

/// Show how long data transfers take, by mode
#[derive(Debug, Args)]
struct TraceTransfers {
    #[command(flatten)]
    asked: AskedTrace,
    #[command(flatten)]
    range: RangeOption,
}

/// Show the phases of the controller, its iterations and events
#[derive(Debug, Args)]
struct TraceController {
    #[command(flatten)]
    asked: AskedTrace,
}

/// Show what tasks of each class take, for schedulers that need it in advance
#[derive(Debug, Args)]
struct TraceProfile {
    #[command(flatten)]
    asked: AskedTrace,
}

/// Show the defects of a trace, and their effect on the numbers
///
/// The exit code is 1 if there are any. A trace with defects is analysed by the other commands all the
/// same.
#[derive(Debug, Args)]
struct TraceLint {
    #[command(flatten)]
    asked: AskedTrace,
}

/// The trace that a command is about, and how its answer is written.
#[derive(Debug, Args)]
struct AskedTrace {
    #[command(flatten)]
    file: TraceFile,
    #[command(flatten)]
    answer: AnswerOptions,
}

impl AskedTrace {
    /// Shows an answer about the trace, with the notes on its choice.
    fn show(
        &self,
        answer: &dyn Answer,
        read: &ReadTrace,
        context: &Context,
    ) -> Result<ExitStatus, CliError> {
        let noted = NotedAnswer {
            answer,
            notes: &read.notes,
            next: None,
        };
        context.show(&noted, &self.answer)
    }
}

impl TraceFindingsCommand {
    fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        let read = self.asked.file.read(context)?;
        let trace = &read.trace;
        let findings = find(trace).ok_or_else(|| without_times(trace))?;
        let answer = TraceFindingsAnswer { trace, findings };
        self.asked.show(&answer, &read, context)
    }
}

impl TraceTransfers {
    fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        let mut read = self.asked.file.read(context)?;
        self.range.apply(&mut read)?;
        let answer = TransferDurationsAnswer(&read.trace);
        self.asked.show(&answer, &read, context)
    }
}

impl TraceController {
    fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        let read = self.asked.file.read(context)?;
        let trace = &read.trace;
        let controller = controller_time(trace);
        let controller =
            controller.ok_or_else(|| CliError::input("the trace says nothing of a controller"))?;
        let answer = ControllerAnswer { trace, controller };
        self.asked.show(&answer, &read, context)
    }
}

impl TraceProfile {
    fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        let read = self.asked.file.read(context)?;
        self.asked.show(&ProfileAnswer(&read.trace), &read, context)
    }
}

impl TraceLint {
    fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        let read = self.asked.file.read(context)?;
        let trace = &read.trace;
        let defects = lint(trace);
        let is_fine = defects.is_empty();
        let answer = DefectsAnswer { trace, defects };
        self.asked.show(&answer, &read, context)?;
        Ok(if is_fine {
            ExitStatus::Fine
        } else {
            ExitStatus::Judged
        })
    }
}

fn without_times(trace: &Trace) -> CliError {
    if trace.tasks.is_empty() {
        return CliError::input("the trace has no task");
    }
    CliError::input("the tasks of this trace have durations and no times").hint(
        "`lapwing trace what-if` replays them, `lapwing trace tasks` shows how long they took",
    )
}
