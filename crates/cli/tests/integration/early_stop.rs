//! `lapwing run --stop-early` and `--again inconclusive`, on numbers that do not depend on the machine.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rusqlite::Connection;
use tempfile::TempDir;

use crate::program::{output, run};

/// A benchmark that prints a number with noise of about 1 %: `LEVEL` times one of eleven values, in turn.
const PROGRAM: &str = r#"
file=count-$1-$LEVEL
n=$(cat "$file" 2>/dev/null || echo 0)
echo $((n + 1)) > "$file"
step=7
[ "$LEVEL" = 1 ] || step=4
k=$(( (n * step + 3) % 11 ))
awk -v k=$k -v l="$LEVEL" 'BEGIN { printf "{\"n\": %.6f}\n", l * (1 + (k - 5) / 300) }'
"#;

fn suite(levels: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    fs::write(path.join("program.sh"), PROGRAM).unwrap();
    let mut text = "suite = 't'\n[defaults]\niterations = 1\nburn_in = 0\n".to_owned();
    for (name, _) in levels {
        text.push_str(&format!(
            "[benchmark.{name}]\ncommand = ['sh', 'program.sh', '{name}']\nmetrics = 'json'\nmetric.n = {{ unit = '1', better = 'lower' }}\n"
        ));
    }
    text.push_str("[variant.old]\nenv.LEVEL = '1'\n[variant.new]\nenv.LEVEL = '1.0'\n");
    for (name, level) in levels {
        text.push_str(&format!(
            "command.{name} = 'LEVEL={level} sh program.sh {name}'\n"
        ));
    }
    fs::write(path.join("lapwing.toml"), text).unwrap();
    folder
}

/// Returns how many instances each benchmark and look has.
fn counts(folder: &Path) -> Vec<(String, Option<i64>, i64)> {
    let store = Connection::open(folder.join(".lapwing/lapwing.db")).unwrap();
    let mut statement = store
        .prepare(
            "SELECT b.id, json_extract(i.attributes, '$.look.number'), count(*) FROM instance i \
             JOIN benchmark b ON b.key = i.benchmark GROUP BY 1, 2 ORDER BY 1, 2",
        )
        .unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    rows.unwrap().map(|it| it.unwrap()).collect()
}

#[test]
fn an_answered_benchmark_is_measured_no_more() {
    let folder = suite(&[("same", "1.0"), ("slower", "1.3")]);
    let path = folder.path();
    let said = run(
        path,
        &[
            "run",
            "-n",
            "20",
            "--stop-early",
            "--metric",
            "n",
            "--smallest-effect",
            "8%",
            "--seed",
            "1",
        ],
    );
    assert!(said.contains("2 of 2 comparisons answered"), "{said}");
    assert_eq!(
        counts(path),
        [
            ("same".to_owned(), Some(1), 10),
            ("slower".to_owned(), Some(1), 10)
        ]
    );
    let compared = run(
        path,
        &[
            "compare",
            "variant:old",
            "variant:new",
            "--metric",
            "n",
            "--smallest-effect",
            "8%",
        ],
    );
    assert!(
        compared.contains("1 regression, 1 unchanged within 2.2 %"),
        "{compared}"
    );
}

#[test]
fn an_open_benchmark_gets_more_instances_and_its_interval_allows_for_it() {
    let folder = suite(&[("near", "1.004"), ("slower", "1.3")]);
    let path = folder.path();
    run(path, &["run", "-n", "6", "--seed", "1"]);
    let ratio = |said: &str| -> String {
        let line = said
            .lines()
            .find(|it| it.trim_start().starts_with("near"))
            .unwrap();
        line.to_owned()
    };
    let effect = ["--metric", "n", "--smallest-effect", "0.8%"];
    let compare = [&["compare", "variant:old", "variant:new"], &effect[..]].concat();
    let before = run(path, &compare);
    assert!(ratio(&before).contains("undecided"), "{before}");
    let again = [&["run", "--again", "inconclusive", "-n", "6"], &effect[..]].concat();
    let again = run(path, &again);
    assert!(
        again.contains("measuring 1 benchmark of session"),
        "{again}"
    );
    assert!(again.contains("near (+6)"), "{again}");
    assert_eq!(
        counts(path),
        [
            ("near".to_owned(), None, 12),
            ("near".to_owned(), Some(2), 12),
            ("slower".to_owned(), None, 12)
        ]
    );
    let after = run(path, &compare);
    assert!(ratio(&after).contains("12 / 12"), "{after}");
    assert!(
        after.contains("the results were looked at while instances were added (2 looks)"),
        "{after}"
    );
}

#[test]
fn added_instances_that_a_kill_cut_short_are_resumed() {
    let folder = suite(&[("near", "1.004"), ("slower", "1.3")]);
    let path = folder.path();
    run(path, &["run", "-n", "6", "--seed", "1"]);
    let slow = format!("sleep 0.05\n{PROGRAM}");
    fs::write(path.join("program.sh"), slow).unwrap();
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("lapwing"))
        .args(["run", "--again", "inconclusive", "-n", "6"])
        .args(["--metric", "n", "--smallest-effect", "0.8%"])
        .current_dir(path)
        .spawn()
        .unwrap();
    let measured = || -> i64 {
        let files = ["count-near-1", "count-near-1.004"];
        let numbers = files.iter().map(|file| fs::read_to_string(path.join(file)));
        numbers
            .map(|it| it.map_or(0, |it| it.trim().parse().unwrap_or(0)))
            .sum()
    };
    while measured() < 16 {
        assert_eq!(child.try_wait().unwrap(), None);
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(measured() < 24, "{}", measured());
    run(path, &["run", "--resume"]);
    let store = Connection::open(path.join(".lapwing/lapwing.db")).unwrap();
    let ok: i64 = store
        .query_row(
            "SELECT count(*) FROM instance WHERE json_extract(attributes, '$.look.number') = 2 AND outcome = 'ok'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(ok, 12);
    let complete = output(path, &["run", "--resume"]);
    let said = String::from_utf8(complete.stderr).unwrap();
    assert!(said.contains("is complete"), "{said}");
}

/// Two commands, each with a level, which say their processor time themselves.
fn commands(levels: [&str; 2]) -> (TempDir, Vec<String>) {
    let folder = suite(&[]);
    fs::remove_file(folder.path().join("lapwing.toml")).unwrap();
    let program = PROGRAM.replace("\\\"n\\\"", "\\\"user_time\\\"");
    fs::write(folder.path().join("program.sh"), program).unwrap();
    let words = levels.map(|level| {
        let command = format!("LEVEL={level} sh program.sh x");
        ["-c".to_owned(), command]
    });
    (folder, words.concat())
}

/// Returns the exit code of `run`, and the number of instances that it measured.
fn measured(folder: &Path, words: &[String], more: &[&str]) -> (i32, i64) {
    let words = words.iter().map(String::as_str);
    let usual = [
        "run",
        "-i",
        "1",
        "--burn-in",
        "0",
        "--metrics",
        "json",
        "--metric",
        "user_time",
    ];
    let words: Vec<&str> = usual
        .into_iter()
        .chain(words)
        .chain(more.iter().copied())
        .collect();
    let before: i64 = match folder.join(".lapwing").exists() {
        true => counts(folder).iter().map(|it| it.2).sum(),
        false => 0,
    };
    let done = output(folder, &words);
    let after: i64 = counts(folder).iter().map(|it| it.2).sum();
    (done.status.code().unwrap(), after - before)
}

#[test]
fn two_commands_are_two_sides() {
    let (folder, words) = commands(["1.0", "2.0"]);
    let path = folder.path();
    let (code, instances) = measured(path, &words, &["-n", "40", "--stop-early"]);
    assert_eq!(code, 0);
    assert!(instances <= 20, "{instances}");
    // Nothing else is called that.
    let names = [&words[1], &words[3]].map(String::as_str);
    let compared = run(
        path,
        &["compare", names[0], names[1], "--metric", "user_time"],
    );
    assert!(compared.contains("1 regression"), "{compared}");
    // The first one is the baseline of a gate, also where it is the slower one.
    let gate =
        |words: &[String], what: &str| measured(path, words, &["-n", "5", "--fail-on", what]).0;
    assert_eq!(gate(&words, "regression"), 1);
    assert_eq!(gate(&words, "improvement"), 0);
    // What was not compared does not pass.
    assert_eq!(gate(&words, "regression:other"), 3);
    let swapped = [&words[2..], &words[..2]].concat();
    assert_eq!(gate(&swapped, "regression"), 0);
    assert_eq!(gate(&swapped, "improvement:user_time"), 1);
    assert_eq!(gate(&swapped, "change"), 1);
    let early = ["-n", "40", "--stop-early", "--fail-on", "regression"];
    let (code, instances) = measured(path, &words, &early);
    assert_eq!(code, 1);
    assert!(instances <= 20, "{instances}");
    // One command has nothing to be compared with.
    let one = output(path, &["run", "--fail-on", "regression", "--", "true"]);
    assert_eq!(one.status.code(), Some(2));
}

#[test]
fn equal_commands_pass_a_gate() {
    let (folder, words) = commands(["1.0", "1.0"]);
    let gate = |what: &str| measured(folder.path(), &words, &["-n", "22", "--fail-on", what]).0;
    assert_eq!(gate("regression,improvement"), 0);
    assert_eq!(gate("inconclusive"), 0);
    assert_eq!(gate("equivalent"), 1);
}

#[test]
fn limits_of_a_benchmark_hold_in_every_command() {
    let folder = suite(&[("a", "1.2"), ("b", "1.2")]);
    let path = folder.path();
    let file = path.join("lapwing.toml");
    let suite = fs::read_to_string(&file).unwrap();
    let limit =
        |text: &str| fs::write(&file, format!("{suite}\n[benchmark.a.judge]\n{text}\n")).unwrap();
    limit("smallest_effect = '40%'");
    let words = ["run", "-n", "6", "--fail-on", "regression", "--metric", "n"];
    assert_eq!(output(path, &words).status.code(), Some(1));
    let compare = |more: &[&str]| {
        let words = [&["compare", "old", "new", "--metric", "n"], more].concat();
        run(path, &words)
    };
    let told = compare(&["--fail-on", "regression"]);
    assert!(told.contains("1 regression"), "{told}");
    assert!(
        told.contains("smallest effect: 40 % for a (suite file)"),
        "{told}"
    );
    assert!(told.ends_with("exit 1"), "{told}");
    // What is asked for on the command line is for all.
    let told = compare(&["--smallest-effect", "3%"]);
    assert!(told.contains("2 regressions"), "{told}");
    limit("fail_on = []\n[benchmark.b.judge]\nmute = true");
    let told = compare(&["--fail-on", "regression"]);
    assert!(told.contains("1 regression"), "{told}");
    assert!(told.contains("muted in the suite file: b"), "{told}");
    assert!(told.ends_with("exit 0"), "{told}");
    assert_eq!(output(path, &words).status.code(), Some(0));
    limit("better = 'higher'\n[benchmark.b.judge]\nmetric.n.better = 'higher'");
    let told = compare(&["--fail-on", "regression"]);
    assert!(told.contains("2 improvements"), "{told}");
    assert!(told.ends_with("exit 0"), "{told}");
}

#[test]
fn limits_are_those_of_the_suite_file_that_is_measured() {
    let folder = suite(&[("a", "1.2")]);
    let path = folder.path();
    let suite = fs::read_to_string(path.join("lapwing.toml")).unwrap();
    let limits = "\n[benchmark.a.judge]\nsmallest_effect = '40%'\n";
    fs::write(path.join("other.toml"), format!("{suite}{limits}")).unwrap();
    let words = [
        "run",
        "other.toml",
        "-n",
        "6",
        "--metric",
        "n",
        "--fail-on",
        "regression",
    ];
    assert_eq!(output(path, &words).status.code(), Some(0));
    let early = [&words[..], &["--stop-early"]].concat();
    assert_eq!(output(path, &early).status.code(), Some(0));
    let words = ["run", "-n", "6", "--metric", "n", "--fail-on", "regression"];
    assert_eq!(output(path, &words).status.code(), Some(1));
    // The metric of the only rule is what is compared.
    let words = ["run", "-n", "6", "--fail-on", "regression:n"];
    assert_eq!(output(path, &words).status.code(), Some(1));
    // What is muted is not judged, and said to be so.
    let muted = format!("{suite}\n[benchmark.a.judge]\nmute = true\n");
    fs::write(path.join("lapwing.toml"), muted).unwrap();
    let told = run(path, &words);
    assert!(told.contains("muted in the suite file: a"), "{told}");
    assert!(told.ends_with("exit 3"), "{told}");
}

#[test]
fn options_of_early_stops_are_refused_where_they_mean_nothing() {
    let folder = suite(&[("same", "1.0")]);
    let path = folder.path();
    for (arguments, expected) in [
        (
            &["run", "--smallest-effect", "3%"][..],
            "--metric and --smallest-effect belong to --fail-on, --campaign, --slowdown, --stop-early or --again inconclusive",
        ),
        (
            &["run", "--again"],
            "--again without a value belongs to --commits",
        ),
        (&["run", "--again", "inconclusive"], "there is no session"),
    ] {
        let output = output(path, arguments);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(expected), "{arguments:?}: {said}");
    }
}

#[test]
fn commits_are_compared_with_the_first_while_they_are_measured() {
    use crate::level_repository::{PROGRAM_WORDS, git, repository};

    let program = "echo \"{\\\"cost\\\": $(( $(cat level) + NOISE ))}\"\n";
    let folder = repository(program, &["1000", "1000", "3000"]);
    let path = folder.path().join("repository");
    let words = [
        &["run", "--commits", "c0..c2", "--stop-early", "-n", "30"][..],
        &["--metric", "cost", "--smallest-effect", "30%"],
        &PROGRAM_WORDS,
    ];
    let run = |words: &[&str]| {
        Command::new(assert_cmd::cargo::cargo_bin!("lapwing"))
            .args(words)
            .env("XDG_CACHE_HOME", folder.path().join("cache"))
            .current_dir(&path)
            .output()
            .unwrap()
    };
    let done = run(&words.concat());
    let said =
        String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}");
    assert!(said.contains("2 of 2 comparisons answered"), "{said}");
    let measured: i64 = counts(&path).iter().map(|(.., count)| count).sum();
    assert!(measured < 60, "{measured} {said}");
    let compared = run(&[
        "compare",
        "commit:c0",
        "commit:c2",
        "--metric",
        "cost",
        "--format",
        "json",
    ]);
    let compared = String::from_utf8_lossy(&compared.stdout).into_owned();
    assert!(compared.contains("\"looks\""), "{compared}");
    // The first is measured again, because the others are compared with it in one session.
    let more = [
        &["run", "--commits", "c0..c3", "--stop-early", "-n", "5"][..],
        &words.concat()[6..],
    ];
    git(
        &path,
        &["commit", "--quiet", "--allow-empty", "-m", "empty"],
    );
    git(&path, &["tag", "c3"]);
    let done = run(&more.concat());
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(said.contains("2 of 4 commits are skipped"), "{said}");
    let misspelt = run(&[
        &[
            "run",
            "--commits",
            "c0..c2",
            "--stop-early",
            "--metric",
            "wal_time",
        ][..],
        &["--", "sh", "program"],
    ]
    .concat());
    let said = String::from_utf8_lossy(&misspelt.stderr);
    assert_eq!(misspelt.status.code(), Some(2), "{said}");
    assert!(said.contains("did you mean `wall_time`?"), "{said}");
    fs::write(
        path.join("lapwing.toml"),
        "[version]\nbuild = 'true'\ninterleave = false\n[benchmark.b]\ncommand = 'sh program'\n",
    )
    .unwrap();
    let refused = run(&["run", "--commits", "c0..c2", "--stop-early"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(
        said.contains("--stop-early measures commits alternately"),
        "{said}"
    );
}
