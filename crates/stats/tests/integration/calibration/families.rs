//! Suites judged together: how many of them have a finding without any change, and how many findings are false.

use lapwing_stats::{Confidence, PValue, Replicates, Seed, benjamini_hochberg, family_tests};
use rand::{Rng, RngExt};

use super::logs;
use super::noise::{Between, Noise, Within, normal};
use super::rounds::{average, count, show};

/// The noise of the benchmarks of a suite.
#[derive(Clone, Copy)]
enum SuiteNoise {
    /// All benchmarks have the same.
    Same(Noise),
    /// Instance means in two modes, 20 % apart, with hardly any noise around them.
    TightModes,
    /// Slowed down by 5 % of a Pareto variable with the exponent 1.5.
    Pareto,
    /// Values are rounded to 1 % of the mean.
    Rounded,
    /// The standard deviations of the benchmarks range from 0.2 to 20 %.
    Varied,
    /// A tenth of the benchmarks have two modes, the others normal noise.
    SomeModes,
}

const CALM: Noise = Noise::new(Between::Normal(0.03), Within::Normal(0.05));

const fn modes(share: f64, slower: f64) -> SuiteNoise {
    let between = Between::Modes { share, slower };
    SuiteNoise::Same(Noise::new(between, Within::Normal(0.028)))
}

const NOISES: [(&str, SuiteNoise); 11] = [
    ("normal 3 %, normal 5 %", SuiteNoise::Same(CALM)),
    (
        "log-normal 15 %, log-normal 2.8 %",
        SuiteNoise::Same(Noise::new(
            Between::LogNormal(0.15),
            Within::LogNormal(0.028),
        )),
    ),
    (
        "log-normal 50 %, log-normal 50 %",
        SuiteNoise::Same(Noise::new(Between::LogNormal(0.5), Within::LogNormal(0.5))),
    ),
    ("half 20 % slower", modes(0.5, 1.2)),
    ("half 20 % slower, else 0.1 %", SuiteNoise::TightModes),
    ("a fifth 20 % slower", modes(0.2, 1.2)),
    ("a tenth twice as slow", modes(0.1, 2.0)),
    ("Pareto tail, exponent 1.5", SuiteNoise::Pareto),
    ("1 %, rounded to 1 %", SuiteNoise::Rounded),
    ("0.2 to 20 % by benchmark", SuiteNoise::Varied),
    (
        "a tenth of benchmarks: half 20 % slower",
        SuiteNoise::SomeModes,
    ),
];

impl SuiteNoise {
    /// Returns the logarithms of instance means of the benchmark with this number.
    fn sample(self, random: &mut impl Rng, benchmark: usize, instances: usize) -> Vec<f64> {
        let mut each = |one: fn(&mut dyn Rng) -> f64| -> Vec<f64> {
            (0..instances).map(|_| one(random)).collect()
        };
        match self {
            Self::Same(noise) => logs(&noise.means(random, instances)),
            Self::TightModes => each(|mut random| {
                let level = if random.random::<bool>() {
                    0.2_f64.ln_1p()
                } else {
                    0.0
                };
                level + 0.001 * normal(&mut random)
            }),
            Self::Pareto => each(|random| {
                let tail = (1.0 - random.random::<f64>()).powf(-1.0 / 1.5) - 1.0;
                (0.05 * tail).ln_1p()
            }),
            Self::Rounded => each(|mut random| {
                let mean = 1.0 + 0.01 * normal(&mut random);
                (mean * 100.0).round().ln() - 100_f64.ln()
            }),
            Self::Varied => {
                // The same one for both sides: by the benchmark's number.
                let share = f64::from(u32::try_from(benchmark * 37 % 100).unwrap()) / 99.0;
                let deviation = 0.002 * 100_f64.powf(share);
                let numbers = each(|mut random| normal(&mut random));
                numbers
                    .into_iter()
                    .map(|number| deviation * number)
                    .collect()
            }
            Self::SomeModes if benchmark.is_multiple_of(10) => {
                modes(0.5, 1.2).sample(random, benchmark, instances)
            }
            Self::SomeModes => Self::Same(CALM).sample(random, benchmark, instances),
        }
    }
}

/// A suite: so many benchmarks, of which the last ones are slower, with so many instances on the two sides.
#[derive(Clone, Copy)]
struct Design {
    benchmarks: usize,
    changed: usize,
    instances: [usize; 2],
}

/// The shares over suites: with any false finding, of false ones among findings, of changes that are found.
#[derive(Clone, Copy)]
struct Rates {
    any: f64,
    wrong: f64,
    found: f64,
}

/// Returns the rates of the default, and of Welch's t with Benjamini & Hochberg.
fn rates(name: &str, noise: SuiteNoise, design: Design, suites: u32) -> [Rates; 2] {
    let label = format!(
        "family {name} {} {} {:?}",
        design.benchmarks, design.changed, design.instances
    );
    let shares: [f64; 6] = average(&label, suites, |random| {
        let unchanged = design.benchmarks - design.changed;
        let family: Vec<Replicates> = (0..design.benchmarks)
            .map(|benchmark| {
                let [one, other] = design
                    .instances
                    .map(|instances| noise.sample(random, benchmark, instances));
                let change = if benchmark < unchanged {
                    0.0
                } else {
                    0.1_f64.ln_1p()
                };
                let other = other.into_iter().map(|log| log + change).collect();
                Replicates::Sides([one, other])
            })
            .collect();
        let seed = Seed(random.random());
        let together = family_tests(&family, seed);
        let welch: Vec<Option<f64>> = family.iter().map(welch).collect();
        let methods = [together, welch];
        let shares = methods.map(|p_values| {
            let found = findings(&family, &p_values);
            let right = found.iter().filter(|at| **at >= unchanged).count();
            let wrong = found.len() - right;
            [
                count(wrong > 0),
                share(wrong, found.len()),
                share(right, design.changed),
            ]
        });
        let flat: Vec<f64> = shares.concat();
        flat.try_into().unwrap()
    });
    [0, 3].map(|at| Rates {
        any: shares[at],
        wrong: shares[at + 1],
        found: shares[at + 2],
    })
}

fn share(some: usize, all: usize) -> f64 {
    lapwing_stats::as_f64(some) / lapwing_stats::as_f64(all.max(1))
}

/// Returns the members with an adjusted p-value of 5 % and an interval without 0.
fn findings(family: &[Replicates], p_values: &[Option<f64>]) -> Vec<usize> {
    let tested: Vec<usize> = (0..family.len())
        .filter(|at| p_values[*at].is_some())
        .collect();
    let values: Vec<PValue> = tested
        .iter()
        .map(|at| PValue::new(p_values[*at].unwrap()).unwrap())
        .collect();
    let adjusted = benjamini_hochberg(&values);
    let is_found = |(at, adjusted): (&usize, &PValue)| {
        let interval = family[*at].difference(Confidence::P95).unwrap().interval;
        (adjusted.value() <= 0.05 && !interval.contains(0.0)).then_some(*at)
    };
    tested.iter().zip(&adjusted).filter_map(is_found).collect()
}

fn welch(member: &Replicates) -> Option<f64> {
    let Replicates::Sides(sides) = member else {
        return None;
    };
    let [one, other] = sides
        .clone()
        .map(|side| -> Vec<f64> { side.into_iter().map(f64::exp).collect() });
    Some(lapwing_stats::ratio_of_means(&one, &other, Confidence::P95)?.p_value)
}

const SMALL: [Design; 3] = [
    Design {
        benchmarks: 20,
        changed: 0,
        instances: [3, 3],
    },
    Design {
        benchmarks: 20,
        changed: 4,
        instances: [5, 5],
    },
    Design {
        benchmarks: 20,
        changed: 0,
        instances: [3, 20],
    },
];

#[test]
fn suites_have_no_more_false_findings_than_stated_whatever_the_noise() {
    const SUITES: u32 = 200;
    for (name, noise) in NOISES {
        for design in SMALL {
            let [default, _] = rates(name, noise, design, SUITES);
            // Three standard errors of a share of 5 % in 200 suites.
            assert!(default.wrong < 0.05 + 0.046, "{name}: {}", default.wrong);
        }
    }
}

#[test]
fn a_family_finds_what_its_members_alone_do_not() {
    let design = Design {
        benchmarks: 100,
        changed: 5,
        instances: [5, 5],
    };
    let [default, welch] = rates("calm", SuiteNoise::Same(CALM), design, 100);
    assert!(
        default.found > 0.8 && welch.found < 0.6,
        "{} {}",
        default.found,
        welch.found
    );
}

#[test]
#[ignore = "takes minutes; its table stands in docs/calibration.md"]
fn table_of_families() {
    const SUITES: u32 = 1_000;
    let mut table = String::from(
        "| noise | instances | benchmarks | A/A suites with a finding | Welch | false findings, a tenth changed | Welch | changes found | Welch |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for (name, noise) in NOISES {
        for instances in [
            [3, 3],
            [4, 4],
            [5, 5],
            [10, 10],
            [20, 20],
            [3, 20],
            [20, 100],
        ] {
            for benchmarks in [1, 20, 100] {
                let large = instances[1] >= 20 && benchmarks == 100;
                let suites = if large { SUITES / 5 } else { SUITES };
                let of = |changed| {
                    let design = Design {
                        benchmarks,
                        changed,
                        instances,
                    };
                    rates(name, noise, design, suites)
                };
                let quiet = of(0);
                let changed = of(benchmarks.div_ceil(10));
                let row = [
                    quiet.map(|it| format!("{:.3}", it.any)).join(" | "),
                    changed.map(|it| format!("{:.3}", it.wrong)).join(" | "),
                    changed.map(|it| format!("{:.2}", it.found)).join(" | "),
                ];
                table.push_str(&format!(
                    "| {name} | {} and {} | {benchmarks} | {} |\n",
                    instances[0],
                    instances[1],
                    row.join(" | ")
                ));
            }
        }
    }
    show(&table);
}
