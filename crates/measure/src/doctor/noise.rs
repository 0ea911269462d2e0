//! How much the same work differs from execution to execution on this machine now.

use std::time::{Duration, Instant};

use lapwing_stats::{coefficient_of_variation, mean};

use super::super::{Execution, ExecutionEnd, Executor, ExecutorError};
use crate::suite::CommandLine;

/// Blocks of executions, in the place of instances.
const BLOCKS: usize = 10;
/// Executions in each block, in the place of iterations.
const EXECUTIONS: usize = 5;
/// Some milliseconds of pure computing in any POSIX shell, without a process more.
const BUSY_LOOP: &str = "i=0; while [ $i -lt 12000 ]; do i=$((i+1)); done";
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// The spread of the same short computation, executed again and again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MachineNoise {
    /// How many executions there were.
    pub executions: usize,
    /// Their median wall time in seconds.
    pub median: f64,
    /// Their standard deviation as a share of their mean.
    pub spread: f64,
    /// The slowest of them as a multiple of the median.
    pub slowest: f64,
    /// The smallest difference, as a share, that a comparison of 5 instances a side with
    /// 5 iterations each would probably find if nothing disturbed more than just now.
    pub detectable: f64,
}

impl MachineNoise {
    /// Executes the computation and returns the spread, and the processor time used;
    /// `None` when it could not be executed.
    ///
    /// # Errors
    /// When the surroundings are broken.
    pub fn sample(executor: &mut dyn Executor) -> Result<Option<(Self, Duration)>, ExecutorError> {
        let execution = Execution {
            time_limit: Some(TIME_LIMIT),
            ..Execution::new(CommandLine::Shell(BUSY_LOOP.to_owned()))
        };
        let mut seconds = Vec::new();
        let mut used = Duration::ZERO;
        // The first execution brings files into memory and is not counted.
        for number in 0..=BLOCKS * EXECUTIONS {
            let executed = executor.execute(&execution)?;
            let (ExecutionEnd::Exited(0), Some(usage)) = (executed.end, executed.usage) else {
                return Ok(None);
            };
            used += usage.user + usage.system;
            if number > 0 {
                seconds.push(executed.wall.as_secs_f64());
            }
        }
        Ok(Some((Self::of(&seconds), used)))
    }

    /// Returns the spread of wall times in seconds, of which there are whole blocks.
    ///
    /// `detectable` is (t₀.₉₇₅ + t₀.₈) · s · √(2/5), with t of 8 degrees of freedom and s the
    /// relative standard deviation of the blocks' means: the difference that a t-test of
    /// 5 against 5 instances finds with a probability of 80 %.
    fn of(seconds: &[f64]) -> Self {
        const T_SUM: f64 = 2.306 + 0.889;
        let blocks: Vec<f64> = seconds.chunks(EXECUTIONS).filter_map(mean).collect();
        let mut sorted = seconds.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let median = sorted[sorted.len() / 2];
        Self {
            executions: seconds.len(),
            median,
            spread: coefficient_of_variation(seconds).unwrap_or(f64::NAN),
            slowest: sorted[sorted.len() - 1] / median,
            detectable: T_SUM
                * coefficient_of_variation(&blocks).unwrap_or(f64::NAN)
                * (2.0_f64 / 5.0).sqrt(),
        }
    }
}

/// What the measuring clock can tell apart and what a look at it costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClockQuality {
    /// Smallest difference seen, in seconds.
    pub resolution: f64,
    /// Cost of reading it, in seconds.
    pub cost: f64,
}

impl ClockQuality {
    /// Tries the clock out, for about a millisecond.
    pub fn sample() -> Self {
        const CALLS: u32 = 20_000;
        let start = Instant::now();
        let mut last = start;
        let mut smallest = Duration::MAX;
        for _ in 0..CALLS {
            let now = Instant::now();
            let step = now - last;
            if !step.is_zero() {
                smallest = smallest.min(step);
            }
            last = now;
        }
        Self {
            resolution: smallest.as_secs_f64(),
            cost: start.elapsed().as_secs_f64() / f64::from(CALLS),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_times_leave_no_noise() {
        let expected = MachineNoise {
            executions: 50,
            median: 0.5,
            spread: 0.0,
            slowest: 1.0,
            detectable: 0.0,
        };
        assert_eq!(MachineNoise::of(&[0.5; 50]), expected);
    }

    #[test]
    fn the_detectable_difference_follows_from_the_blocks_means() {
        // Blocks of 0.9 and 1.1 in turn: s = 0.1 · √(10/9).
        let seconds: Vec<f64> = (0..BLOCKS)
            .flat_map(|block| [if block % 2 == 0 { 0.9 } else { 1.1 }; EXECUTIONS])
            .collect();
        let noise = MachineNoise::of(&seconds);
        assert!((noise.detectable - 0.213_0).abs() < 1e-4, "{noise:?}");
        assert!((noise.spread - 0.101_0).abs() < 1e-4, "{noise:?}");
    }

    #[test]
    fn the_clock_moves() {
        let quality = ClockQuality::sample();
        assert!(
            quality.resolution > 0.0 && quality.resolution < 1.0,
            "{quality:?}"
        );
        assert!(quality.cost > 0.0, "{quality:?}");
    }
}
