//! `lapwing run --commits`: the history of a repository, measured commit by commit.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use lapwing_analyse::sample::{SampleFilter, each_benchmark};
use lapwing_measure::local::LocalExecutor;
use lapwing_measure::pytest::RECORDED_NOTHING;
use lapwing_measure::suite::{CommandLine, Plan, PlannedCommit, Variant, VersionSource};
use lapwing_measure::{
    CommitFolder, CommitRange, CommitState, CommitsError, ExecutorError, FixedSchedule,
    PythonFolders, SOURCE_VARIABLE, VariantSources, add_worktree, remove_worktree, single_commit,
};
use lapwing_model::text::{counted, plural};
use lapwing_model::{Id, InstanceOutcome};
use lapwing_record::StoreError;

use super::build_step::{BuildResult, build};
use super::options::Run;
use super::worktrees::Worktrees;
use crate::error::CliError;
use crate::options::Context;

/// Start of the reason of commits that could not be built.
const NOT_BUILT: &str = "the build failed";
/// Start of the reason of commits that could not be checked out.
const NOT_CHECKED_OUT: &str = "it cannot be checked out";
/// Start of the reason of commits that could not be installed.
const NOT_INSTALLED: &str = "the installation failed";
/// Number of digits of the hash in the name of a commit's folder.
const DIGITS: usize = 16;

/// Returns the plan with every variant once per commit.
pub fn over_commits(mut plan: Plan, command: &Run, context: &Context) -> Result<Plan, CliError> {
    let Some(text) = &command.commits else {
        return Ok(plan);
    };
    let commits = commits_between(&plan, text, command.every.map_or(1, |it| it as usize))?;
    let all = commits.len();
    let measured = if command.again.is_some() {
        BTreeSet::new()
    } else {
        measured(&plan, context)?
    };
    let is_new = |commit: &PlannedCommit| {
        let lacks = |variant: &Variant| {
            let mut cases = plan.cases.iter();
            cases.any(|case| {
                let key = (
                    commit.hash().to_owned(),
                    variant.name.clone(),
                    case.benchmark.id.clone(),
                );
                !measured.contains(&key)
            })
        };
        plan.variants.iter().any(lacks)
    };
    let left: Vec<PlannedCommit> = commits.into_iter().filter(is_new).collect();
    if left.len() < all && !context.quiet {
        context.terminal.note(&format!(
            "{} of {} {} skipped: already measured (--again measures them again)",
            all - left.len(),
            counted(all, "commit"),
            plural(all - left.len(), "is", "are")
        ));
    }
    let variants = std::mem::take(&mut plan.variants);
    plan.variants = left
        .iter()
        .flat_map(|commit| {
            variants.iter().map(|variant| Variant {
                commit: Some(commit.clone()),
                ..variant.clone()
            })
        })
        .collect();
    Ok(plan)
}

/// Returns the plan with the commits that its variants name.
pub fn with_worktrees(mut plan: Plan, command: &Run) -> Result<Plan, CliError> {
    let are_patched = plan.variants.iter().any(|it| !it.patches.is_empty());
    if !are_patched && plan.variants.iter().all(|it| it.worktree.is_none()) {
        return Ok(plan);
    }
    if command.commits.is_some() {
        return Err(CliError::input(
            "--commits measures every variant at each commit, and a variant has its own by `worktree` or a patch",
        )
        .hint("choose variants without them (--variant), or omit --commits"));
    }
    let repository = repository(&plan)?;
    for variant in &mut plan.variants {
        // Without patches, too: the working tree may hold changes, and is in another folder.
        let head = are_patched.then_some("HEAD");
        let Some(revision) = variant.worktree.as_deref().or(head) else {
            continue;
        };
        let commit = single_commit(&repository, revision, plan.build.is_some());
        variant.commit = Some(PlannedCommit {
            patches: std::mem::take(&mut variant.patches),
            ..commit.map_err(about)?
        });
    }
    Ok(plan)
}

/// Returns the commits of a range of the plan's repository.
pub fn commits_between(
    plan: &Plan,
    text: &str,
    every: usize,
) -> Result<Vec<PlannedCommit>, CliError> {
    let range = CommitRange {
        text,
        every,
        are_built: plan.build.is_some(),
    };
    range.commits(&repository(plan)?).map_err(about)
}

/// Returns the folder of the repository of what a plan measures.
pub fn repository(plan: &Plan) -> Result<PathBuf, CliError> {
    match &plan.version {
        VersionSource::WorkingDirectory => Ok(super::working_directory()),
        VersionSource::Repository(path) => Ok(PathBuf::from(path)),
        VersionSource::Package(_)
        | VersionSource::Command(_)
        | VersionSource::Name(_)
        | VersionSource::Absent => Err(CliError::input(
            "measuring commits needs the repository of what is measured, and [version] of the suite names something else",
        )
        .hint("say `repository = \"…\"` under [version]")),
    }
}

/// Returns the error of commits with a hint.
pub fn about(error: CommitsError) -> CliError {
    let hint = match &error {
        CommitsError::NotARange { .. } => {
            "write `--commits A..B`: branches, tags or hashes; B may be left out"
        }
        CommitsError::NoRepository { .. } => {
            "run `lapwing run` in the repository, or name it under [version] of the suite"
        }
        CommitsError::Shallow { .. } => "`git fetch --unshallow` brings the rest",
        CommitsError::Dirty { .. } => "commit them, or `git stash` them",
        CommitsError::Unknown { .. } => "`git log --first-parent --oneline` lists commits",
        CommitsError::NotAncestor { .. } => "the older one comes first",
        CommitsError::Submodules { .. } => {
            "fetch them in each worktree: `build = \"git submodule update --init --recursive\"` under [version]"
        }
    };
    CliError::input(error).hint(hint)
}

fn no_folder(error: std::io::Error) -> CliError {
    CliError::input(error)
        .consequence("no commit can be checked out")
        .hint("name one outside of the repository: `XDG_CACHE_HOME=DIR lapwing run …`")
}

/// Commit, variant and benchmark of stored measurements.
type MeasuredInstances = BTreeSet<(String, String, String)>;

fn measured(plan: &Plan, context: &Context) -> Result<MeasuredInstances, CliError> {
    let mut found = BTreeSet::new();
    if !context.store.exists() {
        return Ok(found);
    }
    let store = crate::store::open_for_reading(context)?;
    let of_suite = SampleFilter::of_suites(std::slice::from_ref(&plan.suite));
    let filter = match of_suite.resolve(&store) {
        // Nothing of the suite was measured before.
        Err(StoreError::NoMatch { .. }) => return Ok(found),
        resolved => resolved?,
    };
    let read = each_benchmark(&store, &filter, |data| {
        for it in &data.instances {
            let end = it.end.as_ref();
            let message = end.and_then(|end| end.message.as_deref());
            let begins = |texts: &[&str]| {
                message.is_some_and(|it| texts.iter().any(|text| it.starts_with(text)))
            };
            let counts = end.is_some_and(|end| match end.outcome {
                InstanceOutcome::Ok | InstanceOutcome::TimedOut => true,
                // Imports may have failed instances, too.
                InstanceOutcome::Failed => !begins(&[RECORDED_NOTHING]),
                // A build may succeed the next time; a test that skips itself does so again.
                InstanceOutcome::Skipped => !begins(&[NOT_BUILT, NOT_CHECKED_OUT, NOT_INSTALLED]),
                InstanceOutcome::Lost => false,
            });
            let version = &it.run.version;
            if let (true, Some(commit), false) =
                (counts, &version.commit, version.dirty == Some(true))
            {
                let variant = it.run.variant.clone();
                found.insert((commit.clone(), variant, data.benchmark.id.clone()));
            }
        }
        Ok::<(), StoreError>(())
    });
    match read {
        Ok(()) | Err(StoreError::NoMatch { .. }) => Ok(found),
        Err(error) => Err(error.into()),
    }
}

/// The checked-out commits; their folders are removed on drop.
pub struct CommitCheckouts<'a> {
    plan: &'a Plan,
    context: &'a Context,
    made: Vec<(PathBuf, PathBuf)>,
    sources: VariantSources,
    // Dropped after the checkouts in it.
    worktrees: Option<Worktrees>,
}

impl<'a> CommitCheckouts<'a> {
    /// Removes the checkouts of killed processes; nothing is checked out yet.
    pub fn new(
        plan: &'a Plan,
        environments: &PythonFolders,
        session: Id,
        context: &'a Context,
    ) -> Result<Self, CliError> {
        let commit = plan.variants.iter().find_map(|it| it.commit.as_ref());
        let worktrees = match commit {
            None => None,
            Some(commit) => {
                let made = Worktrees::create(session, Path::new(&commit.repository));
                Some(made.map_err(no_folder)?)
            }
        };
        Ok(Self {
            plan,
            context,
            made: Vec::new(),
            sources: VariantSources::new(environments.clone()),
            worktrees,
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
            Ok(()) => match self.build(Some(commit), &folder, executor)? {
                BuildResult::Well => CommitState::Ready(CommitFolder {
                    repository,
                    folder: folder.canonicalize().unwrap_or(folder),
                }),
                BuildResult::Badly(reason) => CommitState::Broken(reason),
                BuildResult::Interrupted => return Ok(false),
            },
        };
        if let CommitState::Broken(reason) = &source {
            let label = self.label(commit);
            self.context
                .terminal
                .note(&format!("{label} is not measured: {reason}"));
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
        let path = super::quoted(&folder.display().to_string());
        let command = CommandLine::Shell(command.replace("{worktree}", &path));
        let environment = [source_variable(&folder)].into();
        match build(executor, command, &super::working_directory(), environment)? {
            BuildResult::Well => Ok(true),
            BuildResult::Interrupted => Ok(false),
            BuildResult::Badly(reason) => {
                let reason = format!("{NOT_INSTALLED}: {reason}");
                let label = commit.label();
                self.context
                    .terminal
                    .note(&format!("{label} is not measured: {reason}"));
                if let Some(commit) = &commit.commit {
                    self.sources.insert(commit, CommitState::Broken(reason));
                }
                Ok(true)
            }
        }
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
        if !self.context.quiet {
            let label = match commit {
                Some(commit) => self.label(commit),
                None => "the working tree".to_owned(),
            };
            self.context.terminal.say(&format!("building {label}"));
        }
        let mut environment = commit.map_or_else(BTreeMap::new, |it| self.environment_of(it));
        environment.extend([source_variable(folder)]);
        Ok(
            match build(executor, command.clone(), folder, environment)? {
                BuildResult::Badly(reason) => BuildResult::Badly(format!("{NOT_BUILT}: {reason}")),
                done @ (BuildResult::Well | BuildResult::Interrupted) => done,
            },
        )
    }

    /// Returns what a commit is known by: its version; with patches, the first variant that has them.
    fn label(&self, commit: &PlannedCommit) -> String {
        let is_its = |it: &&Variant| it.commit.as_ref() == Some(commit);
        match self.plan.variants.iter().find(is_its) {
            Some(variant) if !commit.patches.is_empty() => variant.label(),
            Some(_) | None => commit.version.label().unwrap_or_default(),
        }
    }

    /// Returns the variables of the Python environment in which a commit is measured first.
    fn environment_of(&self, commit: &PlannedCommit) -> BTreeMap<String, String> {
        let is_its = |it: &&Variant| it.commit.as_ref() == Some(commit);
        let mut variants = self.plan.variants.iter().filter(is_its);
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
