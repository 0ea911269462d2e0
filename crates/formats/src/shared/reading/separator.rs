//! The separator of the cells of a table.

/// The first lines, by which the separator is found.
const LINES_COMPARED: usize = 20;

/// Returns the separator: that which the most of the first lines have as often as the header, the more often the
/// better.
pub(crate) fn separator(text: &[u8]) -> u8 {
    let lines: Vec<&[u8]> = text
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.trim_ascii().is_empty())
        .take(LINES_COMPARED)
        .collect();
    let merit = |separator: &u8| {
        let mut is_quoted = false;
        let mut count = |line: &[u8]| {
            is_quoted = false;
            let mut is_separator = |byte: &u8| {
                is_quoted ^= *byte == b'"';
                byte == separator && !is_quoted
            };
            line.iter().filter(|byte| is_separator(byte)).count()
        };
        let of_header = lines.first().map_or(0, |line| count(line));
        let alike = lines.iter().filter(|line| count(line) == of_header).count();
        if of_header == 0 {
            (0, 0)
        } else {
            (alike, of_header)
        }
    };
    // The last one wins among equals: commas may be decimal.
    let found = [b'|', b',', b'\t', b';'].into_iter().max_by_key(merit);
    found.unwrap_or(b',')
}
