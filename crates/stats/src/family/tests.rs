use proptest::prelude::*;

use super::*;

fn sides(baseline: &[f64], candidate: &[f64]) -> Replicates {
    Replicates::Sides([baseline.to_vec(), candidate.to_vec()])
}

/// Members of three replicates per side, with a spread that differs from member to member.
fn quiet(count: usize) -> Vec<Replicates> {
    (0..count)
        .map(|at| {
            let value = |k: usize| f64::from(u32::try_from((at * 7 + k * 5) % 11).unwrap_or(0));
            let spread = 0.001 * as_f64(1 + at % 4);
            let side = |from: usize| (from..from + 3).map(|k| value(k * k) * spread).collect();
            Replicates::Sides([side(0), side(3)])
        })
        .collect()
}

fn p_values(family: &[Replicates]) -> Vec<Option<f64>> {
    let tests = family_tests(family, &[], Seed(7));
    tests.into_iter().map(|test| Some(test?.p_value)).collect()
}

#[test]
fn the_only_change_of_a_family_is_found_by_its_size() {
    let p_value = |size: f64| {
        let mut family = quiet(30);
        family.push(sides(
            &[0.0, 0.011, 0.004],
            &[size + 0.006, size + 0.002, size + 0.009],
        ));
        p_values(&family)[30].expect("a test")
    };
    let [small, twice, ten_times] = [0.05, 2.0_f64.ln(), 10.0_f64.ln()].map(p_value);
    assert!(small > 1e-4 && twice < 1e-6, "{small} {twice}");
    // Beyond the null statistics p falls with the fourth power of the size at the latest.
    let expected = twice * (2.0_f64.ln() / 10.0_f64.ln()).powi(4);
    assert!(
        (ten_times / expected - 1.0).abs() < 0.02,
        "{ten_times} {expected}"
    );
}

#[test]
fn constant_members_are_not_tests() {
    let mut family = quiet(6);
    let before = p_values(&family);
    family.push(sides(&[5.0; 3], &[5.0; 3]));
    family.push(sides(&[5.0], &[6.0]));
    family.insert(0, Replicates::Pairs(vec![0.0; 4]));
    let after = p_values(&family);
    assert_eq!(after[1..7], before);
    assert_eq!([after[0], after[7], after[8]], [None, None, None]);
}

#[test]
fn a_single_pair_design_is_the_paired_t_test() {
    let pairs = Replicates::Pairs(vec![0.05, 0.02, 0.04, 0.07, -0.01]);
    let test = family_tests(std::slice::from_ref(&pairs), &[], Seed(7))[0].expect("a test");
    let own = pairs.difference(Confidence::P95).expect("five pairs");
    let (interval, method) = test.interval(Confidence::P95).expect("a level");
    assert_eq!((test.p_value, interval), (own.p_value, own.interval));
    assert_eq!(method, DifferenceMethod::Paired);
}

#[test]
fn a_noisier_small_side_is_judged_by_its_own_variance() {
    let noisy = sides(
        &[0.0, 0.3, -0.2],
        &(0..20)
            .map(|k| 0.001 * f64::from(k % 5) + 0.25)
            .collect::<Vec<_>>(),
    );
    let test = family_tests(std::slice::from_ref(&noisy), &[], Seed(7))[0].expect("a test");
    let (_, method) = test.interval(Confidence::P95).expect("a level");
    assert_eq!(method, DifferenceMethod::Welch);
    assert!(test.p_value > 0.1, "{}", test.p_value);
}

#[test]
fn a_noisy_day_does_not_use_the_history_of_quiet_ones() {
    let history: Vec<Replicates> = (0..10)
        .map(|k| {
            Replicates::Pairs(
                [3, 1, 4, 1, 5]
                    .map(|v| 0.001 * f64::from(v * (k + 2) % 7))
                    .to_vec(),
            )
        })
        .collect();
    let test = |scale: f64| {
        let today = [Replicates::Pairs(
            [0.02, 0.025, 0.018, 0.022, 0.021]
                .map(|v| v * scale)
                .to_vec(),
        )];
        [
            family_tests(&today, &[], Seed(7))[0].expect("a test"),
            family_tests(&today, &history, Seed(7))[0].expect("a test"),
        ]
    };
    let [alone, with_history] = test(1.0);
    assert!(with_history.prior_freedom > 0.0 && alone.prior_freedom == 0.0);
    let [alone, with_history] = test(10.0);
    assert_eq!(alone, with_history);
}

proptest! {
    #[test]
    fn the_scale_of_a_family_and_the_order_of_sides_do_not_matter(
        values in prop::collection::vec(prop::collection::vec(0.0..1.0_f64, 8), 1..9),
        scale in 0.1..10.0_f64,
    ) {
        let of = |turned: bool, scale: f64| -> Vec<Option<f64>> {
            let family: Vec<Replicates> = values.iter().map(|values| {
                let scaled: Vec<f64> = values.iter().map(|value| value * scale).collect();
                let (one, other) = scaled.split_at(4);
                if turned { sides(other, one) } else { sides(one, other) }
            }).collect();
            p_values(&family)
        };
        for (one, other) in of(false, 1.0).into_iter().zip(of(true, scale)) {
            let (one, other) = (one.expect("a test"), other.expect("a test"));
            prop_assert!((one - other).abs() < 1e-7, "{one} {other}");
            prop_assert!(one > 0.0 && one <= 1.0);
        }
    }

    #[test]
    fn an_interval_excludes_0_where_a_p_value_is_small(
        values in prop::collection::vec(prop::collection::vec(0.0..1.0_f64, 9), 1..9),
        shift in 0.0..2.0_f64,
    ) {
        let family: Vec<Replicates> = values.iter().map(|values| {
            let (one, other) = values.split_at(4);
            sides(one, &other.iter().map(|value| value + shift).collect::<Vec<_>>())
        }).collect();
        for test in family_tests(&family, &[], Seed(7)).into_iter().flatten() {
            let (interval, _) = test.interval(Confidence::P95).expect("a level");
            prop_assert!(test.p_value > 0.05 || !interval.contains(0.0));
        }
    }
}
