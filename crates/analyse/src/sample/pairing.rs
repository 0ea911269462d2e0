//! Pairs: the settings of two sides that belong together, if a side has several of a benchmark.
//!
//! A run is one setting. Runs of a side that have the same variant and different levels of factors are therefore never
//! analysed as one sample, and each of them is compared with the matching setting of the other side.

use std::collections::BTreeSet;

use super::Sample;
use super::setting::is_setting_named;
use lapwing_model::Levels;

/// The variants and levels of one setting of a side.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SideSetting {
    /// The levels that distinguish it from the other settings of its side; empty if there are none.
    pub telling: Levels,
    /// The levels common to all of its runs.
    pub levels: Levels,
    /// The variants of its runs.
    pub variants: BTreeSet<String>,
}

impl SideSetting {
    /// Returns the variants and levels of a sample.
    pub fn of(sample: &Sample<'_>) -> Self {
        let mut runs = sample.instances.iter().map(|instance| &instance.run);
        let mut seen = BTreeSet::new();
        let mut setting = Self {
            telling: sample.setting.levels.clone(),
            levels: runs
                .clone()
                .next()
                .map(|run| run.levels())
                .unwrap_or_default(),
            variants: BTreeSet::new(),
        };
        for run in runs.by_ref().filter(|run| seen.insert(run.id)) {
            setting.variants.insert(run.variant.clone());
            let levels = run.levels();
            setting
                .levels
                .retain(|factor, level| levels.get(factor) == Some(level));
        }
        setting
    }

    /// Returns whether its runs have this name in a history: `fast`, `fast threads=4`.
    pub fn is_of(&self, variant_name: &str) -> bool {
        self.variants.iter().any(|variant| {
            variant == variant_name || is_setting_named(variant_name, variant, &self.levels)
        })
    }
}

/// Settings of two sides that belong together, by index.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingPair {
    /// The baseline's and the candidate's; `None` if that side has no matching one.
    pub places: [Option<usize>; 2],
    /// The levels that distinguish this pair from the others.
    pub levels: Levels,
    /// Whether one of the two is in other pairs as well.
    pub is_shared: bool,
}

/// Returns the pairs of settings of a baseline and a candidate to compare.
///
/// A factor that both sides know and that has several levels on one of them has the same level in both settings of a
/// pair. A factor that a side does not know distinguishes settings of the other side, each of which is compared with
/// the same setting. The same applies if the sides are different variants, one of them has a single setting, and none
/// of its levels is one of the other's: its levels define that variant. A setting without a match on the other side is
/// a pair of its own.
pub fn pair_settings(sides: [&[SideSetting]; 2]) -> Vec<SettingPair> {
    let [baseline, candidate] = sides;
    let telling: BTreeSet<&String> = baseline
        .iter()
        .chain(candidate)
        .flat_map(|it| it.telling.keys())
        .collect();
    let fits = |one: &SideSetting, other: &SideSetting| {
        is_contrast(sides, &telling) || have_same_levels([one, other], sides, &telling)
    };
    let mut pairs: Vec<[Option<usize>; 2]> = Vec::new();
    for (at, one) in baseline.iter().enumerate() {
        let fitting = (0..candidate.len()).filter(|other| fits(one, &candidate[*other]));
        pairs.extend(fitting.map(|other| [Some(at), Some(other)]));
    }
    let alone = |side: usize, count: usize| -> Vec<usize> {
        let is_paired = |at: usize| pairs.iter().any(|pair| pair[side] == Some(at));
        (0..count).filter(|at| !is_paired(*at)).collect()
    };
    let [of_baseline, of_candidate] = [alone(0, baseline.len()), alone(1, candidate.len())];
    pairs.extend(of_baseline.into_iter().map(|at| [Some(at), None]));
    pairs.extend(of_candidate.into_iter().map(|at| [None, Some(at)]));
    let is_shared = |pair: &[Option<usize>; 2]| {
        (0..2).any(|side| {
            let same = pairs.iter().filter(|other| other[side] == pair[side]);
            pair[side].is_some() && same.count() > 1
        })
    };
    pairs
        .iter()
        .map(|pair| SettingPair {
            places: *pair,
            levels: pair_levels(*pair, sides, &telling),
            is_shared: is_shared(pair),
        })
        .collect()
}

/// Returns whether the sides are different variants, one of which has a single setting with levels of its own.
fn is_contrast(sides: [&[SideSetting]; 2], telling: &BTreeSet<&String>) -> bool {
    let variants = sides
        .map(|side| -> BTreeSet<&String> { side.iter().flat_map(|it| &it.variants).collect() });
    let is_single = sides.iter().any(|side| side.len() == 1);
    let levels = |side: usize, factor: &String| -> BTreeSet<&String> {
        let settings = sides[side].iter();
        settings.filter_map(|it| it.levels.get(factor)).collect()
    };
    // For a level that both have, the same setting may just be missing on one side.
    let shares_a_level = |factor: &&String| !levels(0, factor).is_disjoint(&levels(1, factor));
    is_single && variants[0].is_disjoint(&variants[1]) && !telling.iter().any(shares_a_level)
}

/// Returns whether a setting of each side has the same levels, as far as both sides know them, and one of them has no
/// other distinguishing level.
fn have_same_levels(
    pair: [&SideSetting; 2],
    sides: [&[SideSetting]; 2],
    telling: &BTreeSet<&String>,
) -> bool {
    let knows = |side: usize, factor: &String| {
        let mut settings = sides[side].iter();
        settings.any(|it| it.levels.contains_key(factor))
    };
    let mut has_more = [false; 2];
    for factor in telling {
        let [one, other] = pair.map(|it| it.levels.get(*factor));
        if !knows(0, factor) {
            has_more[1] |= other.is_some();
        } else if !knows(1, factor) {
            has_more[0] |= one.is_some();
        } else if one != other {
            return false;
        }
    }
    has_more != [true, true]
}

/// Returns the levels that distinguish a pair from the others. The only setting of a side has no distinguishing
/// levels; for one without a match, every distinguishing level is returned.
fn pair_levels(
    pair: [Option<usize>; 2],
    sides: [&[SideSetting]; 2],
    telling: &BTreeSet<&String>,
) -> Levels {
    let settings = [0, 1].map(|side| pair[side].and_then(|at| sides[side].get(at)));
    let is_alone = settings.iter().any(Option::is_none);
    let mut levels = Levels::new();
    for (setting, side) in settings.into_iter().zip(sides) {
        let Some(setting) = setting else { continue };
        for factor in telling {
            let tells = is_alone || side.iter().any(|it| it.telling.contains_key(*factor));
            if let Some(level) = setting.levels.get(*factor).filter(|_| tells) {
                levels.insert((*factor).clone(), level.clone());
            }
        }
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One choice of levels, by factor.
    type Choice<'a> = &'a [(&'a str, &'a str)];

    fn levels(choice: Choice) -> Levels {
        let levels = choice.iter();
        levels
            .map(|(factor, level)| ((*factor).to_owned(), (*level).to_owned()))
            .collect()
    }

    /// Returns the settings of a side whose runs are of a variant and have these levels.
    fn side(variant: &str, choices: &[Choice]) -> Vec<SideSetting> {
        let all: Vec<Levels> = choices.iter().map(|it| levels(it)).collect();
        let differs = |factor: &String| {
            let first = all.first().and_then(|it| it.get(factor));
            all.iter().any(|it| it.get(factor) != first)
        };
        let setting = |levels: &Levels| SideSetting {
            telling: levels
                .iter()
                .filter(|(factor, _)| differs(factor))
                .map(|(factor, level)| (factor.clone(), level.clone()))
                .collect(),
            levels: levels.clone(),
            variants: BTreeSet::from([variant.to_owned()]),
        };
        all.iter().map(setting).collect()
    }

    /// Returns `0-1 threads=4` for the baseline's first setting with the candidate's second one, followed by `*` if
    /// one of them is shared.
    fn pairs(baseline: &[SideSetting], candidate: &[SideSetting]) -> Vec<String> {
        let number = |at: Option<usize>| at.map_or_else(|| "–".to_owned(), |at| at.to_string());
        let text = |it: &SettingPair| {
            let [baseline, candidate] = it.places.map(number);
            let shared = if it.is_shared { "*" } else { "" };
            let levels = crate::sample::levels_text(&it.levels);
            format!("{baseline}-{candidate} {levels}{shared}")
        };
        pair_settings([baseline, candidate])
            .iter()
            .map(text)
            .collect()
    }

    const ONE: Choice = &[("threads", "1")];
    const FOUR: Choice = &[("threads", "4")];

    #[test]
    fn a_setting_a_side_is_a_pair_whatever_its_levels() {
        let one = side("fast", &[ONE]);
        assert_eq!(pairs(&one, &side("fast", &[FOUR])), ["0-0 "]);
        assert_eq!(pairs(&one, &side("slow", &[&[]])), ["0-0 "]);
        assert_eq!(pairs(&one, &[]), ["0-– "]);
        assert_eq!(pairs(&[], &one), ["–-0 "]);
        assert!(pairs(&[], &[]).is_empty());
    }

    #[test]
    fn settings_of_one_variant_are_paired_by_their_levels() {
        let both = side("fast", &[ONE, FOUR]);
        let with_more = side("fast", &[FOUR, ONE, &[("threads", "8")]]);
        assert_eq!(
            pairs(&both, &with_more),
            ["0-1 threads=1", "1-0 threads=4", "–-2 threads=8"]
        );
        assert_eq!(
            pairs(&side("fast", &[ONE]), &both),
            ["0-0 threads=1", "–-1 threads=4"]
        );
        let none_of_them = side("fast", &[&[("threads", "2")]]);
        assert_eq!(
            pairs(&none_of_them, &both),
            ["0-– threads=2", "–-0 threads=1", "–-1 threads=4"]
        );
        assert_eq!(pairs(&[], &both), ["–-0 threads=1", "–-1 threads=4"]);
    }

    #[test]
    fn a_side_that_does_not_know_a_factor_is_compared_with_each_of_its_levels() {
        let both = side("fast", &[ONE, FOUR]);
        let without = side("fast", &[&[("size", "9")]]);
        assert_eq!(pairs(&without, &both), ["0-0 threads=1*", "0-1 threads=4*"]);
        let finer = side(
            "fast",
            &[
                &[("prefetch", "0"), ("threads", "1")],
                &[("prefetch", "9"), ("threads", "1")],
                &[("prefetch", "0"), ("threads", "4")],
            ],
        );
        assert_eq!(
            pairs(&both, &finer),
            [
                "0-0 prefetch=0 threads=1*",
                "0-1 prefetch=9 threads=1*",
                "1-2 prefetch=0 threads=4"
            ]
        );
    }

    #[test]
    fn the_single_setting_of_a_variant_is_compared_with_each_of_another_variant() {
        let baseline = side("baseline", &[&[("threads", "2"), ("size", "9")]]);
        let fast = side("fast", &[ONE, FOUR, &[]]);
        assert_eq!(
            pairs(&baseline, &fast),
            ["0-0 threads=1*", "0-1 threads=4*", "0-2 *"]
        );
        assert_eq!(
            pairs(&fast, &baseline),
            ["0-0 threads=1*", "1-0 threads=4*", "2-0 *"]
        );
    }

    #[test]
    fn a_level_that_two_variants_share_is_what_they_are_compared_at() {
        let baseline = side("baseline", &[&[("threads", "1"), ("size", "9")]]);
        let fast = side("fast", &[ONE, FOUR]);
        assert_eq!(pairs(&baseline, &fast), ["0-0 threads=1", "–-1 threads=4"]);
        assert_eq!(pairs(&fast, &baseline), ["0-0 threads=1", "1-– threads=4"]);
    }

    #[test]
    fn several_settings_of_two_variants_are_paired_by_the_levels_that_both_have() {
        let baseline = side("baseline", &[ONE, FOUR]);
        assert_eq!(
            pairs(&baseline, &side("fast", &[FOUR, &[("threads", "8")]])),
            ["1-0 threads=4", "0-– threads=1", "–-1 threads=8"]
        );
        // One side has no level of threads, and the other none of prefetching.
        let other = side("fast", &[&[("prefetch", "0")], &[("prefetch", "9")]]);
        assert_eq!(
            pairs(&baseline, &other),
            [
                "0-– threads=1",
                "1-– threads=4",
                "–-0 prefetch=0",
                "–-1 prefetch=9"
            ]
        );
        let known = side(
            "fast",
            &[
                &[("prefetch", "0"), ("threads", "4")],
                &[("prefetch", "9"), ("threads", "4")],
            ],
        );
        assert_eq!(
            pairs(&baseline, &known),
            [
                "1-0 prefetch=0 threads=4*",
                "1-1 prefetch=9 threads=4*",
                "0-– threads=1"
            ]
        );
    }

    #[test]
    fn a_setting_without_the_level_that_others_have_is_one_of_its_own() {
        let some = side("fast", &[&[], FOUR]);
        assert_eq!(pairs(&some, &some), ["0-0 ", "1-1 threads=4"]);
    }
}
