//! A purge deletes for good: from the tables, from the bytes of every file, and nothing that others have.

use std::fs;
use std::path::Path;

use lapwing_model::{Id, Record, parse_line};
use lapwing_record::{Filter, OpenedSession, Store};

const SECRET: &str = "SECRET-WORD";

/// Returns a session with two instances, all of whose texts have a word in them.
fn session(number: u8, word: &str, profile: &Path) -> (Id, Vec<Record>) {
    let id = |what: u8| format!("01930000-0000-7000-8000-0000000{number:02}0{what:02}");
    let profile = profile.display();
    let lines = [
        format!(
            r#"{{"v":1,"kind":"session","id":"{}","suite":"{word}","name":"{word}","started":"2026-11-20T10:00:00Z","tool":"t","attributes":{{"plan":"{word}"}}}}"#,
            id(1)
        ),
        format!(
            r#"{{"v":1,"kind":"run","id":"{}","session":"{}","variant":"{word}","metrics":{{"{word}":{{"unit":"{word}"}}}},"environment":{{"x":"{word}"}}}}"#,
            id(2),
            id(1)
        ),
        format!(
            r#"{{"v":1,"kind":"instance","id":"{}","run":"{}","benchmark":{{"id":"{word}"}},"artifacts":{{"profile":"{profile}"}}}}"#,
            id(3),
            id(2)
        ),
        format!(
            r#"{{"v":1,"kind":"iteration","instance":"{}","index":0,"metrics":{{"wall_time":1.5,"{word}":1}},"message":"{word}","outcome":"failed"}}"#,
            id(3)
        ),
        format!(
            r#"{{"v":1,"kind":"annotation","id":"{}","at":"2026-11-20T10:00:00Z","by":"{word}","action":"note","reason":"{word}"}}"#,
            id(4)
        ),
    ];
    let records = lines.iter().map(|it| parse_line(it.as_bytes()).unwrap());
    (id(1).parse().unwrap(), records.collect())
}

/// Returns the files below a folder that have a word in their names or bytes.
fn files_with(folder: &Path, word: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = match path.is_dir() {
            true => {
                found.extend(files_with(&path, word));
                Vec::new()
            }
            false => fs::read(&path).unwrap(),
        };
        let is_in = bytes.windows(word.len()).any(|it| it == word.as_bytes());
        if is_in || path.to_string_lossy().contains(word) {
            found.push(path.display().to_string());
        }
    }
    found
}

#[test]
fn no_file_has_a_byte_of_what_was_purged_and_the_rest_stays() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join(".lapwing");
    let path = own.join("lapwing.db");
    let mut store = Store::open(&path).unwrap();
    let outside = folder.path().join("outside");
    fs::write(&outside, "kept").unwrap();
    let mut ids = Vec::new();
    for (number, word) in [(1, SECRET), (2, "harmless")] {
        let (id, records) = session(number, word, &outside);
        store.append(&records).unwrap();
        let opened = OpenedSession {
            session: id,
            host: String::new(),
            user: 0,
            store: String::new(),
            attributes: [("plan".to_owned(), word.into())].into_iter().collect(),
            seal: String::new(),
        };
        store.write(|writer| writer.mark_opened(&opened)).unwrap();
        let profiles = own.join("profiles").join(id.to_string());
        fs::create_dir_all(&profiles).unwrap();
        fs::write(profiles.join(format!("0-0-{word}")), word).unwrap();
        fs::create_dir_all(store.inbox().join(id.to_string())).unwrap();
        fs::write(store.inbox().join(format!("{id}.jsonl.refused")), word).unwrap();
        ids.push(id);
    }
    // SQLite's own samples of the columns.
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute_batch("ANALYZE")
        .unwrap();
    assert!(files_with(&own, SECRET).len() >= 3);

    let counts = store.purge(&Filter::of_session(ids[0])).unwrap();
    assert_eq!((counts.sessions, counts.log_in_use), (1, false));
    // What people said of benchmarks stays.
    let said = rusqlite::Connection::open(&path).unwrap();
    let count = |sql: &str| -> i64 { said.query_row(sql, [], |row| row.get(0)).unwrap() };
    assert_eq!(count("SELECT count(*) FROM annotation"), 2);
    assert_eq!(count("SELECT count(*) FROM opened_session"), 1);
    said.execute("DELETE FROM annotation WHERE by <> 'harmless'", [])
        .unwrap();
    drop(said);
    drop(store);
    let mut store = Store::open(&path).unwrap();
    assert!(!files_with(&own, "harmless").is_empty());
    assert_eq!(fs::read_to_string(&outside).unwrap(), "kept");
    assert!(!own.join("profiles").join(ids[0].to_string()).exists());
    assert!(own.join("profiles").join(ids[1].to_string()).exists());

    store.purge(&Filter::default()).unwrap();
    assert_eq!(files_with(&own, "harmless"), Vec::<String>::new());
    assert_eq!(files_with(&own, SECRET), Vec::<String>::new());
    assert_eq!(fs::read_to_string(&outside).unwrap(), "kept");
}

#[test]
fn a_process_that_reads_keeps_the_log_and_that_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lapwing.db");
    let mut store = Store::open(&path).unwrap();
    let (_, records) = session(1, SECRET, Path::new("x"));
    store.append(&records).unwrap();
    let mut reader = rusqlite::Connection::open(&path).unwrap();
    let snapshot = reader.transaction().unwrap();
    let sql = "SELECT count(*) FROM session";
    let count: i64 = snapshot.query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(count, 1);
    let counts = store.purge(&Filter::default()).unwrap();
    assert!(counts.log_in_use);
    drop(snapshot);
    drop(reader);
    drop(store);
    assert_eq!(files_with(folder.path(), SECRET), Vec::<String>::new());
}
