//! What differs between the environments of two sides, besides what was chosen.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::sample::{is_volatile, observations};
use lapwing_model::{Id, Run};

/// The prefix of the paths of packages.
const PACKAGES: &str = "packages.";
/// Observations that say which machine it was; cautions are about these.
const OF_MACHINE: [&str; 4] = ["host", "cpu_model", "abilities", "lapwing"];

/// The environments of the runs of a side.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::judge) struct SideEnvironment {
    runs: BTreeSet<Id>,
    values: BTreeMap<String, BTreeSet<String>>,
    /// The requirements that its Python environments were built from.
    asked: BTreeSet<String>,
    /// The files that they were built from.
    files: BTreeSet<String>,
}

/// An observation that differs between two sides, and that no variant asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnintendedDifference {
    /// Its path: `packages.numpy`.
    pub key: String,
    /// Its values on the two sides; empty where it does not exist.
    pub values: [Vec<String>; 2],
}

impl SideEnvironment {
    pub(in crate::judge) fn add(&mut self, run: &Run) {
        if !self.runs.insert(run.id) {
            return;
        }
        observations(&run.environment, &mut |path, value| {
            self.values
                .entry(path.to_owned())
                .or_default()
                .insert(value);
        });
        let asked = run.attributes.get(Run::PYTHON_PACKAGES);
        let lines = asked
            .and_then(|it| it.get("requirements"))
            .and_then(|it| it.as_array());
        let lines = lines.into_iter().flatten().filter_map(|it| it.as_str());
        self.asked.extend(lines.map(str::to_owned));
        let is_file = |it: &&Value| it.get("requirements").is_none();
        self.files
            .extend(asked.filter(is_file).map(Value::to_string));
    }
}

/// Returns what differs between two sides, packages first; nothing if a side has no environment. Packages are left
/// out where different files name them, since everything in these was chosen.
pub(in crate::judge) fn unintended(sides: [&SideEnvironment; 2]) -> Vec<UnintendedDifference> {
    if sides.iter().any(|side| side.values.is_empty()) {
        return Vec::new();
    }
    let intended: BTreeSet<String> = sides[0]
        .asked
        .symmetric_difference(&sides[1].asked)
        .map(|line| package_name(line))
        .collect();
    let has_packages = sides.map(|side| side.values.keys().any(|key| key.starts_with(PACKAGES)));
    let keys: BTreeSet<&String> = sides.iter().flat_map(|side| side.values.keys()).collect();
    let of_interest = keys.into_iter().filter(|key| {
        let first = key.split('.').next().unwrap_or(key);
        let package = key.strip_prefix(PACKAGES);
        let is_chosen = |package: &str| {
            sides[0].files != sides[1].files || intended.contains(&package_name(package))
        };
        let is_unasked = package.is_none_or(|it| !is_chosen(it));
        !is_volatile(key) && !OF_MACHINE.contains(&first) && is_unasked
    });
    let mut found: Vec<UnintendedDifference> = of_interest
        .filter_map(|key| {
            let values = sides.map(|side| side.values.get(key).cloned().unwrap_or_default());
            // A package that one side lacks is a difference; an observation that one side did not make is not.
            let is_known = values.iter().all(|it| !it.is_empty())
                || (key.starts_with(PACKAGES) && has_packages == [true; 2]);
            let differs = is_known && values[0].is_disjoint(&values[1]);
            differs.then(|| UnintendedDifference {
                key: key.clone(),
                values: values.map(|it| it.into_iter().collect()),
            })
        })
        .collect();
    found.sort_by_key(|it| !it.key.starts_with(PACKAGES));
    found
}

/// Returns the normalised name of the package that a requirement is about.
fn package_name(requirement: &str) -> String {
    let requirement = requirement.trim();
    let is_of_name = |it: char| it.is_alphanumeric() || "-_.".contains(it);
    let named = requirement
        .rsplit_once("#egg=")
        .map_or(requirement, |(_, name)| name);
    let named = if named.starts_with("git+") {
        // The repository's name is the best guess.
        named.rsplit('/').next().unwrap_or_default()
    } else {
        named
    };
    let name: String = named.chars().take_while(|it| is_of_name(*it)).collect();
    let name = name.trim_end_matches(".git");
    name.to_lowercase().replace(['_', '.'], "-")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn side(id: &str, environment: serde_json::Value, asked: &[&str]) -> SideEnvironment {
        let mut side = SideEnvironment::default();
        let run = json!({
            "id": Id::derived(&[id.as_bytes()]).to_string(),
            "session": Id::derived(&[b"s"]).to_string(),
            "variant": id,
            "environment": environment,
            "attributes": {(Run::PYTHON_PACKAGES): {"requirements": asked}},
        });
        side.add(&serde_json::from_value(run).expect("a run"));
        side
    }

    #[test]
    fn packages_that_a_variant_asks_for_are_no_surprise() {
        let one = side(
            "one",
            json!({"kernel": "6.1", "packages": {"dask": "1", "numpy": "2.3", "six": "1"}}),
            &["dask==1"],
        );
        let other = side(
            "other",
            json!({"kernel": "6.2", "load": "3", "packages": {"dask": "2", "numpy": "2.4"}}),
            &["Dask == 2"],
        );
        let found = unintended([&one, &other]);
        let keys: Vec<&str> = found.iter().map(|it| it.key.as_str()).collect();
        assert_eq!(keys, ["packages.numpy", "packages.six", "kernel"]);
        assert_eq!(found[1].values, [vec!["1".to_owned()], Vec::new()]);
        assert_eq!(unintended([&one, &one]), []);
    }

    #[test]
    fn names_of_packages_are_normalised() {
        for (requirement, name) in [
            ("Dask[complete] >= 2", "dask"),
            (
                "git+https://example.org/ruamel.yaml.git@main",
                "ruamel-yaml",
            ),
            ("msgpack_python==1", "msgpack-python"),
            ("x @ file:///a", "x"),
        ] {
            assert_eq!(package_name(requirement), name);
        }
    }
}
