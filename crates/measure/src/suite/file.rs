//! Reads `lapwing.toml` (`docs/suite-format.md`).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::case::{CaseDefaults, command, fingerprint, read_case};
use super::error::{SuiteError, SuiteProblem};
use super::executor::{ExecutorTables, read_executors};
use super::factors::{SuiteFactor, infeasibility, variant};
use super::node::{self, Located, Node, Table};
use super::numbers::judging::read_judge;
use super::numbers::limits::read_limits;
use super::numbers::settings::Settings;
use super::plan::{Case, CommandLine, Plan, Variant, VersionSource};
use super::pytest::{PytestTable, read_pytest};
use super::variants::{read_variants, resolve_variants};
use lapwing_model::{BenchmarkLimits, JudgeSettings};
use lapwing_model::{Level, Metric};
use lapwing_record::files::{LONGEST_SETTINGS, read_text};
use lapwing_record::private::HideRules;

/// A suite file, read and checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Suite {
    /// Its name.
    pub name: String,
    /// Whether the file states the name; else it is that of the folder.
    pub is_named: bool,
    /// What it says about judging.
    pub judge: JudgeSettings,
    /// The texts that its records do not keep.
    pub hide: HideRules,
    /// Its executors.
    pub executors: ExecutorTables,
    cases: Vec<Case>,
    pytest: Vec<PytestTable>,
    factors: Vec<SuiteFactor>,
    variants: Vec<Variant>,
    version: UnderTest,
    environment_commands: BTreeMap<String, CommandLine>,
    directory: String,
    cpus: Option<String>,
}

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

    /// Reads which texts of records a suite file hides; the rest of it need not be right.
    ///
    /// # Errors
    /// When the file cannot be read, is not TOML, or its `[record]` is wrong.
    pub fn load_hidden(path: &Path) -> Result<HideRules, SuiteError> {
        let (text, _) = read_file(path)?;
        let hidden = || {
            let suite = node::read(&text)?;
            let hide = suite
                .table("the suite", "suite")?
                .read("record", read_hidden)?;
            Ok(hide.unwrap_or_default())
        };
        hidden().map_err(|it| at(path, it))
    }

    /// Reads the text of a suite file; `path` is named in errors, and relative
    /// paths start from `folder`.
    ///
    /// # Errors
    /// With the first place that is wrong.
    pub fn parse(path: &Path, text: &str, folder: &Path) -> Result<Self, SuiteError> {
        let (suite, too_many) = read_suite(text, folder).map_err(|it| at(path, it))?;
        if let Some(problem) = too_many {
            return Err(at(path, problem));
        }
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
        let (suite, _) = read_suite(text, folder).map_err(|it| at(path, it))?;
        Ok(suite.judge)
    }

    /// Reads a suite file for a factor study, which chooses combinations of levels itself: factors may span any
    /// number, and there are no variants until [`Self::set_configurations`].
    ///
    /// # Errors
    /// When the file cannot be read, or with the first place in it that is wrong.
    pub fn load_for_study(path: &Path) -> Result<Self, SuiteError> {
        let (text, folder) = read_file(path)?;
        let (mut suite, _) = read_suite(&text, &folder).map_err(|it| at(path, it))?;
        suite.variants.clear();
        Ok(suite)
    }

    /// Replaces the variants by named combinations of levels; a factor that one does not name stays at its base.
    ///
    /// # Errors
    /// When there is no such factor or level, or a requirement or an exclusion forbids the combination.
    pub fn set_configurations(
        &mut self,
        configurations: &[(String, BTreeMap<String, Level>)],
    ) -> Result<(), SuiteProblem> {
        let variants = configurations.iter().map(|(name, levels)| {
            for (factor, level) in levels {
                SuiteFactor::find(&self.factors, factor, level)?;
            }
            if let Some(reason) = infeasibility(&self.factors, levels) {
                return Err(SuiteProblem::Value {
                    key: name.clone(),
                    reason: format!("cannot be: {reason}"),
                });
            }
            let level =
                |factor: &SuiteFactor| levels.get(&factor.name).unwrap_or(&factor.base).clone();
            let chosen = self.factors.iter().map(|it| (it, level(it)));
            Ok(variant(name, chosen.collect()))
        });
        self.variants = variants.collect::<Result<_, _>>()?;
        Ok(())
    }

    /// Returns the factors, in the order of the file.
    pub fn factors(&self) -> &[SuiteFactor] {
        &self.factors
    }

    /// Returns the tables that name tests of pytest.
    pub fn pytest(&self) -> &[PytestTable] {
        &self.pytest
    }

    /// Returns the settings that are measured.
    pub fn variants(&self) -> &[Variant] {
        &self.variants
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
        check_together(&cases)?;
        Ok(self.plan_of(cases, overrides, seed))
    }

    fn plan_of(&self, mut cases: Vec<Case>, overrides: &Settings, seed: u64) -> Plan {
        for case in &mut cases {
            overrides.apply(case);
        }
        Plan {
            variants: self.variants.clone(),
            version: self.version.source.clone(),
            build: self.version.build.clone(),
            interleave: self.version.interleave,
            environment_commands: self.environment_commands.clone(),
            directory: Some(self.directory.clone()),
            cpus: overrides.cpus.clone().or_else(|| self.cpus.clone()),
            ..Plan::of_cases(&self.name, cases, seed)
        }
    }
}

/// Returns the text of a suite file and the folder that it lies in.
fn read_file(path: &Path) -> Result<(String, PathBuf), SuiteError> {
    let cannot = |source| SuiteError::Read {
        path: path.to_owned(),
        source,
    };
    let text = read_text(path, LONGEST_SETTINGS).map_err(cannot)?;
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

/// Returns the suite, and the problem that its factors span too many combinations, if they do.
fn read_suite(text: &str, folder: &Path) -> Result<(Suite, Option<Located>), Located> {
    let suite = node::read(text)?;
    let mut table = suite.table("the suite", "suite")?;
    let name = table.read("suite", Node::text)?;
    let version = table.read("version", |it, key| read_version(it, key, folder))?;
    let mut defaults = CaseDefaults::new(folder);
    let mut cpus = None;
    if let Some(node) = table.take("defaults") {
        let mut keys = node.table("[defaults]", "defaults")?;
        cpus = keys.read("cpus", Node::text)?;
        defaults.settings = Settings::read(&mut keys)?;
        defaults = defaults.with(&mut keys)?;
        keys.finish()?;
    }
    let environment_commands = table.read("environment", |it, key| it.each(key, command))?;
    let varied = read_variants(&mut table, folder)?;
    let (mut cases, pytest, limits) = read_cases(&mut table, &defaults)?;
    let variants = resolve_variants(varied.variants, &cases)?;
    let has_setup = |it: &&Variant| it.setup.is_some() || !it.factor_setups.is_empty();
    if let (Some(variant), false) = (variants.iter().find(has_setup), pytest.is_empty()) {
        let reason = format!(
            "`{}` has `setup`, which is for commands; tests of pytest have fixtures",
            variant.name
        );
        return Err(table.senseless("variant", reason));
    }
    let judge = table.read("judge", |it, key| read_judge(it, key, folder))?;
    let hide = table.read("record", read_hidden)?.unwrap_or_default();
    if !hide.variables.is_empty() {
        for case in &mut cases {
            case.benchmark.fingerprint = Some(fingerprint(case, &hide));
        }
    }
    let executors = table.read("executor", |it, key| read_executors(it, key, folder))?;
    table.finish()?;
    let version = version.unwrap_or_default();
    let repository = match &version.source {
        VersionSource::WorkingDirectory => Some(folder.to_owned()),
        VersionSource::Repository(path) => Some(folder.join(path)),
        VersionSource::Package(_)
        | VersionSource::Command(_)
        | VersionSource::Name(_)
        | VersionSource::Absent => None,
    };
    let suite = Suite {
        is_named: name.is_some(),
        name: name.unwrap_or_else(|| folder_name(folder)),
        judge: JudgeSettings {
            repository,
            benchmarks: limits,
            ..judge.unwrap_or_default()
        },
        hide,
        executors: executors.unwrap_or_default(),
        cases,
        pytest,
        factors: varied.factors,
        variants,
        version,
        environment_commands: environment_commands.unwrap_or_default(),
        directory: folder.display().to_string(),
        cpus,
    };
    Ok((suite, varied.too_many))
}

fn folder_name(folder: &Path) -> String {
    let name = folder.file_name().unwrap_or("suite".as_ref());
    name.to_string_lossy().into_owned()
}

/// Reads `[record]`.
fn read_hidden(node: &Node, key: &str) -> Result<HideRules, Located> {
    let mut keys = node.table("[record]", key)?;
    let mut rules = HideRules::default();
    for entry in keys.read("hide", Node::texts)?.unwrap_or_default() {
        if !rules.add(&entry) {
            let reason = format!(
                "has `{entry}`; it takes \"env.NAME\" (with `*`), \"host\", \"user\", \"stderr\" and \"paths\""
            );
            return Err(node.senseless("hide", reason));
        }
    }
    keys.finish()?;
    Ok(rules)
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

fn read_version(node: &Node, key: &str, folder: &Path) -> Result<UnderTest, Located> {
    let mut keys = node.table("[version]", key)?;
    let build = keys.read("build", command)?;
    let interleave = keys.read("interleave", Node::bool)?;
    let repository = keys.read("repository", Node::text)?;
    let repository = repository.map(|it| folder.join(it).display().to_string());
    let sources = [
        repository.map(VersionSource::Repository),
        keys.read("package", Node::text)?
            .map(VersionSource::Package),
        keys.read("command", command)?.map(VersionSource::Command),
        keys.read("name", Node::text)?.map(VersionSource::Name),
    ];
    keys.finish()?;
    let keys = ["repository", "package", "command", "name"];
    let mut sources = keys.into_iter().zip(sources);
    let mut sources = sources.by_ref().filter_map(|(key, it)| Some((key, it?)));
    let source = match (sources.next(), sources.next()) {
        (Some((_, source)), None) => source,
        (Some((one, _)), Some((other, _))) => {
            let message = format!("[version] has both `{one}` and `{other}`; keep one");
            return Err((node.line, SuiteProblem::Contradiction(message)));
        }
        (None, _) if build.is_some() || interleave.is_some() => VersionSource::WorkingDirectory,
        (None, _) => {
            let reason = "needs one of `repository`, `package`, `command` or `name`";
            return Err(node.senseless(key, reason));
        }
    };
    Ok(UnderTest {
        source,
        build,
        interleave: interleave.unwrap_or(true),
    })
}

/// What the tables of benchmarks say: commands, tests of pytest, and how to judge them.
type BenchmarkTables = (Vec<Case>, Vec<PytestTable>, Vec<BenchmarkLimits>);

fn read_cases(table: &mut Table, defaults: &CaseDefaults) -> Result<BenchmarkTables, Located> {
    let Some(node) = table.take("benchmark") else {
        return Ok(BenchmarkTables::default());
    };
    let (mut cases, mut pytest, mut limits) = BenchmarkTables::default();
    for (name, node) in node.entries("benchmark")? {
        let mut keys = node.table(format!("[benchmark.{name}]"), name)?;
        let judge = keys.take("judge");
        if let Some(judge) = judge {
            limits.push(BenchmarkLimits {
                name: name.clone(),
                paths: Vec::new(),
                limits: read_limits(judge, format!("[benchmark.{name}.judge]"))?,
            });
            // Benchmarks that are measured elsewhere can be judged, too.
            if node.entries(name)?.len() == 1 {
                continue;
            }
        }
        if let Some(paths) = keys.take("pytest") {
            let tests = read_pytest(name, paths, keys, defaults, cases.len())?;
            if let (Some(_), Some(of_tests)) = (judge, limits.last_mut()) {
                of_tests.paths.clone_from(&tests.paths);
            }
            pytest.push(tests);
            continue;
        }
        cases.extend(read_case(name, node, keys, defaults)?);
        check_together(&cases).map_err(|problem| (node.line, problem))?;
    }
    Ok((cases, pytest, limits))
}

/// Refuses two benchmarks of one id, and one metric that is declared in two ways: a run has it once.
fn check_together(cases: &[Case]) -> Result<(), SuiteProblem> {
    let mut ids: BTreeSet<&str> = BTreeSet::new();
    let mut declared: BTreeMap<&str, (&Metric, &Case)> = BTreeMap::new();
    for case in cases {
        let id = &case.benchmark.id;
        if !ids.insert(id) {
            return Err(SuiteProblem::Duplicate(id.clone()));
        }
        for (name, metric) in &case.metrics {
            let (known, first) = declared.entry(name).or_insert((metric, case));
            if *known != metric {
                return Err(SuiteProblem::Quantities {
                    metric: name.clone(),
                    ids: [first, case].map(|it| it.benchmark.id.clone()),
                });
            }
        }
    }
    Ok(())
}
