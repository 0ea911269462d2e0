//! The share of intervals of factor studies that cover the truth.

use lapwing_stats::deltas::{DeltaPairing, MeasuredSets, mean_deltas};
use lapwing_stats::design::{DesignSpace, balanced_runs, set_of_run};
use lapwing_stats::linear_model::{
    FactorValues, LeastSquares, LinearFit, ModelMatrix, ModelTerm, RobustErrors, TermSelection,
    select_terms,
};
use lapwing_stats::shapley::model_attribution;
use lapwing_stats::{Confidence, Seed};
use rand::{Rng, RngExt};

use super::noise::normal;
use super::rounds::{average, count, show, tolerance};

const FACTORS: usize = 6;

/// How a run varies around the logarithm of its expected cost.
#[derive(Clone, Copy)]
enum RunNoise {
    Normal,
    /// Skewed: slow runs are further away.
    LogNormal,
    /// With the first factor runs vary four times as much.
    Unequal,
}

impl RunNoise {
    fn draw(self, random: &mut impl Rng, set: u128) -> f64 {
        match self {
            Self::Normal => 0.05 * normal(random),
            // Mean 0 and the same standard deviation.
            Self::LogNormal => 0.05 * ((0.8 * normal(random)).exp() - 0.32_f64.exp()) / 1.302,
            Self::Unequal => (if set & 1 == 1 { 0.1 } else { 0.025 }) * normal(random),
        }
    }
}

/// The logarithm of the expected cost: of six factors, two save the same and one costs.
fn expected(set: u128) -> f64 {
    let has = |factor: usize| f64::from(u8::from(set >> factor & 1 == 1));
    -0.6 * has(0) - 0.5 * has(1) + 0.45 * has(0) * has(1) + 0.1 * has(2) - 0.05 * has(3)
}

/// Balanced random runs of the factors.
fn sets(random: &mut impl Rng, runs: usize) -> Vec<u128> {
    let space = DesignSpace::treatments(FACTORS);
    balanced_runs(&space, runs, &[], Seed(random.random()))
        .iter()
        .map(|run| set_of_run(run))
        .collect()
}

fn measure(random: &mut impl Rng, sets: &[u128], noise: RunNoise) -> Vec<f64> {
    sets.iter()
        .map(|set| expected(*set) + noise.draw(random, *set))
        .collect()
}

fn fitted(sets: &[u128], responses: &[f64]) -> (ModelMatrix, LinearFit) {
    let factors = FactorValues::treatments(sets, FACTORS);
    let matrix = ModelMatrix::new(&factors, &ModelTerm::all_pairs(FACTORS)).unwrap();
    let fit = LinearFit::new(&matrix, responses, LeastSquares::default()).unwrap();
    (matrix, fit)
}

/// Coverage of a main effect and of a pair, ordinary and robust, and of a Shapley value.
fn of_fits(name: &str, runs: usize, noise: RunNoise, rounds: u32) -> [f64; 5] {
    let ends = ModelMatrix::new(
        &FactorValues::treatments(&[0, 0b11_1111], FACTORS),
        &ModelTerm::all_pairs(FACTORS),
    );
    let ends = ends.unwrap();
    average(name, rounds, |random| {
        let sets = sets(random, runs);
        let (matrix, fit) = fitted(&sets, &measure(random, &sets, noise));
        let pair = matrix.columns_of(ModelTerm::Pair(0, 1))[0];
        let robust = RobustErrors::by_run(&fit);
        let covers = |column: usize, truth: f64| {
            let freedom = lapwing_stats::as_f64(fit.residual_freedom());
            let own = fit.coefficient(column);
            let own = own.and_then(|own| own.interval(freedom, Confidence::P95));
            count(own.is_none_or(|own| own.contains(truth)))
        };
        let robustly = |column: usize, truth: f64| {
            let interval = robust.as_ref().and_then(|robust| {
                let own = robust.coefficient(&fit, column)?;
                own.interval(lapwing_stats::as_f64(robust.freedom()), Confidence::P95)
            });
            count(interval.is_none_or(|own| own.contains(truth)))
        };
        let share = model_attribution(&fit, &ends, Confidence::P95)[0].interval;
        [
            covers(1, -0.6),
            covers(pair, 0.45),
            robustly(1, -0.6),
            robustly(pair, 0.45),
            count(share.is_none_or(|own| own.contains(-0.6 + 0.5 * 0.45))),
        ]
    })
}

/// Coverage of a mean delta with few sets, with replicates; of a factor with an interaction and of one without.
fn of_deltas(name: &str, runs: usize, noise: RunNoise, rounds: u32) -> [f64; 4] {
    average(name, rounds, |random| {
        // Sets and their neighbours, and every other set twice.
        let mut own = Vec::new();
        for set in sets(random, runs / 4) {
            let other = set ^ 1;
            let third = set ^ 0b100;
            own.extend([set, other, third, third ^ 1]);
            if random.random() {
                own.extend([set, set, other]);
            }
        }
        let responses = measure(random, &own, noise);
        let measured: Vec<(u128, f64)> = own.into_iter().zip(responses).collect();
        let sets = MeasuredSets::new(&measured).unwrap();
        let covers = |pairing: DeltaPairing, factor: usize, truth: f64| {
            let means = mean_deltas(&sets, pairing, Confidence::P95);
            let interval = means
                .iter()
                .find(|own| own.factor == factor)
                .and_then(|own| own.interval);
            count(interval.is_none_or(|own| own.contains(truth)))
        };
        let fixed = of_these_sets(&sets);
        [
            covers(DeltaPairing::Means, 0, -0.6 + 0.5 * 0.45),
            covers(DeltaPairing::AllPairs, 0, -0.6 + 0.5 * 0.45),
            fixed,
            covers(DeltaPairing::Means, 2, 0.1),
        ]
    })
}

/// Whether the interval of the mean over the measured sets covers it.
fn of_these_sets(sets: &MeasuredSets) -> f64 {
    let deltas = sets.deltas(DeltaPairing::Means);
    let truths: Vec<f64> = deltas
        .iter()
        .filter(|delta| delta.factor == 0)
        .map(|delta| expected(delta.set | 1) - expected(delta.set))
        .collect();
    let truth = lapwing_stats::mean(&truths).unwrap_or(0.0);
    let means = mean_deltas(sets, DeltaPairing::Means, Confidence::P95);
    let own = means.iter().find(|own| own.factor == 0);
    count(
        own.and_then(|own| own.interval_of_these_sets)
            .is_none_or(|own| own.contains(truth)),
    )
}

/// Of pure noise: how often selection takes any term, with the default and with the plain criterion.
fn of_nothing(name: &str, rounds: u32) -> [f64; 2] {
    average(name, rounds, |random| {
        let sets = sets(random, 96);
        let factors = FactorValues::treatments(&sets, FACTORS);
        let matrix = ModelMatrix::new(&factors, &ModelTerm::all_pairs(FACTORS)).unwrap();
        let noise: Vec<f64> = sets.iter().map(|_| normal(random)).collect();
        let taken = |strictness: f64| {
            let options = TermSelection {
                strictness,
                ..TermSelection::default()
            };
            count(
                select_terms(&matrix, &noise, &options)
                    .unwrap()
                    .unwrap()
                    .len()
                    > 1,
            )
        };
        [taken(1.0), taken(0.0)]
    })
}

#[test]
fn intervals_of_factor_studies_cover() {
    let rounds = 400;
    let fits = of_fits("small fits", 60, RunNoise::Normal, rounds);
    for own in fits {
        assert!((own - 0.95).abs() < tolerance(rounds) + 0.02, "{fits:?}");
    }
    let deltas = of_deltas("small deltas", 48, RunNoise::Normal, rounds);
    for own in deltas {
        assert!(own > 0.95 - tolerance(rounds), "{deltas:?}");
    }
    let [strict, plain] = of_nothing("small selection", 200);
    assert!(strict < 0.1 && plain > strict, "{strict} {plain}");
}

#[test]
#[ignore = "minutes: prints tables for docs/calibration.md"]
fn table_of_coverage_of_factor_studies() {
    let rounds = 4_000;
    let kinds = [
        ("normal", RunNoise::Normal),
        ("log-normal", RunNoise::LogNormal),
        ("unequal", RunNoise::Unequal),
    ];
    show(
        "| noise | runs | main effect | pair | main effect, HC3 | pair, HC3 | Shapley value |\n|---|--:|--:|--:|--:|--:|--:|",
    );
    for (kind, noise) in kinds {
        for runs in [30, 60, 200] {
            let [main, pair, robust_main, robust_pair, share] =
                of_fits("fits", runs, noise, rounds);
            show(&format!(
                "| {kind} | {runs} | {main:.4} | {pair:.4} | {robust_main:.4} | {robust_pair:.4} | {share:.4} |"
            ));
        }
    }
    show(
        "| noise | runs | mean delta | all pairs | of these sets | without interaction |\n|---|--:|--:|--:|--:|--:|",
    );
    for (kind, noise) in kinds {
        for runs in [24, 48, 160] {
            let [mean, all, fixed, plain] = of_deltas("deltas", runs, noise, rounds);
            show(&format!(
                "| {kind} | {runs} | {mean:.4} | {all:.4} | {fixed:.4} | {plain:.4} |"
            ));
        }
    }
    let [strict, plain] = of_nothing("nothing", 4_000);
    show(&format!("selection: {strict:.4}, BIC {plain:.4}"));
}

/// Returns the time of this thread on a processor.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
}

#[test]
#[ignore = "a minute: prints a table for docs/performance.md"]
fn table_of_optimal_designs() {
    use lapwing_stats::Seed;
    use lapwing_stats::design::{
        DesignModel, DesignSpace, OptimalDesignOptions, d_efficiency, optimal_design,
    };
    use lapwing_stats::linear_model::ModelTerm;
    for (factors, runs) in [
        (6, 24),
        (8, 40),
        (10, 60),
        (12, 90),
        (16, 160),
        (20, 250),
        (30, 500),
    ] {
        let model = DesignModel::treatments(factors, &ModelTerm::all_pairs(factors)).unwrap();
        let space = DesignSpace::treatments(factors);
        let started = processor_seconds();
        let mut all = Vec::new();
        let seeds: u32 = if factors < 16 { 5 } else { 1 };
        for seed in 0..seeds {
            let options = OptimalDesignOptions::default();
            let own = optimal_design(&space, &model, runs, &options, Seed(seed.into())).unwrap();
            all.push(d_efficiency(&model, &own));
        }
        let mean = all.iter().sum::<f64>() / f64::from(seeds);
        let seconds = (processor_seconds() - started) / f64::from(seeds);
        super::rounds::show(&format!(
            "| {factors} | {runs} | {mean:.2} % | {seconds:.2} s |"
        ));
    }
}
