//! Numbers and times as they stand in cells.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::shared::reading::moment::moment;
use crate::shared::reading::notation::{DateOrder, DecimalMark, without_groups};
use crate::shared::reading::number::is_no_number_word;

/// Words for a value that is not there.
const MISSING: [&str; 8] = ["", "-", "na", "n/a", "null", "none", "nil", "#n/a"];

/// Returns whether a cell stands for a value that is not there.
pub(crate) fn is_missing(cell: &str) -> bool {
    let mut missing = MISSING.iter();
    missing.any(|word| cell.eq_ignore_ascii_case(word)) || is_no_number_word(cell)
}

/// Returns the number in a cell, NaN where it is missing; `None` if it is no number.
pub(crate) fn number(cell: &str, mark: DecimalMark) -> Option<f64> {
    if is_missing(cell) {
        return Some(f64::NAN);
    }
    if !cell.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // The spread behind a value: `12.5 ± 0.4`.
    let cell = cell
        .split_once('\u{b1}')
        .map_or(cell, |(value, _)| value.trim_end());
    let plain = match mark {
        DecimalMark::Point => cell.parse().ok(),
        DecimalMark::Comma => None,
    };
    let read = || without_groups(cell, mark)?.parse().ok();
    plain
        .or_else(read)
        .filter(|number: &f64| number.is_finite())
}

/// Returns the time in a cell: ISO 8601, a date alone, the same with points or strokes between year, month and
/// day, or a Unix time in s, ms, µs or ns.
pub(crate) fn time(cell: &str, order: DateOrder) -> Option<Timestamp> {
    if let Ok(number) = cell.parse::<f64>() {
        return unix_time(number);
    }
    let text = iso(cell, order);
    let day = || text.parse::<Date>().ok()?.to_zoned(TimeZone::UTC).ok();
    moment(&text).or_else(|| Some(day()?.timestamp()))
}

/// Returns a time such as `2026.1.2 3:00:00 +0100` with the strokes and zeros of ISO 8601.
fn iso(cell: &str, order: DateOrder) -> String {
    let (date, rest) = match cell.find([' ', 'T']) {
        Some(end) => cell.split_at(end),
        None => (cell, ""),
    };
    let parts: Vec<&str> = date.split(['.', '/', '-']).collect();
    // Points are put between day, month and year; with strokes either may come first.
    let is_day_first = date.contains('.') || order == DateOrder::DayFirst;
    let date = match parts[..] {
        [year, month, day] if year.len() == 4 => format!("{year}-{month:0>2}-{day:0>2}"),
        [day, month, year] if year.len() == 4 && is_day_first => {
            format!("{year}-{month:0>2}-{day:0>2}")
        }
        [month, day, year] if year.len() == 4 && order == DateOrder::MonthFirst => {
            format!("{year}-{month:0>2}-{day:0>2}")
        }
        [..] => date.to_owned(),
    };
    let rest = match rest.get(1..) {
        Some(time) if time.find(':') == Some(1) => format!(" 0{time}"),
        Some(_) | None => rest.to_owned(),
    };
    // `12:00` has no seconds.
    match rest.matches(':').count() {
        1 if rest.len() == 6 => format!("{date}{rest}:00"),
        _complete => format!("{date}{rest}"),
    }
}

/// Returns a Unix time of this age: its size tells its unit.
#[expect(
    clippy::cast_possible_truncation,
    reason = "below the limits of the whole numbers, which are checked"
)]
fn unix_time(number: f64) -> Option<Timestamp> {
    let per_second = match number {
        3e8..1e10 => 1e9,
        3e11..1e13 => 1e6,
        3e14..1e16 => 1e3,
        3e17..9e18 => 1.0,
        _ => return None,
    };
    let whole = number.trunc() * per_second + (number.fract() * per_second).round();
    Timestamp::from_nanosecond(whole as i128).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_they_are_written() {
        let of = |cell: &str| time(cell, DateOrder::Unknown).map(|time| time.to_string());
        for (cell, expected) in [
            ("2031.01.01 12:00:00", "2031-01-01T12:00:00Z"),
            ("2024.01.01 3:00:00 +0100", "2024-01-01T02:00:00Z"),
            ("2026-11-05", "2026-11-05T00:00:00Z"),
            ("2026/11/5 07:30", "2026-11-05T07:30:00Z"),
            ("5.11.2026", "2026-11-05T00:00:00Z"),
            ("1609466400", "2021-01-01T02:00:00Z"),
            ("1450231876000", "2015-12-16T02:11:16Z"),
            ("2026-11-05T07:30:00.5+01:00", "2026-11-05T06:30:00.5Z"),
        ] {
            assert_eq!(of(cell).as_deref(), Some(expected), "{cell}");
        }
        // Day or month first, a version, a duration.
        for cell in ["05/11/2026", "1.2.3", "12.5", "c00", ""] {
            assert_eq!(of(cell), None, "{cell}");
        }
        let of = |order| time("05/11/2026 7:30", order).map(|time| time.to_string());
        let expected = ["2026-11-05T07:30:00Z", "2026-05-11T07:30:00Z"];
        let orders = [DateOrder::DayFirst, DateOrder::MonthFirst];
        assert_eq!(orders.map(of), expected.map(|it| Some(it.to_owned())));
    }

    #[test]
    fn a_missing_number_is_none_and_a_word_an_error() {
        let (point, comma) = (DecimalMark::Point, DecimalMark::Comma);
        for (cell, mark, expected) in [
            ("1.5e3", point, Some(1500.0)),
            ("1,5", comma, Some(1.5)),
            ("1.234,56", comma, Some(1234.56)),
            ("-1.234.567", comma, Some(-1_234_567.0)),
            ("1\u{a0}234,5", comma, Some(1234.5)),
            ("1,234.56", point, Some(1234.56)),
            ("1'234.5", point, Some(1234.5)),
            ("1,5", point, None),
            ("1.5", comma, None),
            ("0.125", comma, None),
            ("1.234.56", point, None),
            ("fast", point, None),
        ] {
            assert_eq!(number(cell, mark), expected, "{cell}");
        }
        assert!(number("n/a", point).is_some_and(f64::is_nan));
        assert!(number("-inf", comma).is_some_and(f64::is_nan));
    }
}
