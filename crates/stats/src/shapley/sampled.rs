//! Shapley values from random orders.

use std::collections::HashMap;

use crate::subset::draw_subset;
use crate::{Seed, as_f64};

/// Shapley values that were estimated from random orders.
#[derive(Debug, Clone, PartialEq)]
pub struct SampledShapley {
    /// One per factor; they sum to v(all) − v(∅) exactly.
    pub values: Vec<f64>,
    /// Their standard errors from the choice of orders alone, not from noise of the values: sd / √m over m pairs of an order and its reverse.
    pub standard_errors: Vec<f64>,
    /// How many different sets were asked for.
    pub sets: usize,
}

/// Returns estimates of the Shapley values of k factors from so many pairs of random orders, each with its reverse (antithetic).
///
/// What a factor changes is averaged over the orders; of a model of pairs an order and its reverse together are exact. `value` is called once per set. `None` as soon
/// as it is, if k is 0 or above 128, or with fewer than two pairs.
///
/// Source: Castro, Gómez & Tejada, *Computers & Operations Research* 2009; Mitchell, Cooper, Frank & Holmes, *JMLR* 2022.
///
/// ```
/// use lapwing_stats::{Seed, shapley::sampled_shapley};
/// let value = |set: u128| Some(f64::from(set.count_ones()) + if set & 3 == 3 { 4.0 } else { 0.0 });
/// let sampled = sampled_shapley(3, 10, value, Seed(7)).expect("two pairs or more");
/// assert_eq!(sampled.values, [3.0, 3.0, 1.0]);
/// ```
pub fn sampled_shapley(
    factors: usize,
    pairs: usize,
    mut value: impl FnMut(u128) -> Option<f64>,
    seed: Seed,
) -> Option<SampledShapley> {
    if factors == 0 || factors > 128 || pairs < 2 {
        return None;
    }
    let mut known: HashMap<u128, f64> = HashMap::new();
    let mut random = seed.block(0);
    let mut order: Vec<usize> = (0..factors).collect();
    let (mut means, mut squares) = (vec![0.0; factors], vec![0.0; factors]);
    for pair in 0..pairs {
        draw_subset(&mut order, factors, &mut random);
        let mut changes = vec![0.0; factors];
        for _ in 0..2 {
            let mut set = 0_u128;
            let mut before = value_of(set, &mut known, &mut value)?;
            for factor in &order {
                set |= 1 << factor;
                let after = value_of(set, &mut known, &mut value)?;
                changes[*factor] += 0.5 * (after - before);
                before = after;
            }
            order.reverse();
        }
        // Welford's update of mean and squares.
        for ((mean, square), change) in means.iter_mut().zip(&mut squares).zip(changes) {
            let off = change - *mean;
            *mean += off / as_f64(pair + 1);
            *square += off * (change - *mean);
        }
    }
    let error = |square: &f64| (square / as_f64(pairs - 1) / as_f64(pairs)).sqrt();
    Some(SampledShapley {
        standard_errors: squares.iter().map(error).collect(),
        values: means,
        sets: known.len(),
    })
}

fn value_of(
    set: u128,
    known: &mut HashMap<u128, f64>,
    value: &mut impl FnMut(u128) -> Option<f64>,
) -> Option<f64> {
    if let Some(own) = known.get(&set) {
        return Some(*own);
    }
    let own = value(set)?;
    known.insert(set, own);
    Some(own)
}
