//! Damages real files of every format in many ways: what comes of it is an error or records
//! that hold together, never a panic.
//!
//! Longer runs set `PROPTEST_CASES`. The targets in `fuzz/` do the same without end.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use lapwing_formats::{
    BadLines, ColumnChoices, EachRun, FORMATS, ImportOptions, Imported, Source, TraceNames,
    check_promises, places_at, read,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

/// Every fixture that is a file of one format: its name and its bytes.
pub(super) static FIXTURES: LazyLock<Vec<(String, Vec<u8>)>> = LazyLock::new(|| {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures"));
    let mut waiting = vec![root.to_owned()];
    let mut files: Vec<PathBuf> = Vec::new();
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else {
                files.push(path);
            }
        }
    }
    files.sort();
    files
        .into_iter()
        .map(|path| {
            let name = path.strip_prefix(root).unwrap().display().to_string();
            (name, fs::read(&path).unwrap())
        })
        .filter(|(_, bytes)| !bytes.is_empty() && bytes.len() < 200_000)
        .collect()
});

/// Words that readers may stumble over.
const WORDS: [&str; 24] = [
    "NaN",
    "-Infinity",
    "null",
    "true",
    "-1",
    "1e999",
    "-0.0",
    "18446744073709551616",
    "\"\"",
    "\"NaN\"",
    "{}",
    "[]",
    "[[[]]]",
    "{\"\":{}}",
    "\u{feff}",
    "\n",
    "\r\n",
    "\t",
    " ",
    ",",
    "\\",
    "µs",
    "\0",
    "Benchmark",
];

/// A way to damage a file.
#[derive(Debug, Clone)]
pub(super) enum Damage {
    Flip(Index, u8),
    Cut(Index, Index),
    Double(Index, Index),
    Insert(Index, &'static str),
    Truncate(Index),
    Repeat(usize),
    /// Some value of a JSON document becomes another one.
    Replace(Index, Value),
    /// Some value of a JSON document goes deep.
    Nest(Index, usize),
    /// Some list of a JSON document grows.
    Grow(Index, usize),
    /// Some key of a JSON document is gone.
    Remove(Index),
}

pub(super) fn damage() -> impl Strategy<Value = Damage> {
    let value = prop_oneof![
        Just(Value::Null),
        Just(json!(-1.5)),
        Just(json!(1e300)),
        Just(json!(u64::MAX)),
        Just(json!("")),
        Just(json!("-INF")),
        Just(json!("12 ms")),
        Just(json!([])),
        Just(json!({})),
        Just(json!([[1, null], ["a"]])),
        Just(json!({"value": 1, "unit": "s"})),
        any::<f64>().prop_map(|number| json!(number)),
        ".{0,12}".prop_map(Value::from),
    ];
    prop_oneof![
        1 => (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Damage::Flip(at, byte)),
        1 => (any::<Index>(), any::<Index>()).prop_map(|(from, to)| Damage::Cut(from, to)),
        1 => (any::<Index>(), any::<Index>()).prop_map(|(from, to)| Damage::Double(from, to)),
        1 => (any::<Index>(), select(&WORDS[..])).prop_map(|(at, word)| Damage::Insert(at, word)),
        1 => any::<Index>().prop_map(Damage::Truncate),
        1 => (2..5_usize).prop_map(Damage::Repeat),
        4 => (any::<Index>(), value).prop_map(|(at, value)| Damage::Replace(at, value)),
        1 => (any::<Index>(), 1..300_usize).prop_map(|(at, depth)| Damage::Nest(at, depth)),
        1 => (any::<Index>(), 2..200_usize).prop_map(|(at, times)| Damage::Grow(at, times)),
        2 => any::<Index>().prop_map(Damage::Remove),
    ]
}

impl Damage {
    pub(super) fn to(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        if bytes.is_empty() {
            return bytes;
        }
        match self {
            Self::Flip(at, byte) => {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            Self::Cut(from, to) => {
                bytes.drain(range(from, to, bytes.len()));
            }
            Self::Double(from, to) => {
                let range = range(from, to, bytes.len());
                let piece = bytes[range.clone()].to_vec();
                bytes.splice(range.end..range.end, piece);
            }
            Self::Insert(at, word) => {
                let at = at.index(bytes.len());
                bytes.splice(at..at, word.bytes());
            }
            Self::Truncate(at) => bytes.truncate(at.index(bytes.len())),
            Self::Repeat(times) => bytes = bytes.repeat(*times),
            Self::Replace(..) | Self::Nest(..) | Self::Grow(..) | Self::Remove(_) => {
                return self.in_json(bytes);
            }
        }
        bytes
    }

    /// Damages the values of a document, or of one line of JSON Lines.
    fn in_json(&self, bytes: Vec<u8>) -> Vec<u8> {
        if let Ok(mut document) = serde_json::from_slice::<Value>(&bytes) {
            self.in_value(&mut document);
            return serde_json::to_vec(&document).unwrap();
        }
        let Ok(text) = String::from_utf8(bytes.clone()) else {
            return bytes;
        };
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        for line in &mut lines {
            if let Ok(mut value) = serde_json::from_str::<Value>(line) {
                self.in_value(&mut value);
                *line = value.to_string();
                break;
            }
        }
        lines.join("\n").into_bytes()
    }

    fn in_value(&self, document: &mut Value) {
        let count = nodes(document);
        match self {
            Self::Replace(at, value) => {
                *node(document, &mut at.index(count)).unwrap() = value.clone();
            }
            Self::Nest(at, depth) => {
                let node = node(document, &mut at.index(count)).unwrap();
                for level in 0..*depth {
                    let inner = node.take();
                    *node = if level % 2 == 0 {
                        json!([inner])
                    } else {
                        json!({ "a": inner })
                    };
                }
            }
            Self::Grow(at, times) => {
                let node = node(document, &mut at.index(count)).unwrap();
                if let Value::Array(list) = node
                    && list.len() * times < 20_000
                {
                    *list = (0..*times).flat_map(|_| list.clone()).collect();
                }
            }
            Self::Remove(at) => {
                let node = node(document, &mut at.index(count)).unwrap();
                if let Value::Object(object) = node
                    && !object.is_empty()
                {
                    let key = object.keys().nth(at.index(object.len())).cloned();
                    object.remove(&key.unwrap());
                }
            }
            Self::Flip(..)
            | Self::Cut(..)
            | Self::Double(..)
            | Self::Insert(..)
            | Self::Truncate(_)
            | Self::Repeat(_) => {}
        }
    }
}

fn range(from: &Index, to: &Index, length: usize) -> std::ops::Range<usize> {
    let (from, to) = (from.index(length), to.index(length));
    from.min(to)..from.max(to)
}

fn nodes(value: &Value) -> usize {
    1 + match value {
        Value::Array(list) => list.iter().map(nodes).sum(),
        Value::Object(object) => object.values().map(nodes).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

/// Returns the node of that number, depth first.
fn node<'v>(value: &'v mut Value, number: &mut usize) -> Option<&'v mut Value> {
    if *number == 0 {
        return Some(value);
    }
    *number -= 1;
    match value {
        Value::Array(list) => list.iter_mut().find_map(|inner| node(inner, number)),
        Value::Object(object) => object.values_mut().find_map(|inner| node(inner, number)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

pub(super) fn read_as(
    name: &str,
    bytes: &[u8],
    format: Option<&str>,
    bad_lines: BadLines,
) -> Option<Imported> {
    let source = Source::from_bytes(name, bytes.to_vec()).ok()?;
    read_source(&source, format, bad_lines)
}

fn read_source(source: &Source, format: Option<&str>, bad_lines: BadLines) -> Option<Imported> {
    let options = ImportOptions {
        format: format.and_then(lapwing_formats::format_named),
        suite: None,
        trace: TraceNames::default(),
        each_run: EachRun::Instance,
        columns: ColumnChoices::default(),
        bad_lines,
        continued: None,
        now: "2026-01-01T00:00:00Z".parse().unwrap(),
    };
    read(source, &options).ok()
}

fn check(imported: &Imported) {
    assert_eq!(check_promises(imported), Ok(()));
}

/// Cases of each property.
pub(super) fn cases() -> u32 {
    let wanted = std::env::var("PROPTEST_CASES").ok();
    wanted.and_then(|text| text.parse().ok()).unwrap_or(1500)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn a_damaged_file_gives_an_error_or_records_that_hold_together(
        which in any::<Index>(),
        damages in vec(damage(), 1..4),
    ) {
        let (name, bytes) = &FIXTURES[which.index(FIXTURES.len())];
        let damaged = damages.iter().fold(bytes.clone(), |bytes, damage| damage.to(bytes));
        // As what it is, strictly and leniently.
        let strict = read_as(name, &damaged, None, BadLines::Refuse);
        let lenient = read_as(name, &damaged, None, BadLines::Skip);
        if let Some(strict) = &strict {
            check(strict);
            let lenient = lenient.as_ref().expect("what is good strictly is good leniently");
            prop_assert_eq!(&strict.records, &lenient.records);
        }
        if let Some(lenient) = &lenient {
            check(lenient);
        }
    }

    #[test]
    fn a_file_read_as_any_format_gives_an_error_or_records_that_hold_together(
        which in any::<Index>(),
        format in 0..FORMATS.len(),
        damages in vec(damage(), 0..2),
    ) {
        let (name, bytes) = &FIXTURES[which.index(FIXTURES.len())];
        let damaged = damages.iter().fold(bytes.clone(), |bytes, damage| damage.to(bytes));
        if let Some(read) = read_as(name, &damaged, Some(FORMATS[format].name), BadLines::Skip) {
            check(&read);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases() / 10, ..ProptestConfig::default() })]

    #[test]
    fn a_folder_with_a_damaged_file_gives_an_error_or_records_that_hold_together(
        folder in select(&["criterion-0.8.2", "criterion-0.3.0", "asv-0.6.6", "asv-0.4.2"][..]),
        which in any::<Index>(),
        damages in vec(damage(), 1..3),
    ) {
        let place = tempfile::tempdir().unwrap();
        let inside: Vec<&(String, Vec<u8>)> = FIXTURES
            .iter()
            .filter(|(name, _)| name.starts_with(folder))
            .collect();
        let broken = which.index(inside.len());
        for (number, (name, bytes)) in inside.into_iter().enumerate() {
            let path = place.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let bytes = bytes.clone();
            let bytes = if number == broken {
                damages.iter().fold(bytes, |bytes, damage| damage.to(bytes))
            } else {
                bytes
            };
            fs::write(path, bytes).unwrap();
        }
        for found in places_at(place.path()).unwrap().places {
            let Ok(source) = Source::open(&found.path, place.path()) else { continue };
            for bad_lines in [BadLines::Refuse, BadLines::Skip] {
                if let Some(imported) = read_source(&source, None, bad_lines) {
                    check(&imported);
                }
            }
        }
    }
}

#[test]
fn fixtures_of_every_format_are_damaged() {
    let mut found: HashSet<&str> = HashSet::new();
    for (name, bytes) in FIXTURES.iter() {
        if let Some(imported) = read_as(name, bytes, None, BadLines::Refuse) {
            check(&imported);
            found.insert(imported.format.name);
        }
    }
    let missing: Vec<&str> = FORMATS
        .iter()
        .map(|format| format.name)
        .filter(|name| !found.contains(name))
        .collect();
    assert_eq!(missing, [""; 0]);
}
