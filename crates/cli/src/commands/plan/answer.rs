//! A plan as text, Markdown, JSON and CSV.

use lapwing_analyse::explain::{ChoiceRule, Chosen, PlanOptions, Unable, Unmet};
use lapwing_analyse::judge::CellRate;
use lapwing_show::TitledRow;
use lapwing_show::answers::not_judged::NotJudged;
use lapwing_show::answers::{MetricFields, SettingFields, audit, identity};
use lapwing_show::writing::{AnswerFormat, TextAnswer};
use serde::Serialize;
use serde_json::json;

use super::lines::{ChosenPlan, LineFate, PlanLine};
use super::text::shown;
use super::{PlanCommand, notes, text};
use crate::answer::{write_csv, write_json};
use crate::error::CliError;
use crate::options::Context;

/// Writes the answer in the requested format.
pub fn write(plan: &ChosenPlan, command: &PlanCommand, context: &Context) -> Result<(), CliError> {
    let mut out = context.terminal.out_as(command.samples.answer.format);
    let (audit, options) = (&plan.audit, &plan.options);
    let detail = command.samples.cleaning.detail();
    let text = || TextAnswer {
        headline: text::headline(plan, command),
        table: text::table(plan),
        notes: notes::notes(plan, command),
    };
    match command.samples.answer.format {
        AnswerFormat::Text => {
            let room = context.terminal.width();
            text().wrapped(room).text(room, &mut out)?;
        }
        AnswerFormat::Markdown => text().markdown(&mut out)?,
        AnswerFormat::Json => {
            let answer = json!({
                "plan": rows(plan, command),
                "power": options.power,
                "false_positives": options.false_positives,
                "assurance": (options.rule != ChoiceRule::Hail).then_some(options.assurance),
                "benchmarks": plan.benchmarks(),
                "budget_seconds": plan.budget,
                "cost_seconds": plan.cost_of(LineFate::Kept),
                "cost_seconds_beyond_budget": plan.cost_of(LineFate::BeyondBudget),
                "older_versions": plan.older,
                "audit": audit::json(audit, detail),
            });
            write_json(&answer, &mut out)?;
        }
        AnswerFormat::Csv => write_csv(&rows(plan, command), &mut out)?,
    }
    crate::options::audit_below(
        audit,
        detail,
        command.samples.answer.format,
        context,
        &mut out,
    )
}

/// A benchmark and slowdown; fields that are unknown are `None`.
#[derive(Default, Serialize)]
struct PlanRow<'a> {
    #[serde(flatten)]
    metric: MetricFields<'a>,
    unit: Option<&'a str>,
    #[serde(flatten)]
    setting: SettingFields<'a>,
    burn_in: Option<u32>,
    mean: Option<f64>,
    cv: Option<f64>,
    pilot_instances: Option<usize>,
    slowdown: Option<f64>,
    instances: Option<usize>,
    iterations: Option<usize>,
    power: Option<f64>,
    power_lower: Option<f64>,
    power_upper: Option<f64>,
    false_positive_rate: Option<f64>,
    false_positive_rate_lower: Option<f64>,
    false_positive_rate_upper: Option<f64>,
    cost_seconds: Option<f64>,
    cost: Option<f64>,
    method: &'static str,
    strategy: &'static str,
    basis: Option<&'static str>,
    outcome: &'static str,
    runs: bool,
    reason: Option<String>,
    needed_instances: Option<usize>,
    needed_iterations: Option<usize>,
    needed_cost_seconds: Option<f64>,
    needed_cost: Option<f64>,
}

/// Returns a row for each benchmark and slowdown.
fn rows<'a>(plan: &'a ChosenPlan, command: &PlanCommand) -> Vec<PlanRow<'a>> {
    let options = &plan.options;
    let of_lines = plan.lines.iter().flat_map(|line| {
        let found = line.choice.found.iter();
        found.map(|(slowdown, found)| row(line, *slowdown, found, options, command))
    });
    let slowdowns = text::slowdowns(options);
    let of_missing = plan.missing.iter().flat_map(|missing| {
        let slowdowns = slowdowns.iter();
        slowdowns.map(|slowdown| missing_row(missing, *slowdown, command))
    });
    of_lines.chain(of_missing).collect()
}

fn row<'a>(
    line: &'a PlanLine,
    slowdown: f64,
    found: &Result<Chosen, Box<Unmet>>,
    options: &PlanOptions,
    command: &PlanCommand,
) -> PlanRow<'a> {
    let choice = &line.choice;
    let unmet = found.as_ref().err();
    // If no configuration is enough, the row has the closest one.
    let chosen = shown(found);
    let needed = unmet.and_then(|it| it.needed);
    let rates = chosen.and_then(|it| it.rates);
    let (power, false_positives) = (rates.map(|it| it.power), rates.map(|it| it.false_positives));
    let interval = |rate: Option<CellRate>| rate?.interval;
    let cost = |chosen: Option<Chosen>| line.cost_with(&chosen?);
    let money = |seconds: Option<f64>| Some(seconds? / 3_600.0 * command.price?);
    let first = line.first().map(|(first, _)| first);
    let (metric, setting) = identity(line.about());
    let (method, strategy) = command.detection_names();
    PlanRow {
        metric,
        unit: Some(&choice.metric.unit),
        setting,
        burn_in: Some(choice.burn_in),
        mean: Some(choice.variability.mean),
        cv: Some(choice.variability.cv_total),
        pilot_instances: Some(choice.variability.size.instances),
        slowdown: Some(slowdown),
        instances: chosen.map(|it| it.configuration.instances),
        iterations: chosen.map(|it| it.configuration.iterations),
        power: power.map(|it| it.value),
        power_lower: interval(power).map(|it| it.lower),
        power_upper: interval(power).map(|it| it.upper),
        false_positive_rate: false_positives.map(|it| it.value),
        false_positive_rate_lower: interval(false_positives).map(|it| it.lower),
        false_positive_rate_upper: interval(false_positives).map(|it| it.upper),
        cost_seconds: cost(chosen),
        cost: money(cost(chosen)),
        method,
        strategy,
        basis: chosen.and_then(|it| basis(&it)),
        outcome: outcome(line, slowdown, unmet.map(|it| it.why)),
        runs: line.fate == LineFate::Kept
            && first.is_some_and(|first| first.total_cmp(&slowdown).is_eq()),
        reason: reason(unmet.map(Box::as_ref), chosen.as_ref(), options, command),
        needed_instances: needed.map(|it| it.configuration.instances),
        needed_iterations: needed.map(|it| it.configuration.iterations),
        needed_cost_seconds: cost(needed),
        needed_cost: money(cost(needed)),
    }
}

fn basis(chosen: &Chosen) -> Option<&'static str> {
    chosen.rates?;
    Some(if chosen.is_by_formula() {
        "closed_form"
    } else {
        "simulated"
    })
}

/// Returns why a slowdown is not detected as requested, or evidence against its detection.
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
    if !options.has_power(chosen) {
        return Some("chosen by hand, with less power than requested".to_owned());
    }
    if rates.has_too_many_false_positives(options.false_positives) {
        return Some("with more false positives than requested".to_owned());
    }
    None
}

/// Returns the row of a benchmark that is not judged.
fn missing_row<'a>(
    missing: &'a NotJudged,
    slowdown: Option<f64>,
    command: &PlanCommand,
) -> PlanRow<'a> {
    let (method, strategy) = command.detection_names();
    PlanRow {
        metric: MetricFields {
            suite: &missing.suite,
            benchmark: &missing.benchmark,
            metric: &missing.metric,
        },
        slowdown,
        method,
        strategy,
        outcome: "no_values",
        reason: Some(missing.reason.clone()),
        ..PlanRow::default()
    }
}

/// Returns the outcome of a row for programs.
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
