//! The Python environments that commits are installed into: what they have is kept before, and put back after.
//!
//! Keeping and putting back is done by the Python of the environment (`kept_environment.py`): it knows where its packages
//! are. What is kept lies beside them, so that large files are linked and not copied, and so that a second search in the
//! same environment is refused. A note in the cache folder tells the next process what a killed one has left to put back.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use super::{SessionPlaces, SessionRemark, SessionSurroundings};
use crate::suite::{CommandLine, Plan};

const SCRIPT: &str = include_str!("kept_environment.py");
/// The end of the name of a note in the cache folder.
pub(super) const NOTE: &str = ".installed";
/// Programs that install packages for the Python beside them.
const INSTALLERS: [&str; 7] = ["pip", "uv", "poetry", "pdm", "flit", "maturin", "hatch"];

/// The environments that are put back on drop.
pub(super) struct KeptEnvironments<'a> {
    surroundings: SessionSurroundings<'a>,
    note: PathBuf,
    pythons: Vec<PathBuf>,
    /// The Python that the benchmarks call, if that is known.
    measured: Option<PathBuf>,
    /// The folder in which interpreters are asked: nothing is in it that they would import.
    empty: PathBuf,
}

/// The environments that are to be put back.
#[derive(Debug, Serialize, Deserialize)]
struct KeptNote {
    /// The name of what is kept: of this session in this process.
    token: String,
    pythons: Vec<PathBuf>,
}

/// The answer of a Python about a folder.
#[derive(Debug, Deserialize)]
struct FoundImports {
    /// The distributions that are installed from it.
    found: Vec<String>,
    /// The imports that find something else.
    wrong: Vec<String>,
}

impl<'a> KeptEnvironments<'a> {
    /// Keeps the environments that a command may install into; `own` are the interpreters of variants. `folder` is that
    /// of the session's worktrees.
    ///
    /// # Errors
    /// If an environment cannot be kept: [`io::ErrorKind::ResourceBusy`] if another search installs into it, or if what a
    /// killed one had installed could not be put back.
    pub fn keep(
        plan: &Plan,
        own: Vec<PathBuf>,
        command: &str,
        folder: &Path,
        surroundings: SessionSurroundings<'a>,
    ) -> io::Result<Self> {
        let places = surroundings.places;
        let measured = measured(plan, places);
        let mut pythons = own;
        pythons.extend(measured.clone());
        pythons.extend(installing(command, places));
        let mut seen = BTreeSet::new();
        pythons.retain(|it| seen.insert(it.clone()));
        let session = folder.file_name().unwrap_or_default().to_string_lossy();
        let process = std::process::id().to_string();
        let kept = KeptNote {
            token: format!("{session}-{process}"),
            pythons: pythons.clone(),
        };
        let note = folder.with_file_name(format!("{session}{NOTE}"));
        if note.exists() {
            let problem = format!(
                "what this session had installed before it was killed could not be put back ({})",
                note.display()
            );
            return Err(io::Error::new(io::ErrorKind::ResourceBusy, problem));
        }
        fs::write(&note, serde_json::to_vec(&kept)?)?;
        let kept_all = Self {
            surroundings,
            note,
            pythons,
            measured,
            empty: folder.to_owned(),
        };
        for python in &kept.pythons {
            ask(python, &["keep", &kept.token, &process], &kept_all.empty)?;
        }
        Ok(kept_all)
    }

    /// Returns why what was installed from a folder is not imported, if so. What is installed for another Python than the
    /// benchmarks call is told once.
    pub fn objection(&mut self, folder: &Path) -> Option<String> {
        let word = folder.display().to_string();
        let mut finders = Vec::new();
        for python in &self.pythons {
            let answer = ask(python, &["imports", &word], &self.empty);
            let Some(imports) = answer.ok().and_then(|it| found_imports(&it)) else {
                continue;
            };
            if let Some(wrong) = imports.wrong.first() {
                return Some(wrong.clone());
            }
            if !imports.found.is_empty() {
                finders.push(python);
            }
        }
        if let ([first, ..], Some(measured)) = (&finders[..], &self.measured)
            && !finders.contains(&measured)
        {
            self.surroundings.remark(SessionRemark::Note(format!(
                "commits are installed for {}, and the benchmarks call {}: name the Python that they call",
                first.display(),
                measured.display()
            )));
            self.measured = None;
        }
        None
    }
}

impl Drop for KeptEnvironments<'_> {
    fn drop(&mut self) {
        let text = match put_back(&self.note) {
            Ok(lost) if lost.is_empty() => return,
            Ok(lost) => lost_text(&lost),
            Err(error) => format!(
                "what was installed before cannot be put back ({error}); the next `lapwing` tries it again ({})",
                self.note.display()
            ),
        };
        self.surroundings.remark(SessionRemark::Note(text));
    }
}

/// Returns what is said of files that cannot be put back.
pub(super) fn lost_text(lost: &[String]) -> String {
    format!(
        "these large files were written in place and cannot be put back: {}",
        lost.join(", ")
    )
}

/// Puts back what a note names, and removes it. Returns files that were written in place and cannot be put back.
///
/// # Errors
/// If an environment cannot be put back; the others are, and the note stays.
pub(super) fn put_back(note: &Path) -> io::Result<Vec<String>> {
    let kept: KeptNote = serde_json::from_slice(&fs::read(note)?)?;
    let empty = note.parent().unwrap_or(Path::new("/"));
    let (mut lost, mut failed) = (Vec::new(), None);
    for python in kept.pythons.iter().filter(|it| it.exists()) {
        match ask(python, &["restore", &kept.token], empty) {
            Ok(text) => {
                let last = text.lines().last().unwrap_or_default();
                lost.extend(serde_json::from_str::<Vec<String>>(last).unwrap_or_default());
            }
            Err(error) => failed = Some(error),
        }
    }
    match failed {
        Some(error) => Err(error),
        None => fs::remove_file(note).map(|()| lost),
    }
}

/// The exit code of the script where another search installs into the environment.
const BUSY: i32 = 3;

/// Executes the script. Ctrl-C does not end it halfway; the end of this process does, because that closes its input.
fn ask(python: &Path, words: &[&str], directory: &Path) -> io::Result<String> {
    let mut command = Command::new(python);
    command.args(["-B", "-c", SCRIPT]).args(words);
    command.current_dir(directory).stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.process_group(0).spawn()?;
    let input = child.stdin.take();
    let done = child.wait_with_output()?;
    drop(input);
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        let last = said.lines().last().unwrap_or_default();
        let kind = match done.status.code() {
            Some(BUSY) => io::ErrorKind::ResourceBusy,
            _ => io::ErrorKind::Other,
        };
        return Err(io::Error::new(
            kind,
            format!("{}: {last}", python.display()),
        ));
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

fn found_imports(text: &str) -> Option<FoundImports> {
    serde_json::from_str(text.lines().last()?).ok()
}

/// Returns the Python that the benchmarks call, if all call the same.
fn measured(plan: &Plan, places: &SessionPlaces) -> Option<PathBuf> {
    let pythons = plan.cases.iter().map(|case| {
        let word = match (&case.pytest, &case.command) {
            (Some(test), _) => test.python.clone(),
            (None, CommandLine::Words(words)) => words.first()?.clone(),
            (None, CommandLine::Shell(text)) => text.split_ascii_whitespace().next()?.to_owned(),
        };
        let path = places.program(&word)?;
        is_called(&path, "python").then_some(path)
    });
    let pythons: BTreeSet<Option<PathBuf>> = pythons.collect();
    match pythons.into_iter().collect::<Vec<_>>().as_slice() {
        [only] => only.clone(),
        _ => None,
    }
}

/// Returns the interpreters that a command may install for: those that it names, those beside the programs that it names,
/// and that of an activated environment; without any, the one that is found first.
fn installing(command: &str, places: &SessionPlaces) -> Vec<PathBuf> {
    let is_between = |it: char| it.is_whitespace() || ";&|()=\"'".contains(it);
    let mut pythons = Vec::new();
    for word in command.split(is_between).filter(|it| !it.is_empty()) {
        let Some(path) = places.program(word) else {
            continue;
        };
        if is_called(&path, "python") {
            pythons.push(path);
        } else if INSTALLERS.iter().any(|name| is_called(&path, name)) {
            pythons.extend(path.parent().and_then(python_in));
        }
    }
    let active = places.variables.iter();
    let active = active
        .filter(|(name, _)| name == "VIRTUAL_ENV" || name == "CONDA_PREFIX")
        .map(|(_, folder)| PathBuf::from(folder));
    let own = places.directory.join(".venv");
    pythons.extend(
        active
            .chain([own])
            .filter_map(|it| python_in(&it.join("bin"))),
    );
    if pythons.is_empty() {
        let first = ["python3", "python"];
        pythons.extend(first.iter().filter_map(|it| places.program(it)));
    }
    pythons
}

fn python_in(folder: &Path) -> Option<PathBuf> {
    let names = ["python3", "python"].map(|name| folder.join(name));
    names.into_iter().find(|it| it.is_file())
}

/// Returns whether a program has a name, perhaps with a version after it.
fn is_called(path: &Path, name: &str) -> bool {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let version = file.strip_prefix(name);
    version.is_some_and(|it| it.chars().all(|it| it.is_ascii_digit() || it == '.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pythons_of_an_installation_are_those_of_its_words() {
        let folder = tempfile::tempdir().expect("a folder");
        let bin = folder.path().join("venv/bin");
        fs::create_dir_all(&bin).expect("made");
        for name in ["python3", "pip", "pip3.11", "make"] {
            fs::write(bin.join(name), "").expect("written");
        }
        let places = SessionPlaces::new(
            folder.path().to_owned(),
            PathBuf::new(),
            folder.path().to_owned(),
        );
        let expected = [bin.join("python3")];
        for command in [
            "venv/bin/pip install -e {worktree}",
            "cd x && venv/bin/pip3.11 install .",
            "uv pip install --python=venv/bin/python3 .",
        ] {
            assert_eq!(installing(command, &places), expected, "{command}");
        }
        assert_eq!(
            installing("venv/bin/make install", &places),
            [] as [PathBuf; 0]
        );
        let searched = SessionPlaces {
            search_path: bin.clone().into(),
            ..places
        };
        assert_eq!(installing("make install", &searched), [bin.join("python3")]);
    }

    #[test]
    fn a_name_may_have_a_version() {
        for (name, is_python) in [
            ("python", true),
            ("python3.11", true),
            ("pythonw", false),
            ("ipython", false),
        ] {
            assert_eq!(is_called(Path::new(name), "python"), is_python, "{name}");
        }
    }
}
