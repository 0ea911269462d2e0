//! Results of the store: filters, instances in columns, runs and sessions.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;

use super::Iterations;
use lapwing_model::{
    Id, Instance, InstanceEnd, Levels, MetricName, Object, Run, Session, StartedFrom, Summary,
    Version,
};

/// Which part of the store is asked for. Empty lists and `None` let everything pass;
/// several entries of one list are alternatives, the lists all have to agree.
///
/// `sample::SampleFilter` finds the sessions and runs by what people call them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter {
    /// The sessions.
    pub sessions: Option<BTreeSet<Id>>,
    /// The runs.
    pub runs: Option<BTreeSet<Id>>,
    /// Benchmark ids: the whole id, a pattern with `*` and `?`, or a part of the id.
    pub benchmarks: Vec<String>,
    /// Tags.
    pub tags: Vec<String>,
    /// Metric names.
    pub metrics: Vec<MetricName>,
    /// Hosts of instances, or patterns for them with `*` and `?`.
    pub hosts: Vec<String>,
    /// Outcomes of instances.
    pub outcomes: Vec<String>,
    /// Whether retired measurements are included.
    pub retired: Retired,
}

impl Filter {
    /// Returns the filter that only this session passes.
    pub fn of_session(session: Id) -> Self {
        Self {
            sessions: Some(BTreeSet::from([session])),
            ..Self::default()
        }
    }

    /// Returns the filter that lets the same pass, and what was retired as well.
    #[must_use]
    pub fn with_retired(&self) -> Self {
        Self {
            retired: Retired::Show,
            ..self.clone()
        }
    }
}

/// Whether retired measurements are included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Retired {
    /// They are excluded.
    #[default]
    LeaveOut,
    /// They are included.
    Show,
}

/// One benchmark with everything recorded of it that passes a filter, under the names of today.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedBenchmark {
    /// The suite that it belongs to.
    pub suite: String,
    /// Its id.
    pub id: String,
    /// Its instances by start of session, then position, then attempt.
    pub instances: Vec<InstanceData>,
    /// The definitions of all of its instances in that order, also of those that do not pass; empty
    /// where all are the same.
    pub definitions: Vec<Definition>,
}

/// The definition of a benchmark by one of its instances.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// The instance.
    pub instance: Id,
    /// The id that the benchmark was recorded with.
    pub id: String,
    /// How often the benchmark of that id was renamed since.
    pub renames: usize,
    /// The variant of its run.
    pub variant: String,
    /// The fingerprint.
    pub fingerprint: Option<String>,
    /// The parameters.
    pub params: Object,
}

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionHead {
    /// Its id.
    pub id: Id,
    /// Its name for people.
    pub name: Option<String>,
    /// Its suite.
    pub suite: String,
    /// When it started.
    pub started: Timestamp,
}

/// A run in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunHead {
    /// Its id.
    pub id: Id,
    /// The id of its session.
    pub session: Id,
    /// The name of its session.
    pub session_name: Option<String>,
    /// Its suite.
    pub suite: String,
    /// When its session started.
    pub started: Timestamp,
    /// Its variant.
    pub variant: String,
    /// Its levels of factors, as people read them.
    #[serde(skip)]
    pub levels: Levels,
    /// Name of the version under test.
    pub version: Option<String>,
    /// Commit of the version under test.
    pub commit: Option<String>,
    /// Branch of the version under test.
    #[serde(skip)]
    pub branch: Option<String>,
    /// Date of the version under test, as it was recorded.
    #[serde(skip)]
    pub version_date: Option<String>,
    /// Whether the working tree differed from the commit.
    #[serde(skip)]
    pub dirty: Option<bool>,
    /// Where the start of its session comes from.
    #[serde(skip)]
    pub started_from: StartedFrom,
    /// The file that its session was imported from.
    #[serde(skip)]
    pub file: Option<String>,
}

/// The first instance of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FirstInstance {
    /// The earliest start of an instance, if all of them have one.
    pub started: Option<Timestamp>,
    /// The first position of an instance in the order of the session, which for imports is that of the source.
    pub position: u32,
    /// The hosts of all instances.
    pub hosts: Vec<String>,
}

impl RunHead {
    /// Returns the shortest text that tells its version from others, as [`Version::label`].
    pub fn version_label(&self) -> Option<String> {
        Version::label_of(self.version.as_deref(), self.commit.as_deref(), self.dirty)
    }
}

/// One instance with its iterations.
#[derive(Debug, Clone, PartialEq)]
pub struct InstanceData {
    /// The session that it belongs to.
    pub session: Arc<Session>,
    /// The run that it belongs to.
    pub run: Arc<Run>,
    /// The instance, under the id that it was recorded with; the fingerprint is that of its epoch
    /// (`docs/history.md`).
    pub instance: Instance,
    /// The fingerprint that it was recorded with.
    pub recorded_fingerprint: Option<String>,
    /// How it ended, if recorded.
    pub end: Option<InstanceEnd>,
    /// Its iterations by index.
    pub iterations: Iterations,
    /// Summaries of a source without samples.
    pub summaries: Vec<Summary>,
}
