//! Intervals of results from several instances on each of several hosts hold for other, similar hosts.

use std::fmt::Write as _;

use lapwing_analyse::clean::{CleanInstance, Cleaned};
use lapwing_analyse::judge::{estimate, variability};
use lapwing_stats::{Seed, as_f64};
use rand::Rng;

use super::calibration::normal;

/// The instances on each host, and how much hosts, instances on one host, and iterations differ.
struct OnHosts {
    instances: &'static [usize],
    noise: [f64; 3],
}

const ITERATIONS: usize = 3;

impl OnHosts {
    fn measure(&self, random: &mut impl Rng) -> Cleaned {
        let [of_hosts, of_instances, of_iterations] = self.noise;
        let mut instances = Vec::new();
        for (host, count) in self.instances.iter().enumerate() {
            let level = of_hosts * normal(random);
            for _ in 0..*count {
                let level = level + of_instances * normal(random);
                let values =
                    (0..ITERATIONS).map(|_| (level + of_iterations * normal(random)).exp());
                instances.push(CleanInstance {
                    position: instances.len(),
                    values: values.collect(),
                    without_value: 0,
                    host: Some(host),
                });
            }
        }
        Cleaned {
            instances,
            ..Cleaned::default()
        }
    }

    /// Returns the shares of samples whose interval of the mean, interval of the noise between instances, and limit
    /// of 90 % of that noise contain the true one; and the median width of the first.
    fn coverage(&self, samples: u32) -> [f64; 4] {
        let mut random = Seed(44).block(u64::from(samples));
        let mut counts = [0_u32; 3];
        let mut widths = Vec::new();
        let truth = self.noise[0].powi(2) + self.noise[1].powi(2);
        for _ in 0..samples {
            let cleaned = self.measure(&mut random);
            let found = estimate(&cleaned).unwrap();
            let interval = found.interval.unwrap();
            // The mean of exponentials of iterations is above that of their logarithms.
            let level = (self.noise[2].powi(2) / 2.0).exp();
            counts[0] += u32::from(interval.lower <= level && level <= interval.upper);
            widths.push((interval.upper / interval.lower).ln());
            let noise = variability(&cleaned).unwrap();
            let between = noise.components.unwrap().between_interval.unwrap();
            counts[1] += u32::from(between.lower <= truth && truth <= between.upper);
            counts[2] += u32::from(noise.pilot.unwrap().limit(0.9, ITERATIONS).between >= truth);
        }
        let [mean, between, limit] = counts.map(|it| f64::from(it) / f64::from(samples));
        [
            mean,
            between,
            limit,
            lapwing_stats::median(&widths).unwrap(),
        ]
    }
}

/// The smallest case, a usual one, many hosts, and one host with most of the instances.
const DESIGNS: [&[usize]; 4] = [&[3; 3], &[10; 3], &[2; 10], &[1, 1, 1, 6]];
const NOISES: [[f64; 3]; 3] = [[0.0, 0.03, 0.02], [0.03, 0.03, 0.02], [0.1, 0.01, 0.02]];

fn table(samples: u32) -> (String, f64, f64, f64) {
    let mut text = String::new();
    let (mut of_mean, mut of_noise, mut of_limit) = (1.0_f64, 1.0_f64, 1.0_f64);
    for instances in DESIGNS {
        for noise in NOISES {
            let [mean, between, limit, width] = OnHosts { instances, noise }.coverage(samples);
            let all: usize = instances.iter().sum();
            writeln!(
                text,
                "| {} hosts, {all} instances | {:.0} %, {:.0} % | {:.1} % | ±{:.1} % | {:.1} % | {:.1} % |",
                as_f64(instances.len()),
                100.0 * noise[0],
                100.0 * noise[1],
                100.0 * mean,
                50.0 * width,
                100.0 * between,
                100.0 * limit,
            )
            .unwrap();
            of_mean = of_mean.min(mean);
            of_noise = of_noise.min(between);
            of_limit = of_limit.min(limit);
        }
    }
    (text, of_mean, of_noise, of_limit)
}

#[test]
fn intervals_contain_what_other_hosts_would_show() {
    let (text, of_mean, of_noise, of_limit) = table(400);
    assert!(
        of_mean >= 0.92 && of_noise >= 0.92 && of_limit >= 0.87,
        "\n{text}"
    );
}

/// The table of `docs/calibration.md`: 20,000 samples of each kind.
#[test]
#[ignore = "takes a minute"]
fn table_of_hosts() {
    let (text, ..) = table(20_000);
    println!("{text}");
}
