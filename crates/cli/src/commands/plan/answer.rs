//! A plan as text, Markdown, JSON and CSV.

use std::io::Write;

use lapwing_core::clean::Audit;
use lapwing_core::explain::{Chosen, PlanOptions, Unable, Unmet};
use serde_json::{Map, Value, json};

use super::lines::{ChosenPlan, LineFate, PlanLine};
use super::text::denied_text;
use super::{PlanCommand, notes, text};
use crate::audit;
use crate::error::CliError;
use crate::fit::wrap;
use crate::not_judged::NotJudged;
use crate::options::{Context, Format};
use crate::table::csv_of_json;

/// Writes the answer in the requested format.
pub fn write(
    plan: &ChosenPlan,
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
            let width = context.terminal.width().map_or(WIDTH, |it| it.min(WIDTH));
            writeln!(out)?;
            for note in notes::notes(plan, options, command) {
                writeln!(out, "{}", wrap(&note, width))?;
            }
        }
        Format::Markdown => {
            writeln!(out, "{}\n", text::headline(plan, options, command))?;
            text::table(plan).markdown(&mut out)?;
            for note in notes::notes(plan, options, command) {
                writeln!(out, "\n{note}")?;
            }
        }
        Format::Json => {
            let answer = json!({
                "plan": rows(plan, options, command),
                "power": options.power,
                "false_positives": options.false_positives,
                "benchmarks": plan.benchmarks(),
                "budget_seconds": plan.budget,
                "cost_seconds": plan.cost_of(LineFate::Kept),
                "cost_seconds_beyond_budget": plan.cost_of(LineFate::BeyondBudget),
                "older_versions": plan.older,
                "audit": audit::json(audit, detail),
            });
            serde_json::to_writer_pretty(&mut out, &answer)?;
            writeln!(out)?;
        }
        Format::Csv => csv_of_json(&COLUMNS, rows(plan, options, command).into_iter(), &mut out)?,
    }
    audit::below(audit, detail, command.format, context, &mut out)
}

/// No line that people read is wider.
const WIDTH: usize = 80;

/// The columns of the CSV table: keys of a JSON row.
const COLUMNS: [&str; 31] = [
    "suite",
    "benchmark",
    "metric",
    "unit",
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
    "false_positive_rate_lower",
    "false_positive_rate_upper",
    "cost_seconds",
    "cost",
    "method",
    "strategy",
    "basis",
    "outcome",
    "runs",
    "reason",
    "needed_instances",
    "needed_iterations",
    "needed_cost_seconds",
    "needed_cost",
];

/// Returns a row for each benchmark and slowdown.
fn rows(plan: &ChosenPlan, options: &PlanOptions, command: &PlanCommand) -> Vec<Value> {
    let of_lines = plan.lines.iter().flat_map(|line| {
        let found = line.choice.found.iter();
        found.map(|(slowdown, found)| row(line, *slowdown, found, options, command))
    });
    let of_missing = plan.missing.iter().flat_map(|it| {
        let slowdowns = options.slowdowns.iter().map(|slowdown| Some(*slowdown));
        let slowdowns: Vec<Option<f64>> = match options.slowdowns.is_empty() {
            true => vec![None],
            false => slowdowns.collect(),
        };
        let rows = slowdowns.into_iter();
        rows.map(|slowdown| missing_row(it, slowdown, command))
    });
    of_lines.chain(of_missing).collect()
}

fn row(
    line: &PlanLine,
    slowdown: f64,
    found: &Result<Chosen, Box<Unmet>>,
    options: &PlanOptions,
    command: &PlanCommand,
) -> Value {
    let choice = &line.choice;
    let unmet = found.as_ref().err();
    // What comes closest stands where nothing does.
    let chosen = match found {
        Ok(chosen) => Some(*chosen),
        Err(unmet) => unmet.closest,
    };
    let needed = unmet.and_then(|it| it.needed);
    let rates = chosen.and_then(|it| it.rates);
    let (power, false_positives) = (rates.map(|it| it.power), rates.map(|it| it.false_positives));
    let cost = |chosen: Option<Chosen>| line.cost_with(&chosen?);
    let money = |seconds: Option<f64>| Some(seconds? / 3_600.0 * command.price?);
    let runs = line.fate == LineFate::Kept
        && line
            .first()
            .is_some_and(|(first, _)| first.total_cmp(&slowdown).is_eq());
    object(&[
        ("suite", json!(choice.suite)),
        ("benchmark", json!(choice.benchmark)),
        ("metric", json!(choice.name)),
        ("unit", json!(choice.metric.unit)),
        ("variant", json!(choice.setting.variant_name())),
        ("version", json!(choice.setting.version)),
        ("session", json!(choice.setting.session)),
        ("burn_in", json!(choice.burn_in)),
        ("mean", json!(choice.variability.mean)),
        ("cv", json!(choice.variability.cv_total)),
        ("slowdown", json!(slowdown)),
        (
            "instances",
            json!(chosen.map(|it| it.configuration.instances)),
        ),
        (
            "iterations",
            json!(chosen.map(|it| it.configuration.iterations)),
        ),
        ("power", json!(power.map(|it| it.value))),
        (
            "power_lower",
            json!(power.and_then(|it| it.interval).map(|it| it.lower)),
        ),
        (
            "power_upper",
            json!(power.and_then(|it| it.interval).map(|it| it.upper)),
        ),
        (
            "false_positive_rate",
            json!(false_positives.map(|it| it.value)),
        ),
        (
            "false_positive_rate_lower",
            json!(
                false_positives
                    .and_then(|it| it.interval)
                    .map(|it| it.lower)
            ),
        ),
        (
            "false_positive_rate_upper",
            json!(
                false_positives
                    .and_then(|it| it.interval)
                    .map(|it| it.upper)
            ),
        ),
        ("cost_seconds", json!(cost(chosen))),
        ("cost", json!(money(cost(chosen)))),
        ("method", json!(command.detection_names().0)),
        ("strategy", json!(command.detection_names().1)),
        (
            "basis",
            json!(chosen.filter(|it| it.rates.is_some()).map(|it| {
                match it.is_by_formula() {
                    true => "closed_form",
                    false => "simulated",
                }
            })),
        ),
        (
            "outcome",
            json!(outcome(line, slowdown, unmet.map(|it| it.why))),
        ),
        ("runs", json!(runs)),
        (
            "reason",
            json!(reason(
                unmet.map(Box::as_ref),
                chosen.as_ref(),
                options,
                command
            )),
        ),
        (
            "needed_instances",
            json!(needed.map(|it| it.configuration.instances)),
        ),
        (
            "needed_iterations",
            json!(needed.map(|it| it.configuration.iterations)),
        ),
        ("needed_cost_seconds", json!(cost(needed))),
        ("needed_cost", json!(money(cost(needed)))),
    ])
}

/// Returns why a slowdown is not detected as wanted, or what speaks against that it is.
fn reason(
    unmet: Option<&Unmet>,
    chosen: Option<&Chosen>,
    options: &PlanOptions,
    command: &PlanCommand,
) -> Option<String> {
    if let Some(unmet) = unmet {
        return Some(notes::reason(unmet.why, options, command));
    }
    let chosen = chosen?;
    let Some(rates) = chosen.rates else {
        return Some("chosen by hand; noise unknown".to_owned());
    };
    if rates.power.value < options.power {
        return Some("chosen by hand, with less power than requested".to_owned());
    }
    if rates.has_too_many_false_positives(options.false_positives) {
        return Some("with more false positives than requested".to_owned());
    }
    let denied = chosen.denied.as_ref()?;
    Some(format!("by formula, and {}", denied_text(denied, options)))
}

/// Returns the row of a benchmark of which nothing can be said.
fn missing_row(missing: &NotJudged, slowdown: Option<f64>, command: &PlanCommand) -> Value {
    object(&[
        ("suite", json!(missing.suite)),
        ("benchmark", json!(missing.benchmark)),
        ("metric", json!(missing.metric)),
        ("slowdown", json!(slowdown)),
        ("method", json!(command.detection_names().0)),
        ("strategy", json!(command.detection_names().1)),
        ("outcome", json!("no_values")),
        ("runs", json!(false)),
        ("reason", json!(missing.reason)),
    ])
}

/// Returns an object with all columns; what is not named is null.
fn object(fields: &[(&str, Value)]) -> Value {
    let nothing = COLUMNS.iter().map(|key| ((*key).to_owned(), Value::Null));
    let mut object: Map<String, Value> = nothing.collect();
    object.extend(
        fields
            .iter()
            .map(|(key, value)| ((*key).to_owned(), value.clone())),
    );
    Value::Object(object)
}

/// Returns what becomes of a row in data.
fn outcome(line: &PlanLine, slowdown: f64, why: Option<Unable>) -> &'static str {
    let is_too_dear = line.first().is_some_and(|(first, _)| first > slowdown);
    match (line.fate, why) {
        (LineFate::Skipped, _) => "skipped",
        (_, Some(Unable::NoiseUnknown)) => "noise_unknown",
        (_, Some(Unable::TooMany)) => "too_many_instances",
        (_, Some(Unable::FalsePositives)) => "false_positives",
        (_, Some(Unable::NotInGrid)) => "not_in_grid",
        (LineFate::Kept, None) if is_too_dear => "beyond_budget",
        (LineFate::Kept | LineFate::Unable, None) => "planned",
        (LineFate::BeyondBudget, None) => "beyond_budget",
        (LineFate::CostUnknown, None) => "cost_unknown",
    }
}
