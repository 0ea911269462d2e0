//! Asks pytest which tests there are.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use super::super::execution::execute::{
    Execution, ExecutionEnd, ExecutionResult, Executor, ExecutorError,
};
use super::super::repository::source::PythonFolder;
use crate::suite::{
    BurnIn, Case, CollectedCounts, CommandLine, GivenCounts, PytestTable, PytestTest, Settings,
};
use lapwing_model::{Benchmark, Metric, MetricName, Object};

/// As much of what pytest says is kept for messages.
const SAID: usize = 64 << 10;
/// More lines of it than this help nobody.
const MOST_LINES: usize = 40;

/// The tests of a suite cannot be found.
#[derive(Debug, thiserror::Error)]
pub enum CollectError {
    /// There is no such interpreter.
    #[error("[benchmark.{table}]: Python cannot be started: {reason}")]
    NoPython {
        /// The table of the suite.
        table: String,
        /// Why it cannot be called.
        reason: String,
    },
    /// pytest or its plugin is not installed.
    #[error("[benchmark.{table}]: `{python}` cannot import {package}")]
    NotInstalled {
        /// The table of the suite.
        table: String,
        /// The interpreter.
        python: String,
        /// What is missing.
        package: &'static str,
    },
    /// pytest could not collect.
    #[error("[benchmark.{table}]: pytest cannot collect {paths}\n{said}")]
    Collection {
        /// The table of the suite.
        table: String,
        /// What was to be collected.
        paths: String,
        /// pytest's own words.
        said: String,
    },
    /// There is nothing to measure.
    #[error("[benchmark.{table}]: {paths} has no test that is a benchmark")]
    NoTests {
        /// The table of the suite.
        table: String,
        /// What was to be collected.
        paths: String,
    },
    /// What the plugin wrote cannot be read.
    #[error(
        "[benchmark.{table}]: the list of tests that pytest-lapwing wrote cannot be read: {reason}"
    )]
    List {
        /// The table of the suite.
        table: String,
        /// Why.
        reason: String,
    },
    /// Nothing can be executed.
    #[error(transparent)]
    Executor(#[from] ExecutorError),
}

/// A line of the plugin's list.
#[derive(Deserialize)]
struct ListedTest {
    id: String,
    #[serde(default)]
    params: Object,
    #[serde(default)]
    tags: Vec<String>,
    fingerprint: Option<String>,
    burn_in: u32,
    iterations: u32,
    time_limit: Option<f64>,
    max_failures: u32,
    #[serde(default)]
    metrics: BTreeMap<MetricName, Metric>,
    root: Option<String>,
}

/// Returns a benchmark for each test that a table of the suite means, in a Python environment or by the table's own
/// interpreter; `list` is a file that may be written.
///
/// # Errors
/// When pytest, its plugin or the tests are not there, or pytest cannot collect them.
pub fn collect(
    table: &PytestTable,
    python: Option<&PythonFolder>,
    executor: &mut dyn Executor,
    list: &Path,
) -> Result<Vec<Case>, CollectError> {
    // What another call left must not be taken for this one's.
    let _absent = std::fs::remove_file(list);
    let arguments = table.all_arguments();
    let interpreter = python.map(PythonFolder::interpreter);
    let interpreter = interpreter.as_ref().unwrap_or(&table.python);
    let mut environment = BTreeMap::new();
    environment.extend(python.iter().flat_map(|it| it.variables()));
    environment.extend(table.environment.clone());
    let options = ["-m", "pytest", "--collect-only", "-q", "--color=no"];
    let mut words = vec![interpreter.clone()];
    words.extend(options.map(str::to_owned));
    words.extend(["--lapwing-collect".to_owned(), list.display().to_string()]);
    words.extend(arguments.iter().chain(&table.paths).cloned());
    let executed = executor.execute(&Execution {
        directory: Some(PathBuf::from(&table.directory)),
        environment,
        keep_stdout: SAID,
        keep_stderr: SAID,
        ..Execution::new(CommandLine::Words(words))
    })?;
    let lines = std::fs::read_to_string(list).unwrap_or_default();
    let _absent = std::fs::remove_file(list);
    refuse_failure(table, interpreter, &executed)?;
    let mut cases = Vec::new();
    for line in lines.lines() {
        let listed = serde_json::from_str(line).map_err(|error| CollectError::List {
            table: table.name.clone(),
            reason: error.to_string(),
        })?;
        cases.push(case(table, &arguments, listed));
    }
    if cases.is_empty() {
        return Err(no_tests(table));
    }
    Ok(cases)
}

fn refuse_failure(
    table: &PytestTable,
    interpreter: &str,
    executed: &ExecutionResult,
) -> Result<(), CollectError> {
    let not_installed = |package| CollectError::NotInstalled {
        table: table.name.clone(),
        python: interpreter.to_owned(),
        package,
    };
    let (printed, complained) = (executed.stdout.text(), executed.stderr.text());
    match &executed.end {
        ExecutionEnd::Exited(0) => Ok(()),
        ExecutionEnd::NotStarted(reason) => Err(CollectError::NoPython {
            table: table.name.clone(),
            reason: reason.clone(),
        }),
        ExecutionEnd::Exited(_) if complained.contains("No module named pytest") => {
            Err(not_installed("pytest"))
        }
        ExecutionEnd::Exited(4)
            if complained.contains("unrecognized arguments")
                && complained.contains("--lapwing-collect") =>
        {
            Err(not_installed("pytest-lapwing"))
        }
        ExecutionEnd::Exited(5) => Err(no_tests(table)),
        ExecutionEnd::Exited(_)
        | ExecutionEnd::Signalled(_)
        | ExecutionEnd::TimedOut
        | ExecutionEnd::Interrupted => {
            let said = [printed.trim(), complained.trim()];
            let said: Vec<&str> = said.iter().flat_map(|it| it.lines()).collect();
            let begin = said.iter().position(|line| line.contains("= ERRORS ="));
            let begin = begin.unwrap_or(0);
            let end = said.len().min(begin + MOST_LINES);
            Err(CollectError::Collection {
                table: table.name.clone(),
                paths: paths(table),
                said: said[begin..end].join("\n"),
            })
        }
    }
}

fn no_tests(table: &PytestTable) -> CollectError {
    CollectError::NoTests {
        table: table.name.clone(),
        paths: paths(table),
    }
}

fn paths(table: &PytestTable) -> String {
    table.paths.join(" ")
}

fn case(table: &PytestTable, arguments: &[String], listed: ListedTest) -> Case {
    let time_limit = listed
        .time_limit
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let mut tags = listed.tags;
    let mut of_table = table.tags.clone();
    of_table.retain(|tag| !tags.contains(tag));
    tags.append(&mut of_table);
    let command = [&table.python, "-m", "pytest", &listed.id].map(str::to_owned);
    let burn_in = if table.finds_burn_in(listed.burn_in) {
        BurnIn::Auto
    } else {
        BurnIn::Fixed(listed.burn_in)
    };
    let settings = table.settings.or(&table.defaults);
    let case = Case::new(listed.id, CommandLine::Words(command.to_vec()));
    Case {
        benchmark: Benchmark {
            params: listed.params,
            tags,
            fingerprint: listed.fingerprint,
            ..case.benchmark
        },
        directory: Some(table.directory.clone()),
        environment: table.environment.clone(),
        instances: settings.instances.unwrap_or(Settings::INSTANCES),
        burn_in,
        iterations: listed.iterations,
        time_limit,
        max_failures: listed.max_failures,
        metrics: listed.metrics,
        pytest: Some(PytestTest {
            python: table.python.clone(),
            root: listed.root.unwrap_or_else(|| table.directory.clone()),
            arguments: arguments.to_vec(),
            collected: CollectedCounts {
                burn_in: listed.burn_in,
                iterations: listed.iterations,
                time_limit,
                max_failures: listed.max_failures,
            },
            given: GivenCounts::default(),
        }),
        ..case
    }
}
