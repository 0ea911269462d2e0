//! The newest runs of many histories: how soon one that changed is found, and how often nothing is.
//!
//! The noises are those of the method's reference (`fixtures/family/detect.py` has its statistic).

use lapwing_stats::{PValue, benjamini_hochberg, newest_p_values};
use rand::{Rng, RngExt};

use super::noise::normal;
use super::rounds::{average, collect, count, show};

/// The level of the newest three runs, per night, and that of fewer.
const CONFIRMED: f64 = 0.003;
const SUSPECTED: f64 = 0.005;

/// How the logarithms of the values of a history vary.
#[derive(Clone, Copy)]
enum HistoryNoise {
    Normal,
    /// ln(1 + 0.03 e^N)
    LogNormalTail,
    /// Normal 1 %, slowed down by 3 % of a Pareto variable with the exponent 2.5.
    Pareto,
    /// Two modes, this factor apart, each with this standard deviation.
    Modes(f64, f64),
    Spikes,
    /// Standard deviations from 0.3 to 20 %.
    Varied,
    Rounded,
    Autocorrelated(f64),
    /// The logarithm of the standard deviation is autocorrelated.
    Clusters,
    /// Each history has one of the others.
    Mixed,
}

use HistoryNoise::{
    Autocorrelated, Clusters, LogNormalTail, Mixed, Modes, Normal, Pareto, Rounded, Spikes, Varied,
};

/// Noises with the least shares of suites in which a history twice as slow is found in its third run.
const NOISES: [(&str, HistoryNoise, f64); 13] = [
    ("normal 2.5 %", Normal, 0.95),
    ("log-normal, 1 + 0.03 e^N", LogNormalTail, 0.85),
    ("Pareto 2.5", Pareto, 0.95),
    ("two modes, 10 % apart", Modes(1.1, 0.01), 0.95),
    ("two modes, 50 % apart", Modes(1.5, 0.02), 0.55),
    ("2 % spikes × 1.5", Spikes, 0.7),
    ("0.3 to 20 % by history", Varied, 0.85),
    ("0.5 %, rounded to 1 %", Rounded, 0.95),
    ("AR(1), ρ = 0.3", Autocorrelated(0.3), 0.95),
    ("AR(1), ρ = 0.6", Autocorrelated(0.6), 0.95),
    ("AR(1), ρ = 0.9", Autocorrelated(0.9), 0.95),
    ("volatility clusters", Clusters, 0.95),
    ("mixed", Mixed, 0.85),
];

impl HistoryNoise {
    fn history(self, mut random: &mut dyn Rng, runs: usize) -> Vec<f64> {
        let deviation = match self {
            Varied => 0.003 * (0.2_f64 / 0.003).powf(random.random()),
            _ => 0.025,
        };
        let own = match self {
            Mixed => {
                let others: Vec<Self> = NOISES.iter().map(|(_, noise, _)| *noise).collect();
                let kinds = others.into_iter().filter(|it| {
                    !matches!(it, Mixed) && !matches!(it, Autocorrelated(share) if *share > 0.6)
                });
                let kinds: Vec<Self> = kinds.collect();
                let own = kinds[random.random_range(0..kinds.len())];
                return own.history(random, runs);
            }
            other => other,
        };
        let remembered = match own {
            Autocorrelated(share) => share,
            _ => 0.9,
        };
        let mut state = normal(&mut random);
        let each = (0..runs).map(|_| {
            let number = normal(&mut random);
            match own {
                Normal | Varied => deviation * number,
                LogNormalTail => (0.03 * number.exp()).ln_1p(),
                Pareto => {
                    let tail = (1.0 - random.random::<f64>()).powf(-1.0 / 2.5) - 1.0;
                    0.01 * number + (0.03 * tail).ln_1p()
                }
                Modes(factor, deviation) => {
                    deviation * number + factor.ln() * count(random.random::<bool>())
                }
                Spikes => 0.03 * number + 1.5_f64.ln() * count(random.random::<f64>() < 0.02),
                Rounded => ((0.005 * number).exp() * 100.0).round().ln() - 100_f64.ln(),
                Autocorrelated(_) | Clusters | Mixed => {
                    state = remembered * state + (1.0 - remembered * remembered).sqrt() * number;
                    match own {
                        Clusters => 0.025 * (0.5 * state).exp() * normal(&mut random),
                        _ => 0.025 * state,
                    }
                }
            }
        });
        each.collect()
    }
}

/// Returns which of the histories have a finding.
fn found(histories: &[&[f64]], newest: usize, level: f64) -> Vec<bool> {
    let p_values = newest_p_values(histories, newest, level);
    let tested: Vec<usize> = (0..p_values.len())
        .filter(|at| p_values[*at].is_some())
        .collect();
    let values: Vec<PValue> = p_values.iter().flatten().copied().collect();
    let mut found = vec![false; histories.len()];
    for (at, adjusted) in tested.iter().zip(benjamini_hochberg(&values)) {
        found[*at] = adjusted.value() <= level;
    }
    found
}

fn slices(histories: &[Vec<f64>], nights: usize) -> Vec<&[f64]> {
    histories.iter().map(|it| &it[..nights]).collect()
}

/// The shares of quiet suites with a finding by the newest three and one, and of suites whose slower history is found
/// on the third night, and suspected on the first and second.
struct Nights {
    quiet: [f64; 2],
    third: f64,
    first: f64,
    second: f64,
}

fn nights(
    (name, noise): (&str, HistoryNoise),
    [histories, earlier]: [usize; 2],
    factor: f64,
    suites: u32,
) -> Nights {
    let label = format!("newest {name} {histories} {earlier} {factor}");
    let [quiet, suspected, third, first, second] = average(&label, suites, |random| {
        let mut suite: Vec<Vec<f64>> = (0..histories)
            .map(|_| noise.history(random, earlier + 3))
            .collect();
        let any = |newest, level| {
            let quiet = found(&slices(&suite, earlier + 3), newest, level);
            count(quiet.contains(&true))
        };
        let quiet = [any(3, CONFIRMED), any(1, SUSPECTED)];
        for value in &mut suite[0][earlier..] {
            *value += factor.ln();
        }
        let slower = |nights: usize, level| {
            count(found(&slices(&suite, earlier + nights), nights, level)[0])
        };
        let [third, first, second] = [
            slower(3, CONFIRMED),
            slower(1, SUSPECTED),
            slower(2, SUSPECTED),
        ];
        [quiet[0], quiet[1], third, first, second]
    });
    Nights {
        quiet: [quiet, suspected],
        third,
        first,
        second,
    }
}

/// Returns the findings and suspicions a year of 50 histories that are tested each night; one with a finding is
/// silent for three nights.
fn a_year((name, noise): (&str, HistoryNoise), years: u32) -> [f64; 2] {
    const NIGHTS: usize = 365;
    const START: usize = 30;
    let label = format!("newest year {name}");
    let all = collect(&label, years, |random| {
        let suite: Vec<Vec<f64>> = (0..50)
            .map(|_| noise.history(random, START + NIGHTS))
            .collect();
        let alarms = |newest: usize, level: f64| {
            let mut alarms = 0.0;
            let mut quiet_until = vec![0; suite.len()];
            for night in START..START + NIGHTS {
                for (at, is_found) in found(&slices(&suite, night), newest, level)
                    .iter()
                    .enumerate()
                {
                    if *is_found && quiet_until[at] <= night {
                        alarms += 1.0;
                        quiet_until[at] = night + newest;
                    }
                }
            }
            alarms
        };
        [alarms(3, CONFIRMED), alarms(1, SUSPECTED)]
    });
    let number = lapwing_stats::as_f64(all.len());
    [0, 1].map(|at| all.iter().map(|it| it[at]).sum::<f64>() / number)
}

/// Two standard errors of a share in so many suites.
fn two_errors(share: f64, suites: u32) -> f64 {
    2.0 * (share * (1.0 - share) / f64::from(suites)).sqrt()
}

#[test]
fn a_history_twice_as_slow_is_found_in_its_third_run_and_quiet_ones_are_not() {
    const SUITES: u32 = 100;
    for (name, noise, goal) in NOISES {
        let few = nights((name, noise), [40, 30], 2.0, SUITES);
        assert!(few.quiet[0] <= 0.03, "{name}: {}", few.quiet[0]);
        let least = goal - 2.0 * two_errors(goal, SUITES);
        assert!(few.third >= least, "{name}: {}", few.third);
    }
}

#[test]
#[ignore = "takes minutes; its table stands in docs/calibration.md"]
fn table_of_newest_runs() {
    const SUITES: u32 = 400;
    let mut table = String::from(
        "| noise | quiet suites, newest 3 | newest 1 | 30 nights: 1.3× | 2× | 10× | 15 nights: 2× | 60 nights: 2× | 1 history: 2× | night 1: 2× | 10× | night 2: 2× | alarms a year | suspicions a year |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for (name, noise, goal) in NOISES {
        let of = |histories, earlier, factor| {
            nights((name, noise), [histories, earlier], factor, SUITES)
        };
        let [small, twice, ten] = [1.3, 2.0, 10.0].map(|factor| of(450, 30, factor));
        let [short, long] = [15, 60].map(|earlier| of(450, earlier, 2.0));
        let alone = of(1, 30, 2.0);
        let [alarms, suspicions] = a_year((name, noise), 100);
        let shares = [
            twice.quiet[0],
            twice.quiet[1],
            small.third,
            twice.third,
            ten.third,
            short.third,
            long.third,
            alone.third,
            twice.first,
            ten.first,
            twice.second,
        ];
        let shares = shares.map(|share| format!("{:.0} %", 100.0 * share));
        table.push_str(&format!(
            "| {name} | {} | {alarms:.1} | {suspicions:.1} |\n",
            shares.join(" | ")
        ));
        assert!(twice.quiet[0] <= 0.03, "{name}: {}", twice.quiet[0]);
        let least = goal - two_errors(goal, SUITES);
        assert!(twice.third >= least, "{name}: {}", twice.third);
        assert!(
            alarms <= 1.0 + 2.0 * (1.0_f64 / 100.0).sqrt(),
            "{name}: {alarms}"
        );
    }
    show(&table);
}
