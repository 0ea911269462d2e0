//! The latest value of a history of single measurements, against the runs before: a description, no verdict.

use lapwing_stats::median;

use super::super::MetricView;
use crate::quantity::percent;
use crate::sample::RunSample;
use lapwing_analyse::judge::INSTANCES_FOR_A_VERDICT;

/// The fewest earlier runs whose spread says something.
const FEWEST_RUNS: usize = 5;

/// The multiple of the spread from which a value is called unusual.
const UNUSUAL: f64 = 3.0;

/// The median absolute deviation of a normal distribution is this part of its standard deviation.
const NORMAL: f64 = 1.482_602_218_505_602;

/// The latest value against the values of the runs before.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::report) struct UsualLevel {
    /// The latest value divided by the median of the earlier ones.
    pub(in crate::report) ratio: f64,
    /// The scaled median absolute deviation of the earlier values, relative to their median.
    spread: f64,
    runs: usize,
}

impl UsualLevel {
    /// Returns it for the latest run of a variant, if it has too few instances for a comparison, and if there are
    /// enough runs of the same benchmark before it.
    pub(in crate::report) fn of(view: &MetricView, latest: &RunSample) -> Option<Self> {
        let instances = latest.size().instances;
        if instances == 0 || instances >= INSTANCES_FOR_A_VERDICT {
            return None;
        }
        let runs = view.of_variant(&latest.variant);
        let alike = runs.filter(|(run, _)| run.means_the_same_as(latest));
        let (mut before, mut own) = (Vec::new(), None);
        for (run, estimate) in alike {
            match estimate.map(|it| it.value) {
                Some(value) if run.id == latest.id => own = Some(value),
                Some(value) => before.push(value),
                None => {}
            }
        }
        Self::against(own?, &before)
    }

    fn against(own: f64, before: &[f64]) -> Option<Self> {
        let centre = median(before).filter(|it| *it > 0.0)?;
        let deviations: Vec<f64> = before.iter().map(|it| (it - centre).abs()).collect();
        (before.len() >= FEWEST_RUNS && own > 0.0).then_some(Self {
            ratio: own / centre,
            spread: NORMAL * median(&deviations)? / centre,
            runs: before.len(),
        })
    }

    /// Returns whether the value is further from the earlier ones than they usually are.
    pub(in crate::report) fn is_unusual(&self) -> bool {
        (self.ratio - 1.0).abs() > UNUSUAL * self.spread
    }

    /// Returns `≈1.12×` and `usual: ± 4 %`.
    pub(in crate::report) fn texts(&self) -> [String; 2] {
        [
            format!("≈{:.2}×", self.ratio),
            format!("usual: ± {}", percent(self.spread)),
        ]
    }

    /// Returns what it is compared with.
    pub(in crate::report) fn explanation(&self) -> String {
        format!(
            "against the median of the {} runs before, which differ from it by {} (scaled median absolute deviation): a description, \
             because a run with fewer than {INSTANCES_FOR_A_VERDICT} instances allows no verdict",
            self.runs,
            percent(self.spread)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_unusual_beyond_three_spreads_of_enough_runs() {
        // The median is 12, and the median of the deviations 1.
        let before = [10.0, 11.0, 12.0, 13.0, 14.0];
        let level = |own| UsualLevel::against(own, &before).expect("five runs");
        assert!((level(18.0).ratio - 1.5).abs() < 1e-12);
        assert!((level(18.0).spread - 0.123_550).abs() < 1e-6);
        assert!(level(18.0).is_unusual());
        assert!(!level(16.0).is_unusual());
        assert_eq!(level(18.0).texts(), ["≈1.50×", "usual: ± 12 %"]);
        assert_eq!(UsualLevel::against(1.0, &before[1..]), None);
        assert_eq!(UsualLevel::against(1.0, &[0.0; 6]), None);
    }
}
