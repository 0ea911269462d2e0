//! Record files that wait in the inbox are taken in whole, once, and never from under their writer.

use std::io::Write;

use lapwing_model::{Id, Record};
use lapwing_record::inbox::{self, InboxArrival};
use lapwing_record::private::RecordCleaner;
use lapwing_record::{RecordFile, Store, parse_line};

const LINES: [&str; 4] = [
    r#"{"v":1,"kind":"session","id":"01930000-0000-7000-8000-000000000001","suite":"s","started":"2026-11-20T10:00:00Z","tool":"t"}"#,
    r#"{"v":1,"kind":"run","id":"01930000-0000-7000-8000-000000000002","session":"01930000-0000-7000-8000-000000000001"}"#,
    r#"{"v":1,"kind":"instance","id":"01930000-0000-7000-8000-000000000003","run":"01930000-0000-7000-8000-000000000002","benchmark":{"id":"b"}}"#,
    r#"{"v":1,"kind":"iteration","instance":"01930000-0000-7000-8000-000000000003","index":0,"metrics":{"wall_time":1.5}}"#,
];

fn records() -> Vec<Record> {
    LINES
        .iter()
        .map(|line| parse_line(line.as_bytes()).unwrap())
        .collect()
}

#[test]
fn a_file_is_taken_in_once_its_writer_is_gone_and_not_before() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("lapwing.db")).unwrap();
    let inbox = store.inbox();
    assert!(inbox::take_in(&mut store, &inbox).unwrap().is_empty());

    let mut file = RecordFile::create(&inbox, "one", RecordCleaner::default()).unwrap();
    for record in &records() {
        file.append(record).unwrap();
    }
    let arrivals = inbox::take_in(&mut store, &inbox).unwrap();
    assert!(matches!(arrivals[..], [InboxArrival::UnderWay { .. }]));
    assert_eq!(store.upkeep().info().unwrap().counts[0], ("sessions", 0));

    drop(file);
    let arrivals = inbox::take_in(&mut store, &inbox).unwrap();
    let [
        InboxArrival::TakenIn {
            appended,
            session,
            cut_off,
            ..
        },
    ] = &arrivals[..]
    else {
        unreachable!("{arrivals:?}")
    };
    assert_eq!(appended.total().new, 4);
    assert_eq!(
        *session,
        Some(
            "01930000-0000-7000-8000-000000000001"
                .parse::<Id>()
                .unwrap()
        )
    );
    assert!(!cut_off);
    assert!(inbox::take_in(&mut store, &inbox).unwrap().is_empty());
}

#[test]
fn a_line_that_was_cut_off_is_dropped_and_reported_and_the_rest_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("lapwing.db")).unwrap();
    let inbox = store.inbox();
    std::fs::create_dir_all(&inbox).unwrap();
    let text = format!("{}\n{}", LINES.join("\n"), &LINES[3][..60]);
    std::fs::write(inbox.join("killed.jsonl"), text).unwrap();
    let arrivals = inbox::take_in(&mut store, &inbox).unwrap();
    let [
        InboxArrival::TakenIn {
            appended, cut_off, ..
        },
    ] = &arrivals[..]
    else {
        unreachable!("{arrivals:?}")
    };
    assert_eq!(appended.total().new, 4);
    assert!(cut_off);
}

#[test]
fn a_line_that_is_no_record_keeps_nothing_else_out_and_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("lapwing.db")).unwrap();
    let inbox = store.inbox();
    std::fs::create_dir_all(&inbox).unwrap();
    let path = inbox.join("broken.jsonl");
    let mut file = std::fs::File::create(&path).unwrap();
    writeln!(file, "{}\nnonsense\n{}", LINES[0], LINES[1]).unwrap();
    drop(file);
    let arrivals = inbox::take_in(&mut store, &inbox).unwrap();
    let [
        InboxArrival::TakenIn {
            appended,
            refused: Some((refused, kept)),
            ..
        },
    ] = &arrivals[..]
    else {
        unreachable!("{arrivals:?}")
    };
    assert_eq!((appended.total().new, refused.count), (2, 1));
    assert!(
        refused.first[0].ends_with("broken.jsonl:2: expected ident at line 1 column 2"),
        "{refused:?}"
    );
    assert!(!path.exists() && kept.exists());
    assert!(inbox::take_in(&mut store, &inbox).unwrap().is_empty());
}

#[test]
fn a_line_of_a_newer_program_keeps_the_whole_file_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("lapwing.db")).unwrap();
    let inbox = store.inbox();
    std::fs::create_dir_all(&inbox).unwrap();
    let path = inbox.join("newer.jsonl");
    std::fs::write(&path, format!("{}\n{{\"v\":2}}\n", LINES[0])).unwrap();
    let arrivals = inbox::take_in(&mut store, &inbox).unwrap();
    assert!(matches!(arrivals[..], [InboxArrival::Refused { .. }]));
    assert!(path.exists());
    assert_eq!(store.upkeep().info().unwrap().counts[0], ("sessions", 0));
}

#[test]
fn links_pipes_and_folders_are_refused_and_nobody_waits_for_them() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("lapwing.db")).unwrap();
    let inbox = store.inbox();
    std::fs::create_dir(&inbox).unwrap();
    let outside = folder.path().join("outside.jsonl");
    std::fs::write(&outside, LINES.join("\n")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", inbox.join("a.jsonl")).unwrap();
    std::os::unix::fs::symlink(&outside, inbox.join("b.jsonl")).unwrap();
    let pipe = std::process::Command::new("mkfifo")
        .arg(inbox.join("c.jsonl"))
        .status();
    assert!(pipe.unwrap().success());
    std::fs::create_dir(inbox.join("d.jsonl")).unwrap();
    let session = "01930000-0000-7000-8000-000000000001".parse().unwrap();
    let arrivals = inbox::take_in(&mut store, &inbox).unwrap();
    let reasons: Vec<String> = arrivals
        .iter()
        .map(|arrival| {
            let InboxArrival::Refused { error, .. } = arrival else {
                unreachable!("{arrival:?}")
            };
            std::error::Error::source(error).unwrap().to_string()
        })
        .collect();
    assert_eq!(
        reasons,
        [
            "it is a link",
            "it is a link",
            "it is a pipe, not a file",
            "Is a directory (os error 21)"
        ]
    );
    for name in ["a", "b", "c", "d"] {
        std::fs::rename(
            inbox.join(format!("{name}.jsonl")),
            inbox.join(format!("{session}-{name}.jsonl")),
        )
        .unwrap();
    }
    assert!(!inbox::is_under_way(&inbox, session, None).unwrap());
    assert_eq!(inbox::sessions_under_way(&inbox), []);

    // Nor is a whole inbox somewhere else.
    std::fs::remove_dir_all(&inbox).unwrap();
    let other = folder.path().join("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::rename(&outside, other.join("e.jsonl")).unwrap();
    std::os::unix::fs::symlink(&other, &inbox).unwrap();
    let arrivals = inbox::take_in(&mut store, &inbox).unwrap();
    assert!(matches!(arrivals[..], [InboxArrival::Refused { .. }]));
    RecordFile::create(&inbox, "one", RecordCleaner::default()).unwrap_err();
    assert_eq!(store.upkeep().info().unwrap().counts[0], ("sessions", 0));
}
