//! Which Python a setting has, and which packages.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use super::super::execution::execute::{Execution, ExecutionEnd, Executor, ExecutorError};
use super::super::repository::source::{VariantPlace, VariantSources};
use crate::suite::{CommandLine, OutputMetrics, Plan, Statement};
use lapwing_model::Object;

/// The same texts that pytest-lapwing writes into a run's environment.
const QUERY: &str = "\
import json, platform
from importlib import metadata
found = {}
for distribution in metadata.distributions():
    try:
        name, version = distribution.metadata['Name'], distribution.version
    except Exception:
        continue
    if name:
        found.setdefault(name, version)
python = f'{platform.python_implementation()} {platform.python_version()}'
print('\\n' + json.dumps({'python': python, 'packages': found}))
";
/// Listing packages should not take longer, even from a slow disk.
const TIME_LIMIT: Duration = Duration::from_secs(60);
/// Thousands of packages fit.
const OUTPUT: usize = 4 << 20;
/// What is taken up.
const KEYS: [&str; 2] = ["python", "packages"];

/// Returns what the environment of each setting's run has of Python: `python` and `packages` of its own Python
/// environment, else of the interpreter of the plan's first test or statement, or of `python3` if it has indicators,
/// before anything is built. Empty where there is neither, and where it cannot be had.
///
/// # Errors
/// When the surroundings are broken.
pub fn interpreters(
    plan: &Plan,
    sources: &VariantSources,
    executor: &mut dyn Executor,
) -> Result<Vec<Object>, ExecutorError> {
    let first = plan
        .cases
        .iter()
        .find_map(|case| Some((case, case.pytest.as_ref()?)));
    let mut cases = plan.cases.iter();
    // Those in containers have a Python of their own.
    let has_indicators =
        cases.any(|it| it.output == OutputMetrics::Indicator && it.confinement.is_some());
    // Most indicators are scripts of Python.
    let of_indicators = has_indicators.then_some("python3");
    let of_statement = plan.cases.iter().find_map(Statement::interpreter_of);
    let mut known: Vec<(Query, Object)> = Vec::new();
    let mut all = Vec::with_capacity(plan.variants.len());
    for variant in &plan.variants {
        let place = VariantPlace {
            commit: None,
            python: sources.python_of(variant).ok().flatten().cloned(),
        };
        let query = match (first, &place.python) {
            (Some((case, test)), _) => Query {
                python: place.interpreter(test),
                directory: case.directory.clone().map(PathBuf::from),
                environment: place.environment(case, variant),
            },
            (None, Some(python)) => Query {
                python: python.interpreter(),
                directory: None,
                environment: python.variables().into(),
            },
            (None, None) => match of_statement.or(of_indicators) {
                Some(python) => Query {
                    python: python.to_owned(),
                    directory: None,
                    environment: BTreeMap::new(),
                },
                None => {
                    all.push(Object::new());
                    continue;
                }
            },
        };
        // Commits differ in nothing that matters here.
        if let Some((_, found)) = known.iter().find(|(it, _)| *it == query) {
            all.push(found.clone());
            continue;
        }
        let found = query.execute(executor)?;
        all.push(found.clone());
        known.push((query, found));
    }
    Ok(all)
}

/// A question to an interpreter.
#[derive(PartialEq)]
struct Query {
    python: String,
    directory: Option<PathBuf>,
    environment: BTreeMap<String, String>,
}

impl Query {
    fn execute(&self, executor: &mut dyn Executor) -> Result<Object, ExecutorError> {
        let words = [&self.python, "-c", QUERY].map(str::to_owned);
        let executed = executor.execute(&Execution {
            directory: self.directory.clone(),
            environment: self.environment.clone(),
            time_limit: Some(TIME_LIMIT),
            keep_stdout: OUTPUT,
            ..Execution::new(CommandLine::Words(words.to_vec()))
        })?;
        let text = executed.stdout.text();
        let last = text.lines().last().unwrap_or_default();
        Ok(match executed.end {
            ExecutionEnd::Exited(0) => serde_json::from_str(last).unwrap_or_default(),
            ExecutionEnd::Exited(_)
            | ExecutionEnd::Signalled(_)
            | ExecutionEnd::TimedOut
            | ExecutionEnd::Interrupted
            | ExecutionEnd::NotStarted(_) => Object::new(),
        })
    }
}

/// Returns what an instance's process had of Python that its run does not say: another interpreter, or packages of
/// other versions, as a commit's build may have installed them.
pub(super) fn of_instance(of_run: &Object, of_process: &Object) -> Object {
    let mut other = Object::new();
    for key in KEYS {
        let (Some(run), Some(process)) = (of_run.get(key), of_process.get(key)) else {
            // There is nothing to tell apart from.
            other.extend(of_process.get(key).map(|it| (key.to_owned(), it.clone())));
            continue;
        };
        if run == process {
            continue;
        }
        let value = match (run.as_object(), process.as_object()) {
            (Some(run), Some(process)) => process
                .iter()
                .filter(|(name, version)| run.get(*name) != Some(version))
                .map(|(name, version)| (name.clone(), version.clone()))
                .collect::<Object>()
                .into(),
            (_, _) => process.clone(),
        };
        if value.as_object().is_none_or(|it| !it.is_empty()) {
            other.insert(key.to_owned(), value);
        }
    }
    other
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_instance_says_only_what_its_run_does_not() {
        let of = |run, process| {
            let object = |it| serde_json::from_value(it).expect("an object");
            serde_json::Value::from(of_instance(&object(run), &object(process)))
        };
        let run = json!({"host": "a", "python": "CPython 3.11", "packages": {"numpy": "2.3", "old": "1"}});
        assert_eq!(of(run.clone(), run.clone()), json!({}));
        let newer = json!({"host": "b", "python": "CPython 3.12", "packages": {"numpy": "2.4", "dask": "1"}});
        assert_eq!(
            of(run.clone(), newer),
            json!({"python": "CPython 3.12", "packages": {"numpy": "2.4", "dask": "1"}})
        );
        let fewer = json!({"python": "CPython 3.11", "packages": {"numpy": "2.3"}});
        assert_eq!(of(run, fewer.clone()), json!({}));
        assert_eq!(of(json!({}), fewer.clone()), fewer);
    }
}
