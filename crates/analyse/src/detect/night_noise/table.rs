//! The step that is found in four of five cases, in terms of the noise from night to night.

use lapwing_stats::as_f64;

/// The numbers of nights since a step for which it is known how large it has to be.
pub const NIGHTS_SINCE: [usize; 3] = [3, 5, 10];
/// The simulated numbers of nights before the step.
pub(super) const NIGHTS_BEFORE: [usize; 6] = [10, 15, 20, 30, 45, 90];
/// The simulated numbers of histories that are judged together.
pub(super) const TOGETHER: [usize; 5] = [1, 5, 30, 180, 1400];
/// So many histories still count as 1,400: the steps are 2 % larger.
pub(super) const MOST_TOGETHER: usize = 2000;

/// By nights before the step and by histories judged together, the step after each of [`NIGHTS_SINCE`].
///
/// `cargo test -p lapwing-analyse --lib table_of_night_steps -- --ignored --nocapture` simulates it anew, beginning at
/// these values, whose error is about 3 %. `docs/calibration.md` checks them.
#[rustfmt::skip]
pub(super) const STEPS: [[[f64; 3]; 5]; 6] = [
    [[4.62, 3.45, 3.06], [7.42, 6.82, 3.76], [8.64, 8.60, 4.52], [10.04, 10.04, 10.04], [12.35, 12.35, 12.35]],
    [[3.95, 3.21, 2.70], [6.03, 3.85, 3.39], [7.04, 6.87, 3.95], [7.98, 7.98, 4.17], [9.45, 9.45, 5.61]],
    [[3.49, 2.84, 2.35], [5.81, 3.75, 3.11], [6.05, 4.28, 3.46], [6.95, 6.93, 3.86], [7.95, 7.95, 4.49]],
    [[3.19, 2.58, 1.86], [4.84, 3.18, 2.72], [5.20, 3.77, 3.04], [5.81, 4.82, 3.47], [6.74, 6.67, 3.54]],
    [[2.95, 2.37, 1.64], [3.81, 3.05, 2.19], [4.47, 3.42, 2.54], [4.98, 3.85, 2.86], [5.57, 5.50, 3.43]],
    [[2.56, 1.96, 1.39], [3.32, 2.56, 1.77], [3.86, 3.11, 2.11], [4.59, 3.28, 2.37], [5.16, 3.58, 2.72]],
];

/// Returns the steps in terms of the noise, interpolated on logarithms of both numbers; `None` for fewer nights or more
/// histories than were simulated. More nights count as the most: the detector hardly looks at older ones.
pub(super) fn multipliers(nights: usize, together: usize) -> Option<[f64; NIGHTS_SINCE.len()]> {
    let (night, between_nights) = place(&NIGHTS_BEFORE, nights)?;
    let (number, between_numbers) = place(&TOGETHER, together.max(1))?;
    if together > MOST_TOGETHER {
        return None;
    }
    let mixed = |low: f64, high: f64, share: f64| low + share * (high - low);
    let mut steps = [0.0; NIGHTS_SINCE.len()];
    for (at, step) in steps.iter_mut().enumerate() {
        let of = |night: usize| {
            let [low, high] = [number, number + 1].map(|it| STEPS[night][it][at]);
            mixed(low, high, between_numbers)
        };
        *step = mixed(of(night), of(night + 1), between_nights);
    }
    Some(steps)
}

/// Returns the last place but one at most whose number is not larger, and the share of the way to the next; of larger
/// numbers than the last, that of the last.
fn place(numbers: &[usize], number: usize) -> Option<(usize, f64)> {
    let last = numbers.len() - 1;
    let number = number.min(numbers[last]);
    let low = numbers[..last]
        .partition_point(|it| *it <= number)
        .checked_sub(1)?;
    let [from, to, it] = [numbers[low], numbers[low + 1], number].map(|it| as_f64(it).ln());
    Some((low, (it - from) / (to - from)))
}
