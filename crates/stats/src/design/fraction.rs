//! Full and fractional factorial designs of treatments.

use std::collections::BTreeMap;

use crate::number::as_f64;

/// Above so many factors the counts of words do not fit.
pub(super) const MOST_FACTORS: usize = 100;

/// Above so many basic factors there are more runs than anyone measures.
pub(super) const MOST_BASIC: usize = 20;

/// A fraction 2^(k − p) of all combinations of k treatments.
///
/// The first k − p factors, the basic ones, take all combinations. Every further factor is the product (in coding −1,
/// +1) of some of them, its *generator*: E = ABCD means that E is present when an even number of A, B, C, D is
/// absent. Without generators it is the full factorial.
///
/// Source: Box, Hunter & Hunter, *Statistics for Experimenters* 2005, ch. 6; Fries & Hunter, *Technometrics* 1980.
///
/// ```
/// use lapwing_stats::design::FractionalFactorial;
/// // 2^(5−1) with E = ABCD.
/// let half = FractionalFactorial::new(4, &[0b1111]).expect("a product of several");
/// assert_eq!((half.runs().len(), half.resolution()), (16, Some(5)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FractionalFactorial {
    basic: usize,
    generators: Vec<u128>,
}

impl FractionalFactorial {
    /// Returns the fraction with so many basic factors, and a generator per further factor: bit i for basic factor i.
    ///
    /// `None` when two factors would be the same, a generator names fewer than two factors or one that is not basic,
    /// or with more than 20 basic factors or 100 in all.
    pub fn new(basic: usize, generators: &[u128]) -> Option<Self> {
        let mut seen = generators.to_vec();
        seen.sort_unstable();
        seen.dedup();
        let fits = |word: &u128| word >> basic == 0 && word.count_ones() >= 2;
        let known = basic <= MOST_BASIC && basic + generators.len() <= MOST_FACTORS;
        let valid = known && seen.len() == generators.len() && generators.iter().all(fits);
        valid.then(|| Self {
            basic,
            generators: generators.to_vec(),
        })
    }

    /// Returns the number of factors k.
    pub fn factors(&self) -> usize {
        self.basic + self.generators.len()
    }

    /// Returns the generators, bit i for basic factor i.
    pub fn generators(&self) -> &[u128] {
        &self.generators
    }

    /// Returns the runs as sets of present factors, in the standard order of the basic ones.
    pub fn runs(&self) -> Vec<u128> {
        let sets = 0..1_u128 << self.basic;
        sets.map(|set| self.extended(set)).collect()
    }

    /// Returns the runs with levels exchanged so that `base` is one of them: resolution and aliases stay the same up
    /// to sign.
    pub fn runs_with(&self, base: u128) -> Vec<u128> {
        let change = base ^ self.extended(base & ((1 << self.basic) - 1));
        self.runs().into_iter().map(|run| run ^ change).collect()
    }

    fn extended(&self, set: u128) -> u128 {
        let product = |set: u128, (at, generator): (usize, &u128)| {
            let absent = generator.count_ones() - (set & generator).count_ones();
            set | u128::from(absent.is_multiple_of(2)) << (self.basic + at)
        };
        self.generators.iter().enumerate().fold(set, product)
    }

    /// Returns the columns of all factors as products of the basic ones.
    pub(super) fn columns(&self) -> Vec<u128> {
        let basic = (0..self.basic).map(|factor| 1 << factor);
        basic.chain(self.generators.iter().copied()).collect()
    }

    /// Returns how many defining words (sets of factors whose product is constant) have each length, from 0 to k.
    pub fn word_lengths(&self) -> Vec<u128> {
        let columns = self.columns();
        let weights = weights(self.basic, &columns);
        let lengths = (0..=columns.len()).map(|length| words_of(length, columns.len(), &weights));
        let mut lengths: Vec<u128> = lengths.collect();
        // The empty product is no word.
        lengths[0] = 0;
        lengths
    }

    /// Returns the length of the shortest defining word; `None` for a full factorial.
    ///
    /// III: main effects are aliased with pairs. IV: with none, but pairs with pairs. V: neither.
    pub fn resolution(&self) -> Option<usize> {
        self.word_lengths().iter().position(|count| *count > 0)
    }

    /// Returns the effects of up to `order` factors that cannot be told apart, as sets of factors: those of one group
    /// share a column.
    ///
    /// Groups are in the order of their first effect, effects by number of factors. The group of the empty set, if
    /// there is one with others, is confounded with the mean. Effects in a group of their own are clear of those of
    /// that order.
    pub fn aliases(&self, order: usize) -> Vec<Vec<u128>> {
        let columns = self.columns();
        let mut effects = vec![0_u128];
        for size in 1..=order.min(columns.len()) {
            crate::subset::each_subset(columns.len(), size, |members| {
                effects.push(members.iter().fold(0, |set, factor| set | 1 << factor));
            });
        }
        let mut groups: BTreeMap<u128, Vec<u128>> = BTreeMap::new();
        let mut keys = Vec::new();
        for effect in effects {
            let members = (0..columns.len()).filter(|factor| effect >> factor & 1 == 1);
            let key = members.fold(0, |product, factor| product ^ columns[factor]);
            let group = groups.entry(key).or_default();
            if group.is_empty() {
                keys.push(key);
            }
            group.push(effect);
        }
        keys.iter().filter_map(|key| groups.remove(key)).collect()
    }
}

/// Returns how many products of basic factors have each number of factor columns at −1.
pub(super) fn weights(basic: usize, columns: &[u128]) -> Vec<u32> {
    let negative = |run: u128| {
        columns
            .iter()
            .map(move |column| (column & run).count_ones() % 2)
            .sum()
    };
    (0..1_u128 << basic).map(negative).collect()
}

/// Counts the defining words of a length by the identity of MacWilliams: 2^−r Σ K(w) over the weights, with
/// Krawtchouk's polynomial K.
fn words_of(length: usize, factors: usize, weights: &[u32]) -> u128 {
    let mut counts = vec![0_i128; factors + 1];
    for weight in weights {
        counts[*weight as usize] += 1;
    }
    let terms = counts.iter().enumerate().filter(|(_, count)| **count > 0);
    let sum: i128 = terms
        .map(|(weight, count)| count * krawtchouk(length, weight, factors))
        .sum();
    u128::try_from(sum).unwrap_or(0) / u128::try_from(weights.len()).unwrap_or(1)
}

/// Krawtchouk's polynomial: Σ_s (−1)^s C(w, s) C(n − w, j − s).
pub(super) fn krawtchouk(length: usize, weight: usize, factors: usize) -> i128 {
    let mut sum = 0;
    for negative in 0..=length.min(weight) {
        if length - negative <= factors - weight {
            let ways = binomial(weight, negative) * binomial(factors - weight, length - negative);
            sum += if negative % 2 == 0 { ways } else { -ways };
        }
    }
    sum
}

fn binomial(all: usize, some: usize) -> i128 {
    let some = some.min(all - some);
    let (mut ways, mut step) = (1_i128, 0_i128);
    for left in (all - some + 1)..=all {
        step += 1;
        ways = ways * i128::try_from(left).unwrap_or(i128::MAX) / step;
    }
    ways
}

/// Returns every combination of levels, the last factor changing fastest; `None` if there are more than `most`.
///
/// ```
/// use lapwing_stats::design::full_factorial;
/// assert_eq!(full_factorial(&[2, 3], 6).expect("six").last(), Some(&vec![1, 2]));
/// assert_eq!(full_factorial(&[2, 3], 5), None);
/// ```
pub fn full_factorial(levels: &[usize], most: usize) -> Option<Vec<Vec<usize>>> {
    let count: f64 = levels.iter().map(|count| as_f64(*count)).product();
    if count > as_f64(most) {
        return None;
    }
    let mut runs = vec![Vec::new()];
    for count in levels {
        let extend =
            |run: Vec<usize>| (0..*count).map(move |level| [run.as_slice(), &[level]].concat());
        runs = runs.into_iter().flat_map(extend).collect();
    }
    Some(runs)
}
