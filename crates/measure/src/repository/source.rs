//! Where a variant's files are while it is measured: its commit, and its Python environment.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::super::local::parse_cpus;
use crate::suite::{Case, PlannedCommit, PytestTest, Variant};

/// What commands find the top folder of the commit under test by.
pub const SOURCE_VARIABLE: &str = "LAPWING_SOURCE";

/// The commits and Python environments of a plan, and what became of them.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct VariantSources {
    /// By their keys.
    commits: BTreeMap<String, CommitState>,
    /// By the names of their variants.
    environments: PythonFolders,
}

/// The Python environments of variants, by the names of the variants.
pub type PythonFolders = BTreeMap<String, PythonState>;

/// The state of a commit or Python environment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum SourceState<F> {
    /// It is checked out, or built.
    Ready(F),
    /// It cannot be, or cannot be measured, for this reason.
    Broken(String),
}

/// The state of a Python environment.
pub type PythonState = SourceState<PythonFolder>;

/// The state of a commit.
pub type CommitState = SourceState<CommitFolder>;

/// A Python environment that is built.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PythonFolder {
    /// Its folder.
    pub folder: PathBuf,
    /// The folders of programs, its own first: a value of `PATH`.
    pub path: String,
}

/// The place of a variant: where its commit is, and its Python environment, if it has them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VariantPlace {
    /// Its commit.
    pub commit: Option<CommitFolder>,
    /// Its Python environment.
    pub python: Option<PythonFolder>,
}

/// A commit's folder, and the repository that it stands for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitFolder {
    /// The top folder of the repository.
    pub repository: PathBuf,
    /// The folder where the commit is checked out.
    pub folder: PathBuf,
}

impl VariantSources {
    /// Returns the sources of a plan whose commits are not checked out yet.
    pub fn new(environments: PythonFolders) -> Self {
        Self {
            commits: BTreeMap::new(),
            environments,
        }
    }

    /// Says what became of a commit.
    pub fn insert(&mut self, commit: &PlannedCommit, source: CommitState) {
        self.commits.insert(commit.key(), source);
    }

    /// Returns the Python environment of a variant; `None` if it has none of its own.
    ///
    /// # Errors
    /// With the reason why it cannot be built.
    pub fn python_of(&self, variant: &Variant) -> Result<Option<&PythonFolder>, &str> {
        if variant.python.is_none() {
            return Ok(None);
        }
        match self.environments.get(&variant.name) {
            Some(PythonState::Ready(folder)) => Ok(Some(folder)),
            Some(PythonState::Broken(reason)) => Err(reason),
            None => Err("its Python environment was not built"),
        }
    }

    /// Returns the place of a variant.
    ///
    /// # Errors
    /// With the reason why it cannot be measured.
    pub fn of(&self, variant: &Variant) -> Result<VariantPlace, &str> {
        let python = self.python_of(variant)?.cloned();
        let commit = match &variant.commit {
            None => None,
            Some(commit) => match self.commits.get(&commit.key()) {
                Some(CommitState::Ready(place)) => Some(place.clone()),
                Some(CommitState::Broken(reason)) => return Err(reason),
                None => return Err("it was not checked out"),
            },
        };
        Ok(VariantPlace { commit, python })
    }
}

impl PythonFolder {
    /// Returns its interpreter.
    pub fn interpreter(&self) -> String {
        self.folder.join("bin/python").display().to_string()
    }

    /// Returns the variables of an activated environment.
    pub fn variables(&self) -> [(String, String); 2] {
        [
            ("PATH".to_owned(), self.path.clone()),
            ("VIRTUAL_ENV".to_owned(), self.folder.display().to_string()),
        ]
    }
}

impl Variant {
    /// Returns the processors that its timed command may run on; `None` for those of the plan. The program has
    /// checked the list.
    pub(crate) fn cpu_list(&self) -> Option<Vec<usize>> {
        parse_cpus(self.cpus.as_deref()?).ok()
    }
}

impl VariantPlace {
    /// Returns the working directory of a benchmark.
    pub(crate) fn directory(&self, case: &Case) -> Option<PathBuf> {
        let directory = Path::new(case.directory.as_deref()?);
        let commit = self.commit.as_ref();
        Some(commit.map_or_else(|| directory.to_owned(), |commit| commit.moved(directory)))
    }

    /// Returns the variables that are added for a benchmark in a setting.
    pub(crate) fn environment(&self, case: &Case, variant: &Variant) -> BTreeMap<String, String> {
        let mut environment = BTreeMap::new();
        environment.extend(self.python.iter().flat_map(PythonFolder::variables));
        environment.extend(case.environment.clone());
        environment.extend(variant.environment.clone());
        if let Some(commit) = &self.commit {
            let folder = commit.folder.display().to_string();
            environment.insert(SOURCE_VARIABLE.to_owned(), folder);
        }
        environment
    }

    /// Returns the interpreter of a test.
    pub(crate) fn interpreter(&self, test: &PytestTest) -> String {
        let own = self.python.as_ref().map(PythonFolder::interpreter);
        own.unwrap_or_else(|| test.python.clone())
    }
}

impl CommitFolder {
    /// Returns the place in the commit's folder that a place of the repository has. What lies outside stays, and
    /// what the commit does not have becomes its top folder.
    pub fn moved(&self, path: &Path) -> PathBuf {
        let real = path.canonicalize();
        let real = real.as_deref().unwrap_or(path);
        let Ok(inner) = real.strip_prefix(&self.repository) else {
            return path.to_owned();
        };
        let moved = self.folder.join(inner);
        if moved.exists() {
            moved
        } else {
            self.folder.clone()
        }
    }
}
