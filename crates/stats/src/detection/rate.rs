//! How many of the experiments detect a slowdown, and from which one on enough of them do.

use statrs::distribution::{Binomial, DiscreteCDF};

use super::Bounds;
use crate::number::as_f64;
use crate::{Confidence, Interval};

/// The share of experiments that detect a slowdown: the false-positive rate at 1, the power above.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DetectionRate {
    /// How many detect it.
    pub detected: usize,
    /// Number of undetermined experiments.
    pub undetermined: usize,
    /// How many there are.
    pub experiments: usize,
}

impl DetectionRate {
    /// Returns the rate of a slowdown.
    pub fn of(bounds: &[Bounds], slowdown: f64) -> Self {
        let (mut detected, mut undetermined) = (0, 0);
        for bounds in bounds {
            match bounds.detects(slowdown) {
                Some(true) => detected += 1,
                Some(false) => {}
                None => undetermined += 1,
            }
        }
        Self {
            detected,
            undetermined,
            experiments: bounds.len(),
        }
    }

    /// Returns the rate with undetermined experiments regarded as detected, as in Hail.
    #[must_use]
    pub fn as_hail(self) -> Self {
        Self {
            detected: self.detected + self.undetermined,
            undetermined: 0,
            ..self
        }
    }

    /// Returns the detected share of all experiments; `None` without any.
    pub fn rate(self) -> Option<f64> {
        (self.experiments > 0).then(|| as_f64(self.detected) / as_f64(self.experiments))
    }

    /// Returns Wilson's interval of the rate; `None` without experiments.
    pub fn interval(self, confidence: Confidence) -> Option<Interval> {
        wilson_interval(self.detected, self.experiments, confidence)
    }
}

/// Returns Wilson's interval of a share, of which `some` of `all` were counted; `None` of nothing.
///
/// With z the normal quantile and p = some / all: (p + z²/2n ± z √(p(1 − p)/n + z²/4n²)) / (1 + z²/n). Unlike
/// p ± z √(p(1 − p)/n) it says something where none or all were counted.
///
/// Source: Wilson, *JASA* 1927.
///
/// ```
/// use lapwing_stats::{Confidence, wilson_interval};
/// let interval = wilson_interval(0, 100, Confidence::P95).expect("a hundred");
/// assert!(interval.lower == 0.0 && (interval.upper - 0.036_994).abs() < 1e-6);
/// ```
pub fn wilson_interval(some: usize, all: usize, confidence: Confidence) -> Option<Interval> {
    if all == 0 {
        return None;
    }
    let n = as_f64(all);
    let (share, z) = (as_f64(some) / n, confidence.normal_quantile());
    let z2 = z * z / n;
    let centre = share + z2 / 2.0;
    let half = z * (share * (1.0 - share) / n + z2 / (4.0 * n)).sqrt();
    let mut interval = Interval::around(centre, half).map(|end| end / (1.0 + z2));
    if some == 0 {
        interval.lower = 0.0;
    }
    if some == all {
        interval.upper = 1.0;
    }
    Some(interval)
}

/// Returns how many experiments it takes at least to tell a rate of `power`: with fewer, Wilson's interval reaches
/// below it even where all of them detect. `None` where that is no whole number that could be counted.
///
/// With z the normal quantile the lower end of n out of n is n / (n + z²), hence n = ⌈z² p / (1 − p)⌉.
///
/// Source: Wilson, *JASA* 1927.
///
/// ```
/// use lapwing_stats::{Confidence, experiments_to_tell};
/// assert_eq!(experiments_to_tell(0.95, Confidence::P95), Some(73));
/// ```
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is checked to be a number from 0 to 2^53"
)]
pub fn experiments_to_tell(power: f64, confidence: Confidence) -> Option<u64> {
    const MOST: f64 = 9_007_199_254_740_992.0;
    let z = confidence.normal_quantile();
    let needed = (z * z * power / (1.0 - power)).ceil();
    (0.0..=MOST).contains(&needed).then_some(needed as u64)
}

/// The smallest slowdown that enough of the experiments detect.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DetectableSlowdown {
    /// Every slowdown above it is detected by that share of them; infinite when none is.
    pub slowdown: f64,
    /// Where it lies, as there are only so many experiments.
    pub interval: Interval,
}

/// Returns the smallest slowdown from which on at least the share `power` of the experiments
/// detects; `None` without experiments.
///
/// No grid is needed: an experiment detects every slowdown above its upper bound, so this is a quantile of the
/// upper bounds (of those experiments that would detect in the wrong direction, too, the lower bounds count).
/// The interval is that of the quantile by order statistics: the ranks are quantiles of the binomial
/// distribution, and what lies beyond the last experiment is infinite. Slowdowns below 1 are
/// not asked for.
///
/// Source of the interval: Conover, *Practical Nonparametric Statistics* 1999, §3.2.
pub fn detectable_slowdown(
    bounds: &[Bounds],
    power: f64,
    confidence: Confidence,
) -> Option<DetectableSlowdown> {
    if bounds.is_empty() {
        return None;
    }
    let mut uppers: Vec<f64> = bounds.iter().map(upper).collect();
    uppers.sort_by(f64::total_cmp);
    let count = uppers.len();
    let at = |rank: usize| match rank {
        0 => 1.0,
        rank if rank > count => f64::INFINITY,
        rank => uppers[rank - 1].max(1.0),
    };
    let ranks = Binomial::new(power.clamp(0.0, 1.0), count as u64).ok()?;
    let tail = confidence.tail();
    let rank = |share: f64| usize::try_from(ranks.inverse_cdf(share)).unwrap_or(count);
    Some(DetectableSlowdown {
        slowdown: last_missed(bounds, power),
        interval: Interval {
            lower: at(rank(tail)),
            upper: at(rank(1.0 - tail) + 1),
        },
    })
}

fn upper(bounds: &Bounds) -> f64 {
    if bounds.upper.is_nan() {
        f64::INFINITY
    } else {
        bounds.upper
    }
}

/// Returns the largest slowdown that too few experiments detect; 1 where enough detect all.
fn last_missed(bounds: &[Bounds], power: f64) -> f64 {
    // Going down, an experiment stops to detect at its upper bound, and detects again below the
    // lower one.
    let stops = bounds.iter().map(|bounds| (upper(bounds), 1_i32));
    let lowers = bounds
        .iter()
        .filter(|bounds| bounds.lower > 1.0 && bounds.lower < bounds.upper);
    let again = lowers.map(|bounds| (bounds.lower, -1));
    let mut turns: Vec<(f64, i32)> = stops.chain(again).collect();
    // An experiment does not detect its bounds themselves.
    turns.sort_by(|one, other| other.0.total_cmp(&one.0).then(other.1.cmp(&one.1)));
    let most = as_f64(bounds.len()) * (1.0 - power);
    let mut missed = 0;
    for (slowdown, change) in turns {
        missed += change;
        // A share of a hundred is seldom a whole number in binary.
        if slowdown > 1.0 && f64::from(missed) > most + 1e-9 {
            return slowdown;
        }
    }
    1.0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bounds(all: &[(f64, f64)]) -> Vec<Bounds> {
        let new = |(lower, upper): &(f64, f64)| Bounds {
            lower: *lower,
            upper: *upper,
        };
        all.iter().map(new).collect()
    }

    #[test]
    fn wilsons_interval_is_that_of_statsmodels() {
        // statsmodels 0.15.0: proportion_confint(some, all, alpha, method="wilson")
        for (some, all, level, lower, upper) in WILSON {
            let confidence = Confidence::new(level).expect("a level");
            let interval = wilson_interval(some, all, confidence).expect("some");
            assert!(
                (interval.lower - lower).abs() < 1e-12,
                "{some} {all}: {interval:?}"
            );
            assert!(
                (interval.upper - upper).abs() < 1e-12,
                "{some} {all}: {interval:?}"
            );
        }
        assert_eq!(wilson_interval(0, 0, Confidence::P95), None);
    }

    #[test]
    fn so_many_experiments_tell_a_power_and_one_fewer_does_not() {
        for power in [0.5, 0.8, 0.9, 0.95, 0.99, 0.999] {
            let needed = experiments_to_tell(power, Confidence::P95).expect("a number");
            let needed = usize::try_from(needed).expect("a small number");
            let lower = |all| wilson_interval(all, all, Confidence::P95).map(|it| it.lower);
            assert!(lower(needed) >= Some(power), "{power}: {needed}");
            assert!(lower(needed - 1) < Some(power), "{power}: {needed}");
        }
        assert_eq!(experiments_to_tell(1.0, Confidence::P95), None);
    }

    const WILSON: [(usize, usize, f64, f64, f64); 5] = [
        (0, 100, 0.95, 0.0, 0.03699349820698568),
        (100, 100, 0.95, 0.9630065017930143, 1.0),
        (7, 100, 0.95, 0.03431926106727268, 0.137495147390735),
        (3, 10, 0.99, 0.07956631652306573, 0.6799753207988974),
        (799, 800, 0.9, 0.9944168105948125, 0.9997210853092736),
    ];

    #[test]
    fn what_cannot_be_told_is_not_detected_but_by_hail() {
        let bounds = bounds(&[(0.9, 1.1), (0.9, 1.3), (f64::NAN, f64::NAN), (1.25, 1.3)]);
        let rate = DetectionRate::of(&bounds, 1.2);
        assert_eq!(
            (rate.detected, rate.undetermined, rate.rate()),
            (2, 1, Some(0.5))
        );
        assert_eq!(rate.as_hail().rate(), Some(0.75));
        assert_eq!(DetectionRate::of(&[], 1.2).rate(), None);
    }

    #[test]
    fn the_slowdown_is_a_quantile_of_the_upper_bounds() {
        let all: Vec<(f64, f64)> = (1..=100)
            .map(|k| (0.9, 1.0 + f64::from(k) / 100.0))
            .collect();
        let found = detectable_slowdown(&bounds(&all), 0.95, Confidence::P95).expect("some");
        assert_eq!(found.slowdown, 1.95);
        // scipy 1.17.1: stats.binom.ppf([0.025, 0.975], 100, 0.95) is 90 and 99.
        assert_eq!((found.interval.lower, found.interval.upper), (1.9, 2.0));
        let few = detectable_slowdown(&bounds(&all[..20]), 0.95, Confidence::P95).expect("some");
        assert_eq!((few.slowdown, few.interval.upper), (1.19, f64::INFINITY));
    }

    #[test]
    fn a_slowdown_that_hides_a_speed_up_is_not_counted_twice() {
        // Half of them see a test that is 20 % faster; slowed down by 20 % they see nothing.
        let mut all = vec![(1.2, 1.3); 50];
        all.extend([(0.9, 1.1); 50]);
        let found = detectable_slowdown(&bounds(&all), 0.9, Confidence::P95).expect("some");
        assert_eq!(found.slowdown, 1.3);
        let never = detectable_slowdown(&bounds(&[(f64::NAN, f64::NAN)]), 0.9, Confidence::P95);
        assert_eq!(never.map(|it| it.slowdown), Some(f64::INFINITY));
        assert_eq!(detectable_slowdown(&[], 0.9, Confidence::P95), None);
    }

    proptest! {
        #[test]
        fn above_it_enough_are_detected_and_at_it_too_few(
            all in prop::collection::vec((0.8..1.3_f64, 0.0..0.5_f64), 1..60),
            power in 0.05..0.99_f64,
        ) {
            let all: Vec<(f64, f64)> = all.iter().map(|(at, width)| (*at, at + width)).collect();
            let bounds = bounds(&all);
            let found = detectable_slowdown(&bounds, power, Confidence::P95).expect("some");
            let rate = |slowdown| DetectionRate::of(&bounds, slowdown).rate().expect("some");
            let turns = bounds.iter().flat_map(|it| [it.lower, it.upper]);
            for turn in turns.filter(|it| *it > found.slowdown) {
                prop_assert!(rate(turn + 1e-12) >= power - 1e-9);
            }
            prop_assert!(rate(found.slowdown + 1e-12) >= power - 1e-9);
            prop_assert!(found.slowdown == 1.0 || rate(found.slowdown) < power);
        }
    }
}
