//! The model: selected factors and pairs, the time of day and drift, and effects that depend on the level.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use lapwing_stats::linear_model::{
    Coefficient, DiscoveredTerm, DiscoveredTerms, FactorValues, LeastSquares, LinearFit,
    ModelMatrix, ModelTerm, ReplicateNoise, discover_terms,
};
use lapwing_stats::{as_f64, mean};

use super::FALSE_FINDINGS;
use crate::covariates::{Covariate, StudyCovariate, sittings};
use crate::data::{StudyData, StudyInstance};
use crate::factor::StudyFactor;
use crate::fit::{StudyFitError, responses};
use crate::scale::StudyScale;

/// Factors whose levels span such a ratio count by their logarithms.
const WIDE: f64 = 8.0;

/// Three factors, each two of which have a pair in the model.
pub(crate) type Triple = [usize; 3];

/// An effect of a treatment that depends on the value of the setting without it: a column of the model.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LevelColumn {
    /// The factor of the treatment.
    pub factor: usize,
    /// The number of the treatment's level.
    pub level: usize,
    /// The value around which the effect of the treatment itself is.
    pub centre: f64,
    /// The factors that make the value, if not all of them do: the others are at their base.
    pub only: Option<Vec<usize>>,
    /// The terms that predict the value without it, and their coefficients.
    pub terms: Vec<ModelTerm>,
    pub triples: Vec<Triple>,
    pub coefficients: Vec<f64>,
}

/// How a model is made.
#[derive(Debug, Clone, Default)]
pub(crate) struct ModelRequest {
    pub terms: Vec<ModelTerm>,
    pub triples: Vec<Triple>,
    pub levels: Vec<LevelColumn>,
}

/// The model of a study.
#[derive(Debug)]
pub(crate) struct ExplainedModel {
    /// The terms of factors and covariates.
    pub terms: Vec<ModelTerm>,
    /// Products of three factors, for what pairs do not explain; no finding is about them.
    pub triples: Vec<Triple>,
    pub levels: Vec<LevelColumn>,
    pub found: Vec<DiscoveredTerm>,
    /// What the instances cannot tell from the factors of pairs that were found, which were not found themselves.
    pub parent_aliases: Vec<(ModelTerm, Vec<ModelTerm>)>,
    pub candidates: usize,
    /// The number of pairs of factors that cannot be told from others, and of all.
    pub open_pairs: usize,
    pub pairs: usize,
    pub fit: LinearFit,
    pub coefficients: Vec<f64>,
    responses: Vec<f64>,
    /// The covariates in the model: drift, the time of day.
    pub beside: Vec<StudyCovariate>,
    /// Of each factor, the part of its column for each level; `None` for one with a column per level.
    parts: Vec<Option<Vec<f64>>>,
    /// The values of factors and covariates of each instance.
    values: Vec<FactorValues>,
    /// The means of covariates.
    means: Vec<f64>,
}

impl ExplainedModel {
    pub fn new(data: &StudyData, scale: StudyScale) -> Result<Self, StudyFitError> {
        let responses = responses(&data.instances, scale)?;
        let mut parts: Vec<Option<Vec<f64>>> = data.factors.iter().map(parts).collect();
        let found = loop {
            let found = Self::search(data, &responses, &parts)?;
            // A curve that does not fit gives way to the levels themselves.
            let bent = (0..parts.len()).find(|at| {
                let is_curve = data.factors[*at].numbers().is_some();
                is_curve && parts[*at].is_some() && found.is_bent(data, *at)
            });
            match bent {
                Some(at) => parts[at] = None,
                None => break found,
            }
        };
        Ok(found)
    }

    fn search(
        data: &StudyData,
        responses: &[f64],
        parts: &[Option<Vec<f64>>],
    ) -> Result<Self, StudyFitError> {
        let varied = data.factors.len();
        let mut values = factor_values(data, parts);
        let kinds = covariates(data);
        let mut means = Vec::new();
        let mut owners = Vec::new();
        for kind in kinds {
            let covariates = match kind {
                StudyCovariate::Session => Covariate::of_sittings(&sittings(data)),
                StudyCovariate::Time | StudyCovariate::TimeOfDay => kind.of(data),
            };
            for covariate in covariates {
                if let FactorValues::Numbers(numbers) = &covariate.values {
                    means.push(mean(numbers).unwrap_or(0.0));
                    owners.push(kind);
                    values.push(covariate.values);
                }
            }
        }
        let mut terms = ModelTerm::all_pairs(varied);
        let curves = (0..varied).filter(|at| matches!(values[*at], FactorValues::Numbers(_)));
        terms.extend(curves.map(ModelTerm::Square));
        terms.extend((varied..values.len()).map(ModelTerm::Main));
        let matrix = ModelMatrix::new(&values, &terms)?;
        let known = replicate_noise(&data.instances, responses);
        let found = discover_terms(&matrix, responses, FALSE_FINDINGS, known)?
            .ok_or(StudyFitError::Equal)?;
        let mut found = found;
        let candidates = triples(&found.terms, parts);
        if !candidates.is_empty() {
            let all = found.candidates;
            found = with_triples(&values, parts, found, &candidates, responses, known)?;
            found.candidates = all;
        }
        let count = values.len();
        let (mut terms, extra): (Vec<ModelTerm>, Vec<ModelTerm>) = (found.terms.iter())
            .partition(|term| !matches!(term, ModelTerm::Main(own) if *own >= count));
        let triples: Vec<Triple> = (extra.iter())
            .filter_map(|term| match term {
                ModelTerm::Main(own) => Some(candidates[own - count]),
                _ => None,
            })
            .collect();
        found.found.retain(|own| terms.contains(&own.term));
        // Both waves of the day, or none.
        let has = |at: usize| terms.contains(&ModelTerm::Main(varied + at));
        let mut beside: Vec<StudyCovariate> = Vec::new();
        for (at, owner) in owners.iter().enumerate() {
            if has(at) && !beside.contains(owner) {
                beside.push(*owner);
            }
        }
        for (at, owner) in owners.iter().enumerate() {
            let term = ModelTerm::Main(varied + at);
            if beside.contains(owner) && !terms.contains(&term) {
                terms.push(term);
            }
        }
        let request = ModelRequest {
            terms,
            triples,
            levels: Vec::new(),
        };
        let (fit, coefficients) = fit(&values, data, parts, &means, &request, responses)?;
        Ok(Self {
            terms: request.terms,
            triples: request.triples,
            levels: Vec::new(),
            parent_aliases: found.parent_aliases,
            found: found.found,
            candidates: found.candidates,
            open_pairs: found.open_pairs,
            pairs: varied * varied.saturating_sub(1) / 2,
            fit,
            coefficients,
            responses: responses.to_vec(),
            beside,
            parts: parts.to_vec(),
            values,
            means,
        })
    }

    /// Returns the model with other terms; what was found and how many candidates there were stay.
    pub fn with(&self, data: &StudyData, request: ModelRequest) -> Result<Self, StudyFitError> {
        let (fit, coefficients) = fit(
            &self.values,
            data,
            &self.parts,
            &self.means,
            &request,
            &self.responses,
        )?;
        let stays = |own: &&DiscoveredTerm| request.terms.contains(&own.term);
        Ok(Self {
            found: self.found.iter().filter(stays).cloned().collect(),
            parent_aliases: self.parent_aliases.clone(),
            terms: request.terms,
            triples: request.triples,
            levels: request.levels,
            candidates: self.candidates,
            open_pairs: self.open_pairs,
            pairs: self.pairs,
            fit,
            coefficients,
            responses: self.responses.clone(),
            beside: self.beside.clone(),
            parts: self.parts.clone(),
            values: self.values.clone(),
            means: self.means.clone(),
        })
    }

    pub fn request(&self) -> ModelRequest {
        ModelRequest {
            terms: self.terms.clone(),
            triples: self.triples.clone(),
            levels: self.levels.clone(),
        }
    }

    /// Returns the residual degrees of freedom.
    pub fn freedom(&self) -> f64 {
        as_f64(self.fit.residual_freedom())
    }

    /// Returns n ln(RSS) + k ln n.
    pub fn criterion(&self) -> f64 {
        let runs = as_f64(self.responses.len());
        runs * self.fit.residual_sum_of_squares.max(1e-300).ln()
            + as_f64(self.fit.rank() + self.levels.len()) * runs.ln()
    }

    pub fn has_main(&self, factor: usize) -> bool {
        self.terms.contains(&ModelTerm::Main(factor))
    }

    /// Returns the place of the only column of a term.
    pub fn place(&self, data: &StudyData, term: ModelTerm) -> Option<usize> {
        let before = self.terms.iter().position(|own| *own == term)?;
        let levels = vec![None; data.factors.len()];
        let average = Average {
            data,
            parts: &self.parts,
            means: &self.means,
            levels: &levels,
        };
        Some(average.columns(&self.terms[..before]).len())
    }

    /// Returns the largest change that rounding can make.
    pub fn rounding(&self) -> f64 {
        const SHARE: f64 = 1e-11;
        let sizes = self.responses.iter().map(|it| it.abs());
        SHARE * sizes.fold(0.0, f64::max)
    }

    /// Returns the estimate of a contrast with its uncertainty.
    pub fn contrast(&self, weights: &[f64]) -> Option<Coefficient> {
        self.fit.contrast(weights)
    }

    /// Returns the weights of the difference between the averages of settings with some levels and with others.
    pub fn difference(
        &self,
        data: &StudyData,
        to: &[(usize, usize)],
        from: &[(usize, usize)],
    ) -> Vec<f64> {
        let [to, from] = [to, from].map(|levels| self.row(data, levels));
        to.iter()
            .zip(from)
            .map(|(one, other)| one - other)
            .collect()
    }

    /// Returns the columns of the average over all combinations of the factors that are not fixed.
    pub fn row(&self, data: &StudyData, fixed: &[(usize, usize)]) -> Vec<f64> {
        let mut levels = vec![None; data.factors.len()];
        for (factor, level) in fixed {
            levels[*factor] = Some(*level);
        }
        self.row_of(data, &levels)
    }

    fn row_of(&self, data: &StudyData, levels: &[Option<usize>]) -> Vec<f64> {
        let average = Average {
            data,
            parts: &self.parts,
            means: &self.means,
            levels,
        };
        let mut row = average.columns(&self.terms);
        row.extend(self.triples.iter().map(|own| average.triple(own)));
        for own in &self.levels {
            row.push(average.level_entry(own));
        }
        row
    }

    /// Returns the value of a setting on the scale.
    pub fn value(&self, data: &StudyData, setting: &[usize]) -> f64 {
        let levels: Vec<Option<usize>> = setting.iter().copied().map(Some).collect();
        let row = self.row_of(data, &levels);
        row.iter()
            .zip(&self.coefficients)
            .map(|(one, other)| one * other)
            .sum()
    }

    /// Returns the weights of the difference between two settings.
    pub fn setting_difference(&self, data: &StudyData, to: &[usize], from: &[usize]) -> Vec<f64> {
        let all = |setting: &[usize]| -> Vec<(usize, usize)> {
            setting.iter().copied().enumerate().collect()
        };
        self.difference(data, &all(to), &all(from))
    }

    /// Returns the value of each instance's setting with one factor at its base, without covariates.
    pub fn values_without(&self, data: &StudyData, factor: usize) -> Vec<f64> {
        let own = data.treatments.iter().enumerate();
        let own = own.filter(|(_, treatment)| treatment.factor == factor);
        let own = own.fold(0, |set: u128, (at, _)| set | 1 << at);
        let mut known: BTreeMap<u128, f64> = BTreeMap::new();
        let values = data.instances.iter().map(|instance| {
            *known.entry(instance.set & !own).or_insert_with(|| {
                let mut setting = instance.levels.clone();
                setting[factor] = 0;
                self.value(data, &setting)
            })
        });
        values.collect()
    }

    /// Returns whether the levels of a numeric factor are not on its curve.
    fn is_bent(&self, data: &StudyData, factor: usize) -> bool {
        const SURE: f64 = 0.01;
        let numbers = data.factors[factor].levels.len();
        if numbers < 4 && !self.terms.contains(&ModelTerm::Main(factor)) {
            return false;
        }
        let mut values = self.values.clone();
        values.push(FactorValues::Levels {
            levels: data
                .instances
                .iter()
                .map(|own| own.levels[factor])
                .collect(),
            count: numbers,
        });
        let mut terms = self.terms.clone();
        terms.push(ModelTerm::Main(values.len() - 1));
        let Ok(matrix) = ModelMatrix::new(&values, &terms) else {
            return false;
        };
        let Ok(wider) = LinearFit::new(&matrix, &self.responses, LeastSquares::default()) else {
            return false;
        };
        let p_value = wider.gain_over(&self.fit);
        p_value.is_some_and(|p| p <= SURE / as_f64(data.factors.len()))
    }
}

/// Returns the parts of a factor's column for each level; `None` for one with a column per level.
fn parts(factor: &StudyFactor) -> Option<Vec<f64>> {
    let Some(numbers) = factor.numbers() else {
        return (factor.levels.len() <= 2).then(|| vec![0.0, 1.0]);
    };
    let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let most = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let is_wide = least > 0.0 && most / least >= WIDE;
    let place = |number: f64| if is_wide { number.ln() } else { number };
    let (base, width) = (place(numbers[0]), place(most) - place(least));
    Some(
        numbers
            .iter()
            .map(|number| (place(*number) - base) / width)
            .collect(),
    )
}

fn factor_values(data: &StudyData, parts: &[Option<Vec<f64>>]) -> Vec<FactorValues> {
    let factors = data.factors.iter().zip(parts).enumerate();
    factors
        .map(|(at, (factor, parts))| {
            let levels = data.instances.iter().map(|own| own.levels[at]);
            match parts {
                None => FactorValues::Levels {
                    levels: levels.collect(),
                    count: factor.levels.len(),
                },
                Some(_) if factor.levels.len() <= 2 => {
                    FactorValues::Treatment(levels.map(|level| level == 1).collect())
                }
                Some(parts) => FactorValues::Numbers(levels.map(|level| parts[level]).collect()),
            }
        })
        .collect()
}

/// Returns what may be beside the factors: drift where there are times, the time of day where they cover it; of a few
/// sittings with long pauses between them these, which say nothing about either.
fn covariates(data: &StudyData) -> Vec<StudyCovariate> {
    const DAY: f64 = 86_400.0;
    const MOST_SITTINGS: usize = 12;
    const FEWEST_OF_EACH: usize = 4;
    const SPAN: u64 = 2 * 3_600;
    const COVERED: u64 = 18 * 3_600;
    let sittings = sittings(data).into_iter().max().map_or(1, |most| most + 1);
    if (2..=MOST_SITTINGS).contains(&sittings) {
        let is_enough = data.instances.len() >= FEWEST_OF_EACH * sittings;
        return is_enough
            .then_some(StudyCovariate::Session)
            .into_iter()
            .collect();
    }
    let times: Vec<f64> = data.instances.iter().map(|own| own.time).collect();
    // Two hours of the day that were measured on some day.
    let hours = |time: f64| {
        Duration::try_from_secs_f64(time).map(|it| it.as_secs() / SPAN % (86_400 / SPAN))
    };
    let covered: BTreeSet<u64> = times.iter().filter_map(|time| hours(*time).ok()).collect();
    let least = times.iter().copied().fold(f64::INFINITY, f64::min);
    let most = times.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut distinct = times;
    distinct.sort_by(f64::total_cmp);
    distinct.dedup();
    // Times that many instances share, such as that of an import, tell nothing.
    if distinct.len() * 2 < data.instances.len() || distinct.len() < 8 {
        return Vec::new();
    }
    let mut kinds = vec![StudyCovariate::Time];
    if most - least >= 2.0 * DAY && covered.len() as u64 * SPAN >= COVERED {
        kinds.push(StudyCovariate::TimeOfDay);
    }
    kinds
}

/// Returns the triples of factors of which each two have a pair in the model, of one column each.
fn triples(terms: &[ModelTerm], parts: &[Option<Vec<f64>>]) -> Vec<Triple> {
    const MOST: usize = 100;
    let has =
        |one: usize, other: usize| terms.contains(&ModelTerm::Pair(one.min(other), one.max(other)));
    let single: Vec<usize> = (0..parts.len()).filter(|at| parts[*at].is_some()).collect();
    let mut found = Vec::new();
    for term in terms {
        if let ModelTerm::Pair(one, other) = *term
            && single.contains(&one)
            && single.contains(&other)
        {
            let thirds = single.iter().filter(|third| **third > other);
            let thirds = thirds.filter(|third| has(one, **third) && has(other, **third));
            found.extend(thirds.map(|third| [one, other, *third]));
        }
    }
    found.truncate(MOST);
    found
}

/// Searches among the terms that were found, and triples: what seemed to be a pair may be what triples leave.
fn with_triples(
    values: &[FactorValues],
    parts: &[Option<Vec<f64>>],
    found: DiscoveredTerms,
    triples: &[Triple],
    responses: &[f64],
    known: Option<ReplicateNoise>,
) -> Result<DiscoveredTerms, StudyFitError> {
    let mut all = values.to_vec();
    let mut terms = found.terms.clone();
    for own in triples {
        terms.push(ModelTerm::Main(all.len()));
        all.push(product(values, parts, own));
    }
    let matrix = ModelMatrix::new(&all, &terms)?;
    // As strict as if all candidates were searched again.
    let share = as_f64(terms.len()) / as_f64(found.candidates.max(terms.len()));
    let again = discover_terms(&matrix, responses, FALSE_FINDINGS * share, known)?;
    let again = again.ok_or(StudyFitError::Equal)?;
    let aliases = |own: ModelTerm| {
        let found_before = found.found.iter().map(|it| (it.term, &it.aliases));
        let parents = found
            .parent_aliases
            .iter()
            .map(|(it, aliases)| (*it, aliases));
        let before = found_before.chain(parents).find(|(it, _)| *it == own);
        before.map_or_else(Vec::new, |(_, aliases)| aliases.clone())
    };
    Ok(DiscoveredTerms {
        found: (again.found.iter())
            .map(|own| DiscoveredTerm {
                aliases: aliases(own.term),
                ..own.clone()
            })
            .collect(),
        parent_aliases: (again.parent_aliases.iter())
            .map(|(own, _)| (*own, aliases(*own)))
            .collect(),
        open_pairs: found.open_pairs,
        ..again
    })
}

fn product(values: &[FactorValues], parts: &[Option<Vec<f64>>], own: &Triple) -> FactorValues {
    let number = |factor: usize, row: usize| match &values[factor] {
        FactorValues::Treatment(present) => f64::from(u8::from(present[row])),
        FactorValues::Numbers(numbers) => numbers[row],
        FactorValues::Levels { levels, .. } => parts[factor]
            .as_ref()
            .map_or(0.0, |parts| parts[levels[row]]),
    };
    let rows = match &values[own[0]] {
        FactorValues::Treatment(present) => present.len(),
        FactorValues::Numbers(numbers) => numbers.len(),
        FactorValues::Levels { levels, .. } => levels.len(),
    };
    let entry = |row: usize| own.iter().map(|factor| number(*factor, row)).product();
    FactorValues::Numbers((0..rows).map(entry).collect())
}

/// Returns the noise between instances of the same setting.
fn replicate_noise(instances: &[StudyInstance], responses: &[f64]) -> Option<ReplicateNoise> {
    let mut groups: BTreeMap<&[usize], Vec<f64>> = BTreeMap::new();
    for (instance, response) in instances.iter().zip(responses) {
        groups.entry(&instance.levels).or_default().push(*response);
    }
    let freedom: usize = groups.values().map(|own| own.len() - 1).sum();
    let squares: f64 = (groups.values())
        .map(|own| {
            let middle = mean(own).unwrap_or(0.0);
            own.iter()
                .map(|value| (value - middle).powi(2))
                .sum::<f64>()
        })
        .sum();
    (freedom > 0).then(|| ReplicateNoise {
        variance: squares / as_f64(freedom),
        freedom,
        settings: groups.len(),
    })
}

/// The columns of an average of settings.
struct Average<'a> {
    data: &'a StudyData,
    parts: &'a [Option<Vec<f64>>],
    means: &'a [f64],
    levels: &'a [Option<usize>],
}

impl Average<'_> {
    fn columns(&self, terms: &[ModelTerm]) -> Vec<f64> {
        let mut columns = Vec::with_capacity(terms.len());
        for term in terms {
            match *term {
                ModelTerm::Intercept => columns.push(1.0),
                ModelTerm::Main(factor) => match factor.checked_sub(self.data.factors.len()) {
                    Some(covariate) => columns.push(self.means[covariate]),
                    None => match self.single(factor) {
                        Some(own) => columns.push(own),
                        None => columns.extend(self.own(factor)),
                    },
                },
                ModelTerm::Square(factor) => columns.push(self.square(factor)),
                ModelTerm::Pair(one, other) => match (self.single(one), self.single(other)) {
                    (Some(one), Some(other)) => columns.push(one * other),
                    _ => {
                        let others = self.own(other);
                        for own in self.own(one) {
                            columns.extend(others.iter().map(|other| own * other));
                        }
                    }
                },
            }
        }
        columns
    }

    /// Returns the mean of the only column of a factor; `None` if it has a column per level.
    fn single(&self, factor: usize) -> Option<f64> {
        let parts = self.parts[factor].as_ref()?;
        Some(match self.levels[factor] {
            Some(level) => parts[level],
            None => {
                let count = self.data.factors[factor].levels.len();
                parts[..count].iter().sum::<f64>() / as_f64(count)
            }
        })
    }

    /// Returns the mean of each column of a factor.
    fn own(&self, factor: usize) -> Vec<f64> {
        let count = self.data.factors[factor].levels.len();
        match (self.single(factor), self.levels[factor]) {
            (Some(own), _) => vec![own],
            (None, Some(level)) => (1..count)
                .map(|own| if own == level { 1.0 } else { 0.0 })
                .collect(),
            (None, None) => vec![1.0 / as_f64(count); count - 1],
        }
    }

    fn square(&self, factor: usize) -> f64 {
        let Some(parts) = &self.parts[factor] else {
            return 0.0;
        };
        match self.levels[factor] {
            Some(level) => parts[level].powi(2),
            None => parts.iter().map(|it| it * it).sum::<f64>() / as_f64(parts.len()),
        }
    }

    fn level_entry(&self, own: &LevelColumn) -> f64 {
        let mut levels = self.levels.to_vec();
        let count = self.data.factors[own.factor].levels.len();
        if let Some(only) = &own.only {
            let others = (0..levels.len()).filter(|at| !only.contains(at) && *at != own.factor);
            for at in others {
                levels[at] = Some(0);
            }
        }
        let present = match levels[own.factor].replace(0) {
            Some(level) => f64::from(u8::from(level == own.level)),
            None => 1.0 / as_f64(count),
        };
        if present == 0.0 {
            return 0.0;
        }
        let without = Average {
            levels: &levels,
            ..*self
        };
        present * (without.value(own) - own.centre)
    }

    fn triple(&self, own: &Triple) -> f64 {
        let part = |factor: &usize| self.single(*factor).unwrap_or(0.0);
        own.iter().map(part).product()
    }

    fn value(&self, own: &LevelColumn) -> f64 {
        let mut columns = self.columns(&own.terms);
        columns.extend(own.triples.iter().map(|triple| self.triple(triple)));
        columns
            .iter()
            .zip(&own.coefficients)
            .map(|(one, other)| one * other)
            .sum()
    }
}

fn fit(
    values: &[FactorValues],
    data: &StudyData,
    parts: &[Option<Vec<f64>>],
    means: &[f64],
    request: &ModelRequest,
    responses: &[f64],
) -> Result<(LinearFit, Vec<f64>), StudyFitError> {
    let mut values = values.to_vec();
    let mut terms = request.terms.clone();
    for own in &request.triples {
        terms.push(ModelTerm::Main(values.len()));
        values.push(product(&values, parts, own));
    }
    for own in &request.levels {
        terms.push(ModelTerm::Main(values.len()));
        let entries = data.instances.iter().map(|instance| {
            let levels: Vec<Option<usize>> = instance.levels.iter().copied().map(Some).collect();
            let average = Average {
                data,
                parts,
                means,
                levels: &levels,
            };
            average.level_entry(own)
        });
        values.push(FactorValues::Numbers(entries.collect()));
    }
    let matrix = ModelMatrix::new(&values, &terms)?;
    let fit = LinearFit::new(&matrix, responses, LeastSquares::default())?;
    let coefficients = (0..matrix.columns())
        .map(|column| fit.coefficient(column).map_or(0.0, |it| it.estimate))
        .collect();
    Ok((fit, coefficients))
}
