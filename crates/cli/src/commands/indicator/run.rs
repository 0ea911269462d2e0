//! `lapwing indicator run`: measures indicators.

use std::path::PathBuf;

use clap::Args;

use super::options::{IndicatorOptions, RepetitionOptions};
use super::plan::{indicator_cases, indicator_plan};
use super::probe::IndicatorScript;
use crate::commands::run::PlannedRun;
use crate::error::{CliError, ExitStatus};
use crate::options::{AnswerOptions, Context};

/// Measure indicators, and store every execution
///
/// Each script is first executed once per combination of parameters, to learn its identity. Then
/// they are measured like all benchmarks: instances in random order, burn-in, resources, exit codes.
#[derive(Debug, Args)]
pub struct IndicatorRun {
    /// Scripts: executables, or files of Python
    #[arg(required_unless_present = "resume")]
    scripts: Vec<PathBuf>,
    #[command(flatten)]
    options: IndicatorOptions,
    #[command(flatten)]
    repetitions: RepetitionOptions,
    #[command(flatten)]
    answer: AnswerOptions,
}

impl IndicatorRun {
    /// Measures.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        if let Some(end) = self.repetitions.resumed(self.answer.format, context) {
            return end;
        }
        let scripts = IndicatorScript::open_all(&self.scripts)?;
        let mut plan = indicator_plan(Vec::new(), &self.repetitions);
        let mut executor = context.surroundings().start_executor(&plan)?;
        let here = [None];
        let cases = indicator_cases(&scripts, &self.options, &here, &mut executor, context)?;
        drop(executor);
        plan.cases = indicator_plan(cases, &self.repetitions).cases;
        let attributes = IndicatorScript::attributes(&scripts);
        let measurement = self
            .repetitions
            .measurement(&plan, attributes, self.answer.format)?;
        measurement.act_on(PlannedRun::of(plan), context)
    }
}
