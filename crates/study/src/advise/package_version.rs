//! The order of versions of Python packages.

use std::cmp::Ordering;

/// The key of a version in comparisons: epoch, numbers without trailing zeros, and pre- or post-release.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct VersionKey {
    epoch: u64,
    release: Vec<u64>,
    /// Development releases come before pre-releases, these before the release, later ones after it.
    phase: (i8, u64, i8, u64),
}

/// Compares versions as PEP 440 orders them: `1.9 < 1.10rc1 < 1.10 = 1.10.0 < 1.10.post1`. Local parts (`+cpu`) count
/// last, as texts.
///
/// ```
/// use lapwing_study::version_order;
/// let mut versions = ["1.10", "1.9.3", "1.10rc1", "1.10.post1", "1.10.dev3"];
/// versions.sort_by(|one, other| version_order(one, other));
/// assert_eq!(versions, ["1.9.3", "1.10.dev3", "1.10rc1", "1.10", "1.10.post1"]);
/// ```
pub fn version_order(one: &str, other: &str) -> Ordering {
    let parts = |text: &str| {
        let (public, local) = text.trim().split_once('+').unwrap_or((text.trim(), ""));
        (key(public), local.to_owned())
    };
    parts(one).cmp(&parts(other))
}

fn key(text: &str) -> VersionKey {
    let text = text.trim_start_matches(['v', 'V']).to_ascii_lowercase();
    let (epoch, rest) = text.split_once('!').unwrap_or(("0", &text));
    let end = rest.find(|it: char| !it.is_ascii_digit() && it != '.');
    let (numbers, suffix) = rest.split_at(end.unwrap_or(rest.len()));
    let mut release: Vec<u64> = numbers
        .split('.')
        .filter_map(|number| number.parse().ok())
        .collect();
    while release.last() == Some(&0) {
        release.pop();
    }
    VersionKey {
        epoch: epoch.parse().unwrap_or(0),
        release,
        phase: phase(suffix),
    }
}

/// Returns the phase of `rc1`, `b2.dev3`, `post1`, `dev4` or nothing.
fn phase(suffix: &str) -> (i8, u64, i8, u64) {
    let number_after = |word: &str| -> Option<u64> {
        let at = suffix.find(word)?;
        let rest = suffix[at + word.len()..].trim_start_matches(['.', '-', '_']);
        let end = rest.find(|it: char| !it.is_ascii_digit());
        Some(rest[..end.unwrap_or(rest.len())].parse().unwrap_or(0))
    };
    let development = number_after("dev");
    let (late, late_number) = match development {
        Some(number) => (-1, number),
        None => (0, 0),
    };
    if let Some(number) = number_after("post").or_else(|| number_after("rev")) {
        return (1, number, late, late_number);
    }
    let pre = [
        ("rc", -2),
        ("c", -2),
        ("beta", -3),
        ("b", -3),
        ("alpha", -4),
        ("a", -4),
    ];
    let found = pre
        .iter()
        .find_map(|(word, rank)| Some((*rank, number_after(word)?)));
    match (found, development) {
        (Some((rank, number)), _) => (rank, number, late, late_number),
        (None, Some(number)) => (-5, number, 0, 0),
        (None, None) => (0, 0, 0, 0),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn versions_are_in_the_order_of_pep_440() {
        // packaging 25.0: sorted(…, key=packaging.version.Version).
        let sorted = [
            "0.9",
            "1.0.dev456",
            "1.0a1",
            "1.0a2",
            "1.0a12",
            "1.0b1.dev456",
            "1.0b2",
            "1.0rc1",
            "1.0",
            "1.0.post456",
            "1.1.dev1",
            "1.1",
            "1.10",
            "2!0.1",
        ];
        for (at, one) in sorted.iter().enumerate() {
            for (place, other) in sorted.iter().enumerate() {
                assert_eq!(version_order(one, other), at.cmp(&place), "{one} {other}");
            }
        }
        assert_eq!(version_order("1.10", "v1.10.0"), Ordering::Equal);
        assert_eq!(version_order("2.1", "2.1+cpu"), Ordering::Less);
    }

    proptest! {
        #[test]
        fn releases_are_compared_number_by_number(one in prop::collection::vec(1..30_u64, 1..4), other in prop::collection::vec(1..30_u64, 1..4)) {
            let text = |numbers: &[u64]| numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(".");
            prop_assert_eq!(version_order(&text(&one), &text(&other)), one.cmp(&other));
        }
    }
}
