//! What happened in a series, from the search for steps and the descriptions together.

use std::ops::RangeInclusive;

use super::descriptions::{Descriptions, SeriesShape, step_column};
use super::standardised::{Standardised, drawn_in};
use super::steps::{clear_steps, go_back_and_forth, refined};
use super::straight::{centred_times, residuals};
use crate::changepoint::level::{
    LevelChange, LevelChanges, LevelOptions, clearest_p_value, innovations, level_changes, located,
    may_wander,
};
use crate::describe::squares_around;
use crate::number::as_f64;

/// The shares of the level that the search for steps and the descriptions have.
const SEARCH: f64 = 0.7;
const SHAPES: f64 = 0.3;
/// Fewer values are not described.
const FEWEST: usize = 12;
/// Below so many values steps are also looked for by descriptions if their noise has no long memory.
const FEW: usize = 20;
/// The least p-values of a drift in fewer than 20 and 30 values.
const LEAST_P_VALUES: [(usize, f64); 2] = [(FEW, 0.005), (30, 0.0005)];
/// P(gain > g) is at most this times exp(−g / 2) in quiet noises.
const SCALE: f64 = 0.4;
/// By so much a drift has to be better than wandering.
const DRIFT_NOT_WANDERING: f64 = 5.0;
/// A drift, or wandering, is there without so many of the first or of the last values: those may be outliers.
const ENDS: usize = 2;
/// The largest autocorrelation that is allowed for.
const LARGEST_AUTOCORRELATION: f64 = 0.95;

/// The changes of a series as one description of it.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesChanges {
    /// The steps, in order. None are in a drift, unless it is a line that one step moves.
    pub steps: Vec<LevelChange>,
    /// The slow change, if there is one.
    pub drift: Option<Drift>,
    /// Whether the level wanders, so that no place is one of a change; there are neither steps nor a drift then.
    pub wanders: bool,
    /// The autocorrelation of the values around this description, from 0 to 0.95.
    pub autocorrelation: f64,
    /// What the search for steps says of the noise.
    pub noise: LevelNoise,
}

/// A slow change of the level.
#[derive(Debug, Clone, PartialEq)]
pub struct Drift {
    /// The indices from the last value at the old level to the first at the new one; the first and the last of all values
    /// if the drift is no shorter.
    pub range: RangeInclusive<usize>,
    /// The index at which the slope becomes another in the same direction, if it does.
    pub bend: Option<usize>,
    /// The probability that noise alone has a change as clear as this.
    pub p_value: f64,
}

/// Returns what happened in finite values in the order of time: steps, a drift, both, wandering or nothing.
///
/// The search of [`level_changes`] has 0.7 of the level of false alarms, descriptions of the whole series 0.3; the
/// p-values are divided by these shares, so that they compare with `options.false_alarms`. A description costs ln n for
/// each number in it and more for places, and its noise may have a short memory. Below twelve values, and if all are
/// equal, only the search is used. Series of more than 400 values are described by means of neighbours.
pub fn series_changes(values: &[f64], options: &LevelOptions) -> SeriesChanges {
    if values.len() < FEWEST {
        return of_search(level_changes(values, options));
    }
    let mut found = level_changes(values, &with_share(options, SEARCH));
    for change in &mut found.changes {
        change.p_value /= SEARCH;
    }
    let clipped = drawn_in(values);
    let Some(series) = Standardised::of(values, &clipped) else {
        return of_search(found);
    };
    let history = History {
        values,
        clipped: &clipped,
        width: series.width,
        options,
    };
    history.changes(&Descriptions::of(&series), series.values.len(), found)
}

fn of_search(found: LevelChanges) -> SeriesChanges {
    SeriesChanges {
        steps: found.changes,
        drift: None,
        wanders: false,
        autocorrelation: found.autocorrelation,
    }
}

fn with_share(options: &LevelOptions, share: f64) -> LevelOptions {
    LevelOptions {
        false_alarms: share * options.false_alarms,
        ..*options
    }
}

/// Returns the probability that a quiet series gains so much by a description.
pub(super) fn p_value_of(gain: f64) -> f64 {
    (SCALE * (-gain / 2.0).exp()).min(1.0)
}

/// What a series is described by besides one level.
struct History<'a> {
    values: &'a [f64],
    clipped: &'a [f64],
    /// The number of values per value of the descriptions.
    width: usize,
    options: &'a LevelOptions,
}

impl History<'_> {
    /// Returns the first verdict that holds: a drift, steps that the descriptions find, wandering, else what the search
    /// found.
    fn changes(
        &self,
        descriptions: &Descriptions,
        described: usize,
        found: LevelChanges,
    ) -> SeriesChanges {
        let (Some(steps), Some(drift)) = (descriptions.best_steps(), descriptions.best_drift())
        else {
            return of_search(found);
        };
        let each = as_f64(described).ln();
        let level = SHAPES * self.options.false_alarms;
        let wandering = descriptions.wandering;
        let gain = steps.gain.max(drift.gain);
        let p_value = p_value_of(gain);
        let places = match &steps.shape {
            SeriesShape::Steps(places) => places.as_slice(),
            _ => &[],
        };
        // One step costs 3 ln n as evidence and 2 ln n as a name, for its size and its place.
        let credit = if places.len() == 1 { each } else { 0.0 };
        let is_step = steps.gain + credit > drift.gain;
        let of_drift = self.least_p_value().max(p_value);
        if !is_step && of_drift <= level && drift.gain - wandering >= DRIFT_NOT_WANDERING {
            let left = |it: &Descriptions| it.best_drift().map_or(1.0, |it| p_value_of(it.gain));
            let without_ends = self.without_ends();
            let of_drift = without_ends
                .iter()
                .map(|(it, _)| left(it))
                .fold(of_drift, f64::max);
            if of_drift <= level {
                return self.with_drift(&drift.shape, of_drift / SHAPES, found.changes);
            }
        }
        let is_hidden = self.values.len() < FEW || may_wander(self.values);
        if is_step && p_value <= level && steps.gain > wandering && is_hidden {
            let places = refined(self.clipped, places, self.width);
            let places = clear_steps(self.values, places);
            if go_back_and_forth(self.values, &places) {
                return self.wandering();
            }
            if let Some(steps) = self.confirmed(&places, p_value, &found.changes) {
                return self.with_steps(steps);
            }
        }
        let places: Vec<usize> = found.changes.iter().map(|change| change.index).collect();
        let against = if places.len() <= 1 { 1.0 } else { -2.0 };
        let wanders = |it: &Descriptions, described: usize| {
            let gains = [it.best_steps(), it.best_drift()];
            let gain = gains
                .into_iter()
                .flatten()
                .map(|it| it.gain)
                .fold(f64::NEG_INFINITY, f64::max);
            let each = as_f64(described).ln();
            it.wandering >= 1.5 * each - 2.0 && it.wandering >= gain + against
        };
        let is_slow = wanders(descriptions, described)
            && (self.without_ends().iter()).all(|(it, described)| wanders(it, *described));
        if is_slow || go_back_and_forth(self.values, &places) {
            return self.wandering();
        }
        self.with_steps(found.changes)
    }

    /// Returns the descriptions without the first and without the last of the values, and how many they describe.
    fn without_ends(&self) -> Vec<(Descriptions, usize)> {
        let last = self.values.len() - ENDS;
        let parts = [&self.values[ENDS..], &self.values[..last]].into_iter();
        let described = parts.filter_map(|values| {
            let series = Standardised::of(values, &drawn_in(values))?;
            Some((Descriptions::of(&series), series.values.len()))
        });
        described.collect()
    }

    fn least_p_value(&self) -> f64 {
        let few = |(below, _): &&(usize, f64)| self.values.len() < *below;
        LEAST_P_VALUES
            .iter()
            .find(few)
            .map_or(0.0, |(_, least)| *least)
    }

    /// Returns steps at these places if ranks confirm that there is a change, autocorrelation allowed for.
    fn confirmed(
        &self,
        places: &[usize],
        p_value: f64,
        found: &[LevelChange],
    ) -> Option<Vec<LevelChange>> {
        let columns = step_columns(places, self.values.len());
        let around = residuals(self.values, &columns);
        let autocorrelation = autocorrelation_around(&around, places.len() + 1);
        let error = as_f64(self.values.len()).sqrt().recip();
        let removed = if autocorrelation > error {
            autocorrelation + error
        } else {
            0.0
        };
        let options = with_share(self.options, SHAPES);
        let left = innovations(self.values, removed);
        let p_value = p_value.max(clearest_p_value(&left, &options)?) / SHAPES;
        let mut steps = located(&left, places, p_value, &options);
        for step in &mut steps {
            let same = found.iter().filter(|it| it.range.contains(&step.index));
            step.p_value = same.map(|it| it.p_value).fold(step.p_value, f64::min);
        }
        Some(steps)
    }

    fn with_drift(
        &self,
        shape: &SeriesShape,
        p_value: f64,
        mut found: Vec<LevelChange>,
    ) -> SeriesChanges {
        let last = self.values.len() - 1;
        let shape = self.in_full(shape);
        let (range, bend) = match &shape {
            SeriesShape::Ramp([from, to]) => (*from..=*to, None),
            SeriesShape::Bend(bend) => (0..=last, Some(*bend)),
            SeriesShape::Line | SeriesShape::LineAndStep(_) | SeriesShape::Steps(_) => {
                (0..=last, None)
            }
        };
        let is_in = |change: &LevelChange| {
            change.range.start() <= range.end() && range.start() <= change.range.end()
        };
        let inside = found.iter().filter(|change| is_in(change));
        let p_value = inside.map(|it| it.p_value).fold(p_value, f64::min);
        found.retain(|change| !is_in(change));
        let mut columns = shape.columns(self.values.len());
        if let SeriesShape::LineAndStep(step) = shape {
            found = located(
                &less_line(self.clipped, step),
                &[step],
                p_value,
                self.options,
            );
        }
        let places: Vec<usize> = found.iter().map(|change| change.index).collect();
        columns.extend(step_columns(&places, self.values.len()));
        SeriesChanges {
            steps: found,
            drift: Some(Drift {
                range,
                bend,
                p_value,
            }),
            wanders: false,
            autocorrelation: self.autocorrelation(&columns),
        }
    }

    /// Returns the shape with indices of the values themselves.
    fn in_full(&self, shape: &SeriesShape) -> SeriesShape {
        let last = self.values.len() - 1;
        let bins = self.values.len() / self.width;
        let middle = |at: usize| match at {
            0 => 0,
            at if at + 1 == bins => last,
            at => at * self.width + self.width / 2,
        };
        match shape {
            SeriesShape::Steps(places) => {
                SeriesShape::Steps(refined(self.clipped, places, self.width))
            }
            SeriesShape::Line => SeriesShape::Line,
            SeriesShape::Ramp(ends) => SeriesShape::Ramp(ends.map(middle)),
            SeriesShape::Bend(bend) => SeriesShape::Bend(middle(*bend)),
            SeriesShape::LineAndStep(step) => SeriesShape::LineAndStep(step * self.width),
        }
    }

    fn with_steps(&self, steps: Vec<LevelChange>) -> SeriesChanges {
        let places: Vec<usize> = steps.iter().map(|change| change.index).collect();
        let columns = step_columns(&places, self.values.len());
        SeriesChanges {
            steps,
            drift: None,
            wanders: false,
            autocorrelation: self.autocorrelation(&columns),
        }
    }

    fn wandering(&self) -> SeriesChanges {
        SeriesChanges {
            steps: Vec::new(),
            drift: None,
            wanders: true,
            autocorrelation: self.autocorrelation(&[]),
        }
    }

    fn autocorrelation(&self, columns: &[Vec<f64>]) -> f64 {
        let [all, left] = [&[], columns].map(|columns| residuals(self.clipped, columns));
        // Nothing but rounding errors has none.
        if squares_around(&left, 0.0) <= 1e-20 * squares_around(&all, 0.0) {
            return 0.0;
        }
        autocorrelation_around(&left, columns.len() + 1)
    }
}

fn step_columns(places: &[usize], length: usize) -> Vec<Vec<f64>> {
    places.iter().map(|at| step_column(*at, length)).collect()
}

/// Returns the values less the line of the line with a step that describes them.
fn less_line(values: &[f64], step: usize) -> Vec<f64> {
    let step = [step_column(step, values.len())];
    let line = centred_times(values.len());
    let [left, of_line] = [values, &line].map(|it| residuals(it, &step));
    let product: f64 = left
        .iter()
        .zip(&of_line)
        .map(|(one, other)| one * other)
        .sum();
    let slope = product / squares_around(&of_line, 0.0);
    let pairs = values.iter().zip(&line);
    pairs.map(|(value, time)| value - slope * time).collect()
}

/// Returns the lag-one autocorrelation of residuals around so many fitted terms, less their bias, from 0 to 0.95.
///
/// The bias of r is about −(k + 4 ρ) / n with k terms. Source: Marriott & Pope, *Biometrika* 1954.
pub(super) fn autocorrelation_around(residuals: &[f64], terms: usize) -> f64 {
    let squares: f64 = residuals.iter().map(|it| it * it).sum();
    if squares <= 0.0 {
        return 0.0;
    }
    let products = residuals.windows(2).map(|pair| pair[0] * pair[1]);
    let raw = products.sum::<f64>() / squares;
    let corrected = raw + (as_f64(terms) + 4.0 * raw) / as_f64(residuals.len());
    corrected.clamp(0.0, LARGEST_AUTOCORRELATION)
}
