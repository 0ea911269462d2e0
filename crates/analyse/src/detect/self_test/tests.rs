use super::super::testing::noise;
use super::super::tests::{histories, scale, suite};
use super::*;

/// A self-test of a suite with fewer replays than usual.
fn tested(values: &[Vec<f64>], options: &DetectOptions, judged_values: usize) -> SelfTest {
    let wanted = SelfTestOptions {
        judged_values,
        ..SelfTestOptions::default()
    };
    self_test(&histories(values), options, &wanted)
}

#[test]
fn times() {
    let values = suite(7, 60, 3);
    let start = std::time::Instant::now();
    let test = tested(&values, &DetectOptions::default(), 2_000_000);
    println!("{:?} {:?}", start.elapsed(), test.replays);
    let suite = &test.suites[0];
    println!("{:?}", suite.alarms);
    for at in 0..3 {
        let step = suite.step(at);
        println!(
            "{:?} {:?} {:?} {:?}",
            step.seen(),
            step.within(0.5),
            step.within(0.9),
            suite.drift(at)
        );
    }
}
