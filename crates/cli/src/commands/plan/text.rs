//! A plan for people: its sentence and its table.

use lapwing_core::explain::{Choice, Chosen, Denied, PlanOptions, Unable};
use lapwing_core::judge::CellRate;
use lapwing_core::show::{UnitScale, machine_time, percent, quantity, round_percent};
use lapwing_core::text::{counted, plural};

use super::PlanCommand;
use super::lines::{ChosenPlan, LineFate, PlanLine};
use crate::table::Align::{Left, Right, Whole};
use crate::table::{Align, Table};

/// Returns what comes first: how many benchmarks can detect the slowdown, and what that takes.
pub fn headline(plan: &ChosenPlan, options: &PlanOptions, command: &PlanCommand) -> String {
    if plan.is_skipped() {
        return "every benchmark was skipped: the plan is empty".to_owned();
    }
    if let Some(text) = unknown(plan, options) {
        return text;
    }
    let slowdowns = options.slowdowns.iter().map(|slowdown| Some(*slowdown));
    let mut slowdowns: Vec<Option<f64>> = slowdowns.collect();
    if slowdowns.is_empty() {
        slowdowns.push(None);
    }
    let mut parts: Vec<String> = Vec::new();
    for slowdown in slowdowns {
        let able = plan.able(slowdown.unwrap_or(f64::INFINITY));
        let what = slowdown.map_or("a slowdown of the grid".to_owned(), |it| {
            round_percent(it - 1.0)
        });
        // The benchmarks are named once.
        let who = match parts.is_empty() {
            true => subject(able, plan),
            false => others(able, plan),
        };
        parts.push(format!("{who} detect {what}"));
    }
    let within = plan
        .budget
        .map(|budget| format!(" within {}", cost_text(budget, command)));
    let mut text = format!("{}{}", parts.join(", "), within.unwrap_or_default());
    if plan.kept().any(|line| line.cost().is_some()) {
        let cost = plan.cost_of(LineFate::Kept);
        text.push_str(&format!(" (cost {})", cost_text(cost, command)));
    }
    let skipped = plan.names(|line| line.fate == LineFate::Skipped).len();
    if skipped > 0 {
        text.push_str(&format!("; {skipped} skipped"));
    }
    text
}

/// Returns what to say where too little is known of the one benchmark that there is.
fn unknown(plan: &ChosenPlan, options: &PlanOptions) -> Option<String> {
    let [line] = plan.lines.as_slice() else {
        return None;
    };
    let (slowdown, unmet) = line.unmet()?;
    let is_unknown = unmet.why == Unable::NoiseUnknown && plan.benchmarks() == 1;
    let smallest = options.slowdowns.first().copied().unwrap_or(slowdown);
    (is_unknown && line.fate != LineFate::Kept).then(|| {
        format!(
            "too few measurements of {} to plan for {}",
            line.choice.benchmark,
            round_percent(smallest - 1.0)
        )
    })
}

/// Returns `12 can`, where it was said of what.
fn others(able: usize, plan: &ChosenPlan) -> String {
    match (able, plan.benchmarks()) {
        (0, 1) => "it cannot".to_owned(),
        (_, 1) => "it can".to_owned(),
        (0, _) => "none can".to_owned(),
        (able, all) if able == all => format!("all {able} can"),
        (able, _) => format!("{able} can"),
    }
}

/// Returns `12 of 13 benchmarks can`; of lines that are settings or metrics also how many there are.
fn subject(able: usize, plan: &ChosenPlan) -> String {
    let all = plan.benchmarks();
    if let ([line], 1) = (plan.lines.as_slice(), all) {
        let can = plural(able, "can", "cannot");
        return format!("{} {can}", line.choice.benchmark);
    }
    let of = match able {
        0 => "none of ".to_owned(),
        able if able == all && all > 1 => "all ".to_owned(),
        able => format!("{able} of "),
    };
    let counted_lines = match plan.lines.len() > all {
        true => {
            let noun = if has_several_settings(plan) {
                "setting"
            } else {
                "metric"
            };
            format!(" ({})", counted(plan.lines.len(), noun))
        }
        false => String::new(),
    };
    format!("{of}{}{counted_lines} can", counted(all, "benchmark"))
}

/// Returns machine time, and money where the price is known: `16 h at a price of 0.800`.
pub fn cost_text(seconds: f64, command: &PlanCommand) -> String {
    let time = machine_time(seconds);
    match command.price {
        Some(price) => {
            let money = UnitScale::of(1.0, "").number(seconds / 3_600.0 * price);
            format!("{time} at a price of {money}")
        }
        None => time,
    }
}

/// What tells the lines apart, and what becomes of them.
struct Shown {
    suites: bool,
    settings: bool,
    metrics: bool,
    slowdowns: bool,
    outcomes: bool,
}

impl Shown {
    fn of(plan: &ChosenPlan) -> Self {
        let first = plan.lines.first().map(|it| &it.choice);
        let differs = |same: &dyn Fn(&Choice, &Choice) -> bool| {
            first.is_some_and(|first| plan.lines.iter().any(|line| !same(first, &line.choice)))
        };
        let found = || plan.lines.iter().flat_map(|line| &line.choice.found);
        let slowdowns: Vec<f64> = found().map(|it| it.0).collect();
        Self {
            suites: differs(&|one, other| one.suite == other.suite),
            settings: has_several_settings(plan),
            metrics: differs(&|one, other| one.name == other.name),
            slowdowns: slowdowns
                .windows(2)
                .any(|it| it[0].total_cmp(&it[1]).is_ne()),
            outcomes: plan.lines.iter().any(|line| {
                let mut found = line.choice.found.iter();
                found.any(|(slowdown, found)| {
                    !outcome_text(line, *slowdown, found.as_ref().err().map(|it| it.why)).is_empty()
                })
            }),
        }
    }
}

/// Returns whether lines are of different variants or versions.
pub fn has_several_settings(plan: &ChosenPlan) -> bool {
    let texts = plan.lines.iter().map(|it| it.choice.setting.text());
    texts.collect::<std::collections::BTreeSet<_>>().len() > 1
}

/// Returns a line for each benchmark, in the order of the store.
pub fn table(plan: &ChosenPlan) -> Table {
    let shown = Shown::of(plan);
    let columns = [
        (true, "benchmark", Left),
        (shown.suites, "suite", Left),
        (shown.settings, "setting", Left),
        (shown.metrics, "metric", Left),
        (true, "mean", Right),
        (true, "burn-in", Right),
        (shown.slowdowns, "slowdown", Right),
        (true, "instances", Right),
        (true, "iterations", Right),
        (true, "power", Right),
        (true, "cost", Right),
        (shown.outcomes, "outcome", Whole),
    ];
    let titles: Vec<(&str, Align)> = columns
        .iter()
        .filter(|it| it.0)
        .map(|it| (it.1, it.2))
        .collect();
    let mut table = Table::new(&titles).dispensable(&["mean", "suite", "burn-in"]);
    for line in &plan.lines {
        let choice = &line.choice;
        for (slowdown, found) in &choice.found {
            let shown = match found {
                Ok(chosen) => Some(*chosen),
                Err(unmet) => unmet.closest,
            };
            let [instances, iterations, power, cost] = shown.map_or_else(
                || ["–"; 4].map(str::to_owned),
                |chosen| numbers(line, &chosen),
            );
            let cells = [
                choice.benchmark.clone(),
                choice.suite.clone(),
                choice.setting.text().unwrap_or_default(),
                choice.name.clone(),
                quantity(choice.variability.mean, &choice.metric.unit),
                choice.burn_in.to_string(),
                round_percent(slowdown - 1.0),
                instances,
                iterations,
                power,
                cost,
                outcome_text(line, *slowdown, found.as_ref().err().map(|it| it.why)).to_owned(),
            ];
            let cells = cells.into_iter().zip(columns);
            table.row(cells.filter(|(_, it)| it.0).map(|it| it.0).collect());
        }
    }
    table
}

fn numbers(line: &PlanLine, chosen: &Chosen) -> [String; 4] {
    [
        chosen.configuration.instances.to_string(),
        chosen.configuration.iterations.to_string(),
        power_text(chosen),
        line.cost_with(chosen).map_or("–".to_owned(), machine_time),
    ]
}

/// Returns `97 % [95–98]` of a simulation, `~97 %` by formula.
pub fn power_text(chosen: &Chosen) -> String {
    let Some(rates) = chosen.rates else {
        return "unknown".to_owned();
    };
    rate_text(&rates.power)
}

/// Returns `97 % [95–98]` of a simulation, `~97 %` by formula.
pub fn rate_text(rate: &CellRate) -> String {
    let value = percent(rate.value);
    match rate.interval {
        Some(interval) => {
            let end = |share: f64| format!("{:.0}", 100.0 * share);
            format!("{value} [{}–{}]", end(interval.lower), end(interval.upper))
        }
        None => format!("~{value}"),
    }
}

/// Returns what a simulation says against the formula: `6 × 2 has false positives of 9.1 % [7–11] by simulation`.
pub fn denied_text(denied: &Denied, options: &PlanOptions) -> String {
    let Denied {
        configuration,
        rates,
    } = denied;
    let is_loud = rates.has_too_many_false_positives(options.false_positives);
    let what = match is_loud {
        true => format!("false positives of {}", rate_text(&rates.false_positives)),
        false => format!("a power of {}", rate_text(&rates.power)),
    };
    format!("{configuration} has {what} by simulation")
}

/// Returns what becomes of a slowdown; nothing of what is run.
fn outcome_text(line: &PlanLine, slowdown: f64, why: Option<Unable>) -> &'static str {
    match (line.fate, why) {
        (LineFate::Skipped, _) => "skipped",
        (_, Some(Unable::NoiseUnknown)) => "noise unknown",
        (_, Some(Unable::TooMany | Unable::NotInGrid)) => "not enough",
        (_, Some(Unable::FalsePositives)) => "false alarms",
        (LineFate::BeyondBudget, None) => "beyond budget",
        (LineFate::CostUnknown, None) => "cost unknown",
        (LineFate::Kept | LineFate::Unable, None) => match line.first() {
            Some((first, _)) if first < slowdown => "not run",
            Some((first, _)) if first > slowdown => "beyond budget",
            Some(_) | None => "",
        },
    }
}

/// Returns what is to be known where the suite says which changes matter.
pub fn beyond_band_note(smallest_effect: Option<f64>) -> Option<String> {
    smallest_effect.map(|it| {
        let band = round_percent(it);
        format!(
            "the suite's smallest effect is {band}: `lapwing compare` reports a regression only if its whole interval is beyond it, and a slowdown of just {band} remains inconclusive; plan for a larger one"
        )
    })
}
