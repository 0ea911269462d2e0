//! Whether values that are taken together depend on their order: a slope, or a step.

use std::ops::Range;

use crate::number::as_f64;
use crate::subset::draw_subset;
use crate::{Seed, mean};

/// Fewer values have too few orders: of four, one in twelve is a straight line.
const FEWEST: usize = 5;
/// The fewest values before and after a step: one alone is an outlier.
const SHORTEST: usize = 2;
/// Number of orders that are drawn.
const DRAWN: u32 = 1_999;
/// So many drawn orders that are as clear as the observed one are enough to know that it is not rare.
const ENOUGH: u32 = 20;

/// What the order of values shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OrderedChange {
    /// Whether one step describes the values better than a slope.
    pub is_step: bool,
    /// The change from the first to the last value: of the line, or of the step.
    pub change: f64,
    /// The probability of such a clear slope or step if all orders were equally probable.
    pub p_value: f64,
}

/// Returns the slope or step that describes finite values in order best, and a permutation test of whether their order
/// means anything; `None` below five values, and if all are equal.
///
/// The statistic is the largest squared correlation with a line, and with each step that has two values or more on both
/// sides. Its distribution is that of 1,999 random orders, so the error rate is the stated one in noise of any shape, as
/// long as the values are independent; drawing stops after 20 orders that are as clear (Besag and Clifford 1991). With
/// n values the least p-value is about 2 / n!, and 1 / 2,000.
///
/// ```
/// use lapwing_stats::{Seed, changepoint::ordered_change};
/// let found = ordered_change(&[1.0, 1.1, 0.9, 1.0, 3.0, 3.1, 2.9], Seed(7)).expect("several values");
/// assert!(found.is_step && (found.change - 2.0).abs() < 1e-9 && found.p_value < 0.05);
/// ```
pub fn ordered_change(values: &[f64], seed: Seed) -> Option<OrderedChange> {
    let count = values.len();
    if count < FEWEST {
        return None;
    }
    let centre = mean(values)?;
    let centred: Vec<f64> = values.iter().map(|value| value - centre).collect();
    let squares: f64 = centred.iter().map(|value| value * value).sum();
    let most = centred.iter().fold(0.0_f64, |most, it| most.max(it.abs()));
    // What rounding leaves of equal values is no order.
    if most <= 1e-12 * centre.abs() || squares <= 0.0 {
        return None;
    }
    let shapes = Shapes::of(count);
    let observed = shapes.best(&centred);
    let limit = observed.explained * (1.0 - 1e-9);
    let mut random = seed.block(0);
    let mut order: Vec<usize> = (0..count).collect();
    let (mut drawn, mut extreme) = (0, 0);
    let mut shuffled = centred.clone();
    while drawn < DRAWN && extreme < ENOUGH {
        draw_subset(&mut order, count, &mut random);
        for (to, from) in shuffled.iter_mut().zip(&order) {
            *to = centred[*from];
        }
        drawn += 1;
        extreme += u32::from(shapes.best(&shuffled).explained >= limit);
    }
    let p_value = if extreme == ENOUGH {
        f64::from(extreme) / f64::from(drawn)
    } else {
        f64::from(extreme + 1) / f64::from(drawn + 1)
    };
    Some(OrderedChange {
        is_step: observed.is_step,
        change: observed.change,
        p_value,
    })
}

/// The line and the steps that values are described by.
struct Shapes {
    count: usize,
    steps: Range<usize>,
    /// The sum of the squares of the places around their middle.
    of_line: f64,
}

/// The description that explains most.
struct BestShape {
    explained: f64,
    change: f64,
    is_step: bool,
}

impl Shapes {
    fn of(count: usize) -> Self {
        let number = as_f64(count);
        Self {
            count,
            steps: SHORTEST..count - SHORTEST + 1,
            of_line: number * (number * number - 1.0) / 12.0,
        }
    }

    /// Returns the best description of values whose sum is 0, by the part of their sum of squares that it explains.
    fn best(&self, centred: &[f64]) -> BestShape {
        let middle = (as_f64(self.count) - 1.0) / 2.0;
        let places = centred.iter().enumerate();
        let product: f64 = places.map(|(at, it)| (as_f64(at) - middle) * it).sum();
        let mut best = BestShape {
            explained: product * product / self.of_line,
            change: product / self.of_line * (as_f64(self.count) - 1.0),
            is_step: false,
        };
        let mut before = 0.0;
        for (at, value) in centred.iter().enumerate() {
            if self.steps.contains(&at) {
                let sizes = as_f64(at) * as_f64(self.count - at);
                let change = -before * as_f64(self.count) / sizes;
                let explained = change * change * sizes / as_f64(self.count);
                if explained > best.explained {
                    best = BestShape {
                        explained,
                        change,
                        is_step: true,
                    };
                }
            }
            before += value;
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_no_step_and_equal_values_have_no_order() {
        let line: Vec<f64> = (0..10).map(f64::from).collect();
        let found = ordered_change(&line, Seed(7)).expect("ten values");
        assert!(!found.is_step && (found.change - 9.0).abs() < 1e-9 && found.p_value < 0.01);
        assert_eq!(ordered_change(&[0.1; 10], Seed(7)), None);
        assert_eq!(ordered_change(&line[..4], Seed(7)), None);
    }

    #[test]
    fn one_far_value_is_no_step() {
        let values = [1.0, 1.01, 0.99, 9.0, 1.0, 1.02, 0.98, 1.0, 1.01, 0.99];
        let found = ordered_change(&values, Seed(7)).expect("ten values");
        assert!(found.p_value > 0.1, "{found:?}");
    }
}
