//! The file of resolved stacks.

use std::collections::BTreeMap;
use std::path::Path;

use lapwing_model::{Level, Levels, Object};
use lapwing_record::files::{LONGEST_SETTINGS, read_text};
use serde::{Deserialize, Serialize};

use super::sources::{refuse_python, refuse_source};
use super::{PYTHON, StackError, stack_name};
use crate::suite::{PackageFiles, PythonEnvironment, PythonPackages, Variant};

/// The attribute of a session that has its stacks.
pub const STACKS: &str = "stacks";

/// The version of the file's format.
const FORMAT_VERSION: u32 = 1;

/// Resolved stacks, and combinations that cannot be resolved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StackFile {
    /// The version of the format.
    pub v: u32,
    /// The requirements.
    pub requirements: Vec<String>,
    /// The seed of the choice.
    pub seed: u64,
    /// The stacks.
    pub stacks: Vec<ResolvedStack>,
    /// Combinations without a resolution.
    #[serde(default)]
    pub unresolved: Vec<RefusedStack>,
}

/// Exact versions of all packages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResolvedStack {
    /// The requested packages and `python`, with their versions.
    pub factors: Levels,
    /// All packages, as lines of requirements.
    pub packages: Vec<String>,
    /// The digest of all packages; empty in a file that was written by hand.
    #[serde(default)]
    pub lock: String,
}

/// A stack that cannot be measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedStack {
    /// The requested packages and `python`, with their versions.
    pub factors: Levels,
    /// The step that fails.
    pub state: RefusedState,
    /// The end of the output that says why.
    pub log: String,
}

/// The step at which a stack fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusedState {
    /// Its requirements contradict each other.
    Unresolved,
    /// A package cannot be built or installed.
    Unbuilt,
    /// A package cannot be imported.
    Unimportable,
}

impl RefusedState {
    /// Returns it as text for people.
    pub fn text(self) -> &'static str {
        match self {
            Self::Unresolved => "does not resolve",
            Self::Unbuilt => "does not build",
            Self::Unimportable => "does not import",
        }
    }
}

/// Returns the stacks of a session that could not be measured.
pub fn refused_stacks(attributes: &Object) -> Vec<RefusedStack> {
    let refused = attributes.get(STACKS).and_then(|it| it.get("refused"));
    let refused = refused.and_then(|it| serde_json::from_value(it.clone()).ok());
    refused.unwrap_or_default()
}

/// Returns the stacks of a session that could not be resolved: those that were not built or imported have instances.
pub fn unresolved_stacks(attributes: &Object) -> Vec<Levels> {
    let refused = refused_stacks(attributes).into_iter();
    let unresolved = refused.filter(|stack| stack.state == RefusedState::Unresolved);
    unresolved.map(|stack| stack.factors).collect()
}

/// Returns the stacks of a session whose packages cannot be imported, with the output that says why: resuming does
/// not change that.
pub fn unimportable_stacks(attributes: &Object) -> BTreeMap<String, String> {
    refused_stacks(attributes)
        .into_iter()
        .filter(|it| it.state == RefusedState::Unimportable)
        .map(|it| (stack_name(&it.factors), it.log))
        .collect()
}

impl ResolvedStack {
    /// Refuses what may execute code while it is installed, or takes packages from elsewhere.
    ///
    /// # Errors
    /// If there is such a line, or Python is no version.
    fn refuse_sources(&self) -> Result<(), StackError> {
        if let Some(version) = self.factors.get(PYTHON) {
            refuse_python(version)?;
        }
        self.packages
            .iter()
            .try_for_each(|line| refuse_source(line))
    }

    /// Returns the variant that measures it, with packages of these files.
    pub fn variant(&self, files: PackageFiles) -> Variant {
        let levels = self.factors.iter();
        Variant {
            name: stack_name(&self.factors),
            factors: levels
                .map(|(name, version)| (name.clone(), Level::Text(version.clone())))
                .collect(),
            python: Some(PythonEnvironment {
                packages: PythonPackages::Requirements(self.packages.clone()),
                version: self.factors.get(PYTHON).cloned(),
                files,
            }),
            ..Variant::default()
        }
    }

    /// Returns the requested packages.
    pub fn requested(&self) -> Vec<String> {
        let names = self.factors.keys().filter(|it| *it != PYTHON);
        names.cloned().collect()
    }
}

impl StackFile {
    /// Returns a file without stacks.
    pub fn new(requirements: Vec<String>, seed: u64) -> Self {
        Self {
            v: FORMAT_VERSION,
            requirements,
            seed,
            stacks: Vec::new(),
            unresolved: Vec::new(),
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, or is of a newer version.
    pub fn read(path: &Path) -> Result<Self, StackError> {
        let about = |reason: String| StackError::File {
            path: path.display().to_string(),
            reason,
        };
        let text = read_text(path, LONGEST_SETTINGS).map_err(|error| about(error.to_string()))?;
        let file: Self = serde_json::from_str(&text).map_err(|error| about(error.to_string()))?;
        if file.v != FORMAT_VERSION {
            return Err(about(format!(
                "written by a newer version of lapwing (format {})",
                file.v
            )));
        }
        Ok(file)
    }

    /// Refuses stacks that cannot be installed from built packages of the configured index alone.
    ///
    /// # Errors
    /// If there is one.
    pub fn refuse_sources(&self) -> Result<(), StackError> {
        self.stacks
            .iter()
            .try_for_each(ResolvedStack::refuse_sources)
    }

    /// Returns the text of the file.
    ///
    /// # Errors
    /// If it cannot be written as JSON.
    pub fn text(&self) -> Result<String, serde_json::Error> {
        Ok(format!("{}\n", serde_json::to_string_pretty(self)?))
    }
}
