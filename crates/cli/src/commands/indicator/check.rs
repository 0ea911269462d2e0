//! `lapwing indicator check`: executes indicators once, and reports deviations from the contract.

use std::path::PathBuf;

use clap::Args;
use lapwing_measure::indicator::{CheckedScript, check_scripts};
use lapwing_model::indicator::{ContractFinding, FindingWeight, IndicatorDocument};
use lapwing_show::answers::indicators::{CheckedFields, ContractFindingFields, indicator_checks};

use super::hints::hint;
use super::options::IndicatorOptions;
use crate::error::{CliError, ExitStatus};
use crate::options::{AnswerOptions, Context};

/// Execute indicators once, and report every deviation from the contract
///
/// Exit code 1 if a script breaches the contract.
#[derive(Debug, Args)]
pub struct IndicatorCheck {
    /// Scripts: executables, or files of Python
    #[arg(required = true)]
    scripts: Vec<PathBuf>,
    #[command(flatten)]
    options: IndicatorOptions,
    #[command(flatten)]
    answer: AnswerOptions,
}

impl IndicatorCheck {
    /// Prints the findings of each script.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        let combinations = self.options.combinations()?;
        let limits = self.options.limits();
        let mut executor = context.surroundings().launch(None)?;
        self.options.isolation.check(&mut executor, context)?;
        let checked = check_scripts(&self.scripts, &combinations, &limits, &mut executor)?;
        let scripts: Vec<CheckedFields<'_>> = checked.iter().map(fields).collect();
        context.show(&indicator_checks(&scripts)?, &self.answer)?;
        let mut findings = checked.iter().flat_map(|script| &script.findings);
        let is_breach = |finding: &ContractFinding| finding.weight() == FindingWeight::Breach;
        Ok(if findings.any(is_breach) {
            ExitStatus::Judged
        } else {
            ExitStatus::Fine
        })
    }
}

fn fields(script: &CheckedScript) -> CheckedFields<'_> {
    let is_breach = |it: &&ContractFinding| it.weight() == FindingWeight::Breach;
    let findings = script.findings.iter().map(|finding| ContractFindingFields {
        weight: match finding.weight() {
            FindingWeight::Breach => "breach",
            FindingWeight::Warning => "warning",
        },
        text: finding.to_string(),
        hint: hint(finding),
    });
    let document = script.document.as_ref();
    CheckedFields {
        script: script.path.display().to_string(),
        sha256: &script.sha256,
        parameters: &script.parameters,
        benchmark: document.map(IndicatorDocument::benchmark_id),
        stderr: &script.stderr,
        breaches: script.findings.iter().filter(is_breach).count(),
        findings: findings.collect(),
    }
}
