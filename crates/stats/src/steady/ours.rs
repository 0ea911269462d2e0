//! The steady state as Lapwing finds it.

use super::Class;
use super::approach::crossing;
use super::cycle::period;
use super::number::share;
use super::robust::{clipped, noise};
use super::transition::{cut, last_difference, slow_start, switching};
use crate::describe::logarithms;
use crate::number::as_f64;

/// The limits of [`steady_state`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SteadyOptions {
    /// Levels that differ by less than this share are equivalent.
    pub margin: f64,
    /// At least this share of the iterations has to be steady, at the end.
    pub steady_share: f64,
    /// The penalty of a change point in units of ln n, before autocorrelation inflates it.
    pub penalty: f64,
    /// At most this share of the iterations after the last change is left out for doubt about
    /// where it ends.
    pub guard: f64,
}

impl Default for SteadyOptions {
    /// A margin of 3 %, a steady fifth, and a penalty and a guard that were chosen by simulation
    /// (`docs/calibration.md`).
    fn default() -> Self {
        Self {
            margin: 0.03,
            steady_share: 0.2,
            penalty: 4.0,
            guard: 0.02,
        }
    }
}

/// From when on one instance is steady.
#[derive(Debug, Clone, PartialEq)]
pub struct SteadyState {
    /// The classification of the iterations.
    pub class: Class,
    /// The first steady iteration; `None` without a steady state, and where there are too few
    /// iterations to tell.
    pub start: Option<usize>,
    /// The typical value from there on: the geometric mean, outliers pulled in.
    pub level: Option<f64>,
    /// The iterations from one high to the next, for [`Class::Cyclic`].
    pub period: Option<usize>,
    /// The first iteration of every segment but the first.
    pub change_points: Vec<usize>,
}

/// The fewest iterations that can be classified.
const FEWEST: usize = 6;
/// Levels that differ by less than the noise are equivalent too, up to this share.
const WIDEST: f64 = 0.05;
/// Faster for this part of the time before the steady state is a slowdown: one fifth.
const FASTER_SHARE: usize = 5;
/// With fewer, [`steady_state`] may not be able to tell: iterations that still change may simply need
/// longer.
pub const ITERATIONS_TO_TELL: usize = 20;

/// Returns from which iteration on one instance is steady, from its values in order.
///
/// On a log scale: a period in the autocorrelation is looked for first, because a cycle that
/// stays the same is steady, and then means over whole periods are judged. Values far
/// from their neighbours are pulled in. Segments of equal level are found by [`pelt`] with the
/// noise between neighbours and a penalty inflated by its autocorrelation, (1 + ρ) / (1 − ρ). From
/// the end backwards, the first segment whose level differs from what follows by more than the
/// margin ends before the steady state, unless it is a short interruption. The start is then that
/// change point, or where an exponential or straight approach comes within the margin,
/// whichever describes the series best. `docs/method.md` says more, and when it misleads.
///
/// `None` when a value is not positive and finite.
///
/// [`pelt`]: crate::changepoint::pelt
///
/// ```
/// use lapwing_stats::steady::{Class, SteadyOptions, steady_state};
/// let values = [9.1, 5.0, 5.1, 4.9, 5.0, 5.0, 5.1, 5.0, 4.9, 5.1];
/// let found = steady_state(&values, &SteadyOptions::default()).expect("positive");
/// assert_eq!((found.class, found.start), (Class::WarmUp, Some(2)));
/// ```
pub fn steady_state(values: &[f64], options: &SteadyOptions) -> Option<SteadyState> {
    let logs = logarithms(values)?;
    Some(match period(&logs, options.margin.ln_1p()) {
        Some(period) => cyclic(&logs, period, options),
        None => of_logs(&logs, options),
    })
}

/// Means over whole periods are judged as any other series.
fn cyclic(logs: &[f64], period: usize, options: &SteadyOptions) -> SteadyState {
    let skipped = logs.len() % period;
    let means: Vec<f64> = logs[skipped..]
        .chunks_exact(period)
        .map(|cycle| cycle.iter().sum::<f64>() / as_f64(period))
        .collect();
    let of_means = of_logs(&means, options);
    let back = |at: usize| skipped + at * period;
    let change_points = of_means.change_points.into_iter().map(back).collect();
    match of_means.class {
        Class::TooShort | Class::Flat | Class::Cyclic => SteadyState {
            class: Class::Cyclic,
            start: Some(0),
            level: level(&means),
            period: Some(period),
            change_points: Vec::new(),
        },
        Class::WarmUp | Class::Slowdown => SteadyState {
            class: Class::Cyclic,
            start: of_means.start.map(back),
            period: Some(period),
            change_points,
            ..of_means
        },
        Class::NoSteadyState => SteadyState {
            period: Some(period),
            change_points,
            ..of_means
        },
    }
}

fn level(logs: &[f64]) -> Option<f64> {
    crate::mean(logs).map(f64::exp)
}

fn of_logs(logs: &[f64], options: &SteadyOptions) -> SteadyState {
    let n = logs.len();
    if n < FEWEST {
        return SteadyState {
            class: Class::TooShort,
            start: None,
            level: None,
            period: None,
            change_points: Vec::new(),
        };
    }
    let noise = noise(logs, options.margin);
    let pulled_in = clipped(logs, noise.deviation);
    let steady_part = share(n, options.steady_share).max(3);
    let change_points = cut(&pulled_in, noise, steady_part, options.penalty);
    let limit = noise.deviation.min(WIDEST).max(options.margin).ln_1p();
    let transition = last_difference(&pulled_in, &change_points, limit)
        .or_else(|| slow_start(&pulled_in, noise, limit));
    let start = transition.as_ref().map_or(Some(0), |transition| {
        let switching = switching(&pulled_in, &change_points, limit);
        if let Some(start) = switching.filter(|start| start + steady_part <= n) {
            return Some(start);
        }
        if transition.end > n - steady_part {
            return None;
        }
        let margin = options.margin;
        let (crossing, doubt) = crossing(&pulled_in, &change_points, transition, noise, margin);
        let most = share(n.saturating_sub(crossing), options.guard);
        let start = (crossing + doubt.min(most)).min(n - steady_part);
        (crossing + steady_part <= n).then_some(start)
    });
    let class = match (start, transition) {
        (None, _) if n < ITERATIONS_TO_TELL => Class::TooShort,
        (None, _) => Class::NoSteadyState,
        (Some(0), _) | (Some(_), None) => Class::Flat,
        (Some(_), Some(it)) if FASTER_SHARE * it.faster >= it.end => Class::Slowdown,
        (Some(_), Some(_)) => Class::WarmUp,
    };
    SteadyState {
        class,
        start,
        level: start.and_then(|start| level(&pulled_in[start..])),
        period: None,
        change_points,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::steady::tests::noisy;

    fn found(values: &[f64]) -> SteadyState {
        steady_state(values, &SteadyOptions::default()).expect("positive values")
    }

    fn class_and_start(values: &[f64]) -> (Class, Option<usize>) {
        let found = found(values);
        (found.class, found.start)
    }

    #[test]
    fn one_level_is_flat() {
        for n in [6, 30, 100, 3000] {
            assert_eq!(
                class_and_start(&noisy(&[(n, 2.0)], 0.02)),
                (Class::Flat, Some(0))
            );
            assert_eq!(class_and_start(&vec![2.0; n]), (Class::Flat, Some(0)));
        }
        let level = found(&noisy(&[(100, 2.0)], 0.01)).level.expect("steady");
        assert!((level - 2.0).abs() < 0.01, "{level}");
    }

    #[test]
    fn a_slow_beginning_is_warm_up() {
        for (n, slow) in [(10, 1), (30, 1), (30, 4), (100, 20), (3000, 700)] {
            let values = noisy(&[(slow, 3.0), (n - slow, 2.0)], 0.01);
            let (class, start) = class_and_start(&values);
            let start = start.expect("steady");
            assert_eq!(class, Class::WarmUp, "{n} {slow}");
            // At most two iterations of doubt.
            assert!((slow..=slow + 2).contains(&start), "{n} {slow} {start}");
        }
    }

    #[test]
    fn a_fast_beginning_is_a_slowdown() {
        let values = noisy(&[(40, 1.0), (160, 2.0)], 0.01);
        assert_eq!(class_and_start(&values), (Class::Slowdown, Some(41)));
        let values = noisy(&[(3, 5.0), (40, 1.0), (160, 2.0)], 0.01);
        assert_eq!(class_and_start(&values), (Class::Slowdown, Some(44)));
    }

    #[test]
    fn an_approach_ends_within_the_margin() {
        let mut values = noisy(&[(400, 1.0)], 0.01);
        for (i, value) in values.iter_mut().enumerate() {
            *value *= 1.0 + (-as_f64(i) / 20.0).exp();
        }
        // exp(-t / 20) = 0.03 at t = 70.1, and a tenth of that for doubt.
        let (class, start) = class_and_start(&values);
        assert_eq!(class, Class::WarmUp);
        assert!(matches!(start, Some(72..=82)), "{start:?}");
    }

    #[test]
    fn what_changes_until_the_end_is_never_steady() {
        let mut values = noisy(&[(100, 1.0)], 0.01);
        for (i, value) in values.iter_mut().enumerate() {
            *value *= 1.0 + as_f64(i) / 100.0;
        }
        assert_eq!(class_and_start(&values), (Class::NoSteadyState, None));
        let late = noisy(&[(90, 1.0), (10, 2.0)], 0.01);
        assert_eq!(class_and_start(&late), (Class::NoSteadyState, None));
    }

    #[test]
    fn few_iterations_are_too_short_to_tell() {
        assert_eq!(class_and_start(&[2.0; 5]), (Class::TooShort, None));
        assert_eq!(class_and_start(&[]), (Class::TooShort, None));
        let rising: Vec<f64> = (0..10).map(|i| 1.0 + f64::from(i)).collect();
        assert_eq!(class_and_start(&rising), (Class::TooShort, None));
    }

    #[test]
    fn spikes_and_interruptions_are_no_burn_in() {
        let mut values = noisy(&[(500, 1.0)], 0.01);
        for at in [7, 90, 91, 300, 498] {
            values[at] *= 2.5;
        }
        assert_eq!(class_and_start(&values), (Class::Flat, Some(0)));
        let values = noisy(&[(20, 2.0), (400, 1.0), (8, 1.4), (500, 1.0)], 0.01);
        assert_eq!(class_and_start(&values), (Class::WarmUp, Some(21)));
    }

    #[test]
    fn a_cycle_is_steady_with_its_period() {
        let mut values = noisy(&[(200, 1.0)], 0.01);
        for (i, value) in values.iter_mut().enumerate() {
            *value *= if i % 8 < 4 { 1.2 } else { 1.0 };
        }
        let flat = found(&values);
        assert_eq!(
            (flat.class, flat.start, flat.period),
            (Class::Cyclic, Some(0), Some(8))
        );
        for value in &mut values[..40] {
            *value *= 2.0;
        }
        let warm_up = found(&values);
        assert_eq!((warm_up.class, warm_up.period), (Class::Cyclic, Some(8)));
        assert!(
            matches!(warm_up.start, Some(40..=48)),
            "{:?}",
            warm_up.start
        );
    }

    #[test]
    fn values_must_be_positive_and_finite() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(steady_state(&[1.0, bad], &SteadyOptions::default()), None);
        }
    }

    proptest! {
        #[test]
        fn any_positive_values_have_an_answer(
            exponents in prop::collection::vec(-300.0..300.0_f64, 0..400),
        ) {
            let values: Vec<f64> = exponents.iter().map(|it| 10.0_f64.powf(*it)).collect();
            let one = found(&values);
            prop_assert!(one.start.is_none_or(|start| start < values.len()));
            prop_assert!(one.change_points.windows(2).all(|pair| pair[0] < pair[1]));
        }

        #[test]
        fn the_unit_does_not_matter_and_the_start_leaves_something(
            values in prop::collection::vec(prop_oneof![0.99..1.01_f64, 1.98..2.02_f64], 0..120),
            exponent in -20..20_i32,
        ) {
            let one = found(&values);
            let scaled: Vec<f64> = values.iter().map(|value| value * 2.0_f64.powi(exponent)).collect();
            prop_assert_eq!(one.class, found(&scaled).class);
            match one.class {
                Class::Flat | Class::WarmUp | Class::Slowdown | Class::Cyclic => {
                    let start = one.start.expect("steady");
                    prop_assert!(start + 3 <= values.len() && one.level.is_some());
                }
                Class::NoSteadyState | Class::TooShort => prop_assert_eq!(one.start, None),
            }
        }
    }
}
