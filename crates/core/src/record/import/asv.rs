//! asv's results: a file for each commit, environment and machine.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use super::asv_document::{About, Wire, about, first_start, possible, row};
use super::asv_identity::{identity, told_apart};
use super::asv_rows::{drafts, note_impossible};
use super::detect::{has_key, has_own_key};
use super::document::Document;
use super::intake::{Intake, RunDraft, SessionDraft};
use super::keys::{put_object, take_text};
use super::sink::Sink;
use super::{Format, ImportError, ImportOptions, Source, no_folder};
use crate::model::{Id, Object, Version};

pub(super) const FORMAT: Format = Format {
    name: "asv",
    about: "result directory of airspeed velocity (asv), or files in it",
    looks_like,
    folder: no_folder,
    companions: &["benchmarks.json", "machine.json"],
    read,
};

/// The newest version of the format that is known.
const NEWEST: u64 = 2;

fn looks_like(head: &[u8]) -> Option<&'static str> {
    if !head.trim_ascii_start().starts_with(b"{") || !has_own_key(head, "results") {
        return None;
    }
    if has_key(head, "result_columns") {
        return Some("it has `results` with `result_columns`");
    }
    (has_key(head, "commit_hash") && has_key(head, "requirements") && has_key(head, "params"))
        .then_some("it has `results` with `commit_hash` and `requirements`")
}

fn read(
    source: &Source,
    options: &ImportOptions,
    sink: &mut Sink<'_, '_>,
) -> Result<(), ImportError> {
    let document = Document::of(source)?;
    let mut wire: Wire<'_> = document.parse()?;
    if let Some(version) = wire.version
        && version > NEWEST
    {
        return Err(document.wrong_document(format!(
            "version {version} of asv's results is newer than {NEWEST}, which this program reads"
        )));
    }
    let known = known_benchmarks(source)?;
    if known.is_empty() {
        sink.notes().left(
            "units, parameter names",
            "there is no benchmarks.json in the directory above",
        );
    }
    note_impossible("date", wire.date, sink.notes());
    let others = std::mem::take(&mut wire.others);
    for key in others.keys() {
        sink.notes().kept(key, "attributes of the session");
    }
    let mut machine = wire.params.take().unwrap_or_default();
    let host = take_text(&mut machine, "machine");
    let session = SessionDraft {
        identity: identity(source, &wire, host.as_deref()),
        started: first_start(&document, &wire)
            .or(wire.date)
            .and_then(possible),
        tool: "asv".to_owned(),
        attributes: others,
        ..SessionDraft::default()
    };
    let digest = document.sha256();
    let mut intake = Intake::begin(FORMAT.name, source, digest, options, sink, session)?;
    let session = intake.session();
    let run = intake.run(new_run(&wire, machine))?;
    let mut twins: BTreeMap<Id, u64> = BTreeMap::new();
    // One row after another, since those with samples are large.
    for (name, raw) in &wire.results.0 {
        let spot = document.spot_of(raw.get());
        let drafts = row(&document, &wire, name, raw).and_then(|row| {
            let about = known.get(name.as_ref());
            drafts(session, name, row, about, intake.notes())
                .map_err(|reason| document.wrong(raw, format!("`{name}`: {reason}")))
        });
        match drafts {
            Err(bad) => intake.bad(bad),
            Ok(drafts) => {
                for mut draft in drafts {
                    draft.host.clone_from(&host);
                    draft.id = draft.id.map(|id| told_apart(id, &mut twins));
                    intake.instance(spot, run, draft)?;
                }
            }
        }
    }
    intake.finish()
}

/// Reads `benchmarks.json` of the directory above, where there is one.
fn known_benchmarks(source: &Source) -> Result<BTreeMap<String, About>, ImportError> {
    let path = source
        .path()
        .and_then(Path::parent)
        .map(|machine| machine.join("../benchmarks.json"));
    match path {
        Some(path) if path.is_file() => {
            let folder = path.parent().unwrap_or(&path);
            about(&Document::of(&Source::open(&path, folder)?)?)
        }
        Some(_) | None => Ok(BTreeMap::new()),
    }
}

fn new_run(wire: &Wire<'_>, mut environment: Object) -> RunDraft {
    environment.retain(|_, value| value.as_str() != Some(""));
    let mut put = |key: &str, value: Option<Value>| {
        if let Some(value) = value
            && !value.is_null()
            && value != json!({})
        {
            environment.insert(key.to_owned(), value);
        }
    };
    put("env_name", wire.env_name.clone().map(Value::from));
    put("python", wire.python.clone());
    put("requirements", wire.requirements.clone());
    put("env_vars", wire.env_vars.clone().map(Value::from));
    let mut attributes = Object::new();
    put_object(
        &mut attributes,
        "durations",
        wire.durations.clone().unwrap_or_default(),
    );
    RunDraft {
        // asv varies environments on purpose: each has a history of its own.
        variant: wire.env_name.clone().filter(|it| !it.is_empty()),
        version: Version {
            commit: wire.commit_hash.clone().filter(|it| !it.is_empty()),
            date: wire.date.and_then(possible).map(|date| date.to_string()),
            ..Version::default()
        },
        environment,
        attributes,
        ..RunDraft::default()
    }
}

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    use super::*;
    use crate::model::RecordKind;
    use crate::record::Store;
    use crate::record::import::testing::options;
    use crate::record::import::{BadLines, import, read as read_alone};

    const TIME_A: &str =
        r#""time_a": [[1.5, 2], [["1", "2"]], "v", 1710000000000, 3.5, [[1, 2], [2.5]]]"#;
    const TIME_B: &str = r#""time_b": [[0.5], [], "v", 1750000000000, 1.5]"#;
    const TRACK_C: &str = r#""track_c": [[7, 7], [["1", "1"]], "v", 1740000000000, 1.5]"#;

    fn file(rows: &[&str]) -> String {
        format!(
            r#"{{"commit_hash": "c0ffee", "env_name": "py", "date": 1710000000000,
"params": {{"machine": "m"}}, "python": "3", "requirements": {{}},
"result_columns": ["result", "params", "version", "started_at", "duration", "samples"],
"results": {{{}}}}}"#,
            rows.join(",\n")
        )
    }

    #[test]
    fn a_file_that_has_grown_adds_what_was_measured_since() {
        let place = tempfile::tempdir().expect("a folder");
        let mut store = Store::open(&place.path().join("a.db")).expect("a store");
        let mut new = |text: String| {
            let source = Source::from_bytes("a.json", text.into_bytes()).expect("bytes");
            let imported = import(&mut store, &source, &options(BadLines::Refuse)).expect("good");
            [
                RecordKind::Session,
                RecordKind::Run,
                RecordKind::Instance,
                RecordKind::Iteration,
                RecordKind::Summary,
            ]
            .map(|kind| imported.appended.of(kind).new)
        };
        assert_eq!(new(file(&[TIME_A])), [1, 1, 2, 3, 0]);
        // The new ones may stand before the old ones; two combinations may be the same.
        let whole = [TRACK_C, TIME_A, TIME_B];
        assert_eq!(new(file(&whole)), [0, 0, 3, 2, 1]);
        assert_eq!(new(file(&whole)), [0; 5]);
        let other_way = file(&[TIME_B, TRACK_C, TIME_A]);
        let value: Value = serde_json::from_str(&other_way).expect("JSON");
        let written = serde_json::to_string_pretty(&value).expect("JSON");
        assert_eq!(
            new(written.replace("1710000000000", "1710000000000.0")),
            [0; 5]
        );
        // Measured again, with the same result.
        let again = TIME_B.replace("1750000000000", "1760000000000");
        assert_eq!(new(file(&[TRACK_C, TIME_A, &again])), [0, 0, 1, 0, 1]);
        let elsewhere = file(&whole).replace(r#""machine": "m""#, r#""machine": "n""#);
        assert_eq!(new(elsewhere), [1, 1, 5, 5, 1]);
        let without_commit = file(&[TIME_A]).replace("c0ffee", "");
        assert_eq!(new(without_commit.clone()), [1, 1, 2, 3, 0]);
        assert_eq!(new(without_commit), [0; 5]);
    }

    #[test]
    fn of_a_row_that_was_measured_again_in_part_only_that_part_is_new() {
        let place = tempfile::tempdir().expect("a folder");
        let mut store = Store::open(&place.path().join("a.db")).expect("a store");
        let mut new = |row: &str| {
            let text = file(&[row]).replace("\"duration\"", "\"stats_number\", \"stats_repeat\"");
            let source = Source::from_bytes("a.json", text.into_bytes()).expect("bytes");
            let imported = import(&mut store, &source, &options(BadLines::Refuse)).expect("good");
            [RecordKind::Instance, RecordKind::Iteration].map(|kind| imported.appended.of(kind).new)
        };
        let whole = r#""time_d": [[1.5, 2.5, null], [["1", "2", "3"]], "v", 1710000000000, [9, 9, null], [2, 2, null], [[1, 2], [2, 3], null]]"#;
        assert_eq!(new(whole), [3, 4]);
        let second = whole
            .replace("1710000000000", "1750000000000")
            .replace("2.5", "3.5");
        assert_eq!(new(&second.replace("[2, 3]", "[3, 4]")), [1, 2]);
        // asv forgets all samples where it is not asked for them again.
        let third = r#""time_d": [[1.5, 3.5, 0.5], [["1", "2", "3"]], "v", 1760000000000, [9, 9, 9], [2, 2, 2]]"#;
        assert_eq!(new(third), [1, 0]);
        assert_eq!(new(&third.replace(r#""v""#, r#""w""#)), [3, 0]);
    }

    #[test]
    fn a_session_names_the_digest_of_its_file() {
        let session = |text: &str| {
            let source = Source::from_bytes("a.json", text.into()).expect("bytes");
            let imported = read_alone(&source, &options(BadLines::Refuse)).expect("good");
            imported.session.expect("one")
        };
        let text = file(&[TIME_A]);
        let (first, grown) = (session(&text), session(&file(&[TIME_A, TIME_B])));
        assert_eq!(first.id, grown.id);
        let digest = Sha256::digest(&text);
        let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(first.attributes["source"]["sha256"], json!(digest));
        assert_ne!(first.attributes["source"], grown.attributes["source"]);
    }

    #[test]
    fn what_is_no_time_is_left_out_and_said_so() {
        let text = file(&[
            &TIME_B.replace("1750000000000", "-1e30"),
            &TRACK_C.replace("1740000000000", "1"),
            TIME_A,
        ])
        .replace(r#""date": 1710000000000"#, r#""date": 1e20"#);
        let source = Source::from_bytes("a.json", text.into_bytes()).expect("bytes");
        let imported = read_alone(&source, &options(BadLines::Refuse)).expect("good");
        let notes: Vec<_> = imported
            .notes
            .iter()
            .filter(|note| note.why == "there is no such time")
            .map(|note| note.what.join(", "))
            .collect();
        assert_eq!(notes, ["date, started_at"]);
        let session = imported.session.expect("one");
        assert_eq!(
            session.started,
            possible(1_710_000_000_000.0).expect("a time")
        );
    }
}
