use super::super::decide::decide as decide_with;
use super::super::earlier::EarlierComparisons;
use super::*;
use crate::clean::CleanInstance;
use crate::sample::{Setting, Subject};

fn side(means: &[f64]) -> SideSample {
    let instances = means
        .iter()
        .enumerate()
        .map(|(position, mean)| CleanInstance {
            position,
            values: vec![mean * 0.99, *mean, mean * 1.01],
            without_value: 0,
            host: None,
        });
    SideSample {
        cleaned: Cleaned {
            instances: instances.collect(),
            ..Cleaned::default()
        },
        recorded_instances: means.len(),
        ..SideSample::default()
    }
}

fn decide(comparisons: &mut [Comparison], options: &CompareOptions) {
    decide_with(comparisons, &EarlierComparisons::default(), options);
}

fn scaled(factor: f64) -> SideSample {
    side(&[1.0, 1.01, 0.99, 1.005, 0.995].map(|it| it * factor))
}

fn subject(benchmark: &str) -> Subject {
    Subject {
        suite: "s".to_owned(),
        benchmark: benchmark.to_owned(),
        setting: Setting::default(),
        metric: "wall_time".to_owned(),
    }
}

/// Compares a single pair.
fn alone(baseline: &SideSample, candidate: &SideSample, options: &CompareOptions) -> Comparison {
    let metric = Metric::lower("s");
    let names = ["old", "new"];
    let one = compare(subject("a"), metric, names, [baseline, candidate], options);
    let mut all = [one];
    decide(&mut all, options);
    let [one] = all;
    one
}

fn band() -> CompareOptions {
    CompareOptions {
        smallest_effect: Some(0.05),
        ..CompareOptions::default()
    }
}

#[test]
fn a_sure_change_is_worse_or_better_by_the_direction_of_the_metric() {
    let options = CompareOptions::default();
    let verdict = |factor| alone(&scaled(1.0), &scaled(factor), &options).verdict;
    assert_eq!(verdict(1.2), Verdict::Regression);
    assert_eq!(verdict(0.8), Verdict::Improvement);
    assert_eq!(verdict(1.001), Verdict::Equivalent);
    let rate = Metric::higher("1/s");
    let sides = [&scaled(1.0), &scaled(1.2)];
    let mut all = [compare(subject("a"), rate, ["old", "new"], sides, &options)];
    decide(&mut all, &options);
    assert_eq!(all[0].verdict, Verdict::Improvement);
}

#[test]
fn without_a_direction_a_change_is_told_and_not_judged() {
    let options = CompareOptions::default();
    let metric = Metric::undirected("1");
    let sides = [&scaled(1.0), &scaled(1.2)];
    let mut all = [compare(
        subject("a"),
        metric,
        ["old", "new"],
        sides,
        &options,
    )];
    decide(&mut all, &options);
    assert_eq!(all[0].verdict, Verdict::Changed);
    assert_eq!(all[0].reason, Some(VerdictReason::NoDirection));
}

#[test]
fn equivalence_takes_a_band_and_a_change_has_to_leave_it() {
    let verdict = |factor| alone(&scaled(1.0), &scaled(factor), &band()).verdict;
    assert_eq!(verdict(1.0), Verdict::Equivalent);
    assert_eq!(verdict(1.02), Verdict::Equivalent);
    assert_eq!(verdict(1.2), Verdict::Regression);
    let straddling = alone(&scaled(1.0), &scaled(1.05), &band());
    assert_eq!(straddling.verdict, Verdict::Inconclusive);
    assert!(matches!(
        straddling.reason,
        Some(VerdictReason::TooWide { needed: Some(_) })
    ));
}

#[test]
fn what_is_inconclusive_always_has_a_reason() {
    let wide = side(&[0.96, 0.98, 1.0, 1.02, 1.04]);
    let options = |smallest_effect| CompareOptions {
        smallest_effect,
        ..CompareOptions::default()
    };
    let reason = |effect, factor| {
        let one = alone(
            &wide,
            &side(&[0.97, 0.99, 1.0, 1.01, 1.03].map(|it| it * factor)),
            &options(effect),
        );
        assert_eq!(one.verdict, Verdict::Inconclusive);
        one.reason
    };
    for (effect, factor) in [(None, 1.0), (Some(0.05), 1.02)] {
        assert!(matches!(
            reason(effect, factor),
            Some(VerdictReason::TooWide { needed: Some(_) })
        ));
    }
}

#[test]
fn one_process_per_side_is_judged_by_its_iterations_alone() {
    let options = CompareOptions::default();
    let verdict = |factor: f64| alone(&side(&[1.0]), &side(&[factor]), &options).verdict;
    assert_eq!(verdict(2.0), Verdict::WorseInRuns);
    assert_eq!(verdict(0.5), Verdict::BetterInRuns);
    assert_eq!(verdict(1.001), Verdict::UnchangedInRuns);
    assert_eq!(verdict(1.02), Verdict::Inconclusive);
}

#[test]
fn two_instances_a_side_have_values_and_no_verdict() {
    let two = side(&[1.0, 1.01]);
    let one = alone(&two, &scaled(2.0), &CompareOptions::default());
    assert_eq!(one.verdict, Verdict::Inconclusive);
    assert_eq!(one.reason, Some(VerdictReason::FewInstances));
    assert_eq!((one.ratio, one.p_adjusted), (None, None));
    assert!(one.baseline_estimate.is_some() && one.candidate_estimate.is_some());
}

#[test]
fn what_was_not_measured_is_never_a_pass() {
    let options = CompareOptions::default();
    let never = SideSample::default();
    let failed = SideSample {
        recorded_instances: 5,
        failures: 5,
        ..SideSample::default()
    };
    let gone = alone(&scaled(1.0), &never, &options);
    assert_eq!(
        (gone.verdict, gone.reason),
        (Verdict::NotMeasured, Some(VerdictReason::NoCandidate))
    );
    let new = alone(&never, &scaled(1.0), &options);
    assert_eq!(
        (new.verdict, new.reason),
        (Verdict::NotMeasured, Some(VerdictReason::NoBaseline))
    );
    let broken = alone(&scaled(1.0), &failed, &options);
    assert_eq!(broken.verdict, Verdict::NotMeasured);
    assert_eq!(
        broken.reason,
        Some(VerdictReason::NothingLeft { failures: 5 })
    );
    // The verdict already shows it.
    assert_eq!(broken.cautions, []);
}

#[test]
fn failures_at_a_higher_rate_are_a_caution() {
    let options = CompareOptions::default();
    let failing = |failures: usize, rates: &[f64]| SideSample {
        failures,
        failure_rates: rates.to_vec(),
        ..scaled(1.0)
    };
    let (well, shaky) = (failing(0, &[0.0; 5]), failing(5, &[0.25; 5]));
    let caution = Caution::Failures {
        candidate: 5,
        baseline: 0,
    };
    assert_eq!(alone(&well, &shaky, &options).cautions, [caution]);
    assert_eq!(alone(&shaky, &well, &options).cautions, []);
    // Four times the failures in four times the instances are the same rate.
    let more = failing(4, &[0.0, 0.0, 0.2, 0.0].repeat(4));
    let few = failing(1, &[0.0, 0.0, 0.2]);
    assert_eq!(alone(&few, &more, &options).cautions, []);
}

#[test]
fn each_metric_is_a_family_of_its_own() {
    let options = CompareOptions::default();
    let moved = side(&[1.0, 1.03, 1.012, 1.02, 1.018]);
    let with = |others: &SideSample| {
        let metric = |name: &str, candidate: &SideSample| {
            let subject = Subject {
                metric: name.to_owned(),
                ..subject("a")
            };
            let sides = [&scaled(1.0), candidate];
            compare(subject, Metric::lower("s"), ["old", "new"], sides, &options)
        };
        let mut all: Vec<Comparison> = vec![metric("wall_time", &moved)];
        all.extend((0..9).map(|at| metric(&format!("m{at}"), others)));
        decide(&mut all, &options);
        all[0].p_adjusted
    };
    assert_eq!(with(&scaled(1.0)), with(&scaled(2.0)));
}

#[test]
fn equal_values_are_no_tests() {
    let options = CompareOptions::default();
    let moved = side(&[1.0, 1.03, 1.012, 1.02, 1.018]);
    let constant = side(&[1.0; 5]);
    let all = |count: usize| {
        let mut all: Vec<Comparison> = (0..=count)
            .map(|at| {
                let sides = if at == 0 {
                    [&constant, &moved]
                } else {
                    [&constant, &constant]
                };
                let subject = subject(&at.to_string());
                compare(subject, Metric::lower("s"), ["old", "new"], sides, &options)
            })
            .collect();
        decide(&mut all, &options);
        all
    };
    assert_eq!(all(3)[0].p_adjusted, all(0)[0].p_adjusted);
    assert_eq!(all(3)[1].p_adjusted, None);
    assert_eq!(all(3)[1].verdict, Verdict::Equivalent);
    assert_eq!(all(3)[1].reason, Some(VerdictReason::AllEqual));
}

#[test]
fn groups_of_instances_are_a_caution_below_ten_a_side() {
    let options = CompareOptions::default();
    let two_kinds = [1.0, 1.31, 1.3, 1.01, 1.3, 1.0];
    let few = alone(&scaled(1.0), &side(&two_kinds), &options);
    assert_eq!(few.cautions, [Caution::FewOfSeveralModes]);
    // Three of each kind of machine are only detectable together.
    let three = alone(&side(&[1.0, 1.31, 1.3]), &side(&[1.01, 1.3, 1.0]), &options);
    assert_eq!(three.cautions, [Caution::FewOfSeveralModes]);
    // A change larger than the noise is not a group.
    assert_eq!(alone(&scaled(1.0), &scaled(1.3), &options).cautions, []);
    let twice: Vec<f64> = two_kinds.iter().chain(&two_kinds).copied().collect();
    let many = alone(&side(&twice), &side(&twice), &options);
    assert_eq!(many.cautions, []);
}

#[test]
fn what_would_be_sure_alone_need_not_be_among_many() {
    let options = CompareOptions::default();
    // About 5 % apart: p ≈ 0.02 alone.
    let noisy = side(&[0.97, 1.02, 0.99, 1.03, 0.99]);
    let moved = side(&[1.02, 1.07, 1.04, 1.08, 1.04]);
    let alone = alone(&noisy, &moved, &options);
    assert_eq!(alone.verdict, Verdict::Regression);
    let mut many: Vec<Comparison> = (0..40)
        .map(|at| {
            let same = noisy.clone();
            let candidate = if at == 0 { &moved } else { &same };
            let sides = [&same, candidate];
            let subject = subject(&at.to_string());
            compare(subject, Metric::lower("s"), ["old", "new"], sides, &options)
        })
        .collect();
    decide(&mut many, &options);
    assert_eq!(many[0].verdict, Verdict::Inconclusive);
    assert!(matches!(
        many[0].reason,
        Some(VerdictReason::ManyComparisons {
            comparisons: 40,
            needed: Some(_)
        })
    ));
    assert!(many[0].p_adjusted > many[0].ratio.map(|it| it.p_value));
}

#[test]
fn machines_that_were_on_one_side_only_are_told() {
    let on = |host: &str| SideSample {
        hosts: BTreeSet::from([host.to_owned()]),
        ..scaled(1.0)
    };
    let options = CompareOptions::default();
    assert_eq!(alone(&on("a"), &on("a"), &options).cautions, []);
    let expected = Caution::OtherMachines {
        baseline: "a".to_owned(),
        candidate: "b".to_owned(),
    };
    assert_eq!(alone(&on("a"), &on("b"), &options).cautions, [expected]);
}

#[test]
fn every_method_sees_a_change_that_is_plain() {
    let methods = [
        CompareMethod::Default,
        CompareMethod::Welch,
        CompareMethod::BootstrapT,
        CompareMethod::Bca,
        CompareMethod::Fieller,
        CompareMethod::Hierarchical,
        CompareMethod::MannWhitney,
        CompareMethod::BrunnerMunzel,
        CompareMethod::Permutation,
    ];
    let ten = |factor: f64| {
        side(
            &[
                1.0, 1.01, 0.99, 1.005, 0.995, 1.02, 0.98, 1.003, 1.007, 0.994,
            ]
            .map(|it| it * factor),
        )
    };
    for method in methods {
        let options = CompareOptions {
            method,
            ..CompareOptions::default()
        };
        let found = alone(&ten(1.0), &ten(1.3), &options);
        assert_eq!(found.verdict, Verdict::Regression, "{method:?}");
        let ratio = found.ratio.map_or(0.0, |it| it.value);
        assert!((ratio - 1.3).abs() < 1e-3, "{method:?}: {ratio}");
    }
}

#[test]
fn means_below_zero_have_no_ratio_by_any_method() {
    for method in [
        CompareMethod::Fieller,
        CompareMethod::Hierarchical,
        CompareMethod::Bca,
    ] {
        let options = CompareOptions {
            method,
            ..CompareOptions::default()
        };
        let one = alone(&scaled(-1.0), &scaled(-2.0), &options);
        assert_eq!(one.verdict, Verdict::Inconclusive, "{method:?}");
        assert_eq!(
            one.reason,
            Some(VerdictReason::NotPositive { instances: 0 }),
            "{method:?}"
        );
    }
}

#[test]
fn a_baseline_of_zeros_is_compared_by_the_difference() {
    let options = CompareOptions::default();
    let none = alone(&side(&[0.0; 5]), &side(&[3.0; 5]), &options);
    assert_eq!((none.verdict, none.ratio), (Verdict::Regression, None));
    assert_eq!(none.difference.map(|it| it.value), Some(3.0));
    let few = alone(
        &side(&[0.0, 0.0, 1.0, 0.0, 2.0]),
        &side(&[0.0, 1.0, 0.0, 0.0, 1.0]),
        &options,
    );
    assert_eq!(few.verdict, Verdict::Inconclusive);
    assert_eq!(
        few.reason,
        Some(VerdictReason::NotPositive { instances: 6 })
    );
}

#[test]
fn a_single_session_is_no_ground_where_two_are_required() {
    let options = CompareOptions {
        min_sessions: 2,
        ..CompareOptions::default()
    };
    let one = alone(&scaled(1.0), &scaled(1.3), &options);
    assert_eq!(one.verdict, Verdict::Inconclusive);
    let reason = VerdictReason::FewSessions {
        sessions: [0, 0],
        required: 2,
    };
    assert_eq!(one.reason, Some(reason));
    assert!(one.ratio.is_some());
}

#[test]
fn sides_that_disagree_on_what_is_better_have_no_verdict() {
    let directed = |better, factor| SideSample {
        directions: BTreeSet::from([better]),
        ..scaled(factor)
    };
    let sides = [directed(Better::Lower, 1.0), directed(Better::Higher, 1.3)];
    let one = alone(&sides[0], &sides[1], &CompareOptions::default());
    assert_eq!(one.verdict, Verdict::Inconclusive);
    assert_eq!(one.reason, Some(VerdictReason::OtherDirection));
}

/// A side whose iterations all have this count.
fn counted(count: f64, instances: usize) -> SideSample {
    let mut side = side(&vec![1.0; instances]);
    for instance in &mut side.cleaned.instances {
        instance.values = vec![count; 3];
    }
    side
}

#[test]
fn counts_that_never_vary_are_compared_exactly() {
    let options = CompareOptions::default();
    let compared = |pairs: &[[f64; 2]], instances: usize| {
        let compared = pairs.iter().enumerate().map(|(at, [before, after])| {
            let sides = [&counted(*before, instances), &counted(*after, instances)];
            let subject = subject(&at.to_string());
            compare(subject, Metric::lower("1"), ["old", "new"], sides, &options)
        });
        let mut all: Vec<Comparison> = compared.collect();
        decide(&mut all, &options);
        all.into_iter().map(|it| it.verdict).collect::<Vec<_>>()
    };
    let verdicts = compared(&[[12.0, 12.0], [12.0, 13.0], [2.0, 0.0], [0.0, 0.0]], 3);
    let expected = [
        Verdict::Equivalent,
        Verdict::Regression,
        Verdict::Improvement,
        Verdict::Equivalent,
    ];
    assert_eq!(verdicts, expected);
    let verdicts = compared(&[[12.0, 12.0], [12.0, 13.0], [0.0, 1.0]], 1);
    let worse = Verdict::WorseInRuns;
    assert_eq!(verdicts, [Verdict::UnchangedInRuns, worse, worse]);
}

#[test]
fn one_value_is_compared_exactly_if_its_source_says_that_it_has_no_noise() {
    let options = CompareOptions::default();
    let compared = |pairs: &[[f64; 2]], is_exact: bool| {
        let sides = |values: [f64; 2]| {
            values.map(|value| {
                let mut side = counted(value, 1);
                side.is_exact = is_exact;
                side.cleaned.instances[0].values.truncate(1);
                side
            })
        };
        let compared = pairs.iter().enumerate().map(|(at, pair)| {
            let [before, after] = sides(*pair);
            let subject = subject(&at.to_string());
            let sides = [&before, &after];
            compare(subject, Metric::lower("B"), ["old", "new"], sides, &options)
        });
        let mut all: Vec<Comparison> = compared.collect();
        decide(&mut all, &options);
        all.into_iter().map(|it| it.verdict).collect::<Vec<_>>()
    };
    let pairs = [[100.0, 100.5], [100.0, 100.0], [3.0, 0.0]];
    let expected = [
        Verdict::WorseInRuns,
        Verdict::UnchangedInRuns,
        Verdict::BetterInRuns,
    ];
    assert_eq!(compared(&pairs, true), expected);
    assert_eq!(compared(&pairs, false), [Verdict::Inconclusive; 3]);
}

#[test]
fn the_only_change_of_a_suite_is_found() {
    let options = CompareOptions::default();
    let mut all: Vec<Comparison> = (0..20)
        .map(|at| {
            let noise = |k: usize| 1.0 + 0.01 * lapwing_stats::as_f64((at * 7 + k * 5) % 11) - 0.05;
            let values = |from: usize, factor: f64| -> Vec<f64> {
                (from..from + 3).map(|k| noise(k * k) * factor).collect()
            };
            let factor = if at == 3 { 2.0 } else { 1.0 };
            let sides = [&side(&values(0, 1.0)), &side(&values(4, factor))];
            let subject = subject(&at.to_string());
            compare(subject, Metric::lower("s"), ["old", "new"], sides, &options)
        })
        .collect();
    decide(&mut all, &options);
    let found = all.iter().filter(|it| it.verdict == Verdict::Regression);
    let found: Vec<&str> = found.map(|it| it.subject.benchmark.as_str()).collect();
    assert_eq!(found, ["3"]);
}

/// Returns a normally distributed number and one that is spread evenly over 0 … 1, of a generator.
fn drawn(random: &mut impl rand::RngExt) -> (f64, f64) {
    let uniform: [f64; 3] = [(); 3].map(|()| random.random());
    let radius = (-2.0 * (1.0 - uniform[0]).ln()).sqrt();
    (
        radius * (std::f64::consts::TAU * uniform[1]).cos(),
        uniform[2],
    )
}

#[test]
fn outliers_are_told_if_there_are_any() {
    let options = CompareOptions::default();
    // One of the candidate's, and one in twenty of all others.
    let told = |has_any: bool, noise: f64, instances: usize| {
        let told = (0..400).filter(|search| {
            let random = &mut Seed(5).block(*search);
            let sides = [1.0, 1.1].map(|level| {
                let means = (0..instances).map(|at| {
                    let (normal, even) = drawn(random);
                    let is_first = at == 0 && level > 1.0;
                    let is_far = has_any && (is_first || even < 0.05);
                    let far = if is_far {
                        1.3 + 1.7 * drawn(random).1
                    } else {
                        1.0
                    };
                    level * far * (noise * normal).exp()
                });
                side(&means.collect::<Vec<f64>>())
            });
            let compared = alone(&sides[0], &sides[1], &options);
            compared.cautions.contains(&Caution::Outliers)
        });
        told.count()
    };
    for instances in [5, 10, 30] {
        for noise in [0.01, 0.03] {
            let rates = [false, true].map(|has_any| told(has_any, noise, instances));
            assert!(
                rates[0] <= 4,
                "{rates:?} of 400, {instances} instances, {noise}"
            );
            assert!(
                rates[1] >= 360,
                "{rates:?} of 400, {instances} instances, {noise}"
            );
        }
    }
}

#[test]
fn a_method_of_ranks_has_no_harm_from_outliers() {
    let far = side(&[1.0, 1.01, 0.99, 1.005, 0.995, 3.0, 1.0, 1.01]);
    let other = side(&[1.1, 1.11, 1.09, 1.105, 1.095, 1.1, 1.1, 1.11]);
    let by_means = alone(&far, &other, &CompareOptions::default());
    assert_eq!(by_means.verdict, Verdict::Inconclusive);
    assert_eq!(by_means.cautions, [Caution::Outliers]);
    let options = CompareOptions {
        method: CompareMethod::MannWhitney,
        ..CompareOptions::default()
    };
    let by_ranks = alone(&far, &other, &options);
    assert_eq!(by_ranks.verdict, Verdict::Regression);
    assert_eq!(by_ranks.cautions, []);
}
