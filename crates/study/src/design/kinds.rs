//! The runs of each kind of design.

use std::collections::BTreeSet;

use lapwing_stats::Seed;
use lapwing_stats::design::{
    DesignSpace, FractionalFactorial, OptimalDesignOptions, balanced_runs, best_fraction,
    covering_array, fold_over, full_factorial, one_factor_at_a_time, optimal_design,
    plackett_burman, plackett_burman_runs, run_of_set, set_of_run, smallest_fraction, walks,
};
use lapwing_stats::linear_model::ModelTerm;

use super::choice::{ChosenRuns, DesignChoice, MOST_RUNS};
use super::factor::{space, terms};
use super::{DesignKind, DesignNote, StudyConfiguration, StudyDesignError, StudyModel};

/// Of a fraction at most 2 to the power of this many.
const MOST_BASIC: usize = 12;

impl DesignChoice<'_> {
    /// Returns the runs of a kind, where it can be.
    pub fn runs(&self, kind: DesignKind) -> Result<ChosenRuns, StudyDesignError> {
        match kind {
            DesignKind::Full => self.full(),
            DesignKind::Fractional => self.fractional(),
            DesignKind::PlackettBurman => self.plackett_burman(),
            DesignKind::Optimal => self.optimal(),
            DesignKind::Covering => self.covering(),
            DesignKind::Random => {
                let runs = self.balanced(Vec::new(), self.wanted_runs());
                Ok(ChosenRuns::new(kind, runs, Vec::new()))
            }
            DesignKind::OneAtATime => Ok(self.one_at_a_time()),
            DesignKind::Walks => Ok(self.walks()),
            DesignKind::List => self.list(),
        }
    }

    fn refuse_more_than_two_levels(&self, kind: DesignKind) -> Result<(), StudyDesignError> {
        if let Some(factor) = self.factors.iter().find(|it| it.levels.len() > 2) {
            return Err(StudyDesignError::Levels {
                kind: kind.words(),
                factor: factor.name.clone(),
                levels: factor.levels.len(),
            });
        }
        let mut factors = self.factors.iter();
        let bound = factors.find(|it| !it.requires.is_empty() || !it.excludes.is_empty());
        match bound.filter(|_| !self.space.is_unconstrained()) {
            Some(factor) => Err(StudyDesignError::Constrained {
                kind: kind.words(),
                factor: factor.name.clone(),
            }),
            None => Ok(()),
        }
    }

    fn too_many(&self, kind: DesignKind) -> StudyDesignError {
        StudyDesignError::TooMany {
            kind: kind.words(),
            factors: self.factors.len(),
            most: self.request.runs.unwrap_or(MOST_RUNS),
        }
    }

    fn too_few(&self, kind: DesignKind, runs: usize) -> StudyDesignError {
        StudyDesignError::TooFew {
            kind: kind.words(),
            factors: self.factors.len(),
            runs,
        }
    }

    fn full(&self) -> Result<ChosenRuns, StudyDesignError> {
        let kind = DesignKind::Full;
        let most = self.request.runs.unwrap_or(MOST_RUNS);
        let runs = if self.space.is_unconstrained() {
            full_factorial(self.space.levels(), most)
        } else {
            self.space.feasible_runs(most)
        };
        let runs = runs.ok_or_else(|| self.too_many(kind))?;
        let all: usize = self.space.levels().iter().product();
        let mut notes = Vec::new();
        if runs.len() < all {
            let dropped = all - runs.len();
            let text = format!(
                "{dropped} of {all} combinations are dropped: requirements or exclusions forbid them"
            );
            notes.push(DesignNote::new(
                text,
                &[("dropped", dropped), ("combinations", all)],
            ));
        }
        Ok(ChosenRuns::new(kind, runs, notes))
    }

    fn fractional(&self) -> Result<ChosenRuns, StudyDesignError> {
        let kind = DesignKind::Fractional;
        self.refuse_more_than_two_levels(kind)?;
        let factors = self.factors.len();
        let needed = match self.request.model {
            StudyModel::Main => 4,
            StudyModel::Pairs => 5,
        };
        let least = self.request.resolution;
        let fraction = match self.request.runs {
            Some(runs) => {
                let basic = (runs.max(1).ilog2() as usize).min(factors);
                let suffices = |fraction: &FractionalFactorial| {
                    let resolution = fraction.resolution().zip(least);
                    resolution.is_none_or(|(resolution, least)| resolution >= least)
                };
                let fraction = best_fraction(factors, basic).filter(suffices);
                fraction.ok_or_else(|| self.too_few(kind, runs))?
            }
            None => smallest_fraction(factors, least.unwrap_or(needed), MOST_BASIC)
                .ok_or_else(|| self.too_many(kind))?,
        };
        let is_full = fraction.generators().is_empty();
        let sets = fraction.runs_with(0);
        Ok(ChosenRuns {
            kind: if is_full { DesignKind::Full } else { kind },
            runs: sets.iter().map(|set| run_of_set(*set, factors)).collect(),
            fraction: (!is_full).then_some(fraction),
            notes: Vec::new(),
        })
    }

    fn plackett_burman(&self) -> Result<ChosenRuns, StudyDesignError> {
        let kind = DesignKind::PlackettBurman;
        self.refuse_more_than_two_levels(kind)?;
        let factors = self.factors.len();
        let count = plackett_burman_runs(factors).ok_or_else(|| self.too_many(kind))?;
        if let Some(wanted) = self.request.runs
            && wanted < count
        {
            return Err(self.too_few(kind, wanted));
        }
        let sets = plackett_burman(count).ok_or_else(|| self.too_many(kind))?;
        // The last factors of the matrix are unused.
        let mask = (1_u128 << factors) - 1;
        let sets: Vec<u128> = sets.iter().rev().map(|set| set & mask).collect();
        let is_folded = self.request.runs.is_some_and(|wanted| wanted >= 2 * count);
        let (sets, note) = if is_folded {
            (
                fold_over(&sets, factors),
                "folded over: main effects are free of pairs, and pairs are aliased with pairs",
            )
        } else {
            (
                sets,
                "each pair of factors is partly aliased with the main effects of all others; twice as many configurations (`--runs`) free them",
            )
        };
        let runs = sets.iter().map(|set| run_of_set(*set, factors));
        Ok(ChosenRuns::new(
            kind,
            runs.collect(),
            vec![note.to_owned().into()],
        ))
    }

    fn optimal(&self) -> Result<ChosenRuns, StudyDesignError> {
        let wanted = self.wanted_runs();
        let mut options = OptimalDesignOptions {
            existing: self.request.existing.clone(),
            ..OptimalDesignOptions::default()
        };
        let mut runs = Vec::new();
        let mut left = wanted;
        if options.existing.is_empty() && self.space.is_feasible(&self.base()) {
            runs.push(self.base());
            options.existing.push(self.base());
            left -= 1;
        }
        let mut notes = Vec::new();
        let columns = self.columns(self.request.model);
        let all = left + options.existing.len();
        if self.request.model == StudyModel::Pairs && all < columns {
            options.potential = terms(self.factors, StudyModel::Pairs);
            (options.potential).retain(|term| matches!(term, ModelTerm::Pair(..)));
            let text = format!(
                "{all} configurations cannot estimate all pairs, which takes at least {columns}: pairs disturb main effects as little as possible"
            );
            let numbers = [("configurations", all), ("needed_configurations", columns)];
            notes.push(DesignNote::new(text, &numbers));
        }
        let model = self
            .model(self.request.model)
            .ok_or(StudyDesignError::Nothing)?;
        let added = optimal_design(&self.space, &model, left, &options, self.seed())?;
        runs.extend(added);
        let runs = self.balanced(runs, wanted);
        Ok(ChosenRuns::new(DesignKind::Optimal, runs, notes))
    }

    fn covering(&self) -> Result<ChosenRuns, StudyDesignError> {
        let kind = DesignKind::Covering;
        let strength = self.request.strength.unwrap_or(2);
        let existing = &self.request.existing;
        let mut runs = Vec::new();
        if existing.is_empty() && self.space.is_feasible(&self.base()) {
            runs.push(self.base());
        }
        let array = covering_array(&self.space, strength, existing, self.seed());
        runs.extend(array.ok_or_else(|| self.too_many(kind))?);
        runs.sort();
        runs.dedup();
        if self.request.runs.is_some_and(|most| runs.len() > most) {
            return Err(self.too_many(kind));
        }
        let note = format!(
            "every feasible combination of levels of any {strength} factors occurs: it finds combinations that break, and estimates no effects well"
        );
        let note = DesignNote::new(note, &[("strength", strength)]);
        Ok(ChosenRuns::new(kind, runs, vec![note]))
    }

    fn one_at_a_time(&self) -> ChosenRuns {
        let mut runs = one_factor_at_a_time(&self.space, &self.base());
        let mut notes = Vec::new();
        for (at, factor) in self.factors.iter().enumerate() {
            for level in 1..factor.levels.len() {
                if runs.iter().any(|run| run[at] == level) {
                    continue;
                }
                let mut before = self.base();
                self.meet_requirements(at, &mut before);
                let mut after = before.clone();
                after[at] = level;
                let name = factor.level_name(level);
                if self.space.is_feasible(&before) && self.space.is_feasible(&after) {
                    let without = StudyConfiguration::new(self.factors, &before).name;
                    let text = format!("{name} is added to {without}, which it requires");
                    notes.push(text.into());
                    runs.extend([before, after]);
                } else {
                    let text = format!("{name} is left out: what it requires is forbidden");
                    notes.push(text.into());
                }
            }
        }
        ChosenRuns::new(DesignKind::OneAtATime, runs, notes)
    }

    /// Sets what a factor requires, and what that requires, to its first level besides the base.
    fn meet_requirements(&self, factor: usize, run: &mut [usize]) {
        for name in &self.factors[factor].requires {
            let other = self.factors.iter().position(|it| it.name == *name);
            if let Some(other) = other.filter(|other| run[*other] == 0) {
                run[other] = 1;
                self.meet_requirements(other, run);
            }
        }
    }

    fn walks(&self) -> ChosenRuns {
        let factors = self.factors.len();
        // The requirements and exclusions of all levels but the base are the same.
        let treatments =
            space(self.factors, vec![2; factors]).unwrap_or_else(|_never| self.space.clone());
        let steps = (factors - 1).max(1);
        let wanted = self.request.runs;
        let count = wanted.map_or(factors, |runs| (runs.saturating_sub(2) / steps).max(1));
        let targets = if treatments.is_unconstrained() {
            1
        } else {
            count.min(8)
        };
        let mut runs = Vec::new();
        let mut lacking: BTreeSet<usize> = (0..factors).collect();
        for number in 0..targets {
            let seed = self.seed().split(&format!("target {number}"));
            let target = largest_feasible(&treatments, seed);
            let share = count / targets + usize::from(number < count % targets);
            let walks = walks(&treatments, 0, target, share, seed);
            for (walk_number, walk) in walks.iter().enumerate() {
                // Levels besides the first two take turns.
                let turn = number + walk_number * targets;
                for set in walk {
                    let levels = run_of_set(*set, factors).into_iter().zip(self.factors);
                    let run: Vec<usize> = levels
                        .map(|(present, factor)| present * (1 + turn % (factor.levels.len() - 1)))
                        .collect();
                    lacking.retain(|factor| run[*factor] == 0);
                    runs.push(run);
                }
            }
        }
        let notes = lacking.iter().map(|factor| {
            let name = &self.factors[*factor].name;
            format!("`{name}` is in no walk: requirements or exclusions forbid it").into()
        });
        ChosenRuns::new(DesignKind::Walks, runs, notes.collect())
    }

    fn list(&self) -> Result<ChosenRuns, StudyDesignError> {
        let runs = self.request.listed.clone();
        if runs.is_empty() {
            return Err(StudyDesignError::NoList);
        }
        if let Some(run) = runs.iter().find(|run| !self.space.is_feasible(run)) {
            let name = StudyConfiguration::new(self.factors, run).name;
            return Err(StudyDesignError::Infeasible { name });
        }
        Ok(ChosenRuns::new(DesignKind::List, runs, Vec::new()))
    }
}

/// Returns a set of treatments to which none can be added, from a random feasible one on.
fn largest_feasible(space: &DesignSpace, seed: Seed) -> u128 {
    let factors = space.levels().len();
    let start = balanced_runs(space, 1, &[], seed).pop();
    let mut run = start.unwrap_or_else(|| vec![0; factors]);
    loop {
        let addition = (0..factors).filter(|at| run[*at] == 0).find(|at| {
            let mut with = run.clone();
            with[*at] = 1;
            space.is_feasible(&with)
        });
        match addition {
            Some(at) => run[at] = 1,
            None => return set_of_run(&run),
        }
    }
}
