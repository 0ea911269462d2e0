//! The histories of all suites in one order, in which re-runs of a version within hours are one moment.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use super::history::RunMoment;
use super::{CommitLine, History, RunOrder};
use lapwing_model::{Id, StartedFrom};
use lapwing_record::{FirstInstance, RunHead, Store, StoreError};

/// Sessions of one version that start no later than this after the first one are one night. A nightly measurement of an
/// unchanged version a day later is another one.
const NIGHT: SignedDuration = SignedDuration::from_hours(12);

/// The positions of runs of all suites.
#[derive(Debug, Default)]
pub struct SuiteHistories {
    /// The positions.
    pub history: History,
    /// The basis of the order, by suite.
    pub orders: BTreeMap<String, RunOrder>,
}

impl SuiteHistories {
    /// Returns the positions of these runs of a store; `line` has the commits of the default branch, if the repository
    /// is known.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn of(
        store: &Store,
        runs: &[&RunHead],
        line: Option<&CommitLine>,
    ) -> Result<Self, StoreError> {
        let wanted = unclear(runs);
        let first = store.catalogue().first_instances(&wanted)?;
        Ok(Self::among(runs, &first, line))
    }

    /// Returns the positions of runs, of which some have the first instance told.
    pub fn among(
        runs: &[&RunHead],
        first: &BTreeMap<Id, FirstInstance>,
        line: Option<&CommitLine>,
    ) -> Self {
        let mut suites: BTreeMap<&str, Vec<&RunHead>> = BTreeMap::new();
        for run in runs {
            suites.entry(&run.suite).or_default().push(run);
        }
        let mut all = Self::default();
        for (suite, runs) in suites {
            let moments = runs.iter().map(|run| {
                let mut moment = RunMoment::of_run(run);
                if let Some(first) = first.get(&run.id) {
                    moment.place.started = first.started;
                    moment.place.position = first.position;
                }
                moment
            });
            let line = line.filter(|line| line.places(&runs));
            let number = |commit: Option<&str>| line?.place(commit?);
            let numbers: BTreeMap<Id, usize> = runs
                .iter()
                .filter_map(|run| Some((run.id, number(run.commit.as_deref())?)))
                .collect();
            let moments = moments.collect();
            let (history, order) = History::along(moments, |run| numbers.get(run).copied());
            all.history.extend(history);
            all.orders.insert(suite.to_owned(), order);
            for (run, earlier) in rerun(&runs, first) {
                all.history.join(run, &earlier);
            }
        }
        all
    }
}

/// The runs of a version in a session.
struct VersionSession<'r> {
    started: Timestamp,
    runs: Vec<&'r RunHead>,
}

/// Returns the runs of each version by session, in order of time. Versions that are not known, and sessions of which
/// only the time of the file is known, are left out.
fn by_version<'r>(runs: &[&'r RunHead]) -> Vec<Vec<VersionSession<'r>>> {
    let mut versions: BTreeMap<_, BTreeMap<_, Vec<&RunHead>>> = BTreeMap::new();
    for run in runs {
        let Some(label) = run.version_label() else {
            continue;
        };
        if run.started_from == StartedFrom::FileTime {
            continue;
        }
        let of_version = versions
            .entry((&run.suite, label, &run.version_date))
            .or_default();
        of_version
            .entry((run.started, run.session))
            .or_default()
            .push(*run);
    }
    let sessions = versions.into_values().map(|sessions| {
        let sessions = sessions.into_iter();
        let sessions = sessions.map(|((started, _), runs)| VersionSession { started, runs });
        sessions.collect()
    });
    sessions.collect()
}

/// Returns the runs of a suite that repeat a version within hours, each with the first run of that night.
///
/// A suite with a single version is watched over time: each of its sessions is a moment.
fn rerun(runs: &[&RunHead], first: &BTreeMap<Id, FirstInstance>) -> Vec<(Id, Id)> {
    let versions = by_version(runs);
    if versions.len() < 2 {
        return Vec::new();
    }
    let hosts = |session: &VersionSession| -> BTreeSet<String> {
        let of_runs = session.runs.iter().filter_map(|run| first.get(&run.id));
        of_runs.flat_map(|it| it.hosts.iter().cloned()).collect()
    };
    let mut found = Vec::new();
    for sessions in &versions {
        let mut nights: Vec<&VersionSession> = Vec::new();
        for session in sessions {
            let age = |night: &VersionSession| session.started.duration_since(night.started);
            let mut recent = nights.iter().rev().take_while(|night| age(night) < NIGHT);
            let night = recent.find(|night| hosts(night) == hosts(session));
            match night {
                Some(night) => {
                    found.extend(session.runs.iter().map(|run| (run.id, night.runs[0].id)));
                }
                None => nights.push(session),
            }
        }
    }
    found
}

/// Returns the runs whose place needs more than the catalogue tells: several undated versions in a session, and versions
/// in several sessions within hours.
fn unclear(runs: &[&RunHead]) -> BTreeSet<Id> {
    let mut versions: BTreeMap<Id, BTreeSet<Option<String>>> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.version_date.is_none()) {
        let of_session = versions.entry(run.session).or_default();
        of_session.insert(run.version_label());
    }
    versions.retain(|_, of_session| of_session.len() > 1);
    let undated = runs
        .iter()
        .filter(|run| versions.contains_key(&run.session));
    let mut found: BTreeSet<Id> = undated.map(|run| run.id).collect();
    for sessions in by_version(runs) {
        for pair in sessions.windows(2) {
            if pair[1].started.duration_since(pair[0].started) < NIGHT {
                let of_pair = pair.iter().flat_map(|it| &it.runs);
                found.extend(of_pair.map(|run| run.id));
            }
        }
    }
    found
}
