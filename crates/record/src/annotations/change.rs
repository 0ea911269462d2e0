//! The annotations that act when measurements are read, and their keys in `target`.

use jiff::Timestamp;
use serde_json::Value;

use super::triage::Triage;
use crate::InstanceData;
use lapwing_model::{Annotation, Id, MetricName, Object, Version, matches_pattern};

/// The effect of an annotation on the analysis.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// A benchmark goes on under another id.
    Rename {
        /// Its suite; every one where there is none.
        suite: Option<String>,
        /// The id that it had.
        benchmark: String,
        /// The id that it has now.
        new: String,
    },
    /// A metric goes on under another name.
    RenameMetric {
        /// The suite of the benchmarks; every one where there is none.
        suite: Option<String>,
        /// The id of the benchmark, or a pattern.
        benchmark: String,
        /// Whether `benchmark` is an id though it looks like a pattern.
        exactly: bool,
        /// The name that it had.
        metric: MetricName,
        /// The name that it has now.
        new: MetricName,
    },
    /// Past measurements are excluded from analysis.
    Retire(Retirement),
    /// Changes in the history raise no alarm.
    Triage(Triage),
    /// Another annotation does not hold any more.
    Restore {
        /// That annotation.
        annotation: Id,
    },
}

/// Measurements that are excluded from analysis.
#[derive(Debug, Clone, PartialEq)]
pub struct Retirement {
    /// The suite of the benchmarks; every one where there is none.
    pub suite: Option<String>,
    /// The id of the benchmark, or a pattern.
    pub benchmark: String,
    /// Whether `benchmark` is an id though it looks like a pattern.
    pub exactly: bool,
    /// Only this metric; the whole where there is none.
    pub metric: Option<MetricName>,
    /// Only this version: its name, or the beginning of its commit.
    pub version: Option<String>,
    /// Only what began before.
    pub before: Timestamp,
}

impl Change {
    /// Returns the change of an annotation; `None` if its action is unknown or a field is missing.
    pub fn of(annotation: &Annotation) -> Option<Self> {
        let target = &annotation.target;
        // A field that is present must be a text that is not empty.
        let optional = |key: &str| match target.get(key) {
            None | Some(Value::Null) => Some(None),
            Some(Value::String(text)) if !text.is_empty() => Some(Some(text.clone())),
            Some(_) => None,
        };
        let text = |key: &str| optional(key).flatten();
        // The suite of everything that no suite was given for may have no name.
        let suite = match target.get("suite") {
            None | Some(Value::Null) => Some(None),
            Some(Value::String(text)) => Some(Some(text.clone())),
            Some(_) => None,
        };
        let exactly = target.get("exactly").and_then(Value::as_bool) == Some(true);
        match annotation.action.as_str() {
            "rename" => match optional("metric")? {
                Some(metric) => Some(Self::RenameMetric {
                    suite: suite.clone()?,
                    benchmark: text("benchmark")?,
                    exactly,
                    metric,
                    new: text("new")?,
                }),
                None => Some(Self::Rename {
                    suite: suite.clone()?,
                    benchmark: text("benchmark")?,
                    new: text("new")?,
                }),
            },
            "retire" => Some(Self::Retire(Retirement {
                suite: suite.clone()?,
                benchmark: text("benchmark")?,
                exactly,
                metric: optional("metric")?,
                version: optional("version")?,
                before: match optional("before")? {
                    Some(before) => before.parse().ok()?,
                    None => annotation.at,
                },
            })),
            Triage::ACTION => Triage::of(annotation).map(Self::Triage),
            "restore" => Some(Self::Restore {
                annotation: text("annotation")?.parse().ok()?,
            }),
            _other => None,
        }
    }

    /// Returns the name of the action.
    pub fn action(&self) -> &'static str {
        match self {
            Self::Rename { .. } | Self::RenameMetric { .. } => "rename",
            Self::Retire(_) => "retire",
            Self::Triage(_) => Triage::ACTION,
            Self::Restore { .. } => "restore",
        }
    }

    /// Returns the annotation's target.
    pub fn target(&self) -> Object {
        let mut target = Object::new();
        if self.is_exact() {
            target.insert("exactly".to_owned(), Value::Bool(true));
        }
        let mut put = |key: &str, text: Option<String>| {
            if let Some(text) = text {
                target.insert(key.to_owned(), Value::from(text));
            }
        };
        match self.clone() {
            Self::Rename {
                suite,
                benchmark,
                new,
            } => {
                put("suite", suite);
                put("benchmark", Some(benchmark));
                put("new", Some(new));
            }
            Self::RenameMetric {
                suite,
                benchmark,
                exactly: _,
                metric,
                new,
            } => {
                put("suite", suite);
                put("benchmark", Some(benchmark));
                put("metric", Some(metric));
                put("new", Some(new));
            }
            Self::Retire(retirement) => {
                put("suite", retirement.suite);
                put("benchmark", Some(retirement.benchmark));
                put("metric", retirement.metric);
                put("version", retirement.version);
                put("before", Some(retirement.before.to_string()));
            }
            Self::Triage(triage) => triage.put(&mut target),
            Self::Restore { annotation } => put("annotation", Some(annotation.to_string())),
        }
        target
    }

    /// Returns whether it is about a benchmark that has, or once had, one of these ids.
    pub fn is_about(&self, suite: &str, ids: &[&str]) -> bool {
        let (of_suite, benchmark, exactly) = match self {
            // It is of one benchmark, whatever its id looks like.
            Self::Rename {
                suite, benchmark, ..
            } => (suite, benchmark, true),
            Self::RenameMetric {
                suite,
                benchmark,
                exactly,
                ..
            } => (suite, benchmark, *exactly),
            Self::Retire(it) => return it.is_about(suite, ids),
            Self::Triage(it) => return it.is_about(suite, ids),
            Self::Restore { .. } => return false,
        };
        means(of_suite.as_deref(), benchmark, exactly, suite, ids)
    }

    fn is_exact(&self) -> bool {
        match self {
            Self::RenameMetric { exactly, .. } => *exactly,
            Self::Retire(it) => it.exactly,
            Self::Triage(it) => it.exactly,
            Self::Rename { .. } | Self::Restore { .. } => false,
        }
    }

    /// Returns whether this change replaces an earlier one of the same name.
    pub(super) fn supersedes(&self, earlier: &Self) -> bool {
        let covers = |one: &Option<String>, other: &Option<String>| one.is_none() || one == other;
        match (self, earlier) {
            (
                Self::Rename {
                    suite,
                    benchmark,
                    new: _,
                },
                Self::Rename {
                    suite: its_suite,
                    benchmark: its_benchmark,
                    new: _,
                },
            ) => benchmark == its_benchmark && covers(suite, its_suite),
            (
                Self::RenameMetric {
                    suite,
                    benchmark,
                    exactly,
                    metric,
                    new: _,
                },
                Self::RenameMetric {
                    suite: its_suite,
                    benchmark: its_benchmark,
                    exactly: its_exactly,
                    metric: its_metric,
                    new: _,
                },
            ) => {
                (benchmark, exactly, metric) == (its_benchmark, its_exactly, its_metric)
                    && covers(suite, its_suite)
            }
            (
                Self::Rename { .. }
                | Self::RenameMetric { .. }
                | Self::Retire(_)
                | Self::Triage(_)
                | Self::Restore { .. },
                _,
            ) => false,
        }
    }
}

impl Retirement {
    /// Returns whether it is about a benchmark that has, or once had, one of these ids.
    pub(crate) fn is_about(&self, suite: &str, ids: &[&str]) -> bool {
        let of_suite = self.suite.as_deref();
        means(of_suite, &self.benchmark, self.exactly, suite, ids)
    }

    /// Returns whether it is about what an instance of such a benchmark measured.
    pub fn covers(&self, it: &InstanceData) -> bool {
        let begun = it.instance.started.unwrap_or(it.session.started);
        begun < self.before && self.is_of(&it.run.version)
    }

    fn is_of(&self, version: &Version) -> bool {
        self.version.as_ref().is_none_or(|wanted| {
            let commit = version.commit.as_deref();
            version.name.as_ref() == Some(wanted)
                || commit.is_some_and(|commit| commit.starts_with(wanted.as_str()))
        })
    }
}

pub(super) fn means(
    of_suite: Option<&str>,
    benchmark: &str,
    exactly: bool,
    suite: &str,
    ids: &[&str],
) -> bool {
    of_suite.is_none_or(|it| it == suite)
        && ids
            .iter()
            .any(|id| benchmark == *id || !exactly && matches_pattern(benchmark, id))
}
