//! How often there is an alarm without a change, and how many findings are false.

use lapwing_stats::{
    Confidence, PValue, Replicates, Seed, benjamini_hochberg, family_tests, ratio_of_means,
};
use rand::{Rng, RngExt};

use super::noise::{Between, Noise, Within};
use super::rounds::{average, count, show, tolerance};
use super::{default_ratio, logs};

/// What a well-documented case of false alarms had: the noise lies between runs.
const BETWEEN_RUNS: Noise = Noise::new(Between::LogNormal(0.15), Within::LogNormal(0.028));

const CALM: Noise = Noise::new(Between::LogNormal(0.03), Within::LogNormal(0.05));

/// Returns the shares of A/A comparisons that alarm at 5 %: the default; Welch's test of all iterations
/// as if they were independent; and Welch's test of the iterations of one run a side.
fn false_alarms(noise: Noise, instances: usize, rounds: u32) -> [f64; 3] {
    average(&format!("alarms {instances}"), rounds, |random| {
        let sides = [
            noise.instances(random, instances),
            noise.instances(random, instances),
        ];
        let [one, other] = &sides;
        let means = |side: &[Vec<f64>]| -> Vec<f64> {
            side.iter()
                .map(|values| lapwing_stats::mean(values).unwrap())
                .collect()
        };
        let default = default_ratio(&means(one), &means(other));
        let welch = |one: &[f64], other: &[f64]| {
            count(ratio_of_means(one, other, Confidence::P95).unwrap().p_value < 0.05)
        };
        [
            count(default.p_value < 0.05),
            welch(&one.concat(), &other.concat()),
            welch(&one[0], &other[0]),
        ]
    })
}

/// Returns, over suites of 100 benchmarks of which so many got slower by 10 %: the share of findings that
/// are false after Benjamini and Hochberg at 5 % (no findings: none is false), the share of the changes
/// that are found, and the same two for p < 0.05 as it is.
fn discoveries(changed: usize, noise: Noise, instances: usize, suites: u32) -> [f64; 4] {
    average(
        &format!("discoveries {changed} {instances}"),
        suites,
        |random| {
            let family: Vec<Replicates> = (0..100)
                .map(|index| {
                    let factor = if index < changed { 1.1 } else { 1.0 };
                    replicates(random, noise, instances, factor)
                })
                .collect();
            let plain: Vec<PValue> = family.iter().map(p_value).collect();
            let together = family_tests(&family, &[], Seed(random.random()));
            let together: Vec<PValue> = together
                .into_iter()
                .map(|it| PValue::new(it.unwrap().p_value).unwrap())
                .collect();
            let total: f64 = (0..changed).map(|_| 1.0).sum();
            let rates = |p_values: &[PValue]| {
                let found = |p: &&PValue| p.value() <= 0.05;
                let right = p_values[..changed]
                    .iter()
                    .filter(found)
                    .map(|_| 1.0)
                    .sum::<f64>();
                let wrong = p_values[changed..]
                    .iter()
                    .filter(found)
                    .map(|_| 1.0)
                    .sum::<f64>();
                [wrong / (wrong + right).max(1.0), right / total.max(1.0)]
            };
            let [adjusted_false, adjusted_found] = rates(&benjamini_hochberg(&together));
            let [plain_false, plain_found] = rates(&plain);
            [adjusted_false, adjusted_found, plain_false, plain_found]
        },
    )
}

fn replicates(random: &mut impl Rng, noise: Noise, instances: usize, factor: f64) -> Replicates {
    let baseline = noise.means(random, instances);
    let candidate: Vec<f64> = noise
        .means(random, instances)
        .iter()
        .map(|mean| factor * mean)
        .collect();
    Replicates::Sides([logs(&baseline), logs(&candidate)])
}

fn p_value(replicates: &Replicates) -> PValue {
    PValue::new(replicates.difference(Confidence::P95).unwrap().p_value).unwrap()
}

#[test]
fn noise_between_runs_alarms_no_more_often_than_stated() {
    for (instances, rounds) in [(3, 2_000), (5, 2_000), (10, 2_000), (20, 200)] {
        let [default, pooled, single] = false_alarms(BETWEEN_RUNS, instances, rounds);
        assert!(default < 0.05 + tolerance(rounds), "{instances}: {default}");
        assert!(
            pooled > 0.4 && single > 0.8,
            "{instances}: {pooled} {single}"
        );
    }
}

#[test]
fn no_more_findings_are_false_than_stated() {
    for (changed, instances, suites) in [(0, 10, 100), (20, 10, 100), (20, 20, 10)] {
        let [found_false, ..] = discoveries(changed, CALM, instances, suites * 2);
        assert!(
            found_false < 0.05 + 2.0 * tolerance(suites * 2),
            "{changed}: {found_false}"
        );
    }
}

#[test]
#[ignore = "its table stands in docs/calibration.md"]
fn table_of_false_alarms() {
    const ROUNDS: u32 = 20_000;
    let mut table = String::from(
        "| instances a side | default | all iterations, Welch | one run a side, Welch |\n|--:|--:|--:|--:|\n",
    );
    for instances in [3, 5, 10, 20, 50] {
        let [default, pooled, single] = false_alarms(BETWEEN_RUNS, instances, ROUNDS);
        table.push_str(&format!(
            "| {instances} | {default:.4} | {pooled:.3} | {single:.3} |\n"
        ));
        assert!(default < 0.05 + tolerance(ROUNDS), "{table}");
    }
    show(&table);
}

#[test]
#[ignore = "takes minutes; its table stands in docs/calibration.md"]
fn table_of_false_discoveries() {
    let mut table = String::from(
        "| changed of 100 | instances a side | false findings | changes found | false, p < 0.05 | found, p < 0.05 |\n|--:|--:|--:|--:|--:|--:|\n",
    );
    for changed in [0, 1, 5, 20, 50] {
        for (instances, suites) in [(3, 1_000), (5, 1_000), (10, 1_000), (20, 200)] {
            let rates = discoveries(changed, CALM, instances, suites);
            let [adjusted_false, adjusted_found, plain_false, plain_found] = rates;
            table.push_str(&format!(
                "| {changed} | {instances} | {adjusted_false:.4} | {adjusted_found:.3} | {plain_false:.3} | {plain_found:.3} |\n"
            ));
            assert!(adjusted_false < 0.05 + tolerance(suites), "{table}");
        }
    }
    show(&table);
}
