//! Dates in the names of files and folders.

use std::path::Path;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;

/// Years that a number in a name may mean.
const YEARS: std::ops::RangeInclusive<i16> = 1990..=2099;

/// Folders above a file whose names are looked at.
const FOLDERS: usize = 4;

/// Returns the date in the name of a file, or else in those of the folders around it: `2026-09-25.json`, `20260925`,
/// `bench_2026-09-25T03-00.json`, `2026/09/25/bench.json`. It is read as UTC, without a time as midnight.
pub(crate) fn date_in_path(path: &Path) -> Option<Timestamp> {
    let names = names(path);
    let own = names.iter().find_map(|name| date_in(name));
    own.or_else(|| {
        let levels = names[1.min(names.len())..].windows(3);
        let mut dates = levels.map(|it| format!("{}-{}-{}", it[2], it[1], it[0]));
        dates.find_map(|date| date_in(&date).filter(|_| date.len() == "2026-09-25".len()))
    })
}

/// Returns the name of a file without its ending, with the names of those folders that tell it from others of its name:
/// `2026-09-25/bench`, `12/out`.
pub(crate) fn telling_name(path: &Path, stem: &str) -> String {
    let is_number = |name: &str| name.bytes().all(|it| it.is_ascii_digit());
    if date_in(stem).is_some() || (!stem.is_empty() && is_number(stem)) {
        return stem.to_owned();
    }
    let mut name = stem.to_owned();
    for folder in names(path).into_iter().skip(1) {
        if date_in(folder).is_some() {
            return format!("{folder}/{name}");
        }
        if !is_number(folder) {
            break;
        }
        name = format!("{folder}/{name}");
    }
    name
}

/// Returns the name of a file and those of the folders around it, the nearest first.
fn names(path: &Path) -> Vec<&str> {
    let ancestors = path.ancestors().take(1 + FOLDERS);
    ancestors
        .filter_map(|it| it.file_name()?.to_str())
        .collect()
}

/// Returns the last date in a name.
fn date_in(name: &str) -> Option<Timestamp> {
    let bytes = name.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let starts = (0..bytes.len()).rev();
    let mut starts = starts.filter(|at| is_digit(*at) && (*at == 0 || !is_digit(at - 1)));
    let found = starts.find_map(|at| {
        let mut rest = Digits(&bytes[at..]);
        let year = i16::try_from(rest.take(4)?).ok()?;
        let is_apart = rest.skip(b"-_.");
        let month = rest.take(2)?;
        // `2026-0925` is no date.
        if rest.skip(b"-_.") != is_apart {
            return None;
        }
        let day = rest.take(2)?;
        let of = |number: u16| i8::try_from(number).ok();
        let date = Date::new(year, of(month)?, of(day)?).ok()?;
        if !YEARS.contains(&year) || rest.begins_with_digit() {
            return None;
        }
        Some(DateTime::from_parts(
            date,
            rest.time().unwrap_or(Time::midnight()),
        ))
    })?;
    Some(found.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

/// The rest of a name.
struct Digits<'n>(&'n [u8]);

impl Digits<'_> {
    /// Takes a number of so many digits.
    fn take(&mut self, digits: usize) -> Option<u16> {
        let (number, rest) = self.0.split_at_checked(digits)?;
        let number = std::str::from_utf8(number).ok()?;
        let is_number = number.bytes().all(|it| it.is_ascii_digit());
        self.0 = rest;
        number.parse().ok().filter(|_| is_number)
    }

    /// Skips one of these characters; returns whether there was one.
    fn skip(&mut self, any_of: &[u8]) -> bool {
        match self.0.split_first() {
            Some((first, rest)) if any_of.contains(first) => {
                self.0 = rest;
                true
            }
            Some(_) | None => false,
        }
    }

    fn begins_with_digit(&self) -> bool {
        self.0.first().is_some_and(u8::is_ascii_digit)
    }

    /// Returns the time of day that follows a date: `T03-00`, `_030000`, ` 03:00:00`.
    fn time(mut self) -> Option<Time> {
        if !self.skip(b"T_- ") {
            return None;
        }
        let hour = self.take(2)?;
        self.skip(b"-_.:h");
        let minute = self.take(2)?;
        let mut seconds = Self(self.0);
        seconds.skip(b"-_.:m");
        let second = seconds.take(2).filter(|_| !seconds.begins_with_digit());
        // `_1234567` is a number and no time.
        if second.is_none() && self.begins_with_digit() {
            return None;
        }
        let of = |number: u16| i8::try_from(number).ok();
        let whole = Time::new(of(hour)?, of(minute)?, of(second.unwrap_or(0))?, 0);
        whole.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_found_in_a_name_or_in_that_of_the_folder() {
        let of = |path: &str| {
            let date = date_in_path(Path::new(path));
            date.map_or_else(|| "none".to_owned(), |date| date.to_string())
        };
        for (path, date) in [
            ("nightly/2026-09-25.json", "2026-09-25T00:00:00Z"),
            ("20260925.json", "2026-09-25T00:00:00Z"),
            ("bench_2026-09-25T03-00.json", "2026-09-25T03:00:00Z"),
            ("bench-20260925_031502Z.json.gz", "2026-09-25T03:15:02Z"),
            ("0007_ab12cd_20260925_031502.json", "2026-09-25T03:15:02Z"),
            ("2026_09_25_host2.json", "2026-09-25T00:00:00Z"),
            ("2026-09-25/results.json", "2026-09-25T00:00:00Z"),
            ("2026-09-25/host1/results.json", "2026-09-25T00:00:00Z"),
            ("r/2026/09/25/results.json", "2026-09-25T00:00:00Z"),
            ("r/2026/09/25/host1/results.json", "2026-09-25T00:00:00Z"),
            ("r/12/09/25/results.json", "none"),
            ("2026-09-25_1234567.json", "2026-09-25T00:00:00Z"),
            ("run12.json", "none"),
            ("2026-13-25.json", "none"),
            ("2026-0925.json", "none"),
            ("bench-1758758400.json", "none"),
            ("12026092534.json", "none"),
            ("1.20260925.json", "2026-09-25T00:00:00Z"),
            ("2026-09-25T99-00.json", "2026-09-25T00:00:00Z"),
        ] {
            assert_eq!(of(path), date, "{path}");
        }
    }

    #[test]
    fn a_name_has_the_folders_that_tell_it_from_others() {
        let of = |path: &str, stem: &str| telling_name(Path::new(path), stem);
        assert_eq!(of("r/2026-09-25/bench.json", "bench"), "2026-09-25/bench");
        assert_eq!(of("r/2026/09/25/bench.json", "bench"), "2026/09/25/bench");
        assert_eq!(of("12/out.json", "out"), "12/out");
        assert_eq!(of("hyperfine-1.20/out.json", "out"), "out");
        assert_eq!(of("12/2026-09-25.json", "2026-09-25"), "2026-09-25");
    }
}
