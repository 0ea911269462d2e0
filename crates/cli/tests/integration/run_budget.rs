//! `lapwing run --slowdown --budget`: the way is chosen, and the question answered.

use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

fn run(folder: &TempDir, words: &[&str]) -> (Value, i32) {
    let output = Command::new(assert_cmd::cargo::cargo_bin!("lapwing"))
        .args(["run", "--format", "json", "--store", "store.db"])
        .args(["--metrics", "json", "--metric", "cost", "--burn-in", "0"])
        .args(words)
        .current_dir(folder.path())
        .output()
        .unwrap();
    let told = serde_json::from_slice(&output.stdout);
    let told = told.unwrap_or_else(|_| panic!("{output:?}"));
    (told, output.status.code().unwrap())
}

/// Prints a cost of this much, with as much noise on top, spread evenly.
fn command(cost: u32, noise: u32) -> String {
    let file = format!("n{cost}-{noise}");
    format!(
        "n=$(cat {file} 2>/dev/null || echo 0); echo $((n + 1)) > {file}; echo '{{\"cost\": '$(( {cost} + (n * 101 % 256) * {noise} / 256 ))'}}'"
    )
}

#[test]
fn a_slowdown_is_found_and_none_is_not() {
    let folder = TempDir::new().unwrap();
    let base = command(1000, 30);
    for (cost, verdict, code) in [
        (1101, "slower", 1),
        (1001, "not_slower", 0),
        (801, "faster", 0),
    ] {
        let other = command(cost, 30);
        let asked = [
            "--slowdown",
            "10%",
            "--budget",
            "2m",
            "-c",
            &base,
            "-c",
            &other,
        ];
        let (told, exit) = run(&folder, &asked);
        assert_eq!(
            (told["verdict"].as_str().unwrap(), exit),
            (verdict, code),
            "{told}"
        );
        let chosen = told["notes"].as_array().unwrap().iter();
        let chosen = chosen.clone().find(|it| it["code"] == "chosen").unwrap();
        assert!(chosen["power"].as_f64().unwrap() >= 0.8, "{told}");
        let most = chosen["chosen_instances"].as_u64().unwrap();
        assert!(
            (5..=most).contains(&told["candidate_instances"].as_u64().unwrap()),
            "{told}"
        );
    }
}

#[test]
fn what_cannot_be_found_in_the_time_is_said() {
    let folder = TempDir::new().unwrap();
    let (one, other) = (command(1000, 3000), command(1001, 3000));
    let asked = [
        "--slowdown",
        "1%",
        "--budget",
        "12s",
        "-c",
        &one,
        "-c",
        &other,
    ];
    let (told, _) = run(&folder, &asked);
    let notes = told["notes"].as_array().unwrap();
    let chosen = notes.iter().find(|it| it["code"] == "chosen").unwrap();
    assert!(
        chosen["text"]
            .as_str()
            .unwrap()
            .contains("are not enough to find a slowdown of 1 %"),
        "{told}"
    );
    assert!(chosen["power"].as_f64().unwrap() < 0.8, "{told}");
    assert!(chosen["detectable"].as_f64().unwrap() > 0.01, "{told}");
}

#[test]
fn what_has_no_two_sides_or_no_values_is_refused() {
    let folder = TempDir::new().unwrap();
    let asked = ["--slowdown", "10%", "--budget", "10s"];
    let (told, code) = run(&folder, &[&asked[..], &["-c", "true"]].concat());
    assert_eq!(code, 2, "{told}");
    assert!(
        told["error"]
            .as_str()
            .unwrap()
            .contains("compares two commands"),
        "{told}"
    );
    let (told, code) = run(
        &folder,
        &[&asked[..], &["-c", "true", "-c", "true 2"]].concat(),
    );
    assert_eq!(code, 4, "{told}");
    assert!(
        told["error"]
            .as_str()
            .unwrap()
            .contains("the pilot cannot be measured"),
        "{told}"
    );
}
