//! How near to the best of a table of measured configurations a search comes: `benches/optimise.py` has other searches.
//!
//! `LAPWING_TABLES` is the folder of the tables, `SEEDS` the number of searches of each, `BATCH` the number of
//! configurations per round, `ONLY` a part of the names. With `STOPS` a search ends when it is done, as
//! `lapwing study optimise` does.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use lapwing_stats::design::{DesignFactor, DesignSpace};
use lapwing_stats::optimise::{OptimisationOptions, next_runs};
use lapwing_stats::{Seed, as_f64};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::noise::normal;
use super::rounds::show;

/// Numbers of evaluations at which the regret is noted.
const CHECKPOINTS: [usize; 3] = [30, 60, 100];

/// The standard deviation of the noise of a measurement's logarithm.
const NOISE: f64 = 0.03;

fn same(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-12
}

/// Configurations with their costs. Options of which exactly one is always chosen are one factor.
struct MeasuredTable {
    factors: Vec<DesignFactor>,
    space: DesignSpace,
    costs: BTreeMap<Vec<usize>, f64>,
    lowest: f64,
}

impl MeasuredTable {
    fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap();
        let rows: Vec<Vec<f64>> = (text.lines().skip(1))
            .map(|line| line.split(',').map(|own| own.parse().unwrap()).collect())
            .collect();
        let width = rows[0].len() - 1;
        let mut columns: Vec<Vec<f64>> = (0..width)
            .map(|at| rows.iter().map(|row| row[at]).collect())
            .collect();
        columns.retain(|own| own.iter().any(|value| !same(*value, own[0])));
        let mut at = 0;
        while at < columns.len() {
            let is_one = |end: usize| {
                (0..rows.len()).all(|row| {
                    let chosen: f64 = columns[at..end].iter().map(|own| own[row]).sum();
                    same(chosen, 1.0)
                        && columns[at..end]
                            .iter()
                            .all(|own| same(own[row], 0.0) || same(own[row], 1.0))
                })
            };
            if let Some(end) = (at + 2..=columns.len()).rev().find(|end| is_one(*end)) {
                let chosen = |row: usize| {
                    let first = (at..end).find(|own| same(columns[*own][row], 1.0));
                    // Beyond the numbers of all others: levels without an order.
                    1e9 + as_f64(first.unwrap() - at)
                };
                let merged = (0..rows.len()).map(chosen).collect();
                columns.splice(at..end, [merged]);
            }
            at += 1;
        }
        let mut factors = Vec::new();
        let mut runs = vec![Vec::new(); rows.len()];
        for column in &columns {
            let mut levels = column.clone();
            levels.sort_by(f64::total_cmp);
            levels.dedup();
            for (run, value) in runs.iter_mut().zip(column) {
                run.push(levels.iter().position(|own| same(*own, *value)).unwrap());
            }
            factors.push(match levels.len() {
                count if count == 2 || levels[0] >= 1e9 => DesignFactor::Levels(count),
                _ => DesignFactor::Numbers(levels),
            });
        }
        let counts: Vec<usize> = (0..factors.len())
            .map(|at| 1 + runs.iter().map(|run| run[at]).max().unwrap())
            .collect();
        let mut seen = BTreeSet::new();
        for run in &runs {
            for one in 0..run.len() {
                for other in 0..one {
                    seen.insert((one, run[one], other, run[other]));
                }
            }
        }
        // Pairs of levels that never occur are what a user would exclude; whatever else is not in the table fails.
        let mut forbidden = Vec::new();
        for one in 0..counts.len() {
            for other in 0..one {
                for a in 0..counts[one] {
                    for b in (0..counts[other]).filter(|b| !seen.contains(&(one, a, other, *b))) {
                        forbidden.push(vec![(one, a), (other, b)]);
                    }
                }
            }
        }
        let costs: BTreeMap<Vec<usize>, f64> = runs
            .into_iter()
            .zip(rows.iter().map(|row| row[width]))
            .collect();
        Self {
            space: DesignSpace::new(counts, forbidden).unwrap(),
            lowest: costs.values().copied().fold(f64::INFINITY, f64::min),
            factors,
            costs,
        }
    }

    /// Returns the regrets at the checkpoints, and the number of evaluations after which the search is done.
    fn search(&self, batch: usize, seed: u64) -> ([f64; 3], f64) {
        let mut random: Xoshiro256PlusPlus = Seed(seed).split("noise").block(0);
        let (mut measured, mut failed) = (Vec::new(), Vec::new());
        let (mut regrets, mut done, mut spent) = ([0.0; 3], None, 0);
        let base = vec![0; self.factors.len()];
        let (mut is_checked, stops) = (false, std::env::var("STOPS").is_ok());
        let mut is_over = false;
        for (at, checkpoint) in CHECKPOINTS.iter().enumerate() {
            loop {
                let options = OptimisationOptions {
                    count: batch.min((checkpoint - spent).max(1)),
                    ..OptimisationOptions::default()
                };
                let step = next_runs(
                    &self.space,
                    &self.factors,
                    &measured,
                    &failed,
                    &options,
                    Seed(seed),
                )
                .unwrap();
                let mut step = step;
                if stops && step.is_done && !is_over {
                    if is_checked {
                        (is_over, done) = (true, Some(spent));
                    } else {
                        let count = options
                            .count
                            .max(spent / 4)
                            .min((checkpoint - spent).max(1));
                        let options = OptimisationOptions {
                            count,
                            first_runs: Some(usize::MAX),
                            ..options.clone()
                        };
                        step = next_runs(
                            &self.space,
                            &self.factors,
                            &measured,
                            &failed,
                            &options,
                            Seed(seed),
                        )
                        .unwrap();
                    }
                    is_checked = true;
                } else {
                    is_checked = false;
                }
                if step.is_done && done.is_none() {
                    done = Some(spent);
                }
                if spent >= *checkpoint || is_over {
                    let best = step
                        .best
                        .map_or(1.0, |best| self.costs[&best.0] / self.lowest);
                    regrets[at] = best - 1.0;
                    break;
                }
                let base =
                    Some(base.clone()).filter(|own| spent == 0 && self.costs.contains_key(own));
                let proposed = step.proposed.into_iter().map(|own| own.run);
                for run in base.into_iter().chain(proposed).take(if is_checked {
                    100
                } else {
                    options.count
                }) {
                    spent += 1;
                    match self.costs.get(&run) {
                        Some(cost) => measured.push((run, cost.ln() + NOISE * normal(&mut random))),
                        None => failed.push(run),
                    }
                }
            }
        }
        (regrets, as_f64(done.unwrap_or(CHECKPOINTS[2])))
    }
}

#[test]
#[ignore = "minutes: prints a table for docs/calibration.md, of the tables in the folder LAPWING_TABLES"]
fn table_of_searches() {
    let variable = |name: &str| std::env::var(name).ok();
    let folder = variable("LAPWING_TABLES").expect("LAPWING_TABLES is a folder of tables");
    let seeds = variable("SEEDS").map_or(20, |seeds| seeds.parse().unwrap());
    let batch = variable("BATCH").map_or(4, |batch| batch.parse().unwrap());
    let only = variable("ONLY").unwrap_or_default();
    let mut paths: Vec<_> = (std::fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension().is_some_and(|own| own == "csv")
                && path.to_string_lossy().contains(&only)
        })
        .collect();
    paths.sort();
    show(
        "| table | configurations | 30 evaluations | 60 | 100 | done after |\n|---|--:|--:|--:|--:|--:|",
    );
    let (mut total, mut geo) = ([0.0; 3], [0.0; 3]);
    for path in &paths {
        let table = MeasuredTable::read(path);
        let (mut sums, mut done) = ([0.0; 3], 0.0);
        for seed in 0..seeds {
            let (regrets, own) = table.search(batch, 1000 + seed);
            for (at, (sum, regret)) in sums.iter_mut().zip(regrets).enumerate() {
                *sum += 100.0 * regret / as_f64(usize::try_from(seeds).unwrap());
                geo[at] += (100.0 * regret + 0.3).ln()
                    / as_f64(usize::try_from(seeds).unwrap())
                    / as_f64(paths.len());
            }
            done += own / as_f64(usize::try_from(seeds).unwrap());
        }
        for (own, sum) in total.iter_mut().zip(sums) {
            *own += sum / as_f64(paths.len());
        }
        show(&format!(
            "| {} | {} | {:.2} % | {:.2} % | {:.2} % | {done:.0} |",
            path.file_stem().unwrap().to_string_lossy(),
            table.costs.len(),
            sums[0],
            sums[1],
            sums[2]
        ));
    }
    show(&format!(
        "| mean | | {:.2} % | {:.2} % | {:.2} % | |",
        total[0], total[1], total[2]
    ));
    show(&format!(
        "geo {:.3} {:.3} {:.3}",
        geo[0].exp() - 0.3,
        geo[1].exp() - 0.3,
        geo[2].exp() - 0.3
    ));
}
