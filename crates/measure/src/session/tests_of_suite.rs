//! Asks pytest for the tests that a suite names.

use std::collections::BTreeSet;

use crate::pytest::collect;
use crate::suite::{Case, Suite, Variant};
use crate::{PythonFolder, PythonFolders, PythonState};

use super::{SessionError, SessionRemark, SessionSurroundings};

/// Returns the tests of each table of a suite that names some: those of all Python environments of its variants.
pub fn tests_of(
    suite: &Suite,
    variants: &[Variant],
    environments: &PythonFolders,
    surroundings: &SessionSurroundings<'_>,
) -> Result<Vec<Vec<Case>>, SessionError> {
    if suite.pytest().is_empty() {
        return Ok(Vec::new());
    }
    let mut executor = surroundings.launch(None)?;
    let list = surroundings
        .places
        .temporary
        .join(format!("lapwing-tests-{}.jsonl", (surroundings.new_id)()));
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
        return Err(SessionError::NoEnvironment);
    }
    let mut tables = Vec::with_capacity(suite.pytest().len());
    for table in suite.pytest() {
        let mut tests: Vec<Case> = Vec::new();
        for (at, (variant, place)) in places.iter().enumerate() {
            let found = collect(table, *place, &mut executor, &list)?;
            let ids = |cases: &[Case]| -> BTreeSet<String> {
                cases.iter().map(|it| it.benchmark.id.clone()).collect()
            };
            let (known, here) = (ids(&tests), ids(&found));
            tests.extend(
                found
                    .into_iter()
                    .filter(|it| !known.contains(&it.benchmark.id)),
            );
            if at > 0 && known != here {
                surroundings.remark(SessionRemark::OtherTests {
                    variants: [places[0].0.to_owned(), (*variant).to_owned()],
                    tests: known.symmetric_difference(&here).cloned().collect(),
                });
            }
        }
        tables.push(tests);
    }
    Ok(tables)
}
