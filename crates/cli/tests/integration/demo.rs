//! `examples/demo`, which shows that statements are true that the README makes.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Returns what the demonstration says at its end, and its recording.
fn demonstrate() -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let cast = folder.path().join("demo.cast");
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/demo/run");
    let done = Command::new(example)
        .arg("--quick")
        .arg("--lapwing")
        .arg(assert_cmd::cargo::cargo_bin!("lapwing"))
        .arg("--cast")
        .arg(&cast)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&done.stdout);
    let (_, end) = told
        .rsplit_once("\n\n")
        .unwrap_or_else(|| panic!("{done:?}"));
    (end.to_owned(), fs::read_to_string(cast).unwrap())
}

#[test]
fn the_demonstration_shows_what_it_claims() {
    const CLAIMS: &str = "\
right: a small difference is found
right: no difference is found where there is none
right: the night is found
right: the commit is found
right: the gate is red
right: the gate is green
";
    let (mut told, mut cast) = demonstrate();
    for _ in 0..2 {
        // A false alarm has a probability of 5 %; three in a row hardly happen.
        if told != CLAIMS {
            (told, cast) = demonstrate();
        }
    }
    assert_eq!(told, CLAIMS);
    let lines: Vec<Value> = cast
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        (&lines[0]["version"], &lines[0]["width"]),
        (&2.into(), &80.into())
    );
    let times: Vec<f64> = lines[1..]
        .iter()
        .map(|it| it[0].as_f64().unwrap())
        .collect();
    assert!(
        times.is_sorted()
            && lines[1..]
                .iter()
                .all(|it| it[1] == "o" && it[2].is_string())
    );
}
