//! Changes in the history, as pages of the report.

use std::collections::BTreeMap;
use std::path::Path;

use crate::report_files::{entry, files};
use crate::synthetic::{Recipe, Sessions, measure};
use lapwing_analyse::clean::CleaningRules;
use lapwing_analyse::detect::{DetectOptions, Histories};
use lapwing_analyse::judge::MetricChoice;
use lapwing_analyse::sample::BenchmarkData;
use lapwing_model::{BenchmarkLimits, JudgeLimits, JudgeSettings, MetricLimits};
use lapwing_show::report::{
    ChangesView, CommitWords, DetectionTarget, ReportOptions, ReportWriter,
};

/// Returns quiet benchmarks with one instance per run.
fn quiet(number: u32, runs: u32) -> Vec<BenchmarkData> {
    let mut sessions = Sessions::default();
    (0..number)
        .map(|number| {
            let recipe = Recipe {
                id: format!("it {number}"),
                sessions: runs,
                instances: 1,
                iterations: 2,
                metrics: 1,
                ..Recipe::default()
            };
            measure(&recipe, &mut sessions)
        })
        .collect()
}

/// Makes a benchmark slower by a factor in the runs from one to another.
fn slow_down(data: &mut BenchmarkData, runs: std::ops::Range<usize>, factor: f64) {
    for instance in &mut data.instances {
        let name = instance.run.version.name.as_deref().expect("a name");
        let number: usize = name[2..].parse().expect("a number");
        if runs.contains(&number) {
            for value in instance.iterations.values.get_mut("wall_time").expect("it") {
                *value *= factor;
            }
        }
    }
}

fn view(benchmarks: &[BenchmarkData]) -> ChangesView {
    view_of(benchmarks, &JudgeSettings::default())
}

fn view_of(benchmarks: &[BenchmarkData], judge: &JudgeSettings) -> ChangesView {
    let mut histories = Histories::default();
    for data in benchmarks {
        histories.add(data, &CleaningRules::default(), &MetricChoice::default());
    }
    ChangesView::of(histories, judge, DetectOptions::default(), &[])
}

/// Returns the files of a report, by name.
fn report(
    benchmarks: Vec<BenchmarkData>,
    changes: Option<ChangesView>,
) -> BTreeMap<String, String> {
    let directory = tempfile::tempdir().expect("a directory");
    let directory: &Path = directory.path();
    let options = ReportOptions {
        title: "Report".to_owned(),
        made: "for a test".to_owned(),
        rules: CleaningRules::default(),
        metrics: Vec::new(),
        detect: DetectionTarget::default(),
        raw: true,
    };
    let mut writer = ReportWriter::create(directory, options).expect("a new directory");
    if let Some(view) = changes {
        writer.changes(view);
    }
    for data in benchmarks {
        writer.add(vec![data]).expect("it writes");
    }
    writer.finish().expect("it writes");
    files(directory)
}

/// Returns the text between two others, without tags.
fn text_between(page: &str, begin: &str, end: &str) -> String {
    let from = page.find(begin).expect("the beginning");
    let until = from + page[from..].find(end).expect("the end");
    let mut text = String::new();
    let mut is_tag = false;
    for letter in page[from..until].chars() {
        match letter {
            '<' => is_tag = true,
            '>' => {
                is_tag = false;
                text.push(' ');
            }
            _ if !is_tag => text.push(letter),
            _ => {}
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn changed() -> BTreeMap<String, String> {
    let mut benchmarks = quiet(8, 80);
    slow_down(&mut benchmarks[2], 30..80, 1.3);
    slow_down(&mut benchmarks[5], 30..80, 1.2);
    slow_down(&mut benchmarks[7], 50..80, 0.7);
    let view = view(&benchmarks);
    report(benchmarks, Some(view))
}

#[test]
fn the_page_of_changes_shows_each_cause_with_its_evidence() {
    let files = changed();
    let page = &files["changes.html"];
    insta::assert_snapshot!(text_between(page, "<section class=\"headline", "<section class=\"cause"), @"✗ 2 new regressions and 1 new improvement in 8 histories, 80 runs 2 benchmarks changed together, above all it 2: wall time slower by 29 % [28, 31] , since 1.30, 2026-10-21. Next: lapwing triage acknowledge 93a38c50 Copy marks it as known ? Of all findings together at most 5 % are false. One value per run, compared with those before and after: one instance per run is enough. Changes at the same place are one cause. New ones come first, regressions before improvements, and then those that change most wall time per run. 80 runs: 1.07 s before, 1.39 s after 1.07 s 1.39 s");
    insta::assert_snapshot!(text_between(page, "<section class=\"cause\" id=\"c1\"", "</section>"), @"✗ regression 2 benchmarks changed together, above all it 2: wall time slower by 29 % [28, 31] since 1.30, 2026-10-21 suspects 1 version: 1.30 (2026-10-21) ( 1.29..1.30 ) runs before 1.07 s in 30 runs, after 1.39 s in 50 runs before 1.07 s after 1.39 s cost +535 ms wall time per run of 2 benchmarks changed there too kernel 6.6, 6.7 and 1 more → 6.10, 6.9 and 1 more (tells 80 % of the runs apart) state new ; if it is known: lapwing triage acknowledge 93a38c50 b5ad3f7c benchmark metric before after change [95 % CI] runs since id verdict it 2 wall time 1.07 s 1.39 s 1.29× [1.28, 1.31] 30 / 50 1.30 93a38c50 ✗ regression it 5 wall time 1.06 s 1.28 s 1.21× [1.20, 1.22] 30 / 50 1.30 b5ad3f7c ✗ regression");
    insta::assert_snapshot!(text_between(page, "<h2 id=\"c2-title\"", "</h2>"), @"✓ improvement it 7: wall time faster by 30.1 % [29.3, 30.9]");
    assert!(page.contains("href=\"benchmark/it-2-"));
    let rows = entry(&files, "changes");
    assert_eq!(rows["id"], serde_json::json!(["it 2", "it 5", "it 7"]));
    assert_eq!(rows["cause"], serde_json::json!([1, 1, 2]));
    let regression = ["regression", "regression", "improvement"];
    assert_eq!(rows["direction"], serde_json::json!(regression));
    // The chart of a cause leads to the runs on the page of its benchmark.
    let chart = entry(&files, "changes-c1");
    let link = &chart["option"]["tooltip"]["formatter"]["fields"][0]["link"];
    let link = link.as_str().expect("a link");
    assert!(link.starts_with("benchmark/it-2-"), "{link}");
}

#[test]
fn the_index_and_a_benchmark_show_its_change() {
    let files = changed();
    let index = &files["index.html"];
    assert!(index.contains("2 new regressions and 1 new improvement"));
    let rows = entry(&files, "index.m0");
    let since: Vec<&str> = rows["since"]
        .as_array()
        .expect("a column")
        .iter()
        .map(|it| it.as_str().expect("a text"))
        .collect();
    insta::assert_snapshot!(since.join("\n"), @"
    +29 % since 1.30
    +21 % since 1.30





    −30.1 % since 1.50
    ");
    assert_eq!(rows["since_link"][0], "changes.html#93a38c50");
    let (name, page) = files
        .iter()
        .find(|(name, _)| name.starts_with("benchmark/it-2-"))
        .expect("a page");
    insta::assert_snapshot!(text_between(page, "<section class=\"headline", "<details"), @"it 2 · suite synthetic · all parameters ✗ Wall time slower by 29 % [28, 31] since 1.30, 2026-10-21 Level 1.07 s in 30 runs before, 1.39 s in 50 runs since. Latest: wall time 1.43 s (1 instance × 2) in the run of 2026-12-09 14:13 night-79, 1.79. Excluded: 1 burn-in. Next: lapwing triage acknowledge 93a38c50 Copy marks it as known");
    let slug = name.strip_prefix("benchmark/").expect("its folder");
    let slug = slug.strip_suffix(".html").expect("its ending");
    let metric = entry(&files, &format!("{slug}.m0"));
    let series = metric["charts"][0]["option"]["series"].as_array();
    let marks = series.expect("series").last().expect("marks").clone();
    assert_eq!(marks["name"], "changes");
    // The first run, the last before, the first after, and the last.
    let row = marks["data"][0].as_array().expect("a row").iter();
    let row: Vec<f64> = row.map(|it| it.as_f64().expect("a number")).collect();
    assert_eq!(row[1..5], [0.0, 29.0, 30.0, 79.0]);
    let quiet = files
        .iter()
        .find(|(name, _)| name.starts_with("benchmark/it-3-"))
        .expect("a page");
    assert!(!quiet.1.contains("history-changes"));
    insta::assert_snapshot!(text_between(quiet.1, "<section class=\"headline", "<details"), @"it 3 · suite synthetic · all parameters No change in 80 runs Latest: wall time 1.05 s (1 instance × 2) in the run of 2026-12-09 14:13 night-79, 1.79. Excluded: 1 burn-in.");
    assert_eq!(metric["times"], serde_json::Value::Null);
    let times = metric["charts"][0]["times"].as_array().expect("times");
    assert_eq!(times.len(), 80);
}

#[test]
fn the_headline_of_a_benchmark_is_its_largest_open_change_and_not_the_newest() {
    let mut benchmarks = quiet(4, 80);
    slow_down(&mut benchmarks[1], 30..80, 1.37);
    slow_down(&mut benchmarks[1], 60..80, 1.08);
    let view = view(&benchmarks);
    let files = report(benchmarks, Some(view));
    let page = page_of(&files, "it-1-");
    insta::assert_snapshot!(text_between(page, "<h1>", "</h1>"), @"✗ Wall time slower by 37 % [35, 38] since 1.30, 2026-10-21");
    assert!(page.contains("1 more open change"), "{page}");
    assert!(
        page.contains("<section class=\"headline worse\">"),
        "{page}"
    );
    let since = entry(&files, "index.m0")["since"].clone();
    assert!(since.to_string().contains("since 1.30"), "{since}");
}

#[test]
fn a_change_that_the_suite_shares_is_no_news_of_a_benchmark() {
    let mut benchmarks = quiet(12, 60);
    for data in &mut benchmarks {
        slow_down(data, 40..60, 1.15);
    }
    let view = view(&benchmarks);
    let files = report(benchmarks, Some(view));
    let page = page_of(&files, "it-1-");
    assert!(
        page.contains("<section class=\"headline no-news\">"),
        "{page}"
    );
    assert!(
        page.contains("Most of the suite changed there too"),
        "{page}"
    );
}

#[test]
fn suspects_are_told_with_message_and_author_where_the_repository_has_them() {
    let mut benchmarks = quiet(4, 60);
    for data in &mut benchmarks {
        for instance in &mut data.instances {
            let mut run = (*instance.run).clone();
            let name = run.version.name.as_deref().expect("a name");
            run.version.commit = Some(format!("{:0>40}", &name[2..]));
            instance.run = run.into();
        }
    }
    slow_down(&mut benchmarks[1], 40..60, 1.3);
    let mut view = view(&benchmarks);
    view.describe_commits(|after, up_to, _| {
        assert!(
            after.ends_with("39") && up_to.ends_with("40"),
            "{after} {up_to}"
        );
        vec![CommitWords {
            commit: up_to.to_owned(),
            subject: "a check more".to_owned(),
            author: "Ada".to_owned(),
        }]
    });
    let files = report(benchmarks.clone(), Some(view));
    let said = "<q>a check more</q> <span class=\"hint\">Ada</span>";
    assert!(files["changes.html"].contains(said));
    // Who measured it is not known to be able to bisect it, nor how many commits there are.
    assert!(!files["changes.html"].contains("bisect"));
    let without = report(benchmarks.clone(), Some(self::view(&benchmarks)));
    assert!(!without["changes.html"].contains("<q>"));
}

fn page_of<'a>(files: &'a BTreeMap<String, String>, beginning: &str) -> &'a str {
    let beginning = format!("benchmark/{beginning}");
    let found = files.iter().find(|(name, _)| name.starts_with(&beginning));
    found.expect("a page").1
}

#[test]
fn a_setting_that_is_not_measured_any_more_comes_last_and_counts_no_more() {
    let mut sessions = Sessions::default();
    let mut benchmarks: Vec<BenchmarkData> = (0..2)
        .map(|number| {
            let recipe = Recipe {
                id: format!("it {number}"),
                sessions: 40,
                instances: 3,
                iterations: 2,
                metrics: 1,
                variants: vec![("new", 1.0), ("old", 1.5)],
                ..Recipe::default()
            };
            measure(&recipe, &mut sessions)
        })
        .collect();
    // Its last run has one instance.
    for data in &mut benchmarks {
        let mut last = 0;
        data.instances.retain(|instance| {
            let name = instance.run.version.name.as_deref().expect("a name");
            let number: usize = name[2..].parse().expect("a number");
            let is_last = instance.run.variant == "old" && number == 22;
            last += usize::from(is_last);
            instance.run.variant == "new" || number < 22 || (is_last && last == 1)
        });
    }
    let view = view(&benchmarks);
    let files = report(benchmarks, Some(view));
    let index = text_between(&files["index.html"], "<main>", "</main>");
    insta::assert_snapshot!(index.split(" Search").next().expect("a part"), @"No change in 2 of 4 histories; 2 not judged: not measured any more (40 runs) ? A change is a level that differs from the one before by more than the noise explains, such as 14 % slower since a commit. If nothing changed, there is a finding in at most 5 % of such reports. Small changes need more runs: each night adds to what can be seen. 2 settings of benchmarks are not measured any more, and come last in the table. Map Table");
    let rows = entry(&files, "index.m0");
    let order = ["it 0", "it 1", "it 0", "it 1"];
    assert_eq!(rows["id"], serde_json::json!(order));
    let variants = ["new", "new", "old", "old"];
    assert_eq!(rows["variant"], serde_json::json!(variants));
}

#[test]
fn a_change_that_the_whole_suite_shares_is_one_cause() {
    let mut benchmarks = quiet(12, 60);
    for data in &mut benchmarks {
        slow_down(data, 40..60, 1.15);
    }
    let view = view(&benchmarks);
    let files = report(benchmarks, Some(view));
    let page = &files["changes.html"];
    insta::assert_snapshot!(text_between(page, "<section class=\"cause\" id=\"c1\"", "<div class=\"scroll\""), @"✗ regression Suite synthetic: 12 histories changed together, by +15 % in the median since 1.40, 2026-10-31 suspects 1 version: 1.40 (2026-10-31). As the whole suite changed, look for a change of the machine first. ( 1.39..1.40 ) runs before 1.06 s in 40 runs, after 1.22 s in 20 runs before 1.06 s after 1.22 s cost +1.96 s wall time per run of 12 benchmarks changed there too kernel 6.10, 6.9 and 1 more → 6.11, 6.12 and 1 more state new ; if it is known: lapwing triage expect '*' --at-version 1.40");
    assert!(page.contains("<a href=\"#cause=1\">All in the table</a>"));
    // Links lead to the section of the cause, or to the row in the table.
    let rows = entry(&files, "index.m0");
    let links = rows["since_link"].as_array().expect("a column").iter();
    let links: Vec<&str> = links.map(|it| it.as_str().expect("a text")).collect();
    let of_table = links.iter().filter(|it| it.starts_with("changes.html#q="));
    assert_eq!([links.len(), of_table.count()], [12, 7]);
    for link in links.iter().filter(|it| !it.contains("q=")) {
        let id = link.strip_prefix("changes.html#").expect("an id");
        assert!(page.contains(&format!("id=\"{id}\"")), "{id}");
    }
    assert!(!page.contains("id=\"c2\""));
}

#[test]
fn a_benchmark_that_the_suite_file_mutes_has_no_change() {
    let mut benchmarks = quiet(4, 60);
    slow_down(&mut benchmarks[1], 40..60, 1.3);
    slow_down(&mut benchmarks[2], 40..60, 1.3);
    let limits = MetricLimits {
        all: JudgeLimits {
            smallest_effect: None,
            mute: Some(true),
            ..JudgeLimits::default()
        },
        ..MetricLimits::default()
    };
    let judge = JudgeSettings {
        benchmarks: vec![BenchmarkLimits {
            name: "it 2".to_owned(),
            paths: Vec::new(),
            limits,
        }],
        ..JudgeSettings::default()
    };
    let view = view_of(&benchmarks, &judge);
    let files = report(benchmarks, Some(view));
    assert_eq!(entry(&files, "changes")["id"], serde_json::json!(["it 1"]));
    assert!(files["changes.html"].contains("Muted in the suite file: it 2."));
}

#[test]
fn a_page_without_changes_says_why() {
    let few = quiet(2, 5);
    let short = view(&few);
    let files = report(few, Some(short));
    insta::assert_snapshot!(text_between(&files["changes.html"], "<main>", "</main>"), @"No history is long enough yet to look for changes A change needs at least 10 runs of a benchmark, such as one per night or per commit; the longest history has 5. lapwing run adds a run, lapwing run --commits measures past commits, lapwing import reads the results of other tools. To compare two versions now, use lapwing compare . 2 histories with too few runs to test (10 are needed) it 0 it 1");
    let none = quiet(2, 40);
    let silent = view(&none);
    let files = report(none, Some(silent));
    insta::assert_snapshot!(text_between(&files["changes.html"], "<main>", "</main>"), @"No change found in 2 histories, 40 runs ? A change is a level that differs from the one before by more than the noise explains, such as 14 % slower since a commit. If nothing changed, there is a finding in at most 5 % of such reports. Small changes need more runs: each night adds to what can be seen.");
    assert!(!files["index.html"].contains("In the history"));
}

#[test]
fn a_report_without_detection_has_no_page_of_changes() {
    let files = report(quiet(2, 5), None);
    assert!(!files.contains_key("changes.html"));
    assert!(!files["index.html"].contains("changes.html"));
}
