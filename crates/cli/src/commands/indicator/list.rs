//! `lapwing indicator list`: lists the measured indicators.

use std::io::Write;

use clap::Args;
use lapwing_model::Benchmark;
use lapwing_model::text::{counted, first_names, grouped};
use lapwing_record::BenchmarkRow;
use lapwing_show::writing::Align::{Left, Right};
use lapwing_show::writing::{AnswerFormat, Table};
use serde::Serialize;
use serde_json::json;

use super::is_reported;
use crate::answer::write_json;
use crate::error::{CliError, ExitStatus};
use crate::options::{AnswerOptions, Context, FilterOptions};
use crate::store::open_for_reading;

/// List the measured indicators
#[derive(Debug, Args)]
pub struct IndicatorList {
    #[command(flatten)]
    filters: FilterOptions,
    #[command(flatten)]
    answer: AnswerOptions,
}

#[derive(Serialize)]
struct IndicatorFields<'a> {
    name: &'a str,
    framework: &'a str,
    parameters: &'a str,
    #[serde(flatten)]
    row: &'a BenchmarkRow,
}

impl<'a> IndicatorFields<'a> {
    fn of(row: &'a BenchmarkRow) -> Self {
        let (label, parameters) = row
            .benchmark
            .split_once('[')
            .unwrap_or((&row.benchmark, ""));
        let (name, framework) = label.split_once('/').unwrap_or((label, ""));
        Self {
            name,
            framework,
            parameters: parameters.trim_end_matches(']'),
            row,
        }
    }
}

impl IndicatorList {
    /// Prints the list.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        let store = open_for_reading(context)?;
        let filter = self.filters.filter()?.resolve(&store)?;
        let mut rows = store.catalogue().benchmarks(&filter)?;
        rows.retain(|row| row.tags.iter().any(|tag| tag == Benchmark::INDICATOR));
        let rows: Vec<IndicatorFields<'_>> = rows.iter().map(IndicatorFields::of).collect();
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
        for it in &rows {
            table.row(vec![
                it.name.to_owned(),
                it.framework.to_owned(),
                it.parameters.replace(',', ", "),
                grouped(it.row.instances),
                grouped(it.row.iterations),
                grouped(it.row.failures),
                first_names(it.row.metrics.iter().filter(|it| is_reported(it)), 3),
            ]);
        }
        let mut out = context.terminal.out_as(self.answer.format);
        match self.answer.format {
            AnswerFormat::Json => write_json(&json!({ "indicators": rows }), &mut out)?,
            AnswerFormat::Markdown => table.markdown(&mut out)?,
            AnswerFormat::Csv => table.csv(&mut out)?,
            AnswerFormat::Text if rows.is_empty() => writeln!(
                out,
                "no indicators yet: measure with `lapwing indicator run SCRIPT`, or import inspections"
            )?,
            AnswerFormat::Text => {
                writeln!(out, "{}\n", counted(rows.len(), "indicator"))?;
                table.text_within(context.terminal.width(), &mut out)?;
            }
        }
        Ok(ExitStatus::Fine)
    }
}
