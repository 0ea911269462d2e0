//! Patterns with `*` and `?`.

/// Returns whether `text` fits a pattern in which `*` stands for any characters and
/// `?` for one; brackets mean themselves, since benchmark ids have them.
pub(super) fn matches_pattern(pattern: &[char], text: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    let (mut at, mut place) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while at < text.len() {
        match pattern.get(place) {
            Some('*') => {
                star = Some((place, at));
                place += 1;
            }
            Some(&wanted) if wanted == '?' || wanted == text[at] => {
                place += 1;
                at += 1;
            }
            Some(_) | None => match star {
                // The last star swallows one character more.
                Some((star_place, swallowed)) => {
                    star = Some((star_place, swallowed + 1));
                    place = star_place + 1;
                    at = swallowed + 1;
                }
                None => return false,
            },
        }
    }
    pattern[place..].iter().all(|&rest| rest == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_takes_stars_and_question_marks_and_nothing_else() {
        let fits =
            |pattern: &str, text: &str| matches_pattern(&pattern.chars().collect::<Vec<_>>(), text);
        assert!(fits("*join[10-*]", "t.py::test_join[10-100]"));
        assert!(fits("a?c", "aéc"));
        assert!(fits("*", ""));
        assert!(fits("a*b*c", "a-b-b-c"));
        assert!(!fits("*join[1]", "join1"));
        assert!(!fits("a?c", "ac"));
    }
}
