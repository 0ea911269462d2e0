//! Histories of results without samples: one value per run, whatever its source states of its spread.

use std::sync::Arc;

use jiff::Timestamp;

use super::testing::noise;
use super::tests::scale;
use super::*;
use crate::clean::CleaningRules;
use crate::clean::tests::instance;
use crate::judge::MetricChoice;
use crate::sample::BenchmarkData;
use lapwing_model::{Benchmark, Id, InstanceEnd, InstanceOutcome, Object, Outcome, Summary};
use lapwing_record::InstanceData;

/// An instance of a session of its own on this day.
fn on_day(day: usize, mut it: InstanceData) -> InstanceData {
    let id = Id::derived(&[&day.to_le_bytes()]);
    let seconds = 86_400 * i64::try_from(day).expect("few");
    let session = Arc::make_mut(&mut it.session);
    session.id = id;
    session.started = Timestamp::from_second(seconds).expect("a day");
    let run = Arc::make_mut(&mut it.run);
    (run.id, run.session) = (id, id);
    (it.instance.id, it.instance.run) = (id, id);
    it
}

/// A run that measured this value once.
fn sampled(value: f64) -> InstanceData {
    instance(&[(false, Outcome::Ok, value)])
}

/// A run of which the source states a median, with a spread and a number of samples that say nothing about other runs.
fn summarised(value: f64) -> InstanceData {
    let mut it = instance(&[]);
    it.summaries.push(Summary {
        instance: it.instance.id,
        metric: "wall_time".to_owned(),
        n: Some(1_000_000),
        centre: value,
        spread: Some(value * 1e-6),
        statistic: "median/iqr".to_owned(),
        extra: Object::new(),
    });
    it
}

/// A run that failed before its first iteration.
fn failed() -> InstanceData {
    let mut it = instance(&[]);
    it.end = Some(InstanceEnd {
        instance: it.instance.id,
        ended: None,
        outcome: InstanceOutcome::Failed,
        message: None,
        observed: Object::new(),
        extra: Object::new(),
    });
    it
}

/// Adds a benchmark with a run per day.
fn add(histories: &mut Histories, name: &str, runs: impl IntoIterator<Item = InstanceData>) {
    let runs = runs.into_iter().enumerate();
    let data = BenchmarkData {
        suite: "s".to_owned(),
        benchmark: Benchmark {
            id: name.to_owned(),
            ..Benchmark::default()
        },
        instances: runs.map(|(day, run)| on_day(day, run)).collect(),
    };
    let metrics = MetricChoice::default();
    histories.add(&data, &CleaningRules::default(), &metrics);
}

fn detected(suite: &[Vec<f64>], run: fn(f64) -> InstanceData) -> Detection {
    let mut histories = Histories::default();
    for (at, values) in suite.iter().enumerate() {
        let runs = values.iter().map(|value| run(*value));
        add(&mut histories, &format!("b{at:02}"), runs);
    }
    histories.sort(HistoryOrder::Version);
    let mut detection = detect(&histories, &DetectOptions::default());
    // What was measured with is another one.
    for finding in &mut detection.findings {
        finding.environment.clear();
    }
    detection
}

/// The rates of false and missing findings are thus the same.
#[test]
fn summaries_give_the_findings_of_one_value_per_run() {
    let (mut quiet, mut missing, mut steps) = (0, 0, 0);
    for seed in 0..20 {
        let mut suite: Vec<Vec<f64>> = (0..6).map(|at| noise(30, 0.02, 100 * seed + at)).collect();
        if seed % 2 == 1 {
            scale(&mut suite[0][15..], 1.2);
        }
        let found = detected(&suite, summarised);
        assert_eq!(found, detected(&suite, sampled), "{seed}");
        let is_step = |it: &&Finding| seed % 2 == 1 && it.series == 0 && it.first_after == 15;
        let right = found.findings.iter().filter(is_step).count();
        steps += seed % 2;
        missing += seed % 2 - u64::try_from(right).expect("few");
        quiet += found.findings.len() - right;
    }
    assert_eq!((quiet, missing, steps), (0, 0, 10));
}

#[test]
fn what_goes_on_with_samples_is_one_history() {
    let mut histories = Histories::default();
    let values = noise(40, 0.02, 5);
    let runs = values.iter().enumerate().map(|(day, value)| match day {
        0..20 => summarised(*value),
        _ => sampled(*value * 1.3),
    });
    add(&mut histories, "b", runs);
    histories.sort(HistoryOrder::Version);
    let detection = detect(&histories, &DetectOptions::default());
    let [finding] = &detection.findings[..] else {
        panic!("{:?}", detection.findings);
    };
    // It is no less a change, and what also changed there is named.
    assert!(finding.is_open() && finding.first_after == 20);
    let [other] = &finding.environment[..] else {
        panic!("{:?}", finding.environment);
    };
    assert_eq!(
        (other.key.as_str(), other.before.as_slice()),
        ("statistic", ["median".to_owned()].as_slice())
    );
}

#[test]
fn what_failed_from_its_first_run_on_is_a_history_without_values() {
    let mut histories = Histories::default();
    add(&mut histories, "broken", (0..20).map(|_| failed()));
    let values = noise(20, 0.02, 1).into_iter();
    add(&mut histories, "works", values.map(summarised));
    histories.sort(HistoryOrder::Version);
    let detection = detect(&histories, &DetectOptions::default());
    let states: Vec<(&str, &str, &str)> = histories
        .series
        .iter()
        .zip(&detection.states)
        .map(|(series, state)| {
            let subject = &series.subject;
            (
                subject.benchmark.as_str(),
                subject.metric.as_str(),
                state.name(),
            )
        })
        .collect();
    let expected = [
        ("broken", FAILURES, "tested"),
        ("broken", "wall_time", "never_usable"),
        ("works", "wall_time", "tested"),
    ];
    assert_eq!(states, expected);
    let judged = JudgedCount {
        histories: 2,
        judged: 1,
        unjudged: [(UnjudgedReason::NeverUsable, 1)].into(),
    };
    assert_eq!(detection.judged, judged);
}
