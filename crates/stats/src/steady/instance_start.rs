//! The start of the steady state of one instance, and whether it is long enough to classify.

use super::Class;

/// One instance's values in order, and from when on it is steady, by whatever method.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InstanceStart<'a> {
    /// The numbers of the iterations that have a value, increasing: one that failed leaves a gap.
    pub index: &'a [u32],
    /// Their values.
    pub values: &'a [f64],
    /// The classification of the iterations.
    pub class: Class,
    /// The place of the first steady value; `None` without a steady state.
    pub start: Option<usize>,
}

impl InstanceStart<'_> {
    /// Returns the number of values before the iteration of that index.
    pub(super) fn before(&self, iteration: usize) -> usize {
        self.index
            .partition_point(|index| usize::try_from(*index).is_ok_and(|it| it < iteration))
            .min(self.values.len())
    }

    /// Returns how many iterations there are up to the last that has a value.
    pub fn iterations(&self) -> usize {
        self.index.last().map_or(0, |last| number_after(*last))
    }

    /// Returns the number of the first steady iteration; 0 where the first value is steady, whatever
    /// failed before it. `None` without a steady state.
    ///
    /// Iterations that failed after the last value off the steady ones are not waited for: a slow
    /// iteration and nine that failed are a burn-in of one.
    pub fn first_steady(&self) -> Option<usize> {
        let place = match self.start? {
            0 => return Some(0),
            place => place,
        };
        let after = |at: usize| self.index.get(at).map(|index| number_after(*index));
        let steady = self.values.get(place..)?.iter().copied();
        let least = steady.clone().fold(f64::INFINITY, f64::min);
        let most = steady.fold(f64::NEG_INFINITY, f64::max);
        let is_off = |at: &usize| !(least..=most).contains(&self.values[*at]);
        let first = after(place - 1)?;
        // A method may leave some more values out than are off: so many iterations then.
        match (0..place).rev().find(is_off) {
            Some(off) => Some(first.min(after(off)? + (place - 1 - off))),
            None => Some(first),
        }
    }
}

fn number_after(index: u32) -> usize {
    usize::try_from(index)
        .unwrap_or(usize::MAX)
        .saturating_add(1)
}

/// Returns whether an instance can tell where its benchmark gets steady: it has at least half as
/// many iterations as the longest instance. What is shorter may lie wholly in a warm-up, and then looks
/// steady to itself.
///
/// # Examples
/// ```
/// use lapwing_stats::steady::is_long_enough;
///
/// assert!(is_long_enough(30, 60));
/// assert!(!is_long_enough(29, 60));
/// ```
pub fn is_long_enough(iterations: usize, longest: usize) -> bool {
    iterations >= longest.div_ceil(2)
}

/// Returns the instances that are long enough to classify.
pub(super) fn asked<'a>(instances: &[InstanceStart<'a>]) -> Vec<InstanceStart<'a>> {
    let iterations = instances.iter().map(InstanceStart::iterations);
    let longest = iterations.max().unwrap_or(0);
    let all = instances.iter().copied();
    all.filter(|it| is_long_enough(it.iterations(), longest))
        .collect()
}
