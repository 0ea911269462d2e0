//! The setting that the model expects to be best.

use std::collections::BTreeSet;

use lapwing_stats::{Confidence, Interval};

use super::{ExplainedStudy, StudyContrast};
use crate::finding::FEWEST_INSTANCES;

/// The number of measured settings from which the best one is looked for.
const STARTS: usize = 5;

/// A setting that is expected to be better than the base.
#[derive(Debug, Clone, PartialEq)]
pub struct Recommendation {
    /// The set of its treatments.
    pub set: u128,
    /// The expected value on the scale, and its interval.
    pub value: (f64, Interval),
    /// The difference from the base.
    pub beside_base: StudyContrast,
    /// The number of instances that were measured of it.
    pub instances: usize,
    /// The next best setting, which differs by one or two factors or is the base.
    pub runner_up: u128,
    /// Whether the settings tell the effects that it rests on from all others: else neither value nor difference is known.
    pub is_told: bool,
}

impl ExplainedStudy<'_> {
    /// Returns the setting with the best expected value among those whose levels were measured together, two at a
    /// time; `None` if nothing is expected to be better than the base.
    ///
    /// Steps that change nothing are left out.
    pub(crate) fn recommended(&self) -> Option<Recommendation> {
        let data = self.data;
        if data.instances.len() < 2 * FEWEST_INSTANCES {
            return None;
        }
        let sign = data.metric.sign(self.scale);
        let together = Together::new(self);
        let cost = |setting: &[usize]| sign * self.model.value(data, setting);
        let base = vec![0; data.factors.len()];
        let measured: BTreeSet<&Vec<usize>> = data.instances.iter().map(|it| &it.levels).collect();
        let costs = measured.into_iter().map(|own| (cost(own), own));
        let mut costs: Vec<(f64, &Vec<usize>)> = costs.collect();
        costs.sort_by(|one, other| one.0.total_cmp(&other.0));
        let starts = costs.into_iter().take(STARTS);
        let mut starts: Vec<Vec<usize>> = starts.map(|(_, own)| own.clone()).collect();
        starts.push(base.clone());
        let ends = starts
            .into_iter()
            .map(|start| self.descend(start, &together));
        let mut best = ends.min_by(|one, other| cost(one).total_cmp(&cost(other)))?;
        // What changes nothing goes back to the base, the least step first.
        loop {
            let steps = (0..best.len()).filter(|at| best[*at] != 0);
            let steps = steps.filter_map(|at| {
                let mut without = best.clone();
                without[at] = 0;
                let step = self.contrast(&self.model.setting_difference(data, &best, &without))?;
                together.allows(&without).then_some((without, step))
            });
            let Some((without, step)) = steps.max_by(|(_, one), (_, other)| {
                (sign * one.change).total_cmp(&(sign * other.change))
            }) else {
                break;
            };
            if self.is_sure(&step) && sign * step.change < 0.0 {
                break;
            }
            best = without;
        }
        let beside_base = self.contrast(&self.model.setting_difference(data, &best, &base))?;
        if best == base || !self.is_sure(&beside_base) || sign * beside_base.change >= 0.0 {
            return None;
        }
        let value = self.model.value(data, &best);
        let fixed: Vec<(usize, usize)> = best.iter().copied().enumerate().collect();
        let expected = self.model.contrast(&self.model.row(data, &fixed))?;
        let interval = expected.interval(self.model.freedom(), Confidence::P95)?;
        let runner_up = self.next_best(&best, &together).unwrap_or(base);
        Some(Recommendation {
            is_told: self.is_told(),
            set: data.set_of(&best),
            value: (value, interval),
            beside_base,
            instances: data.instances.iter().filter(|it| it.levels == best).count(),
            runner_up: data.set_of(&runner_up),
        })
    }

    /// Returns whether nothing that was found could be another effect or interaction.
    fn is_told(&self) -> bool {
        self.aliased().is_empty()
    }

    /// Returns the best setting that differs from another by one or two factors of the model.
    fn next_best(&self, best: &[usize], together: &Together) -> Option<Vec<usize>> {
        let data = self.data;
        let sign = data.metric.sign(self.scale);
        let in_model = (0..best.len()).filter(|at| self.model.has_main(*at));
        let steps: Vec<(usize, usize)> = in_model
            .flat_map(|at| (0..data.factors[at].levels.len()).map(move |level| (at, level)))
            .filter(|(at, level)| best[*at] != *level)
            .collect();
        let with = |changes: &[(usize, usize)]| {
            let mut setting = best.to_vec();
            for (at, level) in changes {
                setting[*at] = *level;
            }
            setting
        };
        let single = steps.iter().map(|step| with(&[*step]));
        let double = steps.iter().enumerate().flat_map(|(place, one)| {
            let others = steps[place + 1..].iter().filter(|other| other.0 != one.0);
            others.map(|other| with(&[*one, *other]))
        });
        let all = single
            .chain(double)
            .filter(|setting| together.allows(setting));
        let costs = all.map(|setting| (sign * self.model.value(data, &setting), setting));
        costs
            .min_by(|one, other| one.0.total_cmp(&other.0))
            .map(|(_, setting)| setting)
    }

    /// Changes one factor at a time as long as that is better.
    fn descend(&self, mut setting: Vec<usize>, together: &Together) -> Vec<usize> {
        let data = self.data;
        let sign = data.metric.sign(self.scale);
        let mut least = sign * self.model.value(data, &setting);
        loop {
            let mut best: Option<(f64, Vec<usize>)> = None;
            for (factor, own) in data.factors.iter().enumerate() {
                for level in (0..own.levels.len()).filter(|it| *it != setting[factor]) {
                    let mut next = setting.clone();
                    next[factor] = level;
                    let cost = sign * self.model.value(data, &next);
                    let limit = best.as_ref().map_or(least - 1e-12 * least.abs(), |it| it.0);
                    if cost < limit && together.allows(&next) {
                        best = Some((cost, next));
                    }
                }
            }
            match best {
                Some((cost, next)) => (least, setting) = (cost, next),
                None => return setting,
            }
        }
    }
}

/// The levels of two factors each that were measured together.
struct Together {
    /// The place of the first level of each factor.
    places: Vec<usize>,
    /// Whether two levels were, by their places.
    pairs: Vec<Vec<bool>>,
    failed: BTreeSet<Vec<usize>>,
}

impl Together {
    fn new(study: &ExplainedStudy<'_>) -> Self {
        let data = study.data;
        let mut places = Vec::new();
        let mut count = 0;
        for factor in &data.factors {
            places.push(count);
            count += factor.levels.len();
        }
        let mut pairs = vec![vec![false; count]; count];
        let settings: BTreeSet<&Vec<usize>> = data.instances.iter().map(|it| &it.levels).collect();
        for setting in settings {
            let own: Vec<usize> = places
                .iter()
                .zip(setting)
                .map(|(place, it)| place + it)
                .collect();
            for one in &own {
                for other in &own {
                    pairs[*one][*other] = true;
                }
            }
        }
        Self {
            places,
            pairs,
            failed: data.failed.iter().map(|set| data.levels_of(*set)).collect(),
        }
    }

    fn allows(&self, setting: &Vec<usize>) -> bool {
        let own = self.places.iter().zip(setting);
        let own: Vec<usize> = own.map(|(place, level)| place + level).collect();
        let mut all = own.iter();
        all.all(|one| own.iter().all(|other| self.pairs[*one][*other]))
            && !self.failed.contains(setting)
    }
}
