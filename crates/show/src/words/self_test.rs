//! Error rates on a user's own measurements in words: what was never counted is "at most" so much.

use lapwing_analyse::detect::{AlarmCount, DriftShare, JUDGED_NIGHTS, SeenStep, SuiteSelfTest};
use lapwing_analyse::judge::FoundCount;
use lapwing_model::text::plural;
use lapwing_stats::as_f64;

use super::super::quantity::{NOTHING, percent};

/// Where it is unknown how many runs a year has, rates are per so many runs.
const RUNS: f64 = 100.0;

/// Returns `at most 0.8 false alarms a year`, or `0.8 [0.2, 3.1] false alarms a year`.
pub fn alarms_text(suite: &SuiteSelfTest) -> String {
    let count = suite.alarms;
    let factor = suite.runs_per_year.unwrap_or(RUNS);
    let rate = suite.rate(count.alarms, count.nights);
    let number = |rate: f64| rounded(factor * rate);
    let number = match count.alarms {
        0 => format!("at most {}", number(rate.upper)),
        _ => format!(
            "{} [{}, {}]",
            number(rate.value),
            number(rate.lower),
            number(rate.upper)
        ),
    };
    let period = suite.runs_per_year.map_or("in 100 runs", |_| "a year");
    format!("{number} false alarms {period}")
}

/// Returns the rate of a suite or one of its histories for a table: `≤ 0.8`, `1.2`.
pub fn alarm_cell(suite: &SuiteSelfTest, count: AlarmCount) -> String {
    let factor = suite.runs_per_year.unwrap_or(RUNS);
    let rate = suite.rate(count.alarms, count.nights);
    match count.alarms {
        0 => format!("≤ {}", rounded(factor * rate.upper)),
        _ => rounded(factor * rate.value),
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
            // Of nothing in n, at most 3 / n is the 95 % limit (Hanley & Lippman-Hand, *JAMA* 1983).
            let most = 3.0 / as_f64(count.of);
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
    use lapwing_analyse::detect::SeriesSelfTest;
    use lapwing_analyse::sample::{Setting, Subject};

    use super::*;

    #[test]
    fn what_was_never_counted_is_at_most_so_much() {
        let suite = |alarms: usize, runs_per_year: Option<f64>| SuiteSelfTest {
            suite: "s".to_owned(),
            runs: 60,
            runs_per_year,
            alarms: AlarmCount {
                alarms,
                suspicions: 0,
                nights: 3000,
            },
            series: Vec::new(),
        };
        let mut quiet = suite(0, Some(365.0));
        let series = SeriesSelfTest {
            subject: Subject {
                suite: "s".to_owned(),
                benchmark: "b".to_owned(),
                setting: Setting::default(),
                metric: "wall_time".to_owned(),
            },
            runs: 150_000_000,
            alarms: AlarmCount::default(),
            steps: Vec::new(),
            drifts: Vec::new(),
        };
        quiet.series.push(series);
        // 365 × 3 / 3000, as so many values leave no doubt about the history.
        assert_eq!(alarms_text(&quiet), "at most 0.37 false alarms a year");
        quiet.series[0].runs = 600;
        assert_eq!(alarms_text(&quiet), "at most 0.97 false alarms a year");
        assert_eq!(alarm_cell(&quiet, quiet.alarms), "≤ 0.97");
        let alarming = SuiteSelfTest {
            series: quiet.series.clone(),
            ..suite(3, Some(365.0))
        };
        assert_eq!(
            alarms_text(&alarming),
            "0.36 [0.09, 1.6] false alarms a year"
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
