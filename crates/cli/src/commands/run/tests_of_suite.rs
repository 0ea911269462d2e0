//! Asks pytest for the tests that a suite names.

use std::collections::BTreeSet;

use lapwing_measure::local::{LauncherOptions, LocalExecutor};
use lapwing_measure::pytest::{CollectError, collect};
use lapwing_measure::suite::{Case, Suite, Variant};
use lapwing_measure::{PythonFolder, PythonFolders, PythonState};
use lapwing_model::text::first_names;

use crate::error::CliError;
use crate::options::Context;

/// Returns the tests of each table of a suite that names some: those of all Python environments of its variants.
pub fn tests_of(
    suite: &Suite,
    variants: &[Variant],
    environments: &PythonFolders,
    context: &Context,
) -> Result<Vec<Vec<Case>>, CliError> {
    if suite.pytest().is_empty() {
        return Ok(Vec::new());
    }
    let mut executor = LocalExecutor::start(&LauncherOptions {
        program: crate::launcher_program(),
        cpus: None,
    })?;
    let list = std::env::temp_dir().join(format!("lapwing-tests-{}.jsonl", super::new_id()));
    // Variants without an environment of their own share the interpreter of the table.
    let mut places: Vec<(&str, Option<&PythonFolder>)> = Vec::new();
    for variant in variants {
        let place = match (&variant.python, environments.get(&variant.name)) {
            (Some(_), Some(PythonState::Ready(folder))) => Some(folder),
            (Some(_), Some(PythonState::Broken(_)) | None) => continue,
            (None, _) => None,
        };
        if places.iter().all(|(_, known)| *known != place) {
            places.push((&variant.name, place));
        }
    }
    if places.is_empty() {
        return Err(
            CliError::input("no Python environment of the variants can be built")
                .hint("the notes above say why"),
        );
    }
    let mut tables = Vec::with_capacity(suite.pytest().len());
    for table in suite.pytest() {
        let mut tests: Vec<Case> = Vec::new();
        for (at, (variant, place)) in places.iter().enumerate() {
            let found = collect(table, *place, &mut executor, &list).map_err(about)?;
            let ids = |cases: &[Case]| -> BTreeSet<String> {
                cases.iter().map(|it| it.benchmark.id.clone()).collect()
            };
            let (known, here) = (ids(&tests), ids(&found));
            tests.extend(
                found
                    .into_iter()
                    .filter(|it| !known.contains(&it.benchmark.id)),
            );
            let differing = known.symmetric_difference(&here);
            if at > 0 && known != here {
                context.terminal.note(&format!(
                    "the environment of {variant} does not have the same tests as that of {}: {}",
                    places[0].0,
                    first_names(differing.map(String::as_str), 8)
                ));
            }
        }
        tables.push(tests);
    }
    Ok(tables)
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
