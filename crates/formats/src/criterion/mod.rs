//! Criterion's folders, as they lie in `target/criterion`: a folder for each benchmark, and
//! in it one for each measurement that was kept.

mod folder;
mod messages;
mod wire;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use sha2::{Digest, Sha256};

use crate::criterion::folder::{
    BASE, IDENTITY, NEW, SAMPLES, benchmarks_below, files_in, is_criterion, is_sample,
    unfinished_below,
};
use crate::criterion::messages::{are_messages, read_messages};
use crate::criterion::wire::{Identity, Samples, describe, measure};
use crate::shared::detect::{first_line, has_keys};
use crate::shared::intake::{InstanceDraft, Intake, RunDraft, SessionDraft};
use crate::shared::notes::FOLLOWS;
use crate::shared::reading::document::Document;
use crate::shared::sink::Sink;
use crate::{BadLine, BadLines, Format, ImportError, Source};
use lapwing_model::{Id, RecordKind};

pub(super) const FORMAT: Format = Format {
    is_at,
    ..Format::new(
        "criterion",
        "Criterion's target/criterion directory, or cargo-criterion's JSON messages",
        looks_like,
        read,
    )
};

fn looks_like(head: &[u8]) -> Option<&'static str> {
    if are_messages(head) {
        return Some("it has messages with `reason` and `measured_values`");
    }
    (first_line(head).starts_with(b"{") && has_keys(head, &["sampling_mode", "iters", "times"]))
        .then_some("it has `sampling_mode`, `iters` and `times`")
}

fn is_at(path: &Path) -> Option<&'static str> {
    if is_sample(path) {
        return Some("it is called `sample.json` and has `benchmark.json` beside it");
    }
    is_criterion(path).then_some("it has folders with `benchmark.json` and `sample.json`")
}

fn read(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    if source.is_folder() {
        return read_folder(source, sink);
    }
    let mut head = [0; 1 << 12];
    let length = std::io::Read::read(&mut source.text()?, &mut head)
        .map_err(|error| source.failed(error))?;
    if are_messages(&head[..length]) {
        return read_messages(source, sink);
    }
    match source.path().and_then(Path::parent) {
        // The name stands in the file beside it.
        Some(folder) if folder.join(IDENTITY).is_file() => {
            read_folder(&Source::open(folder, folder)?, sink)
        }
        Some(_) | None => Err(ImportError::Document {
            name: source.name().to_owned(),
            line: 1,
            reason: format!(
                "the name of the benchmark is missing, which stands in a `{IDENTITY}` beside \
                 it: import its directory"
            ),
        }),
    }
}

/// A measurement that the store does not have.
struct Fresh {
    id: Id,
    folder: PathBuf,
    ended: Option<Timestamp>,
}

/// Each kind of measurement (the latest, a saved baseline) is a session of its own, with its
/// own date. What the store has already is not taken again, whatever it was called then, so
/// that importing after a part was measured anew adds that part.
fn read_folder(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let root = source.path().unwrap_or(Path::new("."));
    let benchmarks = benchmarks_below(root).map_err(|error| source.failed(error))?;
    if benchmarks.is_empty() {
        return Err(source.without_results());
    }
    for name in files_in(root).map_err(|error| source.failed(error))? {
        sink.notes()
            .left(&name, "they are not part of Criterion's folders");
    }
    for (name, why) in unfinished_below(root).map_err(|error| source.failed(error))? {
        sink.found().without_result(&name, 0, why);
    }
    let mut sessions: BTreeMap<String, Vec<Fresh>> = BTreeMap::new();
    for measurements in benchmarks {
        let mut seen: Vec<Id> = Vec::new();
        let mut names: Vec<&String> = measurements.keys().collect();
        // A copy of a saved baseline is that baseline, and one of the latest the latest.
        names.sort_by_key(|name| match name.as_str() {
            NEW => 1,
            BASE => 2,
            _baseline => 0,
        });
        for name in names {
            let folder = &measurements[name];
            let (id, ended) = match content_of(folder) {
                Ok(content) => content,
                Err(error) => {
                    leave_out(error, sink)?;
                    continue;
                }
            };
            if seen.contains(&id) {
                sink.notes()
                    .left(name, "they are copies of other measurements");
                continue;
            }
            seen.push(id);
            if sink.has_instance(id)? {
                let benchmark = folder.parent().unwrap_or(folder);
                sink.found().result(&benchmark.display().to_string());
                sink.already_there(RecordKind::Instance, 1);
                sink.nothing_new();
                continue;
            }
            sessions.entry(name.clone()).or_default().push(Fresh {
                id,
                folder: folder.clone(),
                ended,
            });
        }
    }
    for (name, fresh) in sessions {
        read_session(&name, fresh, source, sink)?;
    }
    Ok(())
}

/// Returns the id that comes from what was measured and from nothing else, and when it was
/// written.
fn content_of(folder: &Path) -> Result<(Id, Option<Timestamp>), ImportError> {
    let identity = Source::open(&folder.join(IDENTITY), folder)?;
    let samples = Source::open(&folder.join(SAMPLES), folder)?;
    let digests = [identity.sha256()?, samples.sha256()?];
    let id = Id::derived(&[b"criterion instance", &digests[0], &digests[1]]);
    Ok((id, samples.modified()))
}

fn read_session(
    name: &str,
    fresh: Vec<Fresh>,
    source: &Source,
    sink: &mut Sink<'_, '_>,
) -> Result<(), ImportError> {
    let session = SessionDraft {
        key: name.to_owned(),
        file_time: fresh.iter().filter_map(|it| it.ended).min(),
        name: Some(session_name(source, name)),
        ..SessionDraft::of("Criterion")
    };
    let mut digest = Sha256::new();
    for measurement in &fresh {
        digest.update(measurement.id.as_bytes());
    }
    let digest: [u8; 32] = digest.finalize().into();
    let mut drafts = Vec::new();
    for measurement in fresh {
        match read_measurement(&measurement, sink) {
            Ok(draft) => drafts.push(draft),
            Err(error) => leave_out(error, sink)?,
        }
    }
    let mut intake = Intake::begin(source, &digest, sink, session)?;
    let run = intake.run(RunDraft {
        variant: (name != NEW).then(|| name.to_owned()),
        ..RunDraft::default()
    })?;
    if drafts.is_empty() {
        return Ok(());
    }
    for draft in drafts {
        intake.instance(1, run, draft)?;
    }
    intake.finish()
}

/// Notes a measurement as bad whose file is, where the good ones are to be kept.
fn leave_out(error: ImportError, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    if sink.options.bad_lines == BadLines::Refuse {
        return Err(error);
    }
    let (name, line, reason) = match error {
        ImportError::Document { name, line, reason } => (name, line, reason),
        ImportError::Empty(name) => (name, 1, "the file is empty".to_owned()),
        other => return Err(other),
    };
    sink.bad(BadLine {
        file: Some(name),
        ..BadLine::new(line, reason)
    });
    Ok(())
}

/// Returns the folder's name, and which measurements of it unless they are the latest.
fn session_name(source: &Source, measurements: &str) -> String {
    // A path such as `.` has no name of its own.
    let whole = source.path().and_then(|path| path.canonicalize().ok());
    let folder = whole
        .as_deref()
        .and_then(Path::file_name)
        .map_or_else(|| source.stem().into(), |name| name.to_string_lossy());
    if measurements == NEW || folder == measurements {
        folder.into_owned()
    } else {
        format!("{folder} {measurements}")
    }
}

fn read_measurement(
    measurement: &Fresh,
    sink: &mut Sink<'_, '_>,
) -> Result<InstanceDraft, ImportError> {
    let folder = &measurement.folder;
    let identity = Document::of(&Source::open(&folder.join(IDENTITY), folder)?)?;
    let sample_file = Document::of(&Source::open(&folder.join(SAMPLES), folder)?)?;
    let identity: Identity = identity.parse()?;
    let samples: Samples = sample_file.parse()?;
    if samples.is_empty() {
        return Err(sample_file.wrong_document("there is no sample"));
    }
    sink.notes()
        .kept_all(identity.others.keys(), "attributes of the instance");
    if identity.directory_name.is_some() {
        sink.notes()
            .left("directory_name", "it follows from the benchmark's name");
    }
    for file in ["estimates.json", "tukey.json", "raw.csv"] {
        if folder.join(file).is_file() {
            sink.notes().left(file, FOLLOWS);
        }
    }
    if folder.with_file_name("change").is_dir() {
        sink.notes().left("change", FOLLOWS);
    }
    let (mut draft, work) = describe(identity);
    measure(samples, &unit_of(folder), &work, &mut draft);
    draft.id = Some(measurement.id);
    draft.ended = measurement.ended;
    Ok(draft)
}

/// Returns the unit of the samples: nanoseconds, unless a `raw.csv` beside them (which old
/// versions write) says otherwise.
fn unit_of(folder: &Path) -> String {
    let unit = || {
        let mut reader = csv::Reader::from_path(folder.join("raw.csv")).ok()?;
        let column = reader.headers().ok()?.iter().position(|it| it == "unit")?;
        let row = reader.records().next()?.ok()?;
        row.get(column).map(str::to_owned)
    };
    unit()
        .filter(|it| !it.is_empty())
        .unwrap_or_else(|| "ns".to_owned())
}

#[cfg(test)]
mod tests;
