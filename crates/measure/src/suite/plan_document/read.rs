//! Makes entries of what a plan file holds.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;
use std::path::Path;

use super::error::{EntryName, PlanDocumentError};
use super::{PlanConfiguration, PlanDocument, PlanEntry, tree};
use crate::suite::node::{Located, Node, Table, Value};
use crate::suite::numbers::settings::{BURN_IN_LIMITS, INSTANCE_LIMITS, ITERATION_LIMITS};

/// A plan as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadPlan {
    /// The plan.
    pub document: PlanDocument,
    /// Items that stood twice, in the order of their first entry; each is worth a note.
    pub repeated: Vec<RepeatedItem>,
}

/// An item that stood more than once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepeatedItem {
    /// The item.
    pub item: String,
    /// The lines of its entries; the last one counts.
    pub lines: Vec<usize>,
}

impl fmt::Display for RepeatedItem {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let lines: Vec<String> = self.lines.iter().map(ToString::to_string).collect();
        write!(
            formatter,
            "`{}` stands {} times, in lines {}: the last one counts",
            self.item,
            self.lines.len(),
            lines.join(", ")
        )
    }
}

impl PlanDocument {
    /// Reads the text of a plan, YAML or JSON; `path` is named in errors.
    ///
    /// A file may hold several documents, which count as one. Of an item that stands twice the
    /// last entry wins, in the place of the first. Keys that mean nothing here are ignored.
    ///
    /// # Errors
    /// With the first place that is wrong.
    pub fn parse(path: &Path, text: &str) -> Result<ReadPlan, PlanDocumentError> {
        let mut entries: Vec<(PlanEntry, Vec<usize>)> = Vec::new();
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        let mut position = 0;
        for document in tree::read(path, text)? {
            for node in list(path, document)? {
                position += 1;
                let line = node.line;
                let entry = entry(path, position, node)?;
                match places.get(&entry.item) {
                    Some(&place) => {
                        let (known, lines) = &mut entries[place];
                        *known = entry;
                        lines.push(line);
                    }
                    None => {
                        places.insert(entry.item.clone(), entries.len());
                        entries.push((entry, vec![line]));
                    }
                }
            }
        }
        if entries.is_empty() {
            return Err(PlanDocumentError::Empty(path.to_owned()));
        }
        let repeated = entries.iter().filter(|(_, lines)| lines.len() > 1);
        let repeated = repeated.map(|(entry, lines)| RepeatedItem {
            item: entry.item.clone(),
            lines: lines.clone(),
        });
        Ok(ReadPlan {
            repeated: repeated.collect(),
            document: PlanDocument {
                entries: entries.into_iter().map(|(entry, _)| entry).collect(),
            },
        })
    }
}

fn list(path: &Path, document: Node) -> Result<Vec<Node>, PlanDocumentError> {
    match document.value {
        Value::List(nodes) => Ok(nodes),
        _ => Err(PlanDocumentError::NoList {
            path: path.to_owned(),
            line: document.line,
            found: document.found(),
        }),
    }
}

fn entry(path: &Path, position: usize, node: Node) -> Result<PlanEntry, PlanDocumentError> {
    let item = item_of(&node);
    read_entry(&node).map_err(|(line, problem)| PlanDocumentError::Entry {
        path: path.to_owned(),
        line,
        entry: EntryName { position, item },
        problem: Box::new(problem),
    })
}

/// Returns the item that an entry is about, for what is said of it.
fn item_of(node: &Node) -> Option<String> {
    let Value::Table(entries) = &node.value else {
        return None;
    };
    entries.iter().find_map(|(key, value)| {
        let item = (key == "item").then(|| value.text(key).ok());
        item.flatten().filter(|it| !it.is_empty())
    })
}

fn read_entry(node: &Node) -> Result<PlanEntry, Located> {
    let mut keys = node.table("the entry", "entry")?;
    let item = needed(&mut keys, "item")?;
    let text = item.text("item")?;
    if text.is_empty() {
        return Err(item.senseless("item", "is empty"));
    }
    let burn_in = burn_in(&mut keys)?;
    let mean = amount(&mut keys, "mean")?;
    let cv = amount(&mut keys, "cv")?;
    let config = needed(&mut keys, "config")?;
    let configurations = config.list("config")?.iter().map(configuration);
    let configurations: Vec<PlanConfiguration> = configurations.collect::<Result<_, _>>()?;
    if configurations.is_empty() {
        return Err(config.senseless("config", "is an empty list"));
    }
    Ok(PlanEntry {
        item: text,
        burn_in,
        mean,
        cv,
        configurations,
    })
}

fn needed<'a>(keys: &mut Table<'a>, key: &'static str) -> Result<&'a Node, Located> {
    keys.take(key)
        .ok_or_else(|| keys.senseless(key, "is missing"))
}

/// Hail's notebook says `burn_in`, its submit script `burn-in-iterations`.
fn burn_in(keys: &mut Table) -> Result<u32, Located> {
    let by_script = keys.take("burn-in-iterations");
    let by_notebook = keys.take("burn_in");
    match (by_script, by_notebook) {
        (Some(by_script), Some(by_notebook)) => {
            let one = whole(by_script, "burn-in-iterations", BURN_IN_LIMITS)?;
            let other = whole(by_notebook, "burn_in", BURN_IN_LIMITS)?;
            if one == other {
                return Ok(one);
            }
            let reason = format!("is {other}, and `burn-in-iterations` is {one}: keep one of them");
            Err(by_notebook.senseless("burn_in", reason))
        }
        (Some(node), None) => whole(node, "burn-in-iterations", BURN_IN_LIMITS),
        (None, Some(node)) => whole(node, "burn_in", BURN_IN_LIMITS),
        (None, None) => Err(keys.senseless("burn-in-iterations", "is missing")),
    }
}

/// Returns a whole number within `limits`; one with a fraction, or too large to be whole, is refused.
fn whole(node: &Node, key: &str, limits: RangeInclusive<u32>) -> Result<u32, Located> {
    match node.value {
        Value::Number(value) if value.fract() == 0.0 && value.abs() > f64::from(u32::MAX) => {
            Err(node.senseless(key, format!("is too large: {value:e}")))
        }
        Value::Number(value) => {
            let reason = format!("must be a whole number, not {value:?}");
            Err(node.senseless(key, reason))
        }
        _ => node.whole(key, limits),
    }
}

/// Returns a number that is finite and not negative, if there is one.
fn amount(keys: &mut Table, key: &'static str) -> Result<Option<f64>, Located> {
    let Some(node) = keys.take(key) else {
        return Ok(None);
    };
    let value = node.number(key)?;
    if value.is_finite() && value >= 0.0 {
        Ok(Some(value))
    } else {
        Err(node.senseless(key, format!("must be 0 or more, not {value}")))
    }
}

fn configuration(node: &Node) -> Result<PlanConfiguration, Located> {
    let mut keys = node.table("the configuration", "config")?;
    let slowdown = needed(&mut keys, "slowdown")?;
    let value = slowdown.number("slowdown")?;
    if !(value.is_finite() && value > 1.0) {
        let reason = format!("must be above 1, such as 1.05 for 5 %, not {value}");
        return Err(slowdown.senseless("slowdown", reason));
    }
    let mut count = |key: &'static str, limits| whole(needed(&mut keys, key)?, key, limits);
    Ok(PlanConfiguration {
        slowdown: value,
        instances: count("instances", INSTANCE_LIMITS)?,
        iterations: count("iterations", ITERATION_LIMITS)?,
    })
}
