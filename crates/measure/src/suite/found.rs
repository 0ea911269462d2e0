//! Finds benchmarks in a folder, and writes them as a suite file.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use lapwing_model::text::{counted, first_names};
use lapwing_record::files::{LONGEST_SETTINGS, read_text};

/// One benchmark that the suite has.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FoundBenchmark {
    name: String,
    /// The comment above it.
    description: String,
    /// Its keys in TOML.
    keys: Vec<String>,
}

/// The benchmarks of a folder, and advice.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct FoundBenchmarks {
    benchmarks: Vec<FoundBenchmark>,
    /// Advice on results that are imported rather than measured.
    pub notes: Vec<String>,
}

/// Folders that hold benchmarks by custom.
const FOLDERS: [&str; 4] = ["benchmarks", "benchmark", "bench", "benches"];

/// Of more programs in a folder the rest is only counted.
const PROGRAMS: usize = 12;

impl FoundBenchmarks {
    /// Returns the number of benchmarks.
    pub fn count(&self) -> usize {
        self.benchmarks.len()
    }

    /// Returns the benchmarks of a folder, as far as it can be read.
    pub fn within(folder: &Path) -> Self {
        let mut all = Self::default();
        all.add_cargo(folder);
        all.add_pytest(folder);
        all.note_other_tools(folder);
        for name in FOLDERS {
            all.add_programs(folder, name);
        }
        if all.benchmarks.is_empty() {
            all.add_programs(folder, ".");
        }
        all
    }

    /// Adds benches of Cargo.
    fn add_cargo(&mut self, folder: &Path) {
        let Ok(text) = read_text(&folder.join("Cargo.toml"), LONGEST_SETTINGS) else {
            return;
        };
        let mut benches = names_in(&folder.join("benches"), "rs");
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        for table in lines.split(|line| *line == "[[bench]]").skip(1) {
            let mut keys = table.iter().take_while(|line| !line.starts_with('['));
            let name = keys.find_map(|line| line.strip_prefix("name"));
            benches.extend(
                name.and_then(|rest| rest.split('"').nth(1))
                    .map(str::to_owned),
            );
        }
        benches.sort();
        benches.dedup();
        if benches.is_empty() {
            return;
        }
        for name in &benches {
            self.benchmarks.push(FoundBenchmark {
                name: name.clone(),
                description: format!(
                    "the bench `{name}` of Cargo, whole; built before each instance"
                ),
                keys: vec![
                    format!(
                        "command = {}",
                        list(&["cargo", "bench", "-q", "--bench", name])
                    ),
                    format!(
                        "setup = {}",
                        list(&["cargo", "bench", "-q", "--no-run", "--bench", name])
                    ),
                    "iterations = 1".to_owned(),
                    "burn_in = 0".to_owned(),
                ],
            });
        }
        if text.contains("criterion") {
            self.notes.push(
                "Criterion keeps each function's samples: run `cargo bench`, then `lapwing import target/criterion`"
                    .to_owned(),
            );
        }
    }

    /// Adds folders of tests that are benchmarks, and files of the folder itself.
    fn add_pytest(&mut self, folder: &Path) {
        let below_tests = FOLDERS.map(|name| format!("tests/{name}"));
        let folders = FOLDERS
            .into_iter()
            .chain(below_tests.iter().map(String::as_str));
        let mut has_below_tests = false;
        for name in folders.chain(["tests"]) {
            let files = tests_in(&folder.join(name), name == "tests");
            if files.is_empty() {
                continue;
            }
            let description = format!("{} of tests in {name}/", counted(files.len(), "file"));
            let paths = match name == "tests" && has_below_tests {
                true => files.iter().map(|file| format!("{name}/{file}")).collect(),
                false => vec![format!("{name}/")],
            };
            let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
            self.push_pytest(&name.replace('/', "-"), &description, &paths);
            has_below_tests |= name.starts_with("tests/");
        }
        let files = tests_in(folder, true);
        if !files.is_empty() {
            let description = format!("{} of tests", counted(files.len(), "file"));
            let files: Vec<&str> = files.iter().map(String::as_str).collect();
            self.push_pytest("pytest", &description, &files);
        }
    }

    fn push_pytest(&mut self, name: &str, description: &str, paths: &[&str]) {
        self.benchmarks.push(FoundBenchmark {
            name: name.to_owned(),
            description: format!(
                "{description}, each test a benchmark (`pip install pytest-lapwing`)"
            ),
            keys: vec![format!("pytest = {}", list(paths))],
        });
    }

    /// Notes tools whose results are imported.
    fn note_other_tools(&mut self, folder: &Path) {
        if folder.join("asv.conf.json").is_file() {
            let first = match folder.join(".asv/results").is_dir() {
                true => "",
                false => "`asv run`, then ",
            };
            self.notes.push(format!(
                "asv keeps its results: {first}`lapwing import .asv/results`"
            ));
        }
        if folder.join("go.mod").is_file() {
            self.notes.push(
                "Go's benchmarks: `go test -bench . -count 10 | tee new.txt`, then `lapwing import new.txt`"
                    .to_owned(),
            );
        }
    }

    /// Adds programs and scripts of a folder.
    fn add_programs(&mut self, folder: &Path, within: &str) {
        let entries = fs::read_dir(folder.join(within))
            .into_iter()
            .flatten()
            .flatten();
        let is_program = |path: &Path| {
            fs::metadata(path).is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
        };
        let mut programs: Vec<String> = entries
            .map(|it| it.path())
            .filter(|path| is_program(path))
            .filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()))
            .filter(|name| !name.starts_with('.'))
            .collect();
        programs.sort();
        if programs.len() > PROGRAMS {
            self.notes.push(format!(
                "{within} has {} more programs",
                programs.len() - PROGRAMS
            ));
            programs.truncate(PROGRAMS);
        }
        for program in programs {
            let path = format!("./{}", Path::new(within).join(&program).display());
            let path = path.replace("/./", "/");
            let stem = program.split('.').next().unwrap_or(&program).to_owned();
            let taken = |name: &str| self.benchmarks.iter().any(|it| it.name == name);
            self.benchmarks.push(FoundBenchmark {
                name: if taken(&stem) { program } else { stem },
                description: format!("the program {path}"),
                keys: vec![format!("command = {}", list(&[&path]))],
            });
        }
    }

    /// Returns the suite file.
    pub fn suite(&self) -> String {
        let mut text = String::new();
        text.push_str(
            "# `lapwing run --dry-run` shows what this file measures, `lapwing run` measures it.\n\n\
             [defaults]\n\
             instances = 5          # fresh starts per benchmark, in random order\n\
             # iterations = 5       # timed executions per instance, after burn-in\n\
             # burn_in = 1          # first executions per instance that do not count, or \"auto\"\n\
             # time_limit = \"1 min\" # an execution that takes longer fails\n",
        );
        for benchmark in &self.benchmarks {
            let name = toml_edit::Key::new(&benchmark.name);
            text.push_str(&format!(
                "\n# {}\n[benchmark.{name}]\n",
                benchmark.description
            ));
            for line in &benchmark.keys {
                text.push_str(&format!("{line}\n"));
            }
        }
        if self.benchmarks.is_empty() {
            text.push_str(
                "\n# Nothing to measure was found here. Replace the command, which may be any program.\n\
                 [benchmark.example]\n\
                 command = [\"sleep\", \"0.1\"]\n",
            );
        }
        text.push_str(
            "\n# Also possible:\n\
             # params.level = [1, 6, 9]            # three benchmarks, with {level} in the command\n\
             # prepare = \"rm -rf out\"              # before each execution, untimed\n\
             # check = \"grep -q done\"              # reads the output; a failure is a failed execution\n\
             # metrics = \"json\"                    # the program prints numbers as a JSON object\n\
             # [variant.fast]                      # a second setting, for `lapwing compare`\n\
             # env = { THREADS = \"4\" }\n",
        );
        text
    }

    /// Returns what was found, in a few words.
    pub fn summary(&self) -> String {
        match self.benchmarks.as_slice() {
            [] => "nothing to measure was found, so it has an example".to_owned(),
            all => format!(
                "{}: {}",
                counted(all.len(), "benchmark"),
                first_names(all.iter().map(|it| it.name.as_str()), 5)
            ),
        }
    }
}

/// Returns the names of the files of a folder that have tests, or only of those whose tests say that they are benchmarks.
fn tests_in(folder: &Path, only_marked: bool) -> Vec<String> {
    let asks = [
        "mark.lapwing",
        "mark.benchmark",
        "(benchmark",
        ", benchmark",
    ];
    let mut names = names_in(folder, "py");
    names.retain(|name| name.starts_with("test_") || name.ends_with("_test"));
    let mut files: Vec<String> = names.iter().map(|name| format!("{name}.py")).collect();
    files.retain(|file| {
        let text = read_text(&folder.join(file), LONGEST_SETTINGS);
        text.is_ok_and(|text| !only_marked || asks.iter().any(|it| text.contains(it)))
    });
    files.sort();
    files
}

/// Returns the names of the files of a folder that have this extension, without it.
fn names_in(folder: &Path, extension: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|it| it.path());
    let paths = paths.filter(|path| path.extension().is_some_and(|it| it == extension));
    let stem = |path: std::path::PathBuf| Some(path.file_stem()?.to_str()?.to_owned());
    paths.filter_map(stem).collect()
}

/// Returns texts as a list of TOML.
pub(super) fn list(words: &[&str]) -> String {
    let words = words.iter().map(|word| toml_edit::Value::from(*word));
    format!(
        "[{}]",
        words
            .map(|word| word.to_string())
            .collect::<Vec<_>>()
            .join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::Suite;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(&path, text).expect("written");
            if text.starts_with("#!") {
                fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("set");
            }
        }
        folder
    }

    fn names(files: &[(&str, &str)]) -> (Vec<String>, usize) {
        let folder = folder(files);
        let all = FoundBenchmarks::within(folder.path());
        let text = all.suite();
        let suite = Suite::parse(&folder.path().join("lapwing.toml"), &text, folder.path());
        suite.unwrap_or_else(|error| panic!("{error} in\n{text}"));
        let names = all.benchmarks.into_iter().map(|it| it.name);
        (names.collect(), all.notes.len())
    }

    #[test]
    fn benches_tests_and_programs_become_benchmarks_of_a_valid_suite() {
        let cargo = "[package]\nname = \"x\"\n[dev-dependencies]\ncriterion = \"1\"\n[[bench]]\nname = \"sum\"\n";
        let cargo = [("Cargo.toml", cargo), ("benches/sort.rs", "fn main() {}")];
        assert_eq!(
            names(&cargo),
            (vec!["sort".to_owned(), "sum".to_owned()], 1)
        );
        let pytest = [
            ("benchmarks/test_io.py", "def test_read(): pass"),
            ("tests/test_unit.py", "def test_unit(): pass"),
            ("bench/run.sh", "#!/bin/sh\n"),
            ("bench/run.py", "#!/usr/bin/env python3\n"),
            ("bench/data.txt", "1"),
        ];
        let (found, _) = names(&pytest);
        assert_eq!(found, ["benchmarks", "run", "run.sh"]);
        let below = [
            ("tests/benchmarks/test_io.py", "def test_read(): pass"),
            ("tests/test_own.py", "def test_it(benchmark): pass"),
        ];
        assert_eq!(names(&below).0, ["tests-benchmarks", "tests"]);
        let suite = FoundBenchmarks::within(folder(&below).path()).suite();
        assert!(
            suite.contains(r#"pytest = ["tests/benchmarks/"]"#)
                && suite.contains(r#"pytest = ["tests/test_own.py"]"#),
            "{suite}"
        );
        let here = [
            ("test_a.py", "def test_it(benchmark): benchmark(int)"),
            ("test_b.py", "@pytest.mark.lapwing\ndef test_it(): pass"),
            (
                "test_c.py",
                "class TestIt:\n    def test_it(self, benchmark): benchmark(int)",
            ),
            ("test_unit.py", "def test_unit(): pass"),
            ("tool.py", "#!/usr/bin/env python3\n"),
        ];
        assert_eq!(names(&here).0, ["pytest"]);
        let suite = FoundBenchmarks::within(folder(&here).path()).suite();
        assert!(
            suite.contains(r#"pytest = ["test_a.py", "test_b.py", "test_c.py"]"#),
            "{suite}"
        );
        assert_eq!(names(&[("go.mod", "module x")]), (Vec::new(), 1));
        assert_eq!(names(&[("run me", "#!/bin/sh\n")]).0, ["run me"]);
        assert_eq!(names(&[]).0, Vec::<String>::new());
    }
}
