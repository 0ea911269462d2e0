//! Association of two groups of instances with hosts or other properties of the instances.

use std::collections::BTreeMap;

use lapwing_stats::as_f64;
use lapwing_stats::{PValue, Seed, benjamini_hochberg, fisher_exact};
use serde_json::Value;

use lapwing_model::Object;
use lapwing_record::InstanceData;

/// A property of instances that is associated with their group.
#[derive(Debug, Clone, PartialEq)]
pub struct Association {
    /// Its name: `host`, `environment.cpu_model`. Attributes that split the instances in the same way are named
    /// together, host, variant and version first.
    pub attributes: Vec<String>,
    /// The groups of the instances, per level, in order of level.
    pub levels: Vec<LevelCount>,
    /// The p-value of "it is independent of the groups".
    pub p_value: f64,
    /// The p-value adjusted for all tested attributes (Benjamini & Hochberg 1995).
    pub p_adjusted: f64,
}

/// The groups of the instances of one level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LevelCount {
    /// The level, such as the name of a host.
    pub level: String,
    /// Number of its instances in the lower group.
    pub lower: usize,
    /// Number of its instances in the upper group.
    pub upper: usize,
}

/// The largest adjusted p-value to report …
const LEVEL: f64 = 0.05;

/// … and the smallest share by which it must reduce the errors of guessing the larger group each time (Goodman and
/// Kruskal's λ).
const LEAST_SPARED: f64 = 0.5;

/// The attributes to name first among equivalent ones.
const FIRST: [&str; 3] = [HOST, "variant", "version"];

const HOST: &str = "host";

/// Returns the properties associated with the groups, the best predictor first: Fisher's exact test of every attribute
/// that differs between instances and has repeated levels.
///
/// `upper` states for each instance whether it is in the upper group. Tested are host, variant, version, session,
/// block, the half of the order of measurement, and all keys of `environment`, `job` and `attributes`.
///
/// Source: Fisher 1935, Freeman & Halton 1951, as [`fisher_exact`]; Benjamini & Hochberg, *JRSS B* 1995;
/// Goodman & Kruskal, *JASA* 1954.
pub(super) fn associations(
    instances: &[&InstanceData],
    upper: &[bool],
    seed: Seed,
) -> Vec<Association> {
    let tested: Vec<(Vec<String>, Vec<String>, PValue)> = partitions(instances)
        .into_iter()
        .filter_map(|(names, levels, numbers)| {
            let seed = seed.split(names.first()?);
            let p_value = fisher_exact(&numbers, upper, seed)?;
            Some((names, levels, p_value))
        })
        .collect();
    let p_values: Vec<PValue> = tested.iter().map(|it| it.2).collect();
    let adjusted = benjamini_hochberg(&p_values);
    let mut found: Vec<Association> = tested
        .into_iter()
        .zip(adjusted)
        .map(|((attributes, levels, p_value), adjusted)| Association {
            attributes,
            levels: counts(&levels, upper),
            p_value: p_value.value(),
            p_adjusted: adjusted.value(),
        })
        .filter(|it| it.p_adjusted <= LEVEL && it.spared() >= LEAST_SPARED)
        .collect();
    found.sort_by(|one, other| {
        let by_spared = other.spared().total_cmp(&one.spared());
        let by_levels = one.levels.len().cmp(&other.levels.len());
        by_spared
            .then(by_levels)
            .then(one.p_value.total_cmp(&other.p_value))
    });
    found
}

impl Association {
    /// Returns the share of the errors of always guessing the larger group that the level avoids: 1 if it determines
    /// the group.
    pub fn spared(&self) -> f64 {
        let sum = |of: fn(&LevelCount) -> usize| -> usize { self.levels.iter().map(of).sum() };
        let mistakes = sum(|it| it.lower).min(sum(|it| it.upper));
        let left = sum(|it| it.lower.min(it.upper));
        if mistakes == 0 {
            return 0.0;
        }
        1.0 - as_f64(left) / as_f64(mistakes)
    }

    /// Returns the levels with most of their instances in the upper group, or else in the lower one.
    pub fn levels_of(&self, group: InstanceGroup) -> impl Iterator<Item = &LevelCount> {
        self.levels.iter().filter(move |it| match group {
            InstanceGroup::Lower => it.lower >= it.upper,
            InstanceGroup::Upper => it.upper > it.lower,
        })
    }
}

/// One of the two groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstanceGroup {
    /// The group with the smaller values.
    Lower,
    /// The group with the larger values.
    Upper,
}

fn counts(levels: &[String], upper: &[bool]) -> Vec<LevelCount> {
    let mut counts: BTreeMap<&str, LevelCount> = BTreeMap::new();
    for (level, upper) in levels.iter().zip(upper) {
        let count = counts.entry(level).or_insert_with(|| LevelCount {
            level: level.clone(),
            lower: 0,
            upper: 0,
        });
        count.lower += usize::from(!upper);
        count.upper += usize::from(*upper);
    }
    counts.into_values().collect()
}

/// Equivalent attributes, the level of each instance by the first of them, and the number of levels.
type Partition = (Vec<String>, Vec<String>, Vec<usize>);

/// Returns every split of the instances by an attribute with repeated levels.
fn partitions(instances: &[&InstanceData]) -> Vec<Partition> {
    let mut columns: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (at, instance) in instances.iter().enumerate() {
        for (name, level) in attributes(instance) {
            let column = columns.entry(name).or_default();
            // A missing value is a level of its own.
            column.resize(at, String::new());
            column.push(level);
        }
    }
    columns.insert("order of measuring".to_owned(), halves(instances));
    let rank = |name: &str| FIRST.iter().position(|first| *first == name);
    let mut columns: Vec<(String, Vec<String>)> = columns.into_iter().collect();
    columns.sort_by_key(|(name, _)| rank(name).unwrap_or(FIRST.len()));
    let mut partitions: BTreeMap<Vec<usize>, (Vec<String>, Vec<String>)> = BTreeMap::new();
    for (name, mut levels) in columns {
        levels.resize(instances.len(), String::new());
        let numbers = numbers(&levels);
        let count = numbers.iter().max().map_or(0, |most| most + 1);
        if count < 2 || count * 2 > instances.len() {
            continue;
        }
        let (names, kept) = partitions.entry(numbers).or_default();
        if names.is_empty() {
            *kept = levels;
        }
        names.push(name);
    }
    partitions
        .into_iter()
        .map(|(numbers, (names, levels))| (names, levels, numbers))
        .collect()
}

/// Returns levels as numbers in order of appearance.
fn numbers(levels: &[String]) -> Vec<usize> {
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    levels
        .iter()
        .map(|level| {
            let next = known.len();
            *known.entry(level).or_insert(next)
        })
        .collect()
}

/// Returns the half of its session in which each instance was measured.
fn halves(instances: &[&InstanceData]) -> Vec<String> {
    let mut order: Vec<usize> = (0..instances.len()).collect();
    order.sort_by_key(|&at| {
        let InstanceData {
            session, instance, ..
        } = instances[at];
        let start = (session.started, session.id);
        (start, instance.position, instance.attempt)
    });
    let mut halves = vec!["second half".to_owned(); instances.len()];
    for at in &order[..instances.len() / 2] {
        "first half".clone_into(&mut halves[*at]);
    }
    halves
}

/// Returns all properties that may differ between instances.
fn attributes(it: &InstanceData) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let mut put = |name: &str, level: String| {
        all.insert(name.to_owned(), level);
    };
    if let Some(host) = &it.instance.host {
        put(HOST, host.clone());
    }
    put("variant", it.run.variant.clone());
    if let Some(version) = it.run.version.label() {
        put("version", version);
    }
    put("session", it.session.label());
    put("block", it.instance.block.to_string());
    for (name, object) in [
        ("environment", &it.run.environment),
        ("environment", &it.instance.environment),
        ("job", &it.instance.job),
        ("attributes", &it.instance.attributes),
    ] {
        flatten(name, object, &mut all);
    }
    all
}

fn flatten(prefix: &str, object: &Object, all: &mut BTreeMap<String, String>) {
    for (key, value) in object {
        let name = format!("{prefix}.{key}");
        match value {
            Value::Object(inner) => flatten(&name, inner, all),
            Value::String(text) => {
                all.insert(name, text.clone());
            }
            Value::Null => {}
            Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
                all.insert(name, value.to_string());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::clean::tests::instance;
    use lapwing_model::Outcome;

    /// Instances on these hosts, one measured after another.
    fn on(hosts: &[&str]) -> Vec<InstanceData> {
        let one = |(position, host): (usize, &&str)| {
            let mut it = instance(&[(false, Outcome::Ok, 1.0)]);
            it.instance.host = Some((*host).to_owned());
            it.instance.position = u32::try_from(position).expect("few");
            let memory = if *host == "node7" { 32 } else { 64 };
            it.instance
                .environment
                .insert("memory".to_owned(), json!(memory));
            it
        };
        hosts.iter().enumerate().map(one).collect()
    }

    fn found(instances: &[InstanceData], upper: &[bool]) -> Vec<Association> {
        let instances: Vec<&InstanceData> = instances.iter().collect();
        associations(&instances, upper, Seed(7))
    }

    #[test]
    fn the_host_that_is_slow_is_named() {
        let hosts = [
            "node3", "node7", "node4", "node3", "node7", "node7", "node4", "node3", "node4",
            "node7",
        ];
        let upper = hosts.map(|host| host == "node7");
        let found = found(&on(&hosts), &upper);
        let level = |level: &str, lower, upper| LevelCount {
            level: level.to_owned(),
            lower,
            upper,
        };
        let named: Vec<&[String]> = found.iter().map(|it| it.attributes.as_slice()).collect();
        // Two levels of memory split the instances in the same way, with one degree of freedom less.
        assert_eq!(
            named,
            [["environment.memory".to_owned()], ["host".to_owned()]]
        );
        assert_eq!(
            found[1].levels,
            [
                level("node3", 3, 0),
                level("node4", 3, 0),
                level("node7", 0, 4)
            ]
        );
        assert!((found[0].spared() - 1.0).abs() < 1e-12);
        // R 4.2.2: fisher.test(matrix(c(0, 4, 6, 0), 2))$p.value
        assert!((found[0].p_value - 0.004761904761904762).abs() < 1e-12);
    }

    #[test]
    fn what_tells_the_same_is_named_together_and_the_host_first() {
        let hosts = [
            "a", "node7", "a", "node7", "a", "node7", "a", "node7", "a", "a",
        ];
        let found = found(&on(&hosts), &hosts.map(|host| host == "node7"));
        let names: Vec<&str> = found[0].attributes.iter().map(String::as_str).collect();
        assert_eq!(names, ["host", "environment.memory"]);
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn a_shift_in_the_middle_of_a_session_is_noticed() {
        let instances = on(&["a"; 12]);
        let upper: Vec<bool> = (0..12).map(|at| at >= 6).collect();
        let found = found(&instances, &upper);
        let names: Vec<&[String]> = found.iter().map(|it| it.attributes.as_slice()).collect();
        assert_eq!(names, [["order of measuring".to_owned()]]);
    }

    #[test]
    fn names_that_never_repeat_tell_nothing() {
        let mut instances = on(&["a"; 10]);
        for (number, it) in instances.iter_mut().enumerate() {
            it.instance.job.insert("job_id".to_owned(), json!(number));
        }
        let upper: Vec<bool> = (0..10).map(|at| at % 2 == 0).collect();
        assert_eq!(found(&instances, &upper), []);
    }

    #[test]
    fn groups_that_have_no_reason_get_one_in_one_case_of_twenty_at_most() {
        use rand::Rng;
        let mut random = Seed(7).stream("null");
        let mut pick = |count: u32| random.next_u32() % count;
        let (mut false_alarms, repeats) = (0_u32, 200_u32);
        for _ in 0..repeats {
            let mut instances = on(&["a"; 24]);
            for it in &mut instances {
                it.instance.host = Some(format!("node{}", pick(4)));
                for key in ["zone", "kernel", "governor", "microcode", "rack"] {
                    let level = pick(if key.len() > 5 { 3 } else { 2 });
                    it.instance.environment.insert(key.to_owned(), json!(level));
                }
            }
            let upper: Vec<bool> = (0..24).map(|_| pick(2) == 0).collect();
            false_alarms += u32::from(!found(&instances, &upper).is_empty());
        }
        assert!(false_alarms <= repeats / 20, "{false_alarms} of {repeats}");
    }
}
