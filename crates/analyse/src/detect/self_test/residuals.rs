//! The residuals of a series without its known changes.

use lapwing_stats::{as_f64, median};

use super::super::finding::{ChangeKind, Finding};
use super::super::series::HistorySeries;

/// A drift of fewer runs than this is a level: a line would fit the noise.
const RUNS_OF_A_LINE: usize = 6;

/// The values of a series around what is known of its course.
pub(super) struct Residuals {
    /// The newest level, on the scale of the series.
    pub(super) level: f64,
    /// By point, how far it is from its level or from the line of its drift.
    pub(super) values: Vec<f64>,
}

impl Residuals {
    /// Returns those of a series with these findings of its own and of others.
    ///
    /// Each part between two changes loses its median, and each drift a line through the medians of slopes and values
    /// (Theil 1950, Sen 1968). What is left is enlarged by √(n / (n − p)) for the p numbers fitted to n runs.
    pub(super) fn of(at: usize, series: &HistorySeries, findings: &[Finding]) -> Self {
        let scaled = series.scaled();
        let findings = || findings.iter().filter(|finding| finding.series == at);
        let place = |moment: usize| series.points.partition_point(|point| point.moment < moment);
        let drifts = findings().filter(|finding| finding.kind == ChangeKind::Drift);
        let drifts = drifts.map(|it| place(it.good)..place(it.range.end() + 1));
        let drifts: Vec<std::ops::Range<usize>> = drifts.collect();
        let steps = findings().filter(|finding| finding.kind != ChangeKind::Drift);
        let mut cuts: Vec<usize> = steps
            .flat_map(|it| [Some(it.first_after), it.went_away].into_iter().flatten())
            .map(place)
            .chain(drifts.iter().flat_map(|it| [it.start, it.end]))
            .chain([0, scaled.len()])
            .collect();
        cuts.sort_unstable();
        cuts.dedup();
        let mut residuals = Self {
            level: 0.0,
            values: Vec::with_capacity(scaled.len()),
        };
        for part in cuts.windows(2) {
            let values = &scaled[part[0]..part[1]];
            let is_drift = drifts.iter().any(|it| it.contains(&part[0]));
            let slope = if is_drift && values.len() >= RUNS_OF_A_LINE {
                slope(values)
            } else {
                0.0
            };
            residuals.add(values, slope);
        }
        residuals
    }

    fn add(&mut self, values: &[f64], slope: f64) {
        let course = |run: usize| slope * as_f64(run);
        let values: Vec<f64> = (values.iter().enumerate())
            .map(|(run, value)| value - course(run))
            .collect();
        let centre = median(&values).unwrap_or(0.0);
        let fitted = if slope == 0.0 { 1 } else { 2 };
        let freedom = values.len().saturating_sub(fitted).max(1);
        let enlarged = (as_f64(values.len()) / as_f64(freedom)).sqrt();
        self.level = centre + course(values.len() - 1);
        let residuals = values.iter().map(|value| enlarged * (value - centre));
        self.values.extend(residuals);
    }
}

/// Returns the median of the slopes between all pairs of values, or of some of many.
fn slope(values: &[f64]) -> f64 {
    const MOST: usize = 300;
    let every = values.len().div_ceil(MOST);
    let some = |from: usize| (from..values.len()).step_by(every);
    let slopes: Vec<f64> = some(0)
        .flat_map(|first| some(first + every).map(move |last| (first, last)))
        .map(|(first, last)| (values[last] - values[first]) / as_f64(last - first))
        .collect();
    median(&slopes).unwrap_or(0.0)
}
