//! `lapwing indicator run`: measures indicators.

use std::path::PathBuf;

use clap::Args;
use lapwing_measure::indicator::IndicatorScript;
use lapwing_model::Object;

use super::options::{IndicatorOptions, RepetitionOptions};
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
        if let Some(end) = self.repetitions.resumed(&self.answer, context) {
            return end;
        }
        let scripts = IndicatorScript::open_all(&self.scripts)?;
        if self.repetitions.dry_run {
            let plan = self
                .repetitions
                .plan(self.options.unchecked_cases(&scripts)?);
            let measurement = self
                .repetitions
                .measurement(&plan, Object::new(), &self.answer)?;
            return measurement.act_on(PlannedRun::of(plan), context);
        }
        let mut plan = self.repetitions.plan(Vec::new());
        let mut executor = context.surroundings().start_executor(&plan)?;
        self.options.isolation.check(&mut executor, context)?;
        let here = [None];
        let cases = self
            .options
            .cases(&scripts, &here, &mut executor, context)?;
        drop(executor);
        plan.cases = self.repetitions.plan(cases).cases;
        let attributes = IndicatorScript::attributes(&scripts);
        let measurement = self
            .repetitions
            .measurement(&plan, attributes, &self.answer)?;
        measurement.act_on(PlannedRun::of(plan), context)
    }
}
