//! The commits of a session: found in a repository, checked out in folders of their own, and built.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use lapwing_model::Id;

use super::build_step::{BuildResult, build};
use super::kept_environments::KeptEnvironments;
use super::worktrees::Worktrees;
use super::{SessionError, SessionRemark, SessionSurroundings};
use crate::local::LocalExecutor;
use crate::suite::{CommandLine, Plan, PlannedCommit, Variant, VersionSource, command_text};
use crate::{
    CommitFolder, CommitRange, CommitState, ExecutorError, FixedSchedule, PythonFolders,
    SOURCE_VARIABLE, VariantSources, add_worktree, remove_worktree,
};

/// Start of the reason of commits that could not be built.
pub const NOT_BUILT: &str = "the build failed";
/// Start of the reason of commits that could not be checked out.
pub const NOT_CHECKED_OUT: &str = "it cannot be checked out";
/// Start of the reason of commits that could not be installed.
pub const NOT_INSTALLED: &str = "the installation failed";
/// Number of digits of the hash in the name of a commit's folder.
const DIGITS: usize = 16;

/// Returns the commits of a range of the plan's repository, whose working tree may have changes that are not committed.
///
/// # Errors
/// If there is no such repository or range.
pub fn commits_between(
    plan: &Plan,
    text: &str,
    every: usize,
    may_be_changed: bool,
    surroundings: &SessionSurroundings<'_>,
) -> Result<Vec<PlannedCommit>, SessionError> {
    let range = CommitRange {
        text,
        every,
        are_built: plan.build.is_some(),
        may_be_changed,
    };
    Ok(range.commits(&repository(plan, surroundings)?)?)
}

/// Returns the folder of the repository of what a plan measures.
///
/// # Errors
/// If the suite names none.
pub fn repository(
    plan: &Plan,
    surroundings: &SessionSurroundings<'_>,
) -> Result<PathBuf, SessionError> {
    match &plan.version {
        VersionSource::WorkingDirectory => Ok(surroundings.places.directory.clone()),
        VersionSource::Repository(path) => Ok(PathBuf::from(path)),
        VersionSource::Package(_)
        | VersionSource::Command(_)
        | VersionSource::Name(_)
        | VersionSource::Absent => Err(SessionError::NoRepository),
    }
}

/// The checked-out commits; their folders are removed on drop.
pub struct CommitCheckouts<'a> {
    plan: &'a Plan,
    surroundings: SessionSurroundings<'a>,
    made: Vec<(PathBuf, PathBuf)>,
    sources: VariantSources,
    /// The environments that commits are installed into; `None` before the first installation.
    kept: Option<KeptEnvironments<'a>>,
    // Dropped after the checkouts in it.
    worktrees: Option<Worktrees>,
}

impl<'a> CommitCheckouts<'a> {
    /// Removes the checkouts of killed processes; nothing is checked out yet.
    pub fn new(
        plan: &'a Plan,
        environments: &PythonFolders,
        session: Id,
        surroundings: SessionSurroundings<'a>,
    ) -> Result<Self, SessionError> {
        let commit = plan.variants.iter().find_map(|it| it.commit.as_ref());
        let worktrees = commit.map(|commit| {
            let repository = Path::new(&commit.repository);
            Worktrees::create(session, repository, surroundings.places)
        });
        let worktrees = worktrees.transpose();
        Ok(Self {
            plan,
            surroundings,
            made: Vec::new(),
            sources: VariantSources::new(environments.clone()),
            kept: None,
            worktrees: worktrees.map_err(SessionError::NoCommitFolder)?,
        })
    }

    /// Returns the commits with measurements left, in the order of the plan.
    pub fn wanted(&self, schedule: &FixedSchedule) -> Vec<PlannedCommit> {
        let left: BTreeSet<usize> = schedule.left().map(|it| it.variant).collect();
        let mut wanted: Vec<PlannedCommit> = Vec::new();
        for variant in left {
            let commit = self.plan.variants[variant].commit.as_ref();
            wanted.extend(commit.filter(|it| !wanted.contains(it)).cloned());
        }
        wanted
    }

    /// Checks out and builds a commit; `false` if interrupted.
    pub fn prepare(
        &mut self,
        commit: &PlannedCommit,
        executor: &mut LocalExecutor,
    ) -> Result<bool, ExecutorError> {
        let name: String = commit.key().chars().take(DIGITS).collect();
        let all = self.worktrees.as_ref().map(Worktrees::folder);
        let folder = all.unwrap_or(Path::new("/")).join(name);
        let repository = PathBuf::from(&commit.repository);
        self.made.push((repository.clone(), folder.clone()));
        let source = match add_worktree(commit, &folder) {
            Err(reason) => CommitState::Broken(format!("{NOT_CHECKED_OUT}: {reason}")),
            Ok(()) => match self.build_kept(commit, &folder, executor)? {
                BuildResult::Well => {
                    let folder = folder.canonicalize().unwrap_or(folder);
                    match self.objection(&folder) {
                        None => CommitState::Ready(CommitFolder { repository, folder }),
                        Some(wrong) => CommitState::Broken(format!("{NOT_INSTALLED}: {wrong}")),
                    }
                }
                BuildResult::Badly(reason) => CommitState::Broken(reason),
                BuildResult::Interrupted => return Ok(false),
            },
        };
        if let CommitState::Broken(reason) = &source {
            self.surroundings.remark(SessionRemark::NotMeasured {
                label: self.label(commit),
                reason: reason.clone(),
            });
        }
        self.sources.insert(commit, source);
        Ok(true)
    }

    /// Installs what was checked out of a commit, by a command in the working directory; `false` if interrupted.
    pub fn install(
        &mut self,
        commit: &Variant,
        command: &str,
        executor: &mut LocalExecutor,
    ) -> Result<bool, ExecutorError> {
        let place = self.sources.of(commit).ok();
        let Some(folder) = place.and_then(|it| it.commit).map(|it| it.folder) else {
            return Ok(true);
        };
        self.keep_environments(command)?;
        let path = command_text(&CommandLine::Words(vec![folder.display().to_string()]));
        let command = CommandLine::Shell(command.replace("{worktree}", &path));
        let environment = [source_variable(&folder)].into();
        let directory = &self.surroundings.places.directory;
        let wrong = match build(executor, command, directory, environment)? {
            BuildResult::Well => self.objection(&folder),
            BuildResult::Interrupted => return Ok(false),
            BuildResult::Badly(reason) => Some(reason),
        };
        if let Some(wrong) = wrong {
            let reason = format!("{NOT_INSTALLED}: {wrong}");
            self.surroundings.remark(SessionRemark::NotMeasured {
                label: commit.label(),
                reason: reason.clone(),
            });
            if let Some(commit) = &commit.commit {
                self.sources.insert(commit, CommitState::Broken(reason));
            }
        }
        Ok(true)
    }

    /// Keeps the Python environments that a command may install into, unless that is done.
    ///
    /// # Errors
    /// If another search installs into one of them.
    fn keep_environments(&mut self, command: &str) -> Result<(), ExecutorError> {
        let Some(worktrees) = self.worktrees.as_ref().filter(|_| self.kept.is_none()) else {
            return Ok(());
        };
        let own = self.plan.variants.iter();
        let own = own.filter_map(|it| Some(self.sources.python_of(it).ok()??.interpreter()));
        let own = own.map(PathBuf::from).collect();
        let folder = worktrees.folder();
        match KeptEnvironments::keep(self.plan, own, command, folder, self.surroundings) {
            Ok(kept) => self.kept = Some(kept),
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                return Err(ExecutorError::EnvironmentInUse(error));
            }
            Err(error) => self.surroundings.remark(SessionRemark::Note(format!(
                "what is installed now cannot be kept, and will not be put back ({error})"
            ))),
        }
        Ok(())
    }

    /// Returns why what was installed from a folder is not what is measured, if so.
    fn objection(&mut self, folder: &Path) -> Option<String> {
        self.kept.as_mut()?.objection(folder)
    }

    /// Builds a commit; if that installs it into an environment that commits share, the environment is kept before.
    fn build_kept(
        &mut self,
        commit: &PlannedCommit,
        folder: &Path,
        executor: &mut LocalExecutor,
    ) -> Result<BuildResult, ExecutorError> {
        if let Some(command) = self.plan.build.as_ref().map(command_text)
            && (!self.plan.interleave || command.contains("pip"))
        {
            self.keep_environments(&command)?;
        }
        self.build(Some(commit), folder, executor)
    }

    /// Builds the working tree of a repository; the reason if that fails.
    pub fn build_working_tree(
        &self,
        folder: &Path,
        executor: &mut LocalExecutor,
    ) -> Result<BuildResult, ExecutorError> {
        self.build(None, folder, executor)
    }

    /// Returns the folders of the commits and of the Python environments.
    pub fn sources(&self) -> VariantSources {
        self.sources.clone()
    }

    /// Removes the folders created so far.
    pub fn remove(&mut self) {
        for (repository, folder) in self.made.drain(..) {
            remove_worktree(&repository, &folder);
        }
    }

    fn build(
        &self,
        commit: Option<&PlannedCommit>,
        folder: &Path,
        executor: &mut LocalExecutor,
    ) -> Result<BuildResult, ExecutorError> {
        let Some(command) = &self.plan.build else {
            return Ok(BuildResult::Well);
        };
        self.surroundings.remark(SessionRemark::Building {
            label: commit.map(|commit| self.label(commit)),
        });
        let mut environment = commit.map_or_else(BTreeMap::new, |it| self.environment_of(it));
        environment.extend([source_variable(folder)]);
        let mut built = build(executor, command.clone(), folder, environment)?;
        if let BuildResult::Badly(reason) = &mut built {
            *reason = format!("{NOT_BUILT}: {reason}");
        }
        Ok(built)
    }

    /// Returns what a commit is known by: its version; with patches, the first variant that has them.
    fn label(&self, commit: &PlannedCommit) -> String {
        match self.variants_of(commit).next() {
            Some(variant) if !commit.patches.is_empty() => variant.label(),
            Some(_) | None => commit.version.label().unwrap_or_default(),
        }
    }

    fn variants_of(&self, commit: &PlannedCommit) -> impl Iterator<Item = &Variant> {
        let variants = self.plan.variants.iter();
        variants.filter(move |variant| variant.commit.as_ref() == Some(commit))
    }

    /// Returns the variables of the Python environment in which a commit is measured first.
    fn environment_of(&self, commit: &PlannedCommit) -> BTreeMap<String, String> {
        let mut variants = self.variants_of(commit);
        let python = variants.find_map(|it| self.sources.python_of(it).ok().flatten());
        python.map_or_else(BTreeMap::new, |it| it.variables().into())
    }
}

fn source_variable(folder: &Path) -> (String, String) {
    (SOURCE_VARIABLE.to_owned(), folder.display().to_string())
}

impl Drop for CommitCheckouts<'_> {
    fn drop(&mut self) {
        self.remove();
    }
}
