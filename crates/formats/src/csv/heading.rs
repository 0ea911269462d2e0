//! What the name of a column says: what is measured, in which unit, and which way is better.

use lapwing_model::Better;

use crate::csv::role::{CENTRES, STATISTICS, VALUES};
use crate::shared::units::Unit;

/// Units as the last word of a name, as in `time_ms`, and in our spelling.
const WORDS: [(&str, &str); 31] = [
    ("ns", "ns"),
    ("nsec", "ns"),
    ("nanos", "ns"),
    ("nanoseconds", "ns"),
    ("us", "us"),
    ("\u{b5}s", "us"),
    ("usec", "us"),
    ("micros", "us"),
    ("microseconds", "us"),
    ("ms", "ms"),
    ("msec", "ms"),
    ("millis", "ms"),
    ("milliseconds", "ms"),
    ("s", "s"),
    ("sec", "s"),
    ("secs", "s"),
    ("seconds", "s"),
    ("minutes", "min"),
    ("hours", "h"),
    ("bytes", "B"),
    ("kb", "KB"),
    ("mb", "MB"),
    ("gb", "GB"),
    ("kib", "KiB"),
    ("mib", "MiB"),
    ("gib", "GiB"),
    ("hz", "Hz"),
    ("percent", "%"),
    ("pct", "%"),
    ("mbps", "MB/s"),
    ("\u{3bc}s", "us"),
];

/// Words of names whose values are better the higher they are.
const HIGHER: [&str; 10] = [
    "throughput",
    "bandwidth",
    "ops",
    "qps",
    "rps",
    "tps",
    "fps",
    "speedup",
    "durchsatz",
    "d\u{e9}bit",
];

/// Words of names whose values are better the lower they are.
const LOWER: [&str; 23] = [
    "time",
    "latency",
    "duration",
    "elapsed",
    "runtime",
    "walltime",
    "memory",
    "rss",
    "seconds",
    "cputime",
    "zeit",
    "dauer",
    "laufzeit",
    "latenz",
    "speicher",
    "temps",
    "dur\u{e9}e",
    "latence",
    "m\u{e9}moire",
    "tiempo",
    "duraci\u{f3}n",
    "latencia",
    "memoria",
];

/// Names that say no more than that something was measured; with a unit of time they are wall times.
const GENERAL: [&str; 20] = [
    "",
    "time",
    "duration",
    "elapsed",
    "elapsed_time",
    "runtime",
    "run_time",
    "wall",
    "wall_time",
    "walltime",
    "wall_clock",
    "real",
    "real_time",
    "zeit",
    "dauer",
    "laufzeit",
    "temps",
    "dur\u{e9}e",
    "tiempo",
    "duraci\u{f3}n",
];

/// What a name says.
#[derive(Debug, Clone)]
pub(super) struct Heading {
    /// The name without its unit, as it is written.
    pub(super) name: String,
    /// The unit, if it states one.
    pub(super) unit: Option<String>,
    better: Option<Better>,
}

impl Heading {
    /// Returns what a name such as `time (ms)`, `Mean [ms]`, `time_ms`, `ops_per_second` or `seconds` says.
    pub(super) fn of(title: &str) -> Self {
        if let Some((name, marks)) = in_brackets(title) {
            let (unit, words) = marks.split_once(',').unwrap_or((marks, ""));
            let better = match words.trim() {
                "higher is better" => Some(Better::Higher),
                "lower is better" => Some(Better::Lower),
                _ => None,
            };
            return Self {
                name: name.to_owned(),
                unit: Some(spelled(unit.trim())),
                better,
            };
        }
        let plain = |name: &str, unit: Option<String>| Self {
            name: name.to_owned(),
            unit,
            better: None,
        };
        let key = key(title);
        for per in ["_per_second", "_per_sec", "_per_s", "/s", "/sec"] {
            if let Some(what) = key.strip_suffix(per) {
                let what = what.rsplit('_').next().unwrap_or(what);
                let unit = Unit::named(&format!("{}/s", spelled(what)));
                let is_size = unit.metric.unit == "B/s";
                let unit = if is_size {
                    spelled(what) + "/s"
                } else {
                    "1/s".to_owned()
                };
                return plain(title, Some(unit));
            }
        }
        let (rest, last) = key.rsplit_once('_').unwrap_or(("", &key));
        match WORDS.iter().find(|(word, _)| *word == last) {
            // A letter alone may be anything.
            Some(_) if rest.is_empty() && key.len() == 1 => plain(title, None),
            Some((_, unit)) => plain(rest, Some((*unit).to_owned())),
            None => plain(title, None),
        }
    }

    /// Returns the key of the name: small letters with `_` between words.
    pub(super) fn key(&self) -> String {
        key(&self.name)
    }

    /// Returns whether its values may be times.
    pub(super) fn may_be_time(&self) -> bool {
        const WORDS: [&str; 6] = ["time", "latency", "duration", "elapsed", "cpu", "user"];
        let key = self.key();
        GENERAL.contains(&key.as_str())
            || STATISTICS.contains(&key.as_str())
            || key.split('_').any(|word| WORDS.contains(&word))
    }

    /// Returns the unit and direction of its values, with the unit of the row if it states none itself.
    pub(super) fn unit(&self, of_row: Option<&str>) -> Unit {
        let stated = self.unit.as_deref().or(of_row).unwrap_or_default();
        let unit = Unit::named(&spelled(stated));
        let better = self.better.or(unit.metric.better).or_else(|| self.usual());
        unit.with_better(better)
    }

    /// Returns the direction that goes with the words of the name.
    fn usual(&self) -> Option<Better> {
        let key = self.key();
        let has = |known: &[&str]| key.split('_').any(|word| known.contains(&word));
        match (has(&HIGHER), has(&LOWER)) {
            (true, false) => Some(Better::Higher),
            (false, true) => Some(Better::Lower),
            (true, true) | (false, false) => None,
        }
    }

    /// Returns the name of the metric that is counted in that base unit.
    pub(super) fn metric(&self, base: &str) -> String {
        let key = self.key();
        let is_general = [&GENERAL[..], &VALUES, &CENTRES]
            .iter()
            .any(|names| names.contains(&key.as_str()));
        match base {
            "s" if is_general => "wall_time".to_owned(),
            "B/s" if is_general => "bytes_per_second".to_owned(),
            "1/s" if is_general => "throughput".to_owned(),
            _other if key.is_empty() || CENTRES.contains(&key.as_str()) => "value".to_owned(),
            _other => self.name.clone(),
        }
    }
}

/// Returns name and content of the brackets at the end of a title, unless that is a number (`error (99.9%)`).
fn in_brackets(title: &str) -> Option<(&str, &str)> {
    let (rest, open) = match title.strip_suffix(')') {
        Some(rest) => (rest, '('),
        None => (title.strip_suffix(']')?, '['),
    };
    let (name, marks) = rest.rsplit_once(open)?;
    let is_number = marks.starts_with(|it: char| it.is_ascii_digit());
    (!is_number && !marks.is_empty()).then_some((name.trim_end(), marks))
}

/// Returns a title in small letters, with `_` between words: `Real Time`, `real-time` and `realTime` are the same.
pub(super) fn key(title: &str) -> String {
    let mut key = String::with_capacity(title.len());
    let mut was_small = false;
    for letter in title.chars() {
        let is_word = letter.is_alphanumeric() || letter == '/';
        if (letter.is_uppercase() && was_small || !is_word) && !key.ends_with('_') {
            key.push('_');
        }
        if is_word {
            key.extend(letter.to_lowercase());
        }
        was_small = letter.is_lowercase();
    }
    key.trim_matches('_').to_owned()
}

fn spelled(unit: &str) -> String {
    let known = WORDS
        .iter()
        .find(|(word, _)| unit.eq_ignore_ascii_case(word));
    match known {
        Some((_, ours)) if unit.len() > 2 || unit.to_lowercase() == unit => (*ours).to_owned(),
        Some(_) | None => unit.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_says_name_unit_and_direction() {
        let of = |title: &str| {
            let heading = Heading::of(title);
            let metric = heading.unit(None).metric;
            let better = match metric.better {
                Some(Better::Higher) => "higher",
                Some(Better::Lower) => "lower",
                None => "?",
            };
            format!(
                "{} [{}] {better}",
                heading.metric(&metric.unit),
                metric.unit
            )
        };
        for (title, expected) in [
            ("time (ms)", "wall_time [s] lower"),
            ("time_ms", "wall_time [s] lower"),
            ("Mean [ms]", "wall_time [s] lower"),
            ("seconds", "wall_time [s] lower"),
            ("durationNs", "wall_time [s] lower"),
            ("cpu_time_ms", "cpu_time [s] lower"),
            ("peak memory (MiB)", "peak memory [B] lower"),
            ("items_per_second", "items_per_second [1/s] higher"),
            ("mb_per_s", "mb_per_s [B/s] higher"),
            ("throughput", "throughput [1] higher"),
            ("latency_p50", "latency_p50 [1] lower"),
            ("score (points, higher is better)", "score [points] higher"),
            ("Score Error (99.9%)", "Score Error (99.9%) [1] ?"),
            ("metric1", "metric1 [1] ?"),
            ("s", "s [1] ?"),
        ] {
            assert_eq!(of(title), expected, "{title}");
        }
    }
}
