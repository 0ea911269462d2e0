//! Asks pytest for the tests that a suite names.

use lapwing_core::measure::local::{LauncherOptions, LocalExecutor};
use lapwing_core::measure::pytest::{CollectError, collect};
use lapwing_core::suite::{Case, Suite};

use crate::error::CliError;

/// Returns the tests of each table of a suite that names some.
pub fn tests_of(suite: &Suite) -> Result<Vec<Vec<Case>>, CliError> {
    if suite.pytest().is_empty() {
        return Ok(Vec::new());
    }
    let mut executor = LocalExecutor::start(&LauncherOptions {
        program: crate::launcher_program(),
        cpus: None,
    })?;
    let list = std::env::temp_dir().join(format!("lapwing-tests-{}.jsonl", super::new_id()));
    let tables = suite.pytest().iter();
    tables
        .map(|table| collect(table, &mut executor, &list).map_err(about))
        .collect()
}

fn about(error: CollectError) -> CliError {
    let hint = match &error {
        CollectError::NoPython { .. } => Some("name another interpreter: `python = \"…\"`".to_owned()),
        CollectError::NotInstalled { python, .. } => Some(format!(
            "`{python} -m pip install DIR`, where DIR is the folder python/pytest-lapwing of Lapwing's repository; \
             or name the interpreter that has it: `python = \"…\"`"
        )),
        CollectError::NoTests { .. } => Some(
            "mark a test with `@pytest.mark.lapwing`, or take all with `pytest_arguments = [\"--lapwing-all=PATH\"]`; \
             tests that use the fixture `benchmark` are taken where pytest-benchmark is not active: `pytest_arguments = [\"-p\", \"no:benchmark\"]`"
                .to_owned(),
        ),
        CollectError::Collection { .. } | CollectError::List { .. } | CollectError::Executor(_) => None,
    };
    CliError::input(error).hint_if(hint)
}
