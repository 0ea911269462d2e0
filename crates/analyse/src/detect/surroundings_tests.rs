//! What is said of histories whose surroundings differ: false explanations, and missing ones.

use super::testing::{add, days, noise, observe};
use super::tests::scale;
use super::*;

const RUNS: u16 = 100;
const QUIET: f64 = 0.01;

/// Returns whether a run is on the slower one of two hosts, by chance in three of ten runs.
fn is_slow(run: usize, seed: u64) -> bool {
    let mut random = lapwing_stats::Seed(seed).stream(&format!("host {run}"));
    rand::Rng::next_u32(&mut random) % 10 < 3
}

/// Returns one history of two hosts that are 15 % apart, as chance has it, with a step by a factor at run 70.
fn two_hosts(seed: u64, step: f64) -> Histories {
    let mut values = noise(usize::from(RUNS), QUIET, seed);
    for (run, value) in values.iter_mut().enumerate() {
        *value *= if is_slow(run, seed) { 1.15 } else { 1.0 };
    }
    scale(&mut values[70..], step);
    let mut histories = days(RUNS);
    for (run, moment) in histories.moments.iter_mut().enumerate() {
        let host = if is_slow(run, seed) { "m6i" } else { "m7i" };
        std::sync::Arc::make_mut(&mut moment.observed).observe("host", host);
    }
    add(&mut histories, "b", &values);
    histories
}

fn changes(histories: &Histories) -> Detection {
    detect(histories, &DetectOptions::default())
}

#[test]
fn a_step_is_found_and_covered_on_two_hosts_by_chance() {
    let (mut found, mut covered) = (0, 0);
    for seed in 0..60 {
        let detection = changes(&two_hosts(seed, 1.05));
        let finding = detection.findings.iter().find(|it| {
            it.first_after.abs_diff(70) <= 3 && it.is_open() && it.kind == ChangeKind::Step
        });
        found += usize::from(finding.is_some());
        // The levels are those that were recorded, on the host of the first run.
        let on = |it: &Finding| {
            if is_slow(it.first_after, seed) {
                1.15
            } else {
                1.0
            }
        };
        let is_recorded = |it: &Finding| (it.size.before / on(it) - 1.0).abs() < 0.04;
        assert!(finding.is_none_or(is_recorded), "{finding:?}");
        covered += usize::from(finding.is_some_and(|it| it.size.interval.contains(1.05)));
        let other = detection.findings.len() - usize::from(finding.is_some());
        assert!(other <= 1, "{:?}", detection.findings);
    }
    assert!(found >= 58 && covered >= 54, "{found} {covered}");
}

#[test]
fn two_hosts_by_chance_are_no_change() {
    let wrong = (100..160).filter(|seed| !changes(&two_hosts(*seed, 1.0)).findings.is_empty());
    assert!(wrong.count() <= 3);
}

/// Returns one history with a step by a factor at run 40, and another value of a surrounding from a run on.
fn moved(key: &str, at: usize, step: f64, seed: u64) -> Histories {
    let mut values = noise(60, QUIET, seed);
    scale(&mut values[40..], step);
    let mut histories = days(60);
    observe(
        &mut histories,
        key,
        |run| if run < at { "m6i" } else { "m7i" },
    );
    add(&mut histories, "b", &values);
    histories
}

#[test]
fn a_change_is_explained_by_the_host_at_its_place_and_by_no_other() {
    let (mut explained, mut wrong) = (0, 0);
    for seed in 0..40 {
        let found = changes(&moved("host", 40, 1.15, seed)).findings;
        let is_explained = |it: &Finding| {
            let because = it.explained.as_ref();
            because.is_some_and(|it| it.before == ["m6i"] && it.after == ["m7i"])
        };
        explained += usize::from(found.len() == 1 && is_explained(&found[0]));
        let found = changes(&moved("host", 30, 1.15, seed)).findings;
        wrong += usize::from(!found.iter().any(Finding::is_open));
    }
    assert!(explained >= 37 && wrong == 0, "{explained} {wrong}");
}

#[test]
fn a_package_that_changed_once_explains_nothing() {
    let found = changes(&moved("packages.numpy", 40, 1.15, 1)).findings;
    assert!(found.len() == 1 && found[0].is_open(), "{found:?}");
    assert_eq!(found[0].environment[0].key, "packages.numpy");
}

#[test]
fn a_move_of_the_host_that_does_not_matter_is_not_mentioned() {
    let wrong = (0..100).filter(|seed| {
        let detection = changes(&moved("host", 30, 1.0, *seed));
        !detection.findings.is_empty() || detection.surroundings.iter().any(|it| !it.is_empty())
    });
    let wrong = wrong.count();
    assert!(wrong <= 6, "{wrong}");
}

/// Returns a suite whose host changed at run 40, with 8 % more for all but the first, which has its own factor.
fn moved_suite(first: f64, seed: u64) -> Histories {
    let mut histories = days(60);
    observe(
        &mut histories,
        "host",
        |run| if run < 40 { "m6i" } else { "m7i" },
    );
    for benchmark in 0..10 {
        let mut values = noise(60, 0.02, 1000 * seed + benchmark);
        scale(&mut values[40..], if benchmark == 0 { first } else { 1.08 });
        add(&mut histories, &format!("b{benchmark}"), &values);
    }
    histories
}

#[test]
fn a_suite_that_moved_with_its_host_has_no_regression_but_one_that_changed_besides() {
    let (mut wrong, mut found) = (0, 0);
    for seed in 0..30 {
        let open = |detection: Detection| -> Vec<String> {
            let findings = detection.findings.into_iter().filter(Finding::is_open);
            findings.map(|it| it.subject.benchmark).collect()
        };
        wrong += usize::from(!open(changes(&moved_suite(1.08, seed))).is_empty());
        found += usize::from(open(changes(&moved_suite(1.5, seed))) == ["b0"]);
    }
    assert!(wrong <= 4 && found >= 26, "{wrong} {found}");
}

#[test]
#[ignore = "takes a minute; its table stands in docs/calibration.md"]
fn table_of_surroundings() {
    const SERIES: u64 = 400;
    let share = |is: &dyn Fn(u64) -> bool| {
        let number = (0..SERIES).filter(|seed| is(*seed)).count();
        100.0 * lapwing_stats::as_f64(number)
            / lapwing_stats::as_f64(usize::try_from(SERIES).unwrap())
    };
    for step in [1.0, 1.03, 1.05, 1.1] {
        let at_step = |it: &Finding| it.first_after.abs_diff(70) <= 3 && it.is_open();
        let found = share(&|seed| {
            let found = changes(&two_hosts(seed, step)).findings;
            if step > 1.0 {
                found.iter().any(at_step)
            } else {
                !found.is_empty()
            }
        });
        let covered = share(&|seed| {
            let found = changes(&two_hosts(seed, step)).findings;
            let found = found.into_iter().find(at_step);
            found.is_some_and(|it| it.size.interval.contains(step))
        });
        println!(
            "two hosts, ×{step}: found {found:.1}, of these covered {:.1}",
            100.0 * covered / found
        );
    }
    for step in [1.0, 1.03, 1.15] {
        for at in [40, 36, 30] {
            let explained = share(&|seed| {
                let found = changes(&moved("host", at, step, seed)).findings;
                found.iter().any(|it| it.explained.is_some())
            });
            let open = share(&|seed| {
                let found = changes(&moved("host", at, step, seed)).findings;
                found.iter().any(Finding::is_open)
            });
            println!("×{step} at 40, host moved at {at}: explained {explained:.1}, open {open:.1}");
        }
    }
    for first in [1.08, 1.2, 1.5] {
        let open = |seed: u64| -> Vec<String> {
            let findings = changes(&moved_suite(first, seed)).findings.into_iter();
            findings
                .filter(Finding::is_open)
                .map(|it| it.subject.benchmark)
                .collect()
        };
        let found = share(&|seed| open(seed).contains(&"b0".to_owned()));
        let others = share(&|seed| open(seed).iter().any(|it| it != "b0"));
        println!(
            "suite of ten with ×1.08, the first ×{first}: found {found:.1}, another {others:.1}"
        );
    }
}

#[test]
fn a_branch_that_comes_back_is_another_one() {
    let mut values = noise(60, QUIET, 5);
    scale(&mut values[20..30], 1.2);
    let mut histories = days(60);
    observe(&mut histories, "branch", |run| {
        if (20..30).contains(&run) || run >= 50 {
            "idea"
        } else {
            "main"
        }
    });
    add(&mut histories, "b", &values);
    let found = changes(&histories).findings;
    assert!(
        !found.is_empty() && !found.iter().any(Finding::is_open),
        "{found:?}"
    );
}

#[test]
fn a_drift_does_not_take_in_what_the_host_adds() {
    let mut right = 0;
    for seed in 0..20 {
        let mut histories = moved_suite(1.08, seed);
        // A rise of a quarter over the nights before the host changed.
        for point in &mut histories.series[3].points {
            let passed = lapwing_stats::as_f64(point.moment.min(39)) / 39.0;
            point.value *= (0.25 * passed).exp();
        }
        let found = changes(&histories).findings;
        let drift = found
            .iter()
            .find(|it| it.kind == ChangeKind::Drift && it.is_open());
        let is_right = |it: &Finding| (it.size.change.ln() - 0.25).abs() < 0.05;
        right += usize::from(drift.is_some_and(is_right));
    }
    assert!(right >= 15, "{right}");
}
