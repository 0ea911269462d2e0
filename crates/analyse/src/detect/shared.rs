//! Changes that a whole suite shares, such as those of another machine.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use lapwing_stats::changepoint::{LevelOptions, level_changes};
use lapwing_stats::{as_f64, median};
use serde::{Deserialize, Serialize};

use super::series::{Histories, HistorySeries};

/// The fewest series that can share a change.
pub(super) const MEMBERS: usize = 5;
/// The fewest runs of a series that can say something about its suite.
const RUNS: usize = 8;
/// The share of the series that have to agree.
pub(super) const AGREEING: f64 = 0.85;
/// A series agrees if it moves this far in terms of the median of all. Of a suite in which only some changed, the
/// others move by chance.
const HALF_AS_FAR: f64 = 0.5;
/// The number of runs on each side of a change by which a series agrees or not.
const NEIGHBOURS: usize = 25;
/// The standard deviation of normal values in terms of the median absolute deviation.
pub(super) const NORMAL_DEVIATION: f64 = 1.4826;

/// A change that most series of a suite share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct SharedChange {
    /// The first moment after it.
    pub(super) moment: usize,
    /// The moments that the first one after it may be.
    pub(super) range: RangeInclusive<usize>,
    pub(super) p_value: f64,
    /// The first moment at which the level seems to be back, if that is too new to be a change.
    pub(super) until: Option<usize>,
}

/// Returns the changes that most of these series share, in order: those of the median over the series, each in terms
/// of its own spread, at which nearly all of the series move at least half as far as the median.
pub(super) fn shared_changes(
    histories: &Histories,
    members: &[usize],
    options: &LevelOptions,
) -> Vec<SharedChange> {
    let members: Vec<Standardised> = members
        .iter()
        .filter_map(|series| Standardised::of(&histories.series[*series]))
        .collect();
    if members.len() < MEMBERS {
        return Vec::new();
    }
    let mut by_moment: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for (moment, value) in members.iter().flat_map(|member| &member.values) {
        by_moment.entry(*moment).or_default().push(*value);
    }
    by_moment.retain(|_, values| values.len() >= MEMBERS);
    let moments: Vec<usize> = by_moment.keys().copied().collect();
    let medians: Vec<f64> = by_moment
        .values()
        .filter_map(|values| median(values))
        .collect();
    let found = level_changes(&medians, options);
    let shared = found.changes.into_iter().filter_map(|change| {
        let moment = moments[change.index];
        let votes: Vec<f64> = members
            .iter()
            .filter_map(|it| it.shift_at(moment))
            .collect();
        let usual = median(&votes)?;
        let agreeing = votes.iter().filter(|shift| **shift / usual >= HALF_AS_FAR);
        let agreeing = as_f64(agreeing.count());
        let agree = votes.len() >= MEMBERS && agreeing >= AGREEING * as_f64(votes.len());
        agree.then(|| SharedChange {
            moment,
            range: moments[*change.range.start()]..=moments[*change.range.end()],
            p_value: change.p_value,
            until: None,
        })
    });
    shared.collect()
}

/// The values of a series less their median, in terms of the spread from run to run.
struct Standardised {
    spread: f64,
    values: Vec<(usize, f64)>,
}

impl Standardised {
    /// Returns `None` for a series with too few runs, or whose values hardly vary.
    fn of(series: &HistorySeries) -> Option<Self> {
        if series.points.len() < RUNS {
            return None;
        }
        let scaled = series.searchable().values;
        let centre = median(&scaled)?;
        let steps: Vec<f64> = scaled
            .windows(2)
            .map(|pair| (pair[1] - pair[0]).abs())
            .collect();
        let spread = NORMAL_DEVIATION * median(&steps)? / std::f64::consts::SQRT_2;
        if spread <= 0.0 {
            return None;
        }
        let moments = series.points.iter().map(|point| point.moment);
        let standardised = scaled.iter().map(|value| (value - centre) / spread);
        Some(Self {
            spread,
            values: moments.zip(standardised).collect(),
        })
    }

    /// Returns the difference between the medians of the runs from a moment on and those before it, on the scale of
    /// the series.
    fn shift_at(&self, moment: usize) -> Option<f64> {
        let split = self.values.partition_point(|(at, _)| *at < moment);
        let values =
            |part: &[(usize, f64)]| part.iter().map(|(_, value)| *value).collect::<Vec<_>>();
        let before = values(&self.values[split.saturating_sub(NEIGHBOURS)..split]);
        let after = values(&self.values[split..(split + NEIGHBOURS).min(self.values.len())]);
        Some(self.spread * (median(&after)? - median(&before)?))
    }
}
