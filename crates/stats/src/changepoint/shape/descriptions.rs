//! How much better than one level other descriptions are.

use std::cell::OnceCell;

use super::memory::{LONG, SHORT, least};
use super::segments::best_segments;
use super::standardised::Standardised;
use super::straight::{StraightFits, bend_column, bends, centred_times, dot, residuals};
use crate::number::as_f64;

/// A series has at most so many steps.
const MOST_STEPS: usize = 10;
/// From so many values on a line may have a step.
const FROM_LINE_AND_STEP: usize = 20;

/// What a series may look like.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum SeriesShape {
    /// Levels, which begin at these indices after the first.
    Steps(Vec<usize>),
    /// A straight line.
    Line,
    /// A level up to and at the first index, a slope, and another level from the second index on.
    Ramp([usize; 2]),
    /// Lines that meet at these indices and go in one direction.
    Bends(Vec<usize>),
    /// A line that is moved from this index on.
    LineAndStep(usize),
}

/// A description of a series, and by how much it is better than one level.
#[derive(Debug, Clone)]
pub(super) struct Description {
    pub(super) shape: SeriesShape,
    /// The gain in −2 ln likelihood, less what the shape costs.
    pub(super) gain: f64,
    /// The share of the sum of squares around the level that is left.
    pub(super) left: f64,
}

/// The descriptions of a series, each made when it is asked for: most of a quiet series is never needed.
#[derive(Debug)]
pub(super) struct Descriptions {
    series: Standardised,
    /// The values around one level.
    level: Vec<f64>,
    /// −2 ln likelihood of one level.
    of_level: f64,
    steps: OnceCell<Vec<Description>>,
    drifts: OnceCell<Vec<Description>>,
    wandering: OnceCell<f64>,
}

impl Descriptions {
    pub(super) fn of(series: Standardised) -> Self {
        let level = residuals(&series.values, &[]);
        Self {
            of_level: least(&level, &SHORT, series.floor),
            level,
            series,
            steps: OnceCell::new(),
            drifts: OnceCell::new(),
            wandering: OnceCell::new(),
        }
    }

    /// Returns the number of values that are described.
    pub(super) fn length(&self) -> usize {
        self.series.values.len()
    }

    /// Returns the number of values of the series per value that is described.
    pub(super) fn width(&self) -> usize {
        self.series.width
    }

    /// Returns one description for each number of steps.
    pub(super) fn steps(&self) -> &[Description] {
        self.steps.get_or_init(|| {
            let most = (self.length() / 3).saturating_sub(1).clamp(1, MOST_STEPS);
            let steps = best_segments(&self.series.values, most).into_iter();
            let steps = steps.map(SeriesShape::Steps);
            steps.map(|shape| self.describe(shape)).collect()
        })
    }

    /// Returns the lines and ramps.
    pub(super) fn drifts(&self) -> &[Description] {
        self.drifts.get_or_init(|| {
            let (values, length) = (&self.series.values, self.length());
            let fits = StraightFits::of(values);
            let ramp = fits.ramp().filter(|ends| *ends != [0, length - 1]);
            let step = fits.step_on_line().filter(|_| length >= FROM_LINE_AND_STEP);
            let drifts = [SeriesShape::Line]
                .into_iter()
                .chain(ramp.map(SeriesShape::Ramp))
                .chain(bends(values).into_iter().map(SeriesShape::Bends))
                .chain(step.map(SeriesShape::LineAndStep));
            drifts.map(|shape| self.describe(shape)).collect()
        })
    }

    /// Returns the gain of noise with a long memory around one level.
    pub(super) fn wandering(&self) -> f64 {
        *self.wandering.get_or_init(|| {
            let gained = self.of_level - least(&self.level, &LONG, self.series.floor);
            gained * worth(self.length(), 0)
        })
    }

    /// Returns the best description by steps.
    pub(super) fn best_steps(&self) -> Option<&Description> {
        best(self.steps())
    }

    /// Returns the best description by lines.
    pub(super) fn best_drift(&self) -> Option<&Description> {
        best(self.drifts())
    }

    fn describe(&self, shape: SeriesShape) -> Description {
        let length = self.length();
        let left = shape.residuals(&self.series.values);
        let gained = self.of_level - least(&left, &SHORT, self.series.floor);
        Description {
            gain: gained * worth(length, shape.terms()) - shape.penalty(length),
            left: dot(&left, &left) / dot(&self.level, &self.level),
            shape,
        }
    }
}

fn best(descriptions: &[Description]) -> Option<&Description> {
    descriptions
        .iter()
        .max_by(|one, other| one.gain.total_cmp(&other.gain))
}

/// What a gain with so many terms is worth, since the terms fit some of the noise.
fn worth(length: usize, terms: usize) -> f64 {
    let length = as_f64(length);
    (length - as_f64(terms) - 2.0) / length
}

impl SeriesShape {
    /// Returns the number of terms besides the level.
    pub(super) fn terms(&self) -> usize {
        match self {
            Self::Steps(steps) => steps.len(),
            Self::Line => 1,
            Self::Ramp(_) => 2,
            Self::Bends(bends) => 1 + bends.len(),
            Self::LineAndStep(_) => 3,
        }
    }

    /// Returns what it costs in a series of so many values: ln n for a number, and more for a place that was chosen.
    fn penalty(&self, length: usize) -> f64 {
        let each = as_f64(length).ln();
        match self {
            Self::Steps(steps) => {
                let ends = steps.iter().copied().chain([length]);
                let starts = [0].into_iter().chain(steps.iter().copied());
                let share = |(start, end): (usize, usize)| as_f64(end - start) / as_f64(length);
                let shares: f64 = starts.zip(ends).map(|part| share(part).ln()).sum();
                3.0 * as_f64(steps.len()) * each + shares
            }
            Self::Line => each,
            Self::Ramp([from, to]) => {
                let ends_inside = usize::from(*from > 0) + usize::from(*to + 1 < length);
                each * as_f64(1 + ends_inside)
            }
            Self::Bends(bends) => each * as_f64(1 + 2 * bends.len()),
            Self::LineAndStep(_) => 4.0 * each,
        }
    }

    /// Returns what the shape leaves of the values by least squares.
    fn residuals(&self, values: &[f64]) -> Vec<f64> {
        match self {
            Self::Steps(steps) => around_levels(values, steps),
            Self::Line | Self::Ramp(_) | Self::Bends(_) | Self::LineAndStep(_) => {
                residuals(values, &self.columns(values.len()))
            }
        }
    }

    /// Returns what is fitted besides the level.
    pub(super) fn columns(&self, length: usize) -> Vec<Vec<f64>> {
        match self {
            Self::Steps(steps) => steps.iter().map(|at| step_column(*at, length)).collect(),
            Self::Line => vec![centred_times(length)],
            Self::Ramp([from, to]) => {
                let rise = as_f64(to - from);
                let height = |at: usize| as_f64(at.clamp(*from, *to) - from) / rise;
                vec![(0..length).map(height).collect()]
            }
            Self::Bends(bends) => {
                let bends = bends.iter().map(|bend| bend_column(*bend, length));
                [centred_times(length)].into_iter().chain(bends).collect()
            }
            Self::LineAndStep(step) => vec![centred_times(length), step_column(*step, length)],
        }
    }
}

/// Returns 0 before a step and 1 from it on.
pub(super) fn step_column(step: usize, length: usize) -> Vec<f64> {
    (0..length)
        .map(|at| f64::from(u8::from(at >= step)))
        .collect()
}

/// Returns the values less the mean of their segment.
pub(super) fn around_levels(values: &[f64], steps: &[usize]) -> Vec<f64> {
    let mut left = Vec::with_capacity(values.len());
    let mut start = 0;
    for end in steps.iter().copied().chain([values.len()]) {
        let part = &values[start..end];
        let level = crate::mean(part).unwrap_or(0.0);
        left.extend(part.iter().map(|value| value - level));
        start = end;
    }
    left
}
