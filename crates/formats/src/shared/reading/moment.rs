//! Times as other programs write them.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// Returns the time that a text means: ISO 8601 with an offset, or without one, which
/// then is UTC; a `T` or a space between date and time.
pub(crate) fn moment(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some(time);
    }
    if let Ok(time) = jiff::fmt::strtime::parse("%Y-%m-%d %H:%M:%S%.f %z", text)
        .and_then(|parsed| parsed.to_timestamp())
    {
        return Some(time);
    }
    text.parse::<DateTime>()
        .and_then(|local| local.to_zoned(TimeZone::UTC))
        .map(|zoned| zoned.timestamp())
        .ok()
}

/// Returns the time that the text of a key means, where there is one; the error names the key.
pub(crate) fn moment_of(key: &str, text: Option<&str>) -> Result<Option<Timestamp>, String> {
    let time = |text| moment(text).ok_or_else(|| format!("`{key}` is not a time: {text}"));
    text.map(time).transpose()
}

/// Returns the time so many milliseconds after the epoch.
pub(crate) fn since_epoch(milliseconds: f64) -> Option<Timestamp> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "out of range saturates, and jiff refuses that"
    )]
    let whole = milliseconds.round() as i64;
    Timestamp::from_millisecond(whole).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_come_with_and_without_an_offset() {
        let expected: Timestamp = "2026-01-02T03:04:05Z".parse().expect("a time");
        for text in [
            "2026-01-02T03:04:05Z",
            "2026-01-02T04:04:05+01:00",
            "2026-01-02 04:04:05 +0100",
            "2026-01-02 03:04:05.000000",
            "2026-01-02T03:04:05",
        ] {
            assert_eq!(moment(text), Some(expected), "{text}");
        }
        assert_eq!(moment("yesterday"), None);
        assert_eq!(since_epoch(1_767_323_045_000.0), Some(expected));
        assert_eq!(since_epoch(f64::INFINITY), None);
    }
}
