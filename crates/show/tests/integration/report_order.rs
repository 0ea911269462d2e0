//! The report tells a history in the order of versions, setting by setting, and says where the
//! benchmark itself changed, where it was skipped, and what counts no more.

use std::fs;
use std::path::Path;

use lapwing_analyse::clean::CleaningRules;
use lapwing_analyse::sample::each_benchmark;
use lapwing_model::{Annotation, Id, Object, Record};
use lapwing_record::{Change, Filter, Retired, Retirement, Store, StoreError, parse_line};
use lapwing_show::report::{DetectionTarget, ReportOptions, ReportRemarks, ReportWriter};
use lapwing_testing::{RecordLines, report_entry, report_page};
use serde_json::{Value, json};

/// Records of a suite.
#[derive(Default)]
struct Lines(RecordLines);

impl Lines {
    /// A session that began on that day of 2026-06.
    fn session(&mut self, day: u8) -> String {
        let started = format!("2026-06-{day:02}T10:00:00Z");
        self.0
            .session(&started, json!({"name": format!("night-{day}")}))
    }

    fn run(&mut self, session: &str, variant: &str, version: &Value, factors: &Value) -> String {
        let more = json!({"variant": variant, "version": version, "factors": factors});
        self.0.run(session, more)
    }

    /// Three instances near a value, which end well.
    fn measured(&mut self, run: &str, benchmark: &Value, value: f64) {
        for factor in [0.99, 1.0, 1.01] {
            let instance = self.0.instance(run, "", json!({"benchmark": benchmark}));
            let metrics = json!({"wall_time": value * factor});
            self.0.iteration(&instance, 0, json!({"metrics": metrics}));
            self.0.instance_end(&instance);
        }
    }

    fn store(&self, directory: &Path) -> Store {
        let mut store = Store::open(&directory.join("s.db")).unwrap();
        let lines = self.0.text.lines();
        let records: Vec<_> = lines.map(|it| parse_line(it.as_bytes()).unwrap()).collect();
        store.append(&records).unwrap();
        store
    }
}

fn annotation(change: &Change) -> Record {
    Record::Annotation(Annotation {
        id: Id::measured(1, [1; 10]),
        at: "2026-06-30T00:00:00Z".parse().unwrap(),
        by: "a".to_owned(),
        action: change.action().to_owned(),
        target: change.target(),
        reason: None,
        extra: Object::new(),
    })
}

/// A report, as files.
struct WrittenReport {
    _directory: tempfile::TempDir,
    files: std::path::PathBuf,
}

impl WrittenReport {
    fn of(lines: &Lines) -> Self {
        Self::with(lines, Retired::LeaveOut, &[])
    }

    fn with(lines: &Lines, retired: Retired, said: &[Change]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut store = lines.store(directory.path());
        let said: Vec<Record> = said.iter().map(annotation).collect();
        store.append(&said).unwrap();
        let filter = Filter {
            retired,
            ..Filter::default()
        };
        let files = directory.path().join("r");
        let options = ReportOptions {
            title: "Report".to_owned(),
            made: "for a test".to_owned(),
            rules: CleaningRules::default(),
            metrics: Vec::new(),
            detect: DetectionTarget::default(),
            raw: true,
        };
        let mut writer = ReportWriter::create(&files, options).unwrap();
        writer.remarks(ReportRemarks {
            all: store.annotations().all().unwrap(),
            retired: store.catalogue().left_out(&filter).unwrap().instances,
            shown: retired,
        });
        let added = each_benchmark(&store, &filter, |data| -> Result<(), StoreError> {
            writer.add(vec![data]).unwrap();
            Ok(())
        });
        added.unwrap();
        writer.finish().unwrap();
        Self {
            _directory: directory,
            files,
        }
    }

    fn text(&self, file: &str) -> String {
        report_page(&self.files, file)
    }

    fn data(&self, name: &str) -> Value {
        report_entry(&self.files, name)
    }

    /// The name of the only page of a folder that begins so.
    fn page(&self, folder: &str, beginning: &str) -> String {
        let files = fs::read_dir(self.files.join(folder)).unwrap();
        let names = files.map(|it| it.unwrap().file_name().to_string_lossy().into_owned());
        let mut names = names.filter(|it| it.starts_with(beginning));
        names.next().unwrap().trim_end_matches(".html").to_owned()
    }

    /// What the only benchmark's first side file has.
    fn metric(&self) -> Value {
        self.data(&format!("{}.m0", self.page("benchmark", "")))
    }
}

/// Returns a field of each run of the table, newest first.
fn column(metric: &Value, name: &str) -> Vec<String> {
    let runs = metric["runs"].as_array().unwrap().iter();
    runs.map(|run| run[name].as_str().unwrap_or_default().to_owned())
        .collect()
}

fn version(name: &str, date: &str) -> Value {
    json!({"name": name, "commit": "c", "date": date})
}

fn marks(metric: &Value) -> Vec<String> {
    let series = metric["charts"][0]["option"]["series"].as_array().unwrap();
    let Some(marks) = series.iter().find(|it| it["name"] == "marks") else {
        return Vec::new();
    };
    let marks = marks["markLine"]["data"].as_array().unwrap().iter();
    marks
        .map(|it| {
            format!(
                "{} {}",
                it["xAxis"],
                it["label"]["formatter"].as_str().unwrap()
            )
        })
        .collect()
}

#[test]
fn a_history_measured_in_one_session_has_a_place_for_each_version() {
    let mut lines = Lines::default();
    let benchmark = json!({"id": "b"});
    let later = lines.session(20);
    for (name, date, value) in [
        ("v1.1", "2026-01-03T10:00:00Z", 3.0),
        ("v1.0", "2026-01-01T10:00:00Z", 1.0),
        ("v1.0+1", "2026-01-01T12:30:00Z", 2.0),
    ] {
        let run = lines.run(&later, "default", &version(name, date), &json!({}));
        lines.measured(&run, &benchmark, value);
    }
    // What the first step of the backfill left out, and a night before it.
    let second = lines.session(21);
    let run = lines.run(
        &second,
        "default",
        &version("v1.0+2", "2026-01-02T10:00:00Z"),
        &json!({}),
    );
    lines.measured(&run, &benchmark, 2.5);
    let written = WrittenReport::of(&lines);
    let metric = written.metric();
    assert_eq!(
        column(&metric, "version"),
        ["v1.1", "v1.0+2", "v1.0+1", "v1.0"]
    );
    let against: Vec<String> = column(&metric, "change_against");
    assert_eq!(
        against,
        [
            "against the run of 2026-06-21 10:00 night-21, v1.0+2",
            "against the run of 2026-06-20 10:00 night-20, v1.0+1",
            "against the run of 2026-06-20 10:00 night-20, v1.0",
            "",
        ]
    );
    let chart = &metric["charts"][0];
    // 2026-01-01 10:00, 2026-01-01 12:30, 2026-01-02, 2026-01-03
    assert_eq!(
        chart["option"]["xAxis"]["data"],
        json!({"packed": ["002026-01-01 10:00", "c12:3", "902", "903"]})
    );
    assert_eq!(
        chart["option"]["dataset"][0]["source"]["place"],
        json!([0, 1, 2, 3])
    );
    assert_eq!(marks(&metric), ["0 v1.0", "3 v1.1"]);
    let subtitle = chart["subtitle"].as_str().unwrap();
    assert!(
        subtitle.contains("In order of versions' dates. "),
        "{subtitle}"
    );
    // The environment is told of versions, not of sessions.
    let page = written.data(&format!("{}.rest", written.page("benchmark", "")));
    let page = page.as_str().unwrap();
    assert!(page.contains("2026-06-20 10:00, v1.1"), "{page}");
    // The index has the same latest value, against the same run.
    let index = written.data("index.m0");
    assert_eq!(index["value_text"], json!(["3.00 s"]));
    assert_eq!(index["change_against"][0], json!(against[0]));
}

#[test]
fn the_latest_run_is_the_one_that_measured_the_benchmark_last() {
    let mut lines = Lines::default();
    // Two jobs side by side: the one that began first reaches the benchmark last, and fails.
    let jobs = [("10:00:00", 30, "failed"), ("10:05:00", 10, "ok")];
    for (began, minute, outcome) in jobs {
        let session = lines.0.session(&format!("2026-06-01T{began}Z"), json!({}));
        let run = lines.run(&session, "default", &json!({}), &json!({}));
        let started = format!("2026-06-01T10:{minute}:00Z");
        for _instance in 0..3 {
            let instance = lines.0.instance(&run, "b", json!({"started": started}));
            let content = match outcome {
                "ok" => json!({"metrics": {"wall_time": 1.0}}),
                _failed => json!({"outcome": "failed", "message": "lost the race"}),
            };
            lines.0.iteration(&instance, 0, content);
            lines.0.instance_end(&instance);
        }
    }
    let written = WrittenReport::of(&lines);
    let index = written.text("index.html");
    assert!(!index.contains("Nothing failed"), "{index}");
    assert_eq!(written.data("index.m0")["failures"], json!([3]));
}

#[test]
fn failures_of_earlier_runs_are_named_and_expected_ones_are_none() {
    let mut lines = Lines::default();
    let nights = [(1, "failed"), (2, "ok"), (3, "failed"), (4, "ok")];
    for (day, outcome) in nights {
        let session = lines.session(day);
        let run = lines.run(&session, "default", &json!({}), &json!({}));
        for benchmark in ["flaky", "expected"] {
            let instance = lines.0.instance(&run, benchmark, json!({}));
            let mut content = json!({"metrics": {"wall_time": f64::from(day)}});
            if outcome != "ok" {
                content = json!({"outcome": outcome});
                if benchmark == "expected" {
                    content["attributes"] = json!({"xfail": "known"});
                }
            }
            lines.0.iteration(&instance, 0, content);
            lines.0.instance_end(&instance);
        }
    }
    let written = WrittenReport::of(&lines);
    let index = written.data("index.m0");
    assert_eq!(index["id"], json!(["expected", "flaky"]));
    assert_eq!(index["failed_before"], json!([0, 2]));
    assert_eq!(index["failures"], json!([0, 0]));
    // The value between two failures is seen: a dot.
    let between = "M41.0 21.0h0M117.0 3.0h0";
    assert_eq!(index["sparkline"], json!([between, between]));
    let index = written.text("index.html");
    assert!(index.contains("1 failed in earlier runs only."), "{index}");
}

#[test]
fn levels_of_factors_are_settings_of_their_own_and_named_everywhere() {
    let mut lines = Lines::default();
    let session = lines.session(1);
    for (threads, value) in [(1, 8.0), (2, 4.0), (4, 2.0)] {
        let factors = json!({"threads": threads, "size": 9});
        let run = lines.run(&session, "default", &json!({}), &factors);
        lines.measured(&run, &json!({"id": "b[x]"}), value);
        lines.measured(&run, &json!({"id": "b[y]"}), value);
    }
    let written = WrittenReport::of(&lines);
    let index = written.data("index.m0");
    let names = json!([
        "threads=1",
        "threads=2",
        "threads=4",
        "threads=1",
        "threads=2",
        "threads=4"
    ]);
    assert_eq!(index["variant"], names);
    assert_eq!(index["named"][0], json!(true));
    assert_eq!(index["change_text"][2], json!("0.250×"));
    assert_eq!(index["change_against"][2], json!("against threads=1"));
    let page = written.page("benchmark", "b-x");
    let html = written.text(&format!("benchmark/{page}.html"));
    assert!(html.contains("</span>threads=4</th>"), "{html}");
    let metric = written.data(&format!("{page}.m0"));
    assert_eq!(
        column(&metric, "variant"),
        ["threads=4", "threads=2", "threads=1"]
    );
    // One run of each is no history.
    assert_ne!(metric["charts"][0]["id"], "history");
    let test = written.data(&format!("test-{}.m0", written.page("test", "")));
    assert_eq!(
        test["variants"],
        json!(["threads=1", "threads=2", "threads=4"])
    );
    // Instances of several settings are not judged together.
    let variability = written.data("variability.m0");
    let mut settings: Vec<&str> = variability["setting"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    settings.sort_unstable();
    assert_eq!(
        settings,
        [
            "threads=1",
            "threads=1",
            "threads=2",
            "threads=2",
            "threads=4",
            "threads=4"
        ]
    );
}

#[test]
fn epochs_are_told_apart_within_a_setting_and_told_in_words() {
    let mut lines = Lines::default();
    for (day, of_alpha) in [(1, "A"), (2, "B"), (3, "A"), (4, "A"), (5, "C")] {
        let session = lines.session(day);
        for (variant, fingerprint) in [("alpha", of_alpha), ("beta", "other")] {
            let run = lines.run(&session, variant, &json!({}), &json!({}));
            let benchmark = |id: &str| json!({"id": id, "fingerprint": fingerprint});
            lines.measured(&run, &benchmark("b[1]"), 1.0);
            lines.measured(&run, &benchmark("b[2]"), 1.0);
        }
    }
    let written = WrittenReport::of(&lines);
    let page = written.page("benchmark", "b-1");
    let metric = written.data(&format!("{page}.m0"));
    let changed = ["1 changed", "2 changed", "4 changed"];
    assert_eq!(marks(&metric), changed);
    assert_eq!(metric["runs"][1]["new_epoch"], json!(true));
    assert_eq!(
        metric["runs"][1]["change_against"],
        "not compared with the run of 2026-06-04 10:00 night-4: the benchmark itself changed in \
         between (its definition)"
    );
    assert_eq!(metric["runs"][3]["new_epoch"], Value::Null);
    let of_test = written.data(&format!("test-{}.m0", written.page("test", "")));
    assert_eq!(of_test["variants"], json!(["alpha", "beta"]));
    let of_alpha = &of_test["marks"][0];
    assert_eq!(of_alpha["text"], "Solid: the benchmark itself changed.");
    let of_alpha = json!({"charts": [{"option": {"series": [of_alpha["series"]]}}]});
    assert_eq!(marks(&of_alpha), changed);
    assert_eq!(of_test["marks"][1], Value::Null);
    let unchanged = "1.00× [0.98, 1.02]";
    assert_eq!(
        of_test["rows"]["change"],
        json!(["new epoch", unchanged, "new epoch", unchanged])
    );
    let html = written.text(&format!("benchmark/{page}.html"));
    assert!(
        html.contains(
            "Not compared with the run of 2026-06-04 10:00 night-4: the benchmark itself changed"
        ),
        "{html}"
    );
    let index = written.text("index.html");
    assert!(!index.contains("Nothing is wrong"), "{index}");
    assert!(
        index.contains(
            "2 have a new definition or parameters, and are not compared with the run before"
        ),
        "{index}"
    );
    assert_eq!(
        written.data("index.m0")["new_epoch"],
        json!([true, false, true, false])
    );
    let runs = written.data(&format!("{page}.runs0"));
    assert_eq!(runs[1]["changed"], " (its definition)");
    assert_eq!(runs[0]["changed"], Value::Null);
}

#[test]
fn what_is_retired_and_shown_all_the_same_is_marked_and_not_compared() {
    let mut lines = Lines::default();
    for (day, value) in [(1, 9.0), (2, 9.0), (3, 1.0)] {
        let session = lines.session(day);
        let run = lines.run(&session, "default", &json!({}), &json!({}));
        lines.measured(&run, &json!({"id": "b"}), value);
    }
    let retire = Change::Retire(Retirement {
        suite: None,
        benchmark: "b".to_owned(),
        exactly: false,
        metric: None,
        version: None,
        before: "2026-06-03T00:00:00Z".parse().unwrap(),
    });
    let left_out = WrittenReport::with(&lines, Retired::LeaveOut, std::slice::from_ref(&retire));
    assert_eq!(column(&left_out.metric(), "session"), ["night-3"]);
    let index = left_out.text("index.html");
    assert!(
        index.contains("6 retired instances are excluded"),
        "{index}"
    );
    let shown = WrittenReport::with(&lines, Retired::Show, &[retire]);
    let metric = shown.metric();
    let retired: Vec<bool> = (0..3)
        .map(|at| metric["runs"][at]["retired"] == json!(true))
        .collect();
    assert_eq!(retired, [false, true, true]);
    assert_eq!(
        column(&metric, "change_against")[0],
        "not compared with the run of 2026-06-02 10:00 night-2, retired"
    );
    let chart = &metric["charts"][0];
    assert_eq!(
        chart["option"]["legend"]["data"],
        json!(["default, retired", "default"])
    );
    let names = &chart["option"]["tooltip"]["formatter"]["fields"][0];
    assert_eq!(names["heads"][5], "retired");
    assert_eq!(
        names["joined"][5],
        json!({"packed": ["00retired", "", "00"]})
    );
    let subtitle = chart["subtitle"].as_str().unwrap();
    assert!(
        subtitle.contains("Pale and dotted: 2 retired runs, which are excluded from analysis."),
        "{subtitle}"
    );
    let index = shown.text("index.html");
    assert!(
        index.contains("6 retired instances are in this report"),
        "{index}"
    );
    let page = shown.data(&format!("{}.rest", shown.page("benchmark", "")));
    let page = page.as_str().unwrap();
    assert!(
        page.contains("is excluded from analysis, but shown here, marked"),
        "{page}"
    );
    assert!(!page.contains("is excluded <"), "{page}");
}

#[test]
fn retired_runs_have_lines_of_their_own_on_the_page_of_a_test() {
    let mut lines = Lines::default();
    for (day, value) in [(1, 9.0), (2, 9.0), (3, 1.0)] {
        let session = lines.session(day);
        let run = lines.run(&session, "default", &json!({}), &json!({}));
        lines.measured(&run, &json!({"id": "b[1]"}), value);
        lines.measured(&run, &json!({"id": "b[2]"}), value);
    }
    let retire = Change::Retire(Retirement {
        suite: None,
        benchmark: "b[1]".to_owned(),
        exactly: true,
        metric: None,
        version: None,
        before: "2026-06-03T00:00:00Z".parse().unwrap(),
    });
    let written = WrittenReport::with(&lines, Retired::Show, &[retire]);
    let of_test = written.data(&format!("test-{}.m0", written.page("test", "")));
    assert_eq!(of_test["order"], "In order of time.");
    let places = |member: usize| {
        let lines = of_test["lines"][member]["lines"].as_array().unwrap();
        let of = |line: &Value| (line["retired"] == json!(true), line["place"].clone());
        lines.iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(places(0), [(false, json!([2])), (true, json!([0, 1]))]);
    assert_eq!(places(1), [(false, json!([0, 1, 2]))]);
}

#[test]
fn what_was_skipped_and_what_has_no_end_are_called_so() {
    let mut lines = Lines::default();
    for day in [1, 2] {
        let session = lines.session(day);
        let run = lines.run(&session, "default", &json!({}), &json!({}));
        let skipped = lines.0.instance(&run, "b", json!({}));
        let end =
            json!({"instance": skipped, "outcome": "skipped", "message": "Skipped: no GPU here"});
        lines.0.line("instance_end", end);
        let endless = lines.0.instance(&run, "c", json!({}));
        lines
            .0
            .iteration(&endless, 0, json!({"metrics": {"wall_time": 1}}));
    }
    let written = WrittenReport::of(&lines);
    let index = written.data("index.m0");
    assert_eq!(index["value_text"][0], json!("skipped"));
    assert_eq!(index["skipped"], json!([true, false]));
    let html = written.text("index.html");
    assert!(html.contains("1 was skipped"), "{html}");
    assert!(!html.contains("gave no value"), "{html}");
    let page =
        |id: &str| written.text(&format!("benchmark/{}.html", written.page("benchmark", id)));
    let skipped = page("b");
    assert!(
        skipped.contains(
            "the run of 2026-06-02 10:00 night-2 was <strong>skipped</strong>: no GPU here."
        ),
        "{skipped}"
    );
    assert!(
        skipped.contains("None; 2 instances were skipped."),
        "{skipped}"
    );
    let without_end = page("c");
    assert!(
        without_end.contains(
            "None; 2 instances have no end, because they are under way or the writer died."
        ),
        "{without_end}"
    );
}

#[test]
fn tags_and_sources_are_those_of_the_latest_run_that_has_some() {
    let mut lines = Lines::default();
    for (day, tags) in [(1, json!(["slow"])), (2, json!([]))] {
        let session = lines.session(day);
        let run = lines.run(&session, "default", &json!({}), &json!({}));
        let source = json!({"source": {"path": "a.py", "text": "def test_b(): pass"}});
        let attributes = if day == 1 { source } else { json!({}) };
        let more = json!({"attributes": attributes, "benchmark": {"id": "b", "tags": tags}});
        let instance = lines.0.instance(&run, "b", more);
        lines
            .0
            .iteration(&instance, 0, json!({"metrics": {"wall_time": 1}}));
        lines.0.instance_end(&instance);
    }
    let written = WrittenReport::of(&lines);
    assert_eq!(written.data("index.m0")["tags"], json!([["slow"]]));
    let page = written.data(&format!("{}.rest", written.page("benchmark", "")));
    let page = page.as_str().unwrap();
    assert!(
        page.contains(
            "What the run of 2026-06-01 10:00 night-1 measured; later ones did not keep it"
        ),
        "{page}"
    );
    assert!(!page.contains("What the latest run measured"), "{page}");
    let directory = tempfile::tempdir().unwrap();
    let listed = lines
        .store(directory.path())
        .catalogue()
        .benchmarks(&Filter::default())
        .unwrap();
    assert_eq!(listed[0].tags, ["slow"]);
}

#[test]
fn a_parameter_that_changed_under_the_same_id_is_named() {
    let mut lines = Lines::default();
    for (day, params) in [
        (1, json!({"j": 3, "mode": "fast"})),
        (2, json!({"j": 999, "mode": "fast"})),
    ] {
        let session = lines.session(day);
        let run = lines.run(&session, "default", &json!({}), &json!({}));
        let benchmark = json!({"id": "b[1]", "fingerprint": "A", "params": params});
        lines.measured(&run, &benchmark, 1.0);
    }
    let written = WrittenReport::of(&lines);
    let page = written.page("benchmark", "b-1");
    let metric = written.data(&format!("{page}.m0"));
    assert_eq!(marks(&metric), ["1 j 3 → 999"]);
    let what = "the benchmark itself changed (its parameter j from 3 to 999)";
    let history = &metric["charts"][0]["subtitle"];
    assert!(
        history
            .as_str()
            .unwrap()
            .contains(&format!("Solid: {what}.")),
        "{history}"
    );
    assert_eq!(
        metric["runs"][0]["change_against"],
        "not compared with the run of 2026-06-01 10:00 night-1: the benchmark itself changed in \
         between (its parameter j from 3 to 999)"
    );
    let runs = written.data(&format!("{page}.runs0"));
    assert_eq!(runs[0]["changed"], " (its parameter j from 3 to 999)");
}

#[test]
fn what_is_judged_together_is_what_the_benchmark_is_today_though_old_versions_were_measured_later()
{
    let mut lines = Lines::default();
    for (day, date, fingerprint, n) in [
        (1, "2026-03-01", "new", 100),
        (2, "2026-04-01", "new", 100),
        (3, "2026-01-01", "old", 10),
    ] {
        let session = lines.session(day);
        let version = json!({"name": format!("v{day}"), "date": date});
        let run = lines.run(&session, "default", &version, &json!({}));
        let benchmark = json!({"id": "b", "fingerprint": fingerprint, "params": {"n": n}});
        lines.measured(&run, &benchmark, 1.0);
    }
    let written = WrittenReport::of(&lines);
    assert_eq!(written.data("burn-in")["instances"], json!([6]));
    let page = written.text("burn-in.html");
    let left_out =
        "3 instances of an earlier epoch are excluded: the benchmark itself has changed since.";
    assert!(page.contains(left_out), "{page}");
    let directory = tempfile::tempdir().unwrap();
    let mut params = Vec::new();
    let read = each_benchmark(&lines.store(directory.path()), &Filter::default(), |data| {
        params.push(data.benchmark.params["n"].clone());
        Ok::<(), StoreError>(())
    });
    read.unwrap();
    assert_eq!(params, [json!(100)]);
}

#[test]
fn the_environment_of_a_run_is_compared_with_that_of_the_run_before_of_its_variant() {
    let mut lines = Lines::default();
    for day in [1, 2] {
        for (variant, library) in [("baseline", 1), ("p2p", 2)] {
            // A session each.
            let session = lines.session(2 * day + library);
            let environment =
                json!({"packages": {"numpy": library.to_string(), "pandas": day.to_string()}});
            let more = json!({"variant": variant, "environment": environment});
            let run = lines.0.run(&session, more);
            lines.measured(&run, &json!({"id": "b"}), 1.0);
        }
    }
    let written = WrittenReport::of(&lines);
    let page = written.page("benchmark", "b-");
    let rest = written.data(&format!("{page}.rest"));
    let html = rest.as_str().unwrap();
    let (_, part) = html.split_once("id=\"environment\"").unwrap();
    let (part, _) = part.split_once("</section>").unwrap();
    assert!(
        part.contains("<p>What differs between the two latest runs of p2p:</p>"),
        "{part}"
    );
    let row = "<tr><th scope=\"row\">packages.pandas</th><td>1</td><td>2</td></tr>";
    assert_eq!(part.matches(row).count(), 2, "{part}");
    assert!(
        part.contains("<summary>baseline: 1 observation differs</summary>"),
        "{part}"
    );
    assert!(
        !part.contains("<td>1</td><td>1</td>")
            && !part.contains("packages.numpy</th><td>1</td><td>2"),
        "{part}"
    );
    assert!(
        part.contains("Environment of the run of p2p of 2026-06-06 10:00"),
        "{part}"
    );
}

#[test]
fn labels_of_a_distribution_keep_variant_and_version_apart_from_the_session() {
    let mut lines = Lines::default();
    let session = lines.session(1);
    let version = json!({"name": "2026.9.0+3.g0123456789abcdef0123"});
    for variant in ["default", "p2p"] {
        let run = lines.run(&session, variant, &version, &json!({}));
        lines.measured(&run, &json!({"id": "b"}), 1.0);
    }
    let written = WrittenReport::of(&lines);
    let metric = written.data(&format!("{}.m0", written.page("benchmark", "b-")));
    let charts = metric["charts"].as_array().unwrap();
    let chart = charts.iter().find(|it| it["id"] == "distribution").unwrap();
    let label = &chart["option"]["yAxis"]["axisLabel"]["formatter"];
    assert_eq!(
        label["names"],
        json!([
            "2026-06-01 10:00 night-1\np2p, 2026.9.0+3.g0123456789abcdef0123",
            "2026-06-01 10:00 night-1\n2026.9.0+3.g0123456789abcdef0123"
        ])
    );
    assert_eq!(
        label["narrow"],
        json!([
            "2026-06-01 10:00\np2p\n2026.9.0+3.g0123456789abcdef0123",
            "2026-06-01 10:00\n2026.9.0+3.g0123456789abcdef0123\nnight-1"
        ])
    );
}
