use sha2::{Digest, Sha256};

use super::*;
use crate::shared::testing::options;
use crate::{BadLines, import, read as read_alone};
use lapwing_model::RecordKind;
use lapwing_record::Store;

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
