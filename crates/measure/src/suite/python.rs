//! Python environments of variants: which packages each of them has.

use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::node::{Located, Node, Value};
use lapwing_model::text::hexadecimal;

/// A Python environment that is built for a variant and used for all of its commands and tests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PythonEnvironment {
    /// Its packages.
    pub packages: PythonPackages,
    /// The version of Python; `None` for that of the builder.
    pub version: Option<String>,
    /// The files that its packages may come from.
    #[serde(default, skip_serializing_if = "PackageFiles::are_any")]
    pub files: PackageFiles,
}

/// The files that packages are installed from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PackageFiles {
    /// Any that the requirements lead to. Building one executes its code.
    #[default]
    Any,
    /// Those that need no building.
    Built,
}

impl PackageFiles {
    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde passes a reference"
    )]
    fn are_any(&self) -> bool {
        *self == Self::Any
    }
}

/// The packages of a Python environment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PythonPackages {
    /// The lines of a requirements file.
    Requirements(Vec<String>),
    /// A requirements file.
    RequirementsFile(String),
    /// A lock file: `uv.lock` beside its `pyproject.toml`, or `pylock.toml`.
    Lock(String),
    /// An environment of Conda.
    Conda(String),
    /// The folder of an environment that exists, and is used as it is.
    Existing(String),
}

/// What comes before a hash in a line of requirements.
pub(crate) const HASH: &str = " --hash=";

/// The key of a variant that says which packages it has.
pub(super) const PYTHON: &str = "python";

impl PythonEnvironment {
    /// Reads the key `python` of a variant: lines of requirements, or the path of a file or a folder.
    pub(super) fn read(
        node: &Node,
        folder: &Path,
        version: Option<String>,
    ) -> Result<Self, Located> {
        let packages = match &node.value {
            Value::List(_) => PythonPackages::Requirements(node.texts(PYTHON)?),
            Value::Text(text) if !text.trim().is_empty() => {
                let path = folder.join(text.strip_prefix("./").unwrap_or(text));
                PythonPackages::of_path(&path)
            }
            Value::Text(_) => return Err(node.senseless(PYTHON, "is empty")),
            _ => return Err(node.wrong(PYTHON, "a path or a list of requirements")),
        };
        if let (PythonPackages::Existing(_), Some(_)) = (&packages, &version) {
            let reason =
                "is the folder of an environment, whose version is given; remove `python_version`";
            return Err(node.senseless(PYTHON, reason));
        }
        Ok(Self {
            packages,
            version,
            files: PackageFiles::Any,
        })
    }

    /// Returns the lines of its requirements, if some have hashes, which only a requirements file can say.
    pub(crate) fn hashed_lines(&self) -> Option<&[String]> {
        match &self.packages {
            PythonPackages::Requirements(lines) => {
                let has_hashes = lines.iter().any(|line| line.contains(HASH));
                has_hashes.then_some(lines.as_slice())
            }
            PythonPackages::RequirementsFile(_)
            | PythonPackages::Lock(_)
            | PythonPackages::Conda(_)
            | PythonPackages::Existing(_) => None,
        }
    }

    /// Returns the file that names the packages, if there is one.
    pub fn file(&self) -> Option<&Path> {
        match &self.packages {
            PythonPackages::RequirementsFile(path)
            | PythonPackages::Lock(path)
            | PythonPackages::Conda(path) => Some(Path::new(path)),
            PythonPackages::Requirements(_) | PythonPackages::Existing(_) => None,
        }
    }

    /// Returns a key of this environment with that content of its file: equal keys, equal environments.
    pub fn key(&self, content: &str) -> String {
        let mut hash = Sha256::new();
        let parts = match &self.packages {
            PythonPackages::Requirements(lines) => {
                vec!["requirements".to_owned(), lines.join("\n")]
            }
            // Relative paths inside a file start from its folder.
            PythonPackages::RequirementsFile(path)
            | PythonPackages::Lock(path)
            | PythonPackages::Conda(path)
            | PythonPackages::Existing(path) => vec![path.clone(), content.to_owned()],
        };
        let files = match self.files {
            PackageFiles::Any => None,
            PackageFiles::Built => Some("built".to_owned()),
        };
        for part in parts.iter().chain(&self.version).chain(&files) {
            hash.update(part.len().to_le_bytes());
            hash.update(part);
        }
        hexadecimal(&hash.finalize()[..8])
    }

    /// Returns whether the same requirements always give the same environment, so that it can be kept: not if they name
    /// folders, other files, or branches of repositories.
    pub fn is_repeatable(&self, content: &str) -> bool {
        let lines: Vec<&str> = match &self.packages {
            PythonPackages::Requirements(lines) => lines.iter().map(String::as_str).collect(),
            PythonPackages::RequirementsFile(_) | PythonPackages::Conda(_) => {
                content.lines().collect()
            }
            // Local folders: what is in them may change.
            PythonPackages::Lock(_) => return !content.contains("directory = "),
            PythonPackages::Existing(_) => return false,
        };
        lines.iter().all(|line| is_repeatable(line))
    }
}

/// Returns whether a line of requirements always means the same.
fn is_repeatable(line: &str) -> bool {
    let line = line.trim().trim_start_matches("- ").trim();
    let requirement = line.split('#').next().unwrap_or(line).trim();
    let git = line.split_once("git+").map(|(_, address)| address);
    if let Some((_, revision)) = git.and_then(|address| address.rsplit_once('@')) {
        let hash = revision.split('#').next().unwrap_or_default().trim();
        return hash.len() == 40 && hash.chars().all(|it| it.is_ascii_hexdigit());
    }
    let mut starts = "-e --editable -r --requirement -c --constraint . / file:".split(' ');
    !starts.any(|start| requirement.starts_with(start))
        && !line.contains("git+")
        && !requirement.contains("@ file:")
        && !requirement.contains("@ .")
}

impl PythonPackages {
    /// Returns the packages that a file or folder of that name holds.
    fn of_path(path: &Path) -> Self {
        let text = path.display().to_string();
        let name = path.file_name().map(|it| it.to_string_lossy().into_owned());
        let name = name.unwrap_or_default();
        let is = |extension: &str| path.extension().is_some_and(|it| it == extension);
        if name == "uv.lock" || (name.starts_with("pylock.") && is("toml")) {
            Self::Lock(text)
        } else if is("yaml") || is("yml") {
            Self::Conda(text)
        } else if is("txt") || is("in") {
            Self::RequirementsFile(text)
        } else {
            Self::Existing(text)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(lines: &[&str]) -> PythonEnvironment {
        PythonEnvironment {
            packages: PythonPackages::Requirements(lines.iter().map(|&it| it.to_owned()).collect()),
            version: None,
            files: PackageFiles::Any,
        }
    }

    #[test]
    fn only_what_always_means_the_same_is_kept() {
        let hash = "0123456789abcdef0123456789abcdef01234567";
        let pinned = format!("dask @ git+https://example.org/dask@{hash}");
        for (line, repeatable) in [
            ("numpy==2.3.1", true),
            ("numpy", true),
            (pinned.as_str(), true),
            ("dask @ git+https://example.org/dask@main", false),
            ("git+https://example.org/dask", false),
            ("-e ../dask", false),
            ("-r other.txt", false),
            ("./dask", false),
            ("dask @ file:///src/dask", false),
        ] {
            assert_eq!(lines(&[line]).is_repeatable(""), repeatable, "{line}");
        }
    }

    #[test]
    fn another_content_or_version_is_another_environment() {
        let one = lines(&["numpy==1", "scipy"]);
        let other = lines(&["numpy==1\nscipy"]);
        assert_eq!(one.key(""), other.key(""));
        let newer = PythonEnvironment {
            version: Some("3.13".to_owned()),
            ..one.clone()
        };
        assert_ne!(one.key(""), newer.key(""));
        let file = PythonEnvironment {
            packages: PythonPackages::of_path(Path::new("/x/requirements.txt")),
            version: None,
            files: PackageFiles::Any,
        };
        assert_ne!(file.key("numpy==1"), file.key("numpy==2"));
    }
}
