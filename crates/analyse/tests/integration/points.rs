//! History points say the same as what they were made from.

use std::collections::BTreeSet;
use std::path::Path;

use lapwing_analyse::clean::CleaningRules;
use lapwing_analyse::detect::{Histories, HistoryOrder};
use lapwing_analyse::judge::MetricChoice;
use lapwing_analyse::sample::{History, SuiteHistories, each_with_all_metrics};
use lapwing_model::Record;
use lapwing_record::{Filter, Store, StoreError, parse_line};
use lapwing_testing::RecordLines;
use proptest::prelude::*;
use serde_json::{Value, json};

/// An instance of a benchmark: its values, and what is unusual about it.
#[derive(Debug, Clone)]
struct DrawnInstance {
    benchmark: u8,
    values: Vec<f64>,
    oddity: u8,
}

/// Runs of one session, each with instances.
type DrawnSession = Vec<Vec<DrawnInstance>>;

fn instances() -> impl Strategy<Value = DrawnInstance> {
    let values = prop::collection::vec(prop_oneof![9 => 0.5..2.0_f64, 1 => Just(0.0)], 0..4);
    (0..4_u8, values, 0..40_u8).prop_map(|(benchmark, values, oddity)| DrawnInstance {
        benchmark,
        values,
        oddity,
    })
}

fn sessions() -> impl Strategy<Value = Vec<DrawnSession>> {
    let run = prop::collection::vec(instances(), 0..5);
    prop::collection::vec(prop::collection::vec(run, 1..3), 1..6)
}

/// Returns the records of sessions; oddities are of the first benchmark only, but for those that leave it plain.
fn records(sessions: &[DrawnSession]) -> Vec<Record> {
    let mut lines = RecordLines::default();
    for (night, runs) in sessions.iter().enumerate() {
        let session = lines.session(&format!("2026-01-{:02}T00:00:00Z", night + 1), json!({}));
        for (variant, instances) in runs.iter().enumerate() {
            let variant = ["default", "fast"][variant];
            let more = json!({
                "variant": variant,
                "version": {"name": format!("v{night}")},
                "environment": {"kernel": format!("6.{}", night % 2)},
            });
            let run = lines.run(&session, more);
            for instance in instances {
                add(&mut lines, &run, instance);
            }
        }
    }
    let lines = lines.text.lines();
    lines
        .map(|line| parse_line(line.as_bytes()).unwrap())
        .collect()
}

fn add(lines: &mut RecordLines, run: &str, drawn: &DrawnInstance) {
    let odd = if drawn.benchmark == 0 {
        drawn.oddity
    } else {
        99
    };
    let benchmark = format!("b{}", drawn.benchmark);
    let mut described = json!({"id": benchmark});
    if odd == 0 {
        described["fingerprint"] = json!("sha256:other");
    }
    let more = json!({"benchmark": described, "host": format!("h{}", drawn.oddity % 3)});
    let instance = lines.instance(run, &benchmark, more);
    for (index, value) in drawn.values.iter().enumerate() {
        let mut more =
            json!({"metrics": {"wall_time": value}, "burn_in": index == 0 && drawn.oddity > 20});
        match odd {
            1 => more["outcome"] = json!("failed"),
            2 => more["metrics"] = json!({"wall_time": -1.0}),
            3 => more["metrics"] = json!({}),
            _usual => {}
        }
        lines.iteration(&instance, index, more);
    }
    let end = |more: Value| {
        let mut end = json!({"instance": instance});
        end.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        end
    };
    match (odd, drawn.oddity) {
        (4, _) => lines.line("instance_end", end(json!({"outcome": "lost"}))),
        (5, _) => lines.line("instance_end", end(json!({"observed": {"void": "wrong"}}))),
        (6, _) => {
            let summary = json!({"instance": instance, "metric": "wall_time", "n": 3, "centre": 1.0,
                                 "statistic": "mean/sd"});
            lines.line("summary", summary);
        }
        (_, 30..) => {}
        _usual => lines.instance_end(&instance),
    }
}

/// Returns the series as they are, and the labels and environments of the moments.
fn described(mut histories: Histories) -> (Vec<String>, Vec<(String, Vec<f64>)>) {
    histories.sort(HistoryOrder::Version);
    let moments = histories.moments.iter();
    let moments = moments.map(|it| format!("{} {:?}", it.label(), it.position));
    let series = histories.series.iter().map(|series| {
        let points = series.points.iter();
        let head = format!(
            "{:?} {:?} {:?} {:?} {:?}",
            series.subject,
            series.metric,
            series.recorded_ids,
            series.tried.iter().collect::<BTreeSet<_>>(),
            points
                .clone()
                .map(|it| (it.moment, it.instances))
                .collect::<Vec<_>>(),
        );
        (head, points.map(|point| point.value).collect())
    });
    (moments.collect(), series.collect())
}

/// Returns the order of all runs.
fn order(store: &Store) -> History {
    let runs = store.catalogue().run_heads().unwrap();
    let runs: Vec<_> = runs.iter().collect();
    SuiteHistories::of(store, &runs, None).unwrap().history
}

fn by_points(store: &mut Store) -> Histories {
    let (rules, metrics) = (CleaningRules::default(), MetricChoice::Directed);
    let order = order(store);
    Histories::read(store, &Filter::default(), order, &rules, &metrics).unwrap()
}

fn from_iterations(store: &Store) -> Histories {
    let mut histories = Histories::in_order(order(store));
    each_with_all_metrics(store, &Filter::default(), |data| {
        histories.add(&data, &CleaningRules::default(), &MetricChoice::Directed);
        Ok::<(), StoreError>(())
    })
    .unwrap();
    histories
}

fn assert_same(store: &mut Store) {
    let (moments, series) = described(by_points(store));
    let (expected_moments, expected) = described(from_iterations(store));
    assert_eq!(moments, expected_moments);
    let heads = |series: &[(String, Vec<f64>)]| -> Vec<String> {
        series.iter().map(|(head, _)| head.clone()).collect()
    };
    assert_eq!(heads(&series), heads(&expected));
    for ((head, values), (_, expected)) in series.iter().zip(&expected) {
        for (value, expected) in values.iter().zip(expected) {
            assert!(
                (value - expected).abs() <= 1e-12 * expected.abs(),
                "{head}: {value} {expected}"
            );
        }
    }
}

fn open(folder: &Path) -> Store {
    Store::open(&folder.join("lapwing.db")).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn histories_of_points_are_those_of_iterations(
        sessions in sessions(),
        parts in prop::collection::vec(1..12_usize, 1..4),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut store = open(folder.path());
        let records = records(&sessions);
        let mut rest = &records[..];
        for part in parts.iter().cycle() {
            let (now, later) = rest.split_at((*part).min(rest.len()));
            store.append(now).unwrap();
            rest = later;
            if rest.is_empty() {
                break;
            }
            if *part == 3 {
                // Points that were made are not those of what comes later.
                by_points(&mut store);
            }
        }
        assert_same(&mut store);
        let first = records.iter().find_map(|record| match record {
            Record::Session(session) => Some(session.id),
            _ => None,
        });
        store.purge(&Filter { benchmarks: vec!["b1".to_owned()], ..Filter::default() }).ok();
        assert_same(&mut store);
        store.purge(&Filter::of_session(first.unwrap())).unwrap();
        assert_same(&mut store);
    }
}

#[test]
fn points_of_all_but_odd_benchmarks_are_used() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    let instance = |benchmark: u8, oddity: u8| DrawnInstance {
        benchmark,
        values: vec![1.0, 2.0],
        oddity,
    };
    let session = vec![vec![instance(0, 1), instance(1, 9), instance(2, 9)]];
    store.append(&records(&vec![session; 3])).unwrap();
    let points = store.history_points(&Filter::default()).unwrap();
    let ids: Vec<&str> = points.benchmarks.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(ids, ["b1", "b2"]);
    assert_eq!(points.benchmarks[0].metrics["wall_time"].len(), 3);
    assert_same(&mut store);
}
