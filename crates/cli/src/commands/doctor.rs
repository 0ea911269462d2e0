//! `lapwing doctor`: checks whether this machine is suitable for measuring.

use std::path::Path;

use clap::Args;
use lapwing_measure::doctor::{DoctorFinding, MachineNoise, Severity, examine};
use lapwing_show::answers::doctor::{
    DoctorAnswer, DoctorFindingFields, FindingSeverity, NoiseFields,
};

use crate::error::{CliError, ExitStatus};
use crate::options::{AnswerOptions, Context};

/// Check whether this machine is suitable for measuring, and suggest improvements
///
/// Checks load, frequency governor, turbo, virtualisation, swap, the clock and the available
/// counters, and repeats a short computation to see how much its time varies. Changes nothing.
#[derive(Debug, Args)]
pub struct DoctorCommand {
    #[command(flatten)]
    answer: AnswerOptions,
}

impl DoctorCommand {
    /// Examines the machine and shows the findings.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        let mut executor = context.surroundings().launch(None)?;
        let diagnosis = examine(Path::new("/"), &context.store, &mut executor)?;
        let answer = DoctorAnswer {
            noise: diagnosis.noise.map(noise_fields),
            findings: diagnosis.findings.into_iter().map(finding_fields).collect(),
        };
        context.show(&answer, &self.answer)
    }
}

fn noise_fields(noise: MachineNoise) -> NoiseFields {
    NoiseFields {
        executions: noise.executions,
        median: noise.median,
        spread: noise.spread,
        slowest: noise.slowest,
        detectable: noise.detectable,
    }
}

fn finding_fields(finding: DoctorFinding) -> DoctorFindingFields {
    DoctorFindingFields {
        subject: finding.subject,
        severity: match finding.severity {
            Severity::Good => FindingSeverity::Good,
            Severity::Disturbing => FindingSeverity::Disturbing,
            Severity::Neutral => FindingSeverity::Neutral,
        },
        text: finding.found,
        advice: finding.advice,
        values: finding.values,
    }
}
