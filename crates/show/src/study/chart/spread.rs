//! An axis of values of several magnitudes: logarithmic where all are above zero.

use serde_json::{Value, json};

use crate::chart::build::number_axis;

/// Fewer labels than this of 1, 2 and 5 times powers of ten, and round steps take their place.
const FEWEST_LABELS: usize = 4;
/// More labels than this, and only the powers of ten stay.
const MOST_LABELS: usize = 10;
/// Room on either side, as a share of the axis.
const ROOM: f64 = 0.03;

/// An axis of values, or of their logarithms.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SpreadAxis {
    is_log: bool,
    /// The ends, as places on the axis.
    pub low: f64,
    pub high: f64,
}

impl SpreadAxis {
    /// Returns the axis on which all values have a place.
    pub fn new(values: impl Iterator<Item = f64> + Clone) -> Self {
        let least = values.clone().fold(f64::INFINITY, f64::min);
        let most = values.fold(f64::NEG_INFINITY, f64::max);
        Self::between(least, most, least > 0.0)
    }

    /// Returns the axis of the values themselves.
    pub fn even(values: impl Iterator<Item = f64> + Clone) -> Self {
        let least = values.clone().fold(f64::INFINITY, f64::min);
        let most = values.fold(f64::NEG_INFINITY, f64::max);
        Self::between(least, most, false)
    }

    fn between(least: f64, most: f64, is_log: bool) -> Self {
        let place = |value: f64| if is_log { value.ln() } else { value };
        let (low, high) = (place(least), place(most));
        // Values that are all the same need some room, too.
        let room = (ROOM * (high - low)).max(1e-3 * high.abs().max(1e-9));
        Self {
            is_log,
            low: low - room,
            high: high + room,
        }
    }

    /// Returns the place of a value.
    pub fn place(&self, value: f64) -> f64 {
        if self.is_log { value.ln() } else { value }
    }

    /// Returns the value at a place.
    pub fn value(&self, place: f64) -> f64 {
        if self.is_log { place.exp() } else { place }
    }

    /// Returns the option of the axis of that name, `gap` away from it.
    pub fn option(&self, name: &str, gap: u32) -> Value {
        let ticks: Vec<f64> = self.ticks().iter().map(|tick| self.place(*tick)).collect();
        self.with_labels(name, gap, &ticks)
    }

    /// Returns the option with labels at these places alone.
    pub fn with_labels(&self, name: &str, gap: u32, places: &[f64]) -> Value {
        let mut axis = number_axis(name);
        axis["nameGap"] = json!(gap);
        axis["min"] = json!(self.low);
        axis["max"] = json!(self.high);
        let function = if self.is_log {
            "valueOfLog"
        } else {
            "plainNumber"
        };
        axis["axisLabel"] = json!({"$function": function, "hideOverlap": true});
        if !places.is_empty() {
            axis["axisTick"] = json!({"customValues": places});
            axis["axisLabel"]["customValues"] = json!(places);
        }
        axis
    }

    /// Returns round values between the ends; none where the values are on the axis themselves, which finds its own.
    fn ticks(&self) -> Vec<f64> {
        if !self.is_log {
            return Vec::new();
        }
        let (least, most) = (self.low.exp(), self.high.exp());
        let is_inside = |value: &f64| (least..=most).contains(value);
        let powers = (-300..=300).map(|power| 10_f64.powi(power));
        let of = |steps: &[f64]| -> Vec<f64> {
            let all = powers
                .clone()
                .flat_map(|power| steps.iter().map(move |step| step * power));
            all.filter(is_inside).collect()
        };
        let usual = of(&[1.0, 2.0, 5.0]);
        if usual.len() > MOST_LABELS {
            return of(&[1.0]);
        }
        if usual.len() >= FEWEST_LABELS {
            return usual;
        }
        let width = most - least;
        let steps = powers.flat_map(|power| [1.0, 2.0, 5.0].map(|step| step * power));
        let step = steps.into_iter().find(|step| width / step <= 6.0);
        let step = step.unwrap_or(width);
        let mut ticks = Vec::new();
        let mut tick = (least / step).ceil() * step;
        while tick <= most {
            ticks.push(tick);
            tick += step;
        }
        ticks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(values: [f64; 2]) -> Vec<f64> {
        SpreadAxis::new(values.into_iter()).ticks()
    }

    #[test]
    fn an_axis_of_logarithms_has_round_labels_whatever_its_width() {
        assert_eq!(ticks([60.0, 1_200.0]), [100.0, 200.0, 500.0, 1_000.0]);
        assert_eq!(ticks([103.0, 128.0]), [105.0, 110.0, 115.0, 120.0, 125.0]);
        assert_eq!(ticks([0.5, 2e6]), [1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6]);
    }

    #[test]
    fn an_axis_with_a_value_of_zero_is_not_of_logarithms() {
        let axis = SpreadAxis::new([0.0, 10.0].into_iter());
        assert_eq!((axis.place(3.0), axis.ticks()), (3.0, Vec::new()));
    }
}
