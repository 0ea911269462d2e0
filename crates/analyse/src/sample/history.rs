//! The order of runs in the history of a benchmark.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::BenchmarkData;
use super::file_dates::dates_in;
use super::order::RunOrder;
use lapwing_model::{Id, StartedFrom, Version};
use lapwing_record::{InstanceData, RunHead};

/// A position in a history: the measurements of one version in one session. Positions are ordered by the versions'
/// commits where the repository is known, then by their dates, then by rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct HistoryPosition {
    /// The number of its commit on the default branch, or of the newest one that is not younger; 0 if unknown.
    pub commit_number: usize,
    /// The version's date; without one, that of the newest version measured before it. `None` if no such version has
    /// a date.
    pub version_date: Option<Timestamp>,
    /// The rank among all runs by what else tells an order: names, times, the order in the file. It is comparable
    /// within one [`History`] only.
    pub rank: usize,
    /// When the session last measured the benchmark. The start of the session would misplace the jobs of a CI that
    /// run side by side: one that began first may reach a benchmark last.
    pub measured: Timestamp,
    /// The session.
    pub session: Id,
    /// The first run of that version in the session.
    pub first_run: Id,
    /// The basis of the order.
    pub order: RunOrder,
}

impl HistoryPosition {
    /// Returns what identifies it in all histories.
    pub fn key(&self) -> (Id, Id) {
        (self.session, self.first_run)
    }

    /// Returns what puts it in order among positions of several histories, as far as that is known.
    pub fn between_histories(&self) -> (Option<Timestamp>, Timestamp, Id, usize) {
        (self.version_date, self.measured, self.session, self.rank)
    }
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
    /// Its place in its source.
    pub place: SourcePlace,
}

/// The place of a run in its source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourcePlace {
    /// When its first instance started, if known.
    pub started: Option<Timestamp>,
    /// The place of its first instance in the order of the session, which for imports is that of the file.
    pub position: u32,
    /// Where the start of the session comes from.
    pub started_from: StartedFrom,
    /// The file, unless the source says when it was measured.
    pub file: Option<String>,
}

impl SourcePlace {
    /// Returns the place of a run by its first instance.
    pub fn of(instance: &InstanceData) -> Self {
        let session = &instance.session;
        let started_from = session.started_from();
        let is_known = started_from == StartedFrom::Source;
        Self {
            started: instance.instance.started,
            position: instance.instance.position,
            started_from,
            file: (session.source_file().filter(|_| !is_known)).map(str::to_owned),
        }
    }
}

impl RunMoment {
    fn of(instance: &InstanceData, measured: Timestamp) -> Self {
        Self {
            run: instance.run.id,
            session: instance.session.id,
            measured,
            version: instance.run.version.label(),
            version_date: version_date(&instance.run.version),
            place: SourcePlace::of(instance),
        }
    }

    /// Returns the moment of a run of the catalogue; without its place within the session.
    pub(super) fn of_run(run: &RunHead) -> Self {
        let is_known = run.started_from == StartedFrom::Source;
        Self {
            run: run.id,
            session: run.session,
            measured: run.started,
            version: run.version.clone().or_else(|| run.commit.clone()),
            version_date: run.version_date.as_deref().and_then(parse_date),
            place: SourcePlace {
                started_from: run.started_from,
                file: run.file.clone().filter(|_| !is_known),
                ..SourcePlace::default()
            },
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
        Self::among(runs.iter().map(RunMoment::of_run))
    }

    /// Returns the positions of the runs of a benchmark by the starts of their sessions, which are the same for all
    /// benchmarks of a session.
    pub fn of_sessions(data: &BenchmarkData) -> Self {
        Self::of_first(&data.instances, |it| it.session.started)
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
        Self::of_first(instances, |it| measured[&it.session.id])
    }

    /// Returns the positions of the runs of instances, which stand in the order of their positions.
    fn of_first(instances: &[InstanceData], measured: impl Fn(&InstanceData) -> Timestamp) -> Self {
        let mut seen = BTreeSet::new();
        let first = instances.iter().filter(|it| seen.insert(it.run.id));
        Self::among(first.map(|it| RunMoment::of(it, measured(it))))
    }

    /// Returns the positions of these runs, each of which may be given several times.
    pub fn among(moments: impl IntoIterator<Item = RunMoment>) -> Self {
        let moments: Vec<RunMoment> = moments.into_iter().collect();
        Self::along(moments, |_| None).0
    }

    /// Returns the positions of the runs of a suite, and the basis of their order. `commit_number` returns the number
    /// of a run's commit on the default branch, oldest first, from 1 on.
    pub(super) fn along(
        mut moments: Vec<RunMoment>,
        commit_number: impl Fn(&Id) -> Option<usize>,
    ) -> (Self, RunOrder) {
        moments.sort_by_key(|it| (it.measured, it.session, it.run));
        moments.dedup_by_key(|it| it.run);
        date_by_files(&mut moments);
        let dates = filled_dates(&moments);
        let own: Vec<Option<usize>> = moments.iter().map(|it| commit_number(&it.run)).collect();
        let numbers = filled_numbers(&own, &dates);
        let mut order = RunOrder::of(&moments);
        let mut ranked: Vec<usize> = (0..moments.len()).collect();
        // Of runs of one session either all or none are in order of their starts.
        let mut not_started: BTreeSet<Id> = BTreeSet::new();
        for moment in moments.iter().filter(|it| it.place.started.is_none()) {
            not_started.insert(moment.session);
        }
        let start = |it: &RunMoment| {
            it.place
                .started
                .filter(|_| !not_started.contains(&it.session))
        };
        ranked.sort_by(|one, other| {
            let [a, b] = [&moments[*one], &moments[*other]];
            (numbers[*one], dates[*one])
                .cmp(&(numbers[*other], dates[*other]))
                .then_with(|| order.compare(a, b))
                .then_with(|| (a.session, start(a)).cmp(&(b.session, start(b))))
                .then_with(|| (a.place.position, a.run).cmp(&(b.place.position, b.run)))
        });
        if numbers.iter().any(|number| *number > 0) {
            order = RunOrder::Commits;
        }
        let version = |at: usize| {
            let it = &moments[at];
            (it.session, it.version.as_deref(), it.version_date)
        };
        let mut first_runs: BTreeMap<_, Id> = BTreeMap::new();
        for (at, moment) in moments.iter().enumerate() {
            let first = first_runs.entry(version(at)).or_insert(moment.run);
            *first = moment.run.min(*first);
        }
        let mut of_versions: BTreeMap<_, HistoryPosition> = BTreeMap::new();
        let mut positions = BTreeMap::new();
        for (rank, at) in ranked.into_iter().enumerate() {
            let position = of_versions
                .entry(version(at))
                .or_insert_with(|| HistoryPosition {
                    commit_number: numbers[at],
                    version_date: dates[at],
                    rank,
                    measured: moments[at].measured,
                    session: moments[at].session,
                    first_run: first_runs[&version(at)],
                    order,
                });
            positions.insert(moments[at].run, *position);
        }
        (Self { positions }, order)
    }

    /// Adds the positions of runs of another suite.
    pub(super) fn extend(&mut self, other: Self) {
        self.positions.extend(other.positions);
    }

    /// Puts a run where another one is.
    pub(super) fn join(&mut self, run: Id, other: &Id) {
        if let Some(position) = self.position(other) {
            self.positions.insert(run, position);
        }
    }

    /// Returns the position of a run.
    pub fn position(&self, run: &Id) -> Option<HistoryPosition> {
        self.positions.get(run).copied()
    }
}

/// Dates runs by the names of their files, if only the times of the files are known and all names have dates.
fn date_by_files(moments: &mut [RunMoment]) {
    let of_files = moments
        .iter()
        .all(|it| it.place.started_from == StartedFrom::FileTime && it.place.file.is_some());
    if !of_files {
        return;
    }
    let mut files: Vec<&str> = moments
        .iter()
        .filter_map(|it| it.place.file.as_deref())
        .collect();
    files.sort_unstable();
    files.dedup();
    let Some(dates) = dates_in(files.iter().copied()) else {
        return;
    };
    let dates: BTreeMap<String, Timestamp> =
        files.into_iter().map(str::to_owned).zip(dates).collect();
    for moment in &mut *moments {
        let date = moment.place.file.as_ref().and_then(|it| dates.get(it));
        if let Some(date) = date {
            moment.measured = *date;
            moment.place.started_from = StartedFrom::FileName;
        }
    }
    moments.sort_by_key(|it| (it.measured, it.session, it.run));
}

/// Returns the dates of the versions of runs in order of measurement: without one, that of the newest version measured
/// in the session or before it.
fn filled_dates(moments: &[RunMoment]) -> Vec<Option<Timestamp>> {
    let mut newest: Option<Timestamp> = None;
    let mut dates = Vec::with_capacity(moments.len());
    for session in moments.chunk_by(|a, b| a.session == b.session) {
        let of_session = session.iter().filter_map(|it| it.version_date);
        newest = of_session.fold(newest, |a, b| a.max(Some(b)));
        dates.extend(session.iter().map(|it| it.version_date.or(newest)));
    }
    dates
}

/// Returns the numbers of commits; without one, that of the newest commit that is not younger.
fn filled_numbers(own: &[Option<usize>], dates: &[Option<Timestamp>]) -> Vec<usize> {
    let mut by_date: Vec<(Option<Timestamp>, usize)> = own
        .iter()
        .zip(dates)
        .filter_map(|(number, date)| Some((*date, (*number)?)))
        .collect();
    by_date.sort_unstable();
    let mut newest = 0;
    for (_, number) in &mut by_date {
        newest = newest.max(*number);
        *number = newest;
    }
    let until = |date: &Option<Timestamp>| {
        let end = by_date.partition_point(|(other, _)| other <= date);
        end.checked_sub(1).map_or(0, |at| by_date[at].1)
    };
    let numbers = own.iter().zip(dates);
    numbers
        .map(|(number, date)| number.unwrap_or_else(|| until(date)))
        .collect()
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
                place: SourcePlace::default(),
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
