//! Measured indicators and their values: `lapwing indicator list` and `query`.

use lapwing_analyse::explain::{IndicatorValue, is_reported};
use lapwing_model::text::{counted, first_names, grouped};
use lapwing_record::BenchmarkRow;
use serde_json::{Value, json};

use crate::EstimateText;
use crate::writing::Align::{Left, Right};
use crate::writing::{AnswerKind, ReadyAnswer, Table, Untyped, WriteError};

const INDICATOR_LIST: AnswerKind = AnswerKind::of::<Untyped>("indicator-list");
const INDICATOR_QUERY: AnswerKind = AnswerKind::of::<Untyped>("indicator-query");

/// Returns the list of indicators.
///
/// # Errors
///
/// Returns the error of a row that JSON has no form for.
pub fn indicator_list(rows: &[BenchmarkRow]) -> Result<ReadyAnswer, WriteError> {
    let mut table = Table::new(&[
        ("indicator", Left),
        ("framework", Left),
        ("parameters", Left),
        ("instances", Right),
        ("executions", Right),
        ("failures", Right),
        ("metrics", Left),
    ])
    .dispensable(&["metrics", "failures"]);
    let mut indicators: Vec<Value> = Vec::new();
    for row in rows {
        let (label, parameters) = row
            .benchmark
            .split_once('[')
            .unwrap_or((&row.benchmark, ""));
        let (name, framework) = label.split_once('/').unwrap_or((label, ""));
        let parameters = parameters.trim_end_matches(']');
        let mut fields = json!({"name": name, "framework": framework, "parameters": parameters});
        if let (Some(all), Value::Object(more)) =
            (fields.as_object_mut(), serde_json::to_value(row)?)
        {
            all.extend(more);
        }
        indicators.push(fields);
        let reported = row.metrics.iter().filter(|metric| is_reported(metric));
        table.row(vec![
            name.to_owned(),
            framework.to_owned(),
            parameters.replace(',', ", "),
            grouped(row.instances),
            grouped(row.iterations),
            grouped(row.failures),
            first_names(reported, 3),
        ]);
    }
    Ok(ReadyAnswer::of_table(
        &INDICATOR_LIST,
        if rows.is_empty() {
            "no indicators yet: measure with `lapwing indicator run SCRIPT`, or import inspections"
                .to_owned()
        } else {
            counted(rows.len(), "indicator")
        },
        table,
        json!({ "indicators": indicators }),
    ))
}

/// Returns the values of indicators.
pub fn indicator_values_answer(values: &[IndicatorValue]) -> ReadyAnswer {
    let mut table = Table::new(&[
        ("indicator", Left),
        ("variant", Left),
        ("processor", Left),
        ("metric", Left),
        ("mean", Right),
        ("95 % interval", Right),
        ("instances", Right),
    ])
    .dispensable(&["processor", "instances"]);
    let mut rows: Vec<Value> = Vec::new();
    for value in values {
        let estimate = &value.estimate;
        table.row(vec![
            value.indicator.clone(),
            value.variant.clone(),
            value.cpu_model.clone(),
            value.metric.clone(),
            estimate.value_text(&value.unit),
            estimate.interval_text(&value.unit).unwrap_or_default(),
            grouped(estimate.size.instances),
        ]);
        rows.push(json!({
            "indicator": value.indicator,
            "variant": value.variant,
            "cpu_model": value.cpu_model,
            "metric": value.metric,
            "unit": value.unit,
            "instances": estimate.size.instances,
            "mean": estimate.value,
            "lower": estimate.interval.map(|interval| interval.lower),
            "upper": estimate.interval.map(|interval| interval.upper),
        }));
    }
    ReadyAnswer::of_table(
        &INDICATOR_QUERY,
        counted(values.len(), "result"),
        table,
        json!({ "rows": rows }),
    )
}
