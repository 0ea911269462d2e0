//! The one font of pictures: how wide a text is, where to break it, how to shorten it.

use std::sync::LazyLock;

/// The font file, so that a bare machine draws the same picture as any other.
pub(in crate::chart) const FONT_FILE: &[u8] =
    include_bytes!("../../../assets/font/LiberationSans-Regular.ttf");

const REPLACEMENT: char = '…';

/// Widths of the characters up to U+2FFF in thousandths of the font size.
static WIDTHS: LazyLock<Vec<u16>> = LazyLock::new(|| {
    let mut widths = vec![UNKNOWN_WIDTH; 0x3000];
    if let Ok(font) = ttf_parser::Face::parse(FONT_FILE, 0) {
        let units = u32::from(font.units_per_em());
        for (code, width) in (0_u32..).zip(&mut widths) {
            let glyph = char::from_u32(code).and_then(|character| font.glyph_index(character));
            if let Some(units_wide) = glyph.and_then(|glyph| font.glyph_hor_advance(glyph)) {
                *width = thousandths(u32::from(units_wide), units);
            }
        }
    }
    widths
});

/// The width of characters that the font does not have: a full square.
const UNKNOWN_WIDTH: u16 = 1000;

/// Returns a width in thousandths of the font size, rounded.
fn thousandths(width: u32, units: u32) -> u16 {
    let rounded = (width * 2_000 + units) / (2 * units);
    u16::try_from(rounded).unwrap_or(UNKNOWN_WIDTH)
}

/// Returns how wide the text is at a font size, both in pixels.
pub(in crate::chart) fn text_width(text: &str, size: f64) -> f64 {
    let thousandths: u32 = text.chars().map(width_of).sum();
    width_at(thousandths, size)
}

/// Returns the width of a character in thousandths of the size.
fn width_of(character: char) -> u32 {
    let known = WIDTHS.get(character as usize).copied();
    u32::from(known.unwrap_or(UNKNOWN_WIDTH))
}

fn width_at(thousandths: u32, size: f64) -> f64 {
    f64::from(thousandths) * size / 1000.0
}

/// Returns the text, or its beginning and its end around `…` where it is wider than `width`.
///
/// Names of benchmarks often differ only at their end, so that is kept too.
pub(in crate::chart) fn shorten(text: &str, size: f64, width: f64) -> String {
    if text_width(text, size) <= width {
        return text.to_owned();
    }
    let characters: Vec<char> = text.chars().collect();
    let mut thousandths: u32 = characters.iter().copied().map(width_of).sum();
    thousandths += width_of(REPLACEMENT);
    for kept in (2..characters.len()).rev() {
        // One character of the middle goes: the last of the head or the first of the tail.
        let (head, tail) = (kept.div_ceil(2), characters.len() - kept / 2);
        let gone = if kept % 2 == 0 { head } else { tail - 1 };
        thousandths -= characters.get(gone).copied().map_or(0, width_of);
        if width_at(thousandths, size) <= width {
            let head = characters.iter().take(head);
            return head
                .chain([&REPLACEMENT])
                .chain(characters.iter().skip(tail))
                .collect();
        }
    }
    REPLACEMENT.to_string()
}

/// Returns the text in lines that are no wider than `width`, broken at spaces where there
/// are any, and inside a word where one alone is too wide.
pub(in crate::chart) fn wrap(text: &str, size: f64, width: f64) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let candidate = if line.is_empty() {
            word.to_owned()
        } else {
            format!("{line} {word}")
        };
        if text_width(&candidate, size) <= width {
            line = candidate;
            continue;
        }
        if !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        for character in word.chars() {
            line.push(character);
            if text_width(&line, size) > width && line.chars().count() > 1 {
                line.pop();
                lines.push(std::mem::take(&mut line));
                line.push(character);
            }
        }
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_the_font() {
        // From the font's table of horizontal metrics: `0` is 1139 of 2048 units wide, `i` 455.
        assert!((text_width("0", 2048.0) - 1139.0).abs() < 1.1);
        assert!((text_width("iii", 2048.0) - 3.0 * 455.0).abs() < 3.1);
    }

    #[test]
    fn a_long_name_keeps_its_beginning_and_its_end() {
        let name = "benchmarks/test_join.py::test_join_with_a_very_long_name[10-1000]";
        let shortened = shorten(name, 12.0, 160.0);
        assert_eq!(shortened, "benchmarks/t…ame[10-1000]");
        assert_eq!(shorten("short", 12.0, 160.0), "short");
    }

    #[test]
    fn lines_break_at_spaces_and_inside_words_that_are_too_wide() {
        assert_eq!(
            wrap("one two aaaaaaaaaaaaaaaaaaaaaaaa", 10.0, 60.0),
            ["one two", "aaaaaaaaaa", "aaaaaaaaaa", "aaaa"]
        );
    }
}
