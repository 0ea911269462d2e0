use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::named::named;
use super::{Id, Instance, InstanceEnd, Iteration, Object, Run, Session, Span, Summary};

/// What people say later: rename, retire, triage, explain. Undone by another annotation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Annotation {
    /// Identifies the annotation.
    pub id: Id,
    /// When it was said.
    pub at: Timestamp,
    /// Who said it.
    pub by: String,
    /// What is to be done.
    pub action: String,
    /// What it is about.
    #[serde(default)]
    pub target: Object,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Keys that this version does not know.
    #[serde(flatten)]
    pub extra: Object,
}

/// Anything that is kept: one line of record v1.
///
/// Parents come before their children.
#[derive(Debug, Clone, PartialEq)]
pub enum Record {
    /// A session begins.
    Session(Session),
    /// A run begins.
    Run(Run),
    /// An instance begins.
    Instance(Instance),
    /// An iteration was measured.
    Iteration(Iteration),
    /// A piece of a task graph was measured.
    Span(Span),
    /// An instance ended.
    InstanceEnd(InstanceEnd),
    /// A source without samples says this.
    Summary(Summary),
    /// Somebody says this.
    Annotation(Annotation),
}

/// The kind of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the variants are those of `Record`")]
pub enum RecordKind {
    Session,
    Run,
    Instance,
    Iteration,
    Span,
    InstanceEnd,
    Summary,
    Annotation,
}

impl Record {
    /// Returns the kind.
    pub fn kind(&self) -> RecordKind {
        match self {
            Self::Session(_) => RecordKind::Session,
            Self::Run(_) => RecordKind::Run,
            Self::Instance(_) => RecordKind::Instance,
            Self::Iteration(_) => RecordKind::Iteration,
            Self::Span(_) => RecordKind::Span,
            Self::InstanceEnd(_) => RecordKind::InstanceEnd,
            Self::Summary(_) => RecordKind::Summary,
            Self::Annotation(_) => RecordKind::Annotation,
        }
    }

    /// Returns the instance that it is, or belongs to.
    pub fn instance(&self) -> Option<Id> {
        match self {
            Self::Instance(instance) => Some(instance.id),
            Self::Iteration(iteration) => Some(iteration.instance),
            Self::Span(span) => Some(span.instance),
            Self::InstanceEnd(end) => Some(end.instance),
            Self::Summary(summary) => Some(summary.instance),
            Self::Session(_) | Self::Run(_) | Self::Annotation(_) => None,
        }
    }
}

// Parents before children.
named!(
    RecordKind: Session "session", Run "run", Instance "instance", Iteration "iteration", Span "span",
    InstanceEnd "instance_end", Summary "summary", Annotation "annotation"
);
