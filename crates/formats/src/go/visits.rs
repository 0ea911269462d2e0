//! Which of Go's results are one visit to a benchmark, and what the settings around them are.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::json;

use crate::go::VERSION;
use crate::go::text::{GoText, Settings, place};

/// The roles of the settings.
pub(super) struct Roles {
    /// Those that have several values for the same benchmark: they were varied.
    pub(super) varied: BTreeSet<String>,
    /// Those that have one value in all of the source.
    pub(super) constant: BTreeSet<String>,
}

impl Roles {
    pub(super) fn of(text: &GoText) -> Self {
        let mut of_benchmark: BTreeMap<(Option<&String>, u32), BTreeSet<u32>> = BTreeMap::new();
        let groups = || text.groups.iter().filter(|it| !it.left_out);
        // Where all have the same settings nothing was varied.
        if text.settings.len() > 1 {
            for group in groups() {
                let package = text.settings[group.settings as usize].get("pkg");
                let places = of_benchmark.entry((package, group.name)).or_default();
                places.insert(group.settings);
            }
        }
        let all: BTreeSet<u32> = groups().map(|it| it.settings).collect();
        let mut varied = BTreeSet::new();
        for places in of_benchmark.values() {
            varied.extend(keys_that_differ(text, places));
        }
        let differ = keys_that_differ(text, &all);
        // Another version is another run, even if other benchmarks were measured.
        let of_version = differ.iter().filter(|key| VERSION.contains(&key.as_str()));
        varied.extend(of_version.cloned());
        let constant = text
            .settings
            .iter()
            .flat_map(Settings::keys)
            .filter(|key| !differ.contains(*key))
            .cloned()
            .collect();
        Self { varied, constant }
    }
}

/// Returns the settings that are not the same in all of these combinations.
fn keys_that_differ(text: &GoText, places: &BTreeSet<u32>) -> BTreeSet<String> {
    let mut differ = BTreeSet::new();
    let mut places = places.iter().map(|&place| &text.settings[place as usize]);
    let Some(first) = places.next() else {
        return differ;
    };
    for other in places {
        let keys = first.keys().chain(other.keys());
        differ.extend(
            keys.filter(|key| first.get(*key) != other.get(*key))
                .cloned(),
        );
    }
    differ
}

/// The results of one benchmark in one process under the same varied settings.
pub(super) struct Visit {
    /// The line of its first result.
    pub(super) line: u64,
    /// One of its combinations of settings.
    pub(super) settings: u32,
    /// The place of its name.
    pub(super) name: u32,
    /// The number of the visit to this benchmark under these settings.
    pub(super) block: u32,
}

/// All visits.
pub(super) struct Visits {
    /// In the order of their first results.
    pub(super) visits: Vec<Visit>,
    /// The visit of each group of results, if any.
    of_group: Vec<Option<u32>>,
}

impl Visits {
    /// Returns the visit that a group of results belongs to.
    pub(super) fn of_group(&self, group: u32) -> Option<u32> {
        self.of_group.get(group as usize).copied().flatten()
    }

    pub(super) fn of(text: &GoText, roles: &Roles) -> Self {
        let mut visits: Vec<Visit> = Vec::new();
        let mut known: HashMap<(u32, u32, u32), u32> = HashMap::new();
        let mut blocks: HashMap<(u32, u32), u32> = HashMap::new();
        let alike = alike(text, roles);
        let of_group = text.groups.iter().map(|group| {
            if group.left_out {
                return None;
            }
            let settings = alike[group.settings as usize];
            let visit = known.entry((settings, group.process, group.name));
            Some(*visit.or_insert_with(|| {
                let block = blocks.entry((settings, group.name)).or_default();
                visits.push(Visit {
                    line: group.line,
                    settings: group.settings,
                    name: group.name,
                    block: *block,
                });
                *block += 1;
                place(visits.len() - 1)
            }))
        });
        let of_group = of_group.collect();
        Self { visits, of_group }
    }
}

/// Returns for each combination of settings the first with the same run and package.
fn alike(text: &GoText, roles: &Roles) -> Vec<u32> {
    let mut first: BTreeMap<(String, Option<&String>), u32> = BTreeMap::new();
    (0..)
        .zip(&text.settings)
        .map(|(place, settings)| {
            let key = (run_key(settings, roles), settings.get("pkg"));
            *first.entry(key).or_insert(place)
        })
        .collect()
}

/// Returns what tells the run of these settings from the others of the source.
pub(super) fn run_key(settings: &Settings, roles: &Roles) -> String {
    let varied: BTreeMap<&String, Option<&String>> = roles
        .varied
        .iter()
        .map(|key| (key, settings.get(key)))
        .collect();
    if varied.is_empty() {
        return String::new();
    }
    json!(varied).to_string()
}
