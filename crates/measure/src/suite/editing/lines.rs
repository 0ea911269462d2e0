//! Byte-order mark and line ends of an edited file, which the TOML library does not keep.

/// Byte-order mark, written by some editors.
const MARK: char = '\u{feff}';

/// Returns a text without byte-order mark, with `\n` as line ends.
pub fn plain(text: &str) -> String {
    text.strip_prefix(MARK)
        .unwrap_or(text)
        .replace("\r\n", "\n")
}

/// Returns the edited text `after` with the byte-order mark and line ends of `before`; changed and
/// new lines end as their neighbours do.
pub fn like(before: &str, after: &str) -> String {
    let (mark, lines) = match before.strip_prefix(MARK) {
        Some(rest) => (true, rest),
        None => (false, before),
    };
    let old: Vec<&str> = lines.split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    let words = |line: &str| line.trim_end_matches(['\r', '\n']).to_owned();
    let is = |at: usize, line: Option<&&str>| match (old.get(at), line) {
        (Some(old), Some(line)) => words(old) == words(line),
        (_, _) => false,
    };
    let mut text = String::new();
    if mark {
        text.push(MARK);
    }
    let mut at = 0;
    for (number, line) in new.iter().enumerate() {
        // A new line precedes an old one; otherwise the line replaces an old one.
        let is_new = !is(at, Some(line)) && is(at, new.get(number + 1));
        let like = if is_new { at.saturating_sub(1) } else { at };
        // The last line may have no end.
        let mut models = old.iter().take(like + 1).rev();
        let model = models
            .find(|it| it.ends_with('\n'))
            .copied()
            .unwrap_or_default();
        at += usize::from(!is_new);
        text.push_str(line.trim_end_matches('\n'));
        if line.ends_with('\n') {
            text.push_str(if model.ends_with("\r\n") {
                "\r\n"
            } else {
                "\n"
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_keeps_its_mark_and_the_end_of_each_line() {
        let before = "\u{feff}a = 1\r\nb = \"\"\"x\ny\r\n\"\"\"\r\nc = 2\n";
        assert_eq!(like(before, &plain(before)), before);
        let changed = plain(before).replace("c = 2", "c = 3");
        assert_eq!(like(before, &changed), before.replace("c = 2", "c = 3"));
        let more = plain(before).replace("b =", "n = 0\nb =");
        assert_eq!(like(before, &more), before.replace("b =", "n = 0\r\nb ="));
        assert_eq!(like("a\r\nb", "a\nb\nc\n"), "a\r\nb\r\nc\r\n");
    }
}
