//! The folder `AB_environments` of Coiled's benchmarks: runtimes, each with packages, settings of Dask and of its
//! clusters, and which tests are measured how often.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use lapwing_record::files::{LONGEST_SETTINGS, read_text};
use serde::Deserialize;
use serde_json::Value;
use toml_edit::Key;

use super::found::list;

/// The start of the names of its files.
const PREFIX: &str = "AB_";
const BASELINE: &str = "baseline";
const CONFIG: &str = "config.yaml";

/// A folder of A/B environments that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum AbEnvironmentsError {
    /// It has no environment.
    #[error("{}: no file {PREFIX}NAME.conda.yaml is there", folder.display())]
    Empty {
        /// The folder.
        folder: PathBuf,
    },
    /// The folder or a file of it cannot be read.
    #[error("{}: {reason}", path.display())]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
}

/// A folder of A/B environments.
#[derive(Debug)]
pub struct AbEnvironments {
    folder: PathBuf,
    runtimes: Vec<AbRuntime>,
    config: AbConfig,
    /// Missing files, and settings without an equivalent in a suite.
    pub notes: Vec<String>,
}

/// A runtime: one variant.
#[derive(Debug)]
struct AbRuntime {
    name: String,
    variables: BTreeMap<String, String>,
    /// The file that changes the clusters, unless it changes nothing.
    cluster: Option<PathBuf>,
}

/// `config.yaml`: which tests, how often.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct AbConfig {
    repeat: Option<u32>,
    test_null_hypothesis: Option<bool>,
    targets: Option<Vec<String>>,
    markers: Option<String>,
    h2o_datasets: Option<Vec<String>>,
    max_parallel: Option<Value>,
}

impl AbEnvironments {
    /// Reads a folder.
    ///
    /// # Errors
    /// If it has no environment, or a file cannot be read.
    pub fn read(folder: &Path) -> Result<Self, AbEnvironmentsError> {
        let entries = fs::read_dir(folder).map_err(|error| unreadable(folder, &error))?;
        let files = entries
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok());
        let name = |file: String| {
            let name = file.strip_prefix(PREFIX)?.strip_suffix(".conda.yaml")?;
            Some(name.to_owned())
        };
        let mut names: Vec<String> = files.filter_map(name).collect();
        // The baseline first: it is what the others are compared with.
        names.sort_by_key(|name| (name != BASELINE, name.clone()));
        if names.is_empty() {
            return Err(AbEnvironmentsError::Empty {
                folder: folder.to_owned(),
            });
        }
        let mut notes = Vec::new();
        if names[0] != BASELINE {
            notes.push(format!(
                "there is no {PREFIX}{BASELINE}.conda.yaml: `{}` comes first",
                names[0]
            ));
        }
        let mut runtimes = Vec::new();
        for name in names {
            let file = |kind: &str| folder.join(format!("{PREFIX}{name}.{kind}.yaml"));
            let mut lacking = Vec::new();
            let mut settings = |kind: &str| -> Result<Option<Value>, AbEnvironmentsError> {
                let path = file(kind);
                if !path.exists() {
                    lacking.push(format!("{PREFIX}{name}.{kind}.yaml"));
                    return Ok(None);
                }
                yaml(&path)
            };
            let (dask, clusters) = (settings("dask")?, settings("cluster")?);
            let mut variables = BTreeMap::new();
            if let Some(dask) = dask {
                dask_variables("DASK", &dask, &mut variables);
            }
            let lacking = lacking.iter();
            notes.extend(
                lacking.map(|file| format!("{file} is missing; nothing is overridden by it")),
            );
            runtimes.push(AbRuntime {
                cluster: clusters.map(|_| file("cluster")),
                name,
                variables,
            });
        }
        let path = folder.join(CONFIG);
        let config = if path.exists() {
            let text =
                read_text(&path, LONGEST_SETTINGS).map_err(|error| unreadable(&path, &error))?;
            // An empty document is no table.
            let config: Option<AbConfig> =
                serde_saphyr::from_str(&text).map_err(|error| unreadable(&path, &error))?;
            config.unwrap_or_default()
        } else {
            notes.push(format!(
                "{CONFIG} is missing: name the tests in the suite file"
            ));
            AbConfig::default()
        };
        if config.repeat == Some(0) {
            notes.push("repeat is 0, which switches A/B tests off: the suite has the default of 5 instances".to_owned());
        }
        if config.max_parallel.is_some() {
            notes.push("max_parallel has no equivalent: instances are measured one after another, which disturbs them least; `--executor` spreads them over machines".to_owned());
        }
        let repository = folder.parent().unwrap_or(Path::new(""));
        let targets = config.targets.iter().flatten();
        let absent = targets.filter(|target| {
            let path = target.split("::").next().unwrap_or_default();
            !repository.join(path).exists()
        });
        notes.extend(absent.map(|target| format!("target `{target}` does not exist")));
        Ok(Self {
            folder: folder.to_owned(),
            runtimes,
            config,
            notes,
        })
    }

    /// Returns the number of runtimes, each a variant.
    pub fn count(&self) -> usize {
        self.runtimes.len()
    }

    /// Returns the command that measures the suite as the configuration wants it.
    pub fn command(&self) -> &'static str {
        match self.config.test_null_hypothesis {
            Some(true) => "lapwing run --aa",
            Some(false) | None => "lapwing run",
        }
    }

    /// Returns the suite file.
    pub fn suite(&self) -> String {
        let mut text = format!(
            "# Made from {} by `lapwing init`.\n\n[benchmark.tests]\n",
            self.folder.display()
        );
        let mut line = |key: &str, value: String| text.push_str(&format!("{key} = {value}\n"));
        let targets = self.config.targets.iter().flatten().map(String::as_str);
        let targets: Vec<&str> = targets.collect();
        line(
            "pytest",
            list(if targets.is_empty() {
                &["tests"]
            } else {
                &targets
            }),
        );
        let markers = self.config.markers.as_deref().unwrap_or_default();
        if !markers.trim().is_empty() {
            line("pytest_arguments", list(&["-m", markers]));
        }
        if let Some(repeat) = self.config.repeat.filter(|it| *it > 0) {
            line("instances", repeat.to_string());
        }
        let datasets = self.config.h2o_datasets.as_deref().unwrap_or_default();
        if !datasets.is_empty() {
            let datasets = quoted(&datasets.join(","));
            line("env", format!("{{ H2O_DATASETS = {datasets} }}"));
        }
        for runtime in &self.runtimes {
            let packages = self
                .folder
                .join(format!("{PREFIX}{}.conda.yaml", runtime.name));
            text.push_str(&format!(
                "\n[variant.{}]\npython = {}\n",
                Key::new(&runtime.name),
                quoted(&packages.display().to_string())
            ));
            let mut variables = runtime.variables.clone();
            variables.insert("AB_VERSION".to_owned(), format!("{PREFIX}{}", runtime.name));
            if let Some(cluster) = &runtime.cluster {
                variables.insert("CLUSTER_KWARGS".to_owned(), cluster.display().to_string());
            }
            text.push_str("env = { ");
            let entries = variables
                .iter()
                .map(|(name, value)| format!("{} = {}", Key::new(name), quoted(value)));
            text.push_str(&entries.collect::<Vec<_>>().join(", "));
            text.push_str(" }\n");
        }
        text
    }
}

fn unreadable(path: &Path, error: &dyn std::error::Error) -> AbEnvironmentsError {
    AbEnvironmentsError::Unreadable {
        path: path.to_owned(),
        reason: error.to_string(),
    }
}

fn yaml(path: &Path) -> Result<Option<Value>, AbEnvironmentsError> {
    let text = read_text(path, LONGEST_SETTINGS).map_err(|error| unreadable(path, &error))?;
    let has_content = text.lines().any(|line| {
        !matches!(line.trim().chars().next(), None | Some('#')) && line.trim() != "---"
    });
    if !has_content {
        return Ok(None);
    }
    let options = serde_saphyr::options! {
        non_finite_float_policy: serde_saphyr::options::NonFiniteFloatPolicy::AsString,
    };
    let value: Value = serde_saphyr::from_str_with_options(&text, options)
        .map_err(|error| unreadable(path, &error))?;
    Ok(Some(value).filter(|it| !it.is_null()))
}

/// Adds the variables that Dask reads its configuration from: `distributed.scheduler.worker-saturation` is
/// `DASK_DISTRIBUTED__SCHEDULER__WORKER_SATURATION`, with values as literals of Python.
fn dask_variables(prefix: &str, value: &Value, variables: &mut BTreeMap<String, String>) {
    let Some(table) = value.as_object() else {
        variables.insert(prefix.to_owned(), literal(value));
        return;
    };
    for (name, value) in table {
        let separator = if prefix == "DASK" { "_" } else { "__" };
        let name = name.to_uppercase().replace('-', "_");
        dask_variables(&format!("{prefix}{separator}{name}"), value, variables);
    }
}

fn literal(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        // YAML writes infinity with a dot, Python without.
        Value::String(text) if [".inf", "-.inf", ".nan"].contains(&text.as_str()) => {
            text.replace('.', "")
        }
        Value::String(text) => text.clone(),
        Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

fn quoted(text: &str) -> String {
    toml_edit::Value::from(text).to_string()
}
