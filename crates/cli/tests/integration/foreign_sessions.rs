//! What is executed when a session is continued: only what this user opened in this store on this host.

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use tempfile::TempDir;

use crate::program::{output, run};

const STORE: &str = ".lapwing/lapwing.db";

/// Measures a session that makes the file `ran`, in a folder of its own, and returns its session and run records: the
/// session is not finished, and carries its plan.
fn hostile_records(ran: &Path) -> String {
    let mallory = TempDir::new().unwrap();
    let folder = mallory.path();
    let ran = ran.display();
    let suite = format!(
        "[benchmark.sort]\ncommand = \"touch {ran}\"\n[variant.a]\n[variant.b]\nenv = {{ A = \"1\" }}\n"
    );
    fs::write(folder.join("lapwing.toml"), suite).unwrap();
    let measured = output(
        folder,
        &[
            "run",
            "-n",
            "1",
            "-i",
            "1",
            "--burn-in",
            "0",
            "--name",
            "evil",
        ],
    );
    assert!(measured.status.success());
    run(folder, &["export", "--to", "record", "-o", "all.jsonl"]);
    let all = fs::read_to_string(folder.join("all.jsonl")).unwrap();
    let is_head =
        |line: &&str| line.contains(r#""kind":"session""#) || line.contains(r#""kind":"run""#);
    let heads: Vec<&str> = all.lines().filter(is_head).collect();
    assert_eq!(heads.len(), 3);
    heads.join("\n") + "\n"
}

/// Every way to continue a session.
const CONTINUATIONS: [&[&str]; 9] = [
    &["run", "--resume"],
    &["run", "--resume", "evil"],
    &["run", "--again", "inconclusive"],
    &["run", "--again", "inconclusive", "--name", "evil"],
    &["study", "run", "--resume"],
    &["stack", "run", "--resume"],
    &["indicator", "run", "--resume", "evil"],
    &["bisect", "--resume"],
    &["bisect", "--resume", "evil"],
];

fn assert_nothing_is_executed(folder: &Path, ran: &Path) {
    for arguments in CONTINUATIONS {
        let refused = output(folder, arguments);
        let said = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}: {said}");
        let names_it = said.contains("`evil`")
            && (said.contains("not executed") || said.contains("executed only there"));
        let is_search = *arguments == ["bisect", "--resume"];
        assert!(names_it || is_search, "{arguments:?}: {said}");
        assert!(!ran.exists(), "{arguments:?} executed it");
    }
}

#[test]
fn nothing_of_a_session_that_came_from_elsewhere_is_executed() {
    let here = TempDir::new().unwrap();
    let ran = here.path().join("ran");
    let records = hostile_records(&ran);
    fs::remove_file(&ran).unwrap();
    type Arrival = fn(&Path);
    let arrivals: [(&str, Arrival); 4] = [
        ("import", |folder| {
            run(folder, &["import", "evil.jsonl"]);
        }),
        ("merge", |folder| {
            run(folder, &["--store", "other.db", "import", "evil.jsonl"]);
            run(folder, &["db", "merge", "other.db"]);
        }),
        ("pull", |folder| {
            run(folder, &["--store", "other.db", "import", "evil.jsonl"]);
            run(folder, &["--store", "other.db", "db", "push", "shared"]);
            run(folder, &["db", "pull", "shared"]);
        }),
        ("inbox", |folder| {
            fs::create_dir_all(folder.join(".lapwing/inbox")).unwrap();
            fs::copy(
                folder.join("evil.jsonl"),
                folder.join(".lapwing/inbox/evil.jsonl"),
            )
            .unwrap();
        }),
    ];
    for (name, arrive) in arrivals {
        let folder = here.path().join(name);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("evil.jsonl"), &records).unwrap();
        arrive(&folder);
        assert!(
            run(&folder, &["list", "sessions"]).contains("evil"),
            "{name}"
        );
        assert_nothing_is_executed(&folder, &ran);
    }
}

#[test]
fn an_own_session_is_preferred_and_executes_what_was_opened_here() {
    let here = TempDir::new().unwrap();
    let (folder, ran) = (here.path(), here.path().join("ran"));
    let records = hostile_records(&ran);
    fs::remove_file(&ran).unwrap();
    let measure = [
        "run",
        "-n",
        "1",
        "-i",
        "1",
        "--burn-in",
        "0",
        "--name",
        "evil",
    ];
    let measured = output(folder, &[&measure[..], &["--", "touch", "own"]].concat());
    assert!(measured.status.success());
    // A foreign one has the same name, and is later.
    let later = records.replace(r#""started":"20"#, r#""started":"21"#);
    fs::write(folder.join("evil.jsonl"), later).unwrap();
    run(folder, &["import", "evil.jsonl"]);
    // The record of the own one says something else by now.
    let store = Connection::open(folder.join(STORE)).unwrap();
    let plan = "UPDATE session SET attributes = replace(attributes, 'touch own', 'touch ran'), \
                attributes = replace(attributes, '\"own\"', '\"ran\"')";
    store.execute_batch(plan).unwrap();
    store
        .execute_batch("DELETE FROM series; DELETE FROM chunk; DELETE FROM instance")
        .unwrap();
    drop(store);
    for arguments in [&["run", "--resume"][..], &["run", "--resume", "evil"]] {
        fs::remove_file(folder.join("own")).unwrap();
        let resumed = output(folder, arguments);
        let said = String::from_utf8_lossy(&resumed.stderr);
        assert!(resumed.status.success(), "{said}");
        assert!(folder.join("own").exists(), "{said}");
        assert!(!ran.exists(), "{said}");
        Connection::open(folder.join(STORE))
            .unwrap()
            .execute_batch("DELETE FROM series; DELETE FROM chunk; DELETE FROM instance")
            .unwrap();
    }
}

#[test]
fn a_store_that_came_from_elsewhere_brings_no_session_that_is_executed() {
    let here = TempDir::new().unwrap();
    let (mallory, victim) = (here.path().join("mallory"), here.path().join("victim"));
    let ran = here.path().join("ran");
    fs::create_dir(&mallory).unwrap();
    fs::create_dir_all(victim.join(".lapwing")).unwrap();
    let command = format!("touch {}", ran.display());
    let measure = [
        "run",
        "-n",
        "1",
        "-i",
        "1",
        "--burn-in",
        "0",
        "--name",
        "evil",
        "-c",
    ];
    run(&mallory, &[&measure[..], &[command.as_str()]].concat());
    fs::remove_file(&ran).unwrap();
    let unfinished = "DELETE FROM series; DELETE FROM chunk; DELETE FROM instance";
    Connection::open(mallory.join(STORE))
        .unwrap()
        .execute_batch(unfinished)
        .unwrap();
    fs::copy(mallory.join(STORE), victim.join(STORE)).unwrap();
    assert_nothing_is_executed(&victim, &ran);

    // Its mark claims that it was opened here, but its seal is forged.
    let place = victim.join(STORE).canonicalize().unwrap();
    for forged in [
        format!("store = '{}'", place.display()),
        "host = 'elsewhere'".to_owned(),
        "host = (SELECT host FROM opened_session), user = 4242".to_owned(),
    ] {
        Connection::open(victim.join(STORE))
            .unwrap()
            .execute_batch(&format!("UPDATE opened_session SET {forged}"))
            .unwrap();
        assert_nothing_is_executed(&victim, &ran);
    }

    // One of an older version has no mark.
    Connection::open(mallory.join(STORE))
        .unwrap()
        .execute_batch("DELETE FROM opened_session")
        .unwrap();
    assert_nothing_is_executed(&mallory, &ran);
}
