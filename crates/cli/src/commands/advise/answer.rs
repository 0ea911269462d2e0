//! The advice in every output format.

use std::path::Path;

use lapwing_model::text::{capitalised, counted, joined};
use lapwing_show::chart::{PageSection, save_page_with};
use lapwing_show::study::{chart, goal_value_text, stack_change_text};
use lapwing_show::writing::Align::{Left, Right};
use lapwing_show::writing::{AnswerFormat, Table, TextAnswer};
use lapwing_study::{
    Advice, StackChange, StackDataError, StackExpectation, StackModel, StackModelError,
    VersionEffect,
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::error::{CliError, ExitStatus};
use crate::options::{Context, extension};

#[derive(Default, Serialize)]
struct AdviceRow {
    kind: &'static str,
    name: String,
    stack: Option<String>,
    instances: Option<usize>,
    is_measured: Option<bool>,
    attempts: Option<usize>,
    failures: Option<usize>,
    expected: Option<f64>,
    lower: Option<f64>,
    upper: Option<f64>,
    change_percent: Option<f64>,
    change_lower: Option<f64>,
    change_upper: Option<f64>,
    is_distinguishable: Option<bool>,
}

/// Returns what readers have to know.
pub fn notes(model: &StackModel<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    if model.data.hardware.len() > 1 {
        let count = model.data.hardware.len();
        notes.push(format!(
            "for {}; learnt from {}",
            model.hardware(),
            counted(count, "processor")
        ));
    }
    if model.avoided > 0 {
        notes.push(format!(
            "{} excluded: it always failed, or a version or pair of versions in it did",
            counted(model.avoided, "stack")
        ));
    }
    let unknown = model.rules.unknown(model.data);
    if !unknown.is_empty() {
        notes.push(format!(
            "rules name packages that the stacks do not have: {}",
            joined(&unknown)
        ));
    }
    notes.extend(model.data.notes.iter().cloned());
    notes
}

/// A line of the evidence: a stack, a change to the advised one, or both.
#[derive(Default)]
struct EvidenceLine<'a> {
    kind: &'static str,
    name: String,
    stack: Option<&'a StackExpectation>,
    change: Option<StackChange>,
    /// The instances of a version's stack.
    instances: Option<usize>,
}

fn lines<'a>(model: &StackModel<'_>, advice: &'a Advice) -> Vec<EvidenceLine<'a>> {
    let mut lines = vec![EvidenceLine {
        kind: "advised",
        stack: Some(&advice.advised),
        instances: Some(advice.advised.instances),
        ..EvidenceLine::default()
    }];
    lines.extend(
        advice
            .against
            .iter()
            .map(|(name, other, change)| EvidenceLine {
                kind: "against",
                name: (*name).to_owned(),
                stack: Some(other),
                change: Some(*change),
                instances: Some(other.instances),
            }),
    );
    lines.extend(advice.drivers.iter().map(|own| EvidenceLine {
        kind: "version",
        name: driver_name(model, advice, own),
        change: Some(own.change),
        instances: Some(own.instances),
        ..EvidenceLine::default()
    }));
    lines.extend(advice.interactions.iter().map(|own| {
        let [one, other] = own.factors.map(|at| &model.data.factors[at].name);
        EvidenceLine {
            kind: "pair",
            name: format!("{one} and {other} together, beyond both"),
            change: Some(own.change),
            ..EvidenceLine::default()
        }
    }));
    lines.extend(
        advice
            .best
            .iter()
            .enumerate()
            .map(|(at, own)| EvidenceLine {
                kind: "ranked",
                name: (at + 1).to_string(),
                stack: Some(own),
                change: Some(model.against(&advice.advised.stack, &own.stack)),
                instances: Some(own.instances),
            }),
    );
    lines
}

impl EvidenceLine<'_> {
    fn cells(&self, model: &StackModel<'_>) -> Vec<String> {
        let name = match (self.kind, self.stack) {
            ("advised", _) => "advised".to_owned(),
            (_, Some(own)) => format!("against {}: {}", self.name, model.data.text(&own.stack)),
            (_, None) => self.name.clone(),
        };
        let expected = self.stack.map(|own| expected_text(model, &own.stack));
        let change = self.change.map(|own| stack_change_text(model.data, own));
        let basis = match (self.stack, self.instances) {
            (Some(own), _) => basis(own),
            (None, Some(0)) => "inferred".to_owned(),
            (None, Some(count)) => format!("measured, {}", counted(count, "instance")),
            (None, None) => String::new(),
        };
        vec![
            name,
            expected.unwrap_or_default(),
            change.unwrap_or_default(),
            self.change
                .map_or_else(String::new, |own| verdict(own).to_owned()),
            basis,
        ]
    }

    fn row(&self, model: &StackModel<'_>) -> AdviceRow {
        let expected = self.stack.and_then(|own| expected(model, own));
        let shown = self.change.map(|change| model.data.shown(change));
        let percent = |value: f64| 100.0 * value.exp_m1();
        AdviceRow {
            kind: self.kind,
            name: self.name.clone(),
            stack: self.stack.map(|own| model.data.text(&own.stack)),
            instances: self.instances,
            is_measured: self.instances.map(|count| count > 0),
            attempts: self.stack.map(|own| own.outcome.attempts),
            failures: self.stack.map(|own| own.outcome.failures),
            expected: expected.map(|it| it[0]),
            lower: expected.map(|it| it[1]),
            upper: expected.map(|it| it[2]),
            change_percent: shown.map(|it| percent(it.change)),
            change_lower: shown.map(|it| percent(it.interval.lower)),
            change_upper: shown.map(|it| percent(it.interval.upper)),
            is_distinguishable: self.change.map(|it| it.is_distinguishable()),
        }
    }
}

/// Writes the advice.
pub fn write(
    model: &StackModel<'_>,
    advice: &Advice,
    mut notes: Vec<String>,
    format: AnswerFormat,
    context: &Context,
) -> Result<ExitStatus, CliError> {
    let mut table = Table::new(&[
        ("evidence", Left),
        ("expected", Right),
        ("change to the advised", Right),
        ("verdict", Left),
        ("basis", Left),
    ]);
    let lines = lines(model, advice);
    for line in lines.iter().filter(|line| line.kind != "ranked") {
        table.row(line.cells(model));
    }
    let rows = lines.iter().map(|line| line.row(model)).collect();
    notes.splice(0..0, sentences(model, advice));
    let mut more = about(model);
    more["type"] = json!(advice.kind.name());
    more["not_distinguishable"] = json!(advice.alike);
    let stack = model.data.factors.iter().zip(&advice.advised.stack);
    more["stack"] = stack
        .map(|(factor, level)| (factor.name.clone(), json!(factor.versions[*level])))
        .collect::<serde_json::Map<String, Value>>()
        .into();
    write_rows(
        headline(model, advice),
        table,
        notes,
        rows,
        ("evidence", more),
        format,
        context,
    )
}

/// Writes rows in a format.
pub fn write_rows<R: Serialize + Default>(
    headline: String,
    table: Table,
    notes: Vec<String>,
    rows: Vec<R>,
    (key, mut more): (&str, Value),
    format: AnswerFormat,
    context: &Context,
) -> Result<ExitStatus, CliError> {
    more[key] = json!(rows);
    more["headline"] = json!(headline);
    more["notes"] = json!(notes);
    let text = TextAnswer {
        headline,
        table,
        notes,
    };
    crate::answer::write_parts(text, &more, &rows, format, context)
}

/// Returns what the answer is about.
pub fn about(model: &StackModel<'_>) -> Value {
    let goals = model.data.goals.iter();
    let goals: Vec<Value> = goals
        .map(|own| {
            json!({
                "suite": own.suite, "benchmark": own.benchmark, "metric": own.metric.name, "weight": own.weight.abs(),
                "better": if own.direction() > 0.0 { "lower" } else { "higher" },
            })
        })
        .collect();
    json!({
        "goal": goals,
        "hardware": model.hardware(),
        "packages": (model.data.factors.iter()).map(|own| json!({"name": own.name, "versions": own.versions})).collect::<Vec<Value>>(),
        "measured_stacks": model.data.measured().len(),
        "candidates": model.candidates.len(),
    })
}

/// Returns the expected value of the only metric with its interval; for several metrics nothing.
pub fn expected_text(model: &StackModel<'_>, stack: &[usize]) -> String {
    let Some([value, lower, upper]) = expected(model, &model.expectation(stack)) else {
        return String::new();
    };
    let Some(goal) = model.data.only_goal() else {
        return String::new();
    };
    let [value, lower, upper] = [value, lower, upper].map(|it| goal_value_text(goal, it));
    format!("{value} [{lower}, {upper}]")
}

fn expected(model: &StackModel<'_>, own: &StackExpectation) -> Option<[f64; 3]> {
    let goal = model.data.only_goal()?;
    let value = goal.value(own.response);
    let [one, other] = [own.interval.lower, own.interval.upper].map(|it| goal.value(it));
    Some([value, one.min(other), one.max(other)])
}

fn verdict(change: StackChange) -> &'static str {
    match (change.is_distinguishable(), change.change < 0.0) {
        (false, _) => "not distinguishable",
        (true, true) => "better",
        (true, false) => "worse",
    }
}

fn basis(own: &StackExpectation) -> String {
    let outcome = own.outcome;
    let failed = match outcome.failures {
        0 => String::new(),
        failures => format!(", {failures} of {} failed", outcome.attempts),
    };
    match own.instances {
        0 => format!("inferred{failed}"),
        count => format!("measured, {}{failed}", counted(count, "instance")),
    }
}

fn driver_name(model: &StackModel<'_>, advice: &Advice, own: &VersionEffect) -> String {
    let factor = &model.data.factors[own.factor];
    let to = advice.advised.stack[own.factor];
    format!(
        "{} {} → {}",
        factor.name, factor.versions[own.level], factor.versions[to]
    )
}

fn headline(model: &StackModel<'_>, advice: &Advice) -> String {
    let stack = model.data.text(&advice.advised.stack);
    let expected = match (
        expected_text(model, &advice.advised.stack),
        model.data.only_goal(),
    ) {
        (text, Some(goal)) => format!("expected {} {text}, ", goal.metric.name.replace('_', " ")),
        (_, None) => String::new(),
    };
    let others = model.candidates.len().saturating_sub(1);
    let use_it = if others > 0 && advice.alike >= others {
        format!("No stack is clearly the best; {stack} is as good as any")
    } else {
        format!("Use {stack}")
    };
    format!(
        "{use_it} ({}): {expected}{}",
        advice.kind.name(),
        basis(&advice.advised)
    )
}

/// Returns the justification in sentences.
fn sentences(model: &StackModel<'_>, advice: &Advice) -> Vec<String> {
    let mut told = Vec::new();
    let what = match model.data.only_goal() {
        Some(_) => "",
        None => "mean cost of the goal ",
    };
    for (name, _, change) in &advice.against {
        let text = if change.is_distinguishable() {
            format!("{} than the {name}", verdict(*change))
        } else {
            format!("not distinguishable from the {name}")
        };
        told.push(format!(
            "{text}: {what}{}",
            stack_change_text(model.data, *change)
        ));
    }
    let others = model.candidates.len().saturating_sub(1);
    told.push(format!(
        "{} of {} cannot be distinguished from the advised one",
        advice.alike,
        counted(others, "other stack")
    ));
    if advice.advised.instances == 0 {
        told.push(
            "the advised stack was not measured: it is inferred from others; measure it before relying on it".to_owned(),
        );
    }
    let (_, reasons) = model.rules.score(model.data, &advice.advised.stack);
    told.extend(reasons.into_iter().map(|own| format!("scored: {own}")));
    told
}

/// Saves the chart, or the page with the advice and all charts.
pub fn save(
    model: &StackModel<'_>,
    advice: &Advice,
    notes: &[String],
    path: Option<&Path>,
    kind: &str,
) -> Result<(), CliError> {
    let Some(path) = path else {
        return Ok(());
    };
    let stacks = chart::stack_changes(model, advice);
    let versions = chart::version_map(model, advice);
    if extension(path) == "html" {
        let drivers = advice.drivers.iter().map(|own| {
            let name = driver_name(model, advice, own);
            format!("{name}: {}", stack_change_text(model.data, own.change))
        });
        let sections = [
            ("Why", capitalised_all(&sentences(model, advice))),
            // They begin with the names of packages.
            ("Versions", drivers.collect()),
            ("Notes", capitalised_all(notes)),
        ];
        let sections: Vec<PageSection> = (sections.into_iter())
            .filter(|(_, sentences)| !sentences.is_empty())
            .map(|(title, sentences)| PageSection {
                title: title.to_owned(),
                sentences,
            })
            .collect();
        let lead = format!("{}.", headline(model, advice));
        save_page_with(path, "Advice", &lead, &sections, &[stacks, versions])?;
    } else if kind == "versions" {
        versions.save(path)?;
    } else {
        stacks.save(path)?;
    }
    Ok(())
}

fn capitalised_all(sentences: &[String]) -> Vec<String> {
    sentences.iter().map(|own| capitalised(own)).collect()
}

/// Returns the error with advice.
pub fn with_hint(error: StackModelError) -> CliError {
    match &error {
        StackModelError::TooFew { .. } => CliError::not_enough(error).hint("measure more stacks"),
        StackModelError::NoCandidate { .. } => {
            CliError::input(error).hint("relax a requirement or a rule, or measure more versions")
        }
        StackModelError::Hardware { .. } => {
            CliError::input(error).hint("`lapwing list` shows the measured hosts")
        }
    }
}

/// Returns the error with advice.
pub fn with_data_hint(error: StackDataError) -> CliError {
    match &error {
        StackDataError::NoStacks { .. } => CliError::not_enough(error).hint(
            "a stack is a variant with packages as factors; docs/advise.md shows how to measure some",
        ),
        StackDataError::Metric(_) => {
            CliError::input(error).hint("name the goal with --goal, or choose with --benchmark")
        }
        StackDataError::Goal(_) => CliError::input(error)
            .hint("`lapwing list metrics` shows metrics; the suite states directions"),
    }
}
