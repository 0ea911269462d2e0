//! A series with all its descriptions, and what they say of it alone.

use std::ops::RangeInclusive;

use super::descriptions::{Description, Descriptions, SeriesShape, step_column};
use super::standardised::{Standardised, drawn_in};
use super::steps::refined;
use super::straight::{StraightFits, centred_times, dot, residuals, sloping_corners};
use crate::number::as_f64;

/// P(gain > g) is at most this times exp(−g / 2) in quiet noises.
const SCALE: f64 = 0.4;
/// By so much a drift has to be better than wandering.
const DRIFT_NOT_WANDERING: f64 = 5.0;
/// A walk is hardly ever so straight that a drift leaves no more than this share of its squares.
const STRAIGHT: f64 = 0.005;
/// A drift, or wandering, is there without so many of the first or of the last values: those may be outliers.
const ENDS: usize = 2;
/// Below so many values the p-value of a drift is not smaller than this: the shares of quiet noises that gain as much.
const LEAST_P_VALUES: [(usize, f64); 2] = [(20, 0.005), (30, 0.0005)];

/// A series with its descriptions.
pub(super) struct Described<'a> {
    values: &'a [f64],
    /// The values with far ones drawn in.
    pub(super) drawn_in: Vec<f64>,
    /// ln n of the values of the descriptions.
    pub(super) each: f64,
    descriptions: Descriptions,
}

/// A drift that describes a series best.
pub(super) struct FoundDrift {
    /// Its shape, with indices of the values.
    pub(super) shape: SeriesShape,
    /// The indices from the last value at the old level to the first at the new one.
    pub(super) range: RangeInclusive<usize>,
    /// The last index at which the slope becomes another one.
    pub(super) bend: Option<usize>,
    /// The probability that a quiet series gains as much.
    pub(super) p_value: f64,
}

impl<'a> Described<'a> {
    /// Describes at least three values; none if they are constant.
    pub(super) fn of(values: &'a [f64]) -> Option<Self> {
        let drawn_in = drawn_in(values);
        let descriptions = Descriptions::of(Standardised::of(values, &drawn_in)?);
        Some(Self {
            values,
            each: as_f64(descriptions.length()).ln(),
            descriptions,
            drawn_in,
        })
    }

    /// Returns the places of the best description by steps.
    pub(super) fn places(&self) -> Vec<usize> {
        match self.descriptions.best_steps().map(|steps| &steps.shape) {
            Some(SeriesShape::Steps(places)) => {
                refined(&self.drawn_in, places, self.descriptions.width())
            }
            _ => Vec::new(),
        }
    }

    /// Returns the gain of the best description by steps.
    pub(super) fn gain_of_steps(&self) -> f64 {
        gain(self.descriptions.best_steps())
    }

    fn gain_of_drift(&self) -> f64 {
        gain(self.descriptions.best_drift())
    }

    /// Returns the gain of wandering.
    pub(super) fn wandering(&self) -> f64 {
        self.descriptions.wandering()
    }

    /// Returns the gain of the best description.
    pub(super) fn gain(&self) -> f64 {
        self.gain_of_steps().max(self.gain_of_drift())
    }

    /// Returns the probability that a quiet series gains as much by its best description.
    pub(super) fn p_value(&self) -> f64 {
        by_chance(self.gain())
    }

    /// Returns whether steps rather than a drift describe the series. One step costs 3 ln n as evidence and 2 ln n as a
    /// name, for its size and its place.
    pub(super) fn has_steps(&self) -> bool {
        let steps = self.descriptions.best_steps();
        let is_one = steps.is_some_and(|steps| steps.shape.terms() == 1);
        let credit = if is_one { self.each } else { 0.0 };
        gain(steps) + credit > self.gain_of_drift()
    }

    /// Returns whether the level wanders rather than anything else, better than the best description by this much.
    pub(super) fn wanders(&self, against: f64) -> bool {
        let is_slow = |it: &Self| {
            // The search for steps takes longest.
            it.wandering() >= 1.5 * it.each - 2.0
                && it.wandering() >= it.gain_of_drift() + against
                && it.wandering() >= it.gain_of_steps() + against
        };
        is_slow(self) && self.without_ends().iter().all(is_slow)
    }

    /// Describes the series without its first values, and without its last ones.
    fn without_ends(&self) -> Vec<Self> {
        let last = self.values.len() - ENDS;
        let parts = [&self.values[ENDS..], &self.values[..last]];
        parts.into_iter().filter_map(Self::of).collect()
    }

    /// Returns the drift, if one describes the series better than steps and wandering do, and not by chance at this level.
    pub(super) fn drift(&self, level: f64) -> Option<FoundDrift> {
        let drift = self.descriptions.best_drift()?;
        let few = |(below, _): &&(usize, f64)| self.values.len() < *below;
        let least = LEAST_P_VALUES.iter().find(few);
        let p_value = by_chance(drift.gain).max(least.map_or(0.0, |(_, least)| *least));
        let wanders =
            || drift.gain - self.wandering() < DRIFT_NOT_WANDERING && drift.left > STRAIGHT;
        if p_value > level || wanders() || self.has_steps() {
            return None;
        }
        let ends = self.without_ends();
        let of_ends = ends.iter().map(|it| by_chance(it.gain_of_drift()));
        let p_value = of_ends.fold(p_value, f64::max);
        (p_value <= level).then(|| {
            let shape = self.in_full(&drift.shape);
            let (range, bend) = self.extent(&shape);
            FoundDrift {
                shape,
                range,
                bend,
                p_value,
            }
        })
    }

    /// Returns where a drift begins and ends, and where it bends last.
    fn extent(&self, shape: &SeriesShape) -> (RangeInclusive<usize>, Option<usize>) {
        let last = self.values.len() - 1;
        match shape {
            SeriesShape::Ramp([from, to]) => (*from..=*to, None),
            SeriesShape::Bends(bends) => match sloping_corners(&self.drawn_in, bends)[..] {
                [from, .., bend, to] => (from..=to, Some(bend)),
                [from, to] => (from..=to, None),
                _ => (0..=last, None),
            },
            SeriesShape::Line | SeriesShape::LineAndStep(_) | SeriesShape::Steps(_) => {
                (0..=last, None)
            }
        }
    }

    /// Returns the shape of the drift with indices of the values themselves.
    fn in_full(&self, drift: &SeriesShape) -> SeriesShape {
        let width = self.descriptions.width();
        let last = self.values.len() - 1;
        let bins = self.values.len() / width;
        let middle = |at: usize| match at {
            0 => 0,
            at if at + 1 == bins => last,
            at => at * width + width / 2,
        };
        match drift {
            SeriesShape::Ramp(ends) => {
                let fits = StraightFits::of(&residuals(&self.drawn_in, &[]));
                SeriesShape::Ramp(fits.refined_ramp(ends.map(middle)))
            }
            SeriesShape::Bends(bends) => {
                SeriesShape::Bends(bends.iter().map(|bend| middle(*bend)).collect())
            }
            SeriesShape::LineAndStep(step) => {
                // Its place is known from what the line leaves.
                let left = less_line(&self.drawn_in, step * width);
                SeriesShape::LineAndStep(refined(&left, &[*step], width)[0])
            }
            SeriesShape::Line | SeriesShape::Steps(_) => SeriesShape::Line,
        }
    }
}

fn gain(description: Option<&Description>) -> f64 {
    description.map_or(f64::NEG_INFINITY, |it| it.gain)
}

/// Returns the probability that a quiet series gains as much.
fn by_chance(gain: f64) -> f64 {
    (SCALE * (-gain / 2.0).exp()).min(1.0)
}

/// Returns the values less the line of the line with a step that describes them.
pub(super) fn less_line(values: &[f64], step: usize) -> Vec<f64> {
    let step = [step_column(step, values.len())];
    let line = centred_times(values.len());
    let [left, of_line] = [values, &line].map(|it| residuals(it, &step));
    let slope = dot(&left, &of_line) / dot(&of_line, &of_line);
    let pairs = values.iter().zip(&line);
    pairs.map(|(value, time)| value - slope * time).collect()
}
