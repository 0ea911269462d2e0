//! Findings of a study with the numbers of their sentences.

use lapwing_study::{
    AveragedOver, MainEffect, NextMeasurement, PairPattern, StudyData, StudyFinding, StudyScale,
    TreatmentPair, TreatmentWithAnother,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::fields::{ChangeFields, share};
use crate::study::study_finding_text;

/// A finding.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct StudyFindingRow<'d> {
    /// `effect`, `interaction`, `sign`, `undecided` or `next`.
    kind: &'static str,
    text: String,
    treatments: Vec<&'d str>,
    /// The change by a treatment, or by which an interaction differs from none.
    effect: Option<f64>,
    #[serde(flatten)]
    change: ChangeFields,
    /// The settings that an effect is an average over: `combinations` or `setting_pairs`.
    averaged_over: Option<&'static str>,
    setting_pairs: Option<usize>,
    /// How two treatments depend on each other.
    pattern: Option<&'static str>,
    /// The change by the first treatment without the other.
    first_alone: Option<f64>,
    first_alone_share: Option<f64>,
    /// The change by the second treatment without the other.
    second_alone: Option<f64>,
    second_alone_share: Option<f64>,
    /// The change by both treatments together.
    both: Option<f64>,
    both_share: Option<f64>,
    /// The change by one treatment without another.
    without: Option<f64>,
    without_share: Option<f64>,
    /// The change by one treatment with another.
    with: Option<f64>,
    with_share: Option<f64>,
    /// What to measure next: `never_alone`, `replicates`, `more_instances`, `setting` or `open_pairs`.
    next: Option<&'static str>,
    /// How many times as many instances are needed.
    times_instances: Option<f64>,
    /// The half width of intervals with so many instances, as a share.
    wanted_precision: Option<f64>,
    /// A setting to measure.
    setting: Option<String>,
    /// Number of deltas of undecided treatments that the setting would give.
    deltas: Option<usize>,
    /// Number of interactions with too few settings.
    open_pairs: Option<usize>,
    /// Number of all interactions.
    pairs: Option<usize>,
}

impl<'d> StudyFindingRow<'d> {
    /// Returns the row of a finding on a scale.
    pub fn new(data: &'d StudyData, scale: StudyScale, finding: &StudyFinding) -> Self {
        let treatments = finding.treatments().into_iter();
        let row = Self {
            kind: finding.kind().key(),
            text: study_finding_text(finding, data, scale),
            treatments: treatments
                .map(|at| data.treatments[at].name.as_str())
                .collect(),
            effect: finding.size(),
            change: ChangeFields::new(scale, finding.size(), None),
            ..Self::default()
        };
        match finding {
            StudyFinding::Effect(effect) | StudyFinding::Undecided(effect) => {
                row.averaged(scale, effect)
            }
            StudyFinding::Interaction(pair) => row.paired(scale, pair),
            StudyFinding::ModelPair {
                change, interval, ..
            } => Self {
                change: ChangeFields::new(scale, Some(*change), *interval),
                pattern: Some("beyond_the_sum"),
                ..row
            },
            StudyFinding::Sign(sign) => row.with_another(scale, sign),
            StudyFinding::Next(next) => row.next(data, next),
        }
    }

    fn averaged(self, scale: StudyScale, effect: &MainEffect) -> Self {
        let (over, pairs) = match effect.over {
            AveragedOver::Combinations => ("combinations", None),
            AveragedOver::SettingPairs(pairs) => ("setting_pairs", Some(pairs)),
        };
        Self {
            change: ChangeFields::new(scale, Some(effect.change), effect.interval),
            averaged_over: Some(over),
            setting_pairs: pairs,
            ..self
        }
    }

    fn paired(self, scale: StudyScale, pair: &TreatmentPair) -> Self {
        let pattern = match &pair.pattern {
            PairPattern::HelpEachOther => "help_each_other",
            PairPattern::UndoInPart => "undo_in_part",
            PairPattern::SameCost => "same_cost",
            PairPattern::PartlySameCost => "partly_same_cost",
            PairPattern::MakeWorse => "make_worse",
            PairPattern::UndoEachOther => "undo_each_other",
            PairPattern::PartlySameHarm => "partly_same_harm",
            PairPattern::Depends(_) => "depends",
        };
        let [first, second] = pair.alone.map(Some);
        let row = Self {
            pattern: Some(pattern),
            first_alone: first,
            first_alone_share: share(scale, first),
            second_alone: second,
            second_alone_share: share(scale, second),
            both: Some(pair.both),
            both_share: share(scale, Some(pair.both)),
            ..self
        };
        match &pair.pattern {
            PairPattern::Depends(with_another) => row.with_another(scale, with_another),
            PairPattern::HelpEachOther
            | PairPattern::UndoInPart
            | PairPattern::SameCost
            | PairPattern::PartlySameCost
            | PairPattern::MakeWorse
            | PairPattern::UndoEachOther
            | PairPattern::PartlySameHarm => row,
        }
    }

    fn with_another(self, scale: StudyScale, sign: &TreatmentWithAnother) -> Self {
        let [without, with] = [sign.without, sign.with].map(Some);
        Self {
            without,
            without_share: share(scale, without),
            with,
            with_share: share(scale, with),
            ..self
        }
    }

    fn next(self, data: &StudyData, next: &NextMeasurement) -> Self {
        match next {
            NextMeasurement::NeverAlone { .. } => Self {
                next: Some("never_alone"),
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
            NextMeasurement::Setting { set, deltas } => Self {
                next: Some("setting"),
                setting: Some(data.set_text(*set)),
                deltas: Some(*deltas),
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
