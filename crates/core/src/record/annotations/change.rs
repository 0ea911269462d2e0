//! The annotations that act when measurements are read, and their keys in `target`.

use jiff::Timestamp;
use serde_json::Value;

use crate::model::{Annotation, Id, MetricName, Object, Version, matches_pattern};
use crate::record::InstanceData;

/// What an annotation asks of whoever reads measurements.
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
        /// The name that it had.
        metric: MetricName,
        /// The name that it has now.
        new: MetricName,
    },
    /// What was measured until then counts no more.
    Retire(Retirement),
    /// Another annotation does not hold any more.
    Restore {
        /// That annotation.
        annotation: Id,
    },
}

/// Which measurements count no more.
#[derive(Debug, Clone, PartialEq)]
pub struct Retirement {
    /// The suite of the benchmarks; every one where there is none.
    pub suite: Option<String>,
    /// The id of the benchmark, or a pattern.
    pub benchmark: String,
    /// Only this metric; the whole where there is none.
    pub metric: Option<MetricName>,
    /// Only this version: its name, or the beginning of its commit.
    pub version: Option<String>,
    /// Only what began before.
    pub before: Timestamp,
}

impl Change {
    /// Returns what an annotation asks for; nothing where it is none of these, or says too little.
    pub fn of(annotation: &Annotation) -> Option<Self> {
        let target = &annotation.target;
        let text = |key: &str| target.get(key).and_then(Value::as_str).map(str::to_owned);
        match annotation.action.as_str() {
            "rename" => match text("metric") {
                Some(metric) => Some(Self::RenameMetric {
                    suite: text("suite"),
                    benchmark: text("benchmark")?,
                    metric,
                    new: text("new")?,
                }),
                None => Some(Self::Rename {
                    suite: text("suite"),
                    benchmark: text("benchmark")?,
                    new: text("new")?,
                }),
            },
            "retire" => Some(Self::Retire(Retirement {
                suite: text("suite"),
                benchmark: text("benchmark")?,
                metric: text("metric"),
                version: text("version"),
                before: match text("before") {
                    Some(before) => before.parse().ok()?,
                    None => annotation.at,
                },
            })),
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
            Self::Restore { .. } => "restore",
        }
    }

    /// Returns the annotation's target.
    pub fn target(&self) -> Object {
        let mut target = Object::new();
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
            Self::Restore { annotation } => put("annotation", Some(annotation.to_string())),
        }
        target
    }

    /// Returns whether it is about a benchmark that has, or once had, one of these ids.
    pub(crate) fn is_about(&self, suite: &str, ids: &[&str]) -> bool {
        let (of_suite, benchmark) = match self {
            Self::Rename {
                suite, benchmark, ..
            }
            | Self::RenameMetric {
                suite, benchmark, ..
            } => (suite, benchmark),
            Self::Retire(it) => (&it.suite, &it.benchmark),
            Self::Restore { .. } => return false,
        };
        means(of_suite.as_deref(), benchmark, suite, ids)
    }
}

impl Retirement {
    /// Returns whether it is about a benchmark that has, or once had, one of these ids.
    pub(crate) fn is_about(&self, suite: &str, ids: &[&str]) -> bool {
        means(self.suite.as_deref(), &self.benchmark, suite, ids)
    }

    /// Returns whether it is about what an instance of such a benchmark measured.
    pub(crate) fn covers(&self, it: &InstanceData) -> bool {
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

fn means(of_suite: Option<&str>, benchmark: &str, suite: &str, ids: &[&str]) -> bool {
    of_suite.is_none_or(|it| it == suite)
        && ids
            .iter()
            .any(|id| benchmark == *id || matches_pattern(benchmark, id))
}
