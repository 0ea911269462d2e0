//! Finds the decimal mark of a column.

use crate::shared::reading::cells::{is_missing, number};
use crate::shared::reading::notation::DecimalMark;

/// The decimal mark of a column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ColumnMark {
    pub(crate) mark: DecimalMark,
    /// A number that can be read in two ways, where no other cell tells which is right.
    pub(crate) unclear: Option<UnclearNumber>,
}

/// A number such as `1.234`, which may be more than a thousand.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct UnclearNumber {
    pub(crate) cell: String,
    /// The number that it was taken for.
    pub(crate) taken: f64,
}

/// Values of one column differ by less than the first of these factors, and wrongly read ones by more than the second.
const ONE_SCALE: f64 = 10.0;
const TWO_SCALES: f64 = 50.0;

/// Counts of cells by the signs in their numbers.
#[derive(Debug, Default)]
struct MarkCounts {
    commas: usize,
    points: usize,
    /// The first cell such as `1,234` and `1.234`, which may be more than a thousand.
    either: Option<String>,
    /// Whether one of these ends with a zero.
    ends_with_zero: bool,
    /// Whether whole numbers below and above a thousand stand beside them.
    has_small: bool,
    has_large: bool,
    /// Smallest and largest number as they are with a decimal comma, and with a point.
    ranges: [Option<(f64, f64)>; 2],
}

impl MarkCounts {
    fn of<'t>(cells: impl Iterator<Item = &'t str>) -> Self {
        let mut counts = Self::default();
        for cell in cells.filter(|cell| !is_missing(cell)) {
            let read = [DecimalMark::Comma, DecimalMark::Point].map(|mark| number(cell, mark));
            for (range, number) in counts.ranges.iter_mut().zip(read) {
                if let Some(size) = number.map(f64::abs).filter(|it| *it > 0.0) {
                    let (least, most) = range.unwrap_or((size, size));
                    *range = Some((least.min(size), most.max(size)));
                }
            }
            match (read, cell.contains([',', '.'])) {
                ([Some(_), None], true) => counts.commas += 1,
                ([None, Some(_)], true) => counts.points += 1,
                ([Some(_), Some(_)], true) => {
                    counts.ends_with_zero |= cell.ends_with('0');
                    counts.either.get_or_insert_with(|| cell.to_owned());
                }
                ([_, Some(whole)], false) if whole != 0.0 => {
                    counts.has_small |= whole.abs() < 1000.0;
                    counts.has_large |= whole.abs() >= 1000.0;
                }
                _no_number => {}
            }
        }
        counts
    }

    /// Returns the mark that most cells have, if any cell can be read in one way only.
    fn clear(&self) -> Option<DecimalMark> {
        match self.commas.cmp(&self.points) {
            std::cmp::Ordering::Greater => Some(DecimalMark::Comma),
            std::cmp::Ordering::Less => Some(DecimalMark::Point),
            std::cmp::Ordering::Equal => None,
        }
    }

    /// Returns the mark of a column in which no cell can be read in one way only: the sign in them, unless thousands are
    /// more likely.
    fn likely(&self, cell: &str) -> DecimalMark {
        let (sign, other, at) = match cell.contains(',') {
            true => (DecimalMark::Comma, DecimalMark::Point, 0),
            false => (DecimalMark::Point, DecimalMark::Comma, 1),
        };
        let width = |at: usize| self.ranges[at].map_or(1.0, |(least, most)| most / least);
        // A program that writes 1.240 does not write 998 without decimals.
        let is_written_apart = self.ends_with_zero && self.has_small;
        let has_two_scales = width(at) >= TWO_SCALES && width(1 - at) <= ONE_SCALE;
        let is_thousands = !self.has_large && (is_written_apart || has_two_scales);
        if is_thousands { other } else { sign }
    }
}

/// Returns the decimal mark of each column: that of most of its cells. Where all of them can be read both ways, it is
/// that of the other columns, or the likely one; in files separated by commas it is a point.
pub(crate) fn decimal_marks<'t, C: Iterator<Item = &'t str>>(
    columns: impl Iterator<Item = C>,
    separator: u8,
) -> Vec<ColumnMark> {
    let counts: Vec<MarkCounts> = columns.map(MarkCounts::of).collect();
    let is_used = |mark| counts.iter().any(|it| it.clear() == Some(mark));
    let usual = match [DecimalMark::Comma, DecimalMark::Point].map(is_used) {
        [true, _] => Some(DecimalMark::Comma),
        [false, true] => Some(DecimalMark::Point),
        [false, false] => (separator == b',').then_some(DecimalMark::Point),
    };
    let mark = |it: &MarkCounts| {
        let known = it.clear().or(usual);
        let mark = match (&it.either, known) {
            (_, Some(mark)) => mark,
            (Some(cell), None) => it.likely(cell),
            (None, None) => DecimalMark::Point,
        };
        let is_unclear = known.is_none() && !it.has_large;
        let unclear = it.either.as_ref().filter(|_| is_unclear);
        let unclear = unclear.and_then(|cell| {
            Some(UnclearNumber {
                cell: cell.clone(),
                taken: number(cell, mark)?,
            })
        });
        ColumnMark { mark, unclear }
    };
    counts.iter().map(mark).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_decimal_mark_is_that_of_the_column_or_of_the_others() {
        let of = |columns: &[&[&str]], separator| {
            let columns = columns.iter().map(|cells| cells.iter().copied());
            let marks = decimal_marks(columns, separator).into_iter().map(|it| {
                let sign = match it.mark {
                    DecimalMark::Comma => ",",
                    DecimalMark::Point => ".",
                };
                let unclear = if it.unclear.is_some() { "?" } else { "" };
                format!("{sign}{unclear}")
            });
            marks.collect::<String>()
        };
        for (columns, separator, expected) in [
            (
                &[&["1.0", "1.1"][..], &["120,11", "121,22"]][..],
                b';',
                ".,",
            ),
            (&[&["1.234,56", "998,1", "1.250"]], b';', ","),
            (&[&["122,470", "117,707"]], b';', ",?"),
            (&[&["122,470", "117,707"]], b',', "."),
            (&[&["1,5", "1.250"], &["1.5", "2", "1.75"]], b'\t', ",."),
            (&[&["1.250", "998"], &["0,5", "0,25"]], b';', ",,"),
            (&[&["1.250", "998"], &["0.5", "0.25"]], b';', ".."),
            (&[&["1,5", "2,5", "2.75"]], b';', ","),
            (&[&["1,5", "2.5", "2.75"]], b';', "."),
            // 1234, 1240 and 998 are of one scale, 1.234 and 998 are not.
            (&[&["1.234", "1.240", "998"], &["a", "b", "c"]], b';', ",?."),
            (&[&["1.234", "1.241", "998"]], b';', ",?"),
            (&[&["1,234", "1,241", "998"]], b';', ".?"),
            (&[&["1.234", "1.241", "2"]], b';', ".?"),
            (&[&["1.234", "1.241", "998"]], b',', "."),
            // Thousands would have a point everywhere.
            (&[&["1.234", "1.240", "1998"]], b';', "."),
        ] {
            assert_eq!(of(columns, separator), expected, "{columns:?}");
        }
    }
}
