//! Findings of a study, as numbers: what its model says.

mod next;
mod pairs;

use lapwing_stats::linear_model::ModelTerm;
use lapwing_stats::{Confidence, Interval};

pub use self::next::NextMeasurement;
pub use self::pairs::{PairFinding, PairPattern};
use crate::alias::factor_aliases;
use crate::covariates::{StudyCovariate, is_of_sessions, sittings};
use crate::data::StudyData;
use crate::explained::{ExplainedStudy, StudyContrast};
pub use crate::explained::{LevelEffect, Recommendation};
use crate::scale::StudyScale;

/// Of fewer instances on a side nothing is concluded.
pub(crate) const FEWEST_INSTANCES: usize = 3;

/// The subject of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingKind {
    /// The setting to use.
    Setting,
    /// A factor with an effect.
    Effect,
    /// Two factors whose effects depend on each other.
    Interaction,
    /// A factor that helps or hurts, depending on another, or on how slow the setting is.
    Sign,
    /// A factor whose effect depends on how slow the setting is.
    Level,
    /// Something beside the factors that changed the results.
    Beside,
    /// Factors without an effect that can be distinguished from none.
    Undecided,
    /// What to measure next.
    Next,
}

impl FindingKind {
    /// Every kind, in the order of a report.
    pub const ALL: [Self; 8] = [
        Self::Setting,
        Self::Effect,
        Self::Interaction,
        Self::Sign,
        Self::Level,
        Self::Beside,
        Self::Undecided,
        Self::Next,
    ];

    /// Returns its name in data.
    pub fn key(self) -> &'static str {
        match self {
            Self::Setting => "setting",
            Self::Effect => "effect",
            Self::Interaction => "interaction",
            Self::Sign => "sign",
            Self::Level => "level",
            Self::Beside => "beside",
            Self::Undecided => "undecided",
            Self::Next => "next",
        }
    }
}

/// A finding of a study. Changes are on the scale of the model.
#[derive(Debug, Clone, PartialEq)]
pub enum StudyFinding {
    /// The setting that is expected to be best.
    Setting(Recommendation),
    /// A treatment with an effect.
    Effect(MainEffect),
    /// Two treatments whose effects depend on each other.
    Pair(PairFinding),
    /// A treatment whose effect depends on how slow the setting is.
    Level(LevelEffect),
    /// Something beside the factors that changed the results.
    Beside(BesideEffect),
    /// A treatment whose effect cannot be told from none.
    Undecided(MainEffect),
    /// Something to measure next.
    Next(NextMeasurement),
}

/// The effect of a treatment, averaged over all combinations of the others.
#[derive(Debug, Clone, PartialEq)]
pub struct MainEffect {
    /// The number of the treatment.
    pub treatment: usize,
    /// The change.
    pub effect: StudyContrast,
    /// The number of instances without it, at the base of its factor, and with it.
    pub instances: [usize; 2],
    /// What the change could be of instead: numbers of one treatment or two.
    pub aliases: Vec<Vec<usize>>,
    /// Whether it is constant in each session, so that it could be what else differs between them.
    pub is_of_sessions: bool,
    /// Whether it, or a part of it, could be of pairs of others, such as in a screening design.
    pub is_mixed: bool,
}

/// A change of the results by something beside the factors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BesideEffect {
    /// The time of day: a wave.
    TimeOfDay {
        /// The change from the middle to the slowest hour.
        amplitude: f64,
        /// The hour with the highest value, UTC.
        hour: f64,
    },
    /// Sessions, or parts of one with long pauses between them, that differ.
    Sessions {
        /// Their number.
        sessions: usize,
        /// The largest difference between two.
        change: f64,
    },
    /// A drift of the machine from the first to the last instance.
    Drift {
        /// The change.
        change: f64,
        /// Its interval.
        interval: Option<Interval>,
        /// The days between them.
        days: f64,
    },
}

impl StudyFinding {
    /// Returns what it is about.
    pub fn kind(&self) -> FindingKind {
        match self {
            Self::Setting(_) => FindingKind::Setting,
            Self::Effect(_) => FindingKind::Effect,
            Self::Pair(pair) if pair.pattern == PairPattern::ChangesSign => FindingKind::Sign,
            Self::Pair(_) => FindingKind::Interaction,
            Self::Level(level) if level.crossing.is_some() => FindingKind::Sign,
            Self::Level(_) => FindingKind::Level,
            Self::Beside(_) => FindingKind::Beside,
            Self::Undecided(_) => FindingKind::Undecided,
            Self::Next(_) => FindingKind::Next,
        }
    }

    /// Returns the numbers of its treatments.
    pub fn treatments(&self) -> Vec<usize> {
        match self {
            Self::Effect(effect) | Self::Undecided(effect) => vec![effect.treatment],
            Self::Pair(pair) => vec![pair.first.treatment, pair.first.other],
            Self::Level(level) => vec![level.treatment],
            Self::Next(NextMeasurement::NotTold { treatments })
            | Self::Next(NextMeasurement::MoreInstances { treatments, .. }) => treatments.clone(),
            Self::Next(NextMeasurement::FoldOver(fold)) => fold.treatments.clone(),
            Self::Setting(_)
            | Self::Beside(_)
            | Self::Next(
                NextMeasurement::Replicates
                | NextMeasurement::Confirm { .. }
                | NextMeasurement::OpenPairs { .. },
            ) => Vec::new(),
        }
    }

    /// Returns the size of the effect or interaction; `None` for others.
    pub fn size(&self) -> Option<f64> {
        match self {
            Self::Effect(own) | Self::Undecided(own) => Some(own.effect.change),
            Self::Setting(own) => own.is_told.then_some(own.beside_base.change),
            Self::Pair(pair) => Some(pair.beyond),
            Self::Level(level) => Some(level.high.1.change - level.low.1.change),
            Self::Beside(BesideEffect::TimeOfDay { amplitude, .. }) => Some(*amplitude),
            Self::Beside(
                BesideEffect::Drift { change, .. } | BesideEffect::Sessions { change, .. },
            ) => Some(*change),
            Self::Next(_) => None,
        }
    }
}

/// The findings of a study, and the scale of its model.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyFindings {
    /// The scale.
    pub scale: StudyScale,
    /// The findings, by kind, the strongest first.
    pub findings: Vec<StudyFinding>,
}

/// Returns the findings of a study, on a scale or the one that fits better.
///
/// All are contrasts of one model ([`ExplainedStudy`]). An effect is a finding if its p-value is at most the threshold of
/// the search among all factors and pairs, which accepts 5 % of false ones. Without a model, such as when all values
/// are equal, there is none.
pub fn findings(data: &StudyData, scale: Option<StudyScale>) -> StudyFindings {
    match ExplainedStudy::new(data, scale) {
        Ok(study) => StudyFindings {
            scale: study.scale,
            findings: study.findings(),
        },
        Err(_) => StudyFindings {
            scale: scale.unwrap_or_else(|| StudyScale::usual(data)),
            findings: Vec::new(),
        },
    }
}

impl ExplainedStudy<'_> {
    /// Returns what the model says, by kind, the strongest first.
    pub fn findings(&self) -> Vec<StudyFinding> {
        let (effects, undecided) = self.main_effects();
        let recommended = self.recommended();
        let next = next::findings(self, &effects, &undecided, recommended.as_ref());
        let levels = self.levels.iter().filter_map(|at| self.level_effect(*at));
        let mut found: Vec<StudyFinding> = Vec::new();
        found.extend(recommended.map(StudyFinding::Setting));
        found.extend(effects.into_iter().map(StudyFinding::Effect));
        found.extend(self.pair_effects().into_iter().map(StudyFinding::Pair));
        found.extend(levels.map(StudyFinding::Level));
        found.extend(self.beside().into_iter().map(StudyFinding::Beside));
        found.extend(undecided.into_iter().map(StudyFinding::Undecided));
        found.extend(next.into_iter().map(StudyFinding::Next));
        found
    }

    /// Returns the treatments with an effect, and those without one that could be told, the largest first.
    fn main_effects(&self) -> (Vec<MainEffect>, Vec<MainEffect>) {
        let wide = self.with_all_factors();
        let pairs = factor_aliases(self.data);
        let sittings = sittings(self.data);
        let (mut sure, mut undecided) = (Vec::new(), Vec::new());
        for (treatment, own) in self.data.treatments.iter().enumerate() {
            let average = self.average(treatment);
            let count = |level: usize| {
                let instances = self.data.instances.iter();
                instances
                    .filter(|it| it.levels[own.factor] == level)
                    .count()
            };
            let instances = [count(0), count(own.level)];
            let is_enough = instances.iter().all(|own| *own >= FEWEST_INSTANCES);
            let decided = average.filter(|it| is_enough && self.is_sure(it));
            let weights = |study: &Self| {
                study
                    .model
                    .difference(study.data, &[(own.factor, own.level)], &[(own.factor, 0)])
            };
            let single = || {
                let wide = wide.as_ref()?;
                let coefficient = wide.model.contrast(&weights(wide))?;
                Some(wide.contrast_with(&coefficient, Confidence::P95))
            };
            let Some(effect) = decided.or_else(single) else {
                continue;
            };
            let effect = MainEffect {
                treatment,
                effect,
                instances,
                aliases: self.aliases(ModelTerm::Main(own.factor)),
                is_of_sessions: is_of_sessions(self.data, &sittings, own.factor),
                is_mixed: !pairs[own.factor].is_empty(),
            };
            if decided.is_some() {
                sure.push(effect);
            } else {
                undecided.push(effect);
            }
        }
        for effects in [&mut sure, &mut undecided] {
            effects.sort_by(|one, other| {
                other
                    .effect
                    .change
                    .abs()
                    .total_cmp(&one.effect.change.abs())
            });
        }
        (sure, undecided)
    }

    /// Returns the terms that the instances cannot tell from one that was found, as numbers of treatments.
    fn aliases(&self, term: ModelTerm) -> Vec<Vec<usize>> {
        let treatment = |factor: usize| {
            let mut all = self.data.treatments.iter();
            all.position(|own| own.factor == factor)
        };
        let found = self.model.found.iter().map(|own| (own.term, &own.aliases));
        let parents = self
            .model
            .parent_aliases
            .iter()
            .map(|(own, aliases)| (*own, aliases));
        let found = found.chain(parents).find(|(own, _)| *own == term);
        let aliases = found.into_iter().flat_map(|(_, aliases)| aliases);
        aliases
            .filter_map(|term| match *term {
                ModelTerm::Main(factor) => Some(vec![treatment(factor)?]),
                ModelTerm::Pair(one, other) => Some(vec![treatment(one)?, treatment(other)?]),
                ModelTerm::Intercept | ModelTerm::Square(_) => None,
            })
            .collect()
    }

    fn beside(&self) -> Vec<BesideEffect> {
        const DAY: f64 = 86_400.0;
        let varied = self.data.factors.len();
        let unit = |factor: usize| {
            let mut weights = self.model.row(self.data, &[]);
            weights.fill(0.0);
            let place = self.model.place(self.data, ModelTerm::Main(factor))?;
            weights[place] = 1.0;
            self.contrast(&weights)
        };
        let times = self.data.instances.iter().map(|own| own.time);
        let least = times.clone().fold(f64::INFINITY, f64::min);
        let most = times.fold(f64::NEG_INFINITY, f64::max);
        let days = (most - least) / DAY;
        let effect = |kind: &StudyCovariate| match kind {
            StudyCovariate::Time => {
                let slope = unit(varied).filter(|it| self.is_sure(it))?;
                Some(BesideEffect::Drift {
                    change: slope.change * days,
                    interval: slope.interval.map(|it| it.map(|end| end * days)),
                    days,
                })
            }
            StudyCovariate::TimeOfDay => {
                let [cosine, sine] = [varied + 1, varied + 2].map(unit);
                let (cosine, sine) = (cosine?.change, sine?.change);
                let turn = sine.atan2(cosine).rem_euclid(std::f64::consts::TAU);
                Some(BesideEffect::TimeOfDay {
                    amplitude: cosine.hypot(sine),
                    hour: 24.0 * turn / std::f64::consts::TAU,
                })
            }
            StudyCovariate::Session => {
                let sessions = sittings(self.data).iter().max().map_or(1, |most| most + 1);
                let own = (0..sessions).map(|at| unit(varied + at).map_or(0.0, |it| it.change));
                let (least, most) = own.fold((f64::INFINITY, f64::NEG_INFINITY), |ends, it| {
                    (ends.0.min(it), ends.1.max(it))
                });
                Some(BesideEffect::Sessions {
                    sessions,
                    change: most - least,
                })
            }
        };
        self.model.beside.iter().filter_map(effect).collect()
    }

    /// Returns the same model with every factor alone in it; `None` if nothing is left to tell noise from.
    fn with_all_factors(&self) -> Option<Self> {
        let mut request = self.model.request();
        let missing = (0..self.data.factors.len()).map(ModelTerm::Main);
        let missing: Vec<ModelTerm> = missing.filter(|it| !request.terms.contains(it)).collect();
        request.terms.extend(missing);
        let model = self.model.with(self.data, request).ok()?;
        (model.freedom() >= 1.0).then(|| Self {
            model,
            levels: self.levels.clone(),
            ..*self
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::average::tests::study;
    use lapwing_stats::as_f64;

    #[test]
    fn exact_counts_have_findings_and_rounding_has_none() {
        // Without noise, as of instructions or allocations.
        let cost = |set: u128, _: usize| {
            let one = if set & 1 == 1 { 297.3 } else { 0.0 };
            let other = if set & 2 == 2 { -29.1 } else { 0.0 };
            820.7 + one + other
        };
        for replicates in [1_usize, 3] {
            let data = study(4, replicates, cost);
            let found = findings(&data, None);
            let effects = found
                .findings
                .iter()
                .filter(|it| it.kind() == FindingKind::Effect);
            let effects: Vec<Vec<usize>> = effects.map(StudyFinding::treatments).collect();
            assert_eq!(effects, [[0], [1]], "{:?}", found.findings);
            let undecided = found
                .findings
                .iter()
                .filter(|it| it.kind() == FindingKind::Undecided);
            assert!(
                undecided.clone().count() == 2
                    && undecided.into_iter().all(|it| it.size() == Some(0.0))
            );
            assert!(
                !found
                    .findings
                    .iter()
                    .any(|it| matches!(it, StudyFinding::Pair(_)))
            );
        }
    }

    #[test]
    fn what_failed_every_time_is_neither_recommended_nor_proposed() {
        let cost = |set: u128, replicate: usize| {
            let noise = as_f64((replicate * 7 + usize::try_from(set).unwrap() * 3) % 5) / 100.0;
            let gain = |at: usize, share: f64| if set >> at & 1 == 1 { share } else { 1.0 };
            100.0 * gain(0, 0.6) * gain(1, 0.8) + noise
        };
        let mut data = study(4, 2, cost);
        // With the first two at once, and with the last one, it fails.
        let fails = |set: u128| set & 3 == 3 || set & 8 == 8;
        data.instances.retain(|own| !fails(own.set));
        data.failed = (0..16).filter(|set| fails(*set)).collect();
        let data = data.without(&[]).unwrap();
        let found = findings(&data, None).findings;
        let set = found.iter().find_map(|it| match it {
            StudyFinding::Setting(own) => Some((own.set, own.runner_up)),
            _other => None,
        });
        assert_eq!(set, Some((1, 2)), "{found:?}");
        let open = found
            .iter()
            .find(|it| matches!(it, StudyFinding::Next(NextMeasurement::NotTold { .. })));
        assert_eq!(open, None);
    }

    #[test]
    fn a_factor_that_is_constant_in_each_session_is_not_told_from_what_else_differs_between_them() {
        let cost = |set: u128, replicate: usize| {
            let noise = as_f64((replicate * 7 + usize::try_from(set).unwrap() * 3) % 5) / 100.0;
            100.0 + noise + if set & 1 == 1 { 10.0 } else { 0.0 }
        };
        let mut data = study(3, 3, cost);
        for own in &mut data.instances {
            own.session = usize::from(own.set & 1 == 1);
        }
        let is_of_sessions = |data: &StudyData| {
            let found = findings(data, None).findings;
            found.iter().find_map(|it| match it {
                StudyFinding::Effect(own) if own.treatment == 0 => Some(own.is_of_sessions),
                _other => None,
            })
        };
        assert_eq!(is_of_sessions(&data), Some(true));
        for (at, own) in data.instances.iter_mut().enumerate() {
            own.session = at / 12;
        }
        assert_eq!(is_of_sessions(&data), Some(false));
    }

    #[test]
    fn of_two_instances_on_a_side_nothing_is_concluded() {
        let cost = |set: u128, _: usize| {
            if set & 1 == 1 {
                50.0
            } else {
                100.0 + as_f64(usize::try_from(set).unwrap())
            }
        };
        let mut data = study(2, 1, cost);
        data.instances.truncate(3);
        let found = findings(&data, None).findings;
        let is_claim =
            |it: &StudyFinding| !matches!(it.kind(), FindingKind::Undecided | FindingKind::Next);
        assert!(!found.iter().any(is_claim), "{found:?}");
    }
}
