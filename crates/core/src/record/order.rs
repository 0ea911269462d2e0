//! The order in which the sessions of a benchmark are shown.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::BenchmarkData;
use crate::model::{Id, Session, Version};

/// The order of a benchmark's sessions: by their versions' dates where every run has one, since
/// a history may be measured backwards, else by when they began.
#[derive(Debug)]
pub(crate) struct Order {
    /// The date of each session's newest version; empty where sessions stand by their start.
    versions: BTreeMap<Id, Timestamp>,
}

impl Order {
    /// Returns the order of the sessions that the data have.
    pub(crate) fn of(data: &BenchmarkData) -> Self {
        let mut versions: BTreeMap<Id, Timestamp> = BTreeMap::new();
        for instance in &data.instances {
            let Some(date) = version_date(&instance.run.version) else {
                versions.clear();
                break;
            };
            let newest = versions.entry(instance.session.id).or_insert(date);
            *newest = date.max(*newest);
        }
        Self { versions }
    }

    /// Returns by what a session is put in order.
    pub(crate) fn key(&self, session: &Session) -> (Option<Timestamp>, Timestamp, Id) {
        (self.version_date(session.id), session.started, session.id)
    }

    /// Returns the date of a session's newest version, where that is what puts it in order.
    pub(crate) fn version_date(&self, session: Id) -> Option<Timestamp> {
        self.versions.get(&session).copied()
    }
}

/// Returns when a version is of; without an offset it is taken as UTC.
pub(crate) fn version_date(version: &Version) -> Option<Timestamp> {
    let text = version.date.as_deref()?.trim();
    text.parse().ok().or_else(|| {
        let local: DateTime = text.parse().ok()?;
        Some(local.to_zoned(TimeZone::UTC).ok()?.timestamp())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_s_date_may_lack_its_offset_or_its_time() {
        let of = |text: &str| {
            let date = version_date(&Version {
                date: Some(text.to_owned()),
                ..Version::default()
            });
            date.map(|date| date.to_string())
        };
        assert_eq!(
            of("2026-01-02T03:04:05+01:00").as_deref(),
            Some("2026-01-02T02:04:05Z")
        );
        assert_eq!(
            of("2026-01-02 03:04:05").as_deref(),
            Some("2026-01-02T03:04:05Z")
        );
        assert_eq!(of("2026-01-02").as_deref(), Some("2026-01-02T00:00:00Z"));
        assert_eq!(of("last week"), None);
    }
}
