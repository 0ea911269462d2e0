//! Resolves requirements by uv.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::StackError;
use super::sources::{refuse_python, refuse_source};
use crate::session::normal_name;
use crate::suite::PackageFiles;

/// An interpreter for which requirements are resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StackPython {
    /// Its path.
    pub path: PathBuf,
    /// Its exact version.
    pub version: String,
    files: PackageFiles,
}

/// A requirement and the name of its package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StackRequirement {
    /// The requirement.
    pub text: String,
    /// The name in its normal spelling.
    pub name: String,
}

/// The older versions that are considered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum VersionStep {
    /// Every release.
    #[default]
    Release,
    /// The latest release of each minor version, such as 2.3.5 and 2.2.6.
    Minor,
}

impl VersionStep {
    /// Returns the version below which the next older one is.
    fn bound(self, version: &str) -> String {
        match self {
            Self::Release => version.to_owned(),
            Self::Minor => version.split('.').take(2).collect::<Vec<_>>().join("."),
        }
    }
}

/// A package, its exact version, and the hashes of its files.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PinnedPackage {
    /// The name in its normal spelling.
    pub name: String,
    /// The version.
    pub version: String,
    /// The hashes, such as `sha256:…`.
    hashes: Vec<String>,
}

impl PinnedPackage {
    /// Reads a line of a lock: `name==version ; marker --hash=…`.
    fn parse(line: &str) -> Option<Self> {
        let mut parts = line.split("--hash=").map(str::trim);
        let (requirement, _marker) = parts
            .next()
            .map(|it| it.split_once(" ;").unwrap_or((it, "")))?;
        let (name, version) = requirement.split_once("==")?;
        let name = name.split('[').next().unwrap_or(name);
        Some(Self {
            name: normal_name(name),
            version: version.trim().to_owned(),
            hashes: parts.map(str::to_owned).collect(),
        })
    }

    /// Returns it as a line of requirements.
    pub fn line(&self) -> String {
        let mut line = format!("{}=={}", self.name, self.version);
        for hash in &self.hashes {
            line.push_str(" --hash=");
            line.push_str(hash);
        }
        line
    }
}

impl StackRequirement {
    /// Reads a requirement such as `numpy>=1.24,<2.3`.
    ///
    /// # Errors
    /// If it does not begin with a name, or has a comment.
    pub fn parse(text: &str) -> Result<Self, StackError> {
        let text = text.trim();
        let is_of_name =
            |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
        let end = text.find(|character| !is_of_name(character));
        let end = end.unwrap_or(text.len());
        let name = normal_name(&text[..end]);
        if name.is_empty() || text.contains(['\n', '#']) {
            return Err(StackError::NotARequirement {
                text: text.to_owned(),
            });
        }
        Ok(Self {
            text: text.to_owned(),
            name,
        })
    }
}

impl StackPython {
    /// Finds an interpreter that uv knows: `3.12`, or that of the working directory. Packages for it come from these
    /// files.
    ///
    /// # Errors
    /// If there is none, or uv cannot be executed.
    pub fn find(version: Option<&str>, files: PackageFiles) -> Result<Self, StackError> {
        if let (Some(version), PackageFiles::Built) = (version, files) {
            refuse_python(version)?;
        }
        let mut command = Command::new("uv");
        command.args(["python", "find"]).args(version);
        let output = command.output().map_err(no_uv)?;
        let path = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        if !output.status.success() || path.is_empty() {
            return Err(StackError::NoPython {
                version: version.unwrap_or("3").to_owned(),
                reason: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            });
        }
        let output = Command::new(&path)
            .args(["-c", "import platform; print(platform.python_version())"])
            .output()?;
        Ok(Self {
            path: path.into(),
            version: String::from_utf8_lossy(&output.stdout).trim().to_owned(),
            files,
        })
    }

    /// Returns all packages that the requirements need, with exact versions, by name.
    ///
    /// The inner error is the output of uv if there is no resolution.
    ///
    /// # Errors
    /// If uv cannot be executed.
    pub fn resolve(
        &self,
        lines: &[String],
    ) -> Result<Result<Vec<PinnedPackage>, String>, StackError> {
        let mut command = Command::new("uv");
        command
            .args(["pip", "compile", "--quiet", "--no-header", "--no-annotate"])
            .args(["--no-strip-markers", "--generate-hashes"]);
        if self.files == PackageFiles::Built {
            lines.iter().try_for_each(|line| refuse_source(line))?;
            // Not in the working directory, whose configuration may name an index.
            command.args(["--only-binary", ":all:"]).current_dir("/");
        }
        let mut child = command
            .arg("--python")
            .arg(&self.path)
            .arg("-")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(no_uv)?;
        if let Some(mut stdin) = child.stdin.take() {
            // A program that does not read says why.
            let _unread = stdin.write_all(format!("{}\n", lines.join("\n")).as_bytes());
        }
        let output = child.wait_with_output()?;
        if !output.status.success() {
            return Ok(Err(String::from_utf8_lossy(&output.stderr)
                .trim()
                .to_owned()));
        }
        // Each hash is on a line of its own, which continues that of its package.
        let text = String::from_utf8_lossy(&output.stdout).replace("\\\n", " ");
        let mut packages: Vec<_> = text.lines().filter_map(PinnedPackage::parse).collect();
        packages.sort();
        Ok(Ok(packages))
    }

    /// Returns the versions of a package that fit a requirement, the latest first, and at most `most` of them.
    ///
    /// uv is asked for the latest version, then for the latest version below that, and so on.
    ///
    /// # Errors
    /// If uv cannot be executed.
    pub fn versions(
        &self,
        requirement: &StackRequirement,
        most: usize,
        step: VersionStep,
    ) -> Result<Result<Vec<String>, String>, StackError> {
        let mut lines = vec![requirement.text.clone()];
        let mut versions: Vec<String> = Vec::new();
        while versions.len() < most {
            let packages = match self.resolve(&lines)? {
                Ok(packages) => packages,
                Err(reason) if versions.is_empty() => return Ok(Err(reason)),
                Err(_no_older) => break,
            };
            let mut packages = packages.into_iter();
            let Some(package) = packages.find(|it| it.name == requirement.name) else {
                break;
            };
            let version = package.version;
            // A version without a minor part has no older one below its bound.
            if versions.contains(&version) {
                break;
            }
            lines.truncate(1);
            lines.push(format!("{}<{}", requirement.name, step.bound(&version)));
            versions.push(version);
        }
        Ok(Ok(versions))
    }
}

fn no_uv(source: io::Error) -> StackError {
    match source.kind() {
        io::ErrorKind::NotFound => StackError::NoUv,
        _ => StackError::UvFailed { source },
    }
}
