//! The order of runs whose versions have no dates: by the names of versions or files, or by times.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use jiff::Timestamp;
use lapwing_model::{StartedFrom, natural_order};

use super::history::RunMoment;

/// The basis of the order of the runs of a suite.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum RunOrder {
    /// The commits of the default branch in the repository.
    Commits,
    /// The dates of the versions; a run whose version has none follows the newest one measured before it.
    VersionDates,
    /// The names of the versions: 0.2.9 stands before 0.2.10.
    VersionNames,
    /// The times of measurement.
    #[default]
    StartTimes,
    /// The dates or numbers in the names of the files.
    FileNames,
    /// The order in the file.
    FileOrder,
    /// The times at which the files were last changed.
    FileTimes,
    /// None: only the times of the files are there, and several are the same, as after they were copied.
    Unknown,
}

impl RunOrder {
    /// Returns its name: `version_dates`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Commits => "commits",
            Self::VersionDates => "version_dates",
            Self::VersionNames => "version_names",
            Self::StartTimes => "start_times",
            Self::FileNames => "file_names",
            Self::FileOrder => "file_order",
            Self::FileTimes => "file_times",
            Self::Unknown => "unknown",
        }
    }

    /// Returns the order of the runs of a suite.
    ///
    /// The first that applies: dates of versions if any has one; names of versions if they differ and tell an order;
    /// in a single session the starts or else the order of the file; dates in the names of files, or numbers; the starts
    /// of the sessions, which may be the times of files.
    pub(super) fn of(runs: &[RunMoment]) -> Self {
        if runs.iter().any(|run| run.version_date.is_some()) {
            return Self::VersionDates;
        }
        if versions_tell(runs) {
            return Self::VersionNames;
        }
        let is_one_session = runs
            .windows(2)
            .all(|pair| pair[0].session == pair[1].session);
        if is_one_session && runs.len() > 1 {
            return match runs.iter().all(|run| run.place.started.is_some()) {
                true => Self::StartTimes,
                false => Self::FileOrder,
            };
        }
        let is_any = |from: StartedFrom| runs.iter().any(|run| run.place.started_from == from);
        if is_any(StartedFrom::FileTime) {
            return if files_are_numbered(runs) || files_are_versions(runs) {
                Self::FileNames
            } else if times_tell(runs) {
                Self::FileTimes
            } else {
                Self::Unknown
            };
        }
        if is_any(StartedFrom::FileName) {
            Self::FileNames
        } else {
            Self::StartTimes
        }
    }

    /// Compares runs of versions without dates.
    pub(super) fn compare(self, one: &RunMoment, other: &RunMoment) -> Ordering {
        let by_names = match self {
            Self::VersionNames => {
                let names =
                    [one, other].map(|run| run.version.as_deref().and_then(VersionName::of));
                names[0].cmp(&names[1])
            }
            Self::FileNames => compare_files(one, other, |run| match run.place.started_from {
                StartedFrom::FileTime => None,
                StartedFrom::Source | StartedFrom::FileName => Some(run.measured),
            }),
            Self::Commits
            | Self::VersionDates
            | Self::StartTimes
            | Self::FileOrder
            | Self::FileTimes
            | Self::Unknown => Ordering::Equal,
        };
        by_names.then_with(|| compare_files(one, other, |run| Some(run.measured)))
    }
}

/// Compares by time, then by the names of the files.
fn compare_files(
    one: &RunMoment,
    other: &RunMoment,
    time: impl Fn(&RunMoment) -> Option<Timestamp>,
) -> Ordering {
    let names = [one, other].map(|run| run.place.file.as_deref().unwrap_or_default());
    let by_version = || match names.map(file_version) {
        [Some(one), Some(other)] => one.cmp(&other),
        _ => Ordering::Equal,
    };
    (time(one).cmp(&time(other)))
        .then_with(by_version)
        .then_with(|| natural_order(names[0], names[1]))
}

/// A version's name that tells where it stands among others: `0.2.10`, `v1.4.0-rc2`, `go1.21`.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct VersionName<'n> {
    /// What precedes the numbers.
    prefix: &'n str,
    numbers: Vec<u64>,
    stage: VersionStage,
}

/// Whether a version precedes or follows the release of its numbers.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum VersionStage {
    /// Before it, by the place of its word in [`BEFORE_RELEASE`]: `-rc2`.
    Before(usize, u64),
    Release,
    /// After it: `.post1`.
    After(u64),
}

/// Numbers of builds have six digits at most: seven may be the beginning of a hash.
const LONGEST_BUILD: u64 = 1_000_000;

/// Words for versions before a release, by how near they are to it.
const BEFORE_RELEASE: [&[&str]; 5] = [
    &["dev", "snapshot", "nightly"],
    &["alpha", "a"],
    &["beta", "b"],
    &["preview", "pre"],
    &["rc", "c"],
];

impl<'n> VersionName<'n> {
    fn of(name: &'n str) -> Option<Self> {
        let start = name.find(|it: char| it.is_ascii_digit())?;
        let (prefix, rest) = name.split_at(start);
        let end = rest.find(|it: char| !it.is_ascii_digit() && it != '.');
        let (numbers, rest) = rest.split_at(end.unwrap_or(rest.len()));
        // In `1.2.rc1` the dot belongs to what follows.
        let numbers = numbers.trim_end_matches('.').split('.');
        let numbers: Option<Vec<u64>> = numbers.map(|it| it.parse().ok()).collect();
        Some(Self {
            prefix,
            numbers: numbers?,
            stage: VersionStage::of(rest),
        })
    }

    /// Returns whether it is one number, such as that of a build: `r119`, `build 90`.
    fn is_build(&self) -> bool {
        self.numbers.len() == 1
    }
}

impl VersionStage {
    /// Returns what follows the numbers of a release means. Of a hash no order is known.
    fn of(text: &str) -> Self {
        let separators = ['-', '.', '_', '+'];
        let text = text.trim_start_matches(separators);
        let end = text.find(|it: char| !it.is_ascii_alphabetic());
        let (word, rest) = text.split_at(end.unwrap_or(text.len()));
        let rest = rest.trim_start_matches(separators);
        let end = rest.find(|it: char| !it.is_ascii_digit());
        let (digits, rest) = rest.split_at(end.unwrap_or(rest.len()));
        if !rest.is_empty() && !rest.starts_with(separators) {
            return Self::Release;
        }
        let word = word.to_ascii_lowercase();
        let number = digits.parse().unwrap_or(0);
        let before = BEFORE_RELEASE.iter().position(|all| all.contains(&&*word));
        match before {
            Some(stage) => Self::Before(stage, number),
            None if number > 0 && ["", "post", "r", "p", "patch"].contains(&&*word) => {
                Self::After(number)
            }
            None => Self::Release,
        }
    }
}

/// Returns whether the names of the versions differ and tell an order.
fn versions_tell(runs: &[RunMoment]) -> bool {
    let Some(names) = versions(runs) else {
        return false;
    };
    let is_one_kind = names
        .windows(2)
        .all(|pair| pair[0].prefix == pair[1].prefix);
    // Numbers as long as hashes may be some.
    let is_short = |name: &VersionName| name.numbers.iter().all(|it| *it < LONGEST_BUILD);
    if names.iter().any(VersionName::is_build) && !names.iter().all(is_short) {
        return false;
    }
    let places: BTreeSet<_> = runs.iter().map(|run| (run.session, &run.version)).collect();
    let distinct: BTreeSet<&VersionName> = names.iter().collect();
    is_one_kind && names.len() > 1 && distinct.len() == places.len()
}

/// Returns the versions of all runs, if all tell an order.
fn versions(runs: &[RunMoment]) -> Option<Vec<VersionName<'_>>> {
    let names = runs
        .iter()
        .map(|run| VersionName::of(run.version.as_deref()?));
    names.collect()
}

/// Returns whether the names of the files of all sessions differ first in a number: `run12.json`, `0007_x.json`.
fn files_are_numbered(runs: &[RunMoment]) -> bool {
    let sessions: BTreeSet<_> = runs.iter().map(|run| run.session).collect();
    let files: Option<BTreeSet<&str>> = runs.iter().map(|run| run.place.file.as_deref()).collect();
    let Some(files) = files.filter(|files| files.len() == sessions.len() && files.len() > 1) else {
        return false;
    };
    let tokens: Vec<Vec<&str>> = files.iter().map(|file| tokens(file)).collect();
    let nth = |at: usize| tokens.iter().map(move |of| of.get(at).copied());
    let longest = tokens.iter().map(Vec::len).max().unwrap_or(0);
    let differs =
        (0..longest).find(|at| nth(*at).any(|token| token != tokens[0].get(*at).copied()));
    let Some(at) = differs else {
        return false;
    };
    let number = |token: Option<&str>| token?.parse::<u64>().ok();
    let numbers: Option<BTreeSet<u64>> = nth(at).map(number).collect();
    numbers.is_some_and(|numbers| numbers.len() == files.len())
}

/// Returns the version in the name of a file: `bench-1.10rc1.json`.
fn file_version(file: &str) -> Option<VersionName<'_>> {
    let name = file.rsplit('/').next()?;
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    VersionName::of(stem).filter(|version| !version.is_build())
}

/// Returns whether the names of the files of all sessions have versions that differ: `bench-1.9.json`.
fn files_are_versions(runs: &[RunMoment]) -> bool {
    let sessions: BTreeSet<_> = runs.iter().map(|run| run.session).collect();
    let versions = runs
        .iter()
        .map(|run| file_version(run.place.file.as_deref()?));
    let versions: Option<BTreeSet<VersionName>> = versions.collect();
    versions.is_some_and(|versions| {
        let prefixes: BTreeSet<&str> = versions.iter().map(|version| version.prefix).collect();
        versions.len() == sessions.len() && prefixes.len() == 1
    })
}

/// Returns whether the sessions started at different times.
fn times_tell(runs: &[RunMoment]) -> bool {
    let sessions: BTreeSet<_> = runs.iter().map(|run| run.session).collect();
    let times: BTreeSet<Timestamp> = runs.iter().map(|run| run.measured).collect();
    // Some files may well be of one second.
    times.len() * 2 > sessions.len()
}

/// Returns a name in pieces: numbers and what is between them.
pub(super) fn tokens(name: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let is_digit = first.is_ascii_digit();
        let end = rest.find(|it: char| it.is_ascii_digit() != is_digit);
        let (piece, after) = rest.split_at(end.unwrap_or(rest.len()));
        pieces.push(piece);
        rest = after;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(names: &str) -> String {
        let mut names: Vec<&str> = names.split(' ').collect();
        names.sort_by_key(|name| VersionName::of(name));
        names.join(" ")
    }

    #[test]
    fn versions_are_ordered_by_their_numbers() {
        assert_eq!(sorted("0.2.10 0.2.9 0.10.0"), "0.2.9 0.2.10 0.10.0");
        assert_eq!(
            sorted("v1.0.post1 v1.0 v1.0rc2 v1.0-rc.10 v1.0.dev3 v1.0b1"),
            "v1.0.dev3 v1.0b1 v1.0rc2 v1.0-rc.10 v1.0 v1.0.post1"
        );
        let of = |name| VersionName::of(name);
        assert_eq!(of("0.2.100-a1b2c3d4e5f6"), of("0.2.100-ffffffffffff"));
        for name in ["abc", ""] {
            assert_eq!(of(name), None, "{name}");
        }
        assert_eq!(sorted("r119 r90"), "r90 r119");
        assert_eq!(
            sorted("build 100 build 90".replace("d ", "d_").as_str()),
            "build_90 build_100"
        );
    }

    #[test]
    fn a_name_is_numbers_and_what_is_between_them() {
        assert_eq!(tokens("run12.json"), ["run", "12", ".json"]);
        assert_eq!(tokens("0007_x"), ["0007", "_x"]);
    }
}
