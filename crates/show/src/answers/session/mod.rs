//! The results of a session: `lapwing run` and `lapwing show`.

mod advice;
mod comparisons;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use lapwing_analyse::clean::LeftOut;
use lapwing_analyse::explain::{SessionResult, SessionResults};
use lapwing_analyse::judge::Estimate;
use lapwing_model::text::{counted, plural};
use lapwing_model::{MetricName, Run};
use serde_json::{Value, json};

use super::earlier_note;
use crate::chart::{ComparedValue, SaveError, comparison};
use crate::writing::Align::{Left, Right};
use crate::writing::{AnswerFormat, Table, WriteError, markdown_text, write_json};
use crate::{EstimateText, VariantColours, cv_text, quantity};

/// The comparisons that explain the results of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionKind {
    /// A suite: variants are compared, and its benchmarks are different things.
    Suite,
    /// Commands: without variants each is compared with the fastest one.
    Commands,
    /// Configurations of a study, which no comparison of each with the first explains.
    Study,
}

/// The results of a session.
#[derive(Debug)]
pub struct SessionAnswer {
    /// The results.
    pub results: SessionResults,
    /// The comparisons that explain them.
    pub kind: SessionKind,
}

/// The place of a time, where there is none.
const NOTHING: &str = "–  (no successful iteration)";

impl SessionAnswer {
    /// Writes the answer in a format. The text is the sentences and what they rest on.
    ///
    /// # Errors
    ///
    /// Returns the error of the output.
    pub fn write(&self, format: AnswerFormat, out: &mut dyn Write) -> Result<(), WriteError> {
        match format {
            AnswerFormat::Text => {
                self.text_table().text(out)?;
                self.write_sentences(out, |sentence| format!(" {sentence}"))
            }
            AnswerFormat::Markdown => {
                self.markdown_table().markdown(out)?;
                self.write_sentences(out, |sentence| format!("- {}", markdown_text(sentence)))
            }
            AnswerFormat::Json => write_json(&self.json(), out),
            AnswerFormat::Csv => self.csv_table().csv(out),
        }
    }

    /// Returns advice, and notes on what is missing.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = advice::notes(&self.results.rows, |row| self.label(row));
        notes.extend(self.jobs_note());
        notes.extend(earlier_note(self.results.earlier));
        notes
    }

    /// Returns the iterations that are excluded: `excluded: 3 burn-in iterations`.
    pub fn exclusions(&self) -> Option<String> {
        let mut left_out = LeftOut::default();
        for row in &self.results.rows {
            left_out.add(&row.side.cleaned.left_out);
        }
        if left_out.is_empty() {
            return None;
        }
        let text = left_out.text();
        // `3 burn-in iterations`, but `3 in interrupted instances`.
        let is_adjective = ![" in ", " of ", " without "]
            .iter()
            .any(|word| text.contains(word));
        let iterations = plural(left_out.total(), "iteration", "iterations");
        Some(if is_adjective {
            format!("excluded: {text} {iterations}")
        } else {
            format!("excluded {iterations}: {text}")
        })
    }

    /// Draws the wall times to a file.
    ///
    /// # Errors
    ///
    /// Returns the error of the chart.
    pub fn plot(&self, path: &Path) -> Result<(), SaveError> {
        let mut colours = VariantColours::default();
        let rows = self.results.rows.iter();
        let values = rows.filter_map(|row| {
            Some(ComparedValue {
                name: self.label(row),
                colour: colours.number(&row.variant),
                estimate: row.wall?,
            })
        });
        let values: Vec<ComparedValue> = values.collect();
        comparison(&MetricName::from("wall_time"), "s", &values).save(path)
    }

    /// Returns a note on instances whose jobs did not end well.
    fn jobs_note(&self) -> Option<String> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for state in self.results.rows.iter().flat_map(|row| &row.job_states) {
            *counts.entry(state).or_default() += 1;
        }
        let all: usize = counts.values().sum();
        let states: Vec<String> = (counts.iter())
            .map(|(state, count)| format!("{count} {state}"))
            .collect();
        (all > 0).then(|| {
            format!(
                "{} did not end well: {}; `lapwing run --resume` measures those again that were lost or cancelled",
                counted(all, "instance"),
                states.join(", ")
            )
        })
    }

    /// Returns the benchmark, and the variant where there are several.
    fn label(&self, row: &SessionResult) -> String {
        if self.results.variants == 1 || row.variant == Run::DEFAULT_VARIANT {
            row.benchmark.clone()
        } else {
            format!("{}  {}", row.benchmark, row.variant)
        }
    }

    fn text_table(&self) -> Table {
        let mut table = Table::plain(&[Left; 4]);
        for row in &self.results.rows {
            let (time, noise) = match &row.wall {
                Some(wall) => (wall.text("s"), noise(wall)),
                None if row.has_summaries => (
                    "–  (the source kept only summaries: `lapwing report` has them)".to_owned(),
                    String::new(),
                ),
                None if row.reported.is_empty() => (NOTHING.to_owned(), String::new()),
                None => ("–".to_owned(), String::new()),
            };
            table.row(vec![
                format!(" {}", self.label(row)),
                time,
                row.memory
                    .map_or_else(String::new, |memory| memory_text(memory.value)),
                noise,
            ]);
            for (name, metric, estimate) in &row.reported {
                table.row(vec![
                    format!("   {name}"),
                    estimate.text(&metric.unit),
                    String::new(),
                    self::noise(estimate),
                ]);
            }
        }
        table
    }

    fn markdown_table(&self) -> Table {
        let mut table = Table::new(&[
            ("benchmark", Left),
            ("metric", Left),
            ("value", Right),
            ("spread", Right),
        ]);
        for row in &self.results.rows {
            let mut is_empty = true;
            for (name, unit, estimate) in row.metrics() {
                is_empty = false;
                table.row(vec![
                    self.label(row),
                    name.to_owned(),
                    estimate.text(unit),
                    noise(&estimate),
                ]);
            }
            if is_empty {
                let empty = String::new;
                table.row(vec![self.label(row), empty(), NOTHING.to_owned(), empty()]);
            }
        }
        table
    }

    /// Returns the comparisons as sentences; none of a study.
    fn sentences(&self) -> Vec<String> {
        let compared = match self.kind {
            SessionKind::Study => return Vec::new(),
            SessionKind::Suite | SessionKind::Commands if self.results.variants > 1 => {
                self.results.compare_variants()
            }
            SessionKind::Suite => Vec::new(),
            SessionKind::Commands => self.results.compare_benchmarks(),
        };
        comparisons::sentences(&self.results, compared)
    }

    fn write_sentences(
        &self,
        out: &mut dyn Write,
        line: impl Fn(&str) -> String,
    ) -> Result<(), WriteError> {
        let sentences = self.sentences();
        if !sentences.is_empty() {
            writeln!(out)?;
        }
        for sentence in sentences {
            writeln!(out, "{}", line(&sentence))?;
        }
        Ok(())
    }

    fn json(&self) -> Vec<Value> {
        let mut rows = Vec::new();
        for row in &self.results.rows {
            let mut metrics: Vec<(&str, &str, Estimate)> = row.metrics().collect();
            if let Some(memory) = row.memory {
                // After the wall time, before those of the program.
                let at = usize::from(row.wall.is_some());
                metrics.insert(at, ("peak_memory", "B", memory));
            }
            rows.extend(metrics.into_iter().map(|(metric, unit, estimate)| {
                json!({
                    "benchmark": row.benchmark,
                    "variant": row.variant,
                    "metric": metric,
                    "unit": unit,
                    "value": estimate.value,
                    "lower": estimate.interval.map(|interval| interval.lower),
                    "upper": estimate.interval.map(|interval| interval.upper),
                    "instances": estimate.size.instances,
                    "iterations": estimate.size.iterations,
                    "cv": estimate.cv,
                    "cv_between": estimate.between,
                    "cv_within": estimate.within,
                    "left_out": row.side.cleaned.left_out.total(),
                })
            }));
        }
        rows
    }

    fn csv_table(&self) -> Table {
        let names = [
            "benchmark",
            "variant",
            "metric",
            "unit",
            "value",
            "lower",
            "upper",
            "instances",
            "iterations",
            "cv",
        ];
        let mut table = Table::new(&names.map(|name| (name, Left)));
        let number = |value: Option<f64>| value.map_or_else(String::new, |it| it.to_string());
        for row in &self.results.rows {
            for (name, unit, estimate) in row.metrics() {
                table.row(vec![
                    row.benchmark.clone(),
                    row.variant.clone(),
                    name.to_owned(),
                    unit.to_owned(),
                    estimate.value.to_string(),
                    number(estimate.interval.map(|interval| interval.lower)),
                    number(estimate.interval.map(|interval| interval.upper)),
                    estimate.size.instances.to_string(),
                    estimate.size.iterations.to_string(),
                    number(estimate.cv),
                ]);
            }
        }
        table
    }
}

fn noise(estimate: &Estimate) -> String {
    estimate.cv.map_or_else(String::new, cv_text)
}

/// Returns a peak memory as text. Exactly a power of two is what is reported for commands that need less.
fn memory_text(bytes: f64) -> String {
    let text = quantity(bytes, "B");
    if bytes.log2().fract() == 0.0 {
        format!("≤ {text}")
    } else {
        text
    }
}
