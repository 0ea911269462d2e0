//! Settings: the properties that distinguish runs.

use std::collections::{BTreeMap, BTreeSet};

use super::BenchmarkData;
use lapwing_model::{Id, Levels, Run};

/// A variant, its levels of factors, a version and a session; properties that do not distinguish a setting from the
/// others in the analysis are `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Setting {
    /// The variant; `None` if several are analysed as one, or all settings have the same.
    pub variant: Option<String>,
    /// The levels of factors that distinguish it from others of its variant.
    pub levels: Levels,
    /// The version of the software under test.
    pub version: Option<String>,
    /// The session, if versions are unknown and sessions distinguish settings instead.
    pub session: Option<String>,
}

impl Setting {
    /// Returns `fast threads=4, 2026.9`; `None` if nothing distinguishes it.
    ///
    /// The default variant is not named, as nothing was varied.
    pub fn text(&self) -> Option<String> {
        let variant = self.variant_name();
        let parts: Vec<String> = variant
            .filter(|name| *name != Run::DEFAULT_VARIANT)
            .into_iter()
            .chain(self.version.clone())
            .chain(self.session.clone())
            .collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    /// Returns the variant with its levels: `default`, `threads=4`, `fast threads=4`.
    pub fn variant_name(&self) -> Option<String> {
        let levels = || levels_text(&self.levels);
        match &self.variant {
            None if self.levels.is_empty() => None,
            None => Some(levels()),
            Some(variant) if self.levels.is_empty() => Some(variant.clone()),
            Some(variant) if variant == Run::DEFAULT_VARIANT => Some(levels()),
            Some(variant) => Some(format!("{variant} {}", levels())),
        }
    }
}

/// Returns `threads=4 size=9`.
pub fn levels_text(levels: &Levels) -> String {
    level_texts(levels).join(" ")
}

fn level_texts(levels: &Levels) -> Vec<String> {
    let levels = levels.iter();
    levels
        .map(|(factor, level)| format!("{factor}={level}"))
        .collect()
}

/// Returns the setting of each run that distinguishes it from other variants: its variant and, if there are runs of
/// that variant with other levels, those levels that differ among them.
pub(crate) fn variant_settings<'r>(
    runs: impl IntoIterator<Item = &'r Run>,
) -> BTreeMap<Id, Setting> {
    let mut variants: BTreeMap<&str, BTreeMap<Id, Levels>> = BTreeMap::new();
    for run in runs {
        let of_variant = variants.entry(&run.variant).or_default();
        of_variant.entry(run.id).or_insert_with(|| run.levels());
    }
    let mut settings = BTreeMap::new();
    for (variant, mut runs) in variants {
        keep_telling(&mut runs);
        for (run, levels) in runs {
            let setting = Setting {
                variant: Some(variant.to_owned()),
                levels,
                ..Setting::default()
            };
            settings.insert(run, setting);
        }
    }
    settings
}

/// The names of the variants of a benchmark: with levels of factors if the name alone does not distinguish them.
#[derive(Debug, Default)]
pub struct VariantNames(BTreeMap<Id, String>);

impl VariantNames {
    /// Returns the names in a benchmark.
    pub fn of(data: &BenchmarkData) -> Self {
        let runs = data.instances.iter().map(|instance| instance.run.as_ref());
        let settings = variant_settings(runs).into_iter();
        let names = settings.filter_map(|(run, setting)| Some((run, setting.variant_name()?)));
        Self(names.collect())
    }

    /// Returns the name of the variant of a run.
    pub fn name<'a>(&'a self, run: &'a Run) -> &'a str {
        self.0.get(&run.id).unwrap_or(&run.variant)
    }
}

/// Keeps the levels of those factors that have different levels among the runs.
fn keep_telling(runs: &mut BTreeMap<Id, Levels>) {
    let mut factors: BTreeSet<&str> = BTreeSet::new();
    let mut before: Option<&Levels> = None;
    for levels in runs.values() {
        // Thousands of runs have the same factors.
        if before.is_none_or(|before| !before.keys().eq(levels.keys())) {
            factors.extend(levels.keys().map(String::as_str));
        }
        before = Some(levels);
    }
    let is_same = |factor: &&str| {
        let mut levels = runs.values().map(|levels| levels.get(*factor));
        let first = levels.next();
        levels.all(|level| Some(level) == first)
    };
    let same: Vec<String> = (factors.into_iter().filter(is_same))
        .map(str::to_owned)
        .collect();
    for levels in runs.values_mut() {
        for factor in &same {
            levels.remove(factor);
        }
    }
}

/// Returns whether a run of a variant with these levels is meant by the name of a setting, as
/// reports have it: `fast threads=4`. Levels alone are those of any variant, and not all have to be named.
pub(super) fn is_setting_named(text: &str, variant: &str, levels: &Levels) -> bool {
    let named = text.strip_prefix(variant);
    let named = named.and_then(|rest| rest.strip_prefix(' '));
    named.is_some_and(|rest| has_levels(rest, levels)) || has_levels(text, levels)
}

/// Returns whether a text is made of one of the levels or more.
fn has_levels(text: &str, levels: &Levels) -> bool {
    let mut levels = level_texts(levels);
    let mut rest = text;
    while !rest.is_empty() {
        // A level may have blanks in it, and begin as another one does.
        let is_next = |level: &String| {
            let after = rest.strip_prefix(level.as_str());
            after.is_some_and(|it| it.is_empty() || it.starts_with(' '))
        };
        let Some(at) = levels.iter().position(is_next) else {
            return false;
        };
        rest = rest[levels.swap_remove(at).len()..].trim_start();
    }
    !text.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clean::tests::instance;
    use lapwing_model::Level;

    fn names(runs: &[(&str, &[(&str, i64)])]) -> Vec<String> {
        let runs: Vec<Run> = runs
            .iter()
            .zip(0_u8..)
            .map(|((variant, levels), number)| Run {
                id: Id::derived(&[&[number]]),
                variant: (*variant).to_owned(),
                factors: levels
                    .iter()
                    .map(|(name, level)| ((*name).to_owned(), Level::Integer(*level)))
                    .collect(),
                ..Run::clone(&instance(&[]).run)
            })
            .collect();
        let settings = variant_settings(&runs);
        let names = runs.iter().map(|run| settings[&run.id].variant_name());
        names.map(|name| name.expect("a variant")).collect()
    }

    #[test]
    fn levels_are_told_where_the_name_of_the_variant_does_not_tell_them() {
        let told = [("fast", &[("threads", 4)][..]), ("slow", &[("threads", 1)])];
        assert_eq!(names(&told), ["fast", "slow"]);
        let levels = [
            ("default", &[("size", 9), ("threads", 1)][..]),
            ("default", &[("size", 9), ("threads", 2)]),
            ("default", &[]),
            ("fast", &[("threads", 1)]),
        ];
        assert_eq!(
            names(&levels),
            ["size=9 threads=1", "size=9 threads=2", "default", "fast"]
        );
        let fast = [("fast", &[("threads", 1)][..]), ("fast", &[("threads", 2)])];
        assert_eq!(names(&fast), ["fast threads=1", "fast threads=2"]);
    }

    #[test]
    fn a_setting_is_meant_by_its_name_or_by_levels() {
        let levels = Levels::from([
            ("method".to_owned(), "hash join".to_owned()),
            ("threads".to_owned(), "4".to_owned()),
        ]);
        let is_it = |text: &str| is_setting_named(text, "fast", &levels);
        for text in [
            "fast threads=4",
            "fast method=hash join threads=4",
            "threads=4 method=hash join",
            "threads=4",
        ] {
            assert!(is_it(text), "{text}");
        }
        for text in [
            "fast",
            "",
            "slow threads=4",
            "threads=40",
            "threads=4 threads=4",
            "fast threads=1",
            "threads=4 fast",
        ] {
            assert!(!is_it(text), "{text}");
        }
    }
}
