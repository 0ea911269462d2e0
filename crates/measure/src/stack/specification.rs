//! Specifications of Amun, and the files from which an image is built of one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;

use lapwing_model::Level;
use lapwing_record::files::{LONGEST_SETTINGS, read_text};
use serde::Deserialize;

use super::StackError;
use crate::indicator::parse_memory;
use crate::suite::{CommandLine, Isolation};

/// The program that builds and executes images.
pub const PODMAN: &str = "podman";

/// The options of podman for a container without network and privileges.
const ISOLATED: [&str; 4] = [
    "--network=none",
    "--cap-drop=all",
    "--security-opt=no-new-privileges",
    "--pids-limit=4096",
];

/// The specification of an inspection: an image, its packages and files, and a script.
#[derive(Debug, Clone, Deserialize)]
pub struct InspectionSpecification {
    /// The image that it starts from.
    pub base: String,
    /// Its name.
    #[serde(default)]
    pub identifier: Option<String>,
    /// The number of executions of the script.
    #[serde(default = "one")]
    pub batch_size: u32,
    /// Packages of the operating system.
    #[serde(default)]
    packages: Vec<String>,
    #[serde(default)]
    python_packages: Vec<String>,
    #[serde(default)]
    python: Option<PythonPart>,
    #[serde(default)]
    build: PhaseLimits,
    #[serde(default)]
    run: PhaseLimits,
    #[serde(default)]
    files: Vec<WrittenFile>,
    #[serde(default)]
    environment: Vec<NamedVariable>,
    /// The text of the script; without it, only the build is inspected.
    #[serde(default)]
    pub script: Option<String>,
    #[serde(default)]
    update: bool,
    #[serde(default)]
    upgrade_pip: bool,
}

fn one() -> u32 {
    1
}

#[derive(Debug, Clone, Deserialize)]
struct PythonPart {
    #[serde(default)]
    requirements: RequestedPackages,
    requirements_locked: LockedRequirements,
}

#[derive(Debug, Clone, Default, Deserialize)]
struct RequestedPackages {
    #[serde(default)]
    packages: BTreeMap<String, serde_json::Value>,
}

#[derive(Debug, Clone, Deserialize)]
struct LockedRequirements {
    #[serde(default, rename = "_meta")]
    about: LockSources,
    #[serde(default)]
    default: BTreeMap<String, LockedPackage>,
}

#[derive(Debug, Clone, Default, Deserialize)]
struct LockSources {
    #[serde(default)]
    sources: Vec<PackageIndex>,
}

#[derive(Debug, Clone, Deserialize)]
struct PackageIndex {
    url: String,
}

#[derive(Debug, Clone, Deserialize)]
struct LockedPackage {
    version: String,
    #[serde(default)]
    markers: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
struct PhaseLimits {
    #[serde(default)]
    requests: ResourceLimits,
}

/// Limits in the notation of Kubernetes: `500m`, `1Gi`.
#[derive(Debug, Clone, Default, Deserialize)]
struct ResourceLimits {
    #[serde(default)]
    cpu: Option<String>,
    #[serde(default)]
    memory: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
struct WrittenFile {
    path: String,
    content: String,
}

#[derive(Debug, Clone, Deserialize)]
struct NamedVariable {
    name: String,
    value: String,
}

/// A phase of an inspection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InspectionPhase {
    /// The image is built.
    Build,
    /// The script is executed.
    Run,
}

impl InspectionSpecification {
    /// Reads a specification, and refuses what could be mistaken for commands.
    ///
    /// # Errors
    /// If it cannot be read, or is refused.
    pub fn read(path: &Path) -> Result<Self, StackError> {
        let about = |reason: String| StackError::Specification {
            path: path.display().to_string(),
            reason,
        };
        let text = read_text(path, LONGEST_SETTINGS).map_err(|error| about(error.to_string()))?;
        let specification: Self =
            serde_json::from_str(&text).map_err(|error| about(error.to_string()))?;
        specification.refuse().map_err(about)?;
        Ok(specification)
    }

    fn refuse(&self) -> Result<(), String> {
        let is_word = |text: &str, more: &str| {
            let is_plain = |it: char| it.is_ascii_alphanumeric() || more.contains(it);
            !text.is_empty() && !text.starts_with('-') && text.chars().all(is_plain)
        };
        if !is_word(&self.base, "._-/:@") {
            return Err(format!("`base` is not the name of an image: {}", self.base));
        }
        if let Some(name) = self.packages.iter().find(|it| !is_word(it, "._-+:=~")) {
            return Err(format!("`packages` has an invalid name: {name}"));
        }
        if let Some(name) = self
            .python_packages
            .iter()
            .find(|it| !is_word(it, "._-+[],=<>!~"))
        {
            return Err(format!(
                "`python_packages` has an invalid requirement: {name}"
            ));
        }
        if let Some((name, _)) = self.variables().find(|(name, _)| !is_word(name, "_")) {
            return Err(format!("`environment` has an invalid name: {name}"));
        }
        let is_bad_path = |file: &&WrittenFile| {
            !file.path.starts_with('/') || file.path.contains(char::is_whitespace)
        };
        if let Some(file) = self.files.iter().find(is_bad_path) {
            return Err(format!(
                "`files` needs absolute paths without blanks: {}",
                file.path
            ));
        }
        if self.batch_size == 0 {
            return Err("`batch_size` must be at least 1".to_owned());
        }
        let script = self.script.as_deref().unwrap_or_default();
        if script.starts_with("http://") || script.starts_with("https://") {
            return Err("`script` is an address; download it, and write its text".to_owned());
        }
        for phase in [InspectionPhase::Build, InspectionPhase::Run] {
            self.limits(phase)?;
        }
        Ok(())
    }

    /// Returns the options of podman that limit processors and memory in a phase.
    fn limits(&self, phase: InspectionPhase) -> Result<Vec<String>, String> {
        let requests = match phase {
            InspectionPhase::Build => &self.build.requests,
            InspectionPhase::Run => &self.run.requests,
        };
        let mut options = Vec::new();
        if let Some(cpu) = &requests.cpu {
            let thousandths = match cpu.strip_suffix('m') {
                Some(number) => number.parse::<u64>().ok(),
                None => cpu.parse::<u64>().ok().and_then(|it| it.checked_mul(1000)),
            };
            let thousandths = thousandths
                .filter(|it| *it > 0)
                .ok_or_else(|| format!("`cpu` must be like `1` or `500m`, not `{cpu}`"))?;
            // Of a period of 100 ms, in microseconds.
            options.push("--cpu-period=100000".to_owned());
            options.push(format!("--cpu-quota={}", thousandths.saturating_mul(100)));
        }
        if let Some(memory) = &requests.memory {
            let bytes = parse_memory(memory).map_err(|it| format!("`memory` {memory}: {it}"))?;
            options.push(format!("--memory={bytes}"));
        }
        Ok(options)
    }

    /// Returns the command that builds the image from the folder of [`Self::write_context`].
    ///
    /// # Errors
    /// If a limit is no number.
    pub fn build_command(&self, image: &str, folder: &Path) -> Result<CommandLine, String> {
        let mut words = vec![PODMAN.to_owned(), "build".to_owned()];
        words.extend(self.limits(InspectionPhase::Build)?);
        words.push(format!("--tag={image}"));
        words.push(folder.display().to_string());
        Ok(CommandLine::Words(words))
    }

    /// Returns the command that executes the script. podman takes the values of these variables from its own
    /// environment. It can always isolate, so that possible isolation is complete.
    ///
    /// # Errors
    /// If a limit is no number.
    pub fn run_command(
        &self,
        image: &str,
        variables: &BTreeSet<&String>,
        isolation: Isolation,
    ) -> Result<CommandLine, String> {
        let mut words = [PODMAN, "run", "--rm"].map(str::to_owned).to_vec();
        words.extend(self.limits(InspectionPhase::Run)?);
        words.extend(match isolation {
            Isolation::Off => Vec::new(),
            Isolation::Possible | Isolation::Complete => ISOLATED.map(str::to_owned).to_vec(),
        });
        words.extend(variables.iter().map(|name| format!("--env={name}")));
        words.push(image.to_owned());
        Ok(CommandLine::Words(words))
    }

    /// Returns what distinguishes it from others: the image, and the requested packages with their locked versions.
    pub fn factors(&self) -> BTreeMap<String, Level> {
        let mut factors = BTreeMap::from([("base".to_owned(), Level::Text(self.base.clone()))]);
        if let Some(part) = &self.python {
            let locked = &part.requirements_locked.default;
            for name in part.requirements.packages.keys() {
                if let Some(package) = locked.get(name) {
                    let version = package.version.trim_start_matches("==").to_owned();
                    factors.insert(name.clone(), Level::Text(version));
                }
            }
        }
        factors
    }

    /// Returns the variables that the container has.
    pub fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        let variables = self.environment.iter();
        variables.map(|it| (it.name.as_str(), it.value.as_str()))
    }

    /// Returns the build file. Files that it copies are in the folder of [`Self::write_context`].
    pub fn build_file(&self) -> String {
        let mut lines = vec![format!("FROM {}", self.base), "USER root".to_owned()];
        for (name, value) in self.variables() {
            lines.push(format!("ENV {name}={}", quoted(value)));
        }
        if self.update {
            lines.push(format!(
                "RUN {}",
                by_manager(&[
                    "dnf upgrade -y",
                    "yum upgrade -y",
                    "apt-get update && apt-get upgrade -y"
                ])
            ));
        }
        if !self.packages.is_empty() {
            let names = self.packages.join(" ");
            let commands = [
                format!("dnf install -y {names}"),
                format!("yum install -y {names}"),
                format!("apt-get update && apt-get install -y --no-install-recommends {names}"),
            ];
            let commands = commands.each_ref().map(String::as_str);
            lines.push(format!("RUN {}", by_manager(&commands)));
        }
        if self.upgrade_pip {
            lines.push("RUN python3 -m pip install --upgrade pip".to_owned());
        }
        if !self.python_packages.is_empty() {
            let names: Vec<String> = self.python_packages.iter().map(|it| quoted(it)).collect();
            lines.push(format!("RUN python3 -m pip install {}", names.join(" ")));
        }
        for (number, file) in self.files.iter().enumerate() {
            lines.push(format!("COPY files/{number} {}", file.path));
        }
        lines.push("RUN mkdir -p /home/amun".to_owned());
        if self.python.is_some() {
            lines.push("COPY requirements.txt /home/amun/requirements.txt".to_owned());
            lines.push(
                "RUN python3 -m venv /home/amun/venv && /home/amun/venv/bin/python -m pip install --no-deps -r /home/amun/requirements.txt"
                    .to_owned(),
            );
            lines.push("ENV PATH=/home/amun/venv/bin:$PATH".to_owned());
        }
        if self.script.is_some() {
            lines.push("COPY --chmod=755 script /home/amun/script".to_owned());
        }
        lines.push("USER 1042".to_owned());
        lines.push("WORKDIR /home/amun".to_owned());
        if self.script.is_some() {
            lines.push("CMD [\"/home/amun/script\"]".to_owned());
        }
        format!("{}\n", lines.join("\n"))
    }

    /// Writes the build file, and what it copies.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn write_context(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder.join("files"))?;
        fs::write(folder.join("Dockerfile"), self.build_file())?;
        for (number, file) in self.files.iter().enumerate() {
            fs::write(folder.join(format!("files/{number}")), &file.content)?;
        }
        if let Some(python) = &self.python {
            fs::write(
                folder.join("requirements.txt"),
                python.requirements_locked.text(),
            )?;
        }
        if let Some(script) = &self.script {
            fs::write(folder.join("script"), script)?;
        }
        Ok(())
    }
}

impl LockedRequirements {
    /// Returns the locked packages as a file of requirements.
    fn text(&self) -> String {
        let mut lines = Vec::new();
        for (at, index) in self.about.sources.iter().enumerate() {
            let option = match at {
                0 => "--index-url",
                _ => "--extra-index-url",
            };
            lines.push(format!("{option} {}", index.url));
        }
        for (name, package) in &self.default {
            let markers = package.markers.as_ref();
            let markers = markers.map_or_else(String::new, |it| format!(" ; {it}"));
            lines.push(format!("{name}{}{markers}", package.version));
        }
        format!("{}\n", lines.join("\n"))
    }
}

/// Returns a text between quotes of the build file, in which nothing is replaced.
fn quoted(text: &str) -> String {
    let text = text.replace(['\n', '\r'], " ");
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Returns the command of the first package manager that the image has: dnf, yum or apt-get.
fn by_manager(commands: &[&str; 3]) -> String {
    let [dnf, yum, apt] = commands;
    format!(
        "if command -v dnf >/dev/null; then {dnf}; elif command -v yum >/dev/null; then {yum}; else {apt}; fi"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn specification(text: &str) -> InspectionSpecification {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_build_file_has_everything_in_order() {
        let inspection = specification(
            r#"{"base": "debian:12", "packages": ["which"], "python_packages": ["pipenv>=1"], "script": "print(1)",
                "files": [{"path": "/data/x", "content": "1"}], "environment": [{"name": "A", "value": "it's $5"}],
                "run": {"requests": {"cpu": "500m", "memory": "1Gi"}},
                "python": {"requirements": {}, "requirements_locked": {"default": {"six": {"version": "==1.17.0"}},
                    "_meta": {"sources": [{"url": "https://pypi.org/simple", "name": "pypi"}]}}}}"#,
        );
        assert_eq!(inspection.refuse(), Ok(()));
        insta::assert_snapshot!(inspection.build_file(), @r#"
        FROM debian:12
        USER root
        ENV A='it'\''s $5'
        RUN if command -v dnf >/dev/null; then dnf install -y which; elif command -v yum >/dev/null; then yum install -y which; else apt-get update && apt-get install -y --no-install-recommends which; fi
        RUN python3 -m pip install 'pipenv>=1'
        COPY files/0 /data/x
        RUN mkdir -p /home/amun
        COPY requirements.txt /home/amun/requirements.txt
        RUN python3 -m venv /home/amun/venv && /home/amun/venv/bin/python -m pip install --no-deps -r /home/amun/requirements.txt
        ENV PATH=/home/amun/venv/bin:$PATH
        COPY --chmod=755 script /home/amun/script
        USER 1042
        WORKDIR /home/amun
        CMD ["/home/amun/script"]
        "#);
        assert_eq!(
            inspection.limits(InspectionPhase::Run).unwrap(),
            [
                "--cpu-period=100000",
                "--cpu-quota=50000",
                "--memory=1073741824"
            ]
        );
        let locked = inspection.python.unwrap().requirements_locked.text();
        assert_eq!(locked, "--index-url https://pypi.org/simple\nsix==1.17.0\n");
    }

    #[test]
    fn what_could_be_a_command_is_refused() {
        for (text, reason) in [
            (
                r#"{"base": "x\nRUN rm"}"#,
                "`base` is not the name of an image: x\nRUN rm",
            ),
            (
                r#"{"base": "x", "packages": ["a; rm"]}"#,
                "`packages` has an invalid name: a; rm",
            ),
            (
                r#"{"base": "x", "script": "https://example.org/x.py"}"#,
                "`script` is an address; download it, and write its text",
            ),
            (
                r#"{"base": "x", "run": {"requests": {"cpu": "fast"}}}"#,
                "`cpu` must be like `1` or `500m`, not `fast`",
            ),
        ] {
            assert_eq!(specification(text).refuse(), Err(reason.to_owned()));
        }
    }
}
