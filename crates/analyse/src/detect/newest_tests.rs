//! Changes in the newest runs, night by night.

use super::testing::{add, days, noise};
use super::tests::{found, histories, scale, suite};
use super::*;
use crate::sample::Subject;

/// The suite after so many nights.
fn after(values: &[Vec<f64>], nights: usize) -> Vec<Vec<f64>> {
    values.iter().map(|it| it[..nights].to_vec()).collect()
}

/// The findings as benchmark, first moment after and last one that may be it.
fn places(detection: &Detection) -> Vec<(String, usize, usize)> {
    let findings = detection.findings.iter();
    findings
        .map(|it| {
            (
                it.subject.benchmark.clone(),
                it.first_after,
                *it.range.end(),
            )
        })
        .collect()
}

/// The suspicions as benchmark, number of runs and number of histories.
fn suspected(detection: &Detection) -> Vec<(String, usize, usize)> {
    let suspicions = detection.suspicions.iter();
    suspicions
        .map(|it| {
            let benchmark = it.finding.subject.benchmark.clone();
            (benchmark, it.finding.runs[1], it.histories)
        })
        .collect()
}

#[test]
fn a_change_is_suspected_for_two_nights_and_then_found_for_good() {
    for (benchmarks, changed) in [(1, 0), (4, 2), (40, 0), (40, 39)] {
        let name = format!("b{changed:03}");
        let mut values = suite(benchmarks, 46, 7);
        scale(&mut values[changed][30..], 2.0);
        let on_night = |night: usize| found(&after(&values, 30 + night));
        for night in [1, 2] {
            let detection = on_night(night);
            assert_eq!(places(&detection), [], "{benchmarks} {night}");
            assert_eq!(suspected(&detection), [(name.clone(), night, 1)]);
        }
        for night in 3..=16 {
            let detection = on_night(night);
            let [finding] = &detection.findings[..] else {
                panic!("{benchmarks} {night}: {:?}", detection.findings);
            };
            assert_eq!(finding.subject.benchmark, name);
            assert_eq!(finding.first_after, 30, "{benchmarks} {night}");
            assert_eq!(finding.runs, [30, night]);
            assert_eq!(finding.direction, Direction::Regression);
            assert!(finding.size.interval.contains(2.0), "{:?}", finding.size);
            assert!(finding.is_open());
            assert_eq!(suspected(&detection), [], "{benchmarks} {night}");
        }
    }
}

#[test]
fn of_450_histories_one_that_is_twice_as_slow_is_found_on_the_third_night() {
    let mut values = suite(450, 33, 5);
    scale(&mut values[449][30..], 2.0);
    assert_eq!(places(&found(&values)), [("b449".to_owned(), 30, 30)]);
}

#[test]
fn what_the_suite_shares_is_one_finding_on_the_third_night() {
    for benchmarks in [5, 40] {
        let mut values = suite(benchmarks, 46, 11);
        for series in &mut values {
            scale(&mut series[30..], 2.0);
        }
        for night in [1, 2] {
            let detection = found(&after(&values, 30 + night));
            assert_eq!(places(&detection), []);
            let [suspicion] = &detection.suspicions[..] else {
                panic!("{:?}", detection.suspicions);
            };
            assert_eq!(suspicion.histories, values.len());
        }
        for night in 3..=16 {
            let detection = found(&after(&values, 30 + night));
            let [group] = &detection.groups[..] else {
                panic!("{night}: {:?}", detection.groups);
            };
            assert!(group.is_shared);
            assert_eq!(group.findings.len(), values.len());
            assert!(group.range.contains(&30), "{night}: {:?}", group.range);
            assert_eq!(suspected(&detection), []);
        }
    }
}

#[test]
fn what_the_suite_shares_is_one_finding_among_several_metrics() {
    let mut values = suite(30, 33, 11);
    for series in &mut values {
        scale(&mut series[30..], 2.0);
    }
    let mut histories = histories(&values);
    for (metric, seed) in [("user_time", 21), ("system_time", 31)] {
        for (at, values) in suite(30, 33, seed).iter().enumerate() {
            add(&mut histories, &format!("b{at:03}"), values);
            let series = histories.series.last_mut().expect("added");
            series.subject.metric = metric.to_owned();
        }
    }
    let detection = detect(&histories, &DetectOptions::default());
    let [group] = &detection.groups[..] else {
        panic!("{:?}", detection.groups);
    };
    assert_eq!((group.is_shared, group.findings.len()), (true, 30));
}

#[test]
fn too_few_histories_to_share_a_change_are_found_one_by_one() {
    let mut values = suite(4, 33, 11);
    for series in &mut values {
        scale(&mut series[30..], 2.0);
    }
    let detection = found(&values);
    assert_eq!(detection.findings.len(), 4);
    assert!(detection.groups.iter().all(|group| !group.is_shared));
}

#[test]
fn a_change_of_most_but_not_nearly_all_is_found_in_those_that_changed() {
    let mut values = suite(40, 33, 12);
    for series in &mut values[..24] {
        scale(&mut series[30..], 2.0);
    }
    let detection = found(&values);
    let changed: Vec<usize> = detection.findings.iter().map(|it| it.series).collect();
    // At most 5 % of the findings may be false.
    assert_eq!(changed[..24], (0..24).collect::<Vec<_>>());
    assert!(changed.len() <= 25, "{changed:?}");
    assert!(detection.groups.iter().all(|group| !group.is_shared));
}

#[test]
fn machines_that_change_again_and_again_are_no_change_of_benchmarks() {
    let mut values = suite(40, 60, 13);
    for series in &mut values {
        for night in (0..60).filter(|night| night / 7 % 2 == 1) {
            series[night] *= 1.1;
        }
    }
    for night in 40..60 {
        let detection = found(&after(&values, night));
        let own = detection.groups.iter().filter(|group| !group.is_shared);
        assert_eq!(own.count(), 0, "{night}");
        let suspicions = detection.suspicions.iter();
        assert!(suspicions.clone().all(|it| it.histories == 40), "{night}");
    }
}

#[test]
fn an_outlier_is_suspected_for_a_night_and_never_found() {
    let mut values = suite(20, 50, 17);
    values[3][34] *= 4.0;
    for night in 35..50 {
        let detection = found(&after(&values, night));
        assert_eq!(places(&detection), [], "{night}");
        let names = suspected(&detection);
        assert_eq!(names.len(), usize::from(night == 35), "{night}: {names:?}");
    }
}

#[test]
fn a_change_that_was_undone_soon_says_so() {
    let mut values = suite(20, 44, 19);
    scale(&mut values[3][30..34], 2.0);
    let on_night = |night: usize| found(&after(&values, night)).findings;
    let until = |night: usize| {
        on_night(night)
            .iter()
            .map(|it| it.went_away)
            .collect::<Vec<_>>()
    };
    assert_eq!(until(34), [None]);
    assert_eq!(until(37), [Some(34)]);
    assert!(on_night(37)[0].size.interval.contains(2.0));
}

#[test]
fn histories_that_miss_nights_are_tested_in_their_own_newest_runs() {
    let mut values = suite(8, 60, 29);
    scale(&mut values[2][40..], 2.0);
    let mut histories = histories(&values);
    // Every second night only, and the last run is three nights ago.
    let series = &mut histories.series[2];
    series
        .points
        .retain(|point| point.moment % 2 == 0 && point.moment <= 45);
    series.tried = series.points.iter().map(|point| point.moment).collect();
    for other in [5, 6] {
        histories.series[other]
            .points
            .retain(|point| point.moment % 5 != 1);
    }
    histories.moments.truncate(47);
    for series in &mut histories.series {
        series.points.retain(|point| point.moment < 47);
        series.tried.retain(|moment| *moment < 47);
    }
    let detection = detect(&histories, &DetectOptions::default());
    assert_eq!(places(&detection), [("b002".to_owned(), 40, 40)]);
}

#[test]
fn a_machine_that_changes_later_hides_no_finding() {
    let mut values = suite(40, 43, 37);
    scale(&mut values[7][30..], 2.0);
    for series in &mut values {
        scale(&mut series[35..], 1.3);
    }
    for night in 33..=43 {
        let detection = found(&after(&values, night));
        let own = detection.groups.iter().filter(|group| !group.is_shared);
        let own: Vec<_> = own
            .flat_map(|group| &group.findings)
            .map(|at| &detection.findings[*at])
            .map(|it| (it.series, it.first_after, it.went_away))
            .collect();
        assert_eq!(own, [(7, 30, None)], "{night}");
    }
}

#[test]
fn counts_that_never_varied_are_found_when_they_do() {
    let mut histories = days(33);
    for benchmark in 0..3 {
        add(&mut histories, &format!("b{benchmark:03}"), &[1000.0; 33]);
    }
    let mut values = vec![1000.0; 33];
    scale(&mut values[30..], 1.01);
    add(&mut histories, "b003", &values);
    let detection = detect(&histories, &DetectOptions::default());
    assert_eq!(places(&detection), [("b003".to_owned(), 30, 30)]);
}

#[test]
fn what_is_not_tested_takes_no_share_of_the_level() {
    // Just found at the whole level.
    let values = noise(24, 0.03, 3);
    let detect_with = |others: &[(&str, &[f64])]| {
        let mut histories = days(24);
        let mut slower = values.clone();
        scale(&mut slower[18..], 1.1);
        add(&mut histories, "slower", &slower);
        for (metric, values) in others {
            add(&mut histories, "other", values);
            let series = histories.series.last_mut().expect("added");
            series.subject = Subject {
                metric: (*metric).to_owned(),
                ..series.subject.clone()
            };
        }
        let detection = detect(&histories, &DetectOptions::default());
        detection
            .findings
            .into_iter()
            .map(|it| it.evidence)
            .collect::<Vec<_>>()
    };
    let alone = detect_with(&[]);
    assert_eq!(alone.len(), 1);
    assert_eq!(
        detect_with(&[(FAILURES, &[1.0]), ("count", &[7.0; 24])]),
        alone
    );
}

#[test]
fn more_runs_than_three_between_changes_leave_the_newest_untested() {
    let mut values = suite(10, 33, 7);
    scale(&mut values[0][30..], 2.0);
    let options = DetectOptions {
        minimum_runs: Some(4),
        ..DetectOptions::default()
    };
    let detection = detect(&histories(&values), &options);
    assert_eq!(
        (detection.findings.len(), detection.suspicions.len()),
        (0, 0)
    );
}

/// Returns triage of what was found.
fn triaged(detection: &Detection, histories: &Histories) -> Vec<String> {
    let ids = detection
        .findings
        .iter()
        .map(|finding| change_id(&finding.subject, &histories.moments[finding.first_after]));
    ids.collect()
}

#[test]
fn a_finding_keeps_its_id_when_the_search_of_all_places_finds_it_too() {
    let mut values = suite(30, 60, 31);
    scale(&mut values[4][30..], 2.0);
    let ids = [33, 40, 45, 60].map(|night| {
        let histories = histories(&after(&values, night));
        triaged(&detect(&histories, &DetectOptions::default()), &histories)
    });
    assert_eq!(ids[0].len(), 1);
    assert!(ids.iter().all(|it| *it == ids[0]), "{ids:?}");
}

/// Prints what 50 histories alarm in a year of nights, if their machines change for all of them once in ten nights.
#[test]
#[ignore = "takes a minute; its table stands in docs/calibration.md"]
fn table_of_machines() {
    use rayon::prelude::*;
    use std::collections::BTreeSet;
    println!(
        "| machine | own findings per year | suspicions | shared findings | shared suspicions |"
    );
    println!("|---|--:|--:|--:|--:|");
    for (name, share) in [("the same always", 1.0), ("10 % slower or faster", 1.1)] {
        let years = 4;
        let counts = (0..years).into_par_iter().map(|year: u64| {
            let mut values = suite(50, 395, 500 + year);
            let moves = noise(395, 1.0, 900 + year);
            let mut slower = false;
            for night in 0..395 {
                // One normal number in ten is above 1.28.
                slower ^= moves[night].ln() > 1.2816;
                for series in values.iter_mut().filter(|_| slower) {
                    series[night] *= share;
                }
            }
            let mut seen: [BTreeSet<(usize, usize)>; 4] = Default::default();
            for night in 30..=395 {
                let detection = found(&after(&values, night));
                for group in &detection.groups {
                    let first = &detection.findings[group.findings[0]];
                    if first.runs[1] <= 12 {
                        let series = if group.is_shared { 0 } else { first.series };
                        seen[2 * usize::from(group.is_shared)].insert((series, first.first_after));
                    }
                }
                for it in &detection.suspicions {
                    let is_shared = it.histories > 1;
                    let series = if is_shared { 0 } else { it.finding.series };
                    seen[1 + 2 * usize::from(is_shared)].insert((series, it.finding.first_after));
                }
            }
            seen.map(|it| it.len())
        });
        let counts: Vec<[usize; 4]> = counts.collect();
        let years = lapwing_stats::as_f64(counts.len());
        let mean = [0, 1, 2, 3].map(|at| {
            let sum: usize = counts.iter().map(|it| it[at]).sum();
            format!("{:.1}", lapwing_stats::as_f64(sum) / years)
        });
        println!("| {name} | {} |", mean.join(" | "));
    }
}
