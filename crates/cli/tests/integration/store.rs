//! `lapwing list`, `export` and `db` by the real program.

use std::fs;
use std::time::{Duration, UNIX_EPOCH};

use insta::assert_snapshot;
use lapwing_testing::RecordLines;
use serde_json::json;

use crate::program::run;

const RECORDS: &str = r#"{"v":1,"kind":"session","id":"01930000-0000-7000-8000-000000000001","suite":"joins","started":"2026-11-20T10:00:00Z","tool":"lapwing 0.1.0","name":"nightly"}
{"v":1,"kind":"run","id":"01930000-0000-7000-8000-000000000002","session":"01930000-0000-7000-8000-000000000001","variant":"fast","version":{"name":"2026.9","commit":"ab12cd34ef56ab12cd34ef56ab12cd34ef56ab12"},"metrics":{"wall_time":{"unit":"s","better":"lower"}}}
{"v":1,"kind":"instance","id":"01930000-0000-7000-8000-000000000003","run":"01930000-0000-7000-8000-000000000002","benchmark":{"id":"t.py::test_join[10]","tags":["shuffle"]}}
{"v":1,"kind":"iteration","instance":"01930000-0000-7000-8000-000000000003","index":0,"burn_in":true,"metrics":{"wall_time":1.5,"rows":10}}
{"v":1,"kind":"iteration","instance":"01930000-0000-7000-8000-000000000003","index":1,"outcome":"failed","message":"exit code 1"}
{"v":1,"kind":"instance_end","instance":"01930000-0000-7000-8000-000000000003","ended":"2026-11-20T10:00:05Z"}
"#;

fn filled() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("all.jsonl"), RECORDS).unwrap();
    run(folder.path(), &["import", "all.jsonl"]);
    folder
}

#[test]
fn lists_answer_in_a_line_and_then_show_the_table() {
    let folder = filled();
    let list = |what: &[&str]| run(folder.path(), &[&["list"], what].concat());
    assert_snapshot!(list(&[]), @r#"
    1 benchmark

     benchmark            suite  instances  iterations  failures  last measured     metrics          tags
     t.py::test_join[10]  joins          1           2         1  2026-11-20 10:00  rows, wall_time  shuffle
    exit 0
    "#);
    assert_snapshot!(list(&["sessions"]), @r#"
    1 session

     session  started           suite  runs  instances  iterations  unfinished  tool           id
     nightly  2026-11-20 10:00  joins     1          1           2           0  lapwing 0.1.0  01930000-0000-7000-8000-000000000001
    exit 0
    "#);
    assert_snapshot!(list(&["runs", "--where", "version=ab12"]), @r#"
    1 run

     session  started           version  commit      variant  instances  iterations  id
     nightly  2026-11-20 10:00  2026.9   ab12cd34ef  fast             1           2  01930000-0000-7000-8000-000000000002
    exit 0
    "#);
    assert_snapshot!(list(&["metrics", "--format", "markdown"]), @"
    2 metrics

    | metric | unit | better | benchmarks |
    |---|---|---|---:|
    | rows |  |  | 1 |
    | wall_time | s | lower | 1 |
    exit 0
    ");
    assert_snapshot!(list(&["benchmarks", "--format", "json"]), @r#"
    {
      "lapwing": "0.1.0",
      "answer": "list-benchmarks",
      "schema": 1,
      "command": [
        "lapwing",
        "list",
        "benchmarks",
        "--format",
        "json"
      ],
      "headline": "1 benchmark",
      "verdict": null,
      "next": [],
      "notes": [],
      "omitted_rows": 0,
      "benchmarks": [
        {
          "benchmark": "t.py::test_join[10]",
          "failures": 1,
          "instances": 1,
          "iterations": 2,
          "last_measured": "2026-11-20T10:00:05Z",
          "metrics": [
            "rows",
            "wall_time"
          ],
          "suite": "joins",
          "summaries": 0,
          "tags": [
            "shuffle"
          ]
        }
      ],
      "count": 1
    }
    exit 0
    "#);
    assert_snapshot!(list(&["--tag", "shufle"]), @"
    error: no tag `shufle`; did you mean `shuffle`?
      hint: `lapwing list benchmarks` lists them
    exit 2
    ");
    assert_snapshot!(list(&["--where", "until=2026-01-01"]), @"
    no benchmarks match all of these filters
    remove a filter to see more
    exit 0
    ");
    assert_snapshot!(list(&["--where", "since=tomorrow"]), @"
    error: invalid value 'since=tomorrow' for '--where <CONDITIONS>': `tomorrow` is not a date or time such as 2026-11-20, 2026-11-20T10:00:00Z, yesterday or `3 days ago`

    For more information, try '--help'.
    exit 2
    ");
}

#[test]
fn results_without_samples_are_listed_by_their_summaries() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("summaries.jsonl"),
        r#"{"v":1,"kind":"session","id":"01930000-0000-7000-8000-000000000001","suite":"searches","started":"2026-11-20T10:00:00Z","tool":"example 1.0","name":"nightly"}
{"v":1,"kind":"run","id":"01930000-0000-7000-8000-000000000002","session":"01930000-0000-7000-8000-000000000001","metrics":{"wall_time":{"unit":"s","better":"lower"}}}
{"v":1,"kind":"instance","id":"01930000-0000-7000-8000-000000000003","run":"01930000-0000-7000-8000-000000000002","benchmark":{"id":"literal"}}
{"v":1,"kind":"summary","instance":"01930000-0000-7000-8000-000000000003","metric":"wall_time","n":30,"centre":1.5,"spread":0.05,"statistic":"median/iqr"}
{"v":1,"kind":"summary","instance":"01930000-0000-7000-8000-000000000003","metric":"peak_memory","centre":1e6,"statistic":"mean"}
"#,
    )
    .unwrap();
    run(folder.path(), &["import", "summaries.jsonl"]);
    let list = |what: &[&str]| run(folder.path(), &[&["list"], what].concat());
    assert_snapshot!(list(&[]), @"
    1 benchmark

     benchmark  suite     instances  iterations  failures  summaries  last measured     metrics                 tags
     literal    searches          1           0         0          2  2026-11-20 10:00  peak_memory, wall_time
    exit 0
    ");
    assert_snapshot!(list(&["sessions"]), @"
    1 session

     session  started           suite     runs  instances  iterations  summaries  unfinished  tool         id
     nightly  2026-11-20 10:00  searches     1          1           0          2           1  example 1.0  01930000-0000-7000-8000-000000000001
    exit 0
    ");
    assert_snapshot!(list(&["runs"]), @"
    1 run

     session  started           version  commit  variant  instances  iterations  summaries  id
     nightly  2026-11-20 10:00                   default          1           0          2  01930000-0000-7000-8000-000000000002
    exit 0
    ");
    assert_snapshot!(list(&["metrics"]), @"
    2 metrics

     metric       unit  better  benchmarks  summaries
     peak_memory                         1          1
     wall_time    s     lower            1          1
    exit 0
    ");
    assert_snapshot!(list(&["runs", "--format", "csv"]), @"
    id,session,session_name,suite,started,variant,version,commit,instances,iterations,summaries
    01930000-0000-7000-8000-000000000002,01930000-0000-7000-8000-000000000001,nightly,searches,2026-11-20T10:00:00Z,default,,,1,0,2
    exit 0
    ");
    assert_snapshot!(list(&["metrics", "--format", "json"]), @r#"
    {
      "lapwing": "0.1.0",
      "answer": "list-metrics",
      "schema": 1,
      "command": [
        "lapwing",
        "list",
        "metrics",
        "--format",
        "json"
      ],
      "headline": "2 metrics",
      "verdict": null,
      "next": [],
      "notes": [],
      "omitted_rows": 0,
      "count": 2,
      "metrics": [
        {
          "benchmarks": 1,
          "better": [],
          "metric": "peak_memory",
          "summaries": 1,
          "units": []
        },
        {
          "benchmarks": 1,
          "better": [
            "lower"
          ],
          "metric": "wall_time",
          "summaries": 1,
          "units": [
            "s"
          ]
        }
      ]
    }
    exit 0
    "#);
}

#[test]
fn an_empty_place_teaches_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    assert_snapshot!(run(folder.path(), &["list"]), @r#"
    error: nothing measured yet: there is no store at .lapwing/lapwing.db
      hint: measure with `lapwing run -- COMMAND`, or import results with `lapwing import FILE`
    exit 2
    "#);
    fs::write(folder.path().join("notes.db"), "no database").unwrap();
    assert_snapshot!(run(folder.path(), &["--store", "notes.db", "list"]), @r#"
    error: notes.db is not a Lapwing store: it is no SQLite database
      hint: choose another file with --store PATH
    exit 2
    "#);
    assert_snapshot!(run(folder.path(), &["--store", ".", "list"]), @r#"
    error: . is a directory, not a store
      hint: give the path of a file in it, as in --store DIR/lapwing.db
    exit 2
    "#);
}

#[test]
fn exports_have_a_row_also_for_what_failed() {
    let folder = filled();
    let export = |form: &[&str]| run(folder.path(), &[&["export", "--to"], form].concat());
    assert_snapshot!(export(&["csv"]), @"
    suite,session,session_id,run,benchmark,version,commit,variant,instance,host,block,position,attempt,index,burn_in,outcome,message,metric,unit,value,statistic,spread,n
    joins,nightly,01930000-0000-7000-8000-000000000001,01930000-0000-7000-8000-000000000002,t.py::test_join[10],2026.9,ab12cd34ef56ab12cd34ef56ab12cd34ef56ab12,fast,01930000-0000-7000-8000-000000000003,,0,0,0,0,true,ok,,rows,,10.0,,,
    joins,nightly,01930000-0000-7000-8000-000000000001,01930000-0000-7000-8000-000000000002,t.py::test_join[10],2026.9,ab12cd34ef56ab12cd34ef56ab12cd34ef56ab12,fast,01930000-0000-7000-8000-000000000003,,0,0,0,0,true,ok,,wall_time,s,1.5,,,
    joins,nightly,01930000-0000-7000-8000-000000000001,01930000-0000-7000-8000-000000000002,t.py::test_join[10],2026.9,ab12cd34ef56ab12cd34ef56ab12cd34ef56ab12,fast,01930000-0000-7000-8000-000000000003,,0,0,0,1,false,failed,exit code 1,,,,,,
    exit 0
    ");
    assert_snapshot!(export(&["csv", "--wide", "--metric", "wall_time"]), @r#"
    suite,session,session_id,run,benchmark,version,commit,variant,instance,host,block,position,attempt,index,burn_in,outcome,message,wall_time
    joins,nightly,01930000-0000-7000-8000-000000000001,01930000-0000-7000-8000-000000000002,t.py::test_join[10],2026.9,ab12cd34ef56ab12cd34ef56ab12cd34ef56ab12,fast,01930000-0000-7000-8000-000000000003,,0,0,0,0,true,ok,,1.5
    joins,nightly,01930000-0000-7000-8000-000000000001,01930000-0000-7000-8000-000000000002,t.py::test_join[10],2026.9,ab12cd34ef56ab12cd34ef56ab12cd34ef56ab12,fast,01930000-0000-7000-8000-000000000003,,0,0,0,1,false,failed,exit code 1,
    exit 0
    "#);
    assert_snapshot!(export(&["json"]), @r#"
    [
    {"attempt":0,"benchmark":"t.py::test_join[10]","block":0,"burn_in":true,"commit":"ab12cd34ef56ab12cd34ef56ab12cd34ef56ab12","index":0,"instance":"01930000-0000-7000-8000-000000000003","metrics":{"rows":10.0,"wall_time":1.5},"outcome":"ok","params":{},"position":0,"run":"01930000-0000-7000-8000-000000000002","session":"nightly","session_id":"01930000-0000-7000-8000-000000000001","suite":"joins","tags":["shuffle"],"variant":"fast","version":"2026.9"},
    {"attempt":0,"benchmark":"t.py::test_join[10]","block":0,"burn_in":false,"commit":"ab12cd34ef56ab12cd34ef56ab12cd34ef56ab12","index":1,"instance":"01930000-0000-7000-8000-000000000003","message":"exit code 1","metrics":{},"outcome":"failed","params":{},"position":0,"run":"01930000-0000-7000-8000-000000000002","session":"nightly","session_id":"01930000-0000-7000-8000-000000000001","suite":"joins","tags":["shuffle"],"variant":"fast","version":"2026.9"}
    ]
    exit 0
    "#);
    assert_snapshot!(export(&["record", "--metric", "rows"]), @"
    error: records are exported whole; they cannot be limited to a metric
      hint: use --to csv or --to json to export a single metric
    exit 2
    ");
}

#[test]
fn the_views_can_be_read_by_anybody() {
    let folder = filled();
    let store = rusqlite::Connection::open(folder.path().join(".lapwing/lapwing.db")).unwrap();
    let rows: Vec<String> = store
        .prepare(
            "SELECT suite || '|' || session || '|' || benchmark || '|' || version || '|' || \
             variant || '|' || \"index\" || '|' || burn_in || '|' || outcome || '|' || \
             coalesce(message, '-') || '|' || coalesce(wall_time, '-') || '|' || metrics \
             FROM iterations ORDER BY \"index\"",
        )
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert_snapshot!(rows.join("\n"), @r#"
    joins|nightly|t.py::test_join[10]|2026.9|fast|0|1|ok|-|1.5|{"wall_time":1.5,"rows":10.0}
    joins|nightly|t.py::test_join[10]|2026.9|fast|1|0|failed|exit code 1|-|{}
    "#);
    let counts: (i64, i64, Option<f64>, String) = store
        .query_row(
            "SELECT iterations, failures, mean_wall_time, outcome FROM instances",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)),
        )
        .unwrap();
    assert_eq!(counts, (2, 1, None, "ok".to_owned()));
}

/// hyperfine writes no date: what it measured begins at the file's time.
const HYPERFINE: &str = r#"{"results": [{"command": "sort", "times": [0.5, 0.25]}]}"#;

#[test]
fn the_same_file_in_two_folders_is_the_same_in_both_stores() {
    let folder = tempfile::tempdir().unwrap();
    let run = |words: &[&str]| run(folder.path(), words);
    for (name, start) in [
        ("one/night.json", 1_700_000_000),
        ("two/night.json", 1_800_000_000),
    ] {
        fs::create_dir_all(folder.path().join(name).parent().unwrap()).unwrap();
        let file = fs::File::create(folder.path().join(name)).unwrap();
        fs::write(folder.path().join(name), HYPERFINE).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::from_secs(start))
            .unwrap();
    }
    run(&["--store", "one.db", "import", "one/night.json"]);
    run(&["--store", "two.db", "import", "two/night.json"]);
    let before = run(&["--store", "one.db", "list", "sessions"]);
    assert_snapshot!(before, @"
    1 session

     session  started           suite      runs  instances  iterations  unfinished  tool       id
     night    2023-11-14 22:13  hyperfine     1          1           2           0  hyperfine  284c10aa-0a12-8803-9ac1-c75ddfb806a5
    exit 0
    ");
    assert_snapshot!(run(&["--store", "one.db", "db", "merge", "two.db"]), @"
    two.db: 0 records new, 6 already present
    exit 0
    ");
    run(&[
        "--store",
        "two.db",
        "export",
        "--to",
        "record",
        "--output",
        "two.jsonl",
    ]);
    assert_snapshot!(run(&["--store", "one.db", "import", "two.jsonl"]), @"
    two.jsonl: nothing new, everything is already in the store
    detected record: its first line has `v` and `kind`
    stored in one.db as session `night` of suite `hyperfine`
    found 1 name, 1 result
    exit 0
    ");
    assert_eq!(run(&["--store", "one.db", "list", "sessions"]), before);
    // Another suite is a disagreement, and only that is said.
    run(&[
        "--store",
        "three.db",
        "import",
        "--as",
        "suite=mine",
        "two/night.json",
    ]);
    assert_snapshot!(run(&["--store", "one.db", "db", "merge", "three.db"]), @r#"
    error: session 284c10aa-0a12-8803-9ac1-c75ddfb806a5 is already in the store with other content: `suite` is "hyperfine" there and "mine" here
      nothing was merged from three.db
      hint: the two stores disagree about a measurement; find out which one was changed
    exit 2
    "#);
}

#[test]
fn who_misspells_a_store_makes_none() {
    let folder = filled();
    let one = ["--store", "new.db", "db"];
    let new = |words: &[&str]| run(folder.path(), &[&one[..], words].concat());
    assert_snapshot!(new(&["merge", ".lapwing/lapwing.db", "nosuch.db"]), @"
    error: there is no store at nosuch.db
      nothing was merged
    exit 2
    ");
    fs::write(folder.path().join("text.db"), "text").unwrap();
    assert_snapshot!(new(&["merge", "text.db"]), @"
    error: text.db is not a Lapwing store: it is no SQLite database
      nothing was merged
      hint: choose another file
    exit 2
    ");
    assert_snapshot!(new(&["retire", "sort", "--reason", "r"]), @"
    error: nothing measured yet: there is no store at new.db
      hint: measure with `lapwing run -- COMMAND`, or import results with `lapwing import FILE`
    exit 2
    ");
    assert!(!folder.path().join("new.db").exists());
    assert!(!folder.path().join("nosuch.db").exists());
}

#[test]
fn stores_are_joined_and_purged_only_when_it_is_clear_what_is_meant() {
    let folder = filled();
    let db = |words: &[&str]| run(folder.path(), &[&["db"], words].concat());
    let copy = ["--store", "copy.db", "db"];
    assert_snapshot!(run(folder.path(), &[&copy[..], &["merge", ".lapwing/lapwing.db"]].concat()), @"
    .lapwing/lapwing.db: 6 records new, 0 already present
    exit 0
    ");
    assert_snapshot!(run(folder.path(), &[&copy[..], &["merge", ".lapwing/lapwing.db"]].concat()), @"
    .lapwing/lapwing.db: 0 records new, 6 already present
    exit 0
    ");
    assert_snapshot!(db(&["purge"]), @"
    error: no filter given
      hint: choose what to delete with a filter such as --where session=NAME, or use --everything to delete everything
    exit 2
    ");
    assert_snapshot!(db(&["purge", "--where", "session=nightly"]), @r#"
    would delete 1 instance with 2 iterations from .lapwing/lapwing.db
    note: nothing was deleted; add --yes to delete permanently
    exit 0
    "#);
    assert_snapshot!(db(&["purge", "--where", "session=nightly", "--yes"]), @r#"
    deleted 2 iterations, 1 instance, 1 run and 1 session
    exit 0
    "#);
    assert_snapshot!(run(folder.path(), &["list"]), @"
    no benchmarks yet: the store is empty
    measure with `lapwing run -- COMMAND`, or import results with
    `lapwing import FILE`
    exit 0
    ");
    assert_snapshot!(db(&["check"]), @"
    .lapwing/lapwing.db: no damage found (8 checks)
    exit 0
    ");
}

#[test]
fn a_purge_says_that_summaries_go() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("bench.txt"),
        "test a ... bench:          50 ns/iter (+/- 3)\n",
    )
    .unwrap();
    run(folder.path(), &["import", "bench.txt"]);
    assert_snapshot!(run(folder.path(), &["db", "purge", "--everything"]), @"
    would delete 1 instance with 1 summary from .lapwing/lapwing.db
    note: nothing was deleted; add --yes to delete permanently
    exit 0
    ");
    assert_snapshot!(run(folder.path(), &["db", "purge", "--everything", "--yes"]), @"
    deleted 1 summary, 1 instance, 1 run and 1 session
    exit 0
    ");
}

#[test]
fn what_a_killed_run_left_is_taken_in_by_the_next_command() {
    let folder = tempfile::tempdir().unwrap();
    let inbox = folder.path().join(".lapwing/inbox");
    fs::create_dir_all(&inbox).unwrap();
    fs::write(inbox.join("run.jsonl"), &RECORDS[..RECORDS.len() - 30]).unwrap();
    assert_snapshot!(run(folder.path(), &["list", "--format", "csv"]), @"
    suite,benchmark,tags,instances,iterations,failures,summaries,metrics,last_measured
    joins,t.py::test_join[10],shuffle,1,2,1,0,rows; wall_time,2026-11-20T10:00:00Z
    note: recovered 5 records of an interrupted run from .lapwing/inbox/run.jsonl; the last line was incomplete and is lost
    exit 0
    ");
    assert!(fs::read_dir(&inbox).unwrap().next().is_none());
}

#[test]
fn what_several_runs_left_is_told_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let inbox = folder.path().join(".lapwing/inbox");
    fs::create_dir_all(&inbox).unwrap();
    let lines: Vec<&str> = RECORDS.lines().collect();
    fs::write(inbox.join("a.jsonl"), format!("{}\n", lines[0])).unwrap();
    fs::write(inbox.join("b.jsonl"), RECORDS).unwrap();
    assert_snapshot!(run(folder.path(), &["list", "--format", "csv"]), @"
    suite,benchmark,tags,instances,iterations,failures,summaries,metrics,last_measured
    joins,t.py::test_join[10],shuffle,1,2,1,0,rows; wall_time,2026-11-20T10:00:05Z
    note: recovered 6 records of interrupted runs from .lapwing/inbox (2 files)
    exit 0
    ");
    assert!(fs::read_dir(&inbox).unwrap().next().is_none());
}

#[test]
fn a_damaged_store_is_named_takes_nothing_in_and_what_can_be_read_is_saved() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut records = RecordLines::default();
    let session = records.session("2026-11-20T10:00:00Z", json!({"name": "nightly"}));
    let run_id = records.run(&session, json!({}));
    for _instance in 0..2 {
        let instance = records.instance(&run_id, "sort", json!({}));
        for index in 0..3 {
            records.line(
                "iteration",
                json!({"instance": instance, "index": index, "metrics": {"wall_time": 1.25}}),
            );
        }
    }
    fs::write(folder.join("records.jsonl"), &records.text).unwrap();
    run(folder, &["import", "records.jsonl"]);
    // A digit of a value, in the first of the two instances.
    let path = folder.join(".lapwing/lapwing.db");
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute_batch("UPDATE series SET vals = '[1.25,1.75,1.25]' WHERE instance = 1")
        .unwrap();
    let commands: [&[&str]; 5] = [
        &["db", "check"],
        &["import", "records.jsonl"],
        &["run", "--", "true"],
        &["db", "rescue", ".lapwing/lapwing.db", "-o", "new.db"],
        &["--store", "new.db", "db", "check"],
    ];
    let said = commands.map(|words| run(folder, words));
    assert_snapshot!(said.join("\n"), @"
    error: .lapwing/lapwing.db has 1 problem: values of `wall_time` of iterations 0 to 2 of instance 01930000-0000-7000-8000-000000000003 (benchmark `sort`, session `nightly`): the values have changed
      hint: save what can be read with `lapwing db rescue .lapwing/lapwing.db -o .lapwing/lapwing.rescued.db`
    exit 2
    error: .lapwing/lapwing.db is damaged (values of `wall_time` of iterations 0 to 2 of instance 01930000-0000-7000-8000-000000000003 (benchmark `sort`, session `nightly`): the values have changed): nothing is written into it
      hint: save what can be read with `lapwing db rescue .lapwing/lapwing.db -o .lapwing/lapwing.rescued.db`; after restoring the file from a backup, run `lapwing db check`
    exit 2
    error: .lapwing/lapwing.db is damaged (values of `wall_time` of iterations 0 to 2 of instance 01930000-0000-7000-8000-000000000003 (benchmark `sort`, session `nightly`): the values have changed): nothing is written into it
      hint: save what can be read with `lapwing db rescue .lapwing/lapwing.db -o .lapwing/lapwing.rescued.db`; after restoring the file from a backup, run `lapwing db check`
    exit 2
    saved 10 records into new.db; the rest is complete

     lost
     values of `wall_time` of iterations 0 to 2 of instance 01930000-0000-7000-8000-000000000003 (benchmark `sort`, session `nightly`): the values have changed
    exit 0
    new.db: no damage found (8 checks)
    exit 0
    ");
    // A store in its place is another one.
    fs::rename(folder.join("new.db"), &path).unwrap();
    let said = run(folder, &["--quiet", "run", "--", "true"]);
    assert!(said.trim_end().ends_with("exit 0"), "{said}");
}
