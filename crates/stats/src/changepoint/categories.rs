//! The effects of categories, such as the hosts of runs, on a series whose level may change.

use crate::describe::median;
use crate::number::as_f64;

/// A category with fewer values has no effect of its own.
const FEWEST: usize = 3;
/// A step, a line, and the effect of a category cost so many logarithms of the number of values.
const STEP: f64 = 3.0;
const LINE: f64 = 1.0;
const CATEGORY: f64 = 2.0;
/// More steps than this are no description.
const MOST_STEPS: usize = 10;
/// The fewest values between two steps.
const SEGMENT: usize = 3;
/// Effects and levels are fitted in turn so many times.
const SWEEPS: usize = 40;
/// Descriptions and effects are found in turn so many times.
const ROUNDS: usize = 3;
/// Residuals farther from 0 than so many robust standard deviations count as if they were there.
const FARTHEST: f64 = 4.0;
/// The standard deviation of normal values in terms of the median absolute deviation.
const NORMAL_DEVIATION: f64 = 1.4826;
/// Less of the variance than this is rounding.
const ROUNDING: f64 = 1e-12;

/// The effects of categories on the values of a series.
#[derive(Debug, Clone, PartialEq)]
pub struct CategoryEffects {
    /// The effect of each category, on the scale of the values and in terms of that of the last value.
    pub effects: Vec<f64>,
    /// The gain over the best description without them: n ln of the ratio of the residual sums of squares, for as
    /// many independent values as the autocorrelation leaves, less a penalty for each step and effect. Positive if the
    /// categories describe the series better.
    pub gain: f64,
    /// Whether the description with them is a line: what changed only once is then hardly told from it.
    pub has_line: bool,
}

/// Returns the effects of categories on a series: those of the best description by steps or a line, and effects,
/// fitted together.
///
/// `categories` has that of each value, from 0 on; `None` is unknown. A category with fewer than three values has
/// no effect. `None` if fewer than two categories have one, or for fewer than 12 values.
///
/// Two descriptions are compared, each the best of steps (binary segmentation) and a line, with and without effects,
/// by Schwarz's criterion (Schwarz, *Annals of Statistics* 1978): a step counts as its place and its size and a little
/// more, so that an effect which explains a step is preferred to it.
pub fn category_effects(values: &[f64], categories: &[Option<usize>]) -> Option<CategoryEffects> {
    let known = Categories::of(values, categories)?;
    let without = FittedShape::best(values);
    let starts = [
        medians(values, &known),
        from_differences(values, &known),
        known.without_steps_at_switches(&without, values).1,
    ];
    let fits = starts.into_iter().map(|mut effects| {
        let mut best = FittedShape::best(&known.less(values, &effects));
        for _ in 0..ROUNDS {
            best.fit_with(values, &known, &mut effects);
            best = FittedShape::best(&known.less(values, &effects));
        }
        (best, effects)
    });
    let (with, effects) = fits.min_by(|(one, _), (other, _)| {
        let total = |it: &FittedShape| it.criterion(values.len(), 1.0);
        total(one).total_cmp(&total(other))
    })?;
    let penalty = CATEGORY * as_f64(known.usable - 1) * as_f64(values.len()).ln();
    Some(known.gained(&without, &with, effects, -penalty))
}

/// Returns the effects of categories that are expected to have some, as they have on series like this one: those that
/// explain all steps near a switch of categories. The gain is positive unless the series clearly speaks for other
/// places or against any effect. `None` as for [`category_effects`].
pub fn expected_effects(values: &[f64], categories: &[Option<usize>]) -> Option<CategoryEffects> {
    let known = Categories::of(values, categories)?;
    let without = FittedShape::best(values);
    let (_, mut effects) = known.without_steps_at_switches(&without, values);
    let mut with = without.clone();
    for _ in 0..ROUNDS {
        let left = known.less(values, &effects);
        let best = FittedShape::best(&left);
        (with, effects) = known.without_steps_at_switches(&best, values);
        with = with.refitted(&known.less(values, &effects));
    }
    let tolerance = STEP * as_f64(values.len()).ln();
    Some(known.gained(&without, &with, effects, tolerance))
}

/// The categories that can have an effect.
struct Categories {
    of: Vec<Option<usize>>,
    number: usize,
    /// Number of those with an effect.
    usable: usize,
}

impl Categories {
    fn of(values: &[f64], categories: &[Option<usize>]) -> Option<Self> {
        let number = categories.iter().flatten().max()? + 1;
        let mut counts = vec![0_usize; number];
        for category in categories.iter().flatten() {
            counts[*category] += 1;
        }
        let usable = counts.iter().filter(|count| **count >= FEWEST).count();
        if values.len() < 12 || values.len() != categories.len() || usable < 2 {
            return None;
        }
        let of = categories.iter();
        let of = of.map(|category| category.filter(|it| counts[*it] >= FEWEST));
        Some(Self {
            of: of.collect(),
            number,
            usable,
        })
    }

    /// Returns the values less the effects of their categories.
    fn less(&self, values: &[f64], effects: &[f64]) -> Vec<f64> {
        let pairs = values.iter().zip(&self.of);
        let less = pairs.map(|(value, category)| value - category.map_or(0.0, |it| effects[it]));
        less.collect()
    }

    /// Returns a description without its steps near a switch of categories, which may be effects, and the effects
    /// beside the others.
    fn without_steps_at_switches(
        &self,
        description: &FittedShape,
        values: &[f64],
    ) -> (FittedShape, Vec<f64>) {
        let mut effects = vec![0.0; self.number];
        let mut others = description.clone();
        if let StepsOrLine::Steps(steps) = &mut others.shape {
            steps.retain(|step| {
                let near = step.saturating_sub(SEGMENT)..(step + SEGMENT).min(values.len());
                let mut pairs = self.of[near].windows(2);
                !pairs.any(|pair| pair[0] != pair[1])
            });
        }
        others.fit_with(values, self, &mut effects);
        (others, effects)
    }

    /// Returns effects in terms of that of the last value, with the gain.
    fn gained(
        &self,
        without: &FittedShape,
        with: &FittedShape,
        mut effects: Vec<f64>,
        bonus: f64,
    ) -> CategoryEffects {
        let independent = with.independent_share();
        let total = |it: &FittedShape| it.criterion(self.of.len(), independent);
        let gain = total(without) - total(with) + bonus;
        let newest = self.of.iter().rev().flatten().next();
        let base = newest.map_or(0.0, |category| effects[*category]);
        for (category, effect) in effects.iter_mut().enumerate() {
            let is_usable = self.of.contains(&Some(category));
            *effect = if is_usable { *effect - base } else { 0.0 };
        }
        CategoryEffects {
            effects,
            gain,
            has_line: matches!(with.shape, StepsOrLine::Line),
        }
    }
}

/// A description of a series: its fitted values, and what it costs.
#[derive(Debug, Clone)]
struct FittedShape {
    shape: StepsOrLine,
    residuals: Vec<f64>,
    penalty: f64,
    floor: f64,
}

#[derive(Debug, Clone)]
enum StepsOrLine {
    /// The starts of segments after the first.
    Steps(Vec<usize>),
    Line,
}

impl FittedShape {
    /// Returns the best of steps and a line.
    fn best(values: &[f64]) -> Self {
        let centre = values.iter().sum::<f64>() / as_f64(values.len());
        let floor = ROUNDING * squares(values.iter().map(|value| value - centre));
        let of = |shape: StepsOrLine| {
            let described = Self {
                shape,
                residuals: Vec::new(),
                penalty: 0.0,
                floor,
            };
            described.refitted(values)
        };
        let steps = of(StepsOrLine::Steps(segmentation(values)));
        let line = of(StepsOrLine::Line);
        let length = values.len();
        if line.criterion(length, 1.0) < steps.criterion(length, 1.0) {
            line
        } else {
            steps
        }
    }

    /// Returns the same shape, fitted to other values.
    fn refitted(self, values: &[f64]) -> Self {
        let fitted = self.shape.fitted(values);
        let terms = match &self.shape {
            StepsOrLine::Steps(steps) => STEP * as_f64(steps.len()),
            StepsOrLine::Line => LINE,
        };
        Self {
            residuals: clipped(values.iter().zip(&fitted).map(|(value, fit)| value - fit)),
            penalty: terms * as_f64(values.len()).ln(),
            ..self
        }
    }

    /// Returns n ln RSS for the share of independent values, plus the penalty.
    fn criterion(&self, length: usize, independent: f64) -> f64 {
        let rss = squares(self.residuals.iter().copied()) + self.floor;
        independent * as_f64(length) * rss.max(f64::MIN_POSITIVE).ln() + self.penalty
    }

    /// Returns the share of the values that are as good as independent: (1 − ρ) / (1 + ρ).
    fn independent_share(&self) -> f64 {
        let all = squares(self.residuals.iter().copied());
        let products = self.residuals.windows(2).map(|pair| pair[0] * pair[1]);
        let correlation = if all > 0.0 {
            (products.sum::<f64>() / all).clamp(0.0, 0.95)
        } else {
            0.0
        };
        (1.0 - correlation) / (1.0 + correlation)
    }

    /// Fits effects and this shape together, in turn.
    fn fit_with(&self, values: &[f64], categories: &Categories, effects: &mut [f64]) {
        for _ in 0..SWEEPS {
            let fitted = self.shape.fitted(&categories.less(values, effects));
            let mut sums = vec![(0.0, 0.0); effects.len()];
            let left = values.iter().zip(&fitted).map(|(value, fit)| value - fit);
            for (left, category) in left.zip(&categories.of) {
                if let Some(category) = category {
                    sums[*category].0 += left;
                    sums[*category].1 += 1.0;
                }
            }
            for (effect, (sum, count)) in effects.iter_mut().zip(sums) {
                if count > 0.0 {
                    *effect = sum / count;
                }
            }
        }
    }
}

impl StepsOrLine {
    fn fitted(&self, values: &[f64]) -> Vec<f64> {
        match self {
            Self::Steps(steps) => {
                let mut fitted = Vec::with_capacity(values.len());
                let mut start = 0;
                for end in steps.iter().copied().chain([values.len()]) {
                    let part = &values[start..end];
                    let mean = part.iter().sum::<f64>() / as_f64(part.len().max(1));
                    fitted.extend(std::iter::repeat_n(mean, part.len()));
                    start = end;
                }
                fitted
            }
            Self::Line => {
                let length = as_f64(values.len());
                let middle = (length - 1.0) / 2.0;
                let mean = values.iter().sum::<f64>() / length;
                let along = |at: usize| as_f64(at) - middle;
                let all = values.iter().enumerate();
                let products: f64 = all.map(|(at, value)| along(at) * (value - mean)).sum();
                let slope = products / squares((0..values.len()).map(along));
                (0..values.len())
                    .map(|at| slope.mul_add(along(at), mean))
                    .collect()
            }
        }
    }
}

/// Returns the starts of segments by binary segmentation: the split that explains most comes first.
fn segmentation(values: &[f64]) -> Vec<usize> {
    let mut sums = vec![(0.0, 0.0)];
    for value in values {
        let (sum, square) = sums[sums.len() - 1];
        sums.push((sum + value, square + value * value));
    }
    let rss = |start: usize, end: usize| {
        let sum: f64 = sums[end].0 - sums[start].0;
        (sums[end].1 - sums[start].1 - sum * sum / as_f64(end - start)).max(0.0)
    };
    let best_split = |start: usize, end: usize| {
        let splits = start + SEGMENT..(end + 1).saturating_sub(SEGMENT);
        let gains = splits.map(|at| (rss(start, end) - rss(start, at) - rss(at, end), at));
        gains.max_by(|one, other| one.0.total_cmp(&other.0))
    };
    let length = as_f64(values.len());
    let mut steps: Vec<usize> = Vec::new();
    let mut segments = vec![(0, values.len(), best_split(0, values.len()))];
    let mut left = rss(0, values.len());
    let floor = ROUNDING * left;
    while steps.len() < MOST_STEPS {
        let clearest = segments.iter().enumerate();
        let clearest = clearest.filter_map(|(at, segment)| Some((at, segment.2?)));
        let Some((at, (gain, split))) = clearest.max_by(|one, other| one.1.0.total_cmp(&other.1.0))
        else {
            break;
        };
        let improved = length * ((left + floor) / ((left - gain).max(0.0) + floor)).ln();
        if left <= floor || improved <= STEP * length.ln() {
            break;
        }
        left -= gain;
        let (start, end, _) = segments.swap_remove(at);
        segments.push((start, split, best_split(start, split)));
        segments.push((split, end, best_split(split, end)));
        steps.push(split);
    }
    steps.sort_unstable();
    steps
}

/// Returns the median of each category, without regard to steps.
fn medians(values: &[f64], categories: &Categories) -> Vec<f64> {
    let of = |wanted: usize| {
        let pairs = values.iter().zip(&categories.of);
        let own = pairs.filter(|(_, category)| **category == Some(wanted));
        let own: Vec<f64> = own.map(|(value, _)| *value).collect();
        median(&own).unwrap_or(0.0)
    };
    (0..categories.number).map(of).collect()
}

/// Returns the effects by the differences of neighbours in different categories, which steps hardly touch: the
/// smallest sum of absolute residuals, one effect at a time.
fn from_differences(values: &[f64], categories: &Categories) -> Vec<f64> {
    let known: Vec<(f64, usize)> = values
        .iter()
        .zip(&categories.of)
        .filter_map(|(value, category)| Some((*value, (*category)?)))
        .collect();
    let switches: Vec<(f64, usize, usize)> = known
        .windows(2)
        .filter(|pair| pair[0].1 != pair[1].1)
        .map(|pair| (pair[1].0 - pair[0].0, pair[0].1, pair[1].1))
        .collect();
    let mut effects = vec![0.0; categories.number];
    for _ in 0..SWEEPS {
        for category in 1..categories.number {
            let wanted: Vec<f64> = switches
                .iter()
                .filter_map(|(difference, from, to)| {
                    if *to == category {
                        Some(effects[*from] + difference)
                    } else if *from == category {
                        Some(effects[*to] - difference)
                    } else {
                        None
                    }
                })
                .collect();
            effects[category] = median(&wanted).unwrap_or(effects[category]);
        }
    }
    effects
}

/// Returns residuals with far ones drawn in.
fn clipped(residuals: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut residuals: Vec<f64> = residuals.collect();
    let absolute: Vec<f64> = residuals.iter().map(|it| it.abs()).collect();
    let reach = FARTHEST * NORMAL_DEVIATION * median(&absolute).unwrap_or(0.0);
    if reach > 0.0 {
        for residual in &mut residuals {
            *residual = residual.clamp(-reach, reach);
        }
    }
    residuals
}

fn squares(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|value| value * value).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::changepoint::level::testing::{Noise, series};

    /// Hosts of runs: independent ones, of which a share is host 1, or such as stay with a probability.
    fn hosts(length: usize, seed: u64, share: f64, stays: f64) -> Vec<Option<usize>> {
        let mut random = crate::seed::Seed(seed).stream("hosts");
        let mut uniform = move || {
            use rand_chacha::rand_core::Rng;
            as_f64(usize::try_from(random.next_u32()).unwrap_or(0)) / f64::from(u32::MAX)
        };
        let mut host = usize::from(uniform() < share);
        (0..length)
            .map(|_| {
                if uniform() >= stays {
                    host = usize::from(uniform() < share);
                }
                Some(host)
            })
            .collect()
    }

    fn with_effect(values: &mut [f64], hosts: &[Option<usize>], effect: f64) {
        for (value, host) in values.iter_mut().zip(hosts) {
            *value += if *host == Some(1) { effect } else { 0.0 };
        }
    }

    #[test]
    fn the_effect_of_alternating_hosts_is_found_beside_a_step() {
        let mut found = 0;
        for seed in 0..60 {
            let hosts = hosts(100, seed, 0.3, 0.0);
            let mut values = series(Noise::Normal, 100, seed);
            with_effect(&mut values, &hosts, 15.0);
            for value in &mut values[70..] {
                *value += 5.0;
            }
            let effects = category_effects(&values, &hosts).expect("two hosts");
            let difference = effects.effects[1] - effects.effects[0];
            found += usize::from(effects.gain > 0.0 && (difference - 15.0).abs() < 0.8);
        }
        assert!(found >= 58, "{found}");
    }

    #[test]
    fn hosts_that_do_not_matter_rarely_have_an_effect() {
        for noise in [Noise::Normal, Noise::Autocorrelated(0.6), Noise::Bimodal] {
            for stays in [0.0, 0.9] {
                let wrong = (0..100).filter(|seed| {
                    let mut values = series(noise, 100, *seed);
                    for value in &mut values[70..] {
                        *value += 5.0;
                    }
                    let hosts = hosts(100, 1000 + seed, 0.5, stays);
                    category_effects(&values, &hosts).is_some_and(|it| it.gain > 0.0)
                });
                let wrong = wrong.count();
                // Hosts that stay follow noise that stays.
                assert!(wrong <= 10, "{noise:?} {stays}: {wrong}");
            }
        }
    }

    #[test]
    fn one_move_explains_a_step_at_its_place_and_no_other() {
        let moved = |at: usize| {
            (0..60)
                .map(move |run| Some(usize::from(run >= at)))
                .collect()
        };
        let (mut explained, mut wrong) = (0, 0);
        for seed in 0..60 {
            let mut values = series(Noise::Normal, 60, seed);
            for value in &mut values[30..] {
                *value += 3.0;
            }
            let gains = |hosts: Vec<Option<usize>>| {
                category_effects(&values, &hosts).is_some_and(|it| it.gain > 0.0)
            };
            explained += usize::from(gains(moved(30)));
            wrong += usize::from(gains(moved(40)));
        }
        assert!(explained >= 57 && wrong <= 3, "{explained} {wrong}");
    }

    #[test]
    fn a_drift_is_not_explained_by_a_host_that_changed_in_the_middle() {
        let wrong = (0..60).filter(|seed| {
            let mut values = series(Noise::Normal, 60, *seed);
            for (at, value) in values.iter_mut().enumerate() {
                *value += 0.2 * as_f64(at);
            }
            let hosts: Vec<_> = (0..60).map(|run| Some(usize::from(run >= 30))).collect();
            category_effects(&values, &hosts).is_some_and(|it| it.gain > 0.0)
        });
        let wrong = wrong.count();
        assert!(wrong <= 3, "{wrong}");
    }
}
