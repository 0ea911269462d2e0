//! Measured indicators and their values: `lapwing indicator list`, `query` and `check`.

use std::collections::BTreeMap;

use lapwing_analyse::explain::{IndicatorValue, is_reported};
use lapwing_model::text::{counted, first_names, grouped, plural};
use lapwing_record::BenchmarkRow;
use lapwing_stats::Confidence;
use schemars::JsonSchema;
use serde::Serialize;

use super::list_rows::ListedBenchmarkFields;
use crate::EstimateText;
use crate::writing::Align::{Left, Right};
use crate::writing::{AnswerKind, Note, ReadyAnswer, Table, TextAnswer, WriteError};

/// The kind of a list of indicators.
pub const LIST: AnswerKind =
    AnswerKind::of::<IndicatorList<'_>>("indicator-list").listing("indicators");
/// The kind of values of indicators.
pub const QUERY: AnswerKind =
    AnswerKind::of::<IndicatorValues<'_>>("indicator-query").listing("rows");
/// The kind of checks of scripts.
pub const CHECK: AnswerKind =
    AnswerKind::of::<CheckedScripts<'_>>("indicator-check").listing("scripts");

/// Indicators for programs.
#[derive(Debug, Serialize, JsonSchema)]
struct IndicatorList<'a> {
    count: usize,
    indicators: &'a [IndicatorFields<'a>],
}

#[derive(Debug, Default, Serialize, JsonSchema)]
struct IndicatorFields<'a> {
    name: &'a str,
    framework: &'a str,
    parameters: &'a str,
    #[serde(flatten)]
    benchmark: ListedBenchmarkFields<'a>,
}

impl<'a> IndicatorFields<'a> {
    fn new(row: &'a BenchmarkRow) -> Self {
        let (label, parameters) = row
            .benchmark
            .split_once('[')
            .unwrap_or((&row.benchmark, ""));
        let (name, framework) = label.split_once('/').unwrap_or((label, ""));
        Self {
            name,
            framework,
            parameters: parameters.trim_end_matches(']'),
            benchmark: ListedBenchmarkFields::new(row),
        }
    }
}

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
    let indicators: Vec<_> = rows.iter().map(IndicatorFields::new).collect();
    for (row, fields) in rows.iter().zip(&indicators) {
        let reported = row.metrics.iter().filter(|metric| is_reported(metric));
        table.row(vec![
            fields.name.to_owned(),
            fields.framework.to_owned(),
            fields.parameters.replace(',', ", "),
            grouped(row.instances),
            grouped(row.iterations),
            grouped(row.failures),
            first_names(reported, 3),
        ]);
    }
    let text = TextAnswer {
        headline: if rows.is_empty() {
            "no indicators yet: measure with `lapwing indicator run SCRIPT`, or import inspections"
                .to_owned()
        } else {
            counted(rows.len(), "indicator")
        },
        table,
        ..TextAnswer::default()
    };
    let list = IndicatorList {
        count: rows.len(),
        indicators: &indicators,
    };
    ReadyAnswer::new(&LIST, text, &list, &indicators)
}

/// Values of indicators for programs.
#[derive(Debug, Serialize, JsonSchema)]
struct IndicatorValues<'a> {
    count: usize,
    /// Confidence of the intervals.
    confidence: f64,
    rows: &'a [IndicatorValueRow<'a>],
}

#[derive(Debug, Default, Serialize, JsonSchema)]
struct IndicatorValueRow<'a> {
    indicator: &'a str,
    variant: &'a str,
    cpu_model: &'a str,
    metric: &'a str,
    unit: &'a str,
    instances: usize,
    mean: f64,
    /// Bounds of the 95 % confidence interval of the mean.
    lower: Option<f64>,
    upper: Option<f64>,
}

/// Returns the values of indicators.
///
/// # Errors
///
/// Returns the error of a row that JSON has no form for.
pub fn indicator_values_answer(values: &[IndicatorValue]) -> Result<ReadyAnswer, WriteError> {
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
    let mut rows = Vec::new();
    for value in values {
        let estimate = &value.estimate;
        let mean = estimate.value_text(&value.unit);
        let unit = mean.rsplit_once(' ').map_or("", |(_, unit)| unit);
        let interval = estimate.interval_text(&value.unit);
        let interval = interval.map(|it| format!("{it} {unit}").trim_end().to_owned());
        table.row(vec![
            value.indicator.clone(),
            value.variant.clone(),
            value.cpu_model.clone(),
            value.metric.clone(),
            mean,
            interval.unwrap_or_default(),
            grouped(estimate.size.instances),
        ]);
        rows.push(IndicatorValueRow {
            indicator: &value.indicator,
            variant: &value.variant,
            cpu_model: &value.cpu_model,
            metric: &value.metric,
            unit: &value.unit,
            instances: estimate.size.instances,
            mean: estimate.value,
            lower: estimate.interval.map(|interval| interval.lower),
            upper: estimate.interval.map(|interval| interval.upper),
        });
    }
    let text = TextAnswer {
        headline: counted(values.len(), "result"),
        table,
        ..TextAnswer::default()
    };
    let fields = IndicatorValues {
        count: rows.len(),
        confidence: Confidence::P95.level(),
        rows: &rows,
    };
    ReadyAnswer::new(&QUERY, text, &fields, &rows)
}

/// Checked scripts for programs.
#[derive(Debug, Serialize, JsonSchema)]
struct CheckedScripts<'a> {
    /// Number of scripts.
    checked: usize,
    /// Number of scripts that breach the contract.
    breaching: usize,
    scripts: &'a [CheckedFields<'a>],
}

/// A script that was executed once.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CheckedFields<'a> {
    /// Its path.
    pub script: String,
    /// Its digest.
    pub sha256: &'a str,
    /// The parameters that it was given.
    pub parameters: &'a BTreeMap<String, String>,
    /// The id of its benchmark, if it printed a document.
    pub benchmark: Option<String>,
    /// What it printed on standard error.
    pub stderr: &'a str,
    /// Number of breaches.
    pub breaches: usize,
    /// Deviations from the contract.
    pub findings: Vec<ContractFindingFields>,
}

/// A deviation from the contract.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ContractFindingFields {
    /// `breach` or `warning`.
    pub weight: &'static str,
    /// The deviation.
    pub text: String,
    /// What to do about it.
    pub hint: &'static str,
}

#[derive(Debug, Default, Serialize)]
struct CheckedRow<'a> {
    script: &'a str,
    benchmark: Option<&'a str>,
    breaches: usize,
    weight: Option<&'static str>,
    text: Option<&'a str>,
}

/// Returns the answer of checks of scripts.
///
/// # Errors
///
/// Returns the error of a row that JSON has no form for.
pub fn indicator_checks(scripts: &[CheckedFields<'_>]) -> Result<ReadyAnswer, WriteError> {
    let state = |script: &CheckedFields<'_>| match script.breaches {
        0 => format!("{}: keeps to the contract", script.script),
        some => {
            let breaches = plural(some, "breach", "breaches");
            format!("{}: {some} {breaches}", script.script)
        }
    };
    let mut rows = Vec::new();
    let mut notes = Vec::new();
    let breaching = scripts.iter().filter(|it| it.breaches > 0).count();
    for script in scripts {
        if scripts.len() > 1 {
            notes.push(Note::new("script", state(script)).with("breaches", script.breaches));
        }
        let row = |finding: Option<&'_ ContractFindingFields>| CheckedRow {
            script: &script.script,
            benchmark: script.benchmark.as_deref(),
            breaches: script.breaches,
            weight: finding.map(|it| it.weight),
            text: None,
        };
        if let Some(benchmark) = &script.benchmark {
            notes.push(Note::new("benchmark", format!("benchmark: {benchmark}")));
        }
        for finding in &script.findings {
            let text = format!("{}: {} → {}", finding.weight, finding.text, finding.hint);
            notes.push(Note::new(finding.weight, text));
            rows.push(CheckedRow {
                text: Some(&finding.text),
                ..row(Some(finding))
            });
        }
        if script.findings.is_empty() {
            rows.push(row(None));
        }
    }
    let text = TextAnswer {
        headline: match scripts {
            [only] => state(only),
            several => format!(
                "{breaching} of {} breach the contract",
                counted(several.len(), "script")
            ),
        },
        notes,
        ..TextAnswer::default()
    };
    let fields = CheckedScripts {
        checked: scripts.len(),
        breaching,
        scripts,
    };
    let mut answer = ReadyAnswer::new(&CHECK, text, &fields, &rows)?;
    answer.verdict = Some(if breaching > 0 { "breach" } else { "kept" });
    Ok(answer)
}
