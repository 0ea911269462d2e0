//! A plan as text, Markdown, JSON and CSV.

use std::io::Write;

use lapwing_core::clean::Audit;
use lapwing_core::explain::{PlanOptions, Unable};
use serde_json::{Value, json};

use super::budget::{Fate, Line, Plan};
use super::{PlanCommand, text};
use crate::audit;
use crate::error::CliError;
use crate::options::{Context, Format};
use crate::table::csv_of_json;

/// Writes the answer in the form that was asked for.
pub fn write(
    plan: &Plan,
    audit: &Audit,
    options: &PlanOptions,
    command: &PlanCommand,
    context: &Context,
) -> Result<(), CliError> {
    let mut out = context.terminal.out();
    let detail = command.cleaning.detail();
    match command.format {
        Format::Text => {
            writeln!(out, "{}\n", text::headline(plan, options, command))?;
            text::table(plan).text_within(context.terminal.width(), &mut out)?;
            writeln!(out, "\n{}", text::notes(plan, options, command).join("\n"))?;
        }
        Format::Markdown => {
            writeln!(out, "{}\n", text::headline(plan, options, command))?;
            text::table(plan).markdown(&mut out)?;
            for note in text::notes(plan, options, command) {
                writeln!(out, "\n{note}")?;
            }
        }
        Format::Json => {
            let answer = json!({
                "plan": rows(plan, command).collect::<Vec<_>>(),
                "power": options.power,
                "false_positives": options.false_positives,
                "budget_seconds": plan.budget,
                "cost_seconds": plan.cost_of(Fate::Kept),
                "cost_seconds_beyond_budget": plan.cost_of(Fate::BeyondBudget),
                "audit": audit::json(audit, detail),
            });
            serde_json::to_writer_pretty(&mut out, &answer)?;
            writeln!(out)?;
        }
        Format::Csv => csv_of_json(&COLUMNS, rows(plan, command), &mut out)?,
    }
    audit::below(audit, detail, command.format, context, &mut out)
}

/// The columns of the CSV table: keys of a JSON row.
const COLUMNS: [&str; 22] = [
    "suite",
    "benchmark",
    "metric",
    "variant",
    "version",
    "session",
    "burn_in",
    "mean",
    "cv",
    "slowdown",
    "instances",
    "iterations",
    "power",
    "power_lower",
    "power_upper",
    "false_positive_rate",
    "cost_seconds",
    "cost",
    "method",
    "strategy",
    "basis",
    "outcome",
];

/// Returns a row for each benchmark and slowdown.
fn rows(plan: &Plan, command: &PlanCommand) -> impl Iterator<Item = Value> {
    let price = command.price;
    let method = command.detection_names();
    plan.lines.iter().flat_map(move |line| {
        let choice = &line.choice;
        let found = choice.found.iter();
        found.map(move |(slowdown, found)| {
            let chosen = found.as_ref().ok();
            let configuration = chosen.map(|it| it.configuration);
            let cost = configuration.and_then(|it| Some(choice.costs?.of(it)));
            json!({
                "suite": choice.suite,
                "benchmark": choice.benchmark,
                "metric": choice.name,
                "unit": choice.metric.unit,
                "variant": choice.setting.variant,
                "version": choice.setting.version,
                "session": choice.setting.session,
                "burn_in": choice.burn_in,
                "mean": choice.variability.mean,
                "cv": choice.variability.cv_total,
                "slowdown": slowdown,
                "instances": configuration.map(|it| it.instances),
                "iterations": configuration.map(|it| it.iterations),
                "power": chosen.map(|it| it.power.value),
                "power_lower": chosen.and_then(|it| it.power.interval).map(|it| it.lower),
                "power_upper": chosen.and_then(|it| it.power.interval).map(|it| it.upper),
                "false_positive_rate": chosen.map(|it| it.false_positives.value),
                "cost_seconds": cost,
                "cost": cost.zip(price).map(|(cost, price)| cost / 3_600.0 * price),
                "method": method.0,
                "strategy": method.1,
                "basis": chosen.map(|it| match it.power.interval {
                    Some(_) => "simulated",
                    None => "closed_form",
                }),
                "outcome": outcome(line, found.err()),
            })
        })
    })
}

/// Returns what becomes of a row in data.
fn outcome(line: &Line, unable: Option<Unable>) -> &'static str {
    match (unable, line.fate) {
        (Some(Unable::NoiseUnknown), _) => "noise_unknown",
        (Some(Unable::TooMany(_) | Unable::Never), _) => "too_many_instances",
        (Some(Unable::FalsePositives), _) => "false_positives",
        (Some(Unable::NotInGrid), _) => "not_in_grid",
        (None, Fate::Kept | Fate::Unable) => "planned",
        (None, Fate::BeyondBudget) => "beyond_budget",
        (None, Fate::Skipped) => "skipped",
    }
}
