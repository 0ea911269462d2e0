//! Units of the same quantity, and what one is worth in another.

/// What numbers in one unit are worth in another one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Conversion {
    /// One of the two is 1 where the units differ by a whole factor, so that 1500 ms are exactly 1.5 s.
    times: f64,
    by: f64,
}

impl Conversion {
    /// Leaves numbers as they are.
    pub const NONE: Self = Self {
        times: 1.0,
        by: 1.0,
    };

    /// Returns how numbers in `from` become numbers in `to`; `None` where nobody knows.
    ///
    /// Known are times (`ns`, `us`, `ms`, `s`, `min`, `h`, `d`), sizes (`B`, `kB`, `MB`, … and `KiB`, `MiB`, …),
    /// bare numbers (`1`, `%`), frequencies, and anything per something: `MiB/s`, `ns/op`, `rows/ms`. A text that
    /// is no known unit is only worth itself. `KB` is none, because it means 1000 bytes to some and 1024 to others.
    ///
    /// ```
    /// use lapwing_core::model::Conversion;
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
        let (times, by) = (from.times * to.by, from.by * to.times);
        let (whole, rest) = (times / by, by / times);
        Some(if whole >= 1.0 && whole.fract() == 0.0 {
            Self {
                times: whole,
                by: 1.0,
            }
        } else if rest.fract() == 0.0 {
            Self {
                times: 1.0,
                by: rest,
            }
        } else {
            Self { times, by }
        })
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

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dimension<'u> {
    Time,
    Size,
    Number,
    /// What is only known by its name.
    Other(&'u str),
}

/// One of a unit: `times` base units divided by `by` units of what it is per.
struct Worth<'u> {
    dimension: Dimension<'u>,
    times: f64,
    per: Option<Dimension<'u>>,
    by: f64,
}

fn worth(unit: &str) -> Worth<'_> {
    if let Some(times) = frequency(unit) {
        return Worth {
            dimension: Dimension::Number,
            times,
            per: Some(Dimension::Time),
            by: 1.0,
        };
    }
    let (base, per) = match unit.split_once('/') {
        Some((base, per)) => (base.trim(), Some(simple(per.trim()))),
        None => (unit, None),
    };
    let (dimension, times) = simple(base);
    Worth {
        dimension,
        times,
        per: per.map(|it| it.0),
        by: per.map_or(1.0, |it| it.1),
    }
}

/// Returns what a unit without a stroke counts, in nanoseconds, bytes or hundredths, which are all whole.
fn simple(unit: &str) -> (Dimension<'_>, f64) {
    const KIB: f64 = 1_024.0;
    let time = |nanoseconds: f64| (Dimension::Time, nanoseconds);
    let size = |bytes: f64| (Dimension::Size, bytes);
    match unit {
        "ns" => time(1.0),
        // The sign for micro and the Greek letter.
        "us" | "\u{b5}s" | "\u{3bc}s" => time(1e3),
        "ms" => time(1e6),
        "s" | "sec" | "second" | "seconds" => time(1e9),
        "min" => time(6e10),
        "h" => time(3.6e12),
        "d" => time(8.64e13),
        "B" | "byte" | "bytes" => size(1.0),
        "kB" => size(1e3),
        "MB" => size(1e6),
        "GB" => size(1e9),
        "TB" => size(1e12),
        "KiB" | "kiB" => size(KIB),
        "MiB" => size(KIB * KIB),
        "GiB" => size(KIB * KIB * KIB),
        "TiB" => size(KIB * KIB * KIB * KIB),
        "1" => (Dimension::Number, 100.0),
        "%" => (Dimension::Number, 1.0),
        other => (Dimension::Other(other), 1.0),
    }
}

/// Returns how often a frequency is in a nanosecond, in hundredths as [`simple`] has it.
fn frequency(unit: &str) -> Option<f64> {
    match unit {
        "Hz" => Some(100.0 / 1e9),
        "kHz" => Some(100.0 / 1e6),
        "MHz" => Some(100.0 / 1e3),
        "GHz" => Some(100.0),
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
    fn other_quantities_and_unknown_units_are_not() {
        for (from, to) in [
            ("s", "B"),
            ("s", "1/s"),
            ("s", "s/op"),
            ("ns/op", "ns/row"),
            ("apples", "s"),
            ("", "s"),
            ("KB", "B"),
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
