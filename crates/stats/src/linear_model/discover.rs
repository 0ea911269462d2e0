//! The terms that differ from nothing, with a bound on the risk of any false one.

use statrs::distribution::{ContinuousCDF, FisherSnedecor};

use super::fit::{LinearModelError, check};
use super::matrix::{ModelMatrix, ModelTerm};
use super::select::{TermSearch, TermSelection};
use super::sweep::sweep;
use crate::cholesky::SquareMatrix;
use crate::number::as_f64;

/// Fewer degrees of freedom know too little of the noise to be fixed in advance.
const FEWEST_FREEDOM: usize = 10;

/// Terms whose columns correlate so closely, squared, are one candidate.
const ALIASED: f64 = 1.0 - 1e-6;

/// Less than this of a column, of length 1, is left when it depends on others.
const DEPENDENT: f64 = 1e-7;

/// The noise of runs, known beside any model: such as between replicates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KnownNoise {
    /// The variance.
    pub variance: f64,
    /// Its degrees of freedom.
    pub freedom: usize,
}

/// A term that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct DiscoveredTerm {
    /// The term.
    pub term: ModelTerm,
    /// Its p-value when it entered, beside those before it.
    pub p_value: f64,
    /// Other terms that the runs cannot tell from it beside all factors.
    pub aliases: Vec<ModelTerm>,
}

/// The terms that were found.
#[derive(Debug, Clone, PartialEq)]
pub struct DiscoveredTerms {
    /// Those with an effect, the clearest first.
    pub found: Vec<DiscoveredTerm>,
    /// The terms of the model in the matrix's order: the intercept, those found, and the parents that they need.
    pub terms: Vec<ModelTerm>,
    /// The number of candidates; terms that the runs cannot tell apart are one.
    pub candidates: usize,
    /// The number of pairs that the runs cannot tell from others.
    pub open_pairs: usize,
    /// The degrees of freedom of the noise, if it was known before the search.
    pub noise_freedom: Option<usize>,
}

/// Returns the p-value up to which the k-th of so many candidates is found, with the risk of any false one: Holm's
/// risk / (m + 1 − k).
pub fn holm_threshold(risk: f64, candidates: usize, place: usize) -> f64 {
    risk / as_f64((candidates + 1).saturating_sub(place.max(1)).max(1))
}

/// Finds terms forwards, with the `risk` that any of those found is false.
///
/// The candidate with the smallest p-value enters as the k-th of m if that is at most [`holm_threshold`], and the search
/// ends with the first that is not. A pair enters with both of its factors, but its own p-value decides. The noise is
/// that of the model with all terms where this has ten residual degrees of freedom, else the `known` one if that has,
/// else the residual of the model so far. Terms that no longer contribute are dropped in the end.
///
/// `None` when the responses are all equal.
///
/// # Errors
/// When a response is not finite, or their number is not that of the rows.
///
/// Source: Benjamini & Gavrilov, *Annals of Applied Statistics* 2009, with the thresholds of Holm, *Scandinavian Journal
/// of Statistics* 1979.
pub fn discover_terms(
    matrix: &ModelMatrix,
    responses: &[f64],
    risk: f64,
    known: Option<KnownNoise>,
) -> Result<Option<DiscoveredTerms>, LinearModelError> {
    check(matrix.rows(), responses, None)?;
    let options = TermSelection::default();
    let Some(search) = TermSearch::new(matrix, responses, &options) else {
        return Ok(None);
    };
    let mean = responses.iter().sum::<f64>() / as_f64(responses.len());
    let total = responses.iter().map(|it| (it - mean).powi(2)).sum();
    Ok(Some(Discovery::new(search, known, total).run(risk)))
}

/// Returns how many candidates a search among these terms has, and the degrees of freedom of its noise if that is
/// known before: from the model of all terms, or from so many of replicates.
pub fn discovery_size(matrix: &ModelMatrix, replicate_freedom: usize) -> (usize, Option<usize>) {
    let responses: Vec<f64> = (0..matrix.rows()).map(as_f64).collect();
    let options = TermSelection::default();
    let known = KnownNoise {
        variance: 1.0,
        freedom: replicate_freedom,
    };
    TermSearch::new(matrix, &responses, &options).map_or((0, None), |search| {
        let discovery = Discovery::new(search, Some(known), 1.0);
        let freedom = discovery.noise.map(|noise| noise.freedom);
        (discovery.survey.candidates, freedom)
    })
}

struct Discovery<'a> {
    search: TermSearch<'a>,
    /// As a share of the total sum of squares.
    noise: Option<KnownNoise>,
    survey: Survey,
}

impl<'a> Discovery<'a> {
    fn new(search: TermSearch<'a>, known: Option<KnownNoise>, total: f64) -> Self {
        let survey = Survey::new(&search);
        let known = known.map(|known| KnownNoise {
            variance: known.variance / total,
            ..known
        });
        let is_enough = |noise: &KnownNoise| noise.freedom >= FEWEST_FREEDOM;
        Self {
            noise: survey.noise.filter(is_enough).or(known.filter(is_enough)),
            survey,
            search,
        }
    }

    fn run(mut self, risk: f64) -> DiscoveredTerms {
        let candidates = self.survey.candidates;
        let threshold = |place: usize| holm_threshold(risk, candidates, place);
        let mut found: Vec<(usize, f64)> = Vec::new();
        while let Some((term, p_value)) = self.clearest(&found) {
            if p_value > threshold(found.len() + 1) {
                break;
            }
            for own in self.search.with_parents(term) {
                self.search.choose(own);
            }
            found.push((term, p_value));
        }
        // What entered early may be explained by what came later.
        loop {
            let limit = threshold(found.len());
            let weakest = (found.iter().enumerate())
                .filter(|(_, (term, _))| !self.search.is_needed(*term))
                .filter_map(|(place, (term, _))| Some((place, self.p_value_of_removal(*term)?)))
                .max_by(|(_, one), (_, other)| one.total_cmp(other));
            match weakest {
                Some((place, p_value)) if p_value > limit => {
                    let (term, _) = found.remove(place);
                    self.search.drop(term);
                    self.drop_needless_parents(&found);
                }
                Some(_) | None => break,
            }
        }
        let terms = &self.search.terms;
        let chosen = terms.iter().zip(&self.search.chosen);
        let chosen = chosen.filter(|(_, chosen)| **chosen).map(|(term, _)| *term);
        DiscoveredTerms {
            terms: std::iter::once(ModelTerm::Intercept).chain(chosen).collect(),
            found: (found.iter())
                .map(|(term, p_value)| DiscoveredTerm {
                    term: terms[*term],
                    p_value: *p_value,
                    aliases: self.aliases(*term),
                })
                .collect(),
            candidates: self.survey.candidates,
            open_pairs: self.survey.open_pairs,
            noise_freedom: self.noise.map(|noise| noise.freedom),
        }
    }

    /// Returns the term with the smallest p-value, the first of equal ones.
    fn clearest(&self, found: &[(usize, f64)]) -> Option<(usize, f64)> {
        let open = (0..self.search.terms.len()).filter(|at| found.iter().all(|(own, _)| own != at));
        let mut best: Option<(usize, f64, f64)> = None;
        for term in open {
            let Some((p_value, statistic)) = self.p_value_of_addition(term) else {
                continue;
            };
            let is_better = best.is_none_or(|(_, least, largest)| {
                p_value < least || (p_value == 0.0 && statistic > largest * (1.0 + 1e-9))
            });
            if is_better {
                best = Some((term, p_value, statistic));
            }
        }
        best.map(|(term, p_value, _)| (term, p_value))
    }

    /// Returns the p-value of a term that is not in the model, beside its parents, and F; of a parent that is in the
    /// model for others the p-value of its removal.
    fn p_value_of_addition(&self, term: usize) -> Option<(f64, f64)> {
        if self.search.chosen[term] {
            // Pairs with it are centred on nothing: its own test is the one without them.
            return None;
        }
        let (gain, rank, residual, coefficients) = self.search.gain(term)?;
        let (variance, freedom) = match self.noise {
            Some(noise) => (noise.variance, noise.freedom),
            None => {
                let freedom = self.search.rows().checked_sub(coefficients)?;
                (residual / as_f64(freedom), freedom)
            }
        };
        p_value(gain, rank, variance, freedom)
    }

    fn p_value_of_removal(&self, term: usize) -> Option<f64> {
        let (loss, rank) = self.search.loss(term)?;
        let (variance, freedom) = match self.noise {
            Some(noise) => (noise.variance, noise.freedom),
            None => {
                let freedom = self.search.rows().checked_sub(self.search.coefficients())?;
                (self.search.residual() / as_f64(freedom), freedom)
            }
        };
        p_value(loss, rank, variance, freedom).map(|(p_value, _)| p_value)
    }

    /// Returns the terms of one column that agree with that of a term, beside all factors but itself.
    fn aliases(&self, term: usize) -> Vec<ModelTerm> {
        let (Some(beside), [own]) = (&self.survey.beside, &self.search.columns[term][..]) else {
            return Vec::new();
        };
        let terms = &self.search.terms;
        let mut beside = beside.clone();
        if terms[term].parents().is_empty() && beside.at(*own, *own) < 0.0 {
            sweep(&mut beside, *own, -1.0);
        }
        let left = |column: usize| beside.at(column, column);
        let agrees = |at: &usize| {
            let is_child = terms[*at].parents().contains(&terms[term]);
            matches!(self.search.columns[*at][..], [other] if *at != term
                && !is_child
                && !self.search.chosen[*at]
                && left(other) > DEPENDENT
                && beside.at(*own, other).powi(2) > ALIASED * left(*own) * left(other))
        };
        (0..terms.len()).filter(agrees).map(|at| terms[at]).collect()
    }

    fn drop_needless_parents(&mut self, found: &[(usize, f64)]) {
        let is_found = |at: usize| found.iter().any(|(own, _)| *own == at);
        for at in 0..self.search.terms.len() {
            if self.search.chosen[at] && !is_found(at) && !self.search.is_needed(at) {
                self.search.drop(at);
            }
        }
    }
}

fn p_value(squares: f64, rank: usize, variance: f64, freedom: usize) -> Option<(f64, f64)> {
    if rank == 0 || freedom == 0 {
        return None;
    }
    let statistic = squares / as_f64(rank) / variance.max(1e-300);
    let spread = FisherSnedecor::new(as_f64(rank), as_f64(freedom)).ok()?;
    Some((spread.sf(statistic.max(0.0)), statistic))
}

/// What the runs can tell, whatever the responses are.
struct Survey {
    candidates: usize,
    open_pairs: usize,
    /// The noise of the model with all terms, as a share of the total; `None` without residual freedom.
    noise: Option<KnownNoise>,
    /// The correlations beside all factors, if some terms cannot be told apart.
    beside: Option<SquareMatrix>,
}

impl Survey {
    fn new(search: &TermSearch<'_>) -> Self {
        let mut swept = search.swept.clone();
        let of_kind = |is_main: bool| -> Vec<&Vec<usize>> {
            let own = search.terms.iter().zip(&search.columns);
            let own = own.filter(|(term, _)| term.parents().is_empty() == is_main);
            own.map(|(_, columns)| columns).collect()
        };
        let [main, others] = [true, false].map(of_kind);
        let mut candidates = distinct(&swept, &main);
        let factors = sweep_all(&mut swept, &main);
        // What is left of pairs beside the factors is what can be told apart.
        let told = distinct(&swept, &others);
        candidates += told;
        let beside = swept.clone();
        let pairs = sweep_all(&mut swept, &others);
        let noise = search.rows().checked_sub(1 + factors + pairs);
        let noise = noise.filter(|it| *it > 0).map(|freedom| KnownNoise {
            variance: swept.at(swept.size - 1, swept.size - 1).max(0.0) / as_f64(freedom),
            freedom,
        });
        let is_full = factors + pairs == swept.size - 1;
        Self {
            candidates,
            open_pairs: if is_full {
                0
            } else {
                others.len() - told.min(pairs)
            },
            noise,
            beside: (!is_full).then_some(beside),
        }
    }
}

/// Sweeps in what is left of the columns of terms, and returns how many those were.
fn sweep_all(swept: &mut SquareMatrix, terms: &[&Vec<usize>]) -> usize {
    let mut rank = 0;
    for column in terms.iter().copied().flatten() {
        if swept.at(*column, *column) > DEPENDENT {
            sweep(swept, *column, 1.0);
            rank += 1;
        }
    }
    rank
}

/// Returns the number of terms of which something is left, those of one column that agree counted once.
fn distinct(swept: &SquareMatrix, terms: &[&Vec<usize>]) -> usize {
    let left = |column: usize| swept.at(column, column);
    let mut seen: Vec<usize> = Vec::new();
    let mut count = 0;
    for columns in terms {
        let own: Vec<usize> = columns.iter().copied().filter(|at| left(*at) > DEPENDENT).collect();
        let [own] = own[..] else {
            count += usize::from(!own.is_empty());
            continue;
        };
        let agrees = |other: &usize| {
            swept.at(own, *other).powi(2) > ALIASED * left(own) * left(*other)
        };
        if !seen.iter().any(agrees) {
            seen.push(own);
            count += 1;
        }
    }
    count
}
