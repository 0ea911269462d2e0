//! Amun's inspections of indicators: folders with `build` and `results`, the older single documents, and single
//! results.

mod folder;
mod inspection;
mod result;

use std::path::Path;

use serde_json::Value as Json;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use crate::amun::folder::{inspection_of, is_inspection, missing, results_of};
use crate::amun::inspection::Inspection;
use crate::amun::result::instance_draft;
use crate::shared::detect::{has_key, has_own_key, is_object};
use crate::shared::intake::{InstanceDraft, Intake, SessionDraft};
use crate::shared::reading::document::Document;
use crate::shared::reading::moment::moment;
use crate::shared::sink::Sink;
use crate::{BadLine, Format, ImportError, Source};
use lapwing_model::{InstanceOutcome, Object};

pub(super) const FORMAT: Format = Format {
    is_at,
    ..Format::new(
        "amun",
        "Amun inspections: folders, documents and single results",
        looks_like,
        read,
    )
};

/// The keys that every result has.
const RESULT_KEYS: [&str; 4] = ["exit_code", "script_sha256", "stdout", "usage"];

fn looks_like(head: &[u8]) -> Option<&'static str> {
    if !is_object(head) {
        return None;
    }
    if has_own_key(head, "inspection_id") && has_key(head, "specification") {
        return Some("it has `inspection_id` and `specification`");
    }
    // Keys are sorted, and logs of builds are long.
    if first_key(head) == Some("build_log") {
        return Some("it begins with `build_log`");
    }
    // The hardware stands before the other keys, and all of it is short.
    RESULT_KEYS
        .iter()
        .all(|key| has_own_key(head, key))
        .then_some("it has `script_sha256`, `exit_code`, `stdout` and `usage`")
}

/// Returns the first key of an object.
fn first_key(head: &[u8]) -> Option<&str> {
    let inside = head.trim_ascii_start().strip_prefix(b"{")?;
    let key = inside.trim_ascii_start().strip_prefix(b"\"")?;
    let end = key.iter().position(|byte| *byte == b'"')?;
    std::str::from_utf8(&key[..end]).ok()
}

fn is_at(path: &Path) -> Option<&'static str> {
    is_inspection(path).then_some("it has `build/specification` or `results/0/result`")
}

fn read(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    if source.is_folder() {
        return read_folder(source, sink);
    }
    let document = Document::of(source)?;
    let mut whole: Object = document.parse()?;
    let digest = *document.sha256();
    if !whole.contains_key("inspection_id") {
        let inspection = Inspection::of_single(document_name(source));
        let results = vec![(0, Placed::at(1), Ok(whole))];
        return take(source, &digest, sink, inspection, results);
    }
    let JobLogs { job_logs } = document.parse()?;
    let raws = job_logs.unwrap_or_default();
    let logs = match whole.remove("job_logs") {
        Some(Json::Array(logs)) => logs,
        Some(Json::Null) | None => Vec::new(),
        Some(_) => return Err(document.wrong_document("`job_logs` is not a list")),
    };
    let inspection =
        Inspection::of_document(whole).map_err(|reason| document.wrong_document(reason))?;
    let results = logs.into_iter().enumerate().map(|(number, log)| {
        let line = raws
            .get(number)
            .map_or(1, |raw| document.spot_of(raw.get()).line);
        let result = match log {
            Json::Object(result) => Ok(result),
            _ => Err("a job's log is not an object".to_owned()),
        };
        (number, Placed::at(line), result)
    });
    take(source, &digest, sink, inspection, results.collect())
}

/// The parts of a document whose places are told.
#[derive(serde::Deserialize)]
struct JobLogs<'d> {
    #[serde(borrow)]
    job_logs: Option<Vec<&'d RawValue>>,
}

/// The place of a result: a line, and a file if it has one of its own.
struct Placed {
    file: Option<String>,
    line: u64,
}

impl Placed {
    fn at(line: u64) -> Self {
        Self { file: None, line }
    }
}

/// Reads a folder: its specification, and each result from a file of its own. Numbers may be missing.
fn read_folder(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let path = source.path().unwrap_or(Path::new("."));
    let folder = results_of(path).map_err(|error| source.failed(error))?;
    let mut digest = Sha256::new();
    let inspection = inspection_of(path, &mut digest)?;
    let mut results = Vec::new();
    for missing in missing(&folder) {
        sink.notes().left(
            &format!("results/{missing}"),
            "there is no such result, though later ones exist",
        );
    }
    for (number, file) in &folder {
        let file = Source::open(file, path)?;
        let result = Document::of(&file).and_then(|document| {
            digest.update(document.sha256());
            document.parse::<Object>()
        });
        let (line, result) = match result {
            Ok(result) => (1, Ok(result)),
            Err(ImportError::Document { line, reason, .. }) => (line, Err(reason)),
            Err(other) => return Err(other),
        };
        let placed = Placed {
            file: Some(format!("results/{number}/result")),
            line,
        };
        results.push((*number, placed, result));
    }
    let digest: [u8; 32] = digest.finalize().into();
    take(source, &digest, sink, inspection, results)
}

fn document_name(source: &Source) -> String {
    // A result is called `result`, in `ID/results/0`.
    let parent = source
        .path()
        .and_then(|path| path.ancestors().nth(3)?.file_name());
    match parent {
        Some(name) if source.stem() == "result" => name.to_string_lossy().into_owned(),
        Some(_) | None => source.stem().to_owned(),
    }
}

/// The results of an inspection, by number.
type NumberedResults = Vec<(usize, Placed, Result<Object, String>)>;

fn take(
    source: &Source,
    digest: &[u8; 32],
    sink: &mut Sink<'_, '_>,
    inspection: Inspection,
    results: NumberedResults,
) -> Result<(), ImportError> {
    let texts = results.iter().filter_map(|(_, _, result)| {
        let result = result.as_ref().ok()?;
        let keys = ["start_datetime", "datetime", "end_datetime"];
        keys.iter().find_map(|key| result.get(*key)?.as_str())
    });
    let first = texts.filter_map(moment).min();
    let created = inspection.created.as_deref().and_then(moment);
    let session = SessionDraft {
        started: created.or(first),
        name: Some(inspection.id.clone()),
        suite: Some("indicators".to_owned()),
        ..SessionDraft::of("amun")
    };
    let is_empty = results.is_empty();
    let mut intake = Intake::begin(source, digest, sink, session)?;
    let python = results.iter().find_map(|(_, _, result)| {
        let runtime = result.as_ref().ok()?.get("runtime_environment")?;
        runtime.get("python_version")?.as_str().map(str::to_owned)
    });
    let build = inspection.build_outcome();
    let run = intake.run(inspection.run_draft(python))?;
    if is_empty {
        // Whether it builds is then all that there is to know.
        let mut draft = InstanceDraft::of("build");
        (draft.outcome, draft.message) = match build {
            Some(Ok(())) => (InstanceOutcome::Ok, None),
            Some(Err(reason)) => (InstanceOutcome::Failed, Some(reason)),
            None => {
                let reason = "the inspection has no result".to_owned();
                (InstanceOutcome::Lost, Some(reason))
            }
        };
        intake.instance(1, run, draft)?;
    }
    for (number, placed, result) in results {
        let drafted = result.and_then(|result| instance_draft(number, result, intake.notes()));
        match drafted {
            Ok(draft) => intake.instance(placed.line, run, draft)?,
            Err(reason) => intake.bad(BadLine {
                file: placed.file,
                ..BadLine::new(placed.line, reason)
            }),
        }
    }
    intake.finish()
}

#[cfg(test)]
mod tests;
