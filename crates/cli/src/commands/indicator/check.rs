//! `lapwing indicator check`: executes indicators once, and reports deviations from the contract.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use lapwing_measure::indicator::IndicatorScript;
use lapwing_model::indicator::{ContractFinding, FindingWeight, IndicatorDocument, type_of};
use lapwing_model::text::plural;
use lapwing_show::writing::AnswerFormat;
use serde::Serialize;

use super::hints::hint;
use super::options::IndicatorOptions;
use crate::answer::write_json;
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
struct CheckedScript {
    script: String,
    sha256: String,
    parameters: BTreeMap<String, String>,
    benchmark: Option<String>,
    stderr: String,
    #[serde(skip)]
    document: Option<IndicatorDocument>,
    findings: Vec<CheckedFinding>,
}

#[derive(Serialize)]
struct CheckedFinding {
    weight: &'static str,
    text: String,
    hint: &'static str,
}

impl CheckedFinding {
    fn of(finding: &ContractFinding) -> Self {
        Self {
            weight: match finding.weight() {
                FindingWeight::Breach => "breach",
                FindingWeight::Warning => "warning",
            },
            text: finding.to_string(),
            hint: hint(finding),
        }
    }

    fn is_breach(&self) -> bool {
        self.weight == "breach"
    }
}

impl IndicatorCheck {
    /// Prints the findings of each script.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        let combinations = self.options.combinations()?;
        let limits = self.options.limits();
        let mut executor = context.surroundings().launch(None)?;
        let mut checked: Vec<CheckedScript> = Vec::new();
        for path in &self.scripts {
            let script = IndicatorScript::open(path)?;
            for parameters in &combinations {
                let probed = script.probe(parameters, None, &limits, &mut executor)?;
                let read = probed.read;
                let mut findings = read.findings;
                if let Some(document) = &read.document {
                    findings.extend(conflicts(document, &script, &checked));
                }
                let mut findings: Vec<_> = findings.iter().map(CheckedFinding::of).collect();
                findings.sort_by_key(|it| !it.is_breach());
                checked.push(CheckedScript {
                    script: path.display().to_string(),
                    sha256: script.sha256.clone(),
                    parameters: parameters.clone(),
                    benchmark: read.document.as_ref().map(IndicatorDocument::benchmark_id),
                    document: read.document,
                    stderr: probed.stderr,
                    findings,
                });
            }
        }
        let mut out = context.terminal.out_as(self.answer.format);
        match self.answer.format {
            AnswerFormat::Json => write_json(&serde_json::json!({ "scripts": checked }), &mut out)?,
            AnswerFormat::Text | AnswerFormat::Markdown | AnswerFormat::Csv => {
                write_text(&checked, &mut out)?
            }
        }
        let is_bad = |it: &CheckedScript| it.findings.iter().any(CheckedFinding::is_breach);
        Ok(if checked.iter().any(is_bad) {
            ExitStatus::Judged
        } else {
            ExitStatus::Fine
        })
    }
}

fn write_text(checked: &[CheckedScript], out: &mut impl Write) -> Result<(), CliError> {
    for script in checked {
        let breaches = script.findings.iter().filter(|it| it.is_breach()).count();
        let state = match breaches {
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

/// Returns what is wrong with a document beside those of the other scripts.
fn conflicts(
    document: &IndicatorDocument,
    script: &IndicatorScript,
    others: &[CheckedScript],
) -> Vec<ContractFinding> {
    let mut findings = Vec::new();
    for other in others.iter().filter(|it| it.sha256 != script.sha256) {
        let Some(known) = &other.document else {
            continue;
        };
        if known.name != document.name {
            continue;
        }
        if known.benchmark_id() == document.benchmark_id() {
            findings.push(ContractFinding::SameIdentity {
                name: document.benchmark_id(),
                other: other.script.clone(),
            });
        }
        for (key, value) in &document.parameters {
            let there = known.parameters.get(key).map(type_of);
            if let Some(there) = there.filter(|it| *it != type_of(value)) {
                findings.push(ContractFinding::MixedTypes {
                    key: key.clone(),
                    here: type_of(value),
                    there,
                    other: other.script.clone(),
                });
            }
        }
    }
    findings
}
