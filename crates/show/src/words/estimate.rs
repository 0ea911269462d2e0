//! Values with their intervals and sample sizes in words: never one without the others.

use lapwing_stats::{Interval, SuiteRatio};

use super::super::quantity::{
    MOST_DECIMALS, NOTHING, UnitScale, decimals, fixed, percent, quantity, ratio, ratio_decimals,
};
use lapwing_analyse::judge::{ComparedRatio, Estimate, SuiteComparison};
use lapwing_model::Better;

/// The words for an estimate.
pub trait EstimateText {
    /// Returns `1.31 s (95 % CI 1.29–1.34 s, 5 instances × 5)`.
    fn text(&self, unit: &str) -> String;

    /// Returns the value alone, with as many digits as its interval needs: `1.31 s`.
    fn value_text(&self, unit: &str) -> String;

    /// Returns the values of a row on one scale, so that `118 s` does not stand beside `2.00 min`;
    /// those that are not there as a dash.
    fn row_text(row: &[Option<Self>], unit: &str) -> Vec<String>
    where
        Self: Sized;

    /// Returns the interval alone, `1.29–1.34`, on the scale of the value and without its
    /// unit; `None` if there is none.
    fn interval_text(&self, unit: &str) -> Option<String>;
}

impl EstimateText for Estimate {
    fn text(&self, unit: &str) -> String {
        let scale = UnitScale::of(self.value, unit);
        let decimals = decimals_of(self, &scale);
        format!(
            "{} ({}{})",
            self.value_text(unit),
            ends(self.interval).map_or_else(String::new, |(lower, upper)| format!(
                "95 % CI {}, ",
                scale.with_unit(&range(
                    &scale.number_with(lower, decimals),
                    &scale.number_with(upper, decimals)
                ))
            )),
            self.size.text()
        )
    }

    fn value_text(&self, unit: &str) -> String {
        if !self.value.is_finite() {
            return NOTHING.to_owned();
        }
        let scale = UnitScale::of(self.value, unit);
        scale.with_unit(&scale.number_with(self.value, decimals_of(self, &scale)))
    }

    fn row_text(row: &[Option<Self>], unit: &str) -> Vec<String> {
        let scale = UnitScale::of_all(row.iter().flatten().map(|it| it.value), unit);
        let text = |it: &Option<Self>| match it {
            Some(it) if it.value.is_finite() => {
                scale.with_unit(&scale.number_with(it.value, decimals_of(it, &scale)))
            }
            Some(_) | None => NOTHING.to_owned(),
        };
        row.iter().map(text).collect()
    }

    fn interval_text(&self, unit: &str) -> Option<String> {
        let scale = UnitScale::of(self.value, unit);
        let decimals = decimals_of(self, &scale);
        ends(self.interval).map(|(lower, upper)| {
            range(
                &scale.number_with(lower, decimals),
                &scale.number_with(upper, decimals),
            )
        })
    }
}

fn decimals_of(estimate: &Estimate, scale: &UnitScale) -> usize {
    telling_decimals(
        decimals(estimate.value / scale.factor, 3),
        estimate.interval.map(|interval| Interval {
            lower: interval.lower / scale.factor,
            upper: interval.upper / scale.factor,
        }),
    )
}

/// Returns a ratio and its interval as one text: `1.01× [0.99, 1.02]`.
pub fn ratio_text(value: f64, interval: Option<Interval>) -> String {
    match ratio_interval(value, interval) {
        Some(interval_text) => format!("{} {interval_text}", ratio_value(value, interval)),
        None => ratio_value(value, None),
    }
}

/// Returns a ratio alone, with as many digits as its interval needs.
pub(crate) fn ratio_value(value: f64, interval: Option<Interval>) -> String {
    if !value.is_finite() {
        return ratio(value);
    }
    let decimals = decimals_of_ratio(value, interval);
    format!("{}×", fixed(value, decimals))
}

/// Returns the interval of a ratio alone; `None` if it has no ends.
pub(crate) fn ratio_interval(value: f64, interval: Option<Interval>) -> Option<String> {
    let decimals = decimals_of_ratio(value, interval);
    ends(interval)
        .map(|(lower, upper)| format!("[{}, {}]", fixed(lower, decimals), fixed(upper, decimals)))
}

/// Returns a descriptive ratio and its interval: `≈1.04×` and `(1.02, 1.07)`, or nothing where it has no ends.
pub(crate) fn described_texts(value: f64, interval: Option<Interval>) -> [String; 2] {
    let bounds = ratio_interval(value, interval).unwrap_or_default();
    [
        format!("≈{}", ratio_value(value, interval)),
        bounds.replace('[', "(").replace(']', ")"),
    ]
}

/// Returns the geometric mean of a suite, of descriptive ratios marked as these are: `1.01× [0.99, 1.02]`,
/// `≈1.01× (0.99, 1.02)`, `1.04× exact`.
pub fn suite_ratio_text(suite: &SuiteComparison) -> String {
    let SuiteRatio {
        ratio, interval, ..
    } = suite.ratio;
    let is_exact = interval.is_some_and(|it| it.lower.total_cmp(&it.upper).is_eq());
    if suite.is_descriptive && is_exact {
        format!("{} exact", self::ratio(ratio))
    } else if suite.is_descriptive {
        let [value, bounds] = described_texts(ratio, interval);
        format!("{value} {bounds}").trim_end().to_owned()
    } else {
        ratio_text(ratio, interval)
    }
}

/// Returns the sentence that compares two things by a metric, or `None` when either value is
/// no number: `b is 6.10× faster than a (95 % CI 5.90–6.40×)`.
///
/// `estimate` is the ratio of `candidate` to `baseline`.
pub fn comparison_sentence(
    candidate: &str,
    baseline: &str,
    unit: &str,
    better: Option<Better>,
    estimate: &ComparedRatio,
) -> Option<String> {
    if !estimate.value.is_finite() || estimate.value <= 0.0 {
        return None;
    }
    let is_time = unit == "s";
    let (more, less) = match (is_time, better) {
        (true, Some(Better::Lower)) => ("slower", "faster"),
        (false, _) | (true, Some(Better::Higher) | None) => ("more", "less"),
    };
    let flip = estimate.value < 1.0;
    // "0.5× slower" would be read either way: the larger number and the fitting word instead.
    let (value, interval) = if flip {
        let turned = |interval: Interval| Interval {
            lower: 1.0 / interval.upper,
            upper: 1.0 / interval.lower,
        };
        (1.0 / estimate.value, estimate.interval.map(turned))
    } else {
        (estimate.value, estimate.interval)
    };
    let word = if flip { less } else { more };
    let decimals = decimals_of_ratio(value, interval);
    let ends = ends(interval).map_or_else(String::new, |(lower, upper)| {
        format!(
            " (95 % CI {}×)",
            range(&fixed(lower, decimals), &fixed(upper, decimals))
        )
    });
    Some(format!(
        "{candidate} is {} {word} than {baseline}{ends}",
        ratio_value(value, interval)
    ))
}

/// Returns the text of a coefficient of variation: `cv 1.9 %`.
pub fn cv_text(cv: f64) -> String {
    format!("cv {}", percent(cv))
}

/// Returns the difference of two values of a metric: `+12.3 ms`.
pub fn difference_text(difference: f64, unit: &str) -> String {
    if difference > 0.0 {
        format!("+{}", quantity(difference, unit))
    } else {
        quantity(difference, unit)
    }
}

/// Returns the ends of an interval that has two.
fn ends(interval: Option<Interval>) -> Option<(f64, f64)> {
    let interval = interval?;
    (interval.lower.is_finite() && interval.upper.is_finite())
        .then_some((interval.lower, interval.upper))
}

/// Returns the range with a dash, or with "to" where a dash would look like a minus.
fn range(lower: &str, upper: &str) -> String {
    if lower.starts_with('−') || upper.starts_with('−') {
        format!("{lower} to {upper}")
    } else {
        format!("{lower}–{upper}")
    }
}

/// Returns how many decimals a ratio needs: those of its interval, and where that excludes 1 at least so many that the
/// ratio is not shown as 1.
fn decimals_of_ratio(value: f64, interval: Option<Interval>) -> usize {
    let usual = telling_decimals(ratio_decimals(value), interval);
    let excludes_1 = ends(interval).is_some_and(|(lower, upper)| lower > 1.0 || upper < 1.0);
    match excludes_1 && fixed(value, usual) == fixed(1.0, usual) {
        true => decimals(value - 1.0, 2).clamp(usual, MOST_DECIMALS),
        false => usual,
    }
}

/// Returns how many decimals tell the ends of an interval well apart (by two units of the
/// last digit): at least `least`, at most three more.
fn telling_decimals(least: usize, interval: Option<Interval>) -> usize {
    let Some((lower, upper)) = ends(interval) else {
        return least;
    };
    let width = upper - lower;
    if width <= 0.0 {
        return least;
    }
    let needed = decimals(width / 2.0, 1);
    needed.clamp(least, least + 3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RatioText;
    use lapwing_analyse::judge::SampleSize;
    use lapwing_analyse::judge::{CompareMethod, ReplicationUnit};

    fn estimate(value: f64, lower: f64, upper: f64) -> Estimate {
        Estimate {
            value,
            interval: Some(Interval { lower, upper }),
            size: SampleSize::of([5; 5]),
            cv: None,
            between: None,
            within: None,
        }
    }

    #[test]
    fn a_value_comes_with_its_interval_and_its_sample() {
        assert_eq!(
            estimate(1.3123, 1.288, 1.339).text("s"),
            "1.31 s (95 % CI 1.29–1.34 s, 5 instances × 5)"
        );
        assert_eq!(
            Estimate {
                value: 0.25,
                interval: None,
                size: SampleSize::of([1]),
                cv: None,
                between: None,
                within: None,
            }
            .text("s"),
            "250 ms (1 instance × 1)"
        );
    }

    #[test]
    fn an_interval_has_the_unit_of_its_value() {
        assert_eq!(
            estimate(1.02, 0.97, 1.07).text("s"),
            "1.02 s (95 % CI 0.97–1.07 s, 5 instances × 5)"
        );
        assert_eq!(
            estimate(0.002, -0.001, 0.005).interval_text("s").as_deref(),
            Some("−1.00 to 5.00")
        );
    }

    #[test]
    fn a_narrow_interval_gets_the_digits_that_it_needs() {
        assert_eq!(
            estimate(1.3105, 1.3102, 1.3108).text("s"),
            "1.3105 s (95 % CI 1.3102–1.3108 s, 5 instances × 5)"
        );
        assert_eq!(
            estimate(2.0, 2.0, 2.0).text("s"),
            "2.00 s (95 % CI 2.00–2.00 s, 5 instances × 5)"
        );
    }

    fn ratio_of(value: f64, lower: f64, upper: f64) -> ComparedRatio {
        ComparedRatio {
            value,
            interval: Some(Interval { lower, upper }),
            p_value: 0.01,
            method: CompareMethod::Welch,
            unit: ReplicationUnit::Instance,
            replicates: [5; 2],
            unpaired: None,
        }
    }

    #[test]
    fn a_ratio_comes_with_its_interval() {
        assert_eq!(ratio_of(1.0432, 1.02, 1.07).text(), "1.04× [1.02, 1.07]");
        assert_eq!(
            ratio_of(1.0004, 1.0002, 1.0006).text(),
            "1.0004× [1.0002, 1.0006]"
        );
        let exact = |value| ratio_of(value, value, value).text();
        assert_eq!(exact(1.0), "1.00× [1.00, 1.00]");
        assert_eq!(exact(1.004), "1.0040× [1.0040, 1.0040]");
        assert_eq!(
            exact(1.0 + 1.0 / 1_048_576.0),
            "1.00000095× [1.00000095, 1.00000095]"
        );
        assert_eq!(exact(1.02), "1.02× [1.02, 1.02]");
    }

    #[test]
    fn a_comparison_says_faster_with_a_number_above_one() {
        let sentence = |estimate: &ComparedRatio, unit, better| {
            comparison_sentence("zstd -3", "gzip -6", unit, better, estimate)
        };
        assert_eq!(
            sentence(
                &ratio_of(1.0 / 6.1, 1.0 / 6.4, 1.0 / 5.9),
                "s",
                Some(Better::Lower)
            )
            .as_deref(),
            Some("zstd -3 is 6.10× faster than gzip -6 (95 % CI 5.90–6.40×)")
        );
        assert_eq!(
            sentence(&ratio_of(1.5, 1.4, 1.6), "s", Some(Better::Lower)).as_deref(),
            Some("zstd -3 is 1.50× slower than gzip -6 (95 % CI 1.40–1.60×)")
        );
        assert_eq!(sentence(&ratio_of(f64::NAN, 1.0, 2.0), "s", None), None);
    }
}
