//! The setting that the model expects to be best.

use std::collections::BTreeSet;

use lapwing_stats::{Confidence, Interval};

use super::{ExplainedStudy, StudyContrast};

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
    /// The next best setting: without the step that gains least.
    pub runner_up: u128,
}

impl ExplainedStudy<'_> {
    /// Returns the setting with the best expected value among those whose levels were measured together, two at a
    /// time; `None` if nothing is expected to be better than the base.
    ///
    /// Steps that change nothing are left out.
    pub(crate) fn recommended(&self) -> Option<Recommendation> {
        let data = self.data;
        let sign = data.metric.sign(self.scale);
        let together = Together::new(self);
        let cost = |setting: &[usize]| sign * self.model.value(data, setting);
        let base = vec![0; data.factors.len()];
        let measured: BTreeSet<&Vec<usize>> = data.instances.iter().map(|it| &it.levels).collect();
        let mut starts: Vec<Vec<usize>> = measured.into_iter().cloned().collect();
        starts.sort_by(|one, other| cost(one).total_cmp(&cost(other)));
        starts.truncate(5);
        starts.push(base.clone());
        let ends = starts
            .into_iter()
            .map(|start| self.descend(start, &together));
        let mut best = ends.min_by(|one, other| cost(one).total_cmp(&cost(other)))?;
        // What changes nothing goes back to the base, the least step first.
        let mut runner_up = base.clone();
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
                runner_up = without;
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
        Some(Recommendation {
            set: data.set_of(&best),
            value: (value, interval),
            beside_base,
            instances: data.instances.iter().filter(|it| it.levels == best).count(),
            runner_up: data.set_of(&runner_up),
        })
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
    pairs: BTreeSet<[(usize, usize); 2]>,
    failed: BTreeSet<Vec<usize>>,
}

impl Together {
    fn new(study: &ExplainedStudy<'_>) -> Self {
        let data = study.data;
        let settings: BTreeSet<&Vec<usize>> = data.instances.iter().map(|it| &it.levels).collect();
        let mut pairs = BTreeSet::new();
        for setting in settings {
            for (one, level) in setting.iter().enumerate() {
                let others = setting.iter().enumerate().skip(one + 1);
                pairs.extend(others.map(|(other, own)| [(one, *level), (other, *own)]));
            }
        }
        Self {
            pairs,
            failed: data.failed.iter().map(|set| data.levels_of(*set)).collect(),
        }
    }

    fn allows(&self, setting: &Vec<usize>) -> bool {
        let mut all = setting.iter().enumerate();
        let is_known = all.all(|(one, level)| {
            let mut others = setting.iter().enumerate().skip(one + 1);
            others.all(|(other, own)| self.pairs.contains(&[(one, *level), (other, *own)]))
        });
        is_known && !self.failed.contains(setting)
    }
}
