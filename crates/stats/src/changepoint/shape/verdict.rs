//! What happened in a series, from the search for steps and the descriptions together.

use std::ops::{Range, RangeInclusive};

use super::described::{Described, FoundDrift, less_line};
use super::descriptions::{SeriesShape, step_column};
use super::slope::slope;
use super::steps::{clear_steps, go_back_and_forth};
use super::straight::{dot, residuals};
use crate::changepoint::level::{
    LevelChange, LevelChanges, LevelNoise, LevelOptions, clearest_p_value, innovations,
    level_changes, located, may_wander,
};
use crate::number::as_f64;

/// The share of the level that the descriptions have; the search for steps has all, and spends about half of it.
const SHAPES: f64 = 0.4;
/// Fewer values are not described.
const FEWEST: usize = 12;
/// Below so many values the search sees little: descriptions look for steps as well.
const FEW: usize = 20;
/// A drift beside steps has at least so many values.
const SHORTEST_PART: usize = 30;
/// So many equal values at an end are a level without noise.
const FEW_EQUAL: usize = 5;
/// The largest autocorrelation that is allowed for.
const LARGEST_AUTOCORRELATION: f64 = 0.95;

/// The changes of a series as one description of it.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesChanges {
    /// The steps, in order. None are within the drift, unless it is a line that one step moves.
    pub steps: Vec<LevelChange>,
    /// The slow change, if there is one.
    pub drift: Option<Drift>,
    /// Whether the level wanders, so that no place is one of a change; there are neither steps nor a drift then.
    pub wanders: bool,
    /// The autocorrelation of the values around this description plus its standard error, at most 0.95; 0 if it is not
    /// larger than that error.
    pub autocorrelation: f64,
    /// The noise estimated by the search for steps.
    pub noise: LevelNoise,
}

/// A slow change of the level.
#[derive(Debug, Clone, PartialEq)]
pub struct Drift {
    /// The indices from the last value at the old level to the first at the new one. If it goes on up to a step or an end
    /// of the series, it ends there.
    pub range: RangeInclusive<usize>,
    /// The last index at which the slope becomes another in the same direction, if it does.
    pub bend: Option<usize>,
    /// The probability that noise alone has a change as clear as this.
    pub p_value: f64,
}

/// Returns what happened in finite values in the order of time: steps, a drift, both, wandering or nothing.
///
/// The search of [`level_changes`] has the level of false alarms, of which it spends about half, and descriptions of the
/// whole series 0.4 of it; their p-values are divided by this, so that they compare with `options.false_alarms`. A description costs ln n for
/// each number in it and more for places, and its noise may have a short memory. Below twelve values, and if all are
/// equal, only the search is used. Series of more than 400 values are described by means of neighbours.
///
/// ```
/// use lapwing_stats::changepoint::{LevelOptions, series_changes};
/// let values: Vec<f64> = (0..60).map(|run| f64::from(run) + f64::from(run * 7 % 5)).collect();
/// let drift = series_changes(&values, &LevelOptions::default()).drift;
/// assert!(drift.is_some_and(|drift| drift.p_value < 1e-9));
/// ```
pub fn series_changes(values: &[f64], options: &LevelOptions) -> SeriesChanges {
    if values.len() < FEWEST {
        return of_search(level_changes(values, options));
    }
    let found = level_changes(values, options);
    let noise = found.noise;
    match Described::of(values) {
        Some(described) => SearchedHistory {
            values,
            described,
            options: with_share(options, SHAPES),
            noise,
        }
        .changes(found.changes),
        None => of_search(found),
    }
}

fn of_search(found: LevelChanges) -> SeriesChanges {
    SeriesChanges {
        steps: found.changes,
        drift: None,
        wanders: false,
        autocorrelation: found.autocorrelation,
        noise: found.noise,
    }
}

fn with_share(options: &LevelOptions, share: f64) -> LevelOptions {
    LevelOptions {
        false_alarms: share * options.false_alarms,
        ..*options
    }
}

struct SearchedHistory<'a> {
    values: &'a [f64],
    described: Described<'a>,
    /// What counts as a change, with the share of the level that descriptions have.
    options: LevelOptions,
    noise: LevelNoise,
}

impl SearchedHistory<'_> {
    /// Returns the first verdict that holds: a drift, steps that the descriptions see, wandering, else what the search
    /// found.
    fn changes(&self, found: Vec<LevelChange>) -> SeriesChanges {
        let described = &self.described;
        let drift = described.drift(self.options.false_alarms);
        if let Some(drift) = drift.filter(|drift| !leaves_constant(self.values, drift)) {
            return self.with_drift(&drift, 0..self.values.len(), found);
        }
        let is_hidden = self.values.len() < FEW || may_wander(self.values);
        let is_clear = || {
            described.p_value() <= self.options.false_alarms
                && described.gain_of_steps() > described.wandering()
        };
        if is_hidden && described.has_steps() && is_clear() {
            let places = clear_steps(self.values, &described.places());
            if go_back_and_forth(self.values, &places) {
                return self.verdict(Vec::new(), None, &[], true);
            }
            if let Some(steps) = self.confirmed(&places, &found) {
                return self.with_steps(steps);
            }
        }
        let places = places(&found);
        let against = if places.len() <= 1 { 1.0 } else { -2.0 };
        let is_slow = described.wanders(against);
        let clear = clear_steps(self.values, &places);
        if is_slow || go_back_and_forth(self.values, &clear) {
            return self.verdict(Vec::new(), None, &[], true);
        }
        self.with_steps(found)
    }

    /// Returns steps at these places if ranks confirm that there is a change, autocorrelation allowed for.
    fn confirmed(&self, places: &[usize], found: &[LevelChange]) -> Option<Vec<LevelChange>> {
        let around = residuals(self.values, &self.step_columns(places));
        let removed = cautious_autocorrelation(&around, places.len() + 1);
        let left = innovations(self.values, removed);
        let p_value = clearest_p_value(&left, &self.options)?.max(self.described.p_value());
        let mut steps = located(
            self.values,
            removed,
            places,
            p_value / SHAPES,
            &self.options,
        );
        for step in &mut steps {
            let same = found.iter().filter(|it| it.range.contains(&step.index));
            step.p_value = same.map(|it| it.p_value).fold(step.p_value, f64::min);
        }
        Some(steps)
    }

    /// Returns steps, and a drift after one of them or before one, if there is one.
    fn with_steps(&self, steps: Vec<LevelChange>) -> SeriesChanges {
        let places = places(&steps);
        let after = places.iter().map(|start| *start..self.values.len());
        let before = places.iter().rev().map(|end| 0..*end);
        let parts: Vec<Range<usize>> = after
            .chain(before)
            .filter(|part| part.len() >= SHORTEST_PART)
            .collect();
        let level = self.options.false_alarms / as_f64(parts.len().max(1));
        let drift = parts.iter().find_map(|part| {
            let values = &self.values[part.clone()];
            let mut drift = Described::of(values)?.drift(level)?;
            if leaves_constant(values, &drift) {
                return None;
            }
            drift.p_value *= as_f64(parts.len());
            Some((drift, part.clone()))
        });
        match drift {
            Some((drift, part)) => self.with_drift(&drift, part, steps),
            None => self.verdict(steps, None, &self.step_columns(&places), false),
        }
    }

    /// Returns a drift in a part of the series, and those of the steps that are outside of it.
    fn with_drift(
        &self,
        drift: &FoundDrift,
        part: Range<usize>,
        mut found: Vec<LevelChange>,
    ) -> SeriesChanges {
        let start = part.start;
        let range = start + drift.range.start()..=start + drift.range.end();
        let bend = drift.bend.map(|bend| start + bend);
        let is_in = |change: &LevelChange| {
            let is_in_part = start < change.index && change.index < part.end;
            let is_near =
                change.range.start() <= range.end() && range.start() <= change.range.end();
            is_in_part && is_near
        };
        let inside = found.iter().filter(|change| is_in(change));
        let p_value = inside
            .map(|it| it.p_value)
            .fold(drift.p_value / SHAPES, f64::min);
        found.retain(|change| !is_in(change));
        if let SeriesShape::LineAndStep(step) = drift.shape {
            let left = less_line(&self.described.drawn_in[part.clone()], step);
            let mut own = located(&left, 0.0, &[step], p_value, &self.options);
            for change in &mut own {
                change.index += start;
                change.range = start + change.range.start()..=start + change.range.end();
            }
            found.extend(own);
            found.sort_by_key(|change| change.index);
        }
        // Outside of its part the shape is level.
        let columns = drift.shape.columns(part.len()).into_iter().map(|column| {
            let mut all = vec![0.0; self.values.len()];
            all[part.clone()].copy_from_slice(&column);
            all
        });
        let steps = self.step_columns(&places(&found));
        let columns: Vec<Vec<f64>> = columns.chain(steps).collect();
        let drift = Drift {
            range,
            bend,
            p_value,
        };
        self.verdict(found, Some(drift), &columns, false)
    }

    fn step_columns(&self, places: &[usize]) -> Vec<Vec<f64>> {
        let column = |step: &usize| step_column(*step, self.values.len());
        places.iter().map(column).collect()
    }

    /// Returns a verdict, with the autocorrelation around a level and these columns.
    fn verdict(
        &self,
        steps: Vec<LevelChange>,
        drift: Option<Drift>,
        columns: &[Vec<f64>],
        wanders: bool,
    ) -> SeriesChanges {
        let [all, left] =
            [&[], columns].map(|columns| residuals(&self.described.drawn_in, columns));
        // Nothing but rounding errors has none.
        let is_noise = dot(&left, &left) > 1e-20 * dot(&all, &all);
        SeriesChanges {
            steps,
            drift,
            wanders,
            noise: self.noise,
            autocorrelation: if is_noise {
                cautious_autocorrelation(&left, columns.len() + 1)
            } else {
                0.0
            },
        }
    }
}

/// Returns whether a drift begins at values that are all equal, or ends at such, and has no clear slope itself. Equal
/// values have no noise, so that any beginning of others looks slow beside them: counts after zeros, `0, 0, 0, 3, 5, 4`.
fn leaves_constant(values: &[f64], drift: &FoundDrift) -> bool {
    let (start, end) = (*drift.range.start(), *drift.range.end());
    let number = values.len();
    let (first, last) = (values[0], values[number - 1]);
    let before = values
        .iter()
        .take_while(|it| it.total_cmp(&first).is_eq())
        .count();
    let backwards = values.iter().rev();
    let after = backwards
        .take_while(|it| it.total_cmp(&last).is_eq())
        .count();
    let is_beside = before >= FEW_EQUAL && before + FEW_EQUAL > start
        || after >= FEW_EQUAL && number - after < end + FEW_EQUAL;
    let changing = start.max(before)..(end + 1).min(number - after);
    let changing = values.get(changing).unwrap_or_default();
    let times: Vec<f64> = (0..changing.len()).map(as_f64).collect();
    let is_slow = slope(changing, &times)
        .is_some_and(|slope| slope.interval.lower > 0.0 || slope.interval.upper < 0.0);
    is_beside && !is_slow
}

fn places(changes: &[LevelChange]) -> Vec<usize> {
    changes.iter().map(|change| change.index).collect()
}

/// Returns the lag-one autocorrelation of residuals around so many fitted terms plus its standard error 1 / √n; 0 if it is
/// not larger than that.
fn cautious_autocorrelation(residuals: &[f64], terms: usize) -> f64 {
    let autocorrelation = autocorrelation_around(residuals, terms);
    let error = as_f64(residuals.len()).sqrt().recip();
    if autocorrelation <= error {
        return 0.0;
    }
    (autocorrelation + error).min(LARGEST_AUTOCORRELATION)
}

/// Returns the lag-one autocorrelation of residuals around so many fitted terms, less its bias, from 0 to 0.95.
///
/// The bias is about −(k + 4 ρ) / n with k terms. Source: Marriott & Pope, *Biometrika* 1954.
pub(super) fn autocorrelation_around(residuals: &[f64], terms: usize) -> f64 {
    let squares = dot(residuals, residuals);
    if squares <= 0.0 {
        return 0.0;
    }
    let raw = dot(residuals, &residuals[1..]) / squares;
    let corrected = raw + (as_f64(terms) + 4.0 * raw) / as_f64(residuals.len());
    corrected.clamp(0.0, LARGEST_AUTOCORRELATION)
}
