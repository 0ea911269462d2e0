//! Which generators give the best fraction.

use super::fraction::{FractionalFactorial, MOST_BASIC, MOST_FACTORS, krawtchouk, weights};
use crate::Seed;
use crate::subset::draw_subset;

/// Letters of the factors in the tables: there is no I.
const LETTERS: &str = "ABCDEFGHJKLMNOPQ";

/// Published generators: factors, basic factors, and the products that make the others.
///
/// Source: Box, Hunter & Hunter, *Statistics for Experimenters* 2005, table 6.22; Montgomery, *Design and Analysis of
/// Experiments* 2017, app. X.
const PUBLISHED: [(usize, usize, &[&str]); 13] = [
    (5, 4, &["ABCD"]),
    (6, 5, &["ABCDE"]),
    (6, 4, &["ABC", "BCD"]),
    (7, 6, &["ABCDEF"]),
    (7, 5, &["ABCD", "ABDE"]),
    (7, 4, &["ABC", "BCD", "ACD"]),
    (7, 3, &["AB", "AC", "BC", "ABC"]),
    (8, 6, &["ABCD", "ABEF"]),
    (8, 5, &["ABC", "ABD", "BCDE"]),
    (8, 4, &["BCD", "ACD", "ABC", "ABD"]),
    (9, 7, &["ACDFG", "BCEFG"]),
    (10, 7, &["ABCG", "BCDE", "ACDF"]),
    (11, 7, &["ABCG", "BCDE", "ACDF", "ABCDEFG"]),
];

/// Short words count; longer ones hardly matter, and what they alias is negligible.
const LENGTHS: [usize; 4] = [3, 4, 5, 6];

const STARTS: u64 = 12;

/// Returns a fraction of so many factors in 2^`basic` runs with the fewest short words: the published generators
/// where there are, else the best that a search finds.
///
/// The first criterion is the number of words of three factors, then of four, five and six (minimum aberration), so
/// the resolution is as high as the search can make it: exchange of one generator at a time from 12 starts, always
/// the same.
///
/// `None` when there are more factors than 2^`basic` − 1, fewer than basic ones, or more than 100 in all or 9 basic
/// ones for a search.
///
/// ```
/// use lapwing_stats::design::best_fraction;
/// // 16 factors in 32 runs: pairs are aliased with pairs, never with main effects.
/// assert_eq!(best_fraction(16, 5).expect("found").resolution(), Some(4));
/// ```
pub fn best_fraction(factors: usize, basic: usize) -> Option<FractionalFactorial> {
    if factors < basic || basic > MOST_BASIC || factors > MOST_FACTORS || factors >= 1 << basic {
        return None;
    }
    if factors == basic {
        return FractionalFactorial::new(basic, &[]);
    }
    if factors == basic + 1 && basic >= 2 {
        // One word with all factors is as long as can be.
        return FractionalFactorial::new(basic, &[(1 << basic) - 1]);
    }
    let published = PUBLISHED
        .iter()
        .find(|(all, own, _)| (*all, *own) == (factors, basic));
    if let Some((_, _, words)) = published {
        let generators: Vec<u128> = words.iter().map(|word| letters(word)).collect();
        return FractionalFactorial::new(basic, &generators);
    }
    (basic <= 9).then(|| search(factors, basic)).flatten()
}

/// Returns the smallest fraction of at least this resolution, in at most 2^`most_basic` runs, up to 2⁹ where
/// generators must be searched for.
///
/// ```
/// use lapwing_stats::design::smallest_fraction;
/// assert_eq!(smallest_fraction(7, 4, 10).expect("exists").runs().len(), 16);
/// assert_eq!(smallest_fraction(10, 5, 10).expect("exists").runs().len(), 128);
/// ```
pub fn smallest_fraction(
    factors: usize,
    resolution: usize,
    most_basic: usize,
) -> Option<FractionalFactorial> {
    let fits =
        |fraction: &FractionalFactorial| fraction.resolution().is_none_or(|own| own >= resolution);
    (1..=most_basic.min(factors)).find_map(|basic| best_fraction(factors, basic).filter(fits))
}

fn letters(word: &str) -> u128 {
    let positions = word.chars().filter_map(|letter| LETTERS.find(letter));
    positions.fold(0, |set, factor| set | 1 << factor)
}

fn search(factors: usize, basic: usize) -> Option<FractionalFactorial> {
    let table: Vec<[i128; 4]> = (0..=factors)
        .map(|weight| LENGTHS.map(|length| krawtchouk(length, weight, factors)))
        .collect();
    let runs = (0..STARTS).map(|start| {
        let mut chosen = starting_columns(factors, basic, start);
        let words = exchange(&mut chosen, basic, &table);
        (words, chosen)
    });
    let (_, best) = runs.min_by(|(one, _), (other, _)| one.cmp(other))?;
    FractionalFactorial::new(basic, &best[basic..])
}

/// The basic columns, then generators: at the first start those with an odd number of factors, which have no words of
/// odd length, else random ones.
fn starting_columns(factors: usize, basic: usize, start: u64) -> Vec<u128> {
    let mut free: Vec<u128> = (1..1_u128 << basic)
        .filter(|column| column.count_ones() >= 2)
        .collect();
    let all = free.len();
    draw_subset(&mut free, all, &mut Seed(0).block(start));
    if start.is_multiple_of(2) {
        free.sort_by_key(|column| column.count_ones() % 2 == 0);
    }
    let mut chosen: Vec<u128> = (0..basic).map(|factor| 1 << factor).collect();
    chosen.extend(free.into_iter().take(factors - basic));
    chosen
}

/// Exchanges generators as long as the counts of short words fall, and returns them (times the number of runs).
fn exchange(chosen: &mut [u128], basic: usize, table: &[[i128; 4]]) -> [i128; 4] {
    let words = |weights: &[u32]| {
        let mut sums = [0_i128; 4];
        for weight in weights {
            for (sum, term) in sums.iter_mut().zip(&table[*weight as usize]) {
                *sum += term;
            }
        }
        sums
    };
    let mut best = words(&weights(basic, chosen));
    loop {
        let before = best;
        for at in basic..chosen.len() {
            let rest = [&chosen[..at], &chosen[at + 1..]].concat();
            let without = weights(basic, &rest);
            for column in (1..1_u128 << basic).filter(|column| !rest.contains(column)) {
                let with: Vec<u32> = (0_u128..)
                    .zip(&without)
                    .map(|(run, weight)| weight + (column & run).count_ones() % 2)
                    .collect();
                let own = words(&with);
                if own < best {
                    best = own;
                    chosen[at] = column;
                }
            }
        }
        if best == before {
            return best;
        }
    }
}
