//! Dates in the names of files that one name alone does not tell: `25-09-2026`, `09.25.2026`, `25092026`, `Sep-25-2026`.

use std::collections::BTreeSet;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::order::tokens;

/// Years that a number in a name may mean.
const YEARS: std::ops::RangeInclusive<i16> = 1990..=2099;
const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

/// A date in a name, of which day and month may stand in either order.
#[derive(Debug, Clone, Copy, PartialEq)]
struct NamedDate {
    year: i16,
    /// Day and month, or month and day.
    numbers: [i8; 2],
    /// Whether the month is a word, so that the numbers are day and month.
    is_clear: bool,
}

/// Returns the date of each name, if all have one, they differ, and it is clear which number is the day.
pub(super) fn dates_in<'n>(names: impl Iterator<Item = &'n str>) -> Option<Vec<Timestamp>> {
    let found: Vec<NamedDate> = names.map(NamedDate::of).collect::<Option<_>>()?;
    let is_over = |at: usize| {
        found
            .iter()
            .any(|date| !date.is_clear && date.numbers[at] > 12)
    };
    let day = match (
        found.iter().all(|date| date.is_clear),
        is_over(0),
        is_over(1),
    ) {
        (true, ..) | (false, true, false) => 0,
        (false, false, true) => 1,
        (false, ..) => return None,
    };
    let date = |found: &NamedDate| {
        let day = if found.is_clear { 0 } else { day };
        let date = Date::new(found.year, found.numbers[1 - day], found.numbers[day]).ok()?;
        Some(date.to_zoned(TimeZone::UTC).ok()?.timestamp())
    };
    let dates: Vec<Timestamp> = found.iter().map(date).collect::<Option<_>>()?;
    let distinct: BTreeSet<&Timestamp> = dates.iter().collect();
    (distinct.len() == dates.len()).then_some(dates)
}

impl NamedDate {
    /// Returns the last date in a name.
    fn of(name: &str) -> Option<Self> {
        let tokens = tokens(name);
        (0..tokens.len())
            .rev()
            .find_map(|at| Self::in_one(tokens[at]).or_else(|| Self::at(&tokens[at..])))
    }

    /// Returns `25092026` as a date.
    fn in_one(token: &str) -> Option<Self> {
        let is_number = token.len() == 8 && token.bytes().all(|it| it.is_ascii_digit());
        if !is_number {
            return None;
        }
        Self::from(
            token[..2].parse().ok()?,
            token[2..4].parse().ok()?,
            &token[4..],
        )
    }

    /// Returns `25-09-2026`, `25-Sep-2026` or `Sep-25-2026` at the beginning as a date.
    fn at(tokens: &[&str]) -> Option<Self> {
        Self::numbers(tokens)
            .or_else(|| Self::day_and_word(tokens))
            .or_else(|| Self::word_and_day(tokens))
    }

    fn numbers(tokens: &[&str]) -> Option<Self> {
        match tokens {
            [first, apart, second, again, year, ..] if is_apart(apart) && apart == again => {
                Self::from(day(first)?, day(second)?, year)
            }
            _ => None,
        }
    }

    fn day_and_word(tokens: &[&str]) -> Option<Self> {
        let [first, word, year, ..] = tokens else {
            return None;
        };
        let month = month_of(word.trim_matches(|it: char| !it.is_ascii_alphabetic()))?;
        Self::from(day(first)?, month, year).map(Self::clear)
    }

    fn word_and_day(tokens: &[&str]) -> Option<Self> {
        let [word, second, apart, year, ..] = tokens else {
            return None;
        };
        let word = word.trim_end_matches(|it: char| !it.is_ascii_alphabetic());
        let start = word.rfind(|it: char| !it.is_ascii_alphabetic());
        let month = month_of(&word[start.map_or(0, |at| at + 1)..])?;
        let is_date = is_apart(apart.trim()) || apart.trim() == ",";
        Self::from(day(second)?, month, year)
            .filter(|_| is_date)
            .map(Self::clear)
    }

    fn clear(self) -> Self {
        Self {
            is_clear: true,
            ..self
        }
    }

    fn from(first: i8, second: i8, year: &str) -> Option<Self> {
        let year: i16 = year.parse().ok().filter(|year| YEARS.contains(year))?;
        let is_day = |number: i8| (1..=31).contains(&number);
        (is_day(first) && is_day(second)).then_some(Self {
            year,
            numbers: [first, second],
            is_clear: false,
        })
    }
}

fn is_apart(text: &str) -> bool {
    matches!(text, "-" | "." | "_" | "/" | " " | "")
}

fn day(text: &str) -> Option<i8> {
    text.parse().ok().filter(|_| text.len() <= 2)
}

/// Returns the number of a month by its English name or the first three letters of it.
fn month_of(word: &str) -> Option<i8> {
    let word = word.to_ascii_lowercase();
    let at = MONTHS.iter().position(|month| word.starts_with(month))?;
    i8::try_from(at + 1).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dates(names: &[&str]) -> Option<String> {
        let dates = dates_in(names.iter().copied())?;
        let texts = dates.iter().map(|date| date.to_string()[..10].to_owned());
        Some(texts.collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn the_day_is_the_number_that_no_month_can_be() {
        let found = Some("2026-09-25 2026-10-01".to_owned());
        for names in [
            ["25-09-2026.json", "01-10-2026.json"],
            ["n/25.09.2026.json", "n/01.10.2026.json"],
            ["09-25-2026.json", "10-01-2026.json"],
            ["25092026.json", "01102026.json"],
            ["Sep-25-2026.json", "Oct-01-2026.json"],
            ["bench_25-Sep-2026.json", "bench_1-October-2026.json"],
        ] {
            assert_eq!(dates(&names), found, "{names:?}");
        }
    }

    #[test]
    fn what_may_be_either_is_no_date() {
        assert_eq!(dates(&["05-11-2026.json", "06-11-2026.json"]), None);
        assert_eq!(dates(&["25-09-2026.json", "09-26-2026.json"]), None);
        assert_eq!(dates(&["25-09-2026.json", "run.json"]), None);
        assert_eq!(dates(&["25-09-2026.json", "x25-09-2026.json"]), None);
    }
}
