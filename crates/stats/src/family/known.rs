//! Tests of differences whose noise is known from elsewhere: sessions, of which two or three are too few to show how
//! much sessions differ.

use statrs::distribution::{ContinuousCDF, FisherSnedecor};

use super::{FamilyTest, HISTORY_FITS, StandardError, p_of, prior_of};
use crate::mean;
use crate::number::as_f64;
use crate::spread::moderation::VariancePrior;
use crate::spread::replicates::DifferenceMethod;

/// Returns the t test of the difference between independent replicates of two sides, of which a side may have one;
/// `None` if their variance is unknown.
///
/// `known` is what earlier sessions say of the variance of a replicate, [`VariancePrior::NONE`] if nothing. With the
/// variance s² of the replicates themselves, n₁ + n₂ − 2 = d degrees of freedom, the variance is
/// (ν k + d s²)/(ν + d), and t has ν + d degrees of freedom. What is known is left out where s² is beyond the upper
/// 10 % of what it lets expect.
///
/// ```
/// use lapwing_stats::{Confidence, VariancePrior, known_noise_test};
/// let known = VariancePrior { variance: 0.05_f64.powi(2), freedom: 9.0 };
/// let test = known_noise_test([&[0.0], &[0.1]], &known).expect("the variance is known");
/// // scipy 1.17.1: 2 * stats.t.sf(.1 / (.05 * 2**.5), 9)
/// assert!((test.p_value - 0.190_947_117_169_724).abs() < 1e-6);
/// assert_eq!(known_noise_test([&[0.0], &[0.1]], &VariancePrior::NONE), None);
/// ```
pub fn known_noise_test(sides: [&[f64]; 2], known: &VariancePrior) -> Option<FamilyTest> {
    let sizes = sides.map(|side| as_f64(side.len()));
    let means = [mean(sides[0])?, mean(sides[1])?];
    let freedom = sizes[0] + sizes[1] - 2.0;
    let around = |side: usize| {
        let squares = sides[side]
            .iter()
            .map(|value| (value - means[side]).powi(2));
        squares.sum::<f64>()
    };
    let own = (around(0) + around(1)) / freedom.max(1.0);
    let known = if fits(own, freedom, known) {
        known
    } else {
        &VariancePrior::NONE
    };
    let all = known.moderated_freedom(freedom);
    if all <= 0.0 {
        return None;
    }
    let variance = known.moderate(own, freedom);
    let scale = sizes[0].recip() + sizes[1].recip();
    let error = StandardError {
        value: (variance * scale).sqrt(),
        freedom: all,
        method: DifferenceMethod::Student,
    };
    let difference = means[1] - means[0];
    Some(FamilyTest {
        difference,
        p_value: p_of(difference, error),
        errors: [Some(error), None],
        variance,
        scale,
        freedom,
        prior_freedom: known.freedom,
        is_paired: false,
        history: 0,
    })
}

fn fits(own: f64, freedom: f64, known: &VariancePrior) -> bool {
    if freedom <= 0.0 || known.freedom <= 0.0 {
        return true;
    }
    // Of values that never varied only the same is expected.
    if known.variance <= 0.0 {
        return own <= 0.0;
    }
    FisherSnedecor::new(freedom, known.freedom)
        .is_ok_and(|distribution| distribution.sf(own / known.variance) >= HISTORY_FITS)
}

/// Returns the factor by which today is noisier than before, from two variances of the same kind; 1 unless today's is
/// beyond the upper 10 % of what the earlier one lets expect.
pub fn noisier_by(today: &VariancePrior, before: &VariancePrior) -> f64 {
    if fits(today.variance, today.freedom, before) || before.variance <= 0.0 {
        1.0
    } else {
        today.variance / before.variance
    }
}

/// Returns what a suite and each of its benchmarks together say of the variance of that benchmark, in the order given:
/// `None` for a benchmark whose own variance is unknown, so that it gets that of the suite.
///
/// The prior of the suite ([`VariancePrior`]) counts at most as much as the longest history in it: benchmarks that
/// were measured in the same sessions may share what these sessions differ by.
pub fn known_with_suite(
    of_suite: &[VariancePrior],
    own: &[Option<VariancePrior>],
) -> Vec<VariancePrior> {
    let variances = of_suite.iter().filter(|it| it.freedom > 0.0);
    let variances: Vec<(f64, f64)> = variances.map(|it| (it.variance, it.freedom)).collect();
    let longest = variances.iter().map(|(_, freedom)| *freedom);
    let prior = prior_of(&variances).at_most(longest.fold(0.0, f64::max));
    let own = own.iter().map(|own| match own {
        Some(own) => VariancePrior {
            variance: prior.moderate(own.variance, own.freedom),
            freedom: prior.moderated_freedom(own.freedom),
        },
        None => prior,
    });
    own.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Confidence;
    use crate::golden::assert_relative;

    #[test]
    fn two_sessions_a_side_have_two_degrees_of_freedom() {
        // scipy 1.17.1: stats.ttest_ind([.10, .12], [.0, .01])
        let test = known_noise_test([&[0.0, 0.01], &[0.10, 0.12]], &VariancePrior::NONE);
        let test = test.expect("two per side");
        assert_relative("p", test.p_value, 0.011_148_620_369_176_646, 1e-9);
        let (interval, _) = test.interval(Confidence::P95).expect("bounded");
        // t(.975, 2) √(.000125 · 1)
        assert_relative("lower", interval.lower, 0.056_894_880_063_525_85, 1e-9);
    }

    #[test]
    fn sessions_that_differ_more_than_any_before_are_judged_by_themselves() {
        let known = VariancePrior {
            variance: 1e-6,
            freedom: 9.0,
        };
        let alone = known_noise_test([&[0.0, 0.01], &[0.10, 0.12]], &VariancePrior::NONE);
        assert_eq!(
            known_noise_test([&[0.0, 0.01], &[0.10, 0.12]], &known),
            alone
        );
    }

    #[test]
    fn benchmarks_of_the_same_sessions_do_not_count_as_more_sessions() {
        let own = VariancePrior {
            variance: 0.01,
            freedom: 4.0,
        };
        let known = known_with_suite(&[own; 20], &[Some(own), None]);
        assert_eq!(known[0].freedom, 8.0);
        assert_eq!(known[1].freedom, 4.0);
        assert_relative("variance", known[1].variance, 0.01, 1e-12);
    }

    #[test]
    fn a_noisier_day_is_told_from_chance() {
        let before = VariancePrior {
            variance: 1.0,
            freedom: 40.0,
        };
        let today = |variance: f64| VariancePrior {
            variance,
            freedom: 8.0,
        };
        assert_eq!(noisier_by(&today(1.5), &before), 1.0);
        assert_eq!(noisier_by(&today(4.0), &before), 4.0);
    }
}
