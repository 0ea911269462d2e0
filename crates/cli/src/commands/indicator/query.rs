//! `lapwing indicator query`: values of indicators by parameters, packages and hardware.

use std::collections::BTreeSet;

use clap::Args;
use lapwing_analyse::explain::{environment_text, environment_value, indicator_values, value_text};
use lapwing_measure::session::normal_name;
use lapwing_model::Benchmark;
use lapwing_record::{Filter, InstanceData, Store};
use lapwing_show::answers::indicators::indicator_values_answer;
use serde_json::Value;

use crate::error::{CliError, ExitStatus};
use crate::options::{AnswerOptions, Context, FilterOptions};
use crate::store::open_for_reading;

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

impl IndicatorQuery {
    /// Prints the rows.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        let params = pairs(&self.params, "--param")?;
        let store = open_for_reading(context)?;
        let mut filter = self.filters.filter()?.resolve(&store)?;
        let metrics = std::mem::take(&mut filter.metrics);
        refuse_unknown(&metrics, &store, &filter)?;
        let is_asked = |benchmark: &Benchmark| {
            params.iter().all(|(key, value)| {
                let recorded = benchmark.params.get(*key);
                recorded.is_some_and(|recorded| value_text(recorded) == *value)
            })
        };
        let values = indicator_values(&store, &filter, &metrics, is_asked, |it| self.passes(it))?;
        context.show(&indicator_values_answer(&values)?, &self.answer)?;
        Ok(if values.is_empty() {
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
            let flags = environment_value(instance, "hwinfo")
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

/// Refuses metrics that no indicator has.
fn refuse_unknown(metrics: &[String], store: &Store, filter: &Filter) -> Result<(), CliError> {
    let mut rows = store.catalogue().benchmarks(filter)?;
    rows.retain(|row| row.tags.iter().any(|tag| tag == Benchmark::INDICATOR));
    let known: BTreeSet<String> = rows.into_iter().flat_map(|row| row.metrics).collect();
    let unknown = metrics.iter().find(|it| !known.contains(*it));
    match unknown.filter(|_| !known.is_empty()) {
        None => Ok(()),
        Some(metric) => {
            let known: Vec<String> = known.into_iter().collect();
            let error = CliError::input(format!("no indicator has metric `{metric}`"));
            let hint = format!("the metrics are {}", known.join(", "));
            Err(error.hint(hint).candidates(known))
        }
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

fn has_package(instance: &InstanceData, asked: &str) -> bool {
    let (name, version) = asked.split_once('=').unwrap_or((asked, ""));
    let version = version.trim_start_matches('=');
    let packages = environment_value(instance, "packages").and_then(Value::as_object);
    packages.into_iter().flatten().any(|(own, installed)| {
        let installed = value_text(installed);
        normal_name(own) == normal_name(name)
            && (version.is_empty()
                || installed == version
                || installed.starts_with(&format!("{version}.")))
    })
}
