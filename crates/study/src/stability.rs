//! Estimates of effects against the number of runs: since when more runs have changed nothing that matters.

use lapwing_stats::{Confidence, Interval, Seed, as_f64};

use crate::alias::factor_aliases;
use crate::average::{AverageEffects, varied};
use crate::data::{StudyData, StudyInstance};
use crate::design::StudyModel;
use crate::fit::StudyFitError;
use crate::scale::StudyScale;

/// In which order the runs of a study are added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StabilityOrder {
    /// As they were measured: what was known when.
    Measured,
    /// At random: how many runs such as these are needed.
    Random(Seed),
}

/// The criterion of stability.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StabilityOptions {
    /// The scale.
    pub scale: StudyScale,
    /// An effect is known if its interval reaches no further than this share of the cost; by default 5 %.
    pub within: f64,
    /// The order of so many strongest effects has to be settled; by default 5.
    pub strongest: usize,
    /// The number of looks at growing parts of the runs; by default 20.
    pub checks: usize,
    /// The order of the runs.
    pub order: StabilityOrder,
    /// The level of intervals.
    pub confidence: Confidence,
    /// With [`StudyModel::Main`] pairs are assumed to have no effect: else an effect that could be that of a pair is not
    /// known.
    pub model: StudyModel,
}

impl Default for StabilityOptions {
    fn default() -> Self {
        Self {
            scale: StudyScale::Log,
            within: 0.05,
            strongest: 5,
            checks: 20,
            order: StabilityOrder::Measured,
            confidence: Confidence::P95,
            model: StudyModel::Pairs,
        }
    }
}

/// The findings from the first runs.
#[derive(Debug, Clone, PartialEq)]
pub struct StabilityCheck {
    /// The number of instances.
    pub instances: usize,
    /// The effect of each treatment, `None` if it cannot be told from others yet, with its interval, `None` also if it could
    /// be that of a pair.
    pub effects: Vec<Option<(f64, Option<Interval>)>>,
    /// Whether every interval is narrow enough.
    pub is_precise: bool,
    /// Whether the strongest effects have the order that they have in the end, apart from those that are nearly equal.
    pub is_ordered: bool,
}

/// Estimates against the number of runs.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyStability {
    /// The checks, with ever more instances; the last one has all.
    pub checks: Vec<StabilityCheck>,
    /// The treatments that were varied, by the size of their effects, the largest first; those without an estimate
    /// last.
    pub ranking: Vec<usize>,
    /// The largest half-width of an interval, on the scale.
    pub tolerance: f64,
    /// Since how many instances every interval is narrow enough.
    pub precise_since: Option<usize>,
    /// Since how many instances the order is settled.
    pub ordered_since: Option<usize>,
    /// The treatments whose effects could be those of pairs of others, which is not assumed away.
    pub aliased: Vec<usize>,
    /// The number of further instances like these that would make every interval narrow enough; `None` if an effect
    /// cannot be estimated.
    pub more_instances: Option<f64>,
}

impl StudyStability {
    /// Returns what ever more instances of a study say.
    ///
    /// An effect is the mean over all combinations of the others ([`AverageEffects`]). It is known if half the width
    /// of its interval is at most `within`. The order is settled if no two effects, of which one is among the
    /// strongest, have changed places since, apart from those whose sizes differ by less than that. Both have to hold
    /// in the last two checks at least. An effect that the settings cannot tell from that of a pair is not known, unless
    /// the model says that pairs have none.
    ///
    /// The rule looks at widths, not at p-values: who stops measuring as soon as an effect is significant finds too
    /// many, but who stops as soon as an interval is narrow enough keeps its coverage (Chow & Robbins, *Annals of
    /// Mathematical Statistics* 1965). More instances follow from widths that shrink with √n.
    ///
    /// # Errors
    /// When an instance has no value on the scale.
    pub fn new(data: &StudyData, options: &StabilityOptions) -> Result<Self, StudyFitError> {
        let instances = ordered(data, options.order);
        let all = instances.len();
        let varied = varied(data, &instances);
        let fewest = (varied.len() + 3).min(all);
        let steps = options.checks.max(2) - 1;
        let mut sizes: Vec<usize> = (0..=steps)
            .map(|step| fewest + (all - fewest) * step / steps)
            .collect();
        sizes.dedup();
        let mut found = Self {
            checks: Vec::new(),
            ranking: varied,
            tolerance: data.share_of_cost(options.scale, options.within),
            precise_since: None,
            ordered_since: None,
            aliased: match options.model {
                StudyModel::Main => Vec::new(),
                StudyModel::Pairs => aliased(data),
            },
            more_instances: None,
        };
        for size in sizes {
            let own =
                AverageEffects::new(data, &instances[..size], options.scale, options.confidence)?;
            let effects = own.of_treatments().enumerate().map(|(at, own)| {
                let estimate = own.coefficient?.estimate;
                let interval = own.interval.filter(|_| !found.aliased.contains(&at));
                Some((estimate, interval))
            });
            let mut check = StabilityCheck {
                instances: size,
                effects: effects.collect(),
                is_precise: false,
                is_ordered: false,
            };
            let reaches = reaches(&check);
            let is_narrow = |own: &usize| reaches[*own].is_some_and(|it| it <= found.tolerance);
            check.is_precise = !found.ranking.is_empty() && found.ranking.iter().all(is_narrow);
            found.checks.push(check);
        }
        found.rank(options.strongest);
        found.precise_since = since(&found.checks, |check| check.is_precise);
        found.ordered_since = since(&found.checks, |check| check.is_ordered);
        found.more_instances = found.more(all);
        Ok(found)
    }

    /// Returns since how many instances effects and order are stable.
    pub fn stable_since(&self) -> Option<usize> {
        Some(self.precise_since?.max(self.ordered_since?))
    }

    /// Returns half the width of the interval of each treatment in the end.
    pub fn reaches(&self) -> Vec<Option<f64>> {
        self.checks.last().map_or_else(Vec::new, reaches)
    }

    /// Returns since how many instances the interval of a treatment is narrow enough.
    pub fn treatment_since(&self, treatment: usize) -> Option<usize> {
        let is_narrow = |check: &StabilityCheck| {
            let reach = reaches(check)[treatment];
            reach.is_some_and(|own| own <= self.tolerance)
        };
        let wide = self.checks.iter().rposition(|check| !is_narrow(check));
        let first = self.checks.get(wide.map_or(0, |at| at + 1));
        first.map(|check| check.instances)
    }

    fn rank(&mut self, strongest: usize) {
        let Some(last) = self.checks.last() else {
            return;
        };
        let final_sizes = sizes(last);
        let mut ranking = std::mem::take(&mut self.ranking);
        ranking.sort_by(|one, other| final_sizes[*other].total_cmp(&final_sizes[*one]));
        let mut settled: Vec<(usize, usize)> = Vec::new();
        for (place, larger) in ranking.iter().enumerate().take(strongest) {
            let rest = ranking[place + 1..].iter();
            let is_apart =
                |smaller: &&usize| final_sizes[*larger] - final_sizes[**smaller] > self.tolerance;
            settled.extend(rest.filter(is_apart).map(|smaller| (*larger, *smaller)));
        }
        for check in &mut self.checks {
            let sizes = sizes(check);
            check.is_ordered = (settled.iter())
                .all(|(larger, smaller)| sizes[*larger] >= 0.0 && sizes[*larger] > sizes[*smaller]);
        }
        self.ranking = ranking;
    }

    fn more(&self, all: usize) -> Option<f64> {
        let reaches = self.reaches();
        let reaches: Option<Vec<f64>> = self.ranking.iter().map(|own| reaches[*own]).collect();
        let widest = reaches?.into_iter().fold(0.0, f64::max);
        let times = (widest / self.tolerance).powi(2);
        Some((as_f64(all) * (times - 1.0)).ceil().max(0.0))
    }
}

/// Returns the treatments whose effects the settings cannot tell from those of pairs.
fn aliased(data: &StudyData) -> Vec<usize> {
    let aliases = factor_aliases(data);
    let treatments = data.treatments.iter().enumerate();
    let open = treatments.filter(|(_, own)| !aliases[own.factor].is_empty());
    open.map(|(at, _)| at).collect()
}

/// Returns the instances of the first check from which on something holds, if that is not the last one alone.
fn since(checks: &[StabilityCheck], holds: impl Fn(&StabilityCheck) -> bool) -> Option<usize> {
    let first = checks.iter().rposition(|check| !holds(check));
    let first = first.map_or(0, |at| at + 1);
    (first + 1 < checks.len()).then(|| checks[first].instances)
}

/// Returns half the width of each interval.
fn reaches(check: &StabilityCheck) -> Vec<Option<f64>> {
    let reach = |own: &Option<(f64, Option<Interval>)>| {
        let interval = (*own)?.1?;
        Some(0.5 * interval.width())
    };
    check.effects.iter().map(reach).collect()
}

/// Returns the size of each effect; −1 without an estimate.
fn sizes(check: &StabilityCheck) -> Vec<f64> {
    let effects = check.effects.iter();
    effects
        .map(|own| own.map_or(-1.0, |(estimate, _)| estimate.abs()))
        .collect()
}

fn ordered(data: &StudyData, order: StabilityOrder) -> Vec<StudyInstance> {
    let mut numbered: Vec<(u64, &StudyInstance)> = (0..).zip(&data.instances).collect();
    if let StabilityOrder::Random(seed) = order {
        numbered.sort_by_key(|(number, _)| seed.split(&number.to_string()).0);
    }
    numbered.into_iter().map(|(_, own)| own.clone()).collect()
}
