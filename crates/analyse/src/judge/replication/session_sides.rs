//! The sessions of two sides that were measured in different ones.

use std::collections::{BTreeMap, BTreeSet};

use lapwing_stats::{SideHosts, VariancePrior, as_f64, mean};

use super::super::compare::SideSample;
use super::unit::{InstanceOrigin, MOST_IMBALANCE, SESSIONS, imbalance};
use lapwing_model::Id;

/// Two sides from different sessions, of which a side has fewer than three: the difference of the sessions is part of
/// their ratio.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::judge) struct SessionSides {
    /// The means of the sessions of each side.
    pub means: [Vec<f64>; 2],
    /// The mean of 1 / instances over the sessions.
    pub mean_share: f64,
    /// The variance of instances within sessions and sides.
    pub within: VariancePrior,
    /// The hosts of the sides.
    pub hosts: SideHosts,
}

impl SessionSides {
    /// Returns the sessions of two sides with a value per instance; `None` if the sides share their sessions, if these
    /// are unknown, or enough to show by themselves how much they differ.
    pub fn of(sides: [&SideSample; 2], values: &[Vec<f64>; 2]) -> Option<Self> {
        if !are_of_other_sessions(sides) {
            return None;
        }
        let mut means = [Vec::new(), Vec::new()];
        let (mut shares, mut squares, mut freedom) = (Vec::new(), 0.0, 0.0);
        for (side, means) in means.iter_mut().enumerate() {
            let mut sessions: BTreeMap<Id, Vec<f64>> = BTreeMap::new();
            let origins = &sides[side].origins;
            if origins.len() != values[side].len() {
                return None;
            }
            for (origin, value) in origins.iter().zip(&values[side]) {
                sessions.entry(origin.session).or_default().push(*value);
            }
            for values in sessions.values() {
                let centre = mean(values)?;
                squares += values.iter().map(|it| (it - centre).powi(2)).sum::<f64>();
                freedom += as_f64(values.len()) - 1.0;
                shares.push(as_f64(values.len()).recip());
                means.push(centre);
            }
        }
        let hosts = sides.map(|side| {
            side.origins
                .iter()
                .filter_map(|it| it.host.as_ref())
                .collect()
        });
        Some(Self {
            means,
            mean_share: mean(&shares)?,
            within: VariancePrior::of_squares(squares, freedom),
            hosts: if imbalance(hosts) > MOST_IMBALANCE {
                SideHosts::Other
            } else {
                SideHosts::Same
            },
        })
    }

    /// Returns whether the sessions show by themselves how much they differ: with two degrees of freedom or more.
    pub fn show_their_noise(&self) -> bool {
        self.means[0].len() + self.means[1].len() >= 4
    }
}

/// Returns whether the sides are of different sessions, fewer than three on one of them.
pub(in crate::judge) fn are_of_other_sessions(sides: [&SideSample; 2]) -> bool {
    let sessions = |side: &SideSample| -> Vec<Id> {
        let of = |origin: &InstanceOrigin| origin.session;
        side.origins.iter().map(of).collect()
    };
    let sessions = sides.map(sessions);
    let is_few = |of_side: &Vec<Id>| of_side.iter().collect::<BTreeSet<_>>().len() < SESSIONS;
    let by_host = sides.iter().any(|side| side.is_paired_by_host);
    !by_host && sessions.iter().any(is_few) && imbalance(sessions) > MOST_IMBALANCE
}
