//! `lapwing import` by the real program: what it says of good files and of bad ones.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use insta::assert_snapshot;

const HAIL: &str = include_str!("../../../../tests/fixtures/hail/results.jsonl");
const GOOD: &str = r#"{"path":"a.py","name":"test_a","iterations":[{"time":1.5,"is_burn_in":false,"timed_out":false,"task_memory":0}]}"#;

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path().join(name), content).unwrap();
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("lapwing"));
        command.args(arguments).current_dir(self.path());
        command
    }

    /// Exit code and everything that was said, standard output first.
    fn run(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().unwrap();
        format!(
            "{}{}exit {}",
            String::from_utf8(output.stdout).unwrap(),
            String::from_utf8(output.stderr).unwrap(),
            output.status.code().unwrap()
        )
    }

    /// Sessions, instances and iterations in the store.
    fn held(&self) -> (i64, i64, i64) {
        let store = rusqlite::Connection::open(self.path().join(".lapwing/lapwing.db")).unwrap();
        let count = |table: &str| {
            store
                .query_row(&format!("SELECT count(*) FROM {table}"), [], |row| {
                    row.get(0)
                })
                .unwrap()
        };
        (count("session"), count("instance"), count("iterations"))
    }
}

fn fixture(name: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
    fs::read(path.join(name)).unwrap()
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut process = Command::new("gzip")
        .arg("-c")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    process.stdin.take().unwrap().write_all(content).unwrap();
    process.wait_with_output().unwrap().stdout
}

#[test]
fn hail_results_are_taken_in_once_whatever_their_name() {
    let place = Place::new();
    place.write("nightly.jsonl", HAIL);
    assert_snapshot!(place.run(&["import", "nightly.jsonl"]), @"
    nightly.jsonl: 4 instances, 7 iterations imported
    detected hail: its first line has `path`, `name` and `iterations`
    stored in .lapwing/lapwing.db as session `nightly` of suite `hail`
    found 3 names, 4 results
    exit 0
    ");
    assert_eq!(place.held(), (1, 4, 7));
    place.write("other.jsonl.gz", gzip(HAIL.as_bytes()));
    assert_snapshot!(place.run(&["import", "other.jsonl.gz"]), @"
    other.jsonl.gz: nothing new, everything is already in the store
    detected hail: its first line has `path`, `name` and `iterations`
    stored in .lapwing/lapwing.db as session `nightly` of suite `hail`
    found 3 names, 4 results
    exit 0
    ");
    assert_eq!(place.held(), (1, 4, 7));
    // Results that were joined with others are the same measurements.
    place.write("joined.jsonl", format!("{HAIL}{GOOD}\n"));
    assert_snapshot!(place.run(&["import", "joined.jsonl"]), @"
    joined.jsonl: 1 instance, 1 iteration imported; 4 instances were already in the store
    detected hail: its first line has `path`, `name` and `iterations`
    stored in .lapwing/lapwing.db as session `joined` of suite `hail`
    found 4 names, 5 results
    exit 0
    ");
    assert_eq!(place.held(), (2, 5, 8));
    assert_snapshot!(place.run(&["import", "--as", "suite=hal", "nightly.jsonl"]), @r#"
    error: the same content is already in the store as session `nightly`, imported with suite `hail` and not suite `hal`
      nothing was imported from this file
      hint: import it with the same options as before, or delete it first with `lapwing db purge --where session=NAME`
    exit 2
    "#);
}

#[test]
fn hail_outcomes_are_told_apart() {
    let place = Place::new();
    place.write("nightly.jsonl", HAIL);
    place.run(&["import", "nightly.jsonl"]);
    let csv = place.run(&["export", "--to", "csv", "--wide"]);
    let rows: Vec<&str> = csv
        .lines()
        .filter_map(|line| line.split_once("::").map(|(_, rest)| rest))
        .map(|rest| rest.split_once(",default,").map_or(rest, |(_, rest)| rest))
        .filter_map(|rest| rest.split_once(','))
        .map(|(_, rest)| rest)
        .collect();
    assert_snapshot!(rows.join("\n"), @r#"
    ,0,3,0,0,true,ok,,7.0,2.5
    ,0,0,0,0,true,ok,,512.0,1.9
    ,0,0,0,1,false,ok,,1024.0,1.25
    ,0,0,0,2,false,ok,,1024.0,1.5
    ,0,1,0,0,true,ok,,512.0,1.75
    ,0,1,0,1,false,timed_out,TimeoutError: 200,600.0,200.0
    ,0,1,0,2,false,failed,"Traceback (most recent call last):
    "#);
}

#[test]
fn hyperfine_results_are_one_instance_a_command_or_one_a_run() {
    let place = Place::new();
    place.write("two.json", fixture("hyperfine-1.15/two-commands.json"));
    place.write("levels.json", fixture("hyperfine-1.15/parameters.json"));
    place.write("failures.json", fixture("hyperfine-1.15/failures.json"));
    assert_snapshot!(place.run(&["import", "two.json", "levels.json", "failures.json"]), @"
    3 files (3 hyperfine): 5 instances, 20 iterations, 10 summaries imported

     file           format     result
     two.json       hyperfine  2 instances, 10 iterations, 4 summaries imported
     levels.json    hyperfine  2 instances, 6 iterations, 4 summaries imported
     failures.json  hyperfine  1 instance, 4 iterations, 2 summaries imported

    stored in .lapwing/lapwing.db as 3 sessions
    skipped because they follow from the samples: max, mean, median, min, stddev
    found 5 names, 5 results
    exit 0
    ");
    assert_eq!(place.held(), (3, 5, 20));
    let benchmarks = place.run(&["list", "--format", "csv"]);
    let benchmarks: Vec<String> = benchmarks
        .lines()
        .map(|line| line.split(',').take(5).collect::<Vec<_>>().join(","))
        .collect();
    assert_snapshot!(benchmarks.join("\n"), @"
    suite,benchmark,tags,instances,iterations
    hyperfine,compress[level=1],,1,3
    hyperfine,compress[level=2],,1,3
    hyperfine,false,,1,4
    hyperfine,gzip --version,,1,5
    hyperfine,sleep 0.01,,1,5
    exit 0
    ");
    assert_snapshot!(place.run(&["import", "--each-run", "instance", "two.json"]), @r#"
    error: the same content is already in the store as session `two`, imported with --each-run iteration and not --each-run instance
      nothing was imported from this file
      hint: import it with the same options as before, or delete it first with `lapwing db purge --where session=NAME`
    exit 2
    "#);

    let each = Place::new();
    each.write("two.json", fixture("hyperfine-1.15/two-commands.json"));
    each.run(&["import", "--each-run", "instance", "two.json"]);
    assert_eq!(each.held(), (1, 10, 10));
    // The date of the file says nothing about its content.
    fs::rename(each.path().join("two.json"), each.path().join("2.json")).unwrap();
    each.write("two.json", fixture("hyperfine-1.15/two-commands.json"));
    assert_snapshot!(each.run(&["import", "--each-run", "instance", "two.json"]), @"
    two.json: nothing new, everything is already in the store
    detected hyperfine: it has `results` with a `command`
    stored in .lapwing/lapwing.db as session `two` of suite `hyperfine`
    skipped because they follow from the samples: max, mean, median, min, stddev
    found 2 names, 10 results
    exit 0
    ");
    assert_eq!(each.held(), (1, 10, 10));
}

#[test]
fn bad_files_are_refused_with_file_line_and_reason() {
    let place = Place::new();
    let mut said = String::new();
    let mut refuse = |name: &str, content: &[u8]| {
        place.write(name, content);
        said.push_str(&format!("{}\n\n", place.run(&["import", name])));
    };
    let hail = |iteration: &str| {
        format!(
            "{GOOD}\n{}\n{GOOD}\n",
            GOOD.replace(r#""time":1.5"#, iteration)
        )
        .into_bytes()
    };
    refuse("empty.jsonl", b"");
    refuse("blank.jsonl", b"\n \n");
    refuse("comma.jsonl", &hail(r#""time":"1,52""#));
    refuse("nan.jsonl", &hail(r#""time":NaN"#));
    refuse("infinity.jsonl", &hail(r#""time":-Infinity"#));
    refuse("negative.jsonl", &hail(r#""time":-0.5"#));
    refuse("huge.jsonl", &hail(r#""time":1e999"#));
    refuse("cut.jsonl", &HAIL.as_bytes()[..HAIL.len() - 40]);
    refuse(
        "no-name.jsonl",
        GOOD.replace("\"name\"", "\"nam\"").as_bytes(),
    );
    refuse(
        "latin-1.jsonl",
        &[
            GOOD.as_bytes(),
            b"\n",
            &GOOD
                .replace("a.py", "é")
                .into_bytes()
                .into_iter()
                .filter(|byte| *byte != 0xC3)
                .collect::<Vec<_>>(),
        ]
        .concat(),
    );
    let utf16: Vec<u8> = GOOD.encode_utf16().flat_map(u16::to_le_bytes).collect();
    refuse("utf-16.jsonl", &utf16);
    refuse(
        "package.json",
        br#"{"name": "left-pad", "version": "1.3.0"}"#,
    );
    refuse("picture.json", b"\x89PNG\r\n\x1a\n\x00\x00");
    let zipped = gzip(HAIL.repeat(50).as_bytes());
    refuse("cut.jsonl.gz", &zipped[..zipped.len() / 2]);
    refuse("cut.json", &fixture("hyperfine-1.15/truncated.json"));
    refuse("negative.json", &fixture("hyperfine-1.15/negative.json"));
    assert_snapshot!(said, @r#"
    error: empty.jsonl is empty
      nothing was imported from this file
    exit 2

    error: blank.jsonl is empty
      nothing was imported from this file
    exit 2

    error: comma.jsonl:2: `time` is not a number: "1,52"
      nothing was imported from this file
      hint: fix the line, or import the other 2 with --keep-going
    exit 2

    error: nan.jsonl:2: `time` is not a number: NaN
      nothing was imported from this file
      hint: fix the line, or import the other 2 with --keep-going
    exit 2

    error: infinity.jsonl:2: `time` is not a number: -Infinity
      nothing was imported from this file
      hint: fix the line, or import the other 2 with --keep-going
    exit 2

    error: negative.jsonl:2: `time` is negative: -0.5
      nothing was imported from this file
      hint: fix the line, or import the other 2 with --keep-going
    exit 2

    error: huge.jsonl:2: the number 1e999 is too large
      nothing was imported from this file
      hint: fix the line, or import the other 2 with --keep-going
    exit 2

    error: cut.jsonl:4: the JSON is cut off
      nothing was imported from this file
      hint: fix the line, or import the other 3 with --keep-going
    exit 2

    error: no-name.jsonl is in none of the formats that can be imported: it looks like hail, but `name` is missing
      nothing was imported from this file
      hint: `lapwing import --help` lists the formats
    exit 2

    error: latin-1.jsonl:2: not UTF-8 text: byte 10 of the line is 0xA9
      nothing was imported from this file
      hint: fix the line, or import the one valid line with --keep-going
    exit 2

    error: utf-16.jsonl is UTF-16 text, not UTF-8 text
      nothing was imported from this file
      hint: convert it to UTF-8, for example with iconv
    exit 2

    error: package.json is in none of the formats that can be imported: it is JSON with the keys `name`, `version`
      nothing was imported from this file
      hint: `lapwing import --help` lists the formats; if it is one of them, name it with --from
    exit 2

    error: picture.json is binary data, not UTF-8 text
      nothing was imported from this file
    exit 2

    error: cut.jsonl.gz: the compressed data is cut off or damaged: incomplete deflate stream
      nothing was imported from this file
      hint: download or copy the file again
    exit 2

    error: cut.json:28: the JSON is cut off
      nothing was imported from this file
    exit 2

    error: negative.json:27: `times` of `sleep 0.01` is negative: -0.01210863
      nothing was imported from this file
      hint: fix the line, or import the one valid line with --keep-going
    exit 2
    "#);
    assert!(
        !place.path().join(".lapwing").exists(),
        "a refused file makes no store"
    );
}

#[test]
fn bad_records_are_refused_with_file_line_and_reason() {
    const SESSION: &str = r#"{"v":1,"kind":"session","id":"01930000-0000-7000-8000-000000000001","suite":"s","started":"2026-11-20T10:00:00Z","tool":"t"}"#;
    const RUN: &str = r#"{"v":1,"kind":"run","id":"01930000-0000-7000-8000-000000000002","session":"01930000-0000-7000-8000-000000000001"}"#;
    const INSTANCE: &str = r#"{"v":1,"kind":"instance","id":"01930000-0000-7000-8000-000000000003","run":"01930000-0000-7000-8000-000000000002","benchmark":{"id":"b"}}"#;
    const ITERATION: &str = r#"{"v":1,"kind":"iteration","instance":"01930000-0000-7000-8000-000000000003","index":0,"metrics":{"wall_time":1.5}}"#;
    let place = Place::new();
    let mut said = String::new();
    let mut refuse = |name: &str, lines: &[&str]| {
        place.write(name, lines.join("\n"));
        said.push_str(&format!("{}\n\n", place.run(&["import", name])));
    };
    refuse("newer.jsonl", &[&SESSION.replace("\"v\":1", "\"v\":2")]);
    refuse("kind.jsonl", &[SESSION, &RUN.replace("\"run\"", "\"rum\"")]);
    refuse("orphan.jsonl", &[SESSION, INSTANCE]);
    refuse(
        "twice.jsonl",
        &[
            SESSION,
            RUN,
            INSTANCE,
            ITERATION,
            &ITERATION.replace("1.5", "2.5"),
        ],
    );
    refuse(
        "nameless.jsonl",
        &[
            SESSION,
            RUN,
            &INSTANCE.replace("\"id\":\"b\"", "\"id\":\"\""),
        ],
    );
    refuse("id.jsonl", &[&SESSION.replace("01930000-", "")]);
    assert_snapshot!(said, @"
    error: newer.jsonl:1: record version 2 is newer than version 1, which this program reads
      nothing was imported from this file
    exit 2

    error: kind.jsonl:2: unknown record kind `rum`
      nothing was imported from this file
      hint: fix the line, or import the one valid line with --keep-going
    exit 2

    error: orphan.jsonl:2: instance 01930000-0000-7000-8000-000000000003 belongs to run 01930000-0000-7000-8000-000000000002, which is not known
      nothing was imported from this file
      hint: fix the line, or import the one valid line with --keep-going
    exit 2

    error: twice.jsonl:5: iteration 0 of instance 01930000-0000-7000-8000-000000000003 is already in the store with other content: `metrics.wall_time` is 1.5 there and 2.5 here
      nothing was imported from this file
      hint: fix the line, or import the other 4 with --keep-going
    exit 2

    error: nameless.jsonl:3: the benchmark has no name
      nothing was imported from this file
      hint: fix the line, or import the other 2 with --keep-going
    exit 2

    error: id.jsonl:1: UUID parsing failed: invalid group count: expected 5, found 4
      nothing was imported from this file
    exit 2
    ");
    assert!(
        !place.path().join(".lapwing").exists(),
        "a refused file makes no store"
    );

    place.write("good.jsonl", [SESSION, RUN, INSTANCE, ITERATION].join("\n"));
    place.run(&["import", "good.jsonl"]);
    place.write(
        "bad.jsonl",
        [
            SESSION,
            RUN,
            INSTANCE,
            "oops",
            &ITERATION.replace(":0,", ":1,"),
        ]
        .join("\n"),
    );
    assert_snapshot!(place.run(&["import", "--keep-going", "bad.jsonl"]), @"
    bad.jsonl: 0 instances, 1 iteration imported; 1 instance was already in the store
    detected record: its first line has `v` and `kind`
    stored in .lapwing/lapwing.db as session `01930000-0000-7000-8000-000000000001`
    of suite `s`
    1 invalid line skipped: bad.jsonl:4: not valid JSON: expected value
    found 1 name, 1 result
    exit 0
    ");
    assert_eq!(place.held(), (1, 1, 2));
}

#[test]
fn a_line_of_200_mb_is_refused_and_the_others_can_be_kept() {
    let place = Place::new();
    let mut file = fs::File::create(place.path().join("long.jsonl")).unwrap();
    writeln!(file, "{GOOD}").unwrap();
    file.write_all(b"{\"path\":\"").unwrap();
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..200 {
        file.write_all(&piece).unwrap();
    }
    writeln!(file, "\"}}").unwrap();
    drop(file);
    assert_snapshot!(place.run(&["import", "long.jsonl"]), @r#"
    error: long.jsonl:2: the line is longer than 64 MiB
      nothing was imported from this file
      hint: fix the line, or import the one valid line with --keep-going
    exit 2
    "#);
    assert_snapshot!(place.run(&["import", "long.jsonl", "--keep-going"]), @"
    long.jsonl: 1 instance, 1 iteration imported
    detected hail: its first line has `path`, `name` and `iterations`
    stored in .lapwing/lapwing.db as session `long` of suite `hail`
    1 invalid line skipped: long.jsonl:2: the line is longer than 64 MiB
    found 1 name, 1 result
    exit 0
    ");
    assert_eq!(place.held(), (1, 1, 1));
}

#[test]
fn places_that_cannot_be_read_are_named() {
    let place = Place::new();
    fs::create_dir(place.path().join("results")).unwrap();
    assert_snapshot!(place.run(&["import", "results"]), @"
    error: results is a directory without a file of results
      nothing was imported from this file
    exit 2
    ");
    assert_snapshot!(place.run(&["import", "none.jsonl"]), @r#"
    error: cannot read none.jsonl: No such file or directory (os error 2)
      nothing was imported from this file
    exit 2
    "#);
    place.write("a.jsonl", GOOD);
    assert_snapshot!(place.run(&["--store", "results", "import", "a.jsonl"]), @r#"
    error: results is a directory, not a store
      hint: give the path of a file in it, as in --store DIR/lapwing.db
    exit 2
    "#);
    fs::create_dir(place.path().join("results/deeper")).unwrap();
    place.write("results/deeper/a.jsonl", GOOD);
    place.write("results/package.json", "{}");
    place.write("results/notes.txt", "time");
    assert_snapshot!(place.run(&["import", "results"]), @"
    results/deeper/a.jsonl: 1 instance, 1 iteration imported
    detected hail: its first line has `path`, `name` and `iterations`
    stored in .lapwing/lapwing.db as session `a` of suite `hail`
    note: skipped 2 files without results in a known format
    found 1 name, 1 result
    exit 0
    ");
    assert_eq!(place.held(), (1, 1, 1));
}

#[test]
fn files_in_folders_with_other_endings_are_counted_by_ending() {
    let place = Place::new();
    fs::create_dir(place.path().join("results")).unwrap();
    for name in ["notes.md", "old.md", "go.bench"] {
        place.write(&format!("results/{name}"), GOOD);
    }
    assert_snapshot!(place.run(&["import", "results"]), @"
    error: results is a directory without a file of results
      nothing was imported from this file
      hint: to import files with other extensions (2 .md, 1 .bench), name them or use a pattern
    exit 2
    ");
    place.write("results/a.jsonl", GOOD);
    assert_snapshot!(place.run(&["import", "results"]), @"
    results/a.jsonl: 1 instance, 1 iteration imported
    detected hail: its first line has `path`, `name` and `iterations`
    stored in .lapwing/lapwing.db as session `a` of suite `hail`
    note: skipped 3 files with other extensions (2 .md, 1 .bench): name a file or
    use a pattern to import it
    found 1 name, 1 result
    exit 0
    ");
    assert_snapshot!(place.run(&["import", "results/go.bench"]), @"
    results/go.bench: nothing new, everything is already in the store
    detected hail: its first line has `path`, `name` and `iterations`
    stored in .lapwing/lapwing.db as session `a` of suite `hail`
    found 1 name, 1 result
    exit 0
    ");
}

#[test]
fn of_several_files_lines_are_named_with_their_file() {
    let place = Place::new();
    place.write("a.txt", "BenchmarkA 10 5 ns/op\nBenchmarkOf nothing\n");
    place.write("b.txt", "\nBenchmarkOf nothing\nBenchmarkB 10 5 ns/op\n");
    assert_snapshot!(place.run(&["import", "a.txt"]), @"
    a.txt: 1 instance, 1 iteration imported
    detected go: it has a line `Benchmark… <iterations> <value> <unit>`
    stored in .lapwing/lapwing.db as session `a` of suite `go`
    note: found 2 names, 1 result; without a result: BenchmarkOf (line 2)
    exit 0
    ");
    assert_snapshot!(place.run(&["import", "-v", "a.txt", "b.txt"]), @"
    2 files (2 go): 1 instance, 1 iteration imported; 1 instance was already in the store

     file   format  result
     a.txt  go      nothing new, everything is already in the store
     b.txt  go      1 instance, 1 iteration imported

    stored in .lapwing/lapwing.db as 2 sessions
    note: found 3 names, 2 results; without a result: BenchmarkOf (a.txt:2 and 1
    more)
    exit 0
    ");
}

#[test]
fn what_cannot_be_found_keeps_nothing_else_out() {
    let place = Place::new();
    place.write("a.jsonl", GOOD);
    fs::create_dir(place.path().join("empty")).unwrap();
    fs::create_dir(place.path().join("aside")).unwrap();
    assert_snapshot!(place.run(&["import", "a.jsonl", "no*such", "empty"]), @"
    1 file (1 hail): 1 instance, 1 iteration imported; 2 refused

     file     format  result
     a.jsonl  hail    1 instance, 1 iteration imported

    detected hail: its first line has `path`, `name` and `iterations`
    stored in .lapwing/lapwing.db as session `a` of suite `hail`
    found 1 name, 1 result
    error: no file fits the pattern `no*such`
      nothing was imported from this file
    error: empty is a directory without a file of results
      nothing was imported from this file
    exit 2
    ");
    assert_eq!(place.held(), (1, 1, 1));
    assert_snapshot!(place.run(&["import", "no*such", "empty"]), @"
    nothing was imported: 2 refused
    error: no file fits the pattern `no*such`
      nothing was imported from this file
    error: empty is a directory without a file of results
      nothing was imported from this file
    exit 2
    ");
    // What fits a pattern may be an empty directory.
    assert_snapshot!(place.run(&["import", "a*"]), @"
    a.jsonl: nothing new, everything is already in the store
    detected hail: its first line has `path`, `name` and `iterations`
    stored in .lapwing/lapwing.db as session `a` of suite `hail`
    found 1 name, 1 result
    exit 0
    ");
    assert_snapshot!(place.run(&["import", "asid?"]), @"
    error: no file fits the pattern `asid?`
      nothing was imported from this file
    exit 2
    ");
}

#[test]
fn a_directory_that_may_not_be_read_keeps_nothing_else_out() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    fs::create_dir_all(place.path().join("all/locked")).unwrap();
    place.write("all/a.jsonl", GOOD);
    let locked = place.path().join("all/locked");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).unwrap();
    // Nothing is locked for the administrator.
    if fs::read_dir(&locked).is_err() {
        assert_snapshot!(place.run(&["import", "all"]), @"
        all/a.jsonl: 1 instance, 1 iteration imported (hail)
        1 file (1 hail): 1 instance, 1 iteration imported
          stored in .lapwing/lapwing.db as 1 session
        error: cannot read all/locked: Permission denied (os error 13)
          nothing was imported from this file
        exit 2
        ");
    }
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn a_session_in_several_files_is_counted_once() {
    let place = Place::new();
    place.write("a.jsonl", HAIL);
    place.write("b.jsonl.gz", gzip(HAIL.as_bytes()));
    place.write("c.jsonl", GOOD);
    assert_snapshot!(place.run(&["import", "a.jsonl", "b.jsonl.gz", "c.jsonl"]), @"
    3 files (3 hail): 5 instances, 8 iterations imported; 4 instances were already in the store

     file        format  result
     a.jsonl     hail    4 instances, 7 iterations imported
     b.jsonl.gz  hail    nothing new, everything is already in the store
     c.jsonl     hail    1 instance, 1 iteration imported

    stored in .lapwing/lapwing.db as 2 sessions
    found 4 names, 9 results
    exit 0
    ");
    assert_eq!(place.held(), (2, 5, 8));
}

#[test]
fn keeping_the_good_lines_again_brings_nothing_new() {
    let place = Place::new();
    place.write("bad.jsonl", format!("{GOOD}\noops\n"));
    place.write("worse.jsonl", GOOD.replace("1.5", "-1"));
    place.run(&["import", "--keep-going", "bad.jsonl"]);
    assert_snapshot!(place.run(&["import", "--keep-going", "bad.jsonl"]), @"
    bad.jsonl: nothing new, all valid lines are already in the store
    detected hail: its first line has `path`, `name` and `iterations`
    stored in .lapwing/lapwing.db as session `bad` of suite `hail`
    1 invalid line skipped: bad.jsonl:2: not valid JSON: expected value
    found 1 name, 1 result
    exit 0
    ");
    assert_snapshot!(place.run(&["import", "--keep-going", "worse.jsonl"]), @"
    error: nothing good in worse.jsonl: worse.jsonl:1: `time` is negative: -1
      nothing was imported from this file
    exit 2
    ");
    assert_eq!(place.held(), (1, 1, 1));
}

#[test]
fn results_that_were_written_anew_are_kept_and_said_to_look_alike() {
    let place = Place::new();
    let text = fixture("pytest-benchmark-3.4.1/data.json");
    let document: serde_json::Value = serde_json::from_slice(&text).unwrap();
    place.write("data.json", &text);
    place.write("short.json", document.to_string());
    place.run(&["import", "data.json"]);
    assert_snapshot!(place.run(&["import", "--dry-run", "short.json"]), @"
    short.json: 5 instances, 13 iterations would be imported
    detected pytest-benchmark: it has `benchmarks` and `machine_info`
    skipped because it stands in the benchmark's name and in `params`: param
    skipped because they follow from the samples: min, max, q1, q3, iqr_outliers,
    stddev_outliers, outliers, ld15iqr, hd15iqr, ops, total, mean, stddev, median,
    iqr
    note: session `data` of 2026-11-20 22:17:00 UTC by pytest-benchmark 3.4.1 was
    already imported from another file (data.json, sha256 ee90d51841c7…), with
    mostly the same values; `short` would be kept as well
    found 5 names, 5 results
    exit 0
    ");
    assert_snapshot!(place.run(&["import", "short.json"]), @"
    short.json: 5 instances, 13 iterations imported
    detected pytest-benchmark: it has `benchmarks` and `machine_info`
    stored in .lapwing/lapwing.db as session `short` of suite `pytest-benchmark`
    skipped because it stands in the benchmark's name and in `params`: param
    skipped because they follow from the samples: min, max, q1, q3, iqr_outliers,
    stddev_outliers, outliers, ld15iqr, hd15iqr, ops, total, mean, stddev, median,
    iqr
    note: session `data` of 2026-11-20 22:17:00 UTC by pytest-benchmark 3.4.1 was
    already imported from another file (data.json, sha256 ee90d51841c7…), with
    mostly the same values; `short` is kept as well, so duplicated results would
    count twice:
    `lapwing db purge --where session=ad46d48c-36c4-8a8e-8c6d-31ae528e5892` deletes
    it
    found 5 names, 5 results
    exit 0
    ");
    // Said once, and not of what is known or of another time.
    let later = document
        .to_string()
        .replace("2026-11-20T22:17", "2026-11-21T22:17");
    place.write("later.json", later);
    assert_snapshot!(place.run(&["import", "data.json", "short.json", "later.json"]), @"
    3 files (3 pytest-benchmark): 5 instances, 13 iterations imported; 10 instances were already in the store

     file        format            result
     data.json   pytest-benchmark  nothing new, everything is already in the store
     short.json  pytest-benchmark  nothing new, everything is already in the store
     later.json  pytest-benchmark  5 instances, 13 iterations imported

    stored in .lapwing/lapwing.db as 3 sessions
    skipped because it stands in the benchmark's name and in `params`: param
    skipped because they follow from the samples: min, max, q1, q3, iqr_outliers,
    stddev_outliers, outliers, ld15iqr, hd15iqr, ops, total, mean, stddev, median,
    iqr
    found 5 names, 15 results
    exit 0
    ");

    // Lines are known again, whatever file they stand in.
    let started = GOOD.replace("\"path\"", "\"start\":\"2026-11-20T10:00:00\",\"path\"");
    let other = started.replace("1.5", "2.5");
    place.write("night.jsonl", format!("{started}\n"));
    place.write("nights.jsonl", format!("{started}\n{other}\n"));
    place.write(
        "spaced.jsonl",
        format!("{}\n", started.replace("1.5", " 1.5")),
    );
    let names = ["night.jsonl", "nights.jsonl", "spaced.jsonl"];
    assert_snapshot!(place.run(&[&["import"], &names[..]].concat()), @"
    3 files (3 hail): 3 instances, 3 iterations imported; 1 instance was already in the store

     file          format  result
     night.jsonl   hail    1 instance, 1 iteration imported
     nights.jsonl  hail    1 instance, 1 iteration imported; 1 instance was already in the store
     spaced.jsonl  hail    1 instance, 1 iteration imported

    stored in .lapwing/lapwing.db as 3 sessions
    note: session `night` of 2026-11-20 10:00:00 UTC by hail benchmark was already
    imported from another file (night.jsonl, sha256 7ca746629463…), with mostly the
    same values; `spaced` is kept as well, so duplicated results would count twice:
    `lapwing db purge --where session=b822d987-5593-8c81-b279-358613bd6ebe` deletes
    it
    found 1 name, 4 results
    exit 0
    ");
}

#[test]
fn of_a_commit_of_asv_only_what_was_measured_since_is_new() {
    let place = Place::new();
    let folder = "results/bench-host";
    fs::create_dir_all(place.path().join(folder)).unwrap();
    let name = format!("{folder}/3533aad3-virtualenv-py3.11-LC_ALLC.json");
    let first = fixture(&format!("asv-0.6.6/{name}"));
    let first = String::from_utf8(first).unwrap().replace("NaN", "\"NaN\"");
    let benchmarks = fixture("asv-0.6.6/results/benchmarks.json");
    place.write("results/benchmarks.json", benchmarks);
    let mut document: serde_json::Value = serde_json::from_str(&first).unwrap();
    let results = document["results"].as_object_mut().unwrap();
    let later = results.remove("bench_sorting.time_plain").unwrap();
    place.write(&name, document.to_string());
    place.run(&["import", "results"]);
    // asv puts what it measures later into the same file.
    let results = document["results"].as_object_mut().unwrap();
    results.insert("bench_sorting.time_plain".to_owned(), later);
    place.write(&name, serde_json::to_string_pretty(&document).unwrap());
    assert_snapshot!(place.run(&["import", "results"]), @"
    results/bench-host/3533aad3-virtualenv-py3.11-LC_ALLC.json: 1 instance, 1 summary imported; the source kept no samples; 14 instances were already in the store
    detected asv: it has `results` with `result_columns`
    stored in .lapwing/lapwing.db as session `3533aad3-virtualenv-py3.11-LC_ALLC` of
    suite `asv`
    found 15 names, 15 results
    exit 0
    ");
    // Measured again: another start.
    let again = first.replace("1795213154070", "1795213994070");
    assert_ne!(again, first);
    place.write(&name, again);
    assert_snapshot!(place.run(&["import", "results"]), @"
    results/bench-host/3533aad3-virtualenv-py3.11-LC_ALLC.json: 1 instance, 1 summary imported; the source kept no samples; 14 instances were already in the store
    detected asv: it has `results` with `result_columns`
    stored in .lapwing/lapwing.db as session `3533aad3-virtualenv-py3.11-LC_ALLC` of
    suite `asv`
    found 15 names, 15 results
    exit 0
    ");
    assert_eq!(place.held().0, 1);
}

#[test]
fn files_that_are_skipped_are_named_with_verbose() {
    let place = Place::new();
    fs::create_dir_all(place.path().join("all")).unwrap();
    place.write("all/two.json", fixture("hyperfine-1.15/two-commands.json"));
    place.write("all/notes.txt", "nothing of the kind");
    place.write("all/t.csv", "date,time (ms)\n2026-11-01,12 ms\n");
    assert_snapshot!(place.run(&["import", "--verbose", "--dry-run", "all"]), @r#"
    all/two.json: 2 instances, 10 iterations, 4 summaries would be imported
    detected hyperfine: it has `results` with a `command`
    skipped because they follow from the samples: max, mean, median, min, stddev
    note: skipped 2 files without results in a known format: all/notes.txt,
    all/t.csv (it looks like a table, but no column has measured values: `time (ms)`
    has texts such as "12 ms")
    found 2 names, 2 results
    exit 0
    "#);
}

#[test]
fn a_name_without_a_result_in_many_files_is_told_once() {
    let place = Place::new();
    fs::create_dir_all(place.path().join("all")).unwrap();
    for name in ["a", "b", "c"] {
        let text = format!(
            "<testsuite><testcase name='{name}' time='1'/><testcase name='no time'/></testsuite>"
        );
        place.write(&format!("all/{name}.xml"), text);
    }
    assert_snapshot!(place.run(&["import", "all"]), @"
    3 files (3 junit): 3 instances, 3 iterations imported

     file       format  result
     all/a.xml  junit   1 instance, 1 iteration imported
     all/b.xml  junit   1 instance, 1 iteration imported
     all/c.xml  junit   1 instance, 1 iteration imported

    stored in .lapwing/lapwing.db as 3 sessions
    skipped because they have no time: no time
    note: found 4 names, 3 results; without a result: no time (all/a.xml:1 and 2
    more)
    exit 0
    ");
}

#[test]
fn an_option_that_changes_nothing_is_noted_once() {
    let place = Place::new();
    place.write("a.jsonl", GOOD);
    place.write("b.jsonl", HAIL);
    place.write("two.json", fixture("hyperfine-1.15/two-commands.json"));
    assert_snapshot!(
        place.run(&["import", "--each-run", "instance", "a.jsonl", "b.jsonl", "two.json"]),
        @"
    3 files (2 hail, 1 hyperfine): 15 instances, 18 iterations, 4 summaries imported

     file      format     result
     a.jsonl   hail       1 instance, 1 iteration imported
     b.jsonl   hail       4 instances, 7 iterations imported
     two.json  hyperfine  10 instances, 10 iterations, 4 summaries imported

    stored in .lapwing/lapwing.db as 3 sessions
    skipped because they follow from the samples: max, mean, median, min, stddev
    note: not used: --each-run, which only applies to hyperfine's results, not to
    those of hail
    found 6 names, 15 results
    exit 0
    "
    );
    assert_snapshot!(place.run(&["import", "--each-run", "instance", "a.jsonl"]), @"
    a.jsonl: nothing new, everything is already in the store
    detected hail: its first line has `path`, `name` and `iterations`
    stored in .lapwing/lapwing.db as session `a` of suite `hail`
    note: not used: --each-run, which only applies to hyperfine's results, not to
    those of hail
    found 1 name, 1 result
    exit 0
    ");
    assert_snapshot!(place.run(&["import", "--each-run", "instance", "two.json"]), @"
    two.json: nothing new, everything is already in the store
    detected hyperfine: it has `results` with a `command`
    stored in .lapwing/lapwing.db as session `two` of suite `hyperfine`
    skipped because they follow from the samples: max, mean, median, min, stddev
    found 2 names, 10 results
    exit 0
    ");
}

#[test]
fn an_export_does_not_overwrite_the_store() {
    let place = Place::new();
    place.write("a.jsonl", GOOD);
    place.run(&["--store", "s.unfinished", "import", "a.jsonl"]);
    std::os::unix::fs::symlink("s.unfinished", place.path().join("link")).unwrap();
    let before = fs::read(place.path().join("s.unfinished")).unwrap();
    let mut said = String::new();
    for name in [
        "s.unfinished",
        "./s.unfinished-wal",
        "s.unfinished-shm",
        "link",
    ] {
        let arguments = [
            "--store",
            "s.unfinished",
            "export",
            "--to",
            "csv",
            "-o",
            name,
        ];
        said.push_str(&format!("{}\n\n", place.run(&arguments)));
    }
    assert_snapshot!(said, @"
    error: s.unfinished belongs to the store s.unfinished and would overwrite it
      hint: write to another file
    exit 2

    error: ./s.unfinished-wal belongs to the store s.unfinished and would overwrite it
      hint: write to another file
    exit 2

    error: s.unfinished-shm belongs to the store s.unfinished and would overwrite it
      hint: write to another file
    exit 2

    error: link belongs to the store s.unfinished and would overwrite it
      hint: write to another file
    exit 2
    ");
    assert_eq!(fs::read(place.path().join("s.unfinished")).unwrap(), before);
}

#[test]
fn a_dry_run_says_what_an_import_would_and_leaves_no_trace() {
    let place = Place::new();
    let temporary = place.path().join("temporary");
    fs::create_dir(&temporary).unwrap();
    let say = |arguments: &[&str]| {
        let mut command = place.command(&["import"]);
        let output = command
            .args(arguments)
            .env("TMPDIR", &temporary)
            .output()
            .unwrap();
        assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
        format!(
            "{}{}",
            String::from_utf8(output.stdout).unwrap(),
            String::from_utf8(output.stderr).unwrap()
        )
    };
    // What the real import says, as if it were tried.
    let as_tried = |said: String| -> String {
        said.replace("imported", "would be imported")
            .lines()
            .filter(|line| !line.starts_with("stored in"))
            .map(|line| format!("{line}\n"))
            .collect()
    };
    place.write("a.jsonl", HAIL);
    place.write("same.jsonl.gz", gzip(HAIL.as_bytes()));
    place.write("joined.jsonl", format!("{HAIL}{GOOD}\n"));
    place.write("bad.jsonl", format!("{GOOD}\noops\n"));
    place.write("two.json", fixture("hyperfine-1.15/two-commands.json"));
    let files = ["a.jsonl", "same.jsonl.gz", "two.json"];

    // Without a store.
    let tried = say(&[&["--dry-run"], &files[..]].concat());
    assert_snapshot!(tried, @"
    3 files (2 hail, 1 hyperfine): 6 instances, 17 iterations, 4 summaries would be imported; 4 instances were already in the store

     file           format     result
     a.jsonl        hail       4 instances, 7 iterations would be imported
     same.jsonl.gz  hail       nothing new, everything is already in the store
     two.json       hyperfine  2 instances, 10 iterations, 4 summaries would be imported

    skipped because they follow from the samples: max, mean, median, min, stddev
    found 5 names, 10 results
    ");
    assert!(!place.path().join(".lapwing").exists());
    assert_eq!(tried, as_tried(say(&files)));

    // With one.
    let before = fs::read(place.path().join(".lapwing/lapwing.db")).unwrap();
    let entries = || {
        let mut names: Vec<_> = fs::read_dir(place.path().join(".lapwing"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        names.sort();
        names
    };
    let names = entries();
    let files = ["a.jsonl", "joined.jsonl", "two.json"];
    let tried = say(&[&["--dry-run"], &files[..]].concat());
    assert_snapshot!(tried, @"
    3 files (2 hail, 1 hyperfine): 1 instance, 1 iteration would be imported; 10 instances were already in the store

     file          format     result
     a.jsonl       hail       nothing new, everything is already in the store
     joined.jsonl  hail       1 instance, 1 iteration would be imported; 4 instances were already in the store
     two.json      hyperfine  nothing new, everything is already in the store

    skipped because they follow from the samples: max, mean, median, min, stddev
    found 6 names, 11 results
    ");
    let kept = say(&["--dry-run", "--keep-going", "bad.jsonl"]);
    assert_snapshot!(kept, @"
    bad.jsonl: 1 instance, 1 iteration would be imported
    detected hail: its first line has `path`, `name` and `iterations`
    1 invalid line skipped: bad.jsonl:2: not valid JSON: expected value
    found 1 name, 1 result
    ");
    // The same checks, too.
    let otherwise = say(&[
        "--dry-run",
        "--each-run",
        "instance",
        "two.json",
        "bad.jsonl",
    ]);
    assert_snapshot!(otherwise, @"
    nothing was imported: 2 refused
    error: the same content is already in the store as session `two`, imported with --each-run iteration and not --each-run instance
      nothing was imported from this file
      hint: import it with the same options as before, or delete it first with `lapwing db purge --where session=NAME`
    error: bad.jsonl:2: not valid JSON: expected value
      nothing was imported from this file
      hint: fix the line, or import the one valid line with --keep-going
    ");
    assert_eq!(
        fs::read(place.path().join(".lapwing/lapwing.db")).unwrap(),
        before
    );
    assert_eq!(entries(), names);
    assert_eq!(
        otherwise,
        say(&["--each-run", "instance", "two.json", "bad.jsonl"])
    );
    assert_eq!(tried, as_tried(say(&files)));
}

#[test]
fn a_dry_run_beside_a_store_that_cannot_be_written_to_says_so() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    place.write("a.jsonl", GOOD);
    place.run(&["import", "a.jsonl"]);
    let folder = place.path().join(".lapwing");
    let store = folder.join("lapwing.db");
    fs::set_permissions(&store, fs::Permissions::from_mode(0o444)).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).unwrap();
    // Nothing is locked for the administrator.
    if fs::OpenOptions::new().append(true).open(&store).is_err() {
        assert_snapshot!(place.run(&["import", "--dry-run", "a.jsonl"]), @"
        a.jsonl: 1 instance, 1 iteration would be imported
          read as hail, because its first line has `path`, `name` and `iterations`
        note: .lapwing/lapwing.db cannot be written to, so that it is not looked at: what it has already counts as new
        exit 0
        ");
    }
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn what_is_of_no_known_format_makes_no_store() {
    let place = Place::new();
    let utf16: Vec<u8> = GOOD.encode_utf16().flat_map(u16::to_le_bytes).collect();
    // Without a byte order mark.
    place.write("utf-16.jsonl", utf16);
    place.write("object.json", "{}");
    let mut said = String::new();
    for names in [
        &["/dev/null"][..],
        &["object.json"],
        &["utf-16.jsonl"],
        &["none.jsonl"],
        &["none.jsonl", "object.json"],
    ] {
        said.push_str(&format!(
            "{}\n\n",
            place.run(&[&["import"], names].concat())
        ));
    }
    assert_snapshot!(said, @"
    error: /dev/null is empty
      nothing was imported from this file
    exit 2

    error: object.json is in none of the formats that can be imported: it is JSON without keys
      nothing was imported from this file
      hint: `lapwing import --help` lists the formats; if it is one of them, name it with --from
    exit 2

    error: utf-16.jsonl is UTF-16 text, not UTF-8 text
      nothing was imported from this file
      hint: convert it to UTF-8, for example with iconv
    exit 2

    error: cannot read none.jsonl: No such file or directory (os error 2)
      nothing was imported from this file
    exit 2

    nothing was imported: 2 refused
    error: cannot read none.jsonl: No such file or directory (os error 2)
      nothing was imported from this file
    error: object.json is in none of the formats that can be imported: it is JSON without keys
      nothing was imported from this file
      hint: `lapwing import --help` lists the formats; if it is one of them, name it with --from
    exit 2
    ");
    assert!(!place.path().join(".lapwing").exists());
    place.write("a.jsonl", GOOD);
    place.run(&["import", "none.jsonl", "object.json", "a.jsonl"]);
    assert_eq!(place.held(), (1, 1, 1));
}

#[test]
fn a_suite_has_a_name() {
    let place = Place::new();
    place.write("a.jsonl", GOOD);
    assert_snapshot!(place.run(&["import", "--as", "suite=", "a.jsonl"]), @"
    error: invalid value 'suite=' for '--as <NAMES>': `suite` has no value

    For more information, try '--help'.
    exit 2
    ");
}

#[test]
fn a_refused_file_makes_no_store() {
    let place = Place::new();
    place.write("cut.jsonl", r#"{"v":1,"kind":"session","id":"#);
    assert_snapshot!(place.run(&["import", "--from", "record", "cut.jsonl"]), @"
    error: cut.jsonl:1: the JSON is cut off
      nothing was imported from this file
    exit 2
    ");
    assert!(!place.path().join(".lapwing").exists());
    // What was there before stays, and so does a store that got something.
    fs::create_dir(place.path().join(".lapwing")).unwrap();
    place.run(&["import", "cut.jsonl"]);
    let left = fs::read_dir(place.path().join(".lapwing")).unwrap().count();
    assert_eq!(left, 0);
    place.write("good.jsonl", HAIL);
    place.run(&["import", "cut.jsonl", "good.jsonl", "cut.jsonl"]);
    assert_eq!(place.held(), (1, 4, 7));
}

#[test]
fn a_file_of_which_nothing_is_good_is_refused_when_going_on_too() {
    let place = Place::new();
    place.write("a.jsonl", "{\"v\":1,\n{\"v\":1,\"kind\":\"x\"}\n");
    assert_snapshot!(place.run(&["import", "--keep-going", "--from", "record", "a.jsonl"]), @"
    error: nothing good in a.jsonl, which has 2 bad lines; the first is a.jsonl:1: the JSON is cut off
      nothing was imported from this file
    exit 2
    ");
    place.write(
        "b.json",
        r#"{"machine_info": {}, "benchmarks": [{"fullname": "a", "stats": {"data": [1e400]}}]}"#,
    );
    assert_snapshot!(place.run(&["import", "--keep-going", "b.json"]), @"
    error: nothing good in b.json: b.json:1: `stats.data[0]`: the number 1e400 is too large
      nothing was imported from this file
    exit 2
    ");
    let folder = place.path().join("target/criterion/sum/new");
    fs::create_dir_all(&folder).unwrap();
    fs::write(
        folder.join("benchmark.json"),
        r#"{"full_id": "sum", "directory_name": "sum"}"#,
    )
    .unwrap();
    fs::write(folder.join("sample.json"), "{\n\"iters\": 1}").unwrap();
    assert_snapshot!(place.run(&["import", "--keep-going", "target/criterion"]), @"
    error: nothing good in target/criterion: target/criterion/sum/new/sample.json:2: `iters`: invalid type: integer `1`, expected a list of numbers
      nothing was imported from this file
    exit 2
    ");
    assert!(!place.path().join(".lapwing").exists());
}

#[test]
fn a_bad_measurement_in_a_folder_is_named_by_its_own_file() {
    let place = Place::new();
    for (name, sample) in [("good", "[1.5]"), ("bad", "7")] {
        let folder = place.path().join("criterion").join(name).join("new");
        fs::create_dir_all(&folder).unwrap();
        let identity = format!(r#"{{"full_id": "{name}", "directory_name": "{name}"}}"#);
        fs::write(folder.join("benchmark.json"), identity).unwrap();
        let samples = format!("{{\"iters\": [1],\n\"times\": {sample}}}");
        fs::write(folder.join("sample.json"), samples).unwrap();
    }
    assert_snapshot!(place.run(&["import", "--keep-going", "criterion"]), @"
    criterion: 1 instance, 1 iteration imported
    detected criterion: it has folders with `benchmark.json` and `sample.json`
    stored in .lapwing/lapwing.db as session `criterion` of suite `criterion`
    skipped because it follows from the benchmark's name: directory_name
    1 invalid line skipped: criterion/bad/new/sample.json:2: `times`: invalid type:
    integer `7`, expected a list of numbers
    found 1 name, 1 result
    exit 0
    ");
}

#[test]
fn archives_and_damaged_compression_are_named_as_what_they_are() {
    let place = Place::new();
    place.write("a.jsonl", GOOD);
    let packed = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(place.path());
        command.output().unwrap().stdout
    };
    place.write("a.tar", packed("tar", &["cf", "-", "a.jsonl"]));
    place.write("a.tar.gz", packed("tar", &["czf", "-", "a.jsonl"]));
    place.write("twice.gz", gzip(&gzip(HAIL.as_bytes())));
    // `printf 'hello ' | zstd`, zstd 1.5.4.
    let hello = [
        0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58, 0x31, 0x00, 0x00, 0x68, 0x65, 0x6c, 0x6c, 0x6f, 0x20,
    ];
    place.write("cut.zst", &hello[..12]);
    place.write("head.zst", &hello[..5]);
    let mut said = String::new();
    for name in ["a.tar", "a.tar.gz", "twice.gz", "cut.zst", "head.zst"] {
        said.push_str(&format!("{}\n\n", place.run(&["import", name])));
    }
    assert_snapshot!(said, @"
    error: a.tar is a tar archive, not UTF-8 text
      nothing was imported from this file
      hint: unpack it, and import the unpacked files
    exit 2

    error: a.tar.gz is a tar archive, not UTF-8 text
      nothing was imported from this file
      hint: unpack it, and import the unpacked files
    exit 2

    error: twice.gz is gzip-compressed data within compressed data, not UTF-8 text
      nothing was imported from this file
      hint: it was compressed twice: decompress it once
    exit 2

    error: cut.zst: the compressed data is cut off or damaged: it ends in the middle of a frame
      nothing was imported from this file
      hint: download or copy the file again
    exit 2

    error: head.zst: the compressed data is cut off or damaged: it ends in the middle of a frame
      nothing was imported from this file
      hint: download or copy the file again
    exit 2
    ");
}

#[test]
fn standard_input_can_be_read_compressed_or_not() {
    let place = Place::new();
    for content in [HAIL.as_bytes().to_vec(), gzip(HAIL.as_bytes())] {
        let mut process = place
            .command(&["import", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        process.stdin.take().unwrap().write_all(&content).unwrap();
        assert!(process.wait().unwrap().success());
        assert_eq!(place.held(), (1, 4, 7));
    }
}

#[test]
fn what_is_exported_as_records_makes_the_same_store_again() {
    let place = Place::new();
    place.write("nightly.jsonl", HAIL);
    place.write("two.json", fixture("hyperfine-1.15/two-commands.json"));
    place.run(&["import", "nightly.jsonl", "two.json"]);
    place.run(&["export", "--to", "record", "-o", "all.jsonl"]);
    assert_snapshot!(place.run(&["--store", "copy/lapwing.db", "import", "all.jsonl"]), @"
    all.jsonl: 6 instances, 17 iterations, 4 summaries imported
    detected record: its first line has `v` and `kind`
    stored in copy/lapwing.db as 2 sessions
    found 5 names, 6 results
    exit 0
    ");
    place.run(&[
        "--store",
        "copy/lapwing.db",
        "export",
        "--to",
        "record",
        "-o",
        "again.jsonl",
    ]);
    assert_eq!(
        fs::read_to_string(place.path().join("all.jsonl")).unwrap(),
        fs::read_to_string(place.path().join("again.jsonl")).unwrap()
    );
}

#[test]
fn sixteen_processes_that_make_and_fill_one_store_lose_nothing() {
    let place = Place::new();
    for number in 0..16 {
        let lines: String = (0..50)
            .map(|line| {
                let name = format!("test_{number}_{line}");
                format!("{}\n", GOOD.replace("test_a", &name))
            })
            .collect();
        place.write(&format!("{number}.jsonl"), lines);
    }
    let processes: Vec<_> = (0..16)
        .map(|number| {
            place
                .command(&["import", &format!("{number}.jsonl")])
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for process in processes {
        let output = process.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{said}");
    }
    assert_eq!(place.held(), (16, 800, 800));
    assert!(place.run(&["db", "check"]).ends_with("exit 0"));
}

#[test]
fn an_import_that_is_killed_leaves_nothing_half() {
    let place = Place::new();
    let lines: String = (0..20_000)
        .map(|line| format!("{}\n", GOOD.replace("test_a", &format!("test_{line}"))))
        .collect();
    place.write("large.jsonl", lines);
    let wal = place.path().join(".lapwing/lapwing.db-wal");
    let mut process = place
        .command(&["import", "large.jsonl"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    // Beyond what making the tables takes. At whichever moment it is killed, all or nothing must be there.
    while process.try_wait().unwrap().is_none() {
        if fs::metadata(&wal).is_ok_and(|it| it.len() > 3 << 20) {
            process.kill().unwrap();
            break;
        }
        std::thread::yield_now();
    }
    process.wait().unwrap();
    let held = place.held();
    // What the next command says of it must be the whole truth.
    assert!(held == (0, 0, 0) || held == (1, 20_000, 20_000), "{held:?}");
    assert!(place.run(&["import", "large.jsonl"]).ends_with("exit 0"));
    assert_eq!(place.held(), (1, 20_000, 20_000));
    assert!(place.run(&["db", "check"]).ends_with("exit 0"));
}

#[test]
fn columns_of_a_table_are_shown_and_can_be_corrected() {
    let place = Place::new();
    place.write(
        "nightly.csv",
        "date,commit,test,value,seconds,score\n\
         2026-11-01,aaa0,join,1,1.5,10\n\
         2026-11-02,aaa1,join,2,1.25,11\n",
    );
    let mut said = String::new();
    for arguments in [
        &["--dry-run", "nightly.csv"][..],
        &["--columns", "value=seconds", "nightly.csv"],
        &["--columns", "value=seconds", "nightly.csv"],
        &["nightly.csv"],
        &["--columns", "value=minutes", "nightly.csv"],
        &["--columns", "minutes", "nightly.csv"],
    ] {
        said.push_str(&format!(
            "{}\n\n",
            place.run(&[&["import"], arguments].concat())
        ));
    }
    assert_snapshot!(said, @"
    nightly.csv: 2 instances, 2 iterations would be imported
    detected csv: its first line names columns, and the rows have numbers
    columns: date=date, commit=commit, benchmark=test, value=value,
    attribute=seconds, attribute=score
    note: the value could also be `seconds`, `score`: `--columns value=seconds`
    takes it instead
    kept in the attributes of the instance: seconds, score
    found 1 name, 2 results
    exit 0

    nightly.csv: 2 instances, 2 iterations imported
    detected csv: its first line names columns, and the rows have numbers
    stored in .lapwing/lapwing.db as 2 sessions
    columns: date=date, commit=commit, benchmark=test, value=seconds [s],
    attribute=value, attribute=score
    kept in the attributes of the instance: value, score
    found 1 name, 2 results
    exit 0

    nightly.csv: nothing new, everything is already in the store
    detected csv: its first line names columns, and the rows have numbers
    stored in .lapwing/lapwing.db as 2 sessions
    columns: date=date, commit=commit, benchmark=test, value=seconds [s],
    attribute=value, attribute=score
    kept in the attributes of the instance: value, score
    found 1 name, 2 results
    exit 0

    nightly.csv: nothing new, everything is already in the store
    detected csv: its first line names columns, and the rows have numbers
    stored in .lapwing/lapwing.db as 2 sessions
    columns: date=date, commit=commit, benchmark=test, value=seconds [s],
    attribute=value, attribute=score
    kept in the attributes of the instance: value, score
    found 1 name, 2 results
    exit 0

    error: nightly.csv:1: there is no column `minutes`, only `date`, `commit`, `test`, `value`, `seconds`, `score`
      nothing was imported from this file
    exit 2

    error: invalid value 'minutes' for '--columns <COLUMNS>': `minutes` is not MEANING=COLUMN

    For more information, try '--help'.
    exit 2
    ");
    assert_eq!(place.held(), (2, 2, 2));
}

#[test]
fn columns_are_in_json_and_only_tables_have_them() {
    let place = Place::new();
    place.write("nightly.csv", "date,test,seconds\n2026-11-01,join,1.5\n");
    place.write("good.jsonl", GOOD);
    let said = place.run(&[
        "import",
        "--columns",
        "benchmark=test",
        "good.jsonl",
        "nightly.csv",
        "--format",
        "json",
    ]);
    assert_snapshot!(said.replace(env!("CARGO_PKG_VERSION"), "VERSION"), @r#"
    {
      "lapwing": "VERSION",
      "answer": "import",
      "schema": 1,
      "command": [
        "lapwing",
        "import",
        "--columns",
        "benchmark=test",
        "good.jsonl",
        "nightly.csv",
        "--format",
        "json"
      ],
      "headline": "2 files (1 csv, 1 hail): 2 instances, 2 iterations imported",
      "verdict": null,
      "next": [],
      "notes": [
        {
          "code": "stored",
          "text": "stored in .lapwing/lapwing.db as 2 sessions",
          "sessions": 2
        },
        {
          "code": "columns",
          "text": "columns: date=date, benchmark=test, value=seconds [s]"
        },
        {
          "code": "columns_unused",
          "text": "--columns only applies to tables (CSV, TSV), not to results of hail"
        },
        {
          "code": "found",
          "text": "found 2 names, 2 results",
          "names": 2,
          "names_without_result": 0,
          "results": 2
        }
      ],
      "omitted_rows": 0,
      "dry_run": false,
      "files": [
        {
          "annotations": 0,
          "because": "its first line has `path`, `name` and `iterations`",
          "columns": null,
          "file": "good.jsonl",
          "format": "hail",
          "instances": 1,
          "invalid_lines": 0,
          "iterations": 1,
          "known_instances": 0,
          "known_records": 0,
          "names": 1,
          "names_without_result": 0,
          "new_records": 4,
          "results": 1,
          "spans": 0,
          "summaries": 0
        },
        {
          "annotations": 0,
          "because": "its first line names columns, and the rows have numbers",
          "columns": "date=date, benchmark=test, value=seconds [s]",
          "file": "nightly.csv",
          "format": "csv",
          "instances": 1,
          "invalid_lines": 0,
          "iterations": 1,
          "known_instances": 0,
          "known_records": 0,
          "names": 1,
          "names_without_result": 0,
          "new_records": 5,
          "results": 1,
          "spans": 0,
          "summaries": 0
        }
      ],
      "imported_files": 2,
      "names": 2,
      "refused": [],
      "refused_files": 0,
      "results": 2,
      "session": null,
      "sessions": 2,
      "store": ".lapwing/lapwing.db",
      "suite": null,
      "total": {
        "annotations": 0,
        "instances": 2,
        "invalid_lines": 0,
        "iterations": 2,
        "known_instances": 0,
        "known_records": 0,
        "new_records": 9,
        "spans": 0,
        "summaries": 0
      },
      "without_result": []
    }
    exit 0
    "#);
}
