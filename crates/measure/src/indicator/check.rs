//! Scripts that are executed once, and their deviations from the contract.

use std::path::PathBuf;

use lapwing_model::indicator::{ContractFinding, IndicatorDocument, type_of};

use super::{IndicatorError, IndicatorScript, ParameterValues, ScriptLimits};
use crate::local::LocalExecutor;

/// A script that was executed once with parameters.
#[derive(Debug)]
pub struct CheckedScript {
    /// The path, as it was given.
    pub path: PathBuf,
    /// Its content's SHA-256, in hexadecimal digits.
    pub sha256: String,
    /// The parameters.
    pub parameters: ParameterValues,
    /// The document that it printed.
    pub document: Option<IndicatorDocument>,
    /// The end of the standard error.
    pub stderr: String,
    /// Deviations from the contract, breaches first.
    pub findings: Vec<ContractFinding>,
}

/// Executes each script once per combination of parameters.
///
/// # Errors
/// If a script cannot be executed.
pub fn check_scripts(
    paths: &[PathBuf],
    combinations: &[ParameterValues],
    limits: &ScriptLimits,
    executor: &mut LocalExecutor,
) -> Result<Vec<CheckedScript>, IndicatorError> {
    let mut checked: Vec<CheckedScript> = Vec::new();
    for path in paths {
        let script = IndicatorScript::open(path)?;
        for parameters in combinations {
            let probed = script.probe(parameters, None, limits, executor)?;
            let mut findings = probed.read.findings;
            if let Some(document) = &probed.read.document {
                let others = checked.iter().filter(|it| it.sha256 != script.sha256);
                findings.extend(others.flat_map(|other| conflicts(document, other)));
            }
            findings.sort_by_key(ContractFinding::weight);
            checked.push(CheckedScript {
                path: path.clone(),
                sha256: script.sha256.clone(),
                parameters: parameters.clone(),
                document: probed.read.document,
                stderr: probed.stderr,
                findings,
            });
        }
    }
    Ok(checked)
}

/// Returns what is wrong with a document beside that of another script.
fn conflicts(document: &IndicatorDocument, other: &CheckedScript) -> Vec<ContractFinding> {
    let mut findings = Vec::new();
    let known = other.document.as_ref();
    let Some(known) = known.filter(|known| known.name == document.name) else {
        return findings;
    };
    if known.benchmark_id() == document.benchmark_id() {
        findings.push(ContractFinding::SameIdentity {
            name: document.benchmark_id(),
            other: other.path.display().to_string(),
        });
    }
    for (key, value) in &document.parameters {
        let there = known.parameters.get(key).map(type_of);
        if let Some(there) = there.filter(|there| *there != type_of(value)) {
            findings.push(ContractFinding::MixedTypes {
                key: key.clone(),
                here: type_of(value),
                there,
                other: other.path.display().to_string(),
            });
        }
    }
    findings
}
