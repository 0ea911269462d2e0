//! Fits a table into a terminal: wraps long texts, and drops columns if that is not enough.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::table::Align;

/// Padding of a cell, both sides together.
pub const PADDING: usize = 2;
/// Minimum width of the first column, which identifies the row.
const LEAST_FIRST: usize = 16;
/// Minimum width of other text columns.
const LEAST: usize = 12;

/// Preferred width and alignment of a column.
#[derive(Debug, Clone)]
pub struct ColumnWish {
    /// Alignment of its cells, and whether they may be wrapped.
    pub align: Align,
    /// Width of its widest cell or its heading.
    pub width: usize,
    /// Order of being dropped: lower ranks first; `None` for never.
    pub rank: Option<usize>,
}

/// Returns the width of each column so that all fit `room`, `None` for dropped columns. If they
/// still do not fit, the remaining columns keep their minimum width.
pub fn fit(wishes: &[ColumnWish], room: usize) -> Vec<Option<usize>> {
    let mut widths: Vec<Option<usize>> = wishes.iter().map(|wish| Some(wish.width)).collect();
    let mut ranks: Vec<usize> = wishes.iter().filter_map(|wish| wish.rank).collect();
    ranks.sort_unstable();
    let least = |at: usize| wishes.get(at).map_or(0, |wish| least(wish, at));
    let needed = |widths: &[Option<usize>]| {
        let kept = widths.iter().enumerate().filter(|(_, it)| it.is_some());
        kept.map(|(at, _)| least(at) + PADDING).sum::<usize>()
    };
    for rank in ranks {
        if needed(&widths) <= room + 1 {
            break;
        }
        for (width, wish) in widths.iter_mut().zip(wishes) {
            if wish.rank == Some(rank) {
                *width = None;
            }
        }
    }
    loop {
        let total: usize = widths.iter().flatten().map(|width| width + PADDING).sum();
        // The padding after the last cell is not needed.
        let excess = total.saturating_sub(room + 1);
        let widest = widths
            .iter()
            .enumerate()
            .filter_map(|(at, width)| Some((width.as_ref()?.checked_sub(least(at))?, at)))
            .filter(|(spare, _)| *spare > 0)
            .max_by_key(|(_, at)| widths.get(*at).copied().flatten());
        let Some((spare, at)) = widest.filter(|_| excess > 0) else {
            return widths;
        };
        if let Some(Some(width)) = widths.get_mut(at) {
            // A little at a time, so that all long columns get shorter together.
            *width -= spare.min(excess).min(4);
        }
    }
}

/// The narrowest beginning of names that is left out.
const LEAST_PREFIX: usize = 8;

/// Returns what several names begin with, up to a joint; `None` if that is short.
pub fn common_prefix<'n>(names: impl Iterator<Item = &'n str> + Clone) -> Option<&'n str> {
    let first = names
        .clone()
        .next()
        .filter(|_| names.clone().nth(1).is_some())?;
    let common = names.fold(first, |common, name| {
        let same = common.chars().zip(name.chars());
        let same = same.take_while(|(one, other)| one == other);
        let length: usize = same.map(|(one, _)| one.len_utf8()).sum();
        common.get(..length).unwrap_or_default()
    });
    let (joint, separator) = common.char_indices().rfind(|(_, it)| "/:.".contains(*it))?;
    let prefix = common.get(..joint + separator.len_utf8())?;
    (prefix.width() >= LEAST_PREFIX).then_some(prefix)
}

/// Returns a name in at most `width` columns: its end, which tells it from others, after `…`.
pub fn shortened(name: &str, width: usize) -> String {
    if name.width() <= width {
        return name.to_owned();
    }
    let starts = name.char_indices().map(|(at, _)| at);
    let mut ends = starts.map(|at| name.get(at..).unwrap_or_default());
    let end = ends.find(|end| end.width() < width).unwrap_or_default();
    if width == 0 {
        String::new()
    } else {
        format!("…{end}")
    }
}

fn least(wish: &ColumnWish, at: usize) -> usize {
    match wish.align {
        Align::Right | Align::Whole => wish.width,
        Align::Left => wish.width.min(if at == 0 { LEAST_FIRST } else { LEAST }),
    }
}

/// Returns a text in lines of at most `width`, wrapped at separators within names unless that
/// wastes half a line.
pub fn wrap(text: &str, width: usize) -> String {
    let mut lines: Vec<&str> = Vec::new();
    let mut rest = text;
    while rest.width() > width {
        let end = end_of_line(rest, width.max(1));
        let (line, after) = rest.split_at(end);
        lines.push(line.trim_end());
        rest = after.trim_start();
    }
    if lines.is_empty() || !rest.is_empty() {
        lines.push(rest);
    }
    lines.join("\n")
}

/// Returns sentences in lines of at most `width`, wrapped between words; code in backquotes stays whole, so that it can be
/// copied, even if it is longer than a line.
pub fn wrap_sentences(text: &str, width: usize) -> String {
    let paragraphs: Vec<String> = text
        .split('\n')
        .map(|line| wrap_line(line, width))
        .collect();
    paragraphs.join("\n")
}

fn wrap_line(line: &str, width: usize) -> String {
    let indentation = line.len() - line.trim_start_matches(' ').len();
    let mut wrapped = " ".repeat(indentation);
    let mut used = indentation;
    let mut before = None;
    let mut words = words(line).peekable();
    while let Some(word) = words.next() {
        // A number takes its unit along.
        let unit = words.peek().filter(|unit| is_unit_after(word, unit));
        let needed = word.width() + unit.map_or(0, |unit| 1 + unit.width());
        match before {
            None => used += word.width(),
            Some(before) if used + 1 + needed > width && !is_unit_after(before, word) => {
                wrapped.push('\n');
                used = word.width();
            }
            Some(_) => {
                wrapped.push(' ');
                used += 1 + word.width();
            }
        }
        before = Some(word);
        wrapped.push_str(word);
    }
    wrapped
}

/// Units that stay in the line of their number.
const UNITS: [&str; 17] = [
    "%", "×", "ns", "µs", "ms", "s", "min", "h", "d", "B", "KiB", "MiB", "GiB", "TiB", "PiB", "kB",
    "MB",
];

/// Returns whether a word is the unit of the number before it, as in `(30.0 ms, 2 %)`.
fn is_unit_after(before: &str, word: &str) -> bool {
    let is_number = before.ends_with(|it: char| it.is_ascii_digit() || it == ']');
    let unit = word.trim_end_matches([',', ';', ':', '.', ')', ']']);
    let unit = unit.split_once('/').map_or(unit, |(unit, _)| unit);
    is_number && UNITS.contains(&unit)
}

/// Splits a text at spaces outside of code in backquotes; an empty text has no words.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_paired = text.matches('`').count().is_multiple_of(2);
    let mut is_code = false;
    let words = text.split(move |character| {
        is_code ^= is_paired && character == '`';
        character == ' ' && !is_code
    });
    words.filter(|word| !word.is_empty())
}

/// Returns the end of the first line, which has at least one character.
fn end_of_line(text: &str, width: usize) -> usize {
    let mut used = 0;
    let mut end = 0;
    let mut joint = None;
    let mut before = ' ';
    for (at, character) in text.char_indices() {
        used += character.width().unwrap_or(0);
        if used > width && at > 0 {
            break;
        }
        let late = used * 2 > width;
        let rest = text.get(at..).unwrap_or_default();
        if late && at > 0 && (character == '[' || rest.starts_with("::")) {
            joint = Some(at);
        }
        end = at + character.len_utf8();
        // `--keep` stays whole, `two-words` may be parted.
        let parts = match character {
            ' ' => {
                let unit = rest[1..].split(' ').next().unwrap_or_default();
                !is_unit_after(&text[..at], unit)
            }
            '-' => before.is_alphanumeric(),
            other => "/,_]".contains(other),
        };
        if late && parts {
            joint = Some(end);
        }
        before = character;
    }
    joint.unwrap_or(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(align: Align, width: usize, rank: Option<usize>) -> ColumnWish {
        ColumnWish { align, width, rank }
    }

    #[test]
    fn what_fits_stays_as_it_is() {
        let wishes = [wish(Align::Left, 70, None), wish(Align::Right, 7, None)];
        assert_eq!(fit(&wishes, 80), [Some(70), Some(7)]);
    }

    #[test]
    fn long_texts_get_shorter_and_numbers_do_not() {
        let wishes = [wish(Align::Left, 100, None), wish(Align::Right, 9, None)];
        assert_eq!(fit(&wishes, 80), [Some(68), Some(9)]);
    }

    #[test]
    fn columns_are_given_up_by_rank_when_shorter_texts_do_not_help() {
        let wishes = [
            wish(Align::Left, 30, None),
            wish(Align::Whole, 16, Some(1)),
            wish(Align::Right, 20, None),
            wish(Align::Left, 30, Some(0)),
        ];
        let fitted = |room| fit(&wishes, room);
        assert_eq!(fitted(80), [Some(19), Some(16), Some(20), Some(18)]);
        assert_eq!(fitted(68), [Some(27), Some(16), Some(20), None]);
        assert_eq!(fitted(50), [Some(27), None, Some(20), None]);
        assert_eq!(fitted(10), [Some(16), None, Some(20), None]);
    }

    #[test]
    fn names_break_at_their_joints() {
        assert_eq!(
            wrap("benchmarks/test_join.py::test_join[10-100]", 24),
            "benchmarks/test_join.py\n::test_join[10-100]"
        );
        assert_eq!(wrap("abcdefghij", 4), "abcd\nefgh\nij");
        assert_eq!(wrap("gzip -6 --keep corpus", 12), "gzip -6\n--keep\ncorpus");
        assert_eq!(wrap("日本語", 1), "日\n本\n語");
        assert_eq!(wrap("", 3), "");
    }

    #[test]
    fn names_and_code_in_sentences_stay_whole() {
        let note = "fix or retire it; `--clean burn_in=auto` excludes f.py::test_x[1]";
        insta::assert_snapshot!(wrap_sentences(note, 24), @"
        fix or retire it;
        `--clean burn_in=auto`
        excludes f.py::test_x[1]
        ");
        assert_eq!(wrap_sentences("it`s long", 4), "it`s\nlong");
        assert_eq!(wrap_sentences("", 4), "");
    }

    #[test]
    fn a_number_and_its_unit_stay_in_a_line() {
        let text = "workers wait for 30.0 ms, 1 × of (12 %) at 3.5 MiB.";
        for width in 1..50 {
            for wrapped in [wrap_sentences(text, width), wrap(text, width.max(18))] {
                for part in ["30.0 ms,", "1 ×", "(12 %)", "3.5 MiB."] {
                    assert!(wrapped.contains(part), "{width}: {wrapped}");
                }
            }
        }
        assert_eq!(wrap_sentences("for 3 tasks", 5), "for 3\ntasks");
    }
}
