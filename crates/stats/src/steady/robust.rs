//! Noise between neighbours, and values pulled in to it.

use crate::number::as_f64;

/// Noise around the level of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RobustNoise {
    /// The standard deviation.
    pub deviation: f64,
    /// The autocorrelation of neighbours, from 0 to 0.9.
    pub autocorrelation: f64,
}

impl RobustNoise {
    /// The variance of a mean of many values, times their number: σ² (1 + ρ) / (1 − ρ).
    pub fn long_run_variance(&self) -> f64 {
        let rho = self.autocorrelation;
        self.deviation.powi(2) * (1.0 + rho) / (1.0 - rho)
    }
}

/// Estimates noise from differences of neighbours and of next but one neighbours.
///
/// With AR(1) noise their variances are 2σ²(1 − ρ) and 2σ²(1 − ρ²); a few steps of the level do
/// not reach the medians. Noise far below the margin makes no difference and has a floor,
/// so that timers with coarse ticks do not look free of noise.
pub(super) fn noise(logs: &[f64], margin: f64) -> RobustNoise {
    let near = spread_of_differences(logs, 1);
    let far = spread_of_differences(logs, 2);
    let rho = if near > 0.0 {
        (far / near).powi(2) - 1.0
    } else {
        0.0
    };
    let doubt = 1.0 / as_f64(logs.len()).sqrt();
    let rho = (rho - doubt).clamp(0.0, (1.0 - 3.0 * doubt).clamp(0.0, 0.9));
    let deviation = near / (1.0 - rho).sqrt();
    RobustNoise {
        deviation: deviation.max(margin / 20.0),
        autocorrelation: rho,
    }
}

/// The standard deviation of one value from the smallest three quarters of |yᵢ₊ₖ − yᵢ|, as if
/// all were normal: the mean square of these is 0.3684 times that of all.
///
/// It varies less than one from the median, and steps, spikes and slow starts do not reach it.
fn spread_of_differences(logs: &[f64], lag: usize) -> f64 {
    let mut squares: Vec<f64> = logs
        .iter()
        .zip(logs.iter().skip(lag))
        .map(|(one, other)| (other - one).powi(2))
        .collect();
    let kept = squares.len() * 3 / 4;
    if kept == 0 {
        return 0.0;
    }
    squares.select_nth_unstable_by(kept, f64::total_cmp);
    let mean = squares[..kept].iter().sum::<f64>() / as_f64(kept);
    (mean / 0.3684 / 2.0).sqrt()
}

/// Values on either side that a value is compared with.
const NEIGHBOURS: usize = 3;

/// Pulls values in that are more than four deviations from the median of their neighbours.
///
/// Values far out at the very beginning stay: a slow first iteration is warm-up more often than
/// chance.
pub(super) fn clipped(logs: &[f64], deviation: f64) -> Vec<f64> {
    const WIDTH: usize = 2 * NEIGHBOURS + 1;
    let mut pulled_in = logs.to_vec();
    if logs.len() < WIDTH {
        return pulled_in;
    }
    let mut beginning = true;
    for (at, value) in pulled_in.iter_mut().enumerate() {
        let from = at.saturating_sub(NEIGHBOURS).min(logs.len() - WIDTH);
        let mut sorted = [0.0; WIDTH];
        sorted.copy_from_slice(&logs[from..from + WIDTH]);
        sorted.sort_unstable_by(f64::total_cmp);
        let middle = sorted[NEIGHBOURS];
        let inside = value.clamp(middle - 4.0 * deviation, middle + 4.0 * deviation);
        beginning &= at < NEIGHBOURS && (inside - *value).abs() > 0.0;
        if !beginning {
            *value = inside;
        }
    }
    pulled_in
}
