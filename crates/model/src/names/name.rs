//! How people name benchmarks: whole, by pattern, or in part.

/// Returns whether `wanted` names `id`: it is the whole id, a pattern with `*` and `?`
/// that fits it, or a part of it.
pub fn matches_name(wanted: &str, id: &str) -> bool {
    if wanted.contains(['*', '?']) {
        return wanted == id || matches_pattern(wanted, id);
    }
    id.contains(wanted)
}

/// Returns whether `text` fits a pattern in which `*` stands for any characters and
/// `?` for one; brackets mean themselves, since benchmark ids have them.
pub fn matches_pattern(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
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

/// Returns what follows the last `::` of an id.
pub fn bare_name(id: &str) -> &str {
    id.rsplit("::").next().unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_takes_stars_and_question_marks_and_nothing_else() {
        let fits = matches_pattern;
        assert!(fits("*join[10-*]", "t.py::test_join[10-100]"));
        assert!(fits("a?c", "aéc"));
        assert!(fits("*", ""));
        assert!(fits("a*b*c", "a-b-b-c"));
        assert!(!fits("*join[1]", "join1"));
        assert!(!fits("a?c", "ac"));
    }
}
