//! The words of the user in the places of a template.

use std::path::{Path, PathBuf};

use lapwing_model::text::shell_word;

use super::found::name_of;
use crate::door::takes_next;
use crate::suite::suite_file;

/// The words that a user typed after a command, and the value of an option.
pub(super) struct TypedWords {
    pub(super) value: Option<String>,
    /// All words.
    pub(super) rest: Vec<String>,
}

impl TypedWords {
    pub(super) fn of(rest: &[String]) -> Self {
        Self {
            value: None,
            rest: rest.to_vec(),
        }
    }

    /// Returns the words after the one at a place.
    pub(super) fn after(words: &[String], at: usize) -> Self {
        Self::of(&words[at + 1..])
    }

    /// Returns a template with words in its places; `None` if there is none for one of them. Braces with another
    /// name stay.
    pub(super) fn fill(&self, template: &str) -> Option<String> {
        let mut text = String::new();
        let mut parts = template.split('{');
        text.push_str(parts.next().unwrap_or_default());
        for part in parts {
            let (name, after) = part.split_once('}')?;
            let word = self.word(name)?;
            if word.is_empty() && text.ends_with(' ') {
                text.pop();
            }
            text.push_str(&word);
            text.push_str(after);
        }
        Some(text.trim().to_owned())
    }

    fn word(&self, name: &str) -> Option<String> {
        let value = || self.value.as_deref();
        let quoted = |text: &str| shell_word(text);
        match name {
            "" => Some(match value() {
                Some(value) => shell_word(value),
                None if self.rest.is_empty() => return None,
                None => joined(&self.rest),
            }),
            "all" => Some(joined(&self.rest)),
            "1" => self.positional(0).map(quoted),
            "2" => self.positional(1).map(quoted),
            "side1" => self.positional(0).map(baseline),
            "side2" => self.positional(1).map(baseline),
            "last" => self.positionals().last().map(|it| (*it).to_owned()),
            "ends" => {
                let first = self.positional(0)?;
                let range = first.split_once("..");
                let (first, last) = range.or_else(|| Some((first, self.positional(1)?)))?;
                let last = if last.is_empty() { "HEAD" } else { last };
                Some(format!("{} {}", shell_word(first), shell_word(last)))
            }
            "chosen" => {
                let is_range = self.positional(0)?.contains("..");
                let name = self.positional(if is_range { 1 } else { 2 });
                Some(name.map_or(String::new(), |it| format!("-b {}", shell_word(it))))
            }
            "options" => {
                let (_, options) = self.parted();
                Some(joined(&options))
            }
            "runs" => match ["-m", "--min-runs"].map(|it| self.value_of(it)) {
                [None, None] => Some(format!("--runs {}", shell_word(value()?))),
                // It cannot be beside them.
                _ => None,
            },
            "history" => Some(match self.value_of("--external-data-json-path") {
                Some(history) => {
                    format!("detect {} {}", shell_word(history), shell_word(value()?))
                }
                None => format!("import {} && lapwing detect", shell_word(value()?)),
            }),
            "output" => Some(match self.value_of("--output-file-path") {
                Some(output) => shell_word(output),
                None => String::new(),
            }),
            "gate" => self.gate(),
            "column" => (value()? == ".file").then(String::new),
            "before_head" => (self.positional(1).or(self.positional(0))? == "HEAD")
                .then(|| self.before().map(|it| shell_word(&it)))?,
            "range" => {
                let last = self.positional(1).or(self.positional(0))?;
                Some(shell_word(&format!("{}..{last}", self.before()?)))
            }
            "before" => self.before().map(|it| shell_word(&it)),
            "after" => self.positional(1).or(self.positional(0)).map(quoted),
            "only_ends" => {
                let last = self.positional(1).or(self.positional(0))?;
                let is_parent = [format!("{last}~1"), format!("{last}~"), format!("{last}^")];
                let every = if is_parent.contains(&self.before()?) {
                    ""
                } else {
                    "--every 1000000"
                };
                Some(every.to_owned())
            }
            // What a comparison has instead.
            "measured" => {
                let (_, mut options) = self.parted();
                while let Some(at) = options.iter().position(|it| *it == "--smallest-effect") {
                    options.drain(at..(at + 2).min(options.len()));
                }
                Some(joined(&options))
            }
            "command" => {
                let words = self.rest.iter().skip_while(|it| *it != "--");
                let words: Vec<String> = words.cloned().collect();
                Some(match words.is_empty() && suite_file::here().is_none() {
                    true => "-- COMMAND".to_owned(),
                    false => joined(&words),
                })
            }
            "over" => over(value()?),
            "factor" => percent((number(value()?)? - 1.0) * 100.0),
            "filter" => filter(value()?),
            "csv" => value().filter(|it| it.ends_with(".csv")).map(shell_word),
            "repeated" => {
                let is_loops = |it: &String| it.starts_with("-l") || it.starts_with("--loops");
                // Only pyperf has loops besides.
                let name = match self.rest.iter().any(is_loops) {
                    true => "--iterations",
                    false => "--loops",
                };
                Some(format!("{name} {}", shell_word(value()?)))
            }
            "saved" => self.saved(),
            "results" => self.folder(&[".asv/results", "results"], "benchmarks.json"),
            "benchmarks" => self.folder(&[".benchmarks"], ""),
            "criterion" => self.folder(&["target/criterion"], ""),
            other => Some(format!("{{{other}}}")),
        }
    }

    /// Returns the words before `--` that are no options and no folders.
    fn positionals(&self) -> Vec<&str> {
        let (mut words, _) = self.parted();
        words.retain(|it| !Path::new(it).is_dir());
        words
    }

    /// Returns the words before `--` that are no options, and the options with their values.
    pub(super) fn parted(&self) -> (Vec<&str>, Vec<&str>) {
        let mut program = crate::program();
        // Options of all commands are known as such.
        program.build();
        let (mut others, mut options) = (Vec::new(), Vec::new());
        let words = self.rest.iter().map(String::as_str);
        let mut words = words.take_while(|it| *it != "--").peekable();
        while let Some(word) = words.next() {
            if word == "-" || !word.starts_with('-') {
                others.push(word);
                continue;
            }
            options.push(word);
            if takes_next(word, words.peek().copied().unwrap_or_default(), &program) {
                options.extend(words.next());
            }
        }
        (others, options)
    }

    /// Returns the value of an option.
    fn value_of(&self, name: &str) -> Option<&str> {
        let mut words = self.rest.iter().map(String::as_str);
        words.find(|it| name_of(it) == name).and_then(|word| {
            let attached = word.split_once('=').map(|it| it.1);
            attached.or_else(|| words.next())
        })
    }

    /// Returns the gate of github-action-benchmark for a history.
    fn gate(&self) -> Option<String> {
        let gates = ["--fail-on-alert", "--fail-on"];
        let is_gate = self.rest.iter().any(|it| gates.contains(&name_of(it)));
        // Words before this one are ours already. The one to fail stands above the one to alert.
        let effect = self.value_of("--smallest-effect").map(str::to_owned);
        let [fail, alert] = ["--fail-threshold", "--alert-threshold"].map(|it| self.value_of(it));
        let effect = match (fail, effect, alert) {
            (Some(threshold), _, _) | (None, None, Some(threshold)) => over(threshold)?,
            (None, Some(effect), _) => effect,
            (None, None, None) => String::new(),
        };
        let parts = [
            ("--fail-on suspected", is_gate),
            ("--smallest-effect", !effect.is_empty()),
        ];
        let parts = parts.iter().filter(|it| it.1).map(|it| it.0);
        let parts: Vec<&str> = parts.chain([effect.as_str()]).collect();
        Some(parts.join(" "))
    }

    /// Returns the first of two commits, or the parent of the only one, as asv takes it.
    fn before(&self) -> Option<String> {
        let first = self.positional(0)?;
        Some(match self.positional(1) {
            Some(_) => first.to_owned(),
            None => format!("{first}~1"),
        })
    }

    fn positional(&self, at: usize) -> Option<&str> {
        self.positionals().get(at).copied()
    }

    /// Returns the folder of another program that has this file: the one that was typed, or else the usual one.
    fn folder(&self, usual: &[&str], file: &str) -> Option<String> {
        let ends = |it: &&str| {
            let mut names = usual.iter().map(Path::new).filter_map(Path::file_name);
            names.any(|name| Path::new(it).ends_with(name))
        };
        let typed = self.rest.iter().map(String::as_str).filter(ends);
        let mut folders = typed.chain(usual.iter().copied());
        let is_it = |it: &&str| Path::new(it).is_dir() && Path::new(it).join(file).exists();
        folders.find(is_it).map(shell_word)
    }

    /// Returns the files of pytest-benchmark with these numbers or names.
    fn saved(&self) -> Option<String> {
        let storage = self.value.as_deref().unwrap_or(".benchmarks");
        let storage = storage.trim_start_matches("file://");
        let mut machines: Vec<PathBuf> = entries(Path::new(storage));
        machines.push(PathBuf::from(storage));
        let files: Vec<PathBuf> = machines.iter().flat_map(|it| entries(it)).collect();
        let found = self.positionals().into_iter().map(|word| {
            let is_it = |path: &&PathBuf| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                name.strip_prefix(word)
                    .is_some_and(|it| it.starts_with(['_', '.']) && name.ends_with(".json"))
            };
            let file = files.iter().find(is_it)?;
            Some(file.display().to_string())
        });
        let found: Vec<String> = found.collect::<Option<_>>()?;
        (!found.is_empty()).then(|| joined(&found))
    }
}

fn joined(words: &[impl AsRef<str>]) -> String {
    let words: Vec<String> = words.iter().map(|it| shell_word(it.as_ref())).collect();
    words.join(" ")
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries.filter_map(|it| Some(it.ok()?.path())).collect();
    paths.sort();
    paths
}

/// Returns the variant that an import makes of a baseline of criterion.
fn baseline(name: &str) -> String {
    shell_word(if name == "new" { "default" } else { name })
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok()
}

/// Returns the change of a threshold in percent of the earlier value: `150%` is one of 50 %.
fn over(threshold: &str) -> Option<String> {
    percent(number(threshold.trim_end_matches('%'))? - 100.0)
}

/// Returns a change in percent; none if there is none. No smallest effect is larger than 99 %.
fn percent(value: f64) -> Option<String> {
    let rounded = (value.min(99.0) * 1e6).round() / 1e6;
    (rounded > 0.0).then(|| format!("{rounded}%"))
}

/// Returns the options for a filter of benchstat: `/format:json .unit:ns/op`. Of names and units one each can be chosen.
fn filter(text: &str) -> Option<String> {
    let mut benchmark = None;
    let mut metric = None;
    for condition in text.split_whitespace() {
        let (key, value) = condition.split_once(':')?;
        let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_./=".contains(it);
        if !value.chars().all(is_plain) {
            return None;
        }
        let is_second = match (key, value) {
            (".name", name) => benchmark.replace(name.to_owned()).is_some(),
            (".unit", "ns/op" | "sec/op") => metric.replace("wall_time").is_some(),
            (".unit", "MB/s" | "B/s") => metric.replace("bytes_per_second").is_some(),
            (".unit", unit) => metric.replace(unit).is_some(),
            (key, value) if key.starts_with('/') => {
                benchmark.replace(format!("*{key}={value}*")).is_some()
            }
            _ => return None,
        };
        if is_second {
            return None;
        }
    }
    let benchmark = benchmark.map(|it| format!("--benchmark {}", shell_word(&it)));
    let metric = metric.map(|it| format!("--metric {it}"));
    let options: Vec<String> = benchmark.into_iter().chain(metric).collect();
    Some(options.join(" "))
}

/// Returns the parts of a word that stand in the places of a name such as `{1}..{2}`.
pub(super) fn places(name: &str, word: &str) -> Option<Vec<String>> {
    let mut found = Vec::new();
    let mut left = word;
    let mut parts = name.split('{');
    left = left.strip_prefix(parts.next().unwrap_or_default())?;
    for part in parts {
        let (_, after) = part.split_once('}')?;
        let (value, rest) = match after {
            "" => (left, ""),
            after => left.split_once(after)?,
        };
        found.push(value.to_owned());
        left = rest;
    }
    // `a/../b` is a path.
    let is_path = |it: &String| it.starts_with('/') || it.ends_with('/');
    let is_whole = left.is_empty() && found.first().is_none_or(|it| !it.is_empty());
    (is_whole && !found.iter().any(is_path)).then_some(found)
}
