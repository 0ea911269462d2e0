//! The burn-in file: the first steady iteration of each benchmark, edited by hand.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use lapwing_model::bare_name;
use lapwing_model::text::grouped;
use lapwing_record::files::{LONGEST_SETTINGS, read_named};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use thiserror::Error;

use super::nearest;

/// The reason why a burn-in file cannot be used.
#[derive(Debug, Error)]
pub enum BurnInFileError {
    /// It cannot be read.
    #[error("cannot read {path}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// It is not a map from names to numbers.
    #[error("{path}:{line}:{column}: {what}")]
    Content {
        /// The file.
        path: PathBuf,
        /// The line.
        line: usize,
        /// The column.
        column: usize,
        /// The problem.
        what: String,
    },
    /// It has two numbers for a benchmark.
    #[error("{path} has two numbers for `{name}`")]
    Twice {
        /// The file.
        path: PathBuf,
        /// The benchmark.
        name: String,
    },
    /// It names no benchmark.
    #[error("{path} names no benchmark")]
    Empty {
        /// The file.
        path: PathBuf,
    },
}

/// Content of the file: a map, or a list like Hail's plans.
enum StartsContent {
    Map(BurnInStarts),
    List(Vec<StartEntry>),
}

/// A map without repeated names.
struct BurnInStarts(BTreeMap<String, u32>);

impl<'de> Deserialize<'de> for BurnInStarts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(StartsVisitor)
    }
}

struct StartsVisitor;

impl<'de> Visitor<'de> for StartsVisitor {
    type Value = BurnInStarts;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a map from names to numbers")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<BurnInStarts, A::Error> {
        let mut starts = BTreeMap::new();
        while let Some((name, start)) = map.next_entry::<String, u32>()? {
            if starts.contains_key(&name) {
                return Err(serde::de::Error::custom(format!("`{name}` occurs twice")));
            }
            starts.insert(name, start);
        }
        Ok(BurnInStarts(starts))
    }
}

#[derive(Deserialize)]
struct StartEntry {
    item: String,
    #[serde(alias = "burn-in-iterations")]
    burn_in: u32,
}

/// Returns the first steady iteration by benchmark of a JSON or YAML file.
///
/// # Errors
///
/// If the file cannot be read, or is no map from names to numbers.
pub fn read(path: &Path) -> Result<BTreeMap<String, u32>, BurnInFileError> {
    let text = read_named(path, LONGEST_SETTINGS).map_err(|source| BurnInFileError::Read {
        path: path.to_owned(),
        source,
    })?;
    parse(path, &text)
}

fn parse(path: &Path, text: &str) -> Result<BTreeMap<String, u32>, BurnInFileError> {
    let empty = || BurnInFileError::Empty {
        path: path.to_owned(),
    };
    if text.trim().is_empty() {
        return Err(empty());
    }
    // The errors of the JSON parser are clearer. But YAML may also begin with a bracket.
    let looks_like_json = text.trim_start().starts_with(['{', '[']);
    let is_json = looks_like_json
        && (!is_yaml(path) || serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok());
    let content = if is_json {
        from_json(path, text)?
    } else {
        from_yaml(path, text)?
    };
    let starts: BTreeMap<String, u32> = match content {
        StartsContent::Map(BurnInStarts(starts)) => starts,
        StartsContent::List(entries) => by_name(path, entries)?,
    };
    if starts.is_empty() {
        return Err(empty());
    }
    Ok(starts)
}

fn is_yaml(path: &Path) -> bool {
    let ending = path.extension();
    ending.is_some_and(|ending| ending == "yaml" || ending == "yml")
}

fn by_name(
    path: &Path,
    entries: Vec<StartEntry>,
) -> Result<BTreeMap<String, u32>, BurnInFileError> {
    let mut starts: BTreeMap<String, u32> = BTreeMap::new();
    for StartEntry { item, burn_in } in entries {
        match starts.get(&item) {
            // Hail's own plan has one entry twice.
            Some(known) if *known != burn_in => {
                return Err(BurnInFileError::Twice {
                    path: path.to_owned(),
                    name: item,
                });
            }
            Some(_) | None => starts.insert(item, burn_in),
        };
    }
    Ok(starts)
}

fn from_json(path: &Path, text: &str) -> Result<StartsContent, BurnInFileError> {
    let wrong = |error: serde_json::Error| BurnInFileError::Content {
        path: path.to_owned(),
        line: error.line(),
        column: error.column(),
        what: if error.is_eof() {
            "the JSON is cut off".to_owned()
        } else {
            in_words(&error.to_string())
        },
    };
    // Errors of an untagged enum have no position.
    if text.trim_start().starts_with('[') {
        serde_json::from_str(text)
            .map(StartsContent::List)
            .map_err(wrong)
    } else {
        serde_json::from_str(text)
            .map(StartsContent::Map)
            .map_err(wrong)
    }
}

fn from_yaml(path: &Path, text: &str) -> Result<StartsContent, BurnInFileError> {
    let wrong = |error: serde_saphyr::Error| {
        let place = error.location();
        BurnInFileError::Content {
            path: path.to_owned(),
            line: place.map_or(1, |it| usize::try_from(it.line()).unwrap_or(usize::MAX)),
            column: place.map_or(1, |it| usize::try_from(it.column()).unwrap_or(usize::MAX)),
            what: in_words(&error.without_snippet().to_string()),
        }
    };
    let is_of_list = |line: &str| line == "-" || line.starts_with("- ") || line.starts_with('[');
    let is_content = |line: &&str| !line.is_empty() && !line.starts_with('#') && *line != "---";
    let first = text.lines().map(str::trim).find(is_content);
    let is_list = first.is_some_and(is_of_list);
    if is_list {
        serde_saphyr::from_str(text)
            .map(StartsContent::List)
            .map_err(wrong)
    } else {
        serde_saphyr::from_str(text)
            .map(StartsContent::Map)
            .map_err(wrong)
    }
}

/// Returns a message of serde without the position, which precedes it, and without names of types.
fn in_words(text: &str) -> String {
    let text = text.split(" at line ").next().unwrap_or(text);
    let text = text
        .split(", set DuplicateKeyPolicy")
        .next()
        .unwrap_or(text);
    let negative = text.strip_prefix("invalid value: integer `-");
    if let Some((digits, _)) = negative.and_then(|it| it.split_once('`')) {
        return format!("must be 0 or more, not -{digits}");
    }
    text.replace("u32", "whole number")
        .replace("expected mapping start", "expected keys with values")
        .replace("struct StartEntry", "an entry with `item` and `burn_in`")
}

/// Returns a note for each unknown name of a burn-in file.
pub fn unknown_names<'a>(
    listed: &BTreeMap<String, u32>,
    ids: impl IntoIterator<Item = &'a str>,
) -> Vec<String> {
    /// More names than this are a number.
    const SHOWN: usize = 5;
    let both = ids.into_iter().flat_map(|id| [id, bare_name(id)]);
    let known: BTreeSet<&str> = both.collect();
    let unknown: Vec<&String> = listed
        .keys()
        .filter(|name| !known.contains(name.as_str()))
        .collect();
    let mut notes: Vec<String> = unknown
        .iter()
        .take(SHOWN)
        .map(|name| {
            let meant = nearest(name, known.iter().copied())
                .map_or_else(String::new, |meant| format!("; did you mean `{meant}`?"));
            format!(
                "the burn-in file names `{name}`, but no measured benchmark has this name{meant}"
            )
        })
        .collect();
    if unknown.len() > SHOWN {
        let more = (unknown.len() - SHOWN) as u64;
        notes.push(format!(
            "the burn-in file names {} more without a measured benchmark",
            grouped(more)
        ));
    }
    notes
}

/// Returns the text of a burn-in file: YAML or JSON, by its extension.
///
/// # Errors
///
/// If a name cannot be written.
pub fn text(path: &Path, starts: &BTreeMap<String, u32>) -> Result<String, serde_json::Error> {
    if !is_yaml(path) {
        return Ok(serde_json::to_string_pretty(starts)? + "\n");
    }
    let lines = starts.iter().map(|(name, start)| {
        // A JSON string is a YAML string, whatever is in it.
        let name = serde_json::to_string(name)?;
        Ok(format!("{name}: {start}\n"))
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Vec<(String, u32)>, String> {
        match parse(Path::new("starts"), text) {
            Ok(starts) => Ok(starts.into_iter().collect()),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn json_and_yaml_maps_and_the_list_of_a_plan_are_read() {
        let expected = Ok(vec![("a::b".to_owned(), 5), ("c".to_owned(), 0)]);
        assert_eq!(read_text(r#"{"a::b": 5, "c": 0}"#), expected);
        assert_eq!(read_text("\"a::b\": 5\nc: 0 # flat\n"), expected);
        assert_eq!(
            read_text(
                "- item: a::b\n  burn-in-iterations: 5\n  mean: 1.5\n- item: c\n  burn_in: 0\n"
            ),
            expected
        );
        assert_eq!(
            read_text(r#"[{"item": "a::b", "burn_in": 5}, {"item": "c", "burn_in": 0}]"#),
            expected
        );
    }

    #[test]
    fn yaml_may_be_indented_or_written_with_brackets() {
        let read_yaml = |text: &str| match parse(Path::new("starts.yaml"), text) {
            Ok(starts) => Ok(starts.into_iter().collect::<Vec<(String, u32)>>()),
            Err(error) => Err(error.to_string()),
        };
        let expected = Ok(vec![("a::b".to_owned(), 5), ("c".to_owned(), 0)]);
        assert_eq!(read_yaml("{'a::b': 5, c: 0}\n"), expected);
        assert_eq!(
            read_yaml("[{item: 'a::b', burn_in: 5}, {item: c, burn_in: 0}]\n"),
            expected
        );
        assert_eq!(
            read_yaml("# plan\n---\n  - item: a::b\n    burn_in: 5\n  - item: c\n    burn_in: 0\n"),
            expected
        );
        insta::assert_snapshot!(read_text("[5]").expect_err("wrong"), @"starts:1:2: invalid type: integer `5`, expected an entry with `item` and `burn_in`");
        insta::assert_snapshot!(read_text("- 5\n").expect_err("wrong"), @"starts:1:3: expected keys with values");
    }

    #[test]
    fn a_name_that_stands_twice_is_wrong() {
        insta::assert_snapshot!(read_text("{\"a\": 5,\n \"a\": 6}").expect_err("wrong"), @"starts:2:8: `a` occurs twice");
        insta::assert_snapshot!(read_text("a: 5\na: 6\n").expect_err("wrong"), @"starts:2:1: duplicate mapping key: a");
        let twice = |second: u32| {
            read_text(&format!(
                "- item: a\n  burn_in: 5\n- item: a\n  burn_in: {second}\n"
            ))
        };
        insta::assert_snapshot!(twice(6).expect_err("wrong"), @"starts has two numbers for `a`");
        assert_eq!(twice(5), Ok(vec![("a".to_owned(), 5)]));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        insta::assert_snapshot!(read_text("{\"a\": 5,\n \"b\": -1}").expect_err("wrong"), @"starts:2:8: must be 0 or more, not -1");
        insta::assert_snapshot!(read_text("a: 5\nb: often\n").expect_err("wrong"), @"starts:2:4: invalid whole number");
        insta::assert_snapshot!(read_text("a: 5\nb: [\n").expect_err("wrong"), @"starts:2:4: expected string scalar");
        insta::assert_snapshot!(read_text(" \n").expect_err("wrong"), @"starts names no benchmark");
        insta::assert_snapshot!(read_text("{}").expect_err("wrong"), @"starts names no benchmark");
    }

    #[test]
    fn what_is_written_is_read_again() {
        let starts = BTreeMap::from([("a::b[\"x\": 1]".to_owned(), 5), ("no".to_owned(), 0)]);
        for name in ["starts.json", "starts.yaml"] {
            let text = text(Path::new(name), &starts).expect("text");
            let read = parse(Path::new(name), &text).expect("reads");
            assert_eq!(read, starts);
        }
    }
}
