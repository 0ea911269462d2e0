//! `lapwing trace`: where inside a run of a task graph the time goes.

mod compare;
mod export;
mod read;
mod what_if;

use clap::{Args, Subcommand, ValueEnum};
use lapwing_show::answers::trace::{
    ControllerAnswer, DefectsAnswer, ProfileAnswer, TaskDurationsAnswer, TraceFindingsAnswer,
    TransferDurationsAnswer,
};
use lapwing_show::writing::{Answer, NotedAnswer};
use lapwing_trace::{DurationGroup, Trace, controller_time, find, lint};

use self::read::{ReadTrace, TraceFile};
use crate::error::{CliError, ExitStatus};
use crate::options::{AnswerOptions, Context, NamedValue, one_of};

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
    file: TraceFile,
    #[command(flatten)]
    answer: AnswerOptions,
    /// Group the rows of `tasks`
    #[arg(long, value_name = "GROUP", value_parser = one_of(&GROUPS), default_value = "class")]
    group: DurationGroup,
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

/// Groups of tasks.
const GROUPS: [NamedValue<DurationGroup>; 4] = [
    (
        "class",
        "By class: the name without what follows `:` or `(`, and without a number at the end",
        DurationGroup::Class,
    ),
    ("worker", "By worker", DurationGroup::Worker),
    ("host", "By host", DurationGroup::Host),
    ("all", "All together", DurationGroup::All),
];

impl TraceShow {
    fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        let ReadTrace { trace, notes } = &self.file.read(context)?;
        let show = |answer: &dyn Answer| {
            let noted = NotedAnswer {
                answer,
                notes,
                next: None,
            };
            context.show(&noted, &self.answer)
        };
        match self.view {
            TraceView::Findings => {
                let findings = find(trace).ok_or_else(|| without_times(trace))?;
                show(&TraceFindingsAnswer { trace, findings })
            }
            TraceView::Tasks => {
                let group = self.group;
                show(&TaskDurationsAnswer { trace, group })
            }
            TraceView::Transfers => show(&TransferDurationsAnswer(trace)),
            TraceView::Controller => {
                let controller = controller_time(trace);
                let controller = controller
                    .ok_or_else(|| CliError::input("the trace says nothing of a controller"))?;
                show(&ControllerAnswer { trace, controller })
            }
            TraceView::Profile => show(&ProfileAnswer(trace)),
            TraceView::Lint => {
                let defects = lint(trace);
                let is_fine = defects.is_empty();
                show(&DefectsAnswer { trace, defects })?;
                Ok(if is_fine {
                    ExitStatus::Fine
                } else {
                    ExitStatus::Judged
                })
            }
        }
    }
}

fn without_times(trace: &Trace) -> CliError {
    if trace.tasks.is_empty() {
        return CliError::input("the trace has no task");
    }
    CliError::input("the tasks of this trace have durations and no times").hint(
        "`lapwing trace what-if` replays them, `lapwing trace show tasks` shows how long they took",
    )
}
