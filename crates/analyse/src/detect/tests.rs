use std::collections::BTreeMap;

use super::testing::{add, days, noise};
use super::*;

pub(super) fn suite(benchmarks: u64, runs: u16, seed: u64) -> Vec<Vec<f64>> {
    (0..benchmarks)
        .map(|benchmark| noise(usize::from(runs), 0.03, 1000 * seed + benchmark))
        .collect()
}

pub(super) fn histories(values: &[Vec<f64>]) -> Histories {
    let runs = u16::try_from(values[0].len()).expect("few");
    let mut histories = days(runs);
    for (at, values) in values.iter().enumerate() {
        add(&mut histories, &format!("b{at:03}"), values);
    }
    histories
}

pub(super) fn scale(values: &mut [f64], factor: f64) {
    for value in values {
        *value *= factor;
    }
}

pub(super) fn found(values: &[Vec<f64>]) -> Detection {
    detect(&histories(values), &DetectOptions::default())
}

#[test]
fn quiet_suites_rarely_have_a_finding() {
    let alarms = (0..60).filter(|seed| !found(&suite(40, 60, *seed)).findings.is_empty());
    assert!(alarms.count() <= 4);
}

#[test]
fn a_regression_is_found_with_its_place_size_and_direction() {
    let mut values = suite(30, 60, 7);
    scale(&mut values[3][40..], 1.2);
    let detection = found(&values);
    let [finding] = &detection.findings[..] else {
        panic!("{:?}", detection.findings);
    };
    assert_eq!(finding.subject.benchmark, "b003");
    assert_eq!(finding.direction, Direction::Regression);
    assert_eq!(finding.kind, ChangeKind::Step);
    assert_eq!((finding.last_before, finding.first_after), (39, 40));
    assert!(finding.range.contains(&40) && finding.good < 40);
    assert!(finding.size.interval.contains(1.2), "{:?}", finding.size);
    assert_eq!(finding.runs, [40, 20]);
    assert_eq!(finding.went_away, None);
}

#[test]
fn a_shift_of_the_whole_suite_is_one_finding_and_hides_no_other() {
    let mut values = suite(40, 80, 3);
    for series in &mut values {
        scale(&mut series[50..], 1.1);
    }
    scale(&mut values[5][20..], 0.8);
    let detection = found(&values);
    let shared: Vec<&FindingGroup> = detection.groups.iter().filter(|it| it.is_shared).collect();
    assert_eq!(shared.len(), 1);
    assert_eq!(shared[0].findings.len(), 40);
    assert!(shared[0].range.contains(&50));
    let others: Vec<&FindingGroup> = detection.groups.iter().filter(|it| !it.is_shared).collect();
    let [other] = others[..] else {
        panic!("{others:?}");
    };
    let finding = &detection.findings[other.findings[0]];
    assert_eq!(
        (finding.subject.benchmark.as_str(), finding.direction),
        ("b005", Direction::Improvement)
    );
}

#[test]
fn a_benchmark_that_changed_besides_is_no_part_of_what_the_suite_shares() {
    for after in [3, 30] {
        let mut values = suite(40, 50 + after, 3);
        for series in &mut values {
            scale(&mut series[50..], 1.3);
        }
        scale(&mut values[7][50..], 2.0);
        let detection = found(&values);
        let shared = detection.groups.iter().find(|it| it.is_shared);
        assert_eq!(shared.map(|it| it.findings.len()), Some(39), "{after}");
        let own: Vec<&str> = (detection.groups.iter())
            .filter(|it| !it.is_shared)
            .flat_map(|it| &it.findings)
            .map(|at| detection.findings[*at].subject.benchmark.as_str())
            .collect();
        assert_eq!(own, ["b007"], "{after}");
    }
}

#[test]
fn a_machine_that_becomes_faster_does_not_undo_a_regression() {
    let mut values = suite(40, 80, 3);
    scale(&mut values[5][20..], 1.2);
    scale(&mut values[6][20..], 1.2);
    scale(&mut values[6][35..], 1.0 / 1.2);
    for series in &mut values {
        scale(&mut series[50..], 1.0 / 1.2);
    }
    let detection = found(&values);
    let regressions = detection.findings.iter();
    let regressions = regressions.filter(|finding| finding.direction == Direction::Regression);
    let away: Vec<(&str, Option<usize>)> = regressions
        .map(|finding| (finding.subject.benchmark.as_str(), finding.went_away))
        .collect();
    assert_eq!(away, [("b005", None), ("b006", Some(35))]);
}

#[test]
fn changes_of_some_benchmarks_at_one_place_are_one_group_and_not_shared() {
    let mut values = suite(40, 80, 4);
    for series in &mut values[..12] {
        scale(&mut series[30..], 1.15);
    }
    let detection = found(&values);
    assert_eq!(detection.groups.len(), 1, "{:?}", detection.groups);
    assert!(!detection.groups[0].is_shared);
    assert_eq!(detection.groups[0].findings.len(), 12);
    assert!(detection.groups[0].range.contains(&30));
}

#[test]
fn a_change_of_unknown_place_is_a_group_of_its_own() {
    let mut values = suite(20, 150, 4);
    for series in &mut values[..2] {
        scale(&mut series[42..], 1.15);
    }
    let histories = histories(&values);
    let mut findings = detect(&histories, &DetectOptions::default()).findings;
    let groups = |findings: &[_]| cause::groups(&histories, findings, &BTreeMap::new()).len();
    assert_eq!((findings.len(), groups(&findings)), (2, 1));
    let known = findings[0].range.clone();
    findings[0].range = 2..=146;
    assert_eq!(groups(&findings), 2, "it may have happened nearly anywhere");
    findings[0].range = *known.start()..=known.end() + 10;
    findings[0].first_after = known.end() + 10;
    assert_eq!(
        groups(&findings),
        2,
        "both places are known, and not the same"
    );
}

#[test]
fn a_drift_is_one_finding() {
    let mut values = suite(20, 120, 5);
    for (at, value) in values[2].iter_mut().enumerate() {
        *value *= 1.0 + 0.003 * lapwing_stats::as_f64(at.saturating_sub(30).min(60));
    }
    let detection = found(&values);
    let [finding] = &detection.findings[..] else {
        panic!("{:?}", detection.findings);
    };
    assert_eq!(finding.kind, ChangeKind::Drift);
    assert!(finding.size.interval.contains(1.18), "{:?}", finding.size);
}

#[test]
fn a_change_that_was_undone_says_so() {
    let mut values = suite(20, 100, 6);
    scale(&mut values[2][40..60], 1.3);
    let detection = found(&values);
    let ends: Vec<Option<usize>> = detection.findings.iter().map(|it| it.went_away).collect();
    assert_eq!(ends, [Some(60), None]);
}

#[test]
fn small_changes_can_be_left_out_and_are_counted() {
    let mut values = suite(20, 100, 8);
    scale(&mut values[2][40..], 1.05);
    let options = DetectOptions {
        smallest_effect: Some(0.1),
        ..DetectOptions::default()
    };
    let detection = detect(&histories(&values), &options);
    assert_eq!((detection.findings.len(), detection.small), (0, 1));
}

#[test]
fn a_series_that_ended_or_is_short_is_listed() {
    let mut values = suite(3, 40, 9);
    values[1].truncate(20);
    values[2].truncate(5);
    let mut histories = histories(&values);
    histories.series[2].tried = (0..40).collect();
    let states = detect(&histories, &DetectOptions::default()).states;
    assert_eq!(
        states,
        [
            SeriesState::Tested,
            SeriesState::NotMeasured { since: 19 },
            SeriesState::NothingUsable { since: 4 }
        ]
    );
}

/// Returns the shares of quiet suites with any finding, and of suites in which all benchmarks become 5 % slower with
/// one finding and with more.
fn suites(benchmarks: u64, runs: u16, number: u64) -> [f64; 3] {
    use rayon::prelude::*;
    let counts = (0..number).into_par_iter().map(|seed| {
        let mut values = suite(benchmarks, runs, seed + 10_000);
        let quiet = found(&values).groups.len();
        for series in &mut values {
            let middle = series.len() / 2;
            scale(&mut series[middle..], 1.05);
        }
        let shifted = found(&values).groups.len();
        [quiet > 0, shifted == 1, shifted > 1]
    });
    let counts: Vec<[bool; 3]> = counts.collect();
    [0, 1, 2].map(|at| {
        let number = counts.iter().filter(|it| it[at]).count();
        lapwing_stats::as_f64(number) / lapwing_stats::as_f64(counts.len())
    })
}

#[test]
#[ignore = "takes a minute; its table stands in docs/calibration.md"]
fn table_of_suites() {
    println!(
        "| benchmarks | runs | quiet suites with a finding | shared 5 %: one finding | more |"
    );
    println!("|--:|--:|--:|--:|--:|");
    for (benchmarks, runs) in [(10, 40), (100, 40), (100, 100), (100, 365)] {
        let [quiet, one, more] = suites(benchmarks, runs, 1000).map(|share| 100.0 * share);
        println!("| {benchmarks} | {runs} | {quiet:.1} % | {one:.1} % | {more:.1} % |");
    }
}

/// Prints how long 20,000 series of 1,000 runs take; `docs/performance.md` has the result.
#[test]
#[ignore = "takes half a minute unoptimised, and says nothing then"]
fn time_of_many_series() {
    let mut histories = days(1000);
    for seed in 0..20_000 {
        let mut values = noise(1000, 0.02, seed);
        for value in &mut values[400..] {
            *value *= 1.0 + lapwing_stats::as_f64(usize::try_from(seed % 3).expect("small")) / 50.0;
        }
        add(&mut histories, &format!("b{seed:05}"), &values);
    }
    let start = std::time::Instant::now();
    let detection = detect(&histories, &DetectOptions::default());
    println!("{:.2} s", start.elapsed().as_secs_f64());
    assert!(detection.findings.len() > 13_000);
}

/// Returns the share of suites in which the only step, a large one in the middle of the first history of so many, is found,
/// and the number of runs that is enough.
fn found_in_the_middle(number: u64, runs: u16) -> (f64, usize) {
    const SUITES: u64 = 20;
    let (mut found, mut enough) = (0.0, 0);
    for suite in 0..SUITES {
        let mut values = self::suite(number, runs, suite);
        let changed = &mut values[0];
        let half = changed.len() / 2;
        changed[half..].iter_mut().for_each(|value| *value *= 3.0);
        let histories = self::histories(&values);
        let detection = detect(&histories, &DetectOptions::default());
        enough = detection.enough_runs.runs;
        found += f64::from(u8::from(!detection.findings.is_empty())) / 20.0;
    }
    (found, enough)
}

#[test]
fn a_change_of_one_history_is_found_from_enough_runs_on() {
    for (number, enough) in [(1, 10), (3, 13), (20, 17), (40, 18)] {
        let (found, said) = found_in_the_middle(number, enough);
        assert_eq!(said, usize::from(enough), "{number} histories");
        assert!(found >= 0.85, "{number} histories, {enough} runs: {found}");
        let (found, _) = found_in_the_middle(number, enough - 1);
        assert!(found <= 0.05, "{number} histories, a run less: {found}");
    }
}
