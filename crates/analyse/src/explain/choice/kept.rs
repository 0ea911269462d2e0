//! How many plans keep their power, whatever the noise: simulated.

use lapwing_model::JudgeSettings;
use lapwing_stats::{Configuration, DetectionMethod, Seed, Strategy};
use rand::Rng;

use super::search::Search;
use super::{ChoiceRule, PlanOptions, USUAL_MOST};
use crate::clean::{CleanInstance, Cleaned};
use crate::explain::RunCosts;
use crate::judge::{DetectionGrid, DetectionOptions, detection};

const SLOWDOWN: f64 = 1.05;

/// A kind of noise: returns the level of an instance, and a deviation of an iteration.
type Draw = fn(&mut dyn FnMut() -> f64) -> f64;

/// Names, levels of instances, and factors of iterations.
const NOISES: [(&str, Draw, Draw); 6] = [
    (
        "normal 3 % / 5 %",
        |uniform| 1.0 + 0.03 * normal(uniform),
        |uniform| 1.0 + 0.05 * normal(uniform),
    ),
    (
        "log-normal 5 % / 20 %",
        |uniform| (0.05 * normal(uniform)).exp(),
        |uniform| (0.2 * normal(uniform)).exp(),
    ),
    (
        "2 % / 2 % of iterations four times as long",
        |uniform| 1.0 + 0.02 * normal(uniform),
        |uniform| 1.0 + 0.03 * normal(uniform) + if uniform() < 0.02 { 3.0 } else { 0.0 },
    ),
    (
        "2 % / Pareto tail (exponent 2.5)",
        |uniform| 1.0 + 0.02 * normal(uniform),
        |uniform| 1.0 + 0.05 * (uniform().powf(-1.0 / 2.5) - 1.0),
    ),
    (
        "Student's t (3) 2 % / 3 %",
        |uniform| (0.02 * students_t(uniform)).exp(),
        |uniform| 1.0 + 0.03 * normal(uniform),
    ),
    (
        "a fifth 10 % slower / 3 %",
        |uniform| if uniform() < 0.2 { 1.1 } else { 1.0 } * (1.0 + 0.005 * normal(uniform)),
        |uniform| 1.0 + 0.03 * normal(uniform),
    ),
];

fn normal(uniform: &mut dyn FnMut() -> f64) -> f64 {
    let radius = (-2.0 * uniform().ln()).sqrt();
    radius * (std::f64::consts::TAU * uniform()).cos()
}

/// With three degrees of freedom.
fn students_t(uniform: &mut dyn FnMut() -> f64) -> f64 {
    let squares: f64 = (0..3).map(|_| normal(uniform).powi(2)).sum();
    normal(uniform) / (squares / 3.0).sqrt()
}

/// Returns so many measured instances.
fn measured(noise: (Draw, Draw), instances: usize, iterations: usize, seed: Seed) -> Cleaned {
    let mut random = seed.stream("measured");
    let mut uniform = || (f64::from(random.next_u32()) + 0.5) / 4_294_967_296.0;
    let instance = |position| {
        let level = noise.0(&mut uniform).max(0.1);
        let value = |_| level * noise.1(&mut uniform).max(0.1);
        CleanInstance {
            position,
            values: (0..iterations).map(value).collect(),
            without_value: 0,
            host: None,
        }
    };
    Cleaned {
        instances: (0..instances).map(instance).collect(),
        ..Cleaned::default()
    }
}

fn options() -> PlanOptions {
    PlanOptions {
        slowdowns: vec![SLOWDOWN],
        limits: JudgeSettings::default(),
        power: 0.95,
        false_positives: 0.05,
        assurance: 0.9,
        detection: DetectionOptions {
            methods: vec![DetectionMethod::Paired],
            strategies: vec![Strategy::DifferentInstances],
            experiments: 1_000,
            ..DetectionOptions::default()
        },
        rule: ChoiceRule::Cheapest(USUAL_MOST),
    }
}

/// The plan for a pilot; `None` if no configuration is sufficient.
fn planned(pilot: &Cleaned, seed: Seed) -> Option<Configuration> {
    let costs = RunCosts {
        start: 5.0,
        burn_in: 1.0,
        iteration: 1.0,
    };
    let options = options();
    let found = Search::new(pilot, Some(costs), &options, seed).cheapest(SLOWDOWN, USUAL_MOST);
    found.ok().map(|it| it.configuration)
}

/// The share of true experiments in which a configuration detects the slowdown.
fn true_power(population: &Cleaned, at: Configuration) -> f64 {
    let mut of = options().detection;
    of.grid = DetectionGrid {
        slowdowns: Vec::new(),
        instances: vec![at.instances],
        iterations: vec![at.iterations],
    };
    let cells = detection(population, None, &of);
    let rate = cells.first().and_then(|it| it.rate(SLOWDOWN));
    rate.expect("a large population").value
}

/// What became of the plans from pilots of one kind.
struct PlansKept {
    /// True powers, sorted.
    powers: Vec<f64>,
    /// Planned instances, sorted.
    instances: Vec<usize>,
    unable: usize,
}

impl PlansKept {
    fn of(noise: (Draw, Draw), instances: usize, plans: usize) -> Self {
        let population = measured(noise, 3_000, 50, Seed(1));
        let seed = Seed(2).split(&instances.to_string());
        let found = (0..plans).map(|plan| {
            let seed = seed.split(&plan.to_string());
            planned(&measured(noise, instances, 10, seed), seed)
        });
        let found: Vec<Option<Configuration>> = found.collect();
        let able: Vec<Configuration> = found.iter().copied().flatten().collect();
        let mut powers: Vec<f64> = able.iter().map(|it| true_power(&population, *it)).collect();
        let mut instances: Vec<usize> = able.iter().map(|it| it.instances).collect();
        powers.sort_by(f64::total_cmp);
        instances.sort_unstable();
        Self {
            unable: plans - able.len(),
            powers,
            instances,
        }
    }

    /// The share of pilots whose plan has less than this power.
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    fn below(&self, power: f64) -> f64 {
        let broken = self.powers.iter().filter(|it| **it < power).count();
        broken as f64 / (self.powers.len() + self.unable) as f64
    }
}

/// The table of `docs/calibration.md`.
#[test]
#[ignore = "takes minutes"]
fn table_of_plans_kept() {
    println!(
        "| noise | pilot | below 95 % | below 90 % | below 80 % | lowest power | median instances | not possible |"
    );
    for (name, level, iteration) in NOISES {
        for instances in [3, 5, 10, 20] {
            let kept = PlansKept::of((level, iteration), instances, 200);
            println!(
                "| {name} | {instances} | {:.0} % | {:.0} % | {:.0} % | {:.0} % | {} | {} |",
                100.0 * kept.below(0.95),
                100.0 * kept.below(0.9),
                100.0 * kept.below(0.8),
                100.0 * kept.powers.first().copied().unwrap_or(f64::NAN),
                kept.instances
                    .get(kept.instances.len() / 2)
                    .copied()
                    .unwrap_or_default(),
                kept.unable,
            );
        }
    }
}

/// Fewer plans than in the table, so that five standard errors are allowed for.
#[test]
fn nine_of_ten_plans_keep_their_power() {
    for (name, level, iteration) in [NOISES[0], NOISES[2]] {
        let kept = PlansKept::of((level, iteration), 10, 20);
        assert!(kept.below(0.95) <= 0.4, "{name}: {:?}", kept.powers);
    }
}
