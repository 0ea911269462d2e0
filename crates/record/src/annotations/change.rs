//! The annotations that act when measurements are read, and their keys in `target`.

use jiff::Timestamp;
use serde_json::Value;

use super::triage::Triage;
use crate::InstanceData;
use lapwing_model::{Annotation, Id, MetricName, Object, matches_pattern};

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
    /// A session is to be deleted from the stores that share it.
    Withdraw {
        /// The session.
        session: Id,
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
        let optional = |key: &str| {
            let text = text_of(target, key)?;
            (text.as_deref() != Some("")).then_some(text)
        };
        let text = |key: &str| optional(key).flatten();
        // The suite of everything that no suite was given for may have no name.
        let suite = || text_of(target, "suite");
        let exactly = is_exact(target);
        match annotation.action.as_str() {
            "rename" => match optional("metric")? {
                Some(metric) => Some(Self::RenameMetric {
                    suite: suite()?,
                    benchmark: text("benchmark")?,
                    exactly,
                    metric,
                    new: text("new")?,
                }),
                None => Some(Self::Rename {
                    suite: suite()?,
                    benchmark: text("benchmark")?,
                    new: text("new")?,
                }),
            },
            "retire" => Some(Self::Retire(Retirement {
                suite: suite()?,
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
            "withdraw" => Some(Self::Withdraw {
                session: text("session")?.parse().ok()?,
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
            Self::Withdraw { .. } => "withdraw",
        }
    }

    /// Returns the annotation's target.
    pub fn target(&self) -> Object {
        let mut target = Object::new();
        let mut put = |key: &str, text: Option<String>| put(&mut target, key, text);
        let mut is_exact = false;
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
                exactly,
                metric,
                new,
            } => {
                is_exact = exactly;
                put("suite", suite);
                put("benchmark", Some(benchmark));
                put("metric", Some(metric));
                put("new", Some(new));
            }
            Self::Retire(retirement) => {
                is_exact = retirement.exactly;
                put("suite", retirement.suite);
                put("benchmark", Some(retirement.benchmark));
                put("metric", retirement.metric);
                put("version", retirement.version);
                put("before", Some(retirement.before.to_string()));
            }
            Self::Triage(triage) => {
                is_exact = triage.exactly;
                triage.put(&mut target);
            }
            Self::Restore { annotation } => put("annotation", Some(annotation.to_string())),
            Self::Withdraw { session } => put("session", Some(session.to_string())),
        }
        if is_exact {
            target.insert(EXACTLY.to_owned(), Value::Bool(true));
        }
        target
    }

    /// Returns the measurements that it excludes.
    pub(crate) fn retirement(&self) -> Option<&Retirement> {
        match self {
            Self::Retire(retirement) => Some(retirement),
            Self::Rename { .. }
            | Self::RenameMetric { .. }
            | Self::Triage(_)
            | Self::Restore { .. }
            | Self::Withdraw { .. } => None,
        }
    }

    /// Returns the session that it withdraws.
    pub(crate) fn withdrawn(&self) -> Option<Id> {
        match self {
            Self::Withdraw { session } => Some(*session),
            Self::Rename { .. }
            | Self::RenameMetric { .. }
            | Self::Retire(_)
            | Self::Triage(_)
            | Self::Restore { .. } => None,
        }
    }

    /// Returns the annotation that it undoes.
    pub(crate) fn restored(&self) -> Option<Id> {
        match self {
            Self::Restore { annotation } => Some(*annotation),
            Self::Rename { .. }
            | Self::RenameMetric { .. }
            | Self::Retire(_)
            | Self::Triage(_)
            | Self::Withdraw { .. } => None,
        }
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
            Self::Retire(retirement) => return retirement.is_about(suite, ids),
            Self::Triage(triage) => return triage.is_about(suite, ids),
            Self::Restore { .. } | Self::Withdraw { .. } => return false,
        };
        means(of_suite.as_deref(), benchmark, exactly, suite, ids)
    }

    /// Returns whether this change replaces an earlier one of the same name: they are equal, apart from the new name,
    /// and from the suite if this one is about all.
    pub(super) fn supersedes(&self, earlier: &Self) -> bool {
        let mut earlier = earlier.clone();
        let (
            Self::Rename { suite, new, .. } | Self::RenameMetric { suite, new, .. },
            Self::Rename {
                suite: its_suite,
                new: its_new,
                ..
            }
            | Self::RenameMetric {
                suite: its_suite,
                new: its_new,
                ..
            },
        ) = (self, &mut earlier)
        else {
            return false;
        };
        its_new.clone_from(new);
        if suite.is_none() {
            *its_suite = None;
        }
        *self == earlier
    }
}

impl Retirement {
    /// Returns whether it is about a benchmark that has, or once had, one of these ids.
    pub(crate) fn is_about(&self, suite: &str, ids: &[&str]) -> bool {
        let of_suite = self.suite.as_deref();
        means(of_suite, &self.benchmark, self.exactly, suite, ids)
    }

    /// Returns whether it is about what an instance of such a benchmark measured.
    pub fn covers(&self, measured: &InstanceData) -> bool {
        let begun = measured.instance.started;
        let version = &measured.run.version;
        begun.unwrap_or(measured.session.started) < self.before
            && self.version.as_ref().is_none_or(|wanted| {
                let commit = version.commit.as_deref();
                version.name.as_ref() == Some(wanted)
                    || commit.is_some_and(|commit| commit.starts_with(wanted.as_str()))
            })
    }
}

/// The key that says that a benchmark is meant by its id, though that looks like a pattern.
const EXACTLY: &str = "exactly";

pub(super) fn is_exact(target: &Object) -> bool {
    target.get(EXACTLY).and_then(Value::as_bool) == Some(true)
}

/// Returns a text of a target, nothing in its place if it is absent; `None` if it is something else.
pub(super) fn text_of(target: &Object, key: &str) -> Option<Option<String>> {
    match target.get(key) {
        None | Some(Value::Null) => Some(None),
        Some(Value::String(text)) => Some(Some(text.clone())),
        Some(_) => None,
    }
}

pub(super) fn put(target: &mut Object, key: &str, text: Option<String>) {
    if let Some(text) = text {
        target.insert(key.to_owned(), Value::from(text));
    }
}

pub(super) fn means(
    of_suite: Option<&str>,
    benchmark: &str,
    exactly: bool,
    suite: &str,
    ids: &[&str],
) -> bool {
    of_suite.is_none_or(|wanted| wanted == suite)
        && ids
            .iter()
            .any(|id| benchmark == *id || !exactly && matches_pattern(benchmark, id))
}
