//! Where a commit's files are while it is measured.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::suite::{Case, Variant};

/// What commands find the top folder of the commit under test by.
pub const SOURCE_VARIABLE: &str = "LAPWING_SOURCE";

/// The commits of a plan and what became of them, by their hashes.
#[derive(Debug, Clone, Default)]
pub struct CommitFolders(BTreeMap<String, CommitState>);

/// The state of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommitState {
    /// It is checked out and built.
    Ready(CommitFolder),
    /// It cannot be measured, for this reason.
    Broken(String),
}

/// A commit's folder, and the repository that it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitFolder {
    /// The top folder of the repository.
    pub repository: PathBuf,
    /// The folder where the commit is checked out.
    pub folder: PathBuf,
}

impl CommitFolders {
    /// Says what became of a commit.
    pub fn insert(&mut self, commit: &str, source: CommitState) {
        self.0.insert(commit.to_owned(), source);
    }

    /// Returns the location of a variant's commit; `None` if versions do not vary.
    ///
    /// # Errors
    /// With the reason why it cannot be measured.
    pub fn of(&self, variant: &Variant) -> Result<Option<&CommitFolder>, &str> {
        let Some(commit) = &variant.commit else {
            return Ok(None);
        };
        match self.0.get(commit.hash()) {
            Some(CommitState::Ready(place)) => Ok(Some(place)),
            Some(CommitState::Broken(reason)) => Err(reason),
            None => Err("it was not checked out"),
        }
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

    /// Returns the working directory of a benchmark.
    pub(super) fn directory(place: Option<&Self>, case: &Case) -> Option<PathBuf> {
        let directory = case.directory.clone().map(PathBuf::from)?;
        Some(place.map_or_else(|| directory.clone(), |it| it.moved(&directory)))
    }

    /// Returns the variables that are added for a benchmark in a setting.
    pub(super) fn environment(
        place: Option<&Self>,
        case: &Case,
        variant: &Variant,
    ) -> BTreeMap<String, String> {
        let mut environment = case.environment.clone();
        environment.extend(variant.environment.clone());
        if let Some(place) = place {
            let folder = place.folder.display().to_string();
            environment.insert(SOURCE_VARIABLE.to_owned(), folder);
        }
        environment
    }
}
