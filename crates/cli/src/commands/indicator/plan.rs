//! The benchmarks of indicator scripts: one for each combination of their parameters.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_measure::PythonFolder;
use lapwing_measure::local::LocalExecutor;
use lapwing_measure::suite::{Case, OutputMetrics, Plan, VersionSource};
use lapwing_model::indicator::ContractFinding;

use super::hints::hint;
use super::options::{IndicatorOptions, RepetitionOptions};
use super::probe::IndicatorScript;
use crate::commands::run::random_seed;
use crate::error::{CliError, ExitStatus};
use crate::options::Context;
use crate::progress;
use crate::session::working_directory;

/// Executes each script once per combination of parameters, in the first of the environments where it works, and
/// returns its benchmarks.
///
/// A parameter that a script does not know is left out for it, if another script knows it.
pub fn indicator_cases(
    scripts: &[IndicatorScript],
    options: &IndicatorOptions,
    environments: &[Option<&PythonFolder>],
    executor: &mut LocalExecutor,
    context: &Context,
) -> Result<Vec<Case>, CliError> {
    let combinations = options.combinations()?;
    let bar = progress::bar(
        "checking scripts",
        scripts.len() * combinations.len(),
        context,
    );
    let mut cases: Vec<Case> = Vec::new();
    let mut known: BTreeSet<String> = BTreeSet::new();
    for script in scripts {
        for combination in &combinations {
            let found = first_usable(script, combination, options, environments, executor)?;
            known.extend(found.environment.keys().cloned());
            if !cases.iter().any(|it| it.benchmark.id == found.benchmark.id) {
                cases.push(found);
            } else if cases.iter().any(|it| {
                it.benchmark.id == found.benchmark.id
                    && it.benchmark.fingerprint != found.benchmark.fingerprint
            }) {
                let name = found.benchmark.id;
                let path = script.path.display();
                return Err(
                    CliError::input(format!("{path} and another script are both {name}")).hint(
                        "give one of them another name, or report the difference in @parameters",
                    ),
                );
            }
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    let mut given = combinations.iter().flat_map(BTreeMap::keys);
    if let Some(unknown) = given.find(|it| !known.contains(*it)) {
        return Err(
            CliError::input(format!("no script reports a parameter for {unknown}")).hint(
                "`lapwing indicator check SCRIPT` shows the parameters that a script reports",
            ),
        );
    }
    Ok(cases)
}

/// Returns the benchmark of a script by the first environment where it keeps to the contract.
fn first_usable(
    script: &IndicatorScript,
    combination: &BTreeMap<String, String>,
    options: &IndicatorOptions,
    environments: &[Option<&PythonFolder>],
    executor: &mut LocalExecutor,
) -> Result<Case, CliError> {
    let mut refused: Option<ContractFinding> = None;
    for python in environments {
        let mut given = combination.clone();
        let mut read = script.probe(&given, *python, options, executor)?.read;
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
                case.confinement = script.confinement(options);
                case.time_limit = Some(options.time_limit);
                case.directory = Some(working_directory().display().to_string());
                case.metrics = document.metrics;
                options.declare(&mut case.metrics)?;
                return Ok(case);
            }
            (breach, _) => refused = refused.or_else(|| breach.cloned()),
        }
    }
    let path = script.path.display();
    Err(match refused {
        Some(finding) => CliError {
            exit: ExitStatus::Failed,
            ..CliError::input(format!("{path}: {finding}")).hint(hint(&finding))
        },
        None => CliError::input(format!("{path} cannot be executed anywhere")),
    })
}

/// Returns the plan that measures these benchmarks.
pub fn indicator_plan(mut cases: Vec<Case>, repetitions: &RepetitionOptions) -> Plan {
    let settings = repetitions.settings();
    cases.iter_mut().for_each(|case| settings.apply(case));
    let seed = repetitions.seed.unwrap_or_else(random_seed);
    Plan {
        version: VersionSource::Absent,
        directory: Some(working_directory().display().to_string()),
        cpus: settings.cpus,
        ..Plan::of_cases(&repetitions.suite, cases, seed)
    }
}
