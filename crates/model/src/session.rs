use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Id, Object};

/// One invocation of `lapwing run` or of pytest, or one imported file; holds runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// Identifies the session.
    pub id: Id,
    /// The suite that its benchmarks belong to.
    pub suite: String,
    /// When it began.
    pub started: Timestamp,
    /// The seed of its random order, where it had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The program that measured, with its version.
    pub tool: String,
    /// A name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
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

/// Where the start of a session comes from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum StartedFrom {
    /// The measurement itself, or the imported source; without a file the time of the import.
    #[default]
    Source,
    /// A date in the name of the imported file.
    FileName,
    /// The time at which the imported file was last changed, which copying changes.
    FileTime,
}

impl StartedFrom {
    /// The key of the attribute `source` of a session that has the name.
    pub const KEY: &str = "started_from";

    const ALL: [Self; 3] = [Self::Source, Self::FileName, Self::FileTime];

    /// Returns its name: `file_time`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::FileName => "file_name",
            Self::FileTime => "file_time",
        }
    }

    /// Returns what a name means; an unknown one is a source.
    pub fn named(name: &str) -> Self {
        let mut all = Self::ALL.into_iter();
        all.find(|it| it.name() == name).unwrap_or_default()
    }
}

impl Session {
    /// Returns where its start comes from; the source itself if that was not recorded.
    pub fn started_from(&self) -> StartedFrom {
        let from = self.about_source(StartedFrom::KEY);
        from.map(StartedFrom::named).unwrap_or_default()
    }

    /// Returns the file that it was imported from.
    pub fn source_file(&self) -> Option<&str> {
        self.about_source("file")
    }

    fn about_source(&self, key: &str) -> Option<&str> {
        self.attributes.get("source")?.get(key)?.as_str()
    }

    /// Returns its name, or else its id.
    pub fn label(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.id.to_string())
    }
}
