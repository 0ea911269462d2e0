//! Tests of pytest as benchmarks: what a table of the suite says of them, and what of that a plan keeps.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::case::CaseDefaults;
use super::node::{Located, Node, Table, Value};
use super::numbers::settings::Settings;
use super::plan::BurnIn;

/// A test that pytest executes and its plugin repeats: one process is one instance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PytestTest {
    /// The Python interpreter.
    pub python: String,
    /// pytest's root folder, from which its node ids start.
    pub root: String,
    /// What pytest is given with every call.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// What the plugin said when the tests were collected. What the plan says beyond it is given to pytest.
    pub collected: CollectedCounts,
    /// Whether somebody said how often, besides what was collected.
    #[serde(default)]
    pub given: GivenCounts,
}

impl PytestTest {
    /// Returns whether so many iterations are what the plugin would do by itself, and nobody asked for them.
    pub fn is_left_to_the_plugin(&self, burn_in: u32, iterations: u32) -> bool {
        let same = (burn_in, iterations) == (self.collected.burn_in, self.collected.iterations);
        same && self.given == GivenCounts::default()
    }
}

/// What somebody said of a test that is given to pytest even where it is what the plugin would do: for the rounds of
/// the fixture `benchmark` that is a choice of its own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct GivenCounts {
    /// Iterations before those that count.
    pub burn_in: bool,
    /// Iterations that count.
    pub iterations: bool,
}

/// How often the plugin would measure a test by itself.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CollectedCounts {
    /// Iterations before those that count.
    pub burn_in: u32,
    /// Iterations that count.
    pub iterations: u32,
    /// The longest that one iteration may take.
    pub time_limit: Option<Duration>,
    /// Consecutive failures after which it gives up; 0 for never.
    pub max_failures: u32,
}

/// A table `[benchmark.NAME]` with the key `pytest`. Which tests it means is known when pytest has collected them.
#[derive(Debug, Clone, PartialEq)]
pub struct PytestTable {
    /// Its name, for messages.
    pub name: String,
    /// Files, folders and node ids, as pytest is given them.
    pub paths: Vec<String>,
    /// The Python interpreter.
    pub python: String,
    /// Arguments for pytest.
    pub arguments: Vec<String>,
    /// Where pytest is called.
    pub directory: String,
    /// Variables added to its environment.
    pub environment: BTreeMap<String, String>,
    /// Tags that all its tests have besides their own.
    pub tags: Vec<String>,
    /// How often, as the table says.
    pub settings: Settings,
    /// How often, as `[defaults]` says: below what a test's own marker says.
    pub defaults: Settings,
    /// How many command benchmarks stand before it in the suite.
    pub(super) position: usize,
}

/// The interpreter where the suite names none.
const PYTHON: &str = "python3";

/// Keys that say something of commands only.
const OF_COMMANDS: &str = "command setup prepare teardown check params stdin exit_codes metrics metric work min_time \
    max_time";

/// Reads a table whose key `pytest` is already taken.
pub(super) fn read_pytest(
    name: &str,
    paths: &Node,
    mut keys: Table,
    defaults: &CaseDefaults,
    position: usize,
) -> Result<PytestTable, Located> {
    for key in OF_COMMANDS.split(' ') {
        if let Some(node) = keys.take(key) {
            return Err(node.senseless(key, "is for commands, and this table has `pytest`"));
        }
    }
    let paths = texts(paths, "pytest")?;
    let python = keys.read("python", Node::text)?;
    let python = python.map_or_else(|| PYTHON.to_owned(), |it| from_folder(it, &defaults.folder));
    let arguments = keys.read("pytest_arguments", Node::texts)?;
    let settings = Settings::read(&mut keys)?;
    let all = defaults.with(&mut keys)?;
    keys.finish()?;
    Ok(PytestTable {
        name: name.to_owned(),
        paths,
        python,
        arguments: arguments.unwrap_or_default(),
        directory: all.directory,
        environment: all.environment,
        tags: all.tags,
        settings,
        defaults: all.settings,
        position,
    })
}

/// Returns one text or several.
fn texts(node: &Node, key: &str) -> Result<Vec<String>, Located> {
    let texts = match &node.value {
        Value::Text(text) => vec![text.clone()],
        Value::List(_) => node.texts(key)?,
        _ => return Err(node.wrong(key, "a path or a list of paths")),
    };
    if texts.is_empty() || texts.iter().any(|it| it.trim().is_empty()) {
        return Err(node.senseless(key, "is empty"));
    }
    Ok(texts)
}

/// A program with a slash is a path from the suite's folder; another one is looked for.
fn from_folder(program: String, folder: &Path) -> String {
    if program.contains('/') {
        let inner = program.strip_prefix("./").unwrap_or(&program);
        folder.join(inner).display().to_string()
    } else {
        program
    }
}

impl PytestTable {
    /// Returns what pytest is given with every call: the settings of the suite, and its arguments.
    ///
    /// `[defaults]` stand in for pytest's configuration file, so that a test's own marker wins over them; what the
    /// table says wins over the marker.
    pub fn all_arguments(&self) -> Vec<String> {
        let mut all = Vec::new();
        for (name, value) in options(&self.defaults) {
            let option = format!("lapwing_{}={value}", name.replace('-', "_"));
            all.extend(["-o".to_owned(), option]);
        }
        let own = options(&self.settings).into_iter();
        all.extend(own.map(|(name, value)| format!("--lapwing-{name}={value}")));
        all.extend(self.arguments.iter().cloned());
        all
    }

    /// Returns whether the steady part of a test is found when judging.
    pub(crate) fn finds_burn_in(&self, collected: u32) -> bool {
        match (self.settings.burn_in, self.defaults.burn_in) {
            (Some(BurnIn::Auto), _) => true,
            // A marker may have said something else.
            (None, Some(BurnIn::Auto)) => collected == 0,
            (Some(BurnIn::Fixed(_)), _) | (None, Some(BurnIn::Fixed(_)) | None) => false,
        }
    }
}

/// Returns the plugin's names of the settings that are given.
fn options(settings: &Settings) -> Vec<(&'static str, String)> {
    let text = |number: Option<u32>| number.map(|number| number.to_string());
    let time_limit = settings.time_limit;
    let given = [
        ("burn-in", text(settings.burn_in.map(BurnIn::planned))),
        ("iterations", text(settings.iterations)),
        (
            "time-limit",
            time_limit.map(|limit| limit.as_secs_f64().to_string()),
        ),
        ("max-failures", text(settings.max_failures)),
    ];
    let given = given.into_iter();
    given
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
}
