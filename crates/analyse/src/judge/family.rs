//! Comparisons of one metric that are judged together.

use lapwing_stats::{
    Confidence, DifferenceMethod, FamilyTest, Interval, PValue, Replicates, Seed, SelectedSize,
    VerdictRule, as_f64, benjamini_hochberg, family_tests, known_noise_test,
};

use super::compare::{CompareMethod, CompareOptions, Comparison};
use super::replication::unit::Replication;

/// A family's answer for one of its members.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct FamilyAnswer {
    pub(super) test: FamilyTest,
    /// The size of the difference allowing for its selection, if it is small enough a p-value that selected it.
    pub(super) selected: Option<SelectedSize>,
    /// The interval of the difference, on the scale of the replicates.
    pub(super) interval: Interval,
    pub(super) method: CompareMethod,
    /// The p-value of "there is no difference", with the looks at the results.
    pub(super) p_value: f64,
    /// The one of "the difference is no larger than the smallest effect", corrected for the number of comparisons as
    /// well.
    pub(super) p_adjusted: f64,
    /// Whether `p_adjusted` is small enough.
    pub(super) differs: bool,
    /// Whether that of "there is no difference" is small enough, after correction as well.
    pub(super) changed: bool,
    /// The number of tests in the family.
    pub(super) tests: usize,
    /// The rule by which a repetition would have a verdict.
    pub(super) rule: VerdictRule,
}

impl Comparison {
    /// Returns the size of the change that was found, allowing for its selection: changes that stand out seem larger than
    /// they are. `None` where none was found, and without a ratio.
    pub fn selected_ratio(&self) -> Option<(f64, Interval)> {
        let size = self.answer.as_ref()?.selected?;
        self.ratio
            .filter(|_| !self.is_exact && self.differs())
            .map(|_| (size.value.exp(), of_ratio(size.interval)))
    }
}

/// What matters of a member of a family, on the scale of its replicates: 0 for any difference.
#[derive(Debug, Clone, Copy)]
pub(super) struct FamilyBorders {
    /// The smallest effect.
    pub(super) border: f64,
    /// The largest change that is none.
    pub(super) band: f64,
}

/// Judges the comparisons of one metric; `None` for those whose values are all equal, or that have too few.
///
/// The correction for their number is that of Benjamini and Hochberg. `history` has the replicates of earlier
/// comparisons for families of one or two.
pub(super) fn judge_family(
    replications: &[&Replication],
    history: &[Replicates],
    borders: &[FamilyBorders],
    options: &CompareOptions,
    metric: &str,
) -> Vec<Option<FamilyAnswer>> {
    let seed = options.seed.split(metric);
    let rate = options.false_discovery_rate;
    let replicates: Vec<Replicates> = replications
        .iter()
        .map(|replication| replication.replicates.clone())
        .collect();
    let test_all = |replicates: &[Replicates]| tests_of(replications, replicates, history, seed);
    let tests = test_all(&replicates);
    let with_looks = |at: usize, test: &FamilyTest| {
        let factor = replications[at].looks.factor(rate);
        (test.p_value * factor).min(1.0)
    };
    // Members without a test do not count in the corrections.
    let plain: Vec<f64> = (0..tests.len())
        .filter_map(|at| Some(with_looks(at, &tests[at]?)))
        .collect();
    let p_values: Vec<f64> = if borders.iter().any(|it| it.border > 0.0) {
        let sides = replicates.iter().zip(borders);
        let beyond: Vec<Replicates> = sides.map(|(it, own)| it.beyond(own.border)).collect();
        let beyond = test_all(&beyond);
        // What is equal up to the smallest effect surely has no larger one.
        let p_value = |at: usize| beyond[at].map_or(1.0, |test| with_looks(at, &test));
        (0..tests.len())
            .filter(|at| tests[*at].is_some())
            .map(p_value)
            .collect()
    } else {
        plain.clone()
    };
    let number = p_values.len();
    let mut plain = corrected(&plain).into_iter();
    let adjusted = corrected(&p_values);
    let found = adjusted.iter().filter(|it| it.value() <= rate).count();
    // The p-value that suffices if so many others are found: the level of Benjamini and Hochberg for one more.
    let level = rate * (as_f64(found + 1) / as_f64(number.max(1))).min(1.0);
    let sufficed = rate * as_f64(found) / as_f64(number.max(1));
    let mut adjusted = adjusted.into_iter();
    let answers = tests.into_iter().enumerate().map(|(at, test)| {
        let test = test?;
        let p_adjusted = adjusted.next()?.value();
        let plain = plain.next()?.value();
        let confidence = replications[at].level(options.confidence);
        let (interval, method) = test.interval(confidence)?;
        let FamilyBorders { border, band } = borders[at];
        Some(FamilyAnswer {
            interval,
            method: method_of(method),
            p_value: with_looks(at, &test),
            p_adjusted,
            selected: (p_adjusted <= rate)
                .then(|| {
                    let sufficed = sufficed / replications[at].looks.factor(rate);
                    test.selected_size(border, sufficed, options.confidence)
                })
                .flatten(),
            differs: p_adjusted <= rate,
            changed: plain <= rate,
            tests: number,
            rule: VerdictRule {
                border,
                band,
                level: replications[at].looks.after_choice(level),
                confidence: replications[at].after_choice(options.confidence),
            },
            test,
        })
    });
    answers.collect()
}

/// Returns the tests: of sessions that are too few to be a family by what is known of how much they differ, of all
/// others by their family.
fn tests_of(
    replications: &[&Replication],
    replicates: &[Replicates],
    history: &[Replicates],
    seed: Seed,
) -> Vec<Option<FamilyTest>> {
    let (few, others): (Vec<usize>, Vec<usize>) =
        (0..replicates.len()).partition(|at| replications[*at].noise.is_some());
    let family: Vec<Replicates> = others.iter().map(|at| replicates[*at].clone()).collect();
    let mut tests = vec![None; replicates.len()];
    for (at, test) in others.into_iter().zip(family_tests(&family, history, seed)) {
        tests[at] = test;
    }
    for at in few {
        if let (Some(noise), Replicates::Sides(sides)) = (replications[at].noise, &replicates[at]) {
            let sides = [sides[0].as_slice(), &sides[1]];
            tests[at] = known_noise_test(sides, &noise.variance);
        }
    }
    tests
}

/// Corrects p-values for their number.
fn corrected(p_values: &[f64]) -> Vec<PValue> {
    let p_values: Vec<PValue> = p_values
        .iter()
        .map(|p_value| PValue::new(*p_value).unwrap_or(PValue::ONE))
        .collect();
    benjamini_hochberg(&p_values)
}

fn method_of(method: DifferenceMethod) -> CompareMethod {
    match method {
        DifferenceMethod::Welch => CompareMethod::Welch,
        DifferenceMethod::Student => CompareMethod::Student,
        DifferenceMethod::Paired => CompareMethod::Paired,
    }
}

/// Returns the interval of a single value.
pub(super) fn point(value: f64) -> Interval {
    Interval {
        lower: value,
        upper: value,
    }
}

/// Returns the interval of the ratio.
pub(super) fn of_ratio(interval: Interval) -> Interval {
    Interval {
        lower: interval.lower.exp(),
        upper: interval.upper.exp(),
    }
}

/// Returns the interval of a single comparison by its own values, at this confidence, for ratios that are judged later.
pub(super) fn own_test(
    replicates: &Replicates,
    confidence: Confidence,
) -> Option<(FamilyTest, Interval, CompareMethod)> {
    let test = family_tests(
        std::slice::from_ref(replicates),
        &[],
        lapwing_stats::Seed(0),
    )[0]?;
    let (interval, method) = test.interval(confidence)?;
    Some((test, interval, method_of(method)))
}
