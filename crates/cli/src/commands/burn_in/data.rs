//! The answer for programs.

use std::io::Write;

use lapwing_core::clean::SteadyMethod;
use lapwing_core::show::class_name;
use lapwing_core::suite::BurnIn as PlannedBurnIn;
use lapwing_stats::steady::{Class, Consistency};
use serde_json::{Map, Value, json};

use super::rows::BurnInRow;
use crate::error::CliError;
use crate::not_judged::{self, NotJudged};
use crate::options::Context;
use crate::table::csv_of_json;

/// Writes the rows as JSON (`docs/burn-in.md`).
pub fn json(
    rows: &[BurnInRow],
    others: &[NotJudged],
    notes: &[String],
    method: SteadyMethod,
    context: &Context,
) -> Result<(), CliError> {
    let rows: Vec<Value> = rows.iter().map(row).collect();
    let answer = json!({
        "method": method.name(),
        "benchmarks": rows,
        "not_judged": not_judged::json(others),
        "notes": notes,
    });
    let mut out = context.terminal.out();
    serde_json::to_writer_pretty(&mut out, &answer)?;
    writeln!(out)?;
    Ok(())
}

/// Returns the class as a key: `warm_up`.
fn key(class: Option<Class>) -> String {
    class.map_or("not_above_zero".to_owned(), |class| {
        class_name(class).replace(['-', ' '], "_")
    })
}

fn class(row: &BurnInRow) -> Option<String> {
    let class = match row.steady.burn_in.as_ref()?.consistency {
        Consistency::Same(class) => key(Some(class)),
        Consistency::GoodInconsistent | Consistency::BadInconsistent => "mixed".to_owned(),
    };
    Some(class)
}

fn row(row: &BurnInRow) -> Value {
    let classes: Map<String, Value> = row
        .steady
        .classes()
        .into_iter()
        .map(|(class, count)| (key(class), json!(count)))
        .collect();
    let effect = row.effect.as_ref();
    let bias = effect.filter(|_| row.bias_without.is_some());
    let instances: Vec<Value> = row
        .instances
        .iter()
        .map(|it| {
            json!({
                "instance": it.id.to_string(),
                "class": it.class.map(|class| key(Some(class))),
                "start": it.start,
                "iterations": it.iterations,
            })
        })
        .collect();
    json!({
        "benchmark": row.benchmark,
        "suite": row.suite,
        "metric": row.steady.metric,
        "unit": row.unit,
        "class": class(row),
        "classes": classes,
        "start": row.start,
        "found": row.found,
        "wanted": row.wanted,
        "wanders": row.steady.burn_in.as_ref().is_some_and(|it| it.wanders),
        "source": row.source.key(),
        "planned": match row.planned {
            PlannedBurnIn::Fixed(count) => json!(count),
            PlannedBurnIn::Auto => json!("auto"),
        },
        "instances": row.instances.len(),
        "never_steady": row.count(Class::NoSteadyState),
        "too_short": row.count(Class::TooShort),
        "not_asked": row.not_asked(),
        "cost": effect.filter(|_| row.start.is_some()).map(|it| it.cost),
        "total": row.total,
        "bias_without_burn_in": row.bias_without,
        "transient_bias": bias.map(|it| it.transient_bias),
        "remaining_bias": bias.map(|it| it.remaining_bias),
        "instances_detail": instances,
    })
}

/// Writes the rows as CSV: the columns of the JSON rows that are no lists.
pub fn csv(rows: &[BurnInRow], context: &Context) -> Result<(), CliError> {
    const COLUMNS: [&str; 20] = [
        "benchmark",
        "suite",
        "metric",
        "unit",
        "class",
        "start",
        "found",
        "wanted",
        "source",
        "planned",
        "instances",
        "never_steady",
        "too_short",
        "cost",
        "total",
        "bias_without_burn_in",
        "transient_bias",
        "remaining_bias",
        "wanders",
        "not_asked",
    ];
    csv_of_json(&COLUMNS, rows.iter().map(row), &mut context.terminal.out())
}
