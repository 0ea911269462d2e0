//! One execution of an indicator, to learn its identity and whether it keeps to the contract.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use lapwing_model::Object;
use lapwing_model::indicator::{ContractFinding, ReadIndicator};
use lapwing_record::files::{LONGEST_SETTINGS, read_bytes};
use sha2::{Digest, Sha256};

use super::{IndicatorError, ScriptLimits};
use crate::local::LocalExecutor;
use crate::suite::{CommandLine, Confinement};
use crate::{Execution, ExecutionEnd, Executor, LeftoverPolicy, PythonFolder, Stdin, describe};

/// The largest output that is read.
const OUTPUT: usize = 16 << 20;
/// The largest part of standard error that is shown.
const STDERR: usize = 4 << 10;
/// Longer scripts are recorded by their hash alone.
const LONGEST_TEXT: usize = 256 << 10;

/// Exits with [`NOT_FOUND`] if its first argument is neither the interpreter, an installed package, nor a module that a
/// script in the folder of the second argument can import. Nothing is imported.
const FIND_PACKAGE: &str = "\
import importlib.metadata, importlib.util, sys
name, folder = sys.argv[1:]
sys.path[0] = folder
if name.lower() in ('python', sys.implementation.name):
    sys.exit(0)
try:
    importlib.metadata.version(name)
    sys.exit(0)
except importlib.metadata.PackageNotFoundError:
    pass
found = [importlib.util.find_spec(own.replace('-', '_').split('.')[0]) for own in (name, name.lower())]
sys.exit(0 if any(own and own.origin for own in found) else 73)
";
/// The exit code for a package that is not installed.
const NOT_FOUND: i32 = 73;

/// A script that prints an indicator document.
#[derive(Debug, Clone)]
pub struct IndicatorScript {
    /// Its absolute path.
    pub path: PathBuf,
    command: CommandLine,
    surroundings: ScriptSurroundings,
    /// Its content's SHA-256, in hexadecimal digits.
    pub sha256: String,
    /// Its text, unless it is long.
    text: Option<String>,
}

/// The surroundings that a script is executed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ScriptSurroundings {
    Here,
    Container,
}

/// The result of an execution.
#[derive(Debug)]
pub struct ProbedScript {
    /// The document, and deviations from the contract.
    pub read: ReadIndicator,
    /// The end of the standard error.
    pub stderr: String,
}

impl IndicatorScript {
    /// Reads a script.
    ///
    /// # Errors
    /// If it cannot be read, or not be executed.
    pub fn open(path: &Path) -> Result<Self, IndicatorError> {
        let about = |source| IndicatorError::Unreadable {
            path: path.to_owned(),
            source,
        };
        let content = read_bytes(path, LONGEST_SETTINGS).map_err(about)?;
        let path = path.canonicalize().map_err(about)?;
        let mode = fs::metadata(&path).map_err(about)?.permissions().mode();
        if !is_python(&path) && mode & 0o111 == 0 {
            return Err(IndicatorError::NotExecutable { path });
        }
        let name = path.display().to_string();
        let command = CommandLine::Words(if is_python(&path) {
            // That of the environment is the first in the path.
            vec!["python3".to_owned(), name]
        } else {
            vec![name]
        });
        Ok(Self {
            path,
            command,
            surroundings: ScriptSurroundings::Here,
            sha256: sha256(&content),
            text: String::from_utf8(content).ok().and_then(unless_long),
        })
    }

    /// Returns a script that this command executes in a container.
    pub fn in_container(path: &Path, text: &str, command: CommandLine) -> Self {
        Self {
            path: path.to_owned(),
            command,
            surroundings: ScriptSurroundings::Container,
            sha256: sha256(text.as_bytes()),
            text: unless_long(text.to_owned()),
        }
    }

    /// Returns its limits; a container has its own.
    pub fn confinement(&self, limits: &ScriptLimits) -> Option<Confinement> {
        match self.surroundings {
            ScriptSurroundings::Here => Some(limits.confinement.clone()),
            ScriptSurroundings::Container => None,
        }
    }

    /// Reads several scripts.
    ///
    /// # Errors
    /// If one cannot be read, or not be executed.
    pub fn open_all(paths: &[PathBuf]) -> Result<Vec<Self>, IndicatorError> {
        paths.iter().map(|path| Self::open(path)).collect()
    }

    /// Returns the texts of scripts by their hashes, as an attribute of a session.
    pub fn attributes(scripts: &[Self]) -> Object {
        let texts = scripts
            .iter()
            .filter_map(|script| Some((script.sha256.clone(), script.text.clone()?.into())));
        let texts: Object = texts.collect();
        Object::from_iter([("scripts".to_owned(), texts.into())])
    }

    /// Returns the command that executes it.
    pub fn command(&self) -> CommandLine {
        self.command.clone()
    }

    /// Executes it once with these parameters, in a Python environment if one is given.
    ///
    /// # Errors
    /// If it cannot be executed, or measuring had to stop.
    pub fn probe(
        &self,
        parameters: &BTreeMap<String, String>,
        python: Option<&PythonFolder>,
        limits: &ScriptLimits,
        executor: &mut LocalExecutor,
    ) -> Result<ProbedScript, IndicatorError> {
        let mut environment = parameters.clone();
        environment.extend(python.iter().flat_map(|folder| folder.variables()));
        let execution = Execution {
            command: self.command(),
            directory: Some(limits.directory.clone()),
            environment,
            stdin: Stdin::Null,
            time_limit: Some(limits.time_limit),
            keep_stdout: OUTPUT,
            keep_stderr: STDERR,
            counters: false,
            leftovers: LeftoverPolicy::End,
            cpus: None,
            confinement: self.confinement(limits),
        };
        let executed = executor.execute(&execution)?;
        let stderr = String::from_utf8_lossy(&executed.stderr.bytes).into_owned();
        let read = match &executed.end {
            ExecutionEnd::Exited(0) => {
                let text = String::from_utf8_lossy(&executed.stdout.bytes);
                let mut read = ReadIndicator::of_output(&text);
                if let Some(document) = &read.document {
                    let findings = document.check_parameters(parameters);
                    read.findings.extend(findings);
                    let framework = document.framework.clone();
                    if self.lacks(&framework, execution, executor)? {
                        let missing = ContractFinding::NotInstalled(framework);
                        read.findings.push(missing);
                    }
                }
                read
            }
            ExecutionEnd::Interrupted => return Err(IndicatorError::Interrupted),
            end @ (ExecutionEnd::Exited(_)
            | ExecutionEnd::Signalled(_)
            | ExecutionEnd::TimedOut
            | ExecutionEnd::NotStarted(_)) => {
                let mut reason = describe(end, Some(limits.time_limit));
                let last = stderr.lines().rev().find(|line| !line.trim().is_empty());
                if let Some(line) = last {
                    reason = format!("{reason}: {}", line.trim());
                }
                ReadIndicator {
                    document: None,
                    findings: vec![ContractFinding::ScriptFailed(reason)],
                }
            }
        };
        Ok(ProbedScript { read, stderr })
    }

    /// Returns whether the interpreter that executes the script knows no package or module of this name. What other
    /// programs have is not known.
    fn lacks(
        &self,
        framework: &str,
        execution: Execution,
        executor: &mut LocalExecutor,
    ) -> Result<bool, IndicatorError> {
        let folder = self.path.parent();
        let (true, ScriptSurroundings::Here, Some(folder)) =
            (is_python(&self.path), self.surroundings, folder)
        else {
            return Ok(false);
        };
        let folder = folder.display().to_string();
        let words = ["python3", "-c", FIND_PACKAGE, framework, &folder];
        let command = CommandLine::Words(words.map(str::to_owned).to_vec());
        let executed = executor.execute(&Execution {
            command,
            ..execution
        })?;
        match executed.end {
            ExecutionEnd::Interrupted => Err(IndicatorError::Interrupted),
            ExecutionEnd::Exited(code) => Ok(code == NOT_FOUND),
            ExecutionEnd::Signalled(_) | ExecutionEnd::TimedOut | ExecutionEnd::NotStarted(_) => {
                Ok(false)
            }
        }
    }
}

fn unless_long(text: String) -> Option<String> {
    (text.len() <= LONGEST_TEXT).then_some(text)
}

fn sha256(content: &[u8]) -> String {
    let digest = Sha256::digest(content);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn is_python(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "py")
}
