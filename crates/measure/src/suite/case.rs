//! Reads one `[benchmark.NAME]` table into the cases that its sweep spans.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};

use super::error::SuiteProblem;
use super::node::{Located, Node, Table, Value};
use super::numbers::settings::Settings;
use super::plan::{
    Case, CaseInput, CommandLine, ExitCodes, MatchChoice, MetricPattern, OutputMetrics,
};
use super::sweep::{
    LONGEST_PARAMETERS, MAX_COMBINATIONS, SweepCombination, SweepParameter, combinations, fill,
    filled_length, misspelt,
};
use lapwing_model::text::{hexadecimal, plain};
use lapwing_model::{Level, Metric};
use lapwing_record::private::{HideRules, PrivacyRules, RecordCleaner};

/// What `[defaults]` says for every benchmark.
#[derive(Clone)]
pub(super) struct CaseDefaults {
    pub(super) settings: Settings,
    /// The folder of the suite.
    pub(super) folder: PathBuf,
    /// Where commands run.
    pub(super) directory: String,
    pub(super) environment: BTreeMap<String, String>,
    pub(super) tags: Vec<String>,
}

impl CaseDefaults {
    pub(super) fn new(folder: &Path) -> Self {
        Self {
            settings: Settings::default(),
            folder: folder.to_owned(),
            directory: folder.display().to_string(),
            environment: BTreeMap::new(),
            tags: Vec::new(),
        }
    }

    /// Returns these with the directory, variables and tags of a table.
    pub(super) fn with(&self, keys: &mut Table) -> Result<Self, Located> {
        let mut all = self.clone();
        if let Some(directory) = keys.read("directory", Node::text)? {
            all.directory = self.folder.join(directory).display().to_string();
        }
        let environment = keys.read("env", environment)?;
        all.environment.extend(environment.unwrap_or_default());
        let tags = keys.read("tags", Node::texts)?;
        all.tags.extend(tags.unwrap_or_default());
        Ok(all)
    }
}

/// Returns a command: a text for the shell, or a list of words.
pub(super) fn command(node: &Node, key: &str) -> Result<CommandLine, Located> {
    match &node.value {
        Value::Text(text) if !text.trim().is_empty() => Ok(CommandLine::Shell(text.clone())),
        Value::List(words) if !words.is_empty() => Ok(CommandLine::Words(node.texts(key)?)),
        Value::Text(_) | Value::List(_) => Err(node.senseless(key, "is empty")),
        _ => Err(node.wrong(key, "a text or a list of texts")),
    }
}

/// Returns environment variables.
pub(super) fn environment(node: &Node, key: &str) -> Result<BTreeMap<String, String>, Located> {
    node.each(key, |node, name| match &node.value {
        Value::Text(text) => Ok(text.clone()),
        Value::Integer(number) => Ok(number.to_string()),
        _ => Err(node.wrong(name, "a text or a whole number")),
    })
}

/// Returns the benchmarks of one table: one for each combination of its parameters.
pub(super) fn read_case(
    name: &str,
    node: &Node,
    mut keys: Table,
    defaults: &CaseDefaults,
) -> Result<Vec<Case>, Located> {
    if name.is_empty() {
        return Err(node.senseless("benchmark", "has an empty name"));
    }
    let parameters = keys.read("params", parameters)?.unwrap_or_default();
    let template = read_template(name, keys, defaults)?;
    let at_table = |problem| (node.line, problem);
    let rows = combinations(&parameters).map_err(at_table)?.into_iter();
    let at_key = |mut problem| {
        if let SuiteProblem::Undefined {
            name: missing,
            place,
            ..
        } = &mut problem
            && let Some((line, key)) = mention(node, missing)
        {
            *place = Some(format!("`{key}` of `{name}`"));
            return (line, problem);
        }
        at_table(problem)
    };
    let mut room = 4 * LONGEST_PARAMETERS;
    rows.map(|row| resolve(&template, row, &mut room).map_err(at_key))
        .collect()
}

/// Returns the line and the key of the first text of a table that mentions a parameter.
fn mention<'a>(node: &'a Node, parameter: &str) -> Option<(usize, &'a str)> {
    let place = format!("{{{parameter}}}");
    let entries = node.entries("").ok()?;
    entries.iter().find_map(|(key, node)| {
        let line = line_with(node, &place)?;
        Some((line, key.as_str()))
    })
}

fn line_with(node: &Node, part: &str) -> Option<usize> {
    match &node.value {
        Value::Text(text) => text.contains(part).then_some(node.line),
        Value::List(nodes) => nodes.iter().find_map(|it| line_with(it, part)),
        Value::Table(entries) => entries.iter().find_map(|(_, it)| line_with(it, part)),
        _ => None,
    }
}

fn parameters(node: &Node, key: &str) -> Result<Vec<SweepParameter>, Located> {
    let entries = node.entries(key)?.iter();
    entries
        .map(|(name, node)| {
            if let Some(values) = range(node, name)? {
                return Ok(SweepParameter {
                    name: name.clone(),
                    values,
                    swept: true,
                });
            }
            let (nodes, swept) = match &node.value {
                Value::List(nodes) => (nodes.as_slice(), true),
                _ => (std::slice::from_ref(node), false),
            };
            if nodes.is_empty() {
                let reason = "is an empty list, so no benchmark would be left";
                return Err(node.senseless(name, reason));
            }
            let mut values: Vec<Json> = Vec::new();
            for it in nodes {
                let value = parameter_value(it, name)?;
                if values.iter().any(|known| plain(known) == plain(&value)) {
                    return Err(it.senseless(name, format!("lists {} twice", plain(&value))));
                }
                values.push(value);
            }
            Ok(SweepParameter {
                name: name.clone(),
                values,
                swept,
            })
        })
        .collect()
}

/// Returns the whole numbers of a text such as `1..8`, both ends included; `None` of any other value.
fn range(node: &Node, name: &str) -> Result<Option<Vec<Json>>, Located> {
    let Value::Text(text) = &node.value else {
        return Ok(None);
    };
    let Some((first, last)) = text.split_once("..") else {
        return Ok(None);
    };
    let number = |text: &str| text.trim().parse::<i64>().ok();
    let (first, last) = match (number(first), number(last)) {
        (Some(first), Some(last)) => (first, last),
        (Some(_), None) => {
            return Err(node.senseless(
                name,
                "is no range such as `1..8`; write a text in a list: [\"…\"]",
            ));
        }
        (None, _) => return Ok(None),
    };
    let number = last
        .checked_sub(first)
        .and_then(|it| usize::try_from(it).ok());
    match number {
        Some(number) if number < MAX_COMBINATIONS => {
            Ok(Some((first..=last).map(|it| json!(it)).collect()))
        }
        Some(_) => Err(node.senseless(name, "is too long a range")),
        None => Err(node.senseless(
            name,
            "is an empty range: its last number is below its first",
        )),
    }
}

fn parameter_value(node: &Node, key: &str) -> Result<Json, Located> {
    match node.scalar() {
        Some(Level::Number(number)) if !number.is_finite() => None,
        scalar => scalar,
    }
    .map(|scalar| json!(scalar))
    .ok_or_else(|| node.wrong(key, "texts, numbers, or true or false"))
}

/// Reads everything but `params`; texts still hold their `{name}` places.
fn read_template(name: &str, mut keys: Table, defaults: &CaseDefaults) -> Result<Case, Located> {
    let timed = keys.read("command", command)?;
    let (setup, prepare) = (keys.read("setup", command)?, keys.read("prepare", command)?);
    let (teardown, check) = (
        keys.read("teardown", command)?,
        keys.read("check", command)?,
    );
    let settings = Settings::read(&mut keys)?.or(&defaults.settings);
    let all = defaults.with(&mut keys)?;
    let stdin = keys.read("stdin", Node::text)?.map(|it| {
        let path = defaults.folder.join(it);
        CaseInput::File(path.display().to_string())
    });
    let exit_codes = keys.read("exit_codes", exit_codes)?;
    let output = keys.read("metrics", output)?;
    let metrics: Vec<_> = keys
        .read("metric", |it, key| it.each(key, metric))?
        .unwrap_or_default();
    let work = keys.read("work", |it, key| it.each(key, amount))?;
    let Some(timed) = timed else {
        let missing = keys.senseless(name, "has no `command`");
        // A misspelt `command` is an unknown key first and a missing one second.
        return keys.finish().and(Err(missing));
    };
    keys.finish()?;
    let mut case = Case {
        setup,
        prepare,
        teardown,
        check,
        directory: Some(all.directory),
        environment: all.environment,
        stdin: stdin.unwrap_or_default(),
        output: output.unwrap_or_default(),
        work: work.unwrap_or_default(),
        ..Case::new(name.to_owned(), timed)
    };
    case.benchmark.tags = all.tags;
    case.exit_codes = exit_codes.unwrap_or(case.exit_codes);
    for (name, (metric, pattern)) in metrics {
        if let Some(pattern) = pattern {
            case.patterns.insert(name.clone(), pattern);
        }
        case.metrics.insert(name, metric);
    }
    settings.apply(&mut case);
    Ok(case)
}

fn exit_codes(node: &Node, key: &str) -> Result<ExitCodes, Located> {
    let code = |node: &Node| match node.value {
        Value::Integer(code @ 0..=255) => Ok(i32::try_from(code).unwrap_or_default()),
        Value::Integer(code) => {
            Err(node.senseless(key, format!("are from 0 to 255, and {code} is not")))
        }
        _ => Err(node.wrong(key, "whole numbers from 0 to 255")),
    };
    match &node.value {
        Value::Text(text) if text == "any" => Ok(ExitCodes::Any),
        Value::List(nodes) if !nodes.is_empty() => {
            let codes: Result<_, _> = nodes.iter().map(code).collect();
            codes.map(ExitCodes::These)
        }
        _ => Err(node.wrong(key, "a list of whole numbers or \"any\"")),
    }
}

fn output(node: &Node, key: &str) -> Result<OutputMetrics, Located> {
    match node.text(key)?.as_str() {
        "json" => Ok(OutputMetrics::Json),
        other => Err(node.senseless(key, format!("can only be \"json\", not \"{other}\""))),
    }
}

/// Returns a metric, and how it is read from plain text.
fn metric(node: &Node, name: &str) -> Result<(Metric, Option<MetricPattern>), Located> {
    let mut keys = node.table(format!("`metric.{name}`"), name)?;
    let unit = keys.read("unit", Node::text)?;
    let better = keys.read("better", |it, key| {
        it.choice(key, "is \"lower\" or \"higher\"")
    })?;
    let pattern = match keys.read("regex", regex)? {
        Some(regex) => {
            let take: Option<MatchChoice> = keys.read("take", |it, key| {
                it.choice(key, "is one of first, last, min, max, sum, mean")
            })?;
            let take = take.unwrap_or_default();
            Some(MetricPattern { regex, take })
        }
        None => None,
    };
    keys.finish()?;
    let unit = unit.unwrap_or_default();
    Ok((Metric { unit, better }, pattern))
}

fn regex(node: &Node, key: &str) -> Result<String, Located> {
    let text = node.text(key)?;
    match regex::Regex::new(&text) {
        Ok(_) => Ok(text),
        Err(error) => {
            let message = error.to_string();
            // The library's message is a drawing of several lines that ends with the reason.
            let reason = message.lines().last().unwrap_or_default();
            let reason = reason.trim_start_matches("error: ");
            Err(node.senseless(key, format!("is not a regular expression: {reason}")))
        }
    }
}

fn amount(node: &Node, key: &str) -> Result<f64, Located> {
    let amount = node.number(key)?;
    if amount > 0.0 && amount.is_finite() {
        Ok(amount)
    } else {
        Err(node.senseless(key, "must be above zero"))
    }
}

/// Fills the parameters in; `room` is how long the texts of the other benchmarks may be.
pub(super) fn resolve(
    template: &Case,
    row: SweepCombination,
    room: &mut usize,
) -> Result<Case, SuiteProblem> {
    let mut case = template.clone();
    let params = row.params;
    for text in places(&mut case) {
        if let Some(problem) = misspelt(text, &params) {
            return Err(problem);
        }
        let Some(left) = room.checked_sub(filled_length(text, &params)) else {
            return Err(SuiteProblem::Value {
                key: "params".to_owned(),
                reason: format!(
                    "make commands of more than {} MiB, all combinations together",
                    LONGEST_PARAMETERS >> 18
                ),
            });
        };
        *room = left;
        *text = fill(text, &params);
    }
    if !row.label.is_empty() {
        case.benchmark.id = format!("{}[{}]", template.benchmark.id, row.label);
    }
    case.benchmark.params = params;
    case.benchmark.fingerprint = Some(fingerprint(&case, &HideRules::default()));
    Ok(case)
}

/// Returns the texts of a case that may mention parameters.
fn places(case: &mut Case) -> impl Iterator<Item = &mut String> {
    let commands = [
        Some(&mut case.command),
        case.setup.as_mut(),
        case.prepare.as_mut(),
        case.teardown.as_mut(),
        case.check.as_mut(),
    ];
    let stdin = match &mut case.stdin {
        CaseInput::File(path) => Some(path),
        CaseInput::Null => None,
    };
    let commands = commands.into_iter().flatten().flat_map(texts_of);
    let others = case.environment.values_mut().chain(&mut case.directory);
    commands.chain(others).chain(stdin)
}

pub(super) fn texts_of(command: &mut CommandLine) -> &mut [String] {
    match command {
        CommandLine::Shell(text) => std::slice::from_mut(text),
        CommandLine::Words(words) => words,
    }
}

/// Returns the hash of what a benchmark does: another hash, another meaning.
///
/// How often and how long it is measured, where its files lie, and what is hidden do not count.
pub(super) fn fingerprint(case: &Case, hide: &HideRules) -> String {
    let mut definition = json!({
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
    let rules = PrivacyRules {
        hide: hide.clone(),
        ..PrivacyRules::default()
    };
    RecordCleaner::new(rules, Vec::new()).clean_definition(&mut definition);
    sha256(&definition.to_string())
}

/// Returns `sha256:` and the text's hash in hexadecimal digits.
pub(crate) fn sha256(text: &str) -> String {
    format!("sha256:{}", hexadecimal(&Sha256::digest(text)))
}
