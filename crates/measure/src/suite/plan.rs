//! What is to be measured, fully resolved: every default filled in, every sweep spelt out.
//!
//! A plan is what `lapwing run` stores with its session, so that `--resume` can go on
//! without the suite file. Its JSON form is therefore part of the store's contract.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::case::sha256;
use super::confinement::Confinement;
use super::duet::DuetCores;
use super::factors::SourcePatch;
use super::numbers::settings::Settings;
use super::pytest::PytestTest;
use super::python::PythonEnvironment;
use lapwing_model::{Benchmark, Level, Metric, MetricName, Run, Version};

/// Everything that one session is to measure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The suite's name.
    pub suite: String,
    /// The benchmarks, in the suite's order.
    pub cases: Vec<Case>,
    /// The settings, in the suite's order; one named `default` where nothing varies.
    pub variants: Vec<Variant>,
    /// Where the version of the software under test is to be found.
    pub version: VersionSource,
    /// Makes a commit ready to be measured: called once in the folder of each.
    pub build: Option<CommandLine>,
    /// Whether the commits are measured in turn; else one after another, because what `build` changes they share.
    #[serde(default = "interleaved")]
    pub interleave: bool,
    /// Commands whose output is recorded in the environment, by name.
    #[serde(default)]
    pub environment_commands: BTreeMap<String, CommandLine>,
    /// Where those commands and that of `version` run.
    pub directory: Option<String>,
    /// The processors that benchmarks may run on, such as `0-1,3`; `None` for all.
    pub cpus: Option<String>,
    /// When a benchmark is measured no more before it has all of its instances.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_early: Option<StopEarly>,
    /// Seed of the order.
    pub seed: u64,
    /// The processors of the two sides of a duet; `None` if instances are measured one at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duet: Option<DuetCores>,
}

/// The question of a benchmark that is measured no more when it is answered.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StopEarly {
    /// The metric; `None` for wall time.
    pub metric: Option<MetricName>,
    /// The smallest change that matters, as a share.
    pub smallest_effect: Option<f64>,
}

/// One benchmark and how to measure it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// Identity, parameters, tags and fingerprint.
    pub benchmark: Benchmark,
    /// What is timed.
    pub command: CommandLine,
    /// Runs before each instance, untimed.
    pub setup: Option<CommandLine>,
    /// Runs before each iteration, untimed.
    pub prepare: Option<CommandLine>,
    /// Runs after each instance, untimed.
    pub teardown: Option<CommandLine>,
    /// Runs after each iteration, untimed; the iteration failed when it does.
    ///
    /// The iteration's standard output is its standard input.
    pub check: Option<CommandLine>,
    /// Working directory of all five.
    pub directory: Option<String>,
    /// Environment variables added for all five.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// What the timed command reads.
    #[serde(default)]
    pub stdin: CaseInput,
    /// Exit codes that count as success.
    #[serde(default = "success")]
    pub exit_codes: ExitCodes,
    /// How many instances.
    pub instances: u32,
    /// How many iterations are planned as burn-in.
    pub burn_in: BurnIn,
    /// How many iterations after those, at least.
    pub iterations: u32,
    /// The longest that one iteration may take.
    pub time_limit: Option<Duration>,
    /// Consecutive failures after which an instance is given up; 0 for never.
    pub max_failures: u32,
    /// Iterations go on until this much time was measured over all instances.
    pub min_time: Option<Duration>,
    /// No iteration begins once this much time was spent over all instances.
    pub max_time: Option<Duration>,
    /// Whether numbers are read from what the program prints.
    #[serde(default)]
    pub output: OutputMetrics,
    /// Metrics read from plain text by a regular expression.
    #[serde(default)]
    pub patterns: BTreeMap<MetricName, MetricPattern>,
    /// Declared units and directions.
    #[serde(default)]
    pub metrics: BTreeMap<MetricName, Metric>,
    /// How much of what one iteration works on, such as `bytes` → 1e8.
    #[serde(default)]
    pub work: BTreeMap<String, f64>,
    /// Set where the benchmark is a test: its instances are processes of pytest, which do the iterations.
    /// `command` then says how people would call it.
    pub pytest: Option<PytestTest>,
    /// Limits on what the timed command may use and see; `None` for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confinement: Option<Confinement>,
}

/// A named setting: what it changes about the commands.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Variant {
    /// The name.
    pub name: String,
    /// The factors and their levels.
    #[serde(default)]
    pub factors: BTreeMap<String, Level>,
    /// Hashes of what the factors mean.
    #[serde(default)]
    pub definitions: BTreeMap<String, String>,
    /// Environment variables that the factors set.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Arguments that the factors append to the timed command.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// Commands that take the place of those of benchmarks, by their ids.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub commands: BTreeMap<String, CommandLine>,
    /// Runs before each instance, untimed, and before what the benchmark itself sets up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup: Option<CommandLine>,
    /// Set-ups of its factors, before its own, in the order of the factors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub factor_setups: Vec<CommandLine>,
    /// The patches that are applied to the software under test, in the order of the factors; `commit` has them once
    /// it is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patches: Vec<SourcePatch>,
    /// The processors that its timed command may run on, such as `0-1,3`; `None` for those of the plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<String>,
    /// The revision that is checked out for it, as the suite names it; `commit` is what it means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<String>,
    /// Its Python environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub python: Option<PythonEnvironment>,
    /// The variant that it is a copy of, as a control where nothing differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control_of: Option<String>,
    /// The commit that is measured, where versions are what varies.
    pub commit: Option<PlannedCommit>,
}

/// A commit of the software under test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedCommit {
    /// What is recorded of it.
    pub version: Version,
    /// The top folder of the repository.
    pub repository: String,
    /// The patches that are applied to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patches: Vec<SourcePatch>,
}

impl Plan {
    /// Returns the plan of these benchmarks and nothing else: a single variant, and no folder.
    pub fn of_cases(suite: &str, cases: Vec<Case>, seed: u64) -> Self {
        Self {
            suite: suite.to_owned(),
            cases,
            variants: vec![Variant {
                name: Run::DEFAULT_VARIANT.to_owned(),
                ..Variant::default()
            }],
            version: VersionSource::WorkingDirectory,
            build: None,
            interleave: true,
            environment_commands: BTreeMap::new(),
            directory: None,
            cpus: None,
            stop_early: None,
            seed,
            duet: None,
        }
    }
}

impl Case {
    /// Returns a benchmark with a command and nothing else said.
    pub fn new(id: String, command: CommandLine) -> Self {
        Self {
            benchmark: Benchmark {
                id,
                ..Benchmark::default()
            },
            command,
            setup: None,
            prepare: None,
            teardown: None,
            check: None,
            directory: None,
            environment: BTreeMap::new(),
            stdin: CaseInput::Null,
            exit_codes: success(),
            instances: Settings::INSTANCES,
            burn_in: Settings::BURN_IN,
            iterations: Settings::ITERATIONS,
            time_limit: None,
            max_failures: Settings::MAX_FAILURES,
            min_time: None,
            max_time: None,
            output: OutputMetrics::None,
            patterns: BTreeMap::new(),
            metrics: BTreeMap::new(),
            work: BTreeMap::new(),
            pytest: None,
            confinement: None,
        }
    }
}

impl PlannedCommit {
    /// Returns its full hash.
    pub fn hash(&self) -> &str {
        self.version.commit.as_deref().unwrap_or_default()
    }

    /// Returns what tells it from other commits, and from itself with other patches; its first 16 characters suffice.
    pub fn key(&self) -> String {
        if self.patches.is_empty() {
            return self.hash().to_owned();
        }
        let contents: Vec<&str> = self.patches.iter().map(|it| it.content.as_str()).collect();
        let key = sha256(&json!([self.hash(), contents]).to_string());
        key.trim_start_matches("sha256:").to_owned()
    }
}

impl Variant {
    /// The name of the copy of a variant that serves as a control.
    pub const CONTROL: &str = "aa-control";

    /// Returns a copy of this variant under the name of a control.
    pub fn control(&self) -> Self {
        Self {
            name: Self::CONTROL.to_owned(),
            control_of: Some(self.name.clone()),
            ..self.clone()
        }
    }

    /// Returns the command that is timed for a benchmark, without the arguments of this variant.
    pub fn command_of<'a>(&'a self, case: &'a Case) -> &'a CommandLine {
        self.commands
            .get(&case.benchmark.id)
            .unwrap_or(&case.command)
    }

    /// Returns what runs before each instance: the set-ups of its factors, then its own.
    pub(crate) fn setups(&self) -> impl Iterator<Item = &CommandLine> {
        self.factor_setups.iter().chain(&self.setup)
    }

    /// Returns what tells it from the other variants of its plan, for people.
    pub fn label(&self) -> String {
        let Some(commit) = &self.commit else {
            return self.name.clone();
        };
        let version = commit.version.label().unwrap_or_default();
        if self.name == Run::DEFAULT_VARIANT {
            version
        } else {
            format!("{version} {}", self.name)
        }
    }

    /// Returns whether a run is one of this variant.
    pub fn is_of(&self, run: &Run) -> bool {
        let is_same = |version: &Version| match &version.commit {
            Some(commit) => run.version.commit.as_ref() == Some(commit),
            None => run.version.commit.is_none() && run.version.name == version.name,
        };
        let commit = self.commit.as_ref();
        run.variant == self.name && commit.is_none_or(|it| is_same(&it.version))
    }
}

/// A command: a list runs as it is, a text goes through `sh -c`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum CommandLine {
    /// For the shell.
    Shell(String),
    /// A program and its arguments.
    Words(Vec<String>),
}

/// What a timed command reads as its standard input.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CaseInput {
    /// Nothing.
    #[default]
    Null,
    /// The file of that path.
    File(String),
}

/// Exit codes that count as success.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExitCodes {
    /// Any exit code at all (death by a signal is a failure all the same).
    Any,
    /// One of these.
    These(Vec<i32>),
}

fn interleaved() -> bool {
    true
}

fn success() -> ExitCodes {
    ExitCodes::These(vec![0])
}

/// How many iterations are planned as burn-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BurnIn {
    /// That many.
    Fixed(u32),
    /// None: the steady part is found from the data when judging.
    Auto,
}

impl BurnIn {
    /// Returns how many iterations the runner plans as burn-in.
    pub fn planned(self) -> u32 {
        match self {
            Self::Fixed(count) => count,
            Self::Auto => 0,
        }
    }
}

/// Whether numbers are read from what the timed command prints.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputMetrics {
    /// No.
    #[default]
    None,
    /// The numbers of the last JSON object on standard output, or in the file that
    /// `$LAPWING_METRICS` names.
    Json,
    /// Those of an indicator, whose standard output is one JSON object with `@parameters` and `@result`.
    Indicator,
}

/// A number in plain text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MetricPattern {
    /// A regular expression; its first group (or the whole match) is the number.
    pub regex: String,
    /// Which match counts.
    #[serde(default)]
    pub take: MatchChoice,
}

/// Which of several matches counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MatchChoice {
    /// The first.
    First,
    /// The last.
    #[default]
    Last,
    /// The smallest number.
    Min,
    /// The largest number.
    Max,
    /// The sum of all.
    Sum,
    /// The mean of all.
    Mean,
}

/// Where the version of the software under test is to be found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VersionSource {
    /// The Git repository around the working directory, if there is one.
    #[default]
    WorkingDirectory,
    /// The Git repository at that path.
    Repository(String),
    /// The installed Python or Debian package of that name.
    Package(String),
    /// The first line of that command's output.
    Command(CommandLine),
    /// As stated.
    Name(String),
    /// Nowhere: what is measured has no version of its own.
    Absent,
}
