//! Deviations of indicators from their contract.

use crate::MetricName;

/// A deviation of an indicator from the contract, or something that will surprise its users.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ContractFinding {
    /// There is no output.
    #[error("standard output is empty")]
    NoOutput,
    /// The output is no JSON object.
    #[error("standard output is not a JSON object: {0}")]
    NotAnObject(String),
    /// There is other output than the object.
    #[error("standard output must be exactly one JSON object, but has other text too")]
    OtherText,
    /// A required key is missing.
    #[error("`{0}` is missing")]
    MissingKey(&'static str),
    /// A key has a value of a wrong type.
    #[error("`{key}` must be {expected}")]
    WrongType {
        /// The key.
        key: String,
        /// The type.
        expected: &'static str,
    },
    /// Parameters and results share keys.
    #[error("in both `@parameters` and `@result`: {}", .0.join(", "))]
    SharedKeys(Vec<String>),
    /// Keys stand twice in the same object, of which a reader would take the last.
    #[error("more than once in the same object: {}", .0.join(", "))]
    RepeatedKeys(Vec<String>),
    /// Several values are the same metric, such as `a.b` and `b` in `a`.
    #[error("several values of the same metric: {}", .0.join(", "))]
    RepeatedMetrics(Vec<MetricName>),
    /// The framework is not installed where the script was executed.
    #[error("the framework `{0}` is not installed where the script was executed")]
    NotInstalled(String),
    /// There is nothing to record.
    #[error("`@result` has no number")]
    NoNumber,
    /// A parameter was given, and the script reports another value.
    #[error("{variable}={given} was given, but `@parameters` reports `{key}` as {echoed}")]
    ParameterIgnored {
        /// The environment variable.
        variable: String,
        /// Its value.
        given: String,
        /// The key of the parameter.
        key: String,
        /// The value that the script reports.
        echoed: String,
    },
    /// A parameter was given that the script does not report.
    #[error("{0} was given, but `@parameters` has no such key")]
    ParameterUnknown(String),
    /// The script failed.
    #[error("the script failed: {0}")]
    ScriptFailed(String),
    /// Two scripts have the same name, framework and parameters, and are different.
    #[error("`{name}` is also the identity of {other}, which is a different script")]
    SameIdentity {
        /// The name.
        name: String,
        /// The other script.
        other: String,
    },
    /// There is no score.
    #[error("there is no `overall_score`")]
    NoScore,
    /// Metrics have no declared direction.
    #[error("no unit and direction declared for {}", .0.join(", "))]
    Undeclared(Vec<MetricName>),
    /// The framework has its older name.
    #[error("the framework is given as `component`")]
    ComponentKey,
    /// The framework is not written as a package is.
    #[error("`{0}` is not in lower case")]
    FrameworkCase(String),
    /// Results that are no numbers.
    #[error("not a number, and therefore not a metric: {}", .0.join(", "))]
    NotMetrics(Vec<String>),
    /// A parameter has values of different types in two scripts of one name.
    #[error("`{key}` is {here} here and {there} in {other}")]
    MixedTypes {
        /// The parameter.
        key: String,
        /// The type in this script.
        here: &'static str,
        /// The type in the other one.
        there: &'static str,
        /// The other script.
        other: String,
    },
}

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FindingWeight {
    /// The output cannot be used.
    Breach,
    /// The output can be used.
    Warning,
}

impl ContractFinding {
    /// Returns how serious it is.
    pub fn weight(&self) -> FindingWeight {
        match self {
            Self::NoOutput
            | Self::NotAnObject { .. }
            | Self::OtherText
            | Self::MissingKey { .. }
            | Self::WrongType { .. }
            | Self::SharedKeys { .. }
            | Self::RepeatedKeys { .. }
            | Self::RepeatedMetrics { .. }
            | Self::NotInstalled { .. }
            | Self::NoNumber
            | Self::ParameterIgnored { .. }
            | Self::ParameterUnknown { .. }
            | Self::ScriptFailed { .. }
            | Self::SameIdentity { .. } => FindingWeight::Breach,
            Self::NoScore
            | Self::Undeclared { .. }
            | Self::ComponentKey
            | Self::FrameworkCase { .. }
            | Self::NotMetrics { .. }
            | Self::MixedTypes { .. } => FindingWeight::Warning,
        }
    }
}
