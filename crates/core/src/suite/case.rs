//! Reads one `[benchmark.NAME]` table into the cases that its sweep spans.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};

use super::duration::parse_duration;
use super::error::SuiteProblem;
use super::file::{command, read_env};
use super::limits;
use super::node::{Located, Node, Table, Value};
use super::plan::{
    BurnIn, Case, CaseInput, CommandLine, ExitCodes, MatchChoice, MetricPattern, OutputMetrics,
};
use super::settings::Settings;
use super::sweep::{SweepCombination, SweepParameter, combinations, fill, misspelt};
use crate::model::{Benchmark, Better, Metric, MetricName, Object};

/// What `[defaults]` says for every benchmark.
pub(super) struct CaseDefaults {
    pub(super) settings: Settings,
    folder: PathBuf,
    directory: Option<String>,
    environment: BTreeMap<String, String>,
    tags: Vec<String>,
}

impl CaseDefaults {
    pub(super) fn new(folder: &Path) -> Self {
        Self {
            settings: Settings::default(),
            folder: folder.to_owned(),
            directory: None,
            environment: BTreeMap::new(),
            tags: Vec::new(),
        }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns environment, tags and directory.
    pub(super) fn rest(&self) -> (BTreeMap<String, String>, Vec<String>, Option<String>) {
        let tags = self.tags.clone();
        (self.environment.clone(), tags, self.directory.clone())
    }

    pub(super) fn read_rest(&mut self, keys: &mut Table) -> Result<(), Located> {
        if let Some(node) = keys.take("directory") {
            self.directory = Some(node.text("directory")?);
        }
        if let Some(node) = keys.take("env") {
            self.environment = read_env(node)?;
        }
        if let Some(node) = keys.take("tags") {
            self.tags = node.texts("tags")?;
        }
        Ok(())
    }
}

pub(super) fn read_settings(keys: &mut Table) -> Result<Settings, Located> {
    let time = |node: Option<Node>, key: &str| node.map(|node| duration(&node, key)).transpose();
    Ok(Settings {
        instances: keys
            .take("instances")
            .map(|node| limits::instances(&node, "instances"))
            .transpose()?,
        burn_in: keys
            .take("burn_in")
            .map(|node| burn_in(&node))
            .transpose()?,
        iterations: keys
            .take("iterations")
            .map(|node| limits::iterations(&node, "iterations"))
            .transpose()?,
        time_limit: time(keys.take("time_limit"), "time_limit")?,
        max_failures: keys
            .take("max_failures")
            .map(|node| node.whole("max_failures"))
            .transpose()?,
        min_time: time(keys.take("min_time"), "min_time")?,
        max_time: time(keys.take("max_time"), "max_time")?,
        cpus: None,
    })
}

/// Returns a whole number of 1 or more.
pub(super) fn at_least_one(node: &Node, key: &str) -> Result<u32, Located> {
    match node.whole(key)? {
        0 => Err(node.senseless(key, "must be 1 or more")),
        count => Ok(count),
    }
}

fn burn_in(node: &Node) -> Result<BurnIn, Located> {
    match &node.value {
        Value::Text(text) if text == "auto" => Ok(BurnIn::Auto),
        Value::Integer(_) => Ok(BurnIn::Fixed(limits::burn_in(node, "burn_in")?)),
        Value::Text(_)
        | Value::Number(_)
        | Value::Bool(_)
        | Value::Date(_)
        | Value::List(_)
        | Value::Table(_) => Err(node.wrong("burn_in", "a whole number or \"auto\"")),
    }
}

fn duration(node: &Node, key: &str) -> Result<Duration, Located> {
    let text = match &node.value {
        Value::Text(text) => text.clone(),
        Value::Integer(_) | Value::Number(_) => node.number(key)?.to_string(),
        Value::Bool(_) | Value::Date(_) | Value::List(_) | Value::Table(_) => {
            return Err(node.wrong(key, "a time such as \"200s\""));
        }
    };
    match parse_duration(&text) {
        Ok(duration) if duration.is_zero() => Err(node.senseless(key, "must be above zero")),
        Ok(duration) => Ok(duration),
        Err(reason) => Err(node.senseless(key, reason)),
    }
}

/// Returns the benchmarks of one table: one for each combination of its parameters.
pub(super) fn read_case(
    name: &str,
    mut keys: Table,
    defaults: &CaseDefaults,
) -> Result<Vec<Case>, Located> {
    let line = keys.line();
    let parameters = match keys.take("params") {
        Some(node) => read_parameters(node)?,
        None => Vec::new(),
    };
    let template = read_template(name, keys, defaults)?;
    let rows = combinations(&parameters).map_err(|problem| (line, problem))?;
    rows.into_iter()
        .map(|row| resolve(name, &template, row).map_err(|problem| (line, problem)))
        .collect()
}

fn read_parameters(node: Node) -> Result<Vec<SweepParameter>, Located> {
    node.table("`params`", "params")?
        .take_all()
        .into_iter()
        .map(|(name, node)| {
            let (values, swept) = match &node.value {
                Value::List(nodes) => {
                    let values = nodes
                        .iter()
                        .map(|node| scalar(node, &name))
                        .collect::<Result<Vec<_>, _>>()?;
                    (values, true)
                }
                Value::Text(_)
                | Value::Integer(_)
                | Value::Number(_)
                | Value::Bool(_)
                | Value::Date(_)
                | Value::Table(_) => (vec![scalar(&node, &name)?], false),
            };
            if values.is_empty() {
                let reason = "is an empty list, so no benchmark would be left";
                return Err(node.senseless(&name, reason));
            }
            Ok(SweepParameter {
                name,
                values,
                swept,
            })
        })
        .collect()
}

fn scalar(node: &Node, key: &str) -> Result<Json, Located> {
    match &node.value {
        Value::Text(text) => Ok(json!(text)),
        Value::Integer(number) => Ok(json!(number)),
        Value::Number(number) if number.is_finite() => Ok(json!(number)),
        Value::Bool(value) => Ok(json!(value)),
        Value::Number(_) | Value::Date(_) | Value::List(_) | Value::Table(_) => {
            Err(node.wrong(key, "texts, numbers, or true or false"))
        }
    }
}

/// Reads everything but `params`; texts still hold their `{name}` places.
fn read_template(name: &str, mut keys: Table, defaults: &CaseDefaults) -> Result<Case, Located> {
    let line = keys.line();
    let timed = keys
        .take("command")
        .map(|node| command(&node, "command"))
        .transpose()?;
    let mut optional =
        |key: &'static str| keys.take(key).map(|node| command(&node, key)).transpose();
    let (setup, prepare) = (optional("setup")?, optional("prepare")?);
    let (teardown, check) = (optional("teardown")?, optional("check")?);
    let settings = read_settings(&mut keys)?.or(&defaults.settings);
    let mut environment = defaults.environment.clone();
    if let Some(node) = keys.take("env") {
        environment.extend(read_env(node)?);
    }
    let mut tags = defaults.tags.clone();
    if let Some(node) = keys.take("tags") {
        tags.extend(node.texts("tags")?);
    }
    let directory = match keys.take("directory") {
        Some(node) => Some(node.text("directory")?),
        None => defaults.directory.clone(),
    };
    let folder = directory.map_or_else(|| defaults.folder.clone(), |it| defaults.folder.join(it));
    let stdin = match keys.take("stdin") {
        Some(node) => {
            let path = defaults.folder.join(node.text("stdin")?);
            CaseInput::File(path.display().to_string())
        }
        None => CaseInput::Null,
    };
    let exit_codes = match keys.take("exit_codes") {
        Some(node) => read_exit_codes(&node)?,
        None => ExitCodes::These(vec![0]),
    };
    let output = match keys.take("metrics") {
        Some(node) => match node.text("metrics")?.as_str() {
            "json" => OutputMetrics::Json,
            other => {
                return Err(
                    node.senseless("metrics", format!("can only be \"json\", not \"{other}\""))
                );
            }
        },
        None => OutputMetrics::None,
    };
    let (metrics, patterns) = match keys.take("metric") {
        Some(node) => read_metrics(node)?,
        None => (BTreeMap::new(), BTreeMap::new()),
    };
    let work = match keys.take("work") {
        Some(node) => read_work(node)?,
        None => BTreeMap::new(),
    };
    // A misspelt `command` is an unknown key first and a missing one second.
    keys.finish()?;
    let Some(timed) = timed else {
        let problem = SuiteProblem::Value {
            key: name.to_owned(),
            reason: "has no `command`".to_owned(),
        };
        return Err((line, problem));
    };
    let mut case = Case {
        benchmark: Benchmark {
            id: name.to_owned(),
            tags,
            ..Benchmark::default()
        },
        command: timed,
        setup,
        prepare,
        teardown,
        check,
        directory: Some(folder.display().to_string()),
        environment,
        stdin,
        exit_codes,
        instances: Settings::INSTANCES,
        burn_in: Settings::BURN_IN,
        iterations: Settings::ITERATIONS,
        time_limit: None,
        max_failures: Settings::MAX_FAILURES,
        min_time: None,
        max_time: None,
        output,
        patterns,
        metrics,
        work,
        pytest: None,
    };
    settings.apply(&mut case);
    Ok(case)
}

fn read_exit_codes(node: &Node) -> Result<ExitCodes, Located> {
    match &node.value {
        Value::Text(text) if text == "any" => Ok(ExitCodes::Any),
        Value::List(nodes) if !nodes.is_empty() => nodes
            .iter()
            .map(|node| match node.value {
                Value::Integer(code @ 0..=255) => Ok(i32::try_from(code).unwrap_or_default()),
                Value::Integer(code) => Err(node.senseless(
                    "exit_codes",
                    format!("are from 0 to 255, and {code} is not"),
                )),
                Value::Text(_)
                | Value::Number(_)
                | Value::Bool(_)
                | Value::Date(_)
                | Value::List(_)
                | Value::Table(_) => Err(node.wrong("exit_codes", "whole numbers from 0 to 255")),
            })
            .collect::<Result<Vec<_>, _>>()
            .map(ExitCodes::These),
        _ => Err(node.wrong("exit_codes", "a list of whole numbers or \"any\"")),
    }
}

type DeclaredMetrics = (
    BTreeMap<MetricName, Metric>,
    BTreeMap<MetricName, MetricPattern>,
);

fn read_metrics(node: Node) -> Result<DeclaredMetrics, Located> {
    let mut metrics = BTreeMap::new();
    let mut patterns = BTreeMap::new();
    for (name, node) in node.table("`metric`", "metric")?.take_all() {
        let mut keys = node.table(format!("`metric.{name}`"), &name)?;
        let unit = keys
            .take("unit")
            .map(|node| node.text("unit"))
            .transpose()?;
        let better = match keys.take("better") {
            Some(node) => match node.text("better")?.as_str() {
                "lower" => Some(Better::Lower),
                "higher" => Some(Better::Higher),
                other => {
                    let reason = format!("is \"lower\" or \"higher\", not \"{other}\"");
                    return Err(node.senseless("better", reason));
                }
            },
            None => None,
        };
        if let Some(node) = keys.take("regex") {
            let text = node.text("regex")?;
            if let Err(error) = regex::Regex::new(&text) {
                let message = error.to_string();
                // The library's message is a drawing of several lines that ends with the reason.
                let reason = message.lines().last().unwrap_or_default();
                let reason = reason.trim_start_matches("error: ");
                return Err(node.senseless("regex", format!("is no regular expression: {reason}")));
            }
            let take = match keys.take("take") {
                Some(node) => read_take(&node)?,
                None => MatchChoice::default(),
            };
            patterns.insert(name.clone(), MetricPattern { regex: text, take });
        }
        keys.finish()?;
        let metric = Metric {
            unit: unit.unwrap_or_default(),
            better,
        };
        metrics.insert(name, metric);
    }
    Ok((metrics, patterns))
}

fn read_take(node: &Node) -> Result<MatchChoice, Located> {
    match node.text("take")?.as_str() {
        "first" => Ok(MatchChoice::First),
        "last" => Ok(MatchChoice::Last),
        "min" => Ok(MatchChoice::Min),
        "max" => Ok(MatchChoice::Max),
        "sum" => Ok(MatchChoice::Sum),
        "mean" => Ok(MatchChoice::Mean),
        other => Err(node.senseless(
            "take",
            format!("is one of first, last, min, max, sum, mean, not \"{other}\""),
        )),
    }
}

fn read_work(node: Node) -> Result<BTreeMap<String, f64>, Located> {
    node.table("`work`", "work")?
        .take_all()
        .into_iter()
        .map(|(name, node)| {
            let amount = node.number(&name)?;
            if amount > 0.0 && amount.is_finite() {
                Ok((name, amount))
            } else {
                Err(node.senseless(&name, "must be above zero"))
            }
        })
        .collect()
}

fn resolve(name: &str, template: &Case, row: SweepCombination) -> Result<Case, SuiteProblem> {
    let mut case = template.clone();
    let params = row.params;
    fill_command(&mut case.command, &params)?;
    let around = [
        &mut case.setup,
        &mut case.prepare,
        &mut case.teardown,
        &mut case.check,
    ];
    for part in around.into_iter().flatten() {
        fill_command(part, &params)?;
    }
    for value in case.environment.values_mut() {
        *value = fill_checked(value, &params)?;
    }
    if let Some(directory) = &mut case.directory {
        *directory = fill_checked(directory, &params)?;
    }
    if let CaseInput::File(path) = &mut case.stdin {
        *path = fill_checked(path, &params)?;
    }
    if !row.label.is_empty() {
        case.benchmark.id = format!("{name}[{}]", row.label);
    }
    case.benchmark.params = params;
    case.benchmark.fingerprint = Some(fingerprint(&case));
    Ok(case)
}

fn fill_command(command: &mut CommandLine, params: &Object) -> Result<(), SuiteProblem> {
    match command {
        CommandLine::Shell(text) => *text = fill_checked(text, params)?,
        CommandLine::Words(words) => {
            for word in words {
                *word = fill_checked(word, params)?;
            }
        }
    }
    Ok(())
}

fn fill_checked(text: &str, params: &Object) -> Result<String, SuiteProblem> {
    match misspelt(text, params) {
        Some(problem) => Err(problem),
        None => Ok(fill(text, params)),
    }
}

/// Returns the hash of what a benchmark does: another hash, another meaning.
///
/// How often and how long it is measured, and where its files lie, do not count.
pub(super) fn fingerprint(case: &Case) -> String {
    let definition = json!({
        "command": case.command,
        "setup": case.setup,
        "prepare": case.prepare,
        "check": case.check,
        "environment": case.environment,
        "exit_codes": case.exit_codes,
        "output": case.output,
        "patterns": case.patterns,
        "work": case.work,
    });
    sha256(&definition.to_string())
}

/// Returns `sha256:` and the text's hash in hexadecimal digits.
pub(super) fn sha256(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}
