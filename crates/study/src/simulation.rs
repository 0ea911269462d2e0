//! The shares of false and of missing findings, by simulation (docs/calibration.md).

use lapwing_model::{Level, Metric};
use lapwing_stats::design::{best_fraction, fold_over, plackett_burman, run_of_set};
use lapwing_stats::{Seed, as_f64};

use crate::data::{StudyData, StudyInstance};
use crate::design::tests::treatments;
use crate::design::{DesignKind, DesignRequest, StudyDesign, StudyModel, StudyPower};
use crate::factor::{StudyFactor, Treatment};
use crate::finding::{PairPattern, StudyFinding, findings};
use crate::scale::{StudyMetric, StudyScale};

/// The sentences of simulated studies, and what they should have said.
#[derive(Debug, Default)]
struct SentenceCounts {
    studies: usize,
    studies_with_false: usize,
    sentences: usize,
    false_sentences: usize,
    /// Averages over all combinations that are at least twice the noise of an instance, and those of them that were
    /// stated.
    clear_effects: usize,
    clear_found: usize,
    /// Intervals of stated effects, and those that contain the truth.
    intervals: usize,
    covering: usize,
}

/// Settings as sets, `replicates` of each.
struct SimulatedDesign {
    name: &'static str,
    factors: usize,
    settings: Vec<u128>,
    replicates: usize,
}

fn designs() -> Vec<SimulatedDesign> {
    let design = |name, factors, settings, replicates| SimulatedDesign {
        name,
        factors,
        settings,
        replicates,
    };
    let fraction = |factors, basic| best_fraction(factors, basic).unwrap().runs();
    let screening = plackett_burman(12).unwrap().into_iter();
    let screening: Vec<u128> = screening.map(|set| set & ((1 << 9) - 1)).collect();
    vec![
        design("full 2⁶", 6, (0..64).collect(), 1),
        design("2⁸⁻² × 1", 8, fraction(8, 6), 1),
        design("2⁸⁻² × 2", 8, fraction(8, 6), 2),
        design("2¹⁰⁻⁴ × 1", 10, fraction(10, 6), 1),
        design("2⁷⁻³ × 2", 7, fraction(7, 4), 2),
        design("2¹⁰⁻⁶ × 2", 10, fraction(10, 4), 2),
        design("2¹⁰⁻⁶ × 1", 10, fraction(10, 4), 1),
        design("Plackett–Burman of 9 × 2", 9, screening.clone(), 2),
        design("the same, folded over", 9, fold_over(&screening, 9), 1),
    ]
}

/// The truth of a study: the cost of every set.
struct SimulatedTruth {
    costs: Vec<f64>,
}

impl SimulatedTruth {
    /// Factors with effects of 3 to 40 %, pairs, and in some studies two factors of which either removes the same cost;
    /// effects multiply or add.
    fn new(seed: Seed, factors: usize, has_effects: bool) -> Self {
        let uniform = |part: &str| uniform(seed, part);
        let size = |part: &str| {
            let size = 0.03 * (40.0_f64 / 3.0).powf(uniform(&format!("{part} size")));
            if uniform(&format!("{part} sign")) < 0.6 {
                -size
            } else {
                size
            }
        };
        let is_product = uniform("scale") < 0.5;
        let single: Vec<f64> = (0..factors)
            .map(|at| {
                let name = format!("factor {at}");
                let has = has_effects && uniform(&name) < 0.4;
                if has { size(&name) } else { 0.0 }
            })
            .collect();
        let active: Vec<usize> = (0..factors).filter(|at| single[*at] != 0.0).collect();
        let mut pairs = Vec::new();
        for (place, one) in active.iter().enumerate() {
            for other in &active[place + 1..] {
                let name = format!("pair {one} {other}");
                if uniform(&name) < 0.25 {
                    pairs.push((1_u128 << one | 1 << other, size(&name)));
                }
            }
        }
        let either = has_effects && uniform("either") < 0.3;
        let removed = [0.5, 0.3].map(|least| least + 0.4 * uniform(&format!("removed {least}")));
        let cost = |set: u128| {
            let has = |at: usize| set >> at & 1 == 1;
            let mut sum: f64 = (0..factors)
                .filter(|at| has(*at))
                .map(|at| single[at])
                .sum();
            let both = pairs.iter().filter(|(own, _)| set & own == *own);
            sum += both.map(|(_, size)| size).sum::<f64>();
            let shared = [0, 1].map(|at| if has(at) { 1.0 - removed[at] } else { 1.0 });
            let core = if either {
                0.4 + 0.6 * shared[0] * shared[1]
            } else {
                1.0
            };
            if is_product {
                core * sum.exp()
            } else {
                (core + sum).max(0.05)
            }
        };
        Self {
            costs: (0..1_u128 << factors).map(cost).collect(),
        }
    }

    fn value(&self, scale: StudyScale, set: u128) -> f64 {
        scale.of(self.costs[usize::try_from(set).unwrap()])
    }

    /// Returns the effect of a treatment, averaged over all sets with these treatments and without those.
    fn effect(&self, scale: StudyScale, treatment: usize, with: u128, without: u128) -> f64 {
        let own = 1_u128 << treatment;
        let sets = (0..u128::try_from(self.costs.len()).unwrap())
            .filter(|set| set & own == 0 && set & with == with && set & without == 0);
        let changes: Vec<f64> = sets
            .map(|set| self.value(scale, set | own) - self.value(scale, set))
            .collect();
        changes.iter().sum::<f64>() / as_f64(changes.len())
    }

    fn interaction(&self, scale: StudyScale, one: usize, other: usize) -> f64 {
        self.effect(scale, one, 1 << other, 0) - self.effect(scale, one, 0, 1 << other)
    }
}

fn uniform(seed: Seed, part: &str) -> f64 {
    (as_f64(seed.split(part).0 >> 11) + 0.5) / as_f64(1_u64 << 53)
}

/// A standard normal number of a seed (Box & Muller).
pub fn normal(seed: Seed) -> f64 {
    (-2.0 * uniform(seed, "radius").ln()).sqrt()
        * (std::f64::consts::TAU * uniform(seed, "angle")).cos()
}

fn study(design: &SimulatedDesign, truth: &SimulatedTruth, noise: f64, seed: Seed) -> StudyData {
    let factors: Vec<StudyFactor> = (0..design.factors)
        .map(|at| StudyFactor::new(format!("f{at}"), vec![Level::Bool(true)]))
        .collect();
    let mut instances = Vec::new();
    for replicate in 0..design.replicates {
        // In random order.
        let mut settings = design.settings.clone();
        settings.sort_by_key(|set| seed.split(&format!("order {replicate} {set}")).0);
        for set in settings {
            let error = noise * normal(seed.split(&format!("{replicate} {set}")));
            instances.push(StudyInstance {
                set,
                levels: run_of_set(set, design.factors),
                cost: truth.value(StudyScale::Time, set) * error.exp(),
                iterations: 1,
                time: 60.0 * as_f64(instances.len()),
                session: 0,
            });
        }
    }
    StudyData {
        suite: "s".to_owned(),
        benchmark: "b".to_owned(),
        metric: StudyMetric::new("wall_time", &Metric::lower("s")),
        treatments: (0..design.factors)
            .map(|factor| Treatment {
                factor,
                level: 1,
                name: format!("f{factor}"),
            })
            .collect(),
        factors,
        instances,
        failed: Vec::new(),
        notes: Vec::new(),
    }
}

/// Returns whether a change is what was said: the same direction, and at least a tenth of the size.
fn is_so(said: f64, truth: f64) -> bool {
    said.signum() == truth.signum() && truth.abs() >= 0.1 * said.abs()
}

/// Returns whether a finding is true; `None` if it claims nothing.
fn is_true(finding: &StudyFinding, truth: &SimulatedTruth, scale: StudyScale) -> Option<bool> {
    let is_any = |aliases: &[Vec<usize>], said: f64| {
        aliases.iter().any(|alias| {
            let size = match alias[..] {
                [one] => truth.effect(scale, one, 0, 0),
                [one, other] => truth.interaction(scale, one, other),
                _ => 0.0,
            };
            size.abs() >= 0.1 * said.abs()
        })
    };
    match finding {
        StudyFinding::Effect(own) => {
            let said = own.effect.change;
            let real = truth.effect(scale, own.treatment, 0, 0);
            Some(is_so(said, real) || is_any(&own.aliases, said))
        }
        StudyFinding::Pair(pair) => {
            let (one, other) = (pair.first.treatment, pair.first.other);
            let real = truth.interaction(scale, one, other);
            let by = 1_u128 << other;
            Some(match pair.pattern {
                PairPattern::NotTold => {
                    is_any(&pair.aliases, pair.beyond) || real.abs() >= 0.1 * pair.beyond.abs()
                }
                PairPattern::ChangesSign => {
                    is_so(pair.first.without.change, truth.effect(scale, one, 0, by))
                        && is_so(pair.first.with.change, truth.effect(scale, one, by, 0))
                }
                PairPattern::EitherOr(_) => {
                    let back = 1_u128 << one;
                    is_so(pair.beyond, real)
                        && truth.effect(scale, one, 0, by) < 0.0
                        && truth.effect(scale, other, 0, back) < 0.0
                }
                PairPattern::Depends => is_so(pair.beyond, real),
            })
        }
        StudyFinding::Level(level) => {
            let own = 1_u128 << level.treatment;
            let sets = (0..u128::try_from(truth.costs.len()).unwrap()).filter(|set| set & own == 0);
            let mut points: Vec<(f64, f64)> = sets
                .map(|set| {
                    let before = truth.value(scale, set);
                    (before, truth.value(scale, set | own) - before)
                })
                .collect();
            points.sort_by(|one, other| one.0.total_cmp(&other.0));
            let third = points.len() / 3;
            let mean = |part: &[(f64, f64)]| {
                part.iter().map(|point| point.1).sum::<f64>() / as_f64(part.len())
            };
            let [low, high] = [
                mean(&points[..third]),
                mean(&points[points.len() - third..]),
            ];
            Some(is_so(level.high.1.change - level.low.1.change, high - low))
        }
        StudyFinding::Setting(own) if !own.is_told => None,
        StudyFinding::Setting(own) => Some(is_so(
            own.beside_base.change,
            truth.value(scale, own.set) - truth.value(scale, 0),
        )),
        // There is no drift and no wave.
        StudyFinding::Beside(_) => Some(false),
        StudyFinding::Undecided(_) | StudyFinding::Next(_) => None,
    }
}

fn simulate(design: &SimulatedDesign, studies: usize, has_effects: bool) -> SentenceCounts {
    let mut counts = SentenceCounts::default();
    for number in 0..studies {
        let seed = Seed(42).split(&format!("{} {number}", design.name));
        let truth = SimulatedTruth::new(seed, design.factors, has_effects);
        let noise = 0.02 + 0.08 * uniform(seed, "noise");
        let data = study(design, &truth, noise, seed);
        let found = findings(&data, None);
        let mut wrong = 0;
        for finding in &found.findings {
            if let Some(is_right) = is_true(finding, &truth, found.scale) {
                counts.sentences += 1;
                wrong += usize::from(!is_right);
            }
            if let StudyFinding::Effect(own) = finding
                && own.aliases.is_empty()
                && let Some(interval) = own.effect.interval
            {
                let real = truth.effect(found.scale, own.treatment, 0, 0);
                counts.intervals += 1;
                counts.covering += usize::from(interval.contains(real));
            }
        }
        for treatment in 0..design.factors {
            let real = truth.effect(StudyScale::Log, treatment, 0, 0);
            if real.abs() >= 2.0 * noise {
                let is_said = |it: &StudyFinding| matches!(it, StudyFinding::Effect(own) if own.treatment == treatment);
                counts.clear_effects += 1;
                counts.clear_found += usize::from(found.findings.iter().any(is_said));
            }
        }
        counts.studies += 1;
        counts.studies_with_false += usize::from(wrong > 0);
        counts.false_sentences += wrong;
    }
    counts
}

#[test]
fn few_sentences_of_small_studies_are_false_and_few_studies_without_effects_say_anything() {
    for design in designs() {
        let nothing = simulate(&design, 30, false);
        assert!(
            nothing.studies_with_false <= 6,
            "{}: {nothing:?}",
            design.name
        );
        let counts = simulate(&design, 20, true);
        assert!(
            counts.false_sentences * 10 <= counts.sentences,
            "{}: {counts:?}",
            design.name
        );
        assert!(counts.sentences > 20, "{}: {counts:?}", design.name);
    }
}

#[test]
#[ignore = "a simulation: a minute in release"]
fn table_of_sentences_of_studies() {
    println!(
        "| design | without effects: studies with any sentence | with effects: false sentences | studies with one | \
         effects ≥ 2 × noise found | intervals that cover |"
    );
    for design in designs() {
        let nothing = simulate(&design, 2_000, false);
        let counts = simulate(&design, 1_000, true);
        let share = |part: usize, all: usize| as_f64(part) / as_f64(all.max(1));
        println!(
            "| {} | {:.3} | {:.3} of {} | {:.3} | {:.3} | {:.3} |",
            design.name,
            share(nothing.studies_with_false, nothing.studies),
            share(counts.false_sentences, counts.sentences),
            counts.sentences,
            share(counts.studies_with_false, counts.studies),
            share(counts.clear_found, counts.clear_effects),
            share(counts.covering, counts.intervals),
        );
    }
}

/// How often the effects that a design promises to find in 80 % are found: one of a factor, and one of a pair, each alone.
fn found_of_promised(name: &str, design: &StudyDesign, studies: usize) -> [Option<f64>; 2] {
    const NOISE: f64 = 0.05;
    let runs = design.runs().unwrap();
    let power = StudyPower::new(&design.factors, &runs, design.replicates, NOISE).unwrap();
    let settings = runs.iter().map(|run| {
        let present = run.iter().enumerate().filter(|(_, level)| **level == 1);
        present.fold(0, |set, (at, _)| set | 1_u128 << at)
    });
    let simulated = SimulatedDesign {
        name: "promised",
        factors: design.factors.len(),
        settings: settings.collect(),
        replicates: usize::try_from(design.replicates).unwrap(),
    };
    let share = |is_pair: bool, effect: f64| {
        let found = (0..studies).filter(|number| {
            let seed = Seed(43).split(&format!("{name} {is_pair} {number}"));
            let sign = |set: u128, at: usize| if set >> at & 1 == 1 { 1.0 } else { -1.0 };
            let cost = |set: u128| -> f64 {
                let size = effect.ln_1p();
                if is_pair {
                    (0.25 * size * sign(set, 0) * sign(set, 1)).exp()
                } else {
                    (0.5 * size * sign(set, 0)).exp()
                }
            };
            let truth = SimulatedTruth {
                costs: (0..1_u128 << simulated.factors).map(cost).collect(),
            };
            let data = study(&simulated, &truth, NOISE, seed);
            let wanted: &[usize] = if is_pair { &[0, 1] } else { &[0] };
            findings(&data, None).findings.iter().any(|own| {
                let mut treatments = own.treatments();
                treatments.sort_unstable();
                let is_kind = match own {
                    StudyFinding::Effect(_) => !is_pair,
                    StudyFinding::Pair(_) => is_pair,
                    _ => false,
                };
                is_kind && treatments == wanted
            })
        });
        as_f64(found.count()) / as_f64(studies)
    };
    [
        Some(share(false, power.main)),
        power.pair.map(|effect| share(true, effect)),
    ]
}

fn promising() -> Vec<(&'static str, StudyDesign)> {
    let design = |factors: &str, request: DesignRequest| {
        StudyDesign::new(("s", "lapwing.toml"), treatments(factors), &request).unwrap()
    };
    let request = |kind, model, runs, replicates| DesignRequest {
        kind: Some(kind),
        model,
        runs,
        replicates,
        seed: 3,
        ..DesignRequest::default()
    };
    let (pairs, main) = (StudyModel::Pairs, StudyModel::Main);
    let eight = "a b c d e f g h";
    vec![
        (
            "2⁸⁻² × 1",
            design(eight, request(DesignKind::Fractional, pairs, Some(64), 1)),
        ),
        (
            "2⁸⁻² × 2",
            design(eight, request(DesignKind::Fractional, pairs, Some(64), 2)),
        ),
        (
            "full 2⁶",
            design("a b c d e f", request(DesignKind::Full, pairs, None, 1)),
        ),
        (
            "Plackett–Burman of 11 × 2",
            design(
                "a b c d e f g h i j k",
                request(DesignKind::PlackettBurman, main, None, 2),
            ),
        ),
        (
            "D-optimal 24 × 1",
            design(eight, request(DesignKind::Optimal, main, Some(24), 1)),
        ),
        (
            "D-optimal 24 × 1 of 5, pairs",
            design(
                "a b c d e",
                request(DesignKind::Optimal, pairs, Some(24), 1),
            ),
        ),
    ]
}

#[test]
fn a_design_finds_what_it_promises() {
    for (name, design) in promising() {
        for share in found_of_promised(name, &design, 60).into_iter().flatten() {
            assert!((0.6..=0.97).contains(&share), "{name}: {share}");
        }
    }
}

#[test]
#[ignore = "a simulation: seconds in release"]
fn table_of_promised_power() {
    println!("| design | effect of a factor found | of a pair |");
    for (name, design) in promising() {
        let [main, pair] = found_of_promised(name, &design, 1_000);
        let text = |share: Option<f64>| share.map_or("–".to_owned(), |it| format!("{it:.3}"));
        println!("| {name} | {} | {} |", text(main), text(pair));
    }
}

/// Thirty factors of which twelve have an effect, 15,000 instances in walks from the base and at random: one cost that
/// either of two factors and a third one in part remove, one factor whose effect changes its sign at a value, and a
/// wave in each day.
struct LargeStudy {
    data: StudyData,
    crossing: f64,
}

const LARGE_ACTIVE: [usize; 12] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];

fn large_cost(levels: &[usize]) -> f64 {
    let has = |at: usize| levels[at] == 1;
    let shares = [0.1, 0.25, 0.7];
    let shared: f64 = (0..3)
        .map(|at| if has(at) { shares[at] } else { 1.0 })
        .product();
    let mut cost = 4.0 + 7.0 * shared;
    for (at, factor) in [0.75, 0.8, 1.05, 0.92, 1.12, 0.97, 1.2].iter().enumerate() {
        if has(3 + at) {
            cost *= factor;
        }
    }
    if has(10) {
        cost *= if has(3) { 1.0 } else { 1.1 };
    }
    // Helps slow settings, and hurts fast ones.
    if has(11) {
        5.0 * (cost / 5.0).powf(0.8)
    } else {
        cost
    }
}

fn large_study(seed: Seed) -> LargeStudy {
    const FACTORS: usize = 30;
    const INSTANCES: usize = 15_000;
    let factors: Vec<StudyFactor> = (0..FACTORS)
        .map(|at| StudyFactor::new(format!("f{at}"), vec![Level::Bool(true)]))
        .collect();
    let mut settings: Vec<Vec<usize>> = Vec::new();
    while settings.len() < INSTANCES {
        let own = seed.split(&format!("setting {}", settings.len()));
        if uniform(own, "kind") < 0.05 {
            // A walk that adds the factors in random order.
            let mut order: Vec<usize> = (0..FACTORS).collect();
            order.sort_by_key(|at| own.split(&format!("order {at}")).0);
            let mut levels = vec![0; FACTORS];
            for at in order {
                levels[at] = 1;
                settings.push(levels.clone());
            }
        } else {
            let share = [0.2, 0.5, 0.8][usize::try_from(own.split("share").0 % 3).unwrap()];
            let level = |at: usize| usize::from(uniform(own, &format!("level {at}")) < share);
            settings.push((0..FACTORS).map(level).collect());
        }
    }
    settings.truncate(INSTANCES);
    let order = |at: usize| seed.split(&format!("place {at}")).0;
    let mut places: Vec<usize> = (0..INSTANCES).collect();
    places.sort_by_key(|at| order(*at));
    let instances = places.into_iter().enumerate().map(|(number, place)| {
        let levels = settings[place].clone();
        let time = 500.0 * as_f64(number);
        let wave = 1.0 + 0.08 * (std::f64::consts::TAU * time / 86_400.0 - 2.0).cos();
        let error = 0.06 * normal(seed.split(&format!("noise {number}")));
        StudyInstance {
            set: (levels.iter().enumerate())
                .fold(0, |set, (at, level)| set | (*level as u128) << at),
            cost: large_cost(&levels) * wave * error.exp(),
            levels,
            iterations: 1,
            time,
            session: 0,
        }
    });
    LargeStudy {
        data: StudyData {
            suite: "s".to_owned(),
            benchmark: "b".to_owned(),
            metric: StudyMetric::new("wall_time", &Metric::lower("s")),
            treatments: (0..FACTORS)
                .map(|factor| Treatment {
                    factor,
                    level: 1,
                    name: format!("f{factor}"),
                })
                .collect(),
            instances: instances.collect(),
            factors,
            failed: Vec::new(),
            notes: Vec::new(),
        },
        crossing: 5.0_f64.ln(),
    }
}

#[test]
#[ignore = "a simulation: a minute in release"]
fn table_of_large_studies() {
    println!(
        "| study | factors stated of 12 | either-ors of 3 | crossing holds the truth | time of day | sentences about the other 18 |"
    );
    for number in 0..10 {
        let study = large_study(Seed(44).split(&number.to_string()));
        let found = findings(&study.data, None);
        let is_stated = |at: &&usize| {
            found.findings.iter().any(|own| {
                let is_single = matches!(own, StudyFinding::Effect(_) | StudyFinding::Level(_));
                is_single && own.treatments()[0] == **at
            })
        };
        let is_either = |own: &&StudyFinding| match own {
            StudyFinding::Pair(pair) => matches!(pair.pattern, PairPattern::EitherOr(_)),
            _ => false,
        };
        let either = found.findings.iter().filter(is_either);
        let crossing = found.findings.iter().find_map(|own| match own {
            StudyFinding::Level(level) if level.treatment == 11 => level.crossing,
            _ => None,
        });
        let wave = found
            .findings
            .iter()
            .any(|own| matches!(own, StudyFinding::Beside(_)));
        let others = found.findings.iter().filter(|own| {
            let is_claim = !matches!(own, StudyFinding::Undecided(_) | StudyFinding::Next(_));
            is_claim && own.treatments().iter().any(|at| !LARGE_ACTIVE.contains(at))
        });
        println!(
            "| {} | {} | {} of {} | {} | {wave} | {} |",
            number + 1,
            LARGE_ACTIVE.iter().filter(is_stated).count(),
            either
                .clone()
                .filter(|own| own.treatments().iter().all(|at| *at < 3))
                .count(),
            either.count(),
            crossing.is_some_and(|(_, interval)| interval.contains(study.crossing)),
            others.count()
        );
    }
}
