//! Fields that identify a row of an answer.

use lapwing_analyse::sample::Subject;
use schemars::JsonSchema;
use serde::Serialize;

use crate::writing::Align::{self, Left};
use crate::{RowSubject, RowTitles, TitledRow};

/// Fields of rows about a metric of a benchmark.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct MetricFields<'a> {
    /// Suite of the benchmark.
    pub suite: &'a str,
    /// Id of the benchmark.
    pub benchmark: &'a str,
    /// Name of the metric.
    pub metric: &'a str,
}

/// Fields of rows about a variant, version or session.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct SettingFields<'a> {
    /// Variant, if the row has one.
    pub variant: Option<String>,
    /// Version, if the row has one.
    pub version: Option<&'a str>,
    /// Session, if the row has one.
    pub session: Option<&'a str>,
}

/// Returns the fields that identify a row.
pub fn identity(row: RowSubject<'_>) -> (MetricFields<'_>, SettingFields<'_>) {
    let metric = MetricFields {
        suite: row.suite,
        benchmark: row.benchmark,
        metric: row.metric,
    };
    let setting = SettingFields {
        variant: row.setting.variant_name(),
        version: row.setting.version.as_deref(),
        session: row.setting.session.as_deref(),
    };
    (metric, setting)
}

/// Returns the columns that identify the rows of a table.
pub fn identity_columns(titles: RowTitles) -> [(bool, &'static str, Align); 4] {
    [
        (true, "benchmark", Left),
        (titles.suites, "suite", Left),
        (titles.settings, "setting", Left),
        (titles.metrics, "metric", Left),
    ]
}

/// Returns the cells of these columns.
pub fn identity_cells(row: &impl TitledRow) -> Vec<String> {
    let RowSubject {
        suite,
        benchmark,
        setting,
        metric,
    } = row.about();
    vec![
        benchmark.to_owned(),
        suite.to_owned(),
        setting.text().unwrap_or_default(),
        metric.to_owned(),
    ]
}

/// Returns the title of a row: `test_join (fast, 2026.9)`.
pub fn subject_title(subject: &Subject) -> String {
    match subject.setting.text() {
        Some(setting) => format!("{} ({setting})", subject.benchmark),
        None => subject.benchmark.clone(),
    }
}
