//! The noise of a history from night to night, and the steps that are seen in it.
//!
//! A history with one instance per night shows no noise between the instances of a run, but its nights do. In
//! independent noise the power of [`super::detect`] depends on the step in terms of the noise, the nights before and
//! since, and the number of histories that are judged together. `table.rs` has the step that is found in four of five
//! cases, by simulation of [`super::detect`] itself.

#[cfg(test)]
mod simulation;
mod table;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use lapwing_stats::{as_f64, median, standard_deviation};

use super::finding::{ChangeKind, Finding};
use super::options::{DetectOptions, DetectRule};
use super::search::Detection;
use super::searched::is_testable;
use super::series::{Histories, HistorySeries};
use super::shared::NORMAL_DEVIATION;
use super::states::UnjudgedReason;

pub use table::NIGHTS_SINCE;
use table::multipliers;

/// The fewest nights since the last change that show the noise of a history.
pub const NIGHTS_FOR_NOISE: usize = 10;
/// Values farther from the level than so many robust standard deviations are drawn in to there.
const FAR: f64 = 3.0;
/// Autocorrelation counts from so many standard errors on.
const CLEAR: f64 = 2.0;
/// Less autocorrelation, on average over the histories of a metric, makes no difference.
const NEGLIGIBLE: f64 = 0.08;
/// The share of nights that may be far from the level: in normal noise it is below 1 %, in that of Student's t with four
/// degrees of freedom 3 %.
const FAR_SHARE: f64 = 0.015;
/// Shorter histories do not show which nights are far from the level.
const LONG: usize = 20;
/// A step smaller than this share of that after three nights is found by the search of all places.
const SEARCHED: f64 = 0.85;
/// The normal quantile of four of five cases.
const FOUR_OF_FIVE: f64 = 0.8416;

/// The noise of a history from night to night.
#[derive(Debug, Clone, PartialEq)]
pub struct NightNoise {
    /// The number of nights since the last change, from which it is estimated.
    pub nights: usize,
    /// Their median, in the metric's unit.
    pub level: f64,
    /// The standard deviation of their logarithms.
    pub deviation: f64,
    /// By [`NIGHTS_SINCE`], the step that is found so many nights later in four of five cases, as a share of the level.
    pub steps: Result<[f64; NIGHTS_SINCE.len()], NoStepReason>,
}

/// Why nothing is said about the noise of a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoNoiseReason {
    /// It was not judged.
    Unjudged(UnjudgedReason),
    /// It has only so many nights since its last change.
    FewNights(usize),
    /// Some values are not positive, so that there are no ratios.
    NotPositive,
    /// At least half of its nights have the same value.
    Equal,
}

/// Why no step is promised, although the noise is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoStepReason {
    /// It changed before: less is found then than in a history that is as long as the nights since.
    Changed,
    /// Nights far from the level are frequent in the histories of the metric.
    HeavyTails,
    /// Nights resemble the nights before, in this history or in those of the metric.
    Autocorrelated,
    /// More histories are judged together than were simulated.
    ManyHistories,
    /// Changes are not looked for in the default way.
    OtherOptions,
}

impl Detection {
    /// Returns the noise of each of the histories that were searched with these options, or why nothing is known of
    /// it.
    ///
    /// The standard deviation is that of the logarithms since the last change, those that are far from the median drawn
    /// in to three robust standard deviations, without the effects of surroundings. The step is exp(d · deviation) − 1,
    /// with d from simulations in which the noise was estimated in the same way from as many nights.
    pub fn night_noise(
        &self,
        histories: &Histories,
        options: &DetectOptions,
    ) -> Vec<Result<NightNoise, NoNoiseReason>> {
        let series = histories.series.iter().enumerate();
        let values = series.map(|(at, series)| match self.states[at].unjudged() {
            Some(reason) => Err(NoNoiseReason::Unjudged(reason)),
            None => self.since_last_change(at, series),
        });
        let values: Vec<Result<Vec<f64>, NoNoiseReason>> = values.collect();
        let families = NightFamily::of(histories, &values);
        let known = histories.series.iter().zip(values);
        let noises = known.map(|(series, values)| {
            let values = values?;
            let deviation = night_deviation(&values).ok_or(NoNoiseReason::Equal)?;
            let family = families.get(series.subject.metric.as_str());
            let family = family.copied().unwrap_or_default();
            Ok(NightNoise {
                nights: values.len(),
                level: median(&values).unwrap_or(0.0).exp(),
                deviation,
                steps: steps(&values, deviation, family, series, options),
            })
        });
        noises.collect()
    }

    /// Returns the logarithms since the last change that surroundings do not explain, without the effects of these.
    fn since_last_change(
        &self,
        at: usize,
        series: &HistorySeries,
    ) -> Result<Vec<f64>, NoNoiseReason> {
        if !series.is_ratio() {
            return Err(NoNoiseReason::NotPositive);
        }
        let of_series = self.findings.iter().filter(|it| it.series == at);
        let last = of_series.filter(|it| it.explained.is_none()).map(settled);
        let last = last.max().unwrap_or(0);
        let first = series.points.partition_point(|it| it.moment < last);
        let mut values = series.scaled();
        for effect in self.surroundings.get(at).into_iter().flatten() {
            for (value, of_point) in values.iter_mut().zip(&effect.values) {
                *value -= of_point.map_or(0.0, |it| effect.effects[it].1.ln());
            }
        }
        let values = values.split_off(first);
        if values.len() < NIGHTS_FOR_NOISE {
            return Err(NoNoiseReason::FewNights(values.len()));
        }
        Ok(values)
    }
}

/// Returns the moment from which on a change is certainly over.
fn settled(finding: &Finding) -> usize {
    let end = *finding.range.end();
    let end = match finding.kind {
        ChangeKind::Drift => end + 1,
        ChangeKind::Step | ChangeKind::Alarm => end,
    };
    finding.went_away.map_or(end, |it| it.max(end))
}

/// The histories of a metric, which are judged together.
#[derive(Debug, Clone, Copy, Default)]
struct NightFamily {
    /// The number of those that are tested.
    histories: usize,
    /// The number of metrics, which share the level.
    metrics: usize,
    /// The number of nights of long histories, and of those that are far from the level.
    nights: usize,
    far: usize,
    /// The sum of the autocorrelations of long histories, each times its nights.
    autocorrelation: f64,
}

impl NightFamily {
    fn of<'h>(
        histories: &'h Histories,
        values: &[Result<Vec<f64>, NoNoiseReason>],
    ) -> BTreeMap<&'h str, Self> {
        let mut families: BTreeMap<&str, Self> = BTreeMap::new();
        for (series, values) in histories.series.iter().zip(values) {
            if !is_testable(series) {
                continue;
            }
            let family = families.entry(&series.subject.metric).or_default();
            family.histories += 1;
            let values = values.as_deref().unwrap_or_default();
            if values.len() >= LONG {
                family.add(values);
            }
        }
        let metrics = families.len();
        families.values_mut().for_each(|it| it.metrics = metrics);
        families
    }

    fn add(&mut self, values: &[f64]) {
        let Some(drawn) = drawn_in(values) else {
            return;
        };
        let pairs = values.iter().zip(&drawn);
        self.far += pairs
            .filter(|(one, other)| one.total_cmp(other).is_ne())
            .count();
        self.nights += values.len();
        self.autocorrelation += as_f64(values.len()) * autocorrelation(values).unwrap_or(0.0);
    }

    fn is_heavy_tailed(self) -> bool {
        as_f64(self.far) > FAR_SHARE * as_f64(self.nights) + 1.0
    }

    fn is_autocorrelated(self) -> bool {
        let nights = as_f64(self.nights);
        self.autocorrelation > (NEGLIGIBLE * nights).max(CLEAR * nights.sqrt())
    }

    /// Returns the steps in terms of the noise.
    ///
    /// Several metrics share the level, which counts like more histories in the search of all places. The test of the
    /// newest three runs then needs a statistic larger by the fourth root of their number, the index of its tail: where
    /// it decides, the step is that of the histories of one metric, larger by as much.
    fn multipliers(self, nights: usize) -> Option<[f64; NIGHTS_SINCE.len()]> {
        let all = multipliers(nights, self.histories * self.metrics)?;
        if self.metrics < 2 {
            return Some(all);
        }
        let newest = multipliers(nights, self.histories)?[0] * as_f64(self.metrics).powf(0.25);
        Some(all.map(|it| {
            if it < SEARCHED * all[0] {
                it.min(newest)
            } else {
                newest
            }
        }))
    }
}

/// Returns the standard deviation of values, those far from their median drawn in; `None` if at least half of them are
/// equal.
fn night_deviation(values: &[f64]) -> Option<f64> {
    standard_deviation(&drawn_in(values)?)
}

fn drawn_in(values: &[f64]) -> Option<Vec<f64>> {
    let centre = median(values)?;
    let distances: Vec<f64> = values.iter().map(|it| (it - centre).abs()).collect();
    let farthest = FAR * NORMAL_DEVIATION * median(&distances)?;
    let drawn = values
        .iter()
        .map(|it| it.clamp(centre - farthest, centre + farthest));
    (farthest > 0.0).then(|| drawn.collect())
}

/// Returns the autocorrelation at lag one, without its bias of −1 / n.
fn autocorrelation(values: &[f64]) -> Option<f64> {
    let (values, number) = (drawn_in(values)?, as_f64(values.len()));
    let mean = values.iter().sum::<f64>() / number;
    let squares: f64 = values.iter().map(|it| (it - mean).powi(2)).sum();
    let pairs = values.windows(2);
    let products: f64 = pairs.map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    Some(products / squares + number.recip())
}

fn steps(
    values: &[f64],
    deviation: f64,
    family: NightFamily,
    series: &HistorySeries,
    options: &DetectOptions,
) -> Result<[f64; NIGHTS_SINCE.len()], NoStepReason> {
    if !is_default(options) {
        return Err(NoStepReason::OtherOptions);
    }
    if values.len() < series.points.len() {
        return Err(NoStepReason::Changed);
    }
    if family.is_heavy_tailed() {
        return Err(NoStepReason::HeavyTails);
    }
    let clear = CLEAR / as_f64(values.len()).sqrt();
    if family.is_autocorrelated() || autocorrelation(values).is_some_and(|it| it > clear) {
        return Err(NoStepReason::Autocorrelated);
    }
    let multipliers = family.multipliers(values.len());
    let multipliers = multipliers.ok_or(NoStepReason::ManyHistories)?;
    let smallest = series.smallest_effect.or(options.smallest_effect);
    let mut steps = [0.0; NIGHTS_SINCE.len()];
    for (at, step) in steps.iter_mut().enumerate() {
        let logarithm = multipliers[at] * deviation;
        // The step that is measured has to exceed the smallest effect.
        let error =
            deviation * (as_f64(NIGHTS_SINCE[at]).recip() + as_f64(values.len()).recip()).sqrt();
        let least = smallest.map_or(0.0, |it| it.ln_1p() + FOUR_OF_FIVE * error);
        *step = logarithm.max(least).exp_m1();
    }
    Ok(steps)
}

/// Returns whether changes are looked for as the simulations did, the smallest effect aside.
fn is_default(options: &DetectOptions) -> bool {
    let usual = DetectOptions::default();
    let rates = [options.false_discovery_rate, usual.false_discovery_rate];
    options.rule == DetectRule::ChangePoint
        && options.minimum_runs.is_none()
        && rates[0].total_cmp(&rates[1]).is_eq()
}
