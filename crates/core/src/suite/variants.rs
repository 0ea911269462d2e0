//! Reads the factors of a suite, and the variants that choose their levels.

use std::collections::BTreeMap;

use serde_json::json;

use super::case::{environment, sha256};
use super::error::{SuiteProblem, nearest};
use super::node::{Located, Node, Table};
use super::plan::Variant;
use super::sweep::{cross, fill};
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

/// Returns the variants of a suite; without any, every combination of its factors' levels is one.
pub(super) fn read_variants(suite: &mut Table) -> Result<Vec<Variant>, Located> {
    let factors = match suite.take("factor") {
        Some(node) => node
            .entries("factor")?
            .iter()
            .map(|(name, node)| read_factor(name, node))
            .collect::<Result<Vec<_>, _>>()?,
        None => Vec::new(),
    };
    let Some(node) = suite.take("variant") else {
        return cross_factors(&factors, suite);
    };
    let mut variants = Vec::new();
    for (name, node) in node.entries("variant")? {
        variants.push(read_variant(name, node, &factors)?);
    }
    if variants.is_empty() {
        variants.push(variant(Run::DEFAULT_VARIANT, Vec::new()));
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

fn read_variant(name: &str, node: &Node, factors: &[Factor]) -> Result<Variant, Located> {
    let mut keys = node.table(format!("[variant.{name}]"), name)?;
    let mut chosen = Vec::new();
    if let Some(node) = keys.take("factors") {
        for (factor, node) in node.entries("factors")? {
            let level = level(node)?;
            let factor = find(factors, factor, &level).map_err(|problem| (node.line, problem))?;
            chosen.push((factor, level));
        }
    }
    keys.finish()?;
    Ok(variant(name, chosen))
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
