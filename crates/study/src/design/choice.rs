//! Chooses the runs of a design.

use std::collections::BTreeSet;

use lapwing_stats::Seed;
use lapwing_stats::design::{
    DesignModel, DesignSpace, DesignSpaceError, FractionalFactorial, OptimalDesignError,
    OptimalDesignOptions, balanced_runs, best_fraction, covering_array, d_efficiency, fold_over,
    full_factorial, one_factor_at_a_time, optimal_design, plackett_burman, plackett_burman_runs,
    run_of_set, smallest_fraction, walks,
};
use lapwing_stats::linear_model::ModelTerm;

use super::ability::{DesignAbility, aliases};
use super::factor::{forbidden_pairs, space, terms};
use super::{DesignKind, PlannedFactor, StudyConfiguration, StudyDesign, StudyModel, VERSION};

/// More configurations than this are not designed.
const MOST_RUNS: usize = 4096;

/// Of a fraction at most 2 to the power of this many.
const MOST_BASIC: usize = 12;

/// What a design is asked for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DesignRequest {
    /// The kind; `None` for the smallest fraction that estimates the model, or an optimal design where there is none.
    pub kind: Option<DesignKind>,
    /// The number of configurations, at most; `None` for as many as the kind needs.
    pub runs: Option<usize>,
    /// The least resolution of a fraction; `None` for what the model needs.
    pub resolution: Option<usize>,
    /// The strength of a covering array; `None` for 2.
    pub strength: Option<usize>,
    /// The effects to estimate.
    pub model: StudyModel,
    /// The configurations that the user names, as numbers of levels.
    pub listed: Vec<Vec<usize>>,
    /// Configurations that are measured already: an optimal, covering or random design completes them.
    pub existing: Vec<Vec<usize>>,
    /// Instances of each configuration.
    pub replicates: u32,
    /// The seed.
    pub seed: u64,
}

/// What prevents a design.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum StudyDesignError {
    /// There is nothing to vary.
    #[error("a study needs at least two factors with two levels, and there are {found}")]
    TooFewFactors {
        /// How many there are.
        found: usize,
    },
    /// A requirement that nothing can meet.
    #[error("`{factor}` requires `{missing}`, which takes no part in the study")]
    Requirement {
        /// The factor.
        factor: String,
        /// What it requires.
        missing: String,
    },
    /// A kind for two levels.
    #[error("{kind} has two levels per factor, and `{factor}` has {levels}")]
    Levels {
        /// The kind.
        kind: &'static str,
        /// The factor.
        factor: String,
        /// Its number of levels.
        levels: usize,
    },
    /// A kind that cannot respect requirements and exclusions.
    #[error("{kind} contains combinations that `requires` or `excludes` of `{factor}` forbids")]
    Constrained {
        /// The kind.
        kind: &'static str,
        /// The factor.
        factor: String,
    },
    /// More configurations than can be measured, or wanted.
    #[error("{kind} of these {factors} factors needs more than {most} configurations")]
    TooMany {
        /// The kind.
        kind: &'static str,
        /// The number of factors.
        factors: usize,
        /// The limit.
        most: usize,
    },
    /// Too few configurations.
    #[error("{kind} of these {factors} factors needs more than {runs} configurations")]
    TooFew {
        /// The kind.
        kind: &'static str,
        /// The number of factors.
        factors: usize,
        /// The number wanted.
        runs: usize,
    },
    /// The optimal design cannot be.
    #[error("an optimal design is impossible: {0}")]
    Optimal(#[from] OptimalDesignError),
    /// The factors make no space.
    #[error("these factors cannot be combined: {0}")]
    Space(#[from] DesignSpaceError),
    /// A named configuration that cannot be.
    #[error("configuration `{name}` is forbidden by a requirement or an exclusion")]
    Infeasible {
        /// Its name.
        name: String,
    },
    /// No configuration was named.
    #[error("no configuration is listed")]
    NoList,
    /// Nothing is left to add.
    #[error("every feasible configuration is measured already")]
    Complete,
    /// The base itself is forbidden, or nothing else is allowed.
    #[error("no combination of levels is feasible besides the base")]
    Nothing,
}

impl DesignKind {
    /// Returns its name in a sentence.
    pub fn words(self) -> &'static str {
        match self {
            Self::Full => "a full factorial",
            Self::Fractional => "a fractional factorial",
            Self::PlackettBurman => "a Plackett–Burman design",
            Self::Optimal => "a D-optimal design",
            Self::Covering => "a covering array",
            Self::Random => "a balanced random design",
            Self::OneAtATime => "one factor at a time",
            Self::Walks => "a design of walks",
            Self::List => "a list of configurations",
        }
    }
}

/// Runs, and what is known of them.
struct ChosenRuns {
    kind: DesignKind,
    runs: Vec<Vec<usize>>,
    fraction: Option<FractionalFactorial>,
    notes: Vec<String>,
}

impl ChosenRuns {
    fn new(kind: DesignKind, runs: Vec<Vec<usize>>, notes: Vec<String>) -> Self {
        Self {
            kind,
            runs,
            fraction: None,
            notes,
        }
    }
}

impl StudyDesign {
    /// Returns a design for these factors.
    ///
    /// The base is the first configuration, except of a list and where it is among the existing ones. Factors with
    /// one level take no part.
    ///
    /// # Errors
    /// When the kind cannot be with these factors, numbers, requirements and exclusions.
    pub fn new(
        (suite, suite_file): (&str, &str),
        factors: Vec<PlannedFactor>,
        request: &DesignRequest,
    ) -> Result<Self, StudyDesignError> {
        let mut factors = factors;
        factors.retain(|factor| factor.levels.len() > 1);
        if factors.len() < 2 {
            return Err(StudyDesignError::TooFewFactors {
                found: factors.len(),
            });
        }
        for factor in &factors {
            let is_missing = |name: &&String| !factors.iter().any(|it| it.name == **name);
            if let Some(missing) = factor.requires.iter().find(is_missing) {
                return Err(StudyDesignError::Requirement {
                    factor: factor.name.clone(),
                    missing: missing.clone(),
                });
            }
        }
        let search = DesignChoice {
            space: space(&factors, factors.iter().map(|it| it.levels.len()).collect())?,
            factors: &factors,
            request,
        };
        let mut chosen = search.choose()?;
        let mut seen: BTreeSet<Vec<usize>> = request.existing.iter().cloned().collect();
        chosen.runs.retain(|run| seen.insert(run.clone()));
        let is_list = chosen.kind == DesignKind::List;
        if chosen.runs.len() + request.existing.len() < 2 && !is_list {
            return Err(StudyDesignError::Nothing);
        }
        if chosen.runs.is_empty() {
            return Err(StudyDesignError::Complete);
        }
        if request.model == StudyModel::Pairs {
            let names = forbidden_pairs(&factors)
                .into_iter()
                .map(|(one, other)| format!("{}:{}", factors[one].name, factors[other].name));
            let names: Vec<String> = names.collect();
            if !names.is_empty() {
                chosen.notes.push(format!(
                    "requirements or exclusions make these pairs impossible to estimate: {}",
                    names.join(", ")
                ));
            }
        }
        let together = [request.existing.as_slice(), &chosen.runs].concat();
        let ability = DesignAbility::new(&factors, &together);
        let model = search.model(request.model);
        Ok(Self {
            version: VERSION,
            suite: suite.to_owned(),
            suite_file: suite_file.to_owned(),
            kind: chosen.kind,
            model: request.model,
            seed: request.seed,
            replicates: request.replicates.max(1),
            resolution: chosen.fraction.as_ref().and_then(|it| it.resolution()),
            aliases: chosen
                .fraction
                .map_or_else(Vec::new, |it| aliases(&factors, &it)),
            d_efficiency: model.map_or(0.0, |model| d_efficiency(&model, &together)),
            supports: ability.supports(),
            notes: chosen.notes,
            configurations: (chosen.runs.iter())
                .map(|run| StudyConfiguration::new(&factors, run))
                .collect(),
            factors,
        })
    }
}

/// The choice of runs for a request.
struct DesignChoice<'a> {
    factors: &'a [PlannedFactor],
    space: DesignSpace,
    request: &'a DesignRequest,
}

impl DesignChoice<'_> {
    fn seed(&self) -> Seed {
        Seed(self.request.seed)
    }

    fn base(&self) -> Vec<usize> {
        vec![0; self.factors.len()]
    }

    fn model(&self, model: StudyModel) -> Option<DesignModel> {
        let own: Vec<_> = self.factors.iter().map(PlannedFactor::of_model).collect();
        DesignModel::new(&own, &terms(self.factors, model))
    }

    fn columns(&self, model: StudyModel) -> usize {
        self.model(model).map_or(0, |it| it.column_terms().len())
    }

    fn choose(&self) -> Result<ChosenRuns, StudyDesignError> {
        let kind = self.request.kind.unwrap_or_else(|| self.usual_kind());
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

    /// A fraction where it exists and is not larger than wanted; else an optimal design.
    fn usual_kind(&self) -> DesignKind {
        if !self.request.listed.is_empty() {
            return DesignKind::List;
        }
        let two_levels = self.factors.iter().all(|it| it.levels.len() == 2);
        let is_free = self.space.is_unconstrained() && self.request.existing.is_empty();
        // Rounded down to a power of two, a number would be wasted.
        let fits = self.request.runs.is_none_or(usize::is_power_of_two);
        if two_levels && is_free && fits {
            DesignKind::Fractional
        } else {
            DesignKind::Optimal
        }
    }

    /// Returns the number of runs that is asked for, or else gives the model a quarter more than it has columns.
    fn wanted_runs(&self) -> usize {
        let columns = self.columns(self.request.model);
        let usual = columns + (columns / 4).max(4);
        let least = if self.request.existing.is_empty() {
            2
        } else {
            1
        };
        self.request.runs.unwrap_or(usual).clamp(least, MOST_RUNS)
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
        match bound {
            Some(factor) if !self.space.is_unconstrained() => Err(StudyDesignError::Constrained {
                kind: kind.words(),
                factor: factor.name.clone(),
            }),
            Some(_) | None => Ok(()),
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
            notes.push(format!(
                "{} of {all} combinations are dropped: requirements or exclusions forbid them",
                all - runs.len()
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
        Ok(ChosenRuns::new(kind, runs.collect(), vec![note.to_owned()]))
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
            notes.push(format!(
                "{all} configurations cannot estimate all pairs, which takes at least {columns}: pairs disturb main effects as little as possible"
            ));
        }
        let model = self
            .model(self.request.model)
            .ok_or(StudyDesignError::Nothing)?;
        let found = optimal_design(&self.space, &model, left, &options, self.seed())?;
        runs.extend(found);
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
        Ok(ChosenRuns::new(kind, runs, vec![note]))
    }

    /// Returns the runs without repetitions, and balanced random ones until there are as many as wanted.
    fn balanced(&self, runs: Vec<Vec<usize>>, wanted: usize) -> Vec<Vec<usize>> {
        let mut seen: BTreeSet<Vec<usize>> = self.request.existing.iter().cloned().collect();
        let mut unique: Vec<Vec<usize>> = Vec::with_capacity(wanted);
        let base = self.request.existing.is_empty().then(|| self.base());
        let base = base.filter(|base| self.space.is_feasible(base));
        for run in base.into_iter().chain(runs) {
            if seen.insert(run.clone()) {
                unique.push(run);
            }
        }
        // Where few runs are feasible, most of what is drawn is known.
        for attempt in 0..20 {
            if unique.len() >= wanted {
                break;
            }
            let known: Vec<Vec<usize>> = seen.iter().cloned().collect();
            let seed = self.seed().split(&format!("balanced {attempt}"));
            for run in balanced_runs(&self.space, wanted - unique.len(), &known, seed) {
                if seen.insert(run.clone()) {
                    unique.push(run);
                }
            }
        }
        unique
    }

    fn one_at_a_time(&self) -> ChosenRuns {
        let mut runs = one_factor_at_a_time(&self.space, &self.base());
        let mut notes = Vec::new();
        for (own, factor) in self.factors.iter().enumerate() {
            for level in 1..factor.levels.len() {
                if runs.iter().any(|run| run[own] == level) {
                    continue;
                }
                let mut before = self.base();
                self.meet_requirements(own, &mut before);
                let mut after = before.clone();
                after[own] = level;
                let name = factor.level_name(level);
                if self.space.is_feasible(&before) && self.space.is_feasible(&after) {
                    let without = StudyConfiguration::new(self.factors, &before).name;
                    notes.push(format!("{name} is added to {without}, which it requires"));
                    runs.extend([before, after]);
                } else {
                    notes.push(format!("{name} is left out: what it requires is forbidden"));
                }
            }
        }
        ChosenRuns::new(DesignKind::OneAtATime, runs, notes)
    }

    /// Sets what a factor requires, and what that requires, to its first level besides the base.
    fn meet_requirements(&self, factor: usize, run: &mut [usize]) {
        for name in &self.factors[factor].requires {
            let found = self.factors.iter().position(|it| it.name == *name);
            if let Some(other) = found.filter(|other| run[*other] == 0) {
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
            format!("`{name}` is in no walk: requirements or exclusions forbid it")
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
            None => return lapwing_stats::design::set_of_run(&run),
        }
    }
}
