//! Suites judged together: how many have a finding without any change, how many findings are false, and what is found:
//! exactly one change of many, two, a tenth, half.

use lapwing_stats::{
    Confidence, Interval, PValue, Replicates, Seed, VariancePrior, as_f64, benjamini_hochberg,
    family_tests, mean, standard_deviation,
};
use rand::RngExt;
use statrs::distribution::{ContinuousCDF, StudentsT};

use super::rounds::{average, collect, count, show};
use super::suite_noise::{Design, NEAR_MODES, NOISES, SuiteNoise, share, shifts, suite};

const RATE: f64 = 0.05;

/// A suite: so many benchmarks, of which the first ones are slower by a ratio.
#[derive(Debug, Clone, Copy)]
struct Case {
    design: Design,
    benchmarks: usize,
    changed: usize,
    ratio: f64,
}

/// The shares over suites: with any false finding, of false ones among findings, of changes that are found.
#[derive(Debug, Clone, Copy)]
struct Rates {
    any: f64,
    wrong: f64,
    found: f64,
}

/// Returns which members have an adjusted p-value of at most 5 %.
fn found(p_values: &[Option<f64>]) -> Vec<bool> {
    let tested: Vec<PValue> = p_values
        .iter()
        .flatten()
        .map(|p_value| PValue::new(*p_value).unwrap())
        .collect();
    let mut adjusted = benjamini_hochberg(&tested).into_iter();
    p_values
        .iter()
        .map(|p_value| p_value.is_some() && adjusted.next().unwrap().value() <= RATE)
        .collect()
}

fn family(members: &[Replicates], seed: Seed) -> Vec<Option<f64>> {
    let tests = family_tests(members, &[], seed).into_iter();
    tests.map(|test| Some(test?.p_value)).collect()
}

/// Returns the moderated t alone, which takes all noise for normal.
fn moderated(members: &[Replicates], _: Seed) -> Vec<Option<f64>> {
    let contrasts: Vec<[f64; 4]> = members.iter().map(contrast).collect();
    let variances: Vec<(f64, f64)> = contrasts.iter().map(|it| (it[1], it[2])).collect();
    let most = as_f64(members.len() - 1);
    let prior = VariancePrior::fit(&variances).map_or(VariancePrior::NONE, |it| it.at_most(most));
    let p_value = |[difference, variance, freedom, scale]: &[f64; 4]| {
        let t = StudentsT::new(0.0, 1.0, prior.moderated_freedom(*freedom)).unwrap();
        let error = (prior.moderate(*variance, *freedom) * scale).sqrt();
        (error > 0.0).then(|| 2.0 * t.sf((difference / error).abs()))
    };
    contrasts.iter().map(p_value).collect()
}

/// Returns difference, variance, degrees of freedom and scale.
fn contrast(member: &Replicates) -> [f64; 4] {
    let variance = |values: &[f64]| standard_deviation(values).unwrap().powi(2);
    match member {
        Replicates::Sides([one, other]) => [
            mean(other).unwrap() - mean(one).unwrap(),
            (variance(one) + variance(other)) / 2.0,
            as_f64(2 * one.len() - 2),
            2.0 / as_f64(one.len()),
        ],
        Replicates::Pairs(pairs) => [
            mean(pairs).unwrap(),
            variance(pairs),
            as_f64(pairs.len() - 1),
            1.0 / as_f64(pairs.len()),
        ],
    }
}

type Judge = fn(&[Replicates], Seed) -> Vec<Option<f64>>;

fn rates(name: &str, noise: SuiteNoise, case: Case, suites: u32, judge: Judge) -> Rates {
    let Case {
        design,
        benchmarks,
        changed,
        ratio,
    } = case;
    let label = format!("family {name} {benchmarks} {changed} {design:?} {ratio}");
    let [any, wrong, found] = average(&label, suites, |random| {
        let members = suite(noise, design, &shifts(benchmarks, changed, ratio), random);
        let found = found(&judge(&members, Seed(random.random())));
        let right = found[..changed].iter().filter(|it| **it).count();
        let wrong = found[changed..].iter().filter(|it| **it).count();
        [
            count(wrong > 0),
            share(wrong, wrong + right),
            share(right, changed),
        ]
    });
    Rates { any, wrong, found }
}

/// Two standard errors of a share in so many suites.
fn errors(goal: f64, suites: u32) -> f64 {
    2.0 * (goal * (1.0 - goal) / f64::from(suites)).sqrt()
}

/// Returns the largest accepted shares of A/A suites with a finding, and of false ones among findings.
fn limits(design: Design, benchmarks: usize) -> [f64; 2] {
    match design {
        // Three pairs have three relabellings: in suites of very different noises that is little to go by.
        Design::Pairs(3) if benchmarks >= 100 => [0.12, 0.08],
        Design::Pairs(3) => [0.10, 0.08],
        Design::Sides(3) => [0.08, 0.08],
        Design::Pairs(_) | Design::Sides(_) if benchmarks >= 1_000 => [0.08, 0.08],
        Design::Pairs(_) | Design::Sides(_) => [0.06, 0.06],
    }
}

#[test]
fn quiet_suites_have_no_more_findings_than_stated_whatever_the_noise() {
    const SUITES: u32 = 200;
    for design in [Design::Pairs(5), Design::Sides(3), Design::Sides(20)] {
        for benchmarks in [1, 4, 20] {
            for (name, noise) in design.noises() {
                let case = Case {
                    design,
                    benchmarks,
                    changed: 0,
                    ratio: 1.0,
                };
                let any = rates(name, noise, case, SUITES, family).any;
                let [limit, _] = limits(design, benchmarks);
                // Four standard errors: some of these cells are at their limit, and there are more than a hundred.
                assert!(
                    any < limit + 2.0 * errors(limit, SUITES),
                    "{case:?} {name}: {any}"
                );
            }
        }
    }
}

#[test]
fn exactly_one_change_of_many_is_found() {
    const SUITES: u32 = 100;
    for (design, benchmarks) in [
        (Design::Pairs(5), 10),
        (Design::Pairs(5), 100),
        (Design::Sides(3), 20),
        (Design::Sides(5), 2),
    ] {
        let case = Case {
            design,
            benchmarks,
            changed: 1,
            ratio: 2.0,
        };
        for (name, noise) in NOISES {
            let goal = match name {
                "normal 2 %" | "log-normal tail" => 0.97,
                "Pareto 2.5" | "spikes" => 0.9,
                _ => continue,
            };
            let rates = rates(name, noise, case, SUITES, family);
            let least = goal - 2.0 * errors(goal, SUITES);
            assert!(rates.found >= least, "{case:?} {name}: {}", rates.found);
            assert!(
                rates.wrong < 0.08 + 2.0 * errors(0.08, SUITES),
                "{case:?} {name}"
            );
        }
    }
}

#[test]
fn everything_changed_is_found_and_so_are_the_first_and_the_last() {
    let case = Case {
        design: Design::Pairs(5),
        benchmarks: 20,
        changed: 20,
        ratio: 1.1,
    };
    let rates = rates("normal 2 %", SuiteNoise::Normal(0.02), case, 100, family);
    assert!(rates.found > 0.99, "{}", rates.found);
    let outer = |random: &mut rand_xoshiro::Xoshiro256PlusPlus| {
        let mut shifts = vec![0.0; 20];
        (shifts[0], shifts[19]) = (2.0_f64.ln(), 0.5_f64.ln());
        let members = suite(SuiteNoise::Normal(0.02), Design::Sides(3), &shifts, random);
        let found = found(&family(&members, Seed(7)));
        count(found[0] && found[19])
    };
    let shares = collect("outer", 100, outer);
    assert!(mean(&shares).unwrap() > 0.97);
}

/// Returns the noises whose power is shown.
fn shown() -> impl Iterator<Item = (&'static str, SuiteNoise)> {
    let names = [
        "normal 2 %",
        "log-normal tail",
        "Pareto 2.5",
        "spikes",
        "modes 10/90",
        "modes 50/50",
        "0.3 to 20 %",
        "mixed",
    ];
    let of = |name: &'static str| NOISES.into_iter().find(|(it, _)| *it == name);
    names.into_iter().filter_map(of)
}

/// The goal for one change of ×2 with five instances per side.
fn goal_of_twice(name: &str, benchmarks: usize) -> Option<f64> {
    match (name, benchmarks) {
        ("normal 2 %", _) => Some(0.97),
        ("log-normal tail" | "modes 20 % apart", ..=100) => Some(0.97),
        ("Pareto 2.5" | "spikes", ..=100) => Some(0.9),
        ("spikes", _) => Some(0.8),
        ("mixed", ..=20) => Some(0.9),
        ("modes 10/90", ..=20) => Some(0.75),
        (_, _) => None,
    }
}

/// The goal for one change of ×1.3 with three instances per side, of ten benchmarks or more.
fn goal_of_a_third(name: &str, benchmarks: usize) -> Option<f64> {
    match (name, benchmarks) {
        ("normal 2 %", _) => Some(0.98),
        ("Pareto 2.5", _) => Some(0.92),
        ("spikes" | "log-normal tail", ..=100) => Some(0.8),
        ("spikes" | "log-normal tail", _) => Some(0.65),
        (_, _) => None,
    }
}

#[test]
#[ignore = "takes half an hour; its tables stand in docs/calibration.md"]
fn table_of_families() {
    let mut misses = Vec::new();
    let mut check = |holds: bool, text: String| {
        if !holds {
            misses.push(text);
        }
    };
    let mut quiet = String::from(
        "| design | benchmarks | A/A suites with a finding, worst noises | median noise | false findings, worst of one changed | two | a tenth | half |\n|---|--:|---|--:|---|--:|--:|--:|\n",
    );
    let heads: Vec<&str> = shown().map(|(name, _)| name).collect();
    let mut power = format!(
        "| design | benchmarks | ratio | {} |\n|---|--:|--:|{}\n",
        heads.join(" | "),
        "--:|".repeat(heads.len())
    );
    for instances in [3, 4, 5, 8, 20] {
        for design in [Design::Sides(instances), Design::Pairs(instances)] {
            for benchmarks in [1, 2, 4, 10, 20, 100, 1_000] {
                if benchmarks == 1_000 && !matches!(instances, 3 | 5) {
                    continue;
                }
                let [suites, powered] = match benchmarks {
                    0..=20 => [1_500, 400],
                    21..=100 => [300, 100],
                    _ => [100, 100],
                };
                let noises: Vec<(&str, SuiteNoise)> = match benchmarks {
                    1_000 => shown().collect(),
                    _ => design.noises().collect(),
                };
                let [limit, wrong_limit] = limits(design, benchmarks);
                let mut any: Vec<(f64, &str)> = noises
                    .iter()
                    .map(|(name, noise)| {
                        let case = Case {
                            design,
                            benchmarks,
                            changed: 0,
                            ratio: 1.0,
                        };
                        (rates(name, *noise, case, suites, family).any, *name)
                    })
                    .collect();
                any.sort_by(|(one, _), (other, _)| other.total_cmp(one));
                check(
                    any[0].0 <= limit + errors(limit, suites),
                    format!("A/A {design:?} {benchmarks}: {:?}", any[0]),
                );
                let mut wrong = Vec::new();
                for changed in [1, 2, benchmarks.div_ceil(10), benchmarks / 2] {
                    let is_other = changed == 1 || changed > 1 && changed < benchmarks;
                    if !is_other || benchmarks == 1_000 && changed > 1 {
                        wrong.push(None);
                        continue;
                    }
                    let mut worst = (0.0, "");
                    for ratio in [1.1, 1.3, 2.0] {
                        for (name, noise) in &noises {
                            let case = Case {
                                design,
                                benchmarks,
                                changed,
                                ratio,
                            };
                            let rates = rates(name, *noise, case, powered, family);
                            if rates.wrong > worst.0 {
                                worst = (rates.wrong, *name);
                            }
                        }
                    }
                    check(
                        worst.0 <= wrong_limit + errors(wrong_limit, powered),
                        format!("false {design:?} {benchmarks} changed {changed}: {worst:?}"),
                    );
                    wrong.push(Some(worst));
                }
                let worst: Vec<String> = any[..3]
                    .iter()
                    .map(|(any, name)| format!("{any:.3} {name}"))
                    .collect();
                let wrong: Vec<String> = wrong
                    .iter()
                    .map(|it| it.map_or("–".to_owned(), |(wrong, _)| format!("{wrong:.3}")))
                    .collect();
                quiet.push_str(&format!(
                    "| {} | {benchmarks} | {} | {:.3} | {} |\n",
                    design.text(),
                    worst.join(", "),
                    any[any.len() / 2].0,
                    wrong.join(" | ")
                ));
                for percent in [105, 110, 130, 200, 1_000] {
                    let ratio = f64::from(percent) / 100.0;
                    let mut cells = Vec::new();
                    let near = [("modes 20 % apart", NEAR_MODES)];
                    for (name, noise) in shown().chain(near) {
                        let case = Case {
                            design,
                            benchmarks,
                            changed: 1,
                            ratio,
                        };
                        let rates = rates(name, noise, case, powered, family);
                        let is_twice = percent == 200 && instances == 5;
                        let is_third =
                            percent == 130 && design == Design::Sides(3) && benchmarks >= 10;
                        let goal = match (is_twice, is_third) {
                            (true, _) => goal_of_twice(name, benchmarks),
                            (_, true) => goal_of_a_third(name, benchmarks),
                            (false, false) => None,
                        };
                        if let Some(goal) = goal {
                            check(
                                rates.found >= goal - errors(goal, powered),
                                format!("×{ratio} {design:?} {benchmarks} {name}: {}", rates.found),
                            );
                        }
                        if percent == 110 && instances == 5 && benchmarks == 20 {
                            let oracle = self::rates(name, noise, case, powered, moderated).found;
                            check(
                                rates.found >= oracle - 0.1 - errors(0.5, powered),
                                format!("×1.1 {design:?} {name}: {} of {oracle}", rates.found),
                            );
                        }
                        if name != "modes 20 % apart" {
                            cells.push(format!("{:.2}", rates.found));
                        }
                    }
                    power.push_str(&format!(
                        "| {} | {benchmarks} | {ratio} | {} |\n",
                        design.text(),
                        cells.join(" | ")
                    ));
                }
            }
        }
    }
    show(&quiet);
    show(&power);
    assert!(misses.is_empty(), "{misses:#?}");
}

/// Returns the share of intervals that cover the truth, and their median width as a share of the own t's, without any
/// change.
fn intervals(name: &str, noise: SuiteNoise, design: Design, suites: u32) -> [f64; 2] {
    let label = format!("intervals {name} {design:?}");
    average(&label, suites, |random| {
        let members = suite(noise, design, &[0.0; 20], random);
        let tests = family_tests(&members, &[], Seed(7));
        let pairs = members.iter().zip(tests).filter_map(|(member, test)| {
            let (interval, _) = test?.interval(Confidence::P95)?;
            let own = family_tests(std::slice::from_ref(member), &[], Seed(7))[0]?;
            let (own, _) = own.interval(Confidence::P95)?;
            let width = |it: Interval| it.upper - it.lower;
            Some((count(interval.contains(0.0)), width(interval), width(own)))
        });
        let pairs: Vec<(f64, f64, f64)> = pairs.collect();
        if pairs.is_empty() {
            return [1.0, 1.0];
        }
        let median = |values: Vec<f64>| lapwing_stats::median(&values).unwrap();
        let widths = median(pairs.iter().map(|it| it.1).collect());
        let own = median(pairs.iter().map(|it| it.2).collect());
        let covered: Vec<f64> = pairs.iter().map(|it| it.0).collect();
        [mean(&covered).unwrap(), widths / own]
    })
}

#[test]
fn intervals_of_families_cover_the_truth_and_are_narrower() {
    for (name, noise) in shown() {
        for design in [Design::Pairs(5), Design::Sides(3)] {
            let [covered, width] = intervals(name, noise, design, 100);
            assert!(covered > 0.93, "{name} {design:?}: {covered}");
            assert!(width < 0.95, "{name} {design:?}: {width}");
        }
    }
}

#[test]
#[ignore = "its table stands in docs/calibration.md"]
fn table_of_intervals_of_families() {
    let mut table = String::from(
        "| design | coverage, all noises | width as a share of the own t's |\n|---|--:|--:|\n",
    );
    for design in [
        Design::Sides(3),
        Design::Pairs(3),
        Design::Sides(5),
        Design::Pairs(5),
        Design::Sides(20),
    ] {
        let all: Vec<[f64; 2]> = design
            .noises()
            .map(|(name, noise)| intervals(name, noise, design, 400))
            .collect();
        let range = |at: usize| {
            let values = || all.iter().map(|it| it[at]);
            [
                values().fold(f64::INFINITY, f64::min),
                values().fold(0.0, f64::max),
            ]
        };
        let [[least, most], [narrowest, widest]] = [range(0), range(1)];
        table.push_str(&format!(
            "| {} | {least:.3}–{most:.3} | {narrowest:.2}–{widest:.2} |\n",
            design.text()
        ));
        assert!(least >= 0.93, "{design:?}: {least}");
        if matches!(design, Design::Sides(3) | Design::Pairs(3 | 5)) {
            assert!(widest <= 0.95, "{design:?}: {widest}");
        }
    }
    show(&table);
}

/// A single comparison with earlier sessions of the same benchmark; `day` is how noisy today is compared with them.
/// Returns the shares found without the history, and with it.
fn alone(
    noise: SuiteNoise,
    design: Design,
    sessions: usize,
    ratio: f64,
    day: f64,
    rounds: u32,
) -> [f64; 2] {
    let label = format!("alone {noise:?} {design:?} {sessions} {ratio} {day}");
    average(&label, rounds, |random| {
        let history = suite(noise, design, &vec![0.0; sessions], random);
        let today = suite(noise, design, &[0.0], random).remove(0);
        let scaled = |values: &[f64], shift: f64| -> Vec<f64> {
            values.iter().map(|value| day * value + shift).collect()
        };
        let today = match &today {
            Replicates::Sides([one, other]) => {
                Replicates::Sides([scaled(one, 0.0), scaled(other, ratio.ln())])
            }
            Replicates::Pairs(pairs) => Replicates::Pairs(scaled(pairs, ratio.ln())),
        };
        let today = std::slice::from_ref(&today);
        [&[][..], &history].map(|history| {
            let test = family_tests(today, history, Seed(7))[0];
            count(test.is_some_and(|it| it.p_value <= RATE))
        })
    })
}

#[test]
fn earlier_sessions_help_a_single_comparison() {
    let quiet = SuiteNoise::Normal(0.02);
    let [own, with] = alone(quiet, Design::Pairs(3), 10, 1.1, 1.0, 400);
    assert!(own > 0.7 && with > 0.88, "{own} {with}");
    let [own, with] = alone(quiet, Design::Pairs(5), 10, 1.0, 1.0, 1_000);
    assert!(own < 0.075 && with < 0.075, "{own} {with}");
}

#[test]
#[ignore = "its table stands in docs/calibration.md"]
fn table_of_single_comparisons() {
    const ROUNDS: u32 = 4_000;
    let quiet = SuiteNoise::Normal(0.02);
    let mut table = String::from(
        "| design | ratio found in 80 %: alone | with ten sessions | A/A alone, worst noise | with ten sessions | today twice as noisy | four times |\n|---|--:|--:|--:|--:|--:|--:|\n",
    );
    for design in [
        Design::Sides(3),
        Design::Pairs(3),
        Design::Sides(5),
        Design::Pairs(5),
    ] {
        let smallest = |which: usize| {
            let (mut missed, mut found) = (1.0, 1.3);
            while found - missed > 0.0005 {
                let middle = f64::midpoint(missed, found);
                if alone(quiet, design, 10, middle, 1.0, ROUNDS)[which] >= 0.8 {
                    found = middle;
                } else {
                    missed = middle;
                }
            }
            found
        };
        let worst = |day: f64, which: usize| {
            let all = design
                .noises()
                .filter(|(_, noise)| *noise != SuiteNoise::Mixed);
            let any = all.map(|(_, noise)| alone(noise, design, 10, 1.0, day, 1_500)[which]);
            any.fold(0.0, f64::max)
        };
        let [without, with] = [smallest(0), smallest(1)];
        let alarms = [worst(1.0, 0), worst(1.0, 1), worst(2.0, 1), worst(4.0, 1)];
        table.push_str(&format!(
            "| {} | {without:.4} | {with:.4} | {} |\n",
            design.text(),
            alarms.map(|it| format!("{it:.3}")).join(" | ")
        ));
        match design {
            Design::Sides(5) => assert!(without <= 1.045 && with <= 1.045, "{table}"),
            Design::Pairs(5) => assert!(without <= 1.0505 && with <= 1.045, "{table}"),
            Design::Sides(_) | Design::Pairs(_) => {}
        }
    }
    show(&table);
}

/// Returns, of pilots with five instances per side (cv 2 %) that are undecided, the share that is decided after
/// measuring the stated number afresh, the share of pilots without a number, and the median number.
fn conclusive(design: Design, ratio: f64, smallest_effect: Option<f64>, rounds: u32) -> [f64; 3] {
    use lapwing_stats::{NeededReplicates, VerdictRule};
    let rule = VerdictRule {
        border: smallest_effect.unwrap_or(0.0).ln_1p(),
        band: smallest_effect.unwrap_or(0.03).ln_1p(),
        level: RATE,
        confidence: Confidence::P95,
    };
    let decided = |members: &[Replicates]| {
        let test = family_tests(members, &[], Seed(7))[0].unwrap();
        let (interval, _) = test.interval(Confidence::P95).unwrap();
        let moved = [members[0].beyond(rule.border)];
        let p_value = family_tests(&moved, &[], Seed(7))[0].map_or(1.0, |it| it.p_value);
        let is_within = interval.lower.abs().max(interval.upper.abs()) <= rule.band;
        (test, p_value <= RATE || is_within)
    };
    let label = format!("conclusive {design:?} {ratio} {smallest_effect:?}");
    let quiet = SuiteNoise::Normal(0.02);
    let outcomes = collect(
        &label,
        rounds,
        |random: &mut rand_xoshiro::Xoshiro256PlusPlus| {
            let pilot = suite(quiet, design, &[ratio.ln()], random);
            let (test, is_decided) = decided(&pilot);
            if is_decided {
                return None;
            }
            let NeededReplicates::About(number) = test.replicates_for_verdict(&rule) else {
                return Some(None);
            };
            let afresh = match design {
                Design::Sides(_) => Design::Sides(number),
                Design::Pairs(_) => Design::Pairs(number),
            };
            let again = suite(quiet, afresh, &[ratio.ln()], random);
            Some(Some((count(decided(&again).1), as_f64(number))))
        },
    );
    let undecided: Vec<Option<(f64, f64)>> = outcomes.into_iter().flatten().collect();
    let measured: Vec<(f64, f64)> = undecided.iter().flatten().copied().collect();
    let numbers: Vec<f64> = measured.iter().map(|it| it.1).collect();
    [
        mean(&measured.iter().map(|it| it.0).collect::<Vec<_>>()).unwrap_or(f64::NAN),
        1.0 - share(measured.len(), undecided.len()),
        lapwing_stats::median(&numbers).unwrap_or(f64::NAN),
    ]
}

#[test]
fn the_stated_number_of_instances_gives_a_verdict() {
    for design in [Design::Sides(5), Design::Pairs(5)] {
        for ratio in [1.0, 1.02, 1.03, 1.05] {
            let [decided, ..] = conclusive(design, ratio, None, 400);
            assert!(decided > 0.75, "{design:?} {ratio}: {decided}");
        }
    }
}

#[test]
#[ignore = "its table stands in docs/calibration.md"]
fn table_of_needed_instances() {
    let mut table = String::from(
        "| design | smallest effect | true ratio | decided after the stated number | no number | median number |\n|---|---|--:|--:|--:|--:|\n",
    );
    for design in [Design::Sides(5), Design::Pairs(5)] {
        for effect in [None, Some(0.03)] {
            for ratio in [1.0, 1.01, 1.02, 1.03, 1.05] {
                let [decided, without, number] = conclusive(design, ratio, effect, 2_000);
                let effect = effect.map_or("–", |_| "3 %");
                table.push_str(&format!(
                    "| {} | {effect} | {ratio} | {decided:.2} | {without:.2} | {number} |\n",
                    design.text()
                ));
            }
        }
    }
    show(&table);
}
