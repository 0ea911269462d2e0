//! What a killed process left of the test that it was measuring: the plugin's file, and beside it what instance it is.

use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::output::read;
use lapwing_record::files::{LONGEST_SETTINGS, read_bytes, read_text};

use lapwing_model::{Instance, InstanceEnd, InstanceOutcome, Iteration, Object, Record, Run};

/// The end of the names of files that say which instance was begun.
const BEGUN: &str = "begun";

/// The longest output of the plugin, in bytes.
const LONGEST_OUTPUT: u64 = 4 << 30;

/// Why an instance is lost whose process was killed.
pub(crate) const CUT_SHORT: &str = "cut short: the process that measured it was ended";

/// Where the plugin writes the records of an instance.
pub(super) fn output_file(folder: &Path, instance: &Instance) -> PathBuf {
    folder.join(format!("{}.jsonl", instance.id))
}

/// Writes down which instance begins. Without it nothing but the instance under way is lost, should somebody kill this
/// process.
pub(super) fn announce(output: &Path, run: &Run, instance: &Instance) {
    let text = serde_json::to_string(&(run, instance)).unwrap_or_default();
    let _unwritten = fs::write(output.with_extension(BEGUN), text);
}

/// Removes both files: all of it is kept elsewhere.
pub(super) fn remove(output: &Path) {
    for file in [output.to_owned(), output.with_extension(BEGUN)] {
        let _absent = fs::remove_file(file);
    }
}

/// Returns what killed processes left in a folder, as the records that they would have made of it: instances that were
/// cut short.
pub fn left_over(folder: &Path) -> Vec<Record> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut begun: Vec<PathBuf> = entries
        .map(|it| it.path())
        .filter(|it| it.extension().is_some_and(|it| it == BEGUN))
        .collect();
    begun.sort();
    begun.iter().flat_map(|it| of_instance(it)).collect()
}

fn of_instance(begun: &Path) -> Vec<Record> {
    let Some((mut run, mut instance)) = read_text(begun, LONGEST_SETTINGS)
        .ok()
        .and_then(|text| serde_json::from_str::<(Run, Instance)>(&text).ok())
    else {
        return Vec::new();
    };
    let output = begun.with_extension("jsonl");
    let bytes = read_bytes(&output, LONGEST_OUTPUT).unwrap_or_default();
    let mut recorded = read(&String::from_utf8_lossy(&bytes), &instance.benchmark.id);
    if recorded.instance.is_none() {
        return Vec::new();
    }
    let modified = fs::metadata(&output).and_then(|it| it.modified()).ok();
    recorded.describe(&mut instance, &run);
    recorded.declare(&mut run);
    let id = instance.id;
    let iterations = std::mem::take(&mut recorded.iterations);
    let mut records = vec![Record::Run(run), Record::Instance(instance)];
    let iterations = iterations.into_iter();
    records.extend(iterations.map(|it| Record::Iteration(Iteration { instance: id, ..it })));
    // An end that stands there was the test's own.
    let (outcome, message, observed) = match recorded.end {
        Some(end) if end.outcome != InstanceOutcome::Lost => {
            (end.outcome, end.message, end.observed)
        }
        Some(_) | None => (
            InstanceOutcome::Lost,
            Some(CUT_SHORT.to_owned()),
            Object::new(),
        ),
    };
    // Always the same, should two processes take it up at once.
    let ended = modified.and_then(|time| Timestamp::try_from(time).ok());
    records.push(Record::InstanceEnd(InstanceEnd {
        message,
        observed,
        ..InstanceEnd::new(id, ended, outcome)
    }));
    records
}
