//! `lapwing db push` and `pull` by the real program, through a folder.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use insta::assert_snapshot;

use crate::program::{output, run};

/// A session with so many instances of two iterations.
fn records(session: u64, instances: u64) -> String {
    let id = |kind: u64, number: u64| format!("01930000-0000-7{kind:03}-8000-{number:012}");
    let mut text = format!(
        r#"{{"v":1,"kind":"session","id":"{0}","suite":"s","started":"2026-11-20T10:00:00Z","tool":"t","name":"n{session}"}}
{{"v":1,"kind":"run","id":"{1}","session":"{0}","metrics":{{"wall_time":{{"unit":"s"}}}}}}
"#,
        id(1, session),
        id(2, session)
    );
    for number in 0..instances {
        text.push_str(&format!(
            r#"{{"v":1,"kind":"instance","id":"{0}","run":"{1}","benchmark":{{"id":"b{number}"}}}}
{{"v":1,"kind":"iteration","instance":"{0}","index":0,"metrics":{{"wall_time":1.5}}}}
{{"v":1,"kind":"iteration","instance":"{0}","index":1,"metrics":{{"wall_time":2.5}}}}
"#,
            id(3, session * 100_000 + number),
            id(2, session)
        ));
    }
    text
}

/// Makes a store with these sessions.
fn store(folder: &Path, name: &str, sessions: &[(u64, u64)]) {
    let file = format!("{name}.jsonl");
    let text: String = sessions.iter().map(|&(it, of)| records(it, of)).collect();
    fs::write(folder.join(&file), text).unwrap();
    let db = format!("{name}.db");
    let done = run(folder, &["--store", &db, "import", &file]);
    assert!(done.ends_with("exit 0"), "{done}");
}

/// Everything that a store holds, in an order of its own.
fn held(folder: &Path, name: &str) -> BTreeSet<String> {
    let db = format!("{name}.db");
    let exported = output(folder, &["--store", &db, "export", "--to", "record"]);
    let text = String::from_utf8(exported.stdout).unwrap();
    let lines: BTreeSet<String> = text.lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), text.lines().count(), "nothing is there twice");
    lines
}

fn start(folder: &Path, arguments: &[&str]) -> Child {
    Command::new(assert_cmd::cargo::cargo_bin!("lapwing"))
        .args(arguments)
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn without_sizes(text: &str) -> String {
    let mut settings = String::new();
    for part in text.split_inclusive(['(', ')']) {
        let size = part.ends_with(" B)") || part.ends_with("B)");
        settings.push_str(if size { "…)" } else { part });
    }
    settings
}

#[test]
fn what_was_pushed_and_taken_in_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    store(folder, "a", &[(1, 2), (2, 1)]);
    store(folder, "b", &[(3, 1)]);
    let say = |arguments: &[&str]| {
        let said = run(folder, arguments);
        let path = folder.canonicalize().unwrap();
        without_sizes(&said).replace(path.to_str().unwrap(), "FOLDER")
    };
    assert_snapshot!(say(&["--store", "a.db", "db", "pull", "shared"]), @"
    error: there is no shared history at FOLDER/shared
      hint: start one with `lapwing db push URL`
    exit 2
    ");
    assert_snapshot!(say(&["--store", "a.db", "db", "push", "shared", "--dry-run"]), @"
    would push 2 sessions (13 records); would pull nothing
    exit 0
    ");
    assert!(!folder.join("shared").exists());
    assert_snapshot!(say(&["--store", "a.db", "db", "push", "shared"]), @"
    pushed 2 sessions in 1 segment (…); nothing new from others
    exit 0
    ");
    assert_snapshot!(say(&["--store", "a.db", "db", "push", "shared"]), @"
    nothing to push; nothing new from others
    exit 0
    ");
    assert_snapshot!(say(&["--store", "b.db", "db", "sync", "shared", "--dry-run"]), @"
    would push 1 session (5 records); would pull 1 segment (…): 13 new records
    exit 0
    ");
    assert_snapshot!(say(&["--store", "b.db", "db", "push", "shared"]), @"
    pushed 1 session in 1 segment (…); pulled 1 segment (…): 13 new records
    exit 0
    ");
    assert_snapshot!(say(&["--store", "c.db", "db", "pull", "shared", "--dry-run"]), @"
    would pull 2 segments (…): 18 new records
    exit 0
    ");
    assert!(!folder.join("c.db").exists());
    assert_snapshot!(say(&["--store", "c.db", "db", "pull", "shared"]), @"
    pulled 2 segments (…): 18 new records
    exit 0
    ");
    let address = format!("file://{}/shared", folder.display());
    assert_snapshot!(say(&["--store", "c.db", "db", "pull", &address, "--verify"]), @"
    nothing new at FOLDER/shared
    exit 0
    ");
    let csv = say(&["--store", "a.db", "db", "pull", "shared", "--format", "csv"]);
    let csv: Vec<&str> = csv
        .lines()
        .filter(|it| !it.starts_with("pulled bytes"))
        .collect();
    assert_snapshot!(csv.join("\n"), @"
    name,value
    address,FOLDER/shared
    dry_run,false
    pulled_annotations,
    pulled_bytes,278
    pulled_known_records,0
    pulled_new_records,5
    pulled_refused,
    pulled_refused_records,0
    pulled_segments,1
    exit 0
    ");
    assert_eq!(held(folder, "c"), held(folder, "a"));
    assert_eq!(held(folder, "c").len(), 3 * 2 + 4 * 3);

    let json = output(
        folder,
        &[
            "--store", "d.db", "db", "pull", "shared", "--format", "json",
        ],
    );
    let mut json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    json["address"] = "…".into();
    json["pulled"]["bytes"] = "…".into();
    assert_snapshot!(json, @r#"{"address":"…","answer":"db-pull","command":["lapwing","--store","d.db","db","pull","shared","--format","json"],"dry_run":false,"headline":"pulled 2 segments (613 B): 18 new records","lapwing":"0.1.0","next":[],"notes":[],"omitted_rows":0,"pulled":{"annotations":[],"bytes":"…","known_records":0,"new_records":18,"refused":[],"refused_records":0,"segments":2,"withdrawn":{},"withdrawn_kept":{}},"schema":1,"verdict":null}"#);
}

#[test]
fn what_is_wrong_is_said_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    store(folder, "a", &[(1, 1)]);
    let say = |arguments: &[&str]| {
        let said = run(folder, arguments);
        let path = folder.canonicalize().unwrap();
        said.replace(path.to_str().unwrap(), "FOLDER")
    };
    assert_snapshot!(say(&["--store", "none.db", "db", "push", "shared"]), @"
    error: nothing measured yet: there is no store at none.db
      hint: measure with `lapwing run -- COMMAND`, or import results with `lapwing import FILE`
    exit 2
    ");
    assert_snapshot!(say(&["--store", "a.db", "db", "push", "none/shared"]), @"
    error: cannot use the shared history at FOLDER/none/shared: the folder above it is not there
    exit 2
    ");
    assert_snapshot!(say(&["--store", "a.db", "db", "push", "ftp://server/x"]), @"
    error: `ftp://` is not supported for a shared history
      hint: use a folder, http://, https:// or s3://
    exit 2
    ");
    assert_snapshot!(say(&["--store", "a.db", "db", "push", "file://server/x"]), @"
    error: `file://server/x` is not a folder on this machine
      hint: write it like file:///mnt/history, or as a path
    exit 2
    ");
    run(folder, &["--store", "a.db", "db", "push", "shared"]);
    let segment = folder.join("shared/segments/00000001.jsonl.gz");
    let good = fs::read(&segment).unwrap();
    fs::write(&segment, &good[..good.len() / 2]).unwrap();
    assert_snapshot!(say(&["--store", "b.db", "db", "pull", "shared"]), @"
    error: FOLDER/shared/segments/00000001.jsonl.gz is cut off or damaged: incomplete deflate stream
      hint: nothing was read from it; restore it from a backup, or start a new history at another URL
    exit 2
    ");
    assert!(!folder.join("b.db").exists());
    assert_snapshot!(say(&["--store", "a.db", "db", "pull", "shared"]), @"
    error: FOLDER/shared/segments/00000001.jsonl.gz has changed since this store pulled it; segments never change
      hint: restore it from a backup; or use --begin-anew in every store that is refused: each store still has all records that it pulled
    exit 2
    ");
    fs::remove_file(&segment).unwrap();
    assert_snapshot!(say(&["--store", "a.db", "db", "pull", "shared"]), @"
    error: FOLDER/shared/segments/00000001.jsonl.gz is missing, but this store pulled it before
      hint: restore it from a backup; or use --begin-anew in every store that is refused: each store still has all records that it pulled
    exit 2
    ");
    fs::write(
        folder.join("shared/lapwing.json"),
        r#"{"format":"lapwing shared history","version":2}"#,
    )
    .unwrap();
    assert_snapshot!(say(&["--store", "b.db", "db", "pull", "shared"]), @"
    error: the shared history at FOLDER/shared is of version 2, newer than version 1, which this program knows
      hint: upgrade lapwing
    exit 2
    ");
    fs::remove_dir_all(folder.join("shared")).unwrap();
    assert_snapshot!(say(&["--store", "a.db", "db", "push", "shared"]), @"
    error: the shared history at FOLDER/shared is missing, but this store used it before
      hint: if it should exist, mount or restore it; to start a new one, use --begin-anew
    exit 2
    ");
    let anew = say(&["--store", "a.db", "db", "push", "shared", "--begin-anew"]);
    assert!(anew.starts_with("pushed 1 session in 1 segment"), "{anew}");
}

#[test]
fn who_has_measured_nothing_yet_may_push_and_gets_what_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    store(folder, "a", &[(1, 1)]);
    run(folder, &["--store", "a.db", "db", "push", "shared"]);
    let said = |arguments: &[&str]| {
        let said = run(folder, &[&["--store", "new.db", "db"], arguments].concat());
        without_sizes(&said)
    };
    assert_snapshot!(said(&["sync", "shared", "--dry-run"]), @"
    would push nothing; would pull 1 segment (…): 5 new records
    exit 0
    ");
    assert!(!folder.join("new.db").exists());
    assert_snapshot!(said(&["sync", "shared"]), @"
    nothing to push; pulled 1 segment (…): 5 new records
    exit 0
    ");
    assert_eq!(held(folder, "new"), held(folder, "a"));
}

#[test]
fn a_segment_that_is_missing_is_said_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for number in 1..=3 {
        store(folder, "a", &[(number, 1)]);
        run(folder, &["--store", "a.db", "db", "push", "shared"]);
    }
    fs::remove_file(folder.join("shared/segments/00000002.jsonl.gz")).unwrap();
    let say = |arguments: &[&str]| {
        let said = run(folder, arguments);
        let path = folder.canonicalize().unwrap();
        without_sizes(&said.replace(path.to_str().unwrap(), "FOLDER"))
    };
    assert_snapshot!(say(&["--store", "b.db", "db", "pull", "shared"]), @"
    error: FOLDER/shared/segments/00000002.jsonl.gz is missing, though segments/00000003.jsonl.gz is there
      1 segment pulled before that; run the command again to continue
      hint: restore it from a backup, or start a new history at another URL: every store still has all records that it pulled
    exit 2
    ");
}

#[cfg(not(feature = "remote"))]
#[test]
fn a_build_without_servers_says_how_to_get_them() {
    let folder = tempfile::tempdir().unwrap();
    store(folder.path(), "a", &[(1, 1)]);
    assert_snapshot!(run(folder.path(), &["--store", "a.db", "db", "push", "https://server/x"]), @"
    error: this lapwing was built without support for https://
      hint: build it with `cargo install --path crates/cli --features remote`; folders work without it
    exit 2
    ");
}

#[test]
fn a_store_that_an_import_made_can_be_read_while_it_is_written_to() {
    let folder = tempfile::tempdir().unwrap();
    store(folder.path(), "a", &[(1, 1)]);
    let mode = || -> String {
        let connection = rusqlite::Connection::open(folder.path().join("a.db")).unwrap();
        let mode = connection.pragma_query_value(None, "journal_mode", |row| row.get(0));
        mode.unwrap()
    };
    assert_eq!(mode(), "wal");
    // As an older program left it.
    let connection = rusqlite::Connection::open(folder.path().join("a.db")).unwrap();
    connection
        .pragma_update(None, "journal_mode", "delete")
        .unwrap();
    drop(connection);
    assert_eq!(mode(), "delete");
    run(folder.path(), &["--store", "a.db", "list"]);
    assert_eq!(mode(), "wal");
}

#[test]
fn eight_who_push_at_once_lose_nothing_and_double_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let names: Vec<String> = (0..8).map(|it| format!("s{it}")).collect();
    for (number, name) in (0..).zip(&names) {
        // Each has two of its own, one with its neighbour, and one that all have.
        let own = [
            (100 + number, 3),
            (200 + number, 2),
            (300 + number / 2, 2),
            (400, 2),
        ];
        store(folder, name, &own);
    }
    for round in 0..2 {
        let pushing: Vec<Child> = names
            .iter()
            .map(|name| {
                start(
                    folder,
                    &["--store", &format!("{name}.db"), "db", "push", "shared"],
                )
            })
            .collect();
        for child in pushing {
            let done = child.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&done.stderr).into_owned();
            assert!(done.status.success(), "round {round}: {said}");
        }
    }
    let mut union = BTreeSet::new();
    for name in &names {
        run(
            folder,
            &["--store", &format!("{name}.db"), "db", "pull", "shared"],
        );
        union.extend(held(folder, name));
    }
    assert_eq!(
        union.len(),
        (8 + 4 + 1 + 8) * 2 + (8 * 3 + 8 * 2 + 4 * 2 + 2) * 3
    );
    for name in &names {
        assert_eq!(held(folder, name), union, "{name}");
    }
    let said = run(folder, &["--store", "s3.db", "db", "push", "shared"]);
    assert_eq!(said, "nothing to push; nothing new from others\nexit 0");
}

#[test]
fn who_is_killed_in_the_middle_goes_on_the_next_time() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let sessions: Vec<(u64, u64)> = (1..30).map(|it| (it, 120)).collect();
    store(folder, "a", &sessions);
    // At any moment of it; the last ones may well come to the end.
    for (k, wait) in [0, 5, 15, 30, 60, 100, 200, 400].into_iter().enumerate() {
        let mut pushing = start(folder, &["--store", "a.db", "db", "push", "shared"]);
        std::thread::sleep(Duration::from_millis(wait));
        pushing.kill().unwrap();
        pushing.wait().unwrap();
        let victim = ["--store", "b.db", "db", "pull", "shared"];
        let mut pulling = start(folder, &victim);
        std::thread::sleep(Duration::from_millis(wait));
        pulling.kill().unwrap();
        pulling.wait().unwrap();
        if k % 3 == 2 {
            store(folder, "a", &[(100 + k as u64, 50)]);
        }
    }
    for name in ["a", "b", "a", "b"] {
        let said = run(
            folder,
            &["--store", &format!("{name}.db"), "db", "push", "shared"],
        );
        assert!(said.ends_with("exit 0"), "{said}");
    }
    assert_eq!(held(folder, "a"), held(folder, "b"));
    assert_eq!(
        held(folder, "a").len(),
        29 * (2 + 120 * 3) + 2 * (2 + 50 * 3)
    );
    let check = run(folder, &["--store", "b.db", "db", "check"]);
    assert!(check.ends_with("exit 0"), "{check}");
    let said = run(folder, &["--store", "a.db", "db", "push", "shared"]);
    assert_eq!(said, "nothing to push; nothing new from others\nexit 0");
}
