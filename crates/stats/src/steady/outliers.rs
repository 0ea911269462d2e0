//! Values far outside what the iterations around them are.

use std::collections::VecDeque;

use crate::number::as_f64;

/// How far from the median of a window a value is an outlier.
///
/// Outside median ± `reach` · (upper − lower quantile).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fences {
    /// The number of values in a window.
    pub window: usize,
    /// The probability of the lower quantile; that of the upper is 1 minus it.
    pub tail: f64,
    /// How many distances between the two quantiles are still normal.
    pub reach: f64,
}

impl Fences {
    /// Those of Krun's warmup_stats: 200 values, three times the distance of P10 and P90.
    pub const KRUN: Self = Self {
        window: 200,
        tail: 0.1,
        reach: 3.0,
    };

    /// Those of Traini et al.: 200 values, three times the distance of P1 and P99.
    pub const TRAINI: Self = Self {
        window: 200,
        tail: 0.01,
        reach: 3.0,
    };

    /// Returns the fences of one sorted window.
    fn of(&self, sorted: &[f64]) -> (f64, f64) {
        let low = quantile_of_sorted(sorted, self.tail);
        let high = quantile_of_sorted(sorted, 1.0 - self.tail);
        let middle = quantile_of_sorted(sorted, 0.5);
        let band = self.reach * (high - low);
        (middle - band, middle + band)
    }
}

/// Returns the indices of the values outside the fences of the window around them.
///
/// The window of value i is i − w/2 … i + w/2, cut at the end of the series. Where it would
/// begin before the series there are no fences: the first w/2 values are warm-up more
/// often than outliers. This is the rule of Krun's warmup_stats (Barrett et al.,
/// *OOPSLA* 2017).
pub fn centred_outliers(values: &[f64], fences: &Fences) -> Vec<usize> {
    let half = fences.window / 2;
    let mut window = SortedWindow::default();
    let mut found = Vec::new();
    if half == 0 || values.len() < fences.window {
        return found;
    }
    let (mut start, mut end) = (0, 0);
    for (at, value) in values.iter().enumerate().skip(half) {
        let (from, to) = (at - half, (at + half).min(values.len()));
        while end < to {
            if start < from {
                window.replace(values[start], values[end]);
                start += 1;
            } else {
                window.insert(values[end]);
            }
            end += 1;
        }
        while start < from {
            window.remove(values[start]);
            start += 1;
        }
        let (low, high) = fences.of(&window.sorted);
        if *value < low || *value > high {
            found.push(at);
        }
    }
    found
}

/// Returns the indices of the values, from `skip` on, outside the fences of any full window
/// that they are in.
///
/// This is the rule of Traini et al. (*EMSE* 2023). One quiet window is enough: more is left
/// out than by [`centred_outliers`].
pub fn outliers_of_any_window(values: &[f64], skip: usize, fences: &Fences) -> Vec<usize> {
    let rest = values.get(skip..).unwrap_or_default();
    let width = fences.window;
    if width == 0 || rest.len() < width {
        return Vec::new();
    }
    let mut window = SortedWindow::default();
    for value in &rest[..width] {
        window.insert(*value);
    }
    let mut bounds = Vec::with_capacity(rest.len() - width + 1);
    bounds.push(fences.of(&window.sorted));
    for end in width..rest.len() {
        window.replace(rest[end - width], rest[end]);
        bounds.push(fences.of(&window.sorted));
    }
    let (mut highest_low, mut lowest_high) = (VecDeque::new(), VecDeque::new());
    let mut found = Vec::new();
    for (at, value) in rest.iter().enumerate() {
        if at < bounds.len() {
            push_extreme(&mut highest_low, at, |one, other| {
                bounds[one].0 > bounds[other].0
            });
            push_extreme(&mut lowest_high, at, |one, other| {
                bounds[one].1 < bounds[other].1
            });
        }
        for queue in [&mut highest_low, &mut lowest_high] {
            while queue.front().is_some_and(|first| first + width <= at) {
                queue.pop_front();
            }
        }
        let low = highest_low.front().map(|window| bounds[*window].0);
        let high = lowest_high.front().map(|window| bounds[*window].1);
        if low.is_some_and(|low| *value < low) || high.is_some_and(|high| *value > high) {
            found.push(skip + at);
        }
    }
    found
}

/// Keeps a queue whose first element is the extreme one of a sliding range.
fn push_extreme(queue: &mut VecDeque<usize>, at: usize, better: impl Fn(usize, usize) -> bool) {
    while queue.back().is_some_and(|last| !better(*last, at)) {
        queue.pop_back();
    }
    queue.push_back(at);
}

/// The values of a window in rising order. A window is small enough that moving its values
/// costs less than a tree.
#[derive(Default)]
struct SortedWindow {
    sorted: Vec<f64>,
}

impl SortedWindow {
    fn place(&self, value: f64) -> usize {
        self.sorted
            .partition_point(|other| other.total_cmp(&value).is_lt())
    }

    fn insert(&mut self, value: f64) {
        let place = self.place(value);
        self.sorted.insert(place, value);
    }

    fn remove(&mut self, value: f64) {
        let place = self.place(value);
        self.sorted.remove(place);
    }

    /// Removes one value and inserts another, moving only what lies between them.
    fn replace(&mut self, old: f64, new: f64) {
        let (from, to) = (self.place(old), self.place(new));
        if to > from {
            self.sorted.copy_within(from + 1..to, from);
            self.sorted[to - 1] = new;
        } else {
            self.sorted.copy_within(to..from, to + 1);
            self.sorted[to] = new;
        }
    }
}

/// The quantile of type 7 (see [`crate::quantile`]) of values that are sorted and not empty.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positions in a window are small and not negative"
)]
pub(crate) fn quantile_of_sorted(sorted: &[f64], probability: f64) -> f64 {
    let position = probability * as_f64(sorted.len() - 1);
    let below = position.floor();
    let low = sorted[below as usize];
    let high = sorted[position.ceil() as usize];
    low + (position - below) * (high - low)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{median, quantile};

    fn fences_of(window: &[f64], fences: &Fences) -> (f64, f64) {
        let at = |probability| quantile(window, probability).expect("not empty");
        let band = fences.reach * (at(1.0 - fences.tail) - at(fences.tail));
        let middle = median(window).expect("not empty");
        (middle - band, middle + band)
    }

    /// The rules word for word, each window sorted anew.
    fn slowly(values: &[f64], skip: usize, fences: &Fences) -> (Vec<usize>, Vec<usize>) {
        let (half, width) = (fences.window / 2, fences.window);
        let outside = |at: usize, window: &[f64]| {
            let (low, high) = fences_of(window, fences);
            values[at] < low || values[at] > high
        };
        let centred = (0..values.len())
            .filter(|at| *at >= half && values.len() >= width)
            .filter(|at| outside(*at, &values[at - half..(at + half).min(values.len())]))
            .collect();
        let any = (skip..values.len())
            .filter(|at| {
                (skip..(values.len() + 1).saturating_sub(width))
                    .filter(|from| *from <= *at && *at < from + width)
                    .any(|from| outside(*at, &values[from..from + width]))
            })
            .collect();
        (centred, any)
    }

    proptest! {
        #[test]
        fn sliding_gives_what_sorting_each_window_gives(
            values in prop::collection::vec(prop_oneof![4 => 0.9..1.1_f64, 1 => 0.0..9.0_f64, 1 => Just(1.0)], 1..80),
            half in 2..12_usize,
            skip in 0..10_usize,
            tail in 0.01..0.3_f64,
        ) {
            let fences = Fences { window: 2 * half, tail, reach: 1.0 };
            let (centred, any) = slowly(&values, skip, &fences);
            prop_assert_eq!(centred_outliers(&values, &fences), centred);
            prop_assert_eq!(outliers_of_any_window(&values, skip, &fences), any);
        }
    }

    #[test]
    fn a_spike_is_found_and_a_slow_start_is_not() {
        let mut values: Vec<f64> = (0..400).map(|i| 1.0 + f64::from(i % 7) / 100.0).collect();
        values[2] = 9.0;
        values[250] = 9.0;
        assert_eq!(centred_outliers(&values, &Fences::KRUN), [250]);
        assert_eq!(outliers_of_any_window(&values, 20, &Fences::TRAINI), [250]);
    }
}
