//! Which instances of a benchmark are looked at together: those of one variant and version.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::model::{Id, Run};
use crate::record::{BenchmarkData, InstanceData, Order, Variants, keep_newest_epoch};

/// Which settings of a benchmark are looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Settings {
    /// Of each variant the latest version.
    #[default]
    Latest,
    /// Each variant and version by itself.
    Each,
    /// All together, as if they were one.
    Pooled,
}

/// A variant and version.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Setting {
    /// The variant, with levels of factors where the name alone does not tell it from others;
    /// `None` where several are pooled.
    pub variant: Option<String>,
    /// The version of the software under test; `None` where it is unknown or several are pooled.
    pub version: Option<String>,
    /// The session, where instances of unknown version stand by themselves.
    pub session: Option<String>,
}

impl Setting {
    /// Returns `fast, 2026.9`; `None` where there is nothing to tell.
    pub fn text(&self) -> Option<String> {
        let variant = self.variant.as_deref();
        let parts: Vec<&str> = variant
            .filter(|it| *it != Run::DEFAULT_VARIANT)
            .into_iter()
            .chain(self.version.as_deref())
            .chain(self.session.as_deref())
            .collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// A part of what was measured of a benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingData {
    /// The setting.
    pub setting: Setting,
    /// The benchmark with the instances of that setting alone.
    pub data: BenchmarkData,
    /// How many older versions of that variant were left out.
    pub older: usize,
    /// How many of its instances were left out because they are of an earlier epoch.
    pub earlier: usize,
}

/// What is told apart: where nobody knows the version, two sessions may have measured different ones.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Version(String),
    Session(Id),
}

/// Returns the settings of a benchmark, by variant, older versions first: versions stand as in its history,
/// by date, and those without a date by the session that measured them.
///
/// Of each only the newest epoch is there: what the benchmark was before is not judged with it.
pub fn settings(data: BenchmarkData, which: Settings) -> Vec<SettingData> {
    let order = Order::of(&data);
    let mut all = told_apart(data, which, &order);
    for setting in &mut all {
        setting.earlier = keep_newest_epoch(&mut setting.data.instances, &order);
    }
    all
}

fn told_apart(data: BenchmarkData, which: Settings, order: &Order) -> Vec<SettingData> {
    if which == Settings::Pooled {
        return vec![pooled(data)];
    }
    let names = Variants::of(&data);
    let BenchmarkData {
        suite,
        benchmark,
        instances,
    } = data;
    let mut variants: BTreeMap<String, BTreeMap<Key, Vec<InstanceData>>> = BTreeMap::new();
    for instance in instances {
        let key = match instance.run.version.label() {
            Some(version) => Key::Version(version),
            None => Key::Session(instance.session.id),
        };
        let name = names.name(&instance.run).to_owned();
        let variant = variants.entry(name).or_default();
        variant.entry(key).or_default().push(instance);
    }
    let mut all = Vec::new();
    for (variant, versions) in variants {
        let mut versions = in_order(versions, order);
        let mut older = 0;
        if which == Settings::Latest
            && let Some(latest) = versions.last().map(|it| it.0)
        {
            // Undated versions of one session are equally late: all of them stay.
            let kept = versions.partition_point(|it| it.0 < latest);
            older = kept;
            versions.drain(..kept);
        }
        let several_sessions = versions
            .iter()
            .filter(|it| matches!(it.1, Key::Session(_)))
            .count()
            > 1;
        for (_, key, instances) in versions {
            let session = instances.first().map(session_name);
            let (version, session) = match key {
                Key::Version(version) => (Some(version), None),
                Key::Session(_) => (None, session.filter(|_| several_sessions)),
            };
            all.push(SettingData {
                setting: Setting {
                    variant: Some(variant.clone()),
                    version,
                    session,
                },
                data: BenchmarkData {
                    suite: suite.clone(),
                    benchmark: benchmark.clone(),
                    instances,
                },
                older: std::mem::take(&mut older),
                earlier: 0,
            });
        }
    }
    all
}

fn session_name(instance: &InstanceData) -> String {
    let session = &instance.session;
    let id = || session.id.to_string();
    session.name.clone().unwrap_or_else(id)
}

type When = (Option<Timestamp>, Timestamp);

/// Orders versions by the latest place that they have in the history of the benchmark.
fn in_order(
    versions: BTreeMap<Key, Vec<InstanceData>>,
    order: &Order,
) -> Vec<(When, Key, Vec<InstanceData>)> {
    let when = |it: &InstanceData| {
        let place = order.place(&it.run.id)?;
        Some((place.version_date, place.started))
    };
    let mut versions: Vec<(When, Key, Vec<InstanceData>)> = versions
        .into_iter()
        .map(|(key, instances)| {
            let latest = instances.iter().filter_map(when).max();
            (latest.unwrap_or_default(), key, instances)
        })
        .collect();
    versions.sort_by_key(|it| it.0);
    versions
}

fn pooled(data: BenchmarkData) -> SettingData {
    let only = |of: &dyn Fn(&InstanceData) -> Option<String>| {
        let first = data.instances.first().and_then(of);
        let is_only = data.instances.iter().all(|it| of(it) == first);
        first.filter(|_| is_only)
    };
    SettingData {
        setting: Setting {
            variant: only(&|it| Some(it.run.variant.clone())),
            version: only(&|it| it.run.version.label()),
            session: None,
        },
        data,
        older: 0,
        earlier: 0,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::clean::tests::instance;
    use crate::model::{Benchmark, Outcome};

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

    fn texts(instances: Vec<InstanceData>, which: Settings) -> Vec<(Option<String>, usize, usize)> {
        let data = BenchmarkData {
            suite: "s".to_owned(),
            benchmark: Benchmark::default(),
            instances,
        };
        settings(data, which)
            .into_iter()
            .map(|it| (it.setting.text(), it.data.instances.len(), it.older))
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
            texts(instances.clone(), Settings::Latest),
            [(text("2.0"), 1, 1), (text("fast, 1.0"), 2, 0)]
        );
        assert_eq!(
            texts(instances.clone(), Settings::Each),
            [
                (text("1.0"), 1, 0),
                (text("2.0"), 1, 0),
                (text("fast, 1.0"), 2, 0)
            ]
        );
        assert_eq!(texts(instances, Settings::Pooled), [(None, 4, 0)]);
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
        for which in [Settings::Latest, Settings::Each, Settings::Pooled] {
            let found = settings(data.clone(), which);
            let counts: Vec<(usize, usize)> = found
                .iter()
                .map(|it| (it.data.instances.len(), it.earlier))
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
        assert_eq!(names(Settings::Each), "undated 1 2 3");
        assert_eq!(names(Settings::Latest), "3");
    }

    #[test]
    fn sessions_of_unknown_versions_stand_by_themselves() {
        let instances = vec![
            measured("default", None, None, 1),
            measured("default", None, None, 2),
            measured("default", None, None, 2),
        ];
        assert_eq!(texts(instances.clone(), Settings::Latest), [(None, 2, 1)]);
        assert_eq!(
            texts(instances, Settings::Each),
            [
                (Some("day 1".to_owned()), 1, 0),
                (Some("day 2".to_owned()), 2, 0)
            ]
        );
    }
}
