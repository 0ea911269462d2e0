//! The order of runs in the history of a benchmark.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::BenchmarkData;
use lapwing_model::{Id, Run, Session, Version};
use lapwing_record::{InstanceData, RunHead};

/// A position in a history: the measurements of one version in one session. Positions are ordered by the versions'
/// dates, those of one date by the time of measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct HistoryPosition {
    /// The version's date; without one, that of the newest version measured before it. `None` if no such version has
    /// a date.
    pub version_date: Option<Timestamp>,
    /// When the session last measured the benchmark. The start of the session would misplace the jobs of a CI that
    /// run side by side: one that began first may reach a benchmark last.
    pub measured: Timestamp,
    /// The session.
    pub session: Id,
    /// The first run of that version in the session.
    pub first_run: Id,
}

/// The properties that determine a run's position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunMoment {
    /// The run.
    pub run: Id,
    /// Its session.
    pub session: Id,
    /// When the session last measured the benchmark, or its start if that is unknown.
    pub measured: Timestamp,
    /// The version's name, if known.
    pub version: Option<String>,
    /// The version's date, if known.
    pub version_date: Option<Timestamp>,
}

impl RunMoment {
    fn of(session: &Session, run: &Run, measured: Timestamp) -> Self {
        Self {
            run: run.id,
            session: session.id,
            measured,
            version: run.version.label(),
            version_date: version_date(&run.version),
        }
    }
}

/// The positions of runs.
#[derive(Debug, Default)]
pub struct History {
    positions: BTreeMap<Id, HistoryPosition>,
}

impl History {
    /// Returns the positions of the runs of a benchmark.
    pub fn of(data: &BenchmarkData) -> Self {
        Self::of_instances(&data.instances)
    }

    /// Returns the positions of these runs of the catalogue.
    pub fn of_runs(runs: &[RunHead]) -> Self {
        Self::among(runs.iter().map(|run| RunMoment {
            run: run.id,
            session: run.session,
            measured: run.started,
            version: run.version.clone().or_else(|| run.commit.clone()),
            version_date: run.version_date.as_deref().and_then(parse_date),
        }))
    }

    /// Returns the positions of the runs of a benchmark by the starts of their sessions, which are the same for all
    /// benchmarks of a session.
    pub fn of_sessions(data: &BenchmarkData) -> Self {
        let mut seen = BTreeSet::new();
        let runs = data.instances.iter().filter(|it| seen.insert(it.run.id));
        Self::of_session_runs(runs.map(|it| (&*it.session, &*it.run)))
    }

    /// Returns the positions of runs by the starts of their sessions.
    pub(crate) fn of_session_runs<'r>(
        runs: impl IntoIterator<Item = (&'r Session, &'r Run)>,
    ) -> Self {
        let runs = runs.into_iter();
        Self::among(runs.map(|(session, run)| RunMoment::of(session, run, session.started)))
    }

    /// Returns the positions of the runs that instances belong to.
    pub(crate) fn of_instances(instances: &[InstanceData]) -> Self {
        let mut measured: BTreeMap<Id, Timestamp> = BTreeMap::new();
        for InstanceData {
            session, instance, ..
        } in instances
        {
            let newest = measured.entry(session.id).or_insert(session.started);
            *newest = (*newest).max(instance.started.unwrap_or(session.started));
        }
        let mut seen = BTreeSet::new();
        let runs = instances.iter().filter(|it| seen.insert(it.run.id));
        Self::among(runs.map(|it| RunMoment::of(&it.session, &it.run, measured[&it.session.id])))
    }

    /// Returns the positions of these runs, each of which may be given several times.
    pub fn among(moments: impl IntoIterator<Item = RunMoment>) -> Self {
        let mut moments: Vec<RunMoment> = moments.into_iter().collect();
        moments.sort_by_key(|it| (it.measured, it.session, it.run));
        moments.dedup_by_key(|it| it.run);
        let mut newest: Option<Timestamp> = None;
        let mut positions = BTreeMap::new();
        for session in moments.chunk_by(|a, b| a.session == b.session) {
            newest = session
                .iter()
                .filter_map(|it| it.version_date)
                .fold(newest, |a, b| a.max(Some(b)));
            for moment in session {
                let same = |other: &&RunMoment| {
                    (&other.version, other.version_date) == (&moment.version, moment.version_date)
                };
                positions.insert(
                    moment.run,
                    HistoryPosition {
                        version_date: moment.version_date.or(newest),
                        measured: moment.measured,
                        session: moment.session,
                        // They are in order, so the first one has the smallest id.
                        first_run: session
                            .iter()
                            .find(same)
                            .map_or(moment.run, |first| first.run),
                    },
                );
            }
        }
        Self { positions }
    }

    /// Returns the position of a run.
    pub fn position(&self, run: &Id) -> Option<HistoryPosition> {
        self.positions.get(run).copied()
    }
}

/// Returns the date of a version; without an offset it is read as UTC.
pub fn version_date(version: &Version) -> Option<Timestamp> {
    parse_date(version.date.as_deref()?)
}

/// Returns the date of a version from its text.
pub(crate) fn parse_date(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    text.parse().ok().or_else(|| {
        let local: DateTime = text.parse().ok()?;
        Some(local.to_zoned(TimeZone::UTC).ok()?.timestamp())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the versions of runs, identified by session and date of version, in their order.
    fn order(runs: &[(i64, &str, Option<i64>)]) -> String {
        let id = |number: i64| Id::derived(&[&number.to_le_bytes()]);
        let at = |second| Timestamp::from_second(second).expect("a time");
        let moments: Vec<RunMoment> = runs
            .iter()
            .zip(1_000..)
            .map(|((session, version, date), number)| RunMoment {
                run: id(number),
                session: id(*session),
                measured: at(*session),
                version: Some((*version).to_owned()),
                version_date: date.map(at),
            })
            .collect();
        let order = History::among(moments.clone());
        let place = |it: &RunMoment| order.position(&it.run).expect("a position");
        let mut sorted: Vec<&RunMoment> = moments.iter().collect();
        sorted.sort_by_key(|it| place(it));
        let texts: Vec<String> = sorted
            .chunk_by(|a, b| place(a) == place(b))
            .map(|of_one| {
                let names = of_one.iter().filter_map(|it| it.version.clone());
                names.collect::<Vec<_>>().join("=")
            })
            .collect();
        texts.join(" ")
    }

    #[test]
    fn each_version_of_a_session_has_its_place_by_its_date() {
        let backfill = [(9, "c", Some(3)), (9, "a", Some(1)), (9, "b", Some(2))];
        assert_eq!(order(&backfill), "a b c");
        let in_two_steps = [
            (8, "a", Some(1)),
            (8, "d", Some(4)),
            (9, "b", Some(2)),
            (9, "c", Some(3)),
        ];
        assert_eq!(order(&in_two_steps), "a b c d");
        let two_settings = [(8, "a", Some(1)), (8, "a", Some(1)), (9, "a", Some(1))];
        assert_eq!(order(&two_settings), "a=a a");
    }

    #[test]
    fn a_version_without_a_date_stands_behind_the_newest_one_measured_until_then() {
        let runs = [
            (10, "first", None),
            (11, "a", Some(5)),
            (12, "between", None),
            (13, "old", Some(1)),
            (14, "b", Some(6)),
        ];
        assert_eq!(order(&runs), "first old a between b");
        let undated = [(3, "x", None), (1, "y", None), (2, "z", None)];
        assert_eq!(order(&undated), "y z x");
    }

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
