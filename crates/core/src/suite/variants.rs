//! Reads the factors of a suite, and the variants that choose their levels.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::json;

use super::case::{command, environment, sha256, texts_of};
use super::error::{SuiteProblem, nearest};
use super::node::{Located, Node, Table};
use super::plan::{Case, CommandLine, Variant};
use super::python::{PYTHON, PythonEnvironment};
use super::sweep::{cross, fill, misspelt};
use crate::model::{Level, Object, Run};

/// The largest number of settings that factors without variants may span.
const MAX_CROSSING: usize = 64;

struct Factor<'a> {
    name: &'a str,
    levels: Vec<Level>,
    environment: BTreeMap<String, String>,
    arguments: Vec<String>,
    definition: String,
}

/// A variant, and the commands that it replaces by the names of their tables.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct VariantTable {
    pub(super) variant: Variant,
    commands: Vec<(String, CommandLine, usize)>,
}

/// Returns the variants of a suite; without any, every combination of its factors' levels is one.
pub(super) fn read_variants(
    suite: &mut Table,
    folder: &Path,
) -> Result<Vec<VariantTable>, Located> {
    let factors = match suite.take("factor") {
        Some(node) => node
            .entries("factor")?
            .iter()
            .map(|(name, node)| read_factor(name, node))
            .collect::<Result<Vec<_>, _>>()?,
        None => Vec::new(),
    };
    let Some(node) = suite.take("variant") else {
        let crossed = cross_factors(&factors, suite)?.into_iter();
        let tables = crossed.map(|variant| VariantTable {
            variant,
            ..VariantTable::default()
        });
        return Ok(tables.collect());
    };
    let mut variants = Vec::new();
    for (name, node) in node.entries("variant")? {
        variants.push(read_variant(name, node, &factors, folder)?);
    }
    if variants.is_empty() {
        variants.push(VariantTable {
            variant: variant(Run::DEFAULT_VARIANT, Vec::new()),
            ..VariantTable::default()
        });
    }
    Ok(variants)
}

/// Returns the variants with the commands that they replace, for each benchmark of the table that they name.
pub(super) fn resolve_variants(
    tables: Vec<VariantTable>,
    cases: &[Case],
) -> Result<Vec<Variant>, Located> {
    let table_of = |case: &Case| {
        let id = &case.benchmark.id;
        // Nothing but a sweep adds a bracket.
        let is_swept = !case.benchmark.params.is_empty() && id.ends_with(']');
        let name = id.split_once('[').filter(|_| is_swept);
        name.map_or(id.clone(), |(name, _)| name.to_owned())
    };
    let mut variants = Vec::with_capacity(tables.len());
    for VariantTable {
        mut variant,
        commands,
    } in tables
    {
        for (table, command, line) in commands {
            let mut of_table = cases.iter().filter(|it| table_of(it) == table).peekable();
            if of_table.peek().is_none() {
                let problem = SuiteProblem::Undefined {
                    what: "benchmark with a command",
                    suggestion: nearest(&table, cases.iter().map(|it| it.benchmark.id.as_str())),
                    name: table,
                };
                return Err((line, problem));
            }
            for case in of_table {
                let mut command = command.clone();
                for text in texts_of(&mut command) {
                    if let Some(problem) = misspelt(text, &case.benchmark.params) {
                        return Err((line, problem));
                    }
                    *text = fill(text, &case.benchmark.params);
                }
                variant.commands.insert(case.benchmark.id.clone(), command);
            }
        }
        variants.push(variant);
    }
    Ok(variants)
}

fn read_factor<'a>(name: &'a str, node: &Node) -> Result<Factor<'a>, Located> {
    let mut keys = node.table(format!("[factor.{name}]"), name)?;
    let levels = keys.read("levels", levels)?;
    let Some(apply) = keys.take("apply") else {
        let reason = "changes nothing: say what under `apply.env` or `apply.arguments`";
        return Err(node.senseless(name, reason));
    };
    let mut apply = apply.table(format!("[factor.{name}.apply]"), "apply")?;
    let environment = apply.read("env", environment)?.unwrap_or_default();
    let arguments = apply.read("arguments", Node::texts)?.unwrap_or_default();
    apply.finish()?;
    keys.finish()?;
    Ok(Factor {
        name,
        levels: levels.unwrap_or_else(|| vec![Level::Bool(false), Level::Bool(true)]),
        definition: sha256(&json!([environment, arguments]).to_string()),
        environment,
        arguments,
    })
}

fn levels(node: &Node, key: &str) -> Result<Vec<Level>, Located> {
    let levels: Vec<Level> = node
        .list(key)?
        .iter()
        .map(level)
        .collect::<Result<_, _>>()?;
    if levels.is_empty() {
        return Err(node.senseless(key, "is empty, so there is nothing to vary"));
    }
    Ok(levels)
}

fn level(node: &Node) -> Result<Level, Located> {
    node.scalar()
        .ok_or_else(|| node.wrong("levels", "a text, a number, or true or false"))
}

fn read_variant(
    name: &str,
    node: &Node,
    factors: &[Factor],
    folder: &Path,
) -> Result<VariantTable, Located> {
    if name.trim().is_empty() || name.chars().any(char::is_control) {
        return Err(node.senseless(
            "variant",
            "has a name that is empty or has control characters",
        ));
    }
    let mut keys = node.table(format!("[variant.{name}]"), name)?;
    let mut chosen = Vec::new();
    if let Some(node) = keys.take("factors") {
        for (factor, node) in node.entries("factors")? {
            let level = level(node)?;
            let factor = find(factors, factor, &level).map_err(|problem| (node.line, problem))?;
            chosen.push((factor, level));
        }
    }
    let own = keys.read("env", environment)?.unwrap_or_default();
    let arguments = keys.read("arguments", Node::texts)?.unwrap_or_default();
    let setup = keys.read("setup", command)?;
    let worktree = keys.read("worktree", Node::text)?;
    let version = keys.read("python_version", Node::text)?;
    let python = match keys.take(PYTHON) {
        Some(node) => Some(PythonEnvironment::read(node, folder, version)?),
        None if version.is_some() => {
            let reason = "needs `python` beside it, which names the packages";
            return Err(node.senseless("python_version", reason));
        }
        None => None,
    };
    let commands = match keys.take("command") {
        Some(node) => node
            .entries("command")?
            .iter()
            .map(|(table, node)| Ok((table.clone(), command(node, table)?, node.line)))
            .collect::<Result<Vec<_>, Located>>()?,
        None => Vec::new(),
    };
    keys.finish()?;
    let mut variant = variant(name, chosen);
    variant.environment.extend(own);
    variant.arguments.extend(arguments);
    variant.setup = setup;
    variant.worktree = worktree;
    variant.python = python;
    Ok(VariantTable { variant, commands })
}

fn find<'a>(
    factors: &'a [Factor<'a>],
    name: &str,
    level: &Level,
) -> Result<&'a Factor<'a>, SuiteProblem> {
    let Some(factor) = factors.iter().find(|factor| factor.name == name) else {
        return Err(SuiteProblem::Undefined {
            what: "factor",
            name: name.to_owned(),
            suggestion: nearest(name, factors.iter().map(|factor| factor.name)),
        });
    };
    if !factor.levels.contains(level) {
        let levels: Vec<String> = factor.levels.iter().map(ToString::to_string).collect();
        return Err(SuiteProblem::Value {
            key: name.to_owned(),
            reason: format!(
                "has no level `{level}`: its levels are {}",
                levels.join(", ")
            ),
        });
    }
    Ok(factor)
}

fn cross_factors(factors: &[Factor], suite: &Table) -> Result<Vec<Variant>, Located> {
    let levels: Vec<&[Level]> = factors.iter().map(|it| it.levels.as_slice()).collect();
    let Some(rows) = cross(&levels, MAX_CROSSING) else {
        let reason = format!(
            "spans more than {MAX_CROSSING} combinations: name those to measure with [variant.…] tables"
        );
        return Err(suite.senseless("factor", reason));
    };
    let variants = rows.into_iter().map(|row| {
        let chosen: Vec<(&Factor, Level)> = factors.iter().zip(row.into_iter().cloned()).collect();
        let label: Vec<String> = chosen
            .iter()
            .map(|(factor, level)| format!("{}={level}", factor.name))
            .collect();
        if label.is_empty() {
            variant(Run::DEFAULT_VARIANT, chosen)
        } else {
            variant(&label.join(","), chosen)
        }
    });
    Ok(variants.collect())
}

fn variant(name: &str, chosen: Vec<(&Factor, Level)>) -> Variant {
    let mut variant = Variant {
        name: name.to_owned(),
        ..Variant::default()
    };
    for (factor, level) in chosen {
        let name = factor.name.to_owned();
        let definition = factor.definition.clone();
        variant.definitions.insert(name.clone(), definition);
        // A treatment that is absent changes nothing.
        if level != Level::Bool(false) {
            let params = Object::from_iter([("level".to_owned(), json!(level))]);
            for (name, value) in &factor.environment {
                let value = fill(value, &params);
                variant.environment.insert(name.clone(), value);
            }
            let arguments = factor.arguments.iter().map(|it| fill(it, &params));
            variant.arguments.extend(arguments);
        }
        variant.factors.insert(name, level);
    }
    variant
}
