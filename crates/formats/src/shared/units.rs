//! Units of other programs, and what they are in base units.

use lapwing_core::model::{Better, Metric};

/// A unit as some program writes it: how to get to the base unit, and which that is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Unit {
    scale: Scale,
    /// The base unit and the direction that goes with it.
    pub(crate) metric: Metric,
}

/// Division by a whole power of ten is exact to the last digit where multiplication by
/// its inverse is not.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Scale {
    Times(f64),
    Over(f64),
}

impl Unit {
    /// Returns the unit of that name; one that nobody knows stays as it is, without a
    /// direction.
    ///
    /// Times and amounts of memory get better downwards, rates upwards. What stands
    /// behind a slash stays there: `ns/op` is `s/op`, but for operations and iterations,
    /// which are what is measured: `ns/op` is `s`, `ops/ms` is `1/s`.
    pub(crate) fn named(name: &str) -> Self {
        let name = name.trim();
        if let Some(known) = simple(name) {
            return known;
        }
        if let Some((above, below)) = name.split_once('/') {
            return ratio(name, above.trim(), below.trim());
        }
        Self::verbatim(name)
    }

    /// Returns a value in the base unit.
    pub(crate) fn base(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Times(factor) => value * factor,
            Scale::Over(divisor) => value / divisor,
        }
    }

    /// Puts a column into the base unit.
    pub(crate) fn base_column(&self, values: &mut [f64]) {
        if self.scale == Scale::Times(1.0) {
            return;
        }
        for value in values {
            *value = self.base(*value);
        }
    }

    /// Returns the unit as it is, with another direction.
    pub(crate) fn with_better(mut self, better: Option<Better>) -> Self {
        self.metric.better = better;
        self
    }

    fn verbatim(name: &str) -> Self {
        Self {
            scale: Scale::Times(1.0),
            metric: Metric::undirected(name),
        }
    }

    fn new(scale: Scale, metric: Metric) -> Self {
        Self { scale, metric }
    }
}

fn time(name: &str) -> Option<Scale> {
    Some(match name {
        "ps" | "picosecond" | "picoseconds" => Scale::Over(1e12),
        "ns" | "nanosecond" | "nanoseconds" => Scale::Over(1e9),
        "us" | "\u{b5}s" | "\u{3bc}s" | "microsecond" | "microseconds" => Scale::Over(1e6),
        "ms" | "millisecond" | "milliseconds" => Scale::Over(1e3),
        "s" | "sec" | "secs" | "second" | "seconds" => Scale::Times(1.0),
        "m" | "min" | "mins" | "minute" | "minutes" => Scale::Times(60.0),
        "h" | "hour" | "hours" => Scale::Times(3600.0),
        "d" | "day" | "days" => Scale::Times(86_400.0),
        _other => return None,
    })
}

fn bytes(name: &str) -> Option<Scale> {
    const KIBI: f64 = 1024.0;
    Some(match name {
        "B" | "byte" | "bytes" | "Bytes" => Scale::Times(1.0),
        "kB" | "KB" => Scale::Times(1e3),
        "MB" => Scale::Times(1e6),
        "GB" => Scale::Times(1e9),
        "TB" => Scale::Times(1e12),
        "KiB" => Scale::Times(KIBI),
        "MiB" => Scale::Times(KIBI * KIBI),
        "GiB" => Scale::Times(KIBI * KIBI * KIBI),
        "TiB" => Scale::Times(KIBI * KIBI * KIBI * KIBI),
        _other => return None,
    })
}

fn is_operation(name: &str) -> bool {
    matches!(
        name,
        "op" | "ops" | "iter" | "iters" | "iteration" | "iterations" | "i" | "it" | "call" | "run"
    )
}

fn simple(name: &str) -> Option<Unit> {
    if let Some(scale) = time(name) {
        return Some(Unit::new(scale, Metric::lower("s")));
    }
    if let Some(scale) = bytes(name) {
        return Some(Unit::new(scale, Metric::lower("B")));
    }
    Some(match name {
        "Hz" => Unit::new(Scale::Times(1.0), Metric::higher("1/s")),
        "kHz" => Unit::new(Scale::Times(1e3), Metric::higher("1/s")),
        "MHz" => Unit::new(Scale::Times(1e6), Metric::higher("1/s")),
        "GHz" => Unit::new(Scale::Times(1e9), Metric::higher("1/s")),
        "%" | "percent" | "percentage" => Unit::new(Scale::Over(100.0), Metric::undirected("1")),
        "" | "1" => Unit::new(Scale::Times(1.0), Metric::undirected("1")),
        _other => return None,
    })
}

/// `above/below`: a time or an amount for each operation, or something in each second.
fn ratio(name: &str, above: &str, below: &str) -> Unit {
    if let Some(second) = time(below) {
        // In each unit of time; `below` in seconds goes the other way round.
        let per_second = |scale: Scale| match (scale, second) {
            (Scale::Times(up), Scale::Times(down)) if down > up => Scale::Over(down / up),
            (Scale::Times(up), Scale::Times(down)) => Scale::Times(up / down),
            (Scale::Times(up), Scale::Over(down)) => Scale::Times(up * down),
            (Scale::Over(up), Scale::Times(down)) => Scale::Over(up * down),
            (Scale::Over(up), Scale::Over(down)) => Scale::Times(down / up),
        };
        if is_operation(above) || above == "1" || above.is_empty() {
            return Unit::new(per_second(Scale::Times(1.0)), Metric::higher("1/s"));
        }
        if let Some(scale) = bytes(above) {
            return Unit::new(per_second(scale), Metric::higher("B/s"));
        }
        return Unit::new(
            per_second(Scale::Times(1.0)),
            Metric::undirected(&format!("{above}/s")),
        );
    }
    match simple(above) {
        Some(mut unit) => {
            if !is_operation(below) {
                unit.metric.unit = format!("{}/{below}", unit.metric.unit);
            }
            unit
        }
        None if is_operation(below) => Unit::verbatim(above),
        None => Unit::verbatim(name),
    }
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
