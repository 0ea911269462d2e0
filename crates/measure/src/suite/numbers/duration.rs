use std::time::Duration;

/// Reads a time such as `200s`, `1.5 min`, `500ms`, `1h 30m` or a plain number of seconds.
///
/// # Errors
/// When the text is no time, or one below zero; the error is a sentence that
/// follows the name of the option.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let refused = || format!("must be a time such as `200s` or `1.5 min`, not `{text}`");
    let text_alone = text.trim();
    let duration = match text_alone.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        Err(_) => {
            let duration = text_alone.parse::<jiff::SignedDuration>().ok();
            let duration = duration.and_then(|duration| Duration::try_from(duration).ok());
            duration.or_else(|| parse_single(text_alone))
        }
    };
    duration.ok_or_else(refused)
}

/// A fractional number with one unit, which jiff takes for some units only.
fn parse_single(text: &str) -> Option<Duration> {
    let split = text.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
    let (number, unit) = text.split_at(split);
    let factor = match unit.trim() {
        "ns" => 1e-9,
        "us" | "µs" => 1e-6,
        "ms" => 1e-3,
        "s" | "sec" | "seconds" => 1.0,
        "m" | "min" | "minutes" => 60.0,
        "h" | "hours" => 3600.0,
        _ => return None,
    };
    Duration::try_from_secs_f64(number.parse::<f64>().ok()? * factor).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        for (text, milliseconds) in [
            ("200s", 200_000),
            ("1.5 min", 90_000),
            ("500ms", 500),
            ("1h 30m", 5_400_000),
            ("2", 2_000),
            ("0.25", 250),
            ("1.5s", 1_500),
        ] {
            let expected = Duration::from_millis(milliseconds);
            assert_eq!(parse_duration(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn other_texts_are_refused_with_what_was_meant() {
        for text in ["", "soon", "-3s", "3 parsecs", "3O s", "inf", "nan"] {
            let expected = format!("must be a time such as `200s` or `1.5 min`, not `{text}`");
            assert_eq!(parse_duration(text), Err(expected));
        }
    }
}
