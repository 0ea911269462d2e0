//! Splits a factor that changes several things into a factor for each.

use toml_edit::{Array, InlineTable, Item, TableLike, Value};

use super::{EditedSuite, lines};
use crate::suite::SuiteFactor;

/// A factor in parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitFactor {
    /// The new factors, with what each changes.
    pub parts: Vec<(String, String)>,
    /// The files of the new patches, as the suite names them, with their contents.
    pub patches: Vec<(String, String)>,
    /// The new text of the suite file.
    pub text: String,
}

/// Why a factor cannot be split.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SplitError {
    /// It has other levels than absent and present.
    #[error("factor `{factor}` has levels: only what is absent or present can be split")]
    Levels {
        /// The factor.
        factor: String,
    },
    /// It changes one thing.
    #[error(
        "factor `{factor}` changes one thing: what can be split is a patch with several hunks, several words of `arguments`, or several variables of `env`"
    )]
    OneThing {
        /// The factor.
        factor: String,
    },
    /// A part has the name of another factor.
    #[error("there is a factor `{name}` already, which would be the name of a part")]
    Taken {
        /// The name.
        name: String,
    },
    /// Its table is not written as one.
    #[error("factor `{factor}` is not written as a table [factor.{factor}]")]
    NoTable {
        /// The factor.
        factor: String,
    },
}

/// A change of one part: its key under `apply`, its value, and its description.
struct PartOfChange {
    key: &'static str,
    value: Value,
    text: String,
}

impl EditedSuite {
    /// Returns the factors of the suite.
    pub fn factors(&self) -> &[SuiteFactor] {
        self.suite.factors()
    }

    /// Returns a factor of the suite by its name.
    pub fn factor(&self, name: &str) -> Option<&SuiteFactor> {
        self.factors().iter().find(|it| it.name == name)
    }

    /// Returns the file of the patch of a factor, as the suite names it.
    pub fn patch_of(&self, factor: &str) -> Option<String> {
        let apply = self.factor_table(factor)?.get("apply")?.as_table_like()?;
        Some(apply.get("patch")?.as_str()?.to_owned())
    }

    /// Returns a factor in parts, given the content of its patch if it has one: each hunk, word or variable becomes a
    /// factor of its own, with the same `requires`, `excludes` and tags. Other factors and variants that name it name
    /// all parts.
    ///
    /// A word that does not begin with `-` belongs to the one before it.
    ///
    /// # Errors
    /// When it changes one thing, or has levels.
    pub fn split(mut self, factor: &str, patch: Option<&str>) -> Result<SplitFactor, SplitError> {
        let named = || factor.to_owned();
        let no_table = || SplitError::NoTable { factor: named() };
        let table = self.factor_table(factor).ok_or_else(no_table)?;
        if table.contains_key("levels") {
            return Err(SplitError::Levels { factor: named() });
        }
        let apply = table.get("apply").and_then(Item::as_table_like);
        let apply = apply.ok_or_else(no_table)?;
        let (changes, patches) = changes(apply, patch);
        if changes.len() < 2 {
            return Err(SplitError::OneThing { factor: named() });
        }
        let names: Vec<String> = (1..=changes.len())
            .map(|it| format!("{factor}-{it}"))
            .collect();
        if let Some(name) = names.iter().find(|name| self.factor_table(name).is_some()) {
            return Err(SplitError::Taken { name: name.clone() });
        }
        let factors = self
            .document
            .get_mut("factor")
            .and_then(Item::as_table_like_mut);
        let factors = factors.ok_or_else(no_table)?;
        let old = factors.remove(factor).ok_or_else(no_table)?;
        let Ok(old) = old.into_table() else {
            return Err(no_table());
        };
        for (place, (name, change)) in names.iter().zip(&changes).enumerate() {
            let mut own = old.clone();
            if place > 0 {
                own.decor_mut().set_prefix("\n");
            }
            own.remove("apply");
            own.insert(
                "apply",
                Item::Value(Value::InlineTable(InlineTable::from_iter([(
                    change.key,
                    change.value.clone(),
                )]))),
            );
            factors.insert(name, Item::Table(own));
        }
        for (_, other) in factors.iter_mut() {
            for key in ["requires", "excludes"] {
                let list = other.as_table_like_mut().and_then(|it| it.get_mut(key));
                if let Some(list) = list.and_then(Item::as_array_mut) {
                    replace_name(list, factor, &names);
                }
            }
        }
        let variants = self
            .document
            .get_mut("variant")
            .and_then(Item::as_table_like_mut);
        for (_, variant) in variants.into_iter().flat_map(|it| it.iter_mut()) {
            let levels = variant
                .as_table_like_mut()
                .and_then(|it| it.get_mut("factors"));
            let Some(levels) = levels.and_then(Item::as_table_like_mut) else {
                continue;
            };
            if let Some(level) = levels.remove(factor) {
                for name in &names {
                    levels.insert(name, level.clone());
                }
            }
        }
        Ok(SplitFactor {
            parts: names
                .into_iter()
                .zip(changes.into_iter().map(|it| it.text))
                .collect(),
            patches,
            text: lines::like(&self.text, &self.document.to_string()),
        })
    }

    fn factor_table(&self, name: &str) -> Option<&dyn TableLike> {
        let factors = self.document.get("factor")?.as_table_like()?;
        factors.get(name)?.as_table_like()
    }
}

fn replace_name(list: &mut Array, factor: &str, names: &[String]) {
    let place = list.iter().position(|it| it.as_str() == Some(factor));
    if let Some(place) = place {
        list.remove(place);
        for name in names.iter().rev() {
            list.insert(place, name.as_str());
        }
    }
}

/// Returns the single changes of a factor, and the patches to write.
fn changes(
    apply: &dyn TableLike,
    patch: Option<&str>,
) -> (Vec<PartOfChange>, Vec<(String, String)>) {
    let mut changes = Vec::new();
    let mut patches = Vec::new();
    for (key, item) in apply.iter() {
        match (key, item) {
            ("env", item) => {
                let variables = item.as_table_like().into_iter().flat_map(TableLike::iter);
                changes.extend(variables.filter_map(|(name, value)| {
                    let value = value.as_value()?.clone();
                    let text = format!("{name}={}", value.as_str().unwrap_or_default());
                    let own = InlineTable::from_iter([(name, value)]);
                    Some(PartOfChange {
                        key: "env",
                        value: Value::InlineTable(own),
                        text,
                    })
                }));
            }
            ("arguments", item) => {
                let words = item.as_array().into_iter().flat_map(Array::iter);
                let words: Vec<&str> = words.filter_map(Value::as_str).collect();
                changes.extend(groups(&words).into_iter().map(|own| PartOfChange {
                    key: "arguments",
                    text: own.join(" "),
                    value: Value::Array(Array::from_iter(own)),
                }));
            }
            ("patch", item) => {
                let file = item.as_str().unwrap_or_default();
                let hunks = patch.map_or_else(Vec::new, hunks);
                for (number, (text, content)) in (1..).zip(hunks) {
                    let own = match file.rsplit_once('.') {
                        Some((stem, end)) if !end.contains('/') => format!("{stem}-{number}.{end}"),
                        _ => format!("{file}-{number}"),
                    };
                    changes.push(PartOfChange {
                        key: "patch",
                        value: Value::from(&own),
                        text,
                    });
                    patches.push((own, content));
                }
            }
            ("setup" | "worktree" | "python" | "python_version" | "cpus", item) => {
                let key = match key {
                    "setup" => "setup",
                    "worktree" => "worktree",
                    "python" => "python",
                    "python_version" => "python_version",
                    _ => "cpus",
                };
                changes.extend(item.as_value().map(|value| PartOfChange {
                    key,
                    value: value.clone(),
                    text: format!("{key} = {}", value.to_string().trim()),
                }));
            }
            _ => {}
        }
    }
    (changes, patches)
}

/// Returns the words in groups: each option with the values after it, which do not begin with `-`.
fn groups<'w>(words: &[&'w str]) -> Vec<Vec<&'w str>> {
    let mut groups: Vec<Vec<&str>> = Vec::new();
    let has_options = words.iter().any(|it| it.starts_with('-'));
    for word in words {
        match groups.last_mut() {
            Some(last) if has_options && !word.starts_with('-') => last.push(word),
            _ => groups.push(vec![word]),
        }
    }
    groups
}

/// Returns the hunks of a patch, each as a patch of its own with its file and place; a file without hunks, such as one that
/// is renamed, or one that is new or removed, is one.
fn hunks(patch: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for file in files(patch) {
        let (head, hunks) = file.split_at(file.find("\n@@ ").map_or(file.len(), |at| at + 1));
        let name = name_of(head);
        let is_whole = [
            "new file mode",
            "deleted file mode",
            "--- /dev/null",
            "+++ /dev/null",
        ];
        let starts: Vec<usize> = hunks
            .match_indices("@@ ")
            .map(|(at, _)| at)
            .filter(|at| *at == 0 || hunks.as_bytes()[at - 1] == b'\n')
            .collect();
        if starts.len() < 2
            || head
                .lines()
                .any(|line| is_whole.iter().any(|it| line.starts_with(it)))
        {
            found.push((name, file.to_owned()));
            continue;
        }
        let ends = starts.iter().skip(1).copied().chain([hunks.len()]);
        for (start, end) in starts.iter().zip(ends) {
            let hunk = &hunks[*start..end];
            let place = hunk.lines().next().unwrap_or_default();
            let line = place.split(['-', ',', ' ']).nth(2).unwrap_or_default();
            found.push((format!("{name}:{line}"), format!("{head}{hunk}")));
        }
    }
    found
}

/// Returns the parts of a patch that are about one file each.
fn files(patch: &str) -> Vec<&str> {
    let mark = if patch.starts_with("diff --git ") || patch.contains("\ndiff --git ") {
        "diff --git "
    } else {
        "--- "
    };
    let is_start = |at: &usize| {
        let rest = &patch[*at..];
        let is_line = *at == 0 || patch.as_bytes()[at - 1] == b'\n';
        // A removed line may begin with two dashes, too.
        let is_head = mark == "diff --git "
            || rest
                .lines()
                .nth(1)
                .is_some_and(|line| line.starts_with("+++ "));
        is_line && is_head
    };
    let starts = patch.match_indices(mark).map(|(at, _)| at);
    let starts: Vec<usize> = starts.filter(is_start).collect();
    let ends = starts.iter().skip(1).copied().chain([patch.len()]);
    starts
        .iter()
        .zip(ends)
        .map(|(start, end)| &patch[*start..end])
        .collect()
}

fn name_of(head: &str) -> String {
    let line = |mark: &str| head.lines().find_map(|line| line.strip_prefix(mark));
    let name = line("+++ b/")
        .or_else(|| line("--- a/"))
        .or_else(|| line("+++ "));
    let name = name.or_else(|| head.lines().next()).unwrap_or_default();
    name.split('\t').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::suite::Suite;

    fn split(text: &str, factor: &str, patch: Option<&str>) -> Result<SplitFactor, SplitError> {
        let suite = Suite::parse(Path::new("lapwing.toml"), text, Path::new(".")).expect("a suite");
        let edited = EditedSuite::new(suite, text.to_owned()).expect("a suite");
        edited.split(factor, patch)
    }

    const SUITE: &str = "suite = \"s\"\n[benchmark.b]\ncommand = \"true\"\n\n# Quick.\n[factor.fast]\ntags = [\"config\"]\napply.arguments = [\"-a\", \"--level\", \"3\"]\napply.env = { X = \"1\" }\n\n[factor.other]\nrequires = [\"fast\"]\napply.arguments = [\"-o\"]\n\n[variant.v]\nfactors = { fast = true }\n";

    #[test]
    fn words_and_variables_become_factors_and_whatever_names_the_factor_names_all() {
        let found = split(SUITE, "fast", None).unwrap();
        let texts: Vec<&str> = found.parts.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(texts, ["-a", "--level 3", "X=1"]);
        let suite = Suite::parse(Path::new("lapwing.toml"), &found.text, Path::new("."));
        let suite = suite.unwrap_or_else(|error| panic!("{error}\n{}", found.text));
        let factors: Vec<&str> = suite.factors().iter().map(|it| it.name.as_str()).collect();
        assert_eq!(factors.len(), 4, "{factors:?}");
        let other = suite
            .factors()
            .iter()
            .find(|it| it.name == "other")
            .unwrap();
        assert_eq!(other.requires, ["fast-1", "fast-2", "fast-3"]);
        let parts = suite
            .factors()
            .iter()
            .filter(|it| it.name.starts_with("fast-"));
        assert!(parts.clone().all(|it| it.tags == ["config"]) && parts.count() == 3);
        assert!(
            found.text.contains("# Quick.\n[factor.fast-1]"),
            "{}",
            found.text
        );
        assert!(found.text.contains("fast-3 = true"), "{}", found.text);
    }

    #[test]
    fn each_hunk_becomes_a_patch_with_the_head_of_its_file() {
        let patch = "diff --git a/x.c b/x.c\n--- a/x.c\n+++ b/x.c\n@@ -1,2 +1,2 @@\n-a\n+b\n c\n@@ -10 +10 @@ f\n-d\n+e\ndiff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+z\n";
        let suite = SUITE.replace(
            "apply.arguments = [\"-a\", \"--level\", \"3\"]\napply.env = { X = \"1\" }",
            "apply.patch = \"p/fast.patch\"",
        );
        let folder = tempfile::TempDir::new().unwrap();
        std::fs::create_dir(folder.path().join("p")).unwrap();
        std::fs::write(folder.path().join("p/fast.patch"), patch).unwrap();
        let path = folder.path().join("lapwing.toml");
        let parsed = Suite::parse(&path, &suite, folder.path()).expect("a suite");
        let edited = EditedSuite::new(parsed, suite).unwrap();
        assert_eq!(edited.patch_of("fast").as_deref(), Some("p/fast.patch"));
        let found = edited.split("fast", Some(patch)).unwrap();
        let texts: Vec<&str> = found.parts.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(texts, ["x.c:1", "x.c:10", "n"]);
        let (file, second) = &found.patches[1];
        assert_eq!(file, "p/fast-2.patch");
        assert_eq!(
            second,
            "diff --git a/x.c b/x.c\n--- a/x.c\n+++ b/x.c\n@@ -10 +10 @@ f\n-d\n+e\n"
        );
        // Together they are the patch.
        assert!(
            found.patches[2]
                .1
                .starts_with("diff --git a/n b/n\nnew file mode")
        );
    }

    #[test]
    fn what_changes_one_thing_or_has_levels_is_not_split() {
        let one = split(SUITE, "other", None).unwrap_err();
        assert_eq!(
            one,
            SplitError::OneThing {
                factor: "other".to_owned()
            }
        );
        let levels = SUITE.replace("tags = [\"config\"]", "levels = [1, 2]");
        let levels = levels.replace("factors = { fast = true }", "factors = { fast = 1 }");
        assert!(matches!(
            split(&levels, "fast", None),
            Err(SplitError::Levels { .. })
        ));
    }
}
