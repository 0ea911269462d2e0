//! Sentence and table of a plan.

use lapwing_analyse::explain::{
    BudgetedPlan, ChoiceRule, Chosen, LineFate, PlanLine, Unable, Unmet,
};
use lapwing_analyse::judge::CellRate;
use lapwing_model::text::{counted, plural};

use super::PlanAnswer;
use crate::answers::{identity_cells, identity_columns};
use crate::writing::Align::{Right, Whole};
use crate::writing::Table;
use crate::{
    RowSubject, RowTitles, TitledRow, UnitScale, machine_time, percent, quantity, round_percent,
};

/// Returns the first sentence: the number of benchmarks that can detect the slowdown, and their cost.
pub fn headline(answer: &PlanAnswer) -> String {
    let plan = &answer.plan;
    if plan.is_skipped() {
        return "every benchmark was skipped: the plan is empty".to_owned();
    }
    let all = answer.benchmarks();
    if let Some(text) = noise_unknown(plan).filter(|_| all == 1) {
        return text;
    }
    let mut parts: Vec<String> = Vec::new();
    for slowdown in slowdowns(plan) {
        let able = plan.able(slowdown.unwrap_or(f64::INFINITY));
        let slowdown = match slowdown {
            Some(slowdown) => round_percent(slowdown - 1.0),
            None if plan.options.rule == ChoiceRule::Hail => "a slowdown of the grid".to_owned(),
            None => format!("{} smallest effect", plural(able, "its", "their")),
        };
        // The benchmarks are named once.
        let subject = if parts.is_empty() {
            subject(able, all, plan)
        } else {
            pronoun(able, all)
        };
        parts.push(format!("{subject} detect {slowdown}"));
    }
    let mut text = parts.join(", ");
    if let Some(budget) = plan.budget {
        text.push_str(&format!(" within {}", cost_text(budget, answer)));
    }
    if plan.kept().any(|line| line.cost().is_some()) {
        let cost = plan.cost_of(LineFate::Kept);
        text.push_str(&format!(" (cost {})", cost_text(cost, answer)));
    }
    let skipped = plan.names(|line| line.fate == LineFate::Skipped).len();
    if skipped > 0 {
        text.push_str(&format!("; {skipped} skipped"));
    }
    text
}

/// Returns the sentence if there is one line, with too few measurements.
fn noise_unknown(plan: &BudgetedPlan) -> Option<String> {
    let [line] = plan.lines.as_slice() else {
        return None;
    };
    let (slowdown, unmet) = line.unmet()?;
    (unmet.why == Unable::NoiseUnknown && line.fate != LineFate::Kept).then(|| {
        format!(
            "too few measurements of {} to plan for {}",
            line.choice.benchmark,
            round_percent(slowdown - 1.0)
        )
    })
}

/// Returns `12 can`, after the benchmarks were named.
fn pronoun(able: usize, all: usize) -> String {
    match (able, all) {
        (0, 1) => "it cannot".to_owned(),
        (_, 1) => "it can".to_owned(),
        (0, _) => "none can".to_owned(),
        (2, 2) => "both can".to_owned(),
        (able, all) if able == all => format!("all {able} can"),
        (able, _) => format!("{able} can"),
    }
}

/// Returns `12 of 13 benchmarks can`, with the number of lines if benchmarks have several.
fn subject(able: usize, all: usize, plan: &BudgetedPlan) -> String {
    if let ([line], 1) = (plan.lines.as_slice(), all) {
        let can = plural(able, "can", "cannot");
        return format!("{} {can}", line.choice.benchmark);
    }
    let share = match able {
        0 => "none of ".to_owned(),
        able if able == all && all > 1 => "all ".to_owned(),
        able => format!("{able} of "),
    };
    let counted_lines = if plan.lines.len() > all {
        let noun = if RowTitles::of(&plan.lines).settings {
            "setting"
        } else {
            "metric"
        };
        format!(" ({})", counted(plan.lines.len(), noun))
    } else {
        String::new()
    };
    format!("{share}{}{counted_lines} can", counted(all, "benchmark"))
}

/// Returns machine time, and money if the price is known: `16 h at a price of 0.800`.
pub fn cost_text(seconds: f64, answer: &PlanAnswer) -> String {
    let time = machine_time(seconds);
    match answer.price {
        Some(price) => {
            let money = UnitScale::of(1.0, "").number(seconds / 3_600.0 * price);
            format!("{time} at a price of {money}")
        }
        None => time,
    }
}

/// Returns the slowdowns to detect; a single `None` if the smallest detectable one is searched, or benchmarks have
/// smallest effects of their own.
pub fn slowdowns(plan: &BudgetedPlan) -> Vec<Option<f64>> {
    let options = &plan.options;
    let mut of_lines = plan.lines.iter().map(|line| {
        let found = line.choice.found.iter();
        found.map(|(slowdown, _)| *slowdown).collect::<Vec<_>>()
    });
    let first = of_lines.next().unwrap_or_else(|| options.slowdowns.clone());
    let is_searched = options.slowdowns.is_empty();
    match !is_searched && of_lines.all(|it| it == first) {
        true => first.into_iter().map(Some).collect(),
        false => vec![None],
    }
}

/// Returns the configuration to show: the chosen one, or the closest if none is enough.
pub fn shown(found: &Result<Chosen, Box<Unmet>>) -> Option<Chosen> {
    match found {
        Ok(chosen) => Some(*chosen),
        Err(unmet) => unmet.closest,
    }
}

impl TitledRow for PlanLine {
    fn about(&self) -> RowSubject<'_> {
        let choice = &self.choice;
        RowSubject {
            suite: &choice.suite,
            benchmark: &choice.benchmark,
            setting: &choice.setting,
            metric: &choice.name,
        }
    }
}

/// Returns a row for each benchmark and slowdown, in the order of the store.
pub fn table(plan: &BudgetedPlan) -> Table {
    let found = || {
        let lines = plan.lines.iter();
        lines.flat_map(|line| line.choice.found.iter().map(move |found| (line, found)))
    };
    let outcome = |line: &PlanLine, slowdown, found: &Result<Chosen, Box<Unmet>>| {
        outcome_text(line, slowdown, found.as_ref().err().map(|unmet| unmet.why))
    };
    let first = found().map(|(_, (slowdown, _))| *slowdown).next();
    let slowdowns = found().any(|(_, (slowdown, _))| Some(*slowdown) != first);
    let outcomes =
        found().any(|(line, (slowdown, found))| !outcome(line, *slowdown, found).is_empty());
    let mut columns = identity_columns(RowTitles::of(&plan.lines)).to_vec();
    columns.extend([
        (true, "value", Right),
        (true, "burn-in", Right),
        (slowdowns, "slowdown", Right),
        (true, "instances", Right),
        (true, "iterations", Right),
        (true, "power", Right),
        (true, "cost", Right),
        (outcomes, "outcome", Whole),
    ]);
    let mut table = Table::of_shown(&columns).dispensable(&["value", "suite", "burn-in"]);
    for (line, (slowdown, found)) in found() {
        let choice = &line.choice;
        let mut cells = identity_cells(line);
        cells.extend([
            quantity(choice.variability.value, &choice.metric.unit),
            choice.burn_in.to_string(),
            round_percent(slowdown - 1.0),
        ]);
        cells.extend(match shown(found) {
            None => ["–"; 4].map(str::to_owned),
            Some(chosen) => [
                chosen.configuration.instances.to_string(),
                chosen.configuration.iterations.to_string(),
                power_text(&chosen),
                line.cost_with(&chosen).map_or("–".to_owned(), machine_time),
            ],
        });
        cells.push(outcome(line, *slowdown, found).to_owned());
        table.row(cells);
    }
    table
}

/// Returns `97 % [95–98]` of a simulation, `~97 %` by formula.
pub fn power_text(chosen: &Chosen) -> String {
    let Some(rates) = chosen.rates else {
        return "unknown".to_owned();
    };
    let by_formula = if chosen.is_by_formula() { "~" } else { "" };
    format!(
        "{by_formula}{}",
        rate_text(&rates.power).trim_start_matches('~')
    )
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

/// Returns the outcome of a slowdown; empty if it is run.
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
