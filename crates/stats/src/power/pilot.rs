//! What a few measured instances tell of the noise, and instances like them.

use rand_xoshiro::Xoshiro256PlusPlus;
use statrs::distribution::{ChiSquared, ContinuousCDF, Normal};

use super::Noise;
use crate::number::as_f64;
use crate::spread::sessions::on_other_hosts;
use crate::subset::{draw_below, draw_subset};
use crate::{Seed, SessionMean, mean};

/// The noise of the instance means that tests compare, as far as a pilot shows it.
///
/// Unlike the variance components of logarithms, it counts an outlier as much as the mean of its instance does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PilotNoise {
    /// Number of instances.
    pub instances: usize,
    /// The excess kurtosis of iterations around the mean of their instance; 0 for normal noise.
    pub kurtosis: f64,
    /// s²: the variance of the logarithms of instance means.
    of_means: f64,
    /// The mean squares of which s² is the sum, with their degrees of freedom: of hosts and within them, or one alone.
    parts: [(f64, f64); 2],
    /// σ_W²: the squared coefficient of variation of iterations.
    within: f64,
    /// The share of σ_W² in s²: 1 / J, with J the harmonic mean of the numbers of iterations.
    share_within: f64,
    /// The degrees of freedom of σ_W².
    within_freedom: f64,
}

/// A pilot: the noise of its instances, and its shape.
#[derive(Debug, Clone, PartialEq)]
pub struct Pilot {
    noise: PilotNoise,
    /// The logarithms of instance means.
    levels: Vec<f64>,
    /// The deviations of iterations from the mean of their instance, relative to it.
    deviations: Vec<f64>,
}

/// No instance of a population has a value below this part of its level.
const SMALLEST: f64 = 0.05;

impl Pilot {
    /// Takes the values of each instance's iterations.
    ///
    /// `None` below three instances, when no instance has two values, and with a value that is not positive and finite.
    pub fn new(instances: &[&[f64]]) -> Option<Self> {
        let own: Vec<usize> = (0..instances.len()).collect();
        Self::on_hosts(instances, &own)
    }

    /// Takes the values of each instance's iterations, and the number of its host: the noise is that of instances on
    /// hosts of their own, from at least three of these.
    ///
    /// With n instances per host (N − Σ n_h²/N, over hosts − 1), the mean square MS_H of hosts and MS within them, the
    /// variance of instance means is MS_H/n + (1 − 1/n) MS, as in [`session_variance`](crate::session_variance). `None`
    /// as for [`Pilot::new`].
    pub fn on_hosts(instances: &[&[f64]], hosts: &[usize]) -> Option<Self> {
        let mut values = instances.iter().copied().flatten();
        if instances.len() < 3 || !values.all(|it| *it > 0.0 && it.is_finite()) {
            return None;
        }
        let mut levels = Vec::new();
        let (mut deviations, mut squares, mut freedom, mut inverse) = (Vec::new(), 0.0, 0.0, 0.0);
        for row in instances {
            let (centre, count) = (mean(row)?, as_f64(row.len()));
            levels.push(centre.ln());
            inverse += 1.0 / count;
            freedom += count - 1.0;
            // Values are closer to their own mean than to the true one.
            let wider = (count / (count - 1.0).max(1.0)).sqrt();
            let of_row = row.iter().map(|value| value / centre - 1.0);
            squares += of_row.clone().map(|it| it * it).sum::<f64>();
            if row.len() > 1 {
                deviations.extend(of_row.map(|it| wider * it));
            }
        }
        if deviations.is_empty() {
            return None;
        }
        let count = as_f64(levels.len());
        let on_hosts = levels.iter().zip(hosts);
        let on_hosts = on_hosts.map(|(value, host)| SessionMean {
            value: *value,
            level: 0,
            host: *host,
        });
        let parts = on_other_hosts(&on_hosts.collect::<Vec<_>>())?;
        let (within, share_within) = (squares / freedom, inverse / count);
        let kurtosis = excess_kurtosis(&deviations);
        let effective = |count: f64, kurtosis: f64| 2.0 * count / (2.0 + kurtosis);
        let of_levels = excess_kurtosis(&levels);
        let parts = parts.map(|(factor, part)| {
            if part.freedom > 0.0 {
                (factor * part.variance, effective(part.freedom, of_levels))
            } else {
                // Each host had one instance.
                (0.0, 1.0)
            }
        });
        let noise = PilotNoise {
            instances: levels.len(),
            kurtosis,
            of_means: parts[0].0 + parts[1].0,
            parts,
            within,
            share_within,
            within_freedom: effective(freedom, kurtosis),
        };
        Some(Self {
            noise,
            levels,
            deviations,
        })
    }

    /// Returns the noise.
    pub fn noise(&self) -> PilotNoise {
        self.noise
    }

    /// Returns the values of instances that vary as this noise says and look like those of the pilot.
    ///
    /// A smoothed bootstrap (Silverman, *Density Estimation* 1986, §6.4): the levels are those of the pilot in turn,
    /// each moved by normal noise of 0.9 I^(−1/5) of their standard deviation, and all of them scaled to σ_B².
    /// Iterations are drawn, with replacement, from the relative deviations of all instances, scaled to σ_W².
    pub fn population(
        &self,
        noise: Noise,
        instances: usize,
        iterations: usize,
        seed: Seed,
    ) -> Vec<Vec<f64>> {
        let mut random = seed.block(0);
        let levels = self.population_levels(noise.between.sqrt(), instances, &mut random);
        let wider = if self.noise.within > 0.0 {
            (noise.within / self.noise.within).sqrt()
        } else {
            0.0
        };
        let values = |level: f64, random: &mut Xoshiro256PlusPlus| {
            let value = |_| {
                let deviation = self.deviations[draw_below(self.deviations.len(), random)];
                level.exp() * (1.0 + wider * deviation).max(SMALLEST)
            };
            (0..iterations).map(value).collect()
        };
        let levels = levels.into_iter();
        levels.map(|level| values(level, &mut random)).collect()
    }

    fn population_levels(
        &self,
        between: f64,
        instances: usize,
        random: &mut Xoshiro256PlusPlus,
    ) -> Vec<f64> {
        let count = as_f64(self.levels.len());
        let smoothing = 0.9 * count.powf(-0.2) * self.noise.of_means.sqrt();
        // Every part of the normal distribution once, so that few instances have its variance.
        let mut parts: Vec<usize> = (0..instances).collect();
        draw_subset(&mut parts, instances, random);
        let pilot = self.levels.iter().cycle();
        let levels: Vec<f64> = pilot
            .zip(parts)
            .map(|(level, part)| {
                let share = (as_f64(part) + 0.5) / as_f64(instances);
                level + smoothing * Normal::standard().inverse_cdf(share)
            })
            .collect();
        let centre = mean(&levels).unwrap_or_default();
        let spread = crate::standard_deviation(&levels).unwrap_or_default();
        let scale = if spread > 0.0 { between / spread } else { 0.0 };
        let scaled = levels.iter().map(|level| centre + scale * (level - centre));
        scaled.collect()
    }
}

impl PilotNoise {
    /// Returns whether outliers make the variance uncertain, and the closed form of power with it: their excess
    /// kurtosis is above 3, that of Laplace's distribution.
    pub fn has_heavy_tails(&self) -> bool {
        self.kurtosis > 3.0
    }

    /// Returns the most probable noise.
    pub fn estimate(&self) -> Noise {
        Noise {
            between: (self.of_means - self.share_within * self.within).max(0.0),
            within: self.within,
        }
    }

    /// Returns the distance of the limit of s² from s².
    fn distance_of_means(&self, probability: f64) -> f64 {
        let distance =
            |(square, freedom): (f64, f64)| (variance_limit(freedom, probability) - 1.0) * square;
        let [one, other] = self.parts.map(distance);
        f64::hypot(one, other)
    }

    /// Returns the noise below which the true one is with this probability, in means of so many iterations.
    ///
    /// σ_W² has its upper limit by χ², and σ_B² is what then remains of the limit of the variance of means, M = s² +
    /// σ_W² (1/j − 1/J): M ± √(a² + b²), where a and b are the distances of the limits of s² and of σ_W² |1/j − 1/J|
    /// from their estimates (modified large samples). With κ the excess kurtosis, n degrees of freedom count as 2n /
    /// (2 + κ), because the variance of a variance is (2 + κ) σ⁴ / n.
    ///
    /// On hosts, s² is a sum of mean squares, and its distance that of each, as √(Σ distances²) (Graybill and Wang).
    ///
    /// Source: Burdick & Graybill, *Confidence Intervals on Variance Components* 1992, §3.3; Graybill & Wang, *Journal
    /// of the American Statistical Association* 1980; Box, *Biometrika* 1953.
    pub fn limit(&self, probability: f64, iterations: usize) -> Noise {
        let of_within = self.within_freedom;
        let within = variance_limit(of_within, probability) * self.within;
        let fewer = 1.0 / as_f64(iterations) - self.share_within;
        // Where more iterations are planned than were measured, less noise within leaves more between.
        let other = if fewer > 0.0 {
            within
        } else {
            variance_limit(of_within, 1.0 - probability) * self.within
        };
        let distance = f64::hypot(
            self.distance_of_means(probability),
            (other - self.within) * fewer,
        );
        let likely = self.of_means + self.within * fewer;
        let sign = if probability >= 0.5 { 1.0 } else { -1.0 };
        let limit = likely + sign * distance;
        Noise {
            between: (limit - within / as_f64(iterations)).max(0.0),
            within,
        }
    }
}

/// Returns how many times as large as its estimate a variance is at most, with this probability.
pub(super) fn variance_limit(freedom: f64, probability: f64) -> f64 {
    let chi = ChiSquared::new(freedom).map(|it| it.inverse_cdf(1.0 - probability));
    chi.map_or(f64::INFINITY, |chi| freedom / chi)
}

/// Returns the excess kurtosis of values, at least 0.
fn excess_kurtosis(values: &[f64]) -> f64 {
    let centre = mean(values).unwrap_or_default();
    let moment = |power: i32| -> f64 {
        let powers = values.iter().map(|value| (value - centre).powi(power));
        powers.sum::<f64>() / as_f64(values.len())
    };
    let variance = moment(2);
    if variance > 0.0 {
        (moment(4) / variance.powi(2) - 3.0).max(0.0)
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Confidence, variance_components};

    /// Twenty instances of ten iterations, with some of them twice as long.
    fn rows() -> Vec<Vec<f64>> {
        let mut random = Seed(3).block(1);
        let mut uniform = || as_f64(draw_below(1_000, &mut random)) / 1_000.0;
        let row = |_| -> Vec<f64> {
            let level = 5.0 + 0.3 * uniform();
            let outlier = |share: f64| if share < 0.05 { 2.0 } else { 1.0 };
            (0..10)
                .map(|_| level * outlier(uniform()) * (1.0 + 0.02 * uniform()))
                .collect()
        };
        (0..20).map(row).collect()
    }

    fn pilot(rows: &[Vec<f64>]) -> Option<Pilot> {
        Pilot::new(&rows.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }

    #[test]
    fn a_population_varies_as_it_should() {
        let pilot = pilot(&rows()).expect("twenty");
        let wanted = Noise {
            between: 0.05_f64.powi(2),
            within: 0.2_f64.powi(2),
        };
        let population = pilot.population(wanted, 2_000, 30, Seed(7));
        let logs: Vec<f64> = population
            .iter()
            .map(|row| mean(row).expect("30").ln())
            .collect();
        let spread = crate::standard_deviation(&logs).expect("many").powi(2);
        let expected = wanted.between + wanted.within / 30.0;
        assert!(
            (spread / expected - 1.0).abs() < 0.05,
            "{spread} {expected}"
        );
        let again = pilot.population(wanted, 2_000, 30, Seed(7));
        assert_eq!(population, again);
    }

    #[test]
    fn outliers_count_as_much_as_in_means() {
        let rows = rows();
        let noise = pilot(&rows).expect("twenty").noise();
        assert!(noise.kurtosis > 5.0, "{noise:?}");
        let logs: Vec<Vec<f64>> = rows
            .iter()
            .map(|row| row.iter().map(|it| it.ln()).collect())
            .collect();
        let logs: Vec<&[f64]> = logs.iter().map(Vec::as_slice).collect();
        let of_logs = variance_components(&logs, Confidence::P95)
            .expect("twenty")
            .within;
        assert!(noise.estimate().within > 1.2 * of_logs, "{noise:?}");
    }

    #[test]
    fn limits_are_those_of_chi_squared_and_wider_with_heavy_tails() {
        // The quantiles 0.210721 and 4.168159 of printed tables.
        for (freedom, expected) in [(2.0, 2.0 / 0.210_721), (9.0, 9.0 / 4.168_159)] {
            let limit = variance_limit(freedom, 0.9);
            assert!((limit - expected).abs() < 1e-4, "{freedom}: {limit}");
        }
        let noise = pilot(&rows()).expect("twenty").noise();
        let (estimate, limit) = (noise.estimate(), noise.limit(0.9, 10));
        assert!(limit.between > estimate.between);
        assert!(limit.within > variance_limit(180.0, 0.9) * estimate.within);
        assert!(noise.limit(0.1, 10).within < estimate.within);
    }

    #[test]
    fn too_little_is_no_pilot() {
        let rows = rows();
        assert!(pilot(&rows[..3]).is_some());
        assert_eq!(pilot(&rows[..2]), None);
        assert_eq!(pilot(&[vec![1.0], vec![2.0], vec![3.0]]), None);
        assert_eq!(pilot(&[vec![1.0, 0.0], vec![2.0], vec![3.0]]), None);
        let equal = pilot(&vec![vec![2.0, 2.0]; 3]).expect("three");
        let none = equal.noise().limit(0.9, 10);
        assert_eq!((none.between, none.within), (0.0, 0.0));
    }
}
