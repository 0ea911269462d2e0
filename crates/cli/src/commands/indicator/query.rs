//! `lapwing indicator query`: values of indicators by parameters, packages and hardware.

use std::collections::BTreeMap;
use std::io::Write;

use clap::Args;
use lapwing_analyse::clean::{CleaningPolicy, clean};
use lapwing_analyse::judge::estimate;
use lapwing_analyse::sample::each_benchmark;
use lapwing_model::text::{counted, grouped};
use lapwing_model::{Benchmark, Metric, Object};
use lapwing_record::{InstanceData, StoreError};
use serde::Serialize;
use serde_json::{Value, json};

use super::is_reported;
use crate::answer::write_json;
use crate::error::{CliError, ExitStatus};
use crate::options::{AnswerOptions, Context, FilterOptions};
use crate::store::open_for_reading;
use lapwing_measure::session::normal_name;
use lapwing_show::EstimateText;
use lapwing_show::writing::Align::{Left, Right};
use lapwing_show::writing::{AnswerFormat, Table};

/// Show values of indicators by parameters, packages, hardware and operating system
///
/// One row per indicator, metric, variant and processor. Without --metric, rows show the metrics
/// that the scripts report.
#[derive(Debug, Args)]
pub struct IndicatorQuery {
    /// Only with this value of a parameter
    #[arg(long = "param", value_name = "NAME=VALUE")]
    params: Vec<String>,
    /// Only where this package was installed: `numpy`, `numpy=2.1`, which means 2.1 and all 2.1.x
    #[arg(long, value_name = "PACKAGE[=VERSION]")]
    package: Vec<String>,
    /// Only on processors whose model contains this text
    #[arg(long, value_name = "TEXT")]
    cpu_model: Option<String>,
    /// Only on processors with this feature, such as avx2
    #[arg(long, value_name = "FLAG")]
    cpu_flag: Vec<String>,
    /// Only on operating systems whose name contains this text
    #[arg(long, value_name = "TEXT")]
    os: Option<String>,
    #[command(flatten)]
    filters: FilterOptions,
    #[command(flatten)]
    answer: AnswerOptions,
}

#[derive(Serialize)]
struct QueryRow {
    indicator: String,
    variant: String,
    cpu_model: String,
    metric: String,
    unit: String,
    instances: usize,
    mean: f64,
    lower: Option<f64>,
    upper: Option<f64>,
    #[serde(skip)]
    shown: (String, String),
}

impl IndicatorQuery {
    /// Prints the rows.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        let params = pairs(&self.params, "--param")?;
        let store = open_for_reading(context)?;
        let mut filter = self.filters.filter()?.resolve(&store)?;
        let metrics = std::mem::take(&mut filter.metrics);
        let mut rows = Vec::new();
        each_benchmark(&store, &filter, |data| {
            let benchmark = &data.benchmark;
            let is_asked = |(key, value): &(&str, &str)| {
                let own = benchmark.params.get(*key);
                own.is_some_and(|own| words(own) == *value)
            };
            if !benchmark.tags.iter().any(|it| it == Benchmark::INDICATOR)
                || !params.iter().all(is_asked)
            {
                return Ok::<(), StoreError>(());
            }
            let mut groups: BTreeMap<(String, String), Vec<&InstanceData>> = BTreeMap::new();
            for instance in data.instances.iter().filter(|it| self.passes(it)) {
                let variant = instance.run.variant.clone();
                let cpu_model = environment_text(instance, "cpu_model");
                groups
                    .entry((variant, cpu_model))
                    .or_default()
                    .push(instance);
            }
            for ((variant, cpu_model), instances) in groups {
                for (metric, about) in reported(&instances, &metrics) {
                    let cleaned = clean(
                        instances.iter().copied(),
                        &metric,
                        CleaningPolicy::default(),
                    );
                    let Some(estimate) = estimate(&cleaned) else {
                        continue;
                    };
                    rows.push(QueryRow {
                        indicator: benchmark.id.clone(),
                        variant: variant.clone(),
                        cpu_model: cpu_model.clone(),
                        metric,
                        instances: cleaned.instances.len(),
                        mean: estimate.value,
                        lower: estimate.interval.map(|it| it.lower),
                        upper: estimate.interval.map(|it| it.upper),
                        shown: (
                            estimate.value_text(&about.unit),
                            estimate.interval_text(&about.unit).unwrap_or_default(),
                        ),
                        unit: about.unit,
                    });
                }
            }
            Ok(())
        })?;
        self.write(&rows, context)
    }

    fn write(&self, rows: &[QueryRow], context: &Context) -> Result<ExitStatus, CliError> {
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
        for row in rows {
            table.row(vec![
                row.indicator.clone(),
                row.variant.clone(),
                row.cpu_model.clone(),
                row.metric.clone(),
                row.shown.0.clone(),
                row.shown.1.clone(),
                grouped(row.instances),
            ]);
        }
        let mut out = context.terminal.out_as(self.answer.format);
        match self.answer.format {
            AnswerFormat::Json => write_json(&json!({ "rows": rows }), &mut out)?,
            AnswerFormat::Markdown => table.markdown(&mut out)?,
            AnswerFormat::Csv => table.csv(&mut out)?,
            AnswerFormat::Text => {
                writeln!(out, "{}\n", counted(rows.len(), "result"))?;
                table.text_within(context.terminal.width(), &mut out)?;
            }
        }
        Ok(if rows.is_empty() {
            ExitStatus::NotEnough
        } else {
            ExitStatus::Fine
        })
    }

    /// Returns whether an instance was measured with these packages, on such a machine.
    fn passes(&self, instance: &InstanceData) -> bool {
        let contains = |key: &str, wanted: &Option<String>| {
            let wanted = wanted.as_ref().map(|it| it.to_lowercase());
            let own = environment_text(instance, key).to_lowercase();
            wanted.is_none_or(|wanted| own.contains(&wanted))
        };
        let has_flag = |flag: &String| {
            let flags = environment(instance, "hwinfo")
                .and_then(|it| it.pointer("/cpu_features/flags")?.as_array());
            flags.is_some_and(|flags| flags.iter().any(|it| it.as_str() == Some(flag.as_str())))
        };
        contains("cpu_model", &self.cpu_model)
            && contains("os", &self.os)
            && self.cpu_flag.iter().all(has_flag)
            && self
                .package
                .iter()
                .all(|asked| has_package(instance, asked))
    }
}

fn pairs<'a>(texts: &'a [String], option: &str) -> Result<Vec<(&'a str, &'a str)>, CliError> {
    texts
        .iter()
        .map(|text| {
            text.split_once('=')
                .ok_or_else(|| CliError::input(format!("{option} {text} has no value")))
        })
        .collect()
}

fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Returns a property of the environment: of the instance, else of its run.
fn environment<'a>(instance: &'a InstanceData, key: &str) -> Option<&'a Value> {
    let own: &Object = &instance.instance.environment;
    own.get(key).or_else(|| instance.run.environment.get(key))
}

fn environment_text(instance: &InstanceData, key: &str) -> String {
    let value = environment(instance, key);
    value.map(words).unwrap_or_default()
}

fn has_package(instance: &InstanceData, asked: &str) -> bool {
    let (name, version) = asked.split_once('=').unwrap_or((asked, ""));
    let version = version.trim_start_matches('=');
    let packages = environment(instance, "packages").and_then(Value::as_object);
    packages.into_iter().flatten().any(|(own, installed)| {
        let installed = words(installed);
        normal_name(own) == normal_name(name)
            && (version.is_empty()
                || installed == version
                || installed.starts_with(&format!("{version}.")))
    })
}

/// Returns the metrics to show: those asked for, else those that the scripts report.
fn reported(instances: &[&InstanceData], asked: &[String]) -> BTreeMap<String, Metric> {
    let mut all = BTreeMap::new();
    for instance in instances {
        for name in instance.iterations.values.keys() {
            let is_shown = match asked {
                [] => is_reported(name),
                names => names.contains(name),
            };
            if is_shown {
                let about = instance.run.metrics.get(name).cloned().unwrap_or_default();
                all.insert(name.clone(), about);
            }
        }
    }
    all
}
