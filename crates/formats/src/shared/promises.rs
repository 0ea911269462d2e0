//! What holds for everything that was read, whatever the source says: tests and fuzzing
//! check it.

use std::collections::HashSet;

use crate::Imported;
use lapwing_model::Record;
use lapwing_record::{parse_line, write_line};

/// Checks that parents come first, nothing comes twice, numbers are finite, and each record
/// survives being written and read.
///
/// # Errors
/// The first record of which that is not so, and what is wrong with it.
pub fn check_promises(imported: &Imported) -> Result<(), String> {
    let mut known = HashSet::new();
    let mut iterations = HashSet::new();
    for record in &imported.records {
        let promises: [(&str, bool); 3] = match record {
            Record::Session(it) => [("comes once", known.insert(it.id)), KEPT, KEPT],
            Record::Run(it) => [
                ("comes after its session", known.contains(&it.session)),
                ("comes once", known.insert(it.id)),
                KEPT,
            ],
            Record::Instance(it) => [
                ("comes after its run", known.contains(&it.run)),
                ("comes once", known.insert(it.id)),
                ("has a benchmark with a name", !it.benchmark.id.is_empty()),
            ],
            Record::Iteration(it) => [
                ("comes after its instance", known.contains(&it.instance)),
                ("comes once", iterations.insert((it.instance, it.index))),
                (
                    "has finite values",
                    it.metrics.values().all(|value| value.is_finite()),
                ),
            ],
            Record::Summary(it) => [
                ("comes after its instance", known.contains(&it.instance)),
                ("has a finite centre", it.centre.is_finite()),
                KEPT,
            ],
            Record::InstanceEnd(it) => [
                ("comes after its instance", known.contains(&it.instance)),
                KEPT,
                KEPT,
            ],
            Record::Span(_) | Record::Annotation(_) => [KEPT; 3],
        };
        if let Some((promise, _)) = promises.iter().find(|(_, kept)| !kept) {
            return Err(format!(
                "it is not so that this record {promise}: {record:?}"
            ));
        }
        reads_itself(record)?;
    }
    Ok(())
}

/// In the place of a promise that a kind of record does not have.
const KEPT: (&str, bool) = ("", true);

fn reads_itself(record: &Record) -> Result<(), String> {
    let mut line = Vec::new();
    write_line(&mut line, record).map_err(|error| format!("{error}: {record:?}"))?;
    let again = parse_line(line.trim_ascii_end())
        .map_err(|error| format!("it cannot be read again, {error}: {record:?}"))?;
    if again == *record {
        Ok(())
    } else {
        Err(format!("it is read as {again:?}: {record:?}"))
    }
}
