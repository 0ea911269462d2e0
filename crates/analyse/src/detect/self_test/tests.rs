use super::super::testing::noise;
use super::super::tests::{histories, scale, suite};
use super::simulation::{KnownSuite, SuiteNoise};
use super::*;
use crate::judge::FoundCount;

/// A self-test with fewer replays than usual.
fn few_replays(judged_values: usize) -> SelfTestOptions {
    SelfTestOptions {
        judged_values,
        ..SelfTestOptions::default()
    }
}

/// A self-test of a suite with few replays.
fn tested(values: &[Vec<f64>]) -> SelfTest {
    self_test(
        &histories(values),
        &DetectOptions::default(),
        &few_replays(60_000),
    )
}

/// The values of each series in a replay.
fn replayed(values: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let histories = histories(values);
    let found = detect(&histories, &DetectOptions::default());
    let all: Vec<usize> = (0..values.len()).collect();
    let source = ReplaySource::of(&histories, &found.findings, &all);
    let replay = source.replay(Seed(3), None).after(JUDGED_NIGHTS);
    let series = replay.series.iter();
    series
        .map(|it| it.points.iter().map(|point| point.value).collect())
        .collect()
}

#[test]
fn a_suite_is_as_bad_as_it_says() {
    let options = DetectOptions::default();
    let wanted = few_replays(150_000);
    let numbers = ReplayNumbers {
        quiet: 80,
        steps: 60,
        drifts: 60,
    };
    for (name, noise) in SuiteNoise::ALL {
        let suite = KnownSuite {
            noise,
            benchmarks: 3,
            nights: 60,
        };
        let stated = suite.stated(&options, &wanted, 4);
        let truth = suite.truth(&options, &wanted, numbers);
        let expected = as_f64(truth.alarms.alarms) * as_f64(stated.alarms.nights)
            / as_f64(truth.alarms.nights);
        let alarms = as_f64(stated.alarms.alarms);
        // Two standard errors, and the spread between histories.
        let tolerance = 2.0 * (expected + alarms).sqrt() + 0.5 * expected;
        assert!(
            (alarms - expected).abs() <= tolerance,
            "{name}: {alarms} {expected}"
        );
        for slowdown in 0..3 {
            let share = |count: FoundCount| count.share().expect("replays");
            let [stated, truth] =
                [&stated, &truth].map(|it| (it.step(slowdown), it.drift(slowdown)));
            let pairs = [
                (stated.0.seen(), truth.0.seen()),
                (stated.1.whole, truth.1.whole),
                (stated.1.last_half, truth.1.last_half),
            ];
            for (stated, truth) in pairs.map(|(one, other)| (share(one), share(other))) {
                assert!(
                    (stated - truth).abs() < 0.25,
                    "{name} {slowdown}: {stated} {truth}"
                );
            }
        }
        let [stated, truth] = [&stated, &truth].map(|it| it.step(2).within(0.5));
        let (stated, truth) = stated.zip(truth).expect("10 % is seen");
        assert!(stated.abs_diff(truth) <= 2, "{name}: {stated} {truth}");
    }
}

#[test]
fn a_detector_that_alarms_more_is_found_out() {
    let suite = KnownSuite {
        noise: SuiteNoise::Normal,
        benchmarks: 3,
        nights: 60,
    };
    let wanted = SelfTestOptions {
        slowdowns: Vec::new(),
        ..few_replays(100_000)
    };
    let alarms = |false_discovery_rate: f64| {
        let options = DetectOptions {
            false_discovery_rate,
            ..DetectOptions::default()
        };
        suite.stated(&options, &wanted, 3).alarms.alarms
    };
    let (usual, loose) = (alarms(0.05), alarms(0.5));
    assert!(loose > 8 && loose > 4 * usual, "{usual} {loose}");
}

#[test]
fn known_changes_are_no_noise() {
    let spread = |values: &[f64]| {
        let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
        lapwing_stats::standard_deviation(&logs).expect("many")
    };
    let mut values = vec![noise(60, 0.02, 5), noise(60, 0.02, 6)];
    scale(&mut values[0][30..], 1.5);
    let mut level = 1.0;
    for value in &mut values[1][15..45] {
        level *= 1.01;
        *value *= level;
    }
    scale(&mut values[1][45..], level);
    for (at, replayed) in replayed(&values).iter().enumerate() {
        assert_eq!(replayed.len(), 90);
        let spread = spread(replayed);
        assert!((0.013..0.035).contains(&spread), "{at}: {spread}");
        // At the newest level.
        let middle = lapwing_stats::median(replayed).expect("many");
        let newest = lapwing_stats::median(&values[at][46..]).expect("many");
        assert!(
            (middle / newest - 1.0).abs() < 0.03,
            "{at}: {middle} {newest}"
        );
    }
}

#[test]
fn what_the_histories_of_a_suite_share_stays_shared() {
    let same = noise(40, 0.03, 4);
    let replayed = replayed(&[same.clone(), same, noise(40, 0.03, 5)]);
    assert_eq!(replayed[0], replayed[1]);
    assert_ne!(replayed[0], replayed[2]);
}

#[test]
fn the_same_seed_gives_the_same_rates_and_another_one_others() {
    let values = suite(2, 30, 8);
    let test = |seed: u64| {
        let wanted = SelfTestOptions {
            seed: Seed(seed),
            ..few_replays(30_000)
        };
        self_test(&histories(&values), &DetectOptions::default(), &wanted)
    };
    assert_eq!(test(7), test(7));
    assert_ne!(test(7), test(8));
}

#[test]
fn short_and_ended_histories_are_no_part_of_it() {
    let mut all = histories(&suite(3, 40, 2));
    all.series[1].points.drain(..25);
    all.series[1].tried.drain(..25);
    all.series[2].points.truncate(25);
    all.series[2].tried.truncate(25);
    let test = self_test(&all, &DetectOptions::default(), &few_replays(30_000));
    assert_eq!(test.too_short, [(all.series[1].subject.clone(), 15)]);
    assert_eq!(test.ended, 1);
    let [suite] = &test.suites[..] else {
        panic!("{test:?}");
    };
    assert_eq!((suite.series.len(), suite.runs), (1, 40));
    let year = suite.runs_per_year.expect("days");
    assert!((year - 365.25).abs() < 1e-9, "{year}");
}

#[test]
fn a_history_that_began_late_has_as_few_runs_before_a_planted_change() {
    let mut all = histories(&suite(2, 60, 2));
    all.series[1].points.drain(..35);
    all.series[1].tried.drain(..35);
    let source = ReplaySource::of(&all, &[], &[0, 1]);
    let replay = source.replay(Seed(1), None);
    assert_eq!(replay.after(0).series[1].points.len(), 25);
    assert_eq!(replay.after(10).series[1].points.len(), 35);
}

#[test]
fn nothing_is_planted_in_values_that_are_not_positive() {
    let mut values = suite(2, 40, 2);
    values[1][7] = 0.0;
    let test = tested(&values);
    let steps = test.suites[0].series.iter().map(|it| it.steps.len());
    assert_eq!(steps.collect::<Vec<_>>(), [3, 0]);
}

#[test]
fn of_very_many_histories_some_are_replayed() {
    let mut replayed: Vec<usize> = (0..1000).collect();
    assert_eq!(thin(&mut replayed, 400), 900);
    assert_eq!(replayed[..3], [0, 10, 20]);
    let mut few: Vec<usize> = (0..30).collect();
    assert_eq!((thin(&mut few, 400), few.len()), (0, 30));
}
