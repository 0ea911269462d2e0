//! `lapwing study design` and `run`: from factors of a suite to a session that has measured their combinations.

use std::fs;
use std::path::Path;
use std::process::Command;

use rusqlite::Connection;
use serde_json::Value;
use tempfile::TempDir;

use crate::program::{output, run};

/// The program under test: a number that is a known function of its settings, and fails with `broken`.
const PROGRAM: &str = r#"#!/bin/sh
n=$((1000 - 400 * ${QUIET:-0} - 300 * ${SHORT:-0} + 250 * ${QUIET:-0} * ${SHORT:-0} + 10 * ${THREADS:-1} ))
for word in "$@"; do
    case "$word" in --prefetch) n=$((n - 50)) ;; --broken) echo "cannot do that" >&2; exit 3 ;; esac
done
test -e prepared && n=$((n + 5)) && rm prepared
echo "{\"cost\": $n}"
"#;

const FACTORS: &str = r#"
suite = "t"
[benchmark.one]
command = ["./program"]
metrics = "json"
metric.cost = { unit = "1" }
iterations = 1
burn_in = 0
[factor.quiet]
apply.env = { QUIET = "1" }
tags = ["config"]
nice = 1
[factor.short]
apply.env = { SHORT = "1" }
[factor.prefetch]
apply.arguments = ["--prefetch"]
requires = ["quiet"]
[factor.threads]
levels = [1, 2, 4]
apply.env = { THREADS = "{level}" }
base = 2
[factor.prepared]
apply.setup = "touch prepared"
excludes = ["short"]
"#;

fn folder(suite: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("lapwing.toml"), suite).unwrap();
    let program = folder.path().join("program");
    fs::write(&program, PROGRAM).unwrap();
    let done = Command::new("chmod").arg("+x").arg(&program).status();
    assert!(done.unwrap().success());
    folder
}

fn well(folder: &Path, arguments: &[&str]) -> String {
    let said = run(folder, arguments);
    assert!(said.ends_with("exit 0"), "{said}");
    said
}

/// Returns rows of text of the store.
fn query(folder: &Path, sql: &str) -> Vec<String> {
    let store = Connection::open(folder.join(".lapwing/lapwing.db")).unwrap();
    let mut statement = store.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

fn design_of(folder: &Path) -> Value {
    let text = fs::read_to_string(folder.join("lapwing-design.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Replaces the file of a design by what the program prints of it.
fn table(folder: &Path, arguments: &[&str]) -> String {
    let command = [&["study", "design"], arguments].concat();
    well(folder, &command)
}

#[test]
fn a_design_is_measured_with_every_value_where_it_belongs() {
    let folder = folder(FACTORS);
    let path = folder.path();
    insta::assert_snapshot!(table(path, &["--kind", "full", "--noise", "2%", "--replicates", "1"]), @"
    27 configurations × 1 instance of 5 factors: a full factorial, D-efficiency 59 %

     factor    base   other levels  changed in  deltas  constraints
     quiet     false  true                  18       9
     short     false  true                   9       9
     prefetch  false  true                   9       9  requires quiet
     threads   2      1, 4                  18      18
     prepared  false  true                   9       9  excludes short

    With noise of 2.0 % between instances, `study findings` states a main effect of
    4.3 % and a pair effect of 9.4 % with 80 % power, each alone.
    21 of 48 combinations are dropped: requirements or exclusions forbid them.
    Requirements or exclusions make these pairs impossible to estimate:
    quiet:prefetch, short:prepared.
    It supports the analyses deltas, means, scatter, colour, fit (main effects and
    pairs), paths (measured), pca.
    Expected time unknown: no earlier measurements.
    The design is in lapwing-design.json.
    next: `lapwing study run` measures it
    exit 0
    ");
    let said = well(path, &["study", "run", "--name", "first"]);
    assert!(said.contains("stored in"), "{said}");
    let found = query(
        path,
        "SELECT DISTINCT variant || ' ' || json_extract(metrics, '$.cost') FROM iterations ORDER BY 1",
    );
    // (quiet, prefetch): 3, (short, prepared): 3, threads: 3.
    assert_eq!(found.len(), 27, "{found:?}");
    for expected in [
        "base 1020",
        "quiet 620",
        "short 720",
        "quiet,short 570",
        "quiet,prefetch 570",
        "threads=4 1040",
        "quiet,prefetch,threads=1,prepared 565",
    ] {
        assert!(
            found.iter().any(|it| it.starts_with(expected)),
            "{expected} is not in {found:?}"
        );
    }
    let kept = query(
        path,
        "SELECT json_extract(attributes, '$.study.kind') FROM session",
    );
    assert_eq!(kept, ["full"]);
    let factors = query(
        path,
        "SELECT json_extract(factors, '$.threads') || json_extract(factors, '$.quiet') FROM run WHERE variant = 'base'",
    );
    assert_eq!(factors, ["20"]);
    let nicest = ["--show", "paths", "--order", "nicest-first"];
    let said = well(
        path,
        &[&["study", "effects", "--metric", "cost"], &nicest[..]].concat(),
    );
    assert!(said.contains("steps, nicest first"), "{said}");
}

#[test]
fn configurations_that_fail_are_data_and_resume_has_nothing_left() {
    let suite = format!("{FACTORS}[factor.broken]\napply.arguments = ['--broken']\n");
    let folder = folder(&suite);
    let path = folder.path();
    table(
        path,
        &[
            "--kind",
            "one-at-a-time",
            "--factor",
            "quiet",
            "--factor",
            "broken",
        ],
    );
    let said = run(path, &["study", "run"]);
    assert!(said.contains("cannot do that"), "{said}");
    let outcomes = query(
        path,
        "SELECT DISTINCT variant || ' ' || outcome FROM iterations ORDER BY 1",
    );
    assert_eq!(outcomes, ["base ok", "broken failed", "quiet ok"]);
    let said = well(path, &["study", "run", "--resume"]);
    assert!(said.contains("nothing is left to measure"), "{said}");
}

#[test]
fn augmenting_adds_what_is_missing_for_pairs() {
    let folder = folder(FACTORS);
    let path = folder.path();
    let of_three = [
        "--factor", "quiet", "--factor", "short", "--factor", "threads",
    ];
    table(
        path,
        &[&["--kind", "one-at-a-time"], of_three.as_slice()].concat(),
    );
    let before = output(path, &["study", "design", "--augment"]);
    assert_eq!(before.status.code(), Some(3));
    well(path, &["study", "run"]);
    let said = well(
        path,
        &[
            "study",
            "design",
            "--augment",
            "--runs",
            "5",
            "--format",
            "json",
        ],
    );
    assert!(said.contains("\"fit (main effects and pairs)\""), "{said}");
    well(
        path,
        &["study", "run", "--design", "lapwing-design-more.json"],
    );
    let variants = query(path, "SELECT DISTINCT variant FROM run");
    assert_eq!(variants.len(), 10, "{variants:?}");
    well(path, &["study", "design", "--augment", "--runs", "9"]);
    well(
        path,
        &["study", "run", "--design", "lapwing-design-more.json"],
    );
    let complete = run(path, &["study", "design", "--augment"]);
    assert!(
        complete.contains("every feasible configuration is measured"),
        "{complete}"
    );
}

#[test]
fn a_continuous_run_augments_until_the_effects_are_stable() {
    let folder = folder(FACTORS);
    let path = folder.path();
    let of_two = [
        "--factor",
        "quiet",
        "--factor",
        "short",
        "--replicates",
        "1",
    ];
    table(
        path,
        &[&["--kind", "one-at-a-time"], of_two.as_slice()].concat(),
    );
    let run = [
        "study",
        "run",
        "--continuous",
        "--metric",
        "cost",
        "--name",
        "long",
    ];
    let said = well(path, &run);
    assert!(said.contains("one: not yet stable"), "{said}");
    assert!(said.contains("one: stable since "), "{said}");
    // Rounds show no results of their own.
    assert!(!said.contains("stored in"), "{said}");
    let variants = query(path, "SELECT DISTINCT variant FROM run ORDER BY 1");
    assert_eq!(variants, ["base", "quiet", "quiet,short", "short"]);
    let augmented = well(
        path,
        &[
            "study",
            "effects",
            "--show",
            "stability",
            "--metric",
            "cost",
        ],
    );
    assert!(augmented.starts_with("stable since "), "{augmented}");
}

#[test]
fn a_continuous_run_of_two_metrics_asks_before_it_measures() {
    let two = FACTORS.replace("unit = \"1\" }", "unit = \"1\", better = \"lower\" }");
    let folder = folder(&two);
    let path = folder.path();
    table(path, &["--factor", "quiet", "--factor", "short"]);
    insta::assert_snapshot!(run(path, &["study", "run", "--continuous"]));
    assert!(!path.join(".lapwing/lapwing.db").exists());
}

#[test]
fn many_factors_of_two_levels_give_a_screening() {
    let mut suite = FACTORS[..FACTORS.find("[factor.quiet]").unwrap()].to_owned();
    for number in 0..30 {
        suite += &format!("[factor.f{number}]\napply.env.F{number} = '1'\n");
    }
    let folder = folder(&suite);
    insta::assert_snapshot!(table(folder.path(), &[]));
    let design = design_of(folder.path());
    assert_eq!(design["configurations"].as_array().unwrap().len(), 64);
}

#[test]
fn a_budget_chooses_the_number_of_configurations() {
    let folder = folder(FACTORS);
    let path = folder.path();
    // Nothing was measured yet: the base is, and only once.
    let said = well(path, &["study", "design", "--budget", "10h"]);
    assert!(
        said.contains("measuring 3 instances of the base first"),
        "{said}"
    );
    let variants = query(path, "SELECT variant FROM run");
    assert_eq!(variants, ["base"]);
    let said = well(path, &["study", "design", "--budget", "10h"]);
    assert!(!said.contains("measuring"), "{said}");
    // What it chooses depends on the machine, but is never more than the factors allow.
    table(path, &["--budget", "10h"]);
    let configurations = design_of(path)["configurations"].as_array().unwrap().len();
    assert!((2..=54).contains(&configurations), "{configurations}");
}

#[test]
fn a_budget_that_one_instance_of_each_serves_better_is_used_so() {
    let mut suite = FACTORS[..FACTORS.find("[factor.quiet]").unwrap()].to_owned();
    for number in 0..6 {
        suite += &format!("[factor.f{number}]\napply.env.F{number} = '1'\n");
    }
    let folder = folder(&suite);
    let path = folder.path();
    table(path, &["--configuration", "base"]);
    well(path, &["study", "run"]);
    // An instance will take a minute, so that 36 of them fit.
    let slow = suite.replace("iterations = 1", "iterations = 1\nmin_time = '60s'");
    fs::write(path.join("lapwing.toml"), slow).unwrap();
    let said = table(path, &["--budget", "36m"]);
    assert!(
        said.contains("32 configurations × 1 at resolution VI estimate main effects and"),
        "{said}"
    );
    let design = design_of(path);
    assert_eq!(
        (&design["replicates"], &design["resolution"]),
        (&Value::from(1), &Value::from(6))
    );
    // Twice the time estimates the pairs with two instances each.
    table(path, &["--budget", "72m"]);
    assert_eq!(design_of(path)["replicates"], 2);
    table(path, &["--budget", "36m", "--replicates", "2"]);
    assert_eq!(design_of(path)["replicates"], 2);
}

#[test]
fn designs_that_cannot_be_are_refused_with_a_way_out() {
    let folder = folder(FACTORS);
    let path = folder.path();
    let refused = |arguments: &[&str]| run(path, &[&["study", "design"], arguments].concat());
    let all = [
        refused(&["--kind", "fractional"]),
        refused(&[
            "--kind",
            "plackett-burman",
            "--factor",
            "short",
            "--factor",
            "prepared",
        ]),
        refused(&["--factor", "prefetch", "--factor", "short"]),
        refused(&["--factor", "quite"]),
        refused(&["--configuration", "short,prepared"]),
        refused(&["--configuration", "threads=3"]),
        run(path, &["study", "run"]),
    ];
    insta::assert_snapshot!(all.join("\n"), @"
    error: a fractional factorial has two levels per factor, and `threads` has 3
      hint: `--kind optimal` has any levels and respects requirements and exclusions
    exit 2
    error: a Plackett–Burman design contains combinations that `requires` or `excludes` of `prepared` forbids
      hint: `--kind optimal` has any levels and respects requirements and exclusions
    exit 2
    error: `prefetch` requires `quiet`, which takes no part in the study
      hint: name it with `--factor`, too
    exit 2
    error: the suite has no factor `quite`
      hint: did you mean `quiet`?
    exit 2
    error: configuration `short,prepared` is forbidden by a requirement or an exclusion
    exit 2
    error: `threads` has no level `3`
      hint: its levels are 2, 1, 4
    exit 2
    error: lapwing-design.json: No such file or directory (os error 2)
      hint: `lapwing study design` writes one
    exit 2
    ");
}

#[test]
fn many_factors_need_no_variants_and_run_says_how_to_go_on() {
    let mut suite = FACTORS.to_owned();
    for number in 0..4 {
        suite += &format!("[factor.more{number}]\napply.env.MORE{number} = '1'\n");
    }
    let folder = folder(&suite);
    let refused = run(folder.path(), &["run"]);
    assert!(
        refused.contains("let `lapwing study design` choose some"),
        "{refused}"
    );
    let said = table(folder.path(), &["--model", "main", "--format", "csv"]);
    assert!(
        said.starts_with("configuration,quiet,short,prefetch"),
        "{said}"
    );
}

fn git(folder: &Path, arguments: &[&str]) {
    let done = Command::new("git")
        .args(["-c", "user.name=T", "-c", "user.email=t@example.org"])
        .args(arguments)
        .current_dir(folder)
        .output();
    assert!(done.unwrap().status.success(), "{arguments:?}");
}

#[test]
fn patches_are_applied_in_worktrees_and_one_that_does_not_apply_is_data() {
    let folder = folder(
        "suite = 't'\n[benchmark.one]\ncommand = ['./program']\nmetrics = 'json'\niterations = 1\nburn_in = 0\n\
         [factor.first]\napply.patch = 'first.patch'\n\
         [factor.second]\napply.patch = '{level}.patch'\nlevels = [false, 'second', 'stale']\n",
    );
    let path = folder.path();
    let program = path.join("program");
    let text = |cost: &str, other: &str| {
        format!(
            "#!/bin/sh\ncost={cost}\n#\n#\n#\n#\nother={other}\necho \"{{\\\"n\\\": $((cost + other))}}\"\n"
        )
    };
    fs::write(&program, text("1", "10")).unwrap();
    git(path, &["init", "--quiet"]);
    git(path, &["add", "program"]);
    git(path, &["commit", "--quiet", "-m", "one"]);
    for (name, cost, other) in [("first", "2", "10"), ("second", "1", "20")] {
        fs::write(&program, text(cost, other)).unwrap();
        let diff = Command::new("git").arg("diff").current_dir(path).output();
        fs::write(path.join(format!("{name}.patch")), diff.unwrap().stdout).unwrap();
    }
    let stale = fs::read_to_string(path.join("first.patch")).unwrap();
    fs::write(
        path.join("stale.patch"),
        stale.replace("-cost=1", "-cost=7"),
    )
    .unwrap();
    // Changes of the working tree are in none of the worktrees.
    fs::write(&program, text("100", "100")).unwrap();
    table(path, &["--kind", "full", "--replicates", "1"]);
    let said = run(path, &["study", "run"]);
    assert!(said.contains("stale.patch does not apply"), "{said}");
    let found = query(
        path,
        "SELECT DISTINCT variant || ' ' || json_extract(metrics, '$.n') FROM iterations \
         WHERE outcome = 'ok' ORDER BY 1",
    );
    assert_eq!(
        found,
        [
            "base 11.0",
            "first 12.0",
            "first,second=second 22.0",
            "second=second 21.0"
        ]
    );
    let definitions = query(
        path,
        "SELECT DISTINCT json_extract(definitions, '$.first') FROM run",
    );
    assert_eq!(definitions.len(), 1);
    // Nothing is kept of a patch that does not apply.
    let plans = query(
        path,
        "SELECT instr(attributes, '-cost=7') || ' ' || min(instr(attributes, '-cost=1'), 1) FROM session",
    );
    assert_eq!(plans, ["0 1"]);
    // Another content of the patch is another definition.
    fs::write(path.join("first.patch"), "").unwrap();
    let said = run(path, &["study", "run", "--dry-run"]);
    assert!(
        said.contains("changed in the suite since the design was made: first"),
        "{said}"
    );
}

#[test]
fn a_factor_pins_its_command_to_processors() {
    let list = "sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status";
    let suite = format!(
        "suite = 't'\n[benchmark.one]\ncommand = '''echo \"{{\\\"cpus\\\": $({list} | wc -c)}}\"; {list} >> seen'''\n\
         metrics = 'json'\niterations = 1\nburn_in = 0\n\
         [factor.pinned]\napply.cpus = '{{level}}'\nlevels = [false, 0]\n[factor.x]\napply.env.X = '1'\n"
    );
    let folder = folder(&suite);
    let path = folder.path();
    let allowed = fs::read_to_string("/proc/self/status").unwrap();
    let allowed = allowed
        .lines()
        .find_map(|it| it.strip_prefix("Cpus_allowed_list:"))
        .unwrap()
        .trim();
    if !allowed.starts_with('0') {
        return;
    }
    table(path, &["--kind", "full", "--replicates", "1"]);
    well(path, &["study", "run"]);
    let seen = fs::read_to_string(path.join("seen")).unwrap();
    let mut seen: Vec<&str> = seen.lines().collect();
    seen.sort_unstable();
    let mut expected = ["0", "0", allowed, allowed];
    expected.sort_unstable();
    assert_eq!(seen, expected);
}
