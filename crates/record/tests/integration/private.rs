//! What no file of a store holds.

use std::fs;

use lapwing_model::{Id, Record, parse_line, write_line};
use lapwing_record::private::PrivacyRules;
use lapwing_record::sharing::{self, PullOptions, PushOptions, SharedFolder, SharingError};
use lapwing_record::{Store, inbox};
use rusqlite::Connection;
use serde_json::json;

const TOKEN: &str = "glpat-aB3dE5gH7jaB3dE5gH7j";

/// A session with a token in its plan and in what it printed, and a path in a home folder.
fn records() -> Vec<Record> {
    let [session, run, instance] = [1_u8, 2, 3].map(|it| Id::derived(&[&[it]]));
    let lines = [
        json!({"v": 1, "kind": "session", "id": session, "suite": "s", "started": "2026-01-01T00:00:00Z", "tool": "t",
            "attributes": {"plan": {"cases": [{"command": format!("login --token={TOKEN}")}]}}}),
        json!({"v": 1, "kind": "run", "id": run, "session": session, "metrics": {"wall_time": {"unit": "s"}}}),
        json!({"v": 1, "kind": "instance", "id": instance, "run": run, "benchmark": {"id": "b"}, "host": "h"}),
        json!({"v": 1, "kind": "iteration", "instance": instance, "index": 0, "outcome": "failed",
            "message": format!("no {TOKEN}"), "attributes": {"stderr": format!("/home/ann {TOKEN}")}}),
        json!({"v": 1, "kind": "annotation", "id": Id::derived(&[b"4"]), "at": "2026-01-01T00:00:00Z", "by": "me",
            "action": "note", "reason": format!("it was {TOKEN}")}),
    ];
    let records = lines.iter().map(|it| parse_line(it.to_string().as_bytes()));
    records.collect::<Result<_, _>>().unwrap()
}

/// Returns whether a file of a folder has a text.
fn is_anywhere(folder: &std::path::Path, text: &str) -> bool {
    let entries = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
    entries.into_iter().any(|path| {
        let has = |bytes: Vec<u8>| bytes.windows(text.len()).any(|it| it == text.as_bytes());
        if path.is_dir() {
            is_anywhere(&path, text)
        } else {
            has(fs::read(path).unwrap())
        }
    })
}

#[test]
fn no_token_enters_the_store_by_the_inbox_or_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&folder.path().join("lapwing.db")).unwrap();
    fs::create_dir_all(store.inbox()).unwrap();
    let mut lines = Vec::new();
    for record in records() {
        write_line(&mut lines, &record).unwrap();
    }
    fs::write(store.inbox().join("x.jsonl"), lines).unwrap();
    assert!(is_anywhere(folder.path(), TOKEN));
    let folder_of_inbox = store.inbox();
    assert_eq!(
        inbox::take_in(&mut store, &folder_of_inbox).unwrap().len(),
        1
    );
    // The same again, and not as it was stored.
    let again = store.append(&records()).unwrap().total();
    assert_eq!((again.new, again.already_there), (0, 5));
    assert!(!is_anywhere(folder.path(), TOKEN) && !is_anywhere(folder.path(), "/home/ann"));
    assert!(is_anywhere(folder.path(), "[hidden: GitLab token]"));
}

#[test]
fn what_an_older_program_stored_is_the_same_record() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lapwing.db");
    let mut store = Store::open(&path).unwrap();
    store.append(&records()).unwrap();
    forget_cleaning(&path);
    let again = store.append(&records()).unwrap().total();
    assert_eq!((again.new, again.already_there), (0, 5));
}

#[test]
fn a_push_refuses_the_tokens_of_an_older_program_and_says_where_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lapwing.db");
    let mut store = Store::open(&path).unwrap();
    store.append(&records()).unwrap();
    forget_cleaning(&path);
    let place = SharedFolder::new(&folder.path().join("history")).unwrap();
    let options = PushOptions {
        signing_key: None,
        pull: PullOptions::default(),
        new_history: Id::derived(&[b"5"]),
        with_secrets: false,
        segment_bytes: PushOptions::SEGMENT_BYTES,
    };
    let refused = sharing::push(&mut store, &place, &options, &mut |_step| ());
    let Err(SharingError::Secrets(survey)) = refused else {
        panic!("{refused:?}");
    };
    let places: Vec<&str> = survey.secrets.iter().map(|it| it.place.as_str()).collect();
    assert_eq!(places, ["attributes.plan.cases.command", "reason"]);
    assert_eq!(
        sharing::unshared_texts(&store, &place)
            .unwrap()
            .secret_count,
        2
    );
    let allowed = PushOptions {
        with_secrets: true,
        ..options
    };
    assert_eq!(
        sharing::push(&mut store, &place, &allowed, &mut |_step| ())
            .unwrap()
            .sessions,
        1
    );
    assert_eq!(
        sharing::unshared_texts(&store, &place)
            .unwrap()
            .secret_count,
        0
    );
}

#[test]
fn hosts_are_hashed_by_the_salt_of_the_store() {
    let hosts = [1, 2].map(|_| {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(&folder.path().join("lapwing.db")).unwrap();
        let mut rules = PrivacyRules::default();
        rules.hide.add("host");
        store.set_privacy(rules).unwrap();
        store.append(&records()).unwrap();
        let state = store
            .catalogue()
            .session_state(Id::derived(&[&[1]]))
            .unwrap();
        state.instances[0].instance.host.clone().unwrap()
    });
    assert!(hosts.iter().all(|it| it.starts_with("host-")) && hosts[0] != hosts[1]);
}

/// Puts the token back where rows have texts, as older programs stored it.
fn forget_cleaning(path: &std::path::Path) {
    let connection = Connection::open(path).unwrap();
    let sql = "UPDATE session SET attributes = replace(attributes, '[hidden: GitLab token]', ?1)";
    assert_eq!(connection.execute(sql, [TOKEN]).unwrap(), 1);
    let sql = "UPDATE annotation SET reason = replace(reason, '[hidden: GitLab token]', ?1)";
    assert_eq!(connection.execute(sql, [TOKEN]).unwrap(), 1);
}
