//! Units of other programs: in base units and with a direction.

use std::borrow::Cow;

use lapwing_model::{Better, Conversion, Metric};

/// A unit as a program writes it: the way to the base unit, and the metric that is counted in it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Unit {
    conversion: Conversion,
    /// The base unit and the direction that goes with it.
    pub(crate) metric: Metric,
}

impl Unit {
    /// Returns the unit of that name; an unknown one stays as it is, without a direction.
    ///
    /// Times and amounts of memory get better downwards, rates upwards. Operations and
    /// iterations are what is measured, so that they are no part of the unit: `ns/op` is `s` and
    /// `ops/ms` is `1/s`, while `ns/row` is `s/row`.
    pub(crate) fn named(name: &str) -> Self {
        let name = match name.split_once('/') {
            Some((above, below)) if is_operation(below.trim()) => Cow::from(above.trim()),
            Some((above, below)) if is_operation(above.trim()) || above.is_empty() => {
                Cow::from(format!("1/{}", below.trim()))
            }
            Some(_) | None if name.trim().is_empty() => Cow::from("1"),
            Some(_) | None => Cow::from(name),
        };
        let (conversion, unit) = Conversion::to_base(&name);
        let is_rate = unit.ends_with("/s");
        let better = match unit.split('/').next() {
            Some("1" | "B") if is_rate => Some(Better::Higher),
            Some("s" | "B") if !is_rate => Some(Better::Lower),
            Some(_) | None => None,
        };
        Self {
            conversion,
            metric: Metric { unit, better },
        }
    }

    /// Returns a value in the base unit.
    pub(crate) fn base(&self, value: f64) -> f64 {
        self.conversion.of(value)
    }

    /// Converts a column to the base unit.
    pub(crate) fn base_column(&self, values: &mut [f64]) {
        if !self.conversion.is_none() {
            for value in values {
                *value = self.base(*value);
            }
        }
    }

    /// Returns the unit with another direction.
    pub(crate) fn with_better(mut self, better: Option<Better>) -> Self {
        self.metric.better = better;
        self
    }
}

fn is_operation(name: &str) -> bool {
    matches!(
        name,
        "op" | "ops" | "iter" | "iters" | "iteration" | "iterations" | "i" | "it" | "call" | "run"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base(name: &str, value: f64) -> (f64, String, Option<Better>) {
        let unit = Unit::named(name);
        (unit.base(value), unit.metric.unit, unit.metric.better)
    }

    #[test]
    fn times_and_bytes_come_in_base_units_exactly() {
        let lower = Some(Better::Lower);
        assert_eq!(base("ns", 12.5), (1.25e-8, "s".to_owned(), lower));
        assert_eq!(base("\u{b5}s", 66.37), (66.37e-6, "s".to_owned(), lower));
        assert_eq!(base("min", 2.0), (120.0, "s".to_owned(), lower));
        assert_eq!(base("MiB", 1.5), (1_572_864.0, "B".to_owned(), lower));
        assert_eq!(base("KB", 2.0), (2000.0, "B".to_owned(), lower));
    }

    #[test]
    fn rates_are_for_a_second_and_get_better_upwards() {
        let higher = Some(Better::Higher);
        assert_eq!(base("ops/ms", 1.5), (1500.0, "1/s".to_owned(), higher));
        assert_eq!(base("ops/min", 120.0), (2.0, "1/s".to_owned(), higher));
        assert_eq!(base("MB/s", 27.8), (27.8e6, "B/s".to_owned(), higher));
        assert_eq!(base("i/s", 3.0), (3.0, "1/s".to_owned(), higher));
        assert_eq!(base("Hz", 3.0), (3.0, "1/s".to_owned(), higher));
    }

    #[test]
    fn what_an_operation_takes_is_what_is_measured() {
        let lower = Some(Better::Lower);
        assert_eq!(base("ns/op", 2300.0), (2.3e-6, "s".to_owned(), lower));
        assert_eq!(base("B/op", 512.0), (512.0, "B".to_owned(), lower));
        assert_eq!(base("ns/row", 5.0), (5e-9, "s/row".to_owned(), lower));
        assert_eq!(base("allocs/op", 3.0), (3.0, "allocs".to_owned(), None));
    }

    #[test]
    fn an_unknown_unit_stays_as_it_is_without_a_direction() {
        assert_eq!(base("widgets", 3.0), (3.0, "widgets".to_owned(), None));
        assert_eq!(
            base("points/game", 3.0),
            (3.0, "points/game".to_owned(), None)
        );
        assert_eq!(base("%", 25.0), (0.25, "1".to_owned(), None));
    }
}
