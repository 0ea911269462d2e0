//! Answers about factor studies: `lapwing study`.

mod carry_over;
mod colour;
mod deltas;
mod design;
mod findings;
mod fit;
mod means;
mod optimise;
mod paths;
mod pca;
mod scatter;
mod stability;

use std::path::Path;

use lapwing_stats::Interval;
use lapwing_study::{StudyData, StudyFitError, StudyScale, StudyViewError};
use serde::Serialize;
use serde_json::{Value, json};

pub use self::carry_over::{ComparedStudies, ListedEffects};
pub use self::design::{DESIGN_FILE, DesignAnswer};
pub use self::optimise::{OptimisationAnswer, round_text};
pub use self::paths::PathQuestion;
pub use self::pca::ComponentQuestion;
pub use self::stability::stability_text;
use crate::chart::{Chart, PageSection, SaveError, save_page_with};
use crate::writing::{
    Answer, AnswerKind, CsvRows, Table, TextAnswer, Untyped, View, WriteError, csv_rows, uncoded,
};

/// An answer about a study, with its charts.
#[derive(Debug)]
pub struct StudyAnswer<'d> {
    data: &'d StudyData,
    headline: String,
    table: Table,
    notes: Vec<String>,
    /// Notes on the data, below the others.
    data_notes: &'d [String],
    rows: CsvRows,
    json: Value,
    /// The charts by name; several may have the same.
    pub charts: Vec<(&'static str, Chart)>,
    sections: Vec<PageSection>,
}

/// Reason why a question about a study has no answer.
#[derive(Debug, thiserror::Error)]
pub enum StudyAnswerError {
    /// The data have no such view.
    #[error(transparent)]
    View(#[from] StudyViewError),
    /// The model predicts nothing.
    #[error(transparent)]
    Fit(#[from] StudyFitError),
    /// A row could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl<'d> StudyAnswer<'d> {
    /// Returns an answer with these rows for programs, named `key` in JSON beside `more`, and no words yet.
    fn of_rows<R: Serialize + Default>(
        data: &'d StudyData,
        scale: StudyScale,
        (key, rows): (&str, &[R]),
        more: Value,
    ) -> Result<Self, WriteError> {
        let mut json = json!({"study": about(data, scale), "notes": data.notes});
        json[key] = json!(rows);
        if let Value::Object(more) = more {
            for (key, value) in more {
                json[key] = value;
            }
        }
        Ok(Self {
            data,
            headline: String::new(),
            table: Table::default(),
            notes: Vec::new(),
            data_notes: &data.notes,
            rows: csv_rows(rows)?,
            json,
            charts: Vec::new(),
            sections: Vec::new(),
        })
    }

    /// Saves a page with the answer in sentences, and all charts below them.
    ///
    /// # Errors
    ///
    /// Returns the error of the file.
    pub fn save_page(&self, path: &Path) -> Result<(), SaveError> {
        let mut sections = self.sections.clone();
        let notes = self.notes();
        if !notes.is_empty() {
            sections.push(PageSection {
                title: "Notes".to_owned(),
                sentences: notes,
            });
        }
        let lead = format!(
            "{}; {}. {}.",
            self.data.metric.name.replace('_', " "),
            self.data.size_text(),
            self.headline
        );
        let title = format!("Study of {}", self.data.benchmark);
        let charts: Vec<Chart> = self.charts.iter().map(|(_, chart)| chart.clone()).collect();
        save_page_with(path, &title, &lead, &sections, &charts)
    }

    fn notes(&self) -> Vec<String> {
        self.notes.iter().chain(self.data_notes).cloned().collect()
    }
}

/// Its fields for programs.
const KIND: AnswerKind = AnswerKind::of::<Untyped>("study");

impl Answer for StudyAnswer<'_> {
    fn kind(&self) -> &'static AnswerKind {
        &KIND
    }

    fn for_people(&self, _view: View) -> TextAnswer {
        TextAnswer {
            headline: self.headline.clone(),
            table: self.table.clone(),
            notes: uncoded(self.notes()),
            next: Vec::new(),
            has_table_first: false,
        }
    }

    fn data(&self, _view: View) -> Result<Value, WriteError> {
        Ok(self.json.clone())
    }

    fn rows(&self) -> Result<CsvRows, WriteError> {
        Ok(self.rows.clone())
    }
}

fn about(data: &StudyData, scale: StudyScale) -> Value {
    let factors = data.factors.iter();
    let factors: Vec<Value> = factors
        .map(|factor| json!({"name": factor.name, "levels": factor.levels}))
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
struct EndFields {
    lower: Option<f64>,
    upper: Option<f64>,
}

impl From<Option<Interval>> for EndFields {
    fn from(interval: Option<Interval>) -> Self {
        Self {
            lower: interval.map(|interval| interval.lower),
            upper: interval.map(|interval| interval.upper),
        }
    }
}

/// Returns a text, or a dash in its place.
fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "–".to_owned())
}

/// Returns a p-value as text.
fn p_text(p_value: Option<f64>) -> String {
    or_dash(p_value.map(|p| {
        if p < 0.0001 {
            "<0.0001".to_owned()
        } else {
            format!("{p:.2}").replace("0.00", &format!("{p:.4}"))
        }
    }))
}
