//! Numbers of a text that JSON lacks.

use std::collections::BTreeSet;

use regex::Regex;
use serde_json::Value;

/// Fields of sentences, whose numbers do not count as numbers of JSON.
const SENTENCES: [&str; 8] = [
    "text",
    "headline",
    "why",
    "reason_text",
    "hint",
    "error",
    "consequence",
    "command",
];

/// Returns the numbers of a text that no number of the JSON answers to, with the words around each.
pub fn lacking(text: &str, json: &Value) -> Vec<String> {
    let mut found = Found::default();
    found.read("", json);
    let text = found.without_names(text);
    let number = Regex::new(r"[0-9][0-9,]*(\.[0-9]+)?(e[+−-]?[0-9]+)?").unwrap();
    let mut lacking = Vec::new();
    for at in number.find_iter(&text) {
        let before = text[..at.start()].chars().next_back();
        // Part of a word: `p90`, `x86`, `±`.
        if before.is_some_and(|it| it.is_alphabetic() || it == '_' || it == '#') {
            continue;
        }
        let digits = at.as_str().trim_end_matches(',').replace(',', "");
        let digits = digits.replace('−', "-");
        let value: f64 = digits.parse().unwrap();
        let decimals = digits
            .split('e')
            .next()
            .and_then(|it| it.split_once('.'))
            .map_or(0, |(_, it)| it.len());
        let unit = match unit(&text[at.end()..]) {
            Unit::None => unit_before(&text[..at.start()]),
            own => own,
        };
        if !found.has(value, decimals, unit) {
            let from = text[..at.start()].char_indices().rev().nth(30);
            let to = text[at.end()..].char_indices().nth(20);
            let from = from.map_or(0, |(at, _)| at);
            let to = to.map_or(text.len(), |(to, _)| at.end() + to);
            lacking.push(format!("{digits} in {:?}", &text[from..to]));
        }
    }
    lacking
}

/// How a number is read.
#[derive(Clone, Copy, PartialEq)]
enum Unit {
    Percent,
    Ratio,
    Factor(f64),
    None,
}

const UNITS: [(&str, f64); 19] = [
    ("ns", 1e9),
    ("µs", 1e6),
    ("ms", 1e3),
    ("min", 1.0 / 60.0),
    ("h", 1.0 / 3600.0),
    ("s", 1.0),
    ("d", 1.0 / 86400.0),
    ("KiB", 1.0 / 1024.0),
    ("MiB", 1.0 / 1_048_576.0),
    ("GiB", 1.0 / 1_073_741_824.0),
    ("kB", 1e-3),
    ("MB", 1e-6),
    ("GB", 1e-9),
    ("B", 1.0),
    ("k", 1e-3),
    ("M", 1e-6),
    ("G", 1e-9),
    ("points", 100.0),
    ("sd", 1.0),
];

/// Returns the unit after a number: its own, or that of the other end of its interval.
fn unit(after: &str) -> Unit {
    let rest = Regex::new(r"^(( → |[–,] ?)[+−-]?[0-9.,]+)*").unwrap();
    let after = after[rest.find(after).map_or(0, |it| it.end())..].trim_start();
    if after.starts_with('%') {
        return Unit::Percent;
    }
    if after.starts_with('×') && !after.starts_with("× ") {
        return Unit::Ratio;
    }
    let word: String = after.chars().take_while(|it| it.is_alphabetic()).collect();
    let known = UNITS.iter().find(|(name, _)| *name == word);
    known.map_or(Unit::None, |(_, factor)| Unit::Factor(*factor))
}

/// Returns the unit of the value that an interval in brackets belongs to: `−34 % [−35, −33]`.
fn unit_before(before: &str) -> Unit {
    let line = before.rsplit('\n').next().unwrap_or_default();
    let Some((value, inside)) = line.rsplit_once('[') else {
        return Unit::None;
    };
    if inside.contains(']') {
        return Unit::None;
    }
    // The bracket may begin a line of a wrapped sentence.
    let value = match value.trim() {
        "" => before.rsplit('\n').nth(1).unwrap_or_default(),
        _ => value,
    };
    let last = value.split_whitespace().next_back().unwrap_or_default();
    unit(last.trim_start_matches(|it: char| it.is_ascii_digit() || "+−.,".contains(it)))
}

/// The numbers and names of a JSON value.
#[derive(Default)]
struct Found {
    numbers: Vec<f64>,
    names: BTreeSet<String>,
}

impl Found {
    fn read(&mut self, key: &str, value: &Value) {
        match value {
            Value::Number(number) => self.numbers.extend(number.as_f64()),
            Value::String(text) if SENTENCES.contains(&key) => {
                let _prose = text;
            }
            Value::String(text) => self.name(text),
            Value::Array(entries) => entries.iter().for_each(|it| self.read(key, it)),
            Value::Object(fields) => {
                for (key, value) in fields {
                    self.read(key, value);
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn name(&mut self, text: &str) {
        if text.chars().any(|it| it.is_ascii_digit()) {
            self.names.insert(text.to_owned());
            self.names.insert(text.chars().take(10).collect());
            self.names
                .insert(text.replace('T', " ").chars().take(16).collect());
            self.names
                .insert(text.replace('T', " ").chars().take(19).collect());
        }
    }

    /// Returns the text without names, code and dates.
    fn without_names(&self, text: &str) -> String {
        let mut names: Vec<&String> = self.names.iter().collect();
        names.sort_by_key(|name| std::cmp::Reverse(name.len()));
        let mut text = text.to_owned();
        for name in names {
            text = text.replace(name.as_str(), "·");
        }
        let code = Regex::new(r"`[^`\n]*`|--[a-z-]+( [0-9.]+)?|\[[0-9]+\]").unwrap();
        code.replace_all(&text, "·").into_owned()
    }

    fn has(&self, value: f64, decimals: usize, unit: Unit) -> bool {
        // Bounds are rounded up to two digits.
        let most = 10_f64.powi(-i32::try_from(decimals).unwrap()) * 1.000_001;
        let is_near = |it: f64| (it.abs() - value).abs() <= most * 0.501;
        let is_bound = |it: f64| (it.abs() - value).abs() <= most;
        self.numbers.iter().any(|it| match unit {
            Unit::Percent => [100.0 * it, 100.0 * (it - 1.0), 100.0 * (1.0 / it - 1.0)]
                .into_iter()
                .any(is_bound),
            Unit::Ratio => is_near(*it) || is_near(1.0 / it) || is_near(it + 1.0),
            // Traces are in nanoseconds.
            Unit::Factor(factor) => {
                is_near(it * factor) || is_near(*it) || is_near(it * factor * 1e-9)
            }
            Unit::None => {
                is_near(*it)
                    || decimals > 0
                        && [1e3, 1e6, 1e9, 100.0, 1e-3, 1e-6]
                            .into_iter()
                            .any(|factor| is_near(it * factor))
                    || decimals > 0 && is_near(1.0 / it)
            }
        })
    }
}

#[test]
fn a_number_only_in_the_text_is_found() {
    let json = serde_json::json!({
        "name": "join[10]", "seconds": 0.01234, "ratio": 1.043, "count": 3, "text": "of 7",
    });
    let text = "join[10] takes 12.3 ms (12.3–12.3 ms), 1.04× and +4.3 %, 3 instances, `-n 9`";
    assert_eq!(lacking(text, &json), Vec::<String>::new());
    let lacks = |text: &str| lacking(text, &json).len();
    assert_eq!(lacks("12.4 ms, 1.05×, 5 instances, of 7"), 4);
}
