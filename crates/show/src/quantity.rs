//! Numbers for people: three significant digits and a unit they would use themselves.
//!
//! Everything inside Lapwing counts in base units (s, B, 1); only here they become ms,
//! MiB or k. What is no number is shown as `–`.

use lapwing_model::text::grouped;

/// The text in place of a missing number.
pub(super) const NOTHING: &str = "–";

/// A unit that people use, and how many base units it is worth.
///
/// One scale serves all numbers that are read together: a value and its interval, the
/// labels of an axis, the cells of a column.
#[derive(Debug, Clone, PartialEq)]
pub struct UnitScale {
    /// The factor from shown numbers to base units.
    pub factor: f64,
    /// The unit as it is written after the number, without the space; may be empty.
    pub unit: String,
    /// The text between number and unit.
    gap: &'static str,
}

/// A step of a ladder of units: the smallest magnitude that it is used for, its worth, its name.
type ScaleStep = (f64, f64, &'static str);

const SECONDS: [ScaleStep; 7] = [
    (0.0, 1e-9, "ns"),
    (1e-6, 1e-6, "µs"),
    (1e-3, 1e-3, "ms"),
    (1.0, 1.0, "s"),
    (120.0, 60.0, "min"),
    (7_200.0, 3_600.0, "h"),
    (172_800.0, 86_400.0, "d"),
];

const KIB: f64 = 1_024.0;

const BYTES: [ScaleStep; 6] = [
    (0.0, 1.0, "B"),
    (KIB, KIB, "KiB"),
    (KIB * KIB, KIB * KIB, "MiB"),
    (KIB * KIB * KIB, KIB * KIB * KIB, "GiB"),
    (KIB * KIB * KIB * KIB, KIB * KIB * KIB * KIB, "TiB"),
    (
        KIB * KIB * KIB * KIB * KIB,
        KIB * KIB * KIB * KIB * KIB,
        "PiB",
    ),
];

const THOUSANDS: [ScaleStep; 5] = [
    (0.0, 1.0, ""),
    (1e4, 1e3, "k"),
    (1e6, 1e6, "M"),
    (1e9, 1e9, "G"),
    (1e12, 1e12, "T"),
];

impl UnitScale {
    /// Returns the scale in which a number of about that size, counted in `unit`, reads best.
    ///
    /// `s`, `B` and rates of them have ladders of their own; a share (`%`) stays as it is;
    /// anything else is counted in thousands once it has five digits.
    pub fn of(magnitude: f64, unit: &str) -> Self {
        let magnitude = magnitude.abs();
        let (base, per) = match unit.split_once('/') {
            Some((base, per)) => (base.trim(), Some(per)),
            None => (unit.trim(), None),
        };
        let suffix = per.map_or_else(String::new, |per| format!("/{per}"));
        match base {
            "s" => Self::climb(&SECONDS, magnitude, &suffix),
            "B" => Self::climb(&BYTES, magnitude, &suffix),
            "%" => Self::plain(unit),
            // A bare count, or a rate of counts: `12.3k`, `12.3k/s`.
            "" | "1" => {
                let mut scale = Self::climb(&THOUSANDS, magnitude, &suffix);
                scale.gap = "";
                if scale.factor < 1e3 && !suffix.is_empty() {
                    scale.gap = " ";
                    scale.unit = format!("1{suffix}");
                }
                scale
            }
            _ => {
                let mut scale = Self::climb(&THOUSANDS, magnitude, "");
                if scale.unit.is_empty() {
                    return Self::plain(unit);
                }
                scale.gap = "";
                scale.unit = format!("{} {unit}", scale.unit);
                scale
            }
        }
    }

    /// Returns the scale in which all of these numbers read well: that of the largest.
    pub fn of_all(values: impl IntoIterator<Item = f64>, unit: &str) -> Self {
        let largest = values
            .into_iter()
            .filter(|value| value.is_finite())
            .fold(0.0_f64, |largest, value| largest.max(value.abs()));
        Self::of(largest, unit)
    }

    /// Returns all scales of a unit from small to large, each with the smallest magnitude that
    /// it is for: what a script needs to choose one.
    pub(super) fn ladder(unit: &str) -> Vec<(f64, Self)> {
        let steps = [&SECONDS[..], &BYTES, &THOUSANDS].concat();
        let mut magnitudes: Vec<f64> = steps.iter().map(|step| step.0).collect();
        magnitudes.sort_by(f64::total_cmp);
        let mut ladder: Vec<(f64, Self)> = Vec::new();
        for from in magnitudes {
            // Nothing at all has a scale of its own; what is very small is meant.
            let scale = Self::of(from.max(SECONDS[0].1), unit);
            // What is beyond the ladder goes with the base unit, which it has already.
            if ladder.iter().all(|(_, known)| *known != scale) {
                ladder.push((from, scale));
            }
        }
        ladder
    }

    /// Returns the text after a number: the unit, with a space before it if it has one.
    pub(super) fn suffix(&self) -> String {
        self.with_unit("")
    }

    fn plain(unit: &str) -> Self {
        Self {
            factor: 1.0,
            unit: unit.to_owned(),
            gap: " ",
        }
    }

    fn climb(ladder: &[ScaleStep], magnitude: f64, suffix: &str) -> Self {
        // Half a unit of the third digit is added, so that 999.7 ms is 1.00 s and not 1000 ms.
        let rounded = magnitude * 1.000_5;
        // Nothing at all is shown in the base unit: `0 s`, not `0 ns`.
        let wanted = |step: &&ScaleStep| {
            if magnitude > 0.0 {
                rounded >= step.0
            } else {
                step.1 <= 1.0
            }
        };
        let step = ladder
            .iter()
            .rev()
            .find(wanted)
            .or(ladder.first())
            .unwrap_or(&(0.0, 1.0, ""));
        // Beyond the ladder the number has an exponent, which goes with the base unit.
        let shown = rounded / step.1;
        let beyond = shown >= TOO_MANY_DIGITS || (magnitude > 0.0 && shown < 1e-4);
        let base = ladder.iter().find(|it| it.1 >= 1.0);
        let step = if beyond { base.unwrap_or(step) } else { step };
        Self {
            factor: step.1,
            unit: format!("{}{suffix}", step.2),
            gap: " ",
        }
    }

    /// Returns the number on this scale with three significant digits, without the unit.
    pub fn number(&self, value: f64) -> String {
        let shown = value / self.factor;
        self.number_with(value, decimals(shown, 3))
    }

    /// Returns the number on this scale with that many decimals, without the unit.
    pub fn number_with(&self, value: f64, decimals: usize) -> String {
        fixed(value / self.factor, decimals)
    }

    /// Returns the number with three significant digits and the unit.
    pub fn text(&self, value: f64) -> String {
        if !value.is_finite() {
            return NOTHING.to_owned();
        }
        self.with_unit(&self.number(value))
    }

    /// Returns two numbers with the unit and three significant digits, or as many more as tell them apart.
    pub fn distinct_texts(&self, values: [f64; 2]) -> [String; 2] {
        let mut texts = values.map(|value| self.text(value));
        let fewest = values.map(|value| decimals(value / self.factor, 3));
        let fewest = fewest[0].max(fewest[1]);
        for more in 1..=MOST_DECIMALS {
            if texts[0] != texts[1] || values[0].total_cmp(&values[1]).is_eq() {
                break;
            }
            let number = |value| self.number_with(value, fewest + more);
            texts = values.map(|value| self.with_unit(&number(value)));
        }
        texts
    }

    /// Returns a text of a number with the unit after it.
    pub fn with_unit(&self, number: &str) -> String {
        if self.unit.is_empty() {
            number.to_owned()
        } else {
            format!("{number}{}{}", self.gap, self.unit)
        }
    }
}

/// Returns the value with three significant digits and a unit: `1.31 s`, `18.2 MiB`, `12.3k`.
pub fn quantity(value: f64, unit: &str) -> String {
    UnitScale::of(value, unit).text(value)
}

/// Returns a ratio: `1.04×`, `0.86×`, `12.3×`, `123×`.
///
/// Two decimals from 0.1 to 10, so that ratios above and below 1 line up.
pub fn ratio(value: f64) -> String {
    if !value.is_finite() {
        return NOTHING.to_owned();
    }
    format!("{}×", fixed(value, ratio_decimals(value)))
}

pub(super) fn ratio_decimals(value: f64) -> usize {
    let magnitude = value.abs();
    if (0.1..9.995).contains(&magnitude) {
        2
    } else {
        decimals(value, 3)
    }
}

/// Returns a share as a percentage with two significant digits: `1.9 %`, `19 %`, `0.04 %`.
pub fn percent(share: f64) -> String {
    if !share.is_finite() {
        return NOTHING.to_owned();
    }
    let value = share * 100.0;
    let decimals = decimals(value, 2).min(2);
    format!("{} %", fixed(value, decimals))
}

/// Returns a share given by the user in the form in which people write it: `5 %`, `2.5 %`.
pub fn round_percent(share: f64) -> String {
    let percent = (share * 1e6).round() / 1e4;
    if percent == 0.0 && share != 0.0 {
        let exact = share * 100.0;
        return format!("{} %", fixed(exact, decimals(exact, 2)));
    }
    format!("{percent} %")
}

/// Returns the time of a machine: `42 s`, `7.5 min`, `16 h` or `28,869 h`.
pub fn machine_time(seconds: f64) -> String {
    let number = |value: f64| {
        if value < 9.95 {
            format!("{value:.1}")
        } else {
            grouped(format_args!("{value:.0}"))
        }
    };
    match seconds {
        seconds if seconds < 60.0 => quantity(seconds, "s"),
        seconds if seconds < 3_600.0 => format!("{} min", number(seconds / 60.0)),
        seconds if seconds < 3.6e18 => format!("{} h", number(seconds / 3_600.0)),
        seconds => format!("{:.2e} h", seconds / 3_600.0),
    }
}

/// Returns the number of decimals for `significant` digits of the number.
pub(super) fn decimals(value: f64, significant: i32) -> usize {
    let magnitude = value.abs();
    if magnitude == 0.0 || !magnitude.is_finite() {
        return 0;
    }
    // Rounding first: 9.996 has three significant digits as 10.0, not as 10.00.
    let mut before = digits_before_point(magnitude);
    let unit = 10_f64.powi(before - significant);
    if (magnitude / unit).round() * unit >= 10_f64.powi(before) {
        before += 1;
    }
    usize::try_from(significant - before).unwrap_or(0)
}

/// Returns the number of digits before the point; zero or fewer below 1.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the decimal logarithm of a finite number is between -324 and 309"
)]
fn digits_before_point(magnitude: f64) -> i32 {
    magnitude.log10().floor() as i32 + 1
}

/// More decimals tell no numbers apart that people care about.
pub(super) const MOST_DECIMALS: usize = 9;

/// From here on digits before the point are no longer counted by eye.
const TOO_MANY_DIGITS: f64 = 1e9;

/// Returns the number with that many decimals; very small and very large ones in scientific notation.
pub(super) fn fixed(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return NOTHING.to_owned();
    }
    let is_tiny = value.abs() < 0.1 && value != 0.0;
    if (decimals > 6 && is_tiny) || value.abs() >= TOO_MANY_DIGITS {
        return minus(&format!("{value:.2e}"));
    }
    let text = format!("{value:.decimals$}");
    // `-0.00` is no number that anybody writes.
    let text = match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| c == '0' || c == '.') => rest.to_owned(),
        Some(_) | None => text,
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let digits = whole.trim_start_matches('-').len();
    let whole = if digits > 4 {
        grouped(whole)
    } else {
        whole.to_owned()
    };
    if fraction.is_empty() {
        minus(&whole)
    } else {
        minus(&format!("{whole}.{fraction}"))
    }
}

fn minus(text: &str) -> String {
    text.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(unit: &str, values: &[f64]) -> Vec<String> {
        values.iter().map(|&value| quantity(value, unit)).collect()
    }

    #[test]
    fn times_climb_from_nanoseconds_to_days() {
        assert_eq!(
            shown(
                "s",
                &[
                    0.0, 3e-10, 1.5e-9, 9.996e-7, 4.2e-6, 0.001_234, 0.999_7, 1.0, 1.314, 9.996,
                    59.94, 119.0, 150.0, 7_000.0, 9_000.0, 200_000.0,
                ]
            ),
            [
                "0 s", "0.300 ns", "1.50 ns", "1.00 µs", "4.20 µs", "1.23 ms", "1.00 s", "1.00 s",
                "1.31 s", "10.0 s", "59.9 s", "119 s", "2.50 min", "117 min", "2.50 h", "2.31 d",
            ]
        );
    }

    #[test]
    fn a_ladder_has_every_scale_and_where_it_begins() {
        let texts = |unit| -> Vec<String> {
            let ladder = UnitScale::ladder(unit).into_iter();
            ladder
                .map(|(from, scale)| format!("{from}{}", scale.suffix()))
                .collect()
        };
        assert_eq!(
            texts("s"),
            [
                "0 ns",
                "0.000001 µs",
                "0.001 ms",
                "1 s",
                "120 min",
                "7200 h",
                "172800 d"
            ]
        );
        assert_eq!(
            texts("1/s"),
            [
                "0 1/s",
                "10000k/s",
                "1000000M/s",
                "1000000000G/s",
                "1000000000000T/s"
            ]
        );
        assert_eq!(texts("%"), ["0 %"]);
        for unit in ["s", "B", "B/s", "1", "", "J"] {
            for (from, scale) in UnitScale::ladder(unit) {
                assert_eq!(UnitScale::of(from.max(1e-9), unit), scale);
            }
        }
    }

    #[test]
    fn sizes_climb_in_powers_of_1024() {
        assert_eq!(
            shown(
                "B",
                &[
                    0.0, 12.0, 999.0, 1_010.0, 1_024.0, 1.8e7, 3.33e9, 2e12, 5e16
                ]
            ),
            [
                "0 B", "12.0 B", "999 B", "1010 B", "1.00 KiB", "17.2 MiB", "3.10 GiB", "1.82 TiB",
                "44.4 PiB",
            ]
        );
    }

    #[test]
    fn counts_rates_and_unknown_units_are_counted_in_thousands() {
        assert_eq!(
            shown("1", &[0.0, 7.0, 0.25, 1_234.0, 12_345.0, 1.5e6, 2e-9]),
            ["0", "7.00", "0.250", "1234", "12.3k", "1.50M", "2.00e−9"]
        );
        assert_eq!(shown("", &[42.0]), ["42.0"]);
        assert_eq!(shown("1/s", &[42.0, 42_000.0]), ["42.0 1/s", "42.0k/s"]);
        assert_eq!(shown("B/s", &[1.5e8]), ["143 MiB/s"]);
        assert_eq!(shown("s/row", &[2e-6]), ["2.00 µs/row"]);
        assert_eq!(shown("J", &[12.34, 123_456.0]), ["12.3 J", "123k J"]);
        assert_eq!(shown("%", &[12.34]), ["12.3 %"]);
    }

    #[test]
    fn numbers_beyond_every_unit_have_an_exponent() {
        assert_eq!(
            shown("s", &[1e300, f64::MAX, 1e-300, 5e-324, 8.64e13, 7e13]),
            [
                "1.00e300 s",
                "1.80e308 s",
                "1.00e−300 s",
                "4.94e−324 s",
                "8.64e13 s",
                "810,185,185 d",
            ]
        );
        assert_eq!(shown("B", &[1e300, 1e-300]), ["1.00e300 B", "1.00e−300 B"]);
        assert_eq!(shown("1", &[1e300]), ["1.00e300"]);
        assert_eq!(shown("1/s", &[1e300]), ["1.00e300 1/s"]);
        assert_eq!(shown("J", &[1e300]), ["1.00e300 J"]);
        assert_eq!(shown("%", &[-1e300]), ["−1.00e300 %"]);
        assert_eq!([1e300, 1e-300].map(ratio), ["1.00e300×", "1.00e−300×"]);
        assert_eq!([1e300, 1e-300].map(percent), ["1.00e302 %", "0.00 %"]);
        assert_eq!(
            [0.0, 1e-9, 2e-7, 1e-4].map(round_percent),
            ["0 %", "1.00e−7 %", "0.000020 %", "0.01 %"]
        );
    }

    #[test]
    fn what_is_below_zero_or_no_number_is_shown_as_such() {
        assert_eq!(
            shown("s", &[-0.5, f64::NAN, f64::INFINITY]),
            ["−500 ms", "–", "–"]
        );
        assert_eq!(fixed(-0.0001, 2), "0.00");
    }

    #[test]
    fn ratios_have_two_decimals_around_one() {
        assert_eq!(
            [1.0432, 0.8571, 6.1, 9.996, 12.34, 123.4, 0.0123, f64::NAN].map(ratio),
            [
                "1.04×", "0.86×", "6.10×", "10.0×", "12.3×", "123×", "0.0123×", "–"
            ]
        );
    }

    #[test]
    fn shares_have_two_digits() {
        assert_eq!(
            [0.019, 0.194, 0.000_4, 0.0, 1.5, -0.031].map(percent),
            ["1.9 %", "19 %", "0.04 %", "0 %", "150 %", "−3.1 %"]
        );
    }
}
