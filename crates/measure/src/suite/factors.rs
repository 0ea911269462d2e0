//! Factors of a suite: what their levels change, and which of them go together.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::case::{command, environment, sha256, texts_of};
use super::error::SuiteProblem;
use super::node::{Located, Node, Table, Value};
use super::plan::{CommandLine, Variant};
use super::python::{PYTHON, PythonEnvironment, PythonPackages};
use super::sweep::fill;
use lapwing_model::text::joined;
use lapwing_model::{Level, Object};
use lapwing_record::files::{LONGEST_SETTINGS, read_text};

/// The key of the patch of a factor.
const PATCH: &str = "patch";

/// Something that is varied on purpose: its levels, what they change, and which other factors it needs or excludes.
#[derive(Debug, Clone, PartialEq)]
pub struct SuiteFactor {
    /// Its name.
    pub name: String,
    /// Its levels, in the order of the file.
    pub levels: Vec<Level>,
    /// The level of the base configuration.
    pub base: Level,
    /// The factors that must not be at their base level unless this one is.
    pub requires: Vec<String>,
    /// The factors that must be at their base level unless this one is.
    pub excludes: Vec<String>,
    /// What kind of change it is, such as `config`, `environment`, `source` or `removes-feature`.
    pub tags: Vec<String>,
    /// Its place in the order from harmless to drastic.
    pub nice: Option<i64>,
    /// The hash of what it changes.
    pub definition: String,
    change: FactorChange,
}

/// What a level changes; `{level}` is not yet replaced.
#[derive(Debug, Clone, Default, PartialEq)]
struct FactorChange {
    environment: BTreeMap<String, String>,
    arguments: Vec<String>,
    setup: Option<CommandLine>,
    worktree: Option<String>,
    python: Option<PythonEnvironment>,
    cpus: Option<String>,
    /// By level, because its name may depend on it.
    patches: Vec<(Level, SourcePatch)>,
}

/// A patch of the software under test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourcePatch {
    /// Its file, as the suite names it.
    pub file: String,
    /// The content of the file.
    pub content: String,
    /// Why it does not apply to its commit; its content is not kept then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// Reads the factors of a suite.
pub(super) fn read_factors(suite: &mut Table, folder: &Path) -> Result<Vec<SuiteFactor>, Located> {
    let Some(node) = suite.take("factor") else {
        return Ok(Vec::new());
    };
    let mut factors = Vec::new();
    for (name, node) in node.entries("factor")? {
        factors.push(read_factor(name, node, folder)?);
    }
    for (name, node) in node.entries("factor")? {
        check_names(name, node, &factors)?;
    }
    type Has = fn(&FactorChange) -> bool;
    let single: [(&str, Has); 3] = [
        ("worktree", |it| it.worktree.is_some()),
        (PYTHON, |it| it.python.is_some()),
        ("cpus", |it| it.cpus.is_some()),
    ];
    for (key, has) in single {
        let mut with = factors.iter().filter(|it| has(&it.change));
        if let (Some(first), Some(second)) = (with.next(), with.next()) {
            let reason = format!(
                "and `{}` both set `{key}`, of which a command has one: make them levels of one factor",
                first.name
            );
            let mut entries = node.entries("factor")?.iter().rev();
            let second_node = entries.find(|(name, _)| *name == second.name);
            let at = second_node.map_or(node, |(_, node)| node);
            return Err(at.senseless(&second.name, reason));
        }
    }
    Ok(factors)
}

fn read_factor(name: &str, node: &Node, folder: &Path) -> Result<SuiteFactor, Located> {
    let mut keys = node.table(format!("[factor.{name}]"), name)?;
    let levels = keys.read("levels", levels)?;
    let levels = levels.unwrap_or_else(|| vec![Level::Bool(false), Level::Bool(true)]);
    let base = match keys.take("base") {
        None => levels[0].clone(),
        Some(node) => {
            let base = level(node, "base")?;
            if !levels.contains(&base) {
                return Err(node.senseless("base", no_level(&base, &levels)));
            }
            base
        }
    };
    let requires = keys.read("requires", Node::texts)?.unwrap_or_default();
    let excludes = keys.read("excludes", Node::texts)?.unwrap_or_default();
    let tags = keys.read("tags", Node::texts)?.unwrap_or_default();
    let nice = keys.read("nice", |node, key| match node.value {
        Value::Integer(number) => Ok(number),
        _ => Err(node.wrong(key, "a whole number")),
    })?;
    let nothing =
        "changes nothing: say what under `apply`, such as `apply.env` or `apply.arguments`";
    let Some(apply) = keys.take("apply") else {
        return Err(node.senseless(name, nothing));
    };
    let change = read_change(name, apply, &levels, folder)?;
    keys.finish()?;
    if change == FactorChange::default() {
        return Err(node.senseless(name, nothing));
    }
    Ok(SuiteFactor {
        name: name.to_owned(),
        definition: change.definition(),
        levels,
        base,
        requires,
        excludes,
        tags,
        nice,
        change,
    })
}

fn read_change(
    name: &str,
    apply: &Node,
    levels: &[Level],
    folder: &Path,
) -> Result<FactorChange, Located> {
    let mut keys = apply.table(format!("[factor.{name}.apply]"), "apply")?;
    let version = keys.read("python_version", Node::text)?;
    let change = FactorChange {
        environment: keys.read("env", environment)?.unwrap_or_default(),
        arguments: keys.read("arguments", Node::texts)?.unwrap_or_default(),
        setup: keys.read("setup", command)?,
        worktree: keys.read("worktree", Node::text)?,
        python: PythonEnvironment::read_with(&mut keys, folder, version, apply)?,
        cpus: keys.read("cpus", Node::text)?,
        patches: match keys.take(PATCH) {
            None => Vec::new(),
            Some(node) => read_patches(node, levels, folder)?,
        },
    };
    keys.finish()?;
    Ok(change)
}

fn read_patches(
    node: &Node,
    levels: &[Level],
    folder: &Path,
) -> Result<Vec<(Level, SourcePatch)>, Located> {
    let name = node.text(PATCH)?;
    let present = levels.iter().filter(|it| **it != Level::Bool(false));
    present
        .map(|level| {
            let file = fill(&name, &params(level));
            let content = read_text(&folder.join(&file), LONGEST_SETTINGS).map_err(|error| {
                node.senseless(PATCH, format!("cannot be read: {file}: {error}"))
            })?;
            Ok((
                level.clone(),
                SourcePatch {
                    file,
                    content,
                    refused: None,
                },
            ))
        })
        .collect()
}

/// Refuses requirements and exclusions of factors that do not exist.
fn check_names(name: &str, node: &Node, factors: &[SuiteFactor]) -> Result<(), Located> {
    for (key, list) in node.entries(name)? {
        if key != "requires" && key != "excludes" {
            continue;
        }
        for other in list.texts(key)? {
            if other == name {
                return Err(list.senseless(key, "names the factor itself"));
            }
            if !factors.iter().any(|it| it.name == other) {
                let names = factors.iter().map(|it| it.name.as_str());
                return Err((list.line, SuiteProblem::undefined("factor", &other, names)));
            }
        }
    }
    Ok(())
}

fn levels(node: &Node, key: &str) -> Result<Vec<Level>, Located> {
    let levels = node.list(key)?.iter().map(|node| level(node, key));
    let levels: Vec<Level> = levels.collect::<Result<_, _>>()?;
    if levels.is_empty() {
        return Err(node.senseless(key, "is empty, so there is nothing to vary"));
    }
    Ok(levels)
}

/// Returns a level of a factor.
pub(super) fn level(node: &Node, key: &str) -> Result<Level, Located> {
    node.scalar()
        .ok_or_else(|| node.wrong(key, "a text, a number, or true or false"))
}

/// Says that a level is not one of these, as a sentence that follows the name.
fn no_level(level: &Level, levels: &[Level]) -> String {
    let levels = joined(levels.iter().map(ToString::to_string));
    format!("has no level `{level}`: its levels are {levels}")
}

fn params(level: &Level) -> Object {
    Object::from_iter([("level".to_owned(), json!(level))])
}

impl SuiteFactor {
    /// Returns the factor of that name, if it has this level.
    pub(super) fn find<'a>(
        factors: &'a [Self],
        name: &str,
        level: &Level,
    ) -> Result<&'a Self, SuiteProblem> {
        let Some(factor) = factors.iter().find(|factor| factor.name == name) else {
            let names = factors.iter().map(|factor| factor.name.as_str());
            return Err(SuiteProblem::undefined("factor", name, names));
        };
        if !factor.levels.contains(level) {
            return Err(SuiteProblem::Value {
                key: name.to_owned(),
                reason: no_level(level, &factor.levels),
            });
        }
        Ok(factor)
    }

    /// Returns whether it is a treatment: absent or present.
    pub fn is_treatment(&self) -> bool {
        let mut levels = self.levels.iter();
        self.levels.len() == 2 && levels.all(|it| matches!(it, Level::Bool(_)))
    }

    /// Changes a variant as a level asks for.
    fn apply(&self, level: Level, variant: &mut Variant) {
        let (name, definition) = (self.name.clone(), self.definition.clone());
        variant.definitions.insert(name, definition);
        // A treatment that is absent changes nothing.
        if level != Level::Bool(false) {
            self.change.apply(&level, variant);
        }
        variant.factors.insert(self.name.clone(), level);
    }
}

impl FactorChange {
    fn definition(&self) -> String {
        let own = json!([self.environment, self.arguments]);
        let mut further = Object::new();
        let mut add = |key: &str, value: Json| {
            if !value.is_null() {
                further.insert(key.to_owned(), value);
            }
        };
        add("setup", json!(self.setup));
        add("worktree", json!(self.worktree));
        add(PYTHON, json!(self.python));
        add("cpus", json!(self.cpus));
        if !self.patches.is_empty() {
            let contents = self.patches.iter();
            let contents = contents.map(|(level, patch)| json!([level, patch.content]));
            add(PATCH, contents.collect());
        }
        // Factors of earlier versions keep their hashes.
        if further.is_empty() {
            sha256(&own.to_string())
        } else {
            sha256(&json!([own, further]).to_string())
        }
    }

    fn apply(&self, level: &Level, variant: &mut Variant) {
        let params = params(level);
        let filled = |text: &String| fill(text, &params);
        for (name, value) in &self.environment {
            variant.environment.insert(name.clone(), filled(value));
        }
        variant.arguments.extend(self.arguments.iter().map(filled));
        if let Some(mut setup) = self.setup.clone() {
            for text in texts_of(&mut setup) {
                *text = filled(text);
            }
            variant.factor_setups.push(setup);
        }
        if let Some(worktree) = &self.worktree {
            variant.worktree = Some(filled(worktree));
        }
        if let Some(python) = &self.python {
            variant.python = Some(python.map_texts(filled));
        }
        if let Some(cpus) = &self.cpus {
            variant.cpus = Some(filled(cpus));
        }
        let own = self.patches.iter().filter(|(of, _)| of == level);
        variant.patches.extend(own.map(|(_, patch)| patch.clone()));
    }
}

impl PythonEnvironment {
    /// Reads the key `python` of a table, whose `python_version` was read.
    pub(super) fn read_with(
        keys: &mut Table,
        folder: &Path,
        version: Option<String>,
        node: &Node,
    ) -> Result<Option<Self>, Located> {
        match keys.take(PYTHON) {
            Some(node) => Self::read(node, folder, version).map(Some),
            None if version.is_some() => {
                let reason = "needs `python` beside it, which names the packages";
                Err(node.senseless("python_version", reason))
            }
            None => Ok(None),
        }
    }

    /// Returns it with every text replaced.
    fn map_texts(&self, filled: impl Fn(&String) -> String) -> Self {
        let mut all = self.clone();
        let packages = match &mut all.packages {
            PythonPackages::Requirements(lines) => lines.as_mut_slice(),
            PythonPackages::RequirementsFile(path)
            | PythonPackages::Lock(path)
            | PythonPackages::Conda(path)
            | PythonPackages::Existing(path) => std::slice::from_mut(path),
        };
        for text in packages.iter_mut().chain(&mut all.version) {
            *text = filled(text);
        }
        all
    }
}

/// Returns the variant of that name with these levels of factors, applied in the order of the file.
pub(super) fn variant(name: &str, chosen: Vec<(&SuiteFactor, Level)>) -> Variant {
    let mut variant = Variant {
        name: name.to_owned(),
        ..Variant::default()
    };
    for (factor, level) in chosen {
        factor.apply(level, &mut variant);
    }
    variant
}

/// Returns why these levels cannot be together, if a requirement or an exclusion says so. A factor without a level is
/// at its base.
pub fn infeasibility(factors: &[SuiteFactor], levels: &BTreeMap<String, Level>) -> Option<String> {
    let is_present = |name: &str| {
        let factor = factors.iter().find(|it| it.name == name);
        factor.is_some_and(|it| levels.get(name).is_some_and(|level| *level != it.base))
    };
    let mut present = factors.iter().filter(|factor| is_present(&factor.name));
    present.find_map(|factor| {
        let name = &factor.name;
        let missing = factor.requires.iter().find(|other| !is_present(other));
        let excluded = factor.excludes.iter().find(|other| is_present(other));
        missing
            .map(|other| format!("`{name}` requires `{other}`"))
            .or_else(|| excluded.map(|other| format!("`{name}` excludes `{other}`")))
    })
}
