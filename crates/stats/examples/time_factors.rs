//! Prints how long the statistics of factor studies take, for `benches/factors.py`.
//!
//! `time_factors FILE` reads lines of a set of factors (a whole number, bit i for factor i) and a response, and
//! prints a JSON object of milliseconds, each the smallest of several rounds, with the first coefficients to compare.

#![expect(clippy::disallowed_methods, reason = "it prints numbers only")]

use std::hint::black_box;
use std::io::Write as _;
use std::time::{Duration, Instant};

use lapwing_stats::deltas::{DeltaPairing, MeasuredSets, mean_deltas};
use lapwing_stats::design::{DesignModel, DesignSpace, OptimalDesignOptions, optimal_design};
use lapwing_stats::linear_model::{
    FactorValues, LeastSquares, LinearFit, ModelMatrix, ModelTerm, RobustErrors, TermSelection,
    select_terms,
};
use lapwing_stats::shapley::shapley_values;
use lapwing_stats::{Confidence, Seed};
use serde_json::json;

/// Each is repeated for so long.
const TIME: Duration = Duration::from_secs(2);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("which file?")?;
    let (mut sets, mut responses, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    for line in std::fs::read_to_string(path)?.lines() {
        let (set, response) = line
            .split_once(' ')
            .ok_or("a set and a response per line")?;
        sets.push(set.parse::<u128>()?);
        responses.push(response.parse::<f64>()?);
        weights.push(1.0 + response.parse::<f64>()?.abs() % 1.0);
    }
    let factors = (0..128)
        .filter(|factor| sets.iter().any(|set| set >> factor & 1 == 1))
        .count();
    let terms = ModelTerm::all_pairs(factors);
    let matrix = ModelMatrix::new(&FactorValues::treatments(&sets, factors), &terms)?;
    let fit = LinearFit::new(&matrix, &responses, LeastSquares::default())?;
    let mut covariates = FactorValues::treatments(&sets, factors);
    covariates.push(FactorValues::Numbers(
        (0..sets.len())
            .map(|run| 1.7e9 + 97.0 * lapwing_stats::as_f64(run))
            .collect(),
    ));
    let with_time = [
        &terms[..=factors],
        &[ModelTerm::Main(factors)],
        &terms[factors + 1..],
    ]
    .concat();
    let with_time = ModelMatrix::new(&covariates, &with_time)?;
    let runs: Vec<(u128, f64)> = sets
        .iter()
        .copied()
        .zip(responses.iter().copied())
        .collect();
    let measured = MeasuredSets::new(&runs).ok_or("finite")?;
    let lattice: Vec<f64> = (0..1_u32 << 20)
        .map(|set| f64::from(set.wrapping_mul(2_654_435_761) >> 8))
        .collect();
    let times = json!({
        "coefficients": (0..3).filter_map(|at| fit.coefficient(at)).map(|own| [own.estimate, own.standard_error]).collect::<Vec<_>>(),
        "columns": matrix.columns(),
        "rank": fit.rank(),
        "matrix": milliseconds(|| ModelMatrix::new(&FactorValues::treatments(&sets, factors), &terms).map_or(0, |own| own.columns())),
        "fit": milliseconds(|| LinearFit::new(&matrix, &responses, LeastSquares::default()).map_or(0, |own| own.rank())),
        "fit with time": milliseconds(|| LinearFit::new(&with_time, &responses, LeastSquares::default()).map_or(0, |own| own.rank())),
        "weighted fit": milliseconds(|| LinearFit::new(&matrix, &responses, LeastSquares { weights: Some(&weights) }).map_or(0, |own| own.rank())),
        "robust errors": milliseconds(|| RobustErrors::by_run(&fit).map_or(0, |own| own.freedom())),
        "selection": milliseconds(|| select_terms(&matrix, &responses, &TermSelection::default()).ok().flatten().map_or(0, |own| own.len())),
        "deltas": milliseconds(|| MeasuredSets::new(&runs).map_or(0, |own| own.deltas(DeltaPairing::AllPairs).len())),
        "mean deltas": milliseconds(|| mean_deltas(&measured, DeltaPairing::Medians, Confidence::P95).len()),
        "delta count": measured.deltas(DeltaPairing::AllPairs).len(),
        "shapley of 20": milliseconds(|| shapley_values(&lattice).map_or(0, |own| own.len())),
        "optimal, 13 columns": milliseconds(|| optimal(12, 64, &ModelTerm::main_effects(12), 10)),
        "optimal, 49 columns": milliseconds(|| optimal(12, 64, &some_pairs(), 10)),
        "optimal, 30 factors, 31 columns": milliseconds(|| optimal(30, 64, &ModelTerm::main_effects(30), 10)),
        "optimal, 30 factors, 466 columns, 600 runs, 1 start": milliseconds(|| optimal(30, 600, &ModelTerm::all_pairs(30), 1)),
    });
    Ok(writeln!(std::io::stdout(), "{times}")?)
}

/// The main effects of twelve factors, and the pairs of the first nine.
fn some_pairs() -> Vec<ModelTerm> {
    let pairs = (0..9).flat_map(|one| (one + 1..9).map(move |other| ModelTerm::Pair(one, other)));
    ModelTerm::main_effects(12)
        .into_iter()
        .chain(pairs)
        .collect()
}

fn optimal(factors: usize, runs: usize, terms: &[ModelTerm], starts: u64) -> usize {
    let Some(model) = DesignModel::treatments(factors, terms) else {
        return 0;
    };
    let options = OptimalDesignOptions {
        starts,
        ..OptimalDesignOptions::default()
    };
    let design = optimal_design(
        &DesignSpace::treatments(factors),
        &model,
        runs,
        &options,
        Seed(7),
    );
    design.map_or(0, |runs| runs.len())
}

fn milliseconds(work: impl Fn() -> usize) -> f64 {
    let start = Instant::now();
    let mut best = f64::INFINITY;
    while start.elapsed() < TIME {
        let round = Instant::now();
        black_box(work());
        best = best.min(1e3 * round.elapsed().as_secs_f64());
    }
    best
}
