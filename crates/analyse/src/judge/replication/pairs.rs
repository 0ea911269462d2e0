//! Pairs of settings to compare: those of a candidate with those of the baseline.

use std::cmp::Ordering;

use super::super::compare::SideSample;
use super::session_sides::are_of_other_sessions;
use crate::sample::{Setting, SideSetting, Subject, levels_text, pair_settings};
use lapwing_model::{JudgeLimits, Levels, Metric, natural_order};

/// The samples of all sides by one metric of a benchmark.
#[derive(Debug, Clone)]
pub(in crate::judge) struct GatheredSamples {
    pub metric: Metric,
    /// What a suite file says about judging it.
    pub limits: JudgeLimits,
    /// The settings of each side.
    pub sides: Vec<Vec<SideSample>>,
}

/// One setting of a candidate and the matching one of the baseline.
pub(in crate::judge) struct ComparedPair<'a> {
    /// The subject of the comparison, except for levels of factors.
    place: &'a Subject,
    pub subject: Subject,
    pub metric: &'a Metric,
    pub limits: &'a JudgeLimits,
    pub candidate: usize,
    pub names: [&'a str; 2],
    pub sides: [&'a SideSample; 2],
    /// The levels that distinguish it from other pairs of these sides.
    pub levels: Levels,
    /// Whether one of its sides is in several pairs.
    pub is_shared: bool,
}

impl GatheredSamples {
    /// Returns whether a candidate and the baseline are of different sessions.
    pub fn are_of_other_sessions(&self) -> bool {
        let Some((baselines, candidates)) = self.sides.split_first() else {
            return false;
        };
        let candidates = || candidates.iter().flatten();
        let mut pairs = baselines
            .iter()
            .flat_map(|one| candidates().map(move |other| [one, other]));
        pairs.any(are_of_other_sessions)
    }

    /// Returns every setting of a candidate with the baseline's; a setting that only one of them has is paired with
    /// `nothing`. Settings of which neither has the metric are dropped.
    pub fn pairs<'a>(
        &'a self,
        subject: &'a Subject,
        candidate: usize,
        names: &'a [String],
        nothing: &'a SideSample,
    ) -> impl Iterator<Item = ComparedPair<'a>> {
        let sides = [0, candidate].map(|side| self.sides[side].as_slice());
        let settings = sides.map(|side| -> Vec<SideSetting> {
            side.iter().map(|sample| sample.setting.clone()).collect()
        });
        let pairs = pair_settings([&settings[0], &settings[1]]);
        pairs.into_iter().filter_map(move |pair| {
            let sample = |side: usize| match pair.places[side] {
                Some(place) => &sides[side][place],
                None => nothing,
            };
            let samples = [sample(0), sample(1)];
            let is_measured = samples.iter().any(|sample| sample.recorded_instances > 0);
            let has_metric = samples.iter().any(|sample| has_metric(sample));
            (is_measured && has_metric).then(|| ComparedPair {
                place: subject,
                subject: Subject {
                    setting: Setting {
                        levels: pair.levels.clone(),
                        ..subject.setting.clone()
                    },
                    ..subject.clone()
                },
                metric: &self.metric,
                limits: &self.limits,
                candidate,
                names: [&names[0], &names[candidate]],
                sides: samples,
                levels: pair.levels,
                is_shared: pair.is_shared,
            })
        })
    }
}

/// Whether a side has anything of a metric, even if only failures.
fn has_metric(side: &SideSample) -> bool {
    side.has_values || side.has_summary || side.failures > 0
}

impl ComparedPair<'_> {
    /// The order of comparisons: each setting with all of its metrics.
    pub fn in_order(&self, other: &Self) -> Ordering {
        let levels = [self, other].map(|it| levels_text(&it.levels));
        let (place, others) = (self.place, other.place);
        let in_place = (place.suite.cmp(&others.suite))
            .then_with(|| place.benchmark.cmp(&others.benchmark))
            .then_with(|| place.setting.cmp(&others.setting));
        in_place
            .then_with(|| natural_order(&levels[0], &levels[1]))
            .then_with(|| place.metric.cmp(&others.metric))
    }
}
