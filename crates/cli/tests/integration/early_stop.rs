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

#[test]
fn options_of_early_stops_are_refused_where_they_mean_nothing() {
    let folder = suite(&[("same", "1.0")]);
    let path = folder.path();
    for (arguments, expected) in [
        (
            &["run", "--smallest-effect", "3%"][..],
            "--metric and --smallest-effect belong to --stop-early or --again inconclusive",
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
