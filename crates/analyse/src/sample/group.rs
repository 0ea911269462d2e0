//! Samples: the instances of a benchmark that are analysed together.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::epoch::keep_newest_epoch;
use super::setting::variant_settings;
use super::{BenchmarkData, History, Setting};
use lapwing_model::{Benchmark, Id};
use lapwing_record::InstanceData;

/// The instances of a benchmark that are analysed together.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample<'d> {
    /// The benchmark's suite.
    pub suite: &'d str,
    /// The benchmark.
    pub benchmark: &'d Benchmark,
    /// Its place in a comparison; otherwise the default.
    pub place: SidePlace,
    /// The setting that distinguishes it from the other samples.
    pub setting: Setting,
    /// The instances in order of time.
    pub instances: Vec<&'d InstanceData>,
    /// Number of excluded older versions of its variant.
    pub older_versions: usize,
    /// Number of instances excluded because they are of an earlier epoch.
    pub earlier_epoch: usize,
}

/// The grouping of a benchmark's instances into samples.
#[derive(Clone, Copy)]
pub enum GroupBy<'a> {
    /// By variant, levels of factors and version.
    Setting(SettingChoice),
    /// By variant and levels of factors, with all versions together.
    Variant,
    /// By the places that this function returns for an instance: none, one, or, for a baseline, one per group of
    /// candidates. Each place is split by levels of factors.
    Side(&'a dyn Fn(&InstanceData) -> Vec<SidePlace>),
}

/// The settings of a benchmark to analyse.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SettingChoice {
    /// The latest version of each variant.
    #[default]
    Latest,
    /// Each variant and version separately.
    Each,
    /// All settings together, as one sample.
    Pooled,
    /// All variants together, each version, platform and version of Python separately, as Hail's notebook has it.
    AsHail,
}

/// The place of an instance in a comparison.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SidePlace {
    /// The number of its group: a candidate is compared with the baseline of the candidate's group. Candidates are in
    /// several groups if their settings are distinguished in different ways.
    pub group: usize,
    /// The variant, if it distinguishes the instance from others of its side.
    pub variant: Option<String>,
    /// The version, if it does.
    pub version: Option<String>,
    /// The number of its side, the baseline first.
    pub side: usize,
}

/// Returns the samples of a benchmark: by variant with older versions first, or in order of their places.
///
/// Each sample contains only its newest epoch: results of an earlier meaning of the benchmark are not analysed with it.
pub fn samples<'d>(data: &'d BenchmarkData, by: GroupBy<'_>) -> Vec<Sample<'d>> {
    let history = History::of(data);
    let mut samples = match by {
        GroupBy::Setting(SettingChoice::Pooled) => {
            vec![pooled(data, data.instances.iter().collect())]
        }
        GroupBy::Setting(SettingChoice::AsHail) => as_hail(data),
        GroupBy::Setting(SettingChoice::Each) => by_setting(data, &history),
        GroupBy::Setting(SettingChoice::Latest) => latest(by_setting(data, &history), &history),
        GroupBy::Variant => by_variant(data),
        GroupBy::Side(places_of) => by_side(data, places_of),
    };
    for sample in &mut samples {
        sample.earlier_epoch = keep_newest_epoch(&mut sample.instances, &history);
    }
    samples
}

impl<'d> Sample<'d> {
    /// Returns the sample of all instances of a benchmark, of any epoch.
    pub fn of_all(data: &'d BenchmarkData) -> Self {
        Self::new(data, Setting::default(), data.instances.iter().collect())
    }

    /// Returns the sample of all instances of a benchmark in its newest epoch.
    pub fn of_newest_epoch(data: &'d BenchmarkData) -> Self {
        let mut sample = Self::of_all(data);
        sample.earlier_epoch = keep_newest_epoch(&mut sample.instances, &History::of(data));
        sample
    }

    fn new(data: &'d BenchmarkData, setting: Setting, instances: Vec<&'d InstanceData>) -> Self {
        Self {
            suite: &data.suite,
            benchmark: &data.benchmark,
            place: SidePlace::default(),
            setting,
            instances,
            older_versions: 0,
            earlier_epoch: 0,
        }
    }
}

fn settings_of<'i>(instances: impl IntoIterator<Item = &'i InstanceData>) -> BTreeMap<Id, Setting> {
    variant_settings(instances.into_iter().map(|instance| instance.run.as_ref()))
}

/// The version of the software in a setting: if it is unknown, two sessions may have measured different ones.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum VersionKey {
    Version(String),
    Session(Id),
}

impl VersionKey {
    fn of(instance: &InstanceData) -> Self {
        match instance.run.version.label() {
            Some(version) => Self::Version(version),
            None => Self::Session(instance.session.id),
        }
    }
}

/// Groups by variant, levels and version, by variant and older versions first: versions are in the order of the
/// benchmark's history, by date, and those without a date by the session that measured them.
fn by_setting<'d>(data: &'d BenchmarkData, history: &History) -> Vec<Sample<'d>> {
    let settings = settings_of(&data.instances);
    let mut variants: BTreeMap<String, BTreeMap<VersionKey, Vec<&InstanceData>>> = BTreeMap::new();
    for instance in &data.instances {
        let setting = settings.get(&instance.run.id);
        let variant = setting.and_then(Setting::variant_name).unwrap_or_default();
        let versions = variants.entry(variant).or_default();
        let key = VersionKey::of(instance);
        versions.entry(key).or_default().push(instance);
    }
    let mut samples = Vec::new();
    for versions in variants.into_values() {
        let sessions = versions.keys();
        let sessions = sessions.filter(|key| matches!(key, VersionKey::Session(_)));
        let several_sessions = sessions.count() > 1;
        let mut versions: Vec<_> = versions.into_iter().collect();
        versions.sort_by_key(|(_, instances)| latest_moment(instances, history));
        for (key, instances) in versions {
            let Some(first) = instances.first() else {
                continue;
            };
            let mut setting = settings.get(&first.run.id).cloned().unwrap_or_default();
            match key {
                VersionKey::Version(version) => setting.version = Some(version),
                VersionKey::Session(_) if several_sessions => {
                    setting.session = Some(first.session.label());
                }
                VersionKey::Session(_) => {}
            }
            samples.push(Sample::new(data, setting, instances));
        }
    }
    samples
}

fn by_variant(data: &BenchmarkData) -> Vec<Sample<'_>> {
    let mut places: BTreeMap<Id, Vec<usize>> = BTreeMap::new();
    for (place, instance) in data.instances.iter().enumerate() {
        places.entry(instance.run.id).or_default().push(place);
    }
    let mut variants: BTreeMap<Setting, Vec<usize>> = BTreeMap::new();
    for (run, setting) in settings_of(&data.instances) {
        let of_run = places.remove(&run).unwrap_or_default();
        variants.entry(setting).or_default().extend(of_run);
    }
    let sample = |(setting, mut places): (Setting, Vec<usize>)| {
        places.sort_unstable();
        let instances = places.iter().map(|place| &data.instances[*place]);
        Sample::new(data, setting, instances.collect())
    };
    variants.into_iter().map(sample).collect()
}

/// Keeps the latest version of each variant. Undated versions of one session are equally late: all of them are kept.
fn latest<'d>(samples: Vec<Sample<'d>>, history: &History) -> Vec<Sample<'d>> {
    let mut kept = Vec::new();
    for variant in samples.chunk_by(|one, other| {
        (&one.setting.variant, &one.setting.levels)
            == (&other.setting.variant, &other.setting.levels)
    }) {
        let moment = |sample: &Sample<'d>| latest_moment(&sample.instances, history);
        let latest = variant.last().map(moment);
        let older = variant.partition_point(|sample| Some(moment(sample)) < latest);
        let mut of_variant = variant[older..].to_vec();
        // A session is only named to distinguish it from another one.
        if let [only] = of_variant.as_mut_slice() {
            only.setting.session = None;
        }
        if let Some(first) = of_variant.first_mut() {
            first.older_versions = older;
        }
        kept.append(&mut of_variant);
    }
    kept
}

/// Returns the latest moment of instances in the history of the benchmark: date of the version, time of measurement.
fn latest_moment(instances: &[&InstanceData], history: &History) -> (Option<Timestamp>, Timestamp) {
    let moment = |instance: &&InstanceData| {
        let position = history.position(&instance.run.id)?;
        Some((position.version_date, position.measured))
    };
    let latest = instances.iter().filter_map(moment).max();
    latest.unwrap_or_default()
}

/// Returns the sample of instances with the variant and version that all of them have.
fn pooled<'d>(data: &'d BenchmarkData, instances: Vec<&'d InstanceData>) -> Sample<'d> {
    let only = |of: &dyn Fn(&InstanceData) -> Option<String>| {
        let first = instances.first().copied().and_then(of);
        let is_only = instances.iter().all(|instance| of(instance) == first);
        first.filter(|_| is_only)
    };
    let setting = Setting {
        variant: only(&|instance| Some(instance.run.variant.clone())),
        version: only(&|instance| instance.run.version.label()),
        ..Setting::default()
    };
    Sample::new(data, setting, instances)
}

/// The parts of the environment that Hail keeps apart, besides the version.
const HAIL_ENVIRONMENT: [&str; 2] = ["platform", "python"];

/// Groups by version, platform and Python. Those parts of the environment that differ distinguish the setting as
/// levels of factors do.
fn as_hail(data: &BenchmarkData) -> Vec<Sample<'_>> {
    let environment = |instance: &InstanceData| {
        HAIL_ENVIRONMENT.map(|name| {
            let value = instance.run.environment.get(name)?;
            let text = value.as_str().map(str::to_owned);
            Some(text.unwrap_or_else(|| value.to_string()))
        })
    };
    let mut groups: BTreeMap<_, Vec<&InstanceData>> = BTreeMap::new();
    for instance in &data.instances {
        let key = (instance.run.version.label(), environment(instance));
        groups.entry(key).or_default().push(instance);
    }
    let differs = [0, 1].map(|at| {
        let values: BTreeSet<_> = groups.keys().map(|(_, parts)| &parts[at]).collect();
        values.len() > 1
    });
    let samples = groups.into_iter().map(|((_, parts), instances)| {
        let mut sample = pooled(data, instances);
        let telling = HAIL_ENVIRONMENT.into_iter().zip(parts).zip(differs);
        sample.setting.levels = telling
            .filter_map(|((name, part), differs)| {
                Some((name.to_owned(), part.filter(|_| differs)?))
            })
            .collect();
        sample
    });
    samples.collect()
}

fn by_side<'d>(
    data: &'d BenchmarkData,
    places_of: &dyn Fn(&InstanceData) -> Vec<SidePlace>,
) -> Vec<Sample<'d>> {
    let mut places: BTreeMap<SidePlace, Vec<&InstanceData>> = BTreeMap::new();
    for instance in &data.instances {
        for place in places_of(instance) {
            places.entry(place).or_default().push(instance);
        }
    }
    let mut samples = Vec::new();
    for (place, instances) in places {
        let settings = settings_of(instances.iter().copied());
        let mut levels: BTreeMap<_, Vec<&InstanceData>> = BTreeMap::new();
        for instance in instances {
            let setting = settings.get(&instance.run.id);
            let of_run = setting.map(|setting| setting.levels.clone());
            let of_levels = levels.entry(of_run.unwrap_or_default());
            of_levels.or_default().push(instance);
        }
        for (levels, instances) in levels {
            let setting = Setting {
                variant: place.variant.clone(),
                levels,
                version: place.version.clone(),
                session: None,
            };
            let mut sample = Sample::new(data, setting, instances);
            sample.place = place.clone();
            samples.push(sample);
        }
    }
    samples
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::clean::tests::instance;
    use lapwing_model::Outcome;

    /// An instance of a variant and version, in the session of a day.
    fn measured(
        variant: &str,
        version: Option<&str>,
        date: Option<&str>,
        day: i64,
    ) -> InstanceData {
        let mut it = instance(&[(false, Outcome::Ok, 1.0)]);
        let run = Arc::make_mut(&mut it.run);
        let version_bytes = version.unwrap_or_default().as_bytes();
        run.id = Id::derived(&[variant.as_bytes(), version_bytes, &day.to_le_bytes()]);
        variant.clone_into(&mut run.variant);
        run.version.name = version.map(str::to_owned);
        run.version.date = date.map(str::to_owned);
        let session = Arc::make_mut(&mut it.session);
        session.id = Id::derived(&[&day.to_le_bytes()]);
        session.name = Some(format!("day {day}"));
        session.started = Timestamp::from_second(86_400 * day).expect("a day");
        it
    }

    fn texts(
        instances: Vec<InstanceData>,
        which: SettingChoice,
    ) -> Vec<(Option<String>, usize, usize)> {
        let data = BenchmarkData {
            suite: "s".to_owned(),
            benchmark: Benchmark::default(),
            instances,
        };
        samples(&data, GroupBy::Setting(which))
            .into_iter()
            .map(|it| (it.setting.text(), it.instances.len(), it.older_versions))
            .collect()
    }

    #[test]
    fn the_latest_version_of_each_variant_is_told_by_its_date() {
        let instances = vec![
            measured("default", Some("2.0"), Some("2026-02-01"), 1),
            measured("default", Some("1.0"), Some("2026-01-01"), 2),
            measured("fast", Some("1.0"), Some("2026-01-01"), 2),
            measured("fast", Some("1.0"), Some("2026-01-01"), 3),
        ];
        let text = |it: &str| Some(it.to_owned());
        assert_eq!(
            texts(instances.clone(), SettingChoice::Latest),
            [(text("2.0"), 1, 1), (text("fast, 1.0"), 2, 0)]
        );
        assert_eq!(
            texts(instances.clone(), SettingChoice::Each),
            [
                (text("1.0"), 1, 0),
                (text("2.0"), 1, 0),
                (text("fast, 1.0"), 2, 0)
            ]
        );
        assert_eq!(texts(instances, SettingChoice::Pooled), [(None, 4, 0)]);
    }

    #[test]
    fn versions_and_pythons_are_kept_apart_as_hail_does() {
        let with_python = |variant, version, python: &str, day| {
            let mut it = measured(variant, Some(version), None, day);
            let environment = &mut Arc::make_mut(&mut it.run).environment;
            environment.insert("python".to_owned(), python.into());
            it
        };
        let instances = vec![
            with_python("default", "1.0", "3.9", 1),
            with_python("default", "1.0", "3.11", 1),
            with_python("default", "1.0", "3.11", 2),
            with_python("default", "2.0", "3.11", 2),
        ];
        let text = |it: &str| Some(it.to_owned());
        assert_eq!(
            texts(instances, SettingChoice::AsHail),
            [
                (text("python=3.11, 1.0"), 2, 0),
                (text("python=3.9, 1.0"), 1, 0),
                (text("python=3.11, 2.0"), 1, 0)
            ]
        );
    }

    #[test]
    fn of_a_version_that_was_measured_before_and_after_a_change_only_the_newest_epoch_is_there() {
        let of = |fingerprint: &str, day| {
            let mut it = measured("default", Some("1.0"), None, day);
            it.instance.benchmark.fingerprint = Some(fingerprint.to_owned());
            it
        };
        let data = BenchmarkData {
            suite: "s".to_owned(),
            benchmark: Benchmark::default(),
            instances: vec![of("a", 1), of("a", 2), of("b", 3)],
        };
        for which in [
            SettingChoice::Latest,
            SettingChoice::Each,
            SettingChoice::Pooled,
        ] {
            let found = samples(&data, GroupBy::Setting(which));
            let counts: Vec<(usize, usize)> = found
                .iter()
                .map(|it| (it.instances.len(), it.earlier_epoch))
                .collect();
            assert_eq!(counts, [(1, 2)]);
        }
    }

    #[test]
    fn a_version_without_a_date_does_not_turn_the_order_of_the_others() {
        let of = |version, date, day| measured("default", Some(version), date, day);
        let instances = vec![
            of("undated", None, 1),
            of("3", Some("2026-01-03"), 2),
            of("1", Some("2026-01-01"), 3),
            of("2", Some("2026-01-02"), 3),
        ];
        let names = |which| {
            let found = texts(instances.clone(), which);
            let names: Vec<String> = found.into_iter().filter_map(|it| it.0).collect();
            names.join(" ")
        };
        assert_eq!(names(SettingChoice::Each), "undated 1 2 3");
        assert_eq!(names(SettingChoice::Latest), "3");
    }

    #[test]
    fn sessions_of_unknown_versions_stand_by_themselves() {
        let instances = vec![
            measured("default", None, None, 1),
            measured("default", None, None, 2),
            measured("default", None, None, 2),
        ];
        assert_eq!(
            texts(instances.clone(), SettingChoice::Latest),
            [(None, 2, 1)]
        );
        assert_eq!(
            texts(instances, SettingChoice::Each),
            [
                (Some("day 1".to_owned()), 1, 0),
                (Some("day 2".to_owned()), 2, 0)
            ]
        );
    }
}
