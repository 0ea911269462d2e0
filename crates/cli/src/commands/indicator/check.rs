//! `lapwing indicator check`: executes indicators once, and reports deviations from the contract.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use lapwing_measure::indicator::{CheckedScript, check_scripts};
use lapwing_model::indicator::{ContractFinding, FindingWeight, IndicatorDocument};
use lapwing_model::text::plural;
use lapwing_show::writing::{AnswerFormat, write_json};
use serde::Serialize;

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

#[derive(Serialize)]
struct CheckedFields<'a> {
    script: String,
    sha256: &'a str,
    parameters: &'a BTreeMap<String, String>,
    benchmark: Option<String>,
    stderr: &'a str,
    findings: Vec<FindingFields>,
}

#[derive(Serialize)]
struct FindingFields {
    weight: &'static str,
    text: String,
    hint: &'static str,
}

impl<'a> From<&'a CheckedScript> for CheckedFields<'a> {
    fn from(script: &'a CheckedScript) -> Self {
        let findings = script.findings.iter().map(|finding| FindingFields {
            weight: match finding.weight() {
                FindingWeight::Breach => "breach",
                FindingWeight::Warning => "warning",
            },
            text: finding.to_string(),
            hint: hint(finding),
        });
        let document = script.document.as_ref();
        Self {
            script: script.path.display().to_string(),
            sha256: &script.sha256,
            parameters: &script.parameters,
            benchmark: document.map(IndicatorDocument::benchmark_id),
            stderr: &script.stderr,
            findings: findings.collect(),
        }
    }
}

impl IndicatorCheck {
    /// Prints the findings of each script.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        let combinations = self.options.combinations()?;
        let limits = self.options.limits();
        let mut executor = context.surroundings().launch(None)?;
        let checked = check_scripts(&self.scripts, &combinations, &limits, &mut executor)?;
        let scripts: Vec<CheckedFields<'_>> = checked.iter().map(CheckedFields::from).collect();
        let mut out = context.terminal.out_as(context.format);
        match context.format {
            AnswerFormat::Json => write_json(&serde_json::json!({ "scripts": scripts }), &mut out)?,
            AnswerFormat::Text | AnswerFormat::Markdown | AnswerFormat::Csv => {
                write_text(&scripts, &mut out)?;
            }
        }
        let mut findings = checked.iter().flat_map(|script| &script.findings);
        let is_breach = |finding: &ContractFinding| finding.weight() == FindingWeight::Breach;
        Ok(if findings.any(is_breach) {
            ExitStatus::Judged
        } else {
            ExitStatus::Fine
        })
    }
}

fn write_text(scripts: &[CheckedFields<'_>], out: &mut impl Write) -> Result<(), CliError> {
    for script in scripts {
        let breaches = script.findings.iter();
        let state = match breaches.filter(|it| it.weight == "breach").count() {
            0 => "keeps to the contract".to_owned(),
            some => format!("{some} {}", plural(some, "breach", "breaches")),
        };
        writeln!(out, "{}: {state}", script.script)?;
        if let Some(benchmark) = &script.benchmark {
            writeln!(out, "  {benchmark}")?;
        }
        for finding in &script.findings {
            writeln!(out, "  {}: {}", finding.weight, finding.text)?;
            writeln!(out, "    {}", finding.hint)?;
        }
    }
    Ok(())
}
