//! Findings of a study with the numbers of their sentences.

use lapwing_study::{
    BesideEffect, LevelEffect, MainEffect, NextMeasurement, PairFinding, PairPattern,
    Recommendation, StudyContrast, StudyData, StudyFinding, StudyScale,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::fields::{ChangeFields, ContrastFields, value};
use crate::study::study_finding_text;

/// A finding.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct StudyFindingRow<'d> {
    /// `setting`, `effect`, `interaction`, `sign`, `level`, `beside`, `undecided` or `next`.
    kind: &'static str,
    text: String,
    treatments: Vec<&'d str>,
    /// The change by a treatment, by which an interaction differs from none, by a setting against the base, or by what is
    /// beside the factors.
    effect: Option<f64>,
    #[serde(flatten)]
    change: ChangeFields,
    p_value: Option<f64>,
    /// Numbers of instances with a treatment and at its base.
    instances_with: Option<usize>,
    instances_without: Option<usize>,
    /// Other terms that these runs cannot tell from it, of one or two treatments.
    aliases: Vec<Vec<&'d str>>,
    /// How two treatments depend on each other: `either_or`, `changes_sign`, `depends` or `not_told`.
    pattern: Option<&'static str>,
    /// The change by the first treatment without the other, and with it.
    without: ContrastFields,
    with: ContrastFields,
    /// The change by the second treatment without the first, and with it.
    second_without: ContrastFields,
    second_with: ContrastFields,
    /// The gain of the first treatment when the second is present, as a share of its gain alone.
    first_left: Option<f64>,
    /// The gain of the second treatment when the first is present, as a share of its gain alone.
    second_left: Option<f64>,
    /// A low value in the unit, one setting in ten is below, and the change by the treatment there.
    low_value: Option<f64>,
    low: ContrastFields,
    /// A high value in the unit, one setting in ten is above, and the change by the treatment there.
    high_value: Option<f64>,
    high: ContrastFields,
    /// The value in the unit at which the effect changes its sign.
    crossing: Option<f64>,
    crossing_lower: Option<f64>,
    crossing_upper: Option<f64>,
    /// The hour of the day, UTC, with the highest value.
    hour: Option<f64>,
    /// Number of sessions that differ.
    sessions: Option<usize>,
    /// Whether a treatment is constant in each session, so that it could be what else differs between them.
    of_sessions: Option<bool>,
    /// The days from the first to the last instance.
    days: Option<f64>,
    /// The expected value of a setting in the unit.
    expected: Option<f64>,
    expected_lower: Option<f64>,
    expected_upper: Option<f64>,
    /// Number of instances that were measured of it.
    measured_instances: Option<usize>,
    /// What to measure next: `confirm`, `not_told`, `fold_over`, `replicates`, `more_instances` or `open_pairs`.
    next: Option<&'static str>,
    /// How many times as many instances are needed.
    times_instances: Option<f64>,
    /// The half width of intervals with so many instances, as a share.
    wanted_precision: Option<f64>,
    /// A setting, to use or to measure.
    setting: Option<String>,
    /// The next best setting.
    runner_up: Option<String>,
    /// Number of settings to measure.
    settings: Option<usize>,
    /// Number of findings that could be other effects or interactions instead, and of those that the settings would tell.
    aliased_findings: Option<usize>,
    told_findings: Option<usize>,
    /// Number of interactions with too few settings.
    open_pairs: Option<usize>,
    /// Number of all interactions.
    pairs: Option<usize>,
}

impl<'d> StudyFindingRow<'d> {
    /// Returns the row of a finding on a scale.
    pub fn new(data: &'d StudyData, scale: StudyScale, finding: &StudyFinding) -> Self {
        let name = |at: usize| data.treatments[at].name.as_str();
        let row = Self {
            kind: finding.kind().key(),
            text: study_finding_text(finding, data, scale),
            treatments: finding.treatments().into_iter().map(name).collect(),
            effect: finding.size(),
            change: ChangeFields::new(scale, finding.size(), None),
            ..Self::default()
        };
        let aliases = |aliases: &[Vec<usize>]| -> Vec<Vec<&'d str>> {
            let names = aliases
                .iter()
                .map(|own| own.iter().map(|at| name(*at)).collect());
            names.collect()
        };
        match finding {
            StudyFinding::Setting(setting) => row.setting(data, scale, setting),
            StudyFinding::Effect(own) | StudyFinding::Undecided(own) => Self {
                aliases: aliases(&own.aliases),
                ..row.averaged(scale, own)
            },
            StudyFinding::Pair(pair) => Self {
                aliases: aliases(&pair.aliases),
                ..row.paired(scale, pair)
            },
            StudyFinding::Level(level) => row.by_level(scale, level),
            StudyFinding::Beside(beside) => row.beside(scale, beside),
            StudyFinding::Next(next) => row.next(data, next),
        }
    }

    fn contrast(self, scale: StudyScale, contrast: &StudyContrast) -> Self {
        Self {
            change: ChangeFields::new(scale, Some(contrast.change), contrast.interval),
            p_value: Some(contrast.p_value),
            ..self
        }
    }

    fn setting(self, data: &StudyData, scale: StudyScale, own: &Recommendation) -> Self {
        let (expected, interval) = own.value;
        Self {
            setting: Some(data.set_text(own.set)),
            runner_up: Some(data.set_text(own.runner_up)),
            measured_instances: Some(own.instances),
            ..if own.is_told {
                Self {
                    expected: Some(value(scale, expected)),
                    expected_lower: Some(value(scale, interval.lower)),
                    expected_upper: Some(value(scale, interval.upper)),
                    ..self.contrast(scale, &own.beside_base)
                }
            } else {
                Self {
                    effect: None,
                    change: ChangeFields::default(),
                    ..self
                }
            }
        }
    }

    fn averaged(self, scale: StudyScale, own: &MainEffect) -> Self {
        let [without, with] = own.instances.map(Some);
        Self {
            instances_with: with,
            instances_without: without,
            of_sessions: Some(own.is_of_sessions),
            ..self.contrast(scale, &own.effect)
        }
    }

    fn paired(self, scale: StudyScale, pair: &PairFinding) -> Self {
        let (pattern, left) = match pair.pattern {
            PairPattern::EitherOr(left) => ("either_or", left.map(Some)),
            PairPattern::ChangesSign => ("changes_sign", [None, None]),
            PairPattern::Depends => ("depends", [None, None]),
            PairPattern::NotTold => ("not_told", [None, None]),
        };
        let row = Self {
            pattern: Some(pattern),
            first_left: left[0],
            second_left: left[1],
            ..self
        };
        if pair.pattern == PairPattern::NotTold {
            return row;
        }
        let fields = |own| ContrastFields::new(scale, own);
        Self {
            without: fields(&pair.first.without),
            with: fields(&pair.first.with),
            second_without: fields(&pair.second.without),
            second_with: fields(&pair.second.with),
            ..row
        }
    }

    fn by_level(self, scale: StudyScale, level: &LevelEffect) -> Self {
        let crossing = |end: Option<f64>| end.map(|it| value(scale, it));
        Self {
            low_value: Some(value(scale, level.low.0)),
            low: ContrastFields::new(scale, &level.low.1),
            high_value: Some(value(scale, level.high.0)),
            high: ContrastFields::new(scale, &level.high.1),
            crossing: crossing(level.crossing.map(|it| it.0)),
            crossing_lower: crossing(level.crossing.map(|it| it.1.lower)),
            crossing_upper: crossing(level.crossing.map(|it| it.1.upper)),
            ..self
        }
    }

    fn beside(self, scale: StudyScale, beside: &BesideEffect) -> Self {
        match beside {
            BesideEffect::TimeOfDay { hour, .. } => Self {
                hour: Some(*hour),
                ..self
            },
            BesideEffect::Sessions { sessions, .. } => Self {
                sessions: Some(*sessions),
                ..self
            },
            BesideEffect::Drift {
                change,
                interval,
                days,
            } => Self {
                change: ChangeFields::new(scale, Some(*change), *interval),
                days: Some(*days),
                ..self
            },
        }
    }

    fn next(self, data: &StudyData, next: &NextMeasurement) -> Self {
        match next {
            NextMeasurement::Confirm { set, runner_up } => Self {
                next: Some("confirm"),
                setting: Some(data.set_text(*set)),
                runner_up: Some(data.set_text(*runner_up)),
                ..self
            },
            NextMeasurement::NotTold { .. } => Self {
                next: Some("not_told"),
                ..self
            },
            NextMeasurement::FoldOver(fold) => Self {
                next: Some("fold_over"),
                settings: Some(fold.settings),
                aliased_findings: Some(fold.aliased),
                told_findings: Some(fold.told),
                ..self
            },
            NextMeasurement::Replicates => Self {
                next: Some("replicates"),
                ..self
            },
            NextMeasurement::MoreInstances { times, .. } => Self {
                next: Some("more_instances"),
                times_instances: Some(*times),
                wanted_precision: Some(0.05),
                ..self
            },
            NextMeasurement::OpenPairs { open, pairs } => Self {
                next: Some("open_pairs"),
                open_pairs: Some(*open),
                pairs: Some(*pairs),
                ..self
            },
        }
    }
}
