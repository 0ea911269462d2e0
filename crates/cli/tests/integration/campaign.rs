//! Campaigns: attempts of `judge`, `run` and `compare`, and what `campaign show` says of them.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::level_repository::{PROGRAM_WORDS, repository};

/// Prints the level of the commit plus noise of up to 63; the level `lucky` is lower in the first six runs only.
const PROGRAM: &str = "level=$(cat level)
if [ \"$level\" = lucky ]; then
  echo >> ../count
  if [ $(wc -l < ../count) -lt 7 ]; then level=900; else level=1000; fi
fi
echo \"{\\\"cost\\\": $(( $level + NOISE / 4 ))}\"
";

struct Campaigns {
    folder: TempDir,
}

impl Campaigns {
    fn new() -> Self {
        Self {
            folder: repository(PROGRAM, &["1000"]),
        }
    }

    fn call(&self, words: &[&str], more: &[&str]) -> (Value, i32) {
        let output = Command::new(assert_cmd::cargo::cargo_bin!("lapwing"))
            .args(words)
            .args(["--format", "json", "--store", "../store.db"])
            .args(more)
            .env("XDG_CACHE_HOME", self.folder.path().join("cache"))
            .current_dir(self.folder.path().join("repository"))
            .output()
            .unwrap();
        let told = serde_json::from_slice(&output.stdout);
        let told = told.unwrap_or_else(|_| panic!("{output:?}"));
        (told, output.status.code().unwrap())
    }

    /// Judges the working tree with this level.
    fn attempt(&self, campaign: &str, level: &str) -> (Value, i32) {
        fs::write(self.folder.path().join("repository/level"), level).unwrap();
        let words = ["judge", "--metric", "cost", "--campaign", campaign];
        self.call(
            &[&words[..], &["--baseline", "HEAD"]].concat(),
            &PROGRAM_WORDS,
        )
    }

    fn shown(&self, words: &[&str]) -> Value {
        self.call(&[&["campaign", "show"], words].concat(), &[]).0
    }
}

fn outcomes(shown: &Value) -> Vec<&str> {
    let attempts = shown["attempts"].as_array().unwrap().iter();
    attempts.map(|it| it["outcome"].as_str().unwrap()).collect()
}

#[test]
fn only_what_is_faster_twice_is_accepted() {
    let campaigns = Campaigns::new();
    let (told, code) = campaigns.attempt("speed", "lucky");
    assert_eq!(
        (&told["verdict"], code),
        (&json!("not_confirmed"), 1),
        "{told}"
    );
    assert_eq!(told["as_expected"], json!(false));
    // The fresh instances are what it is worth; what found it is not.
    assert!(told["ratio"].as_f64().unwrap() > 0.97, "{told}");
    assert!(
        told["attempt"]["first_ratio"].as_f64().unwrap() < 0.95,
        "{told}"
    );
    let strict = told["attempt"]["next_level"].as_f64().unwrap();

    let (told, code) = campaigns.attempt("speed", "1000");
    assert_eq!(
        (&told["verdict"], code),
        (&json!("not_faster"), 1),
        "{told}"
    );
    // Only confirmations make it stricter.
    assert_eq!(told["attempt"]["next_level"], json!(strict));
    let (told, code) = campaigns.attempt("speed", "800");
    assert_eq!((&told["verdict"], code), (&json!("faster"), 0), "{told}");
    assert_eq!(told["attempt"]["accepted"], json!(1));
    assert!(
        told["attempt"]["next_level"].as_f64().unwrap() > strict,
        "{told}"
    );
    let (told, code) = campaigns.attempt("speed", "1500");
    assert_eq!((&told["verdict"], code), (&json!("slower"), 1), "{told}");
    let (told, code) = campaigns.attempt("speed", "1 / 0");
    assert_eq!(
        (&told["verdict"], code),
        (&json!("not_measured"), 125),
        "{told}"
    );
    campaigns.attempt("other", "1000");

    let shown = campaigns.shown(&["speed"]);
    let expected = [
        "not_confirmed",
        "not_faster",
        "accepted",
        "slower",
        "not_measured",
    ];
    assert_eq!(outcomes(&shown), expected);
    assert_eq!(
        [&shown["accepted"], &shown["rejected"], &shown["open"]],
        [1, 3, 1]
    );
    assert_eq!(shown["others"], json!(["other"]));
    let attempts = shown["attempts"].as_array().unwrap();
    assert!(
        attempts.iter().all(|it| it["commit"].is_string()),
        "{shown}"
    );
    // The second is what was committed, the others are not.
    assert_eq!(attempts[1]["patch"], Value::Null);
    assert!(attempts[2]["patch"].is_string() && attempts[2]["patch"] != attempts[3]["patch"]);
    // The last one that was tried.
    assert_eq!(campaigns.shown(&[])["campaign"], json!("other"));
}

#[test]
fn what_stored_measurements_find_needs_others_to_confirm_it() {
    let campaigns = Campaigns::new();
    let command = |level: &str| format!("echo '{{\"cost\": '$(( {level} + RANDOM % 20 ))'}}'");
    let (slow, fast) = (command("1000"), command("900"));
    let run = |instances: &str, name: &str| {
        let words = [
            "run",
            "--metrics",
            "json",
            "--metric",
            "cost",
            "-i",
            "1",
            "-w",
            "0",
            "--name",
            name,
        ];
        let sides = [
            "-n",
            instances,
            "--shell",
            "bash",
            "-c",
            &slow,
            "-c",
            &fast,
            "--campaign",
            "stored",
        ];
        campaigns.call(&[&words[..], &sides].concat(), &[])
    };
    assert_eq!(run("5", "first").1, 0);
    let shown = campaigns.shown(&[]);
    assert_eq!(outcomes(&shown), ["open"]);
    assert!(
        shown["attempts"][0]["first_ratio"].as_f64().unwrap() < 0.95,
        "{shown}"
    );
    // Benchmarks have no runs to tell fresh ones by; too few do not confirm it.
    let compare = [
        "compare",
        &slow,
        &fast,
        "--metric",
        "cost",
        "--campaign",
        "stored",
    ];
    let (told, code) = campaigns.call(&compare, &["--where", "session=first"]);
    assert_eq!(code, 2, "{told}");
    assert!(
        told["error"]
            .as_str()
            .unwrap()
            .contains("benchmarks as sides"),
        "{told}"
    );
    let (_, code) = run("6", "few");
    assert_eq!(code, 2);
    assert_eq!(outcomes(&campaigns.shown(&[])), ["open"]);
    assert_eq!(run("40", "fresh").1, 0);
    let shown = campaigns.shown(&[]);
    assert_eq!(outcomes(&shown), ["accepted"]);
    assert_eq!(shown["attempts"][0]["candidate_instances"], json!(45));
}

#[test]
fn what_is_no_attempt_is_refused_before_anything_is_measured() {
    let campaigns = Campaigns::new();
    let refused = |words: &[&str], more: &[&str], code: i32, error: &str| {
        let (told, exit) = campaigns.call(words, more);
        assert_eq!(exit, code, "{told}");
        assert!(told["error"].as_str().unwrap().contains(error), "{told}");
    };
    let judge = ["judge", "--campaign", "c", "--metric", "cost"];
    let with = |words: &[&'static str]| [&judge[..], words].concat();
    let slower = with(&["--baseline", "HEAD", "--expect", "slower"]);
    refused(&slower, &PROGRAM_WORDS, 128, "a campaign expects `faster`");
    let stored = with(&["--baseline", "session:x"]);
    refused(&stored, &PROGRAM_WORDS, 128, "is no Git revision");
    let one = ["run", "--campaign", "c", "-c", "true"];
    refused(&one, &[], 2, "there is one");
    let three = [
        "run",
        "--campaign",
        "c",
        "-c",
        "true",
        "-c",
        "true 1",
        "-c",
        "true 2",
    ];
    refused(&three, &[], 2, "is one comparison");
    let early = [
        "run",
        "--campaign",
        "c",
        "--stop-early",
        "-c",
        "true",
        "-c",
        "true 1",
    ];
    refused(&early, &[], 2, "not early");
    refused(&["campaign", "show"], &[], 2, "nothing measured yet");
    campaigns.call(&["run", "-n", "3", "-i", "1", "-c", "true"], &[]);
    refused(&["campaign", "show"], &[], 2, "there are no campaigns");
    campaigns.attempt("one", "1000");
    refused(
        &["campaign", "show", "two"],
        &[],
        2,
        "no campaign is called `two`",
    );
}

#[test]
fn what_found_a_change_does_not_confirm_it() {
    let campaigns = with_variants(&["one", "two"]);
    let compare = [
        "compare",
        "variant:slow",
        "variant:fast",
        "--metric",
        "cost",
        "--campaign",
        "v",
    ];
    let of = |session: &str| {
        let selected = format!("session={session}");
        campaigns.call(&compare, &["--where", &selected])
    };
    assert_eq!(of("one").1, 0);
    assert_eq!(outcomes(&campaigns.shown(&[])), ["open"]);
    let (told, code) = of("one");
    assert_eq!(code, 2, "{told}");
    assert!(
        told["error"]
            .as_str()
            .unwrap()
            .contains("had a part in finding"),
        "{told}"
    );
    assert_eq!(of("two").1, 0);
    assert_eq!(outcomes(&campaigns.shown(&[])), ["accepted"]);
}

/// Returns two variants, measured in sessions of these names.
fn with_variants(sessions: &[&str]) -> Campaigns {
    let campaigns = Campaigns::new();
    let folder = campaigns.folder.path().join("repository");
    let suite = "[benchmark.b]\ncommand = \"echo '{\\\"cost\\\": '$(( $LEVEL + $$ % 20 ))'}'\"\nmetrics = \"json\"\ninstances = 12\niterations = 1\nburn_in = 0\n[variant.slow]\nenv = { LEVEL = \"1000\" }\n[variant.fast]\nenv = { LEVEL = \"900\" }\n";
    fs::write(folder.join("lapwing.toml"), suite).unwrap();
    for session in sessions {
        let (told, code) = campaigns.call(&["run", "--name", session], &[]);
        assert_eq!(code, 0, "{told}");
    }
    campaigns
}

fn refused(told: &(Value, i32), why: &str) {
    let (told, code) = told;
    assert_eq!(*code, 2, "{told}");
    assert!(told["error"].as_str().unwrap().contains(why), "{told}");
}

#[test]
fn no_measurement_serves_twice() {
    let campaigns = with_variants(&["one", "two"]);
    let words = [
        "compare",
        "variant:slow",
        "variant:fast",
        "--metric",
        "cost",
    ];
    let of = |session: &str| {
        let selected = format!("session={session}");
        campaigns.call(&words, &["--where", &selected, "--campaign", "v"])
    };
    assert_eq!(of("one").1, 0);
    assert_eq!(of("two").1, 0);
    assert_eq!(outcomes(&campaigns.shown(&[])), ["accepted"]);
    // Both are used: the second attempt finds something, and nothing confirms it.
    assert_eq!(of("two").1, 0);
    refused(&of("one"), "had a part in finding");
    let shown = campaigns.shown(&[]);
    assert_eq!(outcomes(&shown), ["accepted", "open"]);
    assert_eq!(shown["to_confirm"], json!(1), "{shown}");
    assert!(
        shown["attempts"][1]["needed_instances"].as_u64().unwrap() >= 10,
        "{shown}"
    );
}

#[test]
fn sides_of_other_sessions_are_no_attempt() {
    let campaigns = with_variants(&["one", "two"]);
    let sides = ["compare", "session:one", "session:two", "--metric", "cost"];
    let told = campaigns.call(&sides, &["--where", "variant=slow", "--campaign", "v"]);
    refused(&told, "measured in turn");
    refused(&campaigns.call(&["campaign", "show"], &[]), "no campaigns");
}

#[test]
fn a_candidate_that_fails_more_often_is_not_judged() {
    let campaigns = Campaigns::new();
    let folder = campaigns.folder.path().join("repository");
    fs::write(folder.join("level"), "800").unwrap();
    // The working tree fails from its 9th execution on: in the confirmation.
    let program = "level=$(cat level); if [ \"$level\" = 800 ]; then echo >> ../count; [ $(wc -l < ../count) -lt 9 ] || exit 3; fi\n\
                   echo \"{\\\"cost\\\": $(( $level + $$ % 20 ))}\"";
    let words = [
        "judge",
        "--metric",
        "cost",
        "--metrics",
        "json",
        "-i",
        "1",
        "--burn-in",
        "0",
    ];
    let judged = |more: &[&str]| {
        let words = [&words[..], &["--baseline", "HEAD", "-c", program], more].concat();
        campaigns.call(&words, &[])
    };
    let (told, code) = judged(&["--campaign", "c"]);
    assert_eq!(
        (&told["verdict"], code),
        (&json!("not_measured"), 125),
        "{told}"
    );
    assert!(
        told["reason_text"]
            .as_str()
            .unwrap()
            .contains("exit code 3"),
        "{told}"
    );
    let shown = campaigns.shown(&[]);
    assert_eq!(outcomes(&shown), ["not_measured"]);
    assert!(
        shown["attempts"][0]["first_ratio"].as_f64().unwrap() < 0.9,
        "{shown}"
    );
    assert_eq!(shown["attempts"][0]["ratio"], Value::Null, "{shown}");
    // Without a confirmation, too.
    fs::write(folder.join("../count"), "\n".repeat(6)).unwrap();
    let (told, code) = judged(&[]);
    assert_eq!(
        (&told["verdict"], code),
        (&json!("not_measured"), 125),
        "{told}"
    );
}

#[test]
fn a_confirmation_with_too_few_instances_says_so() {
    let campaigns = Campaigns::new();
    let folder = campaigns.folder.path().join("repository");
    fs::write(folder.join("level"), "800").unwrap();
    // The working tree fails once, in the confirmation.
    let program = "level=$(cat level); if [ \"$level\" = 800 ]; then echo >> ../count; [ $(wc -l < ../count) -ne 9 ] || exit 3; fi\n\
                   echo \"{\\\"cost\\\": $(( $level + $$ % 20 ))}\"";
    let words =
        "judge --metric cost --metrics json -i 1 --burn-in 0 --baseline HEAD --campaign c -c";
    let words: Vec<&str> = words.split(' ').chain([program]).collect();
    let (told, code) = campaigns.call(&words, &[]);
    assert_eq!(
        (&told["verdict"], code),
        (&json!("not_confirmed"), 1),
        "{told}"
    );
    let headline = told["headline"].as_str().unwrap();
    assert!(headline.contains(" that are needed (0."), "{headline}");
    assert_eq!(told["notes"][1]["candidate_failures"], 1, "{told}");
}

#[test]
fn what_is_accepted_against_the_same_baseline_is_noted() {
    let campaigns = Campaigns::new();
    let (told, code) = campaigns.attempt("c", "800");
    assert_eq!(code, 0, "{told}");
    let has_note = |told: &Value| {
        let mut notes = told["notes"].as_array().unwrap().iter();
        notes.any(|it| it["code"] == "same_baseline")
    };
    assert!(!has_note(&told), "{told}");
    assert!(has_note(&campaigns.attempt("c", "790").0));
    // Another baseline has it.
    let folder = campaigns.folder.path().join("repository");
    crate::level_repository::git(&folder, &["commit", "-qam", "faster"]);
    assert!(!has_note(&campaigns.attempt("c", "700").0));
}

#[test]
fn run_notes_its_attempt_first_and_refuses_too_few_before_measuring() {
    let campaigns = Campaigns::new();
    let noisy = |level: &str| format!("echo '{{\"cost\": '$(( {level} + RANDOM % 20 ))'}}'");
    let (slow, fast) = (noisy("1000"), noisy("900"));
    let words = [
        "run",
        "--metrics",
        "json",
        "--metric",
        "cost",
        "-i",
        "1",
        "-w",
        "0",
        "--shell",
        "bash",
    ];
    let run = |instances: &str, fast: &str| {
        let sides = ["-c", &slow, "-c", fast, "--campaign", "r", "-n", instances];
        campaigns.call(&[&words[..], &sides].concat(), &[])
    };
    let (told, code) = run("5", &fast);
    assert_eq!(code, 0, "{told}");
    let note = told["notes"].as_array().unwrap().iter();
    let note = note.clone().find(|it| it["code"] == "campaign").unwrap();
    let needed = note["needed_instances"].as_u64().unwrap();
    let next = told["next"][0]["command"].as_str().unwrap();
    assert!(next.contains(&format!("-n {needed}")), "{told}");
    let sessions = |campaigns: &Campaigns| campaigns.call(&["list", "sessions"], &[]).0;
    let before = sessions(&campaigns);
    let few = (needed - 1).to_string();
    refused(&run(&few, &fast), "needs");
    assert_eq!(sessions(&campaigns)["sessions"], before["sessions"]);
    // Another state of the repository is another attempt.
    let folder = campaigns.folder.path().join("repository");
    fs::write(folder.join("level"), "1").unwrap();
    assert_eq!(run("5", &fast).1, 0);
    assert_eq!(outcomes(&campaigns.shown(&[])), ["open", "open"]);
    // What fails is one, too.
    let (told, code) = run("5", "exit 1");
    assert_eq!(code, 4, "{told}");
    let shown = campaigns.shown(&[]);
    assert_eq!(outcomes(&shown), ["open", "open", "not_measured"]);
}
