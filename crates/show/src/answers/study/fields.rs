//! Fields that answers about studies have in common.
//!
//! On the logarithmic scale, changes are differences of logarithms, and beside each stands what people read: the share
//! by which the metric changes. Values are in the unit on every scale.

use lapwing_stats::Interval;
use lapwing_study::{StudyContrast, StudyData, StudyScale};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

/// An answer about a study.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StudyFields<'d, V> {
    study: StudyHead<'d>,
    #[serde(flatten)]
    view: V,
}

impl<'d, V> StudyFields<'d, V> {
    /// Returns the fields of a view of a study.
    pub fn new(data: &'d StudyData, scale: StudyScale, view: V) -> Self {
        Self {
            study: StudyHead::new(data, scale),
            view,
        }
    }
}

/// What was measured in a study.
#[derive(Debug, Serialize, JsonSchema)]
struct StudyHead<'d> {
    suite: &'d str,
    benchmark: &'d str,
    metric: &'d str,
    /// Unit of values, and of changes except on the scale `log`.
    unit: String,
    /// `time`, `rate` or `log`.
    scale: &'static str,
    factors: Vec<FactorHead<'d>>,
    number_of_factors: usize,
    /// Number of measured settings.
    settings: usize,
    /// Number of measured instances.
    instances: usize,
}

/// A factor of a study.
#[derive(Debug, Serialize, JsonSchema)]
struct FactorHead<'d> {
    name: &'d str,
    /// Its levels, the base first.
    levels: Vec<Value>,
}

impl<'d> StudyHead<'d> {
    fn new(data: &'d StudyData, scale: StudyScale) -> Self {
        let factors = data.factors.iter().map(|factor| FactorHead {
            name: &factor.name,
            levels: factor.levels.iter().map(|level| json!(level)).collect(),
        });
        Self {
            suite: &data.suite,
            benchmark: &data.benchmark,
            metric: &data.metric.name,
            unit: data.metric.unit_of(scale),
            scale: scale.name(),
            factors: factors.collect(),
            number_of_factors: data.factors.len(),
            settings: data.set_means(StudyScale::Time).len(),
            instances: data.instances.len(),
        }
    }
}

/// The ends of an interval.
#[derive(Debug, Default, Clone, Copy, Serialize, JsonSchema)]
pub struct EndFields {
    pub lower: Option<f64>,
    pub upper: Option<f64>,
}

impl From<Option<Interval>> for EndFields {
    fn from(interval: Option<Interval>) -> Self {
        Self {
            lower: interval.map(|interval| interval.lower),
            upper: interval.map(|interval| interval.upper),
        }
    }
}

/// The interval of a change, and the change as a share.
#[derive(Debug, Default, Clone, Copy, Serialize, JsonSchema)]
pub struct ChangeFields {
    #[serde(flatten)]
    ends: EndFields,
    /// On the scale `log`: the change as a share, −0.34 for −34 %.
    share: Option<f64>,
    share_lower: Option<f64>,
    share_upper: Option<f64>,
}

impl ChangeFields {
    /// Returns the fields of a change on a scale.
    pub fn new(scale: StudyScale, change: Option<f64>, interval: Option<Interval>) -> Self {
        let ends = EndFields::from(interval);
        Self {
            ends,
            share: share(scale, change),
            share_lower: share(scale, ends.lower),
            share_upper: share(scale, ends.upper),
        }
    }
}

/// A contrast of a model; nothing where there is none.
#[derive(Debug, Default, Clone, Copy, Serialize, JsonSchema)]
pub struct ContrastFields {
    effect: Option<f64>,
    #[serde(flatten)]
    change: ChangeFields,
    p_value: Option<f64>,
}

impl ContrastFields {
    /// Returns the fields of a contrast on a scale.
    pub fn new(scale: StudyScale, contrast: &StudyContrast) -> Self {
        Self {
            effect: Some(contrast.change),
            change: ChangeFields::new(scale, Some(contrast.change), contrast.interval),
            p_value: Some(contrast.p_value),
        }
    }
}

/// Returns a change as a share: only on the logarithmic scale.
pub fn share(scale: StudyScale, change: Option<f64>) -> Option<f64> {
    match scale {
        StudyScale::Log => change.map(f64::exp_m1),
        StudyScale::Time | StudyScale::Rate => None,
    }
}

/// Returns a value of a scale in the unit.
pub fn value(scale: StudyScale, value: f64) -> f64 {
    match scale {
        StudyScale::Log => value.exp(),
        StudyScale::Time | StudyScale::Rate => value,
    }
}
