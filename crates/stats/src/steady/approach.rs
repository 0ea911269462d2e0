//! Where a series comes close to its steady level.

use super::number::{share, whole};
use super::robust::RobustNoise;
use super::transition::Transition;
use crate::describe::squares_around;
use crate::number::as_f64;

/// The first iteration within the margin, and how many iterations it is in doubt by.
///
/// By Schwarz' criterion the series is described by its steps, by one exponential approach, or
/// by one straight line that meets the level. With steps it is the last change point, unless the
/// segment before it is a line rather than level. A change point is found to within some
/// (σ / margin)² iterations, the end of an approach to a tenth of its length.
pub(super) fn crossing(
    values: &[f64],
    change_points: &[usize],
    transition: &Transition,
    noise: RobustNoise,
    margin: f64,
) -> (usize, usize) {
    const STEP_DOUBT: f64 = 8.0;
    const APPROACH_DOUBT: f64 = 0.1;
    const LINE_GAIN: f64 = 1.06;
    let n = values.len();
    let relative = values
        .iter()
        .map(|value| (value - transition.level_after).exp());
    let relative: Vec<f64> = relative.collect();
    let level = crate::mean(&relative[(transition.end + n) / 2..]).unwrap_or(1.0);
    let rho = noise.autocorrelation;
    let independent = as_f64(n) * (1.0 - rho) / (1.0 + rho);
    let criterion =
        |squares: f64, parameters: f64| independent * squares.ln() + parameters * independent.ln();
    let of_steps = criterion(
        squares_around_steps(&relative, change_points),
        2.0 * as_f64(change_points.len()) + 1.0,
    );
    let approach = ExponentialApproach::of(&relative);
    let line = FittedLine::of(&relative, level, margin);
    let of_line = criterion(line.squares, 3.0);
    let of_approach = criterion(approach.squares, 3.0);
    if of_line < of_approach && of_line < of_steps {
        return (line.within, share(line.within, APPROACH_DOUBT));
    }
    if of_approach < of_steps {
        let at = approach.first_within(margin).min(n);
        return (at, share(at, APPROACH_DOUBT));
    }
    let last = FittedLine::of(&relative[transition.begin..], level, margin);
    if last.gain > LINE_GAIN * last.step_gain {
        let at = transition.begin + last.within;
        return (at, share(at - transition.begin, APPROACH_DOUBT));
    }
    let doubt = STEP_DOUBT * noise.long_run_variance() / margin.powi(2);
    (transition.end, share(1, doubt))
}

/// Returns the sum of squares around the mean of each part between steps at these indices, which do not fall.
fn squares_around_steps(values: &[f64], steps: &[usize]) -> f64 {
    let (mut squares, mut start) = (0.0, 0);
    for end in steps.iter().copied().chain([values.len()]) {
        let part = &values[start.min(end)..end];
        let mean = part.iter().sum::<f64>() / as_f64(part.len().max(1));
        squares += squares_around(part, mean);
        start = end;
    }
    squares
}

/// A straight line from the first value that meets the level and stays there.
struct FittedLine {
    /// The first iteration within the margin of the level.
    within: usize,
    /// The squares around line and level.
    squares: f64,
    /// How much smaller than those around the level alone they are.
    gain: f64,
    /// The same of the best step to the level.
    step_gain: f64,
}

impl FittedLine {
    /// The least squares fit. With deviations e, and times t = 1, 2, … backwards from where
    /// the line ends, the slope is Σ e t / Σ t² and the gain (Σ e t)² / Σ t²; that of a step
    /// is (Σ e)² / n.
    fn of(values: &[f64], level: f64, margin: f64) -> Self {
        let (mut sum, mut product, mut times, mut squares) = (0.0, 0.0, 0.0, 0.0);
        let mut best = Self {
            within: 0,
            squares: 0.0,
            gain: 0.0,
            step_gain: 0.0,
        };
        for (before, value) in values.iter().enumerate() {
            let deviation = value - level;
            let length = as_f64(before + 1);
            squares += deviation * deviation;
            sum += deviation;
            product += sum;
            times += length * length;
            best.step_gain = best.step_gain.max(sum * sum / length);
            let gain = product * product / times;
            if gain > best.gain {
                let slope = (product / times).abs();
                best.gain = gain;
                best.within = before + 1 - whole(margin * level / slope).min(before);
            }
        }
        best.squares = (squares - best.gain).max(f64::MIN_POSITIVE);
        best
    }
}

/// Deviations from 1, and sums of them.
struct SummedDeviations {
    of_one: Vec<f64>,
    sum: f64,
    squares: f64,
}

impl SummedDeviations {
    fn of(values: &[f64]) -> Self {
        let of_one: Vec<f64> = values.iter().map(|value| value - 1.0).collect();
        Self {
            sum: of_one.iter().sum(),
            squares: of_one.iter().map(|deviation| deviation * deviation).sum(),
            of_one,
        }
    }
}

/// An exponential approach to a level: x(t) = level + height · exp(−t / pace).
struct ExponentialApproach {
    level: f64,
    height: f64,
    pace: f64,
    squares: f64,
}

impl ExponentialApproach {
    /// The least squares fit: for each pace it is linear, and the pace is searched for.
    fn of(values: &[f64]) -> Self {
        const PACES: u32 = 14;
        let n = as_f64(values.len());
        let values = &SummedDeviations::of(values);
        let (fastest, slowest) = (0.5_f64.ln(), (3.0 * n).ln());
        let step = (slowest - fastest) / f64::from(PACES);
        let mut best = Self::with_pace(values, slowest.exp());
        let consider = |best: &mut Self, log_pace: f64| {
            let other = Self::with_pace(values, log_pace.exp());
            if other.squares < best.squares {
                *best = other;
            }
        };
        for k in 0..PACES {
            consider(&mut best, fastest + f64::from(k) * step);
        }
        let mut step = step / 2.0;
        for _ in 0..5 {
            let middle = best.pace.ln();
            consider(&mut best, middle - step);
            consider(&mut best, middle + step);
            step /= 2.0;
        }
        best
    }

    fn with_pace(values: &SummedDeviations, pace: f64) -> Self {
        const LANES: usize = 4;
        let n = as_f64(values.of_one.len());
        let factor = (-1.0 / pace).exp();
        let far = factor.powi(4);
        // Lanes that do not wait for each other.
        let mut decays = [1.0, factor, factor.powi(2), factor.powi(3)];
        let (mut sums, mut squares, mut products) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        for chunk in values.of_one.chunks(LANES) {
            for (lane, deviation) in chunk.iter().enumerate() {
                sums[lane] += decays[lane];
                squares[lane] += decays[lane] * decays[lane];
                products[lane] += decays[lane] * deviation;
            }
            decays = decays.map(|decay| decay * far);
        }
        let sum: f64 = sums.iter().sum();
        let spread = squares.iter().sum::<f64>() - sum * sum / n;
        let shared = products.iter().sum::<f64>() - sum * values.sum / n;
        let height = if spread > 0.0 { shared / spread } else { 0.0 };
        let around_mean = values.squares - values.sum * values.sum / n;
        Self {
            level: 1.0 + (values.sum - height * sum) / n,
            height,
            pace,
            squares: (around_mean - height * shared).max(f64::MIN_POSITIVE),
        }
    }

    /// The first iteration at which what is left is within `margin` of the level.
    fn first_within(&self, margin: f64) -> usize {
        let left = self.height.abs() / (margin * self.level);
        if self.level <= 0.0 {
            return usize::MAX;
        }
        whole((self.pace * left.max(1.0).ln()).ceil())
    }
}
