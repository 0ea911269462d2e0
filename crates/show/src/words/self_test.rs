//! Error rates on a user's own measurements in words: what was never counted is "at most" so much.

use lapwing_analyse::detect::{AlarmCount, DriftShare, FoundCount, JUDGED_NIGHTS, SeenStep};
use lapwing_model::text::plural;
use lapwing_stats::{Confidence, as_f64, wilson_interval};

use super::super::quantity::{NOTHING, percent};

/// Of nothing in n, at most 3 / n is the 95 % limit (Hanley & Lippman-Hand, *JAMA* 1983).
const RULE_OF_THREE: f64 = 3.0;
/// Where it is unknown how many runs a year has, rates are per so many runs.
const RUNS: f64 = 100.0;

/// A number of events per year, or per 100 runs, with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AlarmRate {
    /// The number.
    pub value: f64,
    /// The lower end.
    pub lower: f64,
    /// The upper end.
    pub upper: f64,
}

/// Returns the rate of events that were counted in a number of runs, with Wilson's interval.
pub fn alarm_rate(events: usize, runs: usize, runs_per_year: Option<f64>) -> AlarmRate {
    let factor = runs_per_year.unwrap_or(RUNS);
    let runs = runs.max(1);
    let interval = wilson_interval(events.min(runs), runs, Confidence::P95);
    let of_none = RULE_OF_THREE / as_f64(runs);
    let upper = interval.filter(|_| events > 0);
    AlarmRate {
        value: factor * as_f64(events) / as_f64(runs),
        lower: factor * interval.map_or(0.0, |it| it.lower),
        upper: factor * upper.map_or(of_none, |it| it.upper),
    }
}

/// Returns `at most 0.26 false alarms a year`, or `0.8 [0.3, 1.7] false alarms a year`.
pub fn alarms_text(count: AlarmCount, runs_per_year: Option<f64>) -> String {
    let rate = alarm_rate(count.alarms, count.nights, runs_per_year);
    let number = match count.alarms {
        0 => format!("at most {}", rounded(rate.upper)),
        _ => format!(
            "{} [{}, {}]",
            rounded(rate.value),
            rounded(rate.lower),
            rounded(rate.upper)
        ),
    };
    let period = runs_per_year.map_or("in 100 runs", |_| "a year");
    format!("{number} false alarms {period}")
}

/// Returns the rate for a table: `≤ 0.26`, `0.8`.
pub fn alarm_cell(count: AlarmCount, runs_per_year: Option<f64>) -> String {
    let rate = alarm_rate(count.alarms, count.nights, runs_per_year);
    match count.alarms {
        0 => format!("≤ {}", rounded(rate.upper)),
        _ => rounded(rate.value),
    }
}

/// Returns `seen after 7 runs (90 %: 17)`, or `not seen within 30 runs`.
pub fn seen_text(step: &SeenStep) -> String {
    let Some(half) = step.within(0.5) else {
        let seen = found_text(step.seen());
        return format!("mostly not seen within {JUDGED_NIGHTS} runs ({seen})");
    };
    let most = match step.within(0.9) {
        Some(runs) => runs.to_string(),
        None => format!("not within {JUDGED_NIGHTS}"),
    };
    let runs = plural(half, "run", "runs");
    format!("seen after {half} {runs} (90 %: {most})")
}

/// Returns the same for a table: `7 (17)`, `20 (> 30)`, `> 30`.
pub fn step_cell(step: &SeenStep) -> String {
    if step.nights.is_empty() {
        return NOTHING.to_owned();
    }
    let most = match step.within(0.9) {
        Some(runs) => runs.to_string(),
        None => format!("> {JUDGED_NIGHTS}"),
    };
    match step.within(0.5) {
        Some(half) => format!("{half} ({most})"),
        None => most,
    }
}

/// Returns `38 % / 57 %`: of drifts over the whole history and over its last half.
pub fn drift_cell(drift: DriftShare) -> String {
    if drift.whole.of == 0 {
        return NOTHING.to_owned();
    }
    let [whole, half] = [drift.whole, drift.last_half].map(found_text);
    format!("{whole} / {half}")
}

/// Returns how often something was found: `38 %`, or `≤ 3 %` where it never was.
pub fn found_text(count: FoundCount) -> String {
    match (count.share(), count.found) {
        (None, _) => NOTHING.to_owned(),
        (Some(_), 0) => {
            let most = RULE_OF_THREE / as_f64(count.of);
            format!("≤ {}", percent(most.min(1.0)))
        }
        (Some(share), _) => percent(share),
    }
}

/// Returns a rate with two digits: `0.26`, `1.1`, `12`.
fn rounded(value: f64) -> String {
    match value {
        value if value >= 9.95 => format!("{value:.0}"),
        value if value >= 0.995 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_never_counted_is_at_most_three_in_all() {
        let none = AlarmCount {
            nights: 3000,
            ..AlarmCount::default()
        };
        assert_eq!(
            alarms_text(none, Some(365.0)),
            "at most 0.36 false alarms a year"
        );
        assert_eq!(alarm_cell(none, None), "≤ 0.10");
        let some = AlarmCount { alarms: 3, ..none };
        assert_eq!(
            alarms_text(some, Some(365.0)),
            "0.36 [0.12, 1.1] false alarms a year"
        );
        assert_eq!(found_text(FoundCount { found: 0, of: 60 }), "≤ 5.0 %");
        assert_eq!(found_text(FoundCount { found: 0, of: 2 }), "≤ 100 %");
        assert_eq!(found_text(FoundCount { found: 0, of: 0 }), "–");
    }

    #[test]
    fn a_step_is_seen_after_some_runs_or_not() {
        let step = |nights: &[Option<usize>]| SeenStep {
            nights: nights.to_vec(),
        };
        let seen = step(&[Some(3), Some(4), Some(9), Some(12)]);
        assert_eq!(seen_text(&seen), "seen after 4 runs (90 %: 12)");
        assert_eq!(step_cell(&seen), "4 (12)");
        let mostly = step(&[Some(3), Some(5), None]);
        assert_eq!(
            seen_text(&mostly),
            "seen after 5 runs (90 %: not within 30)"
        );
        assert_eq!(step_cell(&mostly), "5 (> 30)");
        let rarely = step(&[None, None, Some(4)]);
        assert_eq!(seen_text(&rarely), "mostly not seen within 30 runs (33 %)");
        assert_eq!(step_cell(&rarely), "> 30");
    }
}
