//! `--where` and sides that are conditions, by the real program.

use std::fmt::Write;
use std::fs;

use insta::assert_snapshot;
use tempfile::TempDir;

use crate::program::run;

/// Four sessions, a week apart, each of a run with two instances on two hosts; the last two are 20 % slower.
fn filled() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut lines = String::new();
    for (number, branch, variant, threads) in [
        (1, "main", "slow", 1),
        (2, "main", "fast", 4),
        (3, "next", "fast", 4),
        (4, "main", "fast", 8),
    ] {
        let id = |kind: u32| format!("0193{number:02}00-0000-7000-8000-{kind:012}");
        let (session, run) = (id(1), id(2));
        let day = 7 * number;
        let value = if number > 2 { 1.2 } else { 1.0 };
        writeln!(lines, r#"{{"v":1,"kind":"session","id":"{session}","suite":"joins","started":"2026-06-{day:02}T10:00:00Z","tool":"t","name":"night {number}"}}"#).unwrap();
        writeln!(lines, r#"{{"v":1,"kind":"run","id":"{run}","session":"{session}","variant":"{variant}","factors":{{"threads":{threads}}},"version":{{"name":"1.{number}","branch":"{branch}"}},"metrics":{{"wall_time":{{"unit":"s","better":"lower"}}}}}}"#).unwrap();
        for (at, host) in ["ant", "bee", "ant"].into_iter().enumerate() {
            let instance = id(10 + u32::try_from(at).unwrap());
            let outcome = if at == 2 { "lost" } else { "ok" };
            writeln!(lines, r#"{{"v":1,"kind":"instance","id":"{instance}","run":"{run}","host":"{host}","block":{at},"benchmark":{{"id":"join"}}}}"#).unwrap();
            for index in 0..3 {
                let value = value + 0.001 * f64::from(index + number);
                writeln!(lines, r#"{{"v":1,"kind":"iteration","instance":"{instance}","index":{index},"metrics":{{"wall_time":{value}}}}}"#).unwrap();
            }
            writeln!(
                lines,
                r#"{{"v":1,"kind":"instance_end","instance":"{instance}","outcome":"{outcome}"}}"#
            )
            .unwrap();
        }
    }
    fs::write(folder.path().join("nights.jsonl"), lines).unwrap();
    run(folder.path(), &["import", "nights.jsonl"]);
    folder
}

/// Returns session and number of instances of the runs that a condition selects.
fn runs(folder: &TempDir, conditions: &[&str]) -> String {
    let mut words = vec!["list", "runs", "--format", "csv"];
    words.extend(conditions.iter().flat_map(|it| ["--where", it]));
    let told = run(folder.path(), &words);
    let Some(rows) = told.strip_suffix("\nexit 0") else {
        return told;
    };
    let mut lines = rows.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let columns = lines.next().unwrap_or_default();
    let column = |name: &str| columns.iter().position(|it| *it == name).expect(&told);
    let (session, instances) = (column("session_name"), column("instances"));
    let rows: Vec<String> = lines
        .map(|row| format!("{} × {}", row[session], row[instances]))
        .collect();
    rows.join(", ")
}

#[test]
fn conditions_select_runs_and_instances() {
    let folder = filled();
    let told: Vec<String> = [
        &["variant=fast"][..],
        &["last 2 of main"],
        &["last 1", "variant=fast branch=next"],
        &["threads=4,8 since=2026-06-20"],
        &["session='night 1'", "session=*4"],
        &["host=b*"],
        &["outcome=lost until=2026-06-15"],
        &["host=ant outcome=ok last=1"],
    ]
    .into_iter()
    .map(|conditions| format!("{}: {}", conditions.join(" | "), runs(&folder, conditions)))
    .collect();
    assert_snapshot!(told.join("\n"), @"
    variant=fast: night 4 × 3, night 3 × 3, night 2 × 3
    last 2 of main: night 4 × 3, night 2 × 3
    last 1 | variant=fast branch=next: night 3 × 3
    threads=4,8 since=2026-06-20: night 4 × 3, night 3 × 3
    session='night 1' | session=*4: night 4 × 3, night 1 × 3
    host=b*: night 4 × 1, night 3 × 1, night 2 × 1, night 1 × 1
    outcome=lost until=2026-06-15: night 2 × 1, night 1 × 1
    host=ant outcome=ok last=1: night 4 × 1
    ");
}

#[test]
fn a_condition_that_nothing_meets_is_named() {
    let folder = filled();
    let told = [
        runs(&folder, &["varaint=fast"]),
        runs(&folder, &["threads=5"]),
        runs(&folder, &["branch=mian"]),
        runs(&folder, &["host=wasp"]),
        runs(&folder, &["fast"]),
        runs(&folder, &["last=3", "last=4"]),
    ];
    assert_snapshot!(told.join("\n"), @"
    error: no key or factor `varaint`; did you mean `variant`?
      hint: the keys are suite, version, commit, branch, variant, session, run, host, outcome, since, until, last, retired
    exit 2
    error: no level `threads=5`; did you mean `threads=1` or `threads=4` or `threads=8`?
      hint: `lapwing list runs` lists them
    exit 2
    error: no run is of branch `mian`: the recorded ones are main, next
      hint: `lapwing list runs` lists them; `detect`, `report` and `compare` know the branch of other commits in the repository under test
    exit 2
    error: no host `wasp`
    exit 2
    error: invalid value 'fast' for '--where <CONDITIONS>': `fast` is not a condition such as `variant=fast`

    For more information, try '--help'.
    exit 2
    error: `last` takes one value
    exit 2
    ");
}

#[test]
fn conditions_are_sides() {
    let folder = filled();
    let first = |sides: [&str; 2]| {
        let told = run(folder.path(), &[&["compare"], &sides[..]].concat());
        let end = told.lines().last().unwrap_or_default().to_owned();
        let start: Vec<&str> = told.lines().take(4).collect();
        format!("{}\n{end}", start.join("\n"))
    };
    let told = [
        first(["until 2026-06-20", "since 2026-06-20"]),
        first(["last 1 of next", "last 1 of main"]),
        first(["variant=slow", "variant=fast since=2026-06-20"]),
        first(["last 2", "branch=main"]),
        first(["branch=main host=ant", "last 1"]),
        first(["branch=main since=2026-07-01", "last 1"]),
    ];
    assert_snapshot!(told.join("\n\n"), @"
    since 2026-06-20 against until 2026-06-20: no verdict, 1 not measured, 1 undecided   (2 comparisons, FDR 5 %, no change: within 3 %)

     benchmark      ratio  interval        verdict         baseline  candidate  instances  note
     join (slow)                           – not measured    1.00 s          –      2 / 0  only in the baseline
    exit 3

    last 1 of main against last 1 of next: no verdict, 1 undecided   (1 comparison, FDR 5 %, no change: within 3 %)

     benchmark    ratio  interval        verdict      baseline  candidate  instances  note
     join       ≈1.001×  (1.000, 1.002)  ? undecided    1.20 s     1.20 s      2 / 2  need 3 instances per side, got 2 and 2
    exit 3

    variant=fast since=2026-06-20 against slow: no verdict, 1 undecided   (1 comparison, FDR 5 %, no change: within 3 %)

     benchmark    ratio  interval        verdict      baseline  candidate  instances  note
     join       ≈1.203×  (1.201, 1.204)  ? undecided    1.00 s     1.20 s      2 / 2  need 3 instances per side, got 2 and 2
    exit 3

    error: query `last 2` and query `branch=main` have runs in common
      hint: a comparison takes different sides; `--split halves` checks one against itself
    exit 2
    exit 2

    error: invalid value 'branch=main host=ant' for '[SIDE]...': a side cannot be chosen by `host`, only by properties of its runs: write --where host=…

    For more information, try '--help'.
    exit 2
    exit 2

    error: no run passes `branch=main since=2026-07-01`
      hint: `lapwing list runs` shows what there is
    exit 2
    exit 2
    ");
}

#[test]
fn purging_the_instances_of_a_host_keeps_those_of_others() {
    let folder = filled();
    let purge = ["db", "purge", "--where", "host=bee", "--yes"];
    assert_snapshot!(run(folder.path(), &purge), @"
    deleted 12 iterations, 4 instances, 0 runs and 0 sessions
    exit 0
    ");
    assert_snapshot!(runs(&folder, &["last 4"]), @"night 4 × 2, night 3 × 2, night 2 × 2, night 1 × 2");
}

#[test]
fn rules_of_cleaning_are_read_or_refused() {
    let folder = filled();
    let clean = |rules: &str| {
        let told = run(folder.path(), &["variability", "--clean", rules]);
        told.lines().next().unwrap_or_default().to_owned()
    };
    let told = [
        clean("min_instances=2 burn_in=1"),
        clean("min_instances=9"),
        clean("min_instances=0"),
        clean("burn_in=soon"),
        clean("outlier_factor=1"),
        clean("min_instance=2"),
        clean("burn_in"),
    ];
    assert_snapshot!(told.join("\n"), @"
    the one benchmark varies by 5 % or less between instances
    error: no usable values: join (2 instances are left; needs 9)
    error: invalid value 'min_instances=0' for '--clean <RULES>': write min_instances=N with a whole number of 1 or more
    error: invalid value 'burn_in=soon' for '--clean <RULES>': write burn_in=recorded, burn_in=auto or burn_in=N
    error: invalid value 'outlier_factor=1' for '--clean <RULES>': write outlier_factor=X with a number above 1, such as 10
    error: invalid value 'min_instance=2' for '--clean <RULES>': `min_instance` is not one of burn_in, burn_in_file, outlier_factor, min_iterations, min_instances
    error: invalid value 'burn_in' for '--clean <RULES>': `burn_in` is not written as KEY=VALUE
    ");
}
