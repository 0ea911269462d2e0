use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Id, Metric, MetricName, Object};

/// One setting (version, variant, factor levels) within a session; holds instances.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Identifies the run.
    pub id: Id,
    /// The session that it belongs to.
    pub session: Id,
    /// The named setting, `default` where nothing was varied.
    #[serde(default = "default_variant")]
    pub variant: String,
    /// What was deliberately varied, and its level here.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub factors: BTreeMap<String, Level>,
    /// Hashes of what each factor means.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub definitions: BTreeMap<String, String>,
    /// The state of the software under test.
    #[serde(default, skip_serializing_if = "Version::is_empty")]
    pub version: Version,
    /// The metrics that its iterations carry.
    #[serde(default)]
    pub metrics: BTreeMap<MetricName, Metric>,
    /// What was observed and not chosen.
    #[serde(default, skip_serializing_if = "Object::is_empty")]
    pub environment: Object,
    /// Whatever else is known of it.
    #[serde(default, skip_serializing_if = "Object::is_empty")]
    pub attributes: Object,
    /// Files that belong to it: name to path or URL.
    #[serde(default, skip_serializing_if = "Object::is_empty")]
    pub artifacts: Object,
    /// Keys that this version does not know.
    #[serde(flatten)]
    pub extra: Object,
}

fn default_variant() -> String {
    Run::DEFAULT_VARIANT.to_owned()
}

impl Run {
    /// The variant of a run in which nothing was varied.
    pub const DEFAULT_VARIANT: &'static str = "default";
    /// The attribute of the run of a control: the variant that it is a copy of.
    pub const CONTROL_OF: &'static str = "control_of";
    /// The attribute of a run in a Python environment of its own: the packages that were asked for.
    pub const PYTHON_PACKAGES: &'static str = "python_packages";
    /// The attribute of a run of Go: what its `Unit` lines say of units, by unit and key.
    pub const UNITS: &'static str = "units";

    /// Returns whether the source says that a metric has no noise: Go's `Unit text-bytes assume=exact`.
    pub fn is_exact(&self, metric: &str) -> bool {
        let units = self.attributes.get(Self::UNITS);
        let assumed = units.and_then(|it| it.get(metric)?.get("assume")?.as_str());
        assumed == Some("exact")
    }

    /// Returns the levels of its factors as people read them.
    pub fn levels(&self) -> Levels {
        let factors = self.factors.iter();
        factors
            .map(|(factor, level)| (factor.clone(), level.to_string()))
            .collect()
    }
}

/// Levels of factors as people read them, by factor.
pub type Levels = BTreeMap<String, String>;

/// The state of the software under test, which need not be the repository of the suite.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Version {
    /// A release name such as `2026.9`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The full commit hash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The date of the commit or of the release, RFC 3339 (kept as written).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// Whether the working tree differed from the commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dirty: Option<bool>,
    /// Keys that this version does not know.
    #[serde(flatten)]
    pub extra: Object,
}

impl Version {
    /// Returns whether nothing is known of the version.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The digits of a commit that usually tell it from all others.
    pub const COMMIT_DIGITS: usize = 10;

    /// Returns the shortest text that tells this version from others:
    /// the name, else the commit's first ten digits (with `+` when dirty), else `None`.
    pub fn label(&self) -> Option<String> {
        Self::label_of(self.name.as_deref(), self.commit.as_deref(), self.dirty)
    }

    /// Returns the label of a version of which only this is at hand.
    pub fn label_of(
        name: Option<&str>,
        commit: Option<&str>,
        dirty: Option<bool>,
    ) -> Option<String> {
        let short = || commit.map(|commit| commit.chars().take(Self::COMMIT_DIGITS).collect());
        let base = name.map(str::to_owned).or_else(short)?;
        Some(match dirty {
            Some(true) => format!("{base}+"),
            Some(false) | None => base,
        })
    }
}

/// The value of a factor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Level {
    /// Absent or present: a treatment.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Number(f64),
    /// A text.
    Text(String),
}

impl fmt::Display for Level {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => value.fmt(formatter),
            Self::Integer(value) => value.fmt(formatter),
            Self::Number(value) => value.fmt(formatter),
            Self::Text(value) => value.fmt(formatter),
        }
    }
}
