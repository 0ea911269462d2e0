//! `lapwing db rename`, `retire`, `restore` and `annotations` by the real program.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use lapwing_testing::{RecordLines, record_id as id};
use regex::Regex;
use serde_json::json;

use crate::program::{output, run};

/// Four sessions; the first two have `f.py::test_x`, the others `f.py::test_x[default]`.
fn filled() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut lines = RecordLines::default();
    for day in 1..=4 {
        let started = format!("2026-01-0{day}T10:00:00Z");
        let more = json!({"id": id(0, day), "name": format!("day{day}")});
        let session = lines.session(&started, more);
        let version = json!({"name": format!("v{day}")});
        let run = lines.run(&session, json!({"id": id(1, day), "version": version}));
        let x = if day <= 2 {
            "f.py::test_x"
        } else {
            "f.py::test_x[default]"
        };
        for (number, name) in [(1, x), (2, "f.py::test_y"), (3, "g.py::test_z")] {
            let more = json!({"id": id(2, 10 * day + number)});
            let instance = lines.instance(&run, name, more);
            let metrics = json!({"wall_time": f64::from(day) + 0.5, "mem": day});
            lines.iteration(&instance, 0, json!({"metrics": metrics}));
            lines.instance_end(&instance);
        }
    }
    fs::write(folder.path().join("all.jsonl"), lines.text).unwrap();
    run(folder.path(), &["import", "all.jsonl"]);
    folder
}

/// What the program says of history, without ids and times.
fn db(folder: &Path, arguments: &[&str]) -> String {
    let said = run(folder, &[&["db"], arguments].concat());
    let id = Regex::new("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}").unwrap();
    let time = Regex::new(r"20[0-9-]{8}[T ][0-9:]*[0-9](\.[0-9]+)?(Z| UTC)?").unwrap();
    let said = id.replace_all(&said, "ID");
    let said = time.replace_all(&said, |found: &regex::Captures<'_>| {
        if found[0].starts_with("2026-01") {
            found[0].to_owned()
        } else {
            "TIME".to_owned()
        }
    });
    said.into_owned()
}

fn list(folder: &Path, more: &[&str]) -> String {
    run(folder, &[&["list", "--format", "csv"], more].concat())
}

/// The id of the last annotation.
fn last(folder: &Path) -> String {
    let out = output(folder, &["db", "annotations", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    let all = json["annotations"].as_array().unwrap();
    all.last().unwrap()["id"].as_str().unwrap().to_owned()
}

const WHY: [&str; 4] = ["--by", "ada", "--reason", "it gained a parameter"];

#[test]
fn a_test_that_gained_a_parameter_goes_on() {
    let folder = filled();
    let folder = folder.path();
    let rename = ["rename", "f.py::test_x", "f.py::test_x[default]"];
    assert_snapshot!(db(folder, &[&rename[..], &WHY, &["--dry-run"]].concat()), @"
    would rename `f.py::test_x` to `f.py::test_x[default]`: 1 benchmark, 2 instances
    note: `f.py::test_x[default]` already has results: the two are joined into one
    series
    note: nothing was changed
    exit 0
    ");
    assert_snapshot!(list(folder, &[]), @"
    suite,benchmark,tags,instances,iterations,failures,summaries,metrics,last_measured
    s,f.py::test_x,,2,2,0,0,mem; wall_time,2026-01-02T10:00:00Z
    s,f.py::test_x[default],,2,2,0,0,mem; wall_time,2026-01-04T10:00:00Z
    s,f.py::test_y,,4,4,0,0,mem; wall_time,2026-01-04T10:00:00Z
    s,g.py::test_z,,4,4,0,0,mem; wall_time,2026-01-04T10:00:00Z
    exit 0
    ");
    assert_snapshot!(db(folder, &[&rename[..], &WHY].concat()), @"
    renamed `f.py::test_x` to `f.py::test_x[default]`: 1 benchmark, 2 instances
    note: `f.py::test_x[default]` already has results: the two are joined into one
    series
    next: `lapwing db restore ID` undoes it
    exit 0
    ");
    assert_snapshot!(list(folder, &[]), @"
    suite,benchmark,tags,instances,iterations,failures,summaries,metrics,last_measured
    s,f.py::test_x[default],,4,4,0,0,mem; wall_time,2026-01-04T10:00:00Z
    s,f.py::test_y,,4,4,0,0,mem; wall_time,2026-01-04T10:00:00Z
    s,g.py::test_z,,4,4,0,0,mem; wall_time,2026-01-04T10:00:00Z
    exit 0
    ");
    assert_snapshot!(run(folder, &["export", "--to", "csv", "--benchmark", "f.py::test_x", "--metric", "wall_time"]), @"
    suite,session,session_id,run,benchmark,version,commit,variant,instance,host,block,position,attempt,index,burn_in,outcome,message,metric,unit,value,statistic,spread,n
    s,day1,01930000-0000-7000-8000-000000000001,01930000-0000-7000-8001-000000000001,f.py::test_x[default],v1,,default,01930000-0000-7000-8002-000000000011,,0,0,0,0,false,ok,,wall_time,s,1.5,,,
    s,day2,01930000-0000-7000-8000-000000000002,01930000-0000-7000-8001-000000000002,f.py::test_x[default],v2,,default,01930000-0000-7000-8002-000000000021,,0,0,0,0,false,ok,,wall_time,s,2.5,,,
    s,day3,01930000-0000-7000-8000-000000000003,01930000-0000-7000-8001-000000000003,f.py::test_x[default],v3,,default,01930000-0000-7000-8002-000000000031,,0,0,0,0,false,ok,,wall_time,s,3.5,,,
    s,day4,01930000-0000-7000-8000-000000000004,01930000-0000-7000-8001-000000000004,f.py::test_x[default],v4,,default,01930000-0000-7000-8002-000000000041,,0,0,0,0,false,ok,,wall_time,s,4.5,,,
    exit 0
    ");
    assert_snapshot!(db(folder, &["annotations"]), @"
    1 annotation

     at                   by   action  what                                      reason                 active  id
     TIME  ada  rename  f.py::test_x → f.py::test_x[default] (s)  it gained a parameter  yes     ID
    exit 0
    ");
    assert_snapshot!(db(folder, &["restore", &last(folder), "--by", "bob", "--reason", "it did not"]), @"
    undid the rename of TIME: 1 benchmark, 2 instances
    exit 0
    ");
    assert_snapshot!(list(folder, &["--benchmark", "f.py::test_x*"]), @"
    suite,benchmark,tags,instances,iterations,failures,summaries,metrics,last_measured
    s,f.py::test_x,,2,2,0,0,mem; wall_time,2026-01-02T10:00:00Z
    s,f.py::test_x[default],,2,2,0,0,mem; wall_time,2026-01-04T10:00:00Z
    exit 0
    ");
    assert_snapshot!(db(folder, &["annotations", "--format", "markdown"]), @r"
    2 annotations

    | at | by | action | what | reason | active | id |
    |---|---|---|---|---|---|---|
    | TIME | ada | rename | f.py::test_x → f.py::test_x\[default\] (s) | it gained a parameter | no | ID |
    | TIME | bob | restore | ID | it did not | yes | ID |
    exit 0
    ");
}

#[test]
fn renames_that_cannot_be_meant_are_refused() {
    let folder = filled();
    let folder = folder.path();
    let rename = |names: &[&str]| db(folder, &[&["rename"], names, &WHY].concat());
    assert_snapshot!(rename(&["f.py::test_X", "new"]), @"
    error: no benchmark `f.py::test_X`; did you mean `f.py::test_x` or `f.py::test_y` or `g.py::test_z`?
      hint: `lapwing list benchmarks` lists them
    exit 2
    ");
    assert_snapshot!(rename(&["test_y", "new"]), @"
    error: no benchmark is called `test_y`
      hint: similar ids: `f.py::test_y`; give a full id, or a pattern with *
    exit 2
    ");
    assert_snapshot!(rename(&["f.py::*", "new"]), @"
    error: 3 benchmarks match `f.py::*`, and all would get the same id
      hint: put a * into the new id as well, or rename them one by one
    exit 2
    ");
    assert_snapshot!(rename(&["f.py::test_y", "f.py::test_y"]), @"
    error: `f.py::test_y` already has this name
    exit 2
    ");
    assert_snapshot!(rename(&["f.py::test_y", "--metric", "memory=peak_memory"]), @"
    error: `f.py::test_y` has no metric `memory`
      hint: it has `mem`, `wall_time`
    exit 2
    ");
    assert_snapshot!(db(folder, &["rename", "f.py::test_y", "new"]), @"
    error: the following required arguments were not provided:
      --reason <TEXT>

    Usage: lapwing db rename --reason <TEXT> <BENCHMARK> <NEW>

    For more information, try '--help'.
    exit 2
    ");
    assert_snapshot!(rename(&["f.py::test_y", "new"]), @"
    renamed `f.py::test_y` to `new`: 1 benchmark, 4 instances
    next: `lapwing db restore ID` undoes it
    exit 0
    ");
    assert_snapshot!(rename(&["f.py::test_y", "newer"]), @"
    error: `f.py::test_y` was renamed to `new`
      hint: use its current id
    exit 2
    ");
    assert_snapshot!(rename(&["new", "f.py::test_y"]), @"
    error: `new` was called `f.py::test_y` before: the rename would be circular
      hint: `lapwing db annotations` lists the rename; `lapwing db restore ID` undoes it
    exit 2
    ");
    assert_snapshot!(rename(&["g.py::test_z", "f.py::test_y"]), @"
    error: `f.py::test_y` was renamed to `new`
      hint: use that name, or undo the other rename first
    exit 2
    ");
}

#[test]
fn a_file_moves_with_a_pattern_and_metrics_are_renamed() {
    let folder = filled();
    let folder = folder.path();
    assert_snapshot!(db(folder, &[&["rename", "f.py::*", "dir/f.py::*"][..], &WHY].concat()), @"
    renamed `f.py::*` to `dir/f.py::*`: 3 benchmarks, 8 instances
    next: `lapwing db annotations` lists the 3 annotations that were added
    exit 0
    ");
    assert_snapshot!(db(folder, &[&["rename", "*", "--metric", "mem=peak_memory"][..], &WHY].concat()), @"
    renamed metric `mem` of `*` to `peak_memory`: 4 benchmarks, 12 instances
    next: `lapwing db restore ID` undoes it
    exit 0
    ");
    assert_snapshot!(list(folder, &[]), @"
    suite,benchmark,tags,instances,iterations,failures,summaries,metrics,last_measured
    s,dir/f.py::test_x,,2,2,0,0,peak_memory; wall_time,2026-01-02T10:00:00Z
    s,dir/f.py::test_x[default],,2,2,0,0,peak_memory; wall_time,2026-01-04T10:00:00Z
    s,dir/f.py::test_y,,4,4,0,0,peak_memory; wall_time,2026-01-04T10:00:00Z
    s,g.py::test_z,,4,4,0,0,peak_memory; wall_time,2026-01-04T10:00:00Z
    exit 0
    ");
    assert_snapshot!(list(folder, &["metrics"]), @"
    metric,units,better,benchmarks,summaries
    peak_memory,,,4,0
    wall_time,s,lower,4,0
    exit 0
    ");
}

#[test]
fn what_is_retired_is_left_out_until_it_is_restored() {
    let folder = filled();
    let folder = folder.path();
    let why = ["--by", "ada", "--reason", "its data grew"];
    let retire = |what: &[&str]| db(folder, &[&["retire"], what, &why].concat());
    assert_snapshot!(retire(&["f.py::test_y", "--where", "until=2026-01-01"]), @"
    error: nothing to retire: no result of `f.py::test_y` matches
      hint: `lapwing list runs --benchmark NAME` shows when and for which versions it was measured
    exit 2
    ");
    assert_snapshot!(retire(&["f.py::test_y", "--where", "until=2026-01-03"]), @"
    retired `f.py::test_y`: 1 benchmark, 2 instances
    next: `lapwing db restore ID` undoes it
    exit 0
    ");
    assert_snapshot!(list(folder, &["-b", "test_y"]), @"
    suite,benchmark,tags,instances,iterations,failures,summaries,metrics,last_measured
    s,f.py::test_y,,2,2,0,0,mem; wall_time,2026-01-04T10:00:00Z
    exit 0
    ");
    assert_snapshot!(list(folder, &["-b", "test_y", "--where", "retired=yes"]), @"
    suite,benchmark,tags,instances,iterations,failures,summaries,metrics,last_measured
    s,f.py::test_y,,4,4,0,0,mem; wall_time,2026-01-04T10:00:00Z
    exit 0
    ");
    assert_snapshot!(retire(&["g.py::test_z", "--metric", "mem", "--where", "version=v4"]), @"
    retired `mem` of `g.py::test_z`: 1 benchmark, 1 instance
    next: `lapwing db restore ID` undoes it
    exit 0
    ");
    assert_snapshot!(run(folder, &["export", "--to", "csv", "--wide", "-b", "test_z"]), @"
    suite,session,session_id,run,benchmark,version,commit,variant,instance,host,block,position,attempt,index,burn_in,outcome,message,mem,wall_time
    s,day1,01930000-0000-7000-8000-000000000001,01930000-0000-7000-8001-000000000001,g.py::test_z,v1,,default,01930000-0000-7000-8002-000000000013,,0,0,0,0,false,ok,,1.0,1.5
    s,day2,01930000-0000-7000-8000-000000000002,01930000-0000-7000-8001-000000000002,g.py::test_z,v2,,default,01930000-0000-7000-8002-000000000023,,0,0,0,0,false,ok,,2.0,2.5
    s,day3,01930000-0000-7000-8000-000000000003,01930000-0000-7000-8001-000000000003,g.py::test_z,v3,,default,01930000-0000-7000-8002-000000000033,,0,0,0,0,false,ok,,3.0,3.5
    s,day4,01930000-0000-7000-8000-000000000004,01930000-0000-7000-8001-000000000004,g.py::test_z,v4,,default,01930000-0000-7000-8002-000000000043,,0,0,0,0,false,ok,,,4.5
    note: retired `mem` of 1 instance is excluded (--where retired=yes to include); `lapwing db annotations` shows why
    exit 0
    ");
    assert_snapshot!(retire(&["f.py::*"]), @"
    retired `f.py::*`: 3 benchmarks, 8 instances
    next: `lapwing db restore ID` undoes it
    exit 0
    ");
    assert_snapshot!(list(folder, &[]), @"
    suite,benchmark,tags,instances,iterations,failures,summaries,metrics,last_measured
    s,g.py::test_z,,4,4,0,0,mem; wall_time,2026-01-04T10:00:00Z
    exit 0
    ");
    assert_snapshot!(run(folder, &["variability", "-b", "test_y"]), @"
    note: 4 retired instances are excluded (--where retired=yes to include); `lapwing db annotations` shows why
    error: no usable values: no benchmark passes the filters
      hint: `lapwing list` shows the contents of the store
    exit 3
    ");
    assert_snapshot!(db(folder, &["restore", "f.py::test_y", "--by", "bob"]), @"
    undid 2 retirements: 3 benchmarks, 8 instances
    exit 0
    ");
    assert_snapshot!(list(folder, &[]), @"
    suite,benchmark,tags,instances,iterations,failures,summaries,metrics,last_measured
    s,f.py::test_x,,2,2,0,0,mem; wall_time,2026-01-02T10:00:00Z
    s,f.py::test_x[default],,2,2,0,0,mem; wall_time,2026-01-04T10:00:00Z
    s,f.py::test_y,,4,4,0,0,mem; wall_time,2026-01-04T10:00:00Z
    s,g.py::test_z,,4,4,0,0,mem; wall_time,2026-01-04T10:00:00Z
    exit 0
    ");
    assert_snapshot!(db(folder, &["restore", "f.py::test_y", "--by", "bob"]), @"
    error: `f.py::test_y` is neither an annotation nor a benchmark with active annotations
      hint: `lapwing db annotations` lists all annotations
    exit 2
    ");
    assert_snapshot!(db(folder, &["annotations", "--format", "csv"]), @r#"
    id,at,by,action,what,reason,active,undone_by,superseded_by
    ID,TIME,ada,retire,"f.py::test_y, before 2026-01-03 00:00:00",its data grew,false,ID,
    ID,TIME,ada,retire,"mem of g.py::test_z, version v4, before TIME",its data grew,true,,
    ID,TIME,ada,retire,"f.py::*, before TIME",its data grew,false,ID,
    ID,TIME,bob,restore,ID,,true,,
    ID,TIME,bob,restore,ID,,true,,
    exit 0
    "#);
}

#[test]
fn an_id_that_looks_like_a_pattern_means_itself() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut lines = RecordLines::default();
    let session = lines.session("2026-01-01T10:00:00Z", json!({}));
    let first = lines.run(&session, json!({}));
    for name in ["cat *.txt", "cat a.txt", "cat b.txt"] {
        let instance = lines.instance(&first, name, json!({}));
        lines.iteration(&instance, 0, json!({"metrics": {"wall_time": 1.5}}));
    }
    fs::write(folder.join("all.jsonl"), lines.text).unwrap();
    run(folder, &["import", "all.jsonl"]);
    assert_snapshot!(db(folder, &[&["retire", "cat *.txt"][..], &WHY].concat()), @"
    retired `cat *.txt`: 1 benchmark, 1 instance
    next: `lapwing db restore ID` undoes it
    exit 0
    ");
    assert_snapshot!(list(folder, &[]), @"
    suite,benchmark,tags,instances,iterations,failures,summaries,metrics,last_measured
    s,cat a.txt,,1,1,0,0,wall_time,2026-01-01T10:00:00Z
    s,cat b.txt,,1,1,0,0,wall_time,2026-01-01T10:00:00Z
    exit 0
    ");
    db(folder, &["restore", &last(folder)]);
    assert_snapshot!(db(folder, &[&["rename", "cat *.txt", "--metric", "wall_time=time"][..], &WHY].concat()), @"
    renamed metric `wall_time` of `cat *.txt` to `time`: 1 benchmark, 1 instance
    next: `lapwing db restore ID` undoes it
    exit 0
    ");
    assert_snapshot!(db(folder, &[&["rename", "cat *.txt", "cat all"][..], &WHY].concat()), @"
    renamed `cat *.txt` to `cat all`: 1 benchmark, 1 instance
    next: `lapwing db restore ID` undoes it
    exit 0
    ");
    assert_snapshot!(list(folder, &[]), @"
    suite,benchmark,tags,instances,iterations,failures,summaries,metrics,last_measured
    s,cat a.txt,,1,1,0,0,wall_time,2026-01-01T10:00:00Z
    s,cat all,,1,1,0,0,time,2026-01-01T10:00:00Z
    s,cat b.txt,,1,1,0,0,wall_time,2026-01-01T10:00:00Z
    exit 0
    ");
    // Now that nothing is called so, it is a pattern, which also fits an id that a benchmark had.
    assert_snapshot!(db(folder, &[&["retire", "cat *.txt"][..], &WHY].concat()), @"
    retired `cat *.txt`: 3 benchmarks, 3 instances
    next: `lapwing db restore ID` undoes it
    exit 0
    ");
}

#[test]
fn a_restoration_is_undone_whatever_the_clocks_say_and_says_what_it_is_about() {
    let folder = filled();
    let folder = folder.path();
    // Somebody whose clock is far ahead.
    let mut text = String::new();
    let (retired, restored) = (id(4, 1), id(4, 2));
    writeln!(text, r#"{{"v":1,"kind":"annotation","id":"{retired}","at":"2026-01-05T10:00:00Z","by":"a","action":"retire","target":{{"benchmark":"f.py::test_y"}}}}"#).unwrap();
    writeln!(text, r#"{{"v":1,"kind":"annotation","id":"{restored}","at":"2126-01-05T10:00:00Z","by":"a","action":"restore","target":{{"annotation":"{retired}"}}}}"#).unwrap();
    fs::write(folder.join("said.jsonl"), text).unwrap();
    run(folder, &["import", "said.jsonl"]);
    let undo = ["restore", &restored, "--by", "bob"];
    assert_snapshot!(db(folder, &[&undo[..], &["--dry-run"]].concat()), @"
    would undo the restoration of 2126-01-05 10:00:00: 1 benchmark, 4 instances
    note: nothing was changed
    exit 0
    ");
    assert_snapshot!(db(folder, &undo), @"
    undid the restoration of 2126-01-05 10:00:00: 1 benchmark, 4 instances
    exit 0
    ");
    assert_snapshot!(db(folder, &["annotations", "--format", "csv"]), @r#"
    id,at,by,action,what,reason,active,undone_by,superseded_by
    ID,2026-01-05T10:00:00Z,a,retire,"f.py::test_y, before 2026-01-05 10:00:00",,true,,
    ID,2126-01-05T10:00:00Z,a,restore,ID,,false,ID,
    ID,2126-01-05T10:00:00.000001Z,bob,restore,ID,,true,,
    exit 0
    "#);
    assert_snapshot!(list(folder, &["-b", "test_y"]), @"
    suite,benchmark,tags,instances,iterations,failures,summaries,metrics,last_measured
    exit 0
    ");
}

#[test]
fn of_eight_who_rename_at_once_one_does() {
    let folder = filled();
    let path = folder.path();
    let new: Vec<String> = (0..8).map(|number| format!("new {number}")).collect();
    let ended: Vec<std::process::Output> = std::thread::scope(|scope| {
        let rename = |new: &str| {
            output(
                path,
                &["db", "rename", "f.py::test_y", new, "--reason", "r"],
            )
        };
        let all: Vec<_> = new
            .iter()
            .map(|new| scope.spawn(move || rename(new)))
            .collect();
        all.into_iter().map(|it| it.join().unwrap()).collect()
    });
    let (done, refused): (Vec<_>, Vec<_>) = ended.iter().partition(|it| it.status.success());
    assert_eq!((done.len(), refused.len()), (1, 7));
    for it in refused {
        let said = String::from_utf8_lossy(&it.stderr);
        assert!(
            said.contains("`f.py::test_y` was renamed to `new"),
            "{said}"
        );
    }
}

#[test]
fn what_two_stores_said_otherwise_of_one_benchmark_is_told() {
    let folder = filled();
    let folder = folder.path();
    let mut text = String::new();
    for (number, suite, new) in [(1, "s", "b"), (2, "s", "c")] {
        let id = id(4, number);
        writeln!(text, r#"{{"v":1,"kind":"annotation","id":"{id}","at":"2026-01-0{number}T10:00:00Z","by":"a","action":"rename","target":{{"suite":"{suite}","benchmark":"f.py::test_y","new":"{new}"}}}}"#).unwrap();
    }
    fs::write(folder.join("said.jsonl"), text).unwrap();
    run(folder, &["import", "said.jsonl"]);
    assert_snapshot!(db(folder, &["annotations", "--format", "csv"]), @"
    id,at,by,action,what,reason,active,undone_by,superseded_by
    ID,2026-01-01T10:00:00Z,a,rename,f.py::test_y → b (s),,false,,ID
    ID,2026-01-02T10:00:00Z,a,rename,f.py::test_y → c (s),,true,,
    exit 0
    ");
    // The same id in two suites is told once.
    let other = fs::read_to_string(folder.join("all.jsonl")).unwrap();
    let other = other
        .replace("01930000", "01940000")
        .replace(r#""suite":"s""#, r#""suite":"t""#);
    fs::write(folder.join("other.jsonl"), other).unwrap();
    run(folder, &["import", "other.jsonl"]);
    db(
        folder,
        &[&["rename", "f.py::test_x", "x"][..], &WHY].concat(),
    );
    assert_snapshot!(db(folder, &[&["rename", "f.py::test_x", "y"][..], &WHY].concat()), @"
    error: `f.py::test_x` was renamed to `x`
      hint: use its current id
    exit 2
    ");
}

#[test]
fn what_is_renamed_to_a_retired_id_still_counts() {
    let folder = filled();
    let folder = folder.path();
    let why = ["--by", "ada", "--reason", "r"];
    let say = |what: &[&str]| db(folder, &[what, &why].concat());
    say(&["retire", "f.py::test_x[default]"]);
    assert_snapshot!(say(&["rename", "f.py::test_x", "f.py::test_x[default]"]), @"
    renamed `f.py::test_x` to `f.py::test_x[default]`: 1 benchmark, 2 instances
    note: `f.py::test_x[default]` already has results: the two are joined into one
    series
    note: retired results of `f.py::test_x[default]` stay retired; results of
    `f.py::test_x` are included: a retirement applies to whatever had that name at
    the time
    next: `lapwing db restore ID` undoes it
    exit 0
    ");
    assert_snapshot!(list(folder, &["-b", "f.py::test_x"]), @"
    suite,benchmark,tags,instances,iterations,failures,summaries,metrics,last_measured
    s,f.py::test_x[default],,2,2,0,0,mem; wall_time,2026-01-02T10:00:00Z
    exit 0
    ");
    // Shown all the same, only what was retired is called so.
    run(
        folder,
        &[
            "report",
            "--where",
            "retired=yes",
            "-b",
            "test_x",
            "-o",
            "pages",
        ],
    );
    let index = fs::read_to_string(folder.join("pages/index.html")).unwrap();
    assert!(
        index.contains("2 retired instances are in this report"),
        "{index}"
    );
    // Metrics likewise.
    say(&["retire", "g.py::test_z", "--metric", "mem"]);
    assert_snapshot!(say(&["rename", "g.py::test_z", "--metric", "wall_time=mem"]), @"
    renamed metric `wall_time` of `g.py::test_z` to `mem`: 1 benchmark, 4 instances
    note: retired results of `mem` stay retired; results of `wall_time` are
    included: a retirement applies to whatever had that name at the time
    next: `lapwing db restore ID` undoes it
    exit 0
    ");
    assert_snapshot!(list(folder, &["metrics", "-b", "test_z"]), @"
    metric,units,better,benchmarks,summaries
    mem,s,lower,1,0
    exit 0
    ");
    assert_snapshot!(run(folder, &["export", "--to", "csv", "--wide", "-b", "test_z"]), @"
    suite,session,session_id,run,benchmark,version,commit,variant,instance,host,block,position,attempt,index,burn_in,outcome,message,mem
    s,day1,01930000-0000-7000-8000-000000000001,01930000-0000-7000-8001-000000000001,g.py::test_z,v1,,default,01930000-0000-7000-8002-000000000013,,0,0,0,0,false,ok,,1.5
    s,day2,01930000-0000-7000-8000-000000000002,01930000-0000-7000-8001-000000000002,g.py::test_z,v2,,default,01930000-0000-7000-8002-000000000023,,0,0,0,0,false,ok,,2.5
    s,day3,01930000-0000-7000-8000-000000000003,01930000-0000-7000-8001-000000000003,g.py::test_z,v3,,default,01930000-0000-7000-8002-000000000033,,0,0,0,0,false,ok,,3.5
    s,day4,01930000-0000-7000-8000-000000000004,01930000-0000-7000-8001-000000000004,g.py::test_z,v4,,default,01930000-0000-7000-8002-000000000043,,0,0,0,0,false,ok,,4.5
    note: retired `mem` of 4 instances is excluded (--where retired=yes to include); `lapwing db annotations` shows why
    exit 0
    ");
    // Who retires an id means all that is called so, though the rename came from a clock that is ahead.
    let (ahead, retired) = (id(4, 1), id(4, 2));
    let text = format!(
        r#"{{"v":1,"kind":"annotation","id":"{ahead}","at":"2126-01-05T10:00:00Z","by":"a","action":"rename","target":{{"benchmark":"f.py::test_y","new":"y"}}}}
{{"v":1,"kind":"annotation","id":"{retired}","at":"2126-01-04T10:00:00Z","by":"a","action":"retire","target":{{"benchmark":"z*"}}}}
"#
    );
    fs::write(folder.join("said.jsonl"), text).unwrap();
    run(folder, &["import", "said.jsonl"]);
    assert_snapshot!(say(&["retire", "y"]), @"
    retired `y`: 1 benchmark, 4 instances
    next: `lapwing db restore ID` undoes it
    exit 0
    ");
    assert_snapshot!(list(folder, &["-b", "y"]), @"
    suite,benchmark,tags,instances,iterations,failures,summaries,metrics,last_measured
    exit 0
    ");
    // So does who gives it an id of which somebody ahead has said that all before was wrong.
    say(&["rename", "g.py::test_z", "z"]);
    assert_snapshot!(list(folder, &[]), @"
    suite,benchmark,tags,instances,iterations,failures,summaries,metrics,last_measured
    s,f.py::test_x[default],,2,2,0,0,mem; wall_time,2026-01-02T10:00:00Z
    s,z,,4,4,0,0,mem,2026-01-04T10:00:00Z
    exit 0
    ");
}

#[test]
fn a_retirement_that_says_nothing_is_refused_and_one_of_the_future_is_told() {
    let folder = filled();
    let folder = folder.path();
    let retire = |what: &[&str]| db(folder, &[&["retire"], what, &WHY].concat());
    let said = retire(&["f.py::test_y", "--metric", ""]);
    assert!(said.contains("a value is required for"), "{said}");
    let said = retire(&["f.py::test_y", "--where", "version="]);
    assert!(said.contains("`version` has no value"), "{said}");
    let said = retire(&["f.py::test_y", "--where", "variant=a"]);
    assert!(said.contains("`variant=a` cannot limit this"), "{said}");
    assert!(said.ends_with("exit 2"), "{said}");
    let said = db(folder, &["restore", "f.py::test_y", "--reason", ""]);
    assert!(said.contains("a value is required for"), "{said}");
    assert_snapshot!(db(folder, &["annotations"]), @"
    no annotations
    `lapwing db rename` and `lapwing db retire` add them
    exit 0
    ");
    assert_snapshot!(retire(&["f.py::test_y", "--metric", "mem", "--where", "until=2130-01-02"]), @"
    retired `mem` of `f.py::test_y`: 1 benchmark, 4 instances
    note: 2130-01-02 00:00:00 UTC is in the future: results measured until then are
    excluded as well
    next: `lapwing db restore ID` undoes it
    exit 0
    ");
    assert_snapshot!(retire(&["g.py::test_z", "--metric", "wall_time"]), @"
    retired `wall_time` of `g.py::test_z`: 1 benchmark, 4 instances
    next: `lapwing db restore ID` undoes it
    exit 0
    ");
    assert_snapshot!(list(folder, &["metrics"]), @"
    metric,units,better,benchmarks,summaries
    mem,,,3,0
    wall_time,s,lower,3,0
    exit 0
    ");
    assert_snapshot!(list(folder, &["metrics", "-b", "test_x"]), @"
    metric,units,better,benchmarks,summaries
    mem,,,2,0
    wall_time,s,lower,2,0
    exit 0
    ");
    assert_snapshot!(run(folder, &["compare", "day1", "day2", "-b", "test_y", "--metric", "wall_time"]), @"
    day2 against day1: no verdict, 1 undecided   (1 comparison, FDR 5 %, no change: within 3 %)

     benchmark      ratio  interval  verdict      baseline  candidate  instances  note
     f.py::test_y  ≈1.67×            ? undecided    1.50 s     2.50 s      1 / 1  need 3 instances per side, got 1 and 1

    note: ratios marked ≈ are of one or two processes per side: their intervals, in
    parentheses, are of iterations within these processes, and others may differ.
    For a regression or improvement, compare at least 3 instances per side: several
    files ('old*.json'), or measurements of `lapwing run`
    exit 3
    ");
}

#[test]
fn filters_find_a_benchmark_by_patterns_of_ids_that_it_had() {
    let folder = filled();
    let folder = folder.path();
    let say = |what: &[&str]| db(folder, &[what, &WHY].concat());
    say(&["rename", "f.py::*", "dir/moved.py::*"]);
    let found = list(folder, &["-b", "f.py::*"]);
    assert_snapshot!(found, @"
    suite,benchmark,tags,instances,iterations,failures,summaries,metrics,last_measured
    s,dir/moved.py::test_x,,2,2,0,0,mem; wall_time,2026-01-02T10:00:00Z
    s,dir/moved.py::test_x[default],,2,2,0,0,mem; wall_time,2026-01-04T10:00:00Z
    s,dir/moved.py::test_y,,4,4,0,0,mem; wall_time,2026-01-04T10:00:00Z
    exit 0
    ");
    assert_eq!(list(folder, &["-b", "f.py"]), found);
    assert_eq!(list(folder, &["-b", "dir/*"]), found);
    assert_snapshot!(list(folder, &["-b", "f.py::test_y"]), @"
    suite,benchmark,tags,instances,iterations,failures,summaries,metrics,last_measured
    s,dir/moved.py::test_y,,4,4,0,0,mem; wall_time,2026-01-04T10:00:00Z
    exit 0
    ");
    assert_snapshot!(say(&["retire", "f.py::*"]), @"
    error: `f.py::*` was renamed to `dir/moved.py::test_x`, `dir/moved.py::test_x[default]`, `dir/moved.py::test_y`
      hint: use its current id
    exit 2
    ");
    assert_snapshot!(say(&["rename", "f.py::*", "h.py::*"]), @"
    error: `f.py::*` was renamed to `dir/moved.py::test_x`, `dir/moved.py::test_x[default]`, `dir/moved.py::test_y`
      hint: use its current id
    exit 2
    ");
}

#[test]
fn a_renamed_metric_is_retired_by_the_name_that_it_has_now() {
    let folder = filled();
    let folder = folder.path();
    let say = |what: &[&str]| db(folder, &[what, &WHY].concat());
    say(&["rename", "g.py::test_z", "--metric", "mem=memory"]);
    assert_snapshot!(say(&["retire", "g.py::test_z", "--metric", "memory"]), @"
    retired `memory` of `g.py::test_z`: 1 benchmark, 4 instances
    next: `lapwing db restore ID` undoes it
    exit 0
    ");
    assert_snapshot!(list(folder, &["metrics", "-b", "test_z"]), @"
    metric,units,better,benchmarks,summaries
    wall_time,s,lower,1,0
    exit 0
    ");
}
