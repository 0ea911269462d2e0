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

/// The state of a Python environment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum PythonState {
    /// It is built.
    Ready(PythonFolder),
    /// It cannot be built, for this reason.
    Broken(String),
}

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

/// The state of a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum CommitState {
    /// It is checked out and built.
    Ready(CommitFolder),
    /// It cannot be measured, for this reason.
    Broken(String),
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
        let Some(commit) = &variant.commit else {
            return Ok(VariantPlace {
                commit: None,
                python,
            });
        };
        match self.commits.get(&commit.key()) {
            Some(CommitState::Ready(place)) => Ok(VariantPlace {
                commit: Some(place.clone()),
                python,
            }),
            Some(CommitState::Broken(reason)) => Err(reason),
            None => Err("it was not checked out"),
        }
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
        let directory = case.directory.clone().map(PathBuf::from)?;
        Some(match &self.commit {
            Some(commit) => commit.moved(&directory),
            None => directory,
        })
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
        let real = path
            .canonicalize()
            .unwrap_or_else(|_absent| path.to_owned());
        match real.strip_prefix(&self.repository) {
            Ok(inner) => {
                let moved = self.folder.join(inner);
                if moved.exists() {
                    moved
                } else {
                    self.folder.clone()
                }
            }
            Err(_outside) => path.to_owned(),
        }
    }
}
