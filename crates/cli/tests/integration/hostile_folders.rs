//! Files that come with a folder: links, pipes and devices where a file is expected, foreign tables.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tempfile::TempDir;

use crate::program::{output, run};

const MEASURE: [&str; 8] = ["run", "-n", "1", "-i", "1", "--burn-in", "0", "--"];

fn pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status().unwrap();
    assert!(made.success());
}

/// Returns what the program did, which must not take long.
fn soon(folder: &Path, arguments: &[&str]) -> Output {
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("lapwing"))
        .args(arguments)
        .current_dir(folder)
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > Duration::from_secs(30) {
            child.kill().unwrap();
            panic!("{arguments:?} hangs");
        }
        thread::sleep(Duration::from_millis(10));
    }
    child.wait_with_output().unwrap()
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn links_and_pipes_in_the_inbox_are_noted_and_no_command_hangs() {
    let here = TempDir::new().unwrap();
    let folder = here.path();
    run(folder, &[&MEASURE[..], &["true"]].concat());
    let inbox = folder.join(".lapwing/inbox");
    symlink("/dev/zero", inbox.join("a.jsonl")).unwrap();
    pipe(&inbox.join("b.jsonl"));
    let elsewhere = folder.join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("kept"), "kept").unwrap();
    symlink(
        &elsewhere,
        inbox.join("01930000-0000-7000-8000-000000000001"),
    )
    .unwrap();
    for arguments in [
        &["list", "sessions"][..],
        &["run", "--resume"],
        &["db", "info"],
        &["db", "purge", "--everything"],
    ] {
        let done = soon(folder, arguments);
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(said.contains("a.jsonl: it is a link"), "{said}");
        assert!(said.contains("b.jsonl: it is a pipe, not a file"), "{said}");
    }
    assert_eq!(fs::read_to_string(elsewhere.join("kept")).unwrap(), "kept");
}

#[test]
fn pipes_and_devices_in_the_place_of_files_are_refused() {
    let here = TempDir::new().unwrap();
    let folder = here.path();
    for name in ["lapwing.toml", "stacks.json", "study.json", "script.py"] {
        pipe(&folder.join(name));
    }
    symlink("/dev/zero", folder.join("zero")).unwrap();
    for arguments in [
        &["run"][..],
        &["run", "--dry-run"],
        &["run", "zero"],
        &["plan", "--suite", "lapwing.toml"],
        &["stack", "run"],
        &["study", "run", "--design", "study.json"],
        &["indicator", "run", "script.py"],
        &["import", "zero"],
        &["compare", "zero", "zero"],
        &["trace", "findings", "zero"],
        &["--store", "zero", "list", "sessions"],
        &["--store", "stacks.json", "list", "sessions"],
        &["db", "merge", "stacks.json"],
        &["db", "rescue", "stacks.json", "-o", "new.db"],
    ] {
        let refused = soon(folder, arguments);
        let said = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}: {said}");
    }
    fs::create_dir(folder.join(".lapwing")).unwrap();
    pipe(&folder.join(".lapwing/lapwing.db"));
    assert_eq!(soon(folder, &["list", "sessions"]).status.code(), Some(2));
    fs::remove_file(folder.join(".lapwing/lapwing.db")).unwrap();
    pipe(&folder.join(".lapwing/lapwing.db-wal"));
    let measured = soon(folder, &[&MEASURE[..], &["true"]].concat());
    assert_eq!(measured.status.code(), Some(2));
}

#[test]
fn a_pipe_that_a_person_names_is_read() {
    let here = TempDir::new().unwrap();
    let folder = here.path();
    run(folder, &[&MEASURE[..], &["true"]].concat());
    run(folder, &["export", "--to", "record", "-o", "all.jsonl"]);
    pipe(&folder.join("pipe"));
    let (from, to) = (folder.join("all.jsonl"), folder.join("pipe"));
    let writer = thread::spawn(move || fs::write(to, fs::read(from).unwrap()));
    let read = soon(folder, &["--store", "other.db", "import", "pipe"]);
    writer.join().unwrap().unwrap();
    assert!(read.status.success(), "{read:?}");
}

#[test]
fn a_store_of_other_tables_is_refused_by_every_command() {
    let here = TempDir::new().unwrap();
    let folder = here.path();
    run(
        folder,
        &[&["--store", "v.db"], &MEASURE[..], &["true"]].concat(),
    );
    let endless = "ALTER TABLE instance RENAME TO x; \
        CREATE VIEW instance AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) \
        SELECT x.* FROM x, n";
    Connection::open(folder.join("v.db"))
        .unwrap()
        .execute_batch(endless)
        .unwrap();
    for arguments in [
        &["--store", "v.db", "list", "sessions"][..],
        &["--store", "v.db", "show"],
        &["--store", "v.db", "compare", "latest~1", "latest"],
        &["--store", "v.db", "db", "info"],
        &["--store", "v.db", "run", "--", "true"],
        &["db", "merge", "v.db"],
        &["compare", "v.db", "v.db"],
        &["--store", "v.db", "db", "check"],
    ] {
        let refused = soon(folder, arguments);
        let said = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(
            said.contains("is damaged") || said.contains("problem"),
            "{said}"
        );
    }
}

#[test]
fn measurements_are_for_their_user_alone_unless_the_folder_is_shared() {
    let here = TempDir::new().unwrap();
    let folder = here.path();
    let profile = [
        "run",
        "-n",
        "1",
        "-i",
        "1",
        "--profile",
        "cp /dev/null {artifact}; true",
        "--",
        "true",
    ];
    let measured = output(folder, &profile);
    assert!(measured.status.success(), "{measured:?}");
    let own = folder.join(".lapwing");
    for name in ["", "inbox", "profiles"] {
        assert_eq!(mode(&own.join(name)), 0o700, "{name}");
    }
    assert_eq!(mode(&own.join("lapwing.db")), 0o600);

    let shared = folder.join("shared");
    fs::create_dir(&shared).unwrap();
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o2770)).unwrap();
    run(
        folder,
        &[&["--store", "shared/s.db"], &MEASURE[..], &["true"]].concat(),
    );
    assert_eq!(mode(&shared.join("s.db")), 0o660);
    assert_eq!(mode(&shared.join("s.db.inbox")), 0o2770);
}

#[test]
fn nothing_is_written_through_links_in_the_folder_of_measurements() {
    let here = TempDir::new().unwrap();
    let folder = here.path();
    let other = folder.join("other");
    fs::create_dir(&other).unwrap();
    let measure = [&MEASURE[..], &["true"]].concat();
    symlink(&other, folder.join(".lapwing")).unwrap();
    assert_eq!(output(folder, &measure).status.code(), Some(2));
    fs::remove_file(folder.join(".lapwing")).unwrap();
    fs::create_dir(folder.join(".lapwing")).unwrap();
    symlink(other.join("new.db"), folder.join(".lapwing/lapwing.db")).unwrap();
    assert_eq!(output(folder, &measure).status.code(), Some(2));
    fs::remove_file(folder.join(".lapwing/lapwing.db")).unwrap();
    symlink(&other, folder.join(".lapwing/inbox")).unwrap();
    assert_ne!(output(folder, &measure).status.code(), Some(0));
    assert_eq!(fs::read_dir(&other).unwrap().count(), 0);
    // A person may name one.
    symlink(other.join("named.db"), folder.join("link.db")).unwrap();
    let named = output(folder, &[&["--store", "link.db"], &measure[..]].concat());
    assert!(named.status.success(), "{named:?}");
    assert!(other.join("named.db").is_file());
}

#[test]
fn no_byte_of_what_was_purged_is_left() {
    let here = TempDir::new().unwrap();
    let folder = here.path();
    run(folder, &[&MEASURE[..], &["echo", "SECRET-WORD"]].concat());
    run(folder, &["db", "purge", "--everything", "--yes"]);
    let own = folder.join(".lapwing");
    for entry in fs::read_dir(&own).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            let bytes = fs::read(&path).unwrap();
            let word = b"SECRET-WORD";
            let is_there = bytes.windows(word.len()).any(|it| it == word);
            assert!(!is_there, "{}", path.display());
        }
    }
}
