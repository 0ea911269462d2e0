//! What is known of the noise of single histories.

use super::super::search::detect;
use super::super::testing::{add, days, noise};
use super::table::MOST_TOGETHER;
use super::*;

/// Returns what is known of a history of these values.
fn of(values: &[f64], options: &DetectOptions) -> Result<NightNoise, NoNoiseReason> {
    let mut histories = days(u16::try_from(values.len()).expect("few"));
    add(&mut histories, "b", values);
    detect(&histories, options)
        .night_noise(&histories, options)
        .remove(0)
}

fn usual(values: &[f64]) -> Result<NightNoise, NoNoiseReason> {
    of(values, &DetectOptions::default())
}

#[test]
fn the_noise_is_that_since_the_last_change() {
    let mut values = noise(60, 0.1, 1);
    for (night, value) in values.iter_mut().enumerate().skip(30) {
        *value = 3.0 * value.powf(0.1) * if night == 50 { 1.3 } else { 1.0 };
    }
    let known = usual(&values).expect("noise");
    assert!((28..=30).contains(&known.nights), "{known:?}");
    assert!((0.006..0.02).contains(&known.deviation), "{known:?}");
    assert!((2.9..3.1).contains(&known.level), "{known:?}");
    assert_eq!(known.steps, Err(NoStepReason::Changed));
}

#[test]
fn what_is_not_known_has_a_reason() {
    let quiet = noise(40, 0.02, 2);
    let unjudged = NoNoiseReason::Unjudged(UnjudgedReason::TooFew);
    assert_eq!(usual(&quiet[..9]), Err(unjudged));
    let mut moved = quiet.clone();
    moved[34..].iter_mut().for_each(|it| *it *= 2.0);
    assert_eq!(usual(&moved), Err(NoNoiseReason::FewNights(6)));
    let signed: Vec<f64> = quiet.iter().map(|it| it.ln()).collect();
    assert_eq!(usual(&signed), Err(NoNoiseReason::NotPositive));
    let equal: Vec<f64> = (0..40)
        .map(|it| if it % 4 == 0 { 2.0 } else { 1.0 })
        .collect();
    assert_eq!(usual(&equal), Err(NoNoiseReason::Equal));
}

#[test]
fn a_step_is_stated_where_it_was_simulated() {
    let quiet = noise(40, 0.02, 2);
    let steps = usual(&quiet)
        .map(|it| it.steps)
        .expect("noise")
        .expect("steps");
    assert!(steps.windows(2).all(|it| it[0] > it[1]), "{steps:?}");
    assert!((0.03..0.12).contains(&steps[1]), "{steps:?}");
    let loose = DetectOptions {
        false_discovery_rate: 0.2,
        ..DetectOptions::default()
    };
    let other = of(&quiet, &loose).expect("noise").steps;
    assert_eq!(other, Err(NoStepReason::OtherOptions));
    let mut level = 0.0;
    let slow: Vec<f64> = quiet
        .iter()
        .map(|it| {
            level = 0.7 * level + it.ln();
            level.exp()
        })
        .collect();
    let slow = usual(&slow).map(|it| it.steps);
    assert!(!matches!(slow, Ok(Ok(_))), "{slow:?}");
    assert_eq!(multipliers(NIGHTS_FOR_NOISE - 1, 30), None);
    assert_eq!(multipliers(30, MOST_TOGETHER + 1), None);
    assert_eq!(multipliers(400, 30), multipliers(90, 30));
}

#[test]
fn a_smaller_step_than_the_smallest_effect_is_not_stated() {
    let quiet = noise(40, 0.001, 2);
    let options = DetectOptions {
        smallest_effect: Some(0.05),
        ..DetectOptions::default()
    };
    let steps = of(&quiet, &options).expect("noise").steps.expect("steps");
    assert!(
        steps.iter().all(|it| (0.05..0.053).contains(it)),
        "{steps:?}"
    );
}
