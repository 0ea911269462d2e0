//! The benchmarks of indicator scripts: one for each combination of their parameters.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_model::indicator::ContractFinding;

use super::{IndicatorError, IndicatorScript, ScriptLimits};
use crate::PythonFolder;
use crate::local::LocalExecutor;
use crate::suite::{Case, OutputMetrics};

/// Values of parameters by environment variable.
pub type ParameterValues = BTreeMap<String, String>;

/// Executes each script once per combination of parameters, in the first of the environments where it works, and
/// returns its benchmarks; `on_probed` is called after each.
///
/// A parameter that a script does not know is left out for it, if another script knows it.
///
/// # Errors
/// If a script cannot be executed or breaches the contract, if two are the same benchmark, or if no script knows a
/// parameter.
pub fn indicator_cases(
    scripts: &[IndicatorScript],
    combinations: &[ParameterValues],
    limits: &ScriptLimits,
    environments: &[Option<&PythonFolder>],
    executor: &mut LocalExecutor,
    on_probed: &mut dyn FnMut(),
) -> Result<Vec<Case>, IndicatorError> {
    let mut cases: Vec<Case> = Vec::new();
    let mut known: BTreeSet<String> = BTreeSet::new();
    for script in scripts {
        for combination in combinations {
            let case = first_usable(script, combination, limits, environments, executor)?;
            known.extend(case.environment.keys().cloned());
            let mut others = cases.iter().map(|other| &other.benchmark);
            match others.find(|other| other.id == case.benchmark.id) {
                None => cases.push(case),
                Some(other) if other.fingerprint == case.benchmark.fingerprint => {}
                Some(_) => {
                    return Err(IndicatorError::SameBenchmark {
                        path: script.path.clone(),
                        id: case.benchmark.id,
                    });
                }
            }
            on_probed();
        }
    }
    let mut given = combinations.iter().flat_map(BTreeMap::keys);
    match given.find(|variable| !known.contains(*variable)) {
        None => Ok(cases),
        Some(variable) => Err(IndicatorError::UnknownParameter {
            variable: variable.clone(),
        }),
    }
}

/// Returns the benchmark of a script by the first environment where it keeps to the contract.
fn first_usable(
    script: &IndicatorScript,
    combination: &ParameterValues,
    limits: &ScriptLimits,
    environments: &[Option<&PythonFolder>],
    executor: &mut LocalExecutor,
) -> Result<Case, IndicatorError> {
    let mut breach: Option<ContractFinding> = None;
    for python in environments {
        let mut given = combination.clone();
        let mut read = script.probe(&given, *python, limits, executor)?.read;
        read.findings.retain(|finding| match finding {
            ContractFinding::ParameterUnknown(variable) => {
                given.remove(variable);
                false
            }
            _ => true,
        });
        match (read.breach(), read.document.clone()) {
            (None, Some(document)) => {
                let benchmark = document.benchmark(Some(&script.sha256));
                let mut case = Case::new(benchmark.id.clone(), script.command());
                case.benchmark = benchmark;
                case.environment = given;
                case.output = OutputMetrics::Indicator;
                case.confinement = script.confinement(limits);
                case.time_limit = Some(limits.time_limit);
                case.directory = Some(limits.directory.display().to_string());
                case.metrics = document.metrics;
                return Ok(case);
            }
            (finding, _) => breach = breach.or_else(|| finding.cloned()),
        }
    }
    let path = script.path.clone();
    Err(match breach {
        Some(finding) => IndicatorError::Breach { path, finding },
        None => IndicatorError::NoEnvironment { path },
    })
}
