//! The table of units: how they are spelled, what they count, and what one is worth in another.

/// The factor from numbers in one unit to numbers in another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Conversion {
    /// One of the two is 1 where the units differ by a whole factor: 1500 ms are exactly 1.5 s.
    times: f64,
    by: f64,
}

impl Conversion {
    /// Leaves numbers as they are.
    pub const NONE: Self = Self {
        times: 1.0,
        by: 1.0,
    };

    /// Returns the conversion from one unit to another; `None` if they count different things or
    /// one is unknown.
    ///
    /// Known are times (`ps`, `ns`, `us`, `ms`, `s`, `min`, `h`, `d`), sizes (`B`, `kB` or `KB`, `MB`, … in steps of
    /// 1000, `KiB`, `MiB`, … in steps of 1024), plain numbers (`1`, `%`), frequencies, and all of them per
    /// something: `MiB/s`, `ns/op`, `rows/ms`. Any other text is a unit that only equals itself.
    ///
    /// ```
    /// use lapwing_model::Conversion;
    /// let seconds = Conversion::between("ms", "s").unwrap();
    /// assert_eq!(seconds.of(1_500.0), 1.5);
    /// assert_eq!(Conversion::between("ms", "B"), None);
    /// ```
    pub fn between(from: &str, to: &str) -> Option<Self> {
        let (from, to) = (from.trim(), to.trim());
        if from == to {
            return Some(Self::NONE);
        }
        let [from, to] = [worth(from), worth(to)];
        if from.dimension != to.dimension || from.per != to.per {
            return None;
        }
        // Each pair first, so that products stay small enough to be exact.
        let above = Self::reduced(from.times, to.times);
        let below = Self::reduced(to.by, from.by);
        Some(Self::reduced(
            above.times * below.times,
            above.by * below.by,
        ))
    }

    /// Returns a conversion with one side 1 if the other is a whole factor then.
    fn reduced(times: f64, by: f64) -> Self {
        let (whole, rest) = (times / by, by / times);
        let (times, by) = match (whole.fract() == 0.0, rest.fract() == 0.0) {
            (true, _) => (whole, 1.0),
            (false, true) => (1.0, rest),
            (false, false) => (times, by),
        };
        Self { times, by }
    }

    /// Returns the base unit of a unit, and the conversion to it: seconds, bytes, plain numbers,
    /// and these per second or per something. An unknown unit is its own base unit.
    ///
    /// ```
    /// use lapwing_model::Conversion;
    /// let (rate, unit) = Conversion::to_base("MB/ms");
    /// assert_eq!((rate.of(2.0), unit.as_str()), (2e9, "B/s"));
    /// ```
    pub fn to_base(unit: &str) -> (Self, String) {
        let unit = unit.trim();
        let worth = worth(unit);
        let per = worth.per.map(|per| match (per, unit.split_once('/')) {
            // Nobody counts per percent.
            (Dimension::Number, Some((_, below))) => below.trim(),
            (dimension, _) => dimension.base(),
        });
        let base = match per {
            Some(per) => format!("{}/{per}", worth.dimension.base()),
            None => worth.dimension.base().to_owned(),
        };
        (Self::between(unit, &base).unwrap_or(Self::NONE), base)
    }

    /// Returns the number in the other unit.
    pub fn of(self, value: f64) -> f64 {
        value * self.times / self.by
    }

    /// Returns whether numbers stay what they are.
    #[expect(
        clippy::float_cmp,
        reason = "the same unit has exactly the same factors"
    )]
    pub fn is_none(self) -> bool {
        self.times == self.by
    }
}

/// The quantity that a unit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dimension<'u> {
    Time,
    Size,
    Number,
    /// Known only by its name.
    Other(&'u str),
}

impl<'u> Dimension<'u> {
    fn base(self) -> &'u str {
        match self {
            Self::Time => "s",
            Self::Size => "B",
            Self::Number => "1",
            Self::Other(name) => name,
        }
    }
}

/// One of a unit: `times` of the smallest unit of its dimension, divided by `by` of the smallest
/// unit of what it is per.
struct Worth<'u> {
    dimension: Dimension<'u>,
    times: f64,
    per: Option<Dimension<'u>>,
    by: f64,
}

fn worth(unit: &str) -> Worth<'_> {
    let (above, below) = match (frequency(unit), unit.split_once('/')) {
        (Some(times), _) => ((Dimension::Number, times), Some(simple("s"))),
        (None, Some((above, below))) => (simple(above.trim()), Some(simple(below.trim()))),
        (None, None) => (simple(unit), None),
    };
    Worth {
        dimension: above.0,
        times: above.1,
        per: below.map(|it| it.0),
        by: below.map_or(1.0, |it| it.1),
    }
}

/// Returns what a unit without a stroke counts, in picoseconds, bytes or hundredths, so that all
/// factors are whole.
fn simple(unit: &str) -> (Dimension<'_>, f64) {
    const KIB: f64 = 1_024.0;
    let time = |picoseconds: f64| (Dimension::Time, picoseconds);
    let size = |bytes: f64| (Dimension::Size, bytes);
    match unit {
        "ps" | "picosecond" | "picoseconds" => time(1.0),
        "ns" | "nanosecond" | "nanoseconds" => time(1e3),
        // The sign for micro and the Greek letter.
        "us" | "\u{b5}s" | "\u{3bc}s" | "microsecond" | "microseconds" => time(1e6),
        "ms" | "millisecond" | "milliseconds" => time(1e9),
        "s" | "sec" | "secs" | "second" | "seconds" => time(1e12),
        "min" | "mins" | "minute" | "minutes" => time(6e13),
        "h" | "hour" | "hours" => time(3.6e15),
        "d" | "day" | "days" => time(8.64e16),
        "B" | "byte" | "bytes" | "Bytes" => size(1.0),
        "kB" | "KB" => size(1e3),
        "MB" => size(1e6),
        "GB" => size(1e9),
        "TB" => size(1e12),
        "KiB" | "kiB" => size(KIB),
        "MiB" => size(KIB * KIB),
        "GiB" => size(KIB * KIB * KIB),
        "TiB" => size(KIB * KIB * KIB * KIB),
        "1" => (Dimension::Number, 100.0),
        "%" | "percent" | "percentage" => (Dimension::Number, 1.0),
        other => (Dimension::Other(other), 1.0),
    }
}

/// Returns the number per second that a frequency is, in hundredths as [`simple`] has it.
fn frequency(unit: &str) -> Option<f64> {
    match unit {
        "Hz" => Some(100.0),
        "kHz" => Some(1e5),
        "MHz" => Some(1e8),
        "GHz" => Some(1e11),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn converted(value: f64, from: &str, to: &str) -> Option<f64> {
        Conversion::between(from, to).map(|it| it.of(value))
    }

    #[test]
    fn units_of_one_quantity_are_converted() {
        for (value, from, expected, to) in [
            (1_500.0, "ms", 1.5, "s"),
            (1.1, "s", 1_100.0, "ms"),
            (2.5, "\u{b5}s", 2_500.0, "ns"),
            (2.5, "\u{3bc}s", 2.5, "us"),
            (90.0, "min", 1.5, "h"),
            (3.0, "MiB", 3_145_728.0, "B"),
            (2.0, "kB", 1.953_125, "KiB"),
            (2.0, "KB", 2_000.0, "B"),
            (7.0, "ps", 0.007, "ns"),
            (2.0, "d", 172_800.0, "s"),
            (1.0, "GB", 1_000.0, "MB"),
            (25.0, "%", 0.25, "1"),
            (4.0, "1/ms", 4_000.0, "1/s"),
            (4.0, "kHz", 4.0, "1/ms"),
            (2.0, "MiB/s", 2_097_152.0, "B/s"),
            (7.0, "ns/op", 0.007, "us/op"),
            (7.0, "rows/ms", 7_000.0, "rows/s"),
            (7.0, "apples", 7.0, "apples"),
            (7.0, "", 7.0, ""),
        ] {
            assert_eq!(
                converted(value, from, to),
                Some(expected),
                "{value} {from} in {to}"
            );
        }
    }

    #[test]
    fn every_unit_has_a_base_unit() {
        for (value, unit, expected, base) in [
            (12.5, "ns", 1.25e-8, "s"),
            (66.37, "\u{b5}s", 66.37e-6, "s"),
            (1.5, "MiB", 1_572_864.0, "B"),
            (25.0, "percent", 0.25, "1"),
            (3.0, "kHz", 3_000.0, "1/s"),
            (4.126, "GHz", 4.126 * 1e9, "1/s"),
            (120.0, "1/min", 2.0, "1/s"),
            (27.8, "MB/s", 27.8e6, "B/s"),
            (5.0, "ns/row", 5e-9, "s/row"),
            (7.0, "rows/ms", 7_000.0, "rows/s"),
            (7.0, "points/game", 7.0, "points/game"),
            (7.0, "apples", 7.0, "apples"),
            (7.0, "", 7.0, ""),
        ] {
            let (conversion, found) = Conversion::to_base(unit);
            assert_eq!(
                (conversion.of(value), found.as_str()),
                (expected, base),
                "{unit}"
            );
        }
    }

    #[test]
    fn other_quantities_and_unknown_units_are_not() {
        for (from, to) in [
            ("s", "B"),
            ("s", "1/s"),
            ("s", "s/op"),
            ("ns/op", "ns/row"),
            ("apples", "s"),
            ("", "s"),
            ("J", "kJ"),
        ] {
            assert_eq!(Conversion::between(from, to), None, "{from} in {to}");
        }
    }

    #[test]
    fn the_same_unit_leaves_numbers_alone() {
        for (from, to, same) in [
            ("s", "s", true),
            ("sec", "s", true),
            ("ms", "s", false),
            ("apples", "apples", true),
        ] {
            assert_eq!(
                Conversion::between(from, to).map(Conversion::is_none),
                Some(same)
            );
        }
    }
}
