//! Plans as rows, for JSON and CSV.

use lapwing_analyse::explain::{Chosen, LineFate, PlanLine, PlanOptions, Unable, Unmet};
use lapwing_analyse::judge::CellRate;
use schemars::JsonSchema;
use serde::Serialize;

use super::text::{shown, slowdowns};
use super::{PlanAnswer, notes};
use crate::TitledRow;
use crate::answers::not_judged::NotJudged;
use crate::answers::{MetricFields, SettingFields, identity};

/// A benchmark and slowdown; fields that are unknown are `None`.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct PlanRow<'a> {
    #[serde(flatten)]
    metric: MetricFields<'a>,
    unit: Option<&'a str>,
    #[serde(flatten)]
    setting: SettingFields<'a>,
    burn_in: Option<u32>,
    value: Option<f64>,
    cv_total: Option<f64>,
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
pub fn rows<'a>(answer: &'a PlanAnswer, missing: &'a [NotJudged]) -> Vec<PlanRow<'a>> {
    let options = &answer.plan.options;
    let lines = answer.plan.lines.iter().flat_map(|line| {
        let found = line.choice.found.iter();
        found.map(|(slowdown, found)| row(answer, line, *slowdown, found))
    });
    let slowdowns = slowdowns(&answer.plan);
    let missing = missing.iter().flat_map(|missing| {
        let slowdowns = slowdowns.iter();
        slowdowns.map(|slowdown| PlanRow {
            metric: MetricFields {
                suite: &missing.suite,
                benchmark: &missing.benchmark,
                metric: &missing.metric,
            },
            slowdown: *slowdown,
            outcome: "no_values",
            reason: Some(missing.reason.clone()),
            ..of_options(options)
        })
    });
    lines.chain(missing).collect()
}

/// Returns a row with the names of the test and nothing else.
fn of_options<'a>(options: &PlanOptions) -> PlanRow<'a> {
    let detection = &options.detection;
    PlanRow {
        method: detection.methods.first().map_or("", |it| it.name()),
        strategy: detection.strategies.first().map_or("", |it| it.name()),
        ..PlanRow::default()
    }
}

fn row<'a>(
    answer: &PlanAnswer,
    line: &'a PlanLine,
    slowdown: f64,
    found: &Result<Chosen, Box<Unmet>>,
) -> PlanRow<'a> {
    let (choice, options) = (&line.choice, &answer.plan.options);
    let unmet = found.as_ref().err();
    // If no configuration is enough, the row has the closest one.
    let chosen = shown(found);
    let needed = unmet.and_then(|unmet| unmet.needed);
    let rates = chosen.and_then(|chosen| chosen.rates);
    let power = rates.map(|rates| rates.power);
    let false_positives = rates.map(|rates| rates.false_positives);
    let interval = |rate: Option<CellRate>| rate?.interval;
    let cost = |chosen: Option<Chosen>| line.cost_with(&chosen?);
    let money = |seconds: Option<f64>| Some(seconds? / 3_600.0 * answer.price?);
    let first = line.first().map(|(first, _)| first);
    let (metric, setting) = identity(line.about());
    PlanRow {
        metric,
        unit: Some(&choice.metric.unit),
        setting,
        burn_in: Some(choice.burn_in),
        value: Some(choice.variability.value),
        cv_total: Some(choice.variability.cv_total),
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
        basis: chosen.filter(|_| rates.is_some()).map(|chosen| {
            if chosen.is_by_formula() {
                "closed_form"
            } else {
                "simulated"
            }
        }),
        outcome: outcome(line, slowdown, unmet.map(|unmet| unmet.why)),
        runs: line.fate == LineFate::Kept
            && first.is_some_and(|first| first.total_cmp(&slowdown).is_eq()),
        reason: match unmet {
            Some(unmet) => Some(notes::reason(unmet.why, options)),
            None => chosen
                .and_then(|chosen| doubt(&chosen, options))
                .map(str::to_owned),
        },
        needed_instances: needed.map(|it| it.configuration.instances),
        needed_iterations: needed.map(|it| it.configuration.iterations),
        needed_cost_seconds: cost(needed),
        needed_cost: money(cost(needed)),
        ..of_options(options)
    }
}

/// Returns evidence against the detection of a slowdown by a chosen configuration.
fn doubt(chosen: &Chosen, options: &PlanOptions) -> Option<&'static str> {
    let Some(rates) = chosen.rates else {
        return Some("chosen by hand; noise unknown");
    };
    if !options.has_power(chosen) {
        Some("chosen by hand, with less power than requested")
    } else if rates.has_too_many_false_positives(options.false_positives) {
        Some("with more false positives than requested")
    } else {
        None
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
