//! The tools, and the commands that they stand for.

use schemars::{JsonSchema, schema_for};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// A tool of the server.
pub(super) struct ToolKind {
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    /// Whether it executes programs of the user.
    pub(super) executes: bool,
    /// Whether it writes nothing.
    pub(super) reads_only: bool,
    schema: fn() -> Value,
    words: fn(Value) -> Result<Vec<String>, String>,
}

/// The parameter of every tool.
const FOLDER: &str = "folder";

pub(super) const TOOLS: [ToolKind; 7] = [
    ToolKind {
        name: "doctor",
        description: "Check whether this machine is suitable for measuring, and which differences it lets one detect. Call it first. Executes only a short computation of its own.",
        executes: false,
        reads_only: true,
        schema: schema_of::<Doctor>,
        words: words_of::<Doctor>,
    },
    ToolKind {
        name: "measure",
        description: "EXECUTES PROGRAMS. Measure shell commands, or the benchmarks of lapwing.toml, and keep every value. Two commands are compared. With `slowdown` and `budget`, such as 3% and 5m, how to measure is chosen, and the answer is whether the second is slower. May take minutes; reports progress and can be cancelled.",
        executes: true,
        reads_only: false,
        schema: schema_of::<Measure>,
        words: words_of::<Measure>,
    },
    ToolKind {
        name: "judge",
        description: "EXECUTES PROGRAMS. Judge whether the working tree is slower or faster than a Git revision: both are measured in turn until it is decided. Verdicts: not_slower, faster, slower, not_faster, same, undecided, not_measured. If you try several changes, set `campaign`: what is faster is then measured again before it is accepted, so that luck is not taken for an improvement; the question is then `faster`. Verdicts then also: not_confirmed. Can take 20 minutes; reports progress and can be cancelled. Exit code 125 is no answer, 128 says nothing about the change. Do not claim more than the verdict.",
        executes: true,
        reads_only: false,
        schema: schema_of::<Judge>,
        words: words_of::<Judge>,
    },
    ToolKind {
        name: "compare",
        description: "Compare stored measurements or result files of other tools: a baseline and candidates. The verdict `equivalent` is no change; `inconclusive` and `not_measured` are not. Executes nothing.",
        executes: false,
        reads_only: true,
        schema: schema_of::<Compare>,
        words: words_of::<Compare>,
    },
    ToolKind {
        name: "detect",
        description: "Find regressions, improvements and drifts in the history of benchmarks in the store or in files. Histories that are too short are not judged. Executes nothing.",
        executes: false,
        reads_only: true,
        schema: schema_of::<Detect>,
        words: words_of::<Detect>,
    },
    ToolKind {
        name: "explain",
        description: "Say what explains a finding, from traces of task graphs: of one run, where its time goes; of two, what made one slower. Runs are files of any trace format, or sides as in `compare`. Executes nothing.",
        executes: false,
        reads_only: true,
        schema: schema_of::<Explain>,
        words: words_of::<Explain>,
    },
    ToolKind {
        name: "history",
        description: "List what was measured (benchmarks, sessions, runs, metrics), show a session again, or show a campaign: which attempts were accepted, rejected and open. Executes nothing.",
        executes: false,
        reads_only: true,
        schema: schema_of::<History>,
        words: words_of::<History>,
    },
];

impl ToolKind {
    /// Returns the schema of its parameters.
    pub(super) fn schema(&self) -> Map<String, Value> {
        let mut schema = match (self.schema)() {
            Value::Object(schema) => schema,
            _ => Map::new(),
        };
        let properties = schema.entry("properties").or_insert_with(|| json!({}));
        properties[FOLDER] = json!({
            "type": ["string", "null"],
            "description": "Folder to work in [default: that of the server]",
        });
        schema.remove("title");
        schema.remove("$schema");
        schema
    }

    /// Returns the folder and the words of the command.
    ///
    /// # Errors
    /// With what is wrong about the parameters.
    pub(super) fn command(
        &self,
        mut given: Map<String, Value>,
    ) -> Result<(Option<String>, Vec<String>), String> {
        let folder = match given.remove(FOLDER) {
            None | Some(Value::Null) => None,
            Some(Value::String(folder)) => Some(folder),
            Some(_) => return Err("`folder` is a text".to_owned()),
        };
        // What is not set may be `null`.
        given.retain(|_, value| !value.is_null());
        Ok((folder, (self.words)(Value::Object(given))?))
    }
}

/// Parameters that stand for a command.
trait CommandParameters {
    fn words(self) -> Vec<String>;
}

fn schema_of<T: JsonSchema>() -> Value {
    schema_for!(T).to_value()
}

fn words_of<T: CommandParameters + DeserializeOwned>(given: Value) -> Result<Vec<String>, String> {
    let parameters = T::deserialize(given).map_err(|error| error.to_string())?;
    Ok(parameters.words())
}

/// Words of a command under way.
struct Words(Vec<String>);

impl Words {
    fn of(command: &[&str]) -> Self {
        Self(command.iter().map(|it| (*it).to_owned()).collect())
    }

    /// Adds an option with its value, as one word, so that no value can be taken for another option.
    fn with(mut self, option: &str, value: Option<impl ToString>) -> Self {
        let word = value.map(|it| format!("--{option}={}", it.to_string()));
        self.0.extend(word);
        self
    }

    fn each(mut self, option: &str, values: &[String]) -> Self {
        self.0
            .extend(values.iter().map(|it| format!("--{option}={it}")));
        self
    }

    /// Adds what is no option; after it come no options.
    fn then(mut self, values: Vec<String>) -> Vec<String> {
        if !values.is_empty() {
            self.0.push("--".to_owned());
            self.0.extend(values);
        }
        self.0
    }
}

/// No parameters but the folder.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Doctor {}

impl CommandParameters for Doctor {
    fn words(self) -> Vec<String> {
        Words::of(&["doctor"]).0
    }
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Measure {
    /// Shell commands to measure; without any, the benchmarks of lapwing.toml
    commands: Vec<String>,
    /// Names of benchmarks of lapwing.toml, or patterns with *
    benchmarks: Vec<String>,
    /// Variants of lapwing.toml, the baseline first
    variants: Vec<String>,
    /// Instances: fresh starts of each command, which are what is compared (5 by default)
    instances: Option<u32>,
    /// Iterations of each instance
    iterations: Option<u32>,
    /// The slowdown to find, such as 3%; needs `budget`, and chooses instances and iterations
    slowdown: Option<String>,
    /// With `slowdown`: the time for all measurements, such as 5m
    budget: Option<String>,
    /// `json`: take the numbers of the last JSON object that each command prints as metrics
    metrics: Option<String>,
    /// Name of the session
    name: Option<String>,
    /// Execute each command once more under this profiler, such as `perf record -o {artifact} --`
    profile: Option<String>,
}

impl CommandParameters for Measure {
    fn words(self) -> Vec<String> {
        Words::of(&["run", "--verbose"])
            .each("command", &self.commands)
            .each("benchmark", &self.benchmarks)
            .each("variant", &self.variants)
            .with("instances", self.instances)
            .with("iterations", self.iterations)
            .with("slowdown", self.slowdown)
            .with("budget", self.budget)
            .with("metrics", self.metrics)
            .with("name", self.name)
            .with("profile", self.profile)
            .with("limit", Some(ROWS))
            .0
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Judge {
    /// The Git revision to compare the working tree with, such as main or HEAD
    baseline: String,
    /// Shell command to measure; without one, the benchmark of lapwing.toml
    command: Option<String>,
    /// The benchmark of lapwing.toml, if there are several
    benchmark: Option<String>,
    /// Shell command that builds the program, in both trees
    build: Option<String>,
    /// The question: not-slower (default), faster, same, slower; faster=3% also sets the smallest change that matters
    expect: Option<String>,
    /// The smallest change that matters, such as 3% (5% by default)
    smallest_effect: Option<String>,
    /// Name of the campaign that this is an attempt of
    campaign: Option<String>,
    /// The metric (wall_time by default); less is better unless lapwing.toml says otherwise
    metric: Option<String>,
    /// `json`: take the numbers of the last JSON object that the command prints as metrics
    metrics: Option<String>,
    /// The most instances of each side (30 by default)
    instances: Option<u32>,
    /// Iterations of each instance (5 by default)
    iterations: Option<u32>,
    /// Iterations of each instance that are not counted, before those that are (1 by default)
    burn_in: Option<u32>,
}

impl CommandParameters for Judge {
    fn words(self) -> Vec<String> {
        Words::of(&["judge", "--verbose"])
            .with("baseline", Some(self.baseline))
            .with("command", self.command)
            .with("benchmark", self.benchmark)
            .with("build", self.build)
            .with("expect", self.expect)
            .with("smallest-effect", self.smallest_effect)
            .with("campaign", self.campaign)
            .with("metric", self.metric)
            .with("metrics", self.metrics)
            .with("instances", self.instances)
            .with("iterations", self.iterations)
            .with("burn-in", self.burn_in)
            .0
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Compare {
    /// The baseline: session:NAME, variant:NAME, commit:HASH, benchmark:NAME, a file, or a Git revision
    baseline: String,
    /// The candidates, in the same form
    candidates: Vec<String>,
    /// Only this benchmark, or a pattern with *
    benchmark: Option<String>,
    /// Only this metric
    metric: Option<String>,
    /// The smallest change that matters, such as 3%
    smallest_effect: Option<String>,
    /// The most rows (20 by default)
    limit: Option<u32>,
}

impl CommandParameters for Compare {
    fn words(self) -> Vec<String> {
        let sides = std::iter::once(self.baseline).chain(self.candidates);
        Words::of(&["compare"])
            .with("benchmark", self.benchmark)
            .with("metric", self.metric)
            .with("smallest-effect", self.smallest_effect)
            .with("limit", Some(self.limit.unwrap_or(ROWS)))
            .then(sides.collect())
    }
}

/// The most rows of an answer, where none are stated: an agent reads all of them.
const ROWS: u32 = 20;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Detect {
    /// Files or folders with results, in place of the store
    files: Vec<String>,
    /// Only this benchmark, or a pattern with *
    benchmark: Option<String>,
    /// Only this metric
    metric: Option<String>,
    /// The most rows (20 by default)
    limit: Option<u32>,
}

impl CommandParameters for Detect {
    fn words(self) -> Vec<String> {
        Words::of(&["detect"])
            .with("benchmark", self.benchmark)
            .with("metric", self.metric)
            .with("limit", Some(self.limit.unwrap_or(ROWS)))
            .then(self.files)
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Explain {
    /// The run whose time is explained, or the baseline
    run: String,
    /// Another run, to find why it is slower or faster than the first
    other: Option<String>,
    /// The most rows (20 by default)
    limit: Option<u32>,
}

impl CommandParameters for Explain {
    fn words(self) -> Vec<String> {
        let command = match self.other {
            Some(_) => "compare",
            None => "findings",
        };
        Words::of(&["trace", command])
            .with("limit", Some(self.limit.unwrap_or(ROWS)))
            .then_runs(self.run, self.other)
    }
}

impl Words {
    /// Adds runs; a `--` would begin those of another side.
    fn then_runs(mut self, run: String, other: Option<String>) -> Vec<String> {
        // What looks like an option is a file.
        let plain = |it: String| match it.starts_with('-') {
            true => format!("./{it}"),
            false => it,
        };
        self.0.extend(std::iter::once(run).chain(other).map(plain));
        self.0
    }
}

/// What to list or show.
#[derive(Debug, Default, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum HistoryKind {
    Benchmarks,
    #[default]
    Sessions,
    Runs,
    Metrics,
    Session,
    Campaign,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct History {
    /// benchmarks, sessions (default), runs or metrics to list; session or campaign to show one
    what: HistoryKind,
    /// The name of the session or campaign [default: the latest]
    name: Option<String>,
    /// Only what is of this benchmark
    benchmark: Option<String>,
    /// The most rows (20 by default)
    limit: Option<u32>,
}

impl CommandParameters for History {
    fn words(self) -> Vec<String> {
        let name = self.name.into_iter().collect();
        let limit = Some(self.limit.unwrap_or(ROWS));
        let list = |what| {
            let words = Words::of(&["list", what]);
            words
                .with("benchmark", self.benchmark)
                .with("limit", limit)
                .0
        };
        match self.what {
            HistoryKind::Benchmarks => list("benchmarks"),
            HistoryKind::Sessions => list("sessions"),
            HistoryKind::Runs => list("runs"),
            HistoryKind::Metrics => list("metrics"),
            HistoryKind::Session => Words::of(&["show"]).with("limit", limit).then(name),
            HistoryKind::Campaign => Words::of(&["campaign", "show"])
                .with("limit", limit)
                .then(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(name: &str, given: Value) -> Result<(Option<String>, Vec<String>), String> {
        let tool = TOOLS.iter().find(|it| it.name == name).unwrap();
        let Value::Object(given) = given else {
            panic!("an object")
        };
        tool.command(given)
    }

    #[test]
    fn parameters_are_words_of_a_command() {
        let given = json!({"commands": ["a b", "c"], "instances": 7, "folder": "x", "name": null});
        let words = [
            "run",
            "--verbose",
            "--command=a b",
            "--command=c",
            "--instances=7",
            "--limit=20",
        ];
        let expected = (Some("x".to_owned()), words.map(str::to_owned).to_vec());
        assert_eq!(command("measure", given), Ok(expected));
        let given = json!({"baseline": "--store=/etc/passwd", "candidates": ["b"]});
        let (_, words) = command("compare", given).unwrap();
        assert_eq!(
            words,
            ["compare", "--limit=20", "--", "--store=/etc/passwd", "b"]
        );
        let (_, words) = command("explain", json!({"run": "--x", "other": "b"})).unwrap();
        assert_eq!(words, ["trace", "compare", "--limit=20", "./--x", "b"]);
        let (_, words) = command("history", json!({"what": "campaign", "name": "c"})).unwrap();
        assert_eq!(words, ["campaign", "show", "--limit=20", "--", "c"]);
    }

    #[test]
    fn unknown_parameters_are_refused() {
        let error = command("judge", json!({"baseline": "main", "base": "x"})).unwrap_err();
        assert!(error.contains("unknown field `base`"), "{error}");
        let error = command("judge", json!({})).unwrap_err();
        assert!(error.contains("missing field `baseline`"), "{error}");
    }

    #[test]
    fn every_parameter_is_described() {
        for tool in &TOOLS {
            let schema = tool.schema();
            for (name, property) in schema["properties"].as_object().unwrap() {
                let described = property["description"].as_str();
                assert!(
                    described.is_some_and(|it| !it.is_empty()),
                    "{}: {name}",
                    tool.name
                );
            }
            assert_eq!(
                tool.executes,
                tool.description.starts_with("EXECUTES PROGRAMS")
            );
            assert!(!(tool.executes && tool.reads_only));
        }
    }
}
