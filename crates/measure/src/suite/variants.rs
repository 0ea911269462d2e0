//! Reads the factors of a suite, and the variants that choose their levels.

use std::collections::BTreeMap;
use std::path::Path;

use super::case::{command, environment, texts_of};
use super::error::SuiteProblem;
use super::factors::{SuiteFactor, infeasibility, level, read_factors, variant};
use super::node::{Located, Node, Table};
use super::plan::{Case, CommandLine, Variant};
use super::python::PythonEnvironment;
use super::sweep::{cross, fill, misspelt};
use lapwing_model::{Level, Run};

/// The largest number of settings that factors without variants may span.
const MAX_CROSSING: usize = 64;

/// What a suite varies.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct VariedSettings {
    pub(super) factors: Vec<SuiteFactor>,
    pub(super) variants: Vec<VariantTable>,
    /// Set if there are no variants because the factors span too many.
    pub(super) too_many: Option<Located>,
}

/// A variant, and the commands that it replaces by the names of their tables.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct VariantTable {
    pub(super) variant: Variant,
    commands: Vec<(String, CommandLine, usize)>,
}

/// Returns the factors and variants of a suite; without any variant, every feasible combination of its factors'
/// levels is one.
pub(super) fn read_variants(suite: &mut Table, folder: &Path) -> Result<VariedSettings, Located> {
    let factors = read_factors(suite, folder)?;
    let mut varied = VariedSettings {
        variants: Vec::new(),
        too_many: None,
        factors,
    };
    let Some(node) = suite.take("variant") else {
        match cross_factors(&varied.factors, suite) {
            Ok(crossed) => {
                let tables = crossed.into_iter().map(|variant| VariantTable {
                    variant,
                    ..VariantTable::default()
                });
                varied.variants = tables.collect();
            }
            Err(problem) => varied.too_many = Some(problem),
        }
        return Ok(varied);
    };
    for (name, node) in node.entries("variant")? {
        let table = read_variant(name, node, &varied.factors, folder)?;
        varied.variants.push(table);
    }
    if varied.variants.is_empty() {
        varied.variants.push(VariantTable {
            variant: variant(Run::DEFAULT_VARIANT, Vec::new()),
            ..VariantTable::default()
        });
    }
    Ok(varied)
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
                let ids = cases.iter().map(|case| case.benchmark.id.as_str());
                let what = "benchmark with a command";
                return Err((line, SuiteProblem::undefined(what, &table, ids)));
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

fn read_variant(
    name: &str,
    node: &Node,
    factors: &[SuiteFactor],
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
            let level = level(node, "levels")?;
            let factor = SuiteFactor::find(factors, factor, &level);
            chosen.push((factor.map_err(|problem| (node.line, problem))?, level));
        }
        if let Some(reason) = infeasibility(factors, &levels_of(&chosen)) {
            return Err(node.senseless("factors", format!("cannot be: {reason}")));
        }
    }
    let own = keys.read("env", environment)?.unwrap_or_default();
    let arguments = keys.read("arguments", Node::texts)?.unwrap_or_default();
    let setup = keys.read("setup", command)?;
    let worktree = keys.read("worktree", Node::text)?;
    let version = keys.read("python_version", Node::text)?;
    let python = PythonEnvironment::read_with(&mut keys, folder, version, node)?;
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
    variant.worktree = worktree.or(variant.worktree);
    variant.python = python.or(variant.python);
    Ok(VariantTable { variant, commands })
}

fn cross_factors(factors: &[SuiteFactor], suite: &Table) -> Result<Vec<Variant>, Located> {
    let levels: Vec<&[Level]> = factors.iter().map(|it| it.levels.as_slice()).collect();
    let Some(rows) = cross(&levels, MAX_CROSSING) else {
        let reason = format!(
            "spans more than {MAX_CROSSING} combinations: name those to measure with [variant.…] tables, or let `lapwing study design` choose some"
        );
        return Err(suite.senseless("factor", reason));
    };
    let variants = rows.into_iter().filter_map(|row| {
        let chosen: Vec<(&SuiteFactor, Level)> =
            factors.iter().zip(row.into_iter().cloned()).collect();
        if infeasibility(factors, &levels_of(&chosen)).is_some() {
            return None;
        }
        let label = chosen.iter();
        let label = label.map(|(factor, level)| format!("{}={level}", factor.name));
        let label = label.collect::<Vec<_>>().join(",");
        Some(if chosen.is_empty() {
            variant(Run::DEFAULT_VARIANT, chosen)
        } else {
            variant(&label, chosen)
        })
    });
    Ok(variants.collect())
}

fn levels_of(chosen: &[(&SuiteFactor, Level)]) -> BTreeMap<String, Level> {
    let levels = chosen.iter();
    levels
        .map(|(factor, level)| (factor.name.clone(), level.clone()))
        .collect()
}
