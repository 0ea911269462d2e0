//! Values whose resolution changes: rounded first and exact later, or the other way round.

use std::ops::Range;

/// So many values at an end of the series show how it is rounded there.
const HEAD: usize = 5;
/// A resolution is coarse from this share of the values on.
const COARSE: f64 = 1e-3;
/// A resolution that a single value shows is at most this share of it: `12` may as well be 12.0.
const OF_ONE_VALUE: f64 = 0.25;
/// A multiple of the resolution deviates by less than this share of it, or of the value.
const TOLERANCE: f64 = 1e-9;
/// Units in which values may have been rounded that are no power of ten of their own: KiB, MiB and GiB.
const BINARY: [f64; 3] = [1024.0, 1_048_576.0, 1_073_741_824.0];

/// Values of a series that has a coarser resolution at one end, as if all of it had that.
#[derive(Debug, Clone, PartialEq)]
pub struct EvenlyRounded {
    /// The values, all of them multiples of the coarser resolution.
    pub values: Vec<f64>,
    /// The indices of those that were finer.
    pub fine: Range<usize>,
    /// The coarser resolution.
    pub resolution: f64,
}

/// Returns finite values with the coarser resolution in all places; `None` if the resolution does not change.
///
/// The resolution at an end is the largest step of which all its values are multiples: a power of ten of their own
/// unit, else of KiB, MiB or GiB. It changes if it is 0.1 % of the values or more, at least five of them have it, and
/// most of the others do not. A change between two levels within the resolution is gone then, as it is unknown how much
/// of it comes from rounding.
///
/// ```
/// use lapwing_stats::changepoint::evenly_rounded;
/// let values = [2.5, 2.5, 2.4, 2.5, 2.5, 2.5, 2.5, 2.437, 2.461, 2.448];
/// let even = evenly_rounded(&values).unwrap();
/// assert_eq!(even.fine, 7..10);
/// assert!(even.values[7..].iter().zip([2.4, 2.5, 2.4]).all(|(one, other)| (one - other).abs() < 1e-12));
/// assert_eq!(evenly_rounded(&values[..7]), None);
/// ```
pub fn evenly_rounded(values: &[f64]) -> Option<EvenlyRounded> {
    if values.len() <= HEAD {
        return None;
    }
    let number = values.len();
    let forwards = coarse_beginning(values.iter()).map(|(step, end)| (step, end..number));
    let backwards = || {
        let (step, end) = coarse_beginning(values.iter().rev())?;
        Some((step, 0..number - end))
    };
    let (resolution, fine) = forwards.or_else(backwards)?;
    let mut even = values.to_vec();
    for value in &mut even[fine.clone()] {
        let rounded = (*value / resolution).round() * resolution;
        // What is positive stays positive.
        *value = if rounded == 0.0 && *value > 0.0 {
            resolution / 2.0
        } else {
            rounded
        };
    }
    Some(EvenlyRounded {
        values: even,
        fine,
        resolution,
    })
}

/// Returns the resolution of the first values, and the number of values that have it, if most others have not.
fn coarse_beginning<'v>(values: impl Iterator<Item = &'v f64> + Clone) -> Option<(f64, usize)> {
    let head: Vec<f64> = values.clone().take(HEAD).copied().collect();
    let mut sizes: Vec<f64> = head.iter().map(|value| value.abs()).collect();
    sizes.sort_by(f64::total_cmp);
    let size = sizes[sizes.len() / 2];
    let own = step_of(&head, 1.0).map(|step| (1.0, step));
    let of_unit = |unit: &f64| Some((*unit, step_of(&head, *unit)?));
    let binary = || {
        let steps = BINARY.iter().filter_map(of_unit);
        steps.max_by(|one, other| one.1.total_cmp(&other.1))
    };
    let (unit, mut step) = own.or_else(binary)?;
    let is_coarse = |step: f64| step >= COARSE * size;
    let beginning = |step: f64| {
        values
            .clone()
            .take_while(move |value| is_multiple(**value, step))
    };
    if beginning(step).all(|value| value.total_cmp(&head[0]).is_eq()) {
        // A round number, such as a thousand, need not be rounded.
        while step > unit || step > OF_ONE_VALUE * size {
            step /= 10.0;
        }
    }
    let number = beginning(step).count();
    let others = values.clone().skip(number);
    let (all, alike) = others.fold((0, 0), |(all, alike), value| {
        (all + 1, alike + usize::from(is_multiple(*value, step)))
    });
    (size > 0.0 && is_coarse(step) && all > 0 && 2 * alike < all).then_some((step, number))
}

/// Returns the largest power of ten of a unit of which all values are multiples, if they have few digits.
fn step_of(values: &[f64], unit: f64) -> Option<f64> {
    let largest = values.iter().map(|value| value.abs()).fold(0.0, f64::max);
    if largest <= 0.0 {
        return None;
    }
    let first = (largest / unit).log10().floor();
    // From the first digit on, as many as a coarse resolution can have.
    let powers = (0..=4_u8).map(|digit| unit * 10_f64.powf(first - f64::from(digit)));
    powers
        .into_iter()
        .find(|step| values.iter().all(|value| is_multiple(*value, *step)))
}

fn is_multiple(value: f64, step: f64) -> bool {
    let multiple = value / step;
    (multiple - multiple.round()).abs() <= TOLERANCE * multiple.abs().max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::as_f64;

    fn resolution(values: &[f64]) -> Option<(usize, usize)> {
        let even = evenly_rounded(values)?;
        Some((even.fine.start, even.fine.end))
    }

    #[test]
    fn a_resolution_that_changes_is_found() {
        let exact = |number: usize| {
            let value = |at| 2.4 + 0.1 * (as_f64(at + 1) * 0.618_034).fract();
            (0..number).map(value).collect::<Vec<f64>>()
        };
        let rounded = |step: f64| {
            let values = exact(12).into_iter();
            values
                .map(move |value| (value / step).round() * step)
                .collect::<Vec<f64>>()
        };
        let scaled = |values: Vec<f64>, unit: f64| values.into_iter().map(move |it| it * unit);
        let gib = 1_073_741_824.0;
        for (values, expected) in [
            ([rounded(0.1), exact(7)].concat(), Some((12, 19))),
            ([exact(7), rounded(0.1)].concat(), Some((0, 7))),
            (
                scaled([rounded(0.1), exact(7)].concat(), gib).collect(),
                Some((12, 19)),
            ),
            (
                scaled([rounded(0.01), exact(7)].concat(), 1e-6).collect(),
                Some((12, 19)),
            ),
            ([vec![240.0; 9], exact(7)].concat(), Some((9, 16))),
            (exact(19), None),
            (rounded(0.1), None),
            ([vec![0.0; 9], exact(7)].concat(), None),
            // One odd value is no resolution.
            ([rounded(0.1), exact(1), rounded(0.1)].concat(), None),
        ] {
            assert_eq!(resolution(&values), expected, "{values:?}");
        }
    }

    #[test]
    fn one_value_shows_little_of_a_resolution() {
        let values = [vec![2.0; 8], vec![2.213, 2.187, 2.204]].concat();
        let even = evenly_rounded(&values).expect("it changes");
        assert!((even.resolution - 0.1).abs() < 1e-12);
        assert!(
            even.values[8..]
                .iter()
                .all(|value| (value - 2.2).abs() < 1e-12)
        );
    }
}
