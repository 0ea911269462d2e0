//! What is compared with what: the settings of a candidate with those of the baseline.

use std::cmp::Ordering;

use super::compare::{SideSample, Subject};
use super::lots::PlaceSetting;
use super::settings::{SettingSample, matched};
use crate::model::{Metric, natural_order};
use crate::record::{Levels, levels_text};

/// The samples of all sides by one metric of a benchmark.
#[derive(Debug, Clone)]
pub(super) struct Gathered {
    pub metric: Metric,
    /// By what else than levels of factors it is told from others.
    pub setting: PlaceSetting,
    /// Of each side its settings.
    pub sides: Vec<Vec<SettingSample>>,
}

/// One setting of a candidate and the baseline's that belongs to it.
pub(super) struct Pair<'a> {
    /// What is compared, but for levels of factors.
    place: &'a Subject,
    pub subject: Subject,
    pub metric: &'a Metric,
    pub candidate: usize,
    pub names: [&'a str; 2],
    pub sides: [&'a SideSample; 2],
    /// The levels that tell it from other pairs of these sides.
    pub levels: Levels,
    /// Whether one of its sides stands in several pairs.
    pub is_shared: bool,
}

impl Gathered {
    /// Returns every setting of a candidate with the baseline's, and what only one of them has with
    /// `nothing`; not those of which neither has the metric.
    pub fn pairs<'a>(
        &'a self,
        subject: &'a Subject,
        candidate: usize,
        names: &'a [String],
        nothing: &'a SideSample,
    ) -> impl Iterator<Item = Pair<'a>> {
        let sides = [0, candidate].map(|it| self.sides[it].as_slice());
        matched(sides).into_iter().filter_map(move |it| {
            let sample = |side: usize| match it.places[side] {
                Some(place) => &sides[side][place].sample,
                None => nothing,
            };
            let samples = [sample(0), sample(1)];
            let is_measured = samples.iter().any(|it| it.recorded_instances > 0);
            let has_metric = samples.iter().any(|it| has_metric(it));
            (is_measured && has_metric).then(|| Pair {
                place: subject,
                subject: Subject {
                    setting: self.setting.text(&it.levels),
                    ..subject.clone()
                },
                metric: &self.metric,
                candidate,
                names: [&names[0], &names[candidate]],
                sides: samples,
                levels: it.levels,
                is_shared: it.is_shared,
            })
        })
    }
}

/// Whether a side has anything of a metric, were it only that it failed.
fn has_metric(side: &SideSample) -> bool {
    side.has_values || side.has_summary || side.failures > 0
}

impl Pair<'_> {
    /// The order in which comparisons stand: each setting with all of its metrics.
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
