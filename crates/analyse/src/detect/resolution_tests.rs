//! Histories that were rounded first and are exact later, and counts after zeros.

use super::testing::{add, days, noise};
use super::*;
use rand::Rng;

/// A history whose values are rounded up to the night `exact`, and change by `factor` there.
#[derive(Debug, Clone, Copy)]
struct RoundedHistory {
    nights: u16,
    exact: usize,
    /// The resolution of the rounded values, of a level that differs between histories and is 1 on average.
    resolution: f64,
    /// The standard deviation of the noise, as a share of the level.
    noise: f64,
    factor: f64,
}

impl RoundedHistory {
    fn values(&self, seed: u64) -> Vec<f64> {
        let level = noise(1, 0.3, 50_000 + seed)[0];
        let values = noise(usize::from(self.nights), self.noise, seed).into_iter();
        let round = |value: f64| (value / self.resolution).round() * self.resolution;
        let value = |(at, value): (usize, f64)| match at < self.exact {
            true => round(level * value),
            false => level * value * self.factor,
        };
        values.enumerate().map(value).collect()
    }

    /// Returns the share of histories with any change, and of those with a change at the place where it is.
    fn rates(&self, number: u64) -> [f64; 2] {
        let mut counts = [0.0; 2];
        for seed in 0..number {
            let mut histories = days(self.nights);
            add(&mut histories, "b", &self.values(seed));
            let detection = detect(&histories, &DetectOptions::default());
            let places = detection.findings.iter().map(|it| it.first_after);
            let is_there = |place: usize| place.abs_diff(self.exact) <= 1;
            counts[0] += f64::from(u8::from(!detection.findings.is_empty()));
            counts[1] += f64::from(u8::from(places.clone().any(is_there)));
        }
        counts.map(|count| count / lapwing_stats::as_f64(usize::try_from(number).unwrap_or(1)))
    }
}

#[test]
fn a_finer_resolution_is_no_change_and_hides_none() {
    let history = RoundedHistory {
        nights: 60,
        exact: 40,
        resolution: 0.1,
        noise: 0.01,
        factor: 1.0,
    };
    let [any, _] = history.rates(60);
    assert!(any <= 0.07, "{any}");
    for (factor, least) in [(1.2, 0.97), (0.8, 0.97)] {
        let [_, there] = RoundedHistory { factor, ..history }.rates(30);
        assert!(there >= least, "{factor}: {there}");
    }
}

#[test]
fn a_small_change_among_exact_values_is_found() {
    let history = RoundedHistory {
        nights: 90,
        exact: 40,
        resolution: 0.1,
        noise: 0.005,
        factor: 1.0,
    };
    let found = (0..20).filter(|seed| {
        let mut values = history.values(*seed);
        values[65..].iter_mut().for_each(|value| *value *= 1.03);
        let mut histories = days(history.nights);
        add(&mut histories, "b", &values);
        let detection = detect(&histories, &DetectOptions::default());
        let mut places = detection.findings.iter().map(|it| it.first_after);
        places.any(|place| place.abs_diff(65) <= 1)
    });
    assert!(found.count() >= 19);
}

#[test]
fn counts_after_zeros_are_a_step_between_levels_that_are_not_negative() {
    let mut random = lapwing_stats::Seed(7).stream("counts");
    let mut missed = 0;
    for zeros in (10..60).step_by(5) {
        for number in [3, 4, 5, 8, 12, 20] {
            for most in [2, 6, 12] {
                let count = |_| f64::from(1 + random.next_u32() % most);
                let counts: Vec<f64> = (0..number).map(count).collect();
                let values = [vec![0.0; zeros], counts].concat();
                let mut histories = days(u16::try_from(values.len()).expect("few"));
                add(&mut histories, "b", &values);
                let detection = detect(&histories, &DetectOptions::default());
                for finding in &detection.findings {
                    assert_eq!(finding.kind, ChangeKind::Step, "{values:?}");
                    let levels = [finding.size.before, finding.size.after];
                    assert!(levels.iter().all(|level| *level >= 0.0), "{values:?}");
                }
                let mut places = detection.findings.iter().map(|it| it.first_after);
                let is_found = places.any(|place| place.abs_diff(zeros) <= 1);
                missed += usize::from(!is_found);
            }
        }
    }
    // Of 180.
    assert!(missed <= 9, "{missed}");
}

#[test]
#[ignore = "takes a minute; its table stands in docs/calibration.md"]
fn table_of_changed_resolutions() {
    println!(
        "| resolution | noise | exact from | any, no change | found: +5 % | +10 % | +20 % | −10 % |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for resolution in [0.01, 0.05, 0.1] {
        for noise in [0.002, 0.01, 0.03] {
            for exact in [30, 55] {
                let history = RoundedHistory {
                    nights: 60,
                    exact,
                    resolution,
                    noise,
                    factor: 1.0,
                };
                let any = history.rates(200)[0];
                let found = [1.05, 1.1, 1.2, 0.9].map(|factor| {
                    let [_, there] = RoundedHistory { factor, ..history }.rates(100);
                    format!("{:.0} %", 100.0 * there)
                });
                println!(
                    "| {:.0} % | {:.1} % | night {} | {:.1} % | {} |",
                    100.0 * resolution,
                    100.0 * noise,
                    exact + 1,
                    100.0 * any,
                    found.join(" | ")
                );
            }
        }
    }
}
