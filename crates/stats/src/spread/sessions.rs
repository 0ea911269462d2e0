//! How much sessions of one benchmark differ, from its earlier sessions.

use std::collections::BTreeMap;

use crate::number::as_f64;
use crate::spread::moderation::VariancePrior;

/// The mean of an earlier session, as a logarithm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SessionMean {
    /// The mean over its instances.
    pub value: f64,
    /// The number of its level. Nothing is known to have changed between sessions of one level: they are of the same
    /// version, or between the same changes of a history.
    pub level: usize,
    /// The number of its host; 0 for all if hosts are unknown.
    pub host: usize,
}

/// The hosts of the two sides of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SideHosts {
    /// Both have the same ones, or they are unknown.
    Same,
    /// They have other ones.
    Other,
}

/// From so many degrees of freedom, the variance within hosts is known without the one between them.
const ENOUGH_WITHIN_HOSTS: f64 = 3.0;

/// Returns the variance of a session's mean about its level, with its degrees of freedom; `None` if there are none.
///
/// Sides on the same hosts differ by what sessions on one host differ by: the mean square MS within levels and hosts.
/// Sides on different hosts differ by the variance between hosts as well: with the mean square MS_H of hosts within
/// levels, and n sessions per host (N − Σ n_h²/N, over hosts − 1), it is MS_H/n + (1 − 1/n) MS, with degrees of freedom by
/// Satterthwaite. It is unknown if no level was measured on two hosts.
///
/// Source: Searle, Casella & McCulloch, *Variance Components* 1992, §3.6; Satterthwaite, *Biometrics Bulletin* 1946.
///
/// ```
/// use lapwing_stats::{SessionMean, SideHosts, session_variance};
/// let means = [0.00, 0.04, -0.04, 1.02, 0.98];
/// let sessions: Vec<SessionMean> = (means.iter().enumerate())
///     .map(|(at, value)| SessionMean { value: *value, level: at / 3, host: 0 })
///     .collect();
/// let known = session_variance(&sessions, SideHosts::Same).expect("five sessions of two levels");
/// assert_eq!(known.freedom, 3.0);
/// assert!((known.variance - 0.004 / 3.0).abs() < 1e-12);
/// assert_eq!(session_variance(&sessions, SideHosts::Other), None);
/// ```
pub fn session_variance(sessions: &[SessionMean], hosts: SideHosts) -> Option<VariancePrior> {
    let squares = SessionSquares::of(sessions);
    let total = VariancePrior {
        variance: squares.between_hosts + squares.within_hosts,
        freedom: squares.host_freedom + squares.freedom,
    };
    let known = match hosts {
        SideHosts::Same if squares.freedom >= ENOUGH_WITHIN_HOSTS => {
            mean_square(squares.within_hosts, squares.freedom)
        }
        SideHosts::Same => mean_square(total.variance, total.freedom),
        SideHosts::Other => sum_of_variances(&squares.on_other_hosts()?),
    };
    (known.freedom > 0.0).then_some(known)
}

/// Returns the two mean squares whose sum, with these factors, is the variance on other hosts: that of hosts and that
/// within them, as for [`SideHosts::Other`]. `None` for a single host.
pub(crate) fn on_other_hosts(values: &[SessionMean]) -> Option<[(f64, VariancePrior); 2]> {
    SessionSquares::of(values).on_other_hosts()
}

fn mean_square(squares: f64, freedom: f64) -> VariancePrior {
    let known = freedom > 0.0;
    VariancePrior {
        variance: if known { squares / freedom } else { 0.0 },
        freedom,
    }
}

/// Returns Σ aᵢ vᵢ of independent variances, with the degrees of freedom by Satterthwaite: (Σ aᵢ vᵢ)² / Σ (aᵢ vᵢ)²/νᵢ.
pub fn sum_of_variances(parts: &[(f64, VariancePrior)]) -> VariancePrior {
    let used = parts.iter().filter(|(factor, _)| *factor > 0.0);
    let (mut variance, mut squares, mut freedom) = (0.0, 0.0, 0.0);
    for (factor, part) in used {
        let term = factor * part.variance;
        variance += term;
        freedom += part.freedom;
        if part.freedom > 0.0 {
            squares += term * term / part.freedom;
        }
    }
    VariancePrior {
        variance,
        // Where nothing varies, all of them agree.
        freedom: if squares > 0.0 {
            variance * variance / squares
        } else {
            freedom
        },
    }
}

/// The analysis of variance of sessions: levels, hosts within levels, sessions within hosts.
struct SessionSquares {
    between_hosts: f64,
    host_freedom: f64,
    within_hosts: f64,
    freedom: f64,
    /// N − Σ n_h²/N, summed over levels: the factor of the variance between hosts in `between_hosts`.
    pairs: f64,
}

impl SessionSquares {
    fn of(sessions: &[SessionMean]) -> Self {
        let mut levels: BTreeMap<usize, BTreeMap<usize, Vec<f64>>> = BTreeMap::new();
        for session in sessions {
            let hosts = levels.entry(session.level).or_default();
            hosts.entry(session.host).or_default().push(session.value);
        }
        let mut squares = Self {
            between_hosts: 0.0,
            host_freedom: 0.0,
            within_hosts: 0.0,
            freedom: 0.0,
            pairs: 0.0,
        };
        for hosts in levels.values() {
            let number: f64 = hosts.values().map(|it| as_f64(it.len())).sum();
            let level = hosts.values().flatten().sum::<f64>() / number;
            squares.pairs += number;
            squares.host_freedom += as_f64(hosts.len()) - 1.0;
            for values in hosts.values() {
                let size = as_f64(values.len());
                let host = values.iter().sum::<f64>() / size;
                squares.between_hosts += size * (host - level).powi(2);
                let around = values.iter().map(|value| (value - host).powi(2));
                squares.within_hosts += around.sum::<f64>();
                squares.freedom += size - 1.0;
                squares.pairs -= size * size / number;
            }
        }
        squares
    }

    fn on_other_hosts(&self) -> Option<[(f64, VariancePrior); 2]> {
        let of_hosts = mean_square(self.between_hosts, self.host_freedom);
        let within = mean_square(self.within_hosts, self.freedom);
        let share = (self.host_freedom / self.pairs.max(self.host_freedom)).min(1.0);
        (self.host_freedom > 0.0).then_some([(share, of_hosts), (1.0 - share, within)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden::assert_relative;

    fn session(value: f64, level: usize, host: usize) -> SessionMean {
        SessionMean { value, level, host }
    }

    #[test]
    fn a_change_of_level_is_no_noise() {
        let noise = [0.01, -0.02, 0.015, 0.0, -0.01, 0.02];
        let of = |step: f64| {
            let sessions: Vec<SessionMean> = (noise.iter().enumerate())
                .map(|(at, value)| session(value + step * as_f64(at / 3), at / 3, 0))
                .collect();
            session_variance(&sessions, SideHosts::Same).expect("six sessions")
        };
        assert_relative("variance", of(1.0).variance, of(0.0).variance, 1e-9);
        assert_eq!(of(1.0).freedom, 4.0);
    }

    #[test]
    fn hosts_count_only_if_the_sides_have_other_ones() {
        // Three hosts 10 % apart, two sessions each, 1 % apart.
        let sessions = [0.0, 0.01, 0.1, 0.11, 0.2, 0.21];
        let sessions: Vec<SessionMean> = (sessions.iter().enumerate())
            .map(|(at, value)| session(*value, 0, at / 2))
            .collect();
        let same = session_variance(&sessions, SideHosts::Same).expect("known");
        let other = session_variance(&sessions, SideHosts::Other).expect("known");
        assert_relative("within hosts", same.variance, 5e-5, 1e-9);
        assert_eq!(same.freedom, 3.0);
        // numpy 2.4.6: means of hosts .005, .105, .205: MS_H = 2 · .01 = .02, n = 2; .02/2 + 5e-5/2
        assert_relative("other hosts", other.variance, 0.010_025, 1e-9);
        // .010025² / (.01²/2 + (2.5e-5)²/3)
        assert_relative("freedom", other.freedom, 2.010_004_124_982_812_4, 1e-6);
    }

    #[test]
    fn every_session_on_a_host_of_its_own_shows_both_variances_together() {
        let sessions = [0.0, 0.04, -0.04].map(|value| (value, 0));
        let sessions: Vec<SessionMean> = (sessions.iter().enumerate())
            .map(|(at, (value, level))| session(*value, *level, at))
            .collect();
        let known = session_variance(&sessions, SideHosts::Other).expect("three hosts");
        assert_relative("variance", known.variance, 0.001_6, 1e-9);
        assert_eq!(known.freedom, 2.0);
        assert_eq!(
            session_variance(&sessions, SideHosts::Same),
            Some(known),
            "the best there is"
        );
    }
}
