//! Remarks on the data of a study in words.

use lapwing_model::text::{counted, first_names};
use lapwing_study::DataNote;

use crate::writing::Note;

/// Returns a remark on the data of a study.
pub fn data_note(note: &DataNote) -> Note {
    match note {
        DataNote::LacksFactors { factors } => {
            let names = first_names(factors, 5);
            let text = format!("some runs do not record {names}: taken as absent there");
            Note::new("lacks_factors", text).with("factors", factors.clone())
        }
        DataNote::EarlierDefinitions { instances } => {
            let count = counted(*instances, "instance");
            let text = format!(
                "{count} of earlier definitions of factors excluded: a corrected factor starts afresh"
            );
            Note::new("earlier_definitions", text).with("instances", *instances)
        }
        DataNote::EarlierMeaning { instances } => {
            let count = counted(*instances, "instance");
            let text = format!("{count} of an earlier meaning of the benchmark excluded");
            Note::new("earlier_meaning", text).with("instances", *instances)
        }
        DataNote::FailedSettings { settings } => {
            let count = counted(settings.len(), "setting");
            let names = first_names(settings, 3);
            let text = format!("{count} without a usable value: {names}");
            Note::new("failed_settings", text)
                .with("settings", settings.clone())
                .with("failed", settings.len())
        }
        DataNote::LacksVersions {
            instances,
            packages,
        } => {
            let count = counted(*instances, "instance");
            let names = first_names(packages, 5);
            let text = format!("{count} without a version of each of {names} excluded");
            Note::new("lacks_versions", text)
                .with("instances", *instances)
                .with("packages", packages.clone())
        }
        DataNote::FailedStacks { stacks } => {
            let count = counted(stacks.len(), "stack");
            let texts = stacks
                .iter()
                .map(|(stack, it)| format!("{stack} ({} of {})", it.failures, it.attempts));
            let text = format!("{count} failed: {}", first_names(texts, 3));
            let rows = stacks.iter().map(|(stack, it)| {
                serde_json::json!({"stack": stack, "failures": it.failures, "attempts": it.attempts})
            });
            Note::new("failed_stacks", text)
                .with("failed", stacks.len())
                .with("stacks", rows.collect::<Vec<_>>())
        }
    }
}
