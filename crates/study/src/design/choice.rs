//! Chooses the runs of a design.

use std::collections::BTreeSet;

use lapwing_model::text::grouped;
use lapwing_stats::Seed;
use lapwing_stats::design::{
    DesignModel, DesignSpace, FractionalFactorial, balanced_runs, d_efficiency,
    plackett_burman_runs,
};

use super::ability::{DesignAbility, aliases};
use super::factor::{forbidden_pairs, space, terms};
use super::{
    DesignKind, DesignNote, PlannedFactor, StudyConfiguration, StudyDesign, StudyDesignError,
    StudyModel, VERSION,
};

/// More configurations than this are not designed.
pub(super) const MOST_RUNS: usize = 4096;

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

/// Runs, and what is known of them.
pub(super) struct ChosenRuns {
    pub kind: DesignKind,
    pub runs: Vec<Vec<usize>>,
    pub fraction: Option<FractionalFactorial>,
    pub notes: Vec<DesignNote>,
}

impl ChosenRuns {
    pub fn new(kind: DesignKind, runs: Vec<Vec<usize>>, notes: Vec<DesignNote>) -> Self {
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
        mut factors: Vec<PlannedFactor>,
        request: &DesignRequest,
    ) -> Result<Self, StudyDesignError> {
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
        let levels = factors.iter().map(|factor| factor.levels.len());
        let choice = DesignChoice {
            space: space(&factors, levels.collect())?,
            factors: &factors,
            request,
        };
        let kind = request.kind.unwrap_or_else(|| choice.usual_kind());
        if request.kind.is_none() && kind == DesignKind::Fractional && choice.has_no_fraction() {
            let screening = choice.screening();
            let mut design = Self::new((suite, suite_file), factors, &screening)?;
            design.notes.insert(0, screening_note(&design));
            return Ok(design);
        }
        let mut chosen = match choice.runs(kind) {
            // No fraction of so many configurations is known.
            Err(StudyDesignError::TooFew { .. }) if choice.may_be_optimal() => {
                choice.runs(DesignKind::Optimal)?
            }
            chosen => chosen?,
        };
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
                let text = format!(
                    "requirements or exclusions make these pairs impossible to estimate: {}",
                    names.join(", ")
                );
                chosen.notes.push(text.into());
            }
        }
        let together = [request.existing.as_slice(), &chosen.runs].concat();
        let ability = DesignAbility::new(&factors, &together);
        let model = choice.model(request.model);
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

/// Says why a design does not estimate what it was asked for.
fn screening_note(design: &StudyDesign) -> DesignNote {
    let (factors, runs) = (design.factors.len(), design.configurations.len());
    let text = format!(
        "a fraction that estimates the pairs of {factors} factors needs more than {} configurations: these {runs} screen main effects; afterwards `--factor` chooses the strongest for a design with pairs, or `--kind optimal --runs N` estimates as many as N allows",
        grouped(MOST_RUNS)
    );
    DesignNote::new(text, &[("factors", factors), ("configurations", runs)])
}

/// The choice of runs for a request.
pub(super) struct DesignChoice<'a> {
    pub factors: &'a [PlannedFactor],
    pub space: DesignSpace,
    pub request: &'a DesignRequest,
}

impl DesignChoice<'_> {
    pub fn seed(&self) -> Seed {
        Seed(self.request.seed)
    }

    pub fn base(&self) -> Vec<usize> {
        vec![0; self.factors.len()]
    }

    pub fn model(&self, model: StudyModel) -> Option<DesignModel> {
        let factors: Vec<_> = self.factors.iter().map(PlannedFactor::of_model).collect();
        DesignModel::new(&factors, &terms(self.factors, model))
    }

    pub fn columns(&self, model: StudyModel) -> usize {
        self.model(model).map_or(0, |it| it.column_terms().len())
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

    /// Returns whether all fractions that the model needs are too large, and no size or resolution is asked for.
    fn has_no_fraction(&self) -> bool {
        let request = self.request;
        let is_free = request.runs.is_none() && request.resolution.is_none();
        is_free
            && matches!(
                self.runs(DesignKind::Fractional),
                Err(StudyDesignError::TooMany { .. })
            )
    }

    /// Returns whether nothing but a number of configurations is asked for, and these can estimate the model.
    fn may_be_optimal(&self) -> bool {
        let request = self.request;
        let is_free = request.kind.is_none() && request.resolution.is_none();
        let columns = self.columns(request.model);
        is_free && request.runs.is_some_and(|runs| runs >= columns)
    }

    /// Returns the request for a design that screens main effects: a Plackett–Burman design with its fold-over, in which
    /// main effects are free of pairs, or an optimal one where there is none.
    fn screening(&self) -> DesignRequest {
        let runs = plackett_burman_runs(self.factors.len()).map(|runs| 2 * runs);
        DesignRequest {
            kind: Some(match runs {
                Some(_) => DesignKind::PlackettBurman,
                None => DesignKind::Optimal,
            }),
            runs,
            model: StudyModel::Main,
            ..self.request.clone()
        }
    }

    /// Returns the number of runs that is asked for, or else gives the model a quarter more than it has columns.
    pub fn wanted_runs(&self) -> usize {
        let columns = self.columns(self.request.model);
        let usual = columns + (columns / 4).max(4);
        let least = if self.request.existing.is_empty() {
            2
        } else {
            1
        };
        self.request.runs.unwrap_or(usual).clamp(least, MOST_RUNS)
    }

    /// Returns the runs without repetitions, and balanced random ones until there are as many as wanted.
    pub fn balanced(&self, runs: Vec<Vec<usize>>, wanted: usize) -> Vec<Vec<usize>> {
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
}
