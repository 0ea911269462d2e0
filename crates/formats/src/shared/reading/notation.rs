//! Number and date notation of a column.

use crate::shared::reading::cells::{is_missing, time};

/// The sign between the whole part of a number and its decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DecimalMark {
    Point,
    Comma,
}

impl DecimalMark {
    fn sign(self) -> char {
        match self {
            Self::Point => '.',
            Self::Comma => ',',
        }
    }
}

/// Names in `--columns` that also say how dates or numbers are written.
pub(crate) const WRITTEN: [&str; 4] = ["date_dmy", "date_mdy", "value_point", "value_comma"];

/// Which of day and month comes first in dates such as `05/11/2026`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DateOrder {
    /// Nothing says it, so that such dates are not read.
    Unknown,
    DayFirst,
    MonthFirst,
}

/// Returns a number with a decimal point and without the signs between its thousands: `1.234,5` as `1234.5`.
pub(crate) fn without_groups(cell: &str, mark: DecimalMark) -> Option<String> {
    let (whole, decimals) = match cell.split_once(mark.sign()) {
        Some((whole, decimals)) => (whole, Some(decimals)),
        None => (cell, None),
    };
    let digits = whole.trim_start_matches(['-', '+']);
    let is_group = |sign: char| !sign.is_ascii_digit() && sign != mark.sign();
    let whole = match digits.chars().find(|sign| is_group(*sign)) {
        None => whole.to_owned(),
        Some(sign @ ('.' | ',' | '\'' | '\u{2019}' | ' ' | '\u{a0}' | '\u{202f}')) => {
            let mut groups = digits.split(sign);
            let first = groups.next().unwrap_or_default();
            let is_begin = (1..=3).contains(&first.len()) && !first.starts_with('0');
            let is_three =
                |group: &str| group.len() == 3 && group.bytes().all(|it| it.is_ascii_digit());
            if !is_begin || !groups.all(is_three) {
                return None;
            }
            whole.replace(sign, "")
        }
        // An exponent.
        Some(_) => whole.to_owned(),
    };
    Some(match decimals {
        Some(decimals) => format!("{whole}.{decimals}"),
        None => whole,
    })
}

impl DecimalMark {
    /// Returns the mark that a name in `--columns` gives to values.
    pub(crate) fn named(name: &str) -> Option<Self> {
        [Self::Comma, Self::Point]
            .into_iter()
            .find(|it| it.name() == name)
    }

    /// Returns the other one.
    pub(crate) fn other(self) -> Self {
        match self {
            Self::Point => Self::Comma,
            Self::Comma => Self::Point,
        }
    }

    /// Returns the name of a column of values with that mark in `--columns`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Point => "value_point",
            Self::Comma => "value_comma",
        }
    }
}

impl DateOrder {
    /// Returns the order that a name in `--columns` gives to dates.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "date_dmy" => Some(Self::DayFirst),
            "date_mdy" => Some(Self::MonthFirst),
            _other => None,
        }
    }

    /// Returns the name of a column of such dates in `--columns`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Unknown => "date",
            Self::DayFirst => "date_dmy",
            Self::MonthFirst => "date_mdy",
        }
    }

    /// Returns the order of the dates in a column: a day above 12 gives it away.
    pub(crate) fn of<'t>(cells: impl Iterator<Item = &'t str>) -> Self {
        let (mut day_first, mut month_first) = (false, false);
        for [first, second] in cells.filter_map(stroked) {
            day_first |= first > 12;
            month_first |= second > 12;
        }
        match (day_first, month_first) {
            (true, false) => Self::DayFirst,
            (false, true) => Self::MonthFirst,
            (true, true) | (false, false) => Self::Unknown,
        }
    }
}

/// Returns the first date of a column of dates whose order nothing tells.
pub(crate) fn unclear_date<'t>(
    mut cells: impl Iterator<Item = &'t str>,
    order: DateOrder,
) -> Option<&'t str> {
    let first = cells.find(|cell| !is_missing(cell))?;
    (order == DateOrder::Unknown && time(first, order).is_none() && stroked(first).is_some())
        .then_some(first)
}

/// Returns the first two numbers of a date such as `05/11/2026` or `5-11-2026`.
fn stroked(cell: &str) -> Option<[u8; 2]> {
    let date = cell.split([' ', 'T']).next()?;
    let mut parts = date.split(['/', '-']);
    let mut small = || {
        let part = parts.next()?;
        let number: u8 = part.parse().ok()?;
        (part.len() <= 2 && (1..=31).contains(&number)).then_some(number)
    };
    let found = [small()?, small()?];
    let year = parts.next()?;
    let is_year = year.len() == 4 && year.parse::<u16>().is_ok();
    (is_year && parts.next().is_none()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_above_12_tells_the_order_of_dates() {
        let of = |cells: &[&'static str]| {
            let order = DateOrder::of(cells.iter().copied());
            (order, unclear_date(cells.iter().copied(), order))
        };
        let unclear = |cell| (DateOrder::Unknown, Some(cell));
        assert_eq!(
            of(&["05/11/2026", "13/11/2026"]),
            (DateOrder::DayFirst, None)
        );
        assert_eq!(
            of(&["5-11-2026 7:30", "5-13-2026"]),
            (DateOrder::MonthFirst, None)
        );
        assert_eq!(of(&["", "05/11/2026", "06/11/2026"]), unclear("05/11/2026"));
        assert_eq!(of(&["13/11/2026", "11/13/2026"]), unclear("13/11/2026"));
        for cell in ["2026-11-05", "1/2", "a/b/2026", "5.11.2026"] {
            assert_eq!(of(&[cell]), (DateOrder::Unknown, None), "{cell}");
        }
    }
}
