//! Reads `lapwing.toml` (`docs/suite-format.md`).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use super::case::{CaseDefaults, read_case, read_settings, sha256};
use super::error::{SuiteError, SuiteProblem, nearest};
use super::judging::{JudgeSettings, read_judge};
use super::node::{self, Located, Node, Table, Value};
use super::plan::{Case, CommandLine, Plan, Variant, VersionSource};
use super::pytest::{PytestTable, read_pytest};
use super::settings::Settings;
use crate::model::{Level, Metric, Run};

/// A suite file, read and checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Suite {
    /// Its name.
    pub name: String,
    /// What it says about judging.
    pub judge: JudgeSettings,
    cases: Vec<Case>,
    pytest: Vec<PytestTable>,
    variants: Vec<Variant>,
    version: UnderTest,
    environment_commands: BTreeMap<String, CommandLine>,
    directory: String,
    cpus: Option<String>,
}

/// The largest number of settings that factors without variants may span.
const MAX_CROSSING: usize = 64;

impl Suite {
    /// Reads a suite file; relative paths in it start from its own folder.
    ///
    /// # Errors
    /// When the file cannot be read, or with the first place in it that is wrong.
    pub fn load(path: &Path) -> Result<Self, SuiteError> {
        let (text, folder) = read_file(path)?;
        Self::parse(path, &text, &folder)
    }

    /// Reads what a suite file says about judging. All of it is checked, but it need not have
    /// benchmarks.
    ///
    /// # Errors
    /// When the file cannot be read, or with the first place in it that is wrong.
    pub fn load_judging(path: &Path) -> Result<JudgeSettings, SuiteError> {
        let (text, folder) = read_file(path)?;
        Self::parse_judging(path, &text, &folder)
    }

    /// Reads the text of a suite file; `path` is named in errors, and relative
    /// paths start from `folder`.
    ///
    /// # Errors
    /// With the first place that is wrong.
    pub fn parse(path: &Path, text: &str, folder: &Path) -> Result<Self, SuiteError> {
        let suite = read_suite(text, folder).map_err(|it| at(path, it))?;
        if suite.cases.is_empty() && suite.pytest.is_empty() {
            return Err(at(path, (1, SuiteProblem::Empty)));
        }
        Ok(suite)
    }

    /// Reads what the text of a suite file says about judging, as [`Suite::load_judging`].
    ///
    /// # Errors
    /// With the first place that is wrong.
    pub fn parse_judging(
        path: &Path,
        text: &str,
        folder: &Path,
    ) -> Result<JudgeSettings, SuiteError> {
        let suite = read_suite(text, folder).map_err(|it| at(path, it))?;
        Ok(suite.judge)
    }

    /// Returns the tables that name tests of pytest.
    pub fn pytest(&self) -> &[PytestTable] {
        &self.pytest
    }

    /// Returns what is to be measured, with the overrides of the command line in force: its commands.
    pub fn plan(&self, overrides: &Settings, seed: u64) -> Plan {
        self.plan_of(self.cases.clone(), overrides, seed)
    }

    /// Returns what is to be measured, with the tests that each table of [`Self::pytest`] was found to mean.
    ///
    /// # Errors
    /// When two benchmarks have the same id, or mean different quantities by one metric.
    pub fn plan_with_tests(
        &self,
        tests: Vec<Vec<Case>>,
        overrides: &Settings,
        seed: u64,
    ) -> Result<Plan, SuiteProblem> {
        let mut cases = self.cases.clone();
        // From the back, so that the places of those before stay.
        for (table, tests) in self.pytest.iter().zip(tests).rev() {
            cases.splice(table.position..table.position, tests);
        }
        let mut ids: Vec<&str> = cases.iter().map(|it| it.benchmark.id.as_str()).collect();
        ids.sort_unstable();
        if let Some(twins) = ids.windows(2).find(|pair| pair[0] == pair[1]) {
            let id = twins[0].to_owned();
            return Err(SuiteProblem::Duplicate { id });
        }
        if let Some(problem) = other_quantities(&cases) {
            return Err(problem);
        }
        Ok(self.plan_of(cases, overrides, seed))
    }

    fn plan_of(&self, mut cases: Vec<Case>, overrides: &Settings, seed: u64) -> Plan {
        for case in &mut cases {
            overrides.apply(case);
        }
        Plan {
            suite: self.name.clone(),
            cases,
            variants: self.variants.clone(),
            version: self.version.source.clone(),
            build: self.version.build.clone(),
            interleave: self.version.interleave,
            environment_commands: self.environment_commands.clone(),
            directory: Some(self.directory.clone()),
            cpus: overrides.cpus.clone().or_else(|| self.cpus.clone()),
            seed,
        }
    }
}

/// Returns the text of a suite file and the folder that it lies in.
fn read_file(path: &Path) -> Result<(String, PathBuf), SuiteError> {
    let cannot = |source| SuiteError::Read {
        path: path.to_owned(),
        source,
    };
    let text = std::fs::read_to_string(path).map_err(cannot)?;
    let absolute = std::path::absolute(path).map_err(cannot)?;
    let folder = absolute.parent().unwrap_or(Path::new("/")).to_owned();
    Ok((text, folder))
}

fn at(path: &Path, (line, problem): Located) -> SuiteError {
    SuiteError::At {
        path: path.to_owned(),
        line,
        problem,
    }
}

fn read_suite(text: &str, folder: &Path) -> Result<Suite, Located> {
    let mut table = node::read(text)?.table("the suite", "suite")?;
    let name = match table.take("suite") {
        Some(node) => node.text("suite")?,
        None => folder_name(folder),
    };
    let version = match table.take("version") {
        Some(node) => read_version(node, folder)?,
        None => UnderTest::default(),
    };
    let mut defaults = CaseDefaults::new(folder);
    let mut cpus = None;
    if let Some(node) = table.take("defaults") {
        let mut keys = node.table("[defaults]", "defaults")?;
        if let Some(node) = keys.take("cpus") {
            cpus = Some(node.text("cpus")?);
        }
        defaults.settings = read_settings(&mut keys)?;
        defaults.read_rest(&mut keys)?;
        keys.finish()?;
    }
    let environment_commands = match table.take("environment") {
        Some(node) => read_commands(node)?,
        None => BTreeMap::new(),
    };
    let factors = read_factors(&mut table)?;
    let variants = read_variants(&mut table, &factors)?;
    let (cases, pytest) = read_cases(&mut table, &defaults)?;
    let judge = match table.take("judge") {
        Some(node) => read_judge(node, folder)?,
        None => JudgeSettings::default(),
    };
    table.finish()?;
    Ok(Suite {
        name,
        judge,
        cases,
        pytest,
        variants,
        version,
        environment_commands,
        directory: folder.display().to_string(),
        cpus,
    })
}

fn folder_name(folder: &Path) -> String {
    folder.file_name().map_or_else(
        || "suite".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}

/// What `[version]` says.
#[derive(Debug, Clone, PartialEq)]
struct UnderTest {
    source: VersionSource,
    build: Option<CommandLine>,
    interleave: bool,
}

impl Default for UnderTest {
    fn default() -> Self {
        Self {
            source: VersionSource::WorkingDirectory,
            build: None,
            interleave: true,
        }
    }
}

fn read_version(node: Node, folder: &Path) -> Result<UnderTest, Located> {
    let line = node.line;
    let mut keys = node.table("[version]", "version")?;
    let mut sources = Vec::new();
    let build = keys
        .take("build")
        .map(|node| command(&node, "build"))
        .transpose()?;
    let interleave = match keys.take("interleave") {
        Some(node) => match node.value {
            Value::Bool(interleave) => Some(interleave),
            _ => return Err(node.wrong("interleave", "true or false")),
        },
        None => None,
    };
    let says_how = build.is_some() || interleave.is_some();
    let under_test = |source| UnderTest {
        source,
        build,
        interleave: interleave.unwrap_or(true),
    };
    if let Some(node) = keys.take("repository") {
        let path: PathBuf = folder.join(node.text("repository")?);
        sources.push(VersionSource::Repository(path.display().to_string()));
    }
    if let Some(node) = keys.take("package") {
        sources.push(VersionSource::Package(node.text("package")?));
    }
    if let Some(node) = keys.take("command") {
        sources.push(VersionSource::Command(command(&node, "command")?));
    }
    if let Some(node) = keys.take("name") {
        sources.push(VersionSource::Name(node.text("name")?));
    }
    keys.finish()?;
    let mut sources = sources.into_iter();
    match (sources.next(), sources.next()) {
        (Some(source), None) => Ok(under_test(source)),
        (None, _) if says_how => Ok(under_test(VersionSource::WorkingDirectory)),
        (None, _) | (Some(_), Some(_)) => Err((
            line,
            SuiteProblem::Value {
                key: "version".to_owned(),
                reason: "needs one of `repository`, `package`, `command` or `name`".to_owned(),
            },
        )),
    }
}

/// Returns a command: a text for the shell, or a list of words.
pub(super) fn command(node: &Node, key: &str) -> Result<CommandLine, Located> {
    match &node.value {
        Value::Text(text) if !text.trim().is_empty() => Ok(CommandLine::Shell(text.clone())),
        Value::List(words) if !words.is_empty() => Ok(CommandLine::Words(node.texts(key)?)),
        Value::Text(_) | Value::List(_) => Err(node.senseless(key, "is empty")),
        Value::Integer(_)
        | Value::Number(_)
        | Value::Bool(_)
        | Value::Date(_)
        | Value::Table(_) => Err(node.wrong(key, "a text or a list of texts")),
    }
}

fn read_commands(node: Node) -> Result<BTreeMap<String, CommandLine>, Located> {
    node.table("[environment]", "environment")?
        .take_all()
        .into_iter()
        .map(|(name, node)| {
            let command = command(&node, &name)?;
            Ok((name, command))
        })
        .collect()
}

fn read_cases(
    table: &mut Table,
    defaults: &CaseDefaults,
) -> Result<(Vec<Case>, Vec<PytestTable>), Located> {
    let Some(node) = table.take("benchmark") else {
        return Ok((Vec::new(), Vec::new()));
    };
    let mut cases: Vec<Case> = Vec::new();
    let mut pytest = Vec::new();
    for (name, node) in node.table("[benchmark]", "benchmark")?.take_all() {
        let line = node.line;
        let mut keys = node.table(format!("[benchmark.{name}]"), &name)?;
        if let Some(paths) = keys.take("pytest") {
            pytest.push(read_pytest(&name, &paths, keys, defaults, cases.len())?);
            continue;
        }
        for case in read_case(&name, keys, defaults)? {
            if cases
                .iter()
                .any(|other| other.benchmark.id == case.benchmark.id)
            {
                let id = case.benchmark.id;
                return Err((line, SuiteProblem::Duplicate { id }));
            }
            cases.push(case);
        }
        if let Some(problem) = other_quantities(&cases) {
            return Err((line, problem));
        }
    }
    Ok((cases, pytest))
}

/// Returns what is wrong where two benchmarks declare one metric in different ways: a run has it once.
fn other_quantities(cases: &[Case]) -> Option<SuiteProblem> {
    let mut declared: BTreeMap<&str, (&Metric, &Case)> = BTreeMap::new();
    for case in cases {
        for (name, metric) in &case.metrics {
            let (known, first) = declared.entry(name).or_insert((metric, case));
            if *known != metric {
                return Some(SuiteProblem::Quantities {
                    metric: name.clone(),
                    ids: [first, case].map(|it| it.benchmark.id.clone()),
                });
            }
        }
    }
    None
}

struct Factor {
    name: String,
    levels: Vec<Level>,
    environment: BTreeMap<String, String>,
    arguments: Vec<String>,
    definition: String,
}

fn read_factors(table: &mut Table) -> Result<Vec<Factor>, Located> {
    let Some(node) = table.take("factor") else {
        return Ok(Vec::new());
    };
    let mut factors = Vec::new();
    for (name, node) in node.table("[factor]", "factor")?.take_all() {
        factors.push(read_factor(name, node)?);
    }
    Ok(factors)
}

fn read_factor(name: String, node: Node) -> Result<Factor, Located> {
    let line = node.line;
    let mut keys = node.table(format!("[factor.{name}]"), &name)?;
    let levels = match keys.take("levels") {
        Some(node) => {
            let levels = node
                .list("levels")?
                .iter()
                .map(level)
                .collect::<Result<Vec<_>, _>>()?;
            if levels.is_empty() {
                return Err(node.senseless("levels", "is empty, so there is nothing to vary"));
            }
            levels
        }
        None => vec![Level::Bool(false), Level::Bool(true)],
    };
    let mut environment = BTreeMap::new();
    let mut arguments = Vec::new();
    match keys.take("apply") {
        Some(node) => {
            let mut apply = node.table(format!("[factor.{name}.apply]"), "apply")?;
            if let Some(node) = apply.take("env") {
                environment = read_env(node)?;
            }
            if let Some(node) = apply.take("arguments") {
                arguments = node.texts("arguments")?;
            }
            apply.finish()?;
        }
        None => {
            let problem = SuiteProblem::Value {
                key: name,
                reason: "changes nothing: say what under `apply.env` or `apply.arguments`"
                    .to_owned(),
            };
            return Err((line, problem));
        }
    }
    keys.finish()?;
    let definition = sha256(&json!([environment, arguments]).to_string());
    Ok(Factor {
        name,
        levels,
        environment,
        arguments,
        definition,
    })
}

/// Returns environment variables.
pub(super) fn read_env(node: Node) -> Result<BTreeMap<String, String>, Located> {
    node.table("`env`", "env")?
        .take_all()
        .into_iter()
        .map(|(name, node)| {
            let value = match &node.value {
                Value::Text(text) => text.clone(),
                Value::Integer(number) => number.to_string(),
                Value::Number(_)
                | Value::Bool(_)
                | Value::Date(_)
                | Value::List(_)
                | Value::Table(_) => return Err(node.wrong(&name, "a text or a whole number")),
            };
            Ok((name, value))
        })
        .collect()
}

fn level(node: &Node) -> Result<Level, Located> {
    match &node.value {
        Value::Text(text) => Ok(Level::Text(text.clone())),
        Value::Integer(number) => Ok(Level::Integer(*number)),
        Value::Number(number) => Ok(Level::Number(*number)),
        Value::Bool(value) => Ok(Level::Bool(*value)),
        Value::Date(_) | Value::List(_) | Value::Table(_) => {
            Err(node.wrong("levels", "a text, a number, or true or false"))
        }
    }
}

fn read_variants(table: &mut Table, factors: &[Factor]) -> Result<Vec<Variant>, Located> {
    let line = table.line();
    let Some(node) = table.take("variant") else {
        return cross(factors).map_err(|problem| (line, problem));
    };
    let mut variants = Vec::new();
    for (name, node) in node.table("[variant]", "variant")?.take_all() {
        let mut keys = node.table(format!("[variant.{name}]"), &name)?;
        let mut chosen = Vec::new();
        if let Some(node) = keys.take("factors") {
            for (factor, node) in node.table("`factors`", "factors")?.take_all() {
                let level = level(&node)?;
                chosen.push((
                    find(factors, &factor, &level).map_err(|it| (node.line, it))?,
                    level,
                ));
            }
        }
        keys.finish()?;
        variants.push(variant(name, &chosen));
    }
    if variants.is_empty() {
        variants.push(variant(Run::DEFAULT_VARIANT.to_owned(), &[]));
    }
    Ok(variants)
}

fn find<'a>(factors: &'a [Factor], name: &str, level: &Level) -> Result<&'a Factor, SuiteProblem> {
    let Some(factor) = factors.iter().find(|factor| factor.name == name) else {
        return Err(SuiteProblem::Undefined {
            what: "factor",
            name: name.to_owned(),
            suggestion: nearest(name, factors.iter().map(|factor| factor.name.as_str())),
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

/// Without variants, every combination of levels is one.
fn cross(factors: &[Factor]) -> Result<Vec<Variant>, SuiteProblem> {
    let count = factors
        .iter()
        .try_fold(1_usize, |count, factor| {
            count.checked_mul(factor.levels.len())
        })
        .filter(|count| *count <= MAX_CROSSING);
    if count.is_none() {
        return Err(SuiteProblem::Value {
            key: "factor".to_owned(),
            reason: format!(
                "spans more than {MAX_CROSSING} combinations: name those to measure with [variant.…] tables"
            ),
        });
    }
    let mut rows: Vec<Vec<(&Factor, Level)>> = vec![Vec::new()];
    for factor in factors {
        rows = rows
            .iter()
            .flat_map(|row| {
                factor.levels.iter().map(move |level| {
                    let mut row = row.clone();
                    row.push((factor, level.clone()));
                    row
                })
            })
            .collect();
    }
    Ok(rows
        .into_iter()
        .map(|row| {
            let label: Vec<String> = row
                .iter()
                .map(|(factor, level)| format!("{}={level}", factor.name))
                .collect();
            let name = if label.is_empty() {
                Run::DEFAULT_VARIANT.to_owned()
            } else {
                label.join(",")
            };
            variant(name, &row)
        })
        .collect())
}

fn variant(name: String, chosen: &[(&Factor, Level)]) -> Variant {
    let mut variant = Variant {
        name,
        ..Variant::default()
    };
    for (factor, level) in chosen {
        let params = json!({ "level": json_level(level) });
        let fill = |text: &String| match params.as_object() {
            Some(params) => super::sweep::fill(text, params),
            None => text.clone(),
        };
        variant.factors.insert(factor.name.clone(), level.clone());
        variant
            .definitions
            .insert(factor.name.clone(), factor.definition.clone());
        // A treatment that is absent changes nothing.
        if *level == Level::Bool(false) {
            continue;
        }
        for (name, value) in &factor.environment {
            variant.environment.insert(name.clone(), fill(value));
        }
        variant.arguments.extend(factor.arguments.iter().map(fill));
    }
    variant
}

fn json_level(level: &Level) -> Json {
    match level {
        Level::Bool(value) => json!(value),
        Level::Integer(value) => json!(value),
        Level::Number(value) => json!(value),
        Level::Text(value) => json!(value),
    }
}
