//! The noise of benchmarks as text, Markdown, JSON and CSV.

use std::io::Write;

use lapwing_core::explain::{Association, Noise, NoisePart};
use lapwing_core::show::{
    FIRST_METRIC, RowTitles, noise_advice, noise_headline, percent, quantity,
};
use lapwing_core::text::counted;
use lapwing_stats::Modes;
use serde_json::{Value, json};

use super::{FoundNoise, VariabilityCommand};
use crate::audit::{self, AuditDetail};
use crate::error::CliError;
use crate::not_judged;
use crate::options::{Context, Format};
use crate::samples::SettingsOption;
use crate::store::earlier_note;
use crate::table::Align::{Left, Right};
use crate::table::{Table, csv_of_json};

/// Writes the answer in the requested format.
pub fn write(
    found: &FoundNoise,
    command: &VariabilityCommand,
    context: &Context,
) -> Result<(), CliError> {
    let mut out = context.terminal.out();
    let detail = command.cleaning.detail();
    match command.format {
        Format::Text => {
            writeln!(out, "{}\n", noise_headline(&found.rows))?;
            table(&found.rows).text_within(context.terminal.width(), &mut out)?;
            let notes = notes(found, command);
            if !notes.is_empty() {
                writeln!(out, "\n{}", notes.join("\n"))?;
            }
        }
        Format::Markdown => {
            writeln!(out, "{}\n", noise_headline(&found.rows))?;
            table(&found.rows).markdown(&mut out)?;
            for note in notes(found, command) {
                writeln!(out, "\n{note}")?;
            }
        }
        Format::Json => {
            let rows: Vec<Value> = found.rows.iter().map(row_json).collect();
            let answer = json!({
                "variability": rows,
                "not_judged": not_judged::json(&not_judged::of_audit(&found.audit)),
                "audit": audit::json(&found.audit, detail),
            });
            serde_json::to_writer_pretty(&mut out, &answer)?;
            writeln!(out)?;
        }
        Format::Csv => csv_of_json(&CSV_COLUMNS, found.rows.iter().map(flat_row), &mut out)?,
    }
    audit::below(&found.audit, detail, command.format, context, &mut out)
}

fn table(rows: &[Noise]) -> Table {
    let RowTitles {
        suites, settings, ..
    } = RowTitles::of(rows);
    // The wall time goes without saying; anything else has to be said.
    let metrics = rows.iter().any(|row| row.name != FIRST_METRIC);
    let best = rows
        .iter()
        .any(|row| row.effort.is_some_and(|it| it.best_iterations.is_some()));
    let mut columns = vec![("benchmark", Left)];
    let optional = [
        (suites, "suite"),
        (settings, "setting"),
        (metrics, "metric"),
    ];
    columns.extend(optional.iter().filter(|it| it.0).map(|it| (it.1, Left)));
    columns.extend([
        ("mean", Right),
        ("cv", Right),
        ("between instances", Right),
        ("within", Right),
        ("sample", Right),
    ]);
    if best {
        columns.push(("best iterations", Right));
    }
    let mut table =
        Table::new(&columns).dispensable(&["best iterations", "suite", "cv", "setting", "metric"]);
    for row in rows {
        let variability = &row.variability;
        let mut cells = vec![row.benchmark.clone()];
        if suites {
            cells.push(row.suite.clone());
        }
        if settings {
            cells.push(row.setting.text().unwrap_or_default());
        }
        if metrics {
            cells.push(row.name.clone());
        }
        let part = |part: Option<NoisePart>| part.map_or("–".to_owned(), |it| it.text());
        cells.extend([
            quantity(variability.mean, &row.metric.unit),
            percent(variability.cv_total),
            part(row.between),
            part(row.within),
            variability.size.short(),
        ]);
        if best {
            let best = row.effort.and_then(|it| it.best_iterations);
            cells.push(best.map_or(String::new(), |it| it.to_string()));
        }
        table.row(cells);
    }
    table
}

/// More benchmarks in two groups than this are told by `--format json`.
const GROUPS: usize = 5;

/// Returns what there is to say below the table.
fn notes(found: &FoundNoise, command: &VariabilityCommand) -> Vec<String> {
    let titles = RowTitles::of(&found.rows);
    let rows = found.rows.iter();
    let groups: Vec<String> = rows.filter_map(|row| row.groups_text(titles)).collect();
    let mut notes: Vec<String> = groups.iter().take(GROUPS).cloned().collect();
    if let Some(more @ 1..) = groups.len().checked_sub(GROUPS) {
        notes.push(format!(
            "{more} more fall into two groups; --format json lists them"
        ));
    }
    notes.extend(noise_advice(&found.rows));
    let single = found
        .rows
        .iter()
        .filter(|row| row.variability.size.instances == 1)
        .count();
    if single > 0 && single < found.rows.len() {
        notes.push(format!(
            "{} with a single instance: noise between instances is unknown",
            counted(single, "benchmark")
        ));
    }
    if found.older > 0
        && !matches!(
            command.settings,
            Some(SettingsOption::Each | SettingsOption::Pooled)
        )
    {
        notes.push(format!(
            "only the latest version of each variant is used; {} in the store (`--settings each`)",
            match found.older {
                1 => "an older one is".to_owned(),
                several => format!("{several} older ones are"),
            }
        ));
    }
    notes.extend(earlier_note(found.earlier));
    if command.cleaning.detail() == AuditDetail::Line {
        let names = not_judged::names(&not_judged::of_audit(&found.audit));
        notes.extend(names.map(|names| format!("not judged: {names}")));
    }
    notes
}

fn row_json(row: &Noise) -> Value {
    let variability = &row.variability;
    let value = |part: Option<NoisePart>| part.map(|it| it.value);
    let lower = |part: Option<NoisePart>| Some(part?.interval?.lower);
    let upper = |part: Option<NoisePart>| Some(part?.interval?.upper);
    let share = variability.components;
    json!({
        "suite": row.suite,
        "benchmark": row.benchmark,
        "metric": row.name,
        "unit": row.metric.unit,
        "variant": row.setting.variant_name(),
        "version": row.setting.version,
        "session": row.setting.session,
        "instances": variability.size.instances,
        "iterations": variability.size.iterations,
        "mean": variability.mean,
        "cv_total": variability.cv_total,
        "cv_instance_mean": variability.cv_instance_mean,
        "cv_instance_sd": variability.cv_instance_sd,
        "cv_between": value(row.between),
        "cv_between_lower": lower(row.between),
        "cv_between_upper": upper(row.between),
        "cv_within": value(row.within),
        "cv_within_lower": lower(row.within),
        "cv_within_upper": upper(row.within),
        "share_between": share.and_then(|it| it.share_between),
        "share_between_lower": share.and_then(|it| it.share_interval).map(|it| it.lower),
        "share_between_upper": share.and_then(|it| it.share_interval).map(|it| it.upper),
        "best_iterations": row.effort.and_then(|it| it.best_iterations),
        "modes": modes_json(row),
    })
}

/// Returns the groups of the instance means: `null` where there are too few to tell.
fn modes_json(row: &Noise) -> Value {
    match row.variability.modes {
        Modes::TooFew => Value::Null,
        Modes::One { dip } => json!({"count": 1, "p_value": dip.p_value}),
        Modes::Two { dip, split } => json!({
            "count": 2,
            "p_value": dip.p_value,
            "lower": {"instances": split.lower_count, "mean": split.lower_mean},
            "upper": {
                "instances": row.variability.size.instances - split.lower_count,
                "mean": split.upper_mean,
            },
            "associations": row.associations.iter().map(association_json).collect::<Vec<_>>(),
        }),
    }
}

fn association_json(association: &Association) -> Value {
    let levels = association
        .levels
        .iter()
        .map(|it| json!({"level": it.level, "lower": it.lower, "upper": it.upper}));
    json!({
        "attributes": association.attributes,
        "levels": levels.collect::<Vec<_>>(),
        "p_value": association.p_value,
        "p_adjusted": association.p_adjusted,
    })
}

/// The columns of the CSV table: keys of a JSON row.
const CSV_COLUMNS: [&str; 24] = [
    "suite",
    "benchmark",
    "metric",
    "unit",
    "variant",
    "version",
    "session",
    "instances",
    "iterations",
    "mean",
    "cv_total",
    "cv_instance_mean",
    "cv_instance_sd",
    "cv_between",
    "cv_between_lower",
    "cv_between_upper",
    "cv_within",
    "cv_within_lower",
    "cv_within_upper",
    "share_between",
    "share_between_lower",
    "share_between_upper",
    "best_iterations",
    "modes",
];

/// Returns a row whose groups are their number alone.
fn flat_row(row: &Noise) -> Value {
    let mut json = row_json(row);
    json["modes"] = json["modes"]["count"].take();
    json
}
