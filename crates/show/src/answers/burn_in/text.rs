//! Burn-in for people: a sentence, then a table.

use lapwing_analyse::clean::{BurnInSource, SteadyFrom};
use lapwing_analyse::explain::BenchmarkBurnIn;
use lapwing_model::text::{counted, grouped, plural};
use lapwing_stats::as_f64;
use lapwing_stats::steady::Class;
use schemars::JsonSchema;
use serde::Serialize;

use crate::writing::Align::{Left, Right, Whole};
use crate::writing::Table;
use crate::{classes_text, percent, quantity};

/// Meaning of the columns.
pub const LEGEND: [&str; 2] = [
    "steady from: the first iteration after burn-in, counted from 0; cost: burn-in per instance",
    "bias: distance of the mean from the steady level, with burn-in → without it",
];

/// Number of benchmarks by what is known of their burn-in.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct BurnInCounts {
    benchmarks: usize,
    steady: usize,
    never_steady: usize,
    mostly_unsteady: usize,
    /// Those that are steady by a manual choice only.
    by_hand: usize,
    too_few_iterations: usize,
    not_above_zero: usize,
    /// Those whose burn-in was shortened by a limit.
    shortened: usize,
    /// Burn-in as a share of the measured time; `null` if no metric is a time.
    share_of_time: Option<f64>,
}

impl BurnInCounts {
    /// Counts benchmarks.
    pub fn of(rows: &[BenchmarkBurnIn]) -> Self {
        let count =
            |wanted: fn(&BenchmarkBurnIn) -> bool| rows.iter().filter(|row| wanted(row)).count();
        let never = count(|row| row.start.is_none());
        let mostly = count(BenchmarkBurnIn::is_mostly_unsteady);
        let zeros = count(|row| row.source == BurnInSource::Recorded && row.is_not_positive());
        let unclear = count(|row| row.source == BurnInSource::Recorded) - zeros;
        let by_hand = count(BenchmarkBurnIn::is_steady_by_hand_alone);
        Self {
            benchmarks: rows.len(),
            steady: rows.len() - never - mostly - unclear - zeros - by_hand,
            never_steady: never,
            mostly_unsteady: mostly,
            by_hand,
            too_few_iterations: unclear,
            not_above_zero: zeros,
            shortened: count(BenchmarkBurnIn::is_shortened),
            share_of_time: share_of_time(rows),
        }
    }

    /// Returns the worst of the benchmarks.
    pub fn verdict(self) -> &'static str {
        if self.never_steady > 0 {
            "never_steady"
        } else if self.mostly_unsteady > 0 {
            "mostly_unsteady"
        } else if self.steady + self.by_hand < self.benchmarks {
            "unknown"
        } else {
            "steady"
        }
    }
}

/// Returns the conclusion.
pub fn headline(rows: &[BenchmarkBurnIn]) -> String {
    let counts = BurnInCounts::of(rows);
    let shortened = counts.shortened;
    let cost = counts.share_of_time.map_or_else(String::new, |share| {
        let of_several = if shortened > 0 && rows.len() > 1 {
            let shortened = grouped(shortened);
            format!(", shortened by a limit for {shortened}")
        } else {
            String::new()
        };
        if share > 0.0 {
            let share = percent(share);
            format!("; burn-in takes {share} of the measured time{of_several}")
        } else if shortened == 0 && counts.steady > 0 {
            "; no burn-in is needed".to_owned()
        } else {
            format!("; burn-in takes no time{of_several}")
        }
    });
    if let [row] = rows {
        return format!("{}{cost}", of_one(row));
    }
    let steady = counts.steady;
    let all = counted(rows.len(), "benchmark");
    let mut sentence = if steady == rows.len() {
        match rows.len() {
            2 => "both benchmarks reach a steady state".to_owned(),
            _ => format!("all {all} reach a steady state"),
        }
    } else {
        let verb = plural(steady, "reaches", "reach");
        format!("{} of {all} {verb} a steady state", grouped(steady))
    };
    for (number, one, several) in [
        (counts.never_steady, "never does", "never do"),
        (counts.mostly_unsteady, "mostly does not", "mostly do not"),
        (
            counts.by_hand,
            "only by a manual choice",
            "only by a manual choice",
        ),
        (
            counts.too_few_iterations,
            "has too few iterations",
            "have too few iterations",
        ),
        (
            counts.not_above_zero,
            "has no values above zero",
            "have no values above zero",
        ),
    ] {
        if number > 0 {
            let words = if number == 1 { one } else { several };
            sentence.push_str(&format!(", {} {words}", grouped(number)));
        }
    }
    format!("{sentence}{cost}")
}

fn of_one(row: &BenchmarkBurnIn) -> String {
    let name = &row.benchmark;
    match row.steady_from() {
        SteadyFrom::Index(_) if row.is_mostly_unsteady() => format!(
            "{name} mostly does not reach a steady state: {} of {} never do",
            grouped(row.count(Class::NoSteadyState)),
            counted(row.instances.len() - row.not_used(), "instance")
        ),
        SteadyFrom::Index(start) if row.is_steady_by_hand_alone() => {
            format!(
                "{name} is steady from iteration {start} on by a manual choice only: its values do not show it"
            )
        }
        SteadyFrom::Index(start) if row.is_shortened() => format!(
            "{name} is judged from iteration {start} on, because a limit shortened its burn-in; it is steady from {}",
            row.wanted.unwrap_or(start)
        ),
        SteadyFrom::Index(0) => format!("{name} is steady from its first iteration on"),
        SteadyFrom::Index(start) => format!("{name} is steady from iteration {start} on"),
        SteadyFrom::Never => format!("{name} never reaches a steady state"),
        SteadyFrom::Recorded | SteadyFrom::Unknown if row.is_not_positive() => {
            format!("{name} has no values above zero, so its planned burn-in applies")
        }
        SteadyFrom::Recorded | SteadyFrom::Unknown => {
            format!("{name} has too few iterations, so its planned burn-in applies")
        }
    }
}

/// Returns the share of burn-in in the measured time; `None` if no metric is a time.
fn share_of_time(rows: &[BenchmarkBurnIn]) -> Option<f64> {
    let (mut cost, mut total) = (0.0, 0.0);
    for row in rows.iter().filter(|row| row.unit == "s") {
        let instances = as_f64(row.instances.len() - row.not_used());
        if let (Some(effect), Some(_)) = (&row.effect, row.start) {
            cost += instances * effect.cost;
            total += instances * row.total;
        }
    }
    (total > 0.0).then(|| cost / total)
}

/// Returns a row for each benchmark.
pub fn table(rows: &[BenchmarkBurnIn]) -> Table {
    let has_several_suites = rows.iter().any(|row| row.suite != rows[0].suite);
    let mut table = Table::of_shown(&[
        (true, "benchmark", Left),
        (has_several_suites, "suite", Left),
        (true, "class", Left),
        (true, "steady from", Whole),
        (true, "planned", Right),
        (true, "instances", Right),
        (true, "cost", Right),
        (true, "bias", Whole),
    ])
    .dispensable(&["suite", "instances", "planned"]);
    for row in rows {
        table.row(vec![
            row.benchmark.clone(),
            row.suite.clone(),
            classes_text(&row.steady),
            start_text(row),
            row.planned.map_or("auto".to_owned(), grouped),
            grouped(row.instances.len()),
            cost_text(row),
            bias_text(row),
        ]);
    }
    table
}

/// Returns the start and its source; for a manual choice also the detected start.
pub fn start_text(row: &BenchmarkBurnIn) -> String {
    let by_hand = |start: u32, who: &str| match row.found {
        Some(found) if found == start => format!("{start} ({who})"),
        Some(found) => format!("{start} ({who}; found {found})"),
        None if row.steady.steady_from() == SteadyFrom::Never => {
            format!("{start} ({who}; never steady)")
        }
        None => format!("{start} ({who})"),
    };
    match (row.start, row.source) {
        (None, _) => "never".to_owned(),
        (Some(start), BurnInSource::Listed) => by_hand(start, "file"),
        (Some(start), BurnInSource::Reviewed) => by_hand(start, "review"),
        (Some(start), BurnInSource::Recorded) => format!("{start} (planned)"),
        (Some(start), _) => with_wanted(start, row.wanted),
    }
}

/// Returns `15 (wants 21)` for a start that a limit made smaller.
pub fn with_wanted(start: u32, wanted: Option<u32>) -> String {
    match wanted {
        Some(wanted) if wanted > start => format!("{start} (wants {wanted})"),
        Some(_) | None => start.to_string(),
    }
}

/// Returns the cost of burn-in per instance: a time, or iterations if the metric is no time.
pub fn cost_text(row: &BenchmarkBurnIn) -> String {
    match (&row.effect, row.start) {
        (Some(effect), Some(_)) if row.unit == "s" => quantity(effect.cost, "s"),
        (Some(_) | None, Some(start)) => counted(start, "iteration"),
        (_, None) => "–".to_owned(),
    }
}

/// Returns the bias of the mean without and with burn-in: `+4.1 % → 0 %`.
pub fn bias_text(row: &BenchmarkBurnIn) -> String {
    match (&row.effect, row.start, row.bias_without) {
        (Some(effect), Some(_), Some(without)) => {
            format!("{} → {}", signed(without), signed(effect.remaining_bias))
        }
        (_, _, _) => "–".to_owned(),
    }
}

/// Returns a share with its sign; less than 0.005 % is zero.
fn signed(share: f64) -> String {
    if share.abs() < 0.000_05 {
        return "0 %".to_owned();
    }
    let sign = if share > 0.0 { "+" } else { "" };
    format!("{sign}{}", percent(share))
}
