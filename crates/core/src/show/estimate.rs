//! A value, how sure it is, and what it rests on: never one without the others.

use super::quantity::{NOTHING, Scale, fixed, percent, quantity, ratio, ratio_decimals};
use crate::model::Better;

/// How many instances and iterations a number rests on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SampleSize {
    /// Instances: the unit of replication.
    pub instances: usize,
    /// Iterations that count, of the instance that has fewest.
    pub fewest_iterations: usize,
    /// Iterations that count, of the instance that has most.
    pub most_iterations: usize,
}

impl SampleSize {
    /// Returns the size of a sample whose instances have these numbers of iterations.
    /// Instances without any do not count.
    pub fn of(iterations: impl IntoIterator<Item = usize>) -> Self {
        iterations
            .into_iter()
            .filter(|&iterations| iterations > 0)
            .fold(Self::default(), |size, iterations| Self {
                instances: size.instances + 1,
                fewest_iterations: if size.instances == 0 {
                    iterations
                } else {
                    size.fewest_iterations.min(iterations)
                },
                most_iterations: size.most_iterations.max(iterations),
            })
    }

    /// Returns `5 instances × 5`, or `5 instances × 3–5` where they differ.
    pub fn text(&self) -> String {
        let noun = if self.instances == 1 {
            "instance"
        } else {
            "instances"
        };
        format!("{} {noun} × {}", self.instances, self.iterations())
    }

    /// Returns `5 × 5`, or `5 × 3–5`.
    pub fn short(&self) -> String {
        format!("{} × {}", self.instances, self.iterations())
    }

    fn iterations(&self) -> String {
        if self.fewest_iterations == self.most_iterations {
            self.most_iterations.to_string()
        } else {
            format!("{}–{}", self.fewest_iterations, self.most_iterations)
        }
    }
}

/// A metric's value with its 95 % confidence interval, in base units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The mean of the instances' means.
    pub value: f64,
    /// The lower end of the interval; `None` when there is none, as for a single instance.
    pub lower: Option<f64>,
    /// The upper end of the interval.
    pub upper: Option<f64>,
    /// What it rests on.
    pub size: SampleSize,
}

impl From<&crate::judge::Estimate> for Estimate {
    fn from(judged: &crate::judge::Estimate) -> Self {
        Self {
            value: judged.value,
            lower: judged.interval.map(|it| it.lower),
            upper: judged.interval.map(|it| it.upper),
            size: SampleSize {
                instances: judged.instances,
                fewest_iterations: judged.iterations_each.0,
                most_iterations: judged.iterations_each.1,
            },
        }
    }
}

impl Estimate {
    /// Returns `1.31 s (95 % CI 1.29–1.34 s, 5 instances × 5)`.
    pub fn text(&self, unit: &str) -> String {
        let scale = Scale::of(self.value, unit);
        let decimals = self.decimals(&scale);
        format!(
            "{} ({}{})",
            self.value_text(unit),
            interval(self.lower, self.upper).map_or_else(String::new, |(lower, upper)| format!(
                "95 % CI {}, ",
                scale.with_unit(&range(
                    &scale.number_with(lower, decimals),
                    &scale.number_with(upper, decimals)
                ))
            )),
            self.size.text()
        )
    }

    /// Returns the value alone, with as many digits as its interval needs: `1.31 s`.
    pub fn value_text(&self, unit: &str) -> String {
        if !self.value.is_finite() {
            return NOTHING.to_owned();
        }
        let scale = Scale::of(self.value, unit);
        scale.with_unit(&scale.number_with(self.value, self.decimals(&scale)))
    }

    /// Returns the interval alone, `1.29–1.34`, on the scale of the value and without its
    /// unit; `None` when there is none.
    pub fn interval_text(&self, unit: &str) -> Option<String> {
        let scale = Scale::of(self.value, unit);
        let decimals = self.decimals(&scale);
        interval(self.lower, self.upper).map(|(lower, upper)| {
            range(
                &scale.number_with(lower, decimals),
                &scale.number_with(upper, decimals),
            )
        })
    }

    fn decimals(&self, scale: &Scale) -> usize {
        telling_decimals(
            super::quantity::decimals(self.value / scale.factor, 3),
            self.lower.map(|lower| lower / scale.factor),
            self.upper.map(|upper| upper / scale.factor),
        )
    }
}

/// The ratio candidate / baseline with its 95 % confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RatioEstimate {
    /// The ratio: above 1 the candidate has more of the metric.
    pub value: f64,
    /// The lower end of the interval; `None` when there is none.
    pub lower: Option<f64>,
    /// The upper end of the interval.
    pub upper: Option<f64>,
    /// What the baseline rests on.
    pub baseline: SampleSize,
    /// What the candidate rests on.
    pub candidate: SampleSize,
}

impl RatioEstimate {
    /// The fewest instances on each side from which anything may be concluded.
    pub const FEWEST_INSTANCES: usize = 3;

    /// Returns whether both sides have enough instances and there is an interval.
    pub fn is_judgeable(&self) -> bool {
        self.baseline.instances >= Self::FEWEST_INSTANCES
            && self.candidate.instances >= Self::FEWEST_INSTANCES
            && self.lower.is_some()
            && self.upper.is_some()
    }

    /// Returns `1.04×`, with as many digits as its interval needs.
    pub fn value_text(&self) -> String {
        if !self.value.is_finite() {
            return ratio(self.value);
        }
        format!("{}×", fixed(self.value, self.decimals()))
    }

    /// Returns the interval alone: `[1.02, 1.07]`.
    pub fn interval_text(&self) -> Option<String> {
        let decimals = self.decimals();
        interval(self.lower, self.upper).map(|(lower, upper)| {
            format!("[{}, {}]", fixed(lower, decimals), fixed(upper, decimals))
        })
    }

    /// Returns `1.04× [1.02, 1.07]`.
    pub fn text(&self) -> String {
        match self.interval_text() {
            Some(interval) => format!("{} {interval}", self.value_text()),
            None => self.value_text(),
        }
    }

    fn decimals(&self) -> usize {
        telling_decimals(ratio_decimals(self.value), self.lower, self.upper)
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
    estimate: &RatioEstimate,
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
    let shown = if flip {
        RatioEstimate {
            value: 1.0 / estimate.value,
            lower: estimate
                .upper
                .filter(|&upper| upper > 0.0)
                .map(|upper| 1.0 / upper),
            upper: estimate
                .lower
                .filter(|&lower| lower > 0.0)
                .map(|lower| 1.0 / lower),
            ..*estimate
        }
    } else {
        *estimate
    };
    let word = if flip { less } else { more };
    let decimals = shown.decimals();
    let interval = interval(shown.lower, shown.upper).map_or_else(String::new, |(lower, upper)| {
        format!(
            " (95 % CI {}×)",
            range(&fixed(lower, decimals), &fixed(upper, decimals))
        )
    });
    Some(format!(
        "{candidate} is {} {word} than {baseline}{interval}",
        shown.value_text()
    ))
}

/// Returns what a coefficient of variation is called: `cv 1.9 %`.
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

fn interval(lower: Option<f64>, upper: Option<f64>) -> Option<(f64, f64)> {
    let (lower, upper) = (lower?, upper?);
    (lower.is_finite() && upper.is_finite()).then_some((lower, upper))
}

/// Returns the range with a dash, or with "to" where a dash would look like a minus.
fn range(lower: &str, upper: &str) -> String {
    if lower.starts_with('−') || upper.starts_with('−') {
        format!("{lower} to {upper}")
    } else {
        format!("{lower}–{upper}")
    }
}

/// Returns how many decimals tell the ends of an interval well apart (by two units of the
/// last digit): at least `decimals`, at most three more.
fn telling_decimals(decimals: usize, lower: Option<f64>, upper: Option<f64>) -> usize {
    let Some((lower, upper)) = interval(lower, upper) else {
        return decimals;
    };
    let width = upper - lower;
    if width <= 0.0 {
        return decimals;
    }
    let needed = super::quantity::decimals(width / 2.0, 1);
    needed.clamp(decimals, decimals + 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(value: f64, lower: f64, upper: f64) -> Estimate {
        Estimate {
            value,
            lower: Some(lower),
            upper: Some(upper),
            size: SampleSize::of([5; 5]),
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
                lower: None,
                upper: None,
                size: SampleSize::of([1])
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

    #[test]
    fn instances_of_unequal_length_are_told() {
        assert_eq!(SampleSize::of([3, 0, 5]).text(), "2 instances × 3–5");
        assert_eq!(SampleSize::of([]).short(), "0 × 0");
    }

    fn ratio_of(value: f64, lower: f64, upper: f64) -> RatioEstimate {
        RatioEstimate {
            value,
            lower: Some(lower),
            upper: Some(upper),
            baseline: SampleSize::of([5; 5]),
            candidate: SampleSize::of([5; 5]),
        }
    }

    #[test]
    fn a_ratio_comes_with_its_interval() {
        assert_eq!(ratio_of(1.0432, 1.02, 1.07).text(), "1.04× [1.02, 1.07]");
        assert_eq!(
            ratio_of(1.0004, 1.0002, 1.0006).text(),
            "1.0004× [1.0002, 1.0006]"
        );
    }

    #[test]
    fn a_comparison_says_faster_with_a_number_above_one() {
        let sentence = |estimate: &RatioEstimate, unit, better| {
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

    #[test]
    fn three_instances_a_side_are_the_fewest_to_judge() {
        let mut estimate = ratio_of(1.5, 1.4, 1.6);
        assert!(estimate.is_judgeable());
        estimate.candidate = SampleSize::of([5; 2]);
        assert!(!estimate.is_judgeable());
    }
}
