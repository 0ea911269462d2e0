//! The Python environments of variants: built once, kept in the cache, used whole.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::local::LocalExecutor;
use crate::suite::{
    CommandLine, HASH, PackageFiles, Plan, PythonEnvironment, PythonPackages, Variant,
};
use crate::{PythonFolder, PythonFolders, PythonState};
use lapwing_record::files::{LONGEST_SETTINGS, read_text};
use serde_json::json;

use super::build_step::{BuildResult, build_with_log};
use super::worktrees::lock;
use super::{SessionError, SessionPlaces, SessionRemark, SessionSurroundings};

/// The file that an environment has when it is complete; its age is that of the last use.
const COMPLETE: &str = "lapwing.json";
/// Environments that were not used for this long are removed.
const KEPT: Duration = Duration::from_secs(60 * 60 * 24 * 30);

/// The environments that are built.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EnvironmentBuilds {
    /// Those that are not there yet.
    #[default]
    Missing,
    /// None: for a dry run.
    None,
}

/// The Python environments of a plan; those that cannot be used again are removed on drop.
#[derive(Default)]
pub struct PythonEnvironments {
    folders: PythonFolders,
    builds: EnvironmentBuilds,
    passing: Vec<PathBuf>,
    /// The ends of the output of builds that failed, by the names of the variants.
    logs: BTreeMap<String, String>,
}

impl PythonEnvironments {
    /// Builds those that are not there yet. One that cannot be built is noted.
    ///
    /// # Errors
    /// If there is no place for them, or the user interrupts.
    pub fn prepare(
        plan: &Plan,
        surroundings: &SessionSurroundings<'_>,
    ) -> Result<Self, SessionError> {
        Self::find(plan, EnvironmentBuilds::Missing, surroundings)
    }

    /// Finds those that are there, and builds the others if they are to be built.
    ///
    /// # Errors
    /// If there is no place for them, or the user interrupts.
    pub fn find(
        plan: &Plan,
        builds: EnvironmentBuilds,
        surroundings: &SessionSurroundings<'_>,
    ) -> Result<Self, SessionError> {
        let mut all = Self::default();
        all.builds = builds;
        if plan.variants.iter().all(|it| it.python.is_none()) {
            return Ok(all);
        }
        let mut executor = surroundings.start_executor(plan)?;
        let directory = plan.directory.as_ref().map_or(Path::new("/"), Path::new);
        let mut known: Vec<(&PythonEnvironment, PythonState)> = Vec::new();
        for variant in &plan.variants {
            let Some(python) = &variant.python else {
                continue;
            };
            let state = match known.iter().find(|(it, _)| *it == python) {
                Some((_, state)) => state.clone(),
                None => all.state_of(variant, python, directory, &mut executor, surroundings)?,
            };
            let is_news = known.iter().all(|(it, _)| *it != python);
            if let (PythonState::Broken(reason), EnvironmentBuilds::Missing, true) =
                (&state, builds, is_news)
            {
                surroundings.remark(SessionRemark::NotMeasured {
                    label: variant.name.clone(),
                    reason: reason.clone(),
                });
            }
            known.push((python, state.clone()));
            all.folders.insert(variant.name.clone(), state);
        }
        Ok(all)
    }

    /// Adds the environments of other variants.
    pub fn add(&mut self, mut other: Self) {
        self.folders.append(&mut other.folders);
        self.passing.append(&mut other.passing);
        self.logs.append(&mut other.logs);
    }

    /// Marks the environment of a variant as unusable.
    pub fn refuse(&mut self, variant: &str, reason: String, log: String) {
        let state = PythonState::Broken(reason);
        self.folders.insert(variant.to_owned(), state);
        self.logs.insert(variant.to_owned(), log);
    }

    /// Returns the end of the output of a variant's build, if it failed.
    pub fn log(&self, variant: &str) -> Option<&str> {
        self.logs.get(variant).map(String::as_str)
    }

    /// Returns where they are.
    pub fn folders(&self) -> &PythonFolders {
        &self.folders
    }

    fn state_of(
        &mut self,
        variant: &Variant,
        python: &PythonEnvironment,
        directory: &Path,
        executor: &mut LocalExecutor,
        surroundings: &SessionSurroundings<'_>,
    ) -> Result<PythonState, SessionError> {
        let places = surroundings.places;
        if let PythonPackages::Existing(folder) = &python.packages {
            return Ok(existing(Path::new(folder), places));
        }
        let content = match python
            .file()
            .map(|file| read_text(file, LONGEST_SETTINGS))
            .transpose()
        {
            Ok(content) => content.unwrap_or_default(),
            Err(error) => {
                let file = python.file().unwrap_or(Path::new("")).display();
                return Ok(PythonState::Broken(format!("cannot read {file}: {error}")));
            }
        };
        let steps = match steps(python, places) {
            Ok(steps) => steps,
            Err(reason) => return Ok(PythonState::Broken(reason)),
        };
        let cache = places
            .cache_folder("environments", directory)
            .map_err(SessionError::NoEnvironmentFolder)?;
        remove_old(&cache, surroundings.now().into());
        let key = python.key(&content);
        let is_repeatable = python.is_repeatable(&content);
        let name = if is_repeatable {
            key
        } else {
            format!("{key}-{}", (surroundings.new_id)())
        };
        let folder = cache.join(&name);
        let _lock =
            lock(&cache.join(format!("{name}.lock"))).map_err(SessionError::NoEnvironmentFolder)?;
        if !is_repeatable {
            self.passing.push(folder.clone());
        }
        let complete = folder.join(COMPLETE);
        if !complete.exists() {
            if self.builds == EnvironmentBuilds::None {
                let reason = "its Python environment is not built yet";
                return Ok(PythonState::Broken(reason.to_owned()));
            }
            surroundings.remark(SessionRemark::BuildingEnvironment {
                variant: variant.name.clone(),
            });
            let _absent = fs::remove_dir_all(&folder);
            let requirements = requirements_file(&folder);
            if let Some(lines) = python.hashed_lines() {
                fs::write(&requirements, lines.join("\n"))
                    .map_err(SessionError::NoEnvironmentFolder)?;
            }
            // The configuration of a folder may name an index.
            let directory = match python.files {
                PackageFiles::Any => directory,
                PackageFiles::Built => cache.as_path(),
            };
            for step in steps {
                let variables = step.variables(&folder);
                let (result, log) =
                    build_with_log(executor, step.command(&folder), directory, variables)?;
                match result {
                    BuildResult::Well => {}
                    BuildResult::Interrupted => {
                        return Err(SessionError::Interrupted);
                    }
                    BuildResult::Badly(reason) => {
                        let _gone = fs::remove_dir_all(&folder);
                        let _gone = fs::remove_file(&requirements);
                        self.logs.insert(variant.name.clone(), log);
                        return Ok(PythonState::Broken(format!(
                            "its Python environment cannot be built: {reason}"
                        )));
                    }
                }
            }
            let _absent = fs::remove_file(&requirements);
        }
        // Written at each use: environments go when they are not used for long.
        let text = json!({ "packages": python.packages }).to_string();
        fs::write(&complete, text).map_err(SessionError::NoEnvironmentFolder)?;
        Ok(ready(folder, places))
    }
}

impl Drop for PythonEnvironments {
    fn drop(&mut self) {
        for folder in &self.passing {
            let _gone = fs::remove_dir_all(folder);
            let _gone = fs::remove_file(folder.with_extension("lock"));
        }
    }
}

/// Returns the file from which the hashes of an environment's packages are read while it is built.
fn requirements_file(folder: &Path) -> PathBuf {
    folder.with_extension("txt")
}

fn existing(folder: &Path, places: &SessionPlaces) -> PythonState {
    if folder.join("bin/python").exists() {
        let folder = folder.canonicalize();
        return ready(folder.unwrap_or_default(), places);
    }
    PythonState::Broken(format!(
        "{} is no Python environment: it has no bin/python",
        folder.display()
    ))
}

fn ready(folder: PathBuf, places: &SessionPlaces) -> PythonState {
    let programs = folder.join("bin").display().to_string();
    let path = match places.search_path.to_str() {
        Some(path) if !path.is_empty() => format!("{programs}:{path}"),
        Some(_) | None => programs,
    };
    PythonState::Ready(PythonFolder { folder, path })
}

/// Removes environments that were not used for long.
fn remove_old(cache: &Path, now: SystemTime) {
    for entry in fs::read_dir(cache).into_iter().flatten().flatten() {
        let folder = entry.path();
        // One that is being built has no such file yet, so its own age counts.
        let used = fs::metadata(folder.join(COMPLETE)).or_else(|_unfinished| entry.metadata());
        let age = used.and_then(|it| it.modified()).ok();
        let age = age.and_then(|it| now.duration_since(it).ok());
        if age.is_some_and(|age| age > KEPT) {
            let _gone = fs::remove_dir_all(&folder);
            let _gone = fs::remove_file(&folder);
        }
    }
}

/// The interpreter of the environment that is being built.
const PYTHON: &str = "{folder}/bin/python";

/// A command that builds an environment; `{folder}` stands for its folder.
#[derive(Debug, PartialEq)]
struct BuildStep {
    words: Vec<String>,
    variables: Vec<(&'static str, &'static str)>,
}

impl BuildStep {
    fn of(words: &[&str]) -> Self {
        Self {
            words: words.iter().map(|&word| word.to_owned()).collect(),
            variables: Vec::new(),
        }
    }

    fn with(mut self, words: &[&str]) -> Self {
        self.words.extend(words.iter().map(|&word| word.to_owned()));
        self
    }

    fn add_python(&mut self, version: Option<&str>) {
        let option = version
            .into_iter()
            .flat_map(|version| ["--python", version]);
        self.words.extend(option.map(str::to_owned));
    }

    fn command(&self, folder: &Path) -> CommandLine {
        let folder = folder.display().to_string();
        let words = self.words.iter().map(|it| it.replace("{folder}", &folder));
        CommandLine::Words(words.collect())
    }

    fn variables(&self, folder: &Path) -> BTreeMap<String, String> {
        let folder = folder.display().to_string();
        let variables = self.variables.iter();
        variables
            .map(|(name, value)| ((*name).to_owned(), value.replace("{folder}", &folder)))
            .collect()
    }
}

/// Returns the commands that build an environment, or what is missing on this machine.
fn steps(python: &PythonEnvironment, places: &SessionPlaces) -> Result<Vec<BuildStep>, String> {
    let version = python.version.as_deref();
    match &python.packages {
        PythonPackages::Existing(_) => Ok(Vec::new()),
        PythonPackages::Conda(_) if version.is_some() => Err(
            "`python_version` is not for environments of Conda: name the version in the file"
                .to_owned(),
        ),
        PythonPackages::Conda(file) => {
            let programs = ["micromamba", "mamba", "conda"];
            let Some(program) = programs.into_iter().find(|it| places.has_program(it)) else {
                return Err(format!(
                    "{file} needs conda, mamba or micromamba, and none is installed"
                ));
            };
            let create = match program {
                "conda" => BuildStep::of(&["conda", "env", "create", "--quiet"]),
                program => BuildStep::of(&[program, "create", "--quiet", "--yes"]),
            };
            let files = ["--prefix", "{folder}", "--file", file];
            Ok(vec![create.with(&files)])
        }
        PythonPackages::Lock(file) if !places.has_program("uv") => {
            Err(format!("{file} needs uv, which is not installed"))
        }
        PythonPackages::Lock(file) if file.ends_with("uv.lock") => {
            let project = Path::new(file).parent().unwrap_or(Path::new("."));
            let project = project.display().to_string();
            let mut step =
                BuildStep::of(&["uv", "sync", "--quiet", "--frozen", "--project", &project]);
            step.add_python(version);
            step.variables.push(("UV_PROJECT_ENVIRONMENT", "{folder}"));
            Ok(vec![step])
        }
        PythonPackages::Lock(file) => Ok(vec![
            virtual_environment(version, places),
            BuildStep::of(&["uv", "pip", "sync", "--quiet"]).with(&["--python", PYTHON, file]),
        ]),
        PythonPackages::Requirements(lines) => {
            let mut words = Vec::new();
            for line in lines {
                let line = line.split(" #").next().unwrap_or_default();
                match line.trim().split_once(char::is_whitespace) {
                    // An option and its value are two words.
                    Some((option, value)) if option.starts_with('-') => {
                        words.extend([option.to_owned(), value.trim().to_owned()]);
                    }
                    Some(_) | None => words.push(line.trim().to_owned()),
                }
            }
            if let Some(lines) = python.hashed_lines() {
                words = vec!["-r".to_owned(), "{folder}.txt".to_owned()];
                if lines.iter().all(|line| line.contains(HASH)) {
                    words.push("--require-hashes".to_owned());
                }
            }
            if python.files == PackageFiles::Built && !words.is_empty() {
                words.extend(["--only-binary", ":all:"].map(str::to_owned));
            }
            let mut steps = vec![virtual_environment(version, places)];
            // Without any, there is nothing to install.
            steps.extend((!words.is_empty()).then(|| installation(words, places)));
            Ok(steps)
        }
        PythonPackages::RequirementsFile(file) => Ok(vec![
            virtual_environment(version, places),
            installation(["-r".to_owned(), file.clone()].into(), places),
        ]),
    }
}

fn virtual_environment(version: Option<&str>, places: &SessionPlaces) -> BuildStep {
    if places.has_program("uv") {
        let mut step = BuildStep::of(&["uv", "venv", "--quiet", "--no-project", "{folder}"]);
        step.add_python(version);
        return step;
    }
    let python = version.map_or_else(|| "python3".to_owned(), |it| format!("python{it}"));
    BuildStep::of(&[&python, "-m", "venv", "{folder}"])
}

fn installation(words: Vec<String>, places: &SessionPlaces) -> BuildStep {
    let mut step = if places.has_program("uv") {
        BuildStep::of(&["uv", "pip", "install", "--quiet"]).with(&["--python", PYTHON])
    } else {
        let options = ["--quiet", "--disable-pip-version-check"];
        BuildStep::of(&[PYTHON, "-m", "pip", "install"]).with(&options)
    };
    step.words.extend(words);
    step
}
