//! Answers about a study, in every output format, and their charts.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::Args;
use lapwing_model::text::joined;
use lapwing_show::Chart;
use lapwing_show::chart::{PageSection, save_page_with};
use lapwing_show::writing::{Table, TextAnswer};
use lapwing_stats::Interval;
use lapwing_study::{StudyData, StudyScale};
use serde::Serialize;
use serde_json::{Value, json};

use super::options::StudyOptions;
use crate::error::{CliError, ExitStatus};
use crate::options::{Context, check_plot, extension};

/// Options of charts.
#[derive(Debug, Args)]
pub struct StudyPlotOptions {
    /// Write a chart to this .svg, .png or .html file; a page has the answer and all of its charts
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Which chart, if there are several [default: the first; on a page all]
    #[arg(long, value_name = "NAME", requires = "plot")]
    plot_kind: Option<String>,
}

impl StudyPlotOptions {
    /// Refuses a file that cannot be written, before anything is computed.
    pub fn check(&self) -> Result<(), CliError> {
        check_plot(self.plot.as_deref())
    }

    /// Returns whether a chart is asked for.
    pub fn is_wanted(&self) -> bool {
        self.plot.is_some()
    }

    /// Saves the charts, if asked for; a page has all of them below the sentences.
    fn save(
        &self,
        charts: &[(&str, Chart)],
        (title, lead, sections): (&str, &str, &[PageSection]),
    ) -> Result<(), CliError> {
        let Some(path) = &self.plot else {
            return Ok(());
        };
        let chosen = match &self.plot_kind {
            None => charts.first(),
            Some(kind) => charts.iter().find(|(name, _)| name == kind),
        };
        let names = charts.iter().map(|(name, _)| format!("`{name}`"));
        let names: BTreeSet<String> = names.collect();
        let Some((_, chart)) = chosen else {
            return Err(match &self.plot_kind {
                Some(kind) => CliError::input(format!(
                    "there is no chart `{kind}` here: {}",
                    joined(names)
                )),
                None => CliError::not_enough("there is nothing to draw"),
            });
        };
        if self.plot_kind.is_none() && extension(path) == "html" {
            let all: Vec<Chart> = charts.iter().map(|(_, chart)| chart.clone()).collect();
            save_page_with(path, title, lead, sections, &all)?;
        } else {
            chart.save(path)?;
        }
        Ok(())
    }
}

/// An answer about a study.
pub struct StudyAnswer<R> {
    /// The conclusion, in words.
    pub headline: String,
    /// The table of the text.
    pub table: Table,
    /// Notes below it.
    pub notes: Vec<String>,
    /// The rows for programs.
    pub rows: Vec<R>,
    /// The name of the rows in JSON.
    pub key: &'static str,
    /// Further keys of JSON.
    pub more: Value,
    /// The charts by name.
    pub charts: Vec<(&'static str, Chart)>,
}

impl<R: Serialize + Default> StudyAnswer<R> {
    /// Writes the answer, and saves its charts.
    pub fn write(
        self,
        data: &StudyData,
        scale: StudyScale,
        study: &StudyOptions,
        context: &Context,
    ) -> Result<ExitStatus, CliError> {
        self.write_with(Vec::new(), data, scale, study, context)
    }

    /// Writes the answer, and saves its charts; a page begins with these sentences.
    pub fn write_with(
        mut self,
        mut sections: Vec<PageSection>,
        data: &StudyData,
        scale: StudyScale,
        study: &StudyOptions,
        context: &Context,
    ) -> Result<ExitStatus, CliError> {
        self.notes.extend(data.notes.iter().cloned());
        if !self.notes.is_empty() {
            sections.push(PageSection {
                title: "Notes".to_owned(),
                sentences: self.notes.clone(),
            });
        }
        let lead = format!(
            "{}; {}. {}.",
            data.metric.name.replace('_', " "),
            data.size_text(),
            self.headline
        );
        let title = format!("Study of {}", data.benchmark);
        study.plot.save(&self.charts, (&title, &lead, &sections))?;
        let mut json = json!({"study": about(data, scale), "notes": data.notes});
        json[self.key] = json!(self.rows);
        if let Value::Object(more) = self.more {
            for (key, value) in more {
                json[key] = value;
            }
        }
        let text = TextAnswer {
            headline: self.headline,
            table: self.table,
            notes: self.notes,
        };
        crate::answer::write_parts(text, &json, &self.rows, study.answer.format, context)
    }
}

fn about(data: &StudyData, scale: StudyScale) -> Value {
    let factors = data.factors.iter();
    let factors: Vec<Value> = factors
        .map(|own| json!({"name": own.name, "levels": own.levels}))
        .collect();
    json!({
        "suite": data.suite,
        "benchmark": data.benchmark,
        "metric": data.metric.name,
        "unit": data.metric.unit_of(scale),
        "scale": scale.name(),
        "factors": factors,
        "settings": data.set_means(StudyScale::Time).len(),
        "instances": data.instances.len(),
    })
}

/// The ends of an interval in a row for programs.
#[derive(Debug, Default, Clone, Copy, Serialize)]
pub struct EndFields {
    lower: Option<f64>,
    upper: Option<f64>,
}

impl EndFields {
    /// Returns the interval.
    pub fn interval(self) -> Option<Interval> {
        let (lower, upper) = self.lower.zip(self.upper)?;
        Some(Interval { lower, upper })
    }
}

impl From<Option<Interval>> for EndFields {
    fn from(interval: Option<Interval>) -> Self {
        Self {
            lower: interval.map(|own| own.lower),
            upper: interval.map(|own| own.upper),
        }
    }
}

/// Returns a p-value as text.
pub fn p_text(p_value: Option<f64>) -> String {
    match p_value {
        None => "–".to_owned(),
        Some(p) if p < 0.0001 => "<0.0001".to_owned(),
        Some(p) => format!("{p:.2}").replace("0.00", &format!("{p:.4}")),
    }
}
