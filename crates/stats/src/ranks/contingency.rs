//! Whether a quality of things goes with the group that they fall into.

use statrs::function::factorial::ln_binomial;

use crate::number::as_f64;
use crate::subset::draw_subset;
use crate::{PValue, Seed};

/// Up to so many tables all are computed …
const ALL_TABLES: f64 = 20_000.0;

/// … and where there may be more, so many permutations are drawn.
const DRAWN: u32 = 9_999;

/// Tables whose probabilities differ by less than this are equally likely.
const RELATIVE_ERROR: f64 = 1e-7;

/// Returns the two-sided p-value of "the level of a thing has nothing to do with its group", of two
/// groups and any number of levels.
///
/// `levels` holds the number of each thing's level, `in_group` whether it is in the group. Fisher's exact test: with
/// the sizes of the group and of the levels given, the probability of a table is ∏ C(mₖ, aₖ) / C(N, a), and p is that
/// of all tables that are as likely as the observed one or less (with more than two levels the test of Freeman and
/// Halton). Where there may be more than 20,000 tables it is (1 + #) / (B + 1) over B = 9,999 permutations drawn by
/// the seed.
///
/// `None` when the lengths differ, below two levels, or when all things are in one group.
///
/// Source: Fisher, *JRSS* 1935; Freeman & Halton, *Biometrika* 1951; Phipson & Smyth, *Statistical
/// Applications in Genetics and Molecular Biology* 2010.
///
/// ```
/// use lapwing_stats::{Seed, fisher_exact};
/// let hosts = [0, 0, 0, 0, 1, 1, 1, 1];
/// let is_slow = [false, false, false, false, true, true, true, true];
/// let p = fisher_exact(&hosts, &is_slow, Seed(7)).expect("two hosts");
/// assert!((p.value() - 2.0 / 70.0).abs() < 1e-12);
/// ```
pub fn fisher_exact(levels: &[usize], in_group: &[bool], seed: Seed) -> Option<PValue> {
    if levels.len() != in_group.len() {
        return None;
    }
    let count = levels.iter().max()? + 1;
    let group = in_group.iter().filter(|it| **it).count();
    let mut sizes = vec![0_u64; count];
    let mut observed = vec![0_u64; count];
    for (level, in_group) in levels.iter().zip(in_group) {
        sizes[*level] += 1;
        observed[*level] += u64::from(*in_group);
    }
    let used: Vec<usize> = (0..count).filter(|level| sizes[*level] > 0).collect();
    if used.len() < 2 || group == 0 || group == levels.len() {
        return None;
    }
    let weight = |counts: &[u64]| -> f64 {
        let each = sizes.iter().zip(counts);
        each.map(|(size, some)| ln_binomial(*size, *some)).sum()
    };
    let limit = weight(&observed) + RELATIVE_ERROR;
    let mut ascending: Vec<u64> = used.iter().map(|level| sizes[*level]).collect();
    ascending.sort_unstable();
    // The last level takes what the others leave, so that it adds no tables.
    let others = &ascending[..ascending.len() - 1];
    let tables: f64 = others
        .iter()
        .map(|size| as_f64(usize::try_from(*size).unwrap_or(usize::MAX)) + 1.0)
        .product();
    let p_value = if tables <= ALL_TABLES {
        let all = ln_binomial(levels.len() as u64, group as u64);
        probability(&ascending, group as u64, -all, limit - all)
    } else {
        let mut random = seed.block(0);
        let mut positions: Vec<usize> = (0..levels.len()).collect();
        let mut counts = vec![0_u64; count];
        let mut as_unlikely = 0;
        for _ in 0..DRAWN {
            draw_subset(&mut positions, group, &mut random);
            counts.fill(0);
            for at in &positions[..group] {
                counts[levels[*at]] += 1;
            }
            as_unlikely += usize::from(weight(&counts) <= limit);
        }
        (1.0 + as_f64(as_unlikely)) / (1.0 + f64::from(DRAWN))
    };
    PValue::new(p_value.min(1.0)).ok()
}

/// Returns the probability of all tables no likelier than `limit`, of levels of these sizes of which `group`
/// things in all are still to be in the group; `so_far` is the logarithm of the levels before them.
fn probability(sizes: &[u64], group: u64, so_far: f64, limit: f64) -> f64 {
    let [first, others @ ..] = sizes else {
        return 0.0;
    };
    if others.is_empty() {
        let weight = so_far + ln_binomial(*first, group);
        return if weight <= limit { weight.exp() } else { 0.0 };
    }
    let room: u64 = others.iter().sum();
    let possible = group.saturating_sub(room)..=group.min(*first);
    possible
        .map(|some| {
            let weight = so_far + ln_binomial(*first, some);
            probability(others, group - some, weight, limit)
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the p-value of a table: how many of each level are in the group, and how many are not.
    fn of_table(table: &[(usize, usize)]) -> f64 {
        let (mut levels, mut in_group) = (Vec::new(), Vec::new());
        for (level, (inside, outside)) in table.iter().enumerate() {
            levels.extend(std::iter::repeat_n(level, inside + outside));
            in_group.extend(std::iter::repeat_n(true, *inside));
            in_group.extend(std::iter::repeat_n(false, *outside));
        }
        let p = fisher_exact(&levels, &in_group, Seed(7)).expect("two groups");
        p.value()
    }

    #[test]
    fn two_levels_are_those_of_scipy_and_r() {
        // scipy 1.17.1: stats.fisher_exact(table).pvalue; R 4.2.2: fisher.test(matrix(…))$p.value
        let golden: [(&[(usize, usize)], f64); 5] = [
            (&[(5, 0), (0, 7)], 0.0012626262626262636),
            (&[(3, 1), (1, 3)], 0.4857142857142858),
            (&[(10, 2), (4, 15)], 0.0010530218761586954),
            (&[(30, 10), (12, 26)], 0.00022753928017561677),
            (&[(1, 9), (11, 3)], 0.0027594561852200836),
        ];
        for (table, expected) in golden {
            let actual = of_table(table);
            assert!(
                (actual / expected - 1.0).abs() < 1e-8,
                "{table:?}: {actual}"
            );
        }
    }

    #[test]
    fn more_levels_are_those_of_r() {
        // R 4.2.2: fisher.test(matrix(c(…), ncol = 2), workspace = 2e7)$p.value
        let golden: [(&[(usize, usize)], f64); 4] = [
            (&[(5, 0), (0, 4), (0, 3)], 0.001262626262626259),
            (&[(3, 2), (2, 3), (4, 1), (1, 4)], 0.4587455887765442),
            (&[(10, 8), (9, 9), (12, 7)], 0.7444745876522911),
            (&[(6, 1), (2, 5), (0, 4), (3, 3)], 0.031128011845470083),
        ];
        for (table, expected) in golden {
            let actual = of_table(table);
            assert!(
                (actual / expected - 1.0).abs() < 1e-8,
                "{table:?}: {actual}"
            );
        }
    }

    #[test]
    fn many_tables_are_those_of_r_up_to_chance() {
        // As above; it is exact there.
        let table = [(9, 5), (6, 9), (8, 6), (4, 10), (7, 8), (12, 3)];
        let expected: f64 = 0.08131388054673108;
        let actual = of_table(&table);
        let error = (expected * (1.0 - expected) / f64::from(DRAWN)).sqrt();
        assert!((actual - expected).abs() < 4.0 * error, "{actual}");
    }

    #[test]
    fn what_cannot_differ_has_no_p_value() {
        let of = |levels: &[usize], in_group: &[bool]| fisher_exact(levels, in_group, Seed(7));
        assert_eq!(of(&[0, 0], &[true, false]), None);
        assert_eq!(of(&[0, 1], &[true, true]), None);
        assert_eq!(of(&[0, 1], &[true]), None);
        assert_eq!(of(&[], &[]), None);
    }

    proptest! {
        #[test]
        fn names_of_levels_and_groups_do_not_matter(
            things in prop::collection::vec((0..2_usize, any::<bool>()), 4..30),
        ) {
            let (levels, in_group): (Vec<usize>, Vec<bool>) = things.into_iter().unzip();
            let swapped: Vec<usize> = levels.iter().map(|it| 3 - it).collect();
            let others: Vec<bool> = in_group.iter().map(|it| !it).collect();
            let value = |p: Option<PValue>| p.map(PValue::value);
            let p = value(fisher_exact(&levels, &in_group, Seed(7)));
            for other in [
                fisher_exact(&swapped, &in_group, Seed(8)),
                fisher_exact(&levels, &others, Seed(9)),
            ] {
                match (p, value(other)) {
                    (Some(one), Some(other)) => prop_assert!((one - other).abs() < 1e-9),
                    (one, other) => prop_assert_eq!(one, other),
                }
            }
        }
    }
}
