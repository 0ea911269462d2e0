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

/// With fewer degrees of freedom beside all terms their noise says too little.
const FEWEST_BESIDE_ALL: usize = 3;

/// Terms whose columns correlate so closely, squared, are one candidate.
const ALIASED: f64 = 1.0 - 1e-6;

/// Factors that correlate less are nearly orthogonal: a few settings more than a screening design change little.
const ORTHOGONAL: f64 = 0.2;

/// So much of the effect of a pair that looks like that of a factor counts.
const PART_OF_PAIR: f64 = 0.25;

/// Less than this share of the total is rounding.
const EXACT: f64 = 1e-14;

/// Less than this of a column, of length 1, is left when it depends on others.
const DEPENDENT: f64 = 1e-7;

/// The noise between replicates, and the number of settings that they are of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReplicateNoise {
    /// The variance.
    pub variance: f64,
    /// Its degrees of freedom.
    pub freedom: usize,
    /// The number of different settings.
    pub settings: usize,
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
    /// The terms that the runs cannot tell, beside all factors, from those of the model that were not found themselves.
    pub parent_aliases: Vec<(ModelTerm, Vec<ModelTerm>)>,
    /// The number of candidates; terms that the runs cannot tell apart are one.
    pub candidates: usize,
    /// The number of pairs that the runs cannot tell from others.
    pub open_pairs: usize,
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
/// that of the model with all terms where this has ten residual degrees of freedom, else the residual of the model so
/// far. In designs such as Plackett–Burman's, where terms can explain every setting and a part of each pair looks like
/// the effect of a factor, it is the larger of two variances: that between replicates, and that between settings beside
/// the model so far. Where the noise is not known before, the factors are searched first, where the last one that is clear beside those before it decides
/// how many there are (with half the risk, divided by half the number of settings). Terms that no longer contribute are dropped
/// in the end.
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
    replicates: Option<ReplicateNoise>,
) -> Result<Option<DiscoveredTerms>, LinearModelError> {
    check(matrix.rows(), responses, None)?;
    let options = TermSelection::default();
    let Some(search) = TermSearch::new(matrix, responses, &options) else {
        return Ok(None);
    };
    let mean = responses.iter().sum::<f64>() / as_f64(responses.len());
    let total = responses.iter().map(|it| (it - mean).powi(2)).sum();
    Ok(Some(Discovery::new(search, replicates, total).run(risk)))
}

/// How hard it is for the only term with an effect to be found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DiscoverySize {
    /// A factor is found with a p-value of the risk over this.
    pub factors: usize,
    /// A pair is found with a p-value of the risk over this: the number of candidates.
    pub pairs: usize,
    /// The degrees of freedom of the noise before anything is found.
    pub freedom: usize,
}

/// Returns how hard it is to find one of these terms.
pub fn discovery_size(matrix: &ModelMatrix, settings: usize) -> DiscoverySize {
    let responses: Vec<f64> = (0..matrix.rows()).map(as_f64).collect();
    let options = TermSelection::default();
    let replicates = matrix.rows().checked_sub(settings).filter(|it| *it > 0);
    let replicates = replicates.map(|freedom| ReplicateNoise {
        variance: 1.0,
        freedom,
        settings,
    });
    TermSearch::new(matrix, &responses, &options).map_or_else(DiscoverySize::default, |search| {
        let rows = search.rows();
        let discovery = Discovery::new(search, replicates, 1.0);
        let survey = &discovery.survey;
        let factors = match discovery.fixed {
            Some(_) => survey.candidates,
            None => (survey.screened * survey.factors.len()).min(survey.candidates),
        };
        let freedom = match (discovery.fixed, discovery.replicates) {
            (Some((_, freedom)), _) => freedom,
            (None, Some(own)) => own.settings.saturating_sub(2),
            (None, None) => rows.saturating_sub(2),
        };
        // The risk is shared by two searches, and by two kinds of noise.
        let is_shared = discovery.fixed.is_none() && discovery.replicates.is_none();
        let searches = if is_shared { 2 } else { 1 };
        let chances = if discovery.few.is_some() {
            2 * searches
        } else {
            searches
        };
        DiscoverySize {
            factors: chances * factors,
            pairs: chances * survey.candidates,
            freedom,
        }
    })
}

/// Returns, of each factor, the pairs of others that the runs cannot tell from it: wholly, beside all factors, or, where
/// the factors are orthogonal to each other, in such parts that a pair of four times its size looks like it.
///
/// Responses play no part: this is a property of the design, such as of a fraction of resolution III or
/// of one by Plackett and Burman. Factors of more than two levels have no pairs here.
///
/// Source: Box & Hunter, *Technometrics* 1961; the parts: Hamada & Wu, *Journal of Quality Technology* 1992.
pub fn main_effect_aliases(matrix: &ModelMatrix) -> Vec<(ModelTerm, Vec<ModelTerm>)> {
    let responses: Vec<f64> = (0..matrix.rows()).map(as_f64).collect();
    let options = TermSelection::default();
    let Some(search) = TermSearch::new(matrix, &responses, &options) else {
        return Vec::new();
    };
    let discovery = Discovery::new(search, None, 1.0);
    if discovery.survey.beside.is_none() {
        return Vec::new();
    }
    let search = &discovery.search;
    let (main, pairs): (Vec<usize>, Vec<usize>) =
        (0..search.terms.len()).partition(|at| search.terms[*at].parents().is_empty());
    let agreement =
        |one: usize, other: usize| match (&search.columns[one][..], &search.columns[other][..]) {
            ([one], [other]) => search.swept.at(*one, *other).abs(),
            _ => 0.0,
        };
    let mut others = main.iter().enumerate();
    let is_orthogonal = others.all(|(place, one)| {
        main[place + 1..]
            .iter()
            .all(|other| agreement(*one, *other) < ORTHOGONAL)
    });
    // The product of two columns of 0 and 1 has a third of its variance beside them.
    let is_part = |one: usize, pair: usize| {
        let is_child = search.terms[pair].parents().contains(&search.terms[one]);
        is_orthogonal && !is_child && agreement(one, pair) * 3.0_f64.sqrt() > PART_OF_PAIR
    };
    let aliases = |one: &usize| {
        let mut found = discovery.aliases(*one);
        let parts = pairs.iter().filter(|pair| is_part(*one, **pair));
        found.extend(parts.map(|pair| search.terms[*pair]));
        found.sort_unstable();
        found.dedup();
        (search.terms[*one], found)
    };
    main.iter().map(aliases).collect()
}

struct Discovery<'a> {
    search: TermSearch<'a>,
    /// The variance that is known before, as a share of the total sum of squares, and its degrees of freedom.
    fixed: Option<(f64, usize)>,
    /// The same with few degrees of freedom, which counts beside the noise of the model so far.
    few: Option<(f64, usize)>,
    /// The noise of replicates, where their settings leave nothing beside all terms.
    replicates: Option<ReplicateNoise>,
    survey: Survey,
}

impl<'a> Discovery<'a> {
    fn new(search: TermSearch<'a>, replicates: Option<ReplicateNoise>, total: f64) -> Self {
        let survey = Survey::new(&search, replicates.is_some());
        let is_enough = |(_, freedom): &(f64, usize)| *freedom >= FEWEST_FREEDOM;
        let replicates = replicates.map(|own| ReplicateNoise {
            variance: own.variance / total,
            ..own
        });
        // Where parts of pairs seem to be effects of factors, replicates do not know what those do.
        let is_full = replicates.is_some_and(|own| survey.rank + 1 >= own.settings)
            && has_parts_of_pairs(&search);
        Self {
            fixed: survey.noise.filter(|noise| is_enough(noise) && !is_full),
            few: survey.noise.filter(|noise| {
                !is_enough(noise) && noise.1 >= FEWEST_BESIDE_ALL && replicates.is_none()
            }),
            replicates: replicates.filter(|_| is_full),
            survey,
            search,
        }
    }

    /// Returns the noise beside a model with such a residual and so many coefficients.
    fn noise(&self, residual: f64, coefficients: usize) -> Option<(f64, usize)> {
        if self.fixed.is_some() {
            return self.fixed;
        }
        let Some(own) = self.replicates else {
            let freedom = self.search.rows().checked_sub(coefficients)?;
            return (freedom > 0).then(|| (residual / as_f64(freedom), freedom));
        };
        // What differs between settings beside the model is noise, or terms that cannot be told.
        let pure = own.variance * as_f64(own.freedom);
        let between = own.settings.checked_sub(coefficients).filter(|it| *it > 0);
        let between =
            between.map(|freedom| ((residual - pure).max(0.0) / as_f64(freedom), freedom));
        let pure = (own.variance, own.freedom);
        between
            .into_iter()
            .chain([pure])
            .max_by(|one, other| one.0.total_cmp(&other.0))
    }

    fn run(mut self, risk: f64) -> DiscoveredTerms {
        let candidates = self.survey.candidates;
        // The search among factors first and that among all terms share the risk.
        // Between settings the noise is the larger of two, so that both have all of it.
        let is_shared = self.fixed.is_none() && self.replicates.is_none();
        let risk = if is_shared { 0.5 * risk } else { risk };
        let threshold = |place: usize| holm_threshold(risk, candidates, place);
        let mut found = self.screen(risk);
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
            terms: std::iter::once(ModelTerm::Intercept)
                .chain(chosen)
                .collect(),
            found: (found.iter())
                .map(|(term, p_value)| DiscoveredTerm {
                    term: terms[*term],
                    p_value: *p_value,
                    aliases: self.aliases(*term),
                })
                .collect(),
            parent_aliases: (0..terms.len())
                .filter(|at| self.search.chosen[*at] && found.iter().all(|(own, _)| own != at))
                .map(|at| (terms[at], self.aliases(at)))
                .collect(),
            candidates: self.survey.candidates,
            open_pairs: self.survey.open_pairs,
        }
    }

    /// Takes in the factors that have an effect, and returns them, where the noise is not known before.
    ///
    /// There, large effects hide each other: each is noise between settings as long as the others are not in the model.
    /// So the factors enter one by one, the clearest first, and the last one that is clear beside those before it decides
    /// how many stay.
    fn screen(&mut self, risk: f64) -> Vec<(usize, f64)> {
        let mut entered: Vec<(usize, f64)> = Vec::new();
        let mut clear = 0;
        while self.fixed.is_none() && entered.len() < self.survey.screened {
            let factors = self.survey.factors.iter();
            let open = factors.filter(|at| !self.search.chosen[**at]);
            let p_values = open.filter_map(|at| Some((*at, self.p_value_of_addition(*at)?.0)));
            let Some((term, p_value)) = p_values.min_by(|one, other| one.1.total_cmp(&other.1))
            else {
                break;
            };
            let others = self.survey.factors.len() - entered.len();
            self.search.choose(term);
            entered.push((term, p_value));
            if p_value <= risk / as_f64(self.survey.screened * others) {
                clear = entered.len();
            }
        }
        for (term, _) in entered.split_off(clear) {
            self.search.drop(term);
        }
        entered
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

    /// Returns the p-value and F of a term beside its parents; `None` if it is in the model already, as a parent.
    fn p_value_of_addition(&self, term: usize) -> Option<(f64, f64)> {
        if self.search.chosen[term] || self.survey.hidden[term] {
            return None;
        }
        let (gain, rank, residual, coefficients) = self.search.gain(term)?;
        let (variance, freedom) = self.noise(residual, coefficients)?;
        let usual = p_value(gain, rank, variance, freedom)?;
        // Where effects hide each other, the noise beside all terms may tell them, few as its degrees of freedom are.
        let beside_all = self
            .few
            .and_then(|(variance, freedom)| p_value(gain, rank, variance, freedom));
        Some(match beside_all {
            Some(own) => (2.0 * usual.0.min(own.0), usual.1.max(own.1)),
            None => usual,
        })
    }

    fn p_value_of_removal(&self, term: usize) -> Option<f64> {
        let (loss, rank) = self.search.loss(term)?;
        let (variance, freedom) = self.noise(self.search.residual(), self.search.coefficients())?;
        let usual = p_value(loss, rank, variance, freedom)?.0;
        let beside_all = self
            .few
            .and_then(|(variance, freedom)| p_value(loss, rank, variance, freedom));
        Some(beside_all.map_or(usual, |(own, _)| 2.0 * usual.min(own)))
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
        (0..terms.len())
            .filter(agrees)
            .map(|at| terms[at])
            .collect()
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
    // Of exact responses, such as counts, the rest is rounding.
    let statistic = squares / as_f64(rank) / variance.max(EXACT);
    let spread = FisherSnedecor::new(as_f64(rank), as_f64(freedom)).ok()?;
    Some((spread.sf(statistic.max(0.0)), statistic))
}

/// Properties of the design, which the responses do not change.
struct Survey {
    candidates: usize,
    open_pairs: usize,
    /// The number of columns that do not depend on others.
    rank: usize,
    /// The variance beside the model with all terms, as a share of the total, with its degrees of freedom; `None` without
    /// any.
    noise: Option<(f64, usize)>,
    /// Of each term, whether it is a pair of which nothing is left beside all factors: it is a factor's effect then, as
    /// far as can be told.
    hidden: Vec<bool>,
    /// The terms of factors.
    factors: Vec<usize>,
    /// The most factors that can be found where the noise is not known: half as many as there are columns that do not
    /// depend on others.
    screened: usize,
    /// The correlations of terms with all factors in the model; `None` if every term can be told from the others.
    beside: Option<SquareMatrix>,
}

impl Survey {
    fn new(search: &TermSearch<'_>, has_replicates: bool) -> Self {
        let mut swept = search.swept.clone();
        let of_kind = |is_main: bool| -> Vec<&Vec<usize>> {
            let own = search.terms.iter().zip(&search.columns);
            let own = own.filter(|(term, _)| term.parents().is_empty() == is_main);
            own.map(|(_, columns)| columns).collect()
        };
        let [main, others] = [true, false].map(of_kind);
        let mut candidates = distinct(&swept, &main);
        let factors = sweep_all(&mut swept, &main);
        // Pairs are compared by what the factors do not explain of their columns.
        let told = distinct(&swept, &others);
        candidates += told;
        let beside = swept.clone();
        let pairs = sweep_all(&mut swept, &others);
        let noise = search.rows().checked_sub(1 + factors + pairs);
        let rest = swept.at(swept.size - 1, swept.size - 1).max(0.0);
        let noise = noise
            .filter(|it| *it > 0)
            .map(|freedom| (rest / as_f64(freedom), freedom));
        let is_full = factors + pairs == swept.size - 1;
        Self {
            candidates,
            open_pairs: if is_full {
                0
            } else {
                others.len() - told.min(pairs)
            },
            rank: factors + pairs,
            hidden: (search.terms.iter().zip(&search.columns))
                .map(|(term, columns)| {
                    let is_left = |column: &usize| beside.at(*column, *column) > DEPENDENT;
                    !term.parents().is_empty() && !columns.iter().any(is_left)
                })
                .collect(),
            factors: (0..search.terms.len())
                .filter(|at| search.terms[*at].parents().is_empty())
                .collect(),
            screened: if has_replicates {
                (factors + pairs).div_ceil(2)
            } else {
                // Without replicates the noise is what the others leave.
                (factors + pairs).div_ceil(2).min(pairs.max(1))
            },
            noise,
            beside: (!is_full).then_some(beside),
        }
    }
}

/// Returns whether a factor's column correlates in part with a pair of others.
///
/// Of levels in balance the correlation of a column of 0 and 1 with a product of two others is 0 where they are apart,
/// and 1/√3 where they are the same.
fn has_parts_of_pairs(search: &TermSearch<'_>) -> bool {
    const PART: std::ops::Range<f64> = 0.02..0.5;
    let single = |at: usize| match search.columns[at][..] {
        [column] => Some(column),
        _ => None,
    };
    let is_mixed = |main: usize, pair: usize| {
        let is_of_others = !search.terms[pair].parents().contains(&search.terms[main]);
        let columns = single(main).zip(single(pair)).filter(|_| is_of_others);
        columns.is_some_and(|(one, other)| PART.contains(&search.swept.at(one, other).abs()))
    };
    let all = 0..search.terms.len();
    let (main, others): (Vec<usize>, Vec<usize>) =
        all.partition(|at| search.terms[*at].parents().is_empty());
    // What has no pairs, such as the time, is no factor.
    let has_pairs = |main: &&usize| {
        let own = &search.terms[**main];
        (others.iter()).any(|pair| search.terms[*pair].parents().contains(own))
    };
    let mut factors = main.iter().filter(has_pairs);
    factors.any(|main| others.iter().any(|pair| is_mixed(*main, *pair)))
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
        let own: Vec<usize> = columns
            .iter()
            .copied()
            .filter(|at| left(*at) > DEPENDENT)
            .collect();
        let [own] = own[..] else {
            count += usize::from(!own.is_empty());
            continue;
        };
        let agrees =
            |other: &usize| swept.at(own, *other).powi(2) > ALIASED * left(own) * left(*other);
        if !seen.iter().any(agrees) {
            seen.push(own);
            count += 1;
        }
    }
    count
}
