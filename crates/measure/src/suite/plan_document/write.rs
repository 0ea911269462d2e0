//! Writes a plan as YAML that every reader takes alike, be it of YAML 1.1 (PyYAML) or 1.2.

use super::{PlanDocument, PlanEntry};

/// Who is to read what is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PlanFlavour {
    /// Hail's submit script, which calls the burn-in `burn-in-iterations`.
    #[default]
    HailBatch,
    /// Hail's notebook, which calls it `burn_in`.
    HailNotebook,
}

impl PlanFlavour {
    fn burn_in(self) -> &'static str {
        match self {
            Self::HailBatch => "burn-in-iterations",
            Self::HailNotebook => "burn_in",
        }
    }
}

impl PlanDocument {
    /// Returns the plan as YAML in block style, in the order of the entries.
    pub fn text(&self, flavour: PlanFlavour) -> String {
        if self.entries.is_empty() {
            return "[]\n".to_owned();
        }
        let entries = self.entries.iter();
        entries.map(|one| entry(one, flavour)).collect()
    }
}

fn entry(entry: &PlanEntry, flavour: PlanFlavour) -> String {
    let mut text = format!("- item: {}\n", scalar(&entry.item));
    text.push_str(&format!("  {}: {}\n", flavour.burn_in(), entry.burn_in));
    for (key, value) in [("mean", entry.mean), ("cv", entry.cv)] {
        if let Some(value) = value {
            text.push_str(&format!("  {key}: {}\n", number(value)));
        }
    }
    text.push_str("  config:");
    text.push_str(if entry.configurations.is_empty() {
        " []\n"
    } else {
        "\n"
    });
    for it in &entry.configurations {
        text.push_str(&format!(
            "  - slowdown: {}\n    instances: {}\n    iterations: {}\n",
            number(it.slowdown),
            it.instances,
            it.iterations
        ));
    }
    text
}

/// Returns the shortest form of a number that is read back exactly. In YAML 1.1 only what has
/// a point, and a sign before its exponent, is one.
fn number(value: f64) -> String {
    if value.is_nan() {
        return ".nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { ".inf" } else { "-.inf" }.to_owned();
    }
    let text = format!("{value:?}");
    let Some((digits, exponent)) = text.split_once('e') else {
        return text;
    };
    let point = if digits.contains('.') { "" } else { ".0" };
    let sign = if exponent.starts_with('-') { "" } else { "+" };
    format!("{digits}{point}e{sign}{exponent}")
}

/// Returns a text as a YAML scalar, in quotes where it could be taken for something else.
fn scalar(text: &str) -> String {
    if is_plain(text) {
        text.to_owned()
    } else {
        quoted(text)
    }
}

/// Words that are no texts, in any case of letters.
const WORDS: [&str; 12] = [
    "true", "false", "yes", "no", "on", "off", "y", "n", "null", "inf", "infinity", "nan",
];

/// Returns whether a text needs no quotes. Some that need none get them: what begins with a
/// letter cannot be a number, a date or a sign of YAML.
fn is_plain(text: &str) -> bool {
    let allowed = |it: char| it.is_ascii_alphanumeric() || " _-./:[](){}=+,@%*~".contains(it);
    text.starts_with(|it: char| it.is_ascii_alphabetic())
        && text.chars().all(allowed)
        && !text.contains(": ")
        && !text.ends_with([':', ' '])
        && !WORDS.contains(&text.to_ascii_lowercase().as_str())
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for it in text.chars() {
        match it {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            // Line ends of YAML, and what must not stand in a file of it.
            '\u{2028}' | '\u{2029}' | '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}' => {
                quoted.push_str(&format!("\\u{:04X}", u32::from(it)));
            }
            it if it.is_control() => quoted.push_str(&format!("\\x{:02X}", u32::from(it))),
            it => quoted.push(it),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_where_they_could_be_something_else() {
        let plain = [
            "sort",
            "a/b.py::test_x[10-100]",
            "gzip -6 -kf corpus.bin",
            "Null1",
            "a#b",
        ];
        assert_eq!(
            plain.map(scalar),
            [
                "sort",
                "a/b.py::test_x[10-100]",
                "gzip -6 -kf corpus.bin",
                "Null1",
                "\"a#b\""
            ]
        );
        let others = [
            "",
            "null",
            "Off",
            "y",
            "NaN",
            "7",
            "1e5",
            "12:30",
            "2026-11-22",
            "-x",
            "- x",
            "a: b",
            "a:",
            "a ",
            "[a]",
            "~",
            "é",
            "a\tb\u{7}\u{85}\u{2028}",
            "\"\\",
        ];
        insta::assert_snapshot!(others.map(scalar).join("\n"), @r#"
        ""
        "null"
        "Off"
        "y"
        "NaN"
        "7"
        "1e5"
        "12:30"
        "2026-11-22"
        "-x"
        "- x"
        "a: b"
        "a:"
        "a "
        "[a]"
        "~"
        "é"
        "a\tb\x07\x85\u2028"
        "\"\\"
        "#);
    }

    #[test]
    fn numbers_have_a_point_and_a_signed_exponent() {
        let numbers = [11.41, 2.0, 1e-7, 1.5e300, 5e-324, 0.1 + 0.2, f64::INFINITY];
        assert_eq!(
            numbers.map(number),
            [
                "11.41",
                "2.0",
                "1.0e-7",
                "1.5e+300",
                "5.0e-324",
                "0.30000000000000004",
                ".inf"
            ]
        );
    }
}
