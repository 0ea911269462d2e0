//! Renamed and retired benchmarks and metrics, as whoever reads the store sees them.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use lapwing_analyse::sample::each_benchmark;
use lapwing_model::{Annotation, Id, Object, Record};
use lapwing_record::{Change, Filter, Retirement, Store, StoreError, parse_line};

/// A session a day; each with a run of the version of that number.
fn session(day: u8) -> String {
    format!(
        r#"{{"v":1,"kind":"session","id":"01930000-0000-7000-8000-0000000000{day:02}","suite":"s","started":"2026-01-{day:02}T10:00:00Z","tool":"t"}}
{{"v":1,"kind":"run","id":"01930000-0000-7000-8001-0000000000{day:02}","session":"01930000-0000-7000-8000-0000000000{day:02}","version":{{"name":"v{day}","commit":"c{day}ffee"}},"metrics":{{"wall_time":{{"unit":"s","better":"lower"}},"memory":{{"unit":"B","better":"lower"}}}}}}
"#
    )
}

fn instance(day: u8, number: u8, benchmark: &str, metrics: &str) -> String {
    let id = format!("01930000-0000-7000-8002-00000000{day:02}{number:02}");
    format!(
        r#"{{"v":1,"kind":"instance","id":"{id}","run":"01930000-0000-7000-8001-0000000000{day:02}","benchmark":{{"id":"{benchmark}","tags":["day{day}"]}}}}
{{"v":1,"kind":"iteration","instance":"{id}","index":0,"metrics":{metrics}}}
{{"v":1,"kind":"instance_end","instance":"{id}"}}
"#
    )
}

/// Day 1 measured `old`, day 2 `old` and `other`, day 3 `new` and `other`.
fn records() -> Vec<Record> {
    let text = [
        session(1),
        instance(1, 1, "old", r#"{"wall_time":1,"memory":10}"#),
        session(2),
        instance(2, 1, "old", r#"{"wall_time":2,"memory":20}"#),
        instance(2, 2, "other", r#"{"wall_time":20,"memory":200}"#),
        session(3),
        instance(3, 1, "new", r#"{"wall_time":3,"rss":30}"#),
        instance(3, 2, "other", r#"{"wall_time":30,"memory":300}"#),
    ]
    .concat();
    text.lines()
        .map(|line| parse_line(line.as_bytes()).unwrap())
        .collect()
}

fn store(folder: &Path, name: &str) -> Store {
    let mut store = Store::open(&folder.join(name)).unwrap();
    store.append(&records()).unwrap();
    store
}

fn time(day: u8) -> Timestamp {
    format!("2026-01-{day:02}T12:00:00Z").parse().unwrap()
}

fn said(number: u8, day: u8, change: &Change) -> Record {
    Record::Annotation(Annotation {
        id: Id::measured(u64::from(number), [number; 10]),
        at: time(day),
        by: "a".to_owned(),
        action: change.action().to_owned(),
        target: change.target(),
        reason: None,
        extra: Object::new(),
    })
}

fn rename(benchmark: &str, new: &str) -> Change {
    Change::Rename {
        suite: Some("s".to_owned()),
        benchmark: benchmark.to_owned(),
        new: new.to_owned(),
    }
}

fn rename_metric(benchmark: &str, metric: &str, new: &str) -> Change {
    Change::RenameMetric {
        exactly: false,
        suite: None,
        benchmark: benchmark.to_owned(),
        metric: metric.to_owned(),
        new: new.to_owned(),
    }
}

fn retire(benchmark: &str, before: u8) -> Retirement {
    Retirement {
        exactly: false,
        suite: None,
        benchmark: benchmark.to_owned(),
        metric: None,
        version: None,
        before: time(before),
    }
}

/// What somebody sees who reads the benchmarks: by id and metric the values in order of time.
fn seen(store: &Store, filter: &Filter) -> Vec<String> {
    let mut all = Vec::new();
    let visited = each_benchmark(store, filter, |data| {
        let mut values: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for it in &data.instances {
            for (metric, column) in &it.iterations.values {
                let unit = it.run.metrics.get(metric);
                let unit = unit.map_or("?", |metric| metric.unit.as_str());
                let known = values.entry(format!("{metric} {unit}")).or_default();
                known.extend(column);
            }
        }
        all.push(format!("{}: {values:?}", data.benchmark.id));
        Ok::<(), StoreError>(())
    });
    match visited {
        Ok(()) => all,
        Err(error) => vec![error.to_string()],
    }
}

fn everything(store: &Store) -> Vec<String> {
    seen(store, &Filter::default())
}

fn named(benchmark: &str) -> Filter {
    Filter {
        benchmarks: vec![benchmark.to_owned()],
        ..Filter::default()
    }
}

/// What `lapwing list` says: id, instances, metrics, tags.
fn listed(store: &Store, filter: &Filter) -> Vec<String> {
    let rows = store.catalogue().benchmarks(filter).unwrap();
    let line = |row: &lapwing_record::BenchmarkRow| {
        format!(
            "{} {} {:?} {:?}",
            row.benchmark, row.instances, row.metrics, row.tags
        )
    };
    rows.iter().map(line).collect()
}

#[test]
fn a_renamed_benchmark_is_one_series_under_its_new_id() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = store(folder.path(), "a.db");
    store.append(&[said(1, 4, &rename("old", "new"))]).unwrap();
    insta::assert_debug_snapshot!(everything(&store), @r#"
    [
        "new: {\"memory B\": [10.0, 20.0], \"rss ?\": [30.0], \"wall_time s\": [1.0, 2.0, 3.0]}",
        "other: {\"memory B\": [200.0, 300.0], \"wall_time s\": [20.0, 30.0]}",
    ]
    "#);
    insta::assert_debug_snapshot!(listed(&store, &Filter::default()), @r#"
    [
        "new 3 [\"memory\", \"rss\", \"wall_time\"] [\"day3\"]",
        "other 2 [\"memory\", \"wall_time\"] [\"day3\"]",
    ]
    "#);
    // The old id still finds it.
    assert_eq!(seen(&store, &named("old")), seen(&store, &named("new")));
    assert_eq!(listed(&store, &named("old")), listed(&store, &named("new")));
    assert_eq!(seen(&store, &named("old")).len(), 1);
}

#[test]
fn renames_make_chains_and_two_become_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = store(folder.path(), "a.db");
    let chain = [
        said(1, 4, &rename("old", "new")),
        said(2, 5, &rename("new", "newest")),
        said(3, 6, &rename("other", "newest")),
    ];
    store.append(&chain).unwrap();
    insta::assert_debug_snapshot!(listed(&store, &Filter::default()), @r#"
    [
        "newest 5 [\"memory\", \"rss\", \"wall_time\"] [\"day3\"]",
    ]
    "#);
    assert_eq!(seen(&store, &named("old")).len(), 1);
    // Undone, all is as before.
    let undo = |number, record: &Record| match record {
        Record::Annotation(it) => said(number, 7, &Change::Restore { annotation: it.id }),
        _other => unreachable!("annotations"),
    };
    let restored: Vec<Record> = (11..)
        .zip(&chain)
        .map(|(number, it)| undo(number, it))
        .collect();
    store.append(&restored).unwrap();
    let mut untouched = self::store(folder.path(), "b.db");
    assert_eq!(everything(&store), everything(&untouched));
    // So is what other people merge, who know all of it.
    untouched.write(|writer| writer.merge(&store)).unwrap();
    assert_eq!(everything(&store), everything(&untouched));
}

#[test]
fn a_renamed_metric_goes_on_under_its_new_name() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = store(folder.path(), "a.db");
    let changes = [
        said(1, 4, &rename("old", "new")),
        said(2, 5, &rename_metric("new", "memory", "rss")),
    ];
    store.append(&changes).unwrap();
    insta::assert_debug_snapshot!(everything(&store), @r#"
    [
        "new: {\"rss B\": [10.0, 20.0, 30.0], \"wall_time s\": [1.0, 2.0, 3.0]}",
        "other: {\"memory B\": [200.0, 300.0], \"wall_time s\": [20.0, 30.0]}",
    ]
    "#);
    let of_metric = |metric: &str| Filter {
        metrics: vec![metric.to_owned()],
        ..Filter::default()
    };
    insta::assert_debug_snapshot!(listed(&store, &of_metric("rss")), @r#"
    [
        "new 3 [\"rss\", \"wall_time\"] [\"day3\"]",
    ]
    "#);
    insta::assert_debug_snapshot!(listed(&store, &of_metric("memory")), @r#"
    [
        "other 2 [\"memory\", \"wall_time\"] [\"day3\"]",
    ]
    "#);
    insta::assert_debug_snapshot!(seen(&store, &of_metric("memory")), @r#"
    [
        "new: {}",
        "other: {\"memory B\": [200.0, 300.0]}",
    ]
    "#);
    // The old name finds it where nothing is called that any more.
    let everywhere = said(3, 6, &rename_metric("other", "memory", "rss"));
    store.append(&[everywhere]).unwrap();
    assert_eq!(
        listed(&store, &of_metric("memory")),
        listed(&store, &of_metric("rss"))
    );
    let metrics = store.catalogue().metrics(&Filter::default()).unwrap();
    let metrics: Vec<String> = metrics
        .iter()
        .map(|row| format!("{} {:?} {}", row.metric, row.units, row.benchmarks))
        .collect();
    insta::assert_debug_snapshot!(metrics, @r#"
    [
        "rss [\"B\"] 2",
        "wall_time [\"s\"] 2",
    ]
    "#);
}

#[test]
fn what_was_measured_before_a_retirement_is_left_out_and_what_comes_later_counts() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = store(folder.path(), "a.db");
    let retired = said(1, 4, &Change::Retire(retire("other", 2)));
    store.append(&[retired]).unwrap();
    insta::assert_debug_snapshot!(seen(&store, &named("other")), @r#"
    [
        "other: {\"memory B\": [300.0], \"wall_time s\": [30.0]}",
    ]
    "#);
    assert_eq!(
        store
            .catalogue()
            .left_out(&Filter::default())
            .unwrap()
            .instances,
        1
    );
    assert_eq!(
        store.catalogue().left_out(&named("new")).unwrap().instances,
        0
    );
    insta::assert_debug_snapshot!(seen(&store, &named("other").with_retired()), @r#"
    [
        "other: {\"memory B\": [200.0, 300.0], \"wall_time s\": [20.0, 30.0]}",
    ]
    "#);
    let all = said(2, 5, &Change::Retire(retire("o*", 5)));
    store.append(&[all]).unwrap();
    insta::assert_debug_snapshot!(listed(&store, &Filter::default()), @r#"
    [
        "new 1 [\"rss\", \"wall_time\"] [\"day3\"]",
    ]
    "#);
    assert_eq!(
        store
            .catalogue()
            .left_out(&Filter::default())
            .unwrap()
            .instances,
        4
    );
}

#[test]
fn a_retirement_may_be_of_a_metric_or_a_version() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = store(folder.path(), "a.db");
    let of_metric = Retirement {
        metric: Some("memory".to_owned()),
        ..retire("o*", 2)
    };
    let of_version = Retirement {
        version: Some("c3".to_owned()),
        ..retire("*", 9)
    };
    let changes = [
        said(1, 4, &Change::Retire(of_metric)),
        said(2, 5, &Change::Retire(of_version)),
    ];
    store.append(&changes).unwrap();
    insta::assert_debug_snapshot!(everything(&store), @r#"
    [
        "old: {\"wall_time s\": [1.0, 2.0]}",
        "other: {\"wall_time s\": [20.0]}",
    ]
    "#);
    insta::assert_debug_snapshot!(listed(&store, &Filter::default()), @r#"
    [
        "old 2 [\"wall_time\"] [\"day2\"]",
        "other 1 [\"wall_time\"] [\"day2\"]",
    ]
    "#);
    // What is left out with its whole instance is not told again.
    let left_out = |filter: &Filter| {
        let left_out = store.catalogue().left_out(filter).unwrap();
        (left_out.instances, left_out.metrics.into_iter().collect())
    };
    let none: Vec<(String, u64)> = Vec::new();
    assert_eq!(
        left_out(&Filter::default()),
        (2, vec![("memory".to_owned(), 3)])
    );
    assert_eq!(left_out(&named("old")), (0, vec![("memory".to_owned(), 2)]));
    assert_eq!(left_out(&named("new")), (1, none.clone()));
    assert_eq!(
        left_out(&Filter::default().with_retired()),
        (0, none.clone())
    );
    let of_time = Filter {
        metrics: vec!["wall_time".to_owned()],
        ..Filter::default()
    };
    assert_eq!(left_out(&of_time), (2, none));
}

#[test]
fn a_retirement_is_of_what_was_called_so_when_it_was_said() {
    let folder = tempfile::tempdir().unwrap();
    let with = |name: &str, changes: &[Record]| {
        let (mut one, mut other) = (
            store(folder.path(), &format!("{name}1.db")),
            store(folder.path(), &format!("{name}2.db")),
        );
        one.append(changes).unwrap();
        other.append(changes.iter().rev()).unwrap();
        assert_eq!(everything(&one), everything(&other));
        one
    };
    let retired = |number, day| said(number, day, &Change::Retire(retire("new", 9)));
    // What gets the id later is something else, and counts.
    let later = with("later", &[retired(1, 4), said(2, 5, &rename("old", "new"))]);
    insta::assert_debug_snapshot!(everything(&later), @r#"
    [
        "new: {\"memory B\": [10.0, 20.0], \"wall_time s\": [1.0, 2.0]}",
        "other: {\"memory B\": [200.0, 300.0], \"wall_time s\": [20.0, 30.0]}",
    ]
    "#);
    assert_eq!(
        later.catalogue().left_out(&named("new")).unwrap().instances,
        1
    );
    // What had it already is meant, also when its recorded id is another one.
    let before = with(
        "before",
        &[said(1, 4, &rename("old", "new")), retired(2, 5)],
    );
    insta::assert_debug_snapshot!(everything(&before), @r#"
    [
        "other: {\"memory B\": [200.0, 300.0], \"wall_time s\": [20.0, 30.0]}",
    ]
    "#);
    assert_eq!(
        before
            .catalogue()
            .left_out(&named("new"))
            .unwrap()
            .instances,
        3
    );
    // Metrics likewise.
    let of_rss = |number, day| {
        let metric = Some("rss".to_owned());
        let retirement = Retirement {
            metric,
            ..retire("*", 9)
        };
        said(number, day, &Change::Retire(retirement))
    };
    let to_rss = |number, day| said(number, day, &rename_metric("*", "memory", "rss"));
    let later = with("metric later", &[of_rss(1, 4), to_rss(2, 5)]);
    insta::assert_debug_snapshot!(everything(&later), @r#"
    [
        "new: {\"wall_time s\": [3.0]}",
        "old: {\"rss B\": [10.0, 20.0], \"wall_time s\": [1.0, 2.0]}",
        "other: {\"rss B\": [200.0, 300.0], \"wall_time s\": [20.0, 30.0]}",
    ]
    "#);
    insta::assert_debug_snapshot!(listed(&later, &Filter::default()), @r#"
    [
        "new 1 [\"wall_time\"] [\"day3\"]",
        "old 2 [\"rss\", \"wall_time\"] [\"day2\"]",
        "other 2 [\"rss\", \"wall_time\"] [\"day3\"]",
    ]
    "#);
    let before = with("metric before", &[to_rss(1, 4), of_rss(2, 5)]);
    insta::assert_debug_snapshot!(everything(&before), @r#"
    [
        "new: {\"wall_time s\": [3.0]}",
        "old: {\"wall_time s\": [1.0, 2.0]}",
        "other: {\"wall_time s\": [20.0, 30.0]}",
    ]
    "#);
    insta::assert_debug_snapshot!(listed(&before, &Filter::default()), @r#"
    [
        "new 1 [\"wall_time\"] [\"day3\"]",
        "old 2 [\"wall_time\"] [\"day2\"]",
        "other 2 [\"wall_time\"] [\"day3\"]",
    ]
    "#);
}

#[test]
fn what_is_said_is_dated_after_what_it_answers() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = store(folder.path(), "a.db");
    let changes = [
        said(1, 4, &rename("old", "older")),
        said(2, 6, &Change::Retire(retire("n*", 1))),
        said(3, 7, &Change::Retire(retire("other", 1))),
        said(4, 8, &rename_metric("older", "memory", "rss")),
        said(5, 9, &Change::Retire(retire("z*", 1))),
    ];
    store.append(&changes).unwrap();
    let last = |change: Change| store.annotations().last_said(&[change]).unwrap();
    assert_eq!(last(Change::Retire(retire("older", 9))), Some(time(8)));
    assert_eq!(last(rename("new", "newer")), Some(time(6)));
    // Also of what nothing is called yet.
    assert_eq!(last(rename("other", "another")), Some(time(7)));
    assert_eq!(last(rename("other", "zebra")), Some(time(9)));
    assert_eq!(last(Change::Retire(retire("nothing", 9))), None);
    let Record::Annotation(first) = &changes[0] else {
        unreachable!("an annotation");
    };
    let annotation = first.id;
    assert_eq!(last(Change::Restore { annotation }), Some(time(4)));
}

#[test]
fn it_does_not_matter_in_which_order_annotations_come() {
    let folder = tempfile::tempdir().unwrap();
    let changes = [
        said(1, 4, &rename("old", "new")),
        said(2, 6, &rename("old", "newer")),
        said(3, 5, &rename("newer", "newest")),
        said(4, 7, &Change::Retire(retire("new*", 1))),
        said(5, 8, &rename("other", "old")),
    ];
    let mut forwards = store(folder.path(), "a.db");
    forwards.append(&changes).unwrap();
    let mut backwards = store(folder.path(), "b.db");
    backwards.append(changes.iter().rev()).unwrap();
    assert_eq!(everything(&forwards), everything(&backwards));
    // `other` is called `old` now, which itself goes on as `newest`.
    insta::assert_debug_snapshot!(listed(&forwards, &Filter::default()), @r#"
    [
        "new 1 [\"rss\", \"wall_time\"] [\"day3\"]",
        "newest 3 [\"memory\", \"wall_time\"] [\"day3\"]",
    ]
    "#);

    // Through a file and a merge they stay what they are.
    let mut text = Vec::new();
    let keep = |record| -> Result<(), StoreError> {
        lapwing_record::write_line(&mut text, &record).unwrap();
        Ok(())
    };
    forwards.scan(&Filter::default(), keep).unwrap();
    let mut third = Store::open(&folder.path().join("c.db")).unwrap();
    let lines = text
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty());
    let again: Vec<Record> = lines.map(|line| parse_line(line).unwrap()).collect();
    third.append(&again).unwrap();
    assert_eq!(
        third
            .write(|writer| writer.merge(&backwards))
            .unwrap()
            .total()
            .new,
        0
    );
    assert_eq!(everything(&third), everything(&forwards));
}

#[test]
fn records_are_exported_as_they_were_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = store(folder.path(), "a.db");
    let changes = [
        said(1, 4, &rename("old", "new")),
        said(2, 5, &Change::Retire(retire("*", 9))),
    ];
    store.append(&changes).unwrap();
    let mut given = Vec::new();
    let keep = |record| -> Result<(), StoreError> {
        given.push(record);
        Ok(())
    };
    store.scan(&Filter::default(), keep).unwrap();
    let ids: Vec<&str> = given
        .iter()
        .filter_map(|record| match record {
            Record::Instance(it) => Some(it.benchmark.id.as_str()),
            _other => None,
        })
        .collect();
    assert_eq!(ids, ["old", "old", "other", "new", "other"]);
    let annotations = given
        .iter()
        .filter(|it| matches!(it, Record::Annotation(_)));
    assert_eq!(annotations.count(), 2);
}

#[test]
fn what_an_annotation_of_another_program_says_is_left_in_peace() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = store(folder.path(), "a.db");
    let strange = [
        r#"{"v":1,"kind":"annotation","id":"01930000-0000-7000-8003-000000000001","at":"2026-01-04T00:00:00Z","by":"b","action":"rename","target":{"benchmark":7}}"#,
        r#"{"v":1,"kind":"annotation","id":"01930000-0000-7000-8003-000000000002","at":"2026-01-04T00:00:00Z","by":"b","action":"retire","target":{"benchmark":"old","before":"soon"}}"#,
        r#"{"v":1,"kind":"annotation","id":"01930000-0000-7000-8003-000000000003","at":"2026-01-04T00:00:00Z","by":"b","action":"triage","target":{"benchmark":"old"}}"#,
    ];
    let strange: Vec<Record> = strange
        .iter()
        .map(|line| parse_line(line.as_bytes()).unwrap())
        .collect();
    store.append(&strange).unwrap();
    let untouched = self::store(folder.path(), "b.db");
    assert_eq!(everything(&store), everything(&untouched));
    assert_eq!(store.annotations().all().unwrap().len(), 3);
}
