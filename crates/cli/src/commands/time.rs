//! `lapwing time`: measures statements of Python.

use std::path::PathBuf;

use clap::Args;
use lapwing_measure::session::{PlannedSession, RequestedBenchmarks, SessionRequest};
use lapwing_measure::suite::{AdHoc, OutputMetrics, Statement, StatementError};

use super::run::{Measurement, MeasuringOptions, PlannedRun, RunReport, ToolFiles};
use crate::door::is_command;
use crate::error::{CliError, ExitStatus};
use crate::foreign;
use crate::options::{AnswerOptions, Context, ExportOptions};
use crate::session;

/// Measure statements of Python in fresh processes
///
/// `lapwing time 'sorted(x)' --setup 'x = list(range(1000))'` measures a statement, and several
/// statements are compared. An iteration executes the statement in a loop, and its value is the mean
/// time of an execution. The length of the loop is chosen once per statement.
#[derive(Debug, Args)]
pub struct TimeCommand {
    /// Statements to measure, each an argument of its own
    #[arg(required = true, value_name = "STATEMENT")]
    statements: Vec<String>,
    /// Run this statement before each iteration, untimed; can be repeated
    #[arg(long, short, value_name = "STATEMENT")]
    setup: Vec<String>,
    /// Python interpreter
    #[arg(long, value_name = "PATH", default_value = "python3")]
    python: String,
    /// Executions per iteration [default: as many as take 0.1 s]
    #[arg(long, short, alias = "number", value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Repetitions and limits")]
    loops: Option<u64>,
    #[command(flatten)]
    measuring: MeasuringOptions,
    #[command(flatten)]
    answer: AnswerOptions,
    #[command(flatten)]
    export: ExportOptions,
    #[command(flatten)]
    files: ToolFiles,
    /// Also write the results in the JSON format of pyperf; `-` is standard output
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
}

/// More processes may be meant as loops, as timeit's `-n` does.
const MANY_PROCESSES: u32 = 100;

impl TimeCommand {
    /// Measures.
    pub fn act(mut self, context: &Context) -> Result<ExitStatus, CliError> {
        self.measuring.check()?;
        self.export.check()?;
        self.files.pyperf = self.output.take();
        self.files.check(context)?;
        if self.statements.iter().any(|it| it.trim().is_empty()) {
            return Err(CliError::input("a statement to measure is empty"));
        }
        if let Some(processes) = self.measuring.instances
            && processes > MANY_PROCESSES
            && self.loops.is_none()
        {
            let what = format!("-n {processes} would start {processes} processes per statement");
            return Err(CliError::input(what).hint(format!(
                "`--loops {processes}` executes a statement {processes} times per value; for so many processes, give --loops, too"
            )));
        }
        let statements = self.statements();
        let request = SessionRequest {
            settings: self.measuring.settings(),
            seed: self.measuring.seed(),
            name: self.measuring.name.clone(),
            ..SessionRequest::new(RequestedBenchmarks::Commands(Box::new(AdHoc {
                commands: statements.iter().map(Statement::command).collect(),
                names: self.statements.iter().map(|it| name(it)).collect(),
                output: OutputMetrics::Json,
                ..AdHoc::default()
            })))
        };
        let mut session = request.plan(&context.surroundings())?;
        if !self.measuring.dry_run {
            self.calibrate(&statements, &mut session, context)?;
        }
        let measurement = Measurement {
            request,
            report: RunReport {
                answer: self.answer,
                export: self.export,
                files: self.files,
                plot: self.measuring.plot,
                ..RunReport::default()
            },
            dry_run: self.measuring.dry_run,
        };
        measurement.act_on(
            PlannedRun::with(session.plan, session.environments),
            context,
        )
    }

    fn statements(&self) -> Vec<Statement> {
        let statement = |text: &String| Statement {
            text: text.clone(),
            setup: self.setup.join("\n"),
            python: self.python.clone(),
        };
        self.statements.iter().map(statement).collect()
    }

    /// Chooses how often each statement is executed per iteration, the same number for all instances.
    fn calibrate(
        &self,
        statements: &[Statement],
        planned: &mut PlannedSession,
        context: &Context,
    ) -> Result<(), CliError> {
        session::catch_signals()?;
        let mut executor = context.surroundings().start_executor(&planned.plan)?;
        context.surroundings().interrupts.watch([&executor]);
        for (case, statement) in planned.plan.cases.iter_mut().zip(statements) {
            let loops = match self.loops {
                Some(loops) => loops,
                None => statement.calibrate(case, &mut executor).map_err(refusal)?,
            };
            Statement::complete(case, loops);
        }
        Ok(())
    }
}

/// Returns a statement in one line.
fn name(statement: &str) -> String {
    let lines = statement.lines().map(str::trim);
    lines.collect::<Vec<_>>().join(" ")
}

fn refusal(error: StatementError) -> CliError {
    let hint = match &error {
        StatementError::NoPython { .. } => Some("name the interpreter with --python".to_owned()),
        StatementError::Fails { reason, .. } if reason.starts_with("NameError") => {
            Some("define names with --setup 'NAME = …'".to_owned())
        }
        StatementError::Fails { statement, .. } if is_command(statement) => {
            let line = foreign::line(&["lapwing", "run", statement].map(str::to_owned));
            Some(format!("`{line}` measures commands"))
        }
        StatementError::Interrupted => {
            return CliError {
                exit: ExitStatus::Interrupted,
                ..CliError::input(error)
            };
        }
        StatementError::Fails { .. } | StatementError::Executor(_) => None,
    };
    let refused = CliError::input(error);
    match hint {
        Some(hint) => refused.hint(hint),
        None => refused,
    }
}
