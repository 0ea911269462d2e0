//! What members of a shared history can do to each other, by the real program.

use std::fs;
use std::path::Path;
use std::process::Command;

use insta::assert_snapshot;
use serde_json::Value;

use crate::nights_fixture::{Nights, STEP, findings, history};
use crate::program::{output, run};

const ONE: [(&str, Nights); 1] = [("join", STEP)];

/// The commands of another member, whose store is `b.db`.
fn theirs(folder: &Path, words: &[&str]) -> String {
    run(folder, &[&["--store", "b.db"], words].concat())
}

fn json(folder: &Path, words: &[&str]) -> Value {
    let words = [&["--store", "b.db"], words, &["--format", "json"]].concat();
    serde_json::from_slice(&output(folder, &words).stdout).unwrap()
}

const GATE: [&str; 3] = ["detect", "--fail-on", "regression"];

fn gate(folder: &Path, more: &[&str]) -> i32 {
    let words = [&["--store", "b.db"], &GATE[..], more].concat();
    output(folder, &words).status.code().unwrap()
}

#[test]
fn a_mute_of_another_member_silences_no_gate_unless_that_is_asked() {
    let folder = history(40, &ONE);
    let path = folder.path();
    run(path, &["triage", "mute", "join", "--by", "Mal, $(id)"]);
    run(path, &["db", "push", "shared"]);
    let told = theirs(path, &["db", "pull", "shared"]);
    assert!(
        told.contains("note: 1 mute by Mal, $(id) came with it"),
        "{told}"
    );
    let pulled = run(
        path,
        &[
            "--store", "c.db", "db", "pull", "shared", "--format", "json",
        ],
    );
    assert!(pulled.contains("\"kind\": \"mute\""), "{pulled}");

    let words = [&GATE[..], &["--junit", "j.xml"]].concat();
    assert_snapshot!(theirs(path, &words), @"
    1 new regression   (1 history, 40 runs, FDR 5 %)

     benchmark   before   after  change                 since  verdict       id
     join       0.998 s  1.20 s  1.201× [1.199, 1.203]  v20    ✗ regression  0059136e

    note: v19..v20, 2026-01-21
    note: 1 mute by Mal, $(id) from another store does not count here; `triage_by`
    in the [judge] table of the suite file would honour it
    next: `lapwing --store b.db triage acknowledge 0059136e` marks it as known,
    `lapwing --store b.db report` writes pages with the histories
    exit 1
    ");
    let junit = fs::read_to_string(path.join("j.xml")).unwrap();
    assert!(junit.contains("failures=\"1\""), "{junit}");
    let answer = json(path, &GATE);
    assert_eq!(findings(&answer)[0]["state"], "new");
    let notes = answer["notes"].as_array().unwrap();
    let note = notes
        .iter()
        .find(|it| it["code"] == "not_honoured")
        .unwrap();
    assert_eq!(note["by"][0], "Mal, $(id)");

    // A list of the command, a list of the suite file, and the own word.
    assert_eq!(gate(path, &["--triage-by", "Ann"]), 1);
    assert_eq!(gate(path, &["--triage-by", "Ann,Mal*"]), 0);
    fs::write(
        path.join("lapwing.toml"),
        "[judge]\ntriage_by = [\"Mal, $(id)\"]\n",
    )
    .unwrap();
    assert_eq!(gate(path, &[]), 0);
    assert_eq!(gate(path, &["--triage-by", "Ann"]), 1);
    fs::remove_file(path.join("lapwing.toml")).unwrap();
    theirs(path, &["triage", "mute", "join"]);
    assert_eq!(gate(path, &[]), 0);
    assert_eq!(
        output(path, &GATE).status.code(),
        Some(0),
        "it is their own"
    );
}

#[test]
fn neither_hiding_nor_renaming_by_others_changes_a_judgement() {
    for words in [
        &["db", "retire", "join"][..],
        &["db", "rename", "join", "joined"],
        &["db", "rename", "join", "--metric", "wall_time=nothing"],
        &["triage", "expect", "*", "--at-version", "v20"],
    ] {
        for way in ["pull", "merge", "import"] {
            let folder = history(40, &ONE);
            let path = folder.path();
            let done = run(
                path,
                &[words, &["--by", "Mallory", "--reason", "x"]].concat(),
            );
            assert!(done.ends_with("exit 0"), "{done}");
            let told = match way {
                "pull" => {
                    run(path, &["db", "push", "shared"]);
                    theirs(path, &["db", "pull", "shared"])
                }
                "merge" => theirs(path, &["db", "merge", ".lapwing/lapwing.db"]),
                _ => {
                    run(path, &["export", "--to", "record", "-o", "all.jsonl"]);
                    theirs(path, &["import", "all.jsonl"])
                }
            };
            assert!(told.contains(" by Mallory came with it"), "{way}: {told}");
            assert_eq!(gate(path, &[]), 1, "{words:?}, {way}");
            let compare = ["compare", "version:v3", "version:v30"];
            let compared = theirs(path, &compare);
            let told = compared.contains("by Mallory from another store does not count here");
            assert!(told && compared.contains("join"), "{compared}");
            // Annotations in a file that is compared come from others, too.
            if way == "import" {
                let told = theirs(path, &["compare", "--split", "halves", "file:all.jsonl"]);
                assert!(told.contains("by Mallory from another store"), "{told}");
            }
        }
    }
}

#[test]
fn who_is_told_of_changes_by_another_store_is_told_by_this_one() {
    let folder = history(40, &ONE);
    let path = folder.path();
    run(path, &["detect", "--notify", "cat > first.json"]);
    run(path, &["db", "push", "shared"]);
    theirs(path, &["db", "pull", "shared"]);
    theirs(path, &["detect", "--notify", "cat > second.json"]);
    assert!(path.join("second.json").exists());
    theirs(path, &["detect", "--notify", "cat > third.json"]);
    assert!(!path.join("third.json").exists());
}

fn key(folder: &Path, name: &str) {
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "", "-C", "", "-f", name])
        .current_dir(folder)
        .status();
    assert!(made.unwrap().success());
}

#[test]
fn signed_mutes_count_and_a_wrong_signature_is_an_error() {
    let folder = history(40, &ONE);
    let path = folder.path();
    key(path, "ann");
    let public = fs::read_to_string(path.join("ann.pub")).unwrap();
    fs::write(path.join("allowed"), format!("ann@team {public}")).unwrap();
    run(path, &["triage", "mute", "join", "--by", "Ann"]);
    let pushed = run(path, &["db", "push", "shared", "--sign", "ann"]);
    assert!(pushed.ends_with("exit 0"), "{pushed}");
    let pull = ["db", "pull", "shared", "--allowed-signers", "allowed"];
    let told = theirs(path, &pull);
    assert!(
        !told.contains("signed") || told.contains("allowed signer signed"),
        "{told}"
    );
    assert_eq!(gate(path, &[]), 0);

    run(path, &["triage", "mute", "other*", "--by", "Ann"]);
    run(path, &["triage", "mute", "*", "--by", "Ann"]);
    run(path, &["db", "push", "shared"]);
    let told = theirs(path, &pull);
    assert!(told.contains("note: 1 segment not signed"), "{told}");
    let segments = path.join("shared/segments");
    fs::copy(segments.join("00000001.sig"), segments.join("00000002.sig")).unwrap();
    let refused = run(path, &[&["--store", "c.db"], &pull[..]].concat());
    let refused = refused.replace(path.canonicalize().unwrap().to_str().unwrap(), "FOLDER");
    assert_snapshot!(refused, @"
    error: the signature of FOLDER/shared/segments/00000002.jsonl.gz is not valid: Signature verification failed: incorrect signature
      1 segment pulled before that; run the command again to continue
      hint: nothing was read from it: the segment or its signature was changed; ask its author, and restore both from a backup
    exit 2
    ");
    let missing = theirs(path, &["db", "pull", "shared", "--allowed-signers", "none"]);
    assert!(missing.ends_with("exit 2"), "{missing}");
}

#[test]
fn a_withdrawal_is_shown_and_carried_out_when_that_is_asked() {
    let folder = history(4, &ONE);
    let path = folder.path();
    run(path, &["db", "push", "shared"]);
    theirs(path, &["db", "pull", "shared"]);
    let withdraw = [
        "db",
        "withdraw",
        "shared",
        "--where",
        "session=night-1",
        "--by",
        "Ann",
    ];
    let say = |text: String| text.replace(path.canonicalize().unwrap().to_str().unwrap(), "FOLDER");
    assert_snapshot!(say(run(path, &withdraw)), @"
    would withdraw 1 session from FOLDER/shared
    note: nothing was deleted; add --yes to delete these sessions here and ask
    everybody else to
    exit 0
    ");
    assert_snapshot!(say(run(path, &[&withdraw[..], &["--yes"]].concat())), @"
    withdrew 1 session from FOLDER/shared; 1 segment rewritten
    exit 0
    ");
    let unpacked = Command::new("gzip")
        .args(["-dc", "shared/segments/00000001.jsonl.gz"])
        .current_dir(path)
        .output();
    let text = String::from_utf8(unpacked.unwrap().stdout).unwrap();
    assert!(
        !text.contains("night-1") && text.contains("night-2"),
        "{text}"
    );

    let held = |store: &str| {
        let listed = run(path, &["--store", store, "list", "sessions"]);
        listed.contains("night-1")
    };
    assert!(!held(".lapwing/lapwing.db"));
    let told = theirs(path, &["db", "pull", "shared"]);
    assert!(
        told.contains("note: 1 session withdrawn by Ann: not deleted here"),
        "{told}"
    );
    assert!(held("b.db"));
    assert_eq!(
        json(path, &["db", "pull", "shared"])["pulled"]["withdrawn_kept"]["Ann"],
        1
    );
    let told = theirs(
        path,
        &["db", "pull", "shared", "--accept-withdrawals", "--verify"],
    );
    assert!(
        told.contains("note: 1 session withdrawn by Ann: deleted here"),
        "{told}"
    );
    assert!(!held("b.db"));
}

#[test]
fn stores_that_disagree_end_with_an_exit_code_of_their_own() {
    let folder = history(2, &ONE);
    let path = folder.path();
    run(path, &["db", "push", "shared"]);
    let text = fs::read_to_string(path.join("in.jsonl")).unwrap();
    let other = text.replacen("\"host\":\"node1\"", "\"host\":\"node2\"", 1);
    assert_ne!(text, other);
    fs::write(path.join("other.jsonl"), other).unwrap();
    theirs(path, &["import", "other.jsonl"]);
    let said = theirs(path, &["db", "pull", "shared"]);
    assert!(
        said.contains("is already in the store with other content"),
        "{said}"
    );
    assert!(said.ends_with("exit 5"), "{said}");
    assert!(theirs(path, &["list", "sessions"]).contains("2 sessions"));
}
